# SPDX-License-Identifier: MIT
import pytest

from shop import graph, store


@pytest.fixture
def full():
    result = store.Store()
    for i in range(150):
        result.put(f"key{i}", {"n": i, "words": ["a", "b", str(i)]})
    return result


def test_round_trip(benchmark, full):
    def round_trip():
        full.load(full.dump())
    benchmark(round_trip)
    assert len(full.rows) == 150


def test_get(benchmark, full):
    def get():
        return [full.get(f"key{i}") for i in range(0, 300, 2)]
    assert benchmark(get)[-1] is None


def test_report(benchmark):
    def fail():
        try:
            int("x")
        except ValueError as error:
            return store.report(error)
        return ""
    assert "int(\"x\")" in benchmark(fail)


def test_shortest(benchmark):
    nodes = graph.grid(12)
    assert len(benchmark(graph.shortest, nodes, (0, 0))) == 144


def test_leaves(benchmark):
    tree = []
    for _ in range(7):
        tree = [tree, tree]
    assert len(benchmark(lambda: list(graph.leaves(tree)))) == 128
