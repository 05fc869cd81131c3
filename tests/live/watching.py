# SPDX-License-Identifier: MIT
"""What the cases of the gate wait for: conditions that must come, however slow the machine is."""

import json
import pathlib
import subprocess

from livelib import FIZEAU, Target, fizeau, wait_until

PATIENCE = 120  # seconds


def waits(pid):
    """Whether each thread of a process sleeps."""
    def state(stat):
        try:
            return stat.read_text(errors="replace").rpartition(")")[2].split()[0]
        except OSError:
            return "S"  # it ended
    return all(state(stat) == "S" for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"))


def waiting(python, code, *words, **options):
    """A Target that said "up" and waits for good."""
    target = Target(python, code, *words, **options)
    wait_until(lambda: waits(target.pid), "its wait")
    return target


def switches(pid):
    """How often the first thread of a process gave up its processor to wait."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary"))


def rows_of(path, *options):
    """[[frame, ...]] of the stacks in a recording, also while it grows, thread first; none if it has no sample yet."""
    done = fizeau("replay", "--collapsed", "-o", "-", *options, path)
    return [line.rpartition(" ")[0].split(";") for line in done.stdout.splitlines()] if done.returncode == 0 else []


def functions_of(path):
    """Names of functions in a recording, also while it grows."""
    done = fizeau("replay", "--format", "json", "-o", "-", path)
    return {f["name"] for f in json.loads(done.stdout)["functions"]} if done.returncode == 0 else set()


class Recorder:
    """fizeau at work, until the block ends: then it ends on its own, or by SIGINT, with status 0."""

    def __init__(self, *words, path, **options):
        self.path = pathlib.Path(path)
        self.said = None
        self.process = subprocess.Popen([FIZEAU, *map(str, words)], stderr=subprocess.PIPE, text=True, **options)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.end()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()

    def end(self, interrupt=True):
        if interrupt and self.process.poll() is None:
            self.process.send_signal(2)
        self.said = self.process.communicate(timeout=PATIENCE)[1]
        assert self.process.returncode == 0, (self.process.returncode, self.said)

    def until(self, condition, what="a sample"):
        """Go on until the condition holds for the recording so far."""
        return wait_until(lambda: condition(self.path) or self.lives(), what, PATIENCE)

    def lives(self):
        """False, as conditions want it, or an error."""
        if self.process.poll() is not None:
            raise AssertionError(f"it ended: {self.process.communicate()[1]}")
        return False

    def until_seen(self, *names):
        self.until(lambda path: set(names) <= functions_of(path), f"a sample of each of {names}")
