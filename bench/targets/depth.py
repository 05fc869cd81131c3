# SPDX-License-Identifier: MIT
"""depth.py DEPTH [ROUNDS]: one busy thread DEPTH calls deep whose leaf alternates.

Without ROUNDS it works until it is killed; with them it does that much work and prints the wall
and the CPU seconds that it took.
"""
import sys
import time


def add(n):
    total = 0
    for i in range(n):
        total += i
    return total


def mix(n):
    total = 0
    for i in range(n):
        total ^= i
    return total


def leaf(rounds):
    while rounds:
        add(200)
        mix(200)
        rounds -= 1


def nest(n, rounds):
    if n == 0:
        leaf(rounds)
    else:
        nest(n - 1, rounds)


sys.setrecursionlimit(10**6)
depth = int(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else -1
print("ready", flush=True)
if rounds > 0:
    sys.stdin.readline()
wall, cpu = time.perf_counter(), time.process_time()
nest(depth - 4, rounds)
print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
