"""Make a file of cProfile or profile, and what the same interpreter's pstats says of it, with any
Python: record.py cProfile|profile NAME writes NAME.pstats and NAME.json. Those kept here are of 2.7.18
(both), 3.6.15 and 3.8.18 (profile)."""

import importlib
import json
import pstats
import sys

PROGRAM = u"""
def leaf(n):
    return sum(i * i for i in range(n))

class Shape(object):
    scale = 2j, 1e300, 1 << 70, frozenset((1, 2)), None, Ellipsis
    def area(self, n):
        return leaf(n) + leaf(n // 2)

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def main():
    for i in range(20):
        Shape().area(300)
    fib(12)
    sorted(str(i) for i in range(500))
main()
"""


def name_of(key):
    return key[2] if isinstance(key[2], str) else key[2].co_name


def main(module, name):
    profile = importlib.import_module(module).Profile()
    space = {"__name__": "__main__"}
    # The code itself, as -m profile does: it then is a function's name.
    profile.runctx(compile(PROGRAM, "program.py", "exec"), space, space)
    profile.dump_stats(name + ".pstats")
    stats = pstats.Stats(name + ".pstats")
    told = {"seconds": stats.total_tt, "calls": stats.total_calls, "self": {}, "with": {}, "of": {}}
    for key, row in stats.stats.items():
        for table, n in (("self", row[2]), ("with", row[3]), ("of", row[1])):
            told[table][name_of(key)] = told[table].get(name_of(key), 0) + n
    with open(name + ".json", "w") as out:
        json.dump(told, out, indent=1, sort_keys=True)
        out.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
