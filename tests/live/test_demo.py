#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make demo` shows the truth: the change did to each function what the example describes."""

import json
import os
import subprocess
import tempfile

from livelib import FIZEAU, SOURCE, Suite, Wrong, fizeau

suite = Suite()
folder = tempfile.TemporaryDirectory(prefix="fz-demo-")
functions, said = {}, []


@suite.test("the demo records, compares and draws", first=True)
def demo():
    result = subprocess.run([str(SOURCE / "examples" / "demo"), os.path.abspath(FIZEAU), folder.name],
                            capture_output=True, text=True, timeout=200)
    assert result.returncode == 0, result.stderr
    for name in ("base.fz", "head.fz", "diff.html"):
        assert os.path.getsize(os.path.join(folder.name, name)) > 0, f"{name} is empty"
    assert result.stdout.splitlines()[-1].endswith("/diff.html"), result.stdout
    said.append(result.stdout)
    diff = fizeau("diff", "--format", "json", f"{folder.name}/base.fz", f"{folder.name}/head.fz")
    assert diff.returncode == 0, diff.stderr
    for function in json.loads(diff.stdout)["functions"]:
        if function["file"].endswith("parse_pr.py"):
            functions[function["name"]] = function


# Functions that the change left alone. A machine that got busier meanwhile made them slower too.
CONTROLS = ("count_boxes", "send_event", "log_metrics")


@suite.test("the demo names the changes and prints no warning")
def named():
    assert "parse_issue_fixed" in said[0] and "Warning" not in said[0], said[0]


def function(name):
    assert name in functions, f"{name} was not seen; these were: {sorted(functions)}"
    return functions[name]


def ratio(*names):
    """Time of functions in the head, relative to the base's."""
    found = [function(name) for name in names]
    if any(f["state"] != "common" for f in found):
        raise Wrong(found)
    return sum(f["head_self"] for f in found) / sum(f["base_self"] for f in found)


@suite.test("parse_issue_fixed became slower, by more than half")
def slower():
    assert ratio("parse_issue_fixed") > 1.5 * ratio(*CONTROLS), function("parse_issue_fixed")


@suite.test("parse_title became faster, by more than a quarter")
def faster():
    assert ratio("parse_title") < 0.75 * ratio(*CONTROLS), function("parse_title")


@suite.test("modify_title is new, strip_comments is gone")
def new_and_removed():
    assert function("modify_title")["state"] == "new", function("modify_title")
    assert function("strip_comments")["state"] == "removed", function("strip_comments")


suite.main()
