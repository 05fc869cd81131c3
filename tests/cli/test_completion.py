#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion as bash, zsh and fish do it with the scripts of 'fizeau completion'; TAP."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
FIZEAU = os.environ.get("FIZEAU", str(TOP / "build" / "fizeau"))

# What is typed, and what must (and must not) be offered for its last word.
CASES = [
    ("fizeau re", {"replay"}, {"run", "rm"}),
    ("fizeau d", {"diff", "doctor", "dump"}, {"run"}),
    ("fizeau run --all", {"--all-threads"}, {"--mode"}),
    ("fizeau run --mode ", {"wall", "cpu", "gil", "exception"}, {"--mode"}),
    ("fizeau run --mode = ", {"wall", "cpu"}, {"--mode"}),
    ("fizeau attach --sort to", {"total", "tottime"}, {"self"}),
    ("fizeau replay --format s", {"svg"}, {"html"}),
    ("fizeau diff @", {"@1", "@2"}, {"@3"}),
    ("fizeau show @", {"@1", "@2"}, set()),
    ("fizeau replay be", {"before.fz"}, {"after.fz"}),
    ("fizeau run scri", {"script.py"}, set()),
    ("fizeau run script.py --mo", set(), {"--mode", "--module"}),
    ("fizeau completion f", {"fish"}, {"bash"}),
    ("fizeau help com", {"compare", "completion"}, {"run"}),
    ("fizeau dump --js", {"--json"}, {"--color"}),
]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def environment(folder):
    return {**os.environ, "PATH": f"{pathlib.Path(FIZEAU).parent}:{os.environ['PATH']}",
            "HOME": str(folder), "LC_ALL": "C.UTF-8", "TERM": "dumb", "XDG_CONFIG_HOME": str(folder),
            "GIT_CEILING_DIRECTORIES": str(folder.parent), "COLUMNS": "200"}


def prepare(folder):
    """Two stored recordings and some files."""
    store = folder / ".fizeau"
    store.mkdir()
    (folder / "x.txt").write_text("main;leaf 3\n")
    for n in (1, 2):
        done = run(FIZEAU, "replay", "x.txt", "-o", store / f"20260101-00000{n}-000-x.py-{n}.fz",
                   cwd=folder)
        assert done.returncode == 0, done
    for name in ("before.fz", "after.fz", "script.py"):
        (folder / name).touch()


def bash(folder, line):
    words = line.split(" ")
    code = ("source <(fizeau completion bash); COMP_WORDS=(%s); COMP_CWORD=%d; COMP_LINE=%r; "
            "_fizeau; printf '%%s\\n' \"${COMPREPLY[@]}\""
            % (" ".join(f"'{w}'" for w in words), len(words) - 1, line))
    done = run("bash", "--norc", "-c", code, cwd=folder, env=environment(folder))
    assert done.returncode == 0 and not done.stderr, done
    return set(done.stdout.split())


def fish(folder, line):
    code = f"fizeau completion fish | source; complete -C '{line}'"
    done = run("fish", "--no-config", "-c", code, cwd=folder, env=environment(folder))
    assert done.returncode == 0 and not done.stderr, done
    return {row.split("\t")[0] for row in done.stdout.splitlines()}


class Zsh:
    """An interactive zsh, because completion needs its line editor."""

    def __init__(self, folder):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment(folder))
        self.say("PS1='READY> ' RPS1=; unsetopt prompt_sp prompt_cr zle_bracketed_paste; LISTMAX=0")
        self.say("autoload -Uz compinit && compinit -D -u; zstyle ':completion:*' list-colors ''")
        self.say("setopt list_rows_first; zstyle ':completion:*' list-prompt ''; "
                 "zstyle ':completion:*' verbose no; unsetopt auto_menu menu_complete")
        # One widget draws the list and says so, however many keys are typed meanwhile.
        self.say("offer() { zle list-choices; zle -R; print -r -- DR''AWN }; zle -N offer; bindkey '^T' offer")
        self.say("source <(fizeau completion zsh); bindkey '^U' kill-whole-line")
        self.say("stty cols 200; echo loaded-$((1+1))")
        self.read(r"loaded-2\s+READY> ")

    def read(self, until):
        """What is written until then."""
        text = ""
        while not re.search(until, text):
            assert select.select([self.fd], [], [], 60)[0], f"no {until!r} in {text!r}"
            text += os.read(self.fd, 65536).decode("utf-8", "replace")
        return text

    def say(self, line):
        os.write(self.fd, line.encode() + b"\n")

    def complete(self, line):
        os.write(self.fd, b"\x15" + line.encode() + b"\x14")
        text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", " ", self.read("DRAWN")).replace("\r", "\n")
        after = re.sub("READY>.*|DRAWN", " ", text.split(line, 1)[-1])
        return set(after.split()) | {line.split(" ")[-1] + w for w in after.split()[:1]}

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def check(offer, folder, exact=True):
    for line, wanted, unwanted in CASES:
        if " = " in line and offer is not bash:
            continue  # only bash makes a word of its own of "="
        offered = offer(folder, line)
        missing = wanted - offered
        assert not missing, f"{line!r}: {sorted(missing)} not offered: {sorted(offered)[:40]}"
        wrong = unwanted & offered
        assert not wrong, f"{line!r}: {sorted(wrong)} offered"


def check_zsh(folder):
    zsh = Zsh(folder)
    try:
        check(lambda _, line: zsh.complete(line), folder)
    finally:
        zsh.close()


def commands():
    text = run(FIZEAU, "help").stdout.split("Commands:\n", 1)[1]
    return re.findall(r"^  (\S+) ", text, re.M)


def check_all_options(folder):
    """Every option that --help names is offered, by each shell."""
    scripts = {shell: run(FIZEAU, "completion", shell).stdout for shell in ("zsh", "fish")}
    for command in commands():
        text = run(FIZEAU, command, "--help").stdout
        named = set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", text, re.M))
        offered = bash(folder, f"fizeau {command} --") if named else set()
        assert named <= offered | {"--help"}, (command, named - offered)
        zsh = scripts["zsh"].split(f"\n\t{command})\n", 1)[1].split(";;\n", 1)[0]
        fish_lines = "\n".join(line for line in scripts["fish"].splitlines()
                               if f"_in {command}'" in line or f"_program {command}'" in line)
        for option in named:
            assert f"{option}[" in zsh or f"{option}=[" in zsh or f"{option}=-[" in zsh, (command, option)
            assert f" -l {option[2:]} " in fish_lines, (command, option)


def main():
    tests = [("bash", "bash", lambda folder: check(bash, folder)),
             ("zsh", "zsh", check_zsh),
             ("fish", "fish", lambda folder: check(fish, folder)),
             ("every option of every command", "bash", check_all_options)]
    failed = 0
    for number, (name, program, test) in enumerate(tests, 1):
        if not shutil.which(program):
            print(f"ok {number} - completion: {name} # SKIP {program} is not installed")
            continue
        if program == "zsh" and "FZ_SANITIZED" in os.environ:
            print(f"ok {number} - completion: {name} # SKIP it runs the commands that bash runs")
            continue
        with tempfile.TemporaryDirectory(prefix="fz-") as folder:
            try:
                if name != "every option of every command":
                    prepare(pathlib.Path(folder))
                test(pathlib.Path(folder))
                print(f"ok {number} - completion: {name}", flush=True)
            except (AssertionError, subprocess.SubprocessError, OSError) as error:
                failed += 1
                print(f"not ok {number} - completion: {name}", flush=True)
                for line in str(error)[:2000].splitlines():
                    print("#", line)
    print(f"1..{len(tests)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
