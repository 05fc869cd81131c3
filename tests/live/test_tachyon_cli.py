#!/usr/bin/env python3
"""CPython's profiler's command lines work when `python -m profiling.sampling` becomes `fizeau`.

Every option in its short and its long form, each with every command that has it, and all examples
of its help texts. Every one must be accepted and do its work: exit 0 and the file that CPython's
would have made."""

import collections
import contextlib
import itertools
import marshal
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from livelib import FIZEAU, FORKY, Suite, Target, Wrong, find_interpreter, fizeau, forky_command
from watching import LASTING, wait_for_samples

suite = Suite()

SCRIPT = """\
import sys, time
def leaf():
    s = 0
    for i in range(2000): s += i
end = time.time() + float(sys.argv[1] if len(sys.argv) > 1 else 0.25)
while time.time() < end: leaf()
"""

# Runs only as long as it takes to sample it, even where only exception handling is sampled.
SAMPLED = LASTING + """\
def leaf():
    s = 0
    for i in range(2000): s += i
try:
    raise ValueError
except ValueError:
    last(40, leaf)
"""

SAMPLING = ["-r 2khz", "-r 500", "-r 2K", "--sampling-rate 1.5kHz", "-d 1", "--duration 1", "-a",
            "--all-threads", "--realtime-stats", "--native", "--no-gc", "--blocking"]
MODES = ["--mode wall", "--mode cpu", "--mode gil", "--mode exception"]
# With what each leaves behind; {pid} is a number.
FORMATS = {
    "--pstats": None, "--collapsed": "collapsed_{pid}.txt", "--flamegraph": "flamegraph_{pid}.html",
    "--gecko": "gecko_{pid}.json", "--heatmap": "heatmap_{pid}", "--jsonl": "jsonl_{pid}.jsonl",
    "--diff-flamegraph base.bin": "diff_flamegraph_{pid}.html", "--binary": "binary_{pid}.bin",
}
OPCODES = ["--opcodes --flamegraph", "--opcodes --gecko", "--opcodes --heatmap",
           "--opcodes --binary"]
BINARY = ["--binary --compression auto", "--binary --compression zstd",
          "--binary --compression none"]
PSTATS = [f"--sort {key}" for key in ("nsamples", "tottime", "cumtime", "sample-pct", "cumul-pct",
                                      "nsamples-cumul", "name")] + \
    ["-l 5", "--limit 5", "--no-summary", "--pstats --sort tottime -l 3 --no-summary"]
OUTPUTS = ["-o x.prof", "--collapsed -o x.txt", "--output x.html --flamegraph",
           "--gecko -o x.json", "--heatmap -o pages", "--jsonl -o x.jsonl"]
ASYNC = ["--async-aware", "--async-aware --async-mode running", "--async-aware --async-mode all"]
DUMP = ["", "-a", "--all-threads", "--native", "--no-gc", "--opcodes", "--blocking",
        "--async-aware", "--async-aware --async-mode running", "--async-aware --async-mode all"]

RUN = [*SAMPLING, *MODES, *FORMATS, *OPCODES, *BINARY, *PSTATS, *OUTPUTS, *ASYNC, "--subprocesses",
       "--subprocesses -a --collapsed", "--binary -o y.bin"]
# Its replay takes options of tables with everything.
REPLAY = [*(f for f in FORMATS if f != "--binary"), *PSTATS, *OUTPUTS, "--flamegraph --sort name",
          "--gecko -l 3", "--diff-flamegraph base.bin --no-summary", ""]

# Of its help texts.
EXAMPLES = """\
run script.py arg1 arg2
attach 1234
dump 1234
run --live script.py
attach --live 1234
run -m mymodule arg1 arg2
run --flamegraph -o output.html script.py
run -r 5khz -d 30 script.py
run --collapsed -o stacks.txt script.py
attach -a --sort tottime 1234
dump -a 1234
replay --flamegraph -o output.html profile.bin
replay profile.bin
replay --gecko -o profile.json profile.bin
"""


class Place:
    """A folder with a script, a module and a baseline; and a process to attach to."""

    def __init__(self, script=SCRIPT.replace("float(sys.argv[1] if len(sys.argv) > 1 else 0.25)", "0.25")):
        self.folder = tempfile.TemporaryDirectory(prefix="fz-")
        self.path = pathlib.Path(self.folder.name)
        (self.path / "script.py").write_text(script)
        (self.path / "mymodule.py").write_text((self.path / "script.py").read_text())
        (self.path / "long.py").write_text('print("up", flush=True)\n' + SCRIPT)
        self.process = None

    def __enter__(self):
        for name in ("base.bin", "profile.bin"):
            done = fizeau("run", "--binary", "-o", name, "script.py", cwd=self.path)
            assert done.returncode == 0, done
        return self

    def __exit__(self, *_):
        self.end()
        self.folder.cleanup()

    def begin(self, seconds):
        self.end()
        self.process = subprocess.Popen(["/usr/bin/python3", "long.py", str(seconds)],
                                        cwd=self.path, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"up\n"
        return self.process.pid

    def end(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()

    def made(self, before):
        return {p.name for p in self.path.iterdir()} - before - {".fizeau"}


def tried(place, line, expected=None, terminal=False, timeout=60):
    """Run one command line; returns "" or the defect."""
    before = {p.name for p in place.path.iterdir()}
    words = [FIZEAU, *line.split()]
    if terminal:
        words = ["script", "-qec", " ".join(words), "/dev/null"]
    done = subprocess.run(words, cwd=place.path, capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"},
                          stdin=subprocess.DEVNULL)
    new = place.made(before)
    for name in new:
        shutil.rmtree(place.path / name) if (place.path / name).is_dir() else \
            (place.path / name).unlink()
    if "--async-aware requires Python 3.11 or later" in done.stderr and "--async-aware" in line:
        return ""  # taken, and the interpreter at hand is too old for it
    if done.returncode:
        return f"{line}: exit {done.returncode}: {(done.stderr or done.stdout)[-200:]}"
    if expected:
        pattern = re.escape(expected).replace(r"\{pid\}", r"\d+")
        if not any(re.fullmatch(pattern, name) for name in new):
            return f"{line}: no file like {expected}, but {sorted(new)}"
    return ""


def report(wrong, count):
    assert not wrong, "\n".join(wrong)
    return f"{count} command lines"


@suite.test("run: every option in every form")
def run_options():
    with Place(SAMPLED) as place:
        # Those with a length end by it, sampled or not.
        options = [o for o in RUN if "-d" not in o.split() and "--duration" not in o]
        wrong = [tried(place, f"run {o} script.py", FORMATS.get(o)) for o in options]
        return report(list(filter(None, wrong)), len(options))


@suite.test("attach: an output of each kind is written when the program is over")
def attach_outputs():
    with Place(SAMPLED) as place:
        for options in ("--collapsed", "--flamegraph", "--binary", "--pstats -o x.prof", "-a --gecko"):
            pid = place.begin(200)
            with subprocess.Popen([FIZEAU, "attach", *options.split(), str(pid)], cwd=place.path, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recorder:
                wait_for_samples(pid, 100, recorder)
                place.end()
                out, said = recorder.communicate(timeout=100)
            assert recorder.returncode == 0, (options, out, said)
            name = (FORMATS.get(options) or {"-a --gecko": "gecko_{pid}.json"}.get(options, "x.prof")).format(pid=pid)
            assert (place.path / name).stat().st_size, (options, out, said)
            if name.endswith((".txt", ".bin")):
                stacks = fizeau("replay", place.path / name, "--collapsed", "-o", "-").stdout
                assert ":leaf:" in stacks, (options, stacks)


@suite.test("run: every option in every form, of a program that ends by the clock")
def run_lengths():
    with Place() as place:
        wrong = [tried(place, f"run {o} script.py", FORMATS.get(o)) for o in RUN]
        return report(list(filter(None, wrong)), len(RUN))


@suite.test("attach: every option in every form")
def attach_options():
    with Place() as place:
        wrong = []
        pid = place.begin(200)
        for options in RUN:
            length = "" if "-d" in options.split() or "--duration" in options else "-d 0.3"
            wrong.append(tried(place, f"attach {options} {length} {pid}", FORMATS.get(options)))
        return report(list(filter(None, wrong)), len(RUN))


@suite.test("dump: every option in every form")
def dump_options():
    with Place(SAMPLED) as place:
        pid = place.begin(600)
        wrong = [tried(place, f"dump {o} {pid}") for o in DUMP]
        return report(list(filter(None, wrong)), len(DUMP))


@suite.test("replay: every option in every form")
def replay_options():
    with Place(SAMPLED) as place:
        wrong = [tried(place, f"replay {o} profile.bin", FORMATS.get(o)) for o in REPLAY]
        return report(list(filter(None, wrong)), len(REPLAY))


@suite.test("every example of its help texts")
def examples():
    with Place() as place:
        wrong = []
        for line in EXAMPLES.splitlines():
            command = line.split()[0]
            if command in ("attach", "dump"):
                line = line.replace("1234", str(place.begin(1)))
            wrong.append(tried(place, line, terminal="--live" in line))
        return report(list(filter(None, wrong)), len(EXAMPLES.splitlines()))


@suite.test("its help texts of today hold nothing that is not tried here")
def complete():
    command = forky_command("python3.15")
    known = set(re.findall(r"(?<!\w)--?[a-z][\w-]*", " ".join([*RUN, *REPLAY, *DUMP, EXAMPLES])))
    known |= {"-h", "--help", "--module", "--browser"}
    for name in ("run", "attach", "dump", "replay"):
        text = subprocess.run([*command, "-m", "profiling.sampling", name, "--help"],
                              capture_output=True, text=True, timeout=60,
                              env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "COLUMNS": "300"}).stdout
        options = set(re.findall(r"^ +(-\w)\b|(?<![\w-])(--[a-z][\w-]+)", text, re.M))
        options = {o for pair in options for o in pair if o}
        assert len(options) > 5, text
        assert options <= known, (name, options - known)
        for line in re.findall(r"python -m profiling\.sampling ([a-z].*?)`?$", text, re.M):
            assert line in EXAMPLES.splitlines(), line


# ---- the same line, both ----

# Says its arguments; without any it works for a while.
SAYS = """\
import sys, time
def leaf():
    s = 0
    for i in range(2000): s += i
print(*sys.argv[1:], sep="|", flush=True)
end = time.time() + (0.05 if sys.argv[1:] else 0.25)
while time.time() < end: leaf()
"""


@contextlib.contextmanager
def both(line, rate=None, **more):
    """Run the line with CPython's profiler and with ours, each in a folder of its own with script.py,
    mymodule.py and the files of `more` (name_suffix=bytes). `rate` stands for the word RATE. Yields
    what came of each: there, here."""
    command = forky_command("sh", "-c", 'cd "$0" && exec python3.15 -m profiling.sampling "$@"')
    with tempfile.TemporaryDirectory(prefix="fz-", dir=FORKY / "tmp") as folder:
        done = []
        for name in ("there", "here"):
            path = pathlib.Path(folder, name)
            path.mkdir()
            for file in ("script.py", "mymodule.py"):
                (path / file).write_text(SAYS)
            for file, content in more.items():
                (path / file.replace("_", ".")).write_bytes(content)
            before = set(path.iterdir())
            words = [*command, "/" + str(path.relative_to(FORKY))] if name == "there" else [FIZEAU]
            words += [rate if word == "RATE" else word for word in line.split()]
            run = subprocess.run(words, cwd=path, capture_output=True, text=True, timeout=60,
                                 stdin=subprocess.DEVNULL,
                                 env={**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "BROWSER": "false"})
            run.path, run.made = path, {p.name for p in set(path.iterdir()) - before} - {".fizeau", "__pycache__"}
            if "Sanitizer" in run.stderr:
                raise Wrong(run)
            done.append(run)
        yield done


def recording(*options):
    """What fizeau records with --binary."""
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        pathlib.Path(folder, "script.py").write_text(SAMPLED)
        done = fizeau("run", "--binary", "-o", "x.bin", *options, "script.py", cwd=folder)
        assert done.returncode == 0, done
        return pathlib.Path(folder, "x.bin").read_bytes()


# What the script is given, as CPython 3.15.0 does.
DASHES = {"run script.py -- -v": "-v", "run -m mymodule -- -v": "-v", "run -- script.py -v": "-v",
          "run -m -- mymodule -v": "-v", "run script.py -- -- -v": "--|-v", "run script.py -v -- x": "-v|--|x",
          "run -- script.py -- -v": "--|-v", "run script.py x --": "x|--"}
WRONG = ["run", "run --nonsense script.py", "run -r 0 script.py", "run -d x script.py", "run --mode sun script.py",
         "run --collapsed --gecko script.py", "run --collapsed --sort name script.py", "attach", "attach x",
         "dump", "replay", "replay --nonsense", "nonsense", "run --async-mode all script.py"]


@suite.test("kept: the two dashes of a line are theirs or the script's, wrong usage has its exit status")
def kept_lines():
    with Place('import sys\nprint(*sys.argv[1:], sep="|", flush=True)\n' + SAMPLED) as place:
        shutil.copy(place.path / "script.py", place.path / "mymodule.py")
        for line, given in DASHES.items():
            done = fizeau(*line.split(), cwd=place.path, stdin=subprocess.DEVNULL)
            assert done.returncode == 0 and done.stdout.splitlines()[0] == given, (line, done)
        for line in WRONG:
            done = fizeau(*line.split(), cwd=place.path, stdin=subprocess.DEVNULL)
            assert done.returncode == 2 and done.stderr.startswith("fizeau: "), (line, done)
    return report([], len(DASHES) + len(WRONG))


@suite.test("the two dashes of a line are theirs or the script's as there")
def dashes():
    for line, given in DASHES.items():
        with both(line) as (there, here):
            assert there.stdout.splitlines()[0] == given, (line, there)
            assert here.stdout.splitlines()[0] == given, (line, there, here)
            assert here.returncode == there.returncode == 0, (line, there, here)
    return report([], len(DASHES))


@suite.test("wrong usage has the exit status of there")
def usage():
    for line in WRONG:
        with both(line) as (there, here):
            assert there.returncode == 2, (line, there)
            assert here.returncode == 2 and here.stderr.startswith("fizeau: "), (line, here)
    return report([], len(WRONG))


@suite.test("Tachyon's options without an effect are accepted")
def idle_options():
    lines = ["run -d 0 script.py", "run -l 0 script.py", "run --pstats -l 0 script.py", "replay -l 0 profile.bin",
             "run --compression none --collapsed script.py", "run --compression zstd script.py",
             "run --async-mode running script.py"]
    profile = recording()
    for line in lines:
        with both(line, profile_bin=profile) as (there, here):
            assert there.returncode == here.returncode == 0, (line, there, here)
            assert len(there.made) == len(here.made), (line, there.made, here.made)
    with both("run -r RATE script.py", " 500hz\t") as (there, here):
        assert there.returncode == here.returncode == 0, (there, here)
    with both("run -l 0 script.py") as (_, here):
        assert "leaf" not in here.stdout + here.stderr, here
    with both("run -d 0 script.py") as (_, here):
        assert "the duration ended" in here.stderr, here
    return report([], len(lines) + 1)


@suite.test("a file without a known suffix is written for Python's pstats")
def pstats_files():
    lines = ["run -o out script.py", "run -o out.stats script.py", "replay -o out profile.bin"]
    profile = recording()
    for line in lines:
        with both(line, profile_bin=profile) as (there, here):
            assert there.returncode == here.returncode == 0 and here.made == there.made, (line, there, here)
            for done in (there, here):
                profiled = marshal.loads((done.path / done.made.pop()).read_bytes())
                assert any(key[-1] == "leaf" for key in profiled), (done, profiled)
    with both("run -o . script.py") as (there, here):
        for done in (there, here):
            assert re.fullmatch(r"pstats_\d+\.pstats", *done.made), done.made
    return report([], len(lines) + 1)


@suite.test("the table and the figures of the sampling are on standard output as there")
def on_stdout():
    lines = ["run script.py", "run --sort tottime -l 5 script.py", "run --no-summary script.py", "run --pstats script.py",
             "run --pstats -l 5 --no-summary script.py"]
    for line in lines:
        with both(line) as (there, here):
            assert here.returncode == 0 and "leaf" in there.stdout and "leaf" in here.stdout, (line, there, here)
            for name in ("Captured", "Sample rate:", "Error rate:", "Legend:", "Summary of"):
                if "--pstats" in line:
                    assert (name in there.stdout) == (name in here.stdout), (name, line, there, here)
    for line in ("run --pstats script.py", "run --pstats -o x.prof script.py"):
        with both(line) as (there, here):
            patterns = [r"^Captured [1-9]\d* samples in \d\.\d\d seconds$", r"^Sample rate: [1-9]\d*\.\d\d samples/sec$",
                        r"^Error rate: \d+\.\d\d$"]
            for pattern, done in itertools.product(patterns, (there, here)):
                assert re.search(pattern, done.stdout, re.M), (pattern, done)
    return report([], len(lines) + 2)


@suite.test("a page is written even if no browser can show it")
def browsers():
    for line in ("run --browser script.py", "run --collapsed --browser script.py", "run --flamegraph --browser script.py"):
        with both(line) as (there, here):
            assert there.returncode == here.returncode == 0, (line, there, here)
            assert len(there.made) == len(here.made) and "browser" in here.stderr, (line, there.made, here)
    return report([], 3)


@suite.test("a baseline that was recorded otherwise is compared, with a warning")
def other_baseline():
    with Place(SAMPLED) as place:
        for options in ("-a --native --opcodes", "--mode cpu", ""):
            base = place.path / "other.bin"
            base.write_bytes(recording(*options.split()))
            line = "run --diff-flamegraph other.bin --format text --verbose script.py"
            done = fizeau(*line.split(), cwd=place.path)
            assert done.returncode == 0, done
            assert ("other.bin: the recordings will differ in" in done.stderr) == bool(options), done
            assert ("Warning: the recordings differ in" in done.stdout) == bool(options), done
        done = fizeau("run", "--diff-flamegraph", "other.bin", "--force", "--mode", "cpu", "script.py", cwd=place.path)
        assert done.returncode == 0 and "will differ" not in done.stderr, done
        # Without a recording to lose, a difference is an error.
        done = fizeau("run", "--mode", "cpu", "--binary", "-o", "cpu.bin", "script.py", cwd=place.path)
        done = fizeau("replay", "--diff-flamegraph", "other.bin", "cpu.bin", cwd=place.path)
        assert done.returncode == 2 and "use --force" in done.stderr, done


@suite.test("a baseline whose stacks its file cut is said to be cut")
def cut_baseline():
    for depth, cut in ((400, True), (100, False)):
        with tempfile.TemporaryDirectory(prefix="fz-") as folder:
            stack = ["script.py:<module>:1"] + ["script.py:down:2"] * depth + ["script.py:leaf:3"]
            pathlib.Path(folder, "base.txt").write_text(";".join(stack) + " 100\n")
            pathlib.Path(folder, "script.py").write_text(SAMPLED)
            fizeau("replay", "--binary", "-o", "base.bin", "base.txt", cwd=folder)
            done = fizeau("run", "--diff-flamegraph", "base.bin", "--format", "text", "--verbose", "script.py", cwd=folder)
            assert done.returncode == 0, done
            said = " ".join(done.stdout.split())
            assert ("the stacks of the base are truncated" in said) == cut, (depth, done)


# Two threads in a function that C calls.
CALLED = """\
import threading, time
def key(x):
    time.sleep(0.002)
    return x
def work():
    while True: sorted([3, 2, 1], key=key)
threading.Thread(target=work, daemon=True).start()
print("up", flush=True)
work()
"""


@suite.test("--native marks C code where CPython's profiler does, the root included")
def native():
    python = find_interpreter("forky-3.15")
    with Target(python, CALLED) as target:
        out = pathlib.Path(target.folder.name, "there.txt")
        there = subprocess.run([*python.command, "-m", "profiling.sampling", "attach", "--native", "-a", "-d", "1",
                                "--collapsed", "-o", python.path(out), str(target.pid)], capture_output=True, text=True,
                               env={**os.environ, "LC_ALL": "C.UTF-8"}, timeout=60)
        assert there.returncode == 0, there
        done = fizeau("attach", "--native", "-a", "-d", "1", "--collapsed", "-o", out.with_name("here.txt"), target.pid)
        assert done.returncode == 0, done
        hottest = []
        for name in ("there.txt", "here.txt"):
            counts = collections.Counter()
            for line in out.with_name(name).read_text().splitlines():
                stack, _, count = line.rpartition(" ")
                counts[re.sub(r":\d+(?=;|$)", "", stack)] += int(count)
            hottest.append({stack for stack, _ in counts.most_common(2)})
        assert hottest[0] == hottest[1] and all(";<native>;" in stack for stack in hottest[0]), hottest


if __name__ == "__main__":
    suite.main()
