"""What the recordings in this folder ran: python3.15 program.py before|after|threads."""

import sys
import threading
import time


def parse(text, times):
    total = 0
    for _ in range(times):
        for word in text.split():
            total += len(word)
    return total


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def dropped(n):
    return sum(i * i for i in range(n)) + helper(n)


def added(n):
    return helper(n) + helper(n // 2)


def helper(n):
    total = 0
    for i in range(n):
        total ^= i
    return total


def request(kind):
    slow = 3 if kind == "after" else 1
    parse("the quick brown fox jumps over the lazy dog " * 20, 4 * slow)
    fib(9)
    if kind == "after":
        added(300)
    else:
        dropped(300)
    helper(400)


def serve(kind, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        request(kind)


def main(kind):
    others = [threading.Thread(target=serve, args=("before", 0.4))
              for _ in range(2 if kind == "threads" else 0)]
    for thread in others:
        thread.start()
    serve(kind, 0.6)
    for thread in others:
        thread.join()


main(sys.argv[1])
