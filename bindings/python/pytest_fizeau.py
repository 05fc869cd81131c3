# SPDX-License-Identifier: MIT
"""Benchmarks in pytest, for `fizeau bench -- pytest ...`.

    @pytest.mark.benchmark
    def test_parse():                       # the whole test is the benchmark
        parse(TEXT)

    def test_print(benchmark):              # only the call through the fixture is
        benchmark(print_all, TEXT)

The interface is that of pytest-benchmark and pytest-codspeed, whose suites run unchanged: under
fizeau this plug-in replaces theirs. Elsewhere a benchmark is called once, like any test.
"""

import functools
import importlib.util
import inspect
import re

import pytest

from fizeau_bench import FILTER, MODE, log, measure

MARKERS = ("benchmark", "codspeed_benchmark")
# Names under which the plug-ins that we replace are registered.
OTHERS = ("codspeed", "codspeed_plugin", "pytest_codspeed", "benchmark", "pytest_benchmark")


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
        self.awaitable = {}  # by name
        self.finishing = []  # to be called once those were awaited

    def next_name(self):
        """A test may use the fixture several times."""
        self.uses += 1
        return self.fullname if self.uses == 1 else f"{self.fullname} #{self.uses}"

    def __call__(self, target, *args, **kwargs):
        call = functools.partial(target, *args, **kwargs) if args or kwargs else target
        return self.keep(self.next_name(), lambda: call)

    def keep(self, name, *args, **kwargs):
        """Measure. A coroutine is measured when it is awaited, which finish() checks."""
        result = measure(name, *args, **kwargs)
        if MODE and inspect.iscoroutine(result):
            self.awaitable[name] = result
        return result

    def finish(self):
        for name, result in self.awaitable.items():
            if inspect.getcoroutinestate(result) == inspect.CORO_CREATED:
                result.close()
                log({"name": name, "failed": "its body is a coroutine: 'await benchmark(...)' measures it"})
        for call in self.finishing:
            call()

    def pedantic(self, target, args=(), kwargs=None, setup=None, teardown=None, rounds=1,
                 warmup_rounds=0, iterations=1):
        """`setup` may return (args, kwargs) for the target; neither it nor `teardown` is measured."""
        if setup and (args or kwargs):
            raise TypeError("pedantic: pass arguments, or a setup that returns them, not both")
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
        result = None
        try:
            result = self.keep(self.next_name(), prepare, rounds if rounds > 1 else None, iterations,
                               repeatable=not (setup or teardown))
            return result
        finally:
            if inspect.iscoroutine(result):
                self.finishing.append(tear_down)
            else:
                tear_down()


def marker_of(item):
    return next(filter(None, map(item.get_closest_marker, MARKERS)), None)


def uses_fixture(item):
    return any(name in getattr(item, "fixturenames", ()) for name in MARKERS)


class Fixtures:
    """Registered unless another plug-in provides them."""

    @pytest.fixture
    def benchmark(self, request):
        marker = marker_of(request.node)
        benchmark = Benchmark(request.node, marker.kwargs if marker else {})
        yield benchmark
        benchmark.finish()

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
    if MODE:  # run other files' benchmarks if one cannot be imported
        config.option.continue_on_collection_errors = True
    manager = config.pluginmanager
    others = [plugin for plugin in map(manager.get_plugin, OTHERS) if plugin]
    if others and not MODE:
        return
    for plugin in others:
        manager.unregister(plugin)
    manager.register(Fixtures(), "pytest_fizeau_fixtures")


def pytest_collectreport(report):
    if MODE and report.failed:
        said = report.longreprtext.strip().splitlines()[-1]
        log({"name": report.nodeid, "failed": re.sub(r"^E +", "", said)})


def pytest_collection_modifyitems(config, items):
    """Deselect tests that are not benchmarks, under fizeau and with --codspeed."""
    if not MODE and not config.getoption("codspeed", False):
        return
    kept, dropped = [], []
    for item in items:
        wanted = (marker_of(item) or uses_fixture(item)) and FILTER in item.nodeid
        (kept if wanted else dropped).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept
