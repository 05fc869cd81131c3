"""Calls through every kind of instruction that can call Python code; prints the instruction that
dis finds at each frame, outermost first, and sleeps. Everything ran often before, so that it is
specialised where it can be."""

import dis
import json
import sys
import time


def innermost(warm):
    if warm:
        return 0
    names = []
    frame = sys._getframe(1)
    while frame:
        at = [i for i in dis.get_instructions(frame.f_code, adaptive=True)
              if i.offset <= frame.f_lasti][-1]
        names.append((frame.f_code.co_name, at.opname))
        frame = frame.f_back
    print(json.dumps(names[::-1]), flush=True)
    time.sleep(100)


def call(warm):
    return innermost(warm)


def default(warm, more=1):
    return call(warm)


def keyword(warm):
    return default(warm=warm)


def sequence(warm):
    yield keyword(warm)


def loop(warm):
    for value in sequence(warm):
        return value


def delegate(warm):
    yield from sequence_of(warm)


def sequence_of(warm):
    yield loop(warm)


class Thing:
    def __init__(self, warm):
        self.warm = warm

    @property
    def value(self):
        return next(delegate(self.warm))

    def __getitem__(self, more):
        return self.value + more

    def __add__(self, more):
        return self[more]


class Made:
    def __init__(self, thing):
        self.sum = thing + 1


def star(*things):
    return [Made(thing) for thing in things]


thing = Thing(True)
for turn in range(300):
    star(thing)
thing.warm = False
star(thing)
