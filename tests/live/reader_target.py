# A program that is hard to sample without stopping it: calls of some 50 ns, generators, callbacks
# through C, exceptions, objects, recursion. Every line that calls something calls only functions
# of this file, by plain names, so that a test can read the true call edges off the source.
#
#   reader_target.py DEPTH [THREADS]
import sys
import threading


def leaf_one(x):
    return x + 1


def leaf_two(x):
    y = leaf_one(x)
    return y


def numbers(n):
    i = 0
    while i < n:
        yield leaf_one(i)
        i += 1


def relay(n):
    for v in numbers(n):
        yield v


def consume():
    total = 0
    for v in relay(4):
        total += v
    return total


def raiser(x):
    if x:
        raise ValueError
    return x


def catcher():
    try:
        raiser(1)
    except ValueError:
        leaf_two(1)


def key(x):
    return -x


def through_c():
    return sorted([3, 1, 2], key=key)


class Thing:
    def __init__(self, v):
        self.v = leaf_one(v)

    def get(self):
        return self.v


def objects():
    thing = Thing(1)
    return thing.get()


def recurse(n):
    if n:
        return recurse(n - 1)
    return leaf_two(n)


def work():
    while True:
        consume()
        catcher()
        through_c()
        objects()
        recurse(6)
        leaf_one(1)
        leaf_two(2)


def descend(n):
    if n > 1:
        descend(n - 1)
    work()


def start():
    descend(int(sys.argv[1]))


if __name__ == "__main__":
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 0):
        threading.Thread(target=start, daemon=True).start()
    start()
