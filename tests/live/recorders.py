"""Waiting for samples instead of for a time: every recorder answers on the socket on which it hears marks."""

import pathlib
import signal
import socket
import subprocess

from livelib import BROKEN, FIZEAU, broken, wait_until

# For the text of a program: ENOUGH = 20; seen = taken(); while taken() < seen + ENOUGH: work. What is asked is the
# recorder of this process or of one that it descends from; it has taken none until it answers.
TAKEN = """\
import os, socket, time
def ancestors(pid):
    try:
        while pid > 1:
            yield pid
            pid = int(open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[1])
    except OSError:
        pass
def taken(began=time.monotonic(), at_start=list(ancestors(os.getpid()))):
    for pid in [os.getpid()] + at_start:
        with socket.socket(socket.AF_UNIX) as s:
            try:
                s.connect("\\0fizeau-recorder-%d" % pid)
                s.sendall(b"status\\n")
                return int(s.makefile().readline().split("samples=")[1].split()[0])
            except (OSError, IndexError):
                pass
    if time.monotonic() > began + 120:
        os._exit(98)
    return 0
"""

# Work until so many samples more were taken.
LASTING = TAKEN + """\
def last(more=20):
    seen = taken()
    while taken() < seen + more:
        sum(range(5000))
"""


def samples(pid):
    """How many samples the recorder of a process has; None: it does not answer."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        try:
            s.connect(f"\0fizeau-recorder-{pid}")
            s.sendall(b"status\n")
            return int(s.makefile().readline().split("samples=")[1].split()[0])
        except (OSError, IndexError):
            return None


def wait_for_samples(pid, more=20, recorder=None):
    """Until that many more than now; the recorder must not end meanwhile."""
    def enough():
        assert recorder is None or recorder.poll() is None, f"the recorder ended: {recorder.communicate()}"
        return (samples(pid) or 0) >= seen + more
    seen = samples(pid) or 0
    wait_until(enough, f"{more} samples")


def attach(pid, *words, more=20, command="attach", program=FIZEAU, end=signal.SIGINT, **options):
    """`fizeau attach` until it has so many samples; what livelib's fizeau() would return."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    with subprocess.Popen([program, command, *map(str, words), str(pid)], **options) as recorder:
        try:
            wait_until(lambda: recorder.poll() is not None or (samples(pid) or 0) >= more, f"{more} samples")
            if recorder.returncode is None:
                recorder.send_signal(end)
            said = recorder.communicate(timeout=120)
        finally:
            recorder.kill()
    done = subprocess.CompletedProcess(recorder.args, recorder.returncode, *said)
    if done.returncode in BROKEN or "Sanitizer" in str(done.stderr):
        broken.append(done)
    return done


def state(pid, task=None):
    """The letter of a process, or of one of its threads: R, S, D, T, t, Z."""
    return pathlib.Path(f"/proc/{pid}/task/{task or pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]


def tracer(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(errors="replace")
    return int(status.split("TracerPid:")[1].split()[0])


def cpu_ticks(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


def wait_for_work(pid, ticks=5):
    """Until it has used CPU time from now on."""
    before = cpu_ticks(pid)
    wait_until(lambda: cpu_ticks(pid) >= before + ticks, "work")
