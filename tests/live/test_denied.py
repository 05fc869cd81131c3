#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""If the kernel denies what fizeau needs, as in containers: one line names the fallback, and the recording works; or
one line names the remedy.

tests/live/denied.c lets a system call fail; the rest is real.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from livelib import FIZEAU, QUIET, SANITIZED, SOURCE, Skip, Suite, Wrong, find_interpreter, fizeau
from watching import TAKEN

BUILD = pathlib.Path(os.environ.get("FZ_BUILD", SOURCE / "build"))
DENIED = BUILD / "tests" / "denied"

# A program with a given number of children; it works until there are samples, or for some time if there are none.
FAMILY = TAKEN + """import subprocess, sys, time
def busy(seconds):
    seen, end = taken(), time.process_time() + seconds
    while time.process_time() < end if seconds else taken() < seen + 20:
        pass
busy(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
for _ in range(int(sys.argv[1])):
    subprocess.run([sys.executable, __file__, "0"])
"""

CLOCK = "--clock cpu: perf is not permitted"
CHILDREN = "--subprocesses: perf is not permitted"

suite = Suite()


def unpacked(recording):
    """What its blocks hold."""
    packed, data = recording.read_bytes(), b""
    for at in [m.start() for m in re.finditer(re.escape(b"\x28\xb5\x2f\xfd"), packed)]:
        data += subprocess.run(["zstd", "-dcq"], input=packed[at:], capture_output=True).stdout
    return data


class Recorded:
    """A run of FAMILY for which some calls are refused."""

    def __init__(self, refused, *options, user=None, children=0, seconds=()):
        python = find_interpreter("debian-3.11")
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            script, recording = pathlib.Path(folder, "family.py"), pathlib.Path(folder, "r.fz")
            script.write_text(FAMILY)
            fizeau_here = shutil.copy(FIZEAU, folder) if user else FIZEAU
            denied_here = shutil.copy(DENIED, folder) if user else DENIED
            command = [*([denied_here, refused] if refused else []), fizeau_here, "run", *options,
                       "-o", recording, "--", *python.command, script,
                       children, *seconds]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                                  timeout=120, cwd=folder, user=user, env=QUIET)
            if done.returncode == 77:
                raise Skip(done.stderr.strip())
            self.status = done.returncode
            self.said = [line for line in done.stderr.splitlines() if line.startswith("fizeau: ")]
            self.warnings = [line for line in self.said if " warning: " in line]
            self.text = done.stderr
            self.json, self.facts = {}, ""
            if recording.exists():
                shown = fizeau("replay", "--format", "json", recording, "-o", "-")
                assert shown.stdout, (self.text, shown.stderr)
                self.json = json.loads(shown.stdout)
                self.facts = fizeau("show", recording).stdout
                self.text_in_file = unpacked(recording)

    def expect(self, *warnings):
        assert self.status == 0, self.text
        assert len(self.warnings) == len(warnings), self.text
        for said, wanted in zip(self.warnings, warnings):
            assert wanted in said and ("sysctl" in said or "container" in said), said
        assert "busy" in {f["name"] for f in self.json["functions"]}, self.json["functions"]


LOOP = """import time
print("up", flush=True)
while True: time.sleep(1)
"""


@contextlib.contextmanager
def running():
    """A running program that has reported its start."""
    python = find_interpreter("debian-3.11")
    with subprocess.Popen([*python.command, "-c", LOOP], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "up\n"
            yield process.pid
        finally:
            process.kill()


@suite.test("perf is refused: children are found in /proc")
def no_events():
    r = Recorded("perf_event_open=EPERM", "--subprocesses", children=2)
    r.expect(CHILDREN)
    assert "looking through /proc" in r.facts, r.facts
    assert len(r.json.get("processes", [])) <= 3, r.json["processes"]


@suite.test("perf is refused: all children are found")
def all_children():
    for refused, *options in (("perf_event_open=EPERM",), ("perf_event_open=ENOSYS", "--clock", "cpu")):
        r = Recorded(refused, *options, "--subprocesses", children=2, seconds=(0.25,))
        assert len(r.json["processes"]) == 3, r.json["processes"]


@suite.test("perf is refused: CPU time comes from schedstat")
def no_clock():
    r = Recorded("perf_event_open=EACCES", "--clock", "cpu")
    r.expect(CLOCK)
    assert "schedstat" in r.facts, r.facts


@suite.test("without perf: both, with one line each")
def no_perf():
    r = Recorded("perf_event_open=ENOSYS", "--clock", "cpu", "--subprocesses")
    r.expect(CLOCK, CHILDREN)


@suite.test("perf is refused: native stacks need no perf")
def native_without_perf():
    Recorded("perf_event_open=EPERM", "--native=stacks").expect()


for code in ("ENOSYS", "EPERM"):
    @suite.test(f"process_vm_readv fails with {code}: memory is read from /proc")
    def no_readv(code=code):
        Recorded(f"process_vm_readv={code}").expect()
        Recorded(f"process_vm_readv={code}", "--native=stacks").expect()


for option in ("--blocking", "--native=stacks"):
    @suite.test(f"ptrace is refused: attach {option} prints the remedy")
    def no_ptrace_of_process(option=option):
        with running() as pid:
            done = subprocess.run([DENIED, "ptrace=EPERM", FIZEAU, "attach", option, "-d", "1", str(pid)],
                                  capture_output=True, text=True, env=QUIET)
            if done.returncode == 77:
                raise Skip(done.stderr.strip())
            assert done.returncode == 2 and "--cap-add=SYS_PTRACE" in done.stderr, done
            assert done.stderr.count("\n") == 1, done

    @suite.test(f"ptrace is refused: {option} prints the remedy")
    def no_ptrace(option=option):
        r = Recorded("ptrace=EPERM", option, seconds=(0.25,))
        assert r.status == 0, r.text  # that of the program
        assert len(r.said) == 1 and "--cap-add=SYS_PTRACE" in r.said[0], r.text


@suite.test("pidfd_open is refused: the remedy")
def no_pidfd():
    r = Recorded("pidfd_open=EPERM")
    assert r.status == 125, r.text
    assert len(r.said) == 1 and "Linux 5.3" in r.said[0], r.text
    done = subprocess.run([DENIED, "pidfd_open=ENOSYS", FIZEAU, "attach", str(os.getpid())],
                          capture_output=True, text=True, env=QUIET)
    assert done.returncode == 2 and "Linux 5.3" in done.stderr, done
    assert done.stderr.count("\n") == 1, done.stderr


@suite.test("signalfd is refused: reported, and nothing is recorded")
def no_signalfd():
    for error in ("ENOSYS", "EPERM"):
        r = Recorded(f"signalfd4={error}")
        assert r.status == 125 and len(r.said) == 1 and "signalfd: " in r.said[0], r.text


@suite.test("a debugger is attached: it is named")
def debugged():
    python = find_interpreter("debian-3.11")
    target = subprocess.Popen([*python.command, "-c", "import time; print('up', flush=True); time.sleep(1000)"],
                              stdout=subprocess.PIPE, text=True)
    assert target.stdout.readline() == "up\n"
    tracer = subprocess.Popen([*python.command, "-c", TRACER, str(target.pid)],
                              stdout=subprocess.PIPE, text=True)
    try:
        if tracer.stdout.readline() != "traces\n":
            raise Skip("ptrace is not allowed here")
        done = fizeau("attach", "--blocking", "-d", "1", target.pid)
        assert done.returncode == 2, done
        assert f"it is traced by process {tracer.pid}" in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
    finally:
        for process in (tracer, target):
            process.kill()
            process.wait()


TRACER = """import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
print("traces" if libc.ptrace(0x4206, int(sys.argv[1]), 0, 0) == 0 else "no", flush=True)
time.sleep(1000)
"""


@suite.test("a user without rights: their own program, in every way")
def unprivileged():
    if os.geteuid() != 0:
        raise Skip("needs root to become another user")
    for options in ([], ["--subprocesses"], ["--native=stacks"], ["--blocking"]):
        Recorded(None, *options, user=65534).expect()
    r = Recorded("perf_event_open=EACCES", "--subprocesses", "--clock", "cpu", user=65534)
    r.expect(CLOCK, CHILDREN)


# System calls that are newer than the oldest kernels in use, and those that we need. Each may be missing
# or unknown to the filter of a container.
NEWER = ["epoll_pwait2", "openat2", "faccessat2", "statx", "clone3", "memfd_create", "getrandom",
         "sched_setattr", "sched_setscheduler", "sched_setaffinity", "sched_getaffinity", "prlimit64",
         "rseq", "timerfd_create", "perf_event_open", "process_vm_readv"]


def newer_at_once(call, error):
    """All ways of reading a program in one recording."""
    if SANITIZED and call in ("prlimit64", "sched_getaffinity"):
        raise Skip(f"AddressSanitizer itself needs {call}")
    r = Recorded(f"{call}={error}", "--clock", "cpu", "--subprocesses", "--native")
    assert r.status == 0, r.text
    assert "busy" in {f["name"] for f in r.json["functions"]}, r.text
    assert "exit           0" in r.facts, r.facts
    assert not r.warnings or call == "perf_event_open", r.text


def newer(call, error):
    # The second where a thread is started.
    if SANITIZED and call in ("prlimit64", "sched_getaffinity"):
        raise Skip(f"AddressSanitizer itself needs {call}")
    if SANITIZED and error == "EPERM":
        raise Skip("with ENOSYS the same lines of ours are run")
    options = [[], ["--clock", "cpu"], ["--native=stacks"], ["--subprocesses", "--native"]]
    for words in options:
        r = Recorded(f"{call}={error}", *words, children=2 if "--subprocesses" in words else 0)
        assert r.status == 0, r.text
        assert "busy" in {f["name"] for f in r.json["functions"]}, (words, r.text)
        assert "exit           0" in r.facts, r.facts
    if call in ("perf_event_open", "process_vm_readv"):
        return
    r = Recorded(f"{call}={error}", "--clock", "cpu")
    assert not r.warnings, r.text


for call in NEWER:
    for error in ("ENOSYS", "EPERM"):
        suite.add(f"{call} fails with {error}: recorded all the same", newer_at_once, call, error)
        suite.add(f"{call} fails with {error}: recorded in every way", newer, call, error)


@suite.test("openat2 is refused: source text is stored all the same")
def sources():
    for refused in (None, "openat2=ENOSYS", "openat2=EPERM"):
        r = Recorded(refused)
        if b"while time.process_time" not in r.text_in_file:
            raise Wrong(refused)


# In a mount namespace with its own instance, because the options of the mounted one apply to all of
# its users.
HIDING = 'mount -t proc -o hidepid="$1" proc /proc || exit 77; shift; exec "$@"'


@suite.test("/proc mounted with hidepid: own programs are recorded, others are reported as hidden")
def hidden():
    if os.geteuid() != 0:
        raise Skip("needs root to mount")
    python = find_interpreter("debian-3.11")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        program = shutil.copy(FIZEAU, folder)
        script, once = pathlib.Path(folder, "loop.py"), pathlib.Path(folder, "once.py")
        script.write_text(LOOP)
        once.write_text(FAMILY)
        user = {"user": 65534, "group": 65534, "extra_groups": []}
        own = subprocess.Popen([*python.command, script], stdout=subprocess.PIPE, text=True, **user)
        others = subprocess.Popen([*python.command, script], stdout=subprocess.PIPE, text=True)
        try:
            assert own.stdout.readline() == others.stdout.readline() == "up\n"
            for level in ("1", "2"):
                def there(*words):
                    done = subprocess.run(
                        ["unshare", "-m", "--propagation", "private", "sh", "-c", HIDING, "sh", level,
                         "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                         program, *map(str, words)],
                        capture_output=True, text=True, timeout=120, cwd=folder, env=QUIET)
                    if done.returncode in (1, 77) and ("unshare" in done.stderr or
                                                       "mount" in done.stderr):
                        raise Skip(done.stderr.strip())
                    return done
                done = there("attach", "-d", "0.3", "-o", "a.fz", own.pid)
                assert done.returncode == 0 and " sample" in done.stderr, done.stderr
                done = there("run", "--clock", "cpu", "--subprocesses", "-o", "b.fz",
                             "--", *python.command, once, 0)
                assert " samples " in done.stderr, done.stderr
                done = there("attach", "-d", "0.3", "-o", "c.fz", others.pid)
                assert done.returncode == 2 and "hidden in /proc" in done.stderr, done.stderr
                assert done.stderr.count("\n") == 1, done.stderr
                done = there("attach", "-d", "0.3", "-o", "c.fz", 2 ** 22 - 1)
                assert "no process" in done.stderr, done.stderr
        finally:
            for process in (own, others):
                process.kill()
                process.wait()


@suite.test("user namespaces: root in one records its own; a process outside is refused")
def namespaces():
    python = find_interpreter("debian-3.11")
    with tempfile.TemporaryDirectory() as folder:
        script, out = pathlib.Path(folder, "loop.py"), pathlib.Path(folder, "r.fz")
        once = pathlib.Path(folder, "once.py")
        script.write_text(LOOP)
        once.write_text(FAMILY)
        inside = ["unshare", "--user", "--map-root-user", FIZEAU]
        for options in ([], ["--native=stacks"], ["--subprocesses"], ["--clock", "cpu"]):
            done = subprocess.run([*inside, "run", *options, "-o", out, "--", *python.command, once, "0"],
                                  capture_output=True, text=True, timeout=120, env=QUIET)
            if "unshare" in done.stderr:
                raise Skip(done.stderr.strip())
            assert " samples " in done.stderr, done.stderr
        outside = subprocess.Popen([*python.command, script], stdout=subprocess.PIPE, text=True)
        try:
            assert outside.stdout.readline() == "up\n"
            done = subprocess.run([*inside, "attach", "-d", "0.3", "-o", out, str(outside.pid)],
                                  capture_output=True, text=True, timeout=120, env=QUIET)
            assert done.returncode == 2 and "another user namespace" in done.stderr, done.stderr
        finally:
            outside.kill()
            outside.wait()


@suite.test("no /proc, as in a new chroot: refused with the command that mounts it")
def no_proc():
    if SANITIZED:
        raise Skip("a sanitizer reads /proc/self/maps")
    hidden = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
              'mount -t tmpfs none /proc || exit 77; exec "$@"', "sh", FIZEAU]
    for command in (["dump", "1"], ["attach", "-d", "0.3", "1"], ["heap", "1"]):
        done = subprocess.run([*hidden, *command], capture_output=True, text=True, timeout=120, env=QUIET)
        if done.returncode == 77 or "unshare:" in done.stderr:
            raise Skip(done.stderr.strip())
        assert done.returncode == 2 and "'mount -t proc proc /proc'" in done.stderr, done


@suite.test("/proc of another PID namespace: refused, because its numbers are other processes'")
def foreign_proc():
    inside = ["unshare", "--user", "--map-root-user", "--pid", "--fork", FIZEAU]
    for command in (["dump", "1"], ["attach", "-d", "0.3", "1"]):
        done = subprocess.run([*inside, *command], capture_output=True, text=True, timeout=120, env=QUIET)
        if "unshare:" in done.stderr:
            raise Skip(done.stderr.strip())
        assert "/proc belongs to another PID namespace" in done.stderr, done
        assert done.returncode == 2, done
    # From outside, in a mount namespace whose /proc does not list us.
    with subprocess.Popen(["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "sh", "-c",
                           "echo up; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout.readline() != "up\n":
            raise Skip("cannot mount /proc in a namespace")
        child = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0]
        done = subprocess.run(["nsenter", "--preserve-credentials", "--user", "--mount", "--target", child, FIZEAU, "dump", "1"],
                              capture_output=True, text=True, timeout=120, env=QUIET)
        process.communicate("\n")
    if "nsenter:" in done.stderr:
        raise Skip(done.stderr.strip())
    assert "/proc belongs to another PID namespace" in done.stderr and done.returncode == 2, done


@suite.test("doctor reports each")
def doctor():
    done = subprocess.run([DENIED, "perf_event_open=EPERM,process_vm_readv=EPERM", FIZEAU, "doctor"],
                          capture_output=True, text=True, env=QUIET)
    if done.returncode == 77:
        raise Skip(done.stderr.strip())
    assert "refused; using /proc/PID/mem" in done.stdout, done.stdout
    assert "schedstat" in done.stdout, done.stdout


if __name__ == "__main__":
    suite.main()
