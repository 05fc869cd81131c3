#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Complete recordings stored in a bucket, by s3rver, which implements S3's protocol; and failures of the bucket.
s3rver is installed from tests/s3/package-lock.json once. It accepts any signature; these are checked by Amazon's
library (Debian: python3-botocore).
"""

import concurrent.futures
import hashlib
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import threading

from fleetlib import Server, fizeau, kept, kept_files, pushed_until_killed, scratch
from livelib import SOURCE, Skip, Suite, free_port, npm_packages, wait_until

suite = Suite()

PACKAGES = SOURCE / "tests" / "s3"
# The credentials that it accepts. Other variables that may be set here are cleared.
KEYS = {"AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER", "AWS_SESSION_TOKEN": "", "AWS_REGION": "",
        "AWS_DEFAULT_REGION": ""}
MAIN = "fleet/of-one"  # a bucket and what its objects' names begin with


class Bucket:
    """A server with an empty bucket; it can be stopped and restarted with its data."""

    def __init__(self, folder):
        npm_packages(PACKAGES, "s3rver")
        self.folder = pathlib.Path(folder, "objects")
        self.folder.mkdir()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/{MAIN}"

    def __enter__(self):
        self.process = subprocess.Popen(
            ["node", PACKAGES / "node_modules/s3rver/bin/s3rver.js", "--silent", "--directory", self.folder, "--port",
             str(self.port), "--configure-bucket", "fleet"], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        wait_until(self.answers, "the bucket", 60)
        return self

    def answers(self):
        with socket.socket() as asked:
            return asked.connect_ex(("127.0.0.1", self.port)) == 0

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def objects(self):
        found = [f.name.removesuffix("._S3rver_object") for f in (self.folder / MAIN).glob("*._S3rver_object")]
        return sorted(name for name in found if name != "fizeau")


def server_with(name, bucket, *options):
    return Server(name, "--recordings", pathlib.Path(name, "whole"), "--bucket", bucket.url, *options, environ=KEYS)


def text_of(n, much=0):
    return f"main;f{n} 1\n".encode() + b"main;g 1\n" * (much // 9)


def idents(server):
    return {recording["id"] for recording in kept(server, limit="1000")}


def push(server, n, much=0):
    status, content, _ = server.push(text_of(n, much), id=f"id{n}", keep="yes")
    assert status == 200 and json.loads(content)["kept"] is True, content


@suite.test("recordings are in the bucket unchanged; old ones and those above the limit are deleted")
def as_they_came():
    with scratch() as name, Bucket(name) as bucket:
        with server_with(name, bucket, "--recordings-limit", "1") as server:
            for n in range(3):
                push(server, n)
            push(server, 2)  # again
            assert len(bucket.objects()) == len(idents(server)) == 3, bucket.objects()
            assert not kept_files(pathlib.Path(name, "whole"))
            for n in range(3):
                assert server.ask("GET", f"/api/recording?id=id{n}")[1] == text_of(n)
            assert fizeau(name, "pull", "--server", server.url, "-o", "-", "id1").stdout == text_of(1).decode()
            server.says(422, "not found", "GET", "/api/recording?id=other")
            for n in range(100, 115):
                push(server, n, 100_000)
            assert len(bucket.objects()) == len(idents(server)) < 15 and "id0" not in idents(server), idents(server)
            assert server.push(text_of(1), id="old", start=1_600_000_000, keep="yes")[0] == 200
            there = len(bucket.objects())
            server.stop()
            server.options += ("--retain", "3")
            server.start()
            wait_until(lambda: len(bucket.objects()) == there - 1, "forgetting")
            assert "old" not in idents(server) and len(idents(server)) == there - 1
            assert server.stop() == 128 + signal.SIGTERM
        assert not (server.folder / "serve.err").read_text(encoding="utf-8").count("bucket")


@suite.test("missing rights, a bad bucket and a moved store are reported before the server listens")
def refused():
    with scratch() as name, Bucket(name) as bucket:
        with server_with(name, bucket) as server:
            push(server, 1)
        other = f"http://127.0.0.1:{bucket.port}"
        whole, new = (("--recordings", pathlib.Path(name, folder)) for folder in ("whole", "new"))
        for words, environ, why in (
                ((*new, "--bucket", bucket.url), {"AWS_ACCESS_KEY_ID": "other"}, "InvalidAccessKeyId"),
                ((*new, "--bucket", bucket.url), {"AWS_ACCESS_KEY_ID": ""}, "must be set"),
                ((*new, "--bucket", f"{other}/missing"), {}, "NoSuchBucket"),
                ((*new, "--bucket", "s3://fleet"), {}, "expected https://HOST/BUCKET"),
                ((*new, "--bucket", "http://127.0.0.1:1/b"), {}, "does not answer"),
                (("--bucket", bucket.url), {}, "--bucket requires --recordings"),
                (whole, {}, f"its files are in {bucket.url}"),
                ((*whole, "--bucket", f"{other}/fleet/other"), {}, f"its files are in {bucket.url}")):
            done = fizeau(name, "serve", "--store", "f.db", "--listen", "127.0.0.1:0", *words, status=2,
                          env={**KEYS, **environ})
            assert why in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, (words, done.stderr)
        # A folder that has recordings of its own.
        with Server(name, *new, store=f"{name}/g.db") as server:
            push(server, 1)
        done = fizeau(name, "serve", "--store", "f.db", *new, "--bucket", bucket.url, status=2, env=KEYS)
        assert "its files are in the folder" in done.stderr, done


SIGNATURE = """
import json, sys
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

asked = json.load(sys.stdin)
request = AWSRequest(method=asked["method"], url=asked["url"], headers=asked["headers"])
request.context["timestamp"] = asked["headers"]["x-amz-date"]
auth = S3SigV4Auth(Credentials("a-key", "a/secret+key="), "s3", "eu-central-1")
print(auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request))
"""


class Taker(http.server.BaseHTTPRequestHandler):
    """Accepts every request and remembers it."""

    def do_PUT(self):
        self.server.asked.append((self.command, self.path, {name.lower(): value for name, value in self.headers.items()},
                                  self.rfile.read(int(self.headers.get("Content-Length", 0)))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_DELETE = do_PUT

    def log_message(self, *_):
        pass


@suite.test("requests are signed like Amazon's own library does, with the digest of the body")
def signed():
    if subprocess.run(["/usr/bin/python3", "-c", "import botocore"], capture_output=True, check=False).returncode:
        raise Skip("python3-botocore is not installed")
    keys = {"AWS_ACCESS_KEY_ID": "a-key", "AWS_SECRET_ACCESS_KEY": "a/secret+key=", "AWS_SESSION_TOKEN": "a+session/==",
            "AWS_REGION": "eu-central-1"}
    with scratch() as name, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Taker) as taker:
        taker.asked = []
        threading.Thread(target=taker.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{taker.server_port}"
        whole = pathlib.Path(name, "whole")
        with Server(name, "--recordings", whole, "--recordings-limit", "1", "--bucket", f"{url}/a/b-c", environ=keys) as server:
            for n in range(3):
                push(server, n, 600_000)
            server.ask("GET", "/api/recording?id=id2")
        taker.shutdown()
    assert {method for method, *_ in taker.asked} == {"PUT", "GET", "DELETE"}, taker.asked
    for method, path, headers, body in taker.asked:
        assert headers["x-amz-content-sha256"] == hashlib.sha256(body).hexdigest(), (method, headers)
        assert headers["x-amz-security-token"] == keys["AWS_SESSION_TOKEN"], headers
        found = re.fullmatch("AWS4-HMAC-SHA256 Credential=a-key/[0-9]{8}/eu-central-1/s3/aws4_request, "
                             "SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})", headers["authorization"])
        assert found and {"host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"} <= set(found[1].split(";"))
        asked = {"method": method, "url": url + path, "headers": {h: headers[h] for h in found[1].split(";")}}
        wanted = subprocess.run(["/usr/bin/python3", "-c", SIGNATURE], input=json.dumps(asked), capture_output=True,
                                text=True, check=True, timeout=60).stdout.strip()
        assert found[2] == wanted, (method, path, headers)


@suite.test("no bucket: 503, and a later retry is stored once")
def away():
    with scratch() as name, Bucket(name) as bucket:
        with server_with(name, bucket) as server:
            push(server, 1)
            bucket.__exit__()
            for _ in range(2):
                status, content, headers = server.push(text_of(2), id="id2", keep="yes")
                assert status == 503 and b"does not answer" in content and headers["Retry-After"], content
            server.says(503, "does not answer", "GET", "/api/recording?id=id1")
            assert idents(server) == {"id1"}
            with bucket:
                push(server, 2)
                assert server.ask("GET", "/api/recording?id=id2")[1] == text_of(2)
                assert len(bucket.objects()) == len(idents(server)) == 2
                assert server.samples("s", "1") == 2  # each push counts once in the store
                # Somebody else empties it.
                for file in (bucket.folder / MAIN).iterdir():
                    file.unlink()
                server.says(422, "already deleted", "GET", "/api/recording?id=id2")
        assert "does not answer" in (server.folder / "serve.err").read_text(encoding="utf-8")


@suite.test("a kill loses nothing that was acknowledged, and leaves nothing in the bucket")
def killed():
    with scratch() as name, Bucket(name) as bucket:
        with server_with(name, bucket) as server:
            def one(n):
                if 500 <= n < 1000:  # no more are listed at once
                    return n, False
                try:
                    push(server, n)
                    return n, True
                except Exception:  # whatever a broken connection is
                    return n, False
            done = pushed_until_killed(server, one, clients=8, after=30)
            server.start()
            there = idents(server)
            assert {f"id{n}" for n, stored in done.items() if stored} <= there <= {f"id{n}" for n in done}
            wait_until(lambda: len(bucket.objects()) == len(there), f"{len(there)} objects")
            # In the middle of a write: the file exists, but is not in the index.
            bucket.process.send_signal(signal.SIGSTOP)
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                pushed = pool.submit(one, 1000)
                wait_until(lambda: loose(name) == 1, "a push under way")
                server.stop(signal.SIGKILL)
                assert pushed.result() == (1000, False)
            bucket.process.send_signal(signal.SIGCONT)
            wait_until(lambda: len(bucket.objects()) == len(there) + 1, "what nobody knows of")
            server.start()
            assert idents(server) == there
            wait_until(lambda: len(bucket.objects()) == len(there) and loose(name) == 0, "tidying")


def loose(name):
    with sqlite3.connect(f"file:{os.path.join(name, 'whole', 'index.db')}?mode=ro", uri=True) as index:
        return index.execute("SELECT count(*) FROM loose").fetchone()[0]


suite.main()
