"""What the live tests share: TAP output, interpreters to test on, the binary under test.

A live test is tests/live/test_NAME.py: it prints TAP ("ok 1 - name", "not ok 2 - name",
"ok 3 - name # SKIP reason"), ends with the plan line, and exits 1 when anything failed.
It is run from anywhere with FIZEAU naming the binary (default: build/fizeau).
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import traceback

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FIZEAU = os.environ.get("FIZEAU", str(SOURCE / "build" / "fizeau"))
SHARED = pathlib.Path(os.environ.get("FZ_SHARED", SOURCE.parent / "shared"))
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "fizeau"
FORKY = pathlib.Path(os.environ.get("FIZEAU_FORKY", CACHE / "roots" / "forky"))

# The binary is built with sanitizers: right, but too slow to judge what depends on its speed.
SANITIZED = "FZ_SANITIZED" in os.environ


class Skip(Exception):
    """Raised by a test that cannot run here; the text is the reason."""


class Suite:
    """Collects tests with @suite.test("name") and runs them in order."""

    def __init__(self):
        self.tests = []

    def test(self, name):
        def register(function):
            self.tests.append((name, function))
            return function
        return register

    def add(self, name, function, *args):
        self.tests.append((name, lambda: function(*args)))

    def run(self, number, name, function):
        """Run one test. Real programs on a shared machine can be kept from running for as long as
        a test watches them: what fails is tried once more and must then pass; the line says so."""
        first = ""
        for last in (False, True):
            try:
                notes = [note for note in (function(), first) if note]
                print(f"ok {number} - {name}" + (f" # {'; '.join(notes)}" if notes else ""),
                      flush=True)
                return True
            except Skip as reason:
                print(f"ok {number} - {name} # SKIP {reason}", flush=True)
                return True
            except Exception as error:  # a failing test must not hide the others
                first = f"failed at first: {str(error)[:200]!r}"
                if last:
                    print(f"not ok {number} - {name}", flush=True)
                    for line in traceback.format_exc().splitlines():
                        print(f"# {line}", flush=True)
        return False

    def main(self):
        failed = 0
        wanted = sys.argv[1:]
        number = 0
        for name, function in self.tests:
            if wanted and not any(word in name for word in wanted):
                continue
            number += 1
            failed += not self.run(number, name, function)
        print(f"1..{number}", flush=True)
        sys.exit(1 if failed else 0)


class Interpreter:
    """A CPython to test on; `command` is what starts it (a chroot for the forky root)."""

    def __init__(self, name, command, root="/"):
        self.name = name
        self.command = command
        self.root = pathlib.Path(root)

    def __repr__(self):
        return self.name

    @property
    def version(self):
        """(3, 15) of the name "forky-3.15" or "free-3.15t"."""
        words = self.name.split("-")[-1].rstrip("t").split(".")
        return tuple(int(part) for part in words[:2])

    def path(self, file):
        """How the interpreter sees a file made by scratch() below."""
        return "/" + str(pathlib.Path(file).relative_to(self.root)) if str(self.root) != "/" else str(file)

    def scratch(self):
        """A fresh folder that both the test and the interpreter can reach."""
        return tempfile.TemporaryDirectory(prefix="fz-", dir=self.root / "tmp")


class Target:
    """A program under an interpreter, which has said "up"; it ends with the block.

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

# What CONTRIBUTING promises to test on; one that is absent is a skipped test by this name.
EXPECTED = ["pyenv-3.8", "pyenv-3.9", "pyenv-3.10", "pyenv-3.11", "pyenv-3.12", "pyenv-3.13",
            "debian-3.11", "forky-3.13", "forky-3.14", "forky-3.15"]


def free_threaded():
    """Free-threaded builds on this machine, by name. No distribution that CONTRIBUTING names has a
    package of one, so none is expected: where somebody has built one, it is tested, too."""
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    found = {}
    for folder in [*pyenv.glob("versions/3.*t"), *CACHE.glob("pythons/3.*t")]:
        minor = ".".join(folder.name.rstrip("t").split(".")[:2])
        path = folder / "bin" / f"python{minor}t"
        if os.access(path, os.X_OK):
            found[f"free-{minor}t"] = str(path)
    return found


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
    return Interpreter(name, forky_command(f"python{minor}"), FORKY)


# Enter a root by exec alone: the process keeps its number. /proc is mounted there once and stays;
# a mount namespace for each process would hide their files from one another's tools.
ENTER = """PATH=$PATH:/usr/sbin:/sbin
[ -e "$0/proc/self" ] || mount -t proc proc "$0/proc" || exit 125
exec chroot "$0" "$@"
"""


def forky_command(*command):
    """A command inside the forky root, or Skip."""
    if not (FORKY / "usr/bin" / command[0]).exists():
        raise Skip(f"the Debian forky root has no {command[0]} (tests/roots makes it)")
    if os.geteuid() != 0:
        raise Skip("entering the Debian forky root needs root")
    return ["sh", "-c", ENTER, str(FORKY), *command]


def fizeau(*args, **options):
    """Run the binary under test; returns a CompletedProcess with text output."""
    options.setdefault("capture_output", True)
    options.setdefault("text", True)
    options.setdefault("timeout", 120)
    return subprocess.run([FIZEAU, *map(str, args)], **options)
