#!/usr/bin/env python3
"""fizeau run: the program behaves as without it, and the recording exists and is readable."""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from livelib import EXPECTED, FIZEAU, QUIET, SANITIZED, Skip, Suite, Wrong, find_interpreter, fizeau, wait_until
from watching import LASTING, TAKEN, wait_for_samples

suite = Suite()

# Spends nearly all its time in leaf() until the seconds are over and there are samples, then exits with a status.
BUSY = TAKEN + """\
import sys, time
def leaf(n):
    s = 0
    for i in range(n): s += i * i
    return s
def main(seconds):
    seen, end = taken(), time.time() + seconds
    while time.time() < end or taken() < seen + 20: leaf(2000)
main(float(sys.argv[1]))
sys.stdout.write("done")
sys.exit(int(sys.argv[2]))
"""

SLOW_START = "import time\ndef nap():\n    print('up', flush=True)\n    time.sleep(30)\nnap()\n"


def scratch(**files):
    """A temporary folder with files in it; `x_py` becomes x.py."""
    folder = tempfile.TemporaryDirectory(prefix="fz-")
    for name, text in files.items():
        pathlib.Path(folder.name, name.replace("_py", ".py")).write_text(text)
    return folder


def shares(file, cwd=None):
    """{function: (self share, total share)} in percent, from `fizeau show`."""
    shown = fizeau("show", file, cwd=cwd, env={**os.environ, "COLUMNS": "200"})
    assert shown.returncode == 0, shown.stderr
    rows = re.findall(r"^ +[\d.,]+ \w+ +([\d.]+) % +[\d.,]+ \w+ +([\d.]+) %  (\S+) ", shown.stdout,
                      re.M)
    return {name: (float(self_), float(total)) for self_, total, name in rows}


def facts(file, cwd=None):
    shown = fizeau("show", file, cwd=cwd, env={**os.environ, "COLUMNS": "1000"})
    assert shown.returncode == 0, shown.stderr
    head = shown.stdout.split("\n\n")[0]
    return dict(line.split(None, 1) for line in head.splitlines() if " " in line)


def places(file, cwd=None):
    """"file:function" of all stacks."""
    done = fizeau("replay", "--collapsed", "-o", "-", file, cwd=cwd)
    assert done.returncode == 0, done
    return {frame.rpartition(":")[0] for line in done.stdout.splitlines() for frame in line.rpartition(" ")[0].split(";")}


def check_main(file, script="busy.py", cwd=None):
    """Check that main() of a script was sampled."""
    found = places(file, cwd)
    assert any(place.endswith(f"{script}:main") for place in found), found


def child_of(process):
    """The process started by `fizeau run`."""
    return int(wait_until(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text).split()[0])


def check_leaf(file, least=35):
    found = shares(file)
    assert found.get("leaf", (0, 0))[0] >= least, found
    return found


def start(*args, **options):
    """fizeau in the background."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([FIZEAU, *map(str, args)], text=True, **options)


# ---- every interpreter ----

def run_on(name, figures=True):
    python = find_interpreter(name)
    with python.scratch() as folder:
        script = pathlib.Path(folder, "busy.py")
        script.write_text(BUSY)
        out = pathlib.Path(folder, "x.fz")
        done = fizeau("run", "-o", out, "--", *python.command, python.path(script), "0.7", "7")
        assert done.returncode == 7, done.stderr
        assert done.stdout == "done", done.stdout
        check_main(out)
        if figures:
            check_leaf(out)
        version = facts(out)["python"]
        assert version.startswith("%d.%d." % python.version), version


def attach_to(name):
    python = find_interpreter(name)
    with python.scratch() as folder:
        script = pathlib.Path(folder, "busy.py")
        script.write_text(BUSY)
        out = pathlib.Path(folder, "x.fz")
        target = subprocess.Popen([*python.command, python.path(script), "4", "0"],
                                  stdout=subprocess.DEVNULL)
        try:
            time.sleep(1)
            done = fizeau("attach", "-d", "0.7", "-o", out, target.pid)
            assert done.returncode == 0, done.stderr
            check_leaf(out, 85)
            assert target.poll() is None, "attach ended the process"
        finally:
            target.kill()
            target.wait()


for interpreter in EXPECTED:
    suite.add(f"run {interpreter}", run_on, interpreter)
suite.add("run debian-3.11: samples are where the program was", run_on, "debian-3.11", False)
for interpreter in EXPECTED:
    suite.add(f"attach {interpreter}", attach_to, interpreter)


# ---- what is started ----

@suite.test("a script is run by python3 of PATH, with its own options")
def script_by_path():
    with scratch(a_py="import sys; print(sys.argv[1:])\n" + LASTING + "last()\n") as d:
        done = fizeau("run", "-o", "x.fz", "a.py", "-o", "y", "--help", "--", "", cwd=d)
        assert done.stdout == "['-o', 'y', '--help', '--', '']\n", done
        assert facts("x.fz", d)["command"].startswith("python3 a.py -o y --help -- ''"), facts("x.fz", d)


@suite.test("--python selects the interpreter")
def other_python():
    with scratch(a_py="import sys; print(sys.executable)") as d:
        link = os.path.join(d, "my python")
        os.symlink(os.path.realpath("/usr/bin/python3"), link)
        done = fizeau("run", "--python", link, "-o", "x.fz", "a.py", cwd=d)
        assert done.stdout.strip() == link, done


@suite.test("-m runs a module")
def module():
    with scratch(mod_py="import sys\nif __name__ == '__main__': print(sys.argv[1:])") as d:
        done = fizeau("run", "-o", "x.fz", "-m", "mod", "-m", "x", cwd=d)
        assert done.stdout == "['-m', 'x']\n", done


@suite.test("odd arguments arrive unchanged and are shown escaped")
def odd_arguments():
    odd = ["a b", "line\nbreak", "'quote'", b"\xff\xfe".decode("utf-8", "surrogateescape"),
           "\x1b[31mred", "x" * 10000, ";"]
    with scratch(a_py=LASTING + "import os, sys; print([os.fsencode(a) for a in sys.argv[1:]]); last()\n") as d:
        done = fizeau("run", "-o", "x.fz", "a.py", *odd, cwd=d)
        assert done.stdout == f"{[os.fsencode(a) for a in odd]}\n", done.stdout
        shown = fizeau("show", "x.fz", cwd=d).stdout
        assert "samples" in shown and "\x1b" not in shown


@suite.test("a #! script, env and a virtual environment are followed by exec")
def shebang_env_venv():
    with scratch(busy_py=BUSY) as d:
        script = pathlib.Path(d, "tool")
        script.write_text("#!/usr/bin/env python3\n" + BUSY)
        script.chmod(0o755)
        assert fizeau("run", "-o", "1.fz", "./tool", "0.4", "3", cwd=d).returncode == 3
        assert fizeau("run", "-o", "2.fz", "--", "env", "A=b", "python3", "busy.py", "0.4", "4",
                      cwd=d).returncode == 4
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", "v"], cwd=d, check=True)
        assert fizeau("run", "-o", "3.fz", "v/bin/python", "busy.py", "0.4", "5",
                      cwd=d).returncode == 5
        for n in (1, 2, 3):
            check_main(os.path.join(d, f"{n}.fz"), "tool" if n == 1 else "busy.py")


def shell_script(figures):
    # If the machine stalls for so long that the shell itself is sampled, Python is searched for every half second.
    text = BUSY if figures else BUSY.replace("seen + 20", "seen + 700")
    with scratch(busy_py=text, other_py=text.replace("leaf", "second")) as d:
        done = fizeau("run", "-o", "x.fz", "--", "sh", "-c",
                      "python3 busy.py 0.5 0; python3 other.py 0.5 0; exit 9", cwd=d)
        assert done.returncode == 9
        check_main("x.fz", cwd=d)
        check_main("x.fz", "other.py", cwd=d)
        found = shares("x.fz", d)
        assert not figures or found["leaf"][0] > 25 and found["second"][0] > 25, found


suite.add("a shell script that starts Python twice is recorded twice", shell_script, False)
suite.add("a shell script that starts Python twice is recorded twice, each for its time", shell_script, True)


@suite.test("a program that replaces itself by exec is followed")
def exec_again():
    first = BUSY.replace("leaf", "first") + "\n"
    first = first.replace("sys.exit(int(sys.argv[2]))",
                          "import os; os.execv(sys.executable, [sys.executable, 'busy.py', '0.5', '6'])")
    with scratch(busy_py=BUSY, first_py=first) as d:
        done = fizeau("run", "-o", "x.fz", "first.py", "0.5", cwd=d)
        assert done.returncode == 6, done
        check_main("x.fz", "first.py", cwd=d)
        check_main("x.fz", cwd=d)


@suite.test("fifteen execs in a row, each as soon as it can")
def execs():
    text = ("import os, sys\nn = int(sys.argv[1])\n"
            "if n: os.execv(sys.executable, [sys.executable, __file__, str(n - 1)])\n"
            + LASTING + "last()\nsys.exit(9)\n")
    with scratch(a_py=text) as d:
        done = fizeau("run", "-r", "10khz", "-o", "x.fz", "a.py", "15", cwd=d)
        assert done.returncode == 9, done
        assert sample_count("x.fz", d) >= 20


@suite.test("an end at any moment of the start is survived")
def early_ends():
    with scratch() as d:
        for n in range(25):
            done = fizeau("run", "-r", "5khz", "-o", "x.fz", "--", "timeout", "-s", "KILL",
                          str(0.001 + n * 0.002), "python3", "-c", "import time; time.sleep(1000)",
                          cwd=d)
            assert done.returncode in (-9, 137), (n, done)


@suite.test("the helpers of a script that becomes Python are not part of the recording")
def helpers():
    script = f"#!/bin/sh\nsleep 0.5\nexec {sys.executable} busy.py 0.7 5\n"
    with scratch(**{"busy.py": BUSY, "wrapper": script}) as d:
        os.chmod(os.path.join(d, "wrapper"), 0o755)
        for options in [], ["--mode", "gil"]:
            done = fizeau("run", "-a", *options, "-o", "x.fz", "--", "./wrapper", cwd=d)
            assert done.returncode == 5 and "nothing" not in done.stderr, done
            found = facts("x.fz", d)
            assert found["program"] == "busy.py", found
            text = fizeau("replay", "x.fz", "--collapsed", "-o", "-", cwd=d).stdout
            assert "nanosleep" not in text and "busy.py" in text, text[:500]
            plain = fizeau("run", "-a", *options, "-o", "y.fz", sys.executable, "busy.py", "0.2", "0",
                           cwd=d)
            done = fizeau("diff", "x.fz", "y.fz", cwd=d)
            assert done.returncode == 0, (plain, done)


@suite.test("a pyenv shim is followed")
def shim():
    root = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    if not (root / "shims" / "python3").exists():
        raise Skip("no pyenv on this machine")
    with scratch(busy_py=BUSY) as d:
        done = fizeau("run", "-o", "x.fz", "--", root / "shims" / "python3", "busy.py", "0.6", "5",
                      cwd=d)
        assert done.returncode == 5 and done.stdout == "done", done
        check_leaf(os.path.join(d, "x.fz"))


@suite.test("forks do not disturb, and their end is not ours")
def forks():
    text = TAKEN + """\
import os, sys, time
def main():
    seen = taken()
    while taken() < seen + 200: sum(range(1000))
for _ in range(30):
    if os.fork() == 0:
        time.sleep(0.01)
        os._exit(0)
main()
sys.exit(8)
"""
    with scratch(a_py=text) as d:
        assert fizeau("run", "-a", "-r", "2khz", "-o", "x.fz", "a.py", cwd=d).returncode == 8
        check_main("x.fz", "a.py", cwd=d)


@suite.test("a command that ends at once keeps its exit status, and the empty recording is reported")
def too_short():
    with scratch() as d:
        done = fizeau("run", "-r", "1", "sh", "-c", "exit 5", cwd=d)
        assert done.returncode == 5, done
        # A shell that is suspended before its first step is sampled as a shell.
        kept = list(pathlib.Path(d, ".fizeau").glob("*.fz"))
        assert ("ended before the first sample" in done.stderr) == (not kept), (done.stderr, kept)
        assert not kept or "recorded to" in done.stderr, done.stderr


@suite.test("a program that cannot be started is one line and 125")
def not_started():
    with scratch(plain="text") as d:
        for words in (["nosuch"], ["nosuch.py"], ["./plain/x"], ["--", "nosuch.py"],
                      ["--python", "/nosuch", "-m", "x"]):
            done = fizeau("run", "-o", "x.fz", *words, cwd=d)
            assert done.returncode == 125, (words, done)
            assert done.stderr.startswith("fizeau: ") and done.stderr.count("\n") == 1, done.stderr
            assert not os.path.exists(os.path.join(d, "x.fz"))


@suite.test("a module that does not exist is Python's one line and status")
def no_module():
    with scratch() as d:
        done = fizeau("run", "-m", "no_such_module", cwd=d)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done
        assert "No module named no_such_module" in done.stderr
        assert not list(pathlib.Path(d, ".fizeau").glob("*.fz")), "its start was kept"


@suite.test("a module that fails is recorded")
def failing_module():
    with scratch(mod_py=BUSY) as d:
        done = fizeau("run", "-o", "x.fz", "-m", "mod", "0", "1", cwd=d)
        assert done.returncode == 1 and "samples" in done.stderr, done
        check_main("x.fz", "mod.py", cwd=d)


@suite.test("wrong options are one line and 2")
def wrong_options():
    for words in (["-r", "0"], ["-r", "2 khz"], ["-r", "2ghz"], ["-d", "x"], ["-d", "-1"],
                  ["--clock", "sun"], ["--keep"], ["--nosuch"], [""], ["--python", "python3", "--"]):
        done = fizeau("run", *words, "true")
        assert done.returncode == 2, (words, done)
        assert done.stderr.startswith("fizeau: run: ") and done.stderr.count("\n") == 1, done.stderr


# ---- as without us ----

@suite.test("standard input, output, open files and environment are the program's own")
def transparent():
    text = ("import os, sys\nprint(sys.stdin.read(), sorted(os.listdir('/proc/self/fd')),"
            " sorted(os.environ), os.getpgid(0) == os.getpgid(os.getppid()))")
    with scratch(a_py=text) as d:
        bare = subprocess.run(["python3", "a.py"], input="in", capture_output=True, text=True, cwd=d)
        ours = fizeau("run", "-o", "x.fz", "a.py", input="in", cwd=d)
        assert ours.stdout == bare.stdout, (ours.stdout, bare.stdout)


@suite.test("the signal dispositions and mask are the program's own")
def signal_state():
    text = "print([l for l in open('/proc/self/status') if l.startswith('Sig')][1:])"
    with scratch(a_py=text) as d:
        bare = subprocess.run(["python3", "a.py"], capture_output=True, text=True, cwd=d)
        ours = fizeau("run", "-o", "x.fz", "a.py", cwd=d)
        assert ours.stdout == bare.stdout, (ours.stdout, bare.stdout)


@suite.test("exit status and death by signal are passed on")
def statuses():
    with scratch() as d:
        for status in (0, 1, 3, 125, 255):
            assert fizeau("run", "sh", "-c", f"exit {status}", cwd=d).returncode == status
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGINT):
            if signal.getsignal(number) == signal.SIG_IGN:
                continue  # in the background of some shells: the program inherits that
            done = fizeau("run", "sh", "-c", f"kill -{int(number)} $$", cwd=d)
            assert done.returncode == -number, (number, done)


@suite.test("signals sent to us reach the program and the recording is complete")
def forwarded():
    text = SLOW_START.replace("import time", "import signal, sys, time\n"
                              "def bye(n, f): print('got', n, flush=True); sys.exit(40 + n)\n"
                              "for n in (1, 2, 10, 12, 15): signal.signal(n, bye)")
    with scratch(a_py=text) as d:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2):
            with start("run", "-o", "x.fz", "a.py", cwd=d) as process:
                assert process.stdout.readline() == "up\n"
                wait_for_samples(child_of(process), recorder=process)
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
            assert out == f"got {int(number)}\n" and process.returncode == 40 + number, (out, err)
            assert any(place.endswith("a.py:nap") for place in places("x.fz", d)), places("x.fz", d)


@suite.test("Ctrl-C of a terminal reaches the program once")
def ctrl_c():
    text = ("import signal, time\ncount = 0\ndef hit(*_):\n    global count\n    count += 1\n"
            "signal.signal(signal.SIGINT, hit)\nprint('up', flush=True)\n"
            "while not count: time.sleep(0.01)\n" + LASTING + "last(200)\nprint('count', count, flush=True)\n")
    with scratch(a_py=text) as d:
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(d)
            os.execv(FIZEAU, [FIZEAU, "run", "-o", "x.fz", "a.py"])
        seen = b""
        while b"up" not in seen:
            seen += os.read(master, 1024)
        os.write(master, b"\x03")
        try:
            while True:
                seen += os.read(master, 1024)
        except OSError:
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(master)
        assert b"count 1" in seen and status == 0, (seen, status)
        shares("x.fz", d)


# ---- the end ----

@suite.test("--duration ends the program with SIGTERM and exits 0")
def duration():
    with scratch(a_py=SLOW_START) as d:
        begin = time.time()
        done = fizeau("run", "-d", "0.5", "-o", "x.fz", "a.py", cwd=d)
        assert done.returncode == 0 and 0.4 < time.time() - begin < 3, done
        assert facts("x.fz", d)["exit"].strip() == "signal 15"
        assert shares("x.fz", d)["nap"][0] > 20


@suite.test("--keep leaves it running")
def keep():
    with scratch(a_py="import os\nopen('pid', 'w').write(str(os.getpid()))\n" + SLOW_START) as d:
        done = fizeau("run", "-d", "0.5", "--keep", "-o", "x.fz", "a.py", cwd=d,
                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, capture_output=False)
        # On a busy machine the half second may be over before Python is up.
        pid = pathlib.Path(d, "pid")
        wait_until(lambda: pid.exists() and pid.read_text())
        os.kill(int(pid.read_text()), signal.SIGKILL)  # raises when it is gone
        assert done.returncode == 0


@suite.test("after kill -9 of the recorder the program continues and the recording is readable")
def killed():
    text = ("import sys\ndef main():\n    print('up', flush=True)\n    sys.stdin.readline()\n"
            "main()\nsys.stdout.write('done')\n")
    with scratch(busy_py=text) as d:
        process = start("run", "-o", "x.fz", "busy.py", cwd=d, stdin=subprocess.PIPE)
        assert process.stdout.readline() == "up\n"
        # It is written each half second.
        wait_until(lambda: any("busy.py:main" in line for line in fizeau(
            "replay", "--collapsed", "-o", "-", "x.fz", cwd=d).stdout.splitlines()), "a block of samples")
        process.kill()
        process.wait()
        out, _ = process.communicate("\n")  # the program's
        assert out == "done", out
        check_main("x.fz", cwd=d)
        assert facts("x.fz", d)["program"].strip() == "busy.py"


# A recorder that has found no room does not answer any more.
FULL = """\
def full():
    if os.statvfs("small").f_bavail:
        return False
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(2)
        try:
            s.connect("\\0fizeau-recorder-%d" % os.getpid())
            s.sendall(b"ping\\n")
            return not s.recv(9)
        except OSError:
            return True
"""


@suite.test("a full disk ends the recording, not the program")
def full_disk():
    if os.geteuid() != 0:
        raise Skip("mounting a small tmpfs needs root")
    with scratch(busy_py=BUSY) as d:
        small = os.path.join(d, "small")
        os.mkdir(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small]).returncode:
            raise Skip("a tmpfs cannot be mounted here")
        text = BUSY.replace("taken() < seen + 20", "not full()").replace("def main", FULL + "def main")
        pathlib.Path(d, "busy.py").write_text(text)
        try:
            done = fizeau("run", "-a", "-r", "max", "-o", f"{small}/x.fz", "busy.py", "0", "4", cwd=d)
            assert done.returncode == 4 and done.stdout == "done", done
            assert "recorded until then" in done.stderr and "space" in done.stderr, done.stderr
            # On a slow machine it is full before main(), or before anything was written.
            (until,) = re.findall(r"recorded until then: ([\d,]+) samples?", done.stderr)
            if until == "0":
                assert not os.path.exists(f"{small}/x.fz"), done.stderr
            else:
                assert places(f"{small}/x.fz"), done.stderr
        finally:
            subprocess.run(["umount", small], check=True)


@suite.test("on a disk without any room no file is left")
def no_room():
    if os.geteuid() != 0:
        raise Skip("mounting a small tmpfs needs root")
    with scratch(busy_py=BUSY) as d:
        small = os.path.join(d, "small")
        os.mkdir(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", small]).returncode:
            raise Skip("a tmpfs cannot be mounted here")
        pathlib.Path(small, "other").write_bytes(bytes(4096))
        try:
            done = fizeau("run", "-o", "small/x.fz", "busy.py", "0.1", "4", cwd=d)
            assert done.returncode == 4 and done.stdout == "done", done
            assert done.stderr == ("fizeau: warning: small/x.fz: the recording cannot be written: No space left on "
                                   "device; recorded until then: 0 samples\n"), done.stderr
            assert os.listdir(small) == ["other"]
        finally:
            subprocess.run(["umount", small], check=True)


@suite.test("a recording that cannot be written is an error, unless the program fails itself")
def not_written():
    with scratch(busy_py=BUSY) as d:
        for status, expected in (0, 125), (4, 4):
            done = fizeau("run", "-o", "/dev/full", "busy.py", "0", status, cwd=d, env={**os.environ, "TMPDIR": d})
            assert done.returncode == expected and "/dev/full: cannot be written" in done.stderr, done
            assert f"recording saved in {d}/" in done.stderr, done.stderr


@suite.test("a disk with room for less than a hundred samples is reported alike")
def fuller_disk():
    if os.geteuid() != 0:
        raise Skip("mounting a small tmpfs needs root")
    told = 0
    with scratch(busy_py=BUSY) as d:
        small = os.path.join(d, "small")
        os.mkdir(small)
        for size in (4, 8, 12, 16, 32, 64):
            if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", small]).returncode:
                raise Skip("a tmpfs cannot be mounted here")
            try:
                # Native stacks get their names at the end, and the file is written anew.
                done = fizeau("run", "-r", "100hz", "--native=stacks", "-o", f"{small}/x.fz", "busy.py",
                              "0.6", "4", cwd=d)
                assert done.returncode == 4 and done.stdout == "done", done
                full = [line for line in done.stderr.splitlines() if "space" in line]
                if len(full) > 1 or any("recorded until then" not in line for line in full):
                    raise Wrong(done.stderr)
                told += len(full)
                empty = any(line.endswith("until then: 0 samples") for line in full)
                assert empty or fizeau("replay", f"{small}/x.fz").returncode == 0
            finally:
                subprocess.run(["umount", small], check=True)
    assert told, "nothing was full"


@suite.test("a disk that is busy for as long as the program runs loses nothing")
def slow_disk():
    with scratch(busy_py=BUSY, x_fz="an old one") as d:
        slow = subprocess.run(["strace", "-f", "-o", "strace.log", "-e", "trace=ftruncate",
                               "-e", "inject=ftruncate:delay_enter=3000000",
                               FIZEAU, "run", "-a", "-o", "x.fz", "busy.py", "1", "4"],
                              cwd=d, capture_output=True, text=True, timeout=60, check=False,
                              env=QUIET)
        assert slow.returncode == 4, slow.stderr
        assert "ftruncate" in pathlib.Path(d, "strace.log").read_text()
        found = shares("x.fz", d)
        assert "leaf" in found and found["leaf"][1] > 50, found


STALLS = """\
import ctypes, sys, time
stall = ctypes.CDLL("./stall.so").stall
def stalled():
    stall(400)
def slept():
    time.sleep(0.4)
begin = time.monotonic()
stalled()
middle = time.monotonic()
slept()
print(middle - begin)
"""
# As a thread that waits for a disk does, the parent of vfork waits uninterruptibly.
STALL = """\
#include <unistd.h>
void stall(int ms)
{
	if (vfork() == 0) {
		usleep(ms * 1000);
		_exit(0);
	}
}
"""


@suite.test("waits for a disk are distinguished from sleep")
def disk_waits():
    with scratch(a_py=STALLS) as d:
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-w", "-o", "stall.so", "-xc", "-"],
                       cwd=d, check=True, input=STALL, text=True)
        done = fizeau("run", "-o", "x.fz", "a.py", cwd=d)
        stalled = float(done.stdout.split()[0])
        text = fizeau("replay", "--metric", "disk", "--collapsed", "-o", "-", "x.fz", cwd=d).stdout
        waited = {"stalled": 0, "slept": 0}
        for line in text.splitlines():
            stack, value = line.rsplit(" ", 1)
            for name in waited:
                waited[name] += float(value) / 1e9 if f"a.py:{name}:" in stack else 0
        assert abs(waited["stalled"] - stalled) < 0.05 * stalled, (waited, stalled, text)
        assert waited["slept"] < 0.05 * stalled, waited
        return f"{waited['stalled']:.3f} of {stalled:.3f} s"


@suite.test("a pipe gets a whole recording")
def to_pipe():
    with scratch(busy_py=BUSY) as d:
        os.mkfifo(os.path.join(d, "pipe.fz"))
        with open(os.path.join(d, "x.fz"), "wb") as kept, \
                subprocess.Popen(["cat", "pipe.fz"], cwd=d, stdout=kept) as cat:
            done = fizeau("run", "-a", "-o", "pipe.fz", "busy.py", "0.5", "4", cwd=d, timeout=60)
            assert done.returncode == 4, done.stderr
            assert cat.wait() == 0
        check_main("x.fz", cwd=d)


@suite.test("messages about a recording are one line, whatever its folder is called")
def odd_folder():
    with scratch() as d:
        odd = pathlib.Path(d, "odd\n\x1b[31mfolder")
        odd.mkdir()
        (odd / "busy.py").write_text(BUSY)
        done = fizeau("run", "busy.py", "0.3", "0", cwd=odd)
        assert done.returncode == 0 and "\x1b" not in done.stderr, done
        last = done.stderr.splitlines()[-1]
        assert last.startswith("fizeau: recorded to ") and r"odd\n\x1b[31mfolder" in last, last


@suite.test("an output that cannot be written is found before the program starts")
def unwritable():
    with scratch(a_py="open('started', 'w')") as d:
        for path in ("no/such/x.fz", "a.py/x.fz", "/proc/x.fz"):
            done = fizeau("run", "-o", path, "a.py", cwd=d)
            assert done.returncode == 125 and done.stderr.count("\n") == 1, done
            assert not os.path.exists(os.path.join(d, "started"))


@suite.test("an old recording survives when the program cannot be started")
def old_recording():
    with scratch(busy_py=BUSY) as d:
        assert fizeau("run", "-o", "x.fz", "busy.py", "0.3", "0", cwd=d).returncode == 0
        before = pathlib.Path(d, "x.fz").read_bytes()
        assert fizeau("run", "-o", "x.fz", "--", "./nosuch", cwd=d).returncode == 125
        assert pathlib.Path(d, "x.fz").read_bytes() == before


# ---- how it samples ----

def sample_count(file, cwd):
    shown = fizeau("show", file, cwd=cwd).stdout
    return int(re.search(r"^([\d,]+) samples", shown, re.M)[1].replace(",", ""))


@suite.test("--blocking records, and releases the program when killed")
def blocking():
    text = BUSY.replace("main(float(sys.argv[1]))",
                        "import threading\n"
                        "def wait():\n    sys.stdin.readline()\n"
                        "for _ in range(2): threading.Thread(target=main, args=(0,)).start()\n"
                        "threading.Thread(target=wait).start()\n"
                        "main(float(sys.argv[1]))")
    with scratch(a_py=text) as d:
        done = fizeau("run", "-a", "--blocking", "-o", "x.fz", "a.py", "0", "3", cwd=d, stdin=subprocess.DEVNULL)
        assert done.returncode == 3, done
        check_main("x.fz", "a.py", cwd=d)
        text = text.replace("taken() < seen + 20", "threading.active_count() > 3")
        pathlib.Path(d, "a.py").write_text(text)
        process = start("run", "-a", "--blocking", "-r", "5khz", "-o", "y.fz", "a.py", "0", "0", cwd=d,
                        stdin=subprocess.PIPE)
        wait_for_samples(child_of(process), recorder=process)
        process.kill()
        process.wait()
        out, _ = process.communicate("\n")
        assert out == "done", "the program was left stopped"


@suite.test("--blocking passes signals and new threads and processes through")
def blocking_signals():
    text = """\
import os, signal, subprocess, sys, threading, time
hits = []
signal.signal(signal.SIGALRM, lambda *_: hits.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
end = time.time() + 100
threads = children = 0
while time.time() < end and (len(hits) <= 30 or threads <= 50 or not children):
    t = threading.Thread(target=sum, args=(range(1000),)); t.start(); t.join(); threads += 1
    if threads % 50 == 0:
        assert subprocess.run(["true"]).returncode == 0; children += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(hits) > 30, threads > 50, children > 0)
"""
    with scratch(a_py=text) as d:
        done = fizeau("run", "-a", "--blocking", "-o", "x.fz", "a.py", cwd=d)
        assert done.stdout == "True True True\n", done


@suite.test("--blocking survives exec, also by a second thread, and a child's end")
def blocking_exec():
    text = ("import os, sys, threading, time\n"
            "def take_over(): os.execv(sys.executable, [sys.executable, 'busy.py', '0.3', '6'])\n"
            "threading.Timer(0.2, take_over).start()\ntime.sleep(1000)\n")
    with scratch(a_py=text, busy_py=BUSY) as d:
        options = ["run", "--blocking", "-a", "-o", "x.fz"]
        assert fizeau(*options, "a.py", cwd=d).returncode == 6
        assert fizeau(*options, "--", "sh", "-c", "python3 busy.py 0.3 0; exit 4", cwd=d).returncode == 4


# Not a Pool, whose semaphores need a /dev/shm, which an old root lacks.
SPAWNED = TAKEN + """\
import multiprocessing, time
def work(n):
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    workers = [multiprocessing.Process(target=work, args=(n,)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seen = taken()
    while taken() < seen + 20:
        pass
"""


def spawned(name, times=6):
    """What spawned processes leave behind for a moment, their resource tracker, is not the program."""
    python = find_interpreter(name)
    with python.scratch() as folder:
        script, out = pathlib.Path(folder, "spawned.py"), pathlib.Path(folder, "spawned.fz")
        script.write_text(SPAWNED)
        for launcher in ([], ["sh", "-c", '"$@"; true', "sh"]):
            for _ in range(times):
                done = fizeau("run", "-o", out, "--", *launcher, *python.command,
                              python.path(script))
                assert done.returncode == 0, done.stderr
                text = fizeau("replay", "--collapsed", "-o", "-", out).stdout
                foreign = [line for line in text.splitlines() if "resource_tracker.py:main" in line]
                assert not foreign and "spawned.py" in text, (done.stderr, foreign)
                threads = {line.split(";")[0] for line in text.splitlines()}
                assert len(threads) == 1, threads


for name in EXPECTED:
    if int(name.split(".")[-1]) >= 8:
        suite.add(f"multiprocessing's resource tracker is not the program: {name}", spawned, name)
suite.add("multiprocessing's resource tracker is not the program", spawned, "debian-3.11", 1)


@suite.test("--clock cpu counts CPU time, not sleep")
def cpu_clock():
    with scratch(a_py=BUSY.replace("main(float(sys.argv[1]))",
                                   "main(0.5)\ntime.sleep(1)\n"
                                   "print(time.process_time(), file=sys.stderr)")) as d:
        done = fizeau("run", "--clock", "cpu", "-o", "x.fz", "a.py", "0", "0", cwd=d)
        used = float(done.stderr.split()[0])
        shown = fizeau("show", "x.fz", cwd=d).stdout
        value, unit = re.search(r"samples, ([\d.]+) (\w+) of CPU time", shown).groups()
        counted = float(value) * {"s": 1, "ms": 1e-3}[unit]
        assert 0.6 * used < counted < 1.1 * used, (counted, used)
        return f"{counted:.3f} of {used:.3f} s"


@suite.test("weights add up to the time that passed, at any rate")
def weights():
    notes = []
    with scratch(a_py=SLOW_START.replace("30", "1.5")) as d:
        for rate in ("7", "333.3", "3khz", "20khz", "max"):
            fizeau("run", "-r", rate, "-o", "x.fz", "a.py", cwd=d)
            shown = fizeau("show", "x.fz", cwd=d).stdout
            total = float(re.search(r"samples, ([\d.]+) s of wall time", shown)[1])
            nap = total * shares("x.fz", d)["nap"][1] / 100
            # A sanitizer takes its time between the program's start and the first sample.
            spare = 0.3 if rate == "7" or SANITIZED else 0.1
            assert 1.5 - spare < nap < 1.5 + spare, (rate, nap)
            notes.append(f"{rate}: {sample_count('x.fz', d)}")
    return ", ".join(notes)


# ---- the store ----

THREADS = LASTING + """\
import threading
enough = threading.Event()
def nap(): enough.wait()
threads = [threading.Thread(target=nap) for _ in range(3)]
for t in threads: t.start()
last(300)  # threads are listed each tenth of a second
enough.set()
for t in threads: t.join()
"""


def check_left_out(name):
    python = find_interpreter(name)
    say = "; 3 other threads were not sampled: -a samples all"
    with python.scratch() as folder:
        os.chmod(folder, 0o755)
        script, recording = pathlib.Path(folder, "x.py"), pathlib.Path(folder, "x.fz")
        script.write_text(THREADS)
        command = [*python.command, python.path(script)]
        done = fizeau("run", "-o", recording, "--", *command)
        assert say in done.stderr, done.stderr
        again = fizeau("replay", recording).stdout
        assert say in re.sub(r"\s+", " ", again), again
        done = fizeau("run", "-a", "-o", recording, "--", *command)
        assert "not sampled" not in done.stderr, done.stderr
        done = fizeau("run", "-o", recording, "--", *python.command, "-c", LASTING + "last()")
        assert "samples" in done.stderr and "not sampled" not in done.stderr, done.stderr


for interpreter in ("pyenv-3.8", "debian-3.11", "forky-3.15"):
    suite.add(f"{interpreter}: threads that were not sampled are reported", check_left_out, interpreter)


@suite.test("the store: latest, by revision, list, show, rm")
def store():
    def git(*args):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *args], cwd=d, check=True,
                       capture_output=True)
    # git must finish before the program ends, so that the recorder has no other child then.
    text = BUSY.replace("sys.stdout.write", "while open(f'/proc/{os.getppid()}/task/{os.getppid()}/children').read()"
                        ".split() != [str(os.getpid())]: time.sleep(0.05)\nsys.stdout.write")
    with scratch(busy_py=text) as d:
        git("init", "-q", "-b", "trunk")
        git("add", ".")
        git("commit", "-q", "-m", "one")
        os.mkdir(os.path.join(d, "sub"))
        fizeau("run", "../busy.py", "0.3", "0", cwd=os.path.join(d, "sub"))
        git("commit", "-q", "--allow-empty", "-m", "two")
        with open(os.path.join(d, "busy.py"), "a") as file:
            file.write("# changed\n")
        fizeau("run", "busy.py", "0.3", "0", cwd=d)
        assert not subprocess.run(["git", "status", "--porcelain", "-uall"], cwd=d, text=True,
                                  capture_output=True).stdout.count("fizeau")
        listed = fizeau("list", cwd=d).stdout.splitlines()
        assert len(listed) == 3 and listed[1].startswith("@1 ") and "+ " in listed[1], listed
        latest, first = facts("@1", d), facts("@2", d)
        assert facts("HEAD~1", d)["file"] == first["file"]
        assert facts("trunk", d)["file"] == latest["file"]
        assert latest["git.dirty"].strip() == "yes" and first["git.dirty"].strip() == "no"
        assert latest["git.branch"].strip() == "trunk"
        assert oct(os.stat(latest["file"].strip()).st_mode & 0o777) == "0o600"
        assert fizeau("show", "@3", cwd=d).returncode == 2
        assert fizeau("rm", "busy.py", cwd=d).returncode == 2
        assert fizeau("rm", "@1", cwd=d).returncode == 0
        assert facts("@1", d)["file"] == first["file"]


def in_terminal(*words):
    """What the command writes to a terminal of 100 columns."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
    with subprocess.Popen([FIZEAU, *map(str, words)], stdin=subprocess.DEVNULL, stdout=theirs, env=env) as process:
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 65536):
                said += piece
        except OSError:  # its end is closed
            pass
        os.close(ours)
        assert process.wait() == 0, said
    return said.decode()


@suite.test("a terminal shows when the program used the CPU")
def activity():
    text = ("import time\ndef burn():\n    end = time.process_time() + 1\n"
            "    while time.process_time() < end: sum(range(1000))\n"
            "time.sleep(1)\nburn()\ntime.sleep(1)\n")
    for clock in "wall", "cpu":
        with scratch(app_py=text) as folder:
            done = fizeau("run", "--clock", clock, "-o", "x.fz", "--", sys.executable,
                          "app.py", cwd=folder)
            assert done.returncode == 0, done.stderr
            said = in_terminal("replay", os.path.join(folder, "x.fz"))
            bars = re.search(r"^CPU use: (.*) in ([\d.]+) s", said, re.M)
            assert bars, said
            heights, seconds = [" ▁▂▃▄▅▆▇█".index(c) for c in bars[1]], float(bars[2])
            slot = seconds / len(heights)
            asleep = [h for i, h in enumerate(heights) if 0.5 < i * slot < 0.9 or 0.2 < seconds - (i + 1) * slot < 0.8]
            assert 3 <= seconds and not any(asleep) and max(heights) > 0, said
            assert "CPU use" not in fizeau("replay", os.path.join(folder, "x.fz")).stdout


@suite.test("a program that a script becomes after a while is seen from its start")
def late():
    with tempfile.TemporaryDirectory() as folder:
        path, python = os.path.join(folder, "r.fz"), find_interpreter("debian-3.11").command[0]
        unseen = []
        for _ in range(3):
            done = fizeau("run", "-o", path, "--", "sh", "-c", f"sleep 0.2; exec {python} -c 'sum(range(10000000))'")
            assert done.returncode == 0, done
            facts = json.loads(fizeau("replay", path, "--format", "json", "-o", "-").stdout)["facts"]
            unseen.append(int(facts["start.unseen"].split()[0]))
        assert min(unseen) < 5000, unseen
    return f"unseen: {unseen} us"


# Holds the recorder up after it has started the program: until that is up, and 0.1 s more.
HOLD_C = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
int access(const char *path, int mode);
int usleep(unsigned us);
long syscall(long n, long a, long b, long c, long d, long e, long f)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	static int held;
	if (n == SYS_pidfd_open && !held++) {
		for (int i = 0; i < 12000 && access("up", 0); i++)
			usleep(10000);
		usleep(100000);
	}
	return next(n, a, b, c, d, e, f);
}
"""


@suite.test("a recorder that is held up after the program started records for how long")
def held_up():
    if not shutil.which("cc") or SANITIZED:
        raise Skip("a library that is loaded first needs a C compiler and a build without sanitizers")
    python = find_interpreter("debian-3.11").command[0]
    unseen = {}
    for clock in "wall", "cpu":
        with scratch(hold_c=HOLD_C, app_py=LASTING + "open('up', 'w').close()\nlast()\n") as folder:
            subprocess.run(["cc", "-shared", "-fPIC", "-o", "hold.so", "-x", "c", "hold_c"], cwd=folder, check=True)
            done = fizeau("run", "--clock", clock, "-o", "x.fz", "--", "env", "-u", "LD_PRELOAD", python, "app.py",
                          cwd=folder, env={**os.environ, "LD_PRELOAD": os.path.join(folder, "hold.so")})
            assert done.returncode == 0, done.stderr
            facts = json.loads(fizeau("replay", "x.fz", "--format", "json", cwd=folder).stdout)["facts"]
            unseen[clock] = int(facts["start.unseen"].split()[0])
    # By the CPU clock at most the CPU time of the program until then.
    assert unseen["wall"] >= 100_000 and unseen["cpu"] > 0, unseen


if __name__ == "__main__":
    suite.main()
