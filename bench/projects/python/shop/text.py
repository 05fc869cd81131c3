# SPDX-License-Identifier: MIT
import re

WORD = re.compile(r"[a-z0-9]+")


def clean(name):
    return name.strip().lower()


def slug(title):
    return "-".join(WORD.findall(title.lower()))


def count_words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def row(name, cents):
    return f"{name:<20} {cents // 100:>6}.{cents % 100:02d}"


def receipt(items):
    lines = [row(item.name, item.cents) for item in items]
    return "\n".join(lines)


def shout(text):
    return text.upper() + "!"
