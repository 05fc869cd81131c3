#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What include/fizeau.h says of threads, by tests/threads.c under ThreadSanitizer."""

import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FZ_BUILD", TOP / "build"))
DATA = TOP / "tests" / "data" / "tachyon-diff"
NAME = "libfizeau: several threads at once"
# Where addresses are too random for this ThreadSanitizer, and fixing them is refused, too.
NO_ROOM = ("unexpected memory mapping", "failed to set personality")


def run():
    """(exit status, output) of the program, or of its build if that fails."""
    made = subprocess.run(["ninja", "-C", BUILD, "tests/threads"], capture_output=True, text=True)
    if made.returncode:
        return made.returncode, made.stdout
    done = subprocess.run(["setarch", "-R", BUILD / "tests" / "threads", DATA / "base.bin", DATA / "head.bin"],
                          capture_output=True, text=True, timeout=600,
                          env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1"})
    return done.returncode, done.stdout + done.stderr


def main():
    print("1..1")
    if "FZ_SANITIZED" in os.environ:
        print(f"ok 1 - {NAME} # SKIP one sanitizer at a time")
        return
    status, said = run()
    if any(words in said for words in NO_ROOM):
        print(f"ok 1 - {NAME} # SKIP ThreadSanitizer: {said.strip().splitlines()[0]}")
    elif status or said != "done\n":
        print(f"not ok 1 - {NAME}\n# " + said[-6000:].replace("\n", "\n# "))
        sys.exit(1)
    else:
        print(f"ok 1 - {NAME}")


if __name__ == "__main__":
    main()
