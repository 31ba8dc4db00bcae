# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the scripts share. Sourced; the caller has set -euo pipefail and root_folder.

say() { printf '%s\n' "$*"; }
die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Runs a command as the user who owns the tree when sudo started us, so that build/ stays theirs.
as_owner() {
    local owner
    owner=$(stat -c %u "$root_folder")
    if [ "$(id -u)" != 0 ] || [ "${SUDO_UID:-0}" = 0 ] || [ "$owner" != "$SUDO_UID" ]; then
        "$@"
        return
    fi
    local home
    home=$(getent passwd "$SUDO_UID" | cut -d: -f6)
    HOME=$home setpriv --reuid "$SUDO_UID" --regid "${SUDO_GID:-$SUDO_UID}" --init-groups "$@"
}

# configure_and_build PRESET TARGET...: one line a stage; what the tools said is in build/PRESET.log,
# and is shown when they fail.
configure_and_build() {
    local preset=$1 log=$root_folder/build/$1.log
    shift
    if command -v ccache >/dev/null; then
        export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    fi
    as_owner mkdir -p "$root_folder/build"
    cd "$root_folder"
    say "configuring preset $preset ..."
    if ! as_owner cmake --preset "$preset" >"$log" 2>&1; then
        cat "$log" >&2
        die "preset $preset does not configure"
    fi
    say "building preset $preset ..."
    if ! as_owner cmake --build "build/$preset" --target "$@" >"$log" 2>&1; then
        # Without the lines of what went well.
        grep -v -E '^\[[0-9]+/[0-9]+\] ' "$log" | head -n 100 >&2
        die "preset $preset does not build; all of it is in $log"
    fi
    cd "$OLDPWD"
}
