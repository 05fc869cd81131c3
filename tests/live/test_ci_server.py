#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""fizeau ci --server: runs report to a real server, query the state of benchmarks, and know the changes
accepted there."""

import concurrent.futures
import json
import os
import pathlib
import signal
import sqlite3
import tempfile
import urllib.parse

from fleetlib import Server, fizeau
from livelib import SANITIZED, Skip, Suite, wait_until
from test_ci import AWAY, loops

suite = Suite()
RUN = ["--no-wall", "--others", "1"]
COUNT = ["--", "sh", "loops.sh"]
REPOSITORY = "repository=me%2Fproject"
BASE, HEAD = "a" * 40, "b" * 40


def scratch():
    return tempfile.TemporaryDirectory(prefix="fz-gate-")


def report(benchmarks, **more):
    """A job's report of (name, base, head); slower ones fail."""
    return json.dumps({"schema": 1, "metric": "instructions", "base": BASE[:10], "head": HEAD[:10], "environment": "E\n",
                       "troubles": [], "notes": [],
                       "benchmarks": [{"name": name, "metric": "instructions", "verdict": verdict, "fails": verdict == "slower",
                                       "base": base, "head": head, "change": head / base - 1, "limit": 0.02}
                                      for name, base, head in benchmarks
                                      for verdict in ["slower" if head > base else "same"]], **more})


def address(**more):
    return "/api/benchmarks?" + urllib.parse.urlencode(
        {"repository": "me/project", "id": "1", "head": HEAD, "base": BASE, "branch": "main", "into": "main", **more})


def status(server, **which):
    query = urllib.parse.urlencode({"repository": "me/project", **which})
    code, content, _ = server.ask("GET", f"/api/status?{query}")
    assert code == 200, content
    return json.loads(content)


@suite.test("a pull request is sent once, with its page; accepted it passes, and fails when it costs more")
def path():
    r = loops(FIRST=4000)
    r.git("remote", "add", "origin", "https://me:secret@github.com/me/project.git")
    with scratch() as folder, Server(folder) as server:
        words = "ci", *RUN, "--server", server.url
        name = "github.com/me/project"
        done = r.fizeau(*words, *COUNT, status=1, GITHUB_REF="refs/pull/7/merge", GITHUB_HEAD_REF="change")
        assert f"results: {server.url}/change?run=1" in done.stderr, done
        now = status(server, repository=name, pull="7")
        head, base = r.git("rev-parse", "HEAD"), r.git("rev-parse", "main")
        assert (now["status"], now["exit"], now["failing"], now["branch"]) == ("failed", 1, 1, "change"), now
        assert (now["head"], now["base"]) == (head, base) and "secret" not in str(now), now
        assert now["headline"] + " (instructions)." in done.stdout and now["why"].startswith("first takes 33."), (now, done)
        code, page, headers = server.ask("GET", "/report/1/report.html")
        assert code == 200 and b'id="fz-header"' in page and headers["Content-Security-Policy"].startswith("sandbox "), code
        badge = server.ask("GET", f"/badge.svg?repository={name}&pull=7")
        assert badge[0] == 200 and b"1 slower" in badge[1] and badge[2]["Content-Type"] == "image/svg+xml", badge
        # The base is a commit of main, the head of no branch that is followed.
        code, page, _ = server.ask("GET", f"/repository?repository={name}")
        assert code == 200 and "2 benchmarks over 1 commit of main" in page.decode(), page
        done = r.fizeau("ci", "accept", "--server", server.url, "--pull", "7", "first", status=2)
        assert "--reason TEXT is required" in done.stderr, done
        done = r.fizeau("ci", "accept", "--server", server.url, "--pull", "8", "--reason", "so", "first", status=2)
        assert "no such run" in done.stderr and done.stderr.count("\n") == 1, done
        done = r.fizeau("ci", "accept", "--server", server.url, "--pull", "7", "--reason", "so", "second", status=2)
        assert "no benchmark 'second' fails for costing more" in done.stderr, done
        done = r.fizeau("ci", "accept", "--server", server.url, "--pull", "7", "--reason", "easier to read", "first")
        assert done.stdout == "first: accepted; run 1 passed, with 0 failures\n", done
        assert status(server, repository=name, commit=head[:12])["accepted"] == 1
        done = r.fizeau(*words, "--pull", "7", *COUNT)
        assert "accepted: easier to read" in done.stdout, done
        # In another pull request it is accepted if that commit is part of it; in this one even if commits are rewritten.
        r.fizeau(*words, "--pull", "8", *COUNT)
        r.git("commit", "-q", "--amend", "-m", "written anew")
        r.fizeau(*words, "--pull", "8", *COUNT, status=1)
        r.fizeau(*words, "--pull", "7", *COUNT)
        # A larger change is another one.
        r.commit(turns="FIRST=5000\nSECOND=3000\n")
        r.fizeau(*words, "--pull", "7", *COUNT, status=1)
        now = status(server, repository=name, pull="7")
        assert (now["failing"], now["accepted"]) == (1, 0), now
        done = r.fizeau("ci", "accept", "--server", server.url, "--withdraw", "--commit", head, "first")
        assert "no longer accepted; run 3 failed, with 1 failure" in done.stdout, done


@suite.test("with edits or untracked files only the verdict is stored; without the server the exit status is the same, with one line")
def away():
    r = loops(FIRST=4000)
    with scratch() as folder, Server(folder) as server:
        r.path.joinpath("turns").write_text("FIRST=4001\nSECOND=3000\n")
        r.fizeau("ci", *RUN, "--server", server.url, "--repository", "me/project", *COUNT, status=1)
        head = r.git("rev-parse", "HEAD")
        assert status(server, branch="change")["head"] == head
        with sqlite3.connect(server.store) as store:
            kept = store.execute("SELECT sha, count(*) FROM ci_value JOIN ci_commit ON id = of GROUP BY 1").fetchall()
        assert kept == [(r.git("rev-parse", "main"), 2)], kept
        # A tree with a file that its commit lacks is not that commit either.
        r.git("checkout", "-q", "turns")
        r.path.joinpath("local").write_text("")
        done = r.fizeau("ci", *RUN, "--server", server.url, "--repository", "me/project", *COUNT, status=1)
        assert "does not store the counts of this tree: local is untracked" in done.stderr, done
        with sqlite3.connect(server.store) as store:
            assert store.execute("SELECT sha, count(*) FROM ci_value JOIN ci_commit ON id = of GROUP BY 1").fetchall() == kept
        r.path.joinpath(".gitignore").write_text("local\n.gitignore\n")
        r.fizeau("ci", *RUN, "--server", server.url, "--repository", "me/project", *COUNT, status=1)
        with sqlite3.connect(server.store) as store:
            assert store.execute("SELECT count(*) FROM ci_value").fetchone() == (4,)
        r.path.joinpath("turns").write_text("FIRST=4001\nSECOND=3000\n")
        # A tag is not a branch with a series for the base.
        r.git("tag", "v1", "main")
        r.fizeau("ci", *RUN, "--server", server.url, "--base", "v1", "--repository", "tagged", *COUNT, status=1)
        r.fizeau("ci", *RUN, "--server", server.url, "--base", "main", "--repository", "named", *COUNT, status=1)
        for name, commits in ("tagged", 0), ("named", 1):
            page = server.ask("GET", f"/repository?repository={name}&branch=main")[1].decode()
            assert f"over {commits} commit" in page, (name, page)
        server.stop()
        done = r.fizeau("ci", *RUN, "--server", server.url, *COUNT, status=1)
        lines = [line for line in done.stderr.splitlines() if "the server" in line]
        assert len(lines) == 2 and "cannot read accepted changes from the server" in lines[0], done.stderr
        assert "are queued in " in lines[1], done.stderr
        assert "is 'fizeau serve' running there?" in lines[1] and "this does not affect the verdict" in lines[1], done.stderr
        for words, why in (("--server", "nowhere"), "invalid URL 'nowhere'"), (("--pull", "7"), "require --server URL"), \
                (("--server", server.url, "--token-file", "missing"), "cannot be read"):
            done = r.fizeau("ci", *RUN, *words, *COUNT, status=2)
            assert why in done.stderr and done.stderr.count("\n") == 1, done.stderr


def accepted_one(server, name):
    """A pull request with one accepted change, and the options of its project's runs."""
    r = loops(FIRST=4000)
    words = ["ci", *RUN, "--server", server.url, "--repository", name]
    r.fizeau(*words, "--pull", "7", *COUNT, status=1)
    r.fizeau("ci", "accept", "--server", server.url, "--repository", name, "--pull", "7", "--reason", "meant", "first")
    return r, words


def fixed_and_slower_again(r, words):
    """The accepted change is used up; another change with the same cost fails."""
    r.commit("fixed", turns="FIRST=3000\nSECOND=3000\n")
    r.fizeau(*words, *COUNT)
    r.commit("slower", turns="SECOND=3000\nFIRST=4000\n")
    r.fizeau(*words, *COUNT, status=1)


@suite.test("an accepted change stays accepted after a squash, rebase or merge, but covers no later change")
def landing():
    if SANITIZED:
        raise Skip("what a server keeps of it is tested by itself, and the rest is git and Valgrind")
    with scratch() as folder, Server(folder) as server:
        # Squashed, on a main that went on meanwhile, by something that makes everything cost more.
        r, words = accepted_one(server, "squashed")
        r.git("checkout", "-q", "main")
        loop = (r.path / "loops.sh").read_text()
        r.commit("slower turns", loops__sh=loop.replace("i=$((i+1))", "i=$((i+1+0))"))
        r.git("merge", "-q", "--squash", "change")
        r.git("commit", "-qm", "a change (#7)")
        done = r.fizeau(*words, *COUNT)
        assert "accepted: meant" in done.stdout, done
        r.fizeau(*words, *COUNT)
        assert status(server, repository="squashed", branch="main")["accepted"] == 1
        page = server.ask("GET", "/repository?repository=squashed")[1].decode()
        assert f"on its branch <code>{r.git('rev-parse', 'HEAD')[:10]}" in page, page
        r.commit("later", other="x")
        r.fizeau(*words, *COUNT)
        fixed_and_slower_again(r, words)
        # A branch that has all of it knows the commit in which it arrived.
        r.git("checkout", "-qb", "next", "HEAD~2")
        r.commit("on a branch", other="y")
        assert "accepted: meant" in r.fizeau(*words, "--base", "HEAD~3", "--pull", "9", *COUNT).stdout
        # Rebased onto main, where its last commit is another one.
        r, words = accepted_one(server, "rebased")
        r.commit("more of it", other="z")
        r.fizeau(*words, "--pull", "7", *COUNT)
        r.git("checkout", "-q", "main")
        before = r.commit("meanwhile", meanwhile="x")
        r.git("rebase", "-q", "main", "change")
        r.git("checkout", "-q", "main")
        r.git("merge", "-q", "--ff-only", "change")
        assert "accepted: meant" in r.fizeau(*words, "--base", before, *COUNT).stdout
        fixed_and_slower_again(r, words)
        # Merged, as it always was.
        r, words = accepted_one(server, "merged")
        r.git("checkout", "-q", "main")
        r.commit("meanwhile", meanwhile="x")
        r.git("merge", "-q", "--no-ff", "-m", "merged", "change")
        assert "accepted: meant" in r.fizeau(*words, *COUNT).stdout
        fixed_and_slower_again(r, words)
        # Never merged: a change that another pull request brings to main is a different one. If it could be the same
        # one, with conflicts resolved differently, a note is printed.
        r, words = accepted_one(server, "closed")
        r.git("checkout", "-q", "main")
        r.commit("much slower", turns="FIRST=3900\nSECOND=3000\n")
        coming = f"first: the change accepted in {r.git('rev-parse', 'change')[:10]} (meant) is not in this branch yet"
        assert coming in r.fizeau(*words, *COUNT, status=1).stderr
        assert coming in server.ask("GET", "/change?repository=closed&branch=main")[1].decode()
        r.git("reset", "-q", "--hard", "HEAD~1")
        r.git("merge", "-q", "--squash", "change")
        r.git("commit", "-qm", "the same")
        r.git("branch", "-m", "elsewhere")
        r.git("branch", "main", "HEAD~1")
        assert "is not in this branch yet" not in r.fizeau(*words, "--pull", "8", *COUNT, status=1).stderr
        assert "is not in this branch yet" not in r.fizeau(*words, *COUNT, status=1).stderr


@suite.test("typical use: two projects with one name, branches of any name, forced pushes, wrong clocks, nothing counted")
def users():
    with scratch() as folder:
        tokens = pathlib.Path(folder, "tokens")
        one, two = "one-one-one-one-one-one", "two-two-two-two-two-two"
        tokens.write_text(f"one read,write {one}\ntwo read,write {two}\n", encoding="utf-8")
        tokens.chmod(0o600)
        with Server(folder, "--tokens", tokens) as server:
            def send(body, token=one, **more):
                code, answer, _ = server.ask("POST", address(**more), body, token)
                assert code == 200, answer
                return json.loads(answer)["run"]

            def page(path, token=one, **which):
                query = urllib.parse.urlencode({"repository": "me/project", **which})
                code, content, _ = server.ask("GET", f"{path}?{query}", token=token)
                assert code == 200, (path, which, content)
                return content.decode()

            def now(**which):
                return json.loads(page("/api/status", **which))

            send(report([("parse", 100, 100)]))
            send(report([("render", 100, 200)]), token=two)
            assert now()["status"] == "passed" and json.loads(page("/api/status", two))["status"] == "failed"
            assert "render" not in page("/repository") and "parse" not in page("/repository", two)
            # A branch is anything that git accepts as one.
            branch = "feature/gr\u00f6\u00dfer+%2F&x=\u2603"
            send(report([("parse", 100, 100)]), branch=branch, id="2", head="c" * 40)
            assert now(branch=branch)["head"] == "c" * 40 and "1 commit of feature/gr\u00f6\u00dfer" in page("/repository", branch=branch)
            # Two jobs at once, of the same commit; then the pull request is pushed anew, from another base.
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                sent = list(pool.map(lambda i: send(report([("parse", 100, 100 + i % 2)]), id=f"job-{i % 2}", pull="6", head="d" * 40), range(8)))
            assert len(set(sent)) == 2, sent
            send(report([("parse", 100, 150)]), id="3", pull="6", head="1" * 40)
            send(report([("parse", 100, 100)]), id="4", pull="6", head="2" * 40, base="3" * 40)
            assert (now(pull="6")["status"], now(commit="1" * 40)["status"]) == ("passed", "failed")
            # A clock that is an hour ahead, and the next commit from one that is right: no change there and back.
            clock = 1800000000
            send(report([("parse", 100, 100)]), id="5", head="4" * 40, head_time=clock + 3600, base=HEAD, base_time=clock)
            send(report([("parse", 100, 200)]), id="6", head="5" * 40, head_time=clock + 60, base="4" * 40, base_time=clock + 3600)
            send(report([("parse", 200, 200)]), id="7", head="6" * 40, head_time=clock + 120, base="5" * 40, base_time=clock + 60)
            text = page("/repository", benchmark="parse")
            assert "x 2.00" in text and "-50.0" not in text, text
            # Nothing was counted: that is known, and no success.
            send(report([]), id="8", pull="9", head="7" * 40)
            assert (now(pull="9")["status"], now(pull="9")["why"]) == ("not known", "no benchmarks were counted"), now(pull="9")
            assert "unknown" in page("/badge.svg", pull="9")
            run = send(report([]), repository="empty", id="9")
            assert f'No run has counted a benchmark yet; <a href="/change?run={run}">' in page("/repository", repository="empty")
            for path in "/", "/benchmarks", "/repository?repository=me/project":
                server.says(401, "in a browser, enter the token as password with any user name", "GET", path)


def runs(server):
    with sqlite3.connect(server.store) as store:
        return store.execute("SELECT pull, branch, (SELECT count(*) FROM ci_page WHERE run = id) FROM ci_run ORDER BY id").fetchall()


def at_once(function, *arguments):
    """Results in order."""
    with concurrent.futures.ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(function, arguments))


def spooled(r, where="cache/fizeau/spool"):
    return sorted(pathlib.Path(r.scratch.name, where).rglob("*.push"))


@suite.test("results wait in the spool for the server: the next run sends all, once, each with its own age")
def waiting():
    r = loops(FIRST=4000)
    with scratch() as folder, Server(folder) as server:
        kept, to = f"{r.scratch.name}/kept", ["--server", server.url, "--repository", "me/project"]
        port, words = server.port, ["ci", *RUN, *to]
        again = ["ci", "merge", kept, *to]  # sends what was counted once
        server.stop()
        done = r.fizeau(*words, "--pull", "1", "-o", kept, *COUNT, status=1)
        assert f"queued in {r.scratch.name}/cache/fizeau/spool/" in done.stderr and len(spooled(r)) == 2, done.stderr
        # The same again is the same push; of another token or project nothing is sent along.
        at_once(lambda whose: r.fizeau(*words, *COUNT, status=1, **whose, **AWAY),
                {"GITHUB_REF": "refs/pull/1/merge"},
                {"GITHUB_REF": "refs/pull/2/merge", "FIZEAU_TOKEN": "of-somebody-else-entirely"})
        assert len(spooled(r)) == 6 and len({f.parent for f in spooled(r)}) == 2, spooled(r)
        for f in spooled(r):
            os.rename(f, f.with_name(f.name.split("-")[0] + f"-{int(f.stat().st_mtime) - 600}.push"))
        server.options = ["--listen", f"127.0.0.1:{port}"]
        server.start()
        # What another machine sent meanwhile is younger than what waited.
        assert server.ask("POST", address(pull="1", id="meanwhile"), report([("first", 1, 1)]))[0] == 200
        done = r.fizeau(*again, "--pull", "3", status=1)
        assert "sent queued results of earlier runs to the server (pushes: 4)" in done.stderr and "/change?run=3" in done.stderr, done.stderr
        assert runs(server) == [("1", "main", 0), ("1", "change", 1), ("3", "change", 1)], runs(server)
        assert len(spooled(r)) == 2 and status(server, pull="1")["run"] == 1, spooled(r)
        server.stop()
        # A limit of one report: older ones are dropped, with a message, and the rest is delivered.
        said = at_once(lambda pull: r.fizeau(*again, "--pull", pull, "--spool", str(r.out), "--spool-limit", "256K",
                                             status=1, **AWAY).stderr, "4", "5", "6")
        assert any("ci: the spool is full: dropped the oldest " in text for text in said), said
        waits = sum((f.stat().st_size + 4095) // 4096 * 4096 for f in spooled(r, "out"))
        assert 0 < waits <= 256 << 10, waits
        server.start()
        done = r.fizeau(*again, "--pull", "7", "--spool", str(r.out), status=1)
        assert not spooled(r, "out") and ("7", "change", 1) in runs(server), runs(server)
        # Without a spool they are sent nevertheless; --spool without a server is an error.
        done = r.fizeau(*again, "--pull", "8", "--spool", "/dev/null/x", status=1)
        assert "results cannot be queued if the server is unreachable: --spool" in done.stderr and "/change?run=" in done.stderr, done.stderr
        assert runs(server)[-1] == ("8", "change", 1), runs(server)
        done = r.fizeau("ci", *RUN, "--spool", str(r.out), *COUNT, status=2)
        assert "require --server URL" in done.stderr, done.stderr
        for code, line, more in (400, "age: invalid value 'x' (expected number of seconds)", {"age": "x"}), (400, "age: invalid value '-1'", {"age": "-1"}):
            server.says(code, line, "POST", address(**more), report([("first", 1, 1)]))
        server.says(422, "no run with id 'x'", "POST", "/api/benchmarks/page?repository=me/project&id=x&name=report.html", b"x")


@suite.test("several jobs of a machine that share a spool send each result once")
def sharing():
    if SANITIZED:
        raise Skip("a spool is filled and emptied by the case before")
    r = loops(FIRST=4000)
    with scratch() as folder, Server(folder) as server:
        words = ["ci", "merge", "--server", server.url, "--repository", "me/project"]
        r.fizeau("ci", *RUN, "-o", str(r.out), *COUNT, status=1)
        server.stop()
        def send(pull, **away):
            return r.fizeau(*words, "--pull", f"{pull}", str(r.out), status=1, **away).stderr
        at_once(lambda pull: send(pull, **AWAY), *range(3))
        server.options = ["--listen", f"127.0.0.1:{server.port}"]
        server.start()
        said = at_once(send, *range(3, 7))
        assert all("/change?run=" in text and "cannot be queued" not in text for text in said), said
        assert sorted(runs(server)) == [(f"{pull}", "change", 1) for pull in range(7)], runs(server)
        assert not spooled(r)


@suite.test("projects with one path on two hosts are distinct, with GitHub, an enterprise server, GitLab or the remote")
def hosts():
    r = loops(FIRST=4000)
    with scratch() as folder, Server(folder) as server:
        r.fizeau("ci", *RUN, "-o", str(r.out), *COUNT, status=1)

        def send(**said):
            r.fizeau("ci", "merge", "--server", server.url, str(r.out), status=1, **said)

        send()
        r.git("remote", "add", "origin", "git@code.example.org:me/project.git")
        send()
        for forge in "https://github.com", "https://git.example.org":
            send(GITHUB_SERVER_URL=forge, GITHUB_REPOSITORY="me/project")
        send(CI_PROJECT_URL="https://gitlab.example.org/me/project")
        with sqlite3.connect(server.store) as store:
            names = [name for name, in store.execute("SELECT name FROM ci_repository ORDER BY 1")]
        assert names == sorted([r.path.name, *(f"{host}/me/project" for host in (
            "code.example.org", "github.com", "git.example.org", "gitlab.example.org"))]), names
        assert status(server, repository="git.example.org/me/project", branch="change")["failing"] == 1


@suite.test("parts from several jobs are sent as one")
def merged():
    r = loops(FIRST=4000)
    with scratch() as folder, Server(folder) as server:
        r.fizeau("ci", *RUN, "-o", str(r.out), *COUNT, status=1)
        r.fizeau("ci", "merge", "--server", server.url, "--repository", "me/project", "--pull", "3", str(r.out), status=1)
        now = status(server, pull="3")
        assert (now["head"], now["base"]) == (r.git("rev-parse", "HEAD"), r.git("rev-parse", "main")), now
        r.fizeau("ci", "merge", "--server", server.url, "--repository", "me/project", "--pull", "3", str(r.out), status=1)
        assert status(server, pull="3") == now, "sent again it is another run"
        r.fizeau("ci", "accept", "--server", server.url, "--repository", "me/project", "--pull", "3", "--reason", "so", "first")
        done = r.fizeau("ci", "merge", "--server", server.url, "--repository", "me/project", "--pull", "3", str(r.out))
        assert "accepted: so" in done.stdout and status(server, pull="3")["accepted"] == 1, done
        # Of reports that know no commit here only the results are not sent.
        r.git("checkout", "-q", "--orphan", "elsewhere")
        for name in ("change", "main"):
            r.git("branch", "-qD", name)
        r.git("reflog", "expire", "--expire=now", "--all")
        r.git("gc", "-q", "--prune=now")
        done = r.fizeau("ci", "merge", "--server", server.url, str(r.out), status=1)
        assert done.stderr.count("the server") == 2 and "no such revision" in done.stderr, done.stderr
        assert server.ask("GET", f"/report/{now['run']}/report.html")[0] == 200


@suite.test("a run is stored once however often it is sent, even concurrently or after kill -9; a commit has its last values")
def once():
    with scratch() as folder, Server(folder) as server:
        body = report([("parse", 100, 120), ("render", 50, 50)])
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = [json.loads(a[1]) for a in pool.map(lambda _: server.ask("POST", address(), body), range(16))]
        assert {a["run"] for a in answers} == {1} and [a["status"] for a in answers].count("stored") == 1, answers
        server.stop(signal.SIGKILL)
        server.start()
        assert json.loads(server.ask("POST", address(), body)[1]) == {"status": "known", "run": 1}
        assert server.ask("POST", address(id="2"), report([("parse", 100, 110)]))[0] == 200
        with sqlite3.connect(server.store) as store:
            rows = store.execute("SELECT sha, name, count FROM ci_value JOIN ci_commit ON id = of ORDER BY 1, 2").fetchall()
        assert rows == [(BASE, "parse", 100), (BASE, "render", 50), (HEAD, "parse", 110), (HEAD, "render", 50)], rows
        for page in ("<p>first", "<p>second"):
            assert server.ask("POST", "/api/benchmarks/page?run=1&name=report.html", page)[0] == 200
        assert server.ask("GET", "/report/1/report.html")[1] == b"<p>first"


@suite.test("invalid runs, commits, pages and reasons are one line; paths, markup and SQL are ordinary names")
def refused():
    evil = "<img src=x onerror=alert(1)>'; DROP TABLE ci_run; --"
    with scratch() as folder, Server(folder) as server:
        body = report([("parse", 100, 120)])
        for code, line, *request in (
                (400, "repository: missing name", "POST", address(repository=""), body),
                (400, "has more than 128 bytes", "POST", address(repository="x" * 129), body),
                (400, "id: missing name", "POST", address(id=""), body),
                (400, "head: invalid commit hash '../../etc'", "POST", address(head="../../etc"), body),
                (400, "missing parameter: head", "POST", address(head=""), body),
                (400, "base: invalid commit hash 'main'", "POST", address(base="main"), body),
                (400, "pages: invalid commit URL", "POST", address(pages="javascript:alert(1)//"), body),
                (400, "pages: invalid commit URL", "POST", address(pages='https://x.org/"onclick="'), body),
                (400, "head_subject: contains control characters", "POST", address(head_subject="a\nb"), body),
                (400, "head_time: invalid value '-1' (expected time", "POST", address(head_time="-1"), body),
                (422, "the body is empty", "POST", address(), b""),
                (422, "not a report of fizeau ci", "POST", address(), b"{}"),
                (422, "the body: is not valid JSON", "POST", address(), b"[1, 2"),
                (422, "occurs twice", "POST", address(), report([("a", 1, 1), ("a", 1, 1)])),
                (413, "has more than 20000 benchmarks", "POST", address(), report([(str(i), 1, 1) for i in range(20001)])),
                (413, "the limit is 1 to 1024", "POST", address(), report([("n" * 1025, 1, 1)])),
                (404, "no such run", "GET", f"/api/status?{REPOSITORY}"),
                (404, "no such run", "GET", f"/badge.svg?{REPOSITORY}&pull=1"),
                (404, "no such run", "GET", f"/repository?{REPOSITORY}"),
                (400, "missing parameter: repository", "GET", "/api/status"),
                (422, "no run 1", "POST", "/api/benchmarks/page?run=1&name=report.html", b"x")):
            server.says(code, line, *request)
        assert server.ask("POST", address(repository=evil, branch=evil, into=evil, head_subject=evil), report([(evil, 100, 120)]))[0] == 200
        for code, line, name in (400, "invalid page name", "../report.html"), (400, "invalid page name", "report.svg"):
            server.says(code, line, "POST", f"/api/benchmarks/page?run=1&name={urllib.parse.quote(name)}", b"x")
        for rest in ("", "1", "1/", "1/x.html", "1/../../etc/passwd", "x/report.html", "1/%2e%2e/report.html", "99999999999999999999/report.html"):
            server.says(404, "no such run", "GET", f"/report/{rest}")
        wish = {"run": 1, "benchmark": evil, "reason": evil}
        for code, line, change, kind in (
                (415, "Content-Type must be application/json", {}, "text/plain"), (400, "specify the run", {"run": None}, None),
                (400, "missing parameter: benchmark", {"benchmark": 1}, None), (400, "missing parameter: reason", {"reason": ""}, None),
                (400, "reason: contains control characters", {"reason": "a\nb"}, None), (413, "has 7", {"reason": "x" * 70000}, None),
                (400, "has more than 1024 bytes", {"reason": "x" * 1025}, None),
                (422, "fails for costing more", {"benchmark": "parse"}, None), (404, "no such run", {"run": 2}, None),
                (422, "is accepted", {"withdraw": True}, None)):
            server.says(code, line, "POST", "/api/accept", json.dumps({**wish, **change}),
                        Content_Type=kind or "application/json")
        server.says(403, "cross-origin request", "POST", "/api/accept", json.dumps(wish), Content_Type="application/json",
                    Origin="http://evil.example.org")
        assert server.ask("POST", "/api/accept", json.dumps(wish), Content_Type="application/json")[0] == 200
        name = urllib.parse.quote(evil)
        for page in ("/benchmarks", f"/repository?repository={name}", "/change?run=1"):
            code, content, _ = server.ask("GET", page)
            assert code == 200 and b"DROP TABLE" in content and b"<img" not in content, (page, code)
        assert status(server, repository=evil)["status"] == "passed"


@suite.test("a project sees only itself; write, read and badge tokens have only their rights")
def rights():
    with scratch() as folder:
        tokens = pathlib.Path(folder, "tokens")
        tokens.write_text("one write write-write-write-write\none read read-read-read-read\none badge badge-badge-badge-badge\n"
                          "two read,write two-two-two-two-two\n", encoding="utf-8")
        tokens.chmod(0o600)
        write, read, badge, two = [line.split()[2] for line in tokens.read_text().splitlines()]
        with Server(folder, "--tokens", tokens) as server:
            body, wish = report([("parse", 100, 120)]), json.dumps({"run": 1, "benchmark": "parse", "reason": "so"})
            assert server.ask("POST", address(), body, write)[0] == 200
            assert server.ask("POST", "/api/benchmarks/page?run=1&name=report.html", b"x", write)[0] == 200
            assert server.ask("GET", "/report/1/report.html", token=read)[0] == 200
            state, shown = f"/api/status?{REPOSITORY}", f"/badge.svg?{REPOSITORY}"
            for code, line, method, where, content, token in (
                    (401, "authentication required", "POST", address(), body, None), (403, "is read-only", "POST", address(), body, read),
                    (403, "is read-only", "POST", "/api/accept", wish, read), (403, "is write-only", "GET", "/change?run=1", None, write),
                    (403, "only grants access to badges", "GET", "/change?run=1", None, badge), (403, "only grants access to badges", "POST", address(), body, badge),
                    (401, "authentication required", "GET", shown, None, None), (401, "unknown token", "GET", f"{shown}&token=x", None, None),
                    (403, "must be a badge token", "GET", f"{shown}&token={read}", None, None),
                    (401, "authentication required", "GET", f"/change?run=1&token={read}", None, None),
                    (404, "no such run", "GET", "/change?run=1", None, two), (404, "no such run", "GET", "/report/1/report.html", None, two),
                    (404, "no such run", "GET", state, None, two),
                    (422, "no run 1", "POST", "/api/benchmarks/page?run=1&name=report.html", b"x", two)):
                got, answer, _ = server.ask(method, where, content, token)
                assert got == code and line in answer.decode(), (where, token, got, answer)
            for where, token in ((state, read), (state, badge), (f"{state}&token={badge}", None), (f"{shown}&token={badge}", None),
                                 (f"/api/accepted?{REPOSITORY}", write), (f"/api/accepted?{REPOSITORY}", read)):
                assert server.ask("GET", where, token=token)[0] == 200, where
            answer = server.ask("POST", "/api/accept", wish, two, Content_Type="application/json")
            assert answer[0] == 404, answer
            answer = server.ask("POST", "/api/accept", wish, write, Content_Type="application/json")
            assert answer[0] == 200 and json.loads(answer[1])["failing"] == 0, answer


@suite.test("--retain deletes reports and pages, but no values or accepted changes; --benchmarks names another file")
def forgotten():
    with scratch() as folder, Server(folder, "--retain", "7") as server:
        assert server.ask("POST", address(), report([("parse", 100, 120)]))[0] == 200
        assert server.ask("POST", "/api/benchmarks/page?run=1&name=report.html", b"x")[0] == 200
        wish = json.dumps({"run": 1, "benchmark": "parse", "reason": "so"})
        assert server.ask("POST", "/api/accept", wish, Content_Type="application/json")[0] == 200
        server.stop()
        with sqlite3.connect(server.store) as store:
            store.execute("UPDATE ci_run SET received = received - 8 * 86400")
            # A file of before a column is given it.
            store.execute("ALTER TABLE ci_accepted DROP COLUMN landed")
        # As long as nothing is newer the clock may be wrong.
        server.start()
        wait_until(lambda: "8 days later than the newest data" in (server.folder / "serve.err").read_text(encoding="utf-8"))
        assert server.ask("GET", "/report/1/report.html")[0] == 200
        server.push_new()
        server.stop()
        server.start()
        wait_until(lambda: server.ask("GET", "/report/1/report.html")[0] == 404)
        server.says(404, "no such run", "GET", f"/api/status?{REPOSITORY}")
        page = server.ask("GET", f"/repository?{REPOSITORY}")[1].decode()
        assert "1 benchmark over 2 commits of main" in page and "Accepted changes" in page, page
        server.stop()
    with scratch() as folder, Server(folder, "--benchmarks", os.path.join(folder, "gate.db")) as server:
        assert server.ask("POST", address(), report([("parse", 100, 120)]))[0] == 200
        with sqlite3.connect(os.path.join(folder, "gate.db")) as store:
            assert store.execute("SELECT count(*) FROM ci_run").fetchone() == (1,)
        done = fizeau(folder, "serve", "--store", "x.db", "--benchmarks", "missing/y.db", status=2)
        assert "missing/y.db: cannot open" in done.stderr, done.stderr


if __name__ == "__main__":
    suite.main()
