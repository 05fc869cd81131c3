"""Properties that hold, and some whose counterexamples are shrunk."""
import datetime
import os
import tempfile

storage = tempfile.TemporaryDirectory()
os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = storage.name

from hypothesis import HealthCheck, assume, find, given, note, seed, settings, target
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

QUIET = settings(max_examples=60, database=None, deadline=None, suppress_health_check=list(HealthCheck))
TREES = st.recursive(st.integers() | st.text(max_size=5) | st.none(), lambda s: st.lists(s, max_size=3) | st.dictionaries(st.text(max_size=3), s, max_size=3))


class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.items = []

    @rule(x=st.integers(0, 9))
    def push(self, x):
        self.items.append(x)

    @rule()
    def pop(self):
        if self.items:
            self.items.pop()

    @invariant()
    def short(self):
        assert len(self.items) < 1000


@QUIET
@seed(1)
@given(TREES, st.lists(st.floats(allow_nan=False), unique=True, max_size=6), st.sampled_from("abc"))
def holds(tree, numbers, letter):
    assume(letter != "c")
    note("x")
    target(float(len(numbers)))


@QUIET
@seed(2)
@given(st.datetimes(min_value=datetime.datetime(2000, 1, 1)), st.from_regex(r"[a-z]{2,4}\d+"), st.builds(complex, st.integers(0, 5)),
       st.data(), st.tuples(st.booleans(), st.binary(max_size=4)), st.permutations(range(4)))
def more(when, text, number, data, pair, order):
    data.draw(st.decimals(0, 10, places=2) | st.fractions(0, 1))
    data.draw(st.characters(min_codepoint=40)), data.draw(st.uuids())


@QUIET
@seed(3)
@given(st.lists(st.integers(), min_size=1))
def fails(numbers):
    assert sum(numbers) < 1000 or len(numbers) < 3


holds(), more()
try:
    fails()
except AssertionError:
    pass
find(st.lists(st.text(), min_size=2), lambda v: len(set(v)) > 2, settings=QUIET)
find(st.floats(), lambda v: v > 100.5, settings=QUIET)
run_state_machine_as_test(Machine, settings=settings(QUIET, max_examples=15, stateful_step_count=10))
