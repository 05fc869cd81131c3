#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every shell line of the documents runs, in order, in a project like its reader's, or has a reason in NOT_HERE.

    document --> code, in order --> session: a line runs as it is written, except for names to fill in (PID, a
                                    server's address) and shorter times; a program of the reader is written to its file

A session is a document or one of its sections. Lines are those of blocks of code, found by their first word, one of
PROGRAMS; in the documents of IN_TEXT also the commands in the text. A line that no session runs must match a row of
NOT_HERE, and every row must match a line."""

import contextlib
import dataclasses
import fnmatch
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import textwrap

from livelib import FIZEAU, SOURCE, TASKS, Skip, Suite, Target, fetched_package, find_interpreter, free_port
from test_examples import BENCHMARKS, RECORDINGS, SCRIPT, TESTS, git
from test_system import NEVER

suite = Suite()
DOCUMENTS = {path.relative_to(SOURCE).as_posix(): path for path in
             [*sorted(SOURCE.glob("*.md")), *sorted(SOURCE.glob("docs/*.md")), *sorted(SOURCE.glob("bindings/**/README.md"))]}
PROGRAMS = ("fizeau", "make", "git", "python3", "pip", "pytest", "npm", "npx", "node", "cargo", "go", "apt", "tar", "code",
            "podman", "docker", "curl", "echo", "export", "meson", "ninja", "cc", "$EDITOR", ".", "eval")
IN_TEXT = ("docs/tour.md", "docs/recipes.md")
FOLDERS = ("tools/", "tests/", "bench/", "examples/", "env/", "old/", "new/", "bindings/")

# document: pattern of lines: why no session runs them.
NOT_HERE = [
    ("README.md", "*", "live test_readme"),
    ("CONTRIBUTING.md", "*", "for who changes Fizeau: the lanes themselves, and live test_demo"),
    ("docs/recipes.md", "fizeau compare --setup *", "needs a package to install: live test_compare: --setup runs in each tree"),
    ("docs/recipes.md", "fizeau mark *", "needs a recorder that runs meanwhile: live test_examples"),
    ("docs/recipes.md", "fizeau diff rec.fz *", "minutes of a recording: live test_ranges"),
    ("docs/packages.md", "code *", "the desktop program is not on npm; live test_vscode installs the package"),
    ("docs/packages.md", "podman *", "needs podman, and a registry of images"),
    ("docs/packages.md", "*", "live test_packages"),
    ("docs/control.md", "*", "needs netcat; live test_control sends the same lines"),
    ("docs/server.md", "fizeau agent *", "runs until it is stopped: live test_agent, test_examples"),
    ("docs/server.md", "fizeau diff api@2h..1h *", "needs pushes of an hour ago: live test_fleet"),
    ("docs/server.md", "export AWS_*", "needs a bucket: live test_bucket"),
    ("docs/server.md", "fizeau serve *--bucket *", "needs a bucket: live test_bucket"),
    ("docs/server.md", "fizeau serve *http://ch1*", "needs ClickHouse on two hosts: live test_fleet_clickhouse"),
    ("docs/server.md", "fizeau serve *--alarm-run *", "needs mail and a hook: live test_alarms"),
    ("docs/server.md", "curl *", "needs a token: live test_fleet"),
    ("docs/ci.md", "fizeau serve *", "names to fill in: live test_ci_server"),
    ("docs/ci.md", "FIZEAU_TOKEN=*", "needs a server with tokens: live test_ci_server"),
    ("docs/ci.md", "fizeau history --save https:*", "needs a server with tokens: live test_ci_server"),
    ("docs/ci.md", "fizeau ci --server *", "needs a server with results: live test_ci_server"),
    ("docs/ci.md", "fizeau ci accept *", "needs a server with results: live test_ci_server"),
    ("docs/ci.md", "fizeau ci merge *", "needs reports of jobs: live test_ci_merge"),
    ("docs/system.md", "fizeau replay --process docker-*", "needs a container"),
]


# ---- lines ----

@dataclasses.dataclass(frozen=True)
class Code:
    """A block of code of a document, below the last heading before it."""
    section: str
    language: str
    text: str

    def shell_lines(self):
        if self.language not in ("", "sh"):
            return []
        lines = (line.strip().removeprefix("$ ") for line in self.text.replace("\\\n", "").split("\n"))
        return [line for line in lines if is_shell(line)]


def is_shell(line):
    words = [word for word in line.split(" ") if not re.match(r"[A-Z_]+=", word) and word != "sudo"]
    known = words[0] in PROGRAMS or words[0].startswith(FOLDERS) or re.fullmatch(r"python3\.\d+", words[0])
    return bool(known) and words[1:2] != [""]  # in columns: output


def in_text(section, prose):
    """Commands between backticks, with arguments: a name alone is spoken of, not shown."""
    spans = (" ".join(span.split()) for span in re.findall(r"`(fizeau [^`]+)`", "\n".join(prose)))
    return [Code(section, "sh", span + "\n") for span in spans if span.count(" ") > 1]


def code_of(document):
    """All code of a document, in order: fenced, or indented by four; and in the text."""
    section, fence, block, prose, ret = "", None, [], [], []
    for line in [*DOCUMENTS[document].read_text().split("\n"), ""]:
        mark = re.match(r" *```(\w*)", line)
        if (fence is not None and not mark) or (fence is None and not mark and line.startswith("    ")):
            block.append(line)
            continue
        if fence is None and not mark and line and not block and document in IN_TEXT:
            prose.append(line)
        else:
            ret += in_text(section, prose)
            prose = []
        if block:
            ret.append(Code(section, fence or "", textwrap.dedent("\n".join(block)) + "\n"))
        block, fence = [], mark[1] if mark and fence is None else None
        if line.startswith("#"):
            section = line.lstrip("# ")
    return ret


def reason(document, line):
    """Why that line is not run here, or None."""
    return next((row for row in NOT_HERE if row[0] == document and fnmatch.fnmatchcase(line, row[1])), None)


# ---- a reader's project ----

TARGET = """\
def leaf():
    return sum(i * i for i in range(2000))
print("up", flush=True)
while True:
    leaf()
"""
GROWING = """\
import time
print("up", flush=True)
kept = []
while True:
    kept.append(bytearray(100_000))
    time.sleep(0.01)
"""
PYTEST = f"""#!/bin/sh
PYTHONPATH="{SOURCE}/bindings/python:$PYTHONPATH" exec /usr/bin/python3 -m pytest -p fizeau.pytest_plugin "$@"
"""
SHOP = """\
import time
def test_checkout():
    end = time.process_time() + 0.3
    while time.process_time() < end:
        sum(range(5000))
"""


class Project:
    """A checkout of two commits, with recordings in its store and in files, and values for the placeholders."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "project"
        programs = pathlib.Path(folder) / "bin"
        for place in (programs, self.folder / "tests/bench"):
            place.mkdir(parents=True)
        (programs / "fizeau").symlink_to(pathlib.Path(FIZEAU).resolve())
        (programs / "pytest").write_text(PYTEST)
        (programs / "pytest").chmod(0o755)
        self.env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "BROWSER": "echo opened",
                    "FIZEAU": FIZEAU}
        self.replaced, self.stack = {}, contextlib.ExitStack()
        for name, text in {"app.py": SCRIPT, "bench.py": SCRIPT, "tests/bench/test_parse.py": TESTS,
                           "tests/test_shop.py": SHOP, "benchmarks": BENCHMARKS, "Makefile": "all:\n",
                           ".gitignore": "*\n"}.items():
            self.write(name, text)
        (self.folder / "benchmarks").chmod(0o755)
        git(self.folder, "init", "-q", "-b", "main", ".")
        self.commit()
        self.commit()

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def commit(self, *files):
        git(self.folder, "add", "-f", *(files or ["."]))
        git(self.folder, "commit", "-q", "--allow-empty", "-m", "a commit")

    def record(self, *names):
        for name in names:
            self.run(f"fizeau run -o {name} app.py")

    def target(self, text=TARGET):
        """A process, for PID."""
        target = self.stack.enter_context(Target(find_interpreter("debian-3.11"), text, name="app.py"))
        self.replaced[r"\bPID\b"] = str(target.pid)

    def start(self, line, **options):
        """A program that runs until the session ends."""
        process = subprocess.Popen(["bash", "-c", f"exec {line}"], cwd=self.folder, env=self.env, stdout=subprocess.PIPE,
                                   text=True, **options)

        def end():
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
        self.stack.callback(end)
        return process

    def serve(self, line):
        server = self.start(f"{line} --listen 127.0.0.1:0", stderr=open(self.folder / "serve.err", "w", encoding="utf-8"))
        url = server.stdout.readline().strip()
        if "was built without" in (self.folder / "serve.err").read_text():
            raise Skip("this fizeau was built without servers")
        assert url, (self.folder / "serve.err").read_text()
        self.replaced["http://localhost:4999"] = url

    def filled_in(self, line):
        line = re.sub(r"^sudo ", "", re.sub(r"-d \d+\b", "-d 2", line))
        line = line.replace("fizeau ci ", "fizeau ci --no-wall --others 0 ")  # as test_examples
        for pattern, text in self.replaced.items():
            line = re.sub(pattern, text, line)
        return line

    def run(self, line):
        """The line's output. What it writes is there then."""
        if line.startswith("fizeau serve "):
            return self.serve(line.partition(" #")[0])
        line = self.filled_in(line)
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=600, check=False)
        if done.returncode == 2 and any(words in done.stderr for words in NEVER):
            raise Skip(done.stderr.strip().splitlines()[-1])
        # A gate may close: the recordings are of equal programs, but noise is noise.
        assert done.returncode in ((0, 1) if line.startswith("fizeau ci") else (0,)), (line, done)
        assert "--browser" not in line or re.search(r"^opened file://\S+\.html$", done.stdout, re.M), (line, done)
        for name in re.findall(r"(?: -o|[^<>]>) *([\w./-]+)", line.partition(" -- ")[0]):
            file = self.folder / name
            assert file.is_dir() or file.stat().st_size, (line, done)
            assert file.suffix != ".html" or re.search('id="fz-header"', file.read_text()), (line, file.read_text()[:2000])
        return done.stdout


# ---- sessions ----

@dataclasses.dataclass(frozen=True)
class Session:
    document: str
    sections: str = "*"
    prepare: callable = lambda project: None
    program: callable = lambda project, text: None  # a block of Python

    @property
    def name(self):
        return self.document + (f": {self.sections}" if self.sections != "*" else "")

    def code(self):
        return [code for code in code_of(self.document) if fnmatch.fnmatchcase(code.section, self.sections)]

    def lines(self):
        return [line for code in self.code() for line in code.shell_lines() if not reason(self.document, line)]

    def play(self):
        with tempfile.TemporaryDirectory(prefix="fz-") as folder:
            project = Project(folder)
            with project.stack:
                self.prepare(project)
                for code in self.code():
                    if code.language == "python":
                        self.program(project, code.text)
                    for line in code.shell_lines():
                        if not reason(self.document, line):
                            project.run(line)
        return f"{len(self.lines())} lines"


def two_recordings(project):
    project.record("before.fz", "after.fz")
    project.run("fizeau run app.py")


def shop(project, text):
    """The program of the tour, with fewer orders; then its other parse()."""
    file = project.folder / "shop.py"
    if not file.exists():
        file.write_text(text.replace("200_000", "20_000"))
        project.commit("shop.py")
    else:
        old = file.read_text()
        file.write_text(re.sub(r"def parse.*?(?=\ndef )", lambda _: text, old, flags=re.S))
        assert file.read_text() != old, text


DJANGO = ("django==4.2.16", "asgiref==3.8.1", "sqlparse==0.5.1")
DJANGO_FILES = {
    "settings.py": "SECRET_KEY = 'x'\nROOT_URLCONF = 'urls'\nALLOWED_HOSTS = ['*']\n",
    "urls.py": "from django.http import HttpResponse\nfrom django.urls import path\n"
               "def orders(request):\n    return HttpResponse(str(sum(i * i for i in range(2_000_000))))\n"
               "urlpatterns = [path('orders/', orders)]\n",
    "serve.py": "import sys, wsgi\nfrom wsgiref.simple_server import make_server\n"
                "server = make_server('127.0.0.1', int(sys.argv[1]), wsgi.application)\nprint('up', flush=True)\n"
                "server.serve_forever()\n"}


def django(project):
    packages = [str(fetched_package(package)) for package in DJANGO]
    project.env |= {"PYTHONPATH": ":".join([f"{SOURCE}/bindings/python", *packages]), "PROFILE_KEY": "secret",
                    "DJANGO_SETTINGS_MODULE": "settings"}
    for name, text in DJANGO_FILES.items():
        project.write(name, text)


def django_server(project, text):
    project.write("wsgi.py", text)
    port = free_port()
    server = project.start(f"/usr/bin/python3 serve.py {port} 2>server.err")
    assert server.stdout.readline() == "up\n", (project.folder / "server.err").read_text()
    project.replaced |= {"localhost:8000": f"127.0.0.1:{port}", r"\bPID\b": str(server.pid)}


def sqlglot(project):
    project.write("bench.py", "import sqlglot\nfor _ in range(300):\n    sqlglot.parse_one('select a, b from c where d > 1')\n")


def two_pythons(project):
    for name, version in (("python3.12", "pyenv-3.12"), ("python3.13", "pyenv-3.13")):
        (project.folder.parent / "bin" / name).symlink_to(find_interpreter(version).command[0])
    project.write("requirements.txt", "iniconfig==2.0.0\n")


def production(project):
    project.target()


def growing(project):
    project.target(GROWING)


def tasks(project):
    project.target(TASKS)


def others(project):
    project.record("app.fz")
    for name in ("profile.pb.gz", "before.cpuprofile", "after.cpuprofile"):
        project.run(f"fizeau replay app.fz -o {name}")


def tests_before(project):
    project.run("pytest --fizeau")


def releases(project):
    project.record("old.fz")
    project.run("fizeau run app.py")
    run = project.run

    def with_pushes(line):
        if line.startswith(("fizeau diff api@1.4", "fizeau pull ")) and "http" in line:
            run("fizeau push old.fz --server http://localhost:4999 --service api --version 1.5")
            run("fizeau push old.fz --server http://localhost:4999 --service api --version 1.4")
        return run(line)
    project.run = with_pushes


def with_origin(project):
    origin = project.folder.parent / "origin.git"
    git(project.folder, "clone", "-q", "--bare", ".", str(origin))
    git(project.folder, "remote", "add", "origin", str(origin))
    git(project.folder, "fetch", "-q", "origin")
    project.commit()


def process_of(user):
    def prepare(project):
        project.target()
        project.replaced["www-data"] = user
    return prepare


SESSIONS = [
    Session("docs/tour.md", program=shop),
    Session("docs/recipes.md", "A slow request in Django", django, django_server),
    Session("docs/recipes.md", "A gate for pull requests*"),
    Session("docs/recipes.md", "Two releases of a dependency", sqlglot),
    Session("docs/recipes.md", "Is a newer Python faster for us?", two_pythons),
    Session("docs/recipes.md", "A server in production", production),
    Session("docs/recipes.md", "asyncio", tasks),
    Session("docs/recipes.md", "The memory of a running process", production),
    Session("docs/recipes.md", "A C extension"),
    Session("docs/recipes.md", "Slow tests"),
    Session("docs/recipes.md", "A profile from someone else", others),
    Session("docs/diff-json.md", prepare=two_recordings),
    Session("docs/heatmap.md", prepare=two_recordings),
    Session("docs/python.md", "Tests", tests_before),
    Session("docs/server.md", "Profiles of many hosts", releases),
    Session("docs/server.md", "Whole recordings", releases),
    Session("docs/ci.md", "Setting it up", with_origin),
    Session("docs/ci.md", "Several metrics"),
    Session("bindings/python/README.md"),
    Session("docs/growth.md", prepare=growing),
    Session("docs/system.md", prepare=process_of("root")),
    Session("docs/waits.md"),
]


@suite.test("every shell line of the documents runs here or has a reason")
def all_lines():
    ours, used, left, seen = {}, set(), [], 0
    for session in SESSIONS:
        assert session.lines(), f"{session.name} has no line"
        ours.setdefault(session.document, []).extend(session.lines())
    for document in DOCUMENTS:
        for line in [line for code in code_of(document) for line in code.shell_lines()]:
            row = reason(document, line)
            used.add(row)
            left += [] if row or line in ours.get(document, []) else [f"{document}: {line}"]
            seen += 1
    assert not left, "\n".join(left)
    assert used >= set(NOT_HERE), set(NOT_HERE) - used
    return f"{seen} lines"


for each in SESSIONS:
    suite.add(each.name, each.play)

if __name__ == "__main__":
    suite.main()
