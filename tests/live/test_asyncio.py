#!/usr/bin/env python3
"""--async-aware: stacks of asyncio's tasks, compared with known ones and with CPython's profiler."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
from collections import Counter

from livelib import SANITIZED, TASKS, Skip, Suite, Target, Wrong, find_interpreter, fizeau, wait_until
from watching import LASTING, Recorder, attach, functions_of, waits

suite = Suite()

READS = ["debian-3.11", "pyenv-3.12", "pyenv-3.13", "forky-3.13", "forky-3.14", "forky-3.15"]
REFUSES = ["pyenv-3.8", "bullseye-3.9", "pyenv-3.10"]

# A task that runs at once, from 3.12 on.
EAGER = """import asyncio, sys
def at_once(coroutine, name):
    eager = {"eager_start": True} if sys.version_info >= (3, 12) else {}
    return asyncio.Task(coroutine, name=name, loop=asyncio.get_running_loop(), **eager)
"""

# Tasks of every kind, all waiting; the program prints what they are.
PARKED = EAGER + """\
import json
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
def say():
    known = []
    for task in asyncio.all_tasks():
        chain, coroutine = [task.get_name()], task.get_coro()
        while hasattr(coroutine, "cr_code"):
            chain.append(coroutine.cr_code.co_qualname)
            coroutine = coroutine.cr_await
        known.append(chain)
    print(json.dumps(known), flush=True)
async def main():
    event = asyncio.Event()
    one = asyncio.create_task(leaf(event), name="one")
    tasks = [asyncio.create_task(grouped(event), name="group"), asyncio.create_task(gathered(event)),
             at_once(eager(event), "eager"),
             asyncio.create_task(shared(one), name="both"), asyncio.create_task(shared(one), name="both")]
    await asyncio.sleep(0.05)
    print("up", flush=True)
    asyncio.get_running_loop().call_later(0.05, say)
    await asyncio.gather(*tasks)
asyncio.run(main())
"""

# Every way to wait for a task: "outer X" waits for "inner X".
WAYS = """\
import asyncio
ways = {
    "plain": lambda task: task,
    "gather": lambda task: asyncio.gather(task),
    "gathers": lambda task: asyncio.gather(asyncio.gather(task)),
    "shield": lambda task: asyncio.shield(task),
    "wait": lambda task: asyncio.wait([task]),
    "wait_for": lambda task: asyncio.wait_for(task, 1000),
    "shielded": lambda task: asyncio.wait_for(asyncio.shield(task), 1000),
}
async def inner(event):
    await event.wait()
async def outer(way, event):
    await ways[way](asyncio.create_task(inner(event), name="inner " + way))
async def timed(event):
    async with asyncio.timeout(1000):
        await asyncio.create_task(inner(event), name="inner timed")
async def grouped(event):
    async with asyncio.TaskGroup() as group:
        group.create_task(inner(event), name="inner grouped")
async def main():
    event = asyncio.Event()
    tasks = [asyncio.create_task(outer(way, event), name="outer " + way) for way in ways]
    tasks += [asyncio.create_task(f(event), name="outer " + f.__name__) for f in (timed, grouped)]
    tasks += [asyncio.create_task(inner(event), name="alone")]
    await asyncio.sleep(0.05)
    print("up", flush=True)
    await event.wait()
asyncio.run(main())
"""

# Every way to wait for an asynchronous generator, and generators that wait for one another.
GENERATORS = """\
import asyncio, contextlib
async def leaf(event):
    await event.wait()
async def first(event):
    await leaf(event)
    yield 1
async def second(event):
    async for x in first(event):
        yield x
async def last(event):
    try:
        yield 1
    finally:
        await leaf(event)
async def loop(event):
    async for x in second(event):
        pass
async def comprehension(event):
    return [x async for x in first(event)]
async def next_one(event):
    await anext(second(event))
async def sent(event):
    await second(event).asend(None)
async def closed(event):
    generator = last(event)
    await anext(generator)
    await generator.aclose()
async def managed(event):
    async with contextlib.asynccontextmanager(first)(event):
        pass
async def main():
    event = asyncio.Event()
    tasks = [asyncio.create_task(f(event)) for f in (loop, comprehension, next_one, sent, closed, managed)]
    await asyncio.sleep(0.05)
    print("up", flush=True)
    await event.wait()
asyncio.run(main())
"""

# One task that computes, and one that waits.
BUSY = """\
import asyncio
async def waits(event):
    await event.wait()
async def busy():
    print("up", flush=True)
    while True:
        sum(range(1000))
async def main():
    tasks = [asyncio.create_task(waits(asyncio.Event()), name="waits"), asyncio.create_task(busy(), name="busy")]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
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


# Its task runs for a tenth of the time.
SLEEPY = """\
import asyncio, time
def burn(s):
    end = time.perf_counter() + s
    while time.perf_counter() < end:
        pass
async def main():
    print("up", flush=True)
    while True:
        burn(0.01)
        await asyncio.sleep(0.09)
asyncio.run(main())
"""

# An eager task runs inside another, two wait for each other, a loop runs beside the main one.
ODD = EAGER + """\
import threading, time
def burn(s):
    end = time.perf_counter() + s
    while time.perf_counter() < end:
        pass
async def nested():
    burn(0.004)
    await asyncio.sleep(0.001)
async def outer():
    while True:
        task = at_once(nested(), "inner")
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

# The innermost of three tasks runs, each started inside another.
NESTED = EAGER + """\
async def innermost():
    print("up", flush=True)
    while True:
        pass
async def inner():
    at_once(innermost(), "innermost")
async def outer():
    at_once(inner(), "inner")
async def main():
    await outer()
asyncio.run(main())
"""


class Tasks(Target):
    """A program of tasks."""

    def __init__(self, name, code):
        self.interpreter = find_interpreter(name)
        super().__init__(self.interpreter, code, name="prog.py")
        self.known = self.process.stdout.readline() if code == PARKED else None
        if code in (PARKED, WAYS, GENERATORS):
            wait_until(lambda: waits(self.pid), "its wait for events")
        else:
            time.sleep(0.1)

    def tachyon(self, *args):
        """Output of CPython 3.15's profiler or, with a file name, its file."""
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
        group = ("<task Task-1>", "main", "<task group>", "grouped", "TaskGroup.__aexit__")
        gather = ("<task Task-1>", "main", re.compile(r"<task Task-\d+>"), "gathered",
                  re.compile(r"<task Task-\d+>"))
        expected = [
            (*group, "<task named 日本 1>", *work), (*group, "<task named 日本 2>", *work),
            (*gather, *work), (*gather, *wait),
            ("<task Task-1>", "main", "<task eager>", "eager", *wait),
            ("<task Task-1>", "main", "<task both>", "shared", "<task one (2 parents)>", *wait),
            ("<task Task-1>", "main", "<task both>", "shared"),
        ]
        seen = [tuple(f for f in functions(section) if f != "TaskGroup._aexit")
                for section in sections(text.stdout)]
        for stack in expected:
            match = [s for s in seen if len(s) == len(stack) and all(
                e.fullmatch(f) if isinstance(e, re.Pattern) else e == f for e, f in zip(stack, s))]
            assert len(match) == 1, (stack, seen)
            seen.remove(match[0])
        assert not seen, seen


def test_as_known(name):
    """Names and coroutines of tasks match those printed by the program."""
    with Tasks(name, PARKED) as target:
        known = sorted(map(tuple, json.loads(target.known)))
        text = fizeau("dump", "--async-aware", target.pid).stdout
    assert known
    shown = set()
    for section in map(functions, sections(text)):
        tasks = re.split(r"\0(?=<task )", "\0".join(section))
        for task in tasks:
            head, *chain = task.split("\0")
            shown.add((re.sub(r" \(\d+ parents\)$", "", head[6:-1]), *chain))
    assert shown == set(known), (shown ^ set(known))


def test_ways(name):
    with Tasks(name, WAYS) as target:
        text = fizeau("dump", "--async-aware", target.pid).stdout
    seen = sorted(tuple(f for f in functions(section) if f.startswith("<task"))
                  for section in sections(text))
    ways = ("plain", "gather", "gathers", "shield", "wait", "wait_for", "shielded", "timed", "grouped")
    assert seen == sorted([*((f"<task outer {way}>", f"<task inner {way}>") for way in ways),
                           ("<task alone>",), ("<task Task-1>",)]), seen


def test_generators(name):
    with Tasks(name, GENERATORS) as target:
        shown = {functions(section)[1:] for section in sections(fizeau("dump", "--async-aware", target.pid).stdout)}
        done = attach(target.pid, "--async-aware", "--async-mode", "all", "--blocking", "--collapsed", "-o", "-")
        sampled = {tuple(names(stack))[1:] for stack in folded(done.stdout)}
    one, two = ("first", "leaf", "Event.wait"), ("second", "first", "leaf", "Event.wait")
    ways = {("loop", *two), ("next_one", *two), ("sent", *two), ("closed", "last", "leaf", "Event.wait"),
            ("managed", "_AsyncGeneratorContextManager.__aenter__", *one), ("main", "Event.wait")}
    for seen in shown, sampled:
        lists = {stack for stack in seen if stack[0] == "comprehension"}
        # Up to 3.11 a comprehension is a coroutine of its own.
        assert lists <= {("comprehension", *one), ("comprehension", "comprehension.<locals>.<listcomp>", *one)}, lists
        assert len(lists) == 1 and seen - lists == ways, (seen - lists, ways)


def test_waiting(name):
    """The thread's state is that of its running task; the others wait."""
    with Tasks(name, BUSY) as target:
        for words in (), ("--blocking",):
            text = fizeau("dump", "--async-aware", *words, target.pid).stdout
            heads = {section.split("<task ")[1].split(">")[0]: section.splitlines()[0]
                     for section in text.strip().split("\n\n")}
            assert set(heads) == {"Task-1", "busy", "waits"} and "idle" not in heads.pop("busy"), text
            assert all("idle" in head and "on CPU" not in head for head in heads.values()), text


def test_idle(name):
    """A waiting loop is not a running task."""
    with Tasks(name, SLEEPY) as target:
        running, every = (target.collapsed("-d", "1", "--async-mode", mode) for mode in ("running", "all"))
    def share(stacks, function):
        return sum(n for stack, n in stacks.items() if function in names(stack)) / 1000
    assert 0.04 < sum(running.values()) / 1000 < 0.25, running
    assert share(running, "burn") > 0.8 * sum(running.values()) / 1000, running
    assert abs(share(every, "burn") - share(running, "burn")) < 0.05, (running, every)
    assert share(every, "<task main>") > 0.9, every


def test_only_idle(name):
    with Tasks(name, PARKED) as target:
        def says_so():
            done = fizeau("attach", "--async-aware", "-d", "0.3", "--collapsed", "-o", "-", target.pid)
            assert done.returncode == 0 and not done.stdout.strip(), done
            return "no task ran during the recording; use --async-mode all" in done.stderr
        wait_until(says_so, "a sample")
        done = fizeau("dump", "--async-aware", "--async-mode", "running", target.pid)
        assert done.stdout == f"Process {target.pid} has no running task.\n", done


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
            inside = [f for f in names(stack) if not f.startswith("TaskGroup.")]
            assert inside[:4] == ["<task main>", "main", "<task heavy>", "heavy"], stack


def test_running_stopped(name):
    """A task is above its own coroutine and below main; each of them is seen."""
    seen = set()
    with Tasks(name, TASKS) as target:
        def look():
            for stack in map(names, target.collapsed("-d", "0.3", "--blocking")):
                tasks = [(frame, *stack[i + 1:i + 2]) for i, frame in enumerate(stack) if frame.startswith("<task")]
                coroutines = {"<task main>": "main", "<task light>": "light", "<task heavy>": "heavy"}
                if any(coroutines.get(task) not in (None, *inside) or task not in coroutines
                       for task, *inside in tasks if inside):
                    raise Wrong(stack)
                seen.update(stack[-1:] if "burn" in stack else [], (task for task, *_ in tasks))
            return {"burn", "<task main>", "<task light>", "<task heavy>"} <= seen
        wait_until(look, "each task", 120)


def test_task_names():
    with Tasks("forky-3.15", TASKS) as target:
        apart = target.collapsed("-d", "0.5", "--task-names")
    tasks = {f for stack in apart for f in names(stack) if f.startswith("<task")}
    assert {"<task Task-1>", "<task light 0>", "<task light 1>", "<task light 2>"} < tasks, tasks


def test_shares_like_tachyon():
    """Compares shares of the samples in tasks only: Tachyon shows the event loop as a part of some tasks."""
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
        stacks = wait_until(lambda: target.collapsed("-d", "0.3", "--async-mode", "all"), "a sample")
    counts = Counter()
    for stack, n in stacks.items():
        counts[names(stack)[0]] += n
    assert set(counts) == {"<task main>"}, counts
    assert len(stacks) == 6, stacks  # the two of the group are one
    most = max(stacks.values())
    assert most % 2 == 0 and sorted(stacks.values()) == [most // 2] * 5 + [most], stacks


def test_nested(name):
    """A task that runs an eager one has its own frames, up to those of that one."""
    with Tasks(name, NESTED) as target:
        for words in (), ("--blocking",):
            done = fizeau("dump", "--async-aware", *words, target.pid)
            assert [*map(functions, sections(done.stdout))] == [
                ("<task Task-1>", "main", "outer", "at_once"), ("<task inner>", "inner", "at_once"),
                ("<task innermost>", "innermost")], done


def test_odd(name):
    # An eager task runs before any other waits for it.
    waits_ = ("<task main>", "main", "outer", "<task inner>", "nested", "sleep")
    runs = (*(waits_[:3] if name.endswith("3.11") else ()), "<task inner>", "nested", "burn")
    there = ("<task there>", "there", "burn")
    circle = sorted(("<task circle 0x>", "circle", "<task circle 1x>", "circle"))
    running, every = set(), set()
    with Tasks(name, ODD) as target:
        def look():
            running.update(tuple(names(stack)) for stack in target.collapsed("-d", "0.3", "--blocking"))
            every.update(tuple(names(stack)) for stack in
                         target.collapsed("-d", "0.3", "--blocking", "--async-mode", "all"))
            circles = [stack for stack in every if "<task circle 0x>" in stack]
            if wrong := [stack for stack in circles if sorted(stack) != circle]:
                raise Wrong(wrong)
            return circles and {runs, there} <= running and {runs, there, waits_} <= every
        try:
            wait_until(look, "each of them", 120)
        except Wrong:
            raise
        except AssertionError as error:
            raise AssertionError((running, every)) from error


def test_states(name):
    """A thread's activity is counted once per instant, however many of its tasks wait."""
    with Tasks(name, PARKED) as target:
        done = fizeau("attach", "-d", "0.5", "--async-aware", "--async-mode", "all", "--format", "json",
                      "-o", "-", target.pid)
    report = json.loads(done.stdout)
    instants = report["states"]["samples"]
    assert 0 < instants <= 510 and report["states"]["gil"] < instants * 0.2, report["states"]
    total = sum(node["self"] for node in report["nodes"])
    assert total > 6.5 * instants * 1e6, (total, instants)


def test_hostile(name):
    """A task, its coroutines and those waiting for it have the same number."""
    if SANITIZED:
        raise Skip("too slow with sanitizers")
    notes = []
    with Tasks(name, HOSTILE) as target:
        for mode in ("running", "all"):
            stacks = target.collapsed("-d", "2", "-r", "10khz", "--async-mode", mode)
            total, wrong = sum(stacks.values()), hostile_errors(stacks)
            rejected = sum(n for stack, n in stacks.items() if names(stack)[-1] == "[unreadable]")
            assert total > 1000, total
            assert sum(wrong.values()) <= total * 0.0005, (wrong.most_common(5), total)
            assert rejected <= total * 0.05, (rejected, total)
            notes.append(f"{mode}: {sum(wrong.values())} wrong, {rejected} rejected of {total}")
    return "; ".join(notes)


def hostile_errors(stacks):
    """Impossible stacks of the hostile program."""
    wrong = Counter()
    for stack, n in stacks.items():
        shown = names(stack)
        if not shown[0].startswith("<task"):
            continue
        # Who waits for a task is known a moment after it was made.
        numbers = {m[1] for f in shown
                   if (m := re.fullmatch(r"(?:<task )?(?:leaf|work|parent)(\d)x?>?", f))}
        order = re.sub(r"\d", "", " ".join(shown))
        if len(numbers) > 1 or not re.match(
                r"((<task main> main )?<task parentx?>( parent)? ?)?(<task workx?>( work.*)?)?$|"
                r"<task main> main", order):
            wrong[stack] += n
    return wrong


def test_hostile_stopped(name):
    """With the program stopped for each sample, no stack contains parts of another task."""
    if SANITIZED:
        raise Skip("too slow with sanitizers")
    with Tasks(name, HOSTILE) as target:
        for mode in ("running", "all"):
            def look():
                stacks = target.collapsed("-d", "0.5", "-r", "2khz", "--blocking", "--async-mode", mode)
                if (wrong := hostile_errors(stacks)):
                    raise Wrong(wrong.most_common(5))
                return any("<task work" in " ".join(names(stack)) for stack in stacks)
            wait_until(look, "a task", 120)


# A class of callbacks, and then one of tasks in its memory.
IN_ITS_PLACE = """\
import asyncio, gc, sys
async def first(event):
    await event.wait()
async def second(event):
    await event.wait()
async def main():
    event = asyncio.Event()
    class Callback:
        def __call__(self, task):
            pass
    callback, address = Callback(), id(Callback)
    task = asyncio.create_task(first(event))
    task.add_done_callback(callback)
    print("up", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    task.remove_done_callback(callback)
    del Callback, callback
    gc.collect()
    others = []
    for i in range(10000):
        class Own(asyncio.Task):
            pass
        if id(Own) == address:
            break
        others.append(Own)
    print("there" if id(Own) == address else "elsewhere", flush=True)
    task = Own(second(event), loop=asyncio.get_running_loop())
    await event.wait()
asyncio.run(main())
"""


def test_class_in_place(name):
    with Target(find_interpreter(name), IN_ITS_PLACE, stdin=subprocess.PIPE) as target, \
            tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x.fz")
        with Recorder("attach", "--async-aware", "--async-mode", "all", "-o", path, target.pid, path=path) as recorder:
            recorder.until_seen("first")
            target.process.stdin.write("\n")
            target.process.stdin.flush()
            if target.process.stdout.readline() != "there\n":
                raise Skip("this allocator uses no memory again")
            recorder.until_seen("second")


def test_recording(name):
    """The .fz and Tachyon's .bin keep the tasks; the page knows them."""
    with Tasks(name, TASKS) as target:
        for file in ("rec.fz", "rec.bin"):
            out = pathlib.Path(target.folder.name, file)
            def keeps_them():
                done = fizeau("attach", "--async-aware", "-d", "0.3", "-o", out, target.pid)
                assert done.returncode == 0, done.stderr
                return ";<task main>;" in fizeau("replay", "--collapsed", "-o", "-", out).stdout
            wait_until(keeps_them, "a task")
            page = pathlib.Path(target.folder.name, "page.html")
            assert fizeau("replay", "-o", page, out).returncode == 0


LATE = LASTING + """
last()
import asyncio
async def main():
    last(more=5)
asyncio.run(main())
"""


def test_late(name):
    """Tasks are found as soon as asyncio runs: five samples there are enough."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "late.txt")
        command = [*find_interpreter(name).command, "-c", LATE]
        done = fizeau("run", "--async-aware", "-r", "500hz", "--collapsed", "-o", out, "--", *command)
        assert done.returncode == 0, done
        assert "<task main>" in out.read_text(), out.read_text()


def test_refused(name):
    interpreter = find_interpreter(name)
    process = subprocess.Popen([*interpreter.command, "-c", "import time; time.sleep(100)"])
    try:
        time.sleep(0.3)
        for command in (["dump"], ["attach", "-d", "1"]):
            done = fizeau(*command, "--async-aware", process.pid)
            assert done.returncode == 2 and done.stderr.count("\n") == 1, done
            assert re.search(r"--async-aware requires Python 3\.11 or later, not 3\.\d+", done.stderr), done.stderr
    finally:
        process.kill()
        process.wait()


def test_without_asyncio():
    """Without a loop --async-aware shows the normal stacks, not nothing."""
    with Target(find_interpreter("debian-3.11"), "import time\nprint('up', flush=True)\ntime.sleep(1000)\n") as target:
        def says_so():
            done = fizeau("attach", "--async-aware", "-d", "0.3", "--collapsed", "-o", "-", target.pid)
            assert done.returncode == 0 and "<task" not in done.stdout, done
            return ":<module>:" in done.stdout and "no asyncio tasks were found" in done.stderr
        wait_until(says_so, "a sample")


def test_usage():
    for args, words in ((["--async-mode", "all"], "--async-mode requires --async-aware"),
                        (["--task-names"], "--task-names requires --async-aware"),
                        (["--async-aware", "--async-mode", "all", "--mode", "cpu"], "--mode cpu"),
                        (["--async-aware", "--native=stacks"], "--native=stacks")):
        done = fizeau("attach", *args, os.getpid())
        assert done.returncode == 2 and words in done.stderr, done.stderr


for version in READS:
    suite.add(f"{version}: known waiting tasks, as dump prints them", test_known, version)
    suite.add(f"{version}: the program knows the same tasks", test_as_known, version)
    suite.add(f"{version}: every way to wait", test_ways, version)
    suite.add(f"{version}: asynchronous generators", test_generators, version)
    suite.add(f"{version}: a task that waits next to one that computes", test_waiting, version)
    suite.add(f"{version}: a loop that waits", test_idle, version)
    suite.add(f"{version}: a loop that only waits", test_only_idle, version)
    suite.add(f"{version}: the same when stopped", test_blocking, version)
    suite.add(f"{version}: the running task's share of time", test_running, version)
    suite.add(f"{version}: running tasks, stopped for each sample", test_running_stopped, version)
    suite.add(f"{version}: tasks that wait, sampled", test_all, version)
    suite.add(f"{version}: states of the thread next to tasks", test_states, version)
    suite.add(f"{version}: eager tasks, circles, two loops", test_odd, version)
    if version != "debian-3.11":
        suite.add(f"{version}: an eager task inside another", test_nested, version)
    suite.add(f"{version}: tasks that live for microseconds", test_hostile, version)
    suite.add(f"{version}: tasks that live for microseconds, stopped for each sample", test_hostile_stopped, version)
    suite.add(f"{version}: recordings store tasks", test_recording, version)
    suite.add(f"{version}: asyncio that is imported late", test_late, version)
    suite.add(f"{version}: a class of tasks that reuses another class's memory", test_class_in_place, version)
suite.add("forky-3.15: dump is Tachyon's", test_like_tachyon)
suite.add("forky-3.15: shares are Tachyon's", test_shares_like_tachyon)
suite.add("forky-3.15: each task by its name", test_task_names)
for version in REFUSES:
    suite.add(f"{version}: refused in one line", test_refused, version)
suite.add("a program without asyncio", test_without_asyncio)
suite.add("options that exclude each other", test_usage)
suite.main()
