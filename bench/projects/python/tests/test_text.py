# SPDX-License-Identifier: MIT
import pytest

from shop import text

TITLE = "The Quick, Brown Fox: jumps over the lazy dog? " * 8


@pytest.mark.benchmark
def test_slug():
    assert text.slug(TITLE).startswith("the-quick")


@pytest.mark.benchmark
def test_words():
    assert text.count_words(TITLE * 4)["The"] == 32


@pytest.mark.benchmark
def test_tiny():
    assert text.clean(" A ") == "a"


def test_shout():
    assert text.shout("a") == "A!"
