# SPDX-License-Identifier: MIT
from dataclasses import dataclass

from shop.text import clean


@dataclass
class Item:
    name: str
    cents: int
    count: int = 1

    def total(self):
        return self.cents * self.count


def discount(cents, percent):
    return cents - cents * percent // 100


def sum_of(items, percent=0):
    total = 0
    for item in items:
        total += discount(item.total(), percent)
    return total


def read_items(lines):
    items = []
    for line in lines:
        name, cents, count = line.split(";")
        items.append(Item(clean(name), int(cents), int(count)))
    return items


def cheapest(items, most):
    return sorted(items, key=lambda item: (item.cents, item.name))[:most]


def refund(items, reason):
    if not reason:
        raise ValueError("a reason is needed")
    return -sum_of(items)
