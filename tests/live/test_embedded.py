#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that have CPython inside or below them."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from livelib import Skip, Suite, find_interpreter, fizeau, wait_until
from test_kernel import skipping
from watching import Recorder, attach, rows_of, wait_for_samples

suite = Suite()

# The address of None is a constant of the program: it gets a copy of its own.
OWN_NONE = """
#include <Python.h>
int main(void)
{
	Py_Initialize();
	PyObject *none = Py_None;
	Py_INCREF(none);
	PyRun_SimpleString("print('ready', flush=True)\\n"
			   "while True: pass\\n");
	return none == NULL;
}
"""


# A server whose worker has a second thread. Python is not notified of the fork.
FORK = """
#include <Python.h>
#include <pthread.h>
static void *helper(void *unused)
{
	pause();
	return unused;
}
int main(void)
{
	pthread_t thread;
	Py_Initialize();
	PyRun_SimpleString("import os\\n"
			   "def work():\\n"
			   "    print(os.getpid(), flush=True)\\n"
			   "    while True: pass\\n");
	if (fork() == 0) {
		pthread_create(&thread, NULL, helper, NULL);
		PyRun_SimpleString("work()");
	}
	pause();
	return 0;
}
"""


# A thread of C that calls Python now and then, for a tenth of its time by its own clock. Its state comes and goes.
VISITS = """
#include <Python.h>
#include <pthread.h>
#include <time.h>
static double used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
static void *compute(void *unused)
{
	for (int i = 0; i < 20; i++) {
		for (double end = used() + 0.09; used() < end;)
			;
		PyGILState_STATE state = PyGILState_Ensure();
		PyRun_SimpleString("work(0.01)");
		PyGILState_Release(state);
	}
	return unused;
}
int main(void)
{
	pthread_t thread;
	Py_Initialize();
	PyRun_SimpleString("import time\\n"
			   "def work(seconds):\\n"
			   "    end = time.thread_time() + seconds\\n"
			   "    while time.thread_time() < end: pass\\n");
	PyThreadState *main_state = PyEval_SaveThread();
	pthread_create(&thread, NULL, compute, NULL);
	pthread_join(thread, NULL);
	PyEval_RestoreThread(main_state);
	return 0;
}
"""


# A module with one function, which TWO_STATES and VFORK define as call().
MODULE = """
#include <Python.h>
static PyObject *call(PyObject *self, PyObject *none);
static PyMethodDef methods[] = { { "call", call, METH_O, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, "native", NULL, -1, methods };
static PyObject *init(void)
{
	return PyModule_Create(&module);
}
"""


# A thread that works with two states in turn, the second one's call above the first one's in the C stack.
TWO_STATES = MODULE + """
#define WORK(name) "import time\\n" \
		   "def " name "():\\n" \
		   "    end = time.thread_time() + 0.005\\n" \
		   "    while time.thread_time() < end: pass\\n"
static PyThreadState *other;
static PyObject *call(PyObject *self, PyObject *none)
{
	PyThreadState *own = PyThreadState_Swap(other);
	PyRun_SimpleString("inner()");
	PyThreadState_Swap(own);
	Py_INCREF(none);
	return none;
}
int main(int argc, char **argv)
{
	PyImport_AppendInittab("native", init);
	Py_Initialize();
	PyThreadState *first = PyThreadState_Get();
	other = argc > 1 ? Py_NewInterpreter() : PyThreadState_New(PyInterpreterState_Get());
	PyThreadState_Swap(other);
	PyRun_SimpleString(WORK("inner"));
	PyThreadState_Swap(first);
	PyRun_SimpleString(WORK("outer") "import native, os\\n"
			   "while not os.path.exists('end'):\\n"
			   "    outer()\\n"
			   "    native.call(None)\\n");
	return 0;
}
"""


# A child that has its parent's memory until the file "go" is there, and then becomes a shell.
VFORK = MODULE + """
#include <sys/wait.h>
#include <unistd.h>
static PyObject *call(PyObject *self, PyObject *none)
{
	pid_t pid = vfork();
	if (pid == 0) {
		while (access("go", F_OK))
			usleep(1000);
		execl("/bin/sh", "sh", "-c", "while [ ! -e end ]; do :; done", NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	Py_INCREF(none);
	return none;
}
int main(void)
{
	PyImport_AppendInittab("native", init);
	Py_Initialize();
	PyRun_SimpleString("import native\\n"
			   "def waits():\\n"
			   "    native.call(None)\\n"
			   "waits()\\n");
	return 0;
}
"""


def build(folder, code):
    config = shutil.which("/usr/bin/python3-config")
    if not config or not shutil.which("cc"):
        raise Skip("python3-dev or a C compiler is not installed")
    flags = subprocess.run([config, "--embed", "--cflags", "--ldflags"], capture_output=True, text=True).stdout.split()
    flags = [flag for flag in flags if "pie" not in flag.lower() and "lto" not in flag]
    source, program = folder / "program.c", folder / "program"
    source.write_text(code)
    done = subprocess.run(["cc", "-fno-pie", source, *flags, "-no-pie", "-o", program], capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"a program with CPython in it cannot be built: {done.stderr.splitlines()[-1]}")
    return program


@suite.test("a program with a copy of None has no exception")
def own_none():
    with tempfile.TemporaryDirectory(prefix="fz-") as name:
        folder = pathlib.Path(name)
        program = build(folder, OWN_NONE)
        relocations = subprocess.run(["readelf", "-rW", program], capture_output=True, text=True).stdout
        if not any("COPY" in line and "_Py_NoneStruct" in line for line in relocations.splitlines()):
            raise Skip("this linker makes no copy of None")
        with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as target:
            try:
                assert target.stdout.readline() == "ready\n"
                attach(target.pid, "-o", folder / "x.fz", cwd=folder)
            finally:
                target.kill()
        done = fizeau("replay", folder / "x.fz", "--format", "json", "-o", "-", cwd=folder)
        states = json.loads(done.stdout)["states"]
        assert states["samples"] > 0 and states["exception"] == 0, states


LIBRARY = pathlib.Path("/usr/lib", f"{os.uname().machine}-linux-gnu", "libpython3.11.so.1.0")


@contextlib.contextmanager
def own_library(folder):
    """A running program, folder/LIBRARY.name is its library of Python."""
    if not LIBRARY.exists():
        raise Skip("there is no libpython3.11")
    program = build(folder, OWN_NONE)
    shutil.copy(LIBRARY, folder)
    environ = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True, env=environ) as target:
        try:
            assert target.stdout.readline() == "ready\n"
            yield target
        finally:
            target.kill()


@suite.test("a library of Python whose file is renamed is found")
def renamed_library():
    with tempfile.TemporaryDirectory(prefix="fz-") as name:
        folder = pathlib.Path(name)
        with own_library(folder) as target:
            # What NFS does when the last name of an open file is removed.
            (folder / LIBRARY.name).rename(folder / ".nfs0000000000000001")
            done = fizeau("dump", target.pid, cwd=folder)
        assert "in <module>" in done.stdout, done


def build_id(file):
    return re.search(r"Build ID: (\w+)", subprocess.run(["readelf", "-nW", file], capture_output=True, text=True).stdout)[1]


def handles_are_permitted():
    """May we open files by what /proc/PID/map_files has?"""
    exe = pathlib.Path("/proc/self/exe").resolve()
    for handle in pathlib.Path("/proc/self/map_files").iterdir():
        try:
            if handle.samefile(exe):
                return True
        except OSError:
            continue
    return False


@suite.test("a library of Python whose file is replaced has its own build id")
def replaced_library():
    with tempfile.TemporaryDirectory(prefix="fz-") as name:
        folder = pathlib.Path(name)
        with own_library(folder) as target:
            (folder / LIBRARY.name).unlink()
            shutil.copy("/usr/bin/python3.11", folder / LIBRARY.name)
            program = pathlib.Path(target.args[0])
            attach(target.pid, "-o", folder / "x.fz", cwd=folder)
        shown = fizeau("show", folder / "x.fz", cwd=folder).stdout
        assert build_id("/usr/bin/python3.11") not in shown and build_id(program) not in shown, shown
        assert build_id(LIBRARY) in shown or not handles_are_permitted(), shown


@suite.test("a worker forked in C with a second thread is recorded as its own main thread")
def forked_in_c():
    with tempfile.TemporaryDirectory(prefix="fz-") as name:
        folder = pathlib.Path(name)
        with subprocess.Popen([build(folder, FORK)], stdout=subprocess.PIPE, text=True) as server:
            worker = int(server.stdout.readline())
            try:
                for engine in "read", "bpf":
                    path = folder / f"{engine}.fz"
                    with contextlib.suppress(Skip), Recorder("attach", "-a", "--subprocesses", "--engine", engine, "-o", path,
                                                             server.pid, path=path, cwd=folder) as recorder, skipping():
                        recorder.until_seen("work")
            finally:
                os.kill(worker, signal.SIGKILL)
                server.kill()
        for file in folder.glob("*.fz"):
            stacks = fizeau("replay", file, "--collapsed", "-o", "-", cwd=folder).stdout.splitlines()
            worked = [stack for stack in stacks if ":work:" in stack]
            assert worked and all(f"tid:{worker};" in stack for stack in worked), stacks


@suite.test("C code that sometimes calls Python: its CPU time is not Python's, and is reported")
def visits():
    with tempfile.TemporaryDirectory(prefix="fz-") as name:
        folder = pathlib.Path(name)
        program, found = build(folder, VISITS), []
        for engine in "read", "bpf":
            done = fizeau("run", "-a", "--mode", "cpu", "--engine", engine, "-o", folder / "x.fz", "--", program,
                          cwd=folder)
            if done.returncode and engine == "bpf":
                continue
            assert done.returncode == 0 and "of CPU time without a Python stack" in done.stderr, done
            done = fizeau("replay", folder / "x.fz", "--format", "json", "-o", "-", cwd=folder)
            data = json.loads(done.stdout)
            found += [function["self"] / 1e9 for function in data["functions"] if function["name"] == "work"]
            # It is 0.2 s; with the time between the calls it was 1.9 s.
            assert found[-1] < 1, (engine, found)
        return ", ".join(f"{seconds:.3f}" for seconds in found) + " s of 0.2 s"


@suite.test("a thread that changes its state is seen with both, of one interpreter or two")
def two_states():
    with tempfile.TemporaryDirectory(prefix="fz-") as name:
        folder = pathlib.Path(name)
        program, path, end = build(folder, TWO_STATES), folder / "x.fz", folder / "end"
        for words in [], ["interpreter"]:
            for options in ["--engine", "read"], ["--engine", "read", "--mode", "cpu"], ["--engine", "bpf", "--mode", "cpu"]:
                with contextlib.suppress(Skip), Recorder("run", *options, "-o", path, "--", program, *words, path=path,
                                                         cwd=folder) as recorder, skipping():
                    recorder.until_seen("outer", "inner")
                    end.touch()
                    recorder.end(interrupt=False)
                    end.unlink()


def children_of(pid):
    found = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that ended
            found += map(int, path.read_text().split())
    return found


def record_vfork(folder, *options):
    """Record the program with its child, in the parent's memory and then as a shell; the rows, and both processes."""
    with Recorder("run", "-a", "--subprocesses", *options, "-o", folder / "x.fz", "--", folder / "program",
                  cwd=folder) as recorder:
        parent = wait_until(lambda: children_of(recorder.process.pid), "the program")[0]
        child = wait_until(lambda: children_of(parent), "its child")[0]
        wait_for_samples(parent, 200, recorder.process)
        refused = fizeau("dump", child), fizeau("heap", child)
        (folder / "go").touch()
        wait_until(lambda: pathlib.Path(f"/proc/{child}/comm").read_text() == "sh\n", "the shell")
        wait_for_samples(parent, 200, recorder.process)
        (folder / "end").touch()
        recorder.end(interrupt=False)
    assert all(done.returncode and "it is between vfork and exec" in done.stderr for done in refused), refused
    return rows_of(folder / "x.fz"), parent, child


@suite.test("a child between vfork and exec is not recorded as its parent")
def vfork():
    for options in [], ["--blocking"], ["--native=stacks"]:
        with tempfile.TemporaryDirectory(prefix="fz-") as name:
            folder = pathlib.Path(name)
            build(folder, VFORK)
            rows, parent, child = record_vfork(folder, *options)
            assert any(":waits:" in frame for row in rows for frame in row if row[0] == f"tid:{parent}"), rows
            assert not any(":waits:" in frame for row in rows for frame in row if row[0] == f"tid:{child}"), rows


# Interpreters that have each other's memory, each with a thread that works until a file of its name is there.
IN_TURN = """
try:
    import _interpreters as interpreters
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
for name in "first", "second", "third":
    interpreter = interpreters.create()
    run(interpreter, f'''
import os, threading
def work():
    while not os.path.exists({name!r}):
        sum(range(1000))
thread = threading.Thread(target=work, name={name!r})
thread.start()
thread.join()
''')
    interpreters.destroy(interpreter)
"""


def names_of_threads(path):
    done = fizeau("replay", path, "--format", "json", "-o", "-")
    return {thread["name"] for thread in json.loads(done.stdout)["states"]["threads"]} if done.returncode == 0 else set()


def check_names(interpreter):
    command = [*find_interpreter(interpreter).command, "-c", IN_TURN]
    with tempfile.TemporaryDirectory(prefix="fz-") as name:
        folder = pathlib.Path(name)
        with Recorder("run", "-a", "-o", folder / "x.fz", "--", *command, path=folder / "x.fz", cwd=folder) as recorder:
            for thread in "first", "second", "third":
                recorder.until(lambda path, thread=thread: thread in names_of_threads(path), f"a thread named {thread}")
                (folder / thread).touch()
            recorder.end(interrupt=False)
        assert {"first", "second", "third"} <= names_of_threads(folder / "x.fz")


for each in "pyenv-3.8", "pyenv-3.12", "pyenv-3.13":
    suite.add(f"{each}: a thread of an interpreter that reuses another's memory has its own name", check_names, each)


@suite.test("a shell is not Python: its Python child is named, and read with --subprocesses")
def below_a_shell():
    work = "import os\ndef work():\n    print(os.getpid(), flush=True)\n    while True: pass\nwork()"
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        with subprocess.Popen(["sh", "-c", '/usr/bin/python3 -c "$0"; exit 0', work], stdout=subprocess.PIPE,
                              text=True) as shell:
            child = int(shell.stdout.readline())
            try:
                dump = fizeau("dump", shell.pid)
                doctor = fizeau("doctor", shell.pid)
                attach = fizeau("attach", "-d", "0.1", "-o", "x.fz", shell.pid, cwd=folder)
                below = fizeau("dump", "--subprocesses", shell.pid)
                data = json.loads(fizeau("dump", "--subprocesses", "--json", shell.pid).stdout)
            finally:
                os.kill(child, signal.SIGKILL)
    advice = f"Python runs below it: fizeau %s {child}, or fizeau %s --subprocesses {shell.pid}\n"
    assert dump.returncode and dump.stderr.endswith("; " + advice % ("dump", "dump")), dump
    assert doctor.stdout.splitlines()[-1].endswith((advice % ("attach", "attach")).strip()), doctor
    assert f"{shell.pid} is not Python; " + advice % ("attach", "attach") in attach.stderr, attach
    assert not below.returncode and "in work" in below.stdout, below
    assert [process["pid"] for process in data["processes"]] == [child], data


suite.main()
