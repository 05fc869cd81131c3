# SPDX-License-Identifier: MIT
"""depth.py DEPTH [PIECES]: one busy thread DEPTH calls deep whose leaf alternates.

Without PIECES it works until it is killed. With them it waits for a line, does so many equal
pieces of work and prints the wall and the CPU seconds of the median piece, which a moment of
somebody else's work does not move.
"""
import statistics
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


def piece(rounds):
    for _ in range(rounds):
        add(200)
        mix(200)


def leaf(pieces):
    while not pieces:
        add(200)
        mix(200)
    wall, cpu = [], []
    for _ in range(pieces):
        wall_begin, cpu_begin = time.perf_counter(), time.process_time()
        piece(500)
        wall.append(time.perf_counter() - wall_begin)
        cpu.append(time.process_time() - cpu_begin)
    print(statistics.median(wall), statistics.median(cpu), flush=True)


def nest(n, pieces):
    if n == 0:
        leaf(pieces)
    else:
        nest(n - 1, pieces)


sys.setrecursionlimit(10**6)
depth = int(sys.argv[1])
pieces = int(sys.argv[2]) if len(sys.argv) > 2 else 0
print("ready", flush=True)
if pieces:
    sys.stdin.readline()
nest(depth - 4, pieces)
