# SPDX-License-Identifier: MIT
"""sums.py N: what sums.c does, as Python programs do it: classes, generators, re and json."""
import json
import re
import sys


class Node:
    __slots__ = ("what", "left", "right", "value")

    def __init__(self, what, left=None, right=None, value=0):
        self.what, self.left, self.right, self.value = what, left, right, value


class Parser:
    def __init__(self, text):
        self.words = [match.group() for match in re.finditer(r"\d+|[-+*()]", text)]
        self.at = 0

    def take(self):
        self.at += 1
        return self.words[self.at - 1]

    def parse(self):
        word = self.take()
        if word != "(":
            return Node("n", value=int(word))
        left = self.parse()
        what = self.take()
        right = self.parse()
        self.take()
        return Node(what, left, right)


def evaluate(node):
    if node.what == "n":
        return node.value
    left, right = evaluate(node.left), evaluate(node.right)
    return {"+": left + right, "-": left - right, "*": left * right % 1000003}[node.what]


def leaves(node):
    if node.what == "n":
        yield node.value
    else:
        yield from leaves(node.left)
        yield from leaves(node.right)


def text_of(depth, seed):
    if depth == 0:
        return str(seed % 97)
    return f"({text_of(depth - 1, seed * 7 + 1)}{'+-*'[seed % 3]}{text_of(depth - 1, seed * 5 + 3)})"


def main(n):
    total = 0
    for i in range(n):
        tree = Parser(text_of(6, i)).parse()
        total += len(json.dumps({"value": evaluate(tree), "leaves": sorted(leaves(tree))}))
    return total


print(main(int(sys.argv[1])))
