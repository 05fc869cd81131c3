#!/usr/bin/env python3
"""fizeau dump --locals: values of variables read from outside, against repr inside."""

import json
import re
import time

from livelib import (EXPECTED, SANITIZED, Suite, Target, Wrong, find_interpreter, fizeau, free_threaded,
                     wait_until)
from watching import PATIENCE, waits

suite = Suite()

# Prints what is to be seen: {variable: [type, value]} of inner(), with the default limits.
VALUES = """\
import collections, enum, json, sys, time
class K:
    class Inner: pass
class Str(str): pass
class Point(collections.namedtuple("P", "x y")): pass
class Color(enum.IntEnum):
    RED = 3
Hostile = type("a\\x1b[31m\\n", (), {"__module__": "b\\r"})
PLAIN = (int, bool, float, str, bytes, list, tuple, dict, set, type(None), type(Ellipsis))
def type_name(t):
    return (t.__module__ + "." if t.__module__ != "builtins" else "") + t.__qualname__
def told(v):
    t = type(v)
    if t is type:
        return "<class '%s'>" % type_name(v)
    if t in PLAIN or t is frozenset:
        return repr(v)
    return "<%s at %#x>" % (type_name(t), id(v))
CUT = {
    "cut_int": "1" + "0" * 39 + "... (101 digits)", "cut_str": repr("x" * 80) + "... (1000 characters)",
    "cut_bytes": repr(b"y" * 80) + "... (300 bytes)", "cut_list": "[0, 1, 2, 3, 4, ...] (1000 items)",
    "cut_tuple": "(0, 1, 2, 3, 4, ...) (6 items)", "deep": "[[...], [], {}, (...), {...}]",
    "cut_dict": "{0: 0, 1: 1, 2: 2, 3: 3, 4: 4, ...} (100 items)", "cycle": "[[...]]",
    "far_set": "{1, ...} (2 items)", "far_dict": "{...} (1 item)",
    "o_str": "__main__.Str('sub')", "o_tuple": "__main__.Point((1, 2))", "o_int": "__main__.Color(3)",
    "o_dict": "collections.OrderedDict({'a': 1})", "vast": "<negative int of 40020 bits>",
}
def outer(arg, cell_arg):
    free = "free"
    def inner(n, *args, key=None, **rest):
        i_zero = 0; i_neg = -1; i_small = 255; i_2 = 2**30 - 1; i_3 = 2**30; i_4 = 2**60; i_big = 2**64
        i_neg_big = -(10**30); i_39 = 10**39 + 9 * 10**27; i_nines = 10**27 - 1
        yes = True; no = False; none = None; dots = ...
        f_1 = 1.0; f_2 = -0.1; f_3 = 1e16; f_4 = 1e-5; f_5 = float("inf"); f_6 = 5e-324; f_7 = 123456789.125
        f_8 = 1e22; f_9 = 0.0001; f_10 = -0.0; f_11 = 1.7976931348623157e308; f_12 = 9007199254740993.0
        f_13 = float("nan"); f_14 = 0.1 + 0.2; f_15 = 1e-323; f_16 = 9.5367431640625e-07; f_17 = 9999999999999998.0
        s_1 = "plain"; s_2 = "it's"; s_3 = 'both " and \\''; s_4 = "\\x1b[31m\\n\\t\\\\\\r\\x00\\x7f\\x85\\xa0\\u200b"
        s_5 = "\\u65e5\\u672c"; s_6 = "\\U0001f600\\xe9"; s_7 = ""; s_8 = "\\ud800\\u202e\\ue000\\U000e0001"
        s_9 = "x" * 80; s_10 = "\\xe9"
        b_1 = b"ab\\x00\\xff'\\"\\n"; b_2 = b""
        l_1 = [1, "two", 3.0, None]; l_2 = []
        t_1 = (1,); t_2 = (); t_3 = (1, "\\x1b", b"c")
        d_1 = {"a": 1, 2: "b"}; d_2 = {}; d_3 = {"a": 1, "b": 2}; del d_3["a"]
        k = K(); k.x = 1; k.y = "z"; d_4 = k.__dict__
        e_1 = {1}; e_2 = set(); e_3 = frozenset([2]); e_4 = {5, 6}; e_4.discard(5); e_5 = frozenset()
        o_1 = K(); o_2 = K.Inner(); o_3 = K; o_4 = outer; o_5 = sys; o_6 = Hostile(); o_7 = len
        o_8 = collections.deque; o_9 = collections.deque()
        cut_int = 10**100; cut_str = "x" * 1000; cut_bytes = b"y" * 300; cut_list = list(range(1000))
        cut_tuple = (0, 1, 2, 3, 4, 5); cut_dict = {i: i for i in range(100)}; vast = -(1 << 40000)
        deep = [[1], [], {}, (1,), {1}]; cycle = []; cycle.append(cycle)
        far_dict = {i: i for i in range(9001)}
        for i in range(9000): del far_dict[i]
        far_set = set(range(1, 9000))
        for i in range(2, 8999): far_set.discard(i)
        del i
        o_str = Str("sub"); o_tuple = Point(1, 2); o_int = Color.RED; o_dict = collections.OrderedDict(a=1)
        unbound = 1; del unbound
        names = (free, cell_arg)
        later = lambda: (l_1, n)
        seen = {}
        for name, value in list(locals().items()):
            seen[name] = [type_name(type(value)), CUT[name] if name in CUT else told(value)]
        for name in ("seen", "name", "value"):
            seen.pop(name, None)
        print("up", flush=True)
        print(json.dumps(seen), flush=True)
        time.sleep(1000)
    inner(5, 6, 7, other=8)
outer(1, "cell")
"""

RUNS = """\
import sys
print("up", flush=True)
def leaf(n):
    pair = (n, -n, "%d" % n)
    for _ in range(100):
        pass
    return pair
def work(fixed, text):
    n = 10**12
    while True:
        n += 1
        leaf(n)
work([1, 2], "stays")
"""


def locals_of(pid, function, *options):
    done = fizeau("dump", "--json", "--locals", *options, pid)
    assert done.returncode == 0, done
    frames = json.loads(done.stdout)["processes"][0]["threads"][0]["frames"]
    found = [frame["locals"] for frame in frames if frame["function"].split(".")[-1] == function]
    return found[0] if found else None


def check_values(name):
    with Target(find_interpreter(name), VALUES) as t:
        expected = json.loads(t.process.stdout.readline())
        wait_until(lambda: waits(t.pid), "its sleep")
        for options in ([], ["--blocking"]):
            found = {v["name"]: [v.get("type"), v.get("value")] for v in locals_of(t.pid, "inner", *options)}
            for variable in ("seen", "name", "value"):
                del found[variable]
            wrong = {v: (found.get(v), expected.get(v)) for v in {*found, *expected}
                     if found.get(v) != expected.get(v)}
            assert not wrong, wrong
            assert {"free", "cell_arg", "l_1", "n", "rest"} <= set(found), found
            outer = {v["name"]: v["value"] for v in locals_of(t.pid, "outer", *options)}
            assert outer["free"] == "'free'" and outer["arg"] == "1" and outer["cell_arg"] == "'cell'", outer


def check_runs_stopped(name):
    """A running program, stopped for the read, shows values of one instant."""
    with Target(find_interpreter(name), RUNS) as t:
        looks, pairs = [], []

        def look():
            work = {v["name"]: v.get("value") for v in locals_of(t.pid, "work", "--blocking") or []}
            leaf = {v["name"]: v.get("value") for v in locals_of(t.pid, "leaf", "--blocking") or []}
            if work.get("n"):
                looks.append(work)
                if (work["fixed"], work["text"]) != ("[1, 2]", "'stays'") or not re.fullmatch(r"10{3,}\d+", work["n"]):
                    raise Wrong(work)
            if leaf.get("pair"):
                pairs.append(leaf)
                a, b, c = re.fullmatch(r"\((\d+), -(\d+), '(\d+)'\)", leaf["pair"]).groups()
                if not a == b == c:
                    raise Wrong(leaf)
            return len(looks) > 5 and pairs
        wait_until(look, "a look at each", PATIENCE)


def check_runs(name):
    with Target(find_interpreter(name), RUNS) as t:
        time.sleep(0.2)
        pairs = known = 0
        for options in ([], ["--blocking"]):
            for _ in range(20):
                work = {v["name"]: v.get("value") for v in locals_of(t.pid, "work", *options)}
                assert work["fixed"] in ("[1, 2]", None) and work["text"] in ("'stays'", None), work
                assert work["n"] is None or re.fullmatch(r"10{3,}\d+", work["n"]), work
                known += work["fixed"] is not None
                leaf = {v["name"]: v.get("value") for v in locals_of(t.pid, "leaf", *options) or []}
                if leaf.get("pair"):
                    a, b, c = re.fullmatch(r"\((\d+), -(\d+), '(\d+)'\)", leaf["pair"]).groups()
                    assert a == b == c, leaf
                    pairs += 1
                if options:
                    assert None not in {*work.values(), *leaf.values()}, (work, leaf)
        assert known >= 30 and pairs, (known, pairs)


for interpreter_name in [*EXPECTED, *free_threaded()]:
    suite.add(f"values on {interpreter_name}", check_values, interpreter_name)
# With sanitizers the values show whether the layouts are right.
for interpreter_name in ["debian-3.11", "forky-3.15"] if SANITIZED else [*EXPECTED, *free_threaded()]:
    suite.add(f"a program that runs on {interpreter_name}", check_runs, interpreter_name)
    suite.add(f"a program that runs and is stopped for a read on {interpreter_name}", check_runs_stopped,
              interpreter_name)


@suite.test("in text, below the frame; none of it reaches the terminal unescaped")
def text():
    with Target(find_interpreter("debian-3.11"), VALUES) as t:
        t.process.stdout.readline()
        wait_until(lambda: waits(t.pid), "its sleep")
        short, longer, longest = (fizeau("dump", *o, t.pid).stdout for o in (["-l"], ["-v"], ["-l", "-vv"]))
        assert "    time.sleep(1000)\n      n: int = 5\n      key: NoneType = None\n" in short, short
        for out in (short, longer, longest):
            assert "\x1b" not in out and "\r" not in out and "b\\x0d.a\\x1b[31m\\n at 0x" in out, out
        assert "  cut_str: str = '" + "x" * 400 + "'... (1000 characters)\n" in longer, longer
        assert "  deep: list = [[1], [], {}, (1,), {1}]\n" in longer, longer
        assert "  cut_str: str = '" + "x" * 1000 + "'\n" in longest, longest
        assert ", 99, ...] (1000 items)\n" in longest, longest
        done = fizeau("dump", "-l", "--async-aware", t.pid)
        assert done.returncode == 2 and "--locals cannot be combined" in done.stderr, done


# Impossible objects: an item that is not an address, an invalid size, a type that is not mapped.
BROKEN = """\
import ctypes, time
def word(at):
    return ctypes.c_uint64.from_address(at)
def f():
    fine = 1; item = [1, 2]; size = [3]; kind = [4]; text = "abc"; number = 10**20; table = {1: 2}
    word(word(id(item) + 24).value).value = 24
    word(id(size) + 16).value = 1 << 62
    word(id(kind) + 8).value = 1 << 46
    word(id(text) + 16).value = 1 << 61
    word(id(number) + 16).value = 1 << 50
    word(id(table) + 32).value = 64
    print("up", flush=True)
    time.sleep(1000)
f()
"""


def check_unreadable(name):
    with Target(find_interpreter(name), BROKEN) as t:
        wait_until(lambda: waits(t.pid), "its sleep")
        for options in (["-vv"], ["-l"], ["-l", "--blocking"]):
            done = fizeau("dump", *options, t.pid)
            assert done.returncode == 0 and "      fine: int = 1\n" in done.stdout, done
            for variable in ("item", "size", "kind", "text", "number", "table"):
                assert f"      {variable} = ?\n" in done.stdout, (variable, done)
            assert ("shown as ?" in done.stderr) and done.stderr.count("\n") == 1, done
        known = {v["name"]: v for v in locals_of(t.pid, "f")}
        assert known["item"] == {"name": "item"} and known["fine"]["value"] == "1", known


for interpreter_name in ("debian-3.11", "forky-3.14"):
    suite.add(f"unreadable values are question marks, and a line has the reason on {interpreter_name}", check_unreadable,
              interpreter_name)


if __name__ == "__main__":
    suite.main()
