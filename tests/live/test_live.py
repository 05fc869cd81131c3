#!/usr/bin/env python3
"""The live view, through tmux: real keys, and the screens as a user sees them."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from livelib import FIZEAU, SANITIZED, TASKS, Skip, Suite, Target, find_interpreter, fizeau, wait_until

suite = Suite()

PROGRAM = """\
import os, sys, threading, time
def square(n):
    s = 0
    for i in range(n):
        s += i * i
    return s
def words(n):
    return [str(i) for i in range(n)]
def handle():
    square(3000)
    words(300)
class Waiter:
    def wait(self):
        time.sleep(1000)
threading.Thread(target=Waiter().wait, name="w\\x1b[31m) \\u65e5", daemon=True).start()
print("hello from the program", flush=True)
def \\u65e5\\u672c():
    handle()
while sys.argv[1:] != ["told"] or not os.path.exists("end"):
    for i in range(100):
        \\u65e5\\u672c()
print("an error of the program", file=sys.stderr, flush=True)
sys.exit(3)
"""
# Where tasks are shown by their names, each has one.
NAMED = TASKS.replace("heavy())", 'heavy(), name="heavy")')
PROMPT = r"^(bash[\d.-]+)?[$#]\s*\Z"
PATIENCE = 100


class Terminal:
    """A shell in a tmux of its own."""

    def __init__(self, columns=80, rows=24, env=""):
        if not shutil.which("tmux"):
            raise Skip("tmux is not installed")
        self.folder = tempfile.TemporaryDirectory(prefix="fz-live-", ignore_cleanup_errors=True)
        self.path = pathlib.Path(self.folder.name)
        self.path.joinpath("prog.py").write_text(PROGRAM.encode().decode("unicode_escape")
                                                 .replace("\x1b", "\\x1b"), encoding="utf-8")
        self.socket = str(self.path / "tmux")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows,
                  f"env LC_ALL=C.UTF-8 PS1='$ ' {env} sh")
        self.tmux("set", "-g", "escape-time", "0")
        self.run(f"cd {self.path}; PATH={os.path.dirname(FIZEAU)}:$PATH; clear; echo r''eady")
        # Text typed before that would be cleared, too, and leave what looks like a prompt.
        self.wait(r"ready\n[$#]\s*\Z")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)
        time.sleep(0.1)
        self.folder.cleanup()

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-S", self.socket, *map(str, words)], capture_output=True,
                              text=True, timeout=PATIENCE)
        assert done.returncode == 0, done
        return done.stdout

    def run(self, line):
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def keys(self, *names):
        for name in names:
            self.tmux("send-keys", name)

    def screen(self, *flags):
        return self.tmux("capture-pane", "-p", *flags)

    def wait(self, pattern, gone=False, patience=PATIENCE):
        """The first screen on which the pattern is (or is no longer)."""
        end = time.time() + patience
        while True:
            text = self.screen()
            if bool(re.search(pattern, text, re.M)) != gone:
                return text
            assert time.time() < end, f"{pattern!r} {'stays' if gone else 'does not come'}:\n{text}"
            time.sleep(0.05)

    def press(self, key, message):
        """Press a key until its message is seen, which may be gone before we look. Returns how often."""
        for times in range(1, PATIENCE):
            self.keys(key)
            with contextlib.suppress(AssertionError):
                self.wait(message, patience=2)
                return times
        raise AssertionError(f"{message!r} does not come:\n{self.screen()}")

    def until(self, condition):
        """The first screen for which the condition holds: one may be drawn in part when it is looked at."""
        end = time.time() + PATIENCE
        while True:
            text = self.screen()
            try:
                if condition(text) is not False:
                    return text
                error = "it does not hold"
            except AssertionError as found:
                error = found
            assert time.time() < end, f"{error}:\n{text}"
            time.sleep(0.05)

    def frozen(self):
        """A frozen view, when all of it is drawn: a screen that stays the same."""
        self.keys("p")
        self.wait("FROZEN")

        def stays():
            text = self.screen()
            time.sleep(0.5)
            return text if self.screen() == text else None
        return wait_until(stays, "a screen that stays", PATIENCE)

    def tell(self):
        """End the program."""
        self.path.joinpath("end").touch()

    def normal(self):
        """The terminal is as a shell needs it: echo, lines, main screen, a cursor."""
        self.wait(PROMPT)
        self.run("echo alive; stty -a | grep -o ' [-]*i*echo ' ; stty -a | grep -o '[-]*icanon'")
        text = self.wait(r"^alive\n echo\s*\nicanon$")
        state = self.tmux("display", "-p", "#{alternate_on} #{cursor_flag}").split()
        assert state == ["0", "1"], state
        return text


class Program:
    """The program, started by us, to be attached to."""

    def __init__(self, terminal, *words):
        self.process = subprocess.Popen(["/usr/bin/python3", terminal.path / "prog.py", *words],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.process.stdout.readline()
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def rows(text):
    """(self %, total %, function) of the table."""
    found = re.findall(r"^.\s+(\d+\.\d)\s+(\d+\.\d)\s+((?:[\d.]+ \S+\s+)*[^\w<]*)(.*?)(?: {2,}.*)?$",
                       text, re.M)
    return [(float(own), float(total), name) for own, total, _, name in found]


def sizes(columns, least):
    with Terminal(columns, 50 if columns > 100 else 24) as t, Program(t) as p:
        t.run(f"fizeau top {p.pid}")
        t.wait(r"square")

        def is_whole(text):
            assert len(rows(text)) >= least and "日本" in text and "Waiter.wait" in text, text
            assert text.split("\n")[1].startswith(" LIVE  2 threads"), text
        t.until(is_whole)
        text = t.frozen()
        lines = text.rstrip("\n").split("\n")
        assert lines[0].startswith(" fizeau  /usr/bin/python3") and f"PID {p.pid}" in lines[0], text
        assert lines[1].startswith(" FROZEN"), text
        assert " GIL" in lines[2] and "SELF%" in lines[3] and "FUNCTION" in lines[3], text
        assert "q quit" in lines[-1] and "? help" in lines[-1], text
        assert "日本" in text and "Waiter.wait" in text and "\x1b" not in text, text
        table = rows(text)
        assert len(table) >= least, text
        assert all(0 <= own <= total <= 100 for own, total, _ in table), text
        assert sum(own for own, _, _ in table) <= 100.5, text
        t.keys("q")
        t.normal()
        assert p.process.poll() is None
        assert not t.path.joinpath(".fizeau").exists(), "top left a recording"


suite.add("the table at 80x24", sizes, 80, 5)
suite.add("the table at 140x50", sizes, 140, 5)


@suite.test("the first sample is shown within 100 ms of the first Python code")
def first():
    if SANITIZED:
        raise Skip("a sanitizer is slow")
    with Terminal() as t, Program(t) as p:
        # script(1) keeps the time at which each piece was written.
        if not shutil.which("script"):
            raise Skip("script is not installed")
        best = 1.0
        for _ in range(3):
            log = t.path / "timing"
            t.run(f"script -q -T {log} -c 'fizeau top {p.pid}' typescript")
            t.wait("square")
            t.keys("q")
            t.wait(PROMPT)
            waits = [float(line.split()[-2]) for line in log.read_text().splitlines()
                     if re.match(r"(O )?[\d.]+ \d+$", line)]
            text = t.path.joinpath("typescript").read_bytes()
            sizes_ = [int(line.split()[-1]) for line in log.read_text().splitlines()
                      if re.match(r"(O )?[\d.]+ \d+$", line)]
            start = text.index(b"\n") + 1
            at = min(text.index(name) for name in (b"square", b"words", b"Waiter", b"handle")
                     if name in text) - start
            total = elapsed = 0
            begun = None
            for wait, size in zip(waits, sizes_):
                elapsed += wait
                if begun is None:
                    begun = elapsed
                total += size
                if total > at:
                    break
            best = min(best, elapsed - begun)
        assert best < 0.1, best
        return f"{best * 1000:.0f} ms"


@suite.test("small windows: 40x10 works, smaller ones report it, and growing is followed")
def small():
    with Terminal(40, 10) as t, Program(t) as p:
        t.run(f"fizeau top {p.pid}")
        t.wait("square")
        t.wait(r"SELF%  TOTAL%\s+FUNCTION$")
        assert all(len(line) <= 40 for line in t.screen().split("\n"))
        t.tmux("resize-window", "-x", 30, "-y", 8)
        t.wait("window too small")
        t.tmux("resize-window", "-x", 140, "-y", 40)
        t.wait(r"TREND\s+FUNCTION\s+FILE:LINE")
        t.keys("q")
        t.normal()


@suite.test("keys: sort, filter, freeze, threads, reset, refresh, help")
def keys():
    with Terminal(100, 30) as t, Program(t) as p:
        t.run(f"fizeau top {p.pid}")
        t.wait("square")
        t.keys("s")
        t.wait("▼TOTAL%")
        totals = [total for _, total, _ in rows(t.frozen())]
        assert len(totals) > 1 and totals == sorted(totals, reverse=True), totals
        t.keys("p")
        t.wait("LIVE")
        t.keys("S")
        t.wait("▼SELF%")
        t.keys("/", "s", "q", "u", "a")
        text = t.wait("Filter: squa")
        t.keys("Enter")
        t.wait("Only: squa")
        t.until(lambda text: [name for _, _, name in rows(text)] == ["square"])
        t.keys("c")
        t.wait("Waiter.wait")
        t.frozen()
        t.keys("p")
        t.wait("LIVE")
        t.keys("t")
        one = t.wait(r"thread \d+ \S+ .*\(1 of 2\)|thread \d+ w.x1b.*\(1 of 2\)")
        t.keys("Right")
        two = t.wait(r"\(2 of 2\)")
        assert ("x1b[31m) 日" in one) != ("x1b[31m) 日" in two), (one, two)
        t.keys("t")
        t.wait("2 threads")
        t.keys(*"---------")
        t.press("-", "refresh every 1.00 s")
        t.keys(*"++++++++++")
        t.press("+", "refresh every 0.05 s")
        t.press("r", "counts reset")
        t.keys("?")
        t.wait("Press any key to return")
        t.until(lambda text: all(word in text for word in ("filter", "set a mark", "freeze", "save", "Tab", "+ -")))
        t.keys("Space")
        t.wait("SELF%")
        t.keys("C-c")
        t.normal()


@suite.test("the calls and the lines of a function")
def panel():
    with Terminal(100, 40) as t, Program(t) as p:
        t.run(f"fizeau top {p.pid}")
        t.wait("square")
        t.keys("/", "h", "a", "n", "d", "Enter")
        t.wait("Only: hand")
        t.keys("Enter")
        t.wait(r"calls of handle")
        # The first screens may have few samples, and none of a cheap function.
        t.wait(r"called by 日本 \d+ %")
        t.wait(r"^ +\d+\.\d .*└ square")
        t.keys("Tab")
        t.wait(r"lines of handle")
        t.wait(r"\d+\.\d .* 10\s+square\(3000\)")
        t.wait(r"\d+\.\d .* 11\s+words\(300\)")
        t.keys("Escape")
        t.wait("lines of handle", gone=True)
        t.keys("q")
        t.normal()


@suite.test("a mark adds columns, and M removes them")
def mark_columns():
    with Terminal(120, 30) as t, Program(t) as p:
        t.run(f"fizeau top {p.pid}")
        t.wait("square")
        t.keys("m")
        t.wait(r"\+-SELF")
        t.wait(r"^.\s+\S+\s+\S+\s+[+-]\d+\.\d.*square")
        t.keys("M")
        t.wait(r"\+-SELF", gone=True)
        t.keys("q")
        t.normal()


@suite.test("the change since a mark")
def mark():
    code = PROGRAM.encode().decode("unicode_escape").replace("\x1b", "\\x1b").replace(
        "    square(3000)\n    words(300)\n",
        "    import os\n    (square if not os.path.exists('flag') else words)(3000)\n")
    with Terminal(120, 30) as t:
        t.path.joinpath("prog.py").write_text(code, encoding="utf-8")
        t.run("fizeau run --live prog.py")
        t.wait("square")
        time.sleep(1.5)
        t.keys("m")
        t.wait("mark set: columns show")
        t.path.joinpath("flag").touch()
        time.sleep(2)
        text = t.wait(r"\+-SELF")
        change = {name: float(value) for value, name in
                  re.findall(r"^.\s+\S+\s+\S+\s+([+-]\d+\.\d)[^\w]+?(\w[\w.<>]*)", text, re.M)}
        assert change["square"] < -30, text
        assert max(v for k, v in change.items() if k.startswith("words")) > 30, text
        t.keys("M")
        t.wait(r"\+-SELF", gone=True)
        t.keys("q")
        t.normal()


def table_of(t, samples):
    """The table, once it has that many samples; no percentage is above 100. It is read while frozen,
    because a terminal may show a table half drawn."""
    t.wait(r"^ LIVE .* [\d,]*\d{%d} samples|^ LIVE .* \d+,\d{3} samples" % samples)
    text = t.frozen()
    t.keys("p")
    t.wait("^ LIVE ")
    table = {name: (own, total) for own, total, name in rows(text)}
    assert all(0 <= own <= total <= 100 for own, total in table.values()), text
    assert sum(own for own, _ in table.values()) <= 100.5, text
    return table, text


def tasks(name):
    with Terminal(120, 40) as t, Target(find_interpreter(name), NAMED, name="tasks.py") as p:
        t.run(f"fizeau top --async-aware {p.pid}")
        t.wait(r"<task heavy>")
        table, text = table_of(t, 4)
        assert table["burn"][0] > 80, text
        assert table["<task main>"][1] >= table["<task heavy>"][1] + table["<task light>"][1] - 0.2
        assert 25 < table["<task heavy>"][1] < 75, text
        t.keys("/", *"task h", "Enter")
        t.wait("Only: task h")
        t.keys("Enter")
        t.wait("calls of <task heavy>")
        text = t.wait(r"^ +\d+\.\d .* └ heavy")
        assert re.search(r"called by TaskGroup._aexit 100 %", text), text
        assert re.search(r"└ burn  self", text), text
        t.keys("m")
        t.wait("mark set: columns show")
        t.keys("q")
        t.normal()


def tasks_that_wait(name):
    with Terminal(120, 40) as t, Target(find_interpreter(name), NAMED, name="tasks.py") as p:
        t.run(f"fizeau top --async-aware --async-mode all --task-names {p.pid}")
        for each in ("main|Task-1", "heavy", "light 0", "light 1", "light 2"):
            t.wait(f"<task ({each})>")
        table, text = table_of(t, 4)
        # Three of four tasks wait at any time.
        assert table["sleep"][0] > 50 > table["burn"][0], text
        each = [table[f"<task {task}>"][1] for task in ("heavy", "light 0", "light 1", "light 2")]
        assert max(each) - min(each) < 10, text
        t.keys("q")
        t.normal()


def tasks_saved(name):
    """What is saved from the view keeps tasks."""
    with Terminal(120, 40) as t, Target(find_interpreter(name), NAMED, name="tasks.py") as p:
        t.run(f"fizeau attach --live --async-aware {p.pid}")
        t.wait(r"<task (heavy|Task-\d+)>|<task main>")
        t.press("w", r"saved [\d,]+ samples? so far to")
        t.keys("q")
        t.normal()
        shown = fizeau("show", cwd=t.path).stdout
        assert "<task main>" in shown or "<task heavy>" in shown, shown


for each in ("forky-3.14", "forky-3.15"):
    suite.add(f"{each}: tasks of asyncio", tasks, each)
    suite.add(f"{each}: tasks that wait, by name", tasks_that_wait, each)
suite.add("a recording saved from the view keeps tasks", tasks_saved, "debian-3.11")


@suite.test("run --live: output, errors and the recording when the program ends")
def run_ends():
    with Terminal() as t:
        t.run("fizeau run --live prog.py told; echo status $?")
        t.wait("square")
        t.keys("o")
        t.wait("hello from the program")
        t.keys("x")
        t.wait("square")
        t.tell()
        text = t.wait("status 3")
        whole = t.screen("-S", "-200")
        assert "hello from the program\nan error of the program\n" in whole, whole
        assert "recorded to" in whole, whole
        assert "square" in fizeau("show", cwd=t.path).stdout
        t.normal()
        del text


@suite.test("frozen when the program ends, the view stays until it is left")
def frozen_end():
    with Terminal() as t:
        t.run("fizeau run --live prog.py told; echo status $?")
        t.wait("square")
        t.keys("p")
        t.wait("FROZEN")
        t.tell()
        t.wait("ENDED  exit status 3")
        t.keys("Enter")
        t.wait("calls of")
        t.keys("q")
        t.wait("status 3")
        t.normal()


@suite.test("w saves an ordinary recording; q ends a program that run started")
def save():
    with Terminal() as t:
        t.run("fizeau run --live prog.py; echo status $?")
        t.wait("square")
        times = t.press("w", r"saved [\d,]+ samples? so far to")
        saved = [f for f in t.path.glob(".fizeau/*.fz")]
        t.keys("q")
        t.wait("status 0")
        assert 2 <= len(saved) <= 1 + times, saved
        copy = fizeau("show", "@1", cwd=t.path)
        assert copy.returncode == 0 and "square" in copy.stdout, copy
        page = fizeau("replay", "@1", "--flamegraph", "-o", "x.html", cwd=t.path)
        assert page.returncode == 0, page
        wait_until(lambda: not runs_in(t.path), "the end of the program")
        t.normal()


@suite.test("redirected output is not collected, and the view still has the terminal")
def redirected():
    with Terminal() as t:
        t.run("fizeau run --live prog.py told >out.txt 2>err.txt; echo status $?")
        t.wait("square")
        t.tell()
        t.wait("status 3")
        told = t.path.joinpath("out.txt").read_text().splitlines()
        assert told[:2] == ["hello from the program", "Warning: the run failed: exit status 3."], told
        assert re.fullmatch(r"[\d,]+ samples?, [\d.]+ m?s of wall time: .*prog\.py told", told[2]), told
        assert "an error of the program" in t.path.joinpath("err.txt").read_text()
        t.normal()


def runs_in(folder):
    """Processes of the program in a folder."""
    found = []
    for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if "prog.py" in line.read_text(errors="replace") and line.with_name("cwd").readlink() == folder:
                found.append(line.parent.name)
    return found


def ended_by(number, status):
    with Terminal() as t, Program(t) as p:
        t.run(f"sh -c 'echo $$ >pid; exec fizeau attach --live {p.pid}'; echo status $?")
        t.wait("square")
        os.kill(int(t.path.joinpath("pid").read_text()), number)
        t.wait(f"status {status}")
        t.normal()
        assert p.process.poll() is None


for signal_name, signal_status in (("SIGTERM", "0"), ("SIGHUP", "0"), ("SIGINT", "0"),
                                   ("SIGSEGV", "139"), ("SIGABRT", "134")):
    suite.add(f"{signal_name} restores the terminal", ended_by,
              getattr(signal, signal_name), signal_status)


@suite.test("Ctrl-Z restores the terminal, fg takes it again")
def suspend():
    with Terminal() as t, Program(t) as p:
        t.run("exec bash --norc")
        t.run("clear; echo b''ash")
        t.wait("^bash$")
        t.run(f"fizeau top {p.pid}")
        t.wait("square")
        t.keys("C-z")
        t.wait("Stopped")
        t.run("echo alive")
        t.wait("^alive")
        t.run("fg")
        t.wait("LIVE")
        t.keys("q")
        t.normal()


@suite.test("NO_COLOR and a locale without Unicode")
def plain():
    with Terminal(env="NO_COLOR=1 LC_ALL=C") as t, Program(t) as p:
        t.run(f"fizeau top {p.pid}")
        t.wait("square")
        t.frozen()
        text = t.screen("-e")
        assert "vSELF%" in text and text.isascii(), text
        assert not re.search(r"\x1b\[[\d;]*[34][0-8]", text), "colour in spite of NO_COLOR"
        t.keys("q")
        t.normal()


@suite.test("no terminal, or one without cursor control: one line")
def refused():
    with Terminal(env="TERM=dumb") as t, Program(t) as p:
        t.run(f"fizeau top {p.pid}; echo status $?")
        text = t.wait("status 2").replace("\n", "")
        assert "TERM is 'dumb'" in text, text
        t.run("fizeau run --live prog.py 1; echo and status $?")
        t.wait("and status 2")
        done = subprocess.run([FIZEAU, "top", str(p.pid)], capture_output=True, text=True,
                              start_new_session=True, timeout=PATIENCE)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done
        assert "needs a terminal" in done.stderr, done


if __name__ == "__main__":
    suite.main()
