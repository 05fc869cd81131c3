#!/usr/bin/env python3
"""fizeau dump: the stacks of running programs as tracebacks, on every interpreter."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

from livelib import EXPECTED, Skip, Suite, Target, find_interpreter, fizeau, wait_until
from watching import state, wait_for_work

suite = Suite()

PROGRAM = """\
import threading, time
def leaf(n):
    print("up", flush=True)
    while True:
        pass
class Waiter:
    def wait(self):
        name = "日本"; time.sleep(1000)
threading.Thread(target=Waiter().wait, name="wait\\x1b[31m) 1", daemon=True).start()
def main():
    return [leaf(3), 1]
main()
"""


def target(interpreter, code=PROGRAM):
    """The main thread works, and the other one, if there is one, waits."""
    t = Target(interpreter, code, name="prog.py")
    wait_for_work(t.pid)
    if code == PROGRAM:
        wait_until(lambda: re.search(r" \(idle; [^\n]*\n(.*\n)*.* line 8, in ", fizeau("dump", "-a", t.pid).stdout))
    return t


def check_text(name):
    interpreter = find_interpreter(name)
    with target(interpreter) as t:
        head = f'Stack dump for PID {t.pid}, thread {t.pid} "MainThread" (main thread, has GIL, on CPU; most recent call last):\n'

        def look():
            done = fizeau("dump", "-a", t.pid)
            assert done.returncode == 0, done
            return done.stdout.startswith(head) and done  # others may have its CPU
        main, waiter = wait_until(look, head).stdout.split("\n\n")
        frames = re.findall(r'^  File "(.*)", line (\d+), in (\S+)$', main, re.M)
        assert frames[0] == (t.path, "12", "<module>") and frames[1] == (t.path, "11", "main")
        assert frames[2][2] == "leaf" and frames[2][1] in ("4", "5"), frames
        if interpreter.version >= (3, 11):
            assert "    return [leaf(3), 1]\n            ^^^^^^^\n" in main, main
            assert "def main" not in main and "    main()\n  File" in main, main
            wait = "Waiter.wait"
        else:
            assert "    return [leaf(3), 1]\n  File" in main and "^" not in main, main
            wait = "wait"
        assert '"wait\\x1b[31m) 1" (idle; most' in waiter, waiter
        last = f'  File "{t.path}", line 8, in {wait}\n    name = "日本"; time.sleep(1000)\n'
        if interpreter.version >= (3, 11):
            last += "                   ^^^^^^^^^^^^^^^^\n"
        assert waiter.endswith(last), waiter
        only = fizeau("dump", t.pid)
        assert only.stdout.count("Stack dump") == 1, only
        assert t.process.poll() is None


def check_json(name):
    interpreter = find_interpreter(name)
    with target(interpreter) as t:
        for extra in ([], ["--blocking"]):
            done = fizeau("dump", "-a", "--json", *extra, t.pid)
            assert done.returncode == 0, done
            (process,) = json.loads(done.stdout)["processes"]
            version = tuple(map(int, process["python"].split(".")[:2]))
            assert version == interpreter.version and process["pid"] == t.pid, process
            assert process["exact"] == (version >= (3, 11) or bool(extra)), process
            main, waiter = process["threads"]
            assert [f["function"] for f in main["frames"]] == ["<module>", "main", "leaf"], main
            assert main["states"][:2] == ["main thread", "has GIL"], main
            assert waiter["name"] == "wait\x1b[31m) 1", waiter
            assert main["frames"][1]["source"] == "    return [leaf(3), 1]"
            assert ("column" in main["frames"][1]) == (version >= (3, 11))
        assert state(t.pid) not in "tT"


for interpreter_name in EXPECTED:
    suite.add(f"text on {interpreter_name}", check_text, interpreter_name)
    suite.add(f"JSON on {interpreter_name}", check_json, interpreter_name)


@suite.test("values of variables are never shown")
def no_locals():
    code = ("def f(password):\n    print('up', flush=True)\n    while True: pass\n"
            "import base64\nf(base64.b64decode('czNjcjN0dmFsdWU=').decode())\n")
    with target(find_interpreter("debian-3.11"), code) as t:
        for extra in ([], ["--json"]):
            assert "s3cr3tvalue" not in fizeau("dump", "-a", *extra, t.pid).stdout


@suite.test("several processes; a missing one does not hide the others")
def several():
    interpreter = find_interpreter("debian-3.11")
    with target(interpreter) as a, target(interpreter) as b:
        done = fizeau("dump", a.pid, "4194304", b.pid)
        assert done.returncode == 2 and done.stderr == "fizeau: dump: no process 4194304\n", done
        pids = re.findall(r"^Stack dump for PID (\d+)", done.stdout, re.M)
        assert pids == [str(a.pid), str(b.pid)], pids
        done = fizeau("dump", "--json", a.pid, "4194304", b.pid)
        assert [p["pid"] for p in json.loads(done.stdout)["processes"]] == [a.pid, b.pid]


@suite.test("an edited file shows no lines, a stopped process is read as it is")
def edited():
    with target(find_interpreter("debian-3.11")) as t:
        t.process.send_signal(signal.SIGSTOP)
        time.sleep(2)  # more than a file's time may be off
        pathlib.Path(t.path).write_text("# all is new\n" * 20)
        done = fizeau("dump", t.pid)
        assert done.returncode == 0 and 'line 11, in main\n  File' in done.stdout, done
        assert "all is new" not in done.stdout
        t.process.send_signal(signal.SIGCONT)


@suite.test("a process other than Python is one line")
def not_python():
    process = subprocess.Popen(["sleep", "30"])
    try:
        done = fizeau("dump", process.pid)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done
        assert "Python" in done.stderr and not done.stdout, done
    finally:
        process.kill()
        process.wait()


def native_and_opcodes(name):
    with target(find_interpreter(name)) as t:
        text = fizeau("dump", "-a", "--native", "--opcodes", t.pid).stdout
        assert "\n  <native>\n" in text, text
        assert re.search(r"in Waiter.wait  opcode=CALL(_\w+ \(CALL\))?$", text, re.M), text
        (process,) = json.loads(fizeau("dump", "--json", "--opcodes", t.pid).stdout)["processes"]
        assert process["threads"][0]["frames"][-1]["opcode"], process


for interpreter_name in ("pyenv-3.13", "debian-3.11"):
    suite.add(f"markers of C code, names of instructions: {interpreter_name}", native_and_opcodes, interpreter_name)


@suite.test("markers of C code, names of instructions: unsupported, pyenv-3.8")
def without_native_and_opcodes():
    with target(find_interpreter("pyenv-3.8")) as t:
        for option in ("--native", "--opcodes"):
            done = fizeau("dump", option, t.pid)
            assert done.returncode == 2 and f"{option}: Python 3.8" in done.stderr, done


@suite.test("the collector is shown where it runs, and hidden by --no-gc")
def collecting():
    code = ("import gc\nx = [[i] for i in range(300000)]\nprint('up', flush=True)\n"
            "while True: gc.collect()\n")
    with target(find_interpreter("debian-3.11"), code) as t:
        wait_until(lambda: "\n  <GC>\n" in fizeau("dump", t.pid).stdout, "a collection")
        assert not any("<GC>" in fizeau("dump", "--no-gc", t.pid).stdout for _ in range(10))


@suite.test("the same stacks as CPython's own dump")
def as_cpython():
    interpreter = find_interpreter("forky-3.15")
    with target(interpreter) as t:
        t.process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        for option in ((), ("--native",), ("--opcodes",)):
            ours = fizeau("dump", "-a", *option, t.pid)
            theirs = subprocess.run(
                [*interpreter.command, "-m", "profiling.sampling", "dump", "-a", *option, str(t.pid)],
                capture_output=True, text=True, timeout=60,
                env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"})
            if theirs.returncode:
                raise Skip("CPython's dump does not work here: " + theirs.stderr.strip()[-200:])
            stacks = [stacks_of(done.stdout) for done in (ours, theirs)]
            assert stacks[0] == stacks[1] and len(stacks[0]) == 2, stacks


def stacks_of(text):
    """{thread: [(file name, line, function, instruction) or "<native>"]} of a dump."""
    stacks = {}
    for line in text.splitlines():
        head = re.match(r"Stack dump.*?, thread (\d+)", line)
        frame = re.match(r'  File "(?:.*/)?(.*?)", line (\d+), in (\S+)(?:  opcode=(.*))?$', line)
        if head:
            frames = stacks.setdefault(head[1], [])
        elif frame:
            frames.append(frame.groups())
        elif line == "  <native>" and frames:
            frames.append("<native>")  # theirs has one outside everything, too
    return stacks

if __name__ == "__main__":
    suite.main()
