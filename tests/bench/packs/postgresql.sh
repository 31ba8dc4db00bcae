#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A PostgreSQL cluster under pgbench: postgresql.sh prepare FOLDER makes one, postgresql.sh run FOLDER RESULT starts it,
# lets one client do its transactions, and writes the nanoseconds that a thousand of them took; run-no-fsync does so without
# durable commits, which no service dares, and is all CPU. Unix socket only.
set -eu
bin=/usr/lib/postgresql/15/bin
folder=$2
as_server="setpriv --reuid=postgres --regid=postgres --init-groups"

count=500
fsync=on
if [ "$1" != run ]; then
    count=1500
    fsync=off
fi
if [ "$1" = prepare ]; then
    chown postgres "$folder"
    $as_server "$bin/initdb" -D "$folder/data" -U postgres -A trust -N --locale=C -E UTF8
fi
$as_server "$bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c autovacuum=off -c "fsync=$fsync" &
server=$!
trap 'kill -INT "$server"; wait "$server" || true' EXIT
tries=0
until "$bin/pg_isready" -q -h "$folder" -U postgres; do
    tries=$((tries + 1))
    [ "$tries" -lt 200 ]
    sleep 0.05
done
if [ "$1" = prepare ]; then
    "$bin/pgbench" -h "$folder" -U postgres -i -s 1 -q postgres
else
    "$bin/pgbench" -h "$folder" -U postgres -n -c 1 -t "$count" postgres |
        awk '/^tps = / { printf "%.0f\n", 1000 * 1000000000 / $3 }' > "$3"
fi
