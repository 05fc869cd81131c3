#!/usr/bin/env python3
"""The everyday loop: run, edit, run, diff; and a run that is compared as it ends."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

from livelib import FIZEAU, Suite, Wrong, find_interpreter, wait_until
from watching import LASTING

PROGRAM = LASTING + """
import sys

def work(n):
    total = 0
    for i in range(n):
        total += i
    return total

def {extra}(n):
    return work(n)

def main():
    for _ in range({rounds}):
        work({size})
        {extra}(2000)
    last()

main()
"""

suite = Suite()


def loop(test, rounds=2):
    """Run test(shell, folder, command) in a folder with a store that holds a fast and a slow run of app.py."""
    python = find_interpreter("debian-3.11")
    with python.scratch() as folder:
        def shell(*arguments, status=0):
            done = subprocess.run([FIZEAU, *arguments], cwd=folder, capture_output=True, text=True,
                                  timeout=120, env={**os.environ, "GIT_CEILING_DIRECTORIES": folder})
            assert done.returncode == status, f"{arguments}: {done.stdout}{done.stderr}"
            return done

        script = pathlib.Path(folder) / "app.py"
        run = ["run", "--python", python.command[0], "app.py"]
        script.write_text(PROGRAM.format(size=30000, extra="old", rounds=rounds), encoding="utf-8")
        shell(*run)
        script.write_text(PROGRAM.format(size=120000, extra="new", rounds=rounds), encoding="utf-8")
        shell(*run)
        return test(shell, pathlib.Path(folder), run)


def changed(answer, name):
    return next(f for f in answer["functions"] if f["name"] == name and f["file"] == "app.py")


@suite.test("fizeau diff without arguments compares the last two runs")
def last_two():
    def check(shell, _folder, _run):
        text = shell("diff").stdout
        answer = json.loads(shell("diff", "--format", "json").stdout)
        assert text.strip() and answer["verdict"]["word"], (text, answer["verdict"])
        assert answer["scale"]["mode"] == "time", answer["scale"]
        assert answer["base"]["facts"]["complete"] and answer["head"]["facts"]["complete"]
        same = json.loads(shell("diff", "@2", "@1", "--format", "json").stdout)
        assert same == answer
    loop(check)


@suite.test("the last two runs: which functions became slower, and by how much")
def last_two_figures():
    def check(shell, _folder, _run):
        text = shell("diff").stdout
        answer = json.loads(shell("diff", "--format", "json").stdout)
        verdict = answer["verdict"]
        if verdict["word"] not in ("slower", "unknown") or verdict["change_pct"] <= 0:
            raise Wrong(verdict)
        assert text.startswith({"slower": "Slower by ", "unknown": "Unsure whether "}[verdict["word"]]), text
        assert answer["scale"] == {"mode": "time", "factor": 1}, answer["scale"]
        assert changed(answer, "work")["pct_self"] > 50, changed(answer, "work")
        # With names guessed, "new" may be taken for "old" renamed, which it nearly is.
        apart = json.loads(shell("diff", "--no-rename-detection", "--format", "json").stdout)
        assert changed(apart, "new")["state"] == "new"
        assert changed(apart, "old")["state"] == "removed"
        swapped = json.loads(shell("diff", "@1", "@2", "--format", "json").stdout)
        there, back = (changed(a, "work") for a in (answer, swapped))
        # Each is told at its base's speed, so what is mirrored is the ratio, up to how unevenly the
        # speed lay on the functions.
        ratios = there["head_self"] / there["base_self"], back["base_self"] / back["head_self"]
        assert 0.9 < ratios[0] / ratios[1] < 1.1, (there, back)
    loop(check, 150)


@suite.test("waiting for the sampler does not count as waiting for other programs")
def waits_for_sampler():
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, list(allowed)[:1])  # both have to go by one processor
    try:
        answer = json.loads(loop(lambda shell, folder, run: shell("diff", "--format", "json")).stdout)
    finally:
        os.sched_setaffinity(0, allowed)
    waited = [answer[side]["facts"]["waited_pct"] for side in ("base", "head")]
    assert max(waited) < 2, waited


@suite.test("a program is identified by its place; else the same name elsewhere is used")
def namesakes():
    def check(shell, folder, run):
        (folder / "other").mkdir()
        (folder / "other" / "app.py").write_text((folder / "app.py").read_text())
        shell(*run[:-1], "other/app.py")
        told = shell("diff")
        assert "from different folders" in told.stderr, told
        shell(*run)
        answer = json.loads(shell("diff", "--format", "json").stdout)
        scripts = [answer[side]["facts"]["script"] for side in ("base", "head")]
        assert scripts == [str(folder.resolve() / "app.py")] * 2, scripts
        shell(*run[:-1], str(folder / "other" / ".." / "app.py"))
        assert "different folders" not in shell("diff").stderr
    loop(check)


TEXT = "t = 0\n" + LASTING + "last()"


@suite.test("-c programs are identified by their text, not by environments and arguments")
def texts():
    def check(shell, folder, run):
        python = run[2]
        link = folder / "v" / "bin" / "python"
        link.parent.mkdir(parents=True)
        link.symlink_to(os.path.realpath(python))
        shell("run", "--", python, "-c", TEXT)
        shell("run", "--", python, "-c", LASTING + "last()")
        assert "no two recordings of the same program" in shell("diff", status=2).stderr
        shell("run", "--", str(link), "-c", TEXT, "more")
        done = shell("diff", "--verbose")
        assert "the commands differ" in done.stdout and " more" in done.stdout, done.stdout
        listed = shell("list").stdout
        assert "-c 't = 0" in listed, listed
    loop(check)


@suite.test("a run by another clock is not the last run")
def kinds():
    def check(shell, _folder, run):
        before = json.loads(shell("diff", "--format", "json").stdout)
        shell(run[0], "--mode", "cpu", *run[1:])
        done = shell("diff", status=2)
        assert "with the same settings: @1 and @2 differ" in done.stderr, done.stderr
        listed = [line.split()[5] for line in shell("list").stdout.splitlines()[1:]]
        assert listed == ["cpu", "wall", "wall"], listed
        assert before == json.loads(shell("diff", "@3", "@2", "--format", "json").stdout)
    loop(check)


@suite.test("a running recording is listed as such and changes no number")
def being_recorded():
    def check(shell, folder, run):
        before = shell("diff", "--format", "json").stdout
        (folder / "long.py").write_text("import os, time\nopen('pids', 'a').write(f'{os.getpid()}\\n')\n"
                                        "time.sleep(1000)\n", encoding="utf-8")
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder)}
        recorder = subprocess.Popen([FIZEAU, *run[:-1], "long.py"], cwd=folder, env=environment,
                                    stderr=subprocess.DEVNULL)
        runs = subprocess.Popen([FIZEAU, *run[:-1], "--runs", "2", "long.py"], cwd=folder,
                                env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            pids = folder / "pids"
            wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 2 and
                       shell("list").stdout.count(" running ") == 2, "both programs")
            listed = shell("list").stdout
            for child in (recorder, runs):
                assert f"pid {child.pid}: long.py" in listed, listed
            assert listed.splitlines()[3].startswith("@1 "), listed
            assert shell("diff", "--format", "json").stdout == before
            assert "still being recorded" in shell("rm", "--all").stderr
            assert "long.py" in shell("list").stdout
        finally:
            recorder.kill()
            recorder.wait()
            runs.terminate()
            runs.wait()
            for pid in pids.read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        # The first was killed and left what it had; the second was ended by a signal and has a run.
        listed = shell("list").stdout
        assert " running " not in listed and " cut " in listed or "before the first sample" in listed, listed
    loop(check)


@suite.test("a failed run is marked when recorded, listed and compared")
def failed():
    def check(shell, folder, run):
        text = (folder / "app.py").read_text()
        (folder / "app.py").write_text(text + "sys.exit(3)\n", encoding="utf-8")
        done = shell(*run, status=3)
        assert "failed: exit status 3" in done.stdout, done.stdout
        first = shell("list").stdout.splitlines()[1]
        assert " exit 3 " in first, first
        words = "the head failed: exit status 3"
        assert f"Warning: {words}" in shell("diff").stdout, shell("diff").stdout
        answer = json.loads(shell("diff", "--format", "json").stdout)
        assert any(line.startswith(words) for line in answer["warnings"]) and answer["head"]["facts"]["failed_runs"] == 1
        assert "failed_runs" not in answer["base"]["facts"]
        markdown = shell("diff", "--format", "markdown").stdout
        assert "> Warning: the head failed" in markdown, markdown
        (folder / "app.py").write_text(text + "import os; os.abort()\n", encoding="utf-8")
        shell(*run, status=-signal.SIGABRT)
        assert " SIGABRT " in shell("list").stdout.splitlines()[1]
        told = shell("diff").stdout
        assert "the base failed: exit status 3" in told, told
        assert "the head failed: signal 6 (SIGABRT)" in told, told
    loop(check)


@suite.test("one failed run of several is reported")
def one_failed():
    def check(shell, folder, run):
        (folder / "app.py").write_text(
            LASTING + "last()\nimport os, sys\n"
            "n = len(os.listdir('runs')); open(f'runs/{n}', 'w').close(); sys.exit(n % 2)\n",
            encoding="utf-8")
        (folder / "runs").mkdir()
        done = shell("run", "--runs", "3", *run[1:], status=1)
        assert "1 of the run's 3 runs failed: exit status 1" in done.stdout, done.stdout
        listed = shell("list").stdout
        assert "exit 1" in listed and "3 runs, 1 failed" in listed, listed
        told = shell("diff").stdout
        assert "1 of the head's 3 runs failed: exit status 1" in told, told
    loop(check)


@suite.test("a run can be compared with an earlier one when it ends")
def compared_run():
    def check(shell, folder, run):
        shell(run[0], "--diff-flamegraph", "@2", "-o", "diff.json", *run[1:])
        answer = json.loads((folder / "diff.json").read_text(encoding="utf-8"))
        assert changed(answer, "main")["state"] == "common", changed(answer, "main")
        shell(run[0], "--diff-flamegraph", "@2", "-o", "diff.html", *run[1:])
        assert (folder / "diff.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    loop(check)


@suite.test("a baseline that cannot be read is found before the program starts")
def missing_baseline():
    def check(shell, folder, run):
        started = folder / "started"
        (folder / "app.py").write_text(f"open({str(started)!r}, 'w')", encoding="utf-8")
        done = shell(run[0], "--diff-flamegraph", "missing.fz", *run[1:], status=125)
        assert "missing.fz" in done.stderr and not started.exists(), done.stderr
    loop(check)


if __name__ == "__main__":
    suite.main()
