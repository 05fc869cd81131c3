# SPDX-License-Identifier: MIT
"""Measuring a benchmark in Python, for harnesses: pytest_fizeau, asv_bench_fizeau.

fizeau sets in the environment:
    FIZEAU_BENCH          "count": mark the body with magic paths; "wall": time it
    FIZEAU_BENCH_LOG      a file for JSON objects, one per line: rounds, failures
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

# Warm-up runs of a short body before it is counted: since CPython 3.11 code is specialised after a few calls.
WARM_UPS, SHORT_NS = 8, 300_000_000

ROUND_NS = 1_000_000  # minimum length of a round
TOTAL_NS = 500_000_000  # more rounds until this much time has passed,
ROUNDS_MIN, ROUNDS_MAX = 5, 200  # within these limits


def log(record):
    if LOG:
        with open(LOG, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


# ---- measuring ----

def root_frame(call):
    """The call as the body of a benchmark: fizeau shows only what is below this frame."""
    def __bench_root_frame__():
        return call()
    return __bench_root_frame__


# CPython hands out small objects from pools, each of blocks of one size.
POOL = 1 << 14 if sys.version_info >= (3, 10) else 1 << 12
POOL_HEAD = 48
POOL_SIZES = tuple(range(16, 513, 16))
POOL_REST = 16  # holes per size that the search itself may leave
# Larger objects come from malloc. Sizes of the blocks that fill holes in its heap, largest first.
HEAP_SIZES = (60 << 10, *(1 << 15 >> n for n in range(5)), *range(1032, 512, -16))
HEAP_ROW, HEAP_MAX = 3, 64 << 20
CACHED, CACHED_ROW = 1032, 8  # malloc caches up to 7 free blocks of each size up to CACHED


# Iterators that make objects of each size, without allocating anything else in between.
objects = [itertools.starmap(object, itertools.repeat(())), itertools.count(1_000_000),
           *(map(bytes, itertools.repeat(size - 33)) for size in POOL_SIZES[2:])]

# The objects that fill holes. Preallocated: growing the list would make new holes.
slots = [None] * (1 << 17) if MODE == "count" else []
rests = [[None] * POOL_REST for _ in POOL_SIZES]


class Fill:
    """The used part of `slots`."""

    def __init__(self):
        self.n = 0

    def keep(self, *what):
        """Keep objects; False if there is no room."""
        if self.n + len(what) > len(slots):
            return False
        slots[self.n:self.n + len(what)] = what
        self.n += len(what)
        return True

    def release(self, to=0):
        """Release the objects from index `to` on."""
        slots[to:self.n] = [None] * (self.n - to)
        self.n = to


def row_in(addresses, size, row):
    """Index of the first of `row` consecutive blocks in one pool, or None."""
    begin = 0
    for at, address in enumerate(addresses):
        if at and (address != addresses[at - 1] + size or address // POOL != addresses[begin] // POOL):
            begin = at
        if at - begin + 1 == row:
            return begin
    return None


def fill_pools(fill):
    """Fill the holes in pools, until each size has a pool with at least a quarter free.

    If a loop's object takes the only free block of a pool, each turn unlinks that pool from a list and links
    it again, 18 instructions of, say, 400; and whether it does depends on the number of earlier objects.
    Returning that many consecutive blocks to one pool prevents it.
    """
    for size, source in zip(POOL_SIZES, objects):
        blocks = (POOL - POOL_HEAD) // size
        at = None
        while at is None:
            begin = fill.n
            if not fill.keep(*itertools.islice(source, blocks)):
                return
            at = row_in(list(map(id, slots[begin:fill.n])), size, max(blocks // 4, 1))
        fill.release(begin + at + 1)  # keep one: an empty pool would be taken and returned each turn


def fill_rest():
    """Fill the holes that the search left. Must come last, and allocates nothing else."""
    i = 0
    while i < len(rests):
        j = 0
        while j < len(rests[i]):
            rests[i][j] = next(objects[i])
            j += 1
        i += 1


def fill_heap(fill):
    """Fill the holes in malloc's heap, from the largest down, and then leave one hole of a known size.

    How long malloc searches for a hole, splits it and merges it again, depends on earlier allocations: counts of a
    regular expression, which allocates at each match, varied by a tenth. malloc takes the smallest hole that fits, so
    once some blocks are consecutive all smaller holes are filled. The place where they lie is larger than the known
    hole, or is filled as well.
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
                return  # too many holes, or another malloc
        if size == HEAP_SIZES[0]:
            hole, known = fill.n - 2, id(slots[fill.n - 2])
    slots[hole] = block = None
    while not known <= id(block) < known + HEAP_SIZES[0]:
        block = bytes(HEAP_SIZES[-1] - 33)
        if not fill.keep(block):
            return


class quiet:
    """Independence of what ran before: no garbage collection, the same random numbers and, when counting,
    pools without holes."""

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
    """Warm-ups to do after the first, which began at `begin`. Long bodies need none, because it matters little there."""
    return WARM_UPS - 1 if time.thread_time_ns() - begin < SHORT_NS else 0


def count(name, prepare):
    """Warm the body up, then run it once between the marks."""
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
    """The same for a coroutine: its tasks and the event loop are counted, too."""
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
    """Time rounds of the body. If `repeatable`, it needs no preparation and rounds may have many iterations."""
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


async def log_failures(name, awaited):
    """Await, and log a failure."""
    try:
        return await awaited
    except Exception as error:
        log_failure(name, error)
        raise


def measure(name, prepare, rounds=None, iterations=None, repeatable=True):
    """Measure the function that prepare() returns; prepare() is not measured. Returns the last call's result."""
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
    return log_failures(name, result) if inspect.iscoroutine(result) else result
