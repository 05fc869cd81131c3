"""Helpers of the live tests: TAP output, interpreters to test on, the binary under test.

A live test is tests/live/test_NAME.py: it prints TAP ("ok 1 - name", "not ok 2 - name", "ok 3 - name # SKIP
reason"), ends with the plan line, and exits with 1 if anything failed. It can be run from anywhere; FIZEAU names
the binary (default: build/fizeau).
"""

import contextlib
import fcntl
import fnmatch
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FIZEAU = os.environ.get("FIZEAU", str(SOURCE / "build" / "fizeau"))
SHARED = pathlib.Path(os.environ.get("FZ_SHARED", SOURCE.parent / "shared"))
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "fizeau"
# Debian's other releases, by tests/roots.
ROOTS = {"bullseye": CACHE / "roots" / "bullseye",
         "forky": pathlib.Path(os.environ.get("FIZEAU_FORKY", CACHE / "roots" / "forky"))}
FORKY = ROOTS["forky"]

# The binary is built with sanitizers: its results are valid, but it is too slow for claims that depend on speed.
SANITIZED = "FZ_SANITIZED" in os.environ
# If the machine sets these, counting reports them, and tests that expect a single line fail.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS"):
    os.environ.pop(variable, None)
# The leak check fails in a program that is traced or that may not use ptrace.
QUIET = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


class Skip(Exception):
    """Raised by a test that cannot run here; the text is the reason."""


class Attention:
    """Share of the machine used by other processes since this was created: CPU time of all processors (/proc/stat,
    including steal time), less that of this process and its descendants."""

    def __init__(self):
        self.began, self.busy, self.own = time.monotonic(), self.busy_now(), self.own_now()

    @staticmethod
    def busy_now():
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _idle, _wait, irq, softirq, stolen = map(int, file.readline().split()[1:9])
        return (user + nice + system + irq + softirq + stolen) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def own_now():
        parents, used = {}, {}
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                words = stat.read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue  # it ended
            pid = int(stat.parent.name)
            parents[pid] = int(words[1])
            used[pid] = sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
        return sum(seconds for pid, seconds in used.items() if is_below(pid, os.getpid(), parents))

    def seconds(self):
        return time.monotonic() - self.began

    def of_others(self):
        """0 to 1: fraction of the time of all processors."""
        taken = self.busy_now() - self.busy - (self.own_now() - self.own)
        return max(0, taken) / max(self.seconds() * os.cpu_count(), 1e-3)


def is_below(pid, ancestor, parents):
    while pid and pid != ancestor:
        pid = parents.get(pid, 0)
    return pid == ancestor


# The table of all live tests has the lane of each case. FZ_LANE names the lanes to run ("check,timed"); without it all
# cases run, and all are part of the gate.
LANES = ("check", "timed", "world")
WANTED = [lane for lane in os.environ.get("FZ_LANE", "").split(",") if lane]
REPORTS = any(lane != "check" for lane in WANTED)
TABLE = pathlib.Path(__file__).with_name("lanes.tsv")
# Interpreters that Debian stable lacks; cases that record one are in lane world.
MOVING = re.compile(r"\b(pyenv|bullseye|forky|free)-3\.\d+")


def rows(file):
    """The rows of the table for a test file: (pattern of case names, lane)."""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, pattern, lane = line.split("\t")[:3]
            if name == file:
                assert lane in LANES, f"{TABLE.name}: no lane is called {lane!r}"
                yield pattern, lane


def lane_of(table, case):
    """The lane of a case: that of the last matching row; a case without a row is in lane timed."""
    if MOVING.search(case):
        return "world"
    return next((lane for pattern, lane in reversed(table) if fnmatch.fnmatchcase(case, pattern)), "timed")


# Exit statuses that are never the machine's fault: a sanitizer, an assertion or the kernel ended the program.
BROKEN = [-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE, 99]
BROKEN_SAY = ["Sanitizer", "runtime error: "] + [f"returncode={status}," for status in BROKEN]
broken = []


class Wrong(AssertionError):
    """A wrong result that a busy machine cannot explain."""


class Suite:
    """Collects tests with @suite.test("name") and runs them in order, each once.

    If FZ_LANE names a lane that only reports, a failed claim is printed as TAP's TODO with its figure and is not
    a failure; an impossible result (Wrong, a crash, a sanitizer's report) fails in every lane."""

    def __init__(self):
        self.tests, self.first = [], []
        self.running = None  # name of the test

    def test(self, name, first=False):
        """first=True: runs before the other cases, which need its results."""
        def register(function):
            self.tests.append((name, function))
            if first:
                self.first.append(name)
            return function
        return register

    def add(self, name, function, *args):
        self.tests.append((name, lambda: function(*args)))

    def run(self, number, name, function):
        attention = Attention()
        broken.clear()
        self.running = name
        try:
            note = function()
            print(f"ok {number} - {name}" + (f" # {note}" if note else ""), flush=True)
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}", flush=True)
        except Exception as error:  # a failing test must not hide the others
            said = traceback.format_exc()
            others = f"others had {100 * attention.of_others():.0f} % of the machine"
            if REPORTS and not is_impossible(error, said):
                last = (str(error).splitlines() or [type(error).__name__])[0]
                print(f"not ok {number} - {name} # TODO missed: {last[:200]} ({others})", flush=True)
                failed = False
            else:
                print(f"not ok {number} - {name}", flush=True)
                failed = True
            print(f"# {others}", flush=True)
            for line in said.splitlines():
                print(f"# {line}", flush=True)
            return not failed
        return True

    def main(self):
        words = sys.argv[1:]
        table = [*rows(pathlib.Path(sys.argv[0]).stem)]
        if words == ["--lanes"]:
            for name, _ in self.tests:
                print(f"{lane_of(table, name)}\t{name}")
            return
        wanted = [test for test in self.tests if not words or any(is_named(test[0], word) for word in words)]
        for word in words:
            if not any(is_named(test[0], word) for test in self.tests):
                sys.exit(f"Bail out! no test has {word!r} in its name")
        wanted = [test for test in wanted if not WANTED or lane_of(table, test[0]) in WANTED]
        for name, function in self.tests if wanted else []:
            if name in self.first and all(name != test[0] for test in wanted):
                with contextlib.suppress(Skip):
                    function()
        failed = sum(not self.run(i + 1, *test) for i, test in enumerate(wanted))
        print(f"1..{len(wanted)}", flush=True)
        sys.exit(1 if failed else 0)


def is_named(name, word):
    """"=NAME" matches a whole name, anything else a part of one."""
    return name == word[1:] if word.startswith("=") else word in name


def is_impossible(error, said):
    """Does it fail even on a busy machine? True for a wrong result or a crash."""
    return isinstance(error, Wrong) or bool(broken) or any(word in said for word in BROKEN_SAY)


def with_pip(scratch):
    """An interpreter with pip: this one, or one in a virtual environment, since Debian's python3 has none."""
    if subprocess.run([sys.executable, "-c", "import pip"], capture_output=True, check=False).returncode == 0:
        return sys.executable
    made = subprocess.run([sys.executable, "-m", "venv", scratch], capture_output=True, text=True, check=False)
    if made.returncode:
        raise Skip("there is no pip (Debian: python3-venv)")
    return pathlib.Path(scratch, "bin", "python")


def fetched_package(requirement, of=""):
    """The folder of a PyPI package "name==1.0", without its dependencies; downloaded on first use. `of` separates
    folders of different purposes, such as versions of Python."""
    place = CACHE / (requirement.replace("==", "-") + of)
    if place.is_dir():
        return place
    partial = place.with_name(f"{place.name}.{os.getpid()}")
    with tempfile.TemporaryDirectory(prefix="fz-pip-") as scratch:
        pip = subprocess.run([with_pip(scratch), "-m", "pip", "install", "-q", "--no-deps", "--target", partial, requirement],
                             capture_output=True, text=True, timeout=600, check=False)
    if pip.returncode:
        shutil.rmtree(partial, ignore_errors=True)
        why = (pip.stderr.strip().splitlines() or ["no word"])[-1]
        raise Skip(f"{requirement} cannot be had from PyPI here: {why}")
    with contextlib.suppress(OSError):  # another process was faster
        partial.rename(place)
    shutil.rmtree(partial, ignore_errors=True)
    return place


class Interpreter:
    """A CPython to test on; `command` starts it (with chroot for one in another root)."""

    def __init__(self, name, command, root="/"):
        self.name = name
        self.command = command
        self.root = pathlib.Path(root)

    def __repr__(self):
        return self.name

    @property
    def version(self):
        """(3, 15) for the name "forky-3.15" or "free-3.15t"."""
        words = self.name.split("-")[-1].rstrip("t").split(".")
        return tuple(int(part) for part in words[:2])

    def path(self, file):
        """Path, for the interpreter, of a file made by scratch() below."""
        return "/" + str(pathlib.Path(file).relative_to(self.root)) if str(self.root) != "/" else str(file)

    def scratch(self):
        """A fresh folder that both the test and the interpreter can reach."""
        return tempfile.TemporaryDirectory(prefix="fz-", dir=self.root / "tmp")


class Target:
    """A running program that has printed "up"; it ends with the block.

    With a folder of its own, that others can look into as well; `script` is where it is and `path`
    what the interpreter calls it. Options are subprocess.Popen's."""

    def __init__(self, python, code, *words, name="target.py", **options):
        self.folder = python.scratch()
        os.chmod(self.folder.name, 0o755)
        self.script = pathlib.Path(self.folder.name, name)
        self.script.write_text(code, encoding="utf-8")
        self.path = python.path(self.script)
        self.process = subprocess.Popen([*python.command, self.path, *map(str, words)],
                                        stdout=subprocess.PIPE, text=True, **options)
        line = self.process.stdout.readline()
        assert line == "up\n", f"the program said {line!r}"
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        self.folder.cleanup()


# Tasks that take turns; one of them works three times as long as each of the others.
TASKS = """\
import asyncio
def burn(n):
    for i in range(n):
        pass
async def light():
    while True:
        burn(20_000)
        await asyncio.sleep(0)
async def heavy():
    while True:
        burn(60_000)
        await asyncio.sleep(0)
async def main():
    print("up", flush=True)
    async with asyncio.TaskGroup() as group:
        for i in range(3):
            group.create_task(light(), name=f"light {i}")
        group.create_task(heavy())
asyncio.run(main())
"""

# Interpreters that CONTRIBUTING promises to test on; a missing one is reported as a skipped test of this name.
EXPECTED = ["pyenv-3.8", "bullseye-3.9", "pyenv-3.10", "pyenv-3.11", "pyenv-3.12", "pyenv-3.13",
            "debian-3.11", "forky-3.13", "forky-3.14", "forky-3.15"]


def free_threaded():
    """Free-threaded builds on this machine, by name. None is required, since no distribution named in CONTRIBUTING
    packages one; if one was built, it is tested, too."""
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    found = {}
    for folder in [*pyenv.glob("versions/3.*t"), *CACHE.glob("pythons/3.*t")]:
        minor = ".".join(folder.name.rstrip("t").split(".")[:2])
        path = folder / "bin" / f"python{minor}t"
        if os.access(path, os.X_OK):
            found[f"free-{minor}t"] = str(path)
    return found


def free_port():
    """A free port of the local address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def npm_packages(folder, *needed):
    """Installs the packages of a folder's package-lock.json, unless all those needed (patterns of names) are
    there."""
    if not shutil.which("npm"):
        raise Skip("npm is not installed")
    # Several jobs of tests/run may get here at once.
    with open(folder / "package.json", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if all([*(folder / "node_modules").glob(name)] for name in needed):
            return
        done = subprocess.run(["npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"],
                              cwd=folder, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise Skip(f"npm could not install the packages: {done.stderr.strip()[:200]!r}")


def npm_node(folder):
    """The node that npm installed in a folder, because the machine's may be too old for the packages."""
    found = [*folder.glob("node_modules/node-linux-*/bin/node")]
    if not found:
        raise Skip(f"npm has no node for {os.uname().machine}")
    return found[0]


def find_interpreter(name):
    """The interpreter of that name, or Skip with the reason."""
    kind, minor = name.split("-")
    if kind == "free":
        return Interpreter(name, [free_threaded()[name]])
    if kind == "debian":
        path = f"/usr/bin/python{minor}"
        if not os.access(path, os.X_OK):
            raise Skip(f"{path} is not installed")
        return Interpreter(name, [path])
    if kind == "pyenv":
        root = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
        for folder in sorted(root.glob(f"versions/{minor}.*")):
            path = folder / "bin" / "python3"
            if os.access(path, os.X_OK):
                return Interpreter(name, [str(path)])
        raise Skip(f"no pyenv build of {minor} on this machine")
    return Interpreter(name, root_command(kind, f"python{minor}"), ROOTS[kind])


# Enters a root by exec alone, so the process keeps its pid. /proc is mounted there once and stays mounted. A mount
# namespace for each process would hide its files from tools of the others.
ENTER = """PATH=$PATH:/usr/sbin:/sbin
[ -e "$0/proc/self" ] || mount -t proc proc "$0/proc" || exit 125
exec chroot "$0" "$@"
"""


def root_command(suite, *command):
    """A command inside the root of a Debian suite, or Skip."""
    if not (ROOTS[suite] / "usr/bin" / command[0]).exists():
        raise Skip(f"the Debian {suite} root has no {command[0]} (tests/roots makes it)")
    if os.geteuid() != 0:
        raise Skip(f"entering the Debian {suite} root needs root")
    return ["sh", "-c", ENTER, str(ROOTS[suite]), *command]


def forky_command(*command):
    return root_command("forky", *command)


def wait_until(condition, what="it", seconds=120):
    """Return the result of condition() as soon as it is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} never happened"
        time.sleep(0.02)
    return found


def fizeau(*args, **options):
    """Run the binary under test; returns a CompletedProcess with text output."""
    options.setdefault("capture_output", True)
    options.setdefault("text", True)
    options.setdefault("timeout", 300)
    done = subprocess.run([FIZEAU, *map(str, args)], **options)
    if done.returncode in BROKEN or "Sanitizer" in str(done.stderr):
        broken.append(done)
    return done


def counts_of(changed, family):
    """"1 slower, 0 faster, 2 new": a comparison's count of functions that certainly changed, from its JSON."""
    both = [f["diff_" + family] > 0 for f in changed if f["state"] == "common"]
    found = [f"{sum(both):,} slower", f"{len(both) - sum(both):,} faster"]
    for state, either in ("new", "new or newly recorded"), ("removed", "gone or no longer recorded"):
        words = [f["word"] for f in changed if f["state"] == state]
        if words:
            found.append(f"{len(words):,} {words[0] if len(set(words)) == 1 else either}")
    return ", ".join(found)
