#!/usr/bin/env python3
"""fizeau attach and doctor: running processes, unreadable processes, and detaching."""

import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

from livelib import FIZEAU, SANITIZED, Interpreter, Skip, Suite, Target, fizeau, wait_until
from watching import LASTING, PATIENCE, Recorder, attach, state, tracer, wait_for_samples, wait_for_work

suite = Suite()

LOOP = """\
import sys, threading, time
def leaf(n):
    s = 0
    for i in range(n): s += i * i
    return s
def work():
    if threading.current_thread() is threading.main_thread(): print("up", flush=True)
    while True: leaf(2000)
for n in range(int(sys.argv[1]) if len(sys.argv) > 1 else 0):
    threading.Thread(target=work, name=f"worker {n}", daemon=True).start()
work()
"""


class Running(Target):
    """A program under Debian's interpreter."""

    def __init__(self, *words, code=LOOP, **options):
        python = Interpreter("debian", ["/usr/bin/python3"])
        super().__init__(python, code, *words, name="loop.py", **options)
        self.out = os.path.join(self.folder.name, "x.fz")


def show(file, cwd=None):
    done = fizeau("show", file, cwd=cwd, env={**os.environ, "COLUMNS": "200"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def one_line(done, status=2):
    assert done.returncode == status, done
    assert done.stderr.startswith("fizeau: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@suite.test("a table on standard output, the recording in the store")
def table():
    with Running() as t:
        done = attach(t.pid, cwd=t.folder.name)
        assert done.returncode == 0 and "work (" in done.stdout, done
        assert list(pathlib.Path(t.folder.name, ".fizeau").glob("*-loop.py-*.fz"))


@suite.test("a kernel thread is not a program")
def kernel():
    try:
        kernel_thread = pathlib.Path("/proc/2/stat").read_text().split()[1] == "(kthreadd)"
    except OSError:
        kernel_thread = False
    if not kernel_thread or os.geteuid():
        raise Skip("the kernel's threads cannot be looked at here")
    assert "process 2 is a kernel thread" in one_line(fizeau("attach", "-d", "1", 2))


@suite.test("too low a limit of open files is reported before anything starts")
def few_files():
    done = subprocess.run(["sh", "-c", 'ulimit -n 6; exec "$0" run -- true', FIZEAU],
                          capture_output=True, text=True, timeout=60)
    assert "the limit of 6 open files is too low" in one_line(done, 125), done


@suite.test("a mode in which nothing happens reports it; the running process did not end")
def nothing_happens():
    sleeper = 'import time\nprint("up", flush=True)\nwhile True: time.sleep(1000)\n'
    with Running(code=sleeper) as target:
        wait_until(lambda: state(target.pid) == "S")
        for mode, never in (("gil", "held the GIL"), ("exception", "handled an exception"),
                            ("cpu", "used CPU time")):
            told = one_line(fizeau("attach", "--mode", mode, "-d", "0.3", str(target.pid)), 0)
            assert never in told and "ended" not in told, told


@suite.test("Ctrl-C, SIGTERM and SIGHUP end the recording, not the process")
def ends():
    with Running() as t:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([FIZEAU, "attach", "-o", t.out, str(t.pid)],
                                       stderr=subprocess.PIPE, text=True)
            wait_for_samples(t.pid, recorder=process)
            process.send_signal(number)
            err = process.communicate(timeout=60)[1]
            assert process.returncode == 0 and "samples" in err, err
            assert "work (" in show(t.out)
            assert t.process.poll() is None


@suite.test("the time for which the recorder was held up is the weight of its next sample")
def held_up():
    with Running() as t:
        with Recorder("attach", "-r", "100", "-o", t.out, t.pid) as recorder:
            wait_for_samples(t.pid, recorder=recorder.process)
            recorder.process.send_signal(signal.SIGSTOP)
            tasks = os.listdir(f"/proc/{recorder.process.pid}/task")
            wait_until(lambda: {state(recorder.process.pid, task) for task in tasks} == {"T"})
            began = time.monotonic()
            time.sleep(1)
            stood = time.monotonic() - began
            recorder.process.send_signal(signal.SIGCONT)
            wait_for_samples(t.pid, recorder=recorder.process)
        shown = fizeau("replay", "--format", "speedscope", "-o", "-", t.out)
        profile, = json.loads(shown.stdout)["profiles"]
        assert profile["unit"] == "nanoseconds", profile["unit"]
        # Within an interval at each end.
        assert max(profile["weights"]) >= stood * 1e9 - 2e7, (stood, max(profile["weights"]))
        # It did not keep a processor busy, so it keeps its priority.
        assert "after being busy" not in show(t.out), show(t.out)


@suite.test("the end of the process ends the recording")
def process_ends():
    with Running() as t:
        process = subprocess.Popen([FIZEAU, "attach", "-o", t.out, str(t.pid)], stderr=subprocess.PIPE, text=True)
        wait_for_samples(t.pid, recorder=process)
        t.process.kill()
        process.communicate(timeout=60)
        assert process.returncode == 0 and "work (" in show(t.out)


@suite.test("a slow rate does not delay the end")
def process_ends_soon():
    with Running() as t:
        process = subprocess.Popen([FIZEAU, "attach", "-r", "2", "-o", t.out, str(t.pid)],
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(0.7)
        t.process.kill()
        begin = time.time()
        process.communicate(timeout=10)
        assert process.returncode == 0
        assert time.time() - begin < 0.4, "a slow rate delayed the end"


@suite.test("all threads, with their names")
def threads():
    def seen():
        assert attach(t.pid, "-a", "-o", t.out).returncode == 0
        folded = fizeau("replay", "--collapsed", "-o", "-", t.out)
        assert folded.returncode == 0, folded.stderr
        return {line.split(";")[0] for line in folded.stdout.splitlines()}
    with Running("3") as t:
        there = {f"tid:{tid}" for tid in os.listdir(f"/proc/{t.pid}/task")}
        wait_until(lambda: seen() == there, f"a sample of each of {there}")


@suite.test("-d accepts fractions; wrong ids are one line")
def ids():
    for word in ("x", "0", "-5", "99999999999", "4194304", ""):
        one_line(fizeau("attach", "--", word))
    one_line(fizeau("attach"))
    one_line(fizeau("attach", "1", "2"))


@suite.test("a process that is not Python is recorded by its native stacks")
def not_python():
    process = subprocess.Popen(["sleep", "1000"])
    try:
        wait_until(lambda: state(process.pid) == "S")
        with tempfile.TemporaryDirectory() as d:
            done = attach(process.pid, cwd=d)
            assert done.returncode == 0, done
            assert re.search(r"100\.0 %\s.*nanosleep", done.stdout), done.stdout
            assert process.poll() is None, "the process did not survive it"
    finally:
        process.kill()
        process.wait()


@suite.test("a thread's id is not a process")
def thread_id():
    with Running("1") as t:
        tid = next(name for name in os.listdir(f"/proc/{t.pid}/task") if name != str(t.pid))
        assert "thread" in one_line(fizeau("attach", tid))


@suite.test("another user's process is one line with a remedy")
def other_user():
    if os.geteuid() != 0:
        raise Skip("becoming another user needs root")
    with Running() as t:
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                               FIZEAU, "attach", "-o", "/tmp/fz-other.fz", str(t.pid)],
                              capture_output=True, text=True)
        if "fizeau:" not in done.stderr:
            raise Skip("another user cannot run the binary here: " + done.stderr.strip())
        assert re.search("sudo|root|CAP_SYS_PTRACE", one_line(done)), done.stderr
        assert not os.path.exists("/tmp/fz-other.fz")


@suite.test("an unprivileged user records a process of their own")
def unprivileged():
    if os.geteuid() != 0:
        raise Skip("becoming another user needs root")
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o777)
        done = subprocess.run([*user, FIZEAU, "run", "-o", "x.fz", "--", "/usr/bin/python3", "-c",
                               LASTING + "last()"], cwd=d, capture_output=True, text=True)
        if done.returncode == 126 or "setpriv" in done.stderr:
            raise Skip("another user cannot run the binary here: " + done.stderr.strip())
        assert done.returncode == 0 and "samples" in done.stderr, done


@suite.test("--blocking leaves the process running, also after kill -9 of the recorder")
def blocking():
    with Running("2") as t:
        done = attach(t.pid, "-a", "--blocking", "-o", t.out)
        assert done.returncode == 0, done
        assert "work (" in show(t.out)
        assert tracer(t.pid) == 0 and state(t.pid) not in "Tt", state(t.pid)
        process = subprocess.Popen([FIZEAU, "attach", "-a", "--blocking", "-r", "2khz", "-o", t.out,
                                    str(t.pid)], stderr=subprocess.DEVNULL)
        wait_for_samples(t.pid, recorder=process)
        process.kill()
        process.wait()
        assert tracer(t.pid) == 0
        wait_for_work(t.pid)


BUSY_THREADS = """\
import threading, time
counts = [0] * 8
def work(i):
    while True:
        counts[i] += 1
        if counts[i] % 1000 == 0: time.sleep(0.0001)
for i in range(8): threading.Thread(target=work, args=(i,), daemon=True).start()
while True:
    print(*counts, flush=True)
    time.sleep(0.01)
"""


@suite.test("--blocking: killed at any moment, every thread continues and is not traced")
def killed_while_stopped():
    with tempfile.TemporaryDirectory() as folder:
        target = subprocess.Popen([sys.executable, "-c", BUSY_THREADS], stdout=subprocess.PIPE,
                                  text=True)
        try:
            target.stdout.readline()
            caught = 0
            for i in range(15):
                recorder = subprocess.Popen([FIZEAU, "attach", "-a", "--blocking", "-r", "max", "-o",
                                             f"{folder}/x.fz", str(target.pid)],
                                            stderr=subprocess.DEVNULL)
                time.sleep(0.15 + 0.0037 * i)
                tasks = list(pathlib.Path(f"/proc/{target.pid}/task").iterdir())
                caught += any(" t " in (task / "stat").read_text().rpartition(")")[2][:3]
                              for task in tasks)
                recorder.kill()
                recorder.wait()
                for task in tasks:
                    status = (task / "status").read_text()
                    assert "TracerPid:\t0\n" in status, status
            for _ in range(200):
                before = target.stdout.readline().split()
            deadline = time.monotonic() + 60
            while any(a == b for a, b in zip(before, target.stdout.readline().split())):
                assert time.monotonic() < deadline, "a thread stands still"
        finally:
            target.kill()
            target.wait()
            target.stdout.close()
        return f"{caught} of 15 kills met a stopped thread"


SHORT_THREADS = """\
import threading
while True:
    threads = [threading.Thread(target=int) for _ in range(8)]
    for t in threads: t.start()
    print("up", flush=True)
    for t in threads: t.join()
"""


@suite.test("--blocking: a thread that starts during a sample has no other tracer")
def started_while_stopping():
    """Threads of a seized thread are seized by the kernel, before that is reported."""
    target = subprocess.Popen([sys.executable, "-c", SHORT_THREADS], stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(80):
            target.stdout.readline()
            done = fizeau("dump", "--blocking", target.pid)
            assert done.returncode == 0 and "traced" not in done.stderr, done
    finally:
        target.kill()
        target.wait()
        target.stdout.close()


@suite.test("--blocking on a traced process is one line")
def traced():
    watch = ["strace", "-qq", "-o", "/dev/null", "-p"]
    with Running() as t:
        try:
            strace = subprocess.Popen([*watch, str(t.pid)])
        except FileNotFoundError:
            raise Skip("strace is not installed")
        try:
            wait_until(lambda: strace.poll() is not None or tracer(t.pid) == strace.pid)
            if strace.returncode is not None:
                raise Skip("strace may not trace here")
            message = one_line(fizeau("attach", "--blocking", "-d", "0.5", "-o", t.out, t.pid))
            assert "--blocking" in message, message
            assert attach(t.pid, "-o", t.out).returncode == 0
        finally:
            strace.terminate()
            strace.wait()


@suite.test("a stopped process stays stopped and is recorded")
def stopped():
    with Running() as t:
        t.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: state(t.pid) == "T")
        for extra in ([], ["--blocking"]):
            done = attach(t.pid, *extra, "-o", t.out)
            assert done.returncode == 0 and "samples" in done.stderr, done
            # When a stopped thread is released, it runs in the kernel for a moment before it stops again.
            wait_until(lambda: state(t.pid) == "T", "the process to be stopped")
        t.process.send_signal(signal.SIGCONT)


@suite.test("exec into another Python while attached is followed")
def exec_followed():
    code = ("import os, sys\ndef before():\n    print('up', flush=True)\n    sys.stdin.readline()\nbefore()\n"
            "os.execv(sys.executable, [sys.executable, '-c', "
            "'def after():\\n print(\"after\", flush=True)\\n while True: pass\\nafter()'])\n")
    with Running(code=code, stdin=subprocess.PIPE) as t:
        with Recorder("attach", "-o", t.out, t.pid, path=t.out) as recorder:
            recorder.until_seen("before")
            t.process.stdin.write("\n")
            t.process.stdin.flush()
            recorder.until_seen("before", "after")
        text = show(t.out)
        assert "before (" in text and "after (" in text, text


@suite.test("sources are stored as they ran; an edited file is not")
def sources():
    with Running(code=LOOP.replace("while True: leaf(2000)", "time.sleep(1000)")) as t:
        attach(t.pid, "-o", t.out)
        assert b"s += i * i" in unpacked(t.out)
        attach(t.pid, "--no-source", "-o", t.out)
        assert b"s += i * i" not in unpacked(t.out)
        time.sleep(2)
        t.script.write_text(LOOP + "# edited\n")
        attach(t.pid, "-o", t.out)
        assert b"# edited" not in unpacked(t.out)


def unpacked(file):
    """All text of a recording, from JSON, or from a page if sources are embedded."""
    page = fizeau("replay", "--format", "fz", "-o", "-", file, text=False).stdout
    data = b""
    for at in [m.start() for m in re.finditer(re.escape(b"\x28\xb5\x2f\xfd"), page)]:
        done = subprocess.run(["zstd", "-dcq"], input=page[at:], capture_output=True)
        data += done.stdout
    return data + page


@suite.test("a target that names files it may not read does not get them recorded")
def hostile_sources():
    if os.geteuid() != 0:
        raise Skip("becoming another user needs root")
    with tempfile.NamedTemporaryFile("w", prefix="fz-secret-") as secret:
        secret.write("the secret of root\n")
        secret.flush()
        leaf = 'def leaf():\n    print("up", flush=True)\n    while True: pass\nleaf()'
        code = f"exec(compile({leaf!r}, {secret.name!r}, 'exec'))\n"
        for user in ({"user": 65534, "group": 65534, "extra_groups": []}, {}):
            with Running(code=code, **user) as t:
                attach(t.pid, "-o", t.out)
                found = b"the secret of root" in unpacked(t.out)
                assert found == (not user), user


@suite.test("doctor: the machine, and every step into a process")
def doctor():
    done = fizeau("doctor")
    assert done.returncode == 0 and "process_vm_readv" in done.stdout, done
    built = "with server support" in fizeau("--version").stdout
    assert re.search(r"^--count +\w", done.stdout, re.M), done
    for row in ("push, pull, agent +works?", "serve +works"):
        assert bool(re.search(f"^{row}$", done.stdout, re.M)) == built, (row, done)
    with Running() as t:
        done = fizeau("doctor", t.pid)
        assert done.returncode == 0 and "can be recorded" in done.stdout, done
    process = subprocess.Popen(["sleep", "30"])
    done = fizeau("doctor", process.pid)
    process.kill()
    process.wait()
    assert done.returncode == 0 and "_PyRuntime" in done.stdout, done
    assert "native stacks" in done.stdout, done
    one_line(fizeau("doctor", "nobody"))


@suite.test("a terminal shows what ends the recording, until it ends")
def shown_on_terminal():
    with Running() as t:
        for words, until in (((), "until it ends or Ctrl-C"), (("-d", "600"), "for 600 s or until Ctrl-C")):
            ours, theirs = pty.openpty()
            process = subprocess.Popen([FIZEAU, "attach", *words, "-o", t.out, str(t.pid)], stderr=theirs)
            os.close(theirs)
            said = b""
            while not said.endswith(b"\r"):
                assert select.select([ours], [], [], PATIENCE)[0], said
                said += os.read(ours, 65536)
            assert said.decode() == f"fizeau: recording process {t.pid} {until}\r", said
            wait_for_samples(t.pid)
            process.send_signal(signal.SIGINT)
            said = os.read(ours, 65536)
            assert said.startswith(b"\r\x1b[K"), said
            process.wait()
            os.close(ours)


@suite.test("memory does not grow with time")
def memory():
    if SANITIZED:
        raise Skip("a sanitizer keeps what was freed")
    with Running() as t:
        process = subprocess.Popen([FIZEAU, "attach", "-r", "max", "-o", t.out, str(t.pid)],
                                   stderr=subprocess.PIPE, text=True)

        def resident():
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

        wait_for_samples(t.pid)
        time.sleep(1)
        early = resident()
        time.sleep(2)
        late = resident()
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert late < early + 3000, (early, late)
        return f"{early} -> {late} KiB"


@suite.test("by the CPU clock the sampler moves to the CPU of its target, which then stands still")
def follows():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("one CPU")
    if "perf task-clock" not in fizeau("doctor").stdout:
        raise Skip("perf is not allowed here")
    with Running() as t:
        sampler = subprocess.Popen([FIZEAU, "attach", "--clock", "cpu", "-r", "100hz", "-o", t.out, str(t.pid)],
                                   stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: os.path.exists(f"/proc/{sampler.pid}/maps") and
                       b"perf_event" in pathlib.Path(f"/proc/{sampler.pid}/maps").read_bytes())
            if os.sched_getscheduler(sampler.pid) & ~os.SCHED_RESET_ON_FORK != os.SCHED_FIFO:
                raise Skip("real-time priority is not allowed here")
            for cpu in (cpus[0], cpus[1], cpus[0]):
                os.sched_setaffinity(t.pid, {cpu})
                wait_until(lambda: os.sched_getaffinity(sampler.pid) == {cpu})
        finally:
            sampler.send_signal(signal.SIGINT)
            sampler.wait()


if __name__ == "__main__":
    suite.main()
