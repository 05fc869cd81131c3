#!/usr/bin/env python3
"""A real server: recordings are pushed to it, it is killed, releases are compared; and its bad days."""

import base64
import concurrent.futures
import gzip
import http.client
import http.server
import itertools
import json
import os
import pathlib
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
import urllib.parse

from livelib import FIZEAU, Skip, Suite, find_interpreter, wait_until

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


class Server:
    """One that runs for as long as the block lasts, unless it is killed and begun again."""

    def __init__(self, folder, *options, limit=None):
        self.folder, self.options, self.limit = pathlib.Path(folder), options, limit
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [FIZEAU, "serve", "--store", self.folder / "fleet.db", "--listen", "127.0.0.1:0", *self.options],
            stdout=subprocess.PIPE, stderr=open(self.folder / "serve.err", "a", encoding="utf-8"), text=True,
            preexec_fn=self.limit)
        self.url = self.process.stdout.readline().strip()
        assert self.url, (self.folder / "serve.err").read_text(encoding="utf-8")
        self.port = int(self.url.rpartition(":")[2])

    def __enter__(self):
        done = subprocess.run([FIZEAU, "serve", "--store", "/dev/null/x"], capture_output=True, text=True, timeout=60)
        if "was built without" in done.stderr:
            raise Skip("this fizeau was built without servers")
        self.start()
        return self

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(60)
        self.process.stdout.close()
        return self.process.returncode

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop(signal.SIGKILL)

    def ask(self, method, path, body=None, token=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content, answer.headers

    def says(self, status, line, *request, **headers):
        got, content, _ = self.ask(*request, **headers)
        assert got == status and line in content.decode(errors="replace"), (request[:2], got, content[:300])

    def push(self, body, service="s", version="1", host="h", token=None, **more):
        query = urllib.parse.urlencode({"service": service, "version": version, "host": host, **more})
        return self.ask("POST", f"/api/push?{query}", body, token)

    def samples(self, service, version):
        """Of both sides, which are the same release."""
        side = urllib.parse.quote(f"{service}@{version}")
        status, content, _ = self.ask("GET", f"/api/release?base={side}&head={side}&side=head")
        assert status == 200, content
        file = self.folder / "release.fz"
        file.write_bytes(content)
        done = subprocess.run([FIZEAU, "replay", file, "--format", "folded", "--metric", "samples", "-o", "-"],
                              capture_output=True, text=True, timeout=60, check=True)
        return sum(int(line.rpartition(" ")[2]) for line in done.stdout.splitlines())


def fizeau(folder, *arguments, status=0, env=None):
    done = subprocess.run([FIZEAU, *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder), **(env or {})})
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def scratch():
    return find_interpreter("debian-3.11").scratch()


FOLDED = "main;parse 700\nmain;render 300\n"


def certificate(folder, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{name}.key", "-out",
                    f"{name}.crt"], cwd=folder, check=True, capture_output=True, timeout=60)


@suite.test("https: who trusts the certificate pushes and reads, others are told why not")
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
            assert "1,000 samples -> 1,000 samples" in text, text
            for environ, url, why in ((other, server.url, "vouches for its certificate"),
                                      (own, server.url.replace("https", "http"), "127.0.0.1")):
                done = fizeau(folder, *push, url, "--version", "3", status=2, env=environ)
                assert why in done.stderr and done.stderr.count("\n") == 1, done.stderr
            assert server.stop() == 128 + signal.SIGTERM
        for files, why in (((tls[1], folder / "other.key"), "no certificate and its key"),
                           ((folder / "r.folded", tls[3]), "no certificate and its key"),
                           ((folder / "missing", tls[3]), "missing: cannot be read"),
                           ((tls[1], None), "TLS takes both")):
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
        assert "was there already" in fizeau(folder, "push", "1a.fz", "--server", server.url, "--service", "app",
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
        assert "by shares or windows it never has" in done.stderr, done.stderr
        asked = urllib.parse.urlencode({"base": "app@1", "head": "app@2", "label": "region=eu"})
        assert json.loads(server.ask("GET", f"/api/diff?{asked}")[1]) == answer
        # What ran a day ago until now is all of it; a range without a version is of both.
        done = fizeau(folder, "diff", "app@1@1d..", "app@2@1d..", "--server", server.url, "--format", "json")
        assert json.loads(done.stdout)["functions"] == answer["functions"]
        both = json.loads(fizeau(folder, "diff", "app@1d..", "app@2", "--store", "fleet.db", "--format", "json").stdout)
        assert both["base"]["samples"] == answer["base"]["samples"] + answer["head"]["samples"]
        assert both["base"]["facts"]["release"].startswith("app@20"), both["base"]["facts"]
        done = fizeau(folder, "diff", "app@2026-01-01..2026-01-02", "app@1h..", "--server", server.url, status=2)
        assert "app@2026-01-01T00:00..2026-01-02T00:00: app: has no profiles" in done.stderr, done
        done = fizeau(folder, "diff", "app@1h..2h", "app@1h..", "--server", server.url, status=2)
        assert "ends before it begins; write the earlier time first" in done.stderr, done
        done = fizeau(folder, "push", "1a.fz", "--server", server.url, "--service", "app", "--version", "2h..1h", status=2)
        assert "reads as a range of time" in done.stderr, done
        line = json.loads(server.ask("GET", "/api/timeline?service=app&label=region%3Deu")[1])
        assert [v["version"] for v in line["versions"]] == ["1", "2"] and line["unit"] == "ns", line
        total = sum(cost for v in line["versions"] for _, cost, _ in v["points"])
        assert total == both["base"]["total"], (total, both["base"])
        server.says(400, "service: is missing", "GET", "/api/timeline")
        server.says(422, "there is no such service", "GET", "/api/timeline?service=x")
        server.says(422, "in that time", "GET", "/api/timeline?service=app&until=60")
        done = fizeau(folder, "diff", "app@1", "app@3", "--server", server.url, status=2)
        assert "the latest versions of app are: 2, 1 (status 422)" in done.stderr.replace("1, 2", "2, 1"), done
        done = fizeau(folder, "diff", "app@1", "app@2", "--store", "fleet.db", "--scale", "time", status=2)
        assert "compared by share" in done.stderr, done
        done = fizeau(folder, "diff", "app@1", "app@2", "--store", "fleet.db", "--label", "region=us", status=2)
        assert "no profiles with these labels" in done.stderr, done
        done = fizeau(folder, "diff", "app@1", "app@2", "--store", "fleet.db", "--until", "1d", status=2)
        assert "in that time" in done.stderr, done
        status, page, headers = server.ask("GET", "/diff?base=app@1&head=app@2")
        assert status == 200 and page.startswith(b"<!doctype html>") and b"app@2" in page
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        status, page, _ = server.ask("GET", "/")
        assert status == 200 and page.count(b'value="app@1"') == 2, page


suite.add("recordings of two releases are pushed, compared by the server and by its file, and shown", compared, recorded)
suite.add("recordings of two releases, made now", compared, recorded_now)


def pushed_until_killed(server, push, clients, after):
    """What push(n) said of each n; the clients go on until the server is killed, when so many were pushed."""
    numbers, said = itertools.count(), {}

    def client():
        while True:
            n, pushed = push(next(numbers))
            said[n] = pushed
            if not pushed:
                return
    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        going = [pool.submit(client) for _ in range(clients)]
        wait_until(lambda: len(said) > after or any(one.done() for one in going), "some pushes")
        server.process.kill()
        for one in going:
            one.result()
    server.stop()
    assert len(said) > after, "a client ended before the server was killed"
    return said


@suite.test("a server that is killed has all that it acknowledged, and what is pushed again counts once")
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


@suite.test("many clients at once: what waits goes to the disk together, and a kill loses none that was acknowledged")
def many():
    with scratch() as folder, Server(folder) as server:
        def push(n):
            # Some are refused, in the middle of what others wait for.
            wrong = n % 10 == 9
            start = str(1700000000 + (n % 3) * 60) if not wrong else "4000000000"
            try:
                status = server.push(f"main;f{n % 7} 10\n".encode(), id=f"id{n}", start=start, host=f"h{n % 5}")[0]
            except (OSError, http.client.HTTPException):
                return n, 0
            assert status == (422 if wrong else 200), (n, status)
            return n, status
        done = pushed_until_killed(server, push, clients=48, after=200)
        there = [n for n, status in done.items() if status == 200]
        server.start()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            known = list(pool.map(lambda n: json.loads(server.push(b"main;other 99\n", id=f"id{n}")[1])["status"], there))
        assert set(known) == {"known"}, known.count("stored")
        # Those whose answer was cut off may be there, too: one for each client.
        assert len(there) <= server.samples("s", "1") // 10 <= len(there) + 48


class Sometimes(http.server.BaseHTTPRequestHandler):
    """Goes away without an answer, is busy, then asks the server."""
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


@suite.test("a push waits for a server that goes away or is busy, and says so when it stays away")
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
        assert "is that where 'fizeau serve' listens?" in done.stderr, done


@suite.test("tokens: who may read, who may write, and whose project it is")
def tokens():
    with scratch() as folder:
        file = pathlib.Path(folder, "tokens")
        file.write_text(TOKENS, encoding="utf-8")
        file.chmod(0o644)
        done = fizeau(folder, "serve", "--store", "x.db", "--tokens", "tokens", status=2)
        assert "chmod 600" in done.stderr, done
        file.chmod(0o600)
        with Server(folder, "--tokens", file) as server:
            server.says(401, "needs a token", "GET", "/")
            server.says(401, "not known here", "GET", "/", token="readreadreadrea")
            server.says(403, "may only read", "POST", "/api/push", b"x", token="readreadreadread")
            server.says(403, "may only write", "GET", "/", token="writewritewritewrite")
            assert server.push(b"main;f 10\n", service="secret", token="writewritewritewrite")[0] == 200
            assert b"secret" in server.ask("GET", "/", token="readreadreadread")[1]
            assert b"secret" not in server.ask("GET", "/", token="two-two-two-two-two")[1]
            basic = base64.b64encode(b"me:readreadreadread").decode()
            server.says(200, "secret", "GET", "/", Authorization=f"Basic {basic}")
            pathlib.Path(folder, "x.folded").write_text("main;f 10\n", encoding="utf-8")
            address = ["push", "x.folded", "--server", server.url, "--service", "s", "--version", "1"]
            assert "(status 401)" in fizeau(folder, *address, status=2).stderr
            fizeau(folder, *address, env={"FIZEAU_TOKEN": "writewritewritewrite"})
        done = fizeau(folder, "serve", "--store", "x.db", "--listen", "0.0.0.0:0", status=2)
        assert "--tokens" in done.stderr, done


@suite.test("what is wrong with a request is a status and a line")
def refused():
    with scratch() as folder, Server(folder, "--max-body", "1") as server:
        push = "/api/push?service=s&version=1&host=h"
        server.says(422, "not a profile in a format", "POST", push, b"\x00\x01nonsense" * 100)
        server.says(422, "is empty", "POST", push, b"")
        server.says(400, "service: is missing", "POST", "/api/push?version=1&host=h", b"main 1\n")
        server.says(400, "has an @", "POST", "/api/push?service=a@b&version=1&host=h", b"main 1\n")
        server.says(400, "more than 128 bytes", "POST", f"/api/push?service={'x' * 200}&version=1&host=h", b"main 1\n")
        server.says(400, "is not KEY=VALUE", "POST", push + "&label=%3Cb%3E", b"main 1\n")
        server.says(400, "more than 16", "POST", push + "".join(f"&label=k{i}=v" for i in range(17)), b"main 1\n")
        server.says(413, "larger than 1 MiB", "POST", push, b"x" * (2 << 20))
        with socket.create_connection(("127.0.0.1", server.port)) as endless:
            endless.sendall(f"POST {push} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {10**15}\r\n\r\n".encode())
            assert b" 413 " in endless.recv(1000)
        server.says(422, "an hour from now", "POST", push + "&start=4000000000", b"main 1\n")
        for path in ("/../../etc/passwd", "/%2e%2e/etc/passwd", "/web/../fleet.db", "//etc/passwd"):
            server.says(404, "nothing of that name", "GET", path)
        server.says(405, "not done with that method", "DELETE", "/")
        server.says(405, "not done with that method", "GET", "/api/push")
        server.says(403, "another site", "POST", push, b"main 1\n", Origin="http://evil.example")
        server.says(403, "only 127.0.0.1", "GET", "/", Host="evil.example")
        server.says(400, "write SERVICE@VERSION", "GET", "/diff?base=x&head=y")
        server.says(422, "there is none", "GET", "/diff?base=x@1&head=x@2")
        assert server.push(b"main;f 10\n", version="'); DROP TABLE cell; --", label="k='\"; DELETE")[0] == 200
        assert server.push(b"main;<script>alert(1)</script> 10\n", service="<script>alert(1)</script>")[0] == 200
        page = server.ask("GET", "/")[1]
        assert b"<script>alert" not in page and b"&lt;script&gt;alert(1)" in page and b"DROP TABLE" in page
        side = urllib.parse.quote("<script>alert(1)</script>@1")
        status, page, _ = server.ask("GET", f"/diff?base={side}&head={side}")
        assert status == 200 and b"<script>alert" not in page
        assert server.push(b"main;f 10\n")[0] == 200 and server.stop() == 128 + signal.SIGTERM


@suite.test("clients that are slow or go away hold up nobody")
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
        lazy[30].settimeout(60)
        assert lazy[30].recv(100) == b"", "let go of after 15 s without a word"
        for connection in lazy[20:]:
            connection.close()


@suite.test("a full disk refuses pushes with a line, keeps what was there, and is forgiven")
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
        assert status == 507 and b"the disk takes no more" in content, (status, content)
        assert stored and server.samples("s", "1") == 100 * stored
        assert "the disk takes no more" in (server.folder / "serve.err").read_text(encoding="utf-8")
        server.stop()
        server.limit = None
        server.start()
        assert server.push(body, id=f"id{stored}")[0] == 200
        assert server.samples("s", "1") == 100 * (stored + 1)


@suite.test("what Pyroscope's agents send is taken: folded text, forms with pprof, labels in the name")
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
        server.says(400, "service: is missing", "POST", "/ingest", b"main 1\n")


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def number(field, n):
    return varint(field << 3) + varint(n)


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def push_v1(labels, *profiles):
    pairs = b"".join(message(1, message(1, key.encode()) + message(2, value.encode())) for key, value in labels.items())
    return message(1, pairs + b"".join(message(2, message(1, body) + message(2, name)) for name, body in profiles))


@suite.test("Pyroscope's newer agents: protocol buffers, packed or not, and what is sent again counts once")
def pyroscope_push():
    with scratch() as folder, Server(folder) as server:
        path, kind = "/push.v1.PusherService/Push", {"Content_Type": "application/proto"}
        labels = {"__name__": "process_cpu", "service_name": "shop", "version": "7", "hostname": "h1"}
        body = push_v1(labels, (b"one", b"main;f 90\n"), (b"two", b"main;g 10\n"))
        for content in (body, gzip.compress(body)):
            assert server.ask("POST", path, content, **kind)[:2] == (200, b"")
            assert server.samples("shop", "7") == 100
        server.says(400, "service: is missing", "POST", path, push_v1({}, (b"x", b"main 1\n")), **kind)
        server.says(422, "no message of push.v1", "POST", path, b"\xff\xff", **kind)
        server.says(422, "not a profile in a format", "POST", path, push_v1(labels, (b"y", b"\0\1")), **kind)
        server.says(415, "protocol buffers", "POST", path, b"{}", Content_Type="application/json")


def otlp(services):
    """A request with a profile for each of (service, version, host), of main > work."""
    strings = [b"", b"samples", b"count", b"main", b"work", b"a.py", b"cpu", b"nanoseconds"]
    dictionary = b"".join([
        message(2, b""), message(2, message(3, number(1, 1))), message(2, message(3, number(1, 2))),
        message(3, b""), message(3, number(1, 3) + number(3, 5)), message(3, number(1, 4) + number(3, 5)),
        *(message(5, s) for s in strings),
        message(7, b""), message(7, message(1, bytes([2, 1]))),
    ])
    parts = []
    for service, version, host in services:
        names = {"service.name": service, "service.version": version, "host.name": host}
        resource_ = b"".join(message(1, message(1, key.encode()) + message(2, message(1, value.encode())))
                             for key, value in names.items() if value)
        profile = b"".join([message(1, number(1, 6) + number(2, 7)), message(2, number(1, 1) + message(4, bytes([100]))),
                            b"\x19" + (1700000000 * 10**9).to_bytes(8, "little")])
        parts.append(message(1, message(1, resource_) + message(2, message(2, profile))))
    return b"".join(parts) + message(2, dictionary)


class Listener(http.server.BaseHTTPRequestHandler):
    heard = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.heard.append((self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@suite.test("a release that made a function more expensive raises one alarm: in a file, by a command, at a URL, on the page")
def alarm():
    hook = http.server.HTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    with scratch() as folder, Server(folder, "--alarm-file", f"{folder}/alarms", "--alarm-run", f"cat > '{folder}/run'",
                                     "--alarm-url", f"http://127.0.0.1:{hook.server_port}/hook") as server:
        chance, start = random.Random(1), 1700000040
        file = pathlib.Path(folder, "alarms")

        def minute(service, version, n, much):
            for host in range(8):
                work = {f: chance.gauss(400, 8) for f in "abcdefg"}
                work["d"] *= much * (1 + host / 20)
                body = "".join(f"main;{f} {round(cost)}\n" for f, cost in work.items())
                assert server.push(body.encode(), service=service, version=version, host=f"h{host}",
                                   start=start + n * 60)[0] == 200
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
        assert Listener.heard == [("/hook", "application/json", told)], Listener.heard
        assert server.ask("GET", told["page"])[0] == 200
        page = server.ask("GET", "/")[1].decode()
        assert page.count("/diff?base=shop@1&amp;head=shop@2") == 1 and "calm@1&amp;head" not in page
        assert "alarm: shop@2: d costs more than in 1" in (server.folder / "serve.err").read_text(encoding="utf-8")
        # Whoever begins again looks again, but does not tell it again.
        server.stop()
        server.start()
        for n in range(35, 59):
            minute("calm", "2", n, 1.6)
            minute("shop", "2", n, 1.3)
        wait_until(lambda: "calm" in file.read_text(encoding="utf-8"), "another release's alarm")
        server.stop()
        told = [json.loads(line)["service"] for line in file.read_text(encoding="utf-8").splitlines()]
        assert told == ["shop", "calm"], told
        for wrong, line in (["--alarm-url", "x"], "is no address"), (["--alarm-file", "/nowhere/x"], "cannot be written"):
            assert line in fizeau(folder, "serve", "--store", "x.db", *wrong, status=2).stderr
    hook.shutdown()
    hook.server_close()


PYROSCOPE = "pyroscope-io==1.4.0"
AGENT = """
import sys, time, pyroscope
pyroscope.configure(application_name="shop", server_address=sys.argv[1], sample_rate=100,
                    tags={"version": "7", "hostname": "h1", "region": "eu"})
def parse(n):
    return sum(i * i for i in range(n))
end = time.process_time() + 2
while time.process_time() < end:
    parse(10000)
pyroscope.shutdown()
"""


@suite.test("Pyroscope's own client for Python, as it is, pushes here")
def pyroscope_client():
    with scratch() as folder, Server(folder) as server:
        place = pathlib.Path(folder, "packages")
        pip = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", place, PYROSCOPE],
                             capture_output=True, text=True, timeout=120, check=False)
        if pip.returncode:
            raise Skip(f"{PYROSCOPE} cannot be had from PyPI here: {(pip.stderr.strip().splitlines() or ['no word'])[-1]}")
        pathlib.Path(folder, "agent.py").write_text(AGENT, encoding="utf-8")
        subprocess.run([sys.executable, "agent.py", server.url], cwd=folder, check=True, timeout=120,
                       env={**os.environ, "PYTHONPATH": str(place)})
        wait_until(lambda: b"shop@7" in server.ask("GET", "/")[1], "a push of the client's")
        # Its sampler gets the processor when it does; it counts what it took itself.
        assert server.samples("shop", "7") > 20, server.samples("shop", "7")
        file = pathlib.Path(folder, "shop.fz")
        file.write_bytes(server.ask("GET", "/api/release?base=shop@7&head=shop@7&side=head")[1])
        shown = fizeau(folder, "show", file).stdout
        assert "parse" in shown and "agent.py" in shown, shown


@suite.test("OpenTelemetry's profiles are taken, each resource as its own service")
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
        server.says(422, "no OTLP message", "POST", path, b"\xff\xff\xff", **kind)
        server.says(415, "protocol buffers", "POST", path, b"{}", Content_Type="application/json")


if __name__ == "__main__":
    suite.main()
