#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The engine in the kernel (--engine bpf): its stacks on every interpreter that it reads, by the
oracle of test_reader.py, and what becomes of it where it is refused or the target goes away.

A tick interrupts a thread on its own CPU, so no stack can be torn: not one may be wrong. What is
rejected was in the middle of a change, as when a thread is stopped.
"""

import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import test_reader
from livelib import (EXPECTED, FIZEAU, Skip, Suite, Wrong, find_interpreter, fizeau,
                     free_threaded, wait_until)
from watching import PATIENCE, Recorder, functions_of, rows_of

suite = Suite()
NEVER = ("built without", "not allowed to load", "cannot run the BPF program", "bpf is not available in this kernel")


def sampled(pid, *args):
    """Output of the kernel engine for a process; skips if the kernel does not permit it."""
    done = subprocess.run([test_reader.PROBE, "-k", *map(str, args), str(pid)], capture_output=True,
                          text=True, timeout=120)
    said = done.stderr.strip().splitlines()[-1:] or [""]
    if any(words in said[0] for words in NEVER):
        raise Skip(said[0])
    assert done.returncode == 0 and not said[0], done.stderr
    return json.loads(done.stdout)


# ---- the oracle ----

def judged(name, depth, threads, is_enough):
    """Judge what the kernel sees of the hostile program until it is enough: counts, and why samples were rejected."""
    python = find_interpreter(name)
    oracle = test_reader.Oracle()
    sums, why_not, seen = collections.Counter(), collections.Counter(), set()
    with test_reader.running(python, oracle.source, depth, threads) as target:
        test_reader.until_all_work(target.pid, threads)

        def look():
            result = sampled(target.pid, "-s", 0.5, "-i", 100, "-g", *(["-a"] if threads else []))
            total, wrong, rejected, reasons = test_reader.judge_samples(oracle, without_gc(result), depth)
            if wrong:
                raise Wrong(f"{wrong} of {total} wrong: {reasons.most_common(3)}")
            sums.update(total=total, rejected=rejected, lost=result["lost"])
            seen.update(str(stack["frames"]) for stack in result["stacks"])
            sums["distinct"] = len(seen)
            why_not.update(result["rejected"])
            return is_enough(sums)
        wait_until(look, "enough samples", PATIENCE)
    return sums, why_not


def check_oracle(name, depth, threads):
    sums, _ = judged(name, depth, threads, lambda sums: sums["distinct"] > 20)
    return f"0 of {sums['total']:,} wrong"


def check_rejected(name, depth, threads):
    sums, why_not = judged(name, depth, threads, lambda sums: sums["total"] > 2000 and sums["distinct"] > 20)
    note = f"{100 * sums['rejected'] / sums['total']:.2f} % of {sums['total']:,} rejected, {sums['lost']} lost"
    assert sums["rejected"] <= 0.02 * sums["total"], (note, why_not)
    return note


def without_gc(result):
    """A collection is at the top of a stack, and true."""
    for stack in result["stacks"]:
        stack["frames"] = [f for f in stack["frames"] if f[0] != "<GC>"]
    return result



# ---- code that dies young ----

def check_code_reuse(name):
    """A code object that was gone before its name could be read is not taken for another. On a busy
    machine all may be gone before, and then there is nothing to check."""
    pairs, end = [], time.monotonic() + PATIENCE
    with test_reader.running(find_interpreter(name), test_reader.REUSE) as target:
        def look():
            for stack in sampled(target.pid, "-s", 0.5, "-i", 200)["stacks"]:
                made = [f for f in stack["frames"] if f[1].startswith("<made ")]
                if len(made) == 2 and not stack["rejected"]:
                    if made[1][1] != made[0][1] or made[1][0] != f"f{made[0][1][6:-1]}":
                        raise Wrong(made)
                    pairs.append(stack["n"])
        while not pairs and time.monotonic() < end:
            look()
    if not pairs:
        raise Skip("every code object was gone before its name was read")
    return f"0 of {sum(pairs)} wrong"


# ---- recordings ----

WORK = """\
import os, sys, threading, time
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
    return time.thread_time()
"""


def recorded(folder, code, rate="2khz", *options):
    """A run with the engine, and its recording."""
    script, path = pathlib.Path(folder, "target.py"), pathlib.Path(folder, "r.fz")
    script.write_text(WORK + code, encoding="utf-8")
    done = fizeau("run", "--engine", "bpf", "--mode", "cpu", "-a", "-r", rate, *options, "-o", path,
                  "--", *find_interpreter("debian-3.11").command, script)
    if any(said in done.stderr for said in NEVER):
        raise Skip(done.stderr.strip())
    assert done.returncode == 0, done
    return done, path


TOLD = """\
import os, sys, threading, time
def is_told(word): # without os.path.exists(), which handles an exception while the file is missing
    return word in os.listdir(os.path.dirname(os.path.abspath(__file__)))
def work(word):
    while not is_told(word):
        sum(range(20000))
"""


@contextlib.contextmanager
def recording(folder, code, *options):
    """A run with the engine, of a program that works until files in the folder stop it."""
    script, path = pathlib.Path(folder, "target.py"), pathlib.Path(folder, "r.fz")
    script.write_text(TOLD + code, encoding="utf-8")
    with Recorder("run", "--engine", "bpf", "--mode", "cpu", "-r", "2khz", "-o", path, *options,
                  "--", *find_interpreter("debian-3.11").command, script, path=path) as recorder:
        with skipping():
            yield recorder
        recorder.end(interrupt=False)


@contextlib.contextmanager
def skipping():
    """Skip if the kernel does not permit it and the error explains this."""
    try:
        yield
    except AssertionError as error:
        if any(said in str(error) for said in NEVER):
            raise Skip(str(error)) from error
        raise


def tell(folder, word):
    pathlib.Path(folder, word).touch()


def told(path):
    """The recording as JSON, with its functions by name."""
    done = fizeau("replay", "--format", "json", path, "-o", "-")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    report["by_name"] = {f["name"]: f for f in report["functions"]}
    return report


# ---- programs that print what they measured, also for the tests of waits and of growth ----

def run_saying(folder, code, name, *options):
    """A program's own figures, as JSON, and its recording from its start on."""
    path = pathlib.Path(folder, "r.fz")
    done = fizeau("run", *options, "-o", path, "--", *find_interpreter(name).command, "-c", code)
    if any(said in done.stderr for said in NEVER):
        raise Skip(done.stderr.strip())
    assert done.returncode == 0, done
    return json.loads(done.stdout), path


def attach_saying(folder, code, name, *options, programs=1, line="go", seen=()):
    """The same of one that begins when it reads a line, which is when it is watched: so many programs
    in the kernel are attached. Its input ends when the recording has the functions `seen`: their names are read
    while it lives."""
    path = pathlib.Path(folder, "r.fz")
    with subprocess.Popen([*find_interpreter(name).command, "-c", "print('up', flush=True)\n" + code], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as target:
        assert target.stdout.readline() == "up\n"
        recorder = subprocess.Popen([FIZEAU, "attach", *options, "-o", path, str(target.pid)],
                                    stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: is_ready(recorder, programs), "its programs")
            target.stdin.write(f"{line}\n")
            target.stdin.flush()
            said = target.stdout.readline()
            wait_until(lambda: recorder.poll() is not None or set(seen) <= functions_of(path), f"a sample of each of {seen}")
            target.communicate(timeout=PATIENCE)
        finally:
            target.kill()
            trouble = recorder.communicate(timeout=PATIENCE)[1]
        if any(words in trouble for words in NEVER):
            raise Skip(trouble.strip())
        assert recorder.returncode == 0, trouble
    return json.loads(said), path


def pairs_of(path, *options):
    """(caller, function) of all frames in a recording."""
    rows = [[frame.split(":")[1] for frame in row if frame.count(":") > 1] for row in rows_of(path, *options)]
    return {pair for row in rows for pair in zip(row, row[1:])}


@suite.test("samples have an exception while their thread handles one, also outside a generator, and else none")
def exceptions():
    with tempfile.TemporaryDirectory() as folder:
        with recording(folder, code="""
def plain():
    work("one")
def handling():
    try:
        raise ValueError
    except ValueError:
        work("two")
def yields():
    work("three")
    yield
def outside():
    try:
        raise ValueError
    except ValueError:
        list(yields())
plain()
handling()
outside()
""") as recorder:
            for function, word in ("plain", "one"), ("handling", "two"), ("yields", "three"):
                recorder.until(lambda path, pair=(function, "work"): pair in pairs_of(path), f"work() below {function}()")
                tell(folder, word)
        handled = pairs_of(recorder.path, "--mode", "exception")
        assert {("handling", "work"), ("yields", "work")} <= handled and ("plain", "work") not in handled, handled


@suite.test("a recording names its engine and holds the functions that ran")
def engine():
    with tempfile.TemporaryDirectory() as folder:
        with recording(folder, code="""
def here():
    work("end")
here()
""") as recorder:
            recorder.until_seen("here", "work")
            tell(folder, "end")
        report = told(recorder.path)
    assert report["facts"]["engine"] == "bpf", report["facts"]
    assert set(report["by_name"]) >= {"<module>", "here", "work"} and report["metric"] == "cpu", report["by_name"]


@suite.test("CPU time is the program's own")
def exact_time():
    with tempfile.TemporaryDirectory() as folder:
        done, path = recorded(folder, code="""
def here():
    work(0.4)
work(0.5)  # until we are there: a slow machine takes its time
before = time.thread_time()
here()
print(time.thread_time() - before)
""", rate="1khz")
        report = told(path)
    own, seen = float(done.stdout), report["by_name"]["here"]["total"] / 1e9
    # The first sample and the last of it may be those of what is around.
    assert abs(own - seen) < 0.01 + 0.02 * own, (own, seen)
    return f"{seen:.3f} of {own:.3f} s"


@suite.test("a thread that works for a moment now and then is seen as often as it works")
def light():
    with tempfile.TemporaryDirectory() as folder:
        done, path = recorded(folder, code="""
def here():
    for i in range(200):
        work(0.001)
        time.sleep(0.01)
before = time.thread_time()
here()
print(time.thread_time() - before)
""", rate="100hz")
        report = told(path)
    own, seen = float(done.stdout), report["by_name"]["here"]["total"] / 1e9
    assert 0.7 * own < seen < 1.3 * own, (own, seen)
    return f"{seen:.3f} of {own:.3f} s"


@suite.test("threads are seen from their first tick, however short they live")
def threads():
    with tempfile.TemporaryDirectory() as folder:
        done, path = recorded(folder, code="""
def job():
    work(0.02)
work(0.5)  # until we are there
for i in range(30):
    t = threading.Thread(target=job)
    t.start(); t.join()
""")
        rows = fizeau("replay", path, "--collapsed", "-o", "-").stdout.splitlines()
    seen = {row.split(";")[0] for row in rows if ":job:" in row}
    assert len(seen) == 30, (len(seen), done.stderr)


# CPUs tick for them at first, and then their own time does: not both, and not neither.
@suite.test("threads that grow up have the time from their birth to their end")
def grown_up():
    with tempfile.TemporaryDirectory() as folder:
        done, path = recorded(folder, code="""
used = []
def job():
    before = time.thread_time()
    work(0.12)
    used.append(time.thread_time() - before)
work(0.5)  # until we are there
for i in range(20):
    t = threading.Thread(target=job)
    t.start(); t.join()
print(sum(used))
""", rate="1khz")
        report = told(path)
    own, seen = float(done.stdout), report["by_name"]["job"]["total"] / 1e9
    assert abs(own - seen) < 0.08 * own, (own, seen)
    return f"{seen:.3f} of {own:.3f} s"


@suite.test("a target that becomes another program is recorded")
def exec_():
    with tempfile.TemporaryDirectory() as folder:
        with recording(folder, code="""
def first():
    work("again")
def second():
    work("end")
if sys.argv[1:] == ["again"]:
    second()
else:
    first()
    os.execv(sys.executable, [sys.executable, __file__, "again"])
""") as recorder:
            recorder.until_seen("first")
            tell(folder, "again")
            recorder.until_seen("first", "second")
            tell(folder, "end")
        rows = rows_of(recorder.path)
    if wrong := [row for row in rows if ":first:" in str(row) and ":second:" in str(row)]:
        raise Wrong(wrong)


@suite.test("pauses are not recorded")
def pause():
    with tempfile.TemporaryDirectory() as folder:
        socket_ = pathlib.Path(folder, "control")
        with recording(folder, """
import socket
s = socket.socket(socket.AF_UNIX)
s.connect(os.path.dirname(os.path.abspath(__file__)) + "/control")
def say(word):
    s.send(word + b"\\n")
    assert s.recv(100).startswith(b"ok")
def before():
    work("pause")
def unseen():
    for i in range(100):
        sum(range(100000))
def after():
    work("end")
before()
say(b"disable")
unseen()
say(b"enable")
after()
""", "--control", f"unix:{socket_}") as recorder:
            recorder.until_seen("before")
            tell(folder, "pause")
            recorder.until_seen("before", "after")
            tell(folder, "end")
        functions = functions_of(recorder.path)
    if "unseen" in functions:
        raise Wrong(functions)


@suite.test("the target's forks are not sampled")
def fork():
    with tempfile.TemporaryDirectory() as folder:
        with recording(folder, code="""
def child():
    work("end")
def parent():
    work("end")
if os.fork() == 0:
    child()
    os._exit(0)
parent()
os.wait()
""") as recorder:
            recorder.until_seen("parent")
            tell(folder, "end")
        functions = functions_of(recorder.path)
    if "child" in functions:
        raise Wrong(functions)


DEEPER = """
sys.setrecursionlimit(10000)
def down(n):
    return down(n - 1) if n else work(WORD)
down(5000)
"""
CUT = r"the stacks of ([\d.]+) % are deeper than the limit"


@suite.test("a stack deeper than the buffer is cut at its root, and marked")
def deep():
    with tempfile.TemporaryDirectory() as folder:
        with recording(folder, DEEPER.replace("WORD", '"end"')) as recorder:
            recorder.until_seen("work")
            tell(folder, "end")
        rows = rows_of(recorder.path)
    assert re.search(CUT, recorder.said), recorder.said
    cut = [row for row in rows if any("[truncated]" in frame for frame in row)]
    assert cut and all("[truncated]" in row[1] for row in cut), {row[1] for row in cut}
    assert any("work" in row[-1] for row in cut), {row[-1] for row in cut}
    assert {len(row) for row in cut} == {len(cut[0])}, {len(row) for row in cut}


@suite.test("it reports the share of samples with truncated stacks")
def deep_share():
    with tempfile.TemporaryDirectory() as folder:
        done, _ = recorded(folder, DEEPER.replace("WORD", "0.3"))
    share = re.search(CUT, done.stderr)
    assert share and 50 < float(share[1]) < 100, done.stderr


@suite.test("records that do not fit in the ring are counted")
def overrun():
    quality, said, _ = overrun_by(2)
    assert quality["missed"] > 0 and "missed" in said, (quality, said)
    return f"{quality['missed']} missed"


@suite.test("the weight of dropped events goes to the next sample")
def overrun_weighs():
    quality, _, total = overrun_by(2)
    assert quality["missed"] > 300, quality
    assert quality["longest_gap_ns"] > 0.5e9, quality
    assert total / 1e9 > 2, total
    return f"{quality['missed']} missed, longest gap {quality['longest_gap_ns'] / 1e9:.2f} s"


def overrun_by(seconds):
    """Stop the recorder for that much work of the target: the recording's facts, the output, and all time."""
    python = find_interpreter("debian-3.11")
    code = test_reader.DEEP
    with test_reader.running(python, code, 1000) as target, tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "r.fz")
        recorder = subprocess.Popen([FIZEAU, "attach", "--engine", "bpf", "--mode", "cpu", "-r", "1khz",
                                     "-o", path, str(target.pid)],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: is_ready(recorder), "its program")
        used = cpu_time(target.pid)
        recorder.send_signal(signal.SIGSTOP)
        wait_until(lambda: cpu_time(target.pid) > used + seconds, "its work", PATIENCE)
        recorder.send_signal(signal.SIGCONT)
        wait_until(lambda: cpu_time(target.pid) > used + seconds + 0.3, "some more", PATIENCE)
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate(timeout=60)
        if any(words in said for words in NEVER):
            raise Skip(said)
        report = told(path)
    return report["facts"]["quality"], said, report["total"]


# Some begin as a copy of their parent, some as another program.
TREE = """
import json, multiprocessing, subprocess
def child(seconds, said):
    said.put((seconds, work(seconds)))
def parent():
    return work(0.2)
if __name__ == "__main__":
    parent()
    spent = {"parent": 0.2}
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        said = context.SimpleQueue()
        children = [context.Process(target=child, args=(seconds, said)) for seconds in (0.2, 0.3)]
        for process in children:
            process.start()
        for process in children:
            process.join()
    spent["child"] = 2 * (0.2 + 0.3)
    before = os.times().children_user + os.times().children_system
    subprocess.run("head -c 100000000 /dev/zero | sha256sum", shell=True, stdout=subprocess.DEVNULL)
    times = os.times()
    spent["others"] = times.children_user + times.children_system - before
    spent["all"] = times.user + times.system + times.children_user + times.children_system
    print(json.dumps(spent))
"""


@suite.test("with --subprocesses each process is sampled by its own clock, and others than Python are reported")
def tree():
    with tempfile.TemporaryDirectory() as folder:
        done, path = recorded(folder, TREE, "1khz", "--subprocesses")
        report = told(path)
    spent = json.loads(done.stdout)
    for name in ("parent", "child"):
        found = report["by_name"][name]["total"] / 1e9
        assert abs(found - spent[name]) < 0.05 * spent[name] + 0.01, (name, found, spent)
    assert len({t["pid"] for t in report["states"]["threads"]}) >= 5, report["states"]["threads"]
    missing = float(report["facts"]["missing.processes"]) * spent["all"]
    # The kernel counts it in ticks, and processes began before they were watched.
    assert spent["others"] - 0.1 < missing < spent["others"] + 0.4, (missing, spent)


# Children that end before their names can be read: those of functions that they inherit from their parent, and of one
# that each creates itself, with the same number and at the same address as the parent's own.
FORKS = """\
import os, time
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
def made(who, i):
    space = {"work": work}
    exec(compile(f"def f_{who}_{i:02}(): work(0.004)", f"<{who} {i:02}>", "exec"), space)
    return space[f"f_{who}_{i:02}"]
def inherited():
    work(0.006)
def in_child(i):
    made("kid", i)()
def in_parent(i):
    made("own", i)()
def begin(job, *args):
    child = os.fork()
    if not child:
        job(*args)
        os._exit(0)
    return child
def main():
    work(0.1)  # what a parent has been seen to run before
    for i in range(40):
        os.waitpid(begin(inherited), 0)
    for i in range(20):
        child = begin(in_child, i)
        in_parent(i)
        os.waitpid(child, 0)
main()
print(0)
"""


def under(nodes, node):
    """Names on the path to a node of the tree, including its own."""
    while node["parent"] >= 0:
        yield node["name"]
        node = nodes[node["parent"]]


def recorded_forks(name):
    """Seconds that are seen of what children have from their parent; no child has a name that is another's."""
    with tempfile.TemporaryDirectory() as folder:
        _, path = run_saying(folder, FORKS, name, "--engine", "bpf", "--mode", "cpu", "-a", "--subprocesses")
        nodes = told(path)["nodes"]
    seen = 0
    for node in nodes:
        names = list(under(nodes, node))
        if "in_child" in names and any(other.startswith("f_own_") for other in names):
            raise Wrong(names)
        if names[:2] == ["work", "inherited"]:
            seen += node["total"] / 1e9
    return seen


def check_forks(name):
    seen = recorded_forks(name)
    assert seen > 0.75 * 40 * 0.006, seen
    return f"{seen:.3f} s of {40 * 0.006:.3f} s"


def check_forks_names(name):
    wait_until(lambda: recorded_forks(name) > 0, "a child that has a name from its parent", PATIENCE)


@suite.test("with --subprocesses a process in another pid namespace is reported, and the others are recorded")
def tree_apart():
    report, warnings = recorded_apart()
    assert report["by_name"]["parent"]["total"] > 0.5e9, report["by_name"]["parent"]
    assert len(warnings) == 1 and "is in a different pid namespace" in warnings[0], warnings


@suite.test("with --subprocesses a process in another pid namespace is reported")
def tree_apart_told():
    def look():
        report, warnings = recorded_apart()
        return "parent" in report["by_name"] and any("is in a different pid namespace" in line for line in warnings)
    wait_until(look, "the warning", PATIENCE)


def recorded_apart():
    """A recording of a program that starts another in a pid namespace of its own, and warnings."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True).returncode:
        raise Skip("no pid namespace can be made here")
    code = """
import subprocess
def parent():
    work(0.3)
parent()
subprocess.run(["unshare", "--pid", "--fork", sys.executable, "-c", "sum(range(30_000_000))"])
parent()
"""
    with tempfile.TemporaryDirectory() as folder:
        done, path = recorded(folder, code, "1khz", "--subprocesses")
        report = told(path)
    return report, [line for line in done.stderr.splitlines() if "warning" in line]


@suite.test("a root without /sys is reported as such, not as an old kernel, without messages of libraries")
def without_sys():
    hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /sys && exec "$@"', "sh"]
    if os.geteuid() != 0 or subprocess.run([*hidden, "true"], capture_output=True).returncode:
        raise Skip("no mounts of one's own can be made here")
    done = subprocess.run([*hidden, FIZEAU, "--version"], capture_output=True, text=True, timeout=60)
    if "built without" in done.stdout:
        raise Skip(done.stdout.splitlines()[-1])
    assert done.returncode == 0 and not done.stderr, done
    assert "bpf requires /sys" in done.stdout and "requires Linux" not in done.stdout, done


@suite.test("a program in a pid namespace of its own")
def namespace():
    unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if os.geteuid() != 0 or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        raise Skip("no pid namespace can be made here")
    with tempfile.TemporaryDirectory() as folder:
        script, path = pathlib.Path(folder, "target.py"), pathlib.Path(folder, "r.fz")
        script.write_text(WORK + """
def job():
    work(600)
threading.Thread(target=job).start()
work(600)
""")
        outer = subprocess.Popen([*unshare, *find_interpreter("debian-3.11").command, script])
        try:
            inner = wait_until(lambda: children(outer.pid), "its start")[0]
            wait_until(lambda: len(os.listdir(f"/proc/{inner}/task")) == 2, "its thread")
            tids = {int(name) for name in os.listdir(f"/proc/{inner}/task")}
            with Recorder("attach", "--engine", "bpf", "--mode", "cpu", "-a", "-o", path, inner,
                          path=path) as recorder, skipping():
                recorder.until(lambda path: len(threads_of(path)) == 2, "both threads")
                recorder.until_seen("job")
                assert threads_of(path) == tids, (threads_of(path), tids)
        finally:
            outer.kill()
            outer.wait()


def threads_of(path):
    done = fizeau("replay", "--format", "json", path, "-o", "-")
    return {t["tid"] for t in json.loads(done.stdout)["states"]["threads"]} if done.returncode == 0 else set()


def children(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


# ---- what is allowed ----

def cpu_time(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def programs_of(process):
    """Numbers of the programs in the kernel that a process has attached to what happens; one that
    lists tasks is gone in a moment. None of a process that has ended."""
    found = set()
    with contextlib.suppress(OSError):
        for info in pathlib.Path(f"/proc/{process.pid}/fdinfo").iterdir():
            with contextlib.suppress(FileNotFoundError):
                lines = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
                if "link_id" in lines and lines["link_type"].strip() != "iter":
                    found.add(lines["prog_id"].strip())
    return found


PPOLL = {"x86_64": "271", "aarch64": "73"}  # the system call


def is_listening(process):
    """Does it wait for records of its programs in the kernel? They know then what to sample."""
    return pathlib.Path(f"/proc/{process.pid}/syscall").read_text().split()[0] == PPOLL[os.uname().machine]


def is_ready(recorder, programs=1):
    """Does it wait for records of that many programs in the kernel, or has it ended?"""
    with contextlib.suppress(OSError):  # it has ended since it was asked
        return recorder.poll() is not None or len(programs_of(recorder)) >= programs and is_listening(recorder)
    return False


FIRST = """
import json, time
def first():
    end = time.thread_time() + 0.06
    while time.thread_time() < end:
        pass
first()
print(json.dumps(0))
"""


@suite.test("a program is seen from its first milliseconds on")
def from_the_start():
    with tempfile.TemporaryDirectory() as folder:
        for options in (["--mode", "cpu", "--engine", "bpf"], ["--wait"]):
            _, path = run_saying(folder, FIRST, "debian-3.11", *options)
            seen = told(path)["by_name"].get("first", {"self": 0})["self"] / 1e6
            assert 50 < seen < 70, (options, seen)


@suite.test("killed by SIGKILL it leaves nothing in the kernel")
def killed():
    bpftool = shutil.which("bpftool", path=os.environ["PATH"] + ":/usr/sbin")
    if not bpftool:
        raise Skip("there is no bpftool")
    with test_reader.running(find_interpreter("debian-3.11"), test_reader.DEEP, 5) as target:
        recorder = subprocess.Popen([FIZEAU, "attach", "--engine", "bpf", "--mode", "cpu", "-o",
                                     "/dev/null", str(target.pid)], stderr=subprocess.PIPE, text=True)
        try:
            programs = wait_until(lambda: recorder.poll() is not None or programs_of(recorder),
                                  "its program")
            if programs is True:
                raise Skip(recorder.stderr.read().strip())
        finally:
            recorder.kill()
            recorder.communicate()
        for number in programs:
            wait_until(lambda: subprocess.run([bpftool, "prog", "show", "id", number],
                                              capture_output=True).returncode != 0, "its end")


@suite.test("not allowed: one line, and the reader takes over unless bpf is required")
def denied():
    denied_ = test_reader.BUILD / "tests" / "denied"
    with tempfile.TemporaryDirectory() as folder:
        script, path = pathlib.Path(folder, "target.py"), pathlib.Path(folder, "r.fz")
        script.write_text(WORK + "work(0.4)\n")
        for refused in ("bpf=EPERM", "bpf=ENOSYS", "perf_event_open=EPERM"):
            run = [denied_, refused, FIZEAU, "run", "--engine", "auto", "--mode", "cpu", "-o", path]
            what = ["--", *find_interpreter("debian-3.11").command, script]
            facts = wait_until(lambda: facts_of_run([*run, *what], path), "a sample")
            assert facts["engine"] == "read" and facts["engine.why_not_bpf"], facts
            done = subprocess.run([*run, "--engine", "bpf", *what], capture_output=True, text=True,
                                  timeout=60)
            assert "--engine bpf: " in done.stderr and done.stderr.count("\n") == 1, done.stderr


def facts_of_run(command, path, **options):
    """Facts of a recording; None if the program ended before it was sampled."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == 0, done
    return None if "nothing was recorded" in done.stderr else told(path)["facts"]


def check_refused(option, beside, *insist):
    """Together with such options, and if the kernel does not permit it, an option is refused in one
    line, or the engine if one was requested, and nothing starts; returns the message for the
    kernel."""
    engine = " ".join(insist) or option
    denied_ = test_reader.BUILD / "tests" / "denied"
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "target.py")
        script.write_text("open('ran', 'w')\n")
        command = ["--", *find_interpreter("debian-3.11").command, script]
        for words in beside:
            done = fizeau("run", *insist, option, *words, *command, cwd=folder)
            assert done.returncode in (2, 125) and done.stderr.count("\n") == 1, (words, done)
            assert option in done.stderr or engine in done.stderr, (words, done)
        done = subprocess.run([denied_, "bpf=EPERM", FIZEAU, "run", *insist, option, *command], cwd=folder,
                              capture_output=True, text=True, timeout=60)
        assert done.stderr.startswith(f"fizeau: {engine}: ") and done.stderr.count("\n") == 1, done
        assert not pathlib.Path(folder, "ran").exists()
        return done.stderr


@suite.test("unsupported options are refused before anything starts, and auto uses the reader")
def beyond():
    with tempfile.TemporaryDirectory() as folder:
        script, path = pathlib.Path(folder, "target.py"), pathlib.Path(folder, "r.fz")
        script.write_text(WORK + "open('ran', 'w')\nwork(0.4)\n")
        command = [*find_interpreter("debian-3.11").command, script]
        for words in (["--mode", "gil"], *([["--mode", "cpu", word] for word in (
                "--native", "--native=stacks", "--opcodes", "--blocking")])):
            done = fizeau("run", "--engine", "bpf", *words, "--", *command, cwd=folder)
            assert done.returncode in (2, 125) and re.match("fizeau: --engine bpf (requires|cannot be combined with) --", done.stderr), (words, done)
            assert done.stderr.count("\n") == 1, done.stderr
            assert not pathlib.Path(folder, "ran").exists(), words
        facts = wait_until(lambda: facts_of_run([FIZEAU, "run", "--engine", "auto", "--mode", "cpu", "--opcodes", "-o",
                                                 path, "--", *command], path, cwd=folder), "a sample")
        assert facts["engine"] == "read", facts


if __name__ == "__main__":
    for interpreter in [*EXPECTED, *sorted(free_threaded())]:
        for levels, others in ((5, 0), (80, 0), (5, 4)):
            suite.add(f"{interpreter}: hostile program, {levels} deep, {others + 1} threads",
                      check_oracle, interpreter, levels, others)
            suite.add(f"{interpreter}: few are rejected, {levels} deep, {others + 1} threads",
                      check_rejected, interpreter, levels, others)
        suite.add(f"{interpreter}: children that end at once have names from their parent, and no others", check_forks,
                  interpreter)
        suite.add(f"{interpreter}: children that end at once have their parent's names, and no others'",
                  check_forks_names, interpreter)
        suite.add(f"{interpreter}: code at reused addresses", check_code_reuse, interpreter)
    suite.main()
