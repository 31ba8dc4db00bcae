# SPDX-License-Identifier: Apache-2.0
#
# Counts what it makes the interpreter of Python do. Speaks like the programs beside it (README.md), and ends at once after its last
# line, so that no collection comes behind the counts.
import gc
import json
import os
import sys


class Finder:
    """Is asked for each module that is not there yet, and never has it."""

    def __init__(self):
        self.asked = {}

    def find_spec(self, name, path=None, target=None):
        self.asked[name] = self.asked.get(name, 0) + 1
        return None


class Node:
    pass


def make_garbage(count):
    for _ in range(count):
        left, right = Node(), Node()
        left.other, right.other = right, left


def leaf(i):
    return i + 1


def middle(count):
    total = 0
    for _ in range(count):
        total = leaf(total)
    return total


def recurse(depth):
    if depth == 0:
        raise ValueError("the bottom")
    recurse(depth - 1)


def generate(count):
    for i in range(count):
        yield i


def call_functions():
    middle(1000)
    try:
        recurse(39)
    except ValueError:
        pass
    list(generate(50))


def import_modules():
    import colorsys
    import email.mime.text
    import sched
    import colorsys
    from email import message
    try:
        import no_such_module
    except ImportError:
        pass


def collections():
    return [each["collections"] for each in gc.get_stats()]


def work(finder):
    audited = {}

    def count(event, arguments):
        if counting:
            audited[event] = audited.get(event, 0) + 1

    counting = False
    sys.addaudithook(count)
    print(json.dumps({"ready": os.getpid()}), flush=True)
    sys.stdin.readline()
    counting = True
    before = collections()
    gc.enable()
    make_garbage(5000)
    for generation in (0, 1, 1, 2, 2, 2):
        gc.collect(generation)
    gc.disable()
    import_modules()
    call_functions()
    counting = False
    return {
        "pid": os.getpid(),
        "collections_before": before,
        "collections": collections(),
        "imports": finder.asked,
        "audit": audited,
    }


def main():
    gc.disable()
    finder = Finder()
    sys.meta_path.insert(0, finder)
    print(json.dumps(work(finder)), flush=True)
    sys.stdin.readline()
    os._exit(0)


main()
