#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPython 3.15's own tests of its sampling profiler, with fizeau as its sampler, its reader and its command.

tachyon_shim.py says how. A test that fails must be one of DIFFERENT, whose reasons stand there, and
those must fail. MODULES says how many must go through us; the others of a module have mocks or none of
our parts, and prove nothing. Modules that have no test for us (of the live view, of the task graph, of
printed stacks) are not run.
"""

import json
import os
import pathlib
import shutil
import subprocess

from livelib import FIZEAU, FORKY, SANITIZED, SOURCE, Skip, Suite, find_interpreter

suite = Suite()

PACKAGE = "usr/lib/python3.15/test/test_profiling/test_sampling_profiler"
# How many tests of a module go through us, at least: (recordings, files read, commands).
MODULES = {
    "test_advanced": (4, 0, 1),
    "test_binary_format": (0, 70, 0),
    "test_blocking": (1, 0, 0),
    "test_children": (0, 0, 3),
    "test_cli": (0, 1, 0),
    "test_collectors": (0, 3, 0),
    "test_integration": (8, 0, 0),
    "test_modes": (3, 0, 0),
}
SAMPLES = [name for name, (recordings, _, commands) in MODULES.items() if recordings or commands]

# What is different, and why.
DIFFERENT = {
    "TestBinaryFormatValidation.test_open_accepts_frame_count_at_capacity_boundary":
        "a frame table that says it has more frames than are there is damaged",
    "TestBinaryReplayToFlamegraph.test_legacy_binary_has_no_measured_stats":
        "a file without a duration gets one when it is written anew: the time of its last sample",
    "TestBinaryRoundTrip.test_status_flags_preserved":
        "a thread is the main one in all of its samples or in none",
    "TestTimestampPreservation.test_timestamp_preservation":
        "times count from the start of the recording, and these lie before it",
    "TestTimestampPreservation.test_timestamp_preservation_with_rle":
        "times count from the start of the recording, and these lie before it",
}


def our_command():
    """fizeau as a program inside of the root: this system's loader and libraries, seen through /proc."""
    host = f"/proc/{os.getpid()}/root"
    return [host + os.path.realpath("/lib64/ld-linux-x86-64.so.2"), "--library-path",
            f"{host}/lib/x86_64-linux-gnu:{host}/usr/lib/x86_64-linux-gnu", host + os.path.realpath(FIZEAU)]


def run(module):
    """Outcome of each test of a module, by its class and name."""
    python = find_interpreter("forky-3.15")
    if not (FORKY / PACKAGE / f"{module}.py").exists():
        raise Skip("the root has no libpython3.15-testsuite (tests/roots installs it)")
    with python.scratch() as folder:
        folder = pathlib.Path(folder)
        os.chmod(folder, 0o755)
        shutil.copy(SOURCE / "tests" / "live" / "tachyon_shim.py", folder)
        (folder / "bin").mkdir()
        (folder / "bin" / "python3").symlink_to("/usr/bin/python3.15")
        inside = python.path(folder)
        environment = {**os.environ, "FIZEAU_COMMAND": json.dumps(our_command()), "LC_ALL": "C.UTF-8",
                       "PATH": f"{inside}/bin:/usr/bin:/bin", "HOME": inside, "TMPDIR": inside}
        environment.pop("XDG_CACHE_HOME", None)
        done = subprocess.run([*python.command, f"{inside}/tachyon_shim.py", f"{inside}/told.json", module],
                              env=environment, capture_output=True, text=True, timeout=400)
        told = folder / "told.json"
        assert told.exists(), (done.stdout + done.stderr)[-2000:]
        return {".".join(name.split(".")[-2:]): test for name, test in json.loads(told.read_text()).items()}


def check(module):
    if SANITIZED and module in SAMPLES:
        raise Skip("with sanitizers fizeau is too slow for what these tests expect of samples")
    tests = run(module)
    failed = {name: test["said"] for name, test in tests.items() if test["outcome"] == "failed"}
    unexpected = {name: said[-1500:] for name, said in failed.items() if name not in DIFFERENT}
    assert not unexpected, "\n".join(f"{name}: {said}" for name, said in unexpected.items())
    gone = [name for name in DIFFERENT if name in tests and name not in failed]
    assert not gone, f"no longer different: {gone}"
    ours = [sum(test["used"].get(seam, 0) > 0 for test in tests.values())
            for seam in ("sampler", "reader", "command")]
    assert all(n >= least for n, least in zip(ours, MODULES[module])), f"went through us: {ours}"
    through = sum(bool(test["used"]) and test["outcome"] == "ok" for test in tests.values())
    return f"{len(tests)} tests, {through} passed through fizeau, {len(failed)} different"


for _module in MODULES:
    suite.add(f"{_module} of CPython 3.15", check, _module)

if __name__ == "__main__":
    suite.main()
