# SPDX-License-Identifier: MIT
"""Benchmarks in pytest, for `fizeau bench -- pytest ...`.

    @pytest.mark.benchmark
    def test_parse():                       # the whole test is the benchmark
        parse(TEXT)

    def test_print(benchmark):              # what is called through the fixture is
        benchmark(print_all, TEXT)

The interface is that of pytest-benchmark and pytest-codspeed, whose suites run unchanged; in a run
of fizeau this plug-in stands in for theirs. Elsewhere a benchmark is called once, like any test.

What fizeau tells us, in the environment:
    FIZEAU_BENCH          "count": mark the body with magic paths; "wall": time it
    FIZEAU_BENCH_LOG      a file for a JSON object a line: rounds, failures
    FIZEAU_BENCH_FILTER   only benchmarks whose names contain this
"""

import functools
import gc
import importlib.util
import inspect
import json
import os
import random
import time

import pytest

MODE = os.environ.get("FIZEAU_BENCH")
LOG = os.environ.get("FIZEAU_BENCH_LOG")
FILTER = os.environ.get("FIZEAU_BENCH_FILTER", "")

ROUND_NS = 1_000_000  # a round is at least so long
TOTAL_NS = 500_000_000  # rounds until so much time has passed,
ROUNDS_MIN, ROUNDS_MAX = 5, 200  # but this many

MARKERS = ("benchmark", "codspeed_benchmark")
# Plug-ins whose place we take, as they are registered.
OTHERS = ("codspeed", "codspeed_plugin", "pytest_codspeed", "benchmark", "pytest_benchmark")


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


class quiet:
    """Nothing that depends on what ran before: no garbage collection, the same random numbers."""

    def __enter__(self):
        random.seed(0)
        self.enabled = gc.isenabled()
        gc.collect()
        gc.disable()

    def __exit__(self, *_):
        if self.enabled:
            gc.enable()


def count(name, prepare):
    """Run the body once, marked; before that once more, for what only happens the first time."""
    root_frame(prepare())()
    body = root_frame(prepare())
    start, stop, drop = (f"/.fizeau/{word}/{name}" for word in ("start", "stop", "drop"))
    with quiet():
        try:
            os.access(start, os.F_OK)
            result = body()
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


def measure(name, prepare, rounds=None, iterations=None, repeatable=True):
    """prepare() gives what to call; it is not measured. Returns what the last call did."""
    if not MODE or FILTER not in name:
        return prepare()()
    try:
        if MODE == "count":
            return count(name, prepare)
        return wall(name, prepare, rounds, iterations, repeatable)
    except Exception as error:
        log({"name": name, "failed": f"{type(error).__name__}: {error}"})
        raise


# ---- what tests use ----

class Benchmark:
    """The fixture."""

    def __init__(self, node, options):
        self.fullname = node.nodeid
        self.name = node.name
        self.group = options.get("group")
        self.extra_info = {}
        self.stats = None
        self.enabled = bool(MODE)
        self.disabled = not MODE
        self.uses = 0

    def next_name(self):
        """A test may use the fixture several times."""
        self.uses += 1
        return self.fullname if self.uses == 1 else f"{self.fullname} #{self.uses}"

    def __call__(self, target, *args, **kwargs):
        call = functools.partial(target, *args, **kwargs) if args or kwargs else target
        return measure(self.next_name(), lambda: call)

    def pedantic(self, target, args=(), kwargs=None, setup=None, teardown=None, rounds=1,
                 warmup_rounds=0, iterations=1):
        """`setup` may return (args, kwargs) for the target; neither it nor `teardown` is measured."""
        if setup and (args or kwargs):
            raise TypeError("pedantic: give arguments, or a setup that returns them, not both")
        if setup and iterations != 1:
            raise ValueError("pedantic: with a setup each round has one iteration")
        pending = []

        def tear_down():
            while pending:
                a, k = pending.pop()
                if teardown:
                    teardown(*a, **k)

        def prepare():
            tear_down()
            a, k = (setup() or ((), {})) if setup else (args, kwargs or {})
            pending.append((a, k))
            return functools.partial(target, *a, **k)

        for _ in range(warmup_rounds if MODE == "wall" else 0):
            prepare()()
        try:
            return measure(self.next_name(), prepare, rounds if rounds > 1 else None, iterations,
                           repeatable=not (setup or teardown))
        finally:
            tear_down()


def marker_of(item):
    return next(filter(None, map(item.get_closest_marker, MARKERS)), None)


def uses_fixture(item):
    return any(name in getattr(item, "fixturenames", ()) for name in MARKERS)


class Fixtures:
    """Registered when they are ours to give."""

    @pytest.fixture
    def benchmark(self, request):
        marker = marker_of(request.node)
        return Benchmark(request.node, marker.kwargs if marker else {})

    @pytest.fixture
    def codspeed_benchmark(self, benchmark):
        return benchmark

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        function = pyfuncitem.obj
        if not MODE or not marker_of(pyfuncitem) or uses_fixture(pyfuncitem) or \
                inspect.iscoroutinefunction(function):
            return None
        wanted = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        call = functools.partial(function, **wanted)
        measure(pyfuncitem.nodeid, lambda: call)
        return True


# ---- pytest ----

def pytest_addoption(parser):
    if importlib.util.find_spec("pytest_codspeed"):
        return
    group = parser.getgroup("fizeau")
    group.addoption("--codspeed", action="store_true", default=False,
                    help="run benchmarks only, as pytest-codspeed does")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    for name in MARKERS:
        config.addinivalue_line("markers", f"{name}: a benchmark, measured by fizeau bench")
    manager = config.pluginmanager
    others = [plugin for plugin in map(manager.get_plugin, OTHERS) if plugin]
    if others and not MODE:
        return
    for plugin in others:
        manager.unregister(plugin)
    manager.register(Fixtures(), "pytest_fizeau_fixtures")


def pytest_collection_modifyitems(config, items):
    """Under fizeau, and with --codspeed, what is no benchmark is left out."""
    if not MODE and not config.getoption("codspeed", False):
        return
    kept, dropped = [], []
    for item in items:
        wanted = (marker_of(item) or uses_fixture(item)) and FILTER in item.nodeid
        (kept if wanted else dropped).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept
