# SPDX-License-Identifier: MIT
"""hostile.py DEPTH: stacks that change every 50 ns, so that a reader who is not atomic is caught.

Each function calls others by plain name, one call a line, so that its source says which caller
and line may lead to which callee: bench/stacks.py reads that from the syntax tree and holds every
sampled stack against it. Below DEPTH calls that stay, frames come and go at the same addresses:
siblings of other shapes, a ladder that goes up and down, a generator.
"""
import sys


def tiny(x):
    return x + 1


def other(x):
    return x ^ 3


def wide(a, b, c, d, e):
    total = tiny(a)
    total += other(b)
    return total + c + d + e


def pair(x):
    x = tiny(x)
    return other(x)


def ladder(n):
    if n == 0:
        return tiny(n)
    return ladder(n - 1)


def numbers(n):
    for i in range(n):
        yield tiny(i)


def consume(n):
    total = 0
    for i in numbers(n):
        total += i
    return total


def work():
    for i in range(1000):
        pair(i)
        consume(3)
        wide(i, 1, 2, 3, 4)
        ladder(6)
        other(i)


def stay(n):
    if n:
        return stay(n - 1)
    while True:
        work()


sys.setrecursionlimit(10**6)
print("ready", flush=True)
stay(int(sys.argv[1]))
