#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Growth of the resident set (--pagefaults) against what programs touched and the kernel's figures
(smaps_rollup).

Memory that is to grow by a known number of bytes is mapped for it: what a function allocates may have
been there before. Beside it Python's own objects grow a little.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile

import test_kernel
from livelib import Skip, Suite, find_interpreter, fizeau, wait_until

suite = Suite()
MiB = 1 << 20
PAGE = os.sysconf("SC_PAGESIZE")

TOUCH = """\
import ctypes, json, mmap, os, sys, threading, time
MiB, PAGE = 1 << 20, mmap.PAGESIZE
libc = ctypes.CDLL(None)
memset = libc.memset  # which lets other threads run meanwhile
memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
kept, grown = [], {}
def resident():
    with open("/proc/self/smaps_rollup") as file:
        return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Rss:"))
def fresh(size, advice=mmap.MADV_NOHUGEPAGE):
    kept.append(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    try:
        kept[-1].madvise(advice)
    except OSError:
        pass  # a kernel without
    return kept[-1]
def at(memory):
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
def each_page(memory, value):
    for i in range(0, len(memory), PAGE):
        memory[i] = value
def measured(*steps):
    for step in steps:
        before = resident()
        step()
        grown[step.__name__] = resident() - before
resident(), at(fresh(PAGE))
"""

PLANTED = TOUCH + """
def eight():
    each_page(fresh(8 * MiB), 1)
def sixteen():
    kept.append(bytearray(b"x") * (16 * MiB))
def thirtytwo():
    memory = fresh(32 * MiB, mmap.MADV_HUGEPAGE)
    memset(at(memory), 1, len(memory))
def again():
    for memory in kept:
        each_page(memory, 2)
def main():
    input()
    measured(eight, sixteen, thirtytwo, again)
    print(json.dumps(grown))
main()
"""


def read(path):
    """A recording as JSON, with the bytes of each function by its name."""
    report = test_kernel.told(path)
    assert (report["metric"], report["unit"]) == ("resident", "bytes"), report["metric"]
    return report, {name: f["total"] for name, f in report["by_name"].items()}


def recorded(folder, code, name="debian-3.11"):
    return test_kernel.run_saying(folder, code, name, "--pagefaults")


def watched(folder, code, *seen, name="debian-3.11", line="go"):
    """The program ends when the recording has these functions."""
    return test_kernel.attach_saying(folder, code + "sys.stdout.flush()\nsys.stdin.read()\n", name, "--pagefaults", line=line,
                                     seen=seen)


def close(seen, true):
    return abs(seen - true) <= 0.02 * true


def check_planted(name):
    with tempfile.TemporaryDirectory() as folder:
        grown, path = watched(folder, PLANTED, "eight", "sixteen", "thirtytwo", name=name)
        report, seen = read(path)
    for function, size in (("eight", 8), ("sixteen", 16), ("thirtytwo", 32)):
        assert close(seen[function], size * MiB), (function, seen, grown)
        assert close(seen[function], grown[function]), (function, seen, grown)
    assert seen.get("again", 0) < 4 * MiB, (seen, grown)  # a second time it would be all of them
    off = {f: seen.get(f, 0) - grown[f] for f in grown}
    worst = max(off, key=lambda f: abs(off[f]))
    return f"furthest from smaps_rollup: {worst} by {off[worst] // 1024} KiB"


@suite.test("threads that grow at the same time are distinguished, and nothing is counted twice")
def threads():
    code = TOUCH + """
def small():
    for i in range(48):
        memset(at(fresh(MiB)), 1, MiB)
def large():
    for i in range(96):
        memset(at(fresh(MiB)), 1, MiB)
def copy():
    with open(sys.executable, "rb", buffering=0) as file:
        memory = fresh(32 * MiB)
        for i in range(32):
            file.seek(0)
            file.readinto(memoryview(memory)[i * MiB:][:MiB])
def both(*jobs):
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
def main():
    input()
    both(small, large)
    both(copy, copy)
    print("{}")
main()
"""
    with tempfile.TemporaryDirectory() as folder:
        _, seen = read(watched(folder, code, "small", "large", "copy")[1])
    for function, size in (("small", 48), ("large", 96), ("copy", 64)):
        assert abs(seen[function] - size * MiB) < 0.005 * size * MiB, (function, seen)


@suite.test("a child's growth is its own, and copies forced on its parent are not growth")
def child():
    code = TOUCH + """
def grow():
    memory = fresh(16 * MiB)
    memset(at(memory), 1, len(memory))
def rewrite():
    each_page(kept[-1], 2)
def main():
    input()
    grow()
    pid = os.fork()
    if not pid:
        measured(rewrite, grow)
        os._exit(grown["grow"] < 16 * MiB)
    measured(rewrite)
    print(json.dumps([grown, os.waitpid(pid, 0)[1]]))
main()
"""
    with tempfile.TemporaryDirectory() as folder:
        (grown, status), path = watched(folder, code, "grow")
        _, seen = read(path)
    assert status == 0, status
    assert close(seen["grow"], 16 * MiB), seen
    assert abs(grown["rewrite"]) < MiB and seen.get("rewrite", 0) < 64 * PAGE, (grown, seen)


@suite.test("pages of a file count when mapped, but not again when changed")
def files():
    code = TOUCH + """
def look():
    return sum(memory[i] for i in range(0, len(memory), PAGE))
def change():
    each_page(memory, 1)
def main():
    global memory
    with open(input(), "rb") as file:
        memory = mmap.mmap(file.fileno(), 8 * MiB, flags=mmap.MAP_PRIVATE,
                           prot=mmap.PROT_READ | mmap.PROT_WRITE)
    measured(look, change)
    print(json.dumps(grown))
main()
"""
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder, "data")
        data.write_bytes(os.urandom(8 * MiB))
        grown, path = watched(folder, code, "look", line=data)
        _, seen = read(path)
    assert close(grown["look"], 8 * MiB) and close(seen["look"], 8 * MiB), (grown, seen)
    assert seen.get("change", 0) < 64 * PAGE, (grown, seen)


@suite.test("the initial size plus recorded growth equals the kernel's final value")
def whole():
    code = TOUCH + """
def main():
    time.sleep(1)  # until we are there
    import decimal, json.tool, xml.dom.minidom
    each_page(fresh(4 * MiB), 1)
    print(resident())
main()
"""
    with tempfile.TemporaryDirectory() as folder:
        last, path = recorded(folder, code)
        report, _ = read(path)
    said = report["facts"]["growth.unseen"]
    before, others = (float(number) * {"B": 1, "KiB": 1024, "MiB": MiB}[unit]
                      for number, unit in re.findall(r"([0-9.]+) (B|KiB|MiB) (?:allocated|by)", said))
    # Of what grew some was freed since.
    grown = report["total"] + report["stackless_total"]
    excess = grown + before + others - last
    assert -0.01 * last < excess < 2 * MiB, (grown, said, last)
    return f"{excess / 1024:.0f} KiB more, of {last // 1024}"


LEAK = TOUCH + """
def age():
    with open("/proc/self/stat") as file:
        began = int(file.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - began
def churn():
    memory = fresh(8 * MiB)
    each_page(memory, 1)
    kept.remove(memory)
    memory.close()
def leak():
    each_page(fresh(16 * MiB), 1)
def main():
    time.sleep(1)  # until we are there
    borders = [age() - 0.15]
    churn()
    time.sleep(0.3)
    borders.append(age() - 0.15)
    churn()
    leak()
    time.sleep(0.3)
    borders.append(age() - 0.15)
    print(json.dumps(borders))
main()
"""


@suite.test("a leak is the difference of two ranges")
def leak():
    with tempfile.TemporaryDirectory() as folder:
        (start, middle, end), path = recorded(folder, LEAK)
        ranges = ["--base-range", f"{start:.3f}s-{middle:.3f}s", "--head-range", f"{middle:.3f}s-{end:.3f}s"]
        done = fizeau("diff", path, *ranges, "--format", "json", "-o", "-")
        assert done.returncode == 0, done
        report = {f["name"]: f for f in json.loads(done.stdout)["functions"]}
        text = fizeau("diff", "--table", path, *ranges).stdout
        shown = fizeau("show", "--from", f"{middle:.3f}s", "--to", f"{end:.3f}s", path).stdout
        page = pathlib.Path(folder, "r.html")
        assert fizeau("diff", path, *ranges, "-o", page).returncode == 0 and page.stat().st_size
    assert close(report["leak"]["diff_total"], 16 * MiB), report["leak"]
    assert abs(report["churn"]["diff_total"]) < 0.02 * 8 * MiB, report["churn"]
    assert "leak" in text and "MiB" in text, text
    assert re.search(r"16\.\d MiB .*leak ", shown), shown


@suite.test("a running process, for a time")
def attached():
    code = TOUCH + """
def grow():
    each_page(fresh(4 * MiB), 1)
print("ready", flush=True)
while True:
    grow()
    kept.pop().close()
    time.sleep(0.01)
"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "r.fz")
        with subprocess.Popen([*find_interpreter("debian-3.11").command, "-c", code],
                              stdout=subprocess.PIPE, text=True) as target:
            try:
                assert target.stdout.readline() == "ready\n"
                wait_until(lambda: grew(target.pid, path), "its growth")
            finally:
                target.kill()


def grew(pid, path):
    done = fizeau("attach", "--pagefaults", "-d", "0.5", "-o", path, pid)
    if any(said in done.stderr for said in test_kernel.NEVER):
        raise Skip(done.stderr.strip())
    assert done.returncode == 0, done
    if "nothing was recorded" in done.stderr:
        return False
    _, seen = read(path)
    return seen.get("each_page", 0) > 0 and seen["grow"] >= seen["each_page"]


@suite.test("growth is not mistaken for time")
def summary():
    with tempfile.TemporaryDirectory() as folder:
        _, path = watched(folder, LEAK.replace("time.sleep(1)  # until we are there", "input()"), "leak")
        shown = fizeau("show", path).stdout
        facts = test_kernel.told(path)["facts"]
    assert {"growth", "all_threads"} <= set(facts["features"]), facts
    assert " MiB of resident memory: " in shown and "State" not in shown and "missed" not in shown, shown
    assert " allocated before recording, " in facts["growth.unseen"] in " ".join(shown.split()), shown


@suite.test("not permitted, or incompatible options: one line, and nothing starts")
def refused():
    beside = (["--mode", "cpu"], ["--mode", "gil"], ["--clock", "wall"], ["--wait"],
              ["-r", "2khz"], ["--engine", "read"], ["--native"], ["--native=stacks"],
              ["--opcodes"], ["--subprocesses"], ["--blocking"], ["--async-aware"],
              ["--count"], ["--live"])
    assert "root, or CAP_BPF" in test_kernel.check_refused("--pagefaults", beside)
    done = fizeau("attach", "--pagefaults", "--system", "-d", "1")
    assert done.returncode == 2 and "--pagefaults cannot be combined with --system" in done.stderr, done
    command = [*find_interpreter("debian-3.11").command, "-c", ""]
    with tempfile.TemporaryDirectory() as folder:
        for words in (["-r", "1khz"], ["--engine", "read"]):  # all the same without it
            done = fizeau("run", *words, "-o", "r.fz", "--", *command, cwd=folder)
            assert done.returncode == 0, done


if __name__ == "__main__":
    for interpreter in ("debian-3.11", "forky-3.13", "forky-3.15"):
        suite.add(f"{interpreter}: 8, 16 and 32 MiB, small pages and huge ones, and once only",
                  check_planted, interpreter)
    suite.main()
