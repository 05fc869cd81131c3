#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Three of the regressions that bench/planted.py plants: a client that follows the tools of fizeau
mcp reaches the line."""

import os
import subprocess
import sys

from livelib import FIZEAU, SANITIZED, SOURCE, Skip, Suite

suite = Suite()


@suite.test("three planted regressions are reached in four calls and 2,000 tokens")
def check_planted():
    if SANITIZED:
        raise Skip("a recorder with sanitizers is too slow for it")
    done = subprocess.run([sys.executable, str(SOURCE / "bench" / "planted.py"), "--count", "3", "--seed", "4",
                           "--at-least", "3", "-v"], capture_output=True, text=True, timeout=280,
                          env=dict(os.environ, FIZEAU=FIZEAU))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip().splitlines()[-1]


if __name__ == "__main__":
    suite.main()
