#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Native stacks: of C, C++, Rust and Node programs, and merged with Python's.

Programs whose stacks are known are compiled here, recorded, and every single sample is checked.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from livelib import EXPECTED, FIZEAU, Skip, Suite, Wrong, find_interpreter, fizeau, wait_until
from watching import PATIENCE, attach, rows_of, wait_for_work

suite = Suite()
HERE = pathlib.Path(__file__).resolve().parent


def build(folder, name, text, *flags, compiler="gcc"):
    """Compile a program; text may be a file."""
    suffix = {"gcc": ".c", "clang": ".c", "g++": ".cc", "rustc": ".rs"}[compiler]
    source = pathlib.Path(folder, name + suffix)
    source.write_text(text.read_text() if isinstance(text, pathlib.Path) else text)
    program = pathlib.Path(folder, name)
    subprocess.run([compiler, *flags, "-o", str(program), str(source)], check=True,
                   capture_output=True)
    return program


def record(*command, options=(), **more):
    """Run and record a program; a list of (frames, samples), outermost first, without the thread."""
    with tempfile.TemporaryDirectory() as d:
        out = pathlib.Path(d, "x.fz")
        done = fizeau("run", "-o", out, *options, "--", *command, **more)
        assert out.exists(), done
        return stacks(out), done


@contextlib.contextmanager
def running(*command, **options):
    """A program that runs until the block ends, or until another one kills it."""
    process = subprocess.Popen([*map(str, command)], **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def attach_until(process, is_enough, *options):
    """Record a program for moments until one recording is enough."""
    with tempfile.TemporaryDirectory() as d:
        out = pathlib.Path(d, "x.fz")

        def look():
            done = fizeau("attach", "-d", "0.5", *options, "-o", out, process.pid)
            assert done.returncode == 0, done
            return "nothing was recorded" not in done.stderr and is_enough(stacks(out))
        wait_until(look, "enough", PATIENCE)


def run_until(command, is_enough, *options, status=0):
    """Record what runs a program; kill all below it when it is enough."""
    with tempfile.TemporaryDirectory() as d:
        out = pathlib.Path(d, "x.fz")
        recorder = subprocess.Popen([FIZEAU, "run", "-o", out, *options, "--", *map(str, command)],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: is_enough(rows_of(out)), "enough", PATIENCE)
            below = leaves(recorder.pid)
            assert below, "it ended"
            for pid in below:
                os.kill(pid, signal.SIGTERM)
            assert recorder.wait(PATIENCE) == status, recorder.returncode
        finally:
            recorder.kill()
            recorder.wait()
        return stacks(out)


def leaves(pid):
    """Processes below one that have none below themselves."""
    found = []
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found += leaves(int(child)) or [int(child)]
    return found


def stacks(path):
    folded = fizeau("replay", "--collapsed", "-o", "-", path)
    assert folded.returncode == 0, folded.stderr
    found = []
    for line in folded.stdout.splitlines():
        text, count = line.rsplit(" ", 1)
        frames = [parts(frame) for frame in re.split(r"(?<!\\);", text)[1:]]
        found.append((frames, int(count)))
    return found


class Frame:
    def __init__(self, file, name, line):
        self.file, self.name, self.line = file, name, line

    def __repr__(self):
        return f"{self.file}:{self.name}:{self.line}"


def parts(text):
    match = re.fullmatch(r"(.*?):(.*):(\d+)", text)
    return Frame(match[1], match[2], int(match[3])) if match else Frame("", text, 0)


def names(frames):
    return [frame.name for frame in frames]


def share(found, wanted):
    """Percentage of samples whose stack is wanted."""
    total = sum(count for _, count in found)
    assert total, "no samples"
    return 100 * sum(count for frames, count in found if wanted(frames)) / total


def in_order(frames, *wanted):
    """Whether these names are in the stack in this order."""
    rest = iter(names(frames))
    return all(any(name == have for have in rest) for name in wanted)


def line_of(source, mark):
    for number, text in enumerate(source.read_text().splitlines(), 1):
        if f"LINE {mark} " in text:
            return number
    raise AssertionError(mark)


# ---- files that do not match their names ----

LIBRARY = """
volatile unsigned long sum;
static __attribute__((noinline, noclone)) void NAME(void)
{
	for (int i = 0; i < 1000; i++)
		sum += i;
	sum++;
}
void run(void)
{
	for (;;)
		NAME();
}
"""


def replaced(folder):
    """A program with a library whose functions are run and right, and such a library with wrong; they begin alike."""
    flags = "-O1", "-shared", "-fPIC", "-Wl,--build-id=none"
    right = build(folder, "right", LIBRARY, "-DNAME=right", *flags)
    wrong = build(folder, "wrong", LIBRARY, "-DNAME=wrong", *flags)
    with open(right, "rb") as one, open(wrong, "rb") as other:
        if one.read(4096) != other.read(4096):
            raise Skip("this linker writes the names of static functions into the first page")
    used = pathlib.Path(shutil.copy(right, pathlib.Path(folder, "libused.so")))
    program = build(folder, "program", "void run(void);\nint main(void) { run(); }\n",
                    "-Wl,--no-as-needed", str(used), "-Wl,-rpath," + folder)
    return program, used, wrong


def check_right(process):
    with tempfile.TemporaryDirectory() as d:
        out = pathlib.Path(d, "x.fz")
        attach(process.pid, "--native=stacks", "-o", out)
        found = {frame.name for frames, _ in stacks(out) for frame in frames}
    if "wrong" in found:
        raise Wrong(found)
    # Without the kernel's handles of files only exported functions have names.
    assert "right" in found or "run" in found, found


@suite.test("a library that was deleted and replaced has its own names")
def replaced_library():
    with tempfile.TemporaryDirectory() as d:
        program, used, wrong = replaced(d)
        with running(program) as process:
            wait_for_work(process.pid)
            used.unlink()
            shutil.copy(wrong, used)
            check_right(process)


@suite.test("a library in a mount namespace has the names of that file")
def library_in_namespace():
    with tempfile.TemporaryDirectory() as d:
        program, used, wrong = replaced(d)
        right = shutil.copy(used, d + "/mounted.so")
        shutil.copy(wrong, used)
        inside = ["unshare", "-m", "sh", "-c", f"mount --bind {right} {used} && exec $0", program]
        if subprocess.run([*inside[:-1], "true"], capture_output=True).returncode:
            raise Skip("this machine permits no mount namespaces")
        with running(*inside) as process:
            wait_until(lambda: os.readlink(f"/proc/{process.pid}/exe") == str(program), "the program")
            wait_for_work(process.pid)
            check_right(process)


# ---- C ----

TARGET = HERE / "native_target.c"


def check_paths(found, name=lambda frame: frame.name):
    """Every stack that got to the leaf spells one of the program's paths. Returns (samples checked,
    wrong, incomplete)."""
    checked = wrong = incomplete = 0
    for frames, count in found:
        called = [name(frame) for frame in frames]
        if "main" not in called:
            incomplete += count
            continue
        inner = called[called.index("main") + 1:]
        steps = [int(call[4:]) for call in inner if re.fullmatch(r"step\d", call)]
        walks = inner.count("walk")
        if not walks:
            continue  # in main itself, or in clock_gettime
        # walk, step, walk, step, ... , then perhaps grind with churn
        strict = [call for call in inner if call in ("walk", "grind", "churn") or
                  call.startswith("step")]
        shape = "".join({"walk": "w", "grind": "g", "churn": "c"}.get(call, "s") for call in strict)
        good = re.fullmatch(r"(ws)*w?(gc?)?", shape) and len(steps) <= 12
        if "grind" in strict:
            good = good and len(steps) == 12 and all(
                low == high ^ 3 for high, low in zip(steps[:6], steps[6:]))
        checked += count
        wrong += 0 if good else count
    return checked, wrong, incomplete


def is_right(found, name=lambda frame: frame.name):
    """Were there samples to check, and were all of them right?"""
    checked, wrong, _ = check_paths(found, name)
    if wrong:
        raise Wrong([s for s in found if check_paths([s], name)[1]][:3])
    return checked


@suite.test("C, -O2 without frame pointers: every stack is one of the program's")
def oracle():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "target", TARGET, "-O2", "-g", "-fomit-frame-pointer", "-pthread")
        with running(program, "1000") as process:
            checked = []
            attach_until(process, lambda found: checked.append(is_right(found)) or sum(checked) > 500, "-r", "4khz")


@suite.test("C, -O2 without frame pointers: nearly every stack reaches main")
def complete():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "target", TARGET, "-O2", "-g", "-fomit-frame-pointer", "-pthread")
        found, _ = record(program, "1", options=["-r", "4khz"])
        checked, wrong, incomplete = check_paths(found)
        if wrong:
            raise Wrong([s for s in found if check_paths([s])[1]][:3])
        total = sum(count for _, count in found)
        assert incomplete * 50 <= total, f"{incomplete} of {total} have no main"
        return f"{checked} stacks checked, {wrong} wrong, {incomplete} of the loader or incomplete"


@suite.test("inlined calls are frames with their own lines and callers")
def inlined():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "target", TARGET, "-O2", "-g", "-pthread")
        source = pathlib.Path(d, "target.c")
        grind, churn = line_of(source, "grind"), line_of(source, "churn")

        def are_frames(found):
            leaf = [frames for frames, _ in found if frames[-1].name == "churn"]
            if wrong := [f for f in leaf if f[-1].file != "target.c" or f[-2].name != "grind" or
                         not churn - 1 <= f[-1].line <= churn + 1 or not grind <= f[-2].line <= grind + 1]:
                raise Wrong(wrong)
            return leaf
        with running(program, "1000") as process:
            attach_until(process, are_frames)


@suite.test("a stripped program: functions by their start")
def stripped():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "target", TARGET, "-O2", "-pthread")
        table = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        at = {int(line.split()[0], 16): line.split()[2] for line in table.splitlines()
              if len(line.split()) == 3}
        subprocess.run(["strip", program], check=True)

        def name(frame):
            match = re.fullmatch(r"target\+0x([0-9a-f]+)", frame.name)
            return at.get(int(match[1], 16), frame.name) if match else frame.name

        with running(program, "1000") as process:
            attach_until(process, lambda found: is_right(found, name))


@suite.test("a program compiled by clang: its functions have their first lines")
def clang():
    if not shutil.which("clang"):
        raise Skip("no clang")
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "spin", """static volatile unsigned sink;
int main(void)
{
	for (;;)
		sink++;
}
""", "-O1", "-gdwarf-5", compiler="clang")

        def look():
            done = fizeau("attach", "-d", "0.3", "--format", "json", "-o", "-", process.pid)
            return [f["line"] for f in json.loads(done.stdout or '{"functions": []}')["functions"]
                    if f["name"] == "main"]
        with running(program) as process:
            assert wait_until(look, "main", PATIENCE) == [2]


@suite.test("all threads, by their names")
def threads():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "target", TARGET, "-O2", "-g", "-pthread")
        with running(program, "1000", "2") as process:
            attach_until(process, lambda found: any(in_order(f, "other", "grind") for f, _ in found) and
                         any(in_order(f, "main", "walk") for f, _ in found), "-a")
            wait_until(lambda: '"helper"' in fizeau("attach", "-a", "-d", "0.3", "--format", "json", "-o", "-",
                                                    process.pid).stdout, "its name", PATIENCE)


HANDLER = """
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
typedef float wide __attribute__((vector_size(32)));
static volatile unsigned sink;
__attribute__((noinline)) static void spin(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i; }
static void handler(int s) { (void)s; spin(3000000); sink++; }
__attribute__((noinline)) static void use(wide *p)
{ for (int i = 0; i < 300000; i++) *p = *p * 1.0001f; sink++; }
__attribute__((noinline)) static void realigned(int n) {
	wide x[4]; char *more = __builtin_alloca(n & 255);
	memset(more, 0, n & 255); memset(x, 1, sizeof(x));
	use(&x[n & 3]); sink += (unsigned)more[0];
}
__attribute__((noinline)) static void work(int n) { realigned(n); sink++; }
int main(void) {
	struct sigaction a = { .sa_handler = handler };
	struct itimerval t = { { 0, 20000 }, { 0, 20000 } };
	sigaction(SIGALRM, &a, 0);
	setitimer(ITIMER_REAL, &t, 0);
	for (int i = 1;; i++) work(i);
}
"""


@suite.test("through signal handlers and realigned stacks to the root")
def handlers():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "handler", HANDLER, "-O2", "-fomit-frame-pointer")
        def are_whole(found):
            found = [(f, n) for f, n in found if "use" in names(f)]
            for frames, _ in found:
                if not in_order(frames, "_start", "main", "work", "realigned", "use"):
                    raise Wrong(frames)
            return any(in_order(f, "use", "handler", "spin") for f, _ in found)
        with running(program) as process:
            attach_until(process, are_whole)


# ---- C++, Rust ----

CPP = """
#include <vector>
#include <cstdlib>
namespace shapes {
template <typename T> struct Mesh {
	std::vector<T> points;
	__attribute__((noinline)) T churn(int n) {
		T s = 0;
		for (int i = 0; i < n; i++)
			for (auto &p : points) { p = p * T(1.0000001) + 1; s += p; }
		return s;
	}
};
}
static volatile double sink;
int main(int, char **argv) {
	shapes::Mesh<double> m;
	m.points.resize(1000, 1);
	for (int i = 0; i < atoi(argv[1]); i++) sink = sink + m.churn(300);
}
"""


@suite.test("C++ without debug information: readable names")
def cpp():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "mesh", CPP, "-O2", compiler="g++")
        with running(program, "1000000") as process:
            attach_until(process, lambda found: any(in_order(f, "main", "shapes::Mesh<double>::churn")
                                                    for f, _ in found))


RUST = """
mod inner {
    pub struct Acc { pub v: u64 }
    impl Acc {
        #[inline(never)]
        pub fn grind(&mut self, n: u64) -> u64 {
            for i in 0..n { self.v = self.v.wrapping_mul(6364136223846793005).wrapping_add(i); }
            self.v ^ (self.v >> 7)
        }
    }
}
#[inline(never)]
fn outer(k: u64) -> u64 { let mut a = inner::Acc { v: k }; a.grind(200000) ^ a.grind(3) }
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut s = 0u64;
    for i in 0..n { s = s.wrapping_add(outer(i)); }
    std::process::exit((s == 1) as i32);
}
"""


@suite.test("Rust: readable names")
def rust():
    if not shutil.which("rustc"):
        raise Skip("no rustc")
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "acc", RUST, "-O", compiler="rustc")
        found, _ = record(program, "2000")
        grind = [f for f, _ in found if f[-1].name.endswith("Acc>::grind") or
                 f[-1].name.endswith("Acc::grind")]
        assert grind, found[:3]
        assert share(found, lambda f: any(n.endswith("::outer") for n in names(f))) > 70, found[:3]


@suite.test("Node: functions that were compiled while it ran")
def node():
    if not shutil.which("node"):
        raise Skip("no node")
    text = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const t = Date.now();
let s = 0;
while (Date.now() - t < 700) s += fib(20);
process.exit(s === 1);
"""
    with tempfile.TemporaryDirectory() as d:
        script = pathlib.Path(d, "fib.js")
        script.write_text(text)
        found, _ = record("node", "--perf-basic-prof", script, cwd=d)  # it writes a log there
        for old in pathlib.Path("/tmp").glob("perf-*.map"):
            if old.read_text(errors="replace").count(str(script)):
                old.unlink()
        assert share(found, lambda f: "fib" in f[-1].name and f[-1].file == "[jit]") > 20, found[:3]
        assert any("node::Start" in names(f) and "[jit]" == f[-1].file for f, _ in found)


# ---- Python ----

PYTHON = """
import ctypes, time, zlib

libc = ctypes.CDLL(None)
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))

def leaf(n):
    s = 0
    for i in range(n):
        s += i * i
    return s

def compare(a, b):
    leaf(20)
    return a[0] - b[0]

callback = COMPARE(compare)

def sort_c():
    numbers = (ctypes.c_int * 40)(*[i * 7919 % 40 for i in range(40)])
    libc.qsort(numbers, 40, 4, callback)

class Key:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        leaf(20)
        return self.v < other.v

def generate():
    for i in range(30):
        leaf(30)
        yield i

def sort_python():
    sorted([Key(i * 7919 % 40) for i in range(40)])
    sum(generate())

data = bytes(range(256)) * 300

def compress():
    zlib.compress(data, 9)

def main():
    end = time.time() + SECONDS
    while time.time() < end:
        sort_c()
        sort_python()
        compress()

main()
"""

# Python function -> its possible callers among the Python functions.
CALLERS = {"main": {"<module>"}, "sort_c": {"main"}, "sort_python": {"main"}, "compress": {"main"},
           "compare": {"sort_c"}, "leaf": {"compare", "__lt__", "Key.__lt__", "generate"},
           "generate": {"sort_python"}, "__lt__": {"sort_python"}, "Key.__lt__": {"sort_python"}}


def python_errors(frames, script):
    """The defect of a merged stack."""
    python = [f for f in frames if f.file == script and f.name in CALLERS or f.name == "<module>"]
    for outer, inner in zip(python, python[1:]):
        if outer.name not in CALLERS.get(inner.name, ()):
            return f"{outer.name} called {inner.name}"
    called = names(frames)
    if "compare" in called:
        between = called[called.index("sort_c"):called.index("compare")]
        if not any("qsort" in name or "msort" in name for name in between):
            return "no qsort between sort_c and compare"
    if "_PyEval_EvalFrameDefault" in called[:-1] and python:
        # A call that has just begun, or is just ending, runs no Python frame yet or any more.
        inner = called[called.index("_PyEval_EvalFrameDefault"):]
        if any(name in CALLERS for name in inner):
            return "a call of the loop outside of Python frames that it does not run"
    return None


def merged(name):
    interpreter = find_interpreter(name)
    with interpreter.scratch() as d:
        script = pathlib.Path(d, "merge.py")
        script.write_text(PYTHON.replace("SECONDS", "1"))
        found, _ = record(*interpreter.command, interpreter.path(script),
                          options=["--native=stacks", "-r", "2khz"])
    found = [(f, n) for f, n in found if "main" in names(f)[1:] and
             any(x.file == "merge.py" for x in f)]
    total = sum(n for _, n in found)
    assert total > 50, found[:2]
    wrong = [(why, f, n) for f, n in found if (why := python_errors(f, "merge.py"))]
    bad = sum(n for _, _, n in wrong)
    assert bad * 200 <= total, (bad, total, wrong[:3])
    deflate = share(found, lambda f: in_order(f, "compress", "deflate") or
                    any("libz.so" in x.file for x in f))
    assert deflate > 2, f"zlib has {deflate} %"
    # Were another C frame replaced than the loop's, that would be the leaf.
    alone = share(found, lambda f: f[-1].file == "merge.py")
    assert alone > 3, found[:2]
    native_root = share(found, lambda f: f[0].file != "merge.py")
    assert native_root > 97, (native_root, found[:2])
    return f"{total} stacks, {bad} wrong, leaf in Python {alone:.0f} %"


def merged_callback(name):
    """A callback of C's into Python is a stack of both, in their order."""
    interpreter = find_interpreter(name)
    with interpreter.scratch() as d:
        script = pathlib.Path(d, "merge.py")
        script.write_text(PYTHON.replace("SECONDS", "1000"))
        with running(*interpreter.command, interpreter.path(script)) as process:
            wait_until(lambda: "libz.so" in pathlib.Path(f"/proc/{process.pid}/maps").read_text(), "its start")
            attach_until(process, lambda found: {"callback", "deflate"} <= {
                what for f, _ in found for what, is_there in (
                    ("callback", in_order(f, "main", "sort_c", "compare", "leaf") and not python_errors(f, "merge.py")),
                    ("deflate", in_order(f, "main", "compress") and any("libz.so" in x.file for x in f)))
                if is_there}, "--native=stacks")


for each in EXPECTED:
    suite.add(f"{each}: a callback through qsort, and zlib below Python", merged_callback, each)
    suite.add(f"{each}: native and Python frames merged, callbacks through qsort included", merged,
              each)


# ---- the process ----

@suite.test("killed: the program continues, and the recording has addresses")
def killed():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "target", TARGET, "-O2", "-g", "-pthread")
        out = pathlib.Path(d, "x.fz")
        with running(program, "1000") as target:
            recorder = subprocess.Popen([FIZEAU, "attach", "-o", out, str(target.pid)],
                                        stderr=subprocess.DEVNULL)
            wait_until(lambda: any("target+0x" in row[-1] for row in rows_of(out)), "an address", PATIENCE)
            recorder.send_signal(signal.SIGKILL)
            recorder.wait()
            wait_until(lambda: re.search(r"(?s)State:\t[RS].*TracerPid:\t0",
                                         pathlib.Path(f"/proc/{target.pid}/status").read_text()), "that it runs on")
            assert any(re.fullmatch(r"target\+0x[0-9a-f]+", f[-1].name) for f, _ in stacks(out))


@suite.test("attached: recorded and left running")
def attached():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "target", TARGET, "-O2", "-g", "-pthread")
        with running(program, "1000") as target:
            attach_until(target, is_right)
            assert target.poll() is None


@suite.test("--duration is over: the program is released, and can end on SIGTERM")
def terminated():
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        done = fizeau("run", "-d", "0.5", "-o", f"{folder}/o.fz", "--", "sleep", "30")
        assert done.returncode == 0 and "SIGTERM" not in done.stderr, done


@suite.test("the program that a shell runs is recorded, not the shell")
def shell():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "target", TARGET, "-O2", "-g", "-pthread")
        # So many different stacks that some are not of its start.
        found = run_until(["sh", "-c", f"{program} 1000; exit 7"],
                          lambda rows: sum("target+0x" in row[-1] for row in rows) > 20, status=7)
        assert is_right(found), found[:3]
        if shells := [f for f, _ in found if any(re.search("^(sh|dash|bash)$", x.file) for x in f)]:
            raise Wrong(shells)


@suite.test("processes that only led to Python are omitted")
def led_to():
    text = """
#include <unistd.h>
#include <stdlib.h>
int main(int c, char **v) {
	for (volatile long i = 0; i < 30000000; i++) ;
	if (system(v[1])) return 1;
}
"""
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "launch", text, "-O1")
        script = pathlib.Path(d, "x.py")
        script.write_text("while True: pass\n")
        found = run_until([program, f"exec /usr/bin/python3 {script}"],
                          lambda rows: any("x.py" in frame for row in rows for frame in row), status=1)
        if launch := [f for f, _ in found if any("launch" in x.file for x in f)]:
            raise Wrong(launch)


@suite.test("a library deleted while in use still has names")
def deleted():
    text = """
#include <unistd.h>
extern unsigned spin_in_library(unsigned n);
int main(int c, char **v) { unlink(v[1]); unsigned s = 0;
	for (;;) s += spin_in_library(1000000);
	return s == 1; }
"""
    library = """
unsigned spin_in_library(unsigned n) { volatile unsigned s = 0;
	for (unsigned i = 0; i < n; i++) s += i; return s; }
"""
    with tempfile.TemporaryDirectory() as d:
        shared = build(d, "libspin", library, "-O1", "-shared", "-fPIC")
        moved = shared.rename(shared.with_name("libspin.so"))
        program = build(d, "spin", text, "-O1", f"-L{d}", f"-Wl,-rpath,{d}", "-Wl,--no-as-needed",
                        "-lspin")
        with running(program, moved) as process:
            wait_until(lambda: not moved.exists(), "the end of the file")
            attach_until(process, lambda found: any(in_order(f, "main", "spin_in_library") for f, _ in found))


@suite.test("CPU time of a program that is not Python")
def cpu_clock():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "target", TARGET, "-O2", "-g", "-pthread")
        with running(program, "1000") as process:
            attach_until(process, is_right, "--clock", "cpu")


@suite.test("two recordings of programs that are not Python compare, also while one is made")
def compared():
    with tempfile.TemporaryDirectory() as d:
        program = build(d, "target", TARGET, "-O2", "-g", "-pthread")
        base, page = pathlib.Path(d, "base.fz"), pathlib.Path(d, "x.html")
        assert fizeau("run", "-o", base, "--", program, "0.4").returncode == 0
        done = fizeau("run", "--diff-flamegraph", base, "-o", page, "--", program, "0.4")
        assert done.returncode == 0 and page.exists(), done


@suite.test("doctor reports that a program without Python can be recorded")
def doctor():
    process = subprocess.Popen(["sleep", "30"])
    try:
        done = fizeau("doctor", process.pid)
        assert done.returncode == 0 and "native stacks" in done.stdout, done
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


@suite.test("--mode gil of a program that is not Python is one line")
def no_gil():
    done = fizeau("run", "--mode", "gil", "--", "sleep", "2")
    assert "not Python" in done.stderr, done


suite.main()
