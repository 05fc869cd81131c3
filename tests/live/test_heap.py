#!/usr/bin/env python3
"""fizeau heap: the objects of a process, as the process itself counts them."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

from livelib import EXPECTED, Suite, Target, fetched_package, find_interpreter, fizeau, wait_until

suite = Suite()

# Everything that the collector's objects lead to, counted inside the program, which then waits. From 3.11 on a code object
# keeps a tuple of names and bytes of their kinds for itself, which the program cannot see but knows the sizes of.
PROGRAM = """\
import array, collections, gc, json, sys, types
class Node:
    def __init__(self, n):
        self.n = n
        self.name = "node %d" % n
class Slots:
    __slots__ = ("a", "b")
    def __init__(self, n):
        self.a = [n]
        self.b = {n: n}
class Names(dict):
    pass
CACHE = {"key %d" % i: ["value %d" % i, float(i), 10**20 + i] for i in range(20000)}
NODES = [Node(i + 1000) for i in range(20000)]
SLOTS = [Slots(i + 100000) for i in range(10000)]
PAIRS = [(b"%d" % i, i) for i in range(2000, 152000)]
class Whole(int):
    pass
class Point(tuple):
    pass
class Failure(Exception):
    pass
def once():
    yield 1
def fail(depth):
    big = ["local %d" % depth] * 5
    if depth:
        fail(depth - 1)
    raise Failure(big)
class Late:
    pass
DONE = []
for i in range(2000):
    DONE += [Whole(i + 10**12), Point((i, i)), Node(i), Late(), Late(), once(), once()]
    DONE[-7].x, DONE[-6].x = [i], [i]
    vars(DONE[-5])["key %d" % i] = i  # a dict of its own
    setattr(DONE[-4], "a%d" % (i % 50), i)
    next(DONE[-2])
    list(DONE[-1])
    DONE.append(vars(DONE[-3]))  # 3.13.0 would not visit it
for i in range(300):
    try:
        fail(3)
    except Failure as error:
        DONE.append(error)
MIXED = [collections.deque(range(5000, 5100)), collections.OrderedDict((i + 7000, "\\u20ac" * i) for i in range(100)),
         array.array("d", range(10000)), bytearray(100000), set(range(10000, 20000)), frozenset(map(str, range(300))),
         Names(a=1), *DONE, "\\xe9" * 50000, b"x" * 70000, (i for i in range(3)), lambda: CACHE]
# Members that a code object stores; the others are created on access.
CODE = ["co_consts", "co_names", "co_filename", "co_name", "co_qualname", "co_linetable", "co_exceptiontable"]
if sys.version_info < (3, 11):
    CODE += ["co_code", "co_varnames", "co_freevars", "co_cellvars"]
if sys.version_info < (3, 10):
    CODE += ["co_lnotab"]
def count():
    gc.collect()
    gc.disable()
    seen, queue, types_ = {}, list(gc.get_objects()), {}
    hidden = []
    own = {id(seen), id(queue), id(types_), id(hidden)}
    while queue:
        o = queue.pop()
        if id(o) in seen or id(o) in own:
            continue
        seen[id(o)] = o
        queue.extend(gc.get_referents(o))
        if isinstance(o, dict):  # the collector does not visit keys if all are strings
            queue.extend(dict.keys(o))
        if isinstance(o, types.CodeType):
            queue += [getattr(o, name) for name in CODE if hasattr(o, name)]
            names = {*o.co_varnames, *o.co_cellvars, *o.co_freevars}
            queue += names
            if sys.version_info >= (3, 11):
                hidden += [tuple(names)] * (len(names) > 0) + [bytes(len(names))] * (len(names) > 1)
    for o in [*seen.values(), *hidden]:
        t = types_.setdefault(type(o).__qualname__, [0, 0])
        t[0] += 1
        t[1] += sys.getsizeof(o)
    return types_
counts = json.dumps(count())
print("up", flush=True)
print(counts, flush=True)
sys.stdin.readline()
"""

# Types with thousands of objects in any program, and types defined above.
TYPES = ("str int float list dict tuple set frozenset bytes bytearray function code type deque OrderedDict array "
         "Node Slots Names Whole Point Failure Late frame traceback generator builtin_function_or_method wrapper_descriptor property cell").split()
LEAK = """\
import sys
class Session:
    def __init__(self, n):
        self.data = "x" * 1000 + str(n)
SESSIONS = []
print("up", flush=True)
for line in sys.stdin:
    SESSIONS += [Session(i) for i in range(int(line))]
    print("done", flush=True)
"""


# Large, beside the interpreter's static objects, which tracemalloc does not see.
TRACED = """\
import gc, sys, tracemalloc
class Row:
    def __init__(self, i):
        self.i = i
        self.name = "row %d" % i
        self.more = {"a": i}
ROWS = [Row(i) for i in range(250000)]
TABLE = {i: (str(i), float(i)) for i in range(250000)}
gc.collect()
traced = tracemalloc.get_traced_memory()[0]
print("up", flush=True)
print(traced, flush=True)
sys.stdin.readline()
"""


# Two interpreters that run nothing any more.
IDLE = """\
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
CODE = """ + repr("class Thing:\n    pass\nTHINGS = [Thing() for i in range(5000)]\n") + """
OTHERS = [interpreters.create(), interpreters.create()]
for other in OTHERS:
    interpreters.run_string(other, CODE)
print("up", flush=True)
sys.stdin.readline()
"""

# What C code has from malloc, in each variable, as malloc itself counts it.
PRIVATE = """\
import array, ctypes, gc, io, json, sys, threading, xml.etree.ElementTree, zlib
libc = ctypes.CDLL(None)
new = hasattr(libc, "mallinfo2")
word = ctypes.c_size_t if new else ctypes.c_int
class Info(ctypes.Structure):
    _fields_ = [(name, word) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]
info = libc.mallinfo2 if new else libc.mallinfo
info.restype = Info
def used():
    now = info()
    return now.uordblks + now.hblkhd
def compressors():
    return [zlib.compressobj() for i in range(100)]
def in_thread(make):
    made = []
    thread = threading.Thread(target=lambda: made.append(make()))
    thread.start()
    thread.join()
    return made
def tree():
    root = xml.etree.ElementTree.Element("root")
    for i in range(20000):
        xml.etree.ElementTree.SubElement(root, "child", {"a": str(i)}).text = "text %d" % i
    return root
gc.collect()
counts = {}
for name, make in [("COMPRESSORS", compressors), ("THREADS", lambda: in_thread(compressors)),
                   ("TEXT", lambda: io.StringIO("x" * 1000000)), ("STRING", lambda: ctypes.create_string_buffer(5000000)),
                   ("ARRAY", lambda: array.array("d", bytes(800000)))]:
    before = used()
    globals()[name] = make()
    counts[name] = used() - before
VIEW = memoryview(ARRAY)
TREE = tree()
print("up", flush=True)
print(json.dumps(counts), flush=True)
sys.stdin.readline()
"""


# Arrays of many shapes; some own their data, some are views.
ARRAYS = """\
import sys
sys.path.insert(0, sys.argv[1])
import numpy
MADE = [numpy.zeros((n, 2, 3)) for n in range(1, 1000)]
MADE += [array.reshape(-1, 1, 1, 6) for array in MADE] + [numpy.array([str(n)], dtype=object) for n in range(1000)]
print("up", flush=True)
print(sum(map(sys.getsizeof, MADE)), flush=True)
sys.stdin.readline()
"""


def wait_for_input(target):
    """Wait until the program only reads: it must not change while its heap is read."""
    call = pathlib.Path(f"/proc/{target.pid}/syscall")
    wait_until(lambda: call.read_text(encoding="ascii").startswith("0 0x0 "), "waiting for input")


def by_type(recording, metric):
    """Sums of a recording's stacks by their last frame, without the module's name."""
    sums = {}
    done = fizeau("replay", recording, "--metric", metric, "--format", "folded", "-o", "-")
    assert done.returncode == 0, done
    for line in done.stdout.splitlines():
        if line.startswith("#"):
            continue
        stack, weight = line.rsplit(" ", 1)
        name = re.sub(r" \(.*", "", stack.split(";")[-1]).split(".")[-1]
        sums[name] = sums.get(name, 0) + int(weight)
    return sums


def same_types(name):
    with Target(find_interpreter(name), PROGRAM, stdin=subprocess.PIPE) as t, \
            tempfile.TemporaryDirectory() as folder:
        inside = json.loads(t.process.stdout.readline())
        wait_for_input(t)
        recording = pathlib.Path(folder, "heap.fz")
        done = fizeau("heap", t.pid, "-o", recording)
        assert done.returncode == 0 and "changed" not in done.stderr, done
        objects, sizes = by_type(recording, "objects"), by_type(recording, "memory")
        wrong = {}
        for name in TYPES:
            count, size = inside[name]
            if abs(objects.get(name, 0) - count) > max(count * 0.01, 2) or \
                    abs(sizes.get(name, 0) - size) > max(size * 0.01, 2 * size / count):
                wrong[name] = (count, objects.get(name), size, sizes.get(name))
        assert not wrong, wrong


def leak(name):
    with Target(find_interpreter(name), LEAK, stdin=subprocess.PIPE) as t, \
            tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder, "before.fz"), pathlib.Path(folder, "after.fz")
        for path in (before, after):
            t.process.stdin.write("2000\n" if path == before else "20000\n")
            t.process.stdin.flush()
            assert t.process.stdout.readline() == "done\n"
            wait_for_input(t)
            assert fizeau("heap", t.pid, "-o", path).returncode == 0
        text = fizeau("heap", t.pid).stdout
        assert re.search(r"^ .* 22,000  __main__\.Session$", text, re.M), text
        assert re.search(r"^ .* __main__\.SESSIONS$", text, re.M), text
        done = fizeau("diff", before, after)
        assert done.stdout.startswith("Larger by ") and "__main__.SESSIONS" in done.stdout, done
        assert " type or holder\n" in done.stdout and "function" not in done.stdout, done


def traced(name):
    with Target(find_interpreter(name), TRACED, stdin=subprocess.PIPE,
                env={**os.environ, "PYTHONTRACEMALLOC": "1"}) as t, tempfile.TemporaryDirectory() as folder:
        inside = int(t.process.stdout.readline())
        wait_for_input(t)
        recording = pathlib.Path(folder, "heap.fz")
        assert fizeau("heap", t.pid, "-o", recording).returncode == 0
        ours = sum(by_type(recording, "memory").values())
        assert abs(ours - inside) < inside * 0.01, (ours, inside)


def below(recording, metric, holder):
    """The sum of what a variable holds."""
    done = fizeau("replay", recording, "--metric", metric, "--format", "folded", "-o", "-")
    assert done.returncode == 0, done
    return sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines() if holder in line.split(";"))


def idle_interpreters(name):
    with Target(find_interpreter(name), IDLE, stdin=subprocess.PIPE) as t, tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder, "heap.fz")
        wait_for_input(t)
        done = fizeau("heap", t.pid, "-o", recording)
        assert done.returncode == 0, done
        assert by_type(recording, "objects")["Thing"] == 10000


def private(name):
    with Target(find_interpreter(name), PRIVATE, stdin=subprocess.PIPE) as t, tempfile.TemporaryDirectory() as folder:
        inside = json.loads(t.process.stdout.readline())
        wait_for_input(t)
        recording = pathlib.Path(folder, "heap.fz")
        assert fizeau("heap", t.pid, "-o", recording).returncode == 0
        ours = {name: below(recording, "memory", f"__main__.{name}") for name in inside}
        assert all(abs(ours[name] - inside[name]) < inside[name] * 0.01 for name in inside), (ours, inside)
        # An element, its attributes, its text and what it has from malloc for them.
        assert below(recording, "objects", "__main__.TREE") >= 4 * 20000
        assert below(recording, "memory", "__main__.VIEW") < 1000


@suite.test("NumPy's arrays as getsizeof counts them")
def arrays():
    with Target(find_interpreter("debian-3.11"), ARRAYS, fetched_package("numpy==2.2.6", "-3.11"),
                stdin=subprocess.PIPE) as t, tempfile.TemporaryDirectory() as folder:
        inside = int(t.process.stdout.readline())
        wait_for_input(t)
        recording = pathlib.Path(folder, "heap.fz")
        assert fizeau("heap", t.pid, "-o", recording).returncode == 0
        ours = by_type(recording, "memory")["ndarray"]
        assert inside <= ours < inside * 1.01, (ours, inside)


for interpreter in EXPECTED:
    suite.add(f"types as the program itself counts them: {interpreter}", same_types, interpreter)
    suite.add(f"a variable that grows between two recordings: {interpreter}", leak, interpreter)
    suite.add(f"the sum as tracemalloc counts it: {interpreter}", traced, interpreter)
    suite.add(f"objects of idle interpreters: {interpreter}", idle_interpreters, interpreter)
    suite.add(f"memory of C code as malloc counts it: {interpreter}", private, interpreter)


if __name__ == "__main__":
    suite.main()
