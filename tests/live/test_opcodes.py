#!/usr/bin/env python3
"""Instructions of frames: their names are the interpreters' own, and recordings have the true ones."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

from livelib import EXPECTED, SOURCE, Suite, Target, Wrong, find_interpreter, fizeau, wait_until
from watching import PATIENCE, waits
from wire import varints

suite = Suite()

# Each function stays at one instruction nearly all the time; hot() is warm when it is specialised.
PROGRAM = """\
import time
class Thing:
    __slots__ = ("value",)
thing = Thing()
thing.value = 1
def hot():
    end = time.time() + 1
    while time.time() < end:
        for i in range(2000):
            thing.value; thing.value; thing.value; thing.value; thing.value; thing.value
            thing.value; thing.value; thing.value; thing.value; thing.value; thing.value
hot()
"""


def check_names(name):
    """tools/make-opcodes would write the existing table."""
    python = find_interpreter(name)
    done = subprocess.run([SOURCE / "tools" / "make-opcodes", "--check", shlex.join(python.command)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def instructions(page):
    """{name: [self, total]} of a page's rows, summed; decoded as docs/page.md describes."""
    import base64
    import zlib
    text = pathlib.Path(page).read_text(encoding="utf-8")
    header = json.loads(re.search(r'id="fz-header">(.*?)</script>', text, re.S)[1])
    data = zlib.decompress(base64.b64decode(re.search(r'id="fz-data">(.*?)</script>', text, re.S)[1]),
                           -15)

    def column(name):
        c = next(c for c in header["columns"] if c["name"] == name)
        return [value * c["unit"] for value in varints(data[c["at"]:c["at"] + c["size"]])]

    sums = {}
    for name, own, total in zip(column("op.name"), column("op.self.head"), column("op.total.head")):
        row = sums.setdefault(tuple(header["opcodes"][name]), [0, 0])
        row[0] += own
        row[1] += total
    return sums


def check_recorded(name):
    python = find_interpreter(name)
    with python.scratch() as folder:
        script = pathlib.Path(folder, "program.py")
        script.write_text(PROGRAM, encoding="utf-8")
        recording, page = (pathlib.Path(folder, f"x.{suffix}") for suffix in ("fz", "html"))
        done = fizeau("run", "--opcodes", "-o", recording, "--", *python.command, python.path(script))
        assert done.returncode == 0 and not re.search("nothing was", done.stderr), done.stderr
        for passed_through in (recording, pathlib.Path(folder, "x.bin")):
            if passed_through != recording:
                assert fizeau("replay", recording, "-o", passed_through).returncode == 0
            assert fizeau("replay", passed_through, "-o", page).returncode == 0
            sums = instructions(page)
            own = sum(s for s, _ in sums.values())
            slot = sum(s for (n, _), (s, _) in sums.items() if n == "LOAD_ATTR_SLOT")
            loads = sum(s for (_, base), (s, _) in sums.items() if base == "LOAD_ATTR")
            assert own > 0.5e9, sums
            assert slot > 0.1 * own, sums
            assert loads < 1.2 * slot, sums
            assert not any(n.startswith("<") for n, _ in sums), sums
    return f"{100 * slot / own:.0f} % at LOAD_ATTR_SLOT"


def check_specialised(name):
    """The instruction is seen by its own name, with that of its family, also after a way through .bin."""
    endless = "print('up', flush=True)\n" + PROGRAM.replace("time.time() < end", "True")
    with Target(find_interpreter(name), endless) as target, tempfile.TemporaryDirectory() as folder:
        recording, other, page = (pathlib.Path(folder, f"x.{suffix}") for suffix in ("fz", "bin", "html"))

        def look():
            done = fizeau("attach", "--opcodes", "-d", "0.3", "-o", recording, target.pid)
            assert done.returncode == 0, done
            if "nothing was recorded" in done.stderr:
                return False
            assert fizeau("replay", recording, "-o", other).returncode == 0
            found = []
            for path in (recording, other):
                assert fizeau("replay", path, "-o", page).returncode == 0
                names = [*instructions(page)]
                if any(name.startswith("<") for name, _ in names):
                    raise Wrong(names)
                found.append(("LOAD_ATTR_SLOT", "LOAD_ATTR") in names)
            assert found[0] == found[1], found
            return all(found)
        wait_until(look, "LOAD_ATTR_SLOT", PATIENCE)


def check_callers(name):
    """Frames that called others are at the call, not in its inline cache: dis in the target says
    which instruction that is."""
    python = find_interpreter(name)
    with python.scratch() as folder:
        script = pathlib.Path(folder, "target.py")
        shutil.copy(SOURCE / "tests" / "live" / "opcodes_target.py", script)
        with subprocess.Popen([*python.command, python.path(script)], stdout=subprocess.PIPE,
                              text=True) as target:
            true = json.loads(target.stdout.readline())
            wait_until(lambda: waits(target.pid), "its sleep")
            done = fizeau("dump", "--opcodes", "--json", target.pid)
            target.kill()
    assert done.returncode == 0, done.stderr
    frames = json.loads(done.stdout)["processes"][0]["threads"][0]["frames"]
    seen = [[f["function"].split(".")[-1], f["opcode"].split(" ")[0]] for f in frames[:-1]]
    assert seen == true, (seen, true)
    assert {"CALL_PY_EXACT_ARGS"} <= {opcode for _, opcode in true} and len(true) >= 13, true
    return f"{len({opcode for _, opcode in true})} instructions"


def check_refused(name):
    """For a version that does not specialise, an error comes before anything is written."""
    python = find_interpreter(name)
    with python.scratch() as folder:
        recording = pathlib.Path(folder, "x.fz")
        done = fizeau("run", "--opcodes", "-o", recording, "--", *python.command, "-c",
                      "import time; time.sleep(0.3)")
        assert "--opcodes requires Python 3.11 or later, not 3." in done.stderr, done.stderr


for interpreter in EXPECTED:
    if int(interpreter.split(".")[1]) >= 11:
        suite.add(f"{interpreter}: names", check_names, interpreter)
        suite.add(f"{interpreter}: instructions that call", check_callers, interpreter)
        suite.add(f"{interpreter}: a specialised instruction", check_recorded, interpreter)
        suite.add(f"{interpreter}: a specialised instruction is seen", check_specialised, interpreter)
    else:
        suite.add(f"{interpreter}: refused", check_refused, interpreter)

if __name__ == "__main__":
    suite.main()
