"""What the recordings in this folder ran: python3.15 program.py plain|deep|threads."""

import sys
import threading
import time


def leaf(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def middle(seconds):
    leaf(seconds / 2)
    leaf(seconds / 2)


def deep(n, seconds):
    return deep(n - 1, seconds) if n else middle(seconds)


class Größe:
    def naïve(self, seconds):
        middle(seconds)
        time.sleep(seconds)


def threads():
    workers = [threading.Thread(target=middle, args=(0.2,), name=f"worker {i}") for i in range(3)]
    for worker in workers:
        worker.start()
    time.sleep(0.05)
    for worker in workers:
        worker.join()


def main(kind):
    if kind == "threads":
        threads()
    elif kind == "deep":
        for n in (3, 90, 200):
            deep(n, 0.1)
    else:
        for _ in range(3):
            middle(0.05)
            Größe().naïve(0.05)


main(sys.argv[1])
