#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fizeau agent with a real server and real services: two versions are distinguished and compared; nothing is lost
or sent twice while the server is away, dies or does not respond; dropped recordings are reported; any names work."""

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import socketserver
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import test_system
from fleetlib import Server
from livelib import FIZEAU, SANITIZED, Skip, Suite, find_interpreter, fizeau, free_port, wait_until

suite = Suite()

# Unchanged functions determine the scale: they cost more than those that change.
SERVICE = """\
def parse(n):
    return sum([i * i for i in range(n)])

def render(n):
    return "".join([str(i) for i in range(n)])

def order(n):
    return sorted([i * 7919 % n for i in range(n)])

def count(n):
    found = {{}}
    for i in range(n):
        found[i % 10] = found.get(i % 10, 0) + 1
    return found

while True:
    parse({size})
    render(3000)
    order(3000)
    count(3000)
"""
LAST = re.compile(r"agent: ([\d,]+) samples? in ([\d,]+) windows?, ([\d,]+) pushes; ([\d,]+) sent, "
                  r"([\d,]+) dropped, ([\d,]+) queued\n$")


class Agent:
    """An agent that runs until the block ends or it is stopped."""

    def __init__(self, folder, url, *options, spool="spool"):
        self.words = [FIZEAU, "agent", "--server", url, "--spool", pathlib.Path(folder, spool), *options]
        self.errors = pathlib.Path(folder, f"{spool}.err")

    def __enter__(self):
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(self.words, stderr=errors, cwd=self.errors.parent)
        wait_until(lambda: "sampling this machine" in self.said() or self.process.poll() is not None, "the agent")
        if self.process.poll() is not None:
            if any(words in self.said() for words in (*test_system.NEVER, "built without")):
                raise Skip(self.said().strip())
            raise AssertionError(self.said())
        return self

    def said(self):
        return self.errors.read_text(errors="replace")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        assert self.process.wait(100) == 0, self.said()
        last = LAST.search(self.said())
        assert last, self.said()
        names = "samples", "windows", "pushes", "sent", "dropped", "kept"
        return dict(zip(names, (int(n.replace(",", "")) for n in last.groups())))

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def running(*command, **options):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def stored(folder):
    """Number of pushes the server has, and of their samples."""
    with contextlib.closing(sqlite3.connect(pathlib.Path(folder, "fleet.db"))) as store:
        return (store.execute("SELECT count(*) FROM push").fetchone()[0],
                store.execute("SELECT coalesce(sum(samples), 0) FROM cell").fetchone()[0])


def services(folder):
    with contextlib.closing(sqlite3.connect(pathlib.Path(folder, "fleet.db"))) as store:
        return {tuple(row) for row in store.execute("SELECT service, version FROM series")}


def by_name(server, base, head):
    done = fizeau("diff", base, head, "--server", server.url, "--format", "json", "-o", "-")
    return {f["name"]: f for f in json.loads(done.stdout)["functions"]}


def checkout(folder, name, size):
    """A service in a separate checkout; its path and its commit."""
    top = pathlib.Path(folder, name)
    top.mkdir()
    (top / "shop.py").write_text(SERVICE.format(size=size))
    git = ["git", "-C", top, "-c", "user.name=n", "-c", "user.email=e@x"]
    subprocess.run([*git[:3], "init", "-q"], check=True)
    subprocess.run([*git, "add", "shop.py"], check=True)
    subprocess.run([*git, "commit", "-qm", name], check=True)
    done = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], check=True, capture_output=True, text=True)
    return top / "shop.py", done.stdout.strip()


@suite.test("two versions of a service are identified by their commits; the slower function is found")
def versions():
    python = find_interpreter("debian-3.11").command
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(folder))
        old, old_commit = checkout(folder, "old", 4000)
        new, new_commit = checkout(folder, "new", 7000)
        for path in (old, new):
            stack.enter_context(running(*python, path))
        # Hosts of which each has both, as far as the server knows.
        agents = [stack.enter_context(Agent(folder, server.url, "--every", "5s", "--rate", "99", "--host", f"h{i}",
                                            spool=f"spool{i}")) for i in range(6)]
        time.sleep(25)
        for agent in agents:
            agent.process.send_signal(signal.SIGTERM)
        figures = [agent.stop() for agent in agents]
        for got in figures:
            assert got["windows"] >= 2 and got["sent"] == got["pushes"] and not got["dropped"] + got["kept"], got
        assert {("shop.py", old_commit), ("shop.py", new_commit)} <= services(folder), services(folder)
        assert stored(folder) == (sum(got["pushes"] for got in figures), sum(got["samples"] for got in figures))
        found = by_name(server, f"shop.py@{old_commit}", f"shop.py@{new_commit}")
        # Its own cost, or that of the list in it, which is a function to this Python.
        planted = [f for name, f in found.items() if name.startswith("parse")]
        # Six agents with sanitizers have the machine to themselves, and the services what is left.
        assert planted and (SANITIZED or any(f["self_verdict"] == "changed" and f["pct_self"] > 20 for f in planted)), \
            planted


class Lossy(socketserver.ThreadingTCPServer):
    """A proxy between agent and server that loses the response to every second push."""

    allow_reuse_address, daemon_threads, asked, agents = True, True, 0, set()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            head = b""
            while b"\r\n\r\n" not in head:
                head += self.request.recv(65536)
            self.server.agents.add(re.search(rb"&agent=([0-9a-f]{16}) ", head)[1])
            length = int(re.search(rb"content-length: (\d+)", head, re.I)[1])
            missing = length - len(head.partition(b"\r\n\r\n")[2])
            with socket.create_connection(("127.0.0.1", self.server.port)) as there:
                there.sendall(head)
                while missing > 0:
                    piece = self.request.recv(65536)
                    there.sendall(piece)
                    missing -= len(piece)
                answer = b""
                while b"}\n" not in answer:
                    piece = there.recv(65536)
                    answer += piece
                    if not piece:
                        break
            self.server.asked += 1
            if self.server.asked % 2 == 0:
                self.request.sendall(answer)


@suite.test("lost answers: each push is stored once")
def lost_answers():
    with tempfile.TemporaryDirectory() as folder, Server(folder) as server, \
            Lossy(("127.0.0.1", 0), Lossy.Handler) as proxy:
        proxy.port = server.port
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        with Agent(folder, f"http://127.0.0.1:{proxy.server_address[1]}", "--every", "3s") as agent:
            time.sleep(9)
            agent.process.send_signal(signal.SIGTERM)
            agent.process.wait(100)
            first = LAST.search(agent.said())
        assert proxy.asked > stored(folder)[0] >= 1, (proxy.asked, stored(folder))
        assert len(proxy.agents) == 1, proxy.agents
        # At the end the server is tried once more; the next agent sends what is left.
        with Agent(folder, server.url, "--every", "3s") as again:
            wait_until(lambda: not list(pathlib.Path(folder, "spool").glob("*.push")), "the spool")
            second = again.stop()
        samples = int(first[1].replace(",", "")) + second["samples"]
        pushes = int(first[3].replace(",", "")) + second["pushes"]
        assert stored(folder) == (pushes, samples), (stored(folder), first.groups(), second, again.said())
        proxy.shutdown()


@suite.test("a server that is killed and restarted: nothing is lost or duplicated")
def killed_server():
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, Server(folder, "--listen", f"127.0.0.1:{port}") as server:
        with Agent(folder, server.url, "--every", "2s", "--rate", "99") as agent:
            wait_until(lambda: stored(folder)[0] > 0, "a push")
            server.stop(signal.SIGKILL)
            wait_until(lambda: "wait in the spool" in agent.said(), "what it says of that")
            time.sleep(4)
            assert list(pathlib.Path(folder, "spool").glob("*.push")), agent.said()
            server.start()
            wait_until(lambda: "accepts pushes again" in agent.said(), "the server's return")
            wait_until(lambda: not list(pathlib.Path(folder, "spool").glob("*.push")), "the spool")
            got = agent.stop(signal.SIGINT)
        assert got["sent"] == got["pushes"] and not got["dropped"] and got["windows"] >= 4, got
        assert stored(folder) == (got["pushes"], got["samples"]), (stored(folder), got)
        assert agent.said().count("wait in the spool") == 1, agent.said()


@suite.test("no server: the spool has a limit, drops are reported, and the next agent sends the rest")
def bounded_spool():
    port, limit = free_port(), 64 << 10
    with tempfile.TemporaryDirectory() as folder:
        spool = pathlib.Path(folder, "spool")
        with Agent(folder, f"http://127.0.0.1:{port}", "--every", "1s", "--rate", "199", "--spool-limit",
                   "64K") as agent:
            wait_until(lambda: "the spool is full" in agent.said(), "a full spool", 100)
            got = agent.stop()
        told = [int(n) for n in re.findall(r"dropped the oldest (\d+) push(?:es)?, recorded from 20\d\d-", agent.said())]
        assert told and sum(told) == got["dropped"], (told, got)
        kept = sorted(spool.glob("*.push"))
        assert len(kept) == got["kept"] == got["pushes"] - got["dropped"] and not got["sent"], got
        assert sum((path.stat().st_size + 4095) // 4096 * 4096 for path in kept) <= limit, kept
        assert not (spool / "unfinished").exists()
        assert oct(spool.stat().st_mode)[-3:] == "700" and oct(kept[0].stat().st_mode)[-3:] == "600"
        with Server(folder) as server, Agent(folder, server.url, "--every", "1m") as again:
            wait_until(lambda: not list(spool.glob("*.push")), "the spool")
            later = again.stop()
            assert later["sent"] == later["pushes"] + got["kept"], (later, got)
            assert stored(folder)[0] == later["sent"], (stored(folder), later)


@suite.test("a killed agent loses its current window; windows on disk are sent once")
def killed_agent():
    with tempfile.TemporaryDirectory() as folder:
        with Agent(folder, f"http://127.0.0.1:{free_port()}", "--every", "1s") as agent:
            wait_until(lambda: len(list(pathlib.Path(folder, "spool").glob("*.push"))) > 3, "some pushes")
            agent.process.kill()
        kept = len(list(pathlib.Path(folder, "spool").glob("*.push")))
        with Server(folder) as server, Agent(folder, server.url, "--every", "1m") as again:
            got = again.stop()
            assert got["sent"] == got["pushes"] + kept and stored(folder)[0] == got["sent"], (got, kept)


@contextlib.contextmanager
def control_group(name):
    """A new control group with a hostile name, in either hierarchy; None if none can be created."""
    for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd"):
        path = os.path.join(top, name)
        with contextlib.suppress(OSError):
            if not os.path.exists(os.path.join(top, "cgroup.procs")):
                continue
            os.mkdir(path)
            try:
                yield path
            finally:
                wait_until(lambda where=path: not pathlib.Path(where, "cgroup.procs").read_text().strip(), "its end")
                os.rmdir(path)
            return
    yield None


@suite.test("commands and control groups of any name: valid names are sent, nothing is refused")
def hostile_names():
    burn = "while True: sum(range(1000))"
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(folder))
        for name in ("a\n@b\x1b[31m", b"\xff\xfe/../", "x" * 3000, "-", "a&service=other&id=1", "é" * 100):
            stack.enter_context(running(name, "-c", burn, executable=sys.executable))
        group = stack.enter_context(control_group("x\n@y.service"))
        if group:
            inside = subprocess.Popen([sys.executable, "-c", burn])
            stack.callback(inside.wait)
            stack.callback(inside.kill)
            pathlib.Path(group, "cgroup.procs").write_text(str(inside.pid))
        with Agent(folder, server.url, "--every", "4s", "--rate", "199") as agent:
            time.sleep(9)
            got = agent.stop()
        assert got["sent"] == got["pushes"] and "refused" not in agent.said(), agent.said()
        assert stored(folder) == (got["pushes"], got["samples"])
        names = {service for service, _ in services(folder)}
        assert {"a\\n_b\\x1b[31m", "x" * 128, "-", "a&service=other&id=1", "é" * 64} <= names, names
        assert not group or "x\\n" in names, (group, names)


@suite.test("missing permission is one line with the remedy; other errors are found before the start")
def refused():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        spool = pathlib.Path(folder, "spool")
        spool.mkdir(mode=0o700)
        words = ["agent", "--server", "http://127.0.0.1:1", "--spool", spool]
        if os.geteuid() == 0:
            os.chown(spool, 65534, 65534)
            done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", FIZEAU, *words],
                                  capture_output=True, text=True, timeout=60, cwd=folder)
            if "built without" in done.stderr:
                raise Skip(done.stderr)
            # (A folder that only root may enter has the program in some set-ups.)
            if done.returncode != 127 and "setpriv" not in done.stderr:
                assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
                assert "root, or CAP_BPF and CAP_PERFMON" in done.stderr or \
                    any(why in done.stderr for why in test_system.NEVER), done.stderr
        os.chown(spool, os.geteuid(), os.getegid())
        pathlib.Path(folder, "fizeau.ini").write_text("[service x]\ncomand = y\n")
        for more, why in ((["--rate", "9999"], "1,000 samples"), (["--every", "10d"], "from 1s to 1h"),
                          (["--spool-limit", "12"], "use a size of at least 64K"), (["--service-by", "x"], "(expected ini"),
                          (["--label", "x"], "KEY=VALUE"), (["--server", "ftp://x"], "invalid URL"),
                          (["x"], "takes no arguments"), ([], "did you mean 'command'")):
            done = subprocess.run([FIZEAU, *words, *more], capture_output=True, text=True, timeout=60, cwd=folder)
            assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1, (more, done.stderr)


if __name__ == "__main__":
    sys.exit(suite.main())
