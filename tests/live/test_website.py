#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documents: every link works, also as pages, and commands have the options shown."""

import pathlib
import re
import subprocess
import sys
import tempfile

from livelib import SANITIZED, SOURCE, Skip, Suite, fizeau

sys.path.insert(0, str(SOURCE / "packaging"))
import website  # noqa: E402

suite = Suite()
DOCUMENTS = [*sorted(SOURCE.glob("*.md")), *sorted((SOURCE / "docs").glob("*.md")),
             *sorted((SOURCE / "bindings").rglob("README.md"))]


@suite.test("the site is made, loads nothing from elsewhere, and has no link that leads nowhere")
def site():
    if SANITIZED:
        raise Skip("nothing of it is built with sanitizers")
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "site"
        subprocess.run([SOURCE / "packaging" / "website.py", made], check=True)
        pages = list(made.rglob("*.html"))
        assert (made / "man" / "fizeau-diff.html") in pages and len(pages) > 40, pages
        text = (made / "tour.html").read_text()
        (made / "tour.html").write_text(text + '<a href="nowhere.html">a</a><a href="page.html#nothing">b</a>'
                                        '<script src="https://example.org/a.js"></script>')
        assert [link for _, link in website.broken(made)] == \
            ["https://example.org/a.js", "nowhere.html", "page.html#nothing"], website.broken(made)


def commands_in(text):
    """Code that begins with fizeau, as (command, options)."""
    fenced = "\n".join(re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S))
    for line in (re.findall(r"^ {4,}(?:\$ )?fizeau ([^\n]*)$", text, re.M) +
                 re.findall(r"^(?:\$ )?fizeau ([^\n]*)$", fenced, re.M) + re.findall(r"`fizeau ([a-z][^`]*)`", text)):
        own = re.split(r"(?: -- | \||#| > )", line + " ")[0]
        words = re.sub(r"'[^']*'", "''", own).split()
        command = " ".join(words[:2] if words[:2] in (["ci", "accept"], ["ci", "merge"]) else words[:1])
        yield command, [w.split("=")[0] for w in words[1:] if re.fullmatch(r"--[a-z][\w-]*(=.*)?", w)]


@suite.test("commands are shown with options that they have")
def options():
    known, wrong, seen = {}, [], 0
    for path in DOCUMENTS:
        for command, words in commands_in(path.read_text()):
            if command not in known:
                done = fizeau(*command.split(), "--help", "all")
                known[command] = set(re.findall(r"--[a-z][\w-]*", done.stdout))
            wrong += [f"{path.name}: fizeau {command} {w}" for w in words if w not in known[command]]
            seen += 1
    assert not wrong, wrong
    assert seen > 150, seen
    return f"{seen} commands"


@suite.test("commands of make and scripts that are shown exist")
def scripts():
    targets = set(re.findall(r"^([a-z][\w-]*):", (SOURCE / "Makefile").read_text(), re.M))
    wrong, seen = [], 0
    for path in DOCUMENTS:
        text = path.read_text()
        for target in re.findall(r"(?:`|^ {4,})make ([a-z][\w-]*)", text, re.M):
            wrong += [f"{path.name}: make {target}"] if target not in targets else []
            seen += 1
        # Not the reader's own tests, nor names to fill in; a program is known by its source.
        for script in re.findall(r"`((?:tools|bench|packaging|tests(?!/test_)|examples)/(?![\w/]*NAME)[\w./-]*\w)", text):
            known = (SOURCE / script, SOURCE / f"{script}.c", path.parent / script)
            wrong += [f"{path.name}: {script}"] if not any(file.exists() for file in known) else []
            seen += 1
    assert not wrong, wrong
    assert seen > 100, seen
    return f"{seen} commands"


if __name__ == "__main__":
    suite.main()
