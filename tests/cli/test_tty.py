#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What text reports are in a terminal, by a pseudo terminal; TAP on stdout."""

import os
import pty
import re
import select
import socket
import subprocess
import sys
import tempfile
import urllib.parse

FIZEAU = os.environ.get("FIZEAU", "fizeau")
OPEN, CLOSE = "\x1b]8;;", "\x1b\\"
LINK = re.compile(re.escape(OPEN) + r"(file://[^\x1b]*)" + re.escape(CLOSE) + r"(.*?)" +
                  re.escape(OPEN + CLOSE))
# On a slow machine, work that should not take long.
BUSY = re.compile(r"fizeau: (?:reading|comparing|writing)[^\r]*\r\r\x1b\[K")
NAMES = ["plain.py", "with space.py", "größe.py", "a\x1b[31m\x07.py", "50%#?.py", "-rf"]


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if k not in ("CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE")}
    return {**kept, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "COLUMNS": "200", **more}


def in_terminal(*words, **env):
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([FIZEAU, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                          env=environment(**env)) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # its end is closed
                break
            if not piece:
                break
            said += piece
        os.close(ours)
        assert process.wait() == 0, said
    return BUSY.sub("", said.decode())


def make_recording(folder):
    """A recording of functions whose files exist, and of one whose file does not."""
    path = os.path.join(folder, "app.collapsed")
    stack = []
    for i, name in enumerate(NAMES):
        with open(os.path.join(folder, name), "w", encoding="utf-8"):
            pass
        stack.append(f"{folder}/{name}:f{i}:{i + 1}")
    stack += ["/nonexistent/gone.py:gone:1", "relative.py:relative:1", f"{folder}:folder:1"]
    with open(path, "w", encoding="utf-8") as out:
        print("tid:1;" + ";".join(stack), 5, file=out)
    return path


def links(said):
    return LINK.findall(said)


def files(path, folder):
    for words in (["replay", "--tree"], ["replay"], ["diff", "--tree", "--all-frames", path]):
        said = in_terminal(*words, path)
        found = {urllib.parse.unquote(urllib.parse.urlsplit(address).path): address
                 for address, _ in links(said)}
        assert set(found) == {os.path.join(folder, name) for name in NAMES}, (words, found)
        assert all(urllib.parse.urlsplit(a).netloc == socket.gethostname() for a in found.values()), found
        assert all(re.fullmatch(r"file://[-A-Za-z0-9._~/%]+", a) for a in found.values()), found
        assert all(re.search(r":\d+$", text) for _, text in links(said)), links(said)
        # What is left has no sequence but colours, and the links are where the plain text is.
        rest = re.sub(r"\x1b\[[0-9;]*m", "", LINK.sub(r"\2", said)).replace("\r", "")
        assert "\x1b" not in rest and "\x07" not in rest, rest
        piped = subprocess.run([FIZEAU, *words, path], capture_output=True, text=True, check=True,
                               env=environment())
        assert rest == piped.stderr + piped.stdout, (rest, piped)


def nowhere(path, _folder):
    assert links(in_terminal("replay", path))
    for name, value in ("NO_COLOR", "1"), ("CI", "true"), ("TERM", "dumb"), ("TERM", "linux"):
        assert OPEN not in in_terminal("replay", path, **{name: value}), name
    assert OPEN not in in_terminal("replay", "--color", "never", path)
    piped = subprocess.run([FIZEAU, "replay", "--color", "always", path], capture_output=True,
                           text=True, check=True, env=environment())
    assert "\x1b[" in piped.stdout and OPEN not in piped.stdout, piped.stdout


def lines(path, _folder):
    assert all("#" not in address for address, _ in links(in_terminal("replay", path)))
    kitty = links(in_terminal("replay", path, TERM="xterm-kitty"))
    assert kitty and all(address.rsplit("#")[1] == text.rsplit(":")[1] for address, text in kitty), kitty


def progress(_path, folder):
    words = ["bench", "--wall", "--bench-main", "-o", os.path.join(folder, "times.fz"), "--", "true"]
    said = in_terminal(*words)
    # One line: each step returns to its beginning and is cleared by what comes next.
    steps = said.split("\r\x1b[K")
    shown = [re.sub(r", \d+ s\r$", "\r", s) for s in steps[:-1] if s]
    assert list(dict.fromkeys(shown)) == [f"fizeau: bench: timing, run {i} of 7\r" for i in range(1, 8)], said
    assert "timing" not in steps[-1], said
    piped = subprocess.run([FIZEAU, *words], capture_output=True, text=True, check=True, env=environment())
    assert "timing" not in piped.stderr and "\x1b" not in piped.stderr, piped


def waits(path, _folder):
    """Its input is late, so it says what it waits for; then that is gone."""
    with open(path, "rb") as file:
        recording = file.read()
    for words in ["replay", "-"], ["diff", "-", path]:
        ours, theirs = pty.openpty()
        with subprocess.Popen([FIZEAU, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs,
                              env=environment()) as process:
            os.close(theirs)
            assert select.select([ours], [], [], 60)[0], words
            said = os.read(ours, 1000).decode()
            assert re.fullmatch(r"fizeau: reading [^\r]*\r", said), said
            table, _ = process.communicate(recording)
            assert table and b"\r" not in table and process.returncode == 0, table
        assert os.read(ours, 1000).decode().startswith("\r\x1b[K"), words
        os.close(ours)
        piped = subprocess.run([FIZEAU, *words], input=recording, capture_output=True, check=True, env=environment())
        assert b"reading" not in piped.stderr, piped


def main():
    tests = {"files that are there are links, whatever they are called": files,
             "there are no links where nobody could open them": nowhere,
             "a terminal that takes lines gets them": lines,
             "progress is one line of a terminal, and nothing elsewhere": progress,
             "a terminal shows what takes long to read": waits}
    print(f"1..{len(tests)}")
    failed = False
    for i, (name, test) in enumerate(tests.items(), 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(make_recording(folder), folder)
                print(f"ok {i} - {name}")
            except Exception as e:  # pylint: disable=broad-except
                failed = True
                text = f"{type(e).__name__}: {e}".replace("\n", "\n# ")
                print(f"not ok {i} - {name}\n# {text}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
