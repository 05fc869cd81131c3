#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes whose main thread ends before others: /proc/PID then shows neither memory nor files."""

import contextlib
import json
import pathlib
import shutil
import subprocess
import tempfile

from livelib import Skip, Suite, find_interpreter, fizeau, wait_until
from watching import Recorder, functions_of, rows_of, samples, state, wait_for_samples

suite = Suite()

# The main thread ends when the file "end" is there, and what the other one runs changes when "ended" is.
PYTHON = """
import ctypes, os, threading, time
def before():
    while not os.path.exists("ended"): sum(range(1000))
def after():
    open("after", "w").close()
    while not os.path.exists("done"): sum(range(1000))
    os._exit(0)
def work():
    before()
    after()
threading.Thread(target=work).start()
while not os.path.exists("end"):
    time.sleep(0.01)
ctypes.CDLL(None).pthread_exit(None)
"""

PLAIN = """
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
volatile unsigned long sum;
static __attribute__((noinline)) void before(void)
{
	while (access("ended", F_OK))
		sum++;
	sum++;
}
static __attribute__((noinline)) void after(void)
{
	close(creat("after", 0666));
	while (access("done", F_OK))
		sum++;
	_exit(0);
}
static void *work(void *unused)
{
	before();
	after();
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	while (access("end", F_OK))
		usleep(10000);
	pthread_exit(NULL);
}
"""


def plain(folder):
    if not shutil.which("cc"):
        raise Skip("a C compiler is not installed")
    (folder / "plain.c").write_text(PLAIN)
    subprocess.run(["cc", "-O1", "-pthread", "plain.c", "-o", "plain"], cwd=folder, check=True)
    return ["./plain"]


def python(folder, interpreter="debian-3.11"):
    (folder / "program.py").write_text(PYTHON)
    return [*find_interpreter(interpreter).command, "program.py"]


@contextlib.contextmanager
def ended(command, folder):
    """The program, whose main thread has ended."""
    (folder / "end").touch()
    (folder / "ended").touch()
    with subprocess.Popen(command, cwd=folder) as target:
        try:
            wait_until(lambda: state(target.pid) == "Z", "the end of the main thread")
            wait_until((folder / "after").exists, "the other function")
            yield target.pid
        finally:
            target.kill()


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix="fz-") as name:
        yield pathlib.Path(name)


def check(path, pid, *wanted):
    """The recording has these functions, and no sample of the main thread since its end."""
    assert set(wanted) <= functions_of(path), (wanted, functions_of(path))
    late = [row for row in rows_of(path) if any("after" in frame for frame in row)]
    assert late and all(row[0] != f"tid:{pid}" for row in late), late


def attach_ended(pid, folder, *options):
    path = folder / "x.fz"
    with Recorder("attach", "-a", *options, "-o", path, pid, cwd=folder) as recorder:
        wait_for_samples(pid, recorder=recorder.process)
        recorder.end()
    check(path, pid, "after")
    assert {row[0] for row in rows_of(path)} != {f"tid:{pid}"}


@suite.test("Python: attach reads the other threads")
def attach_python():
    with scratch() as folder, ended(python(folder), folder) as pid:
        for options in [], ["--mode", "cpu"], ["--subprocesses"], ["--blocking"], ["--native=stacks"]:
            attach_ended(pid, folder, *options)


@suite.test("C: attach reads the other threads")
def attach_plain():
    with scratch() as folder, ended(plain(folder), folder) as pid:
        for options in [], ["--mode", "cpu"]:
            attach_ended(pid, folder, *options)


@suite.test("without -a there is nothing to record, and the reason is printed")
def only_main():
    with scratch() as folder:
        for command in python(folder), plain(folder):
            with ended(command, folder) as pid:
                for options in [], ["--mode", "cpu"], ["--native=stacks"]:
                    done = fizeau("attach", "-d", "0.1", *options, "-o", folder / "x.fz", pid)
                    assert done.stderr.endswith("the main thread has ended; use -a to record the others\n"), done


@suite.test("dump and heap read it")
def dump_and_heap():
    with scratch() as folder, ended(python(folder), folder) as pid:
        for options in [], ["--blocking"], ["--locals"]:
            done = fizeau("dump", "--json", *options, pid)
            threads = [thread for process in json.loads(done.stdout)["processes"] for thread in process["threads"]]
            assert done.returncode == 0 and len(threads) == 1 and threads[0]["tid"] != pid, done
            assert "after" in [frame["function"] for frame in threads[0]["frames"]], done
        done = fizeau("heap", pid)
        assert done.returncode == 0 and "dict" in done.stdout, done


def ends_meanwhile(command, *options):
    with scratch() as folder:
        path = folder / "x.fz"
        with Recorder("run", "-a", *options, "-o", path, "--", *command(folder), cwd=folder) as recorder:
            pid = wait_until(lambda: child_of(recorder.process.pid), "the program")
            wait_for_samples(pid, recorder=recorder.process)
            (folder / "end").touch()
            wait_until(lambda: state(pid) == "Z", "the end of the main thread")
            (folder / "ended").touch()
            wait_until((folder / "after").exists, "the other function")
            wait_for_samples(pid, recorder=recorder.process)
            (folder / "done").touch()
            recorder.end(interrupt=False)
        check(path, pid, "before", "after")


# A thread that ends in C leaves its state behind in Python.
LEAVES = """
import ctypes, os, sys, threading
def leave():
    open("leaves", "w").close()
    ctypes.CDLL(None).pthread_exit(None)
def work():
    while not os.path.exists("done"): sum(range(1000))
    os._exit(0)
other, main = (work, leave) if sys.argv[1] == "main" else (leave, work)
thread = threading.Thread(target=other)
while not os.path.exists("end"): sum(range(1000))
thread.start()
main()
"""


def no_more_samples(which):
    with scratch() as folder:
        path = folder / "x.fz"
        (folder / "program.py").write_text(LEAVES)
        command = [*find_interpreter("debian-3.11").command, "program.py", which]
        with Recorder("run", "-a", "-o", path, "--", *command, cwd=folder) as recorder:
            pid = wait_until(lambda: child_of(recorder.process.pid), "the program")
            wait_for_samples(pid, recorder=recorder.process)
            (folder / "end").touch()
            wait_until((folder / "leaves").exists, "the call")
            wait_until(lambda: state(pid) == "Z" if which == "main" else len(tasks_of(pid)) == 1, "the end of the thread")
            most = samples(pid) + 300
            wait_for_samples(pid, 3 * most, recorder.process)
            (folder / "done").touch()
            recorder.end(interrupt=False)
        left = samples_of(path, "leave")
        assert left <= most < samples_of(path, "work"), (left, most)


def tasks_of(pid):
    return list(pathlib.Path(f"/proc/{pid}/task").iterdir())


def samples_of(path, name):
    stacks = fizeau("replay", path, "--collapsed", "--metric", "samples", "-o", "-").stdout.splitlines()
    return sum(int(stack.rpartition(" ")[2]) for stack in stacks if f":{name}:" in stack)


for each in "main", "other":
    suite.add(f"Python: no samples of a thread that has ended in C: the {each} one", no_more_samples, each)


def child_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text() or 0)


for each in [], ["--mode", "cpu"], ["--subprocesses"], ["--blocking"], ["--native=stacks"]:
    suite.add(f"Python: the main thread ends during a recording: {' '.join(each) or 'defaults'}", ends_meanwhile, python, *each)
for each in [], ["--mode", "cpu"]:
    suite.add(f"C: the main thread ends during a recording: {' '.join(each) or 'defaults'}", ends_meanwhile, plain, *each)

suite.main()
