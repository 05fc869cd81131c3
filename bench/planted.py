#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Planted regressions: does a client that only follows the tools of `fizeau mcp` reach the line
that made a program slower?

    bench/planted.py [--count 30] [--seed 1] [--at-least 28] [--keep DIR] [-v]

Modules of the interpreter's own library are copied. In one of them a statement is chosen at random
among those that a workload runs, something slow is put before it (or instead of it), and the workload
is recorded with and without. The client calls changes(base, head), then whatever stands behind "next"
in the answer, and names the added line that costs most; it is right when that was planted. At most 4
calls and 2,000 tokens, estimated as docs/mcp.md says. Nothing but python3 and fizeau is needed.
"""

import argparse
import ast
import collections
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
FIZEAU = os.environ.get("FIZEAU", str(TOP / "build" / "fizeau"))
CALLS_MAX, TOKENS_MAX, BYTES_A_TOKEN = 4, 2000, 2
SECONDS = 1.2  # of a workload, by CPU time

# What one round of a workload does, by the module that it is about.
WORKLOADS = {
    "json": """
import json
data = [{"name": "n%d" % i, "values": list(range(12)), "ok": i % 2 == 0, "ratio": i / 7} for i in range(60)]
def once():
    json.dumps(data, indent=2)
""",
    "html": """
import html, html.parser
class Parser(html.parser.HTMLParser):
    def handle_data(self, data):
        html.escape(data)
page = "<p class='a' id=b>text &amp; more <b>bold</b> &lt;x&gt;</p><!-- note --><br/>" * 60
def once():
    parser = Parser()
    parser.feed(page)
    parser.close()
""",
    "csv": """
import csv, io
text = "a,b,c,d\\n" + "1,2,three,4\\n" * 400
def once():
    rows = list(csv.DictReader(io.StringIO(text)))
    out = csv.DictWriter(io.StringIO(), ["a", "b", "c", "d"])
    out.writeheader()
    out.writerows(rows)
""",
    "configparser": """
import configparser
text = "".join("[s%d]\\n" % i + "".join("key%d = value %d %%(base)s\\nbase = /x\\n".replace("base =", "base%d =" % j)
               % (j, j) for j in range(6)) + "base = 1\\n" for i in range(25))
def once():
    parser = configparser.ConfigParser(strict=False)
    parser.read_string(text)
    for section in parser.sections():
        dict(parser[section])
""",
    "difflib": """
import difflib
old = [("line %d\\n" % (i * 7 % 31)) for i in range(90)]
new = [line for i, line in enumerate(old) if i % 9] + ["more\\n"] * 3
def once():
    list(difflib.unified_diff(old, new))
    difflib.SequenceMatcher(None, "".join(old)[:300], "".join(new)[:300]).ratio()
""",
    "argparse": """
import argparse
def once():
    parser = argparse.ArgumentParser(prog="x")
    for i in range(25):
        parser.add_argument("--option-%d" % i, "-%c" % (65 + i), type=int, default=i, help="the option %(default)s")
    parser.parse_args(["--option-3", "4", "-F", "9", "--option-12=7"])
    parser.format_help()
""",
    "textwrap": """
import textwrap
text = "The quick brown fox jumps over the lazy dog, well-known as it is - or not. " * 30
def once():
    textwrap.fill(text, 60, initial_indent="* ", subsequent_indent="  ")
    textwrap.indent(textwrap.dedent("   " + text.replace(". ", ".\\n   ")), "> ")
    textwrap.shorten(text, 200)
""",
    "pprint": """
import pprint
data = {"k%d" % i: [i, {"x": (i, "text %d" % i, [1.5, None, True])}, set(range(i % 5))] for i in range(40)}
def once():
    pprint.pformat(data, width=60)
""",
    "tomllib": """
import tomllib
text = "".join('[t%d]\\na = 1\\nb = "text"\\nc = [1, 2, 3.5]\\nd = {x = true, y = 1979-05-27}\\n' % i for i in range(30))
def once():
    tomllib.loads(text)
""",
    "string": """
import string
template = string.Template("$name is ${age} and $$5, $other " * 20)
class Own(string.Formatter):
    pass
def once():
    template.substitute(name="x", age=3, other="y")
    for i in range(20):
        Own().format("{0} {name!r:>10} {1[0]}", i, [1, 2], name="z")
    string.capwords("the quick brown fox " * 10)
""",
    "shlex": """
import shlex
line = "run --flag 'a b c' \\"d e\\" f\\\\ g | tee out.txt # note " * 6
def once():
    shlex.split(line, comments=False)
    list(shlex.shlex(line, punctuation_chars=True))
    shlex.join(["a b", "c", "d'e"])
""",
    "fractions": """
import fractions
def once():
    total = fractions.Fraction(0)
    for i in range(1, 60):
        total += fractions.Fraction(i % 7, i)
        total = total.limit_denominator(1000)
    str(total), float(total), total > 1
""",
    "ipaddress": """
import ipaddress
def once():
    for i in range(20):
        net = ipaddress.ip_network("10.%d.0.0/28" % i)
        [str(host) for host in net.hosts()]
        ipaddress.ip_address("2001:db8::%x" % i).exploded
    list(ipaddress.collapse_addresses([ipaddress.ip_network("10.0.%d.0/24" % i) for i in range(8)]))
""",
    "graphlib": """
import graphlib
graph = {i: [j for j in range(max(0, i - 5), i)] for i in range(200)}
def once():
    list(graphlib.TopologicalSorter(graph).static_order())
""",
    "tokenize": """
import io, tokenize
text = "def f(a, b=3):\\n    x = [a, b, 'text', 1.5]\\n    return x[0] + b  # note\\n\\n" * 40
def once():
    list(tokenize.generate_tokens(io.StringIO(text).readline))
""",
}

MAIN = """
import sys, time
if __name__ == "__main__":
    rounds, start = int(sys.argv[1]), time.process_time()
    for _ in range(rounds):
        once()
    print(time.process_time() - start)
"""

# Lines that are put before a statement; {k} is how slow.
SLOW = [
    "for _planted in range({k}): pass",
    "_planted = list(range({k}))",
    "_planted = sorted(range({k}), key=lambda v: -v)",
    "_planted = ''.join(str(v) for v in range({k}))",
    "_planted = dict.fromkeys(range({k}))",
    "_planted_work({k})",
]
HELPER = "\n\ndef _planted_work(n):\n    total = 0\n    for i in range(n):\n        total += i * i\n    return total\n"


class Unfit(Exception):
    """That mutation says nothing: it breaks the module, or costs too little or too much."""


# ---- planting ----

def copy_module(name, folder):
    """A copy that is imported instead of the library's own, and its files."""
    origin = pathlib.Path(importlib.util.find_spec(name).origin)
    if origin.name == "__init__.py":
        shutil.copytree(origin.parent, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        return sorted((folder / name).glob("**/*.py"))
    shutil.copy(origin, folder / origin.name)
    return [folder / origin.name]


def run(folder, *words, prefix=()):
    environment = dict(os.environ, PYTHONPATH=str(folder), PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([*prefix, sys.executable, *map(str, words)], env=environment, capture_output=True,
                          text=True, timeout=300)
    if done.returncode:
        raise Unfit(done.stderr[-300:])
    return done.stdout


def seconds(folder, rounds):
    return float(run(folder, folder / "work.py", rounds))


COUNT_LINES = """
import collections, json, sys
sys.path.insert(0, sys.argv[1])
import work
lines = collections.Counter()
def trace(frame, event, _):
    if event == "line":
        lines[frame.f_code.co_filename, frame.f_lineno] += 1
    return trace if frame.f_code.co_filename.startswith(sys.argv[1]) else None
work.once()
sys.settrace(trace)
work.once()
sys.settrace(None)
json.dump([[*place, n] for place, n in lines.items()], sys.stdout)
"""


def lines_run(folder):
    """How often one round runs each line of the copies: {(path, line): times}."""
    return {(path, line): times for path, line, times in json.loads(run(folder, "-c", COUNT_LINES, folder))}


def statements(path, text):
    """Lines of statements in functions that begin a line, with their indentation."""
    lines, found = text.splitlines(), {}
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for node in ast.walk(function):
            if (isinstance(node, ast.stmt) and node is not function
                    and not lines[node.lineno - 1][:node.col_offset].strip()
                    and not isinstance(node, (ast.Global, ast.Nonlocal))):
                found[node.lineno] = node.col_offset
    return found


def plant(text, line, indent, slow, k):
    """The text with something slow in it, and the numbers of its lines that are new."""
    lines = text.splitlines(keepends=True)
    quadratic = re.fullmatch(r"\s*([\w.]+)\.append\((\w+)\)\s*", lines[line - 1])
    if slow == "append":
        if not quadratic:
            raise Unfit("no append there")
        lines[line - 1] = f"{' ' * indent}{quadratic[1]}[:] = {quadratic[1]} + [{quadratic[2]}]\n"
        return "".join(lines), {line}
    lines.insert(line - 1, " " * indent + slow.format(k=k) + "\n")
    planted = {line}
    if "_work" in slow:
        planted |= set(range(len(lines) + 3, len(lines) + 8))
        lines.append(HELPER)
    return "".join(lines), planted


class Plant:
    """One module with a mutation chosen by a seed, beside one without."""

    def __init__(self, name, seed, folder):
        self.name, self.random = name, random.Random(f"{seed} {name}")
        self.base, self.head = folder / "base", folder / "head"
        for side in (self.base, self.head):
            side.mkdir(parents=True)
            copy_module(name, side)
            (side / "work.py").write_text(WORKLOADS[name] + MAIN)
        self.once = max(seconds(self.base, 1), 1e-4)
        self.rounds = max(2, int(SECONDS / self.once))
        self.time = seconds(self.base, max(2, self.rounds // 4)) / max(2, self.rounds // 4)
        self.rounds = max(2, int(SECONDS / self.time))
        while True:
            try:
                self.choose()
                return
            except (Unfit, SyntaxError):
                continue

    def choose(self):
        """Take a line that runs, and make it cost a tenth to the same again of the whole."""
        places = sorted((path, line) for path, line in lines_run(self.base) if "work.py" not in path)
        path, line = self.random.choice(places)
        path = pathlib.Path(path)
        text = path.read_text()
        indents = statements(path, text)
        if line not in indents:
            raise Unfit("no statement begins there")
        slow = self.random.choice([*SLOW, "append"])
        wanted = self.random.uniform(1.15, 1.8)
        target = self.head / path.relative_to(self.base)
        few = max(2, self.rounds // 6)
        plain = seconds(self.base, few) / few
        try:
            for k in (2 ** i for i in range(2, 18)):
                changed, self.planted = plant(text, line, indents[line], slow, k)
                compile(changed, str(target), "exec")
                target.write_text(changed)
                took = seconds(self.head, few) / few
                if slow == "append" and took < 1.1 * plain:
                    raise Unfit("too little")
                if took > wanted * plain:
                    break
            if not 1.1 < took / plain < 4:
                raise Unfit("too little or too much")
        except (Unfit, SyntaxError):
            target.write_text(text)
            raise
        self.file, self.slow, self.ratio = target, slow.format(k=k), took / plain

    def record(self, side, out):
        subprocess.run([FIZEAU, "run", "--clock", "cpu", "-o", str(out), "--", sys.executable, "work.py", str(self.rounds)],
                       cwd=side, check=True, capture_output=True, timeout=300,
                       env=dict(os.environ, PYTHONPATH=str(side), PYTHONHASHSEED="0"))


# ---- the client ----

class Server:
    def __init__(self, root):
        self.process = subprocess.Popen([FIZEAU, "mcp", "--root", str(root)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.id, self.calls, self.tokens, self.said = 0, 0, 0, []
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={},
                 clientInfo={"name": "planted", "version": "1"})

    def ask(self, method, **params):
        self.id += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method,
                                             "params": params}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]

    def call(self, name, **arguments):
        text = self.ask("tools/call", name=name, arguments=arguments)["content"][0]["text"]
        self.calls += 1
        self.tokens += -(-len(text.encode()) // BYTES_A_TOKEN)
        self.said.append(text)
        return text

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def added_line(text):
    """(file, line) of the added line that costs most, in an answer of where; None."""
    at = re.match(r".* at (.*?):\d+; ", text)
    rows = re.findall(r"^\+ \| (\d+) \| [^|]* \| ([^|]*) \| ", text, re.M)
    if not at or not rows:
        return None
    units = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60}

    def cost(row):
        number, unit = row[1].rsplit(" ", 1)
        return float(number.replace(",", "")) * units[unit]
    return at[1], int(max(rows, key=cost)[0])


def follow(server, base, head):
    """Do what the answers say until one shows an added line."""
    text = server.call("changes", base=base, head=head)
    while server.calls < CALLS_MAX:
        following = re.search(r"^next:\n(\w+)\((.*?)\)", text, re.M)
        if not following:
            return None
        text = server.call(following[1], **dict(pair.split("=") for pair in following[2].split(", ")))
        if found := added_line(text):
            return found
    return None


def attempt(name, seed, folder):
    plant_ = Plant(name, seed, folder)
    plant_.record(plant_.base, folder / "base.fz")
    plant_.record(plant_.head, folder / "head.fz")
    server = Server(folder)
    found = follow(server, "base.fz", "head.fz")
    server.close()
    right = found and pathlib.Path(found[0]).name == plant_.file.name and found[1] in plant_.planted
    fits = server.calls <= CALLS_MAX and server.tokens <= TOKENS_MAX
    return plant_, server, found, bool(right and fits)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-least", type=int, default=0, help="exit with 1 when fewer were reached")
    parser.add_argument("--keep", help="folder to leave recordings and sources in")
    parser.add_argument("-v", action="store_true", help="print all answers of those that were missed")
    options = parser.parse_args()
    reached, totals = 0, collections.Counter()
    with tempfile.TemporaryDirectory(prefix="fz-planted-") as scratch:
        top = pathlib.Path(options.keep or scratch).resolve()
        print(f"{'module':<13} {'slower':>6} {'calls':>5} {'tokens':>6}  reached  what was planted")
        for i in range(options.count):
            name = list(WORKLOADS)[i % len(WORKLOADS)]
            plant_, server, found, right = attempt(name, options.seed + i, top / f"{i}-{name}")
            reached += right
            totals.update(calls=server.calls, tokens=server.tokens)
            print(f"{name:<13} {plant_.ratio:>5.2f}x {server.calls:>5} {server.tokens:>6}  {'yes' if right else 'NO':<7}  "
                  f"{plant_.file.name}:{min(plant_.planted)} {plant_.slow}"
                  + ("" if right else f"; found {found}"), flush=True)
            if options.v and not right:
                print("\n\n".join(server.said))
    print(f"{reached} of {options.count} reached; on average {totals['calls'] / options.count:.1f} calls, "
          f"{totals['tokens'] / options.count:.0f} tokens")
    sys.exit(reached < options.at_least)


if __name__ == "__main__":
    main()
