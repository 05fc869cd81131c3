#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Matching functions of programs that were edited and recorded: nothing is linked without evidence, links with
evidence are found, and new code is distinguished from newly recorded code."""

import itertools
import json
import pathlib
import re
import subprocess
import tempfile

from livelib import FIZEAU, Suite, find_interpreter, fizeau

suite = Suite()
folder = tempfile.TemporaryDirectory(prefix="fz-links-")
top = pathlib.Path(folder.name)

# Functions that take about as long as each other and have nothing else in common.
LEAVES = {
    "json_dump": """
    import json
    rows = [{"id": i, "name": str(i)} for i in range(40)]
    for _ in range(n):
        json.dumps(rows)
""",
    "sha_hash": """
    import hashlib
    digest = b"seed"
    for _ in range(n * 60):
        digest = hashlib.sha256(digest).digest()
    return digest
""",
    "count_words": """
    words = {}
    for word in ("to be or not to be that is the question " * n * 3).split():
        words[word] = words.get(word, 0) + 1
    return max(words, key=words.get)
""",
    "find_primes": """
    sieve = [True] * (n * 300)
    for i in range(2, len(sieve)):
        if sieve[i]:
            for k in range(i * 2, len(sieve), i):
                sieve[k] = False
    return sum(sieve)
""",
    "sort_pairs": """
    pairs = [(i * 7919 % 1009, i) for i in range(n * 60)]
    pairs.sort(key=str)
    return pairs[0]
""",
}


def leaf_program(name):
    return f"""\
def steady(n):
    total = 0
    for i in range(n * 300):
        total += i * i
    return total


def {name}(n):{LEAVES[name]}

def after(n):
    return sum(i % 7 for i in range(n * 150))


def main():
    for _ in range(60):
        steady(30)
        {name}(30)
        after(30)


main()
"""


def record(name, files, script="app.py", interpreter="debian-3.11", native=False):
    """Record a program, a dictionary of files, as `name`."""
    place = top / name
    for file, text in files.items():
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_text(text)
    python = find_interpreter(interpreter)
    output = top / f"{name}.fz"
    done = subprocess.run([FIZEAU, "run", "-r", "1khz", "-o", str(output), "--", *python.command,
                           str(place / script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return output


def compare(base, head, *options):
    done = fizeau("diff", "--format", "json", *options, base, head)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def links(diff):
    return [(link["from_name"], link["name"], link["how"], round(link["score"], 2))
            for link in diff["links"]]


@suite.test("a leaf and another leaf in its place are not one function")
def replaced_leaves():
    recorded = {name: record(name, {"app.py": leaf_program(name)}) for name in LEAVES}
    wrong = []
    for a, b in itertools.permutations(LEAVES, 2):
        wrong += links(compare(recorded[a], recorded[b]))
    assert not wrong, f"{len(wrong)} links in 20 pairs: {wrong}"


PACKAGE = """\
TABLE = {{}}
for key in range({count}):
    TABLE[key] = {value}


def lookup_{name}(key):
    return TABLE[key]
"""


@suite.test("two packages' modules are not one module")
def packages():
    def program(name, value):
        return {f"{name}/__init__.py": PACKAGE.format(name=name, value=value, count=400000),
                "app.py": f"import {name}\n{name}.lookup_{name}(1)\n"}

    diff = compare(record("reds", program("reds", "key * 3")),
                   record("blues", program("blues", "str(key) + 'x'")))
    assert not links(diff), links(diff)


@suite.test("two functions of an unchanged library are not one function")
def library():
    text = """\
import textwrap
TEXT = "some words of some length to be wrapped somewhere " * 40
for _ in range(150):
    textwrap.{}
"""
    base = record("library-base", {"app.py": text.format("dedent(TEXT * 60)")})
    head = record("library-head", {"app.py": text.format("wrap(TEXT)")})
    diff = compare(base, head)
    assert not [link for link in links(diff) if not link[0].startswith("<")], links(diff)
    assert not links(diff), links(diff)


CLASS = """\
class {cls}:
    def __init__(self):
        self.seen = {{}}

    def feed(self, text):
        for word in text.split():
            self.take(word)
        return self

    def take(self, word):
        for letter in word:
            self.seen[letter] = self.seen.get(letter, 0) + 1

    def close(self):
        return sorted(self.seen.items(), key=lambda item: (item[1], item[0]))


def {function}(text):
    parser = {cls}()
    for _ in range(20):
        parser.feed(text)
    return parser.close()


def steady(n):
    return sum(i * i for i in range(n))


for _ in range(30):
    {function}("the quick brown fox jumps over the lazy dog " * 100)
    steady(20000)
"""


@suite.test("a class and a function that were renamed in place are the same")
def renamed_class():
    base = record("class-base", {"app.py": CLASS.format(cls="Parser", function="parse")})
    head = record("class-head", {"app.py": CLASS.format(cls="HtmlParser", function="parse_v2")})
    found = {(a, b) for a, b, _, _ in links(compare(base, head))}
    expected = {("Parser.feed", "HtmlParser.feed"), ("Parser.take", "HtmlParser.take"),
                ("parse", "parse_v2")}
    assert expected <= found, found


GENERATED = """\
def make(name, number):
    source = f"def argmap_{name}_{number}(n):\\n    return sum(i % 3 for i in range(n))\\n"
    code = compile(source, f"<class 'argmap'> compilation {number}", "exec")
    scope = {}
    exec(code, scope)
    return scope[f"argmap_{name}_{number}"]


first = make("closeness", START)
second = make("betweenness", START + 4)
for _ in range(60):
    first(40000)
    second(40000)
"""


@suite.test("generated functions with running numbers are the same")
def generated():
    base = record("generated-base", {"app.py": GENERATED.replace("START", "5")})
    head = record("generated-head", {"app.py": GENERATED.replace("START", "14")})
    diff = compare(base, head)
    odd = [(f["name"], f["file"], f["state"]) for f in diff["functions"]
           if "argmap" in f["name"] and f["state"] != "common"]
    assert not odd, odd
    assert len({f["name"] for f in diff["functions"] if "argmap" in f["name"]}) == 4, "merged"


CALLED = """\
def work(n):
    return sum(i * i for i in range(n))


def kept(n):
    return sorted(str(i) for i in range(n))


def main():
    for _ in range(60):
        {calls}


{more}main()
"""
FRESH = "def fresh(n):\n    return max(i % 1009 for i in range(n))\n"


@suite.test("new is distinguished from newly recorded, gone from no longer recorded")
def words():
    base = record("words-base", {"app.py": CALLED.format(calls="work(15000)", more="")})
    called = record("words-called", {"app.py": CALLED.format(calls="kept(5000)", more="")})
    added = record("words-added", {
        "app.py": "from fresh import fresh\n" + CALLED.format(calls="fresh(20000)", more="").replace(
            "def work(n):\n    return sum(i * i for i in range(n))\n", ""), "fresh.py": FRESH})

    def word(diff, name):
        return [f.get("word", "") for f in diff["functions"] if f["name"] == name][0]

    diff = compare(base, called)
    assert (word(diff, "kept"), word(diff, "work")) == ("newly recorded", "no longer recorded"), diff
    assert word(diff, "main") == "", diff
    diff = compare(base, added)
    assert (word(diff, "fresh"), word(diff, "work")) == ("new", "gone"), diff
    diff = compare(added, base)
    assert (word(diff, "work"), word(diff, "fresh")) == ("new", "gone"), diff
    text = fizeau("diff", "--table", "--color", "never", base, called).stdout
    assert "Newly recorded (also in the base's code): " in text, text
    assert "No longer recorded (still in the head's code): " in text, text


WHOLE = """\
def scan(text):
    words = text.lower().split()
    total = 0
{rest}

def main():
    for _ in range(600):
        scan("some words of a text that is long enough " * 100)


main()
"""
COUNTING = """\
    for word in words:
        total += len(word) * 3 + ord(word[0]) % 7
        total -= words.index(word) // 5
    return total
"""


@suite.test("a split-off function is reported with the one that its code was in")
def splits():
    base = record("split-base", {"app.py": WHOLE.format(rest=COUNTING)})
    head = record("split-head", {"app.py": WHOLE.format(rest="    return count(words, total)\n").replace(
        "def main", f"def count(words, total):\n{COUNTING}\n\ndef main")})
    diff = compare(base, head)
    assert [(s["name"], s["from_name"]) for s in diff["splits"]] == [("count", "scan")], diff["splits"]
    text = fizeau("diff", "--table", "--color", "never", base, head).stdout
    assert re.search(r" count .*\n +extracted from scan\n", text), text
    assert not compare(base, head, "--no-rename-detection")["splits"], "nothing is inferred"
    assert not compare(base, base)["splits"]


if __name__ == "__main__":
    suite.main()
