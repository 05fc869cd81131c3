#!/usr/bin/env python3
"""A real server: recordings are pushed, it is killed, releases are compared; and failures."""

import base64
import concurrent.futures
import contextlib
import gzip
import http.client
import http.server
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import sqlite3
import ssl
import stat
import subprocess
import threading
import time
import urllib.parse
import warnings

from fleetlib import Server, fizeau, kept, kept_files, message, number, otlp, pushed_until_killed, scratch
from livelib import FIZEAU, SOURCE, Skip, Suite, find_interpreter, wait_until

PROGRAM = """
def parse(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

def render(n):
    return "".join([str(i) for i in range(n)])

for _ in range(200):
    parse({size})
    render(20000)
"""
TOKENS = "# who\none write writewritewritewrite\none read readreadreadread\ntwo read,write two-two-two-two-two\n"

suite = Suite()
FOLDED = "main;parse 700\nmain;render 300\n"


def certificate(folder, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{name}.key", "-out",
                    f"{name}.crt"], cwd=folder, check=True, capture_output=True, timeout=60)


def handshake(port, version):
    """Does the server accept that version of TLS?"""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore"):
        context.minimum_version = context.maximum_version = version
    try:
        with socket.create_connection(("127.0.0.1", port), 60) as plain, context.wrap_socket(plain):
            return True
    except ssl.SSLError:
        return False


@suite.test("https: clients that trust the certificate push and read, others get the reason")
def encrypted():
    with scratch() as name:
        folder = pathlib.Path(name)
        for name in ("own", "other"):
            certificate(folder, name)
        (folder / "r.folded").write_text(FOLDED, encoding="utf-8")
        own, other = ({"SSL_CERT_FILE": str(folder / f"{name}.crt")} for name in ("own", "other"))
        tls = ["--tls-cert", folder / "own.crt", "--tls-key", folder / "own.key"]
        with Server(folder, *tls) as server:
            assert server.url.startswith("https://127.0.0.1:"), server.url
            push = "push", "r.folded", "--service", "s", "--host", "h", "--server"
            for version in ("1", "2"):
                fizeau(folder, *push, server.url, "--version", version, env=own)
            text = fizeau(folder, "diff", "s@1", "s@2", "--server", server.url, env=own).stdout
            assert not handshake(server.port, ssl.TLSVersion.TLSv1_1) and handshake(server.port, ssl.TLSVersion.TLSv1_2)
            assert "1,000 samples -> 1,000 samples" in text, text
            for environ, url, why in ((other, server.url, "untrusted certificate"),
                                      (own, server.url.replace("https", "http"), "running there, without --tls-cert?")):
                done = fizeau(folder, *push, url, "--version", "3", status=2, env=environ)
                assert why in done.stderr and done.stderr.count("\n") == 1, done.stderr
            with Server(folder, store=folder / "plain.db") as plain:
                done = fizeau(folder, *push, plain.url.replace("http", "https"), "--version", "3", status=2)
                assert "running there, with --tls-cert?" in done.stderr, done.stderr
            renewed = ssl.get_server_certificate(("127.0.0.1", server.port))
            for end in "crt", "key":
                shutil.copy(folder / f"own.{end}", folder / f"first.{end}")
            (folder / "own.crt").write_bytes((folder / "other.crt").read_bytes())
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "the previous certificate stays in use: --tls-cert, --tls-key: not a certificate and its key"
                       in (folder / "serve.err").read_text(encoding="utf-8"), "a line about a key of another certificate")
            assert ssl.get_server_certificate(("127.0.0.1", server.port)) == renewed
            (folder / "own.key").write_bytes((folder / "other.key").read_bytes())
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: ssl.get_server_certificate(("127.0.0.1", server.port)) != renewed, "the new certificate")
            fizeau(folder, *push, server.url, "--version", "4", env=other)
            for end in "crt", "key":
                shutil.copy(folder / f"first.{end}", folder / f"own.{end}")
            assert server.stop() == 128 + signal.SIGTERM
        for files, why in (((tls[1], folder / "other.key"), "not a certificate and its key"),
                           ((folder / "r.folded", tls[3]), "not a certificate and its key"),
                           ((folder / "missing", tls[3]), "missing: cannot read"),
                           ((tls[1], None), "TLS requires both")):
            options = [word for pair in zip(tls[::2], files) if pair[1] for word in pair]
            done = fizeau(folder, "serve", "--store", "f.db", "--listen", "127.0.0.1:0", *options, status=2)
            assert why in done.stderr and done.stderr.count("\n") == 1, done.stderr


def recorded(folder, file, version, _):
    """As of a program that was recorded."""
    parse = 200 if version == "1" else 800
    pathlib.Path(folder, "x.folded").write_text(f"# metric: cpu ns\napp.py:main:11;app.py:parse:5 {parse}000000\n"
                                                "app.py:main:12;app.py:render:8 300000000\n", encoding="utf-8")
    fizeau(folder, "replay", "x.folded", "-o", file)


def recorded_now(folder, file, version, python):
    size = 20000 if version == "1" else 80000
    pathlib.Path(folder, "app.py").write_text(PROGRAM.format(size=size), encoding="utf-8")
    fizeau(folder, "run", "--clock", "cpu", "-o", file, "--python", python.command[0], "app.py")


def compared(record):
    python = find_interpreter("debian-3.11")
    with python.scratch() as folder, Server(folder) as server:
        for version in ("1", "2"):
            for host in ("a", "b", "c"):
                file = f"{version}{host}.fz"
                record(folder, file, version, python)
                done = fizeau(folder, "push", file, "--server", server.url, "--service", "app", "--version", version,
                              "--label", "region=eu", "--host", host)
                assert f"{file}: pushed as app@{version}" in done.stdout, done
        assert "already on the server" in fizeau(folder, "push", "1a.fz", "--server", server.url, "--service", "app",
                                             "--version", "1", "--label", "region=eu", "--host", "a").stdout
        names = ["diff", "app@1", "app@2", "--format", "json"]
        done = fizeau(folder, *names, "--server", server.url, "--label", "region=eu")
        answer, told = json.loads(done.stdout), done.stdout
        parse = next(f for f in answer["functions"] if f["name"] == "parse")
        assert parse["pct_self"] > 50, parse
        if record is recorded_now:  # times that nobody sampled have no verdict
            assert parse["self_verdict"] == "changed", parse
        render = next(f for f in answer["functions"] if f["name"] == "render")
        assert not (render["self_verdict"] == "changed" and render["pct_self"] > 100), render
        assert fizeau(folder, *names, "--store", "fleet.db").stdout == told
        assert "parts of a fleet" in fizeau(folder, *names[:3], "--store", "fleet.db").stdout
        done = fizeau(folder, *names, "--store", "fleet.db", "--fail-on", "regression")
        assert "shares and windows never have one" in done.stderr, done.stderr
        asked = urllib.parse.urlencode({"base": "app@1", "head": "app@2", "label": "region=eu"})
        assert json.loads(server.ask("GET", f"/api/diff?{asked}")[1]) == answer
        # What ran a day ago until now is all of it; a range without a version is of both.
        done = fizeau(folder, "diff", "app@1@1d..", "app@2@1d..", "--server", server.url, "--format", "json")
        assert json.loads(done.stdout)["functions"] == answer["functions"]
        both = json.loads(fizeau(folder, "diff", "app@1d..", "app@2", "--store", "fleet.db", "--format", "json").stdout)
        assert both["base"]["samples"] == answer["base"]["samples"] + answer["head"]["samples"]
        assert both["base"]["facts"]["release"].startswith("app@20"), both["base"]["facts"]
        done = fizeau(folder, "diff", "app@2026-01-01..2026-01-02", "app@1h..", "--server", server.url, status=2)
        assert "app@2026-01-01T00:00..2026-01-02T00:00: app: no profiles" in done.stderr, done
        done = fizeau(folder, "diff", "app@1h..2h", "app@1h..", "--server", server.url, status=2)
        assert "the range ends before it begins" in done.stderr, done
        done = fizeau(folder, "push", "1a.fz", "--server", server.url, "--service", "app", "--version", "2h..1h", status=2)
        assert "looks like a time range" in done.stderr, done
        line = json.loads(server.ask("GET", "/api/timeline?service=app&label=region%3Deu")[1])
        assert [v["version"] for v in line["versions"]] == ["1", "2"] and line["unit"] == "ns", line
        total = sum(cost for v in line["versions"] for _, cost, _ in v["points"])
        assert total == both["base"]["total"], (total, both["base"])
        server.says(400, "missing parameter: service", "GET", "/api/timeline")
        server.says(422, "no such service", "GET", "/api/timeline?service=x")
        server.says(422, "in this time range", "GET", "/api/timeline?service=app&until=60")
        done = fizeau(folder, "diff", "app@1", "app@3", "--server", server.url, status=2)
        assert "the latest versions of app are: 2, 1 (status 422)" in done.stderr.replace("1, 2", "2, 1"), done
        done = fizeau(folder, "diff", "app@1", "app@2", "--store", "fleet.db", "--scale", "time", status=2)
        assert "compared by share" in done.stderr, done
        done = fizeau(folder, "diff", "app@1", "app@2", "--store", "fleet.db", "--label", "region=us", status=2)
        assert "no profiles with these labels" in done.stderr, done
        done = fizeau(folder, "diff", "app@1", "app@2", "--store", "fleet.db", "--until", "1d", status=2)
        assert "in this time range" in done.stderr, done
        status, page, headers = server.ask("GET", "/diff?base=app@1&head=app@2")
        assert status == 200 and page.startswith(b"<!doctype html>") and b"app@2" in page
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        status, page, _ = server.ask("GET", "/")
        assert status == 200 and page.count(b'value="app@1"') == 2, page


suite.add("recordings of two releases are pushed, compared by the server and by its file, and shown", compared, recorded)
suite.add("recordings of two releases, made now", compared, recorded_now)


@suite.test("a killed server has all that it acknowledged; repeated pushes count once")
def killed():
    with scratch() as folder, Server(folder) as server:
        def push(n):
            try:
                return n, server.push(f"main;f{n % 7} 10\n".encode(), id=f"id{n}", start="1700000000")[0] == 200
            except (OSError, http.client.HTTPException):
                return n, False
        done = pushed_until_killed(server, push, clients=4, after=20)
        acknowledged = sum(done.values())
        server.start()
        known = sum(json.loads(server.push(f"main;f{n % 7} 10\n".encode(), id=f"id{n}", start="1700000000")[1])["status"]
                    == "known" for n, there in done.items() if there)
        assert known == acknowledged, (known, acknowledged)
        for n in range(60):
            push(n)
        counted = {n for n, there in done.items() if there} | set(range(60))
        # One whose answer was cut off may be there, too.
        there = server.samples("s", "1") // 10
        assert len(counted) <= there <= len(counted) + 4, (there, len(counted))


@suite.test("many clients at once: waiting pushes reach the disk together, and a kill loses none that was acknowledged")
def many():
    with scratch() as folder, Server(folder) as server:
        def send(n, start):
            return server.push(f"main;f{n % 7} 10\n".encode(), id=f"id{n}", start=start, host=f"h{n % 5}")

        def push(n):
            # Some are refused, in the middle of what others wait for.
            wrong = n % 10 == 9
            start = str(1700000000 + (n % 3) * 60) if not wrong else "4000000000"
            try:
                status = send(n, start)[0]
            except (OSError, http.client.HTTPException):
                return n, 0
            assert status == (422 if wrong else 200), (n, status)
            return n, status
        done = pushed_until_killed(server, push, clients=48, after=200)
        there = [n for n, status in done.items() if status == 200]
        server.start()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            known = list(pool.map(lambda n: json.loads(send(n, "1700000000")[1])["status"], there))
        assert set(known) == {"known"}, known.count("stored")
        # Those whose answer was cut off may be there, too: one for each client.
        assert len(there) <= server.samples("s", "1") // 10 <= len(there) + 48


class Sometimes(http.server.BaseHTTPRequestHandler):
    """Drops a request, is busy, then forwards to the server."""
    server_behind, asked = None, 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Sometimes.asked += 1
        if Sometimes.asked == 1:
            self.close_connection = True
        elif Sometimes.asked == 2:
            self.send_error(503)
        else:
            status, content, _ = self.server_behind.ask("POST", self.path, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, *_):
        pass


@suite.test("a push waits for an unreachable or busy server, and reports if that lasts")
def away():
    with scratch() as folder, Server(folder) as server:
        pathlib.Path(folder, "x.folded").write_text("main;f 10\n", encoding="utf-8")
        push = ["push", "x.folded", "--service", "s", "--version", "1", "--server"]
        between = http.server.HTTPServer(("127.0.0.1", 0), Sometimes)
        Sometimes.server_behind = server
        threading.Thread(target=between.serve_forever, daemon=True).start()
        assert "pushed as s@1" in fizeau(folder, *push, f"http://127.0.0.1:{between.server_port}").stdout
        assert Sometimes.asked == 3, Sometimes.asked
        between.shutdown()
        between.server_close()
        server.stop()
        done = fizeau(folder, *push, server.url, status=2)
        assert "is 'fizeau serve' running there?" in done.stderr, done


@suite.test("tokens: read, write and project rights")
def tokens():
    with scratch() as folder:
        file = pathlib.Path(folder, "tokens")
        file.write_text(TOKENS, encoding="utf-8")
        file.chmod(0o644)
        done = fizeau(folder, "serve", "--store", "x.db", "--tokens", "tokens", status=2)
        assert "chmod 600" in done.stderr, done
        file.chmod(0o600)
        with Server(folder, "--tokens", file) as server:
            server.says(401, "authentication required", "GET", "/")
            server.says(401, "unknown token", "GET", "/", token="readreadreadrea")
            for header in "bearer readreadreadread", "Bearer  readreadreadread\t ":
                assert server.ask("GET", "/", Authorization=header)[0] == 200, header
            file.write_text(TOKENS + "one read added-added-added\n", encoding="utf-8")
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: server.ask("GET", "/", token="added-added-added")[0] == 200, "the new token")
            file.write_text("nonsense\n", encoding="utf-8")
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "the previous tokens stay valid" in (server.folder / "serve.err").read_text(encoding="utf-8"),
                       "a line about the file")
            server.says(200, "", "GET", "/", token="added-added-added")
            file.write_text(TOKENS, encoding="utf-8")
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: server.ask("GET", "/", token="added-added-added")[0] == 401, "an end of the token")
            server.says(403, "is read-only", "POST", "/api/push", b"x", token="readreadreadread")
            server.says(403, "is write-only", "GET", "/", token="writewritewritewrite")
            assert server.push(b"main;f 10\n", service="secret", token="writewritewritewrite")[0] == 200
            assert b"secret" in server.ask("GET", "/", token="readreadreadread")[1]
            assert b"secret" not in server.ask("GET", "/", token="two-two-two-two-two")[1]
            server.says(403, "cross-origin request refused", "POST", "/api/push?service=s&version=1&host=h", b"main 1\n",
                        token="writewritewritewrite", Origin="http://evil.example")
            assert stat.S_IMODE(os.stat(server.store).st_mode) == 0o600
            assert "unencrypted" not in (server.folder / "serve.err").read_text(encoding="utf-8")
            basic = base64.b64encode(b"me:readreadreadread").decode()
            server.says(200, "secret", "GET", "/", Authorization=f"Basic {basic}")
            pathlib.Path(folder, "x.folded").write_text("main;f 10\n", encoding="utf-8")
            address = ["push", "x.folded", "--server", server.url, "--service", "s", "--version", "1"]
            assert "(status 401)" in fizeau(folder, *address, status=2).stderr
            fizeau(folder, *address, env={"FIZEAU_TOKEN": "writewritewritewrite"})
        with Server(folder, "--tokens", file, "--listen", "0.0.0.0:0") as server:
            assert "sent unencrypted" in (server.folder / "serve.err").read_text(encoding="utf-8")
        done = fizeau(folder, "serve", "--store", "x.db", "--listen", "0.0.0.0:0", status=2)
        assert "--tokens" in done.stderr, done
        for listen in "localhost:0", ":0", "127.0.0.1", "[::1]", "[127.0.0.1:0", "127.0.0.1:65536":
            done = fizeau(folder, "serve", "--store", "x.db", "--listen", listen, status=2)
            assert f"invalid address '{listen}' (expected ADDRESS:PORT" in done.stderr, done


@suite.test("health without a token, metrics with a read token")
def figures():
    with scratch() as folder:
        file = pathlib.Path(folder, "tokens")
        file.write_text("shop read,write both-both-both-both\n", encoding="utf-8")
        file.chmod(0o600)
        token = "both-both-both-both"
        with Server(folder, "--tokens", file) as server:
            for body, status in (b"main;a 10\n", 200), (b"main;a 10\n", 200), (b"", 422):
                got, content, _ = server.push(body, token=token, id="x")
                assert got == status, (got, content)
            server.says(200, "ok", "GET", "/healthz", Host="fleet.example")
            server.says(401, "authentication required", "GET", "/metrics")
            status, content, headers = server.ask("GET", "/metrics", None, token)
            assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"), (status, headers)
            lines = [line for line in content.decode().splitlines() if not line.startswith("#")]
            values = {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}
            expected = {'fizeau_pushes_total{result="stored"}': 1, 'fizeau_pushes_total{result="known"}': 1,
                        'fizeau_pushes_total{result="refused"}': 1, 'fizeau_pushes_total{result="failed"}': 0,
                        "fizeau_pushed_samples_total": 10, "fizeau_pushed_bytes_total": 10,
                        'fizeau_http_responses_total{code="2xx"}': 3, 'fizeau_http_responses_total{code="4xx"}': 2}
            assert {name: values[name] for name in expected} == expected, values
            assert values["process_cpu_seconds_total"] > 0 and values["process_resident_memory_bytes"] > 0, values
            server.store.rename(pathlib.Path(folder, "elsewhere.db"))
            server.says(503, "the store cannot be read", "GET", "/healthz")


@suite.test("in a world-writable folder, neither store, alarms nor recordings follow another user's link")
def planted():
    if os.geteuid():
        raise Skip("making another user's link needs root")
    with scratch() as folder:
        shared, target = pathlib.Path(folder, "shared"), pathlib.Path(folder, "target")
        shared.mkdir()
        shared.chmod(0o1777)
        for name in ("store", "alarms"):
            (shared / name).symlink_to(target)
            os.chown(shared / name, 65534, 65534, follow_symlinks=False)
        for options in (["--store", shared / "store"], ["--store", "x.db", "--alarm-file", shared / "alarms"],
                        ["--store", "x.db", "--benchmarks", shared / "store"]):
            done = fizeau(folder, "serve", *options, status=2)
            assert "belongs to another user" in done.stderr, done
        assert not target.exists()
        target.mkdir()
        for end in "", "/":
            done = fizeau(folder, "serve", "--store", "x.db", "--recordings", f"{shared}/store{end}", status=2)
            assert "belongs to another user" in done.stderr, done
        assert not list(target.iterdir())


@suite.test("an older store is not converted without write permission, with a message")
def older():
    if os.getuid() != 0:
        raise Skip("becoming another user needs root")
    with scratch() as folder, Server(folder) as server:
        for version in "12":
            assert server.push(b"main;f 10\n", version=version)[0] == 200
        server.stop()
        store = pathlib.Path(folder, "fleet.db")
        with contextlib.closing(sqlite3.connect(store)) as db:
            db.execute("PRAGMA user_version = 4")
        for path, mode in (folder, 0o777), (store, 0o644):
            os.chmod(path, mode)
        done = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", FIZEAU, "diff", "s@1", "s@2", "--store", store],
                              capture_output=True, text=True, timeout=60)
        if "Permission denied" in done.stderr:
            raise Skip("others may not run the binary")
        assert done.returncode and done.stderr.count("\n") == 1, done
        assert "created by an earlier fizeau and must be converted" in done.stderr, done


@suite.test("errors in requests are a status and a line")
def refused():
    with scratch() as folder, Server(folder, "--max-body", "1") as server:
        push = "/api/push?service=s&version=1&host=h"
        server.says(422, "not a profile in a supported format", "POST", push, b"\x00\x01nonsense" * 100)
        server.says(422, "is empty", "POST", push, b"")
        server.says(400, "service: missing name", "POST", "/api/push?version=1&host=h", b"main 1\n")
        server.says(400, "must not contain @", "POST", "/api/push?service=a@b&version=1&host=h", b"main 1\n")
        server.says(400, "a zero byte", "POST", "/api/push?service=a%00b&version=1&host=h", b"main 1\n")
        server.says(400, "more than 128 bytes", "POST", f"/api/push?service={'x' * 200}&version=1&host=h", b"main 1\n")
        for label in "%3Cb%3E", "region=":
            server.says(400, "expected KEY=VALUE", "POST", f"{push}&label={label}", b"main 1\n")
        server.says(400, "more than 16", "POST", push + "".join(f"&label=k{i}=v" for i in range(17)), b"main 1\n")
        server.says(413, "larger than 1 MiB", "POST", push, b"x" * (2 << 20))
        with socket.create_connection(("127.0.0.1", server.port)) as endless:
            endless.sendall(f"POST {push} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {10**15}\r\n\r\n".encode())
            assert b" 413 " in endless.recv(1000)
        server.says(422, "an hour in the future", "POST", push + "&start=4000000000", b"main 1\n")
        for path in ("/../../etc/passwd", "/%2e%2e/etc/passwd", "/web/../fleet.db", "//etc/passwd"):
            server.says(404, "not found", "GET", path)
        server.says(405, "method not allowed", "DELETE", "/")
        server.says(405, "method not allowed", "GET", "/api/push")
        server.says(403, "cross-origin request refused", "POST", push, b"main 1\n", Origin="http://evil.example")
        server.says(403, "only accepts requests to 127.0.0.1", "GET", "/", Host="evil.example")
        server.says(400, "expected SERVICE@VERSION", "GET", "/diff?base=x&head=y")
        server.says(422, "there is none", "GET", "/diff?base=x@1&head=x@2")
        assert server.push(b"main;f 10\n", version="'); DROP TABLE cell; --", label="k='\"; DELETE")[0] == 200
        assert server.push(b"main;<script>alert(1)</script> 10\n", service="<script>alert(1)</script>")[0] == 200
        page = server.ask("GET", "/")[1]
        assert b"<script>alert" not in page and b"&lt;script&gt;alert(1)" in page and b"DROP TABLE" in page
        side = urllib.parse.quote("<script>alert(1)</script>@1")
        status, page, _ = server.ask("GET", f"/diff?base={side}&head={side}")
        assert status == 200 and b"<script>alert" not in page
        assert server.push(b"main;f 10\n")[0] == 200 and server.stop() == 128 + signal.SIGTERM


@suite.test("requests are read as HTTP/1.1 defines, and ambiguous ones are refused")
def conforming():
    with scratch() as folder, Server(folder) as server:
        def raw(line, *headers, body=""):
            """The status of the first response, and all of them."""
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
                client.sendall("\r\n".join([f"{line} HTTP/1.1", "Host: localhost", *headers, "", body]).encode())
                answer = b"".join(iter(lambda: client.recv(4096), b"")).decode()
            return int(answer.split()[1]), answer
        push, close = "POST /api/push?service=s&version=1&host=h", "Connection: close"
        chunks = "3;a=b\r\nmai\r\n4\r\nn 1\n\r\n0\r\nX-Trailer: y\r\n\r\n"
        assert raw(push, "Transfer-Encoding: chunked", close, body=chunks)[0] == 200
        for target in "http://localhost/healthz", "/healthz", "http://localhost/healthz?x=/":
            status, answer = raw(f"GET {target}", close)
            assert status == 200 and answer.endswith("\r\n\r\nok\n"), (target, answer)
        status, answer = raw("HEAD /healthz", close)
        assert status == 200 and answer.endswith("\r\n\r\n") and "Content-Length: 3\r\n" in answer, answer
        more = f"GET /healthz HTTP/1.1\r\nHost: localhost\r\n{close}\r\n\r\n"
        assert raw("GET /healthz", body=more)[1].count(" 200 OK") == 2
        for line, allowed in {"DELETE /": "GET, HEAD", "GET /api/push": "POST", "PUT /api/count": "GET, HEAD, POST"}.items():
            status, answer = raw(line)
            assert status == 405 and f"\r\nAllow: {allowed}\r\n" in answer, answer
        # A proxy in front may see another request in the body.
        for wanted, *headers in [(400, "Content-Length: 7", "Content-Length: 3"), (400, "Content-Length: 7", "Transfer-Encoding: chunked"),
                                 (400, "Content-Length : 7"), (501, "Transfer-Encoding: gzip, chunked"), (501, "Transfer-Encoding: identity"),
                                 (400, "Content-Length: 7", "Host: elsewhere")]:
            status, answer = raw(push, *headers, body="main 1\n")
            assert status == wanted and answer.count("HTTP/1.1") == 1, (headers, answer)
        assert server.stop() == 128 + signal.SIGTERM


@suite.test("slow or vanishing clients block no other client")
def slow():
    with scratch() as folder, Server(folder) as server:
        lazy = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
        for connection in lazy:
            connection.sendall(b"POST /api/push?service=s&version=1&host=h HTTP/1.1\r\nHost: localhost\r\n"
                               b"Content-Length: 1000\r\n\r\nmain")
        assert server.push(b"main;f 10\n")[0] == 200
        for connection in lazy[:20]:
            connection.close()
        assert server.push(b"main;g 10\n")[0] == 200
        idle = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP")
        assert b" 200 " in idle.recv(1000)
        while idle.recv(100):
            pass
        idle.close()
        lazy[30].settimeout(60)
        assert lazy[30].recv(100) == b"", "let go of after 15 s without a word"
        for connection in lazy[20:]:
            connection.close()


@suite.test("connections per address: above the limit 503 with Retry-After, above twice the limit closed; others are served")
def crowded():
    with scratch() as folder, Server(folder, "--connections-per-address", "5") as server, contextlib.ExitStack() as stack:
        def connect(address="127.0.0.1"):
            return stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60,
                                                                source_address=(address, 0)))
        body = b"main;f 10\n"
        head = (b"POST /api/push?service=s&version=1&host=h HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n" % len(body))
        upload = connect()
        upload.sendall(head)
        assert b" 100 " in upload.recv(1000)
        for _ in range(4):
            connect()
        status, text, headers = server.ask("POST", "/api/push?service=s&version=1&host=other", body)
        assert status == 503 and b"too many concurrent connections from this address" in text, (status, text)
        assert headers["Retry-After"] == "5"
        assert server.ask("GET", "/healthz")[0] == 200
        for _ in range(5):
            connect()
        more = connect()
        with contextlib.suppress(ConnectionResetError):
            assert more.recv(1) == b"", "closed at once"
        other = connect("127.0.0.2")
        other.sendall(head + body)
        assert b" 100 " in other.recv(25) and b" 200 " in other.recv(1000)
        upload.sendall(body)
        assert b" 200 " in upload.recv(1000)


@suite.test("incomplete requests block no client, whatever their path")
def incomplete():
    with scratch() as folder, Server(folder) as server, contextlib.ExitStack() as stack:
        for request in [b"GET /healthz", b"POST /api/push?service=s&version=1&host=h", b"POST /not/there"]:
            for n in range(300):
                source = f"127.0.0.{n % 5 + 2}"
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60,
                                                                          source_address=(source, 0)))
                connection.sendall(request + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nmain")
        assert server.push(b"main;f 10\n")[0] == 200
        assert server.ask("GET", "/healthz")[0] == 200
        threads = len(list(pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()))
        assert threads < 50, f"{threads} threads for connections that wait"


@suite.test("a full disk refuses pushes with a line, keeps existing data, and recovers")
def full():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
    with scratch() as folder, Server(folder, limit=limit) as server:
        stored = 0
        for n in range(200):
            body = "".join(f"main;{n}_{i}_{'x' * 200} 1\n" for i in range(100)).encode()
            status, content, _ = server.push(body, id=f"id{n}")
            if status != 200:
                break
            stored += 1
        assert status == 507 and b"disk full or I/O error" in content, (status, content)
        assert stored and server.samples("s", "1") == 100 * stored
        assert "disk full or I/O error" in (server.folder / "serve.err").read_text(encoding="utf-8")
        server.stop()
        server.limit = None
        server.start()
        assert server.push(body, id=f"id{stored}")[0] == 200
        assert server.samples("s", "1") == 100 * (stored + 1)


@suite.test("two agents that push one host are reported once, a restarted agent is not")
def two_agents():
    with scratch() as folder, Server(folder) as server:
        def push(host, *agents):
            for n, agent in enumerate(agents):
                status, content, _ = server.push(FOLDED.encode(), host=host, agent=agent, start=1700000000 + 60 * n)
                assert status == 200, content
        push("restarted", "a", "a", "b", "b", "c")
        push("twice", "a", "b", "a", "b", "a")
        server.stop()
        said = (server.folder / "serve.err").read_text(encoding="utf-8")
        assert said.count("two agents push host") == said.count("project default: two agents push host twice, ") == 1, said


@suite.test("files that are deleted under a running server refuse pushes, until it is restarted")
def deleted():
    with scratch() as folder, Server(folder, "--recordings", f"{folder}/kept") as server:
        status, content, _ = server.push(FOLDED.encode(), id="a", keep="yes")
        assert status == 200 and b'"kept":true' in content, content
        index = [file for file in pathlib.Path(folder, "kept").iterdir() if file.name.startswith("index")]
        for files, n in (index, 0), (pathlib.Path(folder).glob("fleet.db*"), 1):
            for file in files:
                file.unlink()
            status, content, _ = server.push(FOLDED.encode(), id=f"b{n}", keep="yes")
            assert status == 507 and b"deleted, moved or replaced since it was opened" in content, (status, content)
        # Reads say so, too, also if another file is there now: what it contains is not what was stored.
        for replace in (False, True):
            if replace:
                with Server(folder, store=f"{folder}/other.db") as other:
                    other.stop()
                os.rename(f"{folder}/other.db", server.store)
            for path in "/", "/api/diff?base=s@1&head=s@1", "/api/timeline?service=s", "/benchmarks", "/badge.svg?repository=r":
                server.says(507, "deleted, moved or replaced since it was opened", "GET", path)
            server.says(503, "the store cannot be read", "GET", "/healthz")
        server.stop()
        server.start()
        assert server.push(FOLDED.encode(), id="b1", keep="yes")[0] == 200
        assert server.samples("s", "1") == 1000


@suite.test("recordings are stored unchanged, listed, and fetched by release, time and id; each project has its own")
def recordings():
    with scratch() as name:
        folder = pathlib.Path(name)
        (folder / "tokens").write_text(TOKENS, encoding="utf-8")
        (folder / "tokens").chmod(0o600)
        for version in ("1", "2"):
            (folder / f"{version}.folded").write_text(f"main;f {version}0\n", encoding="utf-8")
        write, read, two = ({"FIZEAU_TOKEN": token} for token in ("writewritewritewrite", "readreadreadread",
                                                                  "two-two-two-two-two"))
        with Server(folder, "--tokens", folder / "tokens", "--recordings", folder / "whole") as server:
            at = "--server", server.url
            assert "no recordings on the server" in fizeau(folder, "pull", *at, env=read).stderr
            for version, service in (("1", "api"), ("2", "api"), ("2", "../../etc/x")):
                push = "push", f"{version}.folded", *at, "--service", service, "--version", version, "--label", "a=<b>"
                assert "the complete recording is stored" in fizeau(folder, *push, env=write).stdout
            assert "recording is stored" in fizeau(folder, *push, env=write).stdout and len(kept_files(folder / "whole")) == 3
            lines = fizeau(folder, "pull", *at, env=read).stdout.splitlines()
            assert len(lines) == 3 and sum("api@2" in line for line in lines) == 1, lines
            assert fizeau(folder, "pull", *at, "--list", "api@1", env=read).stdout in "\n".join(lines) + "\n"
            ident = next(line.split()[-1] for line in lines if "api@1" in line)
            # The latest of a service; a release; a time; an id; what is written is what was pushed.
            first, second = ((folder / f"{version}.folded").read_text(encoding="utf-8") for version in ("1", "2"))
            for what, wanted in (("api", second), ("api@1", first), ("api@2@1h..", second), (ident, first)):
                assert fizeau(folder, "pull", *at, "-o", "-", what, env=read).stdout == wanted, what
            wrote = fizeau(folder, "pull", *at, "-n", "9", "-o", "all", "api", "../../etc/x", env=read).stdout.splitlines()
            assert len(wrote) == 3 and sorted(os.listdir(folder / "all")) == sorted(w[4:] for w in wrote), wrote
            assert all(re.fullmatch(r"all/[a-z_][\w.-]*\.collapsed", w) for w in wrote), wrote
            (named,) = fizeau(folder, "pull", *at, "api@1", env=read).stdout.splitlines()
            assert fizeau(folder, "replay", named, "--format", "folded", "-o", "-").stdout == first
            # Others neither see nor get it, even with its id; a name cannot lead elsewhere.
            assert kept(server, token=two["FIZEAU_TOKEN"]) == []
            for ident, environ in ((ident, two), ("../index.db", read), ("%2e%2e/tokens", read)):
                assert "no such recording on the server" in fizeau(folder, "pull", *at, ident, status=2, env=environ).stderr
                path = f"/api/recording?id={urllib.parse.quote(ident)}"
                server.says(422, "not found", "GET", path, token=environ["FIZEAU_TOKEN"])
            for status, environ in ((403, write), (401, {"FIZEAU_TOKEN": "x" * 20})):
                done = fizeau(folder, "pull", *at, "api", status=2, env=environ)
                assert f"(status {status})" in done.stderr and done.stderr.count("\n") == 1, done
            assert [r["labels"] for r in kept(server, token=read["FIZEAU_TOKEN"])] == [["a=<b>"]] * 3
            for wrong, why in (("limit=0", "limit: invalid number '0'"), ("since=x", "since: invalid time 'x'")):
                server.says(400, why, "GET", f"/api/recordings?{wrong}", token=read["FIZEAU_TOKEN"])
            done = fizeau(folder, "pull", *at, "-n", "2", "-o", "-", "api", status=2, env=read)
            assert "allows only one recording" in done.stderr, done
            done = fizeau(folder, "serve", "--store", "y.db", "--recordings", "whole", "--listen", "127.0.0.1:0", status=2)
            assert "in use by another server" in done.stderr, done
        done = fizeau(folder, "pull", *at, "api", status=2, env=read)
        assert "is 'fizeau serve' running there?" in done.stderr, done


@suite.test("whole files have a limit; a kill loses none that was acknowledged, and leaves nothing behind")
def recordings_bound():
    with scratch() as name:
        whole = pathlib.Path(name, "whole")
        with Server(name, "--recordings", whole, "--recordings-limit", "1") as server:
            def push(n, much=100_000):
                if 200 <= n < 1000:  # more would not all have room
                    return n, False
                body = f"main;f{n} 1\n".encode() + b"main;" + b"x" * 1000 + b" 1\n"
                try:
                    return n, server.push(body + b"main;g 1\n" * (much // 9), id=f"id{n}", keep="yes")[0] == 200
                except (OSError, http.client.HTTPException):
                    return n, False
            done = pushed_until_killed(server, lambda n: push(n, 1000), clients=8, after=30)
            with contextlib.closing(sqlite3.connect(whole / "index.db")) as index, index:
                index.execute("INSERT INTO loose VALUES (?, 0)", ("0" * 32,))
            (whole / ("0" * 32)).write_bytes(b"broken off")
            server.start()
            there = {r["id"] for r in kept(server, limit="1000")}
            assert {f"id{n}" for n, stored in done.items() if stored} <= there <= {f"id{n}" for n in done}, len(there)
            assert len(kept_files(whole)) == len(there)
            # Another push with the same id is refused, and changes nothing.
            n = next(n for n, stored in done.items() if stored)
            before = server.ask("GET", f"/api/recording?id=id{n}")[1]
            status, content, _ = server.push(b"main;other 9\n", id=f"id{n}", keep="yes")
            assert status == 422 and b"was used for another push" in content, content
            assert server.ask("GET", f"/api/recording?id=id{n}")[1] == before
            # The oldest go first.
            for n in range(1000, 1015):
                assert push(n)[1]
            left = kept(server, limit="1000")
            assert sum(r["bytes"] for r in left) <= 1 << 20 < sum(r["bytes"] for r in left) + 110_000, left
            assert {r["id"] for r in left} == {f"id{n}" for n in range(1015 - len(left), 1015)}, left
            assert len(kept_files(whole)) == len(left)
            # Small ones take a block each.
            for n in range(2000, 2300):
                assert push(n, 9)[1]
            assert len(kept_files(whole)) <= 256, len(kept_files(whole))
            server.says(413, "larger than the project", "POST", "/api/push?service=s&version=1&host=h&id=big&keep=yes",
                        b"main;g 1\n" * 130_000)
            server.says(400, "keep: requires id", "POST", "/api/push?service=s&version=1&host=h&keep=yes", b"main;g 1\n")
            server.says(400, "invalid value", "POST", "/api/push?service=s&version=1&host=h&id=a&keep=1", b"main;g 1\n")
            # What is too old goes.
            old = int(time.time()) - 5 * 86400
            assert server.push(b"main;g 1\n", id="old", start=old, keep="yes")[0] == 200
            assert kept(server, until=old + 60)[0]["id"] == "old" and kept(server, since=old + 60, id="old") == []
            server.stop()
            server.options += ("--retain", "3")
            server.start()
            wait_until(lambda: not kept(server, until=old + 60), "forgetting")
            wait_until(lambda: len(kept_files(whole)) == len(kept(server, limit="1000")), "deleting its file")
            assert kept(server, limit="1000")
        # A full disk: one line, and nothing is left behind.
        whole = pathlib.Path(name, "other")
        with Server(name, "--recordings", whole, limit=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY)), store=f"{name}/other.db") as server:
            assert server.push(b"main;g 1\n", id="small", keep="yes")[0] == 200
            status, content, _ = server.push(b"main;g 1\n" * 80_000, id="large", keep="yes")
            assert status == 507 and (b"disk full" in content), (status, content)
            assert len(kept_files(whole)) == 1
        # No client is told that a recording was stored if it was not.
        with Server(name) as server:
            assert json.loads(server.push(b"main;g 1\n", id="x", keep="yes")[1])["kept"] is False
            server.says(404, "start it with --recordings FOLDER", "GET", "/api/recordings")
        done = fizeau(name, "serve", "--store", "y.db", "--recordings-limit", "1", status=2)
        assert "requires --recordings" in done.stderr, done
        assert "/dev/null" in fizeau(name, "serve", "--store", "y.db", "--recordings", "/dev/null/x", status=2).stderr


@suite.test("data from Pyroscope's agents is accepted: folded text, forms with pprof, labels in the name")
def pyroscope():
    with scratch() as folder, Server(folder) as server:
        name = urllib.parse.quote("shop{version=7,hostname=h1,region=eu,__session_id__=abc}")
        query = f"/ingest?name={name}&from=1700000000&until=1700000010&sampleRate=100&format=folded"
        server.says(200, "stored", "POST", query, b"main;f 90\nmain;g 10\n")
        server.says(200, "known", "POST", query, b"main;f 90\nmain;g 10\n")
        assert server.samples("shop", "7") == 100
        pathlib.Path(folder, "x.folded").write_text("main;f 40\n", encoding="utf-8")
        fizeau(folder, "replay", "x.folded", "-o", "x.pb.gz")
        form = (b'--XX\r\nContent-Disposition: form-data; name="sample_type_config"\r\n\r\n{}\r\n'
                b'--XX\r\nContent-Disposition: form-data; name="profile"; filename="p"\r\n\r\n'
                + pathlib.Path(folder, "x.pb.gz").read_bytes() + b"\r\n--XX--\r\n")
        server.says(200, "stored", "POST", "/ingest?name=shop&from=1700000020&until=1700000030", form,
                    Content_Type='multipart/form-data; boundary="XX"')
        assert server.samples("shop", "unversioned") == 40
        server.says(422, "is empty", "POST", "/ingest?name=shop", form[:90],
                    Content_Type="multipart/form-data; boundary=XX")
        server.says(400, "service: missing name", "POST", "/ingest", b"main 1\n")
        many = urllib.parse.quote("shop{%s}" % ",".join(f"k{i}=v" for i in range(17)))
        server.says(400, "more than 16 labels", "POST", f"/ingest?name={many}", b"main 1\n")
        # An idle program is not an error of an agent, but it is one of a manual push.
        idle = message(1, number(1, 1) + number(2, 2)) + b"".join(message(6, s) for s in (b"", b"cpu", b"nanoseconds"))
        status, content, _ = server.ask("POST", "/ingest?name=shop{version=8}&from=1700000000&until=1700000010", idle)
        assert (status, json.loads(content)) == (200, {"status": "stored", "minutes": 1, "samples": 0}), content
        server.says(422, "no samples with a stack", "POST", "/api/push?service=shop&version=8&host=h", idle)
        status, content, _ = server.ask("GET", "/api/diff?base=shop@8&head=shop@8")
        assert status == 200 and json.loads(content)["base"]["total"] == 0, content


def push_v1(labels, *profiles):
    pairs = b"".join(message(1, message(1, key.encode()) + message(2, value.encode())) for key, value in labels.items())
    return message(1, pairs + b"".join(message(2, message(1, body) + message(2, name)) for name, body in profiles))


@suite.test("a Go program's labels (pprof.Do) select samples; labels that cannot be stored are counted")
def sample_labels():
    # Written by Go 1.26: /cart for 0.6 s, /search for 0.6 s, both of tenant a, and 0.4 s without labels.
    recorded_by_go = pathlib.Path(__file__).resolve().parents[1] / "data" / "pprof" / "go-labels.pb.gz"
    with scratch() as folder, Server(folder) as server:
        assert server.push(recorded_by_go.read_bytes(), service="go")[0] == 200

        def samples(*labels):
            done = fizeau(folder, "diff", "go@1", "go@1", "--server", server.url, "--format", "json",
                          *(word for label in labels for word in ("--label", label)))
            return json.loads(done.stdout)["base"]["samples"]
        assert [samples(), samples("endpoint=/cart"), samples("endpoint=/search"), samples("tenant=a")] == [34, 13, 12, 25]
        assert samples("tenant=a", "endpoint=/cart") == 13
        fizeau(folder, "push", recorded_by_go, "--server", server.url, "--service", "go", "--version", "2",
               "--label", "tenant=a")
        done = fizeau(folder, "push", recorded_by_go, "--server", server.url, "--service", "go", "--version", "3",
                      "--label", "tenant=b")
        assert "labels of 25 samples are not stored" in done.stdout, done.stdout
        assert b"fizeau_pushed_samples_unlabelled_total 25\n" in server.ask("GET", "/metrics")[1]


@suite.test("Pyroscope's newer agents: protocol buffers, packed or not; repeated pushes count once")
def pyroscope_push():
    with scratch() as folder, Server(folder) as server:
        path, kind = "/push.v1.PusherService/Push", {"Content_Type": "application/proto"}
        labels = {"__name__": "process_cpu", "service_name": "shop", "version": "7", "hostname": "h1"}
        body = push_v1(labels, (b"one", b"main;f 90\n"), (b"two", b"main;g 10\n"))
        for content in (body, gzip.compress(body)):
            assert server.ask("POST", path, content, **kind)[:2] == (200, b"")
            assert server.samples("shop", "7") == 100
        server.says(400, "service: missing name", "POST", path, push_v1({}, (b"x", b"main 1\n")), **kind)
        server.says(422, "not a push.v1 message", "POST", path, b"\xff\xff", **kind)
        server.says(422, "not a push.v1 message", "POST", path, push_v1(labels, (b"z\0y", b"main;f 9\n")), **kind)
        server.says(422, "not a profile in a supported format", "POST", path, push_v1(labels, (b"y", b"\0\1")), **kind)
        server.says(415, "protocol buffers", "POST", path, b"{}", Content_Type="application/json")


class Listener(http.server.BaseHTTPRequestHandler):
    heard = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.heard.append((self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


WORK = "abcdefg"


def push_work(server, chance, much, **to):
    """A minute of one host in which each function of WORK costs about 400, and d that times `much`."""
    work = {f: chance.gauss(400, 8) * (much if f == "d" else 1) for f in WORK}
    body = "".join(f"main;{f} {round(cost)}\n" for f, cost in work.items())
    assert server.push(body.encode(), **to)[0] == 200


@suite.test("a release that made a function more expensive raises one alarm: in a file, by a command, at a URL, on the page")
def alarm():
    hook = http.server.HTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    with scratch() as folder, Server(folder, "--alarm-file", f"{folder}/alarms", "--alarm-run", f"cat > '{folder}/run'",
                                     "--alarm-url", f"http://127.0.0.1:{hook.server_port}/hook/") as server:
        chance, start = random.Random(1), 1700000040
        file = pathlib.Path(folder, "alarms")

        def minute(service, version, n, much):
            for host in range(8):
                push_work(server, chance, much * (1 + host / 20), service=service, version=version, host=f"h{host}",
                          start=start + n * 60)
        for n in range(12):
            minute("shop", "1", n, 1)
            minute("calm", "1", n, 1)
        for n in range(12, 35):
            minute("shop", "2", n, 1.3)
            minute("calm", "2", n, 1)
        wait_until(lambda: Listener.heard, "a request at the URL")
        told = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert len(told) == 1, told
        told = told[0]
        assert (told["service"], told["base"], told["head"], told["function"]) == ("shop", "1", "2", "d"), told
        # How near depends on how many minutes there were when it looked: test_fleet_watch.
        assert 0 < told["low"] < 0.3 < told["high"] < 0.6 and told["others"] == [], told
        assert told["first_seen"] == start + 12 * 60 and "of 8 hosts" in told["seen"], told
        assert json.loads(pathlib.Path(folder, "run").read_text(encoding="utf-8")) == told
        assert Listener.heard == [("/hook/", "application/json", told)], Listener.heard
        assert server.ask("GET", told["page"])[0] == 200
        page = server.ask("GET", "/")[1].decode()
        assert page.count("/diff?base=shop@1&amp;head=shop@2&amp;metric=samples") == 1 and "calm@1&amp;head" not in page
        assert "alarm: shop@2: d costs more than in 1" in (server.folder / "serve.err").read_text(encoding="utf-8")
        assert told["metric"] == "samples" and told["page"].endswith("&metric=samples"), told
        # A restarted server checks again, but does not send the alarm again.
        server.stop()
        hook.shutdown()
        hook.server_close()
        server.start()
        for n in range(35, 59):
            minute("calm", "2", n, 1.6)
            minute("shop", "2", n, 1.3)
        wait_until(lambda: "calm" in file.read_text(encoding="utf-8"), "another release's alarm")
        server.stop()
        told = [json.loads(line)["service"] for line in file.read_text(encoding="utf-8").splitlines()]
        assert told == ["shop", "calm"], told
        log = (server.folder / "serve.err").read_text(encoding="utf-8")
        assert "serve: --alarm-url: " in log and "/hook" not in log, log
        for wrong, line in (["--alarm-url", "x"], "invalid URL"), (["--alarm-file", "/nowhere/x"], "cannot write"):
            assert line in fizeau(folder, "serve", "--store", "x.db", *wrong, status=2).stderr


@suite.test("a host whose clock is 3 hours behind and that pushes a release first does not delay its alarm")
def clock_behind():
    with scratch() as folder, Server(folder, "--alarm-file", f"{folder}/alarms") as server:
        chance, file = random.Random(3), pathlib.Path(folder, "alarms")
        for n in range(35):
            for host in range(8):
                # That host alone would raise none.
                push_work(server, chance, 1.3 if n >= 12 and host else 1, version="1" if n < 12 else "2",
                          host=f"h{host}", start=1700000040 + (n - (0 if host else 180)) * 60)
        wait_until(lambda: file.read_text(encoding="utf-8"), "an alarm")
        told = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
        assert (told["base"], told["head"], told["function"]) == ("1", "2", "d"), told


@suite.test("comparing different hours of the day prints a warning, the same hours a day later none")
def hours():
    with scratch() as folder, Server(folder) as server:
        for version, hour in ("1", 0), ("2", 12), ("3", 24):
            assert server.push(FOLDED.encode(), version=version, start=1700000040 + hour * 3600)[0] == 200
        for head, warned in ("2", True), ("3", False):
            text = fizeau(folder, "diff", "s@1", f"s@{head}", "--server", server.url).stdout
            assert ("100 % of the head is from other hours of the day than the base" in " ".join(text.split())) == warned, text


def check_aged(server, settle=lambda: None):
    """Answers before and after minutes were replaced, with any store; settle(): all pushes are old enough for it."""
    server.push_new()
    hour = int(time.time()) // 3600 * 3600 - 10 * 86400
    for host in range(3):
        for n in range(20):
            for version in ("1", "2"):
                body = f"main;f {100 + n + host}\nmain;g {200 * int(version)}\n".encode()
                status, content, _ = server.push(body, host=f"h{host}", version=version, start=hour + n * 180)
                assert status == 200, content

    def ask():
        return server.ask("GET", "/api/diff?base=s@1&head=s@2")[1].decode()

    def costs():
        return [(f["name"], f["base_self"], f["head_self"]) for f in json.loads(ask())["functions"]]
    before, listed = costs(), server.ask("GET", "/")[1]
    assert len(before) >= 2 and "by the hour" not in ask()
    server.stop()
    server.options = ("--retain-minutes", "8")
    settle()
    server.start()
    wait_until(lambda: "; all known only by the hour" in ask(), "sums of hours")
    assert costs() == before and server.ask("GET", "/")[1] == listed
    timeline = json.loads(server.ask("GET", "/api/timeline?service=s")[1])
    assert sum(point[2] for band in timeline["versions"] for point in band["points"]) == 120
    # Shorter times than an hour are nowhere; longer ones begin with the nearest hour.
    server.says(422, "no profiles", "GET", f"/api/diff?base=s@1&head=s@2&since={hour}&until={hour + 1500}")
    server.says(200, "", "GET", f"/api/diff?base=s@1&head=s@2&since={hour + 1500}&until={hour + 3600}")
    # What arrives later counts, too, before and after it is added to its hour.
    late = f"main;f {10 ** 4}\n".encode()
    assert server.push(late, host="h1", version="2", start=hour + 540)[0] == 200
    more = [(name, base, head + 10 ** 4 * (name == "f")) for name, base, head in before]
    assert sorted(costs()) == sorted(more), (costs(), more)
    return costs


@suite.test("old minutes are replaced by sums of hours: releases have the same costs, and the answer names its precision")
def aged():
    with scratch() as folder, Server(folder) as server:
        costs = check_aged(server)
        later = costs()
        server.stop()
        server.start()
        wait_until(lambda: b"; all known only by the hour" in server.ask("GET", "/api/diff?base=s@2&head=s@2")[1], "sums of hours")
        assert costs() == later
        server.stop()
        with sqlite3.connect(server.store) as store:
            rows = store.execute("SELECT (SELECT count(*) FROM cell), (SELECT sum(n) FROM old_hour)").fetchone()
            assert rows == (1, 120), rows
        for options, line in (("--retain-minutes 7", "8"), ("--retain-minutes 30 --retain 30", "less than --retain")):
            assert line in fizeau(folder, "serve", "--store", server.store, *options.split(), status=2).stderr


@suite.test("a side selects pushes by its labels, with a file and a server, together with --label")
def labels_of_sides():
    with scratch() as folder, Server(folder) as server:
        query = f"/api/push?service=s&version=1&start=1700000040"
        for host, region, zone, cost in ("a", "eu", "1", 10), ("b", "eu", "2", 20), ("c", "us", "1", 40):
            server.says(200, "stored", "POST", f"{query}&host={host}&label=region%3D{region}&label=zone%3D{zone}", f"main;f {cost}\n".encode())
        for at in ("--server", server.url), ("--store", "fleet.db"):
            for base, head, more, samples in (("{region=eu}", "{region=us}", (), (30, 40)), ("{region=eu,zone=2}", "", (), (20, 70)),
                                              ("{region=eu}", "{region=us}", ("--label", "zone=1"), (10, 40))):
                done = fizeau(folder, "diff", f"s@1{base}", f"s@1{head}", *at, *more, "--format", "json")
                told = json.loads(done.stdout)
                assert (told["base"]["samples"], told["head"]["samples"]) == samples, (base, told["base"], told["head"])
            done = fizeau(folder, "diff", "s@1{region=x}", "s@1", *at, status=2)
            assert "no profiles with these labels" in done.stderr, done.stderr
            done = fizeau(folder, "diff", "s@1{=x}", "s@1", *at, status=2)
            assert "s@1{=x}: " in done.stderr and done.stderr.count("\n") == 1, done.stderr
        server.says(400, "looks like a set of labels", "POST", "/api/push?service=s&version=1%7Ba%3Db%7D&host=h", b"main 1\n")


@suite.test("each query of the Grafana dashboard has an answer with the fields it uses")
def grafana():
    with open(SOURCE / "examples" / "grafana.json", encoding="utf-8") as file:
        dashboard = json.load(file)
    with scratch() as folder, Server(folder) as server:
        for version, start in ("1.4", 1700000040), ("1.5", 1700003640):
            assert server.push(b"main;f 100\nmain;g 200\n", service="my shop", version=version, start=start)[0] == 200
        server.stop()
        alarm = {"function": "f", "change": 0.3, "base": "1.4", "head": "1.5", "raised": 1700004000}
        with contextlib.closing(sqlite3.connect(server.store)) as store:
            store.execute("INSERT INTO alarm VALUES (1, 'my shop', '1.4', '1.5', 'f', ?, 0.3, 0.2, 0.4, 0, 0)", [json.dumps(alarm)])
            store.commit()
        server.start()
        values = {"service": "my shop", "base": "1.4", "head": "1.5", "__from": "1700000000", "__to": "1700010000"}
        queries = [query for panel in dashboard["panels"] for query in panel["targets"]]
        assert len(queries) == 3
        for query in queries:
            url = re.sub(r"\$\{(\w+)[^}]*\}", lambda name: urllib.parse.quote(values[name[1]]), query["url"])
            status, content, headers = server.ask("GET", url)
            assert status == 200 and headers["Content-Type"] == "application/json", (url, content)
            rows = json.loads(content)[query["root_selector"]]
            assert rows and all(column["selector"] in row for row in rows for column in query["columns"]), (url, rows)
        rows = json.loads(server.ask("GET", "/api/timeline?service=my%20shop&rows=yes")[1])["rows"]
        assert [(row["version"], row["cost"], row["minutes"]) for row in rows] == [("1.4", 300, 1), ("1.5", 300, 1)], rows
        assert [row["time"] // 60 for row in rows] == [1700000040 // 60, 1700003640 // 60], rows
        server.says(400, "rows: invalid value 'no'", "GET", "/api/timeline?service=my%20shop&rows=no")


@suite.test("each main profile of a service is watched: an alarm for samples next to unchanged time")
def second_metric():
    with scratch() as folder, Server(folder, "--alarm-file", f"{folder}/alarms") as server:
        chance, file = random.Random(2), pathlib.Path(folder, "alarms")
        for n in range(35):
            for host in range(8):
                to = {"service": "s", "version": "1" if n < 12 else "2", "host": f"h{host}", "start": 1700000040 + n * 60}
                push_work(server, chance, 1.3 if n >= 12 else 1, **to)
                names = ["main", *WORK]
                weights = [chance.gauss(10, 1) for _ in WORK for _ in range(40)]
                timed = {"$schema": "https://www.speedscope.app/file-format-schema.json",
                        "shared": {"frames": [{"name": name} for name in names]},
                        "profiles": [{"type": "sampled", "name": "time", "unit": "milliseconds", "startValue": 0,
                                      "endValue": sum(weights), "weights": weights,
                                      "samples": [[0, names.index(f)] for f in WORK for _ in range(40)]}]}
                status, answer, _ = server.push(json.dumps(timed).encode(), **to)
                assert status == 200, answer
        wait_until(lambda: file.exists() and file.read_text(encoding="utf-8"), "an alarm")
        told = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
        assert told["function"] == "d" and told["metric"] == "samples", told
        server.says(200, "", "GET", told["page"])


class Counted(http.server.BaseHTTPRequestHandler):
    """Accepts all pushes, and counts connections."""

    protocol_version, connections = "HTTP/1.1", 0

    def setup(self):
        Counted.connections += 1
        super().setup()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "20")
        self.end_headers()
        self.wfile.write(b'{"status": "stored"}')

    def log_message(self, *_):
        pass


@suite.test("push: one connection for all recordings")
def one_connection():
    with scratch() as name, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Counted) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for n in range(3):
            pathlib.Path(name, f"{n}.folded").write_text(FOLDED, encoding="utf-8")
        done = fizeau(name, "push", *(f"{n}.folded" for n in range(3)), "--service", "s", "--version", "1",
                      "--server", f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        assert done.stdout.count("pushed as s@1") == 3, done.stdout
        assert Counted.connections == 1, Counted.connections


@suite.test("OpenTelemetry's profiles are accepted, each resource as its own service")
def opentelemetry():
    with scratch() as folder, Server(folder) as server:
        kind = {"Content_Type": "application/x-protobuf"}
        path = "/v1development/profiles"
        status, content, _ = server.ask("POST", path, otlp([("a", "1", "h1"), ("b", "", "")]), **kind)
        assert (status, content) == (200, b""), (status, content)
        page = server.ask("GET", "/")[1].decode()
        assert 'value="a@1"' in page and 'value="b@unversioned"' in page, page
        status, content, _ = server.ask("POST", path, otlp([("a", "2", "h1"), ("", "", "")]), **kind)
        assert status == 200 and b"no service.name" in content, (status, content)
        server.says(400, "no service.name", "POST", path, otlp([("", "", "")]), **kind)
        page = server.ask("GET", "/")[1]
        for names in ("a\0b", "1", "h"), ("a", "1\0b", "h"), ("a", "1", "h\0b"):
            server.says(400, "contains a zero byte", "POST", path, otlp([names]), **kind)
        assert server.ask("GET", "/")[1] == page


if __name__ == "__main__":
    suite.main()
