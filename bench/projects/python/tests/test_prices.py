# SPDX-License-Identifier: MIT
import pytest

from shop import prices, text

LINES = [f" Item {i * 37 % 101};{i * 613 % 9973};{i % 7 + 1}" for i in range(200)]


@pytest.fixture
def items():
    return prices.read_items(LINES)


def test_discount():
    assert prices.discount(1000, 5) == 950


def test_sum(benchmark, items):
    assert benchmark(prices.sum_of, items, 5) > 0


@pytest.mark.benchmark
def test_read():
    assert len(prices.read_items(LINES)) == 200


@pytest.mark.parametrize("most", [3, 50])
def test_cheapest(benchmark, items, most):
    assert len(benchmark(prices.cheapest, items, most)) == most


def test_receipt(benchmark, items):
    assert benchmark(text.receipt, items)


def test_refund(items):
    with pytest.raises(ValueError):
        prices.refund(items, "")
