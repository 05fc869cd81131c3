#!/usr/bin/env python3
"""A Perfetto trace that Chromium writes now: what Fizeau reads is what a few lines of Python read,
and what the browser says of the same page as JSON.
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from livelib import FIZEAU, Skip, Suite
from wire import fields

WEB = pathlib.Path(__file__).resolve().parents[1] / "web"
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="fizeau-perfetto-"))
suite = Suite()

# One browser a format: a session of tracing has one.
RECORD = """
const fs = require("node:fs");
const { chromium } = require("playwright-core");
const page = "data:text/html,<script>function spin(n) { let s = 0; for (let i = 0; i < n; i++) " +
	"s += Math.sqrt(i); return s; } spin(2e7);</script>";
async function record(format, file) {
	const browser = await chromium.launch({ executablePath: process.argv[2],
		args: ["--no-sandbox", "--disable-gpu"] });
	const cdp = await browser.newBrowserCDPSession();
	await cdp.send("Tracing.start", { transferMode: "ReturnAsStream", streamFormat: format,
		traceConfig: { includedCategories: ["devtools.timeline", "v8"], excludedCategories: ["*"] } });
	await (await browser.newPage()).goto(page);
	const complete = new Promise((done) => cdp.once("Tracing.tracingComplete", done));
	await cdp.send("Tracing.end");
	const { stream } = await complete;
	const out = fs.openSync(file, "w");
	for (let eof = false; !eof;) {
		const read = await cdp.send("IO.read", { handle: stream, size: 1 << 20 });
		fs.writeSync(out, Buffer.from(read.data, read.base64Encoded ? "base64" : "utf8"));
		eof = read.eof;
	}
	await browser.close();
}
record("proto", process.argv[3]).then(() => record("json", process.argv[4]));
"""


def same(got, expected, what):
    if got != expected:
        raise AssertionError(f"{what}: {got} instead of {expected}")


def costs(path, which):
    done = subprocess.run([FIZEAU, "replay", "--format", "json", "-o", "-", path],
                          capture_output=True, check=True)
    out = collections.Counter()
    for f in json.loads(done.stdout)["functions"]:
        if f[which]:
            out[f["name"]] += f[which]
    return out


def walls(trace):
    """What the slices of threads took by themselves, by name."""
    names, clocks, track_of, clock_of, threads = {}, {}, {}, {}, set()
    events = collections.defaultdict(list)
    for _, packet in fields(trace):
        p = collections.defaultdict(list)
        for field, value in fields(packet):
            p[field].append(value)
        writer = p[10][0] if p[10] else 0
        for defaults in p[59]:
            d = dict(fields(defaults))
            clock_of[writer] = d.get(58, clock_of.get(writer))
            if 11 in d:
                track_of[writer] = dict(fields(d[11])).get(11, track_of.get(writer))
        for snapshot in p[6]:
            for _, c in ((f, dict(fields(v))) for f, v in fields(snapshot) if f == 1):
                owner = writer if 64 <= c[1] < 128 else None
                unit = c.get(4, 1)
                clocks[owner, c[1]] = [c.get(2, 0) * unit, unit, c.get(3, 0)]
        for interned in p[12]:
            for field, value in fields(interned):
                if field == 2:
                    name = dict(fields(value))
                    names[writer, name[1]] = name[2].decode()
        for track in p[60]:
            t = dict(fields(track))
            if 4 in t:
                threads.add(t.get(1, 0))
        if not p[8]:
            continue
        id = p[58][0] if p[58] else clock_of.get(writer, 6)
        at = p[8][0]
        clock = clocks.get((writer if 64 <= id < 128 else None, id))
        if clock:
            at *= clock[1]
            if clock[2]:
                clock[0] += at
                at = clock[0]
        for event in p[11]:
            e = dict(fields(event))
            if e.get(9) in (1, 2):
                name = e[23].decode() if 23 in e else names.get((writer, e.get(10)))
                track = e.get(11, track_of.get(writer, 0))
                events[track].append((at, len(events[track]), e[9], name))
    own = collections.Counter()
    for track in threads & set(events):
        stack, last = [], 0
        for at, _, kind, name in sorted(events[track]):
            if stack:
                own[stack[-1]] += at - last
            last = at
            if kind == 1:
                stack.append(name)
            elif stack:
                stack.pop()
        # What has no end lasts until the last event.
    return +own


@suite.test("perfetto: Chromium makes a trace now")
def chromium():
    browser = os.environ.get("FZ_CHROMIUM") or shutil.which("chromium")
    if not browser or not shutil.which("node"):
        raise Skip("Chromium or Node is not here")
    fetched = subprocess.run([WEB / "packages"], stdout=subprocess.PIPE, text=True)
    if fetched.returncode:
        raise Skip(fetched.stdout.strip())
    proto, text = SCRATCH / "trace.pftrace", SCRATCH / "trace.json"
    script = SCRATCH / "record.js"
    script.write_text(RECORD)
    subprocess.run(["node", script, browser, proto, text], check=True, timeout=300,
                   env={**os.environ, "NODE_PATH": str(WEB / "node_modules")})
    own = walls(proto.read_bytes())
    if "v8.run" not in own:
        raise AssertionError(f"the page did not run: {own}")
    same(costs(proto, "self"), own, "slices of threads")
    # Two runs of one page: the same work, in about the same time.
    ours, theirs = costs(proto, "total")["v8.run"], costs(text, "total")["v8.run"]
    if not 0.2 < ours / theirs < 5:
        raise AssertionError(f"{ours} ns as Perfetto's, {theirs} ns as JSON")


try:
    suite.main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
