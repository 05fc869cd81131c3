#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""fizeau mcp: the protocol by a strict client of our own, what a client may do and may not, calls
that are cancelled or take too long, and answers about real recordings."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from livelib import FIZEAU, Suite, fizeau, wait_until
from watching import LASTING

suite = Suite()

APP = """
import sys
def helper(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
def work(n):
    return [helper(400) for _ in range(n)]
work(int(sys.argv[1]))
"""
# Its lines are where they were.
SAMPLED = APP + LASTING + "last(40, lambda: work(90))\n"
SLOWER = "total += i * i", "total += sum([i * i, 0, 0])"
NEW = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": NEW, "io.modelcontextprotocol/clientCapabilities": {}}
BYTES_A_TOKEN = 2


def environment(folder):
    """Cached comparisons are deleted after the test."""
    return dict(os.environ, XDG_CACHE_HOME=str(pathlib.Path(folder).parent / "cache"))


class Client:
    """Every line is checked: one JSON value, the answer to a request, or progress."""

    def __init__(self, folder, *options, version="2025-11-25"):
        self.process = subprocess.Popen([FIZEAU, "mcp", "--root", str(folder), *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment(folder))
        self.next, self.open, self.progress = 0, set(), []
        if version:
            self.hello = self.ask("initialize", protocolVersion=version, capabilities={},
                                  clientInfo={"name": "test", "version": "1"})["result"]
            self.tell("notifications/initialized")

    def write(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def tell(self, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def send(self, method, **params):
        self.next += 1
        self.open.add(self.next)
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}))
        return self.next

    def read(self):
        line = self.process.stdout.readline()
        assert line.endswith("\n"), f"the server is gone: {line!r}"
        return json.loads(line)

    def answer(self, wanted):
        while True:
            message = self.read()
            assert message["jsonrpc"] == "2.0", message
            if message.get("method") == "notifications/progress":
                self.progress.append(message["params"])
                continue
            assert message["id"] in self.open and ("result" in message) != ("error" in message), message
            self.open.remove(message["id"])
            if message["id"] == wanted:
                return message

    def ask(self, method, **params):
        return self.answer(self.send(method, **params))

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)["result"]

    def text(self, name, **arguments):
        result = self.call(name, **arguments)
        assert not result.get("isError"), result
        return result["content"][0]["text"]

    def refused(self, name, **arguments):
        result = self.call(name, **arguments)
        assert result["isError"] is True, result
        return result["content"][0]["text"]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(60)


@contextlib.contextmanager
def project(app=APP):
    """A checkout with a program, and folded stacks of two runs."""
    with tempfile.TemporaryDirectory(prefix="fz-mcp-") as name:
        folder = pathlib.Path(name, "project")
        folder.mkdir()
        (folder / "app.py").write_text(app)
        (folder / "sleep.py").write_text("import time\nprint('out', flush=True)\ntime.sleep(100)\n")
        (folder / "base.folded").write_text("main;work;parse 500\nmain;work 300\n")
        (folder / "head.folded").write_text("main;work;parse 900\nmain;work 310\n")
        pathlib.Path(name, "secret.folded").write_text("main;secret 1\n")
        git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "one"], check=True)
        yield folder


SIDES = {"base": "base.folded", "head": "head.folded"}


@suite.test("versions are negotiated, and each era has its own methods and results")
def check_versions():
    with project() as folder:
        for asked, given in [("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"),
                             ("2025-11-25", "2025-11-25"), (NEW, "2025-11-25"), ("1999-01-01", "2025-11-25")]:
            client = Client(folder, version=asked)
            assert client.hello["protocolVersion"] == given, (asked, client.hello)
            structured = client.call("changes", structured=True, **SIDES)
            assert ("structuredContent" in structured) == (given >= "2025-06-18"), structured
            assert "resultType" not in structured and client.ask("ping")["result"] == {}
            assert client.ask("server/discover")["error"]["code"] == -32601
            assert client.close() == 0
        client = Client(folder, version=None)
        assert client.ask("tools/list")["error"]["code"] == -32600
        found = client.ask("server/discover", _meta=META)["result"]
        assert NEW in found["supportedVersions"] and found["resultType"] == "complete", found
        listed = client.ask("tools/list", _meta=META)["result"]
        assert listed["ttlMs"] > 0 and listed["cacheScope"] and listed["tools"][0]["name"] == "changes", listed
        wrong = client.ask("tools/list", _meta={**META, "io.modelcontextprotocol/protocolVersion": "1999-01-01"})
        assert wrong["error"]["code"] == -32022 and NEW in wrong["error"]["data"]["supported"], wrong
        assert client.ask("ping", _meta=META)["error"]["code"] == -32601
        assert client.ask("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": NEW})["error"]["code"] == -32602
        client.close()


@suite.test("a batch is answered by one array, when its last call ends")
def check_batch():
    with project() as folder:
        client = Client(folder, version="2025-03-26")
        client.write(json.dumps([
            {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "verify", "arguments": SIDES}},
            {"jsonrpc": "2.0", "method": "notifications/nothing"},
            {"jsonrpc": "2.0", "id": "b", "method": "ping"}, 7]))
        answers = client.read()
        assert sorted(str(answer["id"]) for answer in answers) == ["None", "a", "b"], answers
        client.close()


def rss(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


@suite.test("torn, huge and senseless input is one error each, and takes no memory")
def check_input():
    with project() as folder:
        client = Client(folder)
        for text, code in [("{", -32700), ("\x00\xff", -32700), ("[]", -32600), ("7", -32600), ('"x"', -32600),
                           ("[" * 100000, -32700), ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
                           ('{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}', -32700)]:
            client.write(text)
            message = client.read()
            assert message["error"]["code"] == code and message["id"] is None, (text[:40], message)
        # A request with invalid text gets an answer, too.
        client.write('{"jsonrpc": "2.0", "id": 7, "method": "ping\\u0000"}')
        message = client.read()
        assert message["error"]["code"] == -32600 and message["id"] == 7, message
        client.write("")
        client.write('{"jsonrpc": "2.0", "id": 5, "result": {}}')
        before = rss(client.process.pid)
        for _ in range(64):
            client.process.stdin.write("x" * (1 << 20))
        client.write("")
        message = client.read()
        assert "longer than" in message["error"]["message"] and message["id"] is None, message
        client.write('{"method": "ping", "params": {"x": "' + "x" * (3 << 20) + '"}, "jsonrpc": "2.0", "id": 8}')
        message = client.read()
        assert "longer than" in message["error"]["message"] and message["id"] == 8, message
        assert rss(client.process.pid) - before < 16 << 10, (before, rss(client.process.pid))
        assert client.ask("ping")["result"] == {}
        client.process.stdin.write('{"jsonrpc": "2.0", "id": 9, "method": "pi')
        assert client.close() == 0


@suite.test("wrong arguments are explained to the model")
def check_arguments():
    with project() as folder:
        client = Client(folder)
        assert "must be a string" in client.refused("changes", base=3)
        assert "bases: unknown argument of changes" in client.refused("changes", bases="x")
        assert "from 100 to 20000" in client.refused("changes", budget_tokens=5)
        assert "is missing" in client.refused("where", of="d1")
        assert "unknown or expired handle" in client.refused("verify", of="d77")
        assert "choices" in client.refused("calls", function="f0", direction="up", **SIDES)
        assert "no such function" in client.refused("where", function="nothing", **SIDES)
        assert "base and head" in client.refused("changes", base="base.folded")
        for method, params in [("tools/call", {"name": "nothing"}), ("tools/call", {}), ("tools/list", {"cursor": "2"})]:
            assert client.ask(method, **params)["error"]["code"] == -32602, method
        (folder / "broken.fz").write_bytes(b"FZ" * 50)
        assert "broken.fz" in client.refused("summary", of="broken.fz")
        client.close()


@suite.test("only files below the root are read, wherever links lead")
def check_root():
    with project() as folder:
        (folder / "link.folded").symlink_to(folder.parent / "secret.folded")
        (folder / "out").symlink_to(folder.parent)
        (folder / "inner").symlink_to(folder / "base.folded")
        client = Client(folder)
        for name in ["../secret.folded", str(folder.parent / "secret.folded"), "link.folded", "out/secret.folded",
                     "/etc/passwd", "/nothing/there", "-", "", "/dev/stdin", "."]:
            text = client.refused("summary", of=name)
            assert "below the server" in text or "not a recording" in text or "regular file" in text, (name, text)
            assert "secret;" not in text and "root:" not in text
        assert "800 samples" in client.text("summary", of=str(folder / "base.folded"))
        assert "800 samples" in client.text("summary", of="inner")
        client.close()


@suite.test("a store that is a link gives no access outside the root")
def check_linked_store():
    with project() as folder:
        elsewhere = folder.parent / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "private.folded").write_text("secret;f 800\n")
        subprocess.run([FIZEAU, "replay", "private.folded", "-o", "private.fz"], cwd=elsewhere, check=True, timeout=60)
        (folder / ".fizeau").symlink_to(elsewhere)
        client = Client(folder)
        for name in (str(folder / ".fizeau/private.folded"), str(elsewhere / "private.folded")):
            text = client.refused("summary", of=name)
            assert "not a file below the server" in text, text
        assert client.text("list_recordings").startswith("0 recordings"), client.text("list_recordings")
        client.close()


@suite.test("no answer exceeds its budget, and shortened ones keep the most important part")
def check_budgets():
    with project() as folder:
        stacks = "".join(f"main;work;f{i} {100 + i}\n" for i in range(300))
        (folder / "base.folded").write_text(stacks)
        (folder / "head.folded").write_text(stacks.replace("f7 107", "f7 5107"))
        client = Client(folder)
        calls = [("changes", SIDES), ("verify", SIDES), ("summary", {"of": "base.folded"}), ("list_recordings", {}),
                 ("calls", {"function": "work", "direction": "callees", **SIDES}), ("where", {"function": "f7", **SIDES}),
                 ("where", {"function": "x" * 5000, **SIDES})]
        for name, arguments in calls:
            for budget in [100, 150, 400, 2000]:
                for structured in [False, True]:
                    result = client.call(name, budget_tokens=budget, structured=structured, **arguments)
                    told = result["content"][0]["text"] + json.dumps(result.get("structuredContent", ""),
                                                                     separators=(",", ":"), ensure_ascii=False)
                    assert len(told.encode()) - 2 <= budget * BYTES_A_TOKEN, (name, budget, len(told))
        small = client.text("calls", function="work", direction="callees", budget_tokens=200, **SIDES)
        assert "f7" in small and "left_out: (raise budget_tokens) " in small, small
        more = client.text("calls", function="work", direction="callees", budget_tokens=2000, **SIDES)
        assert more.count("\n") > 3 * small.count("\n"), more
        client.close()


@suite.test("a handle refers to files as they were")
def check_handles():
    with project() as folder:
        client = Client(folder)
        handle = client.call("changes", structured=True, **SIDES)["structuredContent"]["of"]
        assert client.call("verify", structured=True, **SIDES)["structuredContent"]["of"] == handle
        assert "parse" in client.text("where", of=handle, function="parse")
        assert "a comparison" in client.refused("summary", of=handle)
        (folder / "head.folded").write_text("main;other 3\n")
        assert "the file has changed" in client.refused("where", of=handle, function="parse")
        assert client.call("changes", structured=True, **SIDES)["structuredContent"]["of"] != handle
        for i in range(70):
            (folder / "head.folded").write_text(f"main;other {i + 1}\n")
            client.call("summary", of="head.folded")
        assert "unknown or expired handle" in client.refused("verify", of=handle)
        client.close()


def record(folder, out, rounds, runs=1):
    done = fizeau("run", "--clock", "cpu", "--runs", runs, "-o", out, "app.py", rounds, cwd=folder)
    assert done.returncode == 0, done.stderr


@suite.test("the edited line is shown with its costs; verify claims nothing unproven")
def check_real():
    with project() as folder:
        (folder / "app.py").write_text(SAMPLED)
        record(folder, "a.fz", 1)
        record(folder, "same.fz", 1)
        (folder / "app.py").write_text(SAMPLED.replace(*SLOWER))
        record(folder, "b.fz", 1)
        client = Client(folder)
        text = client.text("changes", base="a.fz", head="b.fz")
        assert "\nwhere(of=d1, function=f" in text and "| edited | helper | app.py:" in text, text
        handle = text.split("of: ")[1].split("\n")[0]
        lines = client.text("where", of=handle, function="helper").splitlines()
        assert any(line.startswith("+ | 6 | 0 s | ") and "sum([i * i" in line for line in lines), lines
        assert any(line.startswith("- | 6 | ") and line.endswith("        total += i * i") for line in lines), lines
        assert " | work" in client.text("calls", of=handle, function="helper")
        same = client.call("verify", base="a.fz", head="same.fz", structured=True)["structuredContent"]
        diff = json.loads(fizeau("diff", "a.fz", "same.fz", "--format", "json", cwd=folder).stdout)["verdict"]
        words = {"unknown": "cannot tell", "same": "same", "slower": "slower", "faster": "faster"}
        assert same["word"] == diff["word"] and same["claim"] == words[diff["word"]], (same, diff)
        assert diff["word"] != "unknown" or same["power"] == diff["power"], (same, diff)
        assert "hot_lines:" in client.text("summary", of="b.fz")
        client.close()


@suite.test("verify reports an edited function as slower")
def check_slower():
    with project() as folder:
        record(folder, "a.fz", 4000)
        (folder / "app.py").write_text(APP.replace(*SLOWER))
        record(folder, "b.fz", 4000)
        client = Client(folder)
        slow = client.call("verify", base="a.fz", head="b.fz", function="helper", structured=True)["structuredContent"]
        assert slow["claim"] == "slower for helper, calls included", slow
        client.close()


def worktrees(folder):
    return subprocess.run(["git", "-C", str(folder), "worktree", "list"], capture_output=True, text=True,
                          check=True).stdout.count("\n")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()


@suite.test("nothing runs that the user did not allow")
def check_permission():
    with project() as folder:
        tried = {"command": ["python3", "app.py", "5"], "runs": 1}
        client = Client(folder)
        assert "allowed: none" in client.refused("compare", **tried)
        client.close()
        client = Client(folder, "--allow", "python3  app.py 50", "--allow", "true *")
        for command in [["python3", "app.py", "5"], ["python3", "app.py"], ["python3", "app.py", "50", "6"], ["*"],
                        ["truer"], ["python3 app.py 50"]]:
            assert "does not allow this command" in client.refused("compare", command=command), command
        assert "does not allow this command" not in client.refused("compare", command=["true", "--any"], revision="nothing")
        client.close()
        assert fizeau("mcp", "--allow", "* x").returncode == 2 and fizeau("mcp", "--setup", "x").returncode == 2
        assert fizeau("mcp", "--root", "/nothing/there", input="").returncode == 2


@suite.test("compare measures a revision and the working tree, and stores both")
def check_compare():
    with project(SAMPLED) as folder:
        (folder / "app.py").write_text(SAMPLED.replace(*SLOWER))
        client = Client(folder, "--allow", "python3 app.py *")
        answer = client.ask("tools/call", name="compare", _meta={"progressToken": "p"},
                            arguments={"command": ["python3", "app.py", "1"], "runs": 2})["result"]
        text = answer["content"][0]["text"]
        assert "base HEAD (" in text and "2 runs; head working tree, not committed" in text, text
        assert "| edited | helper |" in text, text
        steps = [step["progress"] for step in client.progress]
        assert steps == sorted(set(steps)) and client.progress[0]["progressToken"] == "p", client.progress
        handle = text.split("of: ")[1].split("\n")[0]
        assert "+ | 6 | " in client.text("where", of=handle, function="helper")
        assert client.close() == 0 and worktrees(folder) == 1


@suite.test("a cancelled, late or abandoned call ends, with all it started")
def check_ends():
    sleep = {"name": "compare", "arguments": {"command": ["python3", "sleep.py"], "revision": "HEAD"},
             "_meta": {"progressToken": 1}}
    with project() as folder:
        client = Client(folder, "--allow", "python3 sleep.py")

        def started():
            number = client.send("tools/call", **sleep)
            assert client.read()["method"] == "notifications/progress"
            return number
        number = started()
        assert client.ask("ping")["result"] == {} and "800 samples" in client.text("summary", of="base.folded")
        assert "a measurement is running" in client.refused("compare", command=["python3", "sleep.py"])
        client.tell("notifications/cancelled", requestId=number, reason="enough")
        wait_until(lambda: not children(client.process.pid) and worktrees(folder) == 1, "the end of what was cancelled")
        assert client.ask("ping")["result"] == {}
        started()
        assert client.close() == 0
        wait_until(lambda: worktrees(folder) == 1, "the end of the worktree")
        late = Client(folder, "--allow", "python3 sleep.py", "--timeout", "1")
        assert "timed out" in late.refused("compare", command=["python3", "sleep.py"], revision="HEAD")
        wait_until(lambda: worktrees(folder) == 1, "the end of the worktree")
        late.process.send_signal(signal.SIGTERM)
        assert late.process.wait(60) == 128 + signal.SIGTERM


@suite.test("the recordings of the store, and the last two of a program")
def check_store():
    with project(SAMPLED) as folder:
        client = Client(folder)
        assert client.text("list_recordings").startswith("0 recordings\nnext:")
        for _ in range(2):
            done = fizeau("run", "app.py", 1, cwd=folder)
            assert done.returncode == 0, done.stderr
        listed = client.call("list_recordings", structured=True)["structuredContent"]["recordings"]
        assert [row["name"] for row in listed] == ["@1", "@2"] and listed[0]["command"] == "app.py 1", listed
        assert client.text("changes").split(":")[0] and "samples" in client.text("summary")
        (folder / "sub").mkdir()
        below = Client(folder / "sub")
        assert "@2" in below.text("list_recordings") and "samples" in below.text("summary", of="@2")
        assert "below the server" in below.refused("summary", of="../base.folded")
        below.close()
        client.close()


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    sys.exit(suite.main())
