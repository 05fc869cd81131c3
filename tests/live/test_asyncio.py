#!/usr/bin/env python3
"""--async-aware: stacks of asyncio's tasks, known ones and the same as CPython's own profiler shows."""

import json
import os
import pathlib
import re
import subprocess
import time
from collections import Counter

from livelib import SANITIZED, TASKS, Skip, Suite, Target, find_interpreter, fizeau

suite = Suite(timed=True)

READS = ["forky-3.14", "forky-3.15"]
REFUSES = ["debian-3.11", "pyenv-3.12", "pyenv-3.13"]

# Tasks of every kind, all of which wait.
PARKED = """\
import asyncio
async def leaf(event):
    await event.wait()
async def middle(event):
    await leaf(event)
async def worker(event):
    await middle(event)
async def grouped(event):
    async with asyncio.TaskGroup() as group:
        group.create_task(worker(event), name="named 日本 1")
        group.create_task(worker(event), name="named 日本 2")
async def gathered(event):
    await asyncio.gather(worker(event), leaf(event))
async def eager(event):
    await leaf(event)
async def shared(task):
    await task
async def main():
    event = asyncio.Event()
    one = asyncio.create_task(leaf(event), name="one")
    tasks = [asyncio.create_task(grouped(event), name="group"), asyncio.create_task(gathered(event)),
             asyncio.Task(eager(event), name="eager", eager_start=True, loop=asyncio.get_running_loop()),
             asyncio.create_task(shared(one), name="both"), asyncio.create_task(shared(one), name="both")]
    await asyncio.sleep(0.05)
    print("up", flush=True)
    await asyncio.gather(*tasks)
asyncio.run(main())
"""

# Tasks that are born, run for microseconds and die at the same addresses; task and coroutine carry
# the same number, so that a stack of one with the name of the other shows.
HOSTILE = """\
import asyncio
def make(k):
    text = f'''
async def leaf{k}():
    await asyncio.sleep(0)
async def work{k}():
    for i in range(3):
        await leaf{k}()
async def parent{k}():
    await asyncio.create_task(work{k}(), name="work{k}x")
'''
    space = {"asyncio": asyncio}
    exec(compile(text, f"part{k}.py", "exec"), space)
    return space[f"parent{k}"]
async def main():
    parents = [make(k) for k in range(8)]
    print("up", flush=True)
    while True:
        await asyncio.gather(*[asyncio.create_task(parents[k](), name=f"parent{k}x") for k in range(8)])
asyncio.run(main())
"""


# An eager task runs inside another, two wait for each other, a loop runs beside the main one.
ODD = """\
import asyncio, threading, time
def burn(s):
    end = time.perf_counter() + s
    while time.perf_counter() < end:
        pass
async def nested():
    burn(0.004)
    await asyncio.sleep(0.001)
async def outer():
    while True:
        task = asyncio.Task(nested(), name="inner", eager_start=True, loop=asyncio.get_running_loop())
        await task
async def circle(n, tasks):
    await asyncio.sleep(0)
    await tasks[1 - n]
async def main():
    tasks = []
    tasks += [asyncio.create_task(circle(n, tasks), name=f"circle {n}x") for n in range(2)]
    print("up", flush=True)
    await outer()
async def there():
    while True:
        burn(0.001)
        await asyncio.sleep(0.001)
threading.Thread(target=lambda: asyncio.run(there()), daemon=True).start()
asyncio.run(main())
"""


class Tasks(Target):
    """A program of tasks."""

    def __init__(self, name, code):
        self.interpreter = find_interpreter(name)
        super().__init__(self.interpreter, code, name="prog.py")
        time.sleep(0.1)

    def tachyon(self, *args):
        """What CPython 3.15's own profiler prints or, with a file name, writes."""
        python = find_interpreter("forky-3.15")
        done = subprocess.run([*python.command, "-m", "profiling.sampling", *map(str, args)],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def collapsed(self, *args):
        """{(frame, ...): samples}, outermost first, without the thread."""
        done = fizeau("attach", "--collapsed", "-o", "-", "--async-aware", *args, self.pid)
        assert done.returncode == 0, done.stderr
        return folded(done.stdout)


def folded(text):
    stacks = Counter()
    for line in text.splitlines():
        stack, count = line.rsplit(" ", 1)
        stacks[tuple(stack.split(";")[1:])] += int(count)
    return stacks


def names(stack):
    """Functions and tasks of a collapsed stack: "file:name:line" or a bare marker."""
    return [frame if frame.startswith(("<", "[")) else frame.split(":")[1] for frame in stack]


def sections(text):
    """Tracebacks of a dump as tuples of functions, outermost first."""
    found = []
    for line in text.splitlines():
        if line.startswith("Stack dump"):
            found.append([])
        elif (m := re.match(r'  File "<task>", in (.*)$', line)):
            found[-1].append(f"<task {m[1]}>")
        elif (m := re.match(r'  File ".*", line (\d+), in (.*)$', line)):
            found[-1].append(f"{m[2]}:{m[1]}")
        elif (m := re.match(r"  (<task .*>)$", line)):
            found[-1].append(m[1])
    return sorted(map(tuple, found))


def functions(section):
    return tuple(frame.rsplit(":", 1)[0] for frame in section)


def test_known(name):
    with Tasks(name, PARKED) as target:
        text = fizeau("dump", "--async-aware", target.pid)
        assert text.returncode == 0 and not text.stderr, text.stderr
        wait = ("leaf", "Event.wait")
        work = ("worker", "middle", *wait)
        group = ("<task Task-1>", "main", "<task group>", "grouped", "TaskGroup.__aexit__",
                 "TaskGroup._aexit")
        gather = ("<task Task-1>", "main", re.compile(r"<task Task-\d+>"), "gathered",
                  re.compile(r"<task Task-\d+>"))
        expected = [
            (*group, "<task named 日本 1>", *work), (*group, "<task named 日本 2>", *work),
            (*gather, *work), (*gather, *wait),
            ("<task Task-1>", "main", "<task eager>", "eager", *wait),
            ("<task Task-1>", "main", "<task both>", "shared", "<task one (2 parents)>", *wait),
            ("<task Task-1>", "main", "<task both>", "shared"),
        ]
        seen = [functions(section) for section in sections(text.stdout)]
        for stack in expected:
            match = [s for s in seen if len(s) == len(stack) and all(
                e.fullmatch(f) if isinstance(e, re.Pattern) else e == f for e, f in zip(stack, s))]
            assert len(match) == 1, (stack, seen)
            seen.remove(match[0])
        assert not seen, seen


def test_like_tachyon():
    with Tasks("forky-3.15", PARKED) as target:
        ours = sections(fizeau("dump", "--async-aware", target.pid).stdout)
        theirs = sections(target.tachyon("dump", "--async-aware", target.pid))
        # Of two that wait for one task Tachyon shows the first; the other would be lost.
        other = [s for s in ours if functions(s) == ("<task Task-1>", "main", "<task both>", "shared")]
        assert len(other) == 1
        assert [s for s in ours if s not in other] == theirs, (ours, theirs)
        assert len(theirs) == 6
        json_ = json.loads(fizeau("dump", "--async-aware", "--json", target.pid).stdout)
        frames = [tuple(f["function"] for f in thread["frames"])
                  for thread in json_["processes"][0]["threads"]]
        assert sorted(frames) == sorted(map(functions, ours)), frames


def test_blocking(name):
    with Tasks(name, PARKED) as target:
        one, other = (fizeau("dump", "--async-aware", *how, target.pid) for how in ([], ["--blocking"]))
        assert sections(one.stdout) == sections(other.stdout), other.stderr


def test_running(name):
    with Tasks(name, TASKS) as target:
        stacks = target.collapsed("-d", "1.5", "-r", "2khz")
    total = sum(stacks.values())
    share = Counter()
    for stack, n in stacks.items():
        for task in {f for f in names(stack) if f.startswith("<task")}:
            share[task] += n / total
    assert share["<task main>"] > 0.95, share
    assert abs(share["<task light>"] - 0.5) < 0.06 and abs(share["<task heavy>"] - 0.5) < 0.06, share
    assert set(share) == {"<task main>", "<task light>", "<task heavy>"}, share
    for stack in stacks:
        if "<task heavy>" in stack:
            assert names(stack)[:4] == ["<task main>", "main", "<task heavy>", "heavy"] or \
                names(stack)[:5] == ["<task main>", "main", "TaskGroup.__aexit__",
                                     "TaskGroup._aexit", "<task heavy>"], stack


def test_task_names():
    with Tasks("forky-3.15", TASKS) as target:
        apart = target.collapsed("-d", "0.5", "--task-names")
    tasks = {f for stack in apart for f in names(stack) if f.startswith("<task")}
    assert {"<task Task-1>", "<task light 0>", "<task light 1>", "<task light 2>"} < tasks, tasks


def test_shares_like_tachyon():
    """Of the samples in a task, as Tachyon shows the event loop as part of some."""
    def shares(stacks):
        count = Counter()
        for stack, n in stacks.items():
            inside = names(stack)
            if "run_until_complete" not in " ".join(inside) and any("task" in f for f in stack):
                count[inside[-1]] += n
        return {k: v / sum(count.values()) for k, v in count.items()}

    with Tasks("forky-3.15", TASKS) as target:
        ours = shares(target.collapsed("-d", "2"))
        out = pathlib.Path(target.folder.name, "out.txt")
        target.tachyon("attach", "--async-aware", "-d", "2", "--collapsed", "-o",
                       target.interpreter.path(out), target.pid)
        theirs = shares(folded(out.read_text()))
    for function in set(ours) | set(theirs):
        assert abs(ours.get(function, 0) - theirs.get(function, 0)) < 0.05, (function, ours, theirs)


def test_all(name):
    with Tasks(name, PARKED) as target:
        stacks = target.collapsed("-d", "0.5", "--async-mode", "all")
    counts = Counter()
    for stack, n in stacks.items():
        counts[names(stack)[0]] += n
    assert set(counts) == {"<task main>"}, counts
    assert len(stacks) == 6, stacks  # the two of the group are one
    most = max(stacks.values())
    assert most % 2 == 0 and sorted(stacks.values()) == [most // 2] * 5 + [most], stacks


def test_odd(name):
    with Tasks(name, ODD) as target:
        running = Counter(tuple(names(stack)) for stack in target.collapsed("-d", "0.5"))
        every = Counter(tuple(names(stack)) for stack in target.collapsed("-d", "0.5", "--async-mode", "all"))
    for seen in (running, every):
        assert ("<task inner>", "nested", "burn") in seen, seen  # nobody waits for it yet
        assert ("<task there>", "there", "burn") in seen, seen
    waits = ("<task main>", "main", "outer", "<task inner>", "nested", "sleep")
    assert waits in every, every
    circles = [stack for stack in every if "<task circle 0x>" in stack]
    assert circles and all(sorted(stack) == sorted(
        ("<task circle 0x>", "circle", "<task circle 1x>", "circle")) for stack in circles), every


def test_states(name):
    """What a thread does is counted once for each instant, however many tasks wait in it."""
    with Tasks(name, PARKED) as target:
        done = fizeau("attach", "-d", "0.5", "--async-aware", "--async-mode", "all", "--format", "json",
                      "-o", "-", target.pid)
    report = json.loads(done.stdout)
    instants = report["states"]["samples"]
    assert 0 < instants <= 510 and report["states"]["gil"] < instants * 0.2, report["states"]
    total = sum(node["self"] for node in report["nodes"])
    assert total > 6.5 * instants * 1e6, (total, instants)


def test_hostile(name):
    """A task, its coroutines and who waits for it carry one number."""
    if SANITIZED:
        raise Skip("too slow with sanitizers")
    notes = []
    with Tasks(name, HOSTILE) as target:
        for mode in ("running", "all"):
            stacks = target.collapsed("-d", "2", "-r", "10khz", "--async-mode", mode)
            total, wrong, rejected = sum(stacks.values()), Counter(), 0
            for stack, n in stacks.items():
                shown = names(stack)
                if shown[-1] == "[unreadable]":
                    rejected += n
                if not shown[0].startswith("<task"):
                    continue
                # Who waits for a task is known a moment after it was made.
                numbers = {m[1] for f in shown
                           if (m := re.fullmatch(r"(?:<task )?(?:leaf|work|parent)(\d)x?>?", f))}
                order = re.sub(r"\d", "", " ".join(shown))
                if len(numbers) > 1 or not re.match(
                        r"((<task main> main )?<task parentx>( parent)? ?)?(<task workx>( work.*)?)?$|"
                        r"<task main> main", order):
                    wrong[stack] += n
            assert total > 1000, total
            assert sum(wrong.values()) <= total * 0.0005, (wrong.most_common(5), total)
            assert rejected <= total * 0.05, (rejected, total)
            notes.append(f"{mode}: {sum(wrong.values())} wrong, {rejected} rejected of {total}")
    return "; ".join(notes)


def test_recording(name):
    """The .fz and Tachyon's .bin keep the tasks; the page knows them."""
    with Tasks(name, TASKS) as target:
        for file in ("rec.fz", "rec.bin"):
            out = pathlib.Path(target.folder.name, file)
            done = fizeau("attach", "--async-aware", "-d", "0.3", "-o", out, target.pid)
            assert done.returncode == 0, done.stderr
            text = fizeau("replay", "--collapsed", "-o", "-", out).stdout
            assert ";<task main>;prog.py:main:" in text or ";<task main>;" in text, text[:300]
            page = pathlib.Path(target.folder.name, "page.html")
            assert fizeau("replay", "-o", page, out).returncode == 0


def test_refused(name):
    interpreter = find_interpreter(name)
    process = subprocess.Popen([*interpreter.command, "-c", "import time; time.sleep(100)"])
    try:
        time.sleep(0.3)
        for command in (["dump"], ["attach", "-d", "1"]):
            done = fizeau(*command, "--async-aware", process.pid)
            assert done.returncode == 2 and done.stderr.count("\n") == 1, done
            assert re.search(r"--async-aware: Python 3\.\d+ does not tell where its tasks are; "
                             r"3\.14 and later do", done.stderr), done.stderr
    finally:
        process.kill()
        process.wait()


def test_without_asyncio():
    """No loop: what --async-aware shows is what is there, not nothing."""
    interpreter = find_interpreter("forky-3.14")
    process = subprocess.Popen([*interpreter.command, "-c", "import time; time.sleep(100)"])
    try:
        time.sleep(0.3)
        done = fizeau("attach", "--async-aware", "-d", "0.3", "--collapsed", "-o", "-", process.pid)
        assert "<string>:<module>:1" in done.stdout, done
        assert "no task of asyncio was seen" in done.stderr, done
    finally:
        process.kill()
        process.wait()


def test_usage():
    for args, words in ((["--async-mode", "all"], "--async-mode: needs --async-aware"),
                        (["--task-names"], "--task-names: needs --async-aware"),
                        (["--async-aware", "--async-mode", "all", "--mode", "cpu"], "--mode cpu"),
                        (["--async-aware", "--native=stacks"], "--native=stacks")):
        done = fizeau("attach", *args, os.getpid())
        assert done.returncode == 2 and words in done.stderr, done.stderr


for version in READS:
    suite.add(f"{version}: known tasks that wait, as dump shows them", test_known, version)
    suite.add(f"{version}: the same when stopped", test_blocking, version)
    suite.add(f"{version}: the running task's share of time", test_running, version)
    suite.add(f"{version}: tasks that wait, sampled", test_all, version)
    suite.add(f"{version}: states of the thread beside tasks", test_states, version)
    suite.add(f"{version}: eager tasks, circles, two loops", test_odd, version)
    suite.add(f"{version}: tasks that live for microseconds", test_hostile, version)
    suite.add(f"{version}: recordings keep tasks", test_recording, version)
suite.add("forky-3.15: dump is Tachyon's", test_like_tachyon)
suite.add("forky-3.15: shares are Tachyon's", test_shares_like_tachyon)
suite.add("forky-3.15: each task by its name", test_task_names)
for version in REFUSES:
    suite.add(f"{version}: refused in a line", test_refused, version)
suite.add("a program without asyncio", test_without_asyncio)
suite.add("options that do not fit", test_usage)
suite.main()
