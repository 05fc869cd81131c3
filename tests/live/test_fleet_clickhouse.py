#!/usr/bin/env python3
"""A fleet's server whose store is two shards of ClickHouse: the same answers as with SQLite, each
push once, and messages while a shard is down."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import signal
import time
import unittest.mock
import urllib.parse

import test_ci_server
import test_fleet
from clickhouselib import Between, Chdb, ClickHouse, ask
from fleetlib import Server, fizeau, message, number, otlp, pushed_until_killed, scratch, varint
from livelib import SANITIZED, Skip, Suite, wait_until

suite = Suite()
START = 1700000040
HOSTILE = "it's \\'\\\\ \"; DROP TABLE fizeau_cell; -- {}`"


@contextlib.contextmanager
def two_shards(*options):
    """A folder, both servers, one of ours on them."""
    with scratch() as name, ClickHouse(f"{name}/one") as one, ClickHouse(f"{name}/two") as two:
        with Server(name, *options, store=f"{one.url}/fleet,{two.url}/fleet") as server:
            yield pathlib.Path(name), one, two, server


def pushes(seed=1):
    """Pushes of two releases of a service, 8 hosts and 12 minutes each, in random order; in the second, f3 costs more."""
    chance, made = random.Random(seed), []
    for version, much in (("1", 1), ("2", 1.4)):
        for host in range(8):
            for minute in range(12):
                body = "".join(f"main;{a};f{b} {round(chance.gauss(200, 10) * (much if b == 3 else 1))}\n"
                               for a in ("x", "y") for b in range(5))
                made.append((body.encode(), {
                    "service": "shop", "version": version, "host": f"h{host}", "label": f"region={'eu' if host % 2 else HOSTILE}",
                    "start": START + (int(version) * 60 + minute) * 60, "id": f"{version}-{host}-{minute}"}))
    chance.shuffle(made)
    return made


def push_all(server, made):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda push: server.push(push[0], **push[1]), made))
    assert all(status == 200 for status, _, _ in answers), [a[:2] for a in answers if a[0] != 200][:3]
    return [json.loads(content)["status"] for _, content, _ in answers]


def answers(server):
    """All of a server's answers about what was pushed, byte for byte."""
    sides = "base=shop@1&head=shop@2"
    only = urllib.parse.urlencode({"label": f"region={HOSTILE}"})
    now = START // 60 + 60
    since = f"since={(now + 3) * 60}&until={(now + 69) * 60}"
    asked = ["/", f"/api/diff?{sides}", f"/api/pair?{sides}", f"/api/diff?{sides}&{only}", f"/api/diff?{sides}&{since}",
             "/api/timeline?service=shop", f"/api/timeline?service=shop&{only}&{since}", "/diff?" + sides,
             "/api/diff?base=shop@9&head=shop@2", "/api/timeline?service=nothing", f"/api/diff?{sides}&metric=x",
             f"/api/diff?{sides}&label=region%3Dus"]
    return {path: server.ask("GET", path)[:2] for path in asked}


def same(one, other):
    assert one.keys() == other.keys()
    for path, answer in one.items():
        at = len(os.path.commonprefix([answer[1], other[path][1]])[:-100])
        assert answer == other[path], (path, answer[0], answer[1][at:at + 300], other[path][0], other[path][1][at:at + 300])


@suite.test("the answers are the same as with SQLite, to the last digit; texts stay texts")
def equal():
    made = pushes()
    with two_shards() as (folder, one, two, server):
        (folder / "sqlite").mkdir()
        with Server(folder / "sqlite") as sqlite:
            extra = (b"main;<b>`'; DROP TABLE x\\;\xc3\xa9 40\n", {"service": HOSTILE, "version": "'\\", "host": "\"'\\x00"})
            for to in (server, sqlite):
                push_all(to, [*made, (extra[0], {**extra[1], "start": START})])
            same(answers(sqlite), answers(server))
            assert sqlite.samples(HOSTILE, "'\\") == server.samples(HOSTILE, "'\\") == 40
            names = ["diff", "shop@1", "shop@2", "--format", "json"]
            told = fizeau(folder, *names, "--server", sqlite.url).stdout
            assert fizeau(folder, *names, "--server", server.url).stdout == told
            assert fizeau(folder, *names, "--store", server.store).stdout == told
        f3 = next(f for f in json.loads(told)["functions"] if f["name"] == "f3")
        assert f3["self_verdict"] == "changed" and 30 < f3["pct_self"] < 50, f3
        assert all(int(shard.ask("SELECT count() FROM fleet.fizeau_cell")) > 20 for shard in (one, two))
        # Recordings are stored next to it; also those from before.
        server.stop()
        server.options = ("--recordings", folder / "whole")
        server.start()
        body, told = made[0]
        status, content, _ = server.push(body, **told, keep="yes")
        assert status == 200 and json.loads(content)["status"] == "known" and json.loads(content)["kept"], content
        assert server.ask("GET", f"/api/recording?id={told['id']}")[1] == body


@suite.test("later ClickHouse runs the same statements and gives the same answers (chdb)")
def later():
    if SANITIZED:
        raise Skip("what is ours of it is the same with the earlier one")
    made = pushes(seed=2)
    with scratch() as name, Chdb(f"{name}/one") as one:
        folder = pathlib.Path(name)
        (folder / "sqlite").mkdir()
        with Server(name, store=f"{one.url}/a,{one.url}/b") as server, Server(folder / "sqlite") as sqlite:
            now = int(time.time())
            for to in (server, sqlite):
                push_all(to, made)
                to.push_new(now)
            same(answers(sqlite), answers(server))
            assert set(push_all(server, made[:50])) == {"known"}

            def change(what):
                for name in "ab":
                    ask(f"{one.url}/?database={name}", f"ALTER TABLE fizeau_push UPDATE {what} SETTINGS mutations_sync = 1")
            for to in (sqlite, server):
                to.stop()
                to.options = ("--retain-minutes", "8")
                if to is server:
                    change("came = 1 WHERE 1")
                to.start()
                wait_until(lambda to=to: all_aged(to), "sums of hours")
            same(answers(sqlite), answers(server))

            def values():
                return sum(int(ask(f"{one.url}/?database={name}", "SELECT count() FROM fizeau_value")) for name in "ab")
            before = values()
            change("digest = 1 WHERE host = ''")
            server.stop()
            server.start()
            wait_until(lambda: values() < before / 3, "values that are gone")
            same(answers(sqlite), answers(server))
            server.stop()
            server.options = ("--retain", "1")
            server.start()
            wait_until(lambda: b"shop" not in server.ask("GET", "/")[1], "forgetting")


@suite.test("a push counts once: repeated, with other content, by many at once, by two servers at once")
def once():
    with two_shards() as (folder, _one, _two, server):
        def push(to, n, body=b"main;f 10\n"):
            status, content, _ = to.push(body, id=f"id{n}", host=f"h{n % 5}", start=START)
            assert status == 200, content
            return json.loads(content)["status"]
        assert [push(server, 0), push(server, 0)] == ["stored", "known"]
        status, content, _ = server.push(b"main;other 99\n", id="id0", host="h0", start=START)
        assert status == 422 and b"id 'id0' was used for another push; use a new id" in content, content
        (folder / "second").mkdir()
        with Server(folder / "second", store=server.store) as second, concurrent.futures.ThreadPoolExecutor(16) as pool:
            jobs = [(to, n) for n in range(1, 31) for to in (server, second) * 3]
            said = list(pool.map(lambda job: push(*job), jobs))
            assert said.count("stored") >= 30
            # Two servers may both have stored one; it counts once even so.
            for to in (server, second):
                assert to.samples("s", "1") == 310, to.samples("s", "1")
            # An id is of a service and a host.
            assert push(server, 1 + 5) == "known"
            server.says(200, "stored", "POST", f"/api/push?service=s&version=1&host=h7&id=id6&start={START}", b"main;f 10\n")


TABLES = ["function", "node", "value", "cell", "push"]


@suite.test("a push interrupted anywhere is stored completely or not at all, and once if repeated")
def broken_off():
    with scratch() as name, ClickHouse(f"{name}/one") as one, Between(one.url) as between:
        with Server(name, store=f"{between.url}/fleet") as server:
            expected = 0
            for n, (table, after) in enumerate((table, after) for table in TABLES for after in (False, True)):
                body = f"main;f{n} 10\nmain;g 5\n".encode()
                # A shard that did not respond is not queried again for some seconds.
                wait_until(lambda: server.push(b"main;g 1\n", id=f"before{n}", start=START)[0] == 200, "a shard that is back")
                expected += 1
                between.table, between.after = table, after
                status, content, headers = server.push(body, id=f"id{n}", start=START)
                between.table = None
                assert status == 503 and b"no response" in content and headers["Retry-After"], (table, status, content)
                there = table == "push" and after
                assert server.samples("s", "1") == expected + (15 if there else 0), (table, after)
                answer = []
                wait_until(lambda: answer.append(server.push(body, id=f"id{n}", start=START)) or answer[-1][0] == 200,
                           "a shard that is back")
                assert json.loads(answer[-1][1])["status"] == ("known" if there else "stored"), (table, after, answer)
                expected += 15
                assert server.samples("s", "1") == expected, (table, after)


@suite.test("a killed server has everything that it acknowledged, once")
def killed():
    with two_shards() as (_folder, _one, _two, server):
        def push(n):
            try:
                return n, server.push(f"main;f{n % 7} 10\n".encode(), id=f"id{n}", host=f"h{n % 9}", start=START)[0] == 200
            except (OSError, http.client.HTTPException):
                return n, False
        done = pushed_until_killed(server, push, clients=8, after=40)
        acknowledged = [n for n, there in done.items() if there]
        server.start()
        assert len(acknowledged) <= server.samples("s", "1") // 10 <= len(acknowledged) + 8
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert all(there for _, there in pool.map(push, range(100)))
        there = server.samples("s", "1") // 10
        counted = {*acknowledged, *range(100)}
        assert len(counted) <= there <= len(counted) + 8, (there, len(counted))


@suite.test("a shard is killed: nothing acknowledged is lost, and queries name the missing shard")
def shard_killed():
    with two_shards() as (folder, _one, two, server):
        said, statuses = [], {}

        def push(n):
            status, content, _ = server.push(f"main;f{n % 7} 10\nmain;g 5\n".encode(), id=f"id{n}", host=f"h{n % 16}",
                                             version=str(1 + n % 2), start=START + (n // 64) * 60)
            if status != 200:
                said.append(content)
            statuses[n] = status
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            pushed = [pool.submit(push, n) for n in range(500)]
            wait_until(lambda: sum(p.done() for p in pushed) > 100, "some pushes")
            two.kill()
            for p in pushed:
                p.result()
        assert set(statuses.values()) == {200, 503} and two.url.encode() in said[0], (set(statuses.values()), said[:1])
        missing = f"{two.url}/fleet does not respond"
        # Who pushes to the other shard is not held up.
        status, content, _ = server.ask("GET", "/api/diff?base=s@1&head=s@2")
        assert status == 200 and any(missing in text for text in json.loads(content)["warnings"]), content[:300]
        assert f"{two.url}/fleet, which does not answer" in server.ask("GET", "/")[1].decode()
        assert json.loads(server.ask("GET", "/api/timeline?service=s")[1])["missing"] == f"{two.url}/fleet"
        for how in ("--server", server.url), ("--store", server.store):
            assert missing in fizeau(folder, "diff", "--verbose", "s@1", "s@2", *how).stdout
        server.says(503, missing, "GET", "/api/diff?base=s@1&head=s@9")
        less = server.samples("s", "1")
        two.start()
        there = {n for n, status in statuses.items() if status == 200}
        # One that was under way may be there, too: one for each client.
        counted = (server.samples("s", "1") + server.samples("s", "2")) // 15
        assert len(there) <= counted <= len(there) + 16 and less < server.samples("s", "1"), (len(there), counted, less)
        wait_until(lambda: push(0) or statuses[0] == 200, "the shard")
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(push, range(500)))
        assert set(statuses.values()) == {200}
        assert server.samples("s", "1") + server.samples("s", "2") == 500 * 15
        assert "missing" not in json.loads(server.ask("GET", "/api/timeline?service=s")[1])


@suite.test("a shard that accepts connections but never answers delays the others once")
def hangs():
    if SANITIZED:
        raise Skip("it is time limits that are tested")
    with two_shards() as (_folder, _one, two, server):
        def push(host):
            began = time.monotonic()
            return server.push(b"main;f 10\n", host=host, id=str(began))[0], time.monotonic() - began
        two.process.send_signal(signal.SIGSTOP)
        hosts = {f"h{n}": push(f"h{n}") for n in range(8)}
        assert {status for status, _ in hosts.values()} == {200, 503}, hosts
        held = [host for host, (_, seconds) in hosts.items() if seconds > 25]
        assert len(held) == 1 and hosts[held[0]][0] == 503, hosts
        two.process.send_signal(signal.SIGCONT)


def computed(server):
    found = re.search(r'fizeau_answers_total\{result="computed"\} (\d+)', server.ask("GET", "/metrics")[1].decode())
    return int(found[1])


@suite.test("an answer is computed once until its data change, and not cached while a shard is missing")
def known_answers():
    with two_shards() as (_folder, _one, two, server):
        push_all(server, pushes())
        paths = ["/api/diff?base=shop@1&head=shop@2", "/api/timeline?service=shop"]

        def ask():
            before, said = computed(server), [server.ask("GET", path)[:2] for path in paths]
            assert {status for status, _ in said} == {200}, said
            return said, computed(server) - before
        first, n = ask()
        assert n == 2 and ask() == (first, 0)
        assert server.push(b"main;x;f1 1\n", service="other", host="h1", start=START)[0] == 200
        assert ask() == (first, 0)
        two.kill()
        part, n = ask()
        assert n == 2 and part != first and ask() == (part, 2)
        two.start()
        assert ask() == (first, 0)
        # New data of one side, in both shards.
        for host in range(8):
            wait_until(lambda: server.push(b"main;x;f1 1\n", service="shop", version="2", host=f"h{host}",
                                           start=START)[0] == 200, "a shard that is back")
            latest, n = ask()
            assert n == 2 and latest != first and ask() == (latest, 0)
            first = latest


@suite.test("no shard answers: a line and 503; our server does not start without any, but with one")
def all_away():
    with two_shards() as (folder, one, two, server):
        assert server.push(b"main;f 10\n")[0] == 200
        server.stop()
        two.kill()
        server.start()
        one.kill()
        server.says(503, "no response (nor from the other shards)", "GET", "/")
        server.says(503, "no response", "GET", "/api/diff?base=s@1&head=s@1")
        server.says(503, "no response", "POST", "/api/push?service=s&version=1&host=h&id=x", b"main 1\n")
        server.stop()
        done = fizeau(folder, "serve", "--store", server.store, "--listen", "127.0.0.1:0", status=2)
        assert "no response (nor from the other shards); try again later" in done.stderr and done.stderr.count("\n") == 1


@suite.test("a different list of shards, a bad address, a password: one line")
def refused():
    with scratch() as name, ClickHouse(f"{name}/one", password="pass'word") as one:
        def serve(store, why, **env):
            done = fizeau(name, "serve", "--store", store, "--listen", "127.0.0.1:0", status=2, env=env)
            assert why in done.stderr and done.stderr.count("\n") == 1, done.stderr
        serve(f"{one.url}/a", "set CLICKHOUSE_USER and CLICKHOUSE_PASSWORD")
        serve(one.url.replace("//", "//default:x@") + "/a", "passwords in URLs are not allowed")
        for store in (one.url, f"{one.url}/", f"{one.url}/a'b", f"{one.url}/a,", "http://", "https:///x"):
            serve(store, "invalid ClickHouse URL")
        serve(f"{one.url}/a,{one.url}/a", "is listed twice")
        done = fizeau(name, "diff", "s@1", "s@2", "--store", f"{one.url}/a", status=2, env={"CLICKHOUSE_PASSWORD": "pass'word"})
        assert "not a fizeau store" in done.stderr, done.stderr
        with (unittest.mock.patch.dict(os.environ, CLICKHOUSE_PASSWORD="pass'word"),
              Server(name, store=f"{one.url}/a,{one.url}/b") as server):
            assert server.push(b"main;f 10\n")[0] == 200
            for wrong in (f"{one.url}/a", f"{one.url}/b,{one.url}/a", f"{one.url}/a,{one.url}/b,{one.url}/c"):
                serve(wrong, "list all shards of the store in order")
                done = fizeau(name, "diff", "s@1", "s@1", "--store", wrong, status=2)
                assert "list all shards" in done.stderr or "not a fizeau store" in done.stderr, done.stderr


@suite.test("benchmarks are stored in a separate file, if one is named")
def benchmarks():
    with scratch() as name, ClickHouse(f"{name}/one") as one:
        with Server(name, store=f"{one.url}/a") as server:
            for method, path in (("GET", "/benchmarks"), ("GET", "/api/status?repository=r"), ("POST", "/api/benchmarks")):
                server.says(422, "this server does not store benchmarks; start it with --benchmarks FILE", method, path, b"{}")
        with Server(name, "--benchmarks", f"{name}/gate.db", store=f"{one.url}/a") as server:
            run = test_ci_server.report([("parse", 100, 100)])
            status, answer, _ = server.ask("POST", f"/api/benchmarks?repository=r&id=1&head={'b' * 40}&branch=main", run)
            assert status == 200, answer
            assert json.loads(server.ask("GET", "/api/status?repository=r&branch=main")[1])["status"] == "passed"


@suite.test("old data is deleted by days; lost data is an error, not a smaller sum")
def forgotten():
    with two_shards() as (folder, one, two, server):
        now = int(time.time())
        for n in range(20):
            for age in (0, 3 * 86400):
                assert server.push(f"main;f{age} 10\n".encode(), host=f"h{n}", version=str(age), start=now - age)[0] == 200
        assert server.samples("s", "0") == server.samples("s", str(3 * 86400)) == 200
        server.stop()
        server.options = ("--retain", "2")
        server.start()
        wait_until(lambda: server.ask("GET", f"/api/diff?base=s@{3 * 86400}&head=s@0")[0] == 422, "forgetting")
        assert server.samples("s", "0") == 200
        server.says(422, "the latest versions of s are: 0", "GET", f"/api/diff?base=s@{3 * 86400}&head=s@0")
        assert all(shard.ask("SELECT count() FROM fleet.fizeau_node WHERE day < toUInt32(toDate(now())) - 2") == "0\n"
                   for shard in (one, two))
        server.says(422, "older than the retention of 2 days", "POST", f"/api/push?service=s&version=1&host=h&start={now - 3 * 86400}", b"main 1\n")
        day = two.ask("SELECT max(intDiv(minute, 1440)) FROM fleet.fizeau_value").strip()
        two.ask(f"ALTER TABLE fleet.fizeau_value DROP PARTITION {day}")
        server.says(503, "or lost values", "GET", "/api/diff?base=s@0&head=s@0")
        done = fizeau(folder, "diff", "s@0", "s@0", "--store", server.store, status=2)
        assert "or lost values; try again" in done.stderr, done.stderr


def settle(shards):
    """As if more than half an hour had gone by."""
    for shard in shards:
        shard.ask("ALTER TABLE fleet.fizeau_push UPDATE digest = 1 WHERE host = ''")
        shard.ask("ALTER TABLE fleet.fizeau_push UPDATE came = 1 WHERE 1")
        wait_until(lambda shard=shard: shard.ask("SELECT min(is_done) FROM system.mutations") == "1\n", "older pushes")


def total(server, **more):
    status, content, _ = server.ask("GET", f"/api/diff?base=s@1&head=s@1&{urllib.parse.urlencode(more)}")
    assert status == 200, content
    return json.loads(content)["base"]["total"]


def ages(shard):
    return int(shard.ask("SELECT count() FROM fleet.fizeau_push WHERE host = ''"))


def old_pushes():
    """Two releases at the same hours of two days, 8 hosts, 100 minutes each, from 12 days ago; f3 costs less, which
    raises no alarm."""
    chance, made = random.Random(5), []
    began = int(time.time()) // 86400 * 86400 - 12 * 86400 + 7 * 3600
    for version, much in (("1", 1), ("2", 0.7)):
        for host in range(8):
            for n in range(0, 100, 4):
                body = "".join(f"main;{a};f{b} {round(chance.gauss(800, 30) * (much if b == 3 else 1))}\n"
                               for a in ("x", "y") for b in range(5))
                made.append((body.encode(), {
                    "service": "shop", "version": version, "host": f"h{host}", "label": f"region={'eu' if host % 2 else HOSTILE}",
                    "start": began + (int(version) - 1) * 86400 + n * 60, "id": f"{version}-{host}-{n}"}))
    return began, made


def both_aged(began, *servers):
    """The answers of servers whose minutes are old, which must be the same."""
    sides = "base=shop@1&head=shop@2"
    only = urllib.parse.urlencode({"label": f"region={HOSTILE}"})
    paths = ["/", f"/api/diff?{sides}", f"/api/pair?{sides}", f"/api/diff?{sides}&{only}", "/api/timeline?service=shop",
             *(f"/api/timeline?service=shop&since={began + a * 60}&until={began + b * 60}" for a, b in ((0, 90), (29, 89), (31, 60))),
             *(f"/api/diff?base=shop@1&head=shop@1&since={began + a * 60}&until={began + b * 60}"
               for a, b in ((0, 60), (29, 89), (30, 90), (31, 60), (0, 29)))]
    said = [{path: server.ask("GET", path)[:2] for path in paths} for server in servers]
    for other in said[1:]:
        same(said[0], other)
    return said[0]


def all_aged(server):
    return server.ask("GET", "/api/diff?base=shop@1&head=shop@2")[1].count(b"; all known only by the hour") == 2


@suite.test("old minutes are replaced by sums of hours, with the same answers as with SQLite: by two servers at once, "
            "while pushes arrive later, when the values are gone")
def aged():
    with two_shards() as (folder, one, two, server):
        began, made = old_pushes()
        (folder / "sqlite").mkdir()
        (folder / "second").mkdir()
        with Server(folder / "sqlite") as sqlite:
            now = int(time.time())
            for to in (server, sqlite):
                push_all(to, made)
                to.push_new(now)
            fine = both_aged(began, server, sqlite)
            server.options = sqlite.options = ("--retain-minutes", "8")
            with Server(folder / "second", "--retain-minutes", "8", store=server.store) as second:
                server.stop()
                settle((one, two))
                server.start()
                wait_until(lambda: all_aged(server), "sums of hours")
                sqlite.stop()
                sqlite.start()
                wait_until(lambda: all_aged(sqlite), "sums of hours")
                old = both_aged(began, server, sqlite, second)
            assert old["/"] == fine["/"] and old["/api/timeline?service=shop"] == fine["/api/timeline?service=shop"]
            # The same for an hour of which some data arrive later.
            late = [(body, {**told, "id": "late" + told["id"]}) for body, told in made[::7]]
            for to in (server, sqlite):
                push_all(to, late)
                assert set(push_all(to, made[:20])) == {"known"}
                assert not all_aged(to)
            sqlite.stop()
            sqlite.start()
            wait_until(lambda: all_aged(sqlite), "sums of hours")
            settle((one, two))
            values = sum(int(shard.ask("SELECT count() FROM fleet.fizeau_value")) for shard in (one, two))
            server.stop()
            server.start()
            wait_until(lambda: all_aged(server), "sums of hours")
            late_too = both_aged(began, server, sqlite)
            assert late_too["/"] != old["/"]
            wait_until(lambda: sum(int(shard.ask("SELECT count() FROM fleet.fizeau_value")) for shard in (one, two)) < values / 3,
                       "values that are gone")
            server.stop()
            server.start()
            assert both_aged(began, server, sqlite) == late_too
            # Sums that were computed twice count once; lost ones do not make a sum smaller.
            columns = one.ask("SELECT groupArray(name) FROM system.columns WHERE database = 'fleet' AND table = 'fizeau_cell'")
            columns = columns.strip()[1:-1].replace("'", "")
            for shard in (one, two):
                shard.ask(f"INSERT INTO fleet.fizeau_cell ({columns}) SELECT {columns.replace('put', 'put + 1')}"
                          " FROM fleet.fizeau_cell WHERE number >= 2147483648")
                shard.ask("INSERT INTO fleet.fizeau_push (project, service, host, id, version, first, last, put, digest) SELECT"
                          " project, service, host, concat(id, 'x'), version, first, last, put + 1, digest FROM fleet.fizeau_push"
                          " WHERE host = ''")
            assert both_aged(began, server, sqlite) == late_too
            for shard in (one, two):
                shard.ask("ALTER TABLE fleet.fizeau_cell DELETE WHERE number >= 2147483648")
                wait_until(lambda shard=shard: shard.ask("SELECT min(is_done) FROM system.mutations") == "1\n", "a loss")
            done = fizeau(folder, "diff", "shop@1", "shop@2", "--store", server.store, status=2)
            assert "or lost values; try again" in done.stderr, done.stderr


@suite.test("a store of an earlier layout is converted by a server, and not read before that")
def earlier_layout():
    with two_shards() as (folder, one, _two, server):
        push_all(server, pushes())
        before = answers(server)
        server.stop()
        for sql in ("DROP TABLE fleet.fizeau_aged", "ALTER TABLE fleet.fizeau_push DROP COLUMN came",
                    "ALTER TABLE fleet.fizeau_shard DROP PARTITION tuple()",
                    "INSERT INTO fleet.fizeau_shard VALUES (1, 0, 2)"):
            one.ask(sql)
        done = fizeau(folder, "diff", "shop@1", "shop@2", "--store", server.store, status=2)
        assert "has an earlier layout; start 'fizeau serve' on it" in done.stderr and done.stderr.count("\n") == 1, done.stderr
        server.start()
        same(before, answers(server))


@suite.test("the same claims about old minutes as with SQLite")
def aged_too():
    with two_shards() as (_folder, one, two, server):
        test_fleet.check_aged(server, lambda: settle((one, two)))


def pprof(*metrics):
    """main > f, with a value of each (metric, unit, value)."""
    strings = ["", "main", "f", *(text for metric in metrics for text in metric[:2])]
    kinds = [number(1, 3 + 2 * n) + number(2, 4 + 2 * n) for n in range(len(metrics))]
    sample = message(1, varint(2) + varint(1)) + message(2, b"".join(varint(metric[2]) for metric in metrics))
    return b"".join([*(message(1, kind) for kind in kinds), message(2, sample),
                     *(message(4, number(1, n) + message(4, number(1, n))) for n in (1, 2)),
                     *(message(5, number(1, n) + number(2, n)) for n in (1, 2)),
                     *(message(6, text.encode()) for text in strings)])


@suite.test("a push with another metric than its hour had, which arrives while the hour is added up, is counted wholly")
def late_metric():
    with scratch() as name, ClickHouse(f"{name}/one") as one, Between(one.url) as between:
        folder, day = pathlib.Path(name), int(time.time()) // 86400 * 86400 - 12 * 86400
        (folder / "second").mkdir()
        with Server(folder / "second", store=f"{one.url}/fleet") as second, Server(name, store=f"{between.url}/fleet") as server:
            def push(n, *metrics):
                assert second.push(pprof(*metrics), id=f"id{n}", start=day + 60 * n)[0] == 200
                settle([one])
            push(0, ("cpu", "nanoseconds", 1000))
            second.push_new()
            server.stop()
            server.options = ("--retain-minutes", "8")
            between.before = ("INSERT INTO fizeau_aged", lambda: push(1, ("inuse_space", "bytes", 7), ("cpu", "nanoseconds", 50)))
            server.start()
            wait_until(lambda: ages(one), "sums of hours")
            assert (total(server), total(server, metric="inuse_space")) == (1050, 7)


@suite.test("an old push that two servers write at once counts once, if its hour is added up in between")
def late_twice():
    with scratch() as name, ClickHouse(f"{name}/one") as one, Between(one.url) as between:
        folders = [pathlib.Path(name, part) for part in ("second", "third")]
        for folder in folders:
            folder.mkdir()
        with (Server(name, store=f"{between.url}/fleet") as server, Server(folders[0], store=f"{one.url}/fleet") as second,
              Server(folders[1], store=f"{one.url}/fleet") as third):
            def push(to, *hosts):
                body = b"".join(otlp([("s", "1", f"h{n}")], sample=message(4, varint(1 << n))) for n in hosts)
                status, content, _ = to.ask("POST", "/v1development/profiles", body, Content_Type="application/x-protobuf")
                assert status == 200, content

            def between_both():
                push(second, *range(8))
                third.start()
                wait_until(lambda: ages(one), "sums of hours")
            push(second, 8)
            second.push_new()
            settle([one])
            third.stop()
            third.options = ("--retain-minutes", "8")
            between.before = ("INSERT INTO fizeau_push", between_both)
            push(server, *range(8))
            assert int(one.ask("SELECT count() FROM fleet.fizeau_push WHERE host != ''")) == 18
            assert total(server) == 511, total(server)
            settle([one])
            third.stop()
            third.start()
            wait_until(lambda: ages(one) == 2, "sums of hours")
            assert total(server) == 511


def minute(n, host):
    """A minute of version 1 or, from the 12th on, of version 2, in which d costs more."""
    chance = random.Random(n * 100 + host)
    costs = {f: chance.gauss(400, 8) * (1.3 if f == "d" and n >= 12 else 1) for f in "abcdefg"}
    return ("".join(f"main;{f} {round(cost)}\n" for f, cost in costs.items()).encode(),
            {"service": "s", "version": "1" if n < 12 else "2", "host": f"h{host}", "start": START + n * 60})


@suite.test("a release that made a function more expensive raises one alarm, as with SQLite")
def alarm():
    with two_shards() as (folder, _one, _two, server):
        (folder / "sqlite").mkdir()
        server.options = ("--alarm-file", str(folder / "alarms"))
        server.stop()
        server.start()
        with Server(folder / "sqlite", "--alarm-file", str(folder / "sqlite" / "alarms")) as sqlite:
            files = [folder / "alarms", folder / "sqlite" / "alarms"]
            for to in (server, sqlite):
                push_all(to, [minute(n, host) for n in range(24) for host in range(8)])
            wait_until(lambda: all(file.stat().st_size for file in files), "an alarm of each")
            texts = [file.read_text(encoding="utf-8") for file in files]
            assert texts[0] == texts[1] and json.loads(texts[0])["function"] == "d", texts
            pages = [to.ask("GET", "/")[1] for to in (server, sqlite)]
            assert pages[0] == pages[1] and b"/diff?base=s@1&amp;head=s@2" in pages[0]
            # A restarted server does not send it again.
            server.stop()
            server.start()
            push_all(server, [minute(n, host) for n in range(24, 34) for host in range(8)])
            time.sleep(5)
            assert files[0].read_text(encoding="utf-8") == texts[0]


if __name__ == "__main__":
    suite.main()
