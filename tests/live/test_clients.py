#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real clients push to a real server: Pyroscope's for Python, Node and Go, and OpenTelemetry's collector, with the
instructions of docs/server.md.

    tests/live/test_clients.py --record   keeps what the collector sends in tests/data/otlp, for where it cannot be had
"""

import concurrent.futures
import fcntl
import gzip
import hashlib
import http.server
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import urllib.parse

from fleetlib import Server, fizeau, message, number, otlp, scratch
from livelib import CACHE, SOURCE, Skip, Suite, fetched_package, free_port, wait_until

suite = Suite()
CLIENTS = pathlib.Path(__file__).parent / "clients"
TOKEN, READER = "one-one-one-one-one", "read-read-read-read"
TOKENS = f"one read,write {TOKEN}\none read {READER}\n" + "".join(f"{name} read,write {name * 8}\n" for name in (
    "proto", "json", "zstd", "plain"))
ADDRESS = "https://fizeau.example.org:4999"


def documented(word):
    """The example with that word in docs/server.md."""
    text = (SOURCE / "docs/server.md").read_text(encoding="utf-8")
    found = [block for block in re.findall(r"(?:^(?:    .*)?\n)+", text, re.M) if word in block]
    assert len(found) == 1, (word, found)
    return textwrap.dedent(found[0]).strip("\n") + "\n"


def served(folder, *options):
    file = pathlib.Path(folder, "tokens")
    file.write_text(TOKENS, encoding="utf-8")
    file.chmod(0o600)
    return Server(folder, "--tokens", file, *options)


def shares(server, folder, base, head, *options, token=TOKEN):
    """Own costs of parse and render, of both together, on either side."""
    done = fizeau(folder, "diff", base, head, "--server", server.url, "--format", "json", *options,
                  env={"FIZEAU_TOKEN": token})
    answer = json.loads(done.stdout)
    costs = {f["name"].removeprefix("main."): (f["base_total"], f["head_total"]) for f in answer["functions"]}
    return answer["metric"], [costs["parse"][side] / (costs["parse"][side] + costs["render"][side]) for side in (0, 1)]


def released(server, side, token, **more):
    query = urllib.parse.urlencode({"base": side, "head": side, "side": "head", **more})
    return server.ask("GET", f"/api/release?{query}", token=token)


def about(share, wanted):
    assert abs(share - wanted) < 0.15, (share, wanted)


# ---- Pyroscope's client for Python ----

PYROSCOPE = "pyroscope-io==1.4.0"
PYTHON = """
import logging, sys, time
logging.basicConfig(level=logging.ERROR)
TOKEN, VERSION, MORE = sys.argv[1], sys.argv[2], eval(sys.argv[3])
{configure}
def parse(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
def render(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
def hold():
    return bytearray(100_000)
held = []
end = time.process_time() + float(sys.argv[4])
while time.process_time() < end:
    parse(30000 if VERSION == "1" else 10000)
    render(10000)
    if len(held) < 500:
        held.append(hold())
pyroscope.shutdown()
"""


def python_client(folder, server, token, version, seconds=2, **more):
    place = fetched_package(PYROSCOPE, f"-{sys.version_info.major}.{sys.version_info.minor}")
    configure = documented("pyroscope.configure(").replace(ADDRESS, server.url).replace('"YOUR TOKEN"', "TOKEN")
    configure = configure.replace('"1.4"', "VERSION").rstrip().removesuffix(")")
    more = {"upload_interval": 1, "enable_logging": True, **more}
    file = pathlib.Path(folder, "app.py")
    file.write_text(PYTHON.format(configure=f"{configure}    **MORE)"), encoding="utf-8")
    done = subprocess.run([sys.executable, file, token, version, repr(more), str(seconds)], cwd=folder,
                          capture_output=True, text=True, timeout=120, check=True, env={**os.environ, "PYTHONPATH": str(place)})
    return done.stdout + done.stderr


@suite.test("Pyroscope's client for Python, as it is: two versions are pushed with a token and compared")
def pyroscope_python():
    with scratch() as folder, served(folder) as server:
        said = python_client(folder, server, TOKEN, "1") + python_client(folder, server, TOKEN, "2", mem_enabled=True)
        assert "failed" not in said, said
        # Its memory is pushed as well, and is only compared on request.
        metric, (before, after) = shares(server, folder, "shop@1", "shop@2", "--label", "region=eu")
        assert metric == "cpu", metric
        about(before, 0.75)
        about(after, 0.5)
        file = pathlib.Path(folder, "held.fz")
        file.write_bytes(released(server, "shop@2", TOKEN, metric="inuse_space")[1])
        assert "hold" in fizeau(folder, "show", file).stdout
        done = fizeau(folder, "diff", "shop@1", "shop@2", "--server", server.url, "--label", "region=us", status=2,
                      env={"FIZEAU_TOKEN": TOKEN})
        assert "no profiles with these labels" in done.stderr, done.stderr
        # The server's messages are in its log.
        said = python_client(folder, server, READER, "3", 0.5)
        assert "403 this token is read-only" in said, said
        said = python_client(folder, server, "", "3", 0.5, http_headers={"Authorization": "Bearer nobody-nobody-nobody"})
        assert "401 unknown token" in said, said
        said = python_client(folder, server, "", "3", 0.5, http_headers={"Authorization": f"Bearer {TOKEN}"})
        assert "failed" not in said, said
        shares(server, folder, "shop@1", "shop@3")


# ---- Pyroscope's client for Node ----

NODE = """
{configure}
function parse(n) {{
  let sum = 0;
  for (let i = 0; i < n; i++) sum += Math.sqrt(i);
  return sum;
}}
function render(n) {{
  let sum = 0;
  for (let i = 0; i < n; i++) sum += Math.sqrt(i);
  return sum;
}}
const end = process.cpuUsage().user / 1e6 + 2;
function turn() {{
  parse(VERSION === "1" ? 3e6 : 1e6);
  render(1e6);
  if (process.cpuUsage().user / 1e6 < end) setImmediate(turn);
  else Pyroscope.stop();
}}
turn();
"""


def node_packages():
    for program in "node", "npm":
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    # The last one that is for Debian's.
    wanted = f"@pyroscope/nodejs@{'0.4.5' if int(said[1:].split('.')[0]) < 20 else '0.6.4'}"
    place = CACHE / "clients" / wanted.replace("/", "-").removeprefix("@")
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "node_modules/@pyroscope").is_dir():
            done = subprocess.run(["npm", "install", "--prefix", place, "--no-audit", "--no-fund", "--loglevel=error", wanted],
                                  capture_output=True, text=True, timeout=300, check=False)
            if done.returncode:
                raise Skip(f"npm could not install {wanted}: {done.stderr.strip()[:200]!r}")
    return place / "node_modules"


def node_client(folder, server, token, version, before=""):
    configure = documented("Pyroscope.init(").replace(ADDRESS, server.url).replace('"YOUR TOKEN"', "process.argv[2]")
    configure = configure.replace('"1.4"', "VERSION").replace("Pyroscope.init({", "Pyroscope.init({ flushIntervalMs: 1000,")
    place = pathlib.Path(folder, version)
    place.mkdir()
    (place / "node_modules").symlink_to(node_packages())
    (place / "app.js").write_text(f"{before}const VERSION = process.argv[3];\n" + NODE.format(configure=configure),
                                  encoding="utf-8")
    done = subprocess.run(["node", "app.js", token, version], cwd=place, capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "DEBUG": "pyroscope*"})
    assert done.returncode == 0, done
    return done.stderr


@suite.test("Pyroscope's client for Node, as it is: functions stay the same when lines precede them")
def pyroscope_node():
    with scratch() as folder, served(folder) as server:
        said = node_client(folder, server, TOKEN, "1") + node_client(folder, server, TOKEN, "2", "// more\n// lines\n" * 20)
        assert "error" not in said.lower(), said
        metric, (before, after) = shares(server, folder, "shop@1", "shop@2", "--label", "region=eu")
        assert metric == "wall", metric
        about(before, 0.75)
        about(after, 0.5)
        said = node_client(folder, server, "nobody-nobody-nobody", "3")
        assert "401" in said, said


# ---- programs in Go ----

def go():
    """The command, and its version."""
    command = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if not command:
        raise Skip("there is no go (Debian: golang-go)")
    words = subprocess.run([command, "version"], capture_output=True, text=True, check=True).stdout
    return command, tuple(int(n) for n in re.search(r"go(\d+)\.(\d+)", words).groups())


def go_program(name, least, modules, *files):
    """A program of clients/, built with these modules the first time."""
    command, version = go()
    if version < least:
        raise Skip(f"go is {version[0]}.{version[1]}; what is needed for {name} wants {least[0]}.{least[1]}")
    mod = f"module {name}\n\ngo {least[0]}.{least[1]}\n\nrequire (\n" + "".join(f"\t{m}\n" for m in modules) + ")\n"
    texts = {"go.mod": mod, **{file: (CLIENTS / file).read_text(encoding="utf-8") for file in files}}
    digest = hashlib.sha256(repr((version, sorted(texts.items()))).encode()).hexdigest()[:16]
    place = CACHE / "clients" / f"{name}-{digest}"
    program = place / name
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if program.exists():
            return program
        for file, text in texts.items():
            (place / file).write_text(text, encoding="utf-8")
        def run(*words):
            return subprocess.run([command, *words], cwd=place, capture_output=True, text=True, timeout=900, check=False,
                                  env={**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"})
        tidy = run("mod", "tidy")
        if tidy.returncode:
            raise Skip(f"modules of {name} cannot be had here: {(tidy.stderr.strip().splitlines() or ['no word'])[-1]}")
        built = run("build", "-trimpath", "-ldflags=-s -w", "-o", f"{name}.new", ".")
        assert built.returncode == 0, built.stderr
        (place / f"{name}.new").rename(program)
    return program


def go_client(folder, server, user, password, version, times, *header):
    newest = go()[1] >= (1, 25)
    program = go_program("pyroscope-go", (1, 25) if newest else (1, 17),
                         [f"github.com/grafana/pyroscope-go {'v1.5.0' if newest else 'v1.2.7'}"], "pyroscope.go", "work.go")
    done = subprocess.run([program, server.url, user, password, "shop", version, "2", str(times), *header], cwd=folder,
                          capture_output=True, text=True, timeout=120, check=True)
    return done.stderr


@suite.test("Pyroscope's unmodified client for Go: CPU and heap, two versions, tokens, and an idle program")
def pyroscope_go():
    with scratch() as folder, served(folder) as server:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            said = list(pool.map(lambda of: go_client(folder, server, *of), (
                ("shop", TOKEN, "1", 3), ("shop", TOKEN, "2", 1), ("shop", TOKEN, "idle", 0), ("shop", READER, "3", 0),
                ("", "", "3", 0, "Bearer nobody-nobody-nobody"), ("", "", "4", 0, f"Bearer {TOKEN}"))))
        assert said[0] == said[1] == said[2] == said[5] == "", said
        assert "(403) 'this token is read-only" in said[3], said
        assert "(401) 'unknown token" in said[4], said
        metric, (before, after) = shares(server, folder, "shop@1", "shop@2", "--label", "region=eu")
        assert metric == "cpu", metric
        about(before, 0.75)
        about(after, 0.5)
        assert [released(server, f"shop@{version}", TOKEN)[0] for version in ("idle", "3", "4")] == [200, 422, 200]
        done = fizeau(folder, "diff", "shop@1", "shop@2", "--server", server.url, "--metric", "alloc_space",
                      env={"FIZEAU_TOKEN": TOKEN})
        assert "alloc_space" in done.stdout, done.stdout
        for line in documented("pyroscope.Start(").splitlines():
            line = line.strip().replace(f'"{ADDRESS}"', "os.Args[1]").replace('"YOUR TOKEN"', "os.Args[3]")
            line = line.replace('"1.4"', "os.Args[5]").replace('"shop"', "os.Args[4]").replace('"fizeau"', "os.Args[2]")
            assert re.sub(r"\s+", " ", line) in re.sub(r"\s+", " ", (CLIENTS / "pyroscope.go").read_text()), line


# ---- OpenTelemetry's collector ----

COLLECTOR = [f"go.opentelemetry.io/collector/{module}" for module in (
    "component v1.71.0", "confmap v1.71.0", "confmap/provider/envprovider v1.71.0", "confmap/provider/fileprovider v1.71.0",
    "exporter v1.71.0", "exporter/otlphttpexporter v0.165.0", "otelcol v0.165.0", "receiver v1.71.0",
    "receiver/otlpreceiver v0.165.0", "service v0.165.0")]
PROGRAM = ["github.com/google/pprof v0.0.0-20240727154555-813a5fbdbec8", "go.opentelemetry.io/collector/pdata v1.71.0",
           "go.opentelemetry.io/collector/pdata/pprofile v0.165.0", "google.golang.org/grpc v1.85.0"]


class Collector:
    """Run the collector with the manual's configuration, and further exporters."""

    def __init__(self, folder, server, exporters):
        self.program = go_program("collector", (1, 26), COLLECTOR, "collector.go")
        self.folder, self.grpc, self.http = pathlib.Path(folder), free_port(), free_port()
        text = documented("otlphttp:").replace(ADDRESS, server.url).replace("0.0.0.0:4317", f"127.0.0.1:{self.grpc}")
        text = text.replace("0.0.0.0:4318", f"127.0.0.1:{self.http}")
        text = text.replace("service:\n", "service:\n  telemetry:\n    metrics:\n      level: none\n")
        own = re.search(r"  otlphttp:\n(?:    .*\n)+", text)[0]
        more = "".join(own.replace("otlphttp:", f"otlphttp/{name}:").replace("${env:FIZEAU_TOKEN}", token)
                       + "".join(f"    {line}\n" for line in lines) for name, (token, *lines) in exporters.items())
        text = text.replace(own, own + more)
        text = text.replace("[otlphttp]", f"[{', '.join(['otlphttp', *(f'otlphttp/{name}' for name in exporters)])}]")
        (self.folder / "collector.yaml").write_text(text, encoding="utf-8")

    def __enter__(self):
        self.log = open(self.folder / "collector.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([self.program, "--config", "collector.yaml", "--feature-gates=service.profilesSupport"],
                                        cwd=self.folder, stdout=self.log, stderr=subprocess.STDOUT,
                                        env={**os.environ, "FIZEAU_TOKEN": TOKEN})
        wait_until(lambda: "Everything is ready" in self.said() or self.process.poll() is not None, "the collector")
        assert self.process.poll() is None, self.said()
        return self

    def said(self):
        return (self.folder / "collector.log").read_text(encoding="utf-8")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.log.close()


def otlp_program(collector, seconds, times=1, **names):
    program = go_program("otlp", (1, 26), PROGRAM, "otlp.go", "work.go")
    subprocess.run([program, f"127.0.0.1:{collector.grpc}", str(seconds), str(times),
                    *(f"{name.replace('_', '.')}={value}" for name, value in names.items())],
                   capture_output=True, text=True, timeout=120, check=True)


@suite.test("OpenTelemetry's collector, as it is: profiles received by gRPC are sent on as protocol buffers and JSON")
def collector_passes_on():
    exporters = {"json": ("json" * 8, "encoding: json"), "zstd": ("zstd" * 8, "compression: zstd"),
                 "plain": ("plain" * 8, "encoding: json", "compression: none"), "proto": ("proto" * 8,),
                 "snappy": ("proto" * 8, "compression: snappy"), "nobody": ("nobody" * 8,)}
    with scratch() as folder, served(folder) as server, Collector(folder, server, exporters) as collector:
        for version, times in ("1", 3), ("2", 1):
            otlp_program(collector, 2, times, service_name="shop", service_version=version, host_name="h1",
                         service_namespace="eu")
        wait_until(lambda: released(server, "shop@2", TOKEN)[0] == 200, "a push of the collector's")
        metric, (before, after) = shares(server, folder, "shop@1", "shop@2", "--label", "service.namespace=eu")
        assert metric == "cpu", metric
        about(before, 0.75)
        about(after, 0.5)
        # Whatever they are written as: to the last byte.
        wanted = released(server, "shop@2", TOKEN)[1]
        for name in "proto", "json", "zstd", "plain":
            wait_until(lambda: released(server, "shop@2", name * 8)[0] == 200, f"a push as {name}")
            assert released(server, "shop@2", name * 8)[1] == wanted, name
        wait_until(lambda: "HTTP Status Code 415" in collector.said(), "snappy's refusal")
        wait_until(lambda: "HTTP Status Code 401" in collector.said(), "nobody's refusal")
        # Without a name there is an error, because the profile would belong to no service.
        otlp_program(collector, 0.2, host_name="h1")
        wait_until(lambda: "a resource has no service.name" in collector.said(), "a refusal with its reason")


@suite.test("OpenTelemetry's collector: data from the server's downtime arrives later, once")
def collector_waits():
    again = ("proto" * 8, "retry_on_failure:", "  initial_interval: 100ms", "  max_interval: 200ms")
    with scratch() as folder, served(folder) as server, Collector(folder, server, {"again": again}) as collector:
        server.stop()
        otlp_program(collector, 1, process_executable_name="shop", service_version="1", host_name="h1")
        wait_until(lambda: "connection refused" in collector.said(), "a failure")
        server.options = ["--listen", f"127.0.0.1:{server.port}", *server.options]
        server.start()
        wait_until(lambda: released(server, "shop@1", "proto" * 8)[0] == 200, "the push")
        before = released(server, "shop@1", "proto" * 8)[1]
        otlp_program(collector, 0.5, service_name="other", service_version="1")
        wait_until(lambda: released(server, "other@1", "proto" * 8)[0] == 200, "the next push")
        assert released(server, "shop@1", "proto" * 8)[1] == before


RECORDED = SOURCE / "tests/data/otlp"


class Recorder(http.server.BaseHTTPRequestHandler):
    heard = {}

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.heard[self.headers["Content-Type"]] = gzip.decompress(body)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def record():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as server, scratch() as folder:
        server.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with Collector(folder, server, {"json": ("", "encoding: json")}) as collector:
            otlp_program(collector, 2, 3, service_name="shop", service_version="1", host_name="h1")
            wait_until(lambda: len(Recorder.heard) == 2, "both requests")
        server.shutdown()
    for kind, body in Recorder.heard.items():
        (RECORDED / f"collector.{kind.rpartition('/')[2]}").write_bytes(body)


@suite.test("recorded requests of OpenTelemetry's collector are accepted, as protocol buffers and JSON")
def collector_recorded():
    with scratch() as folder, served(folder) as server:
        for kind, token in ("x-protobuf", "proto" * 8), ("json", "json" * 8):
            asked(server, 200, gzip.compress((RECORDED / f"collector.{kind}").read_bytes()), f"application/{kind}",
                  Content_Encoding="gzip", Authorization=f"Bearer {token}", OTLP_Profiles_Development_Version="1")
        about(shares(server, folder, "shop@1", "shop@1", token="json" * 8)[1][0], 0.75)
        assert released(server, "shop@1", "proto" * 8)[1] == released(server, "shop@1", "json" * 8)[1]


# ---- bad days ----

OTLP = "/v1development/profiles"


def as_json(name="shop", **of_profile):
    """A request as JSON, of main > work."""
    profile = {"sampleType": {"typeStrindex": 1, "unitStrindex": 2}, "timeUnixNano": "1700000000000000000",
               "samples": [{"stackIndex": 1, "values": ["100"]}], **of_profile}
    who = [{"key": "service.name", "value": {"stringValue": name}}, {"keyStrindex": 5, "value": {"stringValueStrindex": 6}}]
    return {"resourceProfiles": [{"resource": {"attributes": who if name else []}, "scopeProfiles": [{"profiles": [profile]}]}],
            "dictionary": {"stringTable": ["", "cpu", "nanoseconds", "main", "/boot/vmlinux", "service.version", "1"],
                           "mappingTable": [{}, {"filenameStrindex": 4}],
                           "locationTable": [{}, {"lines": [{"functionIndex": 1}]},
                                             {"address": "18446744071562067968", "mappingIndex": 1}],
                           "functionTable": [{}, {"nameStrindex": 3}], "stackTable": [{}, {"locationIndices": [2, 1]}]}}


def asked(server, status, body, kind="application/json", **headers):
    """The response to a request, with the expected status, in the request's content type."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    got, content, answer = server.ask("POST", OTLP, body, Content_Type=kind, **headers)
    assert (got, answer["Content-Type"]) == (status, kind.partition(";")[0]), (got, answer["Content-Type"], content)
    return json.loads(content) if "json" in kind else content


@suite.test("OTLP as JSON: accepted, partly refused and wrong requests get a status and a line")
def wrong_json():
    with scratch() as folder, Server(folder, "--max-body", "1") as server:
        assert asked(server, 200, as_json()) == {}
        assert server.samples("shop", "1") > 0
        file = pathlib.Path(folder, "shop.fz")
        file.write_bytes(released(server, "shop@1", None)[1])
        shown = fizeau(folder, "replay", "--format", "folded", "-o", "-", file).stdout
        assert shown == "main;vmlinux+0xffffffff80000000 100\n" or "+0xffffffff80000000" in shown, shown
        assert asked(server, 200, gzip.compress(json.dumps(as_json()).encode()), Content_Encoding="gzip") == {}
        assert asked(server, 200, {}, "application/json; charset=utf-8") == asked(server, 200, {"some": "thing"}) == {}
        both = as_json()
        both["resourceProfiles"] += as_json("")["resourceProfiles"]
        both["resourceProfiles"][1]["scopeProfiles"][0]["profiles"] *= 3
        partial = asked(server, 200, both)["partialSuccess"]
        assert partial == {"rejectedProfiles": "3", "errorMessage": "a resource has no service.name; set OTEL_SERVICE_NAME"}
        for body, line in ((b"", "is not valid JSON"), (b'{"resourceProfiles": [', "is not valid JSON"), (b"\xff" * 9, "JSON"),
                           (b"[" * 100_000, "is not valid JSON: maximum parsing depth"), (b"[1, 2]", "not an OTLP profile"),
                           (json.dumps(as_json("")).encode(), "no service.name"),
                           (json.dumps(as_json("a@b")).encode(), "must not contain @"),
                           (b'{"resourceProfiles": [' + b"9" * 1000 + b"]}", "number"),
                           (b"\x1f\x8b\x08\x00cut short", "gzip")):
            assert line in asked(server, 400, body)["message"], (body[:40], asked(server, 400, body))
        for change, line in (({"timeUnixNano": "99999999999999999999"}, ""), ({"timeUnixNano": "4000000000000000000"}, "an hour"),
                             ({"samples": [{"stackIndex": 1, "values": ["-5"]}]}, "below 0"),
                             ({"samples": [{"stackIndex": 1, "values": ["9223372036854775807"] * 2}]}, "")):
            status, content, _ = server.ask("POST", OTLP, json.dumps(as_json(**change)).encode(), Content_Type="application/json")
            assert status in (200, 400, 413) and line in content.decode(), (change, status, content)
        # An index out of range does no damage.
        assert asked(server, 200, as_json(samples=[{"stackIndex": 2**40, "values": [1e300]}, {"values": {"a": []}}])) == {}
        older = as_json()
        del older["dictionary"]["stackTable"]
        assert "unsupported version of OTLP profiles" in asked(server, 415, older)["message"]
        said = asked(server, 400, as_json(), OTLP_Profiles_Development_Version="2")["message"]
        assert "OTLP-Profiles-Development-Version '2': only version 1 is supported" in said, said
        assert asked(server, 200, as_json(), OTLP_Profiles_Development_Version="1") == {}
        server.says(413, "larger than 1 MiB", "POST", OTLP, b" " * (2 << 20), Content_Type="application/json")
        server.says(405, "method not allowed", "GET", OTLP)


@suite.test("OTLP as protocol buffers: many resources of one service are one push; errors are a status and a line")
def wrong_proto():
    kind = "application/x-protobuf"
    with scratch() as folder, Server(folder, "--max-body", "1") as server:
        # Who profiles a machine sends each process as a resource, and of most only what they run.
        assert asked(server, 200, gzip.compress(otlp([("a", "1", "h1")] * 50 + [("b", "1", "h1")])), kind,
                     Content_Encoding="gzip") == b""
        assert server.samples("a", "1") == 50 * server.samples("b", "1")
        page = server.ask("GET", "/")[1].decode()
        assert page.count('value="a@1"') == 2, page
        # opentelemetry-proto 1.8 and 1.9 have a sample's values in field 2, attributes in 3 and its link in 4. Later ones
        # have attributes in 2, the link in 3 and values in 4.
        for name, sample in (("values", message(2, b"\x64")), ("listed", message(2, b"\x64") + message(3, b"\0")),
                             ("linked", message(2, b"\x64") + number(4, 1)),
                             ("new", message(2, b"\0") + number(3, 1) + message(4, b"\x64"))):
            assert asked(server, 200, otlp([(name, "1", "h1")], sample), kind) == b""
            assert server.samples(name, "1") == server.samples("b", "1"), (name, server.samples(name, "1"))
        assert asked(server, 200, b"", kind) == b""
        for body, line in ((b"\xff\xff\xff", b"not an OTLP profiles message"), (otlp([("", "", "")]), b"no service.name"),
                           (message(2, b"\xff"), b"not an OTLP profiles message"), (message(1, message(1, b"\xff")), b"not an OTLP profiles message"),
                           (b"\x1f\x8b\x08\x00cut short", b"gzip"),
                           (message(1, b"".join([b"\x0a" * 5000])), b"not an OTLP profiles message")):
            content = asked(server, 400, body, kind)
            assert content[:1] == b"\x12" and line in content, (body[:40], content)
        for name, line in (("text/plain", "send application/x-protobuf or application/json"), ("", "unsupported Content-Type"),
                           ("application/jsonx", "unsupported Content-Type")):
            server.says(415, line, "POST", OTLP, otlp([("a", "1", "h1")]), Content_Type=name)
        server.says(415, "send gzip, zstd or an unencoded body", "POST", OTLP, b"x", Content_Type=kind, Content_Encoding="snappy")


def machine(programs, processes):
    """(resources, dictionary) as sent by a profiler of a whole machine: command and time of each process; the
    dictionary is longer than the part of a file that is probed."""
    names = [b"", b"samples", b"count", b"cpu", b"nanoseconds", *(b"function %d " % n + b"x" * 100 for n in range(1000))]
    dictionary = b"".join([message(2, b""), message(3, b""), message(7, b"")]
                          + [message(3, number(1, 5 + n)) for n in range(1000)]
                          + [message(2, message(3, number(1, 1 + n))) for n in range(1000)]
                          + [message(7, message(1, bytes([1 + n, 1]))) for n in range(programs)]
                          + [message(5, name) for name in names])
    when = 1700000000 * 10**9
    resources = b""
    for program in range(programs):
        times = b"".join((when + n).to_bytes(8, "little") for n in range(3))
        profile = b"".join([message(1, number(1, 1) + number(2, 2)), message(2, number(1, 1 + program) + message(5, times)),
                            b"\x19" + when.to_bytes(8, "little"), message(5, number(1, 3) + number(2, 4)), number(6, 50_000_000)])
        who = message(1, message(1, b"process.executable.name") + message(2, message(1, b"program %d" % program)))
        for pid in range(processes):
            known = who + message(1, message(1, b"process.pid") + message(2, number(3, 1 + pid)))
            resources += message(1, message(1, known) + message(2, message(2, profile)))
    return resources, message(2, dictionary)


@suite.test("OTLP of a machine's profiler: processes are distinguished by program, with one dictionary for all")
def machine_profiled():
    with scratch() as folder, Server(folder) as server:
        resources, dictionary = machine(40, 3)
        assert asked(server, 200, resources + dictionary, "application/x-protobuf") == b""
        assert asked(server, 200, resources + dictionary, "application/x-protobuf") == b""
        for program in 0, 17, 39:
            assert server.samples(f"program {program}", "unversioned") == 9
        for order in resources + dictionary, dictionary + resources, resources, dictionary:
            pathlib.Path(folder, "request.otlp").write_bytes(order)
            whole = len(order) == len(resources + dictionary)
            done = fizeau(folder, "show", "request.otlp", status=0 if whole else 2)
            assert not whole or "360 samples" in done.stdout, done.stdout


@suite.test("OTLP while the disk is full gets a retry status, and is then stored")
def full():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
    with scratch() as folder, Server(folder, limit=limit) as server:
        for n in range(100):
            body = as_json()
            body["dictionary"]["stringTable"][3:4] = [f"{n} {'x' * 200}"]
            got, content, headers = server.ask("POST", OTLP, json.dumps(body).encode(), Content_Type="application/json")
            if got != 200:
                break
        assert (got, headers["Retry-After"]) == (503, "5") and "disk full or I/O error" in json.loads(content)["message"], content
        assert n > 0, "no push fits"
        before = server.samples("shop", "1")
        server.stop()
        server.limit = None
        server.start()
        assert asked(server, 200, body) == {}
        assert server.samples("shop", "1") == before + before // n


@suite.test("a file by curl, as in the manual")
def curl():
    if not shutil.which("curl"):
        raise Skip("there is no curl")
    with scratch() as folder, served(folder) as server:
        pathlib.Path(folder, "x.folded").write_text("main;f 90\n", encoding="utf-8")
        fizeau(folder, "replay", "x.folded", "-o", "cpu.pb.gz")
        command = documented("curl --data-binary").replace(ADDRESS, server.url)
        done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=60, check=True,
                              env={**os.environ, "FIZEAU_TOKEN": TOKEN})
        assert json.loads(done.stdout) == {"status": "stored", "minutes": 1, "samples": 90}, done
        assert released(server, "shop@1.4", TOKEN)[0] == 200


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        record()
    else:
        suite.main()
