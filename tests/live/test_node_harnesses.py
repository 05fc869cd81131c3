#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Real benchmarks of Node, with the real packages: suites of tinybench and vitest by the
adapters of bindings/node, and suites for CodSpeed's plug-ins, unaware of fizeau.

The packages are those of tests/node/package-lock.json, fetched once.
"""

import fcntl
import pathlib
import re
import shutil
import subprocess
import tempfile

import test_bench
from livelib import FIZEAU, SANITIZED, SOURCE, Skip, Suite, npm_node

suite = Suite()

PACKAGES = SOURCE / "tests" / "node"

SUITE = '''\
import { Bench } from "tinybench";
%s
const TEXT = "the quick brown fox jumps over the lazy dog ".repeat(20);

function countWords(text) {
  const counts = new Map();
  for (const word of text.split(" ")) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

let words;
const called = new Set();
const suite = wrap(new Bench({ name: "words", time: 20, setup: (task) => { called.add(`setup ${task.name}`); } }));
suite
  .add("count", () => { countWords(TEXT); })
  .add("sort", function () { if (this) called.add(this.name); words.sort(); }, {
    beforeAll() { called.add("beforeAll"); },
    beforeEach() { words = TEXT.split(" "); },
  })
  .add("gone", () => { throw new Error("was removed"); });
suite.remove("gone");
await suite.run();
if (%s && [...called].sort().join() !== "beforeAll,setup count,setup sort,sort")
  throw new Error([...called].join());
console.log(suite.tasks.length, "tasks");
'''
OURS = 'import { withFizeau as wrap } from "fizeau-bench/tinybench";\n'
CODSPEED = 'import { withCodSpeed as wrap } from "@codspeed/tinybench-plugin";\n'

VITEST = '''\
import { beforeEach, bench, describe } from "vitest";

const TEXT = "the quick brown fox jumps over the lazy dog ".repeat(20);

function countWords(text) {
  const counts = new Map();
  for (const word of text.split(" ")) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

bench("count", () => { countWords(TEXT); }, { time: 20 });
describe("lists", () => {
  let words;
  beforeEach(() => { words = TEXT.split(" "); });
  bench("sort", () => { words.sort(); }, { time: 20 });
  bench("bad", () => { throw new Error("it is broken"); });
});
'''
CONFIG = 'import fizeau from "fizeau-bench/vitest";\nexport default { plugins: [fizeau()] };\n'


def need_packages():
    test_bench.need_tool()
    for program in ("node", "npm"):
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
    # Both lanes of tests/run come here. Not "npm ci": it wants every package that is optional on
    # some other machine to be in the lock file and in the registry.
    with open(PACKAGES / "package.json") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        installed = PACKAGES / "node_modules" / ".package-lock.json"  # npm writes it last
        if installed.exists() and installed.stat().st_mtime >= (PACKAGES / "package-lock.json").stat().st_mtime:
            return
        done = subprocess.run(["npm", "install", "--no-save", "--no-audit", "--no-fund",
                               "--loglevel=error"],
                              cwd=PACKAGES, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise Skip(f"npm could not install the packages: {done.stderr.strip()[:200]!r}")


def project():
    """A checkout with the packages and ours among them, as npm would have installed it."""
    need_packages()
    scratch = tempfile.TemporaryDirectory(prefix="fz-node-")
    folder = pathlib.Path(scratch.name)
    folder.joinpath("package.json").write_text('{ "type": "module" }\n')
    modules = folder / "node_modules"
    modules.mkdir()
    for package in (PACKAGES / "node_modules").iterdir():
        modules.joinpath(package.name).symlink_to(package)
    shutil.copytree(SOURCE / "bindings" / "node", modules / "fizeau-bench")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return scratch, folder


def check_counts(first, again, *names):
    """Both have these benchmarks, and nearly the same counts: V8's own threads are not ours."""
    counts = [{name: int(row[0].replace(",", "")) for name, row in test_bench.table(run).items()}
              for run in (first, again)]
    assert set(counts[0]) == set(counts[1]) == set(names), counts
    for name in names:
        assert abs(counts[1][name] / counts[0][name] - 1) < 0.01, (name, counts)


@suite.test("tinybench: a suite with hooks, counted, timed, and by itself")
def check_tinybench():
    scratch, folder = project()
    folder.joinpath("words.mjs").write_text(SUITE % (OURS, "true"))
    first, again = (test_bench.bench(*words, "--", "node", "words.mjs", cwd=folder)
                    for words in ((), ("--count",)))
    check_counts(first, again, "words count", "words sort")
    assert all(rest[1] != "-" for _, rest in test_bench.table(first).values()), first.stdout
    plain = subprocess.run(["node", "words.mjs"], cwd=folder, capture_output=True, text=True,
                           timeout=60)
    assert plain.returncode == 0 and plain.stdout == "2 tasks\n", plain
    del scratch


@suite.test("CodSpeed's plug-in for tinybench, as it is")
def check_codspeed():
    if SANITIZED:
        raise Skip("another plug-in under Valgrind shows nothing more of ours")
    scratch, folder = project()
    folder.joinpath("words.mjs").write_text(SUITE % (CODSPEED, "false"))
    runs = [test_bench.bench("--count", "-o", f"{i}.fz", "--", "node", "words.mjs", cwd=folder)
            for i in range(2)]
    check_counts(*runs, "words.mjs::words::count", "words.mjs::words::sort")
    folded = subprocess.run([FIZEAU, "replay", "--collapsed", "-o", "-", "0.fz"], cwd=folder,
                            capture_output=True, text=True, check=True).stdout
    assert "words.mjs:countWords:" in folded and "codspeed_root_frame" not in folded
    del scratch


@suite.test("V8's own work for a function belongs to the function, unless its frames are requested")
def check_handlers():
    scratch, folder = project()
    folder.joinpath("words.mjs").write_text(SUITE % (OURS, "false"))
    handlers, costs = [], []
    for words in ([], ["--native"]):
        # Debian's node has no symbols of its handlers.
        test_bench.bench("--count", *words, "-o", "v.fz", "--", npm_node(PACKAGES), "words.mjs", cwd=folder)
        folded = subprocess.run([FIZEAU, "replay", "--collapsed", "-o", "-", "v.fz"], cwd=folder,
                                capture_output=True, text=True, check=True).stdout
        assert "words.mjs:countWords:" in folded
        handlers.append(set(re.findall(r"\bBuiltins_\w+Handler\b", folded)))
        costs.append(sum(int(n) for n in re.findall(r" (\d+)$", folded, re.M)))
    assert not handlers[0] and len(handlers[1]) > 10, handlers
    assert abs(costs[1] / costs[0] - 1) < 0.01, costs
    del scratch


@suite.test("vitest: files, suites, hooks; one that fails is named, the others are kept")
def check_vitest():
    if SANITIZED:
        raise Skip("two minutes of vitest under Valgrind show nothing more of ours")
    scratch, folder = project()
    folder.joinpath("words.bench.js").write_text(VITEST)
    folder.joinpath("vitest.config.js").write_text(CONFIG)
    result = test_bench.bench("-o", "v.fz", "--", "node", "node_modules/vitest/vitest.mjs", "bench", "--run",
                              cwd=folder, status=2)
    rows = test_bench.table(result)
    assert set(rows) == {"words.bench.js::count", "words.bench.js::lists::sort"}, rows
    assert all(rest[1] != "-" for _, rest in rows.values()), rows
    assert "words.bench.js::lists::bad: failed: Error: it is broken" in result.stderr, result.stderr
    assert 10_000 < int(rows["words.bench.js::count"][0].replace(",", "")) < 3_000_000, rows
    # Nothing of vitest itself, with its millions of contexts, is stored.
    kept = folder / "v.fz"
    folded = subprocess.run([FIZEAU, "replay", "--collapsed", "-o", "-", kept], capture_output=True, text=True)
    assert folded.returncode == 0 and "countWords" in folded.stdout, folded.stderr
    assert kept.stat().st_size < 2_000_000, kept.stat()
    del scratch


# vitest kills its processes when they take longer to end than it likes, under Valgrind on a busy machine, too.
@suite.test("CodSpeed's plug-in for vitest, as it is: files, suites, hooks; counted")
def check_codspeed_vitest():
    if SANITIZED:
        raise Skip("a minute of vitest under Valgrind shows nothing more of ours")
    scratch, folder = project()
    # It ends a file with the first benchmark that fails.
    folder.joinpath("words.bench.js").write_text(re.sub(r'.*it is broken.*\n', "", VITEST))
    folder.joinpath("vitest.config.js").write_text(
        'import codspeed from "@codspeed/vitest-plugin";\nexport default { plugins: [codspeed()] };\n')
    result = test_bench.bench("--count", "-o", "v.fz", "--", "node", "node_modules/vitest/vitest.mjs", "bench",
                              "--run", cwd=folder)
    rows = test_bench.table(result)
    assert set(rows) == {"words.bench.js::count", "words.bench.js::lists::sort"}, rows
    assert 10_000 < int(rows["words.bench.js::count"][0].replace(",", "")) < 3_000_000, rows
    folded = subprocess.run([FIZEAU, "replay", "--collapsed", "-o", "-", "v.fz"], cwd=folder,
                            capture_output=True, text=True, check=True).stdout
    assert "words.bench.js:countWords:" in folded and "codspeed_root_frame" not in folded
    del scratch


if __name__ == "__main__":
    suite.main()
