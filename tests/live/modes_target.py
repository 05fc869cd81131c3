"""A program that measures itself: it times its sections and prints them when it is done.

    modes_target.py SECONDS [threads]

It prints {section: [wall time, CPU time, turns]}; a turn of a section that sleeps sleeps for TIME.
Each section is a function of that name. What a sampler should find in each mode follows from what
a section does:

    section          holds the GIL  on a CPU  has an exception
    compute                x            x
    nogil                               x
    sleeping
    handling               x            x             x
    handling_sleep                                    x
    gen_in_handler         x            x             x        a generator runs inside an except block
    handler_in_gen         x            x             x        the except block is the generator's
    handler_of_caller      x            x             x        the except block is a caller's
    after_handler          x            x                      the exception is dealt with
    finally_clause         x            x             x        on its way up, inside finally
"""
import hashlib
import json
import sys
import threading
import time

TIME = 0.03
BLOB = b"x" * 4_000_000
spent = {}


def compute():
    end = time.perf_counter() + TIME
    while time.perf_counter() < end:
        pass


def nogil():
    end = time.perf_counter() + TIME
    while time.perf_counter() < end:
        hashlib.sha256(BLOB)


def sleeping():
    time.sleep(TIME)


def handling():
    try:
        raise ValueError
    except ValueError:
        compute()


def handling_sleep():
    try:
        raise ValueError
    except ValueError:
        time.sleep(TIME)


def plain_generator():
    while True:
        compute()
        yield


def gen_in_handler(generator=plain_generator()):
    try:
        raise ValueError
    except ValueError:
        next(generator)


def handling_generator():
    while True:
        try:
            raise KeyError
        except KeyError:
            yield compute()


def handler_in_gen(generator=handling_generator()):
    next(generator)


def handler_of_caller():
    try:
        raise ValueError
    except ValueError:
        middle()


def middle():
    compute()


def after_handler():
    try:
        raise ValueError
    except ValueError:
        pass
    compute()


def finally_clause():
    try:
        try:
            raise ValueError
        finally:
            compute()
    except ValueError:
        pass


SECTIONS = [compute, nogil, sleeping, handling, handling_sleep, gen_in_handler, handler_in_gen,
            handler_of_caller, after_handler, finally_clause]


def main(seconds):
    stop = time.perf_counter() + seconds
    while time.perf_counter() < stop:
        for section in SECTIONS:
            start = time.perf_counter(), time.thread_time()
            section()
            wall, cpu, turns = spent.get(section.__name__, (0, 0, 0))
            spent[section.__name__] = (wall + time.perf_counter() - start[0],
                                       cpu + time.thread_time() - start[1], turns + 1)
    print(json.dumps(spent), flush=True)


if __name__ == "__main__":
    print("up", flush=True)
    main(float(sys.argv[1]))
