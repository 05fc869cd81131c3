# SPDX-License-Identifier: MIT
"""The cost of reading a recording: 1 M samples to each output, and pages of large trees.

Both sides read the same files, made by generate.py in Tachyon's format; ours also reads its own
format made from it. CPU is user and system of the whole program, memory its peak.
"""

import sys

from measure import Values, run
from peers import FIZEAU, HERE, rooted
from recording import add_row, add_skipped
from table import Group


class Case:
    """One conversion by one tool: CPU, peak memory, size of what it wrote."""

    def __init__(self, usage, path):
        self.cpu, self.memory = usage.cpu, usage.memory
        self.size = path.stat().st_size / 1e6


OUTPUTS = {"collapsed": ("txt", ["--collapsed"]), "flame graph": ("html", ["--flamegraph"]),
           "diff": ("html", ["--diff-flamegraph"])}


def ours(bench, output, head, base):
    suffix, options = OUTPUTS[output]
    path = bench.scratch.outside / f"ours.{suffix}"
    path.unlink(missing_ok=True)
    baseline = [bench.scratch.outside / base] if output == "diff" else []
    usage = run([FIZEAU, "replay", *options, *baseline, "-o", path, bench.scratch.outside / head])
    return Case(usage, path)


def tachyon(bench, output, head, base):
    suffix, options = OUTPUTS[output]
    path = bench.scratch.outside / f"theirs.{suffix}"
    path.unlink(missing_ok=True)
    baseline = [bench.scratch.inside(base)] if output == "diff" else []
    usage = run([*rooted("python3.15"), "-m", "profiling.sampling", "replay", *options, *baseline,
                 "-o", bench.scratch.inside(path.name), bench.scratch.inside(head)])
    return Case(usage, path)


def generate(bench, name, nodes, samples, **options):
    bench.say(f"generating {name}")
    words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    run([sys.executable, HERE / "generate.py", bench.scratch.outside / name, "--nodes", nodes,
         "--samples", samples, *words])


def measure(bench, rounds, output, head, base, what):
    return bench.interleave(rounds, {"fizeau": lambda: ours(bench, output, head, base),
                                     "Tachyon": lambda: tachyon(bench, output, head, base)}, what)


def million(bench):
    samples = bench.choose(1_000_000, 200_000)
    group = Group(f"Replay of {samples:,} samples, 2,000 nodes, 8 threads", "seconds of CPU")
    generate(bench, "head.bin", 2000, samples)
    generate(bench, "base.bin", 2000, samples, seed=2, drop=5)
    scale = samples / 1_000_000
    for output, goal, best in (("collapsed", 0.25, 5), ("flame graph", 0.4, 10.8),
                               ("diff", 0.8, 21.5)):
        results, skipped = measure(bench, bench.choose(3, 1), output, "head.bin", "base.bin",
                                   f"replay to {output}")
        add_row(group, results, "fizeau", "Tachyon", lambda r: Values(x.cpu for x in r),
                name=f"to {output}", goal=goal * scale, best=best * scale)
        add_skipped(group, skipped)
    return group


PAGES = (  # nodes, samples, output, goals and best known of: CPU, size in MB, memory in MB
    (100_000, 120_000, "flame graph", (0.2, 0.4, 100), (7.8, 36, 700)),
    (500_000, 520_000, "flame graph", (1, 2, 300), (48.6, 182, 3500)),
    (100_000, 120_000, "diff", (None, None, None), (None, None, None)),
    (500_000, 520_000, "diff", (None, None, None), (None, None, None)),
)


def pages(bench):
    group = Group("HTML pages of large trees", "given in each row")
    made = set()
    for nodes, samples, output, goals, bests in PAGES:
        if bench.quick and nodes > 100_000:
            continue
        head, base = f"head-{nodes}.bin", f"base-{nodes}.bin"
        if nodes not in made:
            made.add(nodes)
            # Tachyon leaves out what is less than 0.1 % of every thread: with fewer than 1,000
            # samples a thread it draws every node, as we always do.
            threads = samples // 990
            generate(bench, head, nodes, samples, threads=threads)
            generate(bench, base, nodes, samples, threads=threads, seed=2, drop=5)
        # A minute and gigabytes for the peer's largest: once has to do.
        rounds = 1 if bench.quick or nodes > 100_000 else 2
        results, skipped = measure(bench, rounds, output, head, base, f"{output}, {nodes:,} nodes")
        for i, (what, read) in enumerate((("s of CPU", lambda x: x.cpu),
                                          ("MB of file", lambda x: x.size),
                                          ("MB of memory", lambda x: x.memory))):
            add_row(group, results, "fizeau", "Tachyon",
                    lambda r, read=read: Values(read(x) for x in r),
                    name=f"{output}, {nodes // 1000} k nodes: {what}", goal=goals[i],
                    best=bests[i])
        add_skipped(group, skipped)
    return group


ROWS = {"replay": million, "pages": pages}
