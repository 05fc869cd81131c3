# SPDX-License-Identifier: MIT
"""pytest --fizeau: which tests take the time, where they spend it, and what changed since the last run.

Each process that runs tests (with xdist each worker) is recorded by its own fizeau. A test's code
is called by a function that has the test's name, so that in every view of the recording, and in
comparisons, the test is a function like any other.
"""

import json
import os
import pathlib
import re
import shutil
import unittest

import _pytest
import pluggy
import pytest

import fizeau
from fizeau.tools import literal, named, run

SHOWN = 10  # slowest tests in the summary
HOT = 0.5  # the hot path goes on as long as a function has this share of the test's time
PATH_MAX = 4  # functions shown of its end
HARNESS = (*(os.path.dirname(module.__file__) + os.sep for module in (_pytest, pluggy, unittest, fizeau)),
           os.path.join(os.path.dirname(json.__path__[0]), "doctest.py"))


def pytest_addoption(parser):
    group = parser.getgroup("fizeau", "profiling by fizeau")
    group.addoption("--fizeau", action="store_true",
                    help="record the tests; show the slowest, and what changed since the last such run")
    group.addoption("--fizeau-html", metavar="DIR",
                    help="with --fizeau: write a flame graph page of each test to this folder")
    group.addoption("--fizeau-mode", choices=["wall", "cpu"], default="wall",
                    help="wall time (wall), or CPU time, better on a busy machine (cpu)")


def pytest_configure(config):
    if config.getoption("--fizeau-html") and not config.getoption("--fizeau"):
        raise pytest.UsageError("--fizeau-html requires --fizeau")
    if not config.getoption("--fizeau") or config.getoption("collectonly"):
        return
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(config, config.workerinput["fizeau"]), "fizeau-recorder")
        return
    try:
        reporter = Reporter(config)
    except OSError as error:
        raise pytest.UsageError(f"--fizeau: no folder for recordings ({error}); use '-o cache_dir=DIR'")
    config.pluginmanager.register(reporter, "fizeau-reporter")
    if config.getoption("dist", "no") == "no":
        config.pluginmanager.register(Recorder(config, reporter.folder), "fizeau-recorder")


# ---- recording: where tests run ----

class Recorder:
    def __init__(self, config, folder):
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        self.recording = fizeau.record(os.path.join(folder, f"{worker}.fz"), quiet=True,
                                       options=["--mode", config.getoption("--fizeau-mode")])
        self.trouble = None

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session):
        try:
            self.recording.start()
        except fizeau.Error as error:
            self.trouble = str(error)
        yield
        try:
            self.recording.stop()
        except fizeau.Error as error:
            self.trouble = str(error)
        if self.trouble and hasattr(session.config, "workeroutput"):
            session.config.workeroutput["fizeau"] = self.trouble

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        item.setup = named(item.nodeid + " [setup]", item.setup)
        item.runtest = named(item.nodeid, item.runtest)
        yield
        del item.setup, item.runtest


# ---- reporting: where the summary is printed ----

def seconds(ns):
    return f"{ns / 1e9:.2f} s" if ns >= 1e9 else f"{ns / 1e6:.0f} ms"


class Reporter:
    def __init__(self, config):
        self.config = config
        self.html = config.getoption("--fizeau-html")
        self.by_cpu = config.getoption("--fizeau-mode") == "cpu"
        self.tests, self.troubles = [], []
        cache = getattr(config, "cache", None)
        # Without a cache there is no last run to compare with.
        top = pathlib.Path(cache.mkdir("fizeau")) if cache else pathlib.Path(config.rootpath) / ".fizeau" / "pytest"
        self.folder, self.last = top / "this", top / "last"
        if any(self.folder.glob("*.fz")):
            shutil.rmtree(self.last, ignore_errors=True)
            self.folder.rename(self.last)
        self.folder.mkdir(parents=True, exist_ok=True)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        node.workerinput["fizeau"] = str(self.folder)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):
        trouble = getattr(node, "workeroutput", {}).get("fizeau")
        if trouble:
            self.troubles.append(trouble)

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.tests.append(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter):
        recorder = self.config.pluginmanager.get_plugin("fizeau-recorder")
        if recorder and recorder.trouble:
            self.troubles.append(recorder.trouble)
        out = terminalreporter
        out.section("fizeau")
        for trouble in dict.fromkeys(self.troubles):
            out.write_line(f"nothing was recorded: {trouble}")
        files = sorted(self.folder.glob("*.fz"))
        try:
            if files:
                self.report(out, files)
        except (fizeau.Error, OSError) as error:  # must not suppress pytest's own summary
            out.write_line(f"fizeau: {error}")

    def tests_in(self, files):
        """{test: figures and file} for each test of this run that is in one of these recordings."""
        found = {}
        for file in sorted(files):
            tree = json.loads(run("replay", file, "--format", "json", "-o", "-", "--no-source"))
            for name, entry in tests_of(tree["nodes"], set(self.tests)).items():
                found[name] = {**entry, "file": file}
        return found

    def report(self, out, files):
        found = self.tests_in(files)
        slowest = sorted(found.items(), key=lambda pair: -pair[1]["total"])
        for name, entry in slowest[:SHOWN]:
            setup = f" + {seconds(entry['setup'])} setup" if entry["setup"] >= 1e6 else ""
            out.write_line(f"{seconds(entry['total']):>8}{setup}  {printable(name)}")
            if entry["path"]:
                out.write_line(f"{'':>10}{entry['share']:.0%} in {printable(' > '.join(entry['path']))}")
        if not slowest:
            out.write_line("no test ran for a whole sampling interval (1 ms)")
        self.compare(out, found)
        if self.html:
            self.write_pages(out, slowest)
        out.write_line(f"recorded to {' '.join(map(str, files))}")

    def compare(self, out, found):
        """Compare each test between the recordings that contain it: xdist gives tests to other workers every time, so
        recordings of the same worker are not comparable."""
        before, tests_of_pair = self.tests_in(self.last.glob("*.fz")), {}
        for name in found.keys() & before.keys():
            tests_of_pair.setdefault((before[name]["file"], found[name]["file"]), set()).add(name)
        common, busy = [], 0
        for (base, head), names in sorted(tests_of_pair.items()):
            diff = json.loads(run("diff", base, head, "--scale", "time", "--force", "--format", "json", "-o", "-",
                                  "--no-source"))
            of_both = [f for f in diff["functions"] if f["name"] in names and f["state"] == "common"]
            # On a busy machine waiting for a processor looks like slower code.
            if diff["verdict"].get("busy") and not self.by_cpu:
                busy += len(of_both)
            else:
                common += of_both
        changed = [f for f in common if f["total_verdict"] == "changed"]
        for f in changed:
            word = "slower" if f["diff_total"] > 0 else "faster"
            out.write_line(f"{word}: {printable(f['name'])}: {seconds(f['base_total'])} -> "
                           f"{seconds(f['head_total'])} ({f['pct_total']:+.0f} %)")
        if common and not changed:
            out.write_line("no significant change since the last run")
        if busy:
            out.write_line(f"not compared: {busy} test{'s' * (busy != 1)}: the machine was busy in this run or the last; "
                           "use --fizeau-mode cpu")

    def write_pages(self, out, tests):
        folder = pathlib.Path(self.html)
        folder.mkdir(parents=True, exist_ok=True)
        for page in pages_of_before(folder):
            page.unlink()
        for number, (name, entry) in enumerate(tests, 1):
            safe = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)[-100:]
            run("replay", entry["file"], "--root", f"^{literal(name)}$", "-o", folder / f"{number:03}-{safe}.html")
        out.write_line(f"wrote {len(tests)} pages to {folder}")


def pages_of_before(folder):
    """Pages that an earlier run wrote; any other file is the user's."""
    return [file for file in folder.glob("[0-9][0-9][0-9]*-*.html") if b'"fizeau-page"' in file.read_bytes()]


def printable(text):
    return "".join(c if c.isprintable() else "?" for c in text)


def tests_of(nodes, names):
    """{test: total, setup (ns) and hot path} from a tree of nodes in preorder."""
    children, found = {}, {}
    for node in nodes:
        children.setdefault(node["parent"], []).append(node)
    for node in nodes:
        name = node["name"]
        if name in names:
            entry = found.setdefault(name, {"total": 0, "setup": 0, "path": [], "share": 1})
            entry["total"] += node["total"]
            entry["path"], entry["share"] = hot_path(node, children)
    for node in nodes:
        name = node["name"][:-len(" [setup]")]
        if node["name"].endswith(" [setup]") and name in found:
            found[name]["setup"] += node["total"]
    return found


def hot_path(top, children):
    path, share, node = [], 1, top
    while True:
        node = max(children.get(node["id"], []), key=lambda n: n["total"], default=None)
        if not node or node["total"] < HOT * top["total"]:
            return path[-PATH_MAX:], share
        if not node["file"].startswith(HARNESS):
            path.append(node["name"])
        share = node["total"] / top["total"]
