#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""%%fizeau in IPython, and ?fizeau=1 of WSGI and ASGI applications: the page shows only the cell or
the request, and only if allowed."""

import os
import pathlib
import re
import subprocess
import tempfile

from livelib import FIZEAU, SOURCE, Skip, Suite
from watching import UNTIL_RECORDED

suite = Suite()
PYTHON = "/usr/bin/python3"

WORK = UNTIL_RECORDED + """\
import sys, time
def parse(seconds):
    end = time.process_time() + seconds
    def a_while():
        while True:
            sum(range(500))
            if time.process_time() > end:
                break
    until_recorded(a_while)
"""


def run(code, **env):
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        temporary = pathlib.Path(folder, "tmp")
        temporary.mkdir()
        script = pathlib.Path(folder, "p.py")
        script.write_text(WORK + code)
        done = subprocess.run([PYTHON, script], cwd=folder, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PYTHONPATH": str(SOURCE / "bindings/python"), "FIZEAU": FIZEAU,
                                   "TMPDIR": str(temporary), "IPYTHONDIR": folder, **env})
        assert done.returncode == 0, done
        assert not list(temporary.glob("fizeau-*")), list(temporary.iterdir())
        return done


NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
from IPython.core import displaypub
shell = InteractiveShell.instance()
shown = []
shell.display_pub.publish = lambda data, *args, **kwargs: shown.append(data)
shell.push({"parse": parse})
def cell(text):
    shell.run_cell(text, store_history=True)
cell("%load_ext fizeau")
cell("%fizeau_diff")
"""


def need_ipython():
    if subprocess.run([PYTHON, "-c", "import IPython"], capture_output=True).returncode:
        raise Skip("python3-ipython is not installed")


@suite.test("IPython: a cell's table and page begin at the cell")
def cell():
    need_ipython()
    out = run(NOTEBOOK + """
cell("%%fizeau\\ndef work(x):\\n    parse(x)\\nwork(0.02)\\nprint('mine')\\n6 * 7")
for data in shown:
    print(data["text/plain"])
    print(len(data["text/html"]), data["text/html"][:16])
cell("%%fizeau --nonsense\\n1")
cell("%%fizeau\\n1 / 0")
""").stdout
    assert out.startswith("fizeau_diff compares two cells") and "\nmine\n" in out, out
    assert out.count("<iframe srcdoc=") == 1 and re.search(r"work \(.*\)", out), out
    assert "InteractiveShell" not in out.partition("--nonsense")[0] and "notebook.py" not in out, out
    assert "Out[3]: 42" in out and "unknown option '--nonsense'" in out and "ZeroDivisionError" in out, out


@suite.test("IPython, WSGI: a cell or request without a sample is reported as such")
def no_sample():
    need_ipython()
    out = run(NOTEBOOK + """
import shutil
import fizeau.notebook, fizeau.web
other = sys.argv[0].replace("p.py", "other.folded")
with open(other, "w") as file:
    file.write("main;work 10\\n")
print(fizeau.notebook.show("replay", other), len(shown))
class Stopped:
    def __init__(self, path, **options):
        shutil.copy(other, path)
    def stop(self):
        return other
fizeau.record = Stopped
print(fizeau.web.Request("GET", "/", {}).page())
""").stdout
    assert "False 0\n" in out and "b'<p>the request took less than a sample'" in out, out


@suite.test("IPython: two cells are compared")
def cells():
    need_ipython()
    done = run(NOTEBOOK + """
cell("%%fizeau\\ndef work(x):\\n    parse(x)\\nwork(0.2)\\nprint('mine')\\n6 * 7")
cell("%%fizeau --mode cpu\\ndef work(x):\\n    parse(x)\\nwork(0.6)")
cell("y = 1")
cell("%%fizeau --mode cpu\\ndef work(x):\\n    parse(x)\\nwork(0.2)")
cell("%fizeau_diff")
for data in shown:
    print(data["text/plain"])
    print(len(data["text/html"]), data["text/html"][:16])
cell("%%fizeau --nonsense\\n1")
cell("%%fizeau\\n1 / 0")
""")
    out = done.stdout
    assert out.startswith("fizeau_diff compares two cells") and "\nmine\n" in out, out
    assert out.count("<iframe srcdoc=") == 4, out
    assert re.search(r"work \(.*\)", out) and "InteractiveShell" not in out.partition("--nonsense")[0], out
    # A cell that is run again is the same code, and it is a whole, not a part of a run.
    assert re.search(r"\d ms -> \d+ ms of CPU time", out) and "Renamed or moved" not in out, out
    assert "complete run" not in re.sub(r"\s+", " ", out), out
    assert "Out[3]: 42" in out, out
    assert "unknown option '--nonsense'" in out and "ZeroDivisionError" in out, out
    assert "notebook.py" not in out, out


WSGI = """
import json, threading, urllib.request, wsgiref.simple_server
import fizeau.web
class Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *args): pass
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    parse(0.1)
    yield b"hello"
    if "fail" in environ["PATH_INFO"]: raise KeyError("mine")
def elsewhere():
    while True: time.sleep(0.001)
threading.Thread(target=elsewhere, name="other", daemon=True).start()
guarded = fizeau.web.wsgi(app, allow=lambda environ: environ["HTTP_X_KEY"] == "secret",
                          options=["--no-source"])
server = wsgiref.simple_server.make_server("127.0.0.1", 0, guarded, handler_class=Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
def get(path, key="secret"):
    request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}{path}", headers={"X-Key": key})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Content-Type"], error.read().decode()
"""


@suite.test("WSGI: ?fizeau=1 is answered with the page of the request, if allow permits")
def wsgi():
    done = run(WSGI + """
print(get("/a?fizeau=1", key="other"), get("/a"), get("/a?fizeau=0&x=1"))
status, kind, page = get("/a/b+c?x=2&fizeau=1")
print(status, kind, "fizeau-page" in page, "elsewhere" in page)
import os
os.environ["FIZEAU"] = "/nowhere/fizeau"
print(get("/a?fizeau=1"))
""")
    lines = done.stdout.splitlines()
    assert lines[0] == " ".join(["(200, 'text/plain', 'hello')"] * 3), done
    assert lines[1] == "200 text/html; charset=utf-8 True False", done
    assert lines[2].startswith("(503, 'text/plain; charset=utf-8', \"fizeau: /nowhere/fizeau cannot be"), done


@suite.test("WSGI and ASGI: allow is required; an application's exception is its own")
def guarded():
    done = run(WSGI + """
for middleware in (fizeau.web.wsgi, fizeau.web.asgi):
    try:
        middleware(app)
    except TypeError as error:
        print("allow" in str(error))
try:
    guarded({"QUERY_STRING": "fizeau=1", "REQUEST_METHOD": "GET", "PATH_INFO": "/fail", "HTTP_X_KEY": "secret"}, None)
except KeyError as error:
    print(error)
""")
    assert done.stdout == "True\nTrue\n'mine'\n", done


@suite.test("ASGI: the same, next to other requests in the loop")
def asgi():
    done = run("""
import asyncio
import fizeau.web
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    for _ in range(5):
        parse(0.03)
        await asyncio.sleep(0.001)
    await send({"type": "http.response.start", "status": 201, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})
async def ask(application, query, kind="http"):
    said = []
    async def send(message): said.append(message)
    await application({"type": kind, "method": "GET", "path": "/x", "query_string": query, "ok": True}, None, send)
    return said
async def neighbour():
    while True:
        parse(0.002)
        await asyncio.sleep(0)
async def main():
    application = fizeau.web.asgi(app, allow=lambda scope: scope["ok"])
    other = asyncio.create_task(neighbour())
    print([m.get("status", m.get("body")) for m in await ask(application, b"x=1")], await ask(application, b"", "lifespan"))
    start, body = await ask(application, b"fizeau=1")
    print(start["status"], dict(start["headers"])[b"content-type"], b"fizeau-page" in body["body"])
    refusing = fizeau.web.asgi(app, allow=lambda scope: False)
    print([m.get("status", m.get("body")) for m in await ask(refusing, b"fizeau=1")])
    other.cancel()
asyncio.run(main())
""")
    assert done.stdout.splitlines() == ["[201, b'hello'] []", "200 b'text/html; charset=utf-8' True",
                                        "[201, b'hello']"], done


suite.main()
