#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The counting tool, built for a newer Debian's Valgrind and run by it: it must count what that
Valgrind's callgrind counts, and the same trees as under this machine's own."""

import os
import shutil
import subprocess
import sys
import tempfile

import test_count
from livelib import FIZEAU, FORKY, SANITIZED, SOURCE, Skip, Suite

suite = Suite()

# Stands for the command valgrind: that is a program of the newer Debian, which starts only there.
# All it does is to find the tool, itself a static program that runs anywhere.
LAUNCHER = """#!/bin/sh
export VALGRIND_LIB="${VALGRIND_LIB:-%s/usr/libexec/valgrind}" VALGRIND_LAUNCHER="$0"
tool=none
for word; do
	case $word in --tool=*) tool=${word#--tool=} ;; -*) ;; *) break ;; esac
done
exec "$VALGRIND_LIB/$tool-amd64-linux" "$@"
"""


def newer(folder):
    """A copy of fizeau with a tool for the newer Valgrind; the environment to run it in."""
    if SANITIZED:
        raise Skip("the tool is built without sanitizers")
    if not os.path.exists(FORKY / "usr/lib/x86_64-linux-gnu/pkgconfig/valgrind.pc"):
        raise Skip("the Debian forky root has no valgrind (tests/roots makes it)")
    libraries = FORKY / "usr/lib/x86_64-linux-gnu"
    build = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=str(FORKY),
                 PKG_CONFIG_LIBDIR=str(libraries / "pkgconfig"))
    subprocess.run([SOURCE / "valgrind/build", SOURCE / "valgrind",
                    os.path.join(folder, "valgrind/lib"), os.environ.get("CC", "cc")],
                   env=build, check=True)
    shutil.copy(FIZEAU, os.path.join(folder, "fizeau"))
    launcher = os.path.join(folder, "valgrind/valgrind")
    with open(launcher, "w") as file:
        file.write(LAUNCHER % FORKY)
    os.chmod(launcher, 0o755)
    return dict(os.environ, FIZEAU=os.path.join(folder, "fizeau"),
                PATH=f"{folder}/valgrind:{os.environ['PATH']}")


# Of test_count.py.
CASES = [
    "=a C program: as many instructions as callgrind says",
    "=a C program: calls through tail jumps, longjmp, signals and the allocator",
    "=a C program: the same tree in every run",
    "=cache misses with a fixed geometry, as callgrind counts them",
    "=debian-3.11: Python functions, with their calls",
    "=programs that fork and exec are counted, each for itself",
]


@suite.test("forky's Valgrind: counts equal callgrind's; calls, signals, Python, fork and exec")
def check_forky():
    test_count.need_tool()
    with tempfile.TemporaryDirectory() as folder:
        env = newer(folder)
        done = subprocess.run([sys.executable, test_count.__file__, *CASES], env=env,
                              capture_output=True, text=True, timeout=400)
        assert done.returncode == 0 and f"\n1..{len(CASES)}\n" in done.stdout, \
            done.stdout + done.stderr
        with open(os.path.join(folder, "valgrind/lib/VERSION")) as file:
            return file.read().strip()


@suite.test("forky's Valgrind: the same trees as this machine's")
def check_same():
    test_count.need_tool()
    with tempfile.TemporaryDirectory() as folder:
        env = newer(folder)
        program = test_count.compiled(folder)
        seen = {}
        for name, binary in (("here", FIZEAU), ("forky", env["FIZEAU"])):
            out = os.path.join(folder, f"{name}.fz")
            subprocess.run([binary, "run", "--count", "-o", out, "--", program], check=True,
                           capture_output=True, env=env if name == "forky" else None)
            seen[name] = test_count.run("replay", "--collapsed", "-o", "-", out).stdout
            shown = test_count.run("show", out).stdout
            seen[name + " version"] = [line for line in shown.splitlines()
                                       if line.startswith("valgrind ")]
        assert seen["here"] == seen["forky"] != "", "two Valgrinds, two trees"
        return " and ".join(seen[f"{name} version"][0].split()[1] for name in ("here", "forky"))


suite.main()
