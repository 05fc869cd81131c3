"""Helpers of the live tests of a fleet: a server, and pushes to it."""

import concurrent.futures
import http.client
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.parse

from livelib import FIZEAU, Skip, find_interpreter, wait_until


# With GnuTLS loaded GCC 12's sanitizer takes a wrong guess for the size of a library's thread-local storage, and
# dies of looking through it for leaks.
SAFE = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":intercept_tls_get_addr=0"}


class Server:
    """A server that runs until the block ends, unless it is killed and restarted."""

    def __init__(self, folder, *options, limit=None, store=None, environ=()):
        self.folder, self.options, self.limit, self.environ = pathlib.Path(folder), options, limit, dict(environ)
        self.store = store or self.folder / "fleet.db"
        self.process = None

    def start(self):
        # The port that it had before may be another program's for a moment.
        wait_until(self.listens, "a free port")

    def listens(self):
        self.process = subprocess.Popen(
            [FIZEAU, "serve", "--store", self.store, "--listen", "127.0.0.1:0", *self.options],
            stdout=subprocess.PIPE, stderr=open(self.folder / "serve.err", "a", encoding="utf-8"), text=True,
            preexec_fn=self.limit, env={**(SAFE if {"--tls-cert", "--bucket"} & set(self.options) else os.environ), **self.environ})
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            said = (self.folder / "serve.err").read_text(encoding="utf-8")
            assert said.endswith("Address already in use\n"), said
            return False
        self.port = int(self.url.rpartition(":")[2])
        return True

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

    def push_new(self, now=None):
        """A push that shows the server's retention that its clock is right."""
        assert self.push(b"main 1\n", "new", start=now or int(time.time()))[0] == 200

    def samples(self, service, version):
        """Samples of a release, by a report with it on both sides."""
        side = urllib.parse.quote(f"{service}@{version}")
        status, content, _ = self.ask("GET", f"/api/release?base={side}&head={side}&side=head")
        assert status == 200, content
        file = self.folder / "release.fz"
        file.write_bytes(content)
        done = subprocess.run([FIZEAU, "replay", file, "--format", "folded", "--metric", "samples", "-o", "-"],
                              capture_output=True, text=True, timeout=60, check=True)
        return sum(int(line.rpartition(" ")[2]) for line in done.stdout.splitlines())


# ---- protocol buffers ----

def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def number(field, n):
    return varint(field << 3) + varint(n)


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def otlp(services, sample=message(4, bytes([100]))):
    """A request with a profile of main > work for each (service, version, host); `sample`: the fields of its
    sample."""
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
        profile = b"".join([message(1, number(1, 6) + number(2, 7)), message(2, number(1, 1) + sample),
                            b"\x19" + (1700000000 * 10**9).to_bytes(8, "little")])
        parts.append(message(1, message(1, resource_) + message(2, message(2, profile))))
    return b"".join(parts) + message(2, dictionary)


def fizeau(folder, *arguments, status=0, env=None):
    done = subprocess.run([FIZEAU, *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder), **(env or {})})
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def kept_files(folder):
    return sorted(f for f in pathlib.Path(folder).iterdir() if re.fullmatch("[0-9a-f]{32}", f.name))


def kept(server, token=None, **query):
    """The recordings that a server stores completely."""
    status, content, _ = server.ask("GET", f"/api/recordings?{urllib.parse.urlencode(query)}", token=token)
    assert status == 200, content
    return json.loads(content)["recordings"]


def scratch():
    return find_interpreter("debian-3.11").scratch()


def pushed_until_killed(server, push, clients, after):
    """Results of push(n) by n; clients push until the server is killed, after a number of pushes."""
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
