# SPDX-License-Identifier: MIT
"""Suites of asv (airspeed velocity), for `fizeau bench -- asv run --python=same`.

asv imports every distribution of which the name begins with "asv_bench", and so this one, in the processes
that find benchmarks and in those that run them. There each benchmark that asv would time (time_*, Time*) is
measured by fizeau instead, after its setup. To asv it is one that does not apply (n/a), so that nothing
gets into its results.
"""

import math

from asv_runner.benchmarks.time import TimeBenchmark

from fizeau_bench import MODE, measure


def name_of(benchmark):
    """As asv writes it: "suite.Class.time_it(10, 'x')"."""
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
    self.rounds = 1  # processes: each would be the benchmark once more


if MODE:
    timed, TimeBenchmark.__init__, TimeBenchmark.run = TimeBenchmark.__init__, init, run
