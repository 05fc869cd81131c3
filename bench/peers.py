# SPDX-License-Identifier: MIT
"""The compared tools: how each is started, and how many samples it reports.

    fizeau    the binary under test, outside; FIZEAU names it
    Tachyon   python3.15 -m profiling.sampling, in the Debian forky root that tests/roots makes
    austin    3.7 of Debian trixie (reads CPython up to 3.13), unpacked into that root
    perf      native stacks only: the price of sampling by the kernel, no Python functions
    timer     timer.c, which wakes up as often and does nothing: what no sampler can go below

Targets run in the same root, so that every tool watches the same interpreter; without the root
only fizeau is measured, on the machine's own python3.
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "live"))
import livelib  # noqa: E402  (the root, the interpreters and the hostile target are the
import test_reader  # noqa: E402  live tests' own)

from measure import Skip, run  # noqa: E402

SOURCE = livelib.SOURCE
FORKY = livelib.FORKY
FIZEAU = os.environ.get("FIZEAU") or next(
    (str(path) for path in (SOURCE / "build-bench/fizeau", SOURCE / "build/fizeau")
     if path.exists()), "fizeau")
ROOTED = os.geteuid() == 0 and (FORKY / "usr/bin/python3.15").exists()


def enter_root():
    """Start this script again where the root has /proc, in a mount namespace that ends with us."""
    if not ROOTED or os.environ.get("FZ_BENCH_INSIDE"):
        return
    os.environ["FZ_BENCH_INSIDE"] = "1"
    inside = ('mount --make-rprivate / 2>/dev/null; '
              '[ -e "$0/proc/self" ] || mount -t proc proc "$0/proc"; exec "$@"')
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", inside,
                          str(FORKY), sys.executable, *sys.argv])


class Scratch:
    """A folder that ends with the run, and the same folder as the root names it."""

    def __init__(self):
        self.outside = pathlib.Path(tempfile.mkdtemp(prefix="fz-bench-",
                                                     dir=FORKY / "tmp" if ROOTED else None))
        for target in (HERE / "targets").glob("*.py"):
            shutil.copy(target, self.outside)
        (self.outside / "hostile_target.py").write_text(test_reader.Oracle().source)
        (self.outside / "empty.py").write_text("")

    def inside(self, path):
        path = self.outside / path
        return "/" + str(path.relative_to(FORKY)) if ROOTED else str(path)

    def remove(self):
        shutil.rmtree(self.outside, ignore_errors=True)


def rooted(*command):
    """A command in the root; by exec, so that the process keeps its number."""
    if not ROOTED:
        raise Skip("no Debian forky root (tests/roots makes it, as root)")
    if not any((FORKY / folder / command[0]).exists() for folder in ("usr/bin", "usr/local/bin")):
        raise Skip(f"no {command[0]} in the Debian forky root")
    return ["chroot", str(FORKY), *command]


def python(minor="3.15"):
    """The interpreter that targets run on."""
    if ROOTED:
        return rooted(f"python{minor}")
    if minor != "3.15":
        raise Skip(f"no CPython {minor} without the Debian forky root")
    return ["python3"]


def elsewhere(name):
    """An interpreter by the live tests' name for it: debian-3.11, pyenv-3.8."""
    if name.startswith("forky-"):
        return python(name.removeprefix("forky-"))
    try:
        return livelib.find_interpreter(name).command
    except livelib.Skip as reason:
        raise Skip(str(reason)) from None


class Recording:
    """What a recorder said of one run: samples (instants), seconds, percent rejected."""

    def __init__(self, usage, path, samples, seconds, rejected=None):
        self.usage, self.path = usage, path
        self.samples, self.seconds, self.rejected = samples, seconds, rejected
        self.size = path.stat().st_size


def figure(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise Skip(f"the recorder did not say /{pattern}/: {text.strip()[-150:]}")
    return float(found[1].replace(",", ""))


class Tool:
    """A recorder. `attach` records a running process to a file and says how it went."""

    name = ""
    suffix = ""
    text_suffix = ""

    def __init__(self, scratch, *options):
        self.scratch, self.options = scratch, options

    def command(self, pid, seconds, rate, file, threads, text):
        raise NotImplementedError

    def judge(self, usage, path, seconds, threads):
        raise NotImplementedError

    def attach(self, pid, seconds=3, rate=1000, threads=1, text=False):
        """rate 0: as fast as it goes; threads: how many there are, 1 for only the main thread.
        text: to collapsed stacks with lines, not to its own format."""
        file = f"{self.name}{self.text_suffix if text else self.suffix}"
        path = self.scratch.outside / file
        path.unlink(missing_ok=True)
        usage = run(self.command(pid, seconds, rate, file, threads, text))
        if not path.exists():
            raise Skip(f"{self.name} wrote nothing: {usage.output.strip()[-150:]}")
        return self.judge(usage, path, seconds, threads)


class Fizeau(Tool):
    name = "fizeau"
    suffix = ".fz"
    text_suffix = ".folded"

    def command(self, pid, seconds, rate, file, threads, text):
        return [FIZEAU, "attach", "-d", seconds, "-r", f"{rate}hz" if rate else "max",
                "-o", self.scratch.outside / file, *(["-a"] if threads > 1 else []),
                *(["--collapsed"] if text else []), *self.options, pid]

    def judge(self, usage, path, seconds, threads):
        # It counts a sample for each thread at each instant.
        samples = figure(r"([\d,]+) samples?\b", usage.output) / threads
        return Recording(usage, path, samples, seconds)


class Kernel(Fizeau):
    """The engine in the kernel. What its ticks take there is the target's time: it counts, too."""

    name = "fizeau-kernel"
    stats = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")

    def __init__(self, scratch):
        super().__init__(scratch, "--engine", "bpf", "--mode", "cpu")

    def attach(self, *args, **options):
        try:
            before = self.stats.read_text()
            self.stats.write_text("1")
        except OSError as reason:
            raise Skip(f"its time in the kernel is not counted here: {reason}") from None
        try:
            recording = super().attach(*args, **options)
        finally:
            self.stats.write_text(before)
        said = run([FIZEAU, "show", recording.path]).output
        recording.each = figure(r"ticks, ([0-9.]+) us each", said)
        recording.usage.cpu += recording.samples * recording.each / 1e6
        return recording


class Tachyon(Tool):
    name = "Tachyon"
    suffix = ".bin"
    text_suffix = ".txt"

    def command(self, pid, seconds, rate, file, threads, text):
        return [*rooted("python3.15"), "-m", "profiling.sampling", "attach", "-d", seconds,
                "-r", f"{rate or 1000000}hz", "-o", self.scratch.inside(file),
                *(["-a"] if threads > 1 else []), "--collapsed" if text else "--binary",
                *self.options, pid]

    def judge(self, usage, path, seconds, threads):
        return Recording(usage, path, figure(r"Captured ([\d,]+) samples?", usage.output),
                         figure(r"samples? in ([\d.]+) s", usage.output),
                         figure(r"Error rate: ([\d.]+)", usage.output))


class Austin(Tool):
    """Sees every thread always; its shortest interval is 1 us."""

    name = "austin"
    suffix = ".mojo"
    text_suffix = ".austin"

    def command(self, pid, seconds, rate, file, threads, text):
        interval = round(1e6 / rate) if rate else 1
        return [*rooted("austin"), "-i", interval, "-x", seconds, *([] if text else ["-b"]),
                "-o", self.scratch.inside(file), "-p", pid]

    def judge(self, usage, path, seconds, threads):
        plain = re.sub(r"\x1b\[[\d;]*m", "", usage.output)
        found = re.search(r"Error rate : (\d+)/(\d+)", plain)
        if not found:
            raise Skip(f"austin counted nothing: {plain.strip()[-150:]}")
        failed, taken = int(found[1]), int(found[2])
        return Recording(usage, path, taken, figure(r"duration : ([\d.]+) s", plain),
                         100 * failed / max(taken, 1))


class Perf(Tool):
    """Counts time by itself and stops with its command; perf_event_paranoid may forbid it."""

    name = "perf"
    suffix = ".data"

    def command(self, pid, seconds, rate, file, threads, text):
        if not shutil.which("perf"):
            raise Skip("perf is not installed")
        return ["perf", "record", "-g", "-F", rate or "max", "-p", pid,
                "-o", self.scratch.outside / file, "--", "sleep", seconds]

    def judge(self, usage, path, seconds, threads):
        found = re.search(r"\((\d+) samples\)", usage.output)  # not said when there were none
        return Recording(usage, path, int(found[1]) if found else 0, seconds)


class Timer(Tool):
    name = "timer"

    @functools.cached_property
    def program(self):
        program = self.scratch.outside / "timer"
        run([os.environ.get("CC", "cc"), "-O2", "-o", program, HERE / "timer.c"])
        return program

    def attach(self, pid, seconds=3, rate=1000, threads=1, text=False):
        usage = run([self.program, rate, seconds])
        return Recording(usage, self.program, rate * seconds, seconds)


def fetch_austin():
    """Unpack austin of Debian trixie into the root: forky has none, for its python3 is too new."""
    if not ROOTED or (FORKY / "usr/local/bin/austin").exists():
        return
    settings = subprocess.run(["apt-config", "dump"], capture_output=True, text=True).stdout
    options = [f"-oAcquire::{name}=false" for name in ("Check-Valid-Until", "Check-Date")
               if f'Acquire::{name} "false"' in settings]
    run(["chroot", FORKY, "sh", "-c", FETCH_AUSTIN, "austin", *options], status=None)


FETCH_AUSTIN = """set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
mkdir -p lists/partial
sources=/etc/apt/sources.list
mirror=$(sed -n 's/^deb \\(\\[[^]]*\\] *\\)\\{0,1\\}\\([^ ]*\\) .*/\\2/p' $sources | head -n 1)
echo "deb $mirror trixie main" >trixie.list
apt() {
	apt-get -q -o Dir::Etc::SourceList="$folder/trixie.list" -o Dir::Etc::SourceParts=- \\
		-o Dir::State::Lists="$folder/lists" "$@"
}
apt "$@" update
apt "$@" download austin
dpkg-deb -x austin_*.deb unpacked
install unpacked/usr/bin/austin /usr/local/bin/austin
"""


@functools.cache
def versions():
    """One line a tool: what was measured."""
    fetch_austin()
    lines = []
    for name, command in (("fizeau", lambda: [FIZEAU, "--version"]),
                          ("Tachyon", lambda: [*rooted("python3.15"), "-V"]),
                          ("austin", lambda: [*rooted("austin"), "--version"]),
                          ("perf", lambda: ["perf", "--version"])):
        try:
            lines.append(f"{name}: {run(command(), status=None).output.strip().splitlines()[0]}")
        except (Skip, OSError, IndexError) as reason:
            lines.append(f"{name}: none ({reason})")
    return lines
