#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of tests/fuzz/corpus: small files of every kind that a reader knows.

    make_seeds.py FIZEAU        (the binary; needs Python 3.14 for zstd)

What the fuzzer found to be worth keeping is added by tests/fuzz/run and -merge=1.
"""

import gzip
import pathlib
import struct
import subprocess
import sys
import tempfile
from compression import zstd

HERE = pathlib.Path(__file__).resolve().parent / "corpus"
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
    "crlf": "a;b 1\r\na;b 2\r\n",
    "odd": "a;\\x3b;\\x;\\x20 3\n;;a;; 4\nno number\n 5\na 18446744073709551616\n",
    "gprofiler": "#{\"metadata\": {}}\n0;host;a;b 3\n",
}
THREADS = ("tid:7;a.py:f:3;b.py:g:7;<GC> 40\ntid:7;a.py:f:3;b.py:g:8 20\ntid:9;a.py:f:4 3\n"
           "tid:7;a.py:f:3 2\ntid:9;a.py:f:3;<native>;c.py:C.<lambda>:1 1\n")


def save(folder, name, data):
    (HERE / folder).mkdir(parents=True, exist_ok=True)
    (HERE / folder / name).write_bytes(data)


def convert(text, form):
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "in.collapsed", pathlib.Path(folder) / "out"
        source.write_text(text)
        subprocess.run([FIZEAU, "replay", source, "--format", form, "-o", target], check=True)
        return target.read_bytes()


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


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


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

save("load", "gzip", gzip.compress(TEXTS["tachyon"].encode(), mtime=0))
save("load", "gzip-twice", gzip.compress(b"a;b 1\n", mtime=0) + gzip.compress(b"a;c 2\n", mtime=0))
save("load", "zstd", zstd.compress(TEXTS["flamegraph"].encode()))
save("load", "bin-in-gzip", gzip.compress(packed, mtime=0))
save("load", "fz", native)
save("load", "text", TEXTS["py-spy"].encode())

for i, text in enumerate([b"plain", b"</script><!--", b"\x00\x1f\"\\", b"\xff\xc0\x80\xed\xa0\x80",
                          "\u2028\u202e\U0001f600\u00e9".encode()]):
    save("json", f"text-{i}", text)
