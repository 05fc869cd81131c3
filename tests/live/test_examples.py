#!/usr/bin/env python3
"""Every example in every --help works."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import test_system
from livelib import FIZEAU, SANITIZED, Suite, fizeau, wait_until
from watching import LASTING, TAKEN

suite = Suite()

SCRIPT = LASTING + """\
def leaf():
    last()
leaf()
"""
# What "@deploy" is in.
MARKED = f"""\
import os, subprocess
exec(open("script.py").read())
subprocess.run([{str(FIZEAU)!r}, "mark", str(os.getpid()), "deploy"], check=True)
exec(open("script.py").read())
"""
# It ends when it was recorded.
TARGET = TAKEN + """\
import sys
def leaf():
    return sum(i * i for i in range(2000))
print("up", flush=True)
while taken() < float(sys.argv[1]): leaf()
"""
# A benchmark for any harness: cheap, because it is counted several times.
BENCHMARKS = """\
#!/bin/sh
[ -e /.fizeau/start/parse ]
i=0; while [ $i -lt 50 ]; do i=$((i + 1)); done
[ -e /.fizeau/stop/parse ]
exit 0
"""
TESTS = """\
import pytest
@pytest.mark.benchmark
def test_parse():
    assert sum(range(100)) == 4950
"""
# What the examples name.
FILES = ["script.py", "bench.py", "myserver.py", "a.py", "b.py", "app.py"]
RECORDINGS = ["before.fz", "after.fz", "a1.fz", "a2.fz", "b1.fz", "b2.fz", "old.bin", "new.bin",
              "app.bin", "app.fz", "x.fz"]


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=folder,
                   check=True, capture_output=True)


def prepare(folder):
    """A checkout of two commits, recordings of both in the store, and files of all formats."""
    for name in FILES:
        folder.joinpath(name).write_text(SCRIPT)
    for name in ("manage.sh", "bench.sh"):
        folder.joinpath(name).write_text("#!/bin/sh\nexec python3 script.py\n")
        folder.joinpath(name).chmod(0o755)
    for name in ("benchmarks", "program", "bench.mjs"):
        folder.joinpath(name).write_text(BENCHMARKS)
        folder.joinpath(name).chmod(0o755)
    folder.joinpath("tests", "bench").mkdir(parents=True)
    folder.joinpath("tests", "bench", "test_parse.py").write_text(TESTS)
    folder.joinpath("Makefile").write_text("all:\n")
    folder.joinpath("tokens").touch(mode=0o600)
    folder.joinpath("tokens").write_text("shop read,write 0123456789abcdef\n")
    folder.joinpath(".gitignore").write_text("*.fz\n*.bin\n*.gz\n*.html\n.fizeau\n__pycache__\n")
    git(folder, "init", "-q", "-b", "main", ".")
    for number, tag in ((1, "v1.0"), (2, None)):
        folder.joinpath("script.py").write_text(SCRIPT + f"# {number}\n")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "a commit")
        if tag:
            git(folder, "tag", tag)
        for _ in range(3):
            done = fizeau("run", "script.py", cwd=folder)
            assert done.returncode == 0, done
    git(folder, "branch", "old", "HEAD~1")
    folder.joinpath("marked.py").write_text(MARKED)
    for name in RECORDINGS:
        script = "marked.py" if name == "app.fz" else "script.py"
        done = fizeau("run", "-o", name, script, cwd=folder)
        assert done.returncode == 0, done
    allocations = "main;leaf 3000\nmain 10\n"
    folder.joinpath("heap.txt").write_text(allocations)
    done = fizeau("replay", "heap.txt", "--format", "pprof", "-o", "heap.pb.gz", cwd=folder)
    assert done.returncode == 0, done


def target(folder, samples):
    process = subprocess.Popen(["/usr/bin/python3", "-c", TARGET, str(samples)], cwd=folder,
                               stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


def recorder(folder, process):
    """The socket of `fizeau mark`."""
    attach = subprocess.Popen([FIZEAU, "attach", "-d", "60", "-o", f"{folder}/marked.fz", str(process.pid)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: fizeau("mark", str(process.pid), "ready").returncode == 0, "the recorder's answer")
    return attach


def server(folder):
    """The server for `fizeau push`, `pull` and `diff api@1.4 api@1.5`, and its address; None: a build without it."""
    serve = subprocess.Popen([FIZEAU, "serve", "--store", f"{folder}/asked.db", "--listen", "127.0.0.1:0",
                              "--recordings", f"{folder}/whole"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    url = serve.stdout.readline().strip()
    if not url:
        assert "was built without" in serve.communicate()[1]
        return None, None
    for name, version, host in (("a1.fz", "1.4", "a"), ("a2.fz", "1.4", "b"), ("b1.fz", "1.5", "a"), ("b2.fz", "1.5", "b")):
        done = fizeau("push", name, "--server", url, "--service", "api", "--version", version, "--host", host, cwd=folder)
        assert done.returncode == 0, done
    return serve, url


def commands():
    text = fizeau("help").stdout.split("Commands:\n", 1)[1]
    return re.findall(r"^  (\S+) ", text, re.M)


def examples(command):
    text = fizeau(command, "--help").stdout
    part = re.search(r"Examples:\n(.*?)\n\n", text + "\n\n", re.S)
    assert part, f"{command} --help shows no example"
    lines = [line.strip() for line in part[1].splitlines()]
    assert all(line.startswith("$ fizeau ") or line.startswith('$ eval "$(fizeau ')
               for line in lines), lines
    return [line[2:] for line in lines]


def shorten(line):
    """The example as it is run here: a process that exists, no long times, a metric of ours, pytest
    itself instead of a version manager, a shell where node takes long to count."""
    line = re.sub(r"-d (10|30)\b", "-d 1", line)
    line = line.replace("top --system", "top --system -d 1")
    line = line.replace("-- pytest ", "-- /usr/bin/python3 -m pytest ").replace("-- node ", "-- sh ")
    line = line.replace("fizeau ci ", "fizeau ci --no-wall --others 0 ")
    # Additions come first: an example may end with a comment.
    line = re.sub(r" --listen \S+", "", line)
    for name, options in (("serve", "--listen 127.0.0.1:0"), ("agent", "--spool spool")):
        if line.startswith(f"fizeau {name} "):
            line = line.replace(f"fizeau {name}", f"timeout --preserve-status -s TERM 3 fizeau {name} {options}", 1)
    return line.replace("-n 10", "-n 1").replace("alloc_space", "samples")


def check(folder, command):
    for line in examples(command):
        marks = line.startswith("fizeau mark 4711")
        process = target(folder, "inf" if marks else 30) if "4711" in line else None
        attach = recorder(folder, process) if marks else None
        run = shorten(line).replace("4711", str(process.pid if process else 0))
        serve, url = server(folder) if "--server" in line or line.startswith("fizeau serve") else (None, None)
        if url is None and ("--server" in line or line.startswith("fizeau serve")):
            continue
        run = re.sub(r"http://\w+:4999", url or "", run)
        # The live view needs a terminal.
        words = ["script", "-qec", run, "/dev/null"] if re.search(r"--live|fizeau top", run) else \
            ["bash", "-c", run]
        try:
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=280,
                                  stdin=subprocess.DEVNULL,
                                  env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8",
                                       "BROWSER": "true", "PATH":
                                       f"{pathlib.Path(FIZEAU).parent}:{os.environ['PATH']}"})
        finally:
            for started in filter(None, (process, attach, serve)):
                started.kill()
                started.communicate()
        # On some kernels, builds or containers the whole machine cannot be recorded, which an error explains.
        if ("--system" in line or line.startswith("fizeau agent")) and any(words in done.stdout + done.stderr for words in test_system.NEVER):
            assert done.returncode == 2, (run, done)
            continue
        # A gate may close: the recordings are of equal programs, but noise is noise.
        gate = "--fail-on" in line or line.startswith(("fizeau ci", "fizeau bisect"))
        # A server runs until it is stopped.
        fine = (0, 1) if gate else (143,) if line.startswith("fizeau serve") else (0,)
        assert done.returncode in fine, (run, done.returncode, done.stdout[-300:], done.stderr[-300:])


PLACE = {}


def with_place(command):
    if not PLACE:
        PLACE["folder"] = tempfile.TemporaryDirectory(prefix="fz-")
        prepare(pathlib.Path(PLACE["folder"].name))
    # Each has a copy: what one leaves in the store is not the next one's.
    with tempfile.TemporaryDirectory(prefix="fz-") as folder:
        copy = shutil.copytree(PLACE["folder"].name, f"{folder}/place", symlinks=True)
        check(pathlib.Path(copy), command)


for name in commands():
    if SANITIZED and name in ("bench", "ci", "history", "bisect"):
        continue  # seconds of Valgrind; their own tests run here too
    suite.add(f"the examples of {name}", with_place, name)


if __name__ == "__main__":
    suite.main()
