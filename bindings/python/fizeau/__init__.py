# SPDX-License-Identifier: MIT
"""Record a part of this program with fizeau, from outside the process.

    with fizeau.record("out.fz"):
        work()

    @fizeau.record
    def work(): ...

    fizeau.start(); work(); print(fizeau.stop())

`record` runs `fizeau attach` on this process, which only reads its memory. Without a path the recording
goes to the store, where `fizeau diff`, `show` and `list` find it; a path's suffix chooses the format
(out.fz, out.html, out.svg, ...). See docs/python.md.
"""

import os
import sys

__all__ = ["Error", "record", "start", "stop"]

PR_SET_PTRACER, ANY = 0x59616D61, 2 ** 64 - 1


class Error(Exception):
    """Recording failed; the text has the reason and the remedy."""


def program():
    """Path of the program fizeau: $FIZEAU, the one installed with this file, or the one on PATH."""
    import shutil
    import sysconfig
    here = os.path.dirname(os.path.abspath(__file__))
    schemes = [name for name in ("posix_prefix", "posix_local", "posix_user", "venv")
               if name in sysconfig.get_scheme_names()]
    folders = [sysconfig.get_path("scripts"), *(sysconfig.get_path("scripts", name) for name in schemes),
               os.path.join(here, *[os.pardir] * 5, "bin")]
    found = os.environ.get("FIZEAU") or next(filter(None, (shutil.which("fizeau", path=folder)
                                                           for folder in folders)), None)
    found = found or shutil.which("fizeau")
    if not found:
        raise Error("fizeau is not installed; run 'pip install fizeau' or add it to PATH")
    return found


def allow_tracing(pids):
    """Let these processes trace us if Yama allows only parents (ptrace_scope 1). It takes one; several mean any."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as file:
            if file.read().strip() != "1":
                return
        import ctypes
        who = ANY if len(pids) > 1 else next(iter(pids), 0)
        ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(who), 0, 0, 0)
    except (OSError, ImportError):
        pass  # there is no Yama, or the recorder will report it


class record:
    """A recording of this process: a context manager, a decorator, or start() and stop().

    path: the file; None: the store. rate: as for `fizeau run -r`. threads: all, or only the main one.
    options: more options of `fizeau attach`. quiet: do not print the path to stderr.
    After the end `path` is the file, or None if there was nothing to record."""

    tracers = set()  # pids of recorders of this process

    def __new__(cls, path=None, **options):
        if callable(path):  # @fizeau.record
            return cls(**options)(path)
        return super().__new__(cls)

    def __init__(self, path=None, *, rate=None, threads=True, options=(), quiet=False):
        self.path = self.wanted = None if path is None else os.path.abspath(os.fspath(path))
        self.options = [*(["-a"] if threads else ["--main-thread"]), *(["-r", str(rate)] if rate else []),
                        *map(str, options)]
        self.quiet = quiet
        self.process = self.owner = None

    # ---- as a decorator ----

    def __call__(self, function):
        import functools
        import inspect
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("a generator runs in pieces; record what consumes it")
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def recorded(*args, **kwargs):
                with self.again():
                    return await function(*args, **kwargs)
        else:
            @functools.wraps(function)
            def recorded(*args, **kwargs):
                with self.again():
                    return function(*args, **kwargs)
        return recorded

    def again(self):
        """A copy for each call, because calls may overlap."""
        import copy
        return copy.copy(self)

    # ---- as a context ----

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, value, trace):
        try:
            self.stop()
        except Error as error:
            if kind is None:
                raise
            print(f"fizeau: {error}", file=sys.stderr)  # the block's own exception goes on

    # ---- both ends ----

    def active(self):
        """True while recording. After a fork the recording is the parent's alone."""
        if self.process and self.owner != os.getpid():
            self.process.returncode = 0  # nothing to wait for here
            self.process = None
        return self.process is not None

    def start(self):
        """Start recording; returns self once samples are taken."""
        import subprocess
        import tempfile
        if self.active():
            raise Error("this recording was already started; use a new fizeau.record for another")
        # A socket's path has 107 bytes at most.
        self.folder = tempfile.mkdtemp(prefix="fizeau-", dir="/tmp" if len(tempfile.gettempdir()) > 80 else None)
        self.socket = os.path.join(self.folder, "control")
        self.said = tempfile.TemporaryFile("w+")
        command = [program(), "attach", "--paused", "--control", f"unix:{self.socket}", *self.options,
                   *(["-o", self.wanted] if self.wanted else []), str(os.getpid())]
        allow_tracing([ANY, ANY])  # it may attach before its pid is known here
        try:
            # In a session of its own: signals of the terminal are for this program only.
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=self.said, start_new_session=True)
            self.owner = os.getpid()
            self.tracers.add(self.process.pid)
        except OSError as error:
            self.clean_up()
            raise Error(f"{command[0]} cannot be started: {error}") from None
        finally:
            allow_tracing(self.tracers)
        try:
            self.connect()
        except BaseException:
            self.process.kill()
            self.finish()
            raise
        return self

    def connect(self):
        import socket
        import time
        self.client = socket.socket(socket.AF_UNIX)
        while self.client.connect_ex(self.socket):
            self.check_alive()
            time.sleep(0.002)
        self.remove_folder()  # only needed to connect
        self.lines = self.client.makefile(encoding="ascii")
        while "attached=True" not in self.ask("status"):
            time.sleep(0.002)
        self.ask("enable")

    def check_alive(self):
        if self.process.poll() is not None:
            raise Error(self.words() or "fizeau ended before it began")

    def ask(self, line):
        try:
            self.client.sendall(line.encode() + b"\n")
            answer = self.lines.readline()
        except ConnectionError:
            answer = ""
        except OSError:  # the program closed it, as daemons close all descriptors: the recorder still runs
            self.process.terminate()
            answer = ""
        if not answer:
            self.process.wait()
            raise Error(self.words() or "fizeau ended unexpectedly")
        return answer

    def words(self):
        """The recorder's last message, as the text of an exception."""
        try:
            self.said.seek(0)
            text = self.said.read()
        except OSError:  # the program closed it
            text = ""
        lines = [line for line in text.splitlines() if line.startswith("fizeau: ")]
        return lines[-1][len("fizeau: "):] if lines else ""

    def stop(self):
        """Returns the path of the recording, or None if there was nothing to record. Does nothing in a
        process forked meanwhile: the recording is its parent's."""
        if not self.active():
            return None
        try:
            self.ask("quit")
        except Error:
            pass  # it has ended by itself (--duration, a full disk, a signal): finish() reports it
        return self.finish()

    def finish(self):
        status = self.process.wait()
        said = self.words()
        self.clean_up()
        if status:
            raise Error(said or f"fizeau ended with status {status}")
        self.path = self.wanted or (said[len("recorded to "):] if said.startswith("recorded to ") else None)
        if self.path and not os.path.exists(self.path):
            self.path = None
        if not self.quiet:
            print(f"fizeau: recorded to {self.path}" if self.path else f"fizeau: {said}", file=sys.stderr)
        return self.path

    def remove_folder(self):
        import shutil
        shutil.rmtree(self.folder, ignore_errors=True)

    def clean_up(self):
        import contextlib
        if self.process:
            self.tracers.discard(self.process.pid)
            allow_tracing(self.tracers)
        for thing in ("lines", "client", "said"):
            if thing in self.__dict__:
                with contextlib.suppress(OSError):
                    self.__dict__.pop(thing).close()
        self.remove_folder()
        self.process = None


current = None


def start(path=None, **options):
    """Start a recording, which stop() ends; takes the arguments of record."""
    global current
    if current and current.active():
        raise Error("a recording is already running; fizeau.stop() ends it")
    current = record(path, **options).start()
    return current


def stop():
    """End what start() began; returns the path of the recording."""
    global current
    if not current:
        raise Error("no recording was started")
    ending, current = current, None
    return ending.stop()


def load_ipython_extension(shell):
    """%load_ext fizeau"""
    from fizeau import notebook
    shell.register_magics(notebook.Fizeau)
