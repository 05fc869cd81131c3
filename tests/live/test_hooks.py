#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fizeau and the git of its user: commands in a hook lose nothing of the commit, and `run`, which
only asks, executes nothing that a repository names."""

import contextlib
import os
import pathlib
import shutil
import subprocess

from livelib import FIZEAU, SOURCE, Skip, Suite, find_interpreter
from watching import LASTING

suite = Suite()

BENCH = LASTING + "last()\n"
# For `run` in a checkout: lasts until git, a child of the recorder, has printed its output.
ASKED = BENCH + """\
path = f"/proc/{os.getppid()}/task/{os.getppid()}/children"
while open(path).read().split() != [str(os.getpid())]:
    time.sleep(0.05)
"""

# git itself lists the variables that name a repository.
LOCAL = subprocess.run(["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True,
                       check=True).stdout.split()


class Checkout:
    """A repository of two commits; "linked" is a worktree of it in another folder."""

    def __init__(self, folder):
        self.outside = pathlib.Path(folder)
        self.main = self.outside / "project"
        self.linked = self.outside / "linked"
        self.python = find_interpreter("debian-3.11").command[0]
        self.env = {k: v for k, v in os.environ.items() if k not in LOCAL}
        self.env |= {"XDG_CACHE_HOME": str(self.outside / "cache"),
                     "GIT_CONFIG_GLOBAL": str(self.outside / "gitconfig")}
        (self.outside / "gitconfig").write_text("[user]\nname = t\nemail = t@example.org\n")
        self.main.mkdir()
        self.git("init", "-q", "-b", "main")
        for name in ("a.txt", "b.txt", "c.txt"):
            (self.main / name).write_text(name)
        (self.main / "bench.py").write_text(BENCH)
        (self.outside / "asked.py").write_text(ASKED)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")
        (self.main / "a.txt").write_text("second")
        self.git("commit", "-q", "-a", "-m", "second")

    def git(self, *words, tree=None, check=True, **env):
        return subprocess.run(["git", *words], cwd=tree or self.main, env={**self.env, **env},
                              check=check, capture_output=True, text=True, timeout=300)

    def fizeau(self, *words, tree=None, **env):
        return subprocess.run([FIZEAU, *map(str, words)], cwd=tree or self.main,
                              env={**self.env, **env}, capture_output=True, text=True, timeout=300)

    def hook(self, name, *words):
        """A hook that never stops the commit; the command's status is the last line of `said`."""
        path = self.main / ".git" / "hooks" / name
        path.write_text(f"#!/bin/sh\nexec >'{self.outside}/said' 2>&1\n"
                        f"{FIZEAU} {' '.join(words)}\necho status $?\nexit 0\n")
        path.chmod(0o755)

    @property
    def said(self):
        return (self.outside / "said").read_text()

    def commit(self, tree):
        """One file more, another changed: what the commit then holds."""
        (tree / "new.txt").write_text("new")
        (tree / "b.txt").write_text("changed")
        self.git("add", "new.txt", "b.txt", tree=tree)
        done = self.git("commit", "-m", "third", tree=tree, check=False)
        assert done.returncode == 0, f"{done.stderr}{self.said}"
        files = self.git("ls-tree", "--name-only", "HEAD", tree=tree).stdout.split()
        assert files == ["a.txt", "b.txt", "bench.py", "c.txt", "new.txt"], files
        changed = self.git("diff", "--name-only", "HEAD~1", tree=tree).stdout.split()
        assert changed == ["b.txt", "new.txt"], changed
        left = self.git("status", "--porcelain", tree=tree).stdout
        assert left in ("", "?? .fizeau/\n"), left


@contextlib.contextmanager
def checkout():
    with find_interpreter("debian-3.11").scratch() as folder:
        yield Checkout(folder)


WORDS = {
    "compare": ("-n", "1", "--warmup", "0", "HEAD~1", "--", "{python}", "bench.py"),
    "ci": ("--base", "HEAD~1", "--no-wall", "--", "sh", "-c", "true"),
    "history": ("-n", "2", "--", "sh", "-c", "true"),
    "bisect": ("HEAD~1", "HEAD", "--", "sh", "-c", "true"),
}


def in_hook(name, linked):
    with checkout() as c:
        c.hook("pre-commit", name, *(word.format(python=c.python) for word in WORDS[name]))
        if linked:
            c.git("worktree", "add", "-q", str(c.linked))
        c.commit(c.linked if linked else c.main)
        # Two equal commits: there is nothing to find for a bisection.
        wanted = "do not differ.\nstatus 1" if name == "bisect" else "status 0"
        assert wanted in c.said, c.said
        worktrees = c.git("worktree", "list").stdout.splitlines()
        assert len(worktrees) == 1 + linked, worktrees


for command in WORDS:
    suite.add(f"{command} in a pre-commit hook of a linked worktree: the commit is whole",
              in_hook, command, True)
    suite.add(f"{command} in a pre-commit hook of an ordinary checkout: the commit is whole",
              in_hook, command, False)


def spy(c, name):
    """A program that notes that it ran, and passes its input on."""
    path = c.outside / name
    path.write_text(f"#!/bin/sh\necho {name} >>'{c.outside}/ran'\ncat\n")
    path.chmod(0o755)
    return str(path)


@suite.test("run executes no filter, fsmonitor, hook or transport of the repository")
def only_asks():
    with checkout() as c:
        for i, driver in enumerate(("plain", "a=b", "a.b", "process")):
            key = "process" if driver == "process" else "clean"
            c.git("config", f"filter.{driver}.{key}", spy(c, f"filter{i}"))
            c.git("config", f"filter.{driver}.required", "true")
        (c.main / ".git/info/attributes").write_text(
            "a.txt filter=plain\nb.txt filter=a=b\nc.txt filter=a.b\nbench.py filter=process\n")
        c.git("config", "core.fsmonitor", spy(c, "fsmonitor"))
        c.git("config", "core.sshCommand", spy(c, "ssh"))
        c.git("config", "extensions.partialClone", "origin")
        c.git("config", "remote.origin.url", "ssh://example.org/x")
        c.git("config", "remote.origin.promisor", "true")
        for name in ("post-index-change", "post-checkout"):
            (c.main / ".git/hooks" / name).symlink_to(spy(c, name))
        # Same content with another time: git must read the files.
        for name in ("a.txt", "b.txt", "c.txt", "bench.py"):
            os.utime(c.main / name, (1, 1))
        done = c.fizeau("run", "--", c.python, "../asked.py")
        assert done.returncode == 0, done.stderr
        shown = c.fizeau("show", "@1").stdout
        assert c.git("rev-parse", "HEAD").stdout.strip()[:10] in shown, shown
        c.fizeau("show", "HEAD")
        assert not (c.outside / "ran").exists(), (c.outside / "ran").read_text()
        c.git("status", check=False)
        assert "filter1" in (c.outside / "ran").read_text()  # they would have been


@suite.test("our settings that restrict git override the environment")
def quiet_rules():
    with checkout() as c:
        seen, git = c.outside / "seen", c.outside / "bin/git"
        git.parent.mkdir()
        # As git, Python takes the first of several; a shell takes the last.
        git.write_text(f"""#!/usr/bin/python3
import os, sys
print(os.environ["GIT_ALLOW_PROTOCOL"], file=open("{seen}", "a"))
os.execv("{shutil.which('git')}", sys.argv)
""")
        git.chmod(0o755)
        done = c.fizeau("run", "--", c.python, "../asked.py", GIT_ALLOW_PROTOCOL="ssh",
                        PATH=f"{git.parent}:{os.environ['PATH']}")
        assert done.returncode == 0, done.stderr
        assert set(seen.read_text().split()) == {"none"}, seen.read_text()


@suite.test("run in a hook: the commit checked out here, whatever the hook's environment")
def told_otherwise():
    with checkout() as c:
        other = c.outside / "other"
        c.git("clone", "-q", str(c.main), str(other))
        c.git("reset", "-q", "--hard", "HEAD~1", tree=other)
        done = c.fizeau("run", "--", c.python, "../asked.py", GIT_DIR=str(other / ".git"),
                        GIT_WORK_TREE=str(other), GIT_INDEX_FILE=str(other / ".git/index"))
        assert done.returncode == 0, done.stderr
        shown = c.fizeau("show", "@1").stdout
        assert c.git("rev-parse", "HEAD").stdout.strip()[:10] in shown, shown
        assert "git.dirty      no" in shown, shown


@suite.test("set-up and runs in a worktree do not get the hook's index")
def programs():
    with checkout() as c:
        c.git("worktree", "add", "-q", str(c.linked))
        c.hook("pre-commit", "compare", "-n", "1", "--warmup", "0", "--setup",
               f"'git rev-parse --git-path index >>{c.outside}/index'", "HEAD~1", "--", c.python,
               "bench.py")
        c.commit(c.linked)
        base, head = (c.outside / "index").read_text().split()
        assert head.endswith("/.git/worktrees/linked/index") and base != head, (base, head)


@suite.test("all of git's environment variables are known, and none does harm")
def variables():
    source = (SOURCE / "src/git/command.c").read_text()
    assert not [name for name in LOCAL if f'"{name}"' not in source], LOCAL
    with checkout() as c:
        env = {name: "/nowhere" for name in LOCAL}
        done = c.fizeau("compare", "-n", "1", "--warmup", "0", "HEAD~1", "--", c.python, "bench.py",
                        **env)
        assert done.returncode == 0, done.stderr


@suite.test("a container's list of trusted checkouts is respected")
def trusted():
    if os.geteuid() != 0:
        raise Skip("needs root to make a checkout of somebody else")
    with checkout() as c:
        for path in [c.main, *c.main.rglob("*")]:
            os.chown(path, 65534, 65534, follow_symlinks=False)
        words = ("compare", "-n", "1", "--warmup", "0", "HEAD~1", "--", c.python, "bench.py")
        refused = c.fizeau(*words).stderr
        remedy = f"; if you trust it: git config --global --add safe.directory '{c.main}'\n"
        assert "dubious ownership" in refused and refused.endswith(remedy), refused
        done = c.fizeau(*words, GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory",
                        GIT_CONFIG_VALUE_0="*")
        assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    suite.main()
