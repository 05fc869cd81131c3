#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""File ownership: what fizeau writes belongs to the right user, and no other user decides where it is written.

Most cases are about root in another user's folder, so they need root, and another user's id."""

import contextlib
import os
import pathlib
import shutil
import subprocess

from livelib import FIZEAU, SOURCE, Skip, Suite, find_interpreter
from watching import LASTING

suite = Suite()
USER = 65534

BUSY = LASTING + "last()\n"


class Place:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.python = find_interpreter("debian-3.11").command[0]
        self.home = self.folder / "home"  # of the user
        self.project = self.home / "project"
        self.vault = self.folder / "vault"  # where he may not write
        self.project.mkdir(parents=True)
        self.vault.mkdir(mode=0o755)
        (self.project / "busy.py").write_text(BUSY)
        self.fizeau = self.folder / "fizeau"  # where others can run it, too
        shutil.copy(FIZEAU, self.fizeau)
        self.folder.chmod(0o755)

    def give(self):
        for path in [self.home, *self.home.rglob("*")]:
            os.chown(path, USER, USER, follow_symlinks=False)

    def run(self, *words, user=None, umask=0o022, cwd=None, **env):
        env = {**{k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")},
               "HOME": str(self.home), **env}
        return subprocess.run([self.fizeau, *map(str, words)], cwd=cwd or self.project, env=env,
                              capture_output=True, text=True, timeout=100, user=user, group=user,
                              extra_groups=[] if user else None, umask=umask)

    def record(self, *options, **how):
        return self.run("run", *options, "--", self.python, "busy.py", **how)


@contextlib.contextmanager
def place(root=True):
    if root and os.geteuid() != 0:
        raise Skip("needs root to be two users")
    with find_interpreter("debian-3.11").scratch() as folder:
        yield Place(folder)


def owners(folder):
    return {path.name: path.lstat().st_uid for path in [folder, *folder.rglob("*")]}


def mode(path):
    return oct(path.stat().st_mode & 0o777)


@suite.test("new files have the umask's mode, the store's are private, old ones keep their mode")
def modes():
    with place(root=False) as p:
        for umask, wanted in ((0o022, "0o644"), (0o027, "0o640"), (0o077, "0o600")):
            for name in ("r.fz", "r.html", "r.json"):
                done = p.record("-o", name, umask=umask)
                assert done.returncode == 0, done.stderr
                assert mode(p.project / name) == wanted, (name, mode(p.project / name))
                (p.project / name).unlink()
        done = p.record("--native", "--heatmap", "-o", "pages")
        assert mode(p.project / "pages") == "0o755", mode(p.project / "pages")
        assert mode(p.project / "pages/index.html") == "0o644"
        for options in ([], ["--native=stacks"]):
            assert p.record(*options).returncode == 0
        store = p.project / ".fizeau"
        assert mode(store) == "0o700", mode(store)
        assert {mode(f) for f in store.glob("*.fz")} == {"0o600"}, owners(store)
        old = p.project / "old.fz"
        for name in (old, p.project / "old.html"):
            name.write_text("old")
            name.chmod(0o664)
            assert p.record("-o", name).returncode == 0
            assert mode(name) == "0o664", (name, mode(name))


@suite.test("root in a user's project: everything in the store is the user's")
def store_of_user():
    for options in ([], ["--native"], ["--native=stacks"], ["--subprocesses", "-a"]):
        with place() as p:
            p.give()
            done = p.record(*options)
            assert done.returncode == 0, done.stderr
            found = owners(p.project / ".fizeau")
            assert set(found.values()) == {USER}, (options, found)
            done = p.record(user=USER)
            assert done.returncode == 0 and "recorded to" in done.stderr, done.stderr
            for number in ("@1", "@2"):
                done = p.run("show", number, user=USER)
                assert done.returncode == 0, done.stderr


@suite.test("a user's .fizeau that is a link gives root no access that the user lacks")
def linked_store():
    with place() as p:
        (p.project / ".fizeau").symlink_to(p.vault)
        p.give()
        for options in ([], ["--native=stacks"]):
            done = p.record(*options)
            assert done.returncode == 125, done
            assert "the store cannot be used" in done.stderr, done.stderr
            assert not list(p.vault.iterdir()), list(p.vault.iterdir())
        (p.project / ".fizeau").unlink()
        (p.home / "elsewhere").mkdir()
        (p.project / ".fizeau").symlink_to(p.home / "elsewhere")
        p.give()
        assert p.record().returncode == 0
        assert set(owners(p.home / "elsewhere").values()) == {USER}


@suite.test("a linked recording in a user's store cannot be given to another user")
def removed():
    with place() as p:
        (p.vault / "20200101-000000-000-x-1.fz").write_text("precious")
        (p.project / ".fizeau").symlink_to(p.vault)
        p.give()
        p.run("rm", "--all")
        assert [f.name for f in p.vault.iterdir()] == ["20200101-000000-000-x-1.fz"]


@suite.test("in /tmp another user cannot choose what -o overwrites")
def planted():
    with place() as p:
        sticky = p.folder / "tmp"
        sticky.mkdir()
        sticky.chmod(0o1777)
        victim = p.vault / "victim"
        victim.write_text("precious")
        assert p.record("-o", p.project / "r.fz").returncode == 0
        for name in ("x.html", "x.json", "x.fz", "dangling.fz", "dangling.html"):
            (sticky / name).symlink_to(victim if name[0] == "x" else p.vault / name)
            os.chown(sticky / name, USER, USER, follow_symlinks=False)
        for words in (("replay", "r.fz", "-o", sticky / "x.html"),
                      ("replay", "r.fz", "-o", sticky / "x.json"),
                      ("replay", "r.fz", "-o", sticky / "x.fz"),
                      ("replay", "r.fz", "-o", sticky / "dangling.html"),
                      ("run", "-o", sticky / "x.fz", "--", p.python, "busy.py"),
                      ("run", "-o", sticky / "dangling.fz", "--", p.python, "busy.py"),
                      ("run", "-o", sticky / "x.html", "--", p.python, "busy.py")):
            done = p.run(*words)
            assert done.returncode in (2, 125), (words, done)
            assert "another user (65534)" in done.stderr and done.stderr.count("\n") == 1, done
        assert victim.read_text() == "precious"
        assert [f.name for f in p.vault.iterdir()] == ["victim"]


@suite.test("without a home the cache is in /tmp only if no other user made it")
def cache():
    with place() as p:
        subprocess.run(["git", "init", "-q"], cwd=p.project, check=True)
        for message in ("one", "two"):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit",
                            "-q", "--allow-empty", "-m", message], cwd=p.project, check=True)
        tmp = p.folder / "tmp"
        tmp.mkdir()
        tmp.chmod(0o1777)
        words = ("compare", "-n", "1", "--warmup", "0", "--base-command", f"{p.python} busy.py", "--head-command",
                 f"{p.python} busy.py")
        ours = tmp / f"fizeau-{os.geteuid()}"
        def planted(make):
            make()
            done = p.run(*words, HOME="", TMPDIR=str(tmp))
            assert done.returncode == 2 and "another user" in done.stderr, done
            assert "XDG_CACHE_HOME" in done.stderr and done.stderr.count("\n") == 1, done.stderr
        def folder():
            ours.mkdir()
            os.chown(ours, USER, USER)
        def link():
            shutil.rmtree(ours)
            ours.symlink_to(p.home)
            os.chown(ours, USER, USER, follow_symlinks=False)
        def own_link():
            ours.unlink()
            ours.symlink_to(p.home)
        planted(folder)
        planted(link)
        own_link()
        done = p.run(*words, HOME="", TMPDIR=str(tmp))
        assert done.returncode == 2, done
        ours.unlink()
        ours.mkdir()
        ours.chmod(0o777)
        done = p.run(*words, HOME="", TMPDIR=str(tmp))
        assert done.returncode == 2 and "writable by others" in done.stderr, done
        ours.rmdir()
        done = p.run(*words, HOME="", TMPDIR=str(tmp))
        assert done.returncode == 0, done.stderr
        assert mode(ours) == "0o700"


@suite.test("a folder is not a program, wherever it is in PATH")
def folders():
    with place(root=False) as p:
        (p.folder / "bin/busy").mkdir(parents=True)
        other = p.folder / "other"
        other.mkdir()
        (other / "busy").write_text(f"#!/bin/sh\nexec {p.python} busy.py\n")
        (other / "busy").chmod(0o755)
        done = p.run("run", "busy", PATH=f"{p.folder}/bin:{other}:{os.environ['PATH']}")
        assert done.returncode == 0, done.stderr
        # Python runs a folder with a __main__.py, whatever its name.
        (p.project / "package").mkdir()
        (p.project / "package/__main__.py").write_text(BUSY)
        for word in ("./package", "package", "package/"):
            done = p.run("run", "--python", p.python, word)
            assert done.returncode == 0, (word, done.stderr)


if __name__ == "__main__":
    suite.main()
