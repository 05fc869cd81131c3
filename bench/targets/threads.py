# SPDX-License-Identifier: MIT
"""threads.py N: N threads of pure Python work, ten calls deep, that contend for the GIL."""
import sys
import threading


def add(n):
    total = 0
    for i in range(n):
        total += i
    return total


def leaf():
    while True:
        add(200)


def nest(n):
    if n == 0:
        leaf()
    else:
        nest(n - 1)


threads = [threading.Thread(target=nest, args=(5,), daemon=True) for _ in range(int(sys.argv[1]))]
for thread in threads:
    thread.start()
print("ready", flush=True)
for thread in threads:
    thread.join()
