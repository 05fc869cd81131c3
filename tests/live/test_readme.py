#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every shell line of README.md runs, literally and in order: in a bare Debian 12 from the first line on, and
with this build from the first recording on."""

import pathlib
import re
import subprocess
import tempfile

from livelib import FIZEAU, SANITIZED, SOURCE, Skip, Suite

suite = Suite()
README = (SOURCE / "README.md").read_text()

# What a reader has: a program, an editor, a browser, and a commit before the last one.
SCRIPT = """\
import time
def work(n):
    return sum(i * i for i in range(n))
end = time.process_time() + 0.5
while time.process_time() < end:
    work(1000)
"""
READER = f"""
set -eu
cat >app.py <<'END'
{SCRIPT}END
cp app.py bench.py
git -c user.name=r -c user.email=r add -f app.py bench.py
for n in 1 2; do git -c user.name=r -c user.email=r commit -q --allow-empty -m $n; done
export EDITOR='sed -i s/1000/2000/' BROWSER='echo opened'
"""


def shell_lines():
    """Indented lines; fenced ones are output."""
    text = re.sub(r"^```.*?^```$", "", README, flags=re.M | re.S)
    return [line.strip() for line in re.findall(r"^ {4}\S.*$", text, re.M)]


def script(lines):
    """Each line is announced before it runs."""
    return READER + "".join(f"cat <<'END'\n$ {line}\nEND\n{line}\n" for line in lines)


def check_answers(output, lines):
    answers = re.split(r"^\$ (.*)$", output, flags=re.M)
    assert answers[1::2] == lines, output
    for line, answer in zip(lines, answers[2::2]):
        if line.startswith("fizeau run"):
            assert "samples" in answer, (line, answer)
        elif "--browser" in line:
            assert re.search(r"^opened file://\S+\.html$", answer, re.M), (line, answer)
        elif line.startswith("fizeau"):
            assert " -> " in answer, (line, answer)


@suite.test("README's lines from the first recording on, with this build")
def with_this_build():
    lines = shell_lines()
    lines = lines[next(i for i, line in enumerate(lines) if line.startswith("fizeau")):]
    assert len(lines) > 5, lines
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "bin").mkdir()
        (pathlib.Path(folder) / "bin/fizeau").symlink_to(pathlib.Path(FIZEAU).resolve())
        start = f"export PATH={folder}/bin:$PATH HOME={folder}\nmkdir project && cd project && git init -q .\n"
        done = subprocess.run(["sh", "-c", "exec 2>&1\n" + start + script(lines)], cwd=folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=600)
    assert done.returncode == 0, done
    check_answers(done.stdout, lines)
    return f"{len(lines)} lines"


@suite.test("README's lines in a bare Debian 12, from the first one on")
def in_a_bare_root():
    if SANITIZED:
        raise Skip("packages are built without sanitizers")
    lines = shell_lines()
    assert lines[0] == "make wheel", lines
    foreign = "dpkg --print-foreign-architectures | sed 's/^/foreign: /'\n"
    done = subprocess.run([SOURCE / "tools/fresh-root", "sh", "-c", f"exec 2>&1\n{script(lines)}{foreign}"],
                          capture_output=True, text=True, timeout=3600)
    if done.returncode == 77:
        raise Skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0 and "foreign: " not in done.stdout, done.stdout[-4000:] + done.stderr
    check_answers(done.stdout[done.stdout.index("$ make wheel"):], lines)
    return f"{len(lines)} lines"


suite.main()
