# SPDX-License-Identifier: MIT
"""Measuring a benchmark in Python, for harnesses: pytest_fizeau, asv_bench_fizeau.

What fizeau tells us, in the environment:
    FIZEAU_BENCH          "count": mark the body with magic paths; "wall": time it
    FIZEAU_BENCH_LOG      a file for a JSON object a line: rounds, failures
    FIZEAU_BENCH_FILTER   only benchmarks whose names contain this
"""

import gc
import inspect
import itertools
import json
import os
import random
import sys
import time

MODE = os.environ.get("FIZEAU_BENCH")
LOG = os.environ.get("FIZEAU_BENCH_LOG")
FILTER = os.environ.get("FIZEAU_BENCH_FILTER", "")

# A body that is short is run so often before it is counted: since CPython 3.11 what is called some times is specialised.
WARM_UPS, SHORT_NS = 8, 300_000_000

ROUND_NS = 1_000_000  # a round is at least so long
TOTAL_NS = 500_000_000  # rounds until so much time has passed,
ROUNDS_MIN, ROUNDS_MAX = 5, 200  # but this many


def log(record):
    if LOG:
        with open(LOG, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


# ---- measuring ----

def root_frame(call):
    """The call as the body of a benchmark: what fizeau shows begins below this frame."""
    def __bench_root_frame__():
        return call()
    return __bench_root_frame__


# CPython hands out small objects from pools, each of blocks of one size.
POOL = 1 << 14 if sys.version_info >= (3, 10) else 1 << 12
POOL_HEAD = 48
POOL_SIZES = tuple(range(16, 513, 16))
POOL_REST = 16  # so many holes and fewer stay when the objects die that looked for them
# Larger objects come from malloc, in blocks of at most so many bytes from its heap.
HEAP_SIZES = (60 << 10, *(1 << 15 >> n for n in range(5)), *range(1032, 512, -16))
HEAP_ROW, HEAP_MAX = 3, 64 << 20
CACHED, CACHED_ROW = 1032, 8  # of each size up to that malloc keeps up to 7 blocks to itself


# Objects of each size, one after the other; between two of them no other is made.
objects = [itertools.starmap(object, itertools.repeat(())), itertools.count(1_000_000),
           *(map(bytes, itertools.repeat(size - 33)) for size in POOL_SIZES[2:])]

# A list for what fills holes; to make it longer would make others.
slots = [None] * (1 << 17) if MODE == "count" else []
rests = [[None] * POOL_REST for _ in POOL_SIZES]


class Fill:
    """What is kept meanwhile."""

    def __init__(self):
        self.n = 0

    def keep(self, *what):
        """Whether there was room."""
        if self.n + len(what) > len(slots):
            return False
        slots[self.n:self.n + len(what)] = what
        self.n += len(what)
        return True

    def release(self, to=0):
        """All from there on, the last one first."""
        slots[to:self.n] = [None] * (self.n - to)
        self.n = to


def row_in(addresses, size, row):
    """Where so many blocks begin that follow each other in one pool, or None."""
    begin = 0
    for at, address in enumerate(addresses):
        if at and (address != addresses[at - 1] + size or address // POOL != addresses[begin] // POOL):
            begin = at
        if at - begin + 1 == row:
            return begin
    return None


def fill_pools(fill):
    """Objects that fill what holes there are, until each size has a pool of which a quarter and more is free.

    Where a loop's object takes the only free block of a pool each turn moves that pool out of a list and
    back, 18 instructions of, say, 400; and whether it does depends on how many objects there were before.
    As many blocks in a row as that, which are given back, say that it will not.
    """
    for size, source in zip(POOL_SIZES, objects):
        blocks = (POOL - POOL_HEAD) // size
        at = None
        while at is None:
            begin = fill.n
            if not fill.keep(*itertools.islice(source, blocks)):
                return
            at = row_in(list(map(id, slots[begin:fill.n])), size, max(blocks // 4, 1))
        fill.release(begin + at + 1)  # a pool that is left empty is taken and returned each turn


def fill_rest():
    """Objects for the holes that the search left, as the last thing; no other is made here."""
    i = 0
    while i < len(rests):
        j = 0
        while j < len(rests[i]):
            rests[i][j] = next(objects[i])
            j += 1
        i += 1


def fill_heap(fill):
    """Objects that fill the holes in malloc's heap, from the largest down, and then one hole of a known size.

    How long malloc looks for a hole, cuts it and joins it again, depends on what was allocated before: a regular
    expression, which allocates at each match, executed a tenth less or more. It takes the smallest hole that is large
    enough: where blocks follow each other, those in which fewer have room are filled. The last of these places is larger
    than the known hole, or is filled as well.
    """
    left = HEAP_MAX
    for size in HEAP_SIZES:
        row = last = 0
        while row < (CACHED_ROW if size <= CACHED else HEAP_ROW):
            block = bytes(size - 33)
            row = row + 1 if id(block) == last + (size + 23) // 16 * 16 else 1
            last = id(block)
            left -= size
            if not fill.keep(block) or left < 0:
                return  # too many of them, or another malloc
        if size == HEAP_SIZES[0]:
            hole, known = fill.n - 2, id(slots[fill.n - 2])
    slots[hole] = block = None
    while not known <= id(block) < known + HEAP_SIZES[0]:
        block = bytes(HEAP_SIZES[-1] - 33)
        if not fill.keep(block):
            return


class quiet:
    """Nothing that depends on what ran before: no garbage collection, the same random numbers, and when
    it is counted nothing but the body's own in the pools that it allocates from."""

    def __enter__(self):
        random.seed(0)
        self.enabled = gc.isenabled()
        gc.collect()
        gc.disable()
        self.fill = Fill()
        if MODE == "count" and os.environ.get("PYTHONMALLOC", "pymalloc") == "pymalloc":
            fill_pools(self.fill)
            fill_heap(self.fill)
            fill_rest()

    def __exit__(self, *_):
        self.fill.release()
        for rest in rests:
            rest[:] = [None] * len(rest)
        if self.enabled:
            gc.enable()


def marks_of(name):
    return (f"/.fizeau/{word}/{name}" for word in ("start", "stop", "drop"))


def call_between(start, body, stop):
    os.access(start, os.F_OK)
    result = body()
    os.access(stop, os.F_OK)
    return result


for _ in range(WARM_UPS if MODE == "count" else 0):
    call_between("/", root_frame(int), "/")


def warm_ups_left(begin):
    """After the first, which began then. What a long body does only the first times is a small part of it."""
    return WARM_UPS - 1 if time.thread_time_ns() - begin < SHORT_NS else 0


def count(name, prepare):
    """Run the body once, marked; before that some times more, for what only happens the first times."""
    begin = time.thread_time_ns()
    first = root_frame(prepare())()
    if inspect.iscoroutine(first):
        return count_awaited(name, prepare, first)
    for _ in range(warm_ups_left(begin)):
        root_frame(prepare())()
    body = root_frame(prepare())
    start, stop, drop = marks_of(name)
    with quiet():
        try:
            return call_between(start, body, stop)
        except BaseException:
            os.access(drop, os.F_OK)
            raise


async def count_awaited(name, prepare, first):
    """The same of a body that is a coroutine: what its tasks do belongs to it, and the event loop."""
    begin = time.thread_time_ns()
    await first
    for _ in range(warm_ups_left(begin)):
        await prepare()()
    body = prepare()
    start, stop, drop = marks_of(name)
    with quiet():
        try:
            os.access(start, os.F_OK)
            result = await body()
            os.access(stop, os.F_OK)
            return result
        except BaseException:
            os.access(drop, os.F_OK)
            raise


def time_round(call, iterations):
    """Nanoseconds of one iteration, and the last result."""
    repeat = range(iterations)
    clock = time.perf_counter_ns
    begin = clock()
    for _ in repeat:
        result = call()
    return (clock() - begin) / iterations, result


def wall(name, prepare, rounds, iterations, repeatable):
    """Time rounds of the body; `repeatable`: it needs no preparing, so one round can have many."""
    log({"name": name})
    first, result = time_round(root_frame(prepare()), 1)
    if inspect.iscoroutine(result):
        return wall_awaited(name, prepare, rounds, result)
    if not iterations:
        iterations = max(1, int(ROUND_NS / max(first, 1))) if repeatable else 1
    times = []
    with quiet():
        end = time.perf_counter_ns() + TOTAL_NS
        while len(times) < (rounds or ROUNDS_MAX):
            one, result = time_round(root_frame(prepare()), iterations)
            times.append(one)
            if not rounds and len(times) >= ROUNDS_MIN and time.perf_counter_ns() > end:
                break
    log({"name": name, "rounds": times})
    return result


async def wall_awaited(name, prepare, rounds, first):
    """Each round awaits the body once: the event loop may have other things to do in between."""
    result = await first
    times = []
    with quiet():
        end = time.perf_counter_ns() + TOTAL_NS
        while len(times) < (rounds or ROUNDS_MAX):
            body = prepare()
            begin = time.perf_counter_ns()
            result = await body()
            times.append(time.perf_counter_ns() - begin)
            if not rounds and len(times) >= ROUNDS_MIN and time.perf_counter_ns() > end:
                break
    log({"name": name, "rounds": times})
    return result


def log_failure(name, error):
    log({"name": name, "failed": f"{type(error).__name__}: {error}"})


async def told(name, awaited):
    """A failure is written down."""
    try:
        return await awaited
    except Exception as error:
        log_failure(name, error)
        raise


def measure(name, prepare, rounds=None, iterations=None, repeatable=True):
    """prepare() gives what to call; it is not measured. Returns what the last call did."""
    if not MODE or FILTER not in name:
        return prepare()()
    try:
        if MODE == "count":
            result = count(name, prepare)
        else:
            result = wall(name, prepare, rounds, iterations, repeatable)
    except Exception as error:
        log_failure(name, error)
        raise
    return told(name, result) if inspect.iscoroutine(result) else result
