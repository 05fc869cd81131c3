#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""fizeau bisect in real histories: the commit that changed a benchmark, and the function."""

import json
import subprocess

from livelib import FIZEAU, Suite
from test_ci import Repository, need_tool

suite = Suite()

BENCH = '''\
#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned parse(unsigned n);
unsigned print(unsigned n);
static volatile unsigned sink;

static void bench(const char *name, unsigned (*body)(unsigned))
{
	char path[200];

	snprintf(path, sizeof(path), "/.fizeau/start/%s", name);
	access(path, 0);
	sink += body(2000);
	memcpy(path + 9, "stop/", 5);
	snprintf(path, sizeof(path), "/.fizeau/stop/%s", name);
	access(path, 0);
}

int main(void)
{
	bench(NAME, parse);
	bench("print", print);
}
'''
PARSE = '''\
static volatile unsigned sink;

__attribute__((noinline)) static unsigned tokens(unsigned n)
{
	for (unsigned i = 0; i < n * %d; i++)
		sink += i;
	return sink;
}

unsigned parse(unsigned n)
{
	return tokens(n) + n;
}

__attribute__((noinline)) unsigned print(unsigned n)
{
	for (unsigned i = 0; i < n * %d; i++)
		sink += i;
	return sink;
}
'''
SETUP = "cc -g -O1 -DNAME='\"%s\"' -o bench bench.c parse.c"


def history(costs, name="parse"):
    """Make a commit for each cost of the benchmark `parse`; a text instead is the content of parse.c."""
    need_tool()
    r = Repository()
    r.commits = []
    for i, cost in enumerate(costs):
        text = cost if isinstance(cost, str) else PARSE % (cost, 10)
        r.commits.append(r.commit(f"step {i}: {cost!r}"[:60], bench__c=BENCH, parse__c=text,
                                  notes__txt=f"{i}"))
    r.setup = SETUP % name
    return r


def bisect(r, *words, status=0, **env):
    done = r.fizeau("bisect", "--format", "json", "--setup", r.setup, *words, "--", "./bench",
                    status=status, **env)
    assert r.git("status", "--porcelain") == "", "the checkout was written to"
    return json.loads(done.stdout), done


@suite.test("the commit and the function that made a benchmark slower are named; others are not")
def check_slower():
    r = history([10, 10, 10, 10, 13, 13, 13])
    r.git("bisect", "start")
    report, done = bisect(r, r.commits[0], "HEAD")
    assert report["found"]["commit"] == r.commits[4], report
    assert report["before"]["commit"] == r.commits[3], report
    assert report["benchmark"] == "parse" and 0.25 < report["change"]["change"] < 0.35, report
    assert report["change"]["where"]["context"].endswith("tokens"), report["change"]
    assert report["change"]["where"]["file"] == "parse.c", report["change"]
    assert len(report["steps"]) <= 5, "more commits were counted than halving takes"
    assert r.git("bisect", "log"), "git's own bisect is gone"
    text = r.fizeau("bisect", "--setup", r.setup, r.commits[0], "--", "./bench").stdout
    assert text.startswith(r.commits[4][:10]) and "step 4" in text and "tokens +" in text, text
    return f"{len(report['steps'])} of 7 commits counted"


@suite.test("improvements are found alike; of two changes the one above the threshold")
def check_faster():
    r = history([10, 10, 6, 6])
    report, _ = bisect(r, r.commits[0], "HEAD")
    assert report["found"]["commit"] == r.commits[2] and report["change"]["change"] < -0.3, report
    r = history([100, 106, 106, 130, 130])
    report, _ = bisect(r, r.commits[0], "HEAD")
    assert report["found"]["commit"] == r.commits[3], report
    report, _ = bisect(r, "--threshold", "5%", r.commits[0], "HEAD")
    assert report["found"]["commit"] == r.commits[1], report


@suite.test("commits that cannot be built are skipped, and reported if they hide the change")
def check_skipped():
    r = history([10, 10, "not C", "not C", 13, 13, 13])
    report, done = bisect(r, r.commits[0], "HEAD", status=2)
    assert report["found"] is None and report["candidates"], report
    assert set(report["candidates"]) == set(r.commits[2:5]), report
    skipped = [s for s in report["steps"] if s["side"] == "skipped"]
    assert len(skipped) == 2 and all("cannot build" in s["why"] for s in skipped), report
    assert "skipped, " in done.stderr, done.stderr
    r = history([10, "not C", 10, 10, 13, "not C", 13])
    report, _ = bisect(r, r.commits[0], "HEAD")
    assert report["found"]["commit"] == r.commits[4], report


@suite.test("counted commits are not counted again")
def check_kept():
    r = history([10, 10, 10, 13])
    log = r.path.with_name("log")
    r.setup = f"echo >>{log}; {r.setup}"
    r.fizeau("history", "--setup", r.setup, "--", "./bench")
    assert log.read_text() == "\n" * 4, log.read_text()
    report, _ = bisect(r, r.commits[0], "HEAD")
    assert report["found"]["commit"] == r.commits[3] and len(report["steps"]) > 2, report
    assert log.read_text() == "\n" * 5, "more than the first was counted"
    bisect(r, "-k", "parse", r.commits[0], "HEAD")
    assert len(log.read_text()) == 5 + len(report["steps"]), log.read_text()


@suite.test("good and bad that do not differ: reported, exit 1; uncommitted edits are ignored")
def check_same():
    r = history([10, 10, 10])
    done = r.fizeau("bisect", "--setup", r.setup, "HEAD~2", "--", "./bench", status=1)
    assert "do not differ" in done.stdout, done.stdout
    r.path.joinpath("parse.c").write_text(PARSE % (20, 10))
    done = r.fizeau("bisect", "--setup", r.setup, "HEAD~2", "--", "./bench", status=1)
    assert "uncommitted edits" in done.stderr, done.stderr
    assert r.path.joinpath("parse.c").read_text() == PARSE % (20, 10)


@suite.test("a merge: the branch's commit is found, or with --first-parent the merge")
def check_merge():
    r = history([10, 10])
    start = r.commits[0]
    r.git("checkout", "-qb", "topic", start)
    r.commit("topic 1", topic__txt="1")
    slow = r.commit("topic 2", parse__c=PARSE % (14, 10))
    r.git("checkout", "-q", "main")
    r.commit("main 2", main__txt="1")
    r.git("merge", "-q", "--no-ff", "-m", "merge topic", "topic")
    merge = r.git("rev-parse", "HEAD")
    r.commit("main 3", main__txt="2")
    report, _ = bisect(r, start, "HEAD")
    assert report["found"]["commit"] == slow, report
    report, _ = bisect(r, "--first-parent", start, "HEAD")
    assert report["found"]["commit"] == merge, report
    # From another branch: the search begins where the two parted.
    r.git("checkout", "-qb", "side", start)
    side = r.commit("side 1", side__txt="1")
    r.git("checkout", "-q", "main")
    report, _ = bisect(r, side, "HEAD")
    assert report["found"]["commit"] == slow, report


@suite.test("benchmarks with odd names; -k selects one; without marks the whole is one benchmark")
def check_names():
    r = history([10, 13], name="a b; <x> %d é")
    report, _ = bisect(r, "HEAD~1", "HEAD")
    assert report["benchmark"] == "a b; <x> %d é", report
    report, _ = bisect(r, "-k", "<x>", "HEAD~1", "HEAD")
    assert report["found"]["commit"] == r.commits[1], report
    done = r.fizeau("bisect", "--setup", r.setup, "-k", "nothing", "HEAD~1", "--", "./bench",
                    status=2)
    assert "has a name that contains 'nothing'" in done.stderr, done.stderr
    r.commit(bench__c=BENCH.replace("access(path, 0)", "(void)0"))
    r.commit(parse__c=PARSE % (26, 10))
    report, _ = bisect(r, "HEAD~1", "HEAD")
    assert report["benchmark"] == "./bench" and report["change"]["change"] > 0.2, report


@suite.test("errors: one line each, exit 2, no worktree left")
def check_trouble():
    r = history([10, 13, 13])
    first = r.commits[0]
    for words, wrong in ((["nonsense", "--", "true"], "no such revision"),
                         (["HEAD", first, "--", "./bench"], "specify the earlier commit first"),
                         (["HEAD", "HEAD", "--", "./bench"], "are the same commit"),
                         ([first, "--"], "no command"),
                         (["--", "true"], "expected one or two revisions"),
                         (["--threshold", "much", first, "--", "true"], "use a percentage"),
                         (["--setup", "exit 3", first, "--", "true"], "cannot build"),
                         ([first, "--", "false"], "ended with status 1")):
        done = r.fizeau("bisect", *words, status=2)
        errors = [line for line in done.stderr.splitlines() if line.startswith("fizeau: ")]
        assert wrong in done.stderr and len(errors) == 1, (words, done.stderr)
    shallow = r.path.with_name("shallow")
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{r.path}", shallow], check=True)
    done = subprocess.run([FIZEAU, "bisect", first, "--", "true"], cwd=shallow, env=r.env,
                          text=True, capture_output=True)
    assert done.returncode == 2 and "shallow clone" in done.stderr, done


@suite.test("a command that takes too long is named: one line, exit 2")
def check_too_long():
    r = history([10, 13])
    done = r.fizeau("bisect", "--timeout", "1", "HEAD~1", "--", "sleep", "60", status=2)
    assert "was still running after 1 s" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


if __name__ == "__main__":
    suite.main()
