#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where the kernel refuses what fizeau asks for first, as in containers: one line that says what
stands for it, and a recording all the same; or one line with the remedy.

tests/live/denied.c lets a system call fail; the rest is real.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from livelib import FIZEAU, SOURCE, Skip, Suite, find_interpreter, fizeau

BUILD = pathlib.Path(os.environ.get("FZ_BUILD", SOURCE / "build"))
DENIED = BUILD / "tests" / "denied"

# Looking for leaks takes the calls that are refused here.
QUIET = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}

# A program with as many children as it is told.
FAMILY = """import subprocess, sys, time
def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
busy(0.25)
for _ in range(int(sys.argv[1])):
    subprocess.run([sys.executable, __file__, "0"])
"""

CLOCK = "--clock cpu: perf is not allowed here"
CHILDREN = "--subprocesses: perf is not allowed here"

suite = Suite()


class Recorded:
    """A run of FAMILY for which some calls are refused."""

    def __init__(self, refused, *options, user=None):
        python = find_interpreter("debian-3.11")
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            script, recording = pathlib.Path(folder, "family.py"), pathlib.Path(folder, "r.fz")
            script.write_text(FAMILY)
            fizeau_here = shutil.copy(FIZEAU, folder) if user else FIZEAU
            denied_here = shutil.copy(DENIED, folder) if user else DENIED
            command = [*([denied_here, refused] if refused else []), fizeau_here, "run", *options,
                       "-o", recording, "--", *python.command, script,
                       2 if "--subprocesses" in options else 0]
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
                self.json = json.loads(shown.stdout)
                self.facts = fizeau("show", recording).stdout

    def expect(self, *warnings):
        assert self.status == 0, self.text
        assert len(self.warnings) == len(warnings), self.text
        for said, wanted in zip(self.warnings, warnings):
            assert wanted in said and ("sysctl" in said or "container" in said), said
        assert "busy" in {f["name"] for f in self.json["functions"]}, self.json["functions"]


@suite.test("perf is refused: children are looked for in /proc")
def no_events():
    r = Recorded("perf_event_open=EPERM", "--subprocesses")
    r.expect(CHILDREN)
    assert "looking through /proc" in r.facts, r.facts
    assert len(r.json["processes"]) == 3, r.json["processes"]


@suite.test("perf is refused: CPU time comes from schedstat")
def no_clock():
    r = Recorded("perf_event_open=EACCES", "--clock", "cpu")
    r.expect(CLOCK)
    assert "schedstat" in r.facts, r.facts


@suite.test("there is no perf: both, each with its line")
def no_perf():
    r = Recorded("perf_event_open=ENOSYS", "--clock", "cpu", "--subprocesses")
    r.expect(CLOCK, CHILDREN)
    assert len(r.json["processes"]) == 3, r.json["processes"]


@suite.test("perf is refused: native stacks need none")
def native_without_perf():
    Recorded("perf_event_open=EPERM", "--native=stacks").expect()


for code in ("ENOSYS", "EPERM"):
    @suite.test(f"process_vm_readv fails with {code}: memory is read from /proc")
    def no_readv(code=code):
        Recorded(f"process_vm_readv={code}").expect()
        Recorded(f"process_vm_readv={code}", "--native=stacks").expect()


for option in ("--blocking", "--native=stacks"):
    @suite.test(f"ptrace is refused: {option} says what is needed")
    def no_ptrace(option=option):
        r = Recorded("ptrace=EPERM", option)
        assert r.status == 0, r.text  # that of the program
        assert len(r.said) == 1 and "--cap-add=SYS_PTRACE" in r.said[0], r.text


@suite.test("pidfd_open is refused: what is needed")
def no_pidfd():
    r = Recorded("pidfd_open=EPERM")
    assert r.status == 125, r.text
    assert len(r.said) == 1 and "Linux 5.3" in r.said[0], r.text
    done = subprocess.run([DENIED, "pidfd_open=ENOSYS", FIZEAU, "attach", str(os.getpid())],
                          capture_output=True, text=True, env=QUIET)
    assert done.returncode == 2 and "Linux 5.3" in done.stderr, done
    assert done.stderr.count("\n") == 1, done.stderr


@suite.test("a debugger is attached already: who that is")
def debugged():
    python = find_interpreter("debian-3.11")
    target = subprocess.Popen([*python.command, "-c", "import time; time.sleep(100)"])
    tracer = subprocess.Popen([*python.command, "-c", TRACER, str(target.pid)],
                              stdout=subprocess.PIPE, text=True)
    try:
        if tracer.stdout.readline() != "traces\n":
            raise Skip("ptrace is not allowed here")
        done = fizeau("attach", "--blocking", "-d", "1", target.pid)
        assert done.returncode == 2, done
        assert f"process {tracer.pid} traces it" in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
    finally:
        for process in (tracer, target):
            process.kill()
            process.wait()


TRACER = """import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
print("traces" if libc.ptrace(0x4206, int(sys.argv[1]), 0, 0) == 0 else "no", flush=True)
time.sleep(100)
"""


@suite.test("a user without rights: a program of his own, in every way")
def unprivileged():
    if os.geteuid() != 0:
        raise Skip("needs root to become another user")
    for options in ([], ["--subprocesses"], ["--native=stacks"], ["--blocking"]):
        Recorded(None, *options, user=65534).expect()
    r = Recorded("perf_event_open=EACCES", "--subprocesses", "--clock", "cpu", user=65534)
    r.expect(CLOCK, CHILDREN)


@suite.test("doctor tells of each")
def doctor():
    done = subprocess.run([DENIED, "perf_event_open=EPERM,process_vm_readv=EPERM", FIZEAU, "doctor"],
                          capture_output=True, text=True, env=QUIET)
    if done.returncode == 77:
        raise Skip(done.stderr.strip())
    assert "refused; /proc/PID/mem serves" in done.stdout, done.stdout
    assert "schedstat" in done.stdout, done.stdout


if __name__ == "__main__":
    suite.main()
