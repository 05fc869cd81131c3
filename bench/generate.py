# SPDX-License-Identifier: MIT
"""Write a synthetic recording in Tachyon's binary format, to measure readers with.

    generate.py OUT.bin --nodes 2000 --samples 1000000 [--threads 8] [--depth 40] [--seed 1]

The call tree grows from --tree-seed: mostly near its newest nodes, so that it is deep as well as
wide. Siblings are different functions, so a function-based and a line-based reader see the same
number of nodes. Every leaf is sampled once if the samples allow it, then 80 % of the samples fall
on a twentieth of the leaves. Another --seed on the same tree gives a second recording to compare,
and --drop PERCENT leaves that many leaves out of it. Encoded as Tachyon encodes: a repeat, or what
is popped from and pushed to the thread's last stack, or the full stack.
"""

import argparse
import random
import shutil
import struct
import subprocess

INTERVAL_US = 1000
START_US = 1_000_000
REPEAT, FULL, POP_PUSH = 0, 1, 3
STATUS = 1 | 32  # holds the GIL, main thread
CONFIG = 1 | 8 | 1 << 6  # wall clock; features are known: GC frames


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


SMALL = [varint(n) for n in range(1 << 14)]


def uint(n):
    return SMALL[n] if n < len(SMALL) else varint(n)


def zigzag(n):
    return uint(n << 1 if n >= 0 else (-n << 1) - 1)


class Tables:
    """Strings and frames, numbered in order of first use."""

    def __init__(self, functions):
        self.strings, self.frames = {}, {}
        self.files = max(5, functions // 12)

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def frame(self, function, line):
        file = self.string(f"/srv/app/pkg{function % 40}/module_{function % self.files}.py")
        name = self.string(f"Class{function % 97}.method_{function}")
        key = (file, name, 10 * (function % 2000) + line)
        return self.frames.setdefault(key, len(self.frames))

    def encode(self):
        strings = b"".join(uint(len(text.encode())) + text.encode() for text in self.strings)
        frames = b"".join(uint(file) + uint(name) + zigzag(line) + zigzag(0) + zigzag(4)
                          + zigzag(16) + b"\xff" for file, name, line in self.frames)
        return strings, frames


def grow(nodes, depth, tables, functions, chance):
    """The stacks (root first, as frame numbers) of the leaves of a random call tree."""
    parents, depths, function_of = [-1], [0], [0]
    frames, taken, inner = [tables.frame(0, 1)], set(), {0}
    while len(frames) < nodes:
        newest = chance.random() < 0.7
        low = max(0, len(frames) - nodes // 8) if newest else 0
        parent = chance.randrange(low, len(frames))
        function = chance.randrange(functions)
        if depths[parent] >= depth - 1 or (parent, function) in taken:
            continue
        taken.add((parent, function))
        inner.add(parent)
        parents.append(parent)
        depths.append(depths[parent] + 1)
        function_of.append(function)
        frames.append(tables.frame(function, chance.randrange(6)))
    stacks = []
    for leaf in range(len(frames)):
        if leaf not in inner:
            stack, node = [], leaf
            while node >= 0:
                stack.append(frames[node])
                node = parents[node]
            stacks.append(tuple(reversed(stack)))
    return stacks


def draw(stacks, samples, chance):
    """Which stack each sample shows."""
    order = list(range(len(stacks)))
    chance.shuffle(order)
    hot = order[:max(1, len(order) // 20)]
    chosen = order[:samples]
    for _ in range(samples - len(chosen)):
        chosen.append(chance.choice(hot if chance.random() < 0.8 else order))
    return chosen


def encode_stack(stack, last, delta):
    """One sample: what changed since the thread's last stack."""
    if stack is last:
        return bytes([REPEAT]) + b"\x01" + delta + bytes([STATUS])
    shared = 0
    for a, b in zip(stack, last):
        if a != b:
            break
        shared += 1
    new = b"".join(uint(frame) for frame in reversed(stack[shared:]))
    if shared * 2 < len(stack):
        new = b"".join(uint(frame) for frame in reversed(stack))
        return bytes([FULL]) + delta + bytes([STATUS]) + uint(len(stack)) + new
    return (bytes([POP_PUSH]) + delta + bytes([STATUS]) + uint(len(last) - shared)
            + uint(len(stack) - shared) + new)


def encode_samples(stacks, chosen, threads):
    last, heads = [()] * threads, [struct.pack("<QI", 1000 + i, 0) for i in range(threads)]
    seen, now = [START_US] * threads, START_US
    for number, index in enumerate(chosen):
        thread = number % threads
        now += INTERVAL_US
        yield heads[thread] + encode_stack(stacks[index], last[thread], uint(now - seen[thread]))
        last[thread], seen[thread] = stacks[index], now


def compress(raw):
    """zstd by its own program where there is one; the format allows both."""
    if not shutil.which("zstd"):
        return raw, 0
    command = ["zstd", "-q", "-1", "--no-check", "-c"]
    return subprocess.run(command, input=raw, stdout=subprocess.PIPE, check=True).stdout, 1


def write(path, data, compression, tables, samples, threads):
    strings, frames = tables.encode()
    string_at = 64 + len(data)
    frame_at = string_at + len(strings)
    end = frame_at + len(frames)
    header = struct.pack("<4sI4BQQQIQQII", b"HCAT", 1, 3, 15, 0, 0, START_US, INTERVAL_US, samples,
                         min(threads, samples), string_at, frame_at, compression, CONFIG)
    stats = struct.pack("<4dII8sII", samples * INTERVAL_US / 1e6, 1e6 / INTERVAL_US, 0.0, 0.0, 3,
                        0, b"TACHSTAT", 1, 56)
    footer = struct.pack("<IIQ16x", len(tables.strings), len(tables.frames), end + 56 + 32)
    with open(path, "wb") as file:
        for part in (header, data, strings, frames, stats, footer):
            file.write(part)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--depth", type=int, default=40)
    parser.add_argument("--tree-seed", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drop", type=float, default=0, help="percent of the leaves")
    args = parser.parse_args()

    functions = max(50, min(5000, args.nodes // 20))
    tables = Tables(functions)
    stacks = grow(args.nodes, args.depth, tables, functions, random.Random(args.tree_seed))
    chance = random.Random(args.seed)
    if args.drop:
        stacks = chance.sample(stacks, max(1, round(len(stacks) * (1 - args.drop / 100))))
    chosen = draw(stacks, args.samples, chance)
    data, compression = compress(b"".join(encode_samples(stacks, chosen, args.threads)))
    write(args.out, data, compression, tables, args.samples, args.threads)


if __name__ == "__main__":
    main()
