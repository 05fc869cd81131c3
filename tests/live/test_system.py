#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The whole machine (attach --system): whose CPU time it was, against what the programs themselves
measured, and what their functions are called; processes that come, go, change or cannot be seen.

Other programs run at the same time and are in the recordings, too; they are ignored.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import test_kernel
from livelib import FIZEAU, Skip, Suite, Wrong, find_interpreter, fizeau, wait_until
from watching import PATIENCE

suite = Suite()
NEVER = (*test_kernel.NEVER, "not included in this build", "inside a pid namespace")

SPIN = """\
import os, sys, time
def NAME(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(200))
"""
# The same until there is a file by that name, and then another program.
SPIN_UNTIL = """\
import os, sys
def NAME(file):
    while not os.path.exists(file):
        sum(range(20000))
"""
BURN = """\
#include <stdlib.h>
#include <time.h>
static double used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
static volatile unsigned sink;
__attribute__((noinline)) static void burn_a_little(void)
{
	for (unsigned i = 0; i < 200000; i++)
		sink += i * i;
}
__attribute__((noinline)) static int descend(int depth, double until)
{
	if (depth)
		return descend(depth - 1, until) + (int)(sink & 1);
	while (used() < until)
		burn_a_little();
	return 0;
}
int main(int argc, char **argv)
{
	return descend(argc > 2 ? atoi(argv[2]) : 0, atof(argv[1])) < 0;
}
"""
NODE = """\
function burnInNode(n) { let s = 0; for (let i = 0; i < n; i++) s = (s + i * i) % 1000003; return s; }
while (process.cpuUsage().user + process.cpuUsage().system < 1e6 * +process.argv[2]) burnInNode(20000);
"""


@contextlib.contextmanager
def recording(path, *words):
    """A recording of the machine while the block runs; at the end .said is the recorder's output."""
    recorder = subprocess.Popen([FIZEAU, "attach", "--system", "-o", path, *words],
                                stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: recorder.poll() is not None or len(test_kernel.programs_of(recorder)) > 2,
                   "its programs")
        if recorder.poll() is not None:
            said = recorder.communicate()[1]
            if any(words in said for words in NEVER):
                raise Skip(said.strip())
            raise AssertionError(said)
        yield recorder
        recorder.send_signal(signal.SIGINT)
        recorder.said = recorder.communicate(timeout=300)[1]
        assert recorder.returncode == 0, recorder.said
    finally:
        if recorder.poll() is None:
            recorder.kill()
            recorder.communicate()


def told(path, *words):
    report = json.loads(fizeau("replay", "--format", "json", *words, path, "-o", "-").stdout)
    report["by_name"] = {}
    for f in report["functions"]:
        report["by_name"].setdefault(f["name"], f)
    return report


def compiled(folder, name="burn_c"):
    source, program = pathlib.Path(folder, name + ".c"), pathlib.Path(folder, name)
    source.write_text(BURN)
    subprocess.run(["gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o",
                    program, source], check=True)
    return program


def script(folder, name, code):
    path = pathlib.Path(folder, name)
    path.write_text(code)
    return path


@contextlib.contextmanager
def running(*command):
    """A program that runs until the block ends."""
    process = subprocess.Popen([*map(str, command)])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def until(path, condition, what):
    """Wait until the condition holds for the stacks recorded so far."""
    wait_until(lambda: condition(stacks(path)), what, PATIENCE)


def is_seen(nodes, process):
    return any(stack[0] == process and len(stack) > 2 for stack in nodes)


def used_by(process):
    """CPU seconds of a child, which has ended, as getrusage() gives them."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0, (process.args, status)
    return usage.ru_utime + usage.ru_stime


def interpreters():
    """Two of different versions that the kernel's program reads."""
    found = []
    for name in ("debian-3.11", "forky-3.14", "forky-3.13", "pyenv-3.12", "pyenv-3.13"):
        with contextlib.suppress(Skip):
            found.append(find_interpreter(name))
    if not found:
        raise Skip("no CPython from 3.11 on is installed")
    return found[:2]


@suite.test("Python of two versions, C and Node: shares of CPU time as by getrusage, and functions")
def shares():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        pythons = interpreters()
        commands, inside = {}, {}
        for i, python in enumerate(pythons):
            where = stack.enter_context(python.scratch())
            path = script(where, f"spin_{i}.py", SPIN.replace("NAME", f"turn_{i}") +
                          f"turn_{i}({1 + i / 2})\n")
            commands[path.name] = [*python.command, python.path(path)]
            inside[path.name] = f"turn_{i}"
        commands["burn_c"] = [compiled(folder), "1"]
        inside["burn_c"] = "burn_a_little"
        if shutil.which("node"):
            commands["node"] = ["node", "--perf-basic-prof", script(folder, "b.js", NODE), "1"]
        path = pathlib.Path(folder, "r.fz")
        with recording(path, "-r", "499"):
            children = {name: subprocess.Popen(command, cwd="/") for name, command in commands.items()}
            used = {name: used_by(child) for name, child in children.items()}
        report = told(path)
        names = {name for name in report["by_name"] if "burnInNode" in name}
        seen = {name: 0 for name in used}
        for node in report["processes"]:
            for name, child in children.items():
                if node["pid"] == child.pid:
                    seen[name] += node["samples"]
        for name, function in inside.items():
            # Also what it calls, so nearly all of the process.
            f, root = report["by_name"][function], report["by_name"][name]
            assert f["total"] >= 0.8 * root["total"], (name, f, root)
        if "node" in used:
            assert names, "no function of Node has its name"
    all_seen, all_used = sum(seen.values()), sum(used.values())
    off = {name: seen[name] / all_seen / (used[name] / all_used) for name in used}
    assert all(0.8 < ratio < 1.25 for ratio in off.values()), (off, seen, used)
    return ", ".join(f"{name} {100 * (ratio - 1):+.1f} %" for name, ratio in off.items())


@suite.test("processes that live for 20 ms are seen, by name or as gone")
def short_lived():
    with tempfile.TemporaryDirectory() as folder:
        program, path = compiled(folder, "brief_c"), pathlib.Path(folder, "r.fz")
        used = 0
        with recording(path, "-r", "999"):
            for _ in range(50):
                used += used_by(subprocess.Popen([program, "0.02"]))
        report = told(path)
    names = ("brief_c", "[gone: brief_c]")
    seen = sum(report["by_name"].get(name, {"total": 0})["total"] for name in names) / 1e9
    assert 0.6 * used < seen < 1.3 * used, (seen, used)
    named = report["by_name"].get("burn_a_little", {"total": 0})["total"] / 1e9
    assert named > 0, "none was looked at while it lived"
    return f"{seen / used:.2f} of their time, {named / seen:.2f} with functions"


@suite.test("the machine before and after: the change is found, processes are identified by their programs")
def compared():
    code = SPIN.replace("NAME", "unit") + """\
def hot(n):
    for _ in range(n):
        sum(range(2000))
def cold(n):
    for _ in range(n):
        sum(range(2000))
end = time.process_time() + 2
while time.process_time() < end:
    hot(int(sys.argv[1]))
    cold(20)
"""
    with tempfile.TemporaryDirectory() as folder:
        app = script(folder, "app.py", code)
        paths = []
        for name, n in (("base", "10"), ("head", "100")):
            paths.append(pathlib.Path(folder, name + ".fz"))
            with recording(paths[-1], "-r", "499"):
                subprocess.run([*find_interpreter("debian-3.11").command, app, n], check=True)
        done = fizeau("diff", "--format", "json", "-o", "-", *paths)
        assert done.returncode == 0, done
        functions = {f["name"]: f for f in json.loads(done.stdout)["functions"]}
    assert functions["app.py"]["state"] == "common", functions["app.py"]
    hot, cold = functions["hot"], functions["cold"]
    assert hot["total_verdict"] == "changed" and hot["diff_total"] > 0, hot
    assert not (cold["total_verdict"] == "changed" and cold["diff_total"] > 0), cold


@suite.test("a process that becomes another by exec is two")
def exec_():
    with tempfile.TemporaryDirectory() as folder:
        told_ = pathlib.Path(folder, "told")
        first = script(folder, "first.py", SPIN_UNTIL.replace("NAME", "before") +
                       "before(sys.argv[1])\nos.execv(sys.argv[2], sys.argv[2:])\n")
        second, path = compiled(folder, "second_c"), pathlib.Path(folder, "r.fz")
        with running(*find_interpreter("debian-3.11").command, first, told_, second, "1000"):
            with recording(path, "-r", "499"):
                until(path, lambda nodes: ends_below(nodes, "first.py", "before"), "the first")
                told_.touch()
                until(path, lambda nodes: is_seen(nodes, "second_c"), "the second")
        nodes = stacks(path)
    assert ends_below(nodes, "first.py", "before") and ends_below(nodes, "second_c", "burn_a_little")
    if ends_below(nodes, "first.py", "burn_a_little") or ends_below(nodes, "second_c", "before"):
        raise Wrong(nodes)


def stacks(path):
    """Names of each stack, its process first."""
    text = fizeau("replay", "--format", "collapsed", "-o", "-", path).stdout
    return [[word.rpartition(":")[0].rpartition(":")[2] or word
             for word in line.rpartition(" ")[0].split(";")[1:]] for line in text.splitlines()]


def ends_below(nodes, process, function):
    return any(stack[0] == process and function in stack for stack in nodes)


@suite.test("stacks deeper than can be read are marked as cut, of C and of Python")
def deep():
    with tempfile.TemporaryDirectory() as folder:
        program, path = compiled(folder, "deep_c"), pathlib.Path(folder, "r.fz")
        code = SPIN_UNTIL.replace("NAME", "bottom") + """\
sys.setrecursionlimit(5000)
def down(n):
    bottom("/never") if n == 0 else down(n - 1)
down(3000)
"""
        with running(program, "1000", "300"), running(*find_interpreter("debian-3.11").command,
                                                      script(folder, "deep.py", code)):
            with recording(path, "-r", "499"):
                until(path, lambda nodes: is_seen(nodes, "deep_c") and ends_below(nodes, "deep.py", "bottom"), "both")
        nodes = stacks(path)
    for process, function in (("deep_c", "burn_a_little"), ("deep.py", "bottom")):
        assert any(stack[:2] == [process, "[truncated]"] and function in stack for stack in nodes), process


@suite.test("a program in a pid namespace is seen from outside; from inside it is refused in one line")
def namespace():
    unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode:
        raise Skip("no pid namespace can be made here")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "r.fz")
        app = script(folder, "inner.py", SPIN_UNTIL.replace("NAME", "within") + "within('/never')\n")
        with running(*unshare, *find_interpreter("debian-3.11").command, app), recording(path, "-r", "499"):
            until(path, lambda nodes: ends_below(nodes, "inner.py", "within"), "it")
        assert ends_below(stacks(path), "inner.py", "within")
        done = subprocess.run([*unshare, FIZEAU, "attach", "--system", "-d", "1"], cwd=folder,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done
        assert "inside a pid namespace" in done.stderr and "--pid=host" in done.stderr, done


@suite.test("by user and by control group; one of them can be chosen")
def owners():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("needs root and setpriv")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program, path = compiled(folder, "theirs_c"), pathlib.Path(folder, "r.fz")
        with running("setpriv", "--reuid", "nobody", "--clear-groups", program, "1000"), \
                running(compiled(folder, "ours_c"), "1000"), recording(path, "-r", "499"):  # else all may be nobody's
            until(path, lambda nodes: is_seen(nodes, "theirs_c") and is_seen(nodes, "ours_c"), "both")
        users = {p["name"]: p.get("user") for p in told(path)["processes"]}
        assert users["theirs_c"] == "nobody", users
        text = fizeau("show", path).stdout
        assert "user\n" in text and " nobody\n" in text, text
        chosen = told(path, "--process", "nobody")["by_name"]
        assert "theirs_c" in chosen and "ours_c" not in chosen


@suite.test("killed by SIGKILL it leaves nothing in the kernel, and the recording can be read")
def killed():
    bpftool = shutil.which("bpftool", path=os.environ["PATH"] + ":/usr/sbin")
    if not bpftool:
        raise Skip("there is no bpftool")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "r.fz")
        with contextlib.suppress(ValueError), recording(path, "-r", "499") as recorder:
            programs = test_kernel.programs_of(recorder)
            with running(compiled(folder), "1000"):
                until(path, lambda nodes: is_seen(nodes, "burn_c"), "it")
                recorder.kill()
                recorder.wait()
            raise ValueError
        for number in programs:
            wait_until(lambda: subprocess.run([bpftool, "prog", "show", "id", number],
                                              capture_output=True).returncode != 0, "its end")
        assert "burn_c" in told(path)["by_name"]


@suite.test("not permitted, or incompatible options: one line with the remedy")
def refused():
    denied = test_kernel.test_reader.BUILD / "tests" / "denied"
    for fault in ("bpf=EPERM", "bpf=ENOSYS"):
        done = subprocess.run([denied, fault, FIZEAU, "attach", "--system", "-d", "1", "-o", "/dev/null"],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done
        assert done.stderr.startswith("fizeau: attach: --system: "), done
    for words in (["--mode", "wall"], ["--mode", "gil"], ["--clock", "wall"], ["--engine", "read"],
                  ["--wait"], ["--native"], ["--opcodes"], ["--blocking"], ["--subprocesses"],
                  ["--async-aware"], ["-r", "max"], ["-r", "20khz"], ["1"]):
        done = fizeau("attach", "--system", *words)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, (words, done)
        assert "--system" in done.stderr, (words, done)
    done = fizeau("record", "--system", "-d", "1", "--wait")
    assert done.returncode == 2 and "--system" in done.stderr, done


if __name__ == "__main__":
    suite.main()
