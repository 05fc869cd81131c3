# SPDX-License-Identifier: MIT
"""Suites of asv (airspeed velocity), for `fizeau bench -- asv run --python=same`.

asv imports every distribution whose name starts with "asv_bench", so also this one, in the processes that
find benchmarks and in those that run them. Benchmarks that asv would time (time_*, Time*) are measured by
fizeau there instead, after their setup. asv sees them as not applicable (n/a), so its results stay
untouched.
"""

import math

from asv_runner.benchmarks.time import TimeBenchmark

from fizeau_bench import MODE, measure


def name_of(benchmark):
    """The name in asv's notation: "suite.Class.time_it(10, 'x')"."""
    params = ", ".join(map(repr, benchmark._current_params))
    return f"{benchmark.name}({params})" if params else benchmark.name


def run(self, *params):
    def prepare():
        self.redo_setup()
        return self._param_bound_func(*params)

    measure(name_of(self), prepare, repeatable=not self._setups)
    return math.nan


def init(self, *args, **kwargs):
    timed(self, *args, **kwargs)
    self.rounds = 1  # asv would run the benchmark in a new process for each


if MODE:
    timed, TimeBenchmark.__init__, TimeBenchmark.run = TimeBenchmark.__init__, init, run
