# SPDX-License-Identifier: MIT
"""Measuring a benchmark in Python, for harnesses: pytest_fizeau, asv_bench_fizeau.

What fizeau tells us, in the environment:
    FIZEAU_BENCH          "count": mark the body with magic paths; "wall": time it
    FIZEAU_BENCH_LOG      a file for a JSON object a line: rounds, failures
    FIZEAU_BENCH_FILTER   only benchmarks whose names contain this
"""

import gc
import inspect
import json
import os
import random
import sys
import time

MODE = os.environ.get("FIZEAU_BENCH")
LOG = os.environ.get("FIZEAU_BENCH_LOG")
FILTER = os.environ.get("FIZEAU_BENCH_FILTER", "")

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
POOL_SIZES = range(16, 513, 16)
HOLES_MAX = 1 << 16


def object_of(size, number):
    if size == 16:
        return object()
    return number + 1_000_000 if size == 32 else bytes(size - 33)


def fill_pools():
    """Objects that fill what holes there are, until each size has a pool that was empty.

    Where a loop's object takes the only free block of a pool each turn moves that pool out of a list and
    back, 18 instructions of, say, 400; and whether it does depends on how many objects there were before.
    """
    kept = []
    if os.environ.get("PYTHONMALLOC", "pymalloc") != "pymalloc":
        return kept
    for size in POOL_SIZES:
        for number in range(HOLES_MAX):
            kept.append(object_of(size, number))
            if id(kept[-1]) % POOL == POOL_HEAD:
                break
        else:
            return []  # another allocator
    return kept


class quiet:
    """Nothing that depends on what ran before: no garbage collection, the same random numbers, and when
    it is counted nothing but the body's own in the pools that it allocates from."""

    def __enter__(self):
        random.seed(0)
        self.enabled = gc.isenabled()
        gc.collect()
        gc.disable()
        self.kept = fill_pools() if MODE == "count" else None

    def __exit__(self, *_):
        del self.kept
        if self.enabled:
            gc.enable()


def marks_of(name):
    return (f"/.fizeau/{word}/{name}" for word in ("start", "stop", "drop"))


def count(name, prepare):
    """Run the body once, marked; before that once more, for what only happens the first time."""
    first = root_frame(prepare())()
    if inspect.iscoroutine(first):
        return count_awaited(name, prepare, first)
    body = root_frame(prepare())
    start, stop, drop = marks_of(name)
    with quiet():
        try:
            os.access(start, os.F_OK)
            result = body()
            os.access(stop, os.F_OK)
            return result
        except BaseException:
            os.access(drop, os.F_OK)
            raise


async def count_awaited(name, prepare, first):
    """The same of a body that is a coroutine: what its tasks do belongs to it, and the event loop."""
    await first
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
