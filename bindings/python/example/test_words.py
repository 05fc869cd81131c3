# SPDX-License-Identifier: MIT
"""fizeau bench -- pytest bindings/python/example"""

import pytest

TEXT = "the quick brown fox jumps over the lazy dog " * 50


def count_words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


@pytest.mark.benchmark
def test_count():
    assert count_words(TEXT)["the"] == 100


def test_sort(benchmark):
    words = benchmark(sorted, TEXT.split())
    assert words[0] == "brown"


def test_fresh(benchmark):
    def setup():
        return (TEXT.split(),), {}

    benchmark.pedantic(list.sort, setup=setup, rounds=10)


def test_no_benchmark():
    assert count_words("") == {}
