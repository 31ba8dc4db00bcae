# SPDX-License-Identifier: Apache-2.0
# Fixed work for CPython: records in dictionaries, a tree that the collector must walk, JSON, calls. Writes the CPU
# time it took, in nanoseconds, to the file it is given.
import json
import sys
import time


class Node:
    def __init__(self, depth):
        self.children = [Node(depth - 1) for _ in range(3)] if depth else []
        for child in self.children:
            child.parent = self  # a cycle: only the collector frees it

    def count(self):
        return 1 + sum(child.count() for child in self.children)


def work():
    total = 0
    for turn in range(40):
        total += Node(7).count()
        records = [{"id": i, "name": "n%d" % i, "tags": [i, i + 1]} for i in range(8000)]
        total += len(json.loads(json.dumps(records)))
        total += sum(record["id"] for record in sorted(records, key=lambda r: -r["id"]))
    return total


begin = time.process_time_ns()
work()
with open(sys.argv[1], "w") as out:
    out.write("%d\n" % (time.process_time_ns() - begin))
