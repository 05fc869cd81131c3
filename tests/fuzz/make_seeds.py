#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of tests/fuzz/corpus: small files of every kind that a reader knows.

    make_seeds.py FIZEAU        (the binary; needs Python 3.14 for zstd)

What the fuzzer found to be worth keeping is added by tests/fuzz/run and -merge=1.
"""

import gzip
import json
import marshal
import pathlib
import struct
import subprocess
import sys
import tempfile
from compression import zstd

HERE = pathlib.Path(__file__).resolve().parent / "corpus"
sys.path.insert(0, str(HERE.parents[1] / "live"))
import jfr_chunk  # noqa: E402
from wire import varint  # noqa: E402

FIZEAU = sys.argv[1]

TEXTS = {
    "flamegraph": "java;read;check_events_[k];page_[k] 1\njava;start;f_[i];g_[j] 2\njava 7\n",
    "tachyon": "tid:7;<frozen runpy>:_run_code:87;work.py:one:32;<native> 5\n"
               "tid:8;work.py:two:3;<GC> 2\ntid:7;work.py:one:32 1\n",
    "py-spy": "<module> (app.py:12);f (pkg/mod.py:3) 4\n<module> (app.py:12);g (b) (x.py) 1\n",
    "austin": "# austin: 4.0.0\n# interval: 1000\n# mode: cpu\n# python: 3.13.1\n\n"
              "P7;T7 21\nP7;T0:8;/a:b/x.py:f:3;:GC: 1000\n",
    "austin-full": "# austin: 3.0.0\n# interval: 100\n# mode: full\n\n"
                   "P1;T2;x.py:f:3 100,0,4096\nP1;T2;x.py:f:3 200,1,-96\n",
    "austin-diff": "base (__main__.py:2);middle (utils.py:5);top (logging.py:42) 2\n",
    "two-columns": "a;b 1 2\na;c 0 4.0\n",
    "fractions": "a;b 1.5\na;c 2.\n",
    "exponents": "a;b 2.5e+09\na;c 1e-10\na;d 1e\na;e 1e400 7\n",
    "crlf": "a;b 1\r\na;b 2\r\n",
    "odd": "a;\\x3b;\\x;\\x20 3\n;;a;; 4\nno number\n 5\na 18446744073709551616\n",
    "gprofiler": "#{\"metadata\": {}}\n0;host;a;b 3\n",
}
THREADS = ("tid:7;a.py:f:3;b.py:g:7;<GC> 40\ntid:7;a.py:f:3;b.py:g:8 20\ntid:9;a.py:f:4 3\n"
           "tid:7;a.py:f:3 2\ntid:9;a.py:f:3;<native>;c.py:C.<lambda>:1 1\n")


PERF = {
    "periods": "# ========\n# captured on: today\n#\n"
               "a b  7/8 [001] d..1.  12.000001:  1001001 cpu-clock:u: \n"
               "\t  560cb47e52e0 cmp(int, (x) y)+0x1f (/bin/nat)\n  nat.c:12\n"
               "\t  7f109c46d8ea py::walk:/app/w.py+0xa (/run/perf-1.map)\n"
               "\tffffffff81000000 f (inlined)\n\n"
               "a b  7/8 [001]  12.000002:  5 cycles: \n\t 1f [unknown] (/lib/libc.so.6)\n\n",
    "no-chains": "dd 9 1.5: cycles:  ffffffff8103d0ca f ([kernel.kallsyms])\n",
    "no-times": "java 19983 cycles:\nffffffff8103d0ca f ([kernel.kallsyms])\n1234 x\n\n",
}
CALLGRIND = {
    "compressed": "# callgrind format\nversion: 1\ncmd: ./nat 1\npositions: instr line\n"
                  "events: Ir Dr\n\nob=(1) /bin/nat\nfl=(1) nat.c\nfn=(1) main\n0x10 16 400 2\n"
                  "fi=(2) x.h\n+3 -2 7\nfe=(1)\ncob=(1)\ncfi=(2)\ncfn=(2) fib'2\ncalls=3 +4 4\n"
                  "* * 90 1\njump=2 +1 +1\n+1 +1\njcnd=1/2 +1 +1\n+1 +1\n\nfl=(2)\nfn=(2)\n"
                  "+9 4 90 1\ncfn=(1)\ncalls=1 +1\n* * 5\n\ntotals: 497 3\n",
    "plain": "events: cpu(ms)\nfl=a\nfn=f\n1 1.5\ncfl=\ncfn=g\ncalls=1 1\n1 *\nfn=g\n2 +3\n",
}
SPEEDSCOPE = {
    "evented": {"profiles": [{"type": "evented", "unit": "seconds", "name": "t", "endValue": 9,
                              "events": [{"type": "O", "frame": 0, "at": 0},
                                         {"type": "O", "frame": 1, "at": 2.5},
                                         {"type": "C", "frame": 1, "at": 4}]},
                             {"type": "sampled", "unit": "none", "name": "u",
                              "samples": [[0], [0, 1], []], "weights": [3, 1, 2]}],
                "shared": {"frames": [{"name": "a", "file": "a.py", "line": 3, "col": 1},
                                      {"name": "b"}]}},
}
CALL = {"functionName": "f", "url": "f.js", "lineNumber": 2, "columnNumber": 0, "scriptId": "1"}
ROOT = {**CALL, "functionName": "(root)", "lineNumber": -1}
CPUPROFILE = {
    "nodes": {"nodes": [{"id": 1, "callFrame": ROOT, "children": [2, 3]},
                        {"id": 2, "callFrame": CALL, "hitCount": 2,
                         "positionTicks": [{"line": 3, "ticks": 1}, {"line": 4, "ticks": 1}]},
                        {"id": 3, "callFrame": {**CALL, "functionName": "(idle)"}, "parent": 2}],
              "samples": [2, 3, 2], "timeDeltas": [0, 10, -3], "startTime": 5, "endTime": 40},
    "head": {"head": {**ROOT, "id": 1, "hitCount": 0,
                      "children": [{**CALL, "id": 2, "hitCount": 7, "children": []}]}},
    "heap": {"head": {"callFrame": ROOT, "selfSize": 0,
                      "children": [{"callFrame": CALL, "selfSize": 77, "children": []}]}},
}
GECKO = {
    "processed": {"meta": {"interval": 1, "startTime": 1e12, "preprocessedProfileVersion": 57,
                           "sampleUnits": {"threadCPUDelta": "ns"}},
                  "shared": {"stringArray": ["f", "a.py", "(root)", "lib.so"],
                             "sources": {"filename": [1], "length": 1}},
                  "threads": [{"name": "GeckoMain", "pid": "7.1", "tid": 8, "isMainThread": True,
                               "stackTable": {"frame": [0, 1], "prefix": [None, 0]},
                               "frameTable": {"func": [0, 1], "line": [None, 12], "column": [3, 4]},
                               "funcTable": {"name": [2, 0], "source": [None, 0],
                                             "resource": [0, -1], "lineNumber": [None, 9]},
                               "resourceTable": {"name": [3]},
                               "samples": {"stack": [1, None, 0], "timeDeltas": [0, 1, 1.5],
                                           "weight": [2, 1, 1], "weightType": "samples",
                                           "threadCPUDelta": [0, 5, None]}}]},
    "newest": {"meta": {"interval": 1},
               "shared": {"stringArray": ["f", "g"],
                          "stackTable": {"frame": [0, 1], "prefixOffset": [0, 1]},
                          "frameTable": {"func": [0, 1]}, "funcTable": {"name": [0, 1]}},
               "threads": [{"name": "t", "samples": {"stack": [1], "time": [5], "weight": [99],
                                                     "weightType": "bytes"}}]},
    "gecko": {"meta": {"version": 13, "interval": 1},
              "threads": [{"name": "GeckoMain",
                           "stringTable": ["f (a.js:3:4)", "g (in lib)", "0x12"],
                           "frameTable": {"schema": {"location": 0, "line": 1},
                                          "data": [[0, 5], [1], [2]]},
                           "stackTable": {"schema": {"prefix": 0, "frame": 1},
                                          "data": [[None, 2], [0, 1], [1, 0]]},
                           "samples": {"schema": {"stack": 0, "time": 1}, "data": [[2, 1], [1]]}}],
              "processes": [{"threads": [{"samples": {"schema": {}, "data": [[]]}}]}]},
}
PYINSTRUMENT = {
    "session": {"start_time": 1e9, "duration": 0.5, "min_interval": 0.001, "sample_count": 3,
                "start_call_stack": [], "target_description": "Program: w.py 1", "cpu_time": 0.4,
                "frame_records": [
                    [["MainThread\0<thread>\x007", "<module>\0w.py\x001\1l9",
                      "f\0w.py\x003\1cA\1l4"], 0.25],
                    [["MainThread\0<thread>\x007", "<module>\0w.py\x001\1l8"], 0.125],
                    [["T\0<thread>\x008", "f\0w.py\x003\1cA\1l5", "[await]"], 0.0625]]},
    "report": {"start_time": 1e9, "duration": 0.5, "sample_count": 9,
               "target_description": "Block at w.py:3", "cpu_time": 0.4,
               "root_frame": {"function": "<module>", "file_path": "w.py", "line_no": 1,
                              "time": 0.5, "children": [
                                  {"function": "f", "class_name": "A", "file_path": "w.py",
                                   "line_no": 3, "time": 0.375, "children": []},
                                  {"function": "[self]", "file_path": "", "line_no": 0,
                                   "time": 0.0625, "children": []}]}},
}
STACKPROF = {
    mode: {"version": 1.2, "mode": mode, "interval": 1000, "samples": 3, "gc_samples": 1,
           "missed_samples": 0,
           "frames": {"11": {"name": "Object#f", "file": "/a/b.rb", "line": 3},
                      "12": {"name": "block in <main>", "file": "/a/b.rb", "line": 9},
                      "13": {"name": "(garbage collection)", "file": "", "line": None}},
           "raw": [2, 12, 11, 2, 1, 13, 1], "raw_lines": [2, 10, 4, 2, 1, 0, 1],
           "raw_timestamp_deltas": [900, 1100, 1500]} for mode in ("wall", "cpu", "object")}
PPROF_TEXT = {
    "go-heap": "heap profile: 2: 8192 [3: 90112] @ heap/8192\n"
               "2: 8192 [2: 8192] @ 0x4d9706 0x4d97b8\n"
               "#\t0x4d9705\tmain.grow+0x85\t\t/a/g.go:5\n#\t0x4d97b7\tmain.main+0x17\t/a/g.go:9\n\n"
               "0: 0 [1: 81920] @ 0x4d9706\n#\t0x4d9705\tmain.grow+0x85\t/a/g.go:5\n\n"
               "# runtime.MemStats\n# Alloc = 5\n",
    "jemalloc": "heap_v2/524288\n  t*: 3: 1048576 [5: 2097152]\n"
                "  t0: 2: 524288 [3: 1048576] main\n  t1: 1: 524288 [2: 1048576]\n"
                "@ 0x401136 0x4011a0\n  t*: 2: 524288 [3: 1048576]\n"
                "  t0: 2: 524288 [3: 1048576]\n@ 0x401170 0x4011a0\n"
                "  t*: 1: 524288 [2: 1048576]\n  t1: 1: 524288 [2: 1048576]\n\n"
                "MAPPED_LIBRARIES:\n00400000-00402000 r-xp 00000000 08:02 1 /bin/x\n",
    "gperftools": "heap profile:      1:     4096 [     2:     8192] @ heap_v2/524288\n"
                  "     1:     4096 [     2:     8192] @ 0x00401012 0x7f0000001001\n"
                  "\nMAPPED_LIBRARIES:\n00400000-00402000 r-xp 00000000 08:01 77 /a/prog\n"
                  "7f0000001000-7f0000002000: /lib/libc.so.6\n",
    "goroutine": "goroutine profile: total 3\n2 @ 0x47dbce 0x4d97fd\n"
                 "#\t0x4d97fc\tmain.wait+0x1c\t/a/g.go:8\n\n1 @ 0x442bd1\n#\t0x0\n",
}
EVENT = {"pid": 1, "tid": 2}
# Two threads; samples of the second version are not in order.
SENTRY = {
    "transaction": {"platform": "python", "version": "1", "profile": {
        "frames": [{"function": "main", "abs_path": "/a.py", "filename": "a.py", "lineno": 9},
                   {"function": "A.f", "abs_path": "/a.py", "lineno": 3}],
        "stacks": [[1, 0], [0]],
        "samples": [
            {"elapsed_since_start_ns": "0", "thread_id": "7", "stack_id": 0},
            {"elapsed_since_start_ns": "1000", "thread_id": "8", "stack_id": 1},
            {"elapsed_since_start_ns": "10000000", "thread_id": "7", "stack_id": 1},
            {"elapsed_since_start_ns": "12000000", "thread_id": "7", "stack_id": 0}],
        "thread_metadata": {"7": {"name": "MainThread"}}}},
    "chunk": {"chunk_id": "1", "profiler_id": "2", "platform": "node", "version": "2", "profile": {
        "samples": [{"timestamp": 1700000001.5, "stack_id": 0, "thread_id": "main"},
                    {"timestamp": 1700000001.0, "stack_id": 0, "thread_id": "main"}],
        "stacks": [[0]],
        "frames": [{"function": "f", "filename": "a.js", "lineno": 4, "colno": 2},
                   {"instruction_addr": "0x1234", "package": "/lib/libc.so"}]}},
}

TRACE = {
    "calls": [{**EVENT, "ph": "M", "name": "thread_name", "args": {"name": "main"}},
              {**EVENT, "ph": "B", "name": "a", "ts": 0}, {**EVENT, "ph": "B", "name": "b", "ts": 1},
              {**EVENT, "ph": "X", "name": "f (x.py:3)", "ts": "2", "dur": 4},
              {**EVENT, "ph": "E", "name": "b", "ts": 5}, {**EVENT, "ph": "E", "ts": 9},
              {**EVENT, "ph": "B", "name": "z", "ts": 9}, {**EVENT, "ph": "E", "ts": 9}],
    "samples": {"displayTimeUnit": "ms", "traceEvents": [],
                "samples": [{**EVENT, "ts": 1, "sf": 2}, {**EVENT, "ts": 4, "sf": "1"}],
                "stackFrames": {"1": {"name": "r"}, "2": {"name": "s", "parent": 1}}},
    "profile": {"traceEvents": [
        {**EVENT, "ph": "P", "name": "Profile", "id": "0x7", "ts": 5,
         "args": {"data": {"startTime": 4}}},
        {**EVENT, "ph": "P", "name": "ProfileChunk", "id": "0x7", "ts": 9,
         "args": {"data": {"cpuProfile": {"nodes": [{"id": 1, "callFrame": ROOT},
                                                    {"id": 2, "parent": 1, "callFrame": CALL}],
                                          "samples": [2, 1, 2], "endTime": 50},
                           "timeDeltas": [3, 4, -1], "lines": [7, 0, 8]}}}]},
    "whole": [{**EVENT, "ph": "I", "name": "CpuProfile", "ts": 5,
               "args": {"data": {"cpuProfile": CPUPROFILE["nodes"]}}}],
}


def mojo_number(n):
    out = [(n & 63) | (64 if n < 0 else 0)]
    n = abs(n) >> 6
    while n:
        out[-1] |= 128
        out.append(n & 127)
        n >>= 7
    return bytes(out)


def mojo(version, *events):
    """Events as lists of a code, numbers and texts."""
    out = b"MOJ" + mojo_number(version)
    for code, *rest in events:
        out += bytes([code])
        for x in rest:
            out += mojo_number(x) if isinstance(x, int) else x.encode() + b"\0"
    return out


def message(*fields):
    """A protocol buffer of (number, value): an int, text, bytes or a list of packed ints."""
    def number(n):
        out = b""
        while n > 127:
            out, n = out + bytes([n & 127 | 128]), n >> 7
        return out + bytes([n])

    out = b""
    for field, value in fields:
        if isinstance(value, int):
            out += number(field << 3) + number(value)
            continue
        if isinstance(value, list):
            value = b"".join(map(number, value))
        value = value.encode() if isinstance(value, str) else value
        out += number(field << 3 | 2) + number(len(value)) + value
    return out


BPFTRACE = {
    "stacks": "Attaching 1 probe...\n\n@[\n    leaf+3\n    main+12\n]: 1\n@[bash, \n    f+0x1f\n]: 2\n"
              "@[\n    schedule+5\n,\n    nanosleep+9@/a.c:4\n    main+40\n, sleeper, 77]: 12\n"
              "@[, idle]: 3\n",
    "perf": "@[\n\tffffffff81a4 vfs_read+1 ([kernel.kallsyms])\n\t7f00aa main+40 (/bin/app)\n,\n"
            "\tffffffff81a8 entry_SYSCALL_64+9 ([kernel.kallsyms])\n]: 4\n",
    "maps": "@start[12]: 99\n@b[\n    f+1\n]: count 2, average 8, total 16\n@c[\n    g+1\n]: 5\n"
            "@b[\n    h+1\n]: (1, 2)\n",
}
RPROF = {
    "plain": 'sample.interval=20000\n"f" "<GC>" "main" \n"h" "main" \n"f" "ma',
    "lines": 'line profiling: sample.interval=10000\n#File 1: a.R\n1#3 "f" 1#7 "main" 1#9 \n',
    "memory": 'memory profiling: sample.interval=20000\n:2101:33:1000:5:"f" "main" \n',
}
GPROF = """Flat profile:

Each sample counts as 0.01 seconds.
  %   cumulative   self              self     total
 time   seconds   seconds    calls  ms/call  ms/call  name
 80.00      0.08     0.08      500     0.16     0.16  leaf(int)
 20.00      0.10     0.02                             main
  0.00      0.10     0.00        1     0.00    60.00  even(int)

\t\t     Call graph

index % time    self  children    called     name
                                                 <spontaneous>
[1]    100.0    0.02    0.08                 main [1]
                0.00    0.06       1/1           even(int) <cycle 1> [4]
                0.02    0.00     100/500         leaf(int) [2]
-----------------------------------------------
                0.02    0.00     100/500         main [1]
                0.06    0.00     400/500         even(int) <cycle 1> [4]
[2]     80.0    0.08    0.00     500         leaf(int) [2]
-----------------------------------------------
[3]     60.0    0.00    0.06       1+5       <cycle 1 as a whole> [3]
                0.00    0.06       6             even(int) <cycle 1> [4]
-----------------------------------------------
                                   5             even(int) <cycle 1> [4]
                0.00    0.06       1/1           main [1]
[4]     60.0    0.00    0.06       1+5       even(int) <cycle 1> [4]
                0.06    0.00     400/500         leaf(int) [2]
                                   5             even(int) <cycle 1> [4]
-----------------------------------------------

Index by function name

   [2] leaf(int)               [1] main
"""

BCC = {
    "profile": "Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.\n\n"
               "    b'schedule'\n    do_idle_[k]\n    --\n    main\n    -                app (58804)\n"
               "        3\n\n    [unknown]\n    -                a (b) c (1)\n        5\n\n",
    "offcputime": "Tracing off-CPU time (us) of PID 7 by user + kernel stack... Hit Ctrl-C to end.\n^C\n"
                  "    schedule\n    main\n    -                app (7)\n        1500\n\n",
}
DROPPED = message(
    (1, message((1, 1), (2, 2))),
    (2, message((1, [1, 2, 3]), (2, [1000]))), (2, message((1, [2, 3]), (2, [500]))),
    *[(4, message((1, at), (4, message((1, at))), *extra))
      for at, extra in ((1, []), (2, [(4, message((1, 4)))]), (3, []))],
    *[(5, message((1, at), (2, at + 4))) for at in (1, 2, 3, 4)],
    *[(6, s) for s in ("", "space", "bytes", "operator new(\\[\\])?|(__)?malloc_[a-z0-9]{1,4}.*",
                       "malloc_(keep|\\d+)", "operator new[](unsigned long)", "malloc_hook", "main",
                       "reserve")],
    (7, 3), (8, 4))
OTLP_STRINGS = ["", "cpu", "nanoseconds", "main", "app.py", "leaf", "/lib/libc.so.6", "thread.name"]
OTLP = message(
    (1, message((2, message((2, message(
        (1, message((1, 1), (2, 2))),
        (2, message((1, 1), (2, [1]), (4, [70, 30]))),
        (2, message((1, 2), (2, [2]), (5, struct.pack("<QQ", 5, 9)))),
        (4, 1000), (5, message((1, 1), (2, 2))), (6, 10))))))),
    (2, message((1, b""), (1, message((1, 4096), (4, 6))),
                (2, b""), (2, message((3, message((1, 2), (2, 7), (3, 3))),
                                      (3, message((1, 1), (2, 5))))),
                (2, message((1, 1), (2, 0x1234))),
                (3, b""), (3, message((1, 3), (3, 4), (4, 2))), (3, message((1, 5), (3, 4))),
                *[(5, s) for s in OTLP_STRINGS],
                (6, b""), (6, message((1, 7), (2, message((1, "worker"))))), (6, message((1, 7), (2, message((8, 3))))),
                (7, b""), (7, message((1, [2, 1]))), (7, message((1, [1]))))))


def save(folder, name, data):
    (HERE / folder).mkdir(parents=True, exist_ok=True)
    (HERE / folder / name).write_bytes(data)


def convert(text, form):
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "in.collapsed", pathlib.Path(folder) / "out"
        source.write_text(text)
        subprocess.run([FIZEAU, "replay", source, "--format", form, "-o", target], check=True)
        return target.read_bytes()


def perf_record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def perf_attr(event, sample_type, read_format=0):
    """A struct perf_event_attr of a software event with sample_id_all."""
    return struct.pack("<IIQQQQQ", 1, 128, event, 1000, sample_type, read_format,
                       1 << 18) + bytes(80)


def perf_records(ids):
    """What two processes did: maps, names, a fork, samples with call chains."""
    def tail(time, which=0):
        return struct.pack("<IIQ", 7, 7, time) + (struct.pack("<Q", which) if ids else b"")

    def sample(time, which, *chain):
        head = struct.pack("<Q", which) if ids else b""
        return perf_record(9, 2, head + struct.pack("<QIIQQQ", chain[-1], 7, 7, time, 1000,
                                                    len(chain)) + struct.pack("<%dQ" % len(chain),
                                                                              *chain))

    kernel, user = 2**64 - 128, 2**64 - 512
    mapped = struct.pack("<IIQQQ", 7, 7, 0x1000, 0x1000, 0)
    build_id = struct.pack("<BBH20s", 20, 0, 0, bytes(range(20)))
    return b"".join([
        perf_record(1, 1, struct.pack("<IIQQQ", 2**32 - 1, 0, 0xffffffff81000000, 0x200000,
                                      0xffffffff81000000) + b"[kernel.kallsyms]_text\0\0"
                    + tail(0)),
        perf_record(3, 1 << 13, struct.pack("<II8s", 7, 7, b"nat") + tail(1)),
        perf_record(10, 2 | 1 << 14, mapped + build_id + struct.pack("<II16s", 5, 2, b"/nowhere/nat")
                    + tail(2)),
        perf_record(1, 2, struct.pack("<IIQQQ8s", 7, 7, 0x1800, 0x1000, 0, b"//anon") + tail(3)),
        perf_record(7, 0, struct.pack("<IIIIQ", 8, 7, 8, 7, 4) + tail(4)),
        sample(6, 11, kernel, 0xffffffff81000010, user, 0x1010, 0x1900),
        sample(5, 12, user, 0x1100, 0x9000)])


def perf_data(ids):
    kind = 1 | 2 | 4 | 1 << 8 | 1 << 5 | (1 << 16 if ids else 0)
    attrs = [(perf_attr(0, kind), [11]), (perf_attr(2, kind), [12])][:2 if ids else 1]
    id_bytes = b"".join(struct.pack("<%dQ" % len(i), *i) for _, i in attrs)
    table, at = b"", 104 + 144 * len(attrs)
    for attr, own in attrs:
        table += attr + struct.pack("<QQ", at, 8 * len(own))
        at += 8 * len(own)
    data = perf_records(ids)
    features = [struct.pack("<IHHi24s", 0, 1, 60, -1, bytes(range(20))) + b"[kernel.kallsyms]\0".
                ljust(24, b"\0"), struct.pack("<I8s", 8, b"host"),
                struct.pack("<II8sI8s", 2, 8, b"perf", 8, b"record")]
    where = at + len(data) + 16 * len(features)
    index = b""
    for feature in features:
        index += struct.pack("<QQ", where, len(feature))
        where += len(feature)
    bits = 1 << 2 | 1 << 3 | 1 << 11
    head = b"PERFILE2" + struct.pack("<8Q", 104, 144, 104, 144 * len(attrs), at, len(data), 0, 0)
    return (head + struct.pack("<4Q", bits, 0, 0, 0) + table + id_bytes + data + index
            + b"".join(features))


def perf_pipe():
    """To a pipe, the records packed."""
    kind = 1 | 2 | 4 | 1 << 8 | 1 << 5 | 1 << 16
    packed = zstd.compress(perf_records(True))
    return (b"PERFILE2" + struct.pack("<Q", 16)
            + perf_record(64, 0, perf_attr(0, kind) + struct.pack("<Q", 11))
            + perf_record(64, 0, perf_attr(2, kind) + struct.pack("<Q", 12))
            + perf_record(78, 0, struct.pack("<QQ8s", 2, 12, b"faults"))
            + perf_record(83, 0, struct.pack("<Q", len(packed)) + packed))


def unpack(data):
    """The same .bin without compression."""
    strings, frames = struct.unpack_from("<QQ", data, 40)
    plain = zstd.decompress(data[64:strings])
    moved = 64 + len(plain) - strings
    head = bytearray(data[:64])
    struct.pack_into("<QQI", head, 40, strings + moved, frames + moved, 0)
    tail = bytearray(data[strings:])
    struct.pack_into("<Q", tail, len(tail) - 24, len(data) + moved)
    return bytes(head + plain + tail)


def other_endian(data):
    """A plain .bin as a big-endian machine writes it."""
    out = bytearray(data)

    def swap(at, *sizes):
        for size in sizes:
            out[at:at + size] = out[at:at + size][::-1]
            at += size

    strings = struct.unpack_from("<Q", data, 40)[0]
    swap(0, 4, 4)
    swap(12, 8, 8, 8, 4, 8, 8, 4, 4)
    swap(len(data) - 32, 4, 4, 8)
    if data[-48:-40] == b"TACHSTAT":
        swap(len(data) - 88, 8, 8, 8, 8, 4, 4)
        swap(len(data) - 40, 4, 4)
    at = 64
    while at < strings:
        swap(at, 8, 4)
        kind = data[at + 12]
        at += 13
        if kind == 0:
            n, at = varint(data, at)
            for _ in range(n):
                at = varint(data, at)[1] + 1
            continue
        at = varint(data, at)[1] + 1
        if kind != 1:
            at = varint(data, at)[1]
        n, at = varint(data, at)
        for _ in range(n):
            at = varint(data, at)[1]
    return bytes(out)


def beta(data):
    """A plain .bin with the header of 3.15's betas."""
    start, interval, samples, threads, strings, frames, compression = struct.unpack_from(
        "<QQQIQQI", data, 12)
    return data[:12] + struct.pack("<QQIIQQIII", start, interval, samples, threads, strings,
                                   frames, compression, 0, 0) + data[64:]


def blocks(data):
    """An .fz as the list of blocks that fuzz_fz.c takes."""
    out, at = bytearray(b"B"), 16
    while at < len(data):
        kind, flags, packed = data[at + 8], data[at + 9], struct.unpack_from("<I", data, at + 12)[0]
        payload = data[at + 32:at + 32 + packed]
        if flags & 1:
            payload = zstd.decompress(payload)
        out += struct.pack("<BH", kind, len(payload)) + payload
        at += 32 + packed
    return bytes(out)


for name, text in TEXTS.items():
    save("collapsed", name, text.encode())
save("collapsed", "utf16-le", b"\xff\xfe" + "a;b\U0001f600 1\r\na;c 2".encode("utf-16-le"))
save("collapsed", "utf16-be", b"\xfe\xff" + "a;b\U0001f600 1\r\na;c 2".encode("utf-16-be"))
save("collapsed", "bom", b"\xef\xbb\xbfa;b 1\n")

for name, text in PERF.items():
    save("perf_script", name, text.encode())
save("perf_data", "one-event", perf_data(False))
save("perf_data", "two-events", perf_data(True))
save("perf_data", "pipe", perf_pipe())
for name, text in PPROF_TEXT.items():
    save("pprof_text", name, text.encode())
for name, text in BPFTRACE.items():
    save("bpftrace", name, text.encode())
for name, text in BCC.items():
    save("bcc", name, text.encode())
for name, text in RPROF.items():
    save("rprof", name, text.encode())
save("gprof", "both", GPROF.encode())
save("gprof", "graph", GPROF[GPROF.index("\t\t"):].encode())
save("gprof", "lines", GPROF[:GPROF.index("\t\t")].replace(
    "leaf(int)", "leaf(int) (a.cpp:4 @ 401216)").encode())
for name, text in CALLGRIND.items():
    save("callgrind", name, text.encode())
for name, value in SPEEDSCOPE.items():
    save("speedscope", name, json.dumps(value).encode())
for name, value in CPUPROFILE.items():
    save("cpuprofile", name, json.dumps(value).encode())
for name, value in GECKO.items():
    save("gecko", name, json.dumps(value).encode())
for name, value in PYINSTRUMENT.items():
    save("pyinstrument", name, json.dumps(value).encode())
for name, value in STACKPROF.items():
    save("stackprof", name, json.dumps(value).encode())
for name, value in SENTRY.items():
    save("sentry", name, json.dumps(value).encode())
for name, value in TRACE.items():
    save("trace", name, json.dumps(value).encode())
save("trace", "cut", json.dumps(TRACE["calls"]).encode()[:-30])
save("mojo", "v1", mojo(1, [1, "mode", "full"], [1, "interval", "100"], [2, 7, "7"],
                        [11, 20, "a.py"], [11, 21, "f"], [3, 5, 20, 21, 12], [5, 5], [7], [8],
                        [9, 1000], [10, -64], [2, 7, "8"], [4], [6, "do_idle"], [9, 70000]))
save("mojo", "v4", mojo(4, [1, "mode", "wall"], [2, 7, 0, "1f"], [11, 20, "a.so"],
                        [3, 5, 20, 1, 12, 13, 4, 9], [5, 5], [9, 900], [2, 7, 0, "1f"], [13],
                        [9, 800], [14, 3, 20], [5, 5], [15, 3, 4]))
save("otlp", "all", OTLP)
save("otlp", "lengths", 2 * (struct.pack(">I", len(OTLP)) + OTLP))
packed = zstd.compress(OTLP)
save("otlp", "packed", 2 * (struct.pack(">I", len(packed)) + packed))
save("otlp", "lines", b"".join(json.dumps({
    "resourceProfiles": [{"scopeProfiles": [{"profiles": [{
        "sampleType": {"typeStrindex": 1, "unitStrindex": 2},
        "samples": [{"stackIndex": 1, "values": [value]}],
        "timeUnixNano": start, "durationNano": 500}]}]}],
    "dictionary": {
        "stringTable": ["", "cpu", "nanoseconds", name], "functionTable": [{}, {"nameStrindex": 3}],
        "locationTable": [{}, {"lines": [{"functionIndex": 1}]}],
        "stackTable": [{}, {"locationIndices": [1]}]}}).encode() + b"\n"
    for start, name, value in ((1000, "leaf", 70), (1500, "next", 30))))
save("pstats", "cprofile", marshal.dumps({
    ("a.py", 3, "f"): (2, 2, 0.5, 1.5, {}),
    ("~", 0, "<built-in method len>"): (5, 5, 1.0, 1.0, {("a.py", 3, "f"): (5, 5, 1.0, 1.0)}),
    ("a.py", 9, "g"): (1, 3, 0.25, 0.5, {("a.py", 3, "f"): (1, 1, 0.25, 0.5),
                                         ("a.py", 9, "g"): (0, 2, 0.0, 0.0)})}))
save("pstats", "sampled", marshal.dumps({
    ("a.py", 3, "f"): (2, 5, 0.002, 0.005, {}),
    ("a.py", 7, "g"): (3, 3, 0.003, 0.003, {("a.py", 3, "f"): 3}),
    ("__sampled__",): True}, 2))
for name in ("cprofile27", "profile27", "profile36", "profile38"):
    save("pstats", name, (HERE.parents[1] / "data/pstats" / f"{name}.pstats").read_bytes())
for form in ("pprof", "speedscope", "cpuprofile", "callgrind"):
    save(form, "written", convert(THREADS, form))
save("pprof", "dropped", DROPPED)
save("pprof", "plain", gzip.decompress(convert(TEXTS["austin-full"], "pprof")))

for kind in ("utf8", "utf16"):
    save("jfr", kind, jfr_chunk.Writer(kind == "utf8", kind).chunk(jfr_chunk.POOLS, jfr_chunk.EVENTS))

packed = convert(THREADS, "tachyon")
plain = unpack(packed)
save("tachyon", "zstd", packed)
save("tachyon", "plain", plain)
save("tachyon", "big-endian", other_endian(plain))
save("tachyon", "beta", beta(plain))
save("tachyon", "unfinished", bytes(64) + plain[64:])

native = convert(THREADS, "fz")
save("fz", "whole", native)
save("fz", "blocks", blocks(native))
austin = convert(TEXTS["austin-full"], "fz")
save("fz", "columns", austin)
save("fz", "column-blocks", blocks(austin))
timed = subprocess.run([FIZEAU, "replay", "-", "--format", "fz", "-o", "-"], input=plain,
                       capture_output=True, check=True).stdout
save("fz", "timed-blocks", blocks(timed))

for version in range(9):  # worlds of fuzz_python.c with nothing wrong, every option of a version
    newer = 0x18 if version > 2 else 0
    save("python", f"whole-{version}", bytes([version, 0x25 | newer, 0x40]))
    save("python", f"locals-{version}", bytes([version, 0x83, 0x80]))

save("load", "gzip", gzip.compress(TEXTS["tachyon"].encode(), mtime=0))
save("load", "gzip-twice", gzip.compress(b"a;b 1\n", mtime=0) + gzip.compress(b"a;c 2\n", mtime=0))
save("load", "zstd", zstd.compress(TEXTS["flamegraph"].encode()))
save("load", "bin-in-gzip", gzip.compress(packed, mtime=0))
save("load", "fz", native)
save("load", "text", TEXTS["py-spy"].encode())

for i, text in enumerate([b"plain", b"</script><!--", b"\x00\x1f\"\\", b"\xff\xc0\x80\xed\xa0\x80",
                          "\u2028\u202e\U0001f600\u00e9".encode()]):
    save("json", f"text-{i}", text)
