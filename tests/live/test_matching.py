#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A refactored program compares with what it was: a renamed file, a renamed function and an
extracted wrapper leave nothing new but the wrapper."""

import html
import json
import pathlib
import re
import subprocess
import tempfile

from livelib import FIZEAU, SOURCE, Suite, find_interpreter, fizeau

# Each part runs for about a tenth of a second.
COMPREHENSIONS = """\
def square(x):
    return x * x % 11

def lists(n):
    return [[j + i for j in range(40)] for i in range(n)]

def sets(n):
    return {i % 1000 for i in range(40 * n)}, {i: i for i in range(40 * n)}

def calls(n):
    return [square(i) + (lambda k: k + i)(3) for i in range(20 * n)]

def lazy(n):
    return sum(len([k for k in range(40)]) for i in range(n))

class Table:
    rows = [i * i % 13 for i in range(1000000)]

squares = [i * i % 13 for i in range(1000000)]
for _ in range(100):
    lists(1000), sets(1000), calls(1000), lazy(1000)
"""

EXAMPLE = SOURCE / "examples" / "parse_pr" / "before"
ROUNDS = "8000"

suite = Suite()
folder = tempfile.TemporaryDirectory(prefix="fz-match-")
top = pathlib.Path(folder.name)


def program(name, edit):
    """A copy of the example in a folder of its own, its texts edited."""
    target = top / name
    target.mkdir()
    for file in EXAMPLE.glob("*.py"):
        # The moved file must be seen: its only function does little as it is.
        text = file.read_text().replace("range(count):\n", "range(count):\n        sum(range(2000))\n")
        new_name, text = edit(file.name, text)
        (target / new_name).write_text(text)
    return target / "parse_pr.py"


def refactor(name, text):
    text = text.replace("parse_issue_fixed", "find_issue")
    text = text.replace("from bodies import", "from requests_to_read import")
    text = text.replace("if parse_pr(number", "if read_one(number")
    text = text.replace("def main():", "def read_one(number, title, body):\n"
                        "    return parse_pr(number, title, body)\n\n\ndef main():")
    return "requests_to_read.py" if name == "bodies.py" else name, text


def record(script, output):
    python = find_interpreter("debian-3.11")
    done = subprocess.run([FIZEAU, "run", "-r", "1khz", "-o", str(output), "--", *python.command,
                           str(script), ROUNDS], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def compare(*options):
    done = fizeau("diff", *options, top / "base.fz", top / "head.fz")
    assert done.returncode == 0, done.stderr
    return done.stdout


@suite.test("both versions are recorded", first=True)
def recorded():
    record(program("before", lambda name, text: (name, text)), top / "base.fz")
    record(program("after", refactor), top / "head.fz")


def seen(diff, thing):
    """Whether a node or function has enough samples for a statement about it."""
    return max(thing["base_total"], thing["head_total"]) >= 0.01 * diff["head"]["total"]


@suite.test("only the wrapper is new, and nothing is gone")
def nothing_purple():
    diff = json.loads(compare("--format", "json"))
    assert diff["match"] == "full", diff["match"]
    odd = [(n["name"], n["state"]) for n in diff["nodes"] if n["state"] != "common" and seen(diff, n)]
    assert odd == [("read_one", "new")], odd
    wrapper = next(n for n in diff["nodes"] if n["name"] == "read_one")
    assert wrapper["wraps"] and wrapper["base_total"] == 0 < wrapper["head_total"], wrapper
    assert [f["name"] for f in diff["functions"] if f["state"] != "common" and seen(diff, f)] == \
        ["read_one"]


@suite.test("inferred matches are listed, with scores")
def listed():
    diff = json.loads(compare("--format", "json"))
    links = {link["name"]: link for link in diff["links"]}
    issue = links["find_issue"]
    assert issue["how"] == "body" and issue["from_name"] == "parse_issue_fixed", issue
    assert 0.9 <= issue["score"] <= 1, issue
    assert links["pull_requests"]["how"] == "moved", links
    assert links["pull_requests"]["from_file"].endswith("bodies.py"), links
    function = next(f for f in diff["functions"] if f["name"] == "find_issue")
    assert function["match"]["from"]["name"] == "parse_issue_fixed", function
    text = compare("--color", "never", "--verbose")
    assert "Renamed or moved" in text and "was parse_issue_fixed" in text, text


@suite.test("every output names inferred matches, the scaling with its factor, and differences")
def everywhere():
    options = ["--scale", "reference"]
    diff = json.loads(compare("--format", "json", *options))
    links = {link["name"]: link for link in diff["links"]}
    assert diff["scale"]["mode"] == "reference" and diff["warnings"] and diff["name_rules"], diff
    factor = diff["scale"]["factor"]
    shown = abs(factor - 1) >= .005
    scaling = "Scaling: reference" + (f"; expected is before times {factor:.4f}," if shown else
                                      f", factor {'1' if factor == 1 else '1.00'}, which most functions agree with;")
    output = {"text": compare("--color", "never", "--verbose", *options)}
    for suffix in "md", "folded", "svg", "html":
        path = top / f"every.{suffix}"
        compare("-o", path, *options)
        output[suffix] = path.read_text(encoding="utf-8")
    output["md"] = html.unescape(output["md"])
    header = json.loads(re.search(r'id="fz-header"[^>]*>(.*?)</script>', output.pop("html"), re.S)[1])
    for key in "scale", "warnings", "links", "shifts", "name_rules", "verdict":
        assert header[key] == diff[key], key
    assert ("base scaled by " in output["svg"]) == shown, factor
    assert diff["verdict"]["text"] in output.pop("svg")
    for name, text in output.items():
        flat = " ".join(re.sub(r"(?m)^# ", "", text).split())
        assert "Scaling: reference" in flat, (name, flat[:2000])
        if name != "folded":  # counts samples, so its figures are others
            assert scaling in flat and diff["verdict"]["text"] in flat, (name, flat[:2000])
            assert diff["verdict"]["power"] in flat, (name, flat[:2000])
        assert all(f"Warning: {warning[:60]}" in flat for warning in diff["warnings"]), (name, text)
        # Before any table; only noise of the machine and advice are above. In Markdown it is below the tables,
        # which fit on a phone, and not folded.
        if name == "md":
            assert "\n> Warning: " in re.sub(r"<details>.*?</details>", "", text, flags=re.S), text
        else:
            assert any("Warning: " in line for line in text.replace("\n\n", "\n").splitlines()[:12]), (name, text)
        for link in links.values():
            score = r"\d\.\d\d" if name == "folded" else f"{link['score']:.2f}"
            pattern = rf"{score} +{link['how']} +{link['name']} .*\n#? +was {link['from_name']} "
            assert re.search(pattern, text), (name, pattern, text)
        assert "Ignored when comparing names: " in flat, (name, text)


@suite.test("it can be vetoed")
def vetoed():
    def state(*options):
        diff = json.loads(compare("--format", "json", *options))
        return {f["name"]: f["state"] for f in diff["functions"]}

    assert state("--no-rename")["find_issue"] == "new"
    assert state("--map", "parse_issue_fixed=")["find_issue"] == "new"
    assert state("--match", "names")["find_issue"] == "new"
    assert state("--no-rename", "--map", "parse_issue_fixed=find_issue")["find_issue"] == "common"
    assert state("--match", "names", "--rename", "parse_issue_fixed=find_issue")["find_issue"] == \
        "common"


def joined(name):
    script = top / "comprehensions.py"
    script.write_text(COMPREHENSIONS)
    for side, python in ("called", find_interpreter("debian-3.11")), ("inlined", find_interpreter(name)):
        done = fizeau("run", "--mode", "cpu", "-o", top / f"{side}.fz", "--", *python.command, script)
        assert done.returncode == 0, done.stderr
    diff = json.loads(fizeau("diff", "--format", "json", top / "called.fz", top / "inlined.fz").stdout)
    state = {f["name"]: f["state"] for f in diff["functions"] if f["file"].endswith(script.name)}
    assert state == dict.fromkeys(["<module>", "Table", "square", "lists", "sets", "calls", "calls.<locals>.<lambda>",
                                   "lazy", "lazy.<locals>.<genexpr>"], "common"), state
    assert any("comprehensions count as part of their function" in w for w in diff["warnings"]), diff["warnings"]


for newer in "pyenv-3.12", "pyenv-3.13":
    suite.add(f"comprehensions count as part of their function: {newer}", joined, newer)


suite.main()
