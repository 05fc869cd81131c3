# Print code objects of some of the standard library with the position of every instruction, as
# this interpreter itself understands its line tables:
#
#   code FIRST_LINE TABLE_HEX
#   OFFSET LINE END_LINE COLUMN END_COLUMN      -1: none
import dis
import importlib
import sys

MODULES = ["argparse", "ast", "collections", "dataclasses", "functools", "inspect", "json.decoder",
           "logging", "re", "subprocess", "textwrap", "typing", "asyncio.tasks", "contextlib"]


def number(v):
    return -1 if v is None else v


def positions(code):
    if hasattr(code, "co_positions"):
        for i, p in enumerate(code.co_positions()):
            yield (2 * i,) + tuple(number(x) for x in p[:1] + p[1:2] + p[2:])
    elif hasattr(code, "co_lines"):
        for start, end, line in code.co_lines():
            for offset in range(start, end, 2):
                yield offset, number(line), -1, -1, -1
    else:
        starts = dict(dis.findlinestarts(code))
        line = code.co_firstlineno
        for offset in range(0, len(code.co_code), 2):
            line = starts.get(offset, line)
            yield offset, line, -1, -1, -1


def walk(code):
    yield code
    for const in code.co_consts:
        if hasattr(const, "co_code"):
            yield from walk(const)


def table(code):
    for name in ("co_linetable", "co_lnotab"):
        if hasattr(code, name):
            return getattr(code, name)


for name in MODULES:
    try:
        module = importlib.import_module(name)
    except ImportError:
        continue
    with open(module.__file__, encoding="utf-8") as f:
        top = compile(f.read(), module.__file__, "exec")
    for code in walk(top):
        print("code", code.co_firstlineno, table(code).hex() or "-")
        for p in positions(code):
            print(*p)
print("end")
