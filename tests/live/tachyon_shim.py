# SPDX-License-Identifier: MIT
"""Run CPython's tests of its sampling profiler with fizeau in place of its sampler.

Inside of Debian's root, by python3.15: tachyon_shim.py RESULT MODULE... Collectors and assertions stay
CPython's. Three seams are ours:

  SampleProfiler.sample     records with `fizeau attach --binary` and replays that into the collector
  BinaryReader              reads what `fizeau replay --binary` made of the file
  python -m profiling.sampling in a process of its own is `fizeau`

RESULT gets a JSON object: of each test its outcome, its words, and how often each seam was used. A
test with a fake unwinder, or of asyncio (which a .bin cannot hold), keeps CPython's sampler.
FIZEAU_COMMAND is our command line as a JSON list.
"""

import collections
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

import _remote_debugging
from profiling.sampling import binary_reader, constants, sample
from profiling.sampling.binary_collector import BinaryCollector

FIZEAU = json.loads(os.environ["FIZEAU_COMMAND"])
MODES = {constants.PROFILING_MODE_WALL: "wall", constants.PROFILING_MODE_CPU: "cpu",
         constants.PROFILING_MODE_GIL: "gil", constants.PROFILING_MODE_EXCEPTION: "exception"}

used = collections.Counter()
Unwinder = _remote_debugging.RemoteUnwinder
Popen = subprocess.Popen
sample_theirs = sample.SampleProfiler.sample
init_theirs = sample.SampleProfiler.__init__
enter_theirs = binary_reader.BinaryReader.__enter__


def fizeau(*args):
    with Popen([*FIZEAU, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
               text=True) as process:
        out, err = process.communicate()
    return process.returncode, out + err


def init(self, *args, **options):
    init_theirs(self, *args, **options)
    self.asked = options


def attach_options(self, duration):
    asked = self.asked
    yield from ("-r", str(max(1, 1_000_000 // self.sample_interval_usec)))
    yield from ("--mode", MODES.get(self.mode, "wall"))
    if duration is not None:
        yield from ("-d", str(duration))
    for wanted, option in ((self.all_threads, "-a"), (asked.get("native"), "--native"),
                           (not asked.get("gc", True), "--no-gc"), (asked.get("opcodes"), "--opcodes"),
                           (self.blocking, "--blocking")):
        if wanted:
            yield option


def sample_ours(self, collector, duration_sec=None, *, async_aware=False):
    is_live = sample.LiveStatsCollector and isinstance(collector, sample.LiveStatsCollector)
    if type(self.unwinder) is not Unwinder or async_aware or is_live:
        return sample_theirs(self, collector, duration_sec, async_aware=async_aware)
    used["sampler"] += 1
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "r.bin")
        status, said = fizeau("attach", *attach_options(self, duration_sec), "--binary", "-o", recording,
                              self.pid)
        if status:
            raise RuntimeError(said)
        info = {"sample_count": 0, "duration_sec": 0, "sample_rate": 0}
        if os.path.exists(recording):  # not when nothing was there to be sampled
            reader = binary_reader.BinaryReader(recording)
            enter_theirs(reader)
            info |= reader.get_info()
            reader.replay_samples(collector)
            reader.__exit__(None, None, None)
    seconds, rate = info.get("duration_sec") or 0, info.get("sample_rate") or 0
    print(f"Captured {info['sample_count']} samples in {seconds:.2f} seconds")
    print(f"Sample rate: {rate:.2f} samples/sec")
    print("Error rate: 0.00")
    if hasattr(collector, "set_stats"):
        collector.set_stats(self.sample_interval_usec, seconds, rate, 0, 0, mode=self.mode)


class Sink:
    def collect(self, *_, **__):
        pass


def cpython_reads(path):
    try:
        with contextlib.closing(_remote_debugging.BinaryReader(path)) as reader:
            reader.replay(Sink(), None)
    except (ValueError, OSError, MemoryError):
        return False
    return True


def enter_ours(self):
    """CPython must reject what fizeau rejects: the test then gets CPython's messages."""
    with tempfile.TemporaryDirectory() as folder:
        ours = os.path.join(folder, "ours.bin")
        status, said = fizeau("replay", os.fspath(self.filename), "--binary", "-o", ours)
        used["reader"] += 1
        if status:
            assert not cpython_reads(self.filename), f"fizeau refuses what CPython reads: {said}"
            return enter_theirs(self)
        self.filename, name = ours, self.filename
        enter_theirs(self)
        self.filename = name
    return self


def words_of_profiler(args):
    """The arguments after `python -X option -m profiling.sampling`; None if it is another command."""
    words = list(args) if isinstance(args, (list, tuple)) else []
    for at, word in enumerate(words[:6]):
        if word == "-m":
            is_it = words[0] == sys.executable and words[at + 1:at + 2] == ["profiling.sampling"]
            return words[at + 2:] if is_it else None
    return None


class PopenOurs(Popen):
    def __init__(self, args, *rest, **options):
        words = words_of_profiler(args)
        if words is not None:
            used["command"] += 1
            args = [*FIZEAU, *words]
        super().__init__(args, *rest, **options)


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.told = {}

    def startTest(self, test):
        super().startTest(test)
        used.clear()
        self.told[test.id()] = {"outcome": "ok", "said": ""}

    def stopTest(self, test):
        super().stopTest(test)
        self.told[test.id()]["used"] = dict(used)

    def tell(self, test, outcome, said):
        self.told.setdefault(test.id(), {"used": {}}).update(outcome=outcome, said=said)

    def addFailure(self, test, err):
        self.tell(test, "failed", self._exc_info_to_string(err, test))

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        if err:
            self.addFailure(test, err)

    def addSkip(self, test, reason):
        self.tell(test, "skipped", reason)


def main(out, *modules):
    sample.SampleProfiler.__init__ = init
    sample.SampleProfiler.sample = sample_ours
    binary_reader.BinaryReader.__enter__ = enter_ours
    subprocess.Popen = PopenOurs
    package = "test.test_profiling.test_sampling_profiler"
    os.chdir(tempfile.gettempdir())
    result = Result()
    for module in modules:
        unittest.defaultTestLoader.loadTestsFromName(f"{package}.{module}").run(result)
    with open(out, "w", encoding="utf-8") as file:
        json.dump(result.told, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
