#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--control and --paused: recordings contain what was switched on, from inside and outside, and no input on the
socket is harmful."""

import contextlib
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import tempfile

from livelib import FIZEAU, Interpreter, Suite, Target, find_interpreter, fizeau, wait_until

suite = Suite()

# Works in phases, each for a time of its CPU, the second until there are samples; what it says to the socket it says itself.
INSIDE = """\
import socket, sys, time
def ask(line):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        s.sendall(line.encode() + b"\\n")
        return s.makefile().readline().strip()
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(100))
def before(): work(0.3)
def during():
    while int(ask("status").split("samples=")[1].split()[0]) < 30: work(0.01)
    work(0.3)
def after(): work(0.3)
before()
print(ask("enable"))
start = time.process_time()
during()
print(time.process_time() - start)
print(ask("disable"))
after()
print(ask("status"))
"""

OWN_PID = "import os; print(os.getpid(), flush=True)\n"
LOOKED_AT = """\
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
answers = s.makefile()
def attached():
    s.sendall(b"status\\n")
    return "attached=True" in answers.readline()
while not attached():
    time.sleep(0.01)
"""
LOOP = """\
print("up", flush=True)
while True:
    sum(range(1000))
"""


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile()

    def ask(self, line):
        self.socket.sendall(line.encode() + b"\n")
        return self.lines.readline().rstrip("\n")

    def status(self):
        return dict(word.split("=") for word in self.ask("status").split()[1:])

    def close(self):
        self.lines.close()
        self.socket.close()


class Attached:
    """A program that loops, and `fizeau attach` on it with a socket."""

    def __init__(self, *options):
        self.target = Target(Interpreter("debian", ["/usr/bin/python3"]), LOOP)
        self.folder = pathlib.Path(self.target.folder.name)
        self.path, self.file = self.folder / "socket", self.folder / "x.fz"
        self.process = subprocess.Popen(
            [FIZEAU, "attach", "--control", f"unix:{self.path}", "-o", self.file, *options,
             str(self.target.pid)], stderr=subprocess.PIPE, text=True)
        wait_until(self.path.exists, "the socket")

    def end(self):
        said = self.process.communicate(timeout=120)[1]
        assert self.process.returncode == 0, said
        assert not self.path.exists()
        return said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.target.__exit__()


def functions(file):
    """Seconds of each function, by name, including callees."""
    done = fizeau("replay", file, "--collapsed", "-o", "-")
    assert done.returncode == 0, done
    found = {}
    for line in done.stdout.splitlines():
        stack, _, n = line.rpartition(" ")
        for name in {frame.split(":")[1] for frame in stack.split(";") if frame.count(":") > 1}:
            found[name] = found.get(name, 0) + int(n)
    return found


def from_inside(version, mode, figures=True):
    python = find_interpreter(version)
    with python.scratch() as folder:
        folder = pathlib.Path(folder)
        (folder / "p.py").write_text(INSIDE)
        done = fizeau("run", "--control", f"unix:{folder}/s", "--paused", "--mode", mode, "-o", folder / "x.fz",
                      "--", *python.command, python.path(folder / "p.py"), python.path(folder / "s"))
        assert done.returncode == 0, done
        first, used, second, status = done.stdout.splitlines()
        assert (first, second) == ("ok", "ok") and status.startswith("ok enabled=False attached="), done
        seen = functions(folder / "x.fz")
        taken = int(re.search(r"samples=(\d+)", status)[1])
        assert "before" not in seen and "after" not in seen and seen["during"] > 20, seen
        # By the CPU clock a sample is a millisecond; none stands for time that was switched off.
        if mode == "cpu" and figures:
            assert seen["during"] < 1500 * float(used), (seen, used)
        assert "sampling was disabled for" in done.stderr, done
        return f"{taken} samples in {float(used):.3f} s"


@suite.test("an answer holds: not one sample is taken after it")
def none_after_the_answer():
    with Attached("--paused", "-r", "max") as a:
        client = Client(a.path)
        for _ in range(20):
            before = int(client.status()["samples"])
            client.ask("enable")
            wait_until(lambda: int(client.status()["samples"]) > before, "a sample")
            client.socket.sendall(b"disable\nstatus\n")  # both are read before the next instant
            assert client.lines.readline() == "ok\n"
            told = client.lines.readline().split()
            assert client.status()["samples"] == dict(word.split("=") for word in told[1:])["samples"]
        client.ask("quit")
        client.close()
        a.end()


@suite.test("from outside: off, on, off again, and quit leaves the process running")
def from_outside():
    with Attached("--paused") as a:
        one, two = Client(a.path), Client(a.path)
        assert one.ask("ping") == "ok"
        before = one.status()
        assert before["enabled"] == "False" and before["attached"] == "True" and before["samples"] == "0", before
        assert one.ask("enable") == "ok" and one.ask("enable") == "ok"
        wait_until(lambda: int(two.status()["samples"]) > 50, "a sample")
        assert two.ask("disable") == "ok"
        off = one.status()
        assert off["enabled"] == "False", off
        wait_until(lambda: float(one.status()["seconds"]) > 1.1 * float(off["seconds"]) + 0.3, "time")
        assert one.status()["samples"] == off["samples"]
        assert one.ask("quit") == "ok"
        a.end()
        assert one.lines.read() == "" and two.lines.read() == ""
        assert a.target.process.poll() is None
        one.close()
        two.close()
        shown = fizeau("show", a.file).stdout
        assert f"{int(off['samples']):,} samples" in shown and "disabled for" in shown, shown


def samples(file):
    """Samples of a recording that may still be written, including unreadable ones."""
    done = fizeau("replay", file)
    assert done.returncode == 0, done
    return int(re.search(r"Sampling: ([\d,]+) samples? every", done.stdout)[1].replace(",", ""))


@suite.test("save and SIGUSR1: the recording so far can be read, and recording continues")
def save():
    with Attached() as a:
        client = Client(a.path)
        wait_until(lambda: int(client.status()["samples"]) > 10, "samples")
        saved = re.fullmatch(r"ok samples=(\d+)", client.ask("save"))
        so_far = samples(a.file)
        assert so_far >= int(saved[1]) > 10, (so_far, saved)
        wait_until(lambda: int(client.status()["samples"]) > so_far, "more samples")
        a.process.send_signal(signal.SIGUSR1)
        said = a.process.stderr.readline()
        again = re.fullmatch(rf"fizeau: ([\d,]+) samples so far; 'fizeau replay {re.escape(str(a.file))}' reports on them\n", said)
        assert again and samples(a.file) >= int(again[1].replace(",", "")) > so_far, said
        assert client.ask("quit") == "ok"
        client.close()
        a.end()
        assert samples(a.file) > so_far


@suite.test("a recording that was never enabled reports that, not a short program")
def never_on():
    with tempfile.TemporaryDirectory() as folder:
        done = fizeau("run", "--control", f"unix:{folder}/s", "--paused", "-o", f"{folder}/x.fz", "--",
                      "/usr/bin/python3", "-c", LOOKED_AT, f"{folder}/s")
        assert done.returncode == 0, done
        assert "nothing was recorded: sampling was never enabled; send 'enable'" in done.stderr, done.stderr


@contextlib.contextmanager
def looping(*options):
    """`fizeau run` on a program that loops; gives the program's pid with it, and ends both."""
    process = subprocess.Popen([FIZEAU, "run", *options, "--", "/usr/bin/python3", "-c", OWN_PID + LOOP],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        child = int(process.stdout.readline())
        try:
            yield process, child
        finally:
            process.kill()
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


@suite.test("run: quit ends the program as --duration does, and --keep leaves it running")
def quit_run():
    for keep in ([], ["--keep"]):
        with (tempfile.TemporaryDirectory() as folder,
              looping("--control", f"unix:{folder}/s", "-o", f"{folder}/x.fz", *keep) as (process, child)):
            client = Client(f"{folder}/s")
            wait_until(lambda: int(client.status()["samples"]) > 10, "a sample")
            assert client.ask("quit") == "ok"
            process.wait(timeout=60)
            assert process.returncode == 0, process.stderr.read()
            client.close()
            assert os.path.exists(f"/proc/{child}") == bool(keep)


@suite.test("garbage, torn lines, clients that vanish: every answer is one line, and nothing is lost")
def garbage():
    dice = random.Random(1)
    with Attached() as a:
        watch = Client(a.path)
        for i in range(200):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(str(a.path))
                s.sendall(dice.choice([dice.randbytes(dice.randrange(3000)), b"qui", b"disable", b"\0\n",
                                       b"enable\nstatus\n" * 20, b"QUIT\n", b"quit now\n", b""]))
                if i % 3 == 0:
                    s.shutdown(socket.SHUT_WR)
                    s.settimeout(60)
                    answers = s.makefile("rb").read()
                    assert all(line.startswith((b"ok", b"err ")) for line in answers.splitlines()), answers
        assert watch.ask("nonsense").startswith("err unknown command; use one of enable"), watch
        assert watch.status()["enabled"] == "True"
        taken = wait_until(lambda: int(watch.status()["samples"]), "a sample")
        assert watch.ask("quit") == "ok"
        watch.close()
        a.end()
        assert sum(functions(a.file).values()) >= taken > 0


@suite.test("a dead recorder's socket is replaced by the next one; a served one is refused")
def leftover():
    with Attached() as a:
        client = Client(a.path)
        assert client.ask("ping") == "ok"
        done = fizeau("attach", "--control", f"unix:{a.path}", str(a.target.pid))
        assert done.returncode == 2 and "--control: " in done.stderr and "in use by another program" in done.stderr
        assert done.stderr.count("\n") == 1 and client.ask("ping") == "ok"
        a.process.kill()
        a.process.wait()
        assert a.path.exists()
        client.close()
        done = fizeau("attach", "-d", "0.2", "--control", f"unix:{a.path}", "-o", a.file, str(a.target.pid))
        assert done.returncode == 0 and not a.path.exists(), done


suite.add("by the CPU clock no sample stands for disabled time", from_inside, "debian-3.11", "cpu")
for version, mode in (("debian-3.11", "wall"), ("debian-3.11", "cpu"), ("forky-3.14", "wall"),
                      ("forky-3.15", "cpu")):
    suite.add(f"from inside: only enabled time is in the recording: {version}, {mode}", from_inside,
              version, mode, version != "debian-3.11")
suite.main()
