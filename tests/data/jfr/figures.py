"""What the JVM's own 'jfr print --json' says of a flight recording, as figures that are compared."""

import collections
import json
import re
import subprocess

BASIC = dict(B="byte", C="char", D="double", F="float", I="int", J="long", S="short", Z="boolean")
# Event -> metric, and the field that it is counted by; None: each is one.
EVENTS = {
    "jdk.ExecutionSample": ("samples", None), "jdk.NativeMethodSample": ("native_samples", None),
    "jdk.CPUTimeSample": ("cpu", "samplingPeriod"),
    "profiler.WallClockSample": ("wall", "samples"),
    "jdk.ObjectAllocationSample": ("allocated", "weight"),
    "jdk.ObjectAllocationInNewTLAB": ("allocated", "tlabSize"),
    "jdk.ObjectAllocationOutsideTLAB": ("allocated", "allocationSize"),
    "profiler.LiveObject": ("live", "allocationSize"), "profiler.Malloc": ("malloc", "size"),
    "jdk.JavaMonitorEnter": ("blocked", "duration"), "jdk.ThreadPark": ("parked", "duration"),
    "profiler.NativeLock": ("native_lock", "duration"),
}
DURATION = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?")


def class_name(name):
    """Without what is another one in every run: the JDK prints Work$$Lambda$37+0x0007f.445051633."""
    name = re.sub(r"[/+.]0x[0-9a-f]+([/.]\d+)?$", "", name)
    return re.sub(r"(\$\$Lambda)\$\d+$", r"\1", name).replace("/", ".")


def parameters(descriptor):
    found = re.findall(r"(\[*)(?:L([^;]+);|([BCDFIJSZ]))", descriptor[1:descriptor.index(")")])
    return ", ".join((BASIC[basic] if basic else re.split("[/.]", name)[-1]) + "[]" * len(dims)
                     for dims, name, basic in found)


def function(frame):
    method = frame["method"]
    if not method:
        return "[unknown method]"
    owner, descriptor = (method["type"] or {}).get("name") or "", method["descriptor"] or ""
    if descriptor.endswith(")L;"):
        return method["name"]
    return (f"{class_name(owner)}." if owner else "") + f"{method['name']}({parameters(descriptor)})"


def nanoseconds(text):
    hours, minutes, seconds = (float(x or 0) for x in DURATION.fullmatch(text).groups())
    return round(((hours * 60 + minutes) * 60 + seconds) * 1e9)


def weight(values, field):
    n = 1 if field is None else values[field]
    return nanoseconds(n) if isinstance(n, str) else n


def thread(values):
    t = values.get("sampledThread") or values.get("eventThread")
    return t and (t["javaName"] or t["osName"])


def figures(path, jfr="jfr"):
    """Per metric: its total, what each innermost function, each line of one and each thread costs,
    how much is on the stacks with each function and how many stacks were cut."""
    done = subprocess.run([jfr, "print", "--json", "--stack-depth", "4096", "--events",
                           ",".join(EVENTS), path], check=True, capture_output=True, text=True)
    out = {}
    for event in json.loads(done.stdout)["recording"]["events"]:
        metric, field = EVENTS[event["type"]]
        values = event["values"]
        if metric == "samples" and values.get("state") in ("STATE_DEFAULT",):
            metric = "cpu"
        n = weight(values, field)
        of = out.setdefault(metric, {"total": 0, "events": 0, "cut": 0, "self": collections.Counter(),
                                     "with": collections.Counter(), "threads": collections.Counter(),
                                     "lines": collections.Counter()})
        trace = values["stackTrace"] or {"frames": [], "truncated": False}
        frames = trace["frames"]
        names = [function(f) for f in frames]
        of["total"] += n
        of["events"] += 1
        of["cut"] += n if trace["truncated"] else 0
        of["threads"][thread(values) or ""] += n
        if names:
            of["self"][names[0]] += n
            of["lines"][f"{names[0]}:{max(frames[0]['lineNumber'], 0)}"] += n
        for name in set(names):
            of["with"][name] += n
    return out
