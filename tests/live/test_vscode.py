#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The extension for Visual Studio Code, in a real one: the server and the workbench of code-server's build
of it, with its real extension host, driven by keys and mouse in Chromium without a screen
(tests/vscode/workbench.js). The package is installed by VS Code itself; recordings are real.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
import zipfile

from livelib import FIZEAU, QUIET, SANITIZED, SOURCE, Skip, Suite, free_port, npm_node

sys.path.insert(0, str(SOURCE / "packaging"))
import vscode  # noqa: E402

suite = Suite()
TESTS = SOURCE / "tests" / "vscode"
CODE = TESTS / "node_modules/code-server/lib/vscode"
VERSION = re.search(r"version: '([^']+)'", (SOURCE / "meson.build").read_text())[1]
os.environ["SOURCE_DATE_EPOCH"] = "1700000000"

# Two functions whose lines swap: one costs more then, the other less.
PROGRAM = """\
def dearer(n):
    total = 0
    for i in range(n):
        total += {0}
    return total


def cheaper(n):
    total = 0
    for i in range(n):
        total += {1}
    return total


for _ in range(8):
    dearer(150000)
    cheaper(150000)
"""
EASY, HARD = "i", "i * i % 7 + i * i % 11 + i * i % 13 + i * i % 17 + i * i % 19"
BASE, HEAD = PROGRAM.format(EASY, HARD), PROGRAM.format(HARD, EASY)


def run(*command, fine=(0,), **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, **options)
    assert done.returncode in fine, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def fizeau(*words, folder, **options):
    return run(FIZEAU, *words, cwd=folder, env=QUIET, **options)


def packages():
    if not shutil.which("node"):
        raise Skip("no node")
    for script in (SOURCE / "tests/web/packages", TESTS / "packages"):
        done = subprocess.run([script], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise Skip(done.stdout.strip())


# ---- a VS Code ----

class Studio:
    """A server with the extension, and programs with recordings; created on first use."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fizeau-vscode-"))
        self.process = None

    def start(self):
        if self.process:
            return
        packages()
        package = self.folder / vscode.make(SOURCE, VERSION, self.folder)
        data = self.folder / "data"
        (data / "data/Machine").mkdir(parents=True)
        (data / "data/Machine/settings.json").write_text(json.dumps({"fizeau.program": FIZEAU}))
        server = [npm_node(TESTS), CODE / "out/server-main.js", "--extensions-dir", self.folder / "extensions",
                  "--server-data-dir", data]
        env = {**QUIET, "EXTENSIONS_GALLERY": json.dumps({"serviceUrl": ""})}
        said = run(*server, "--install-extension", package, env=env)
        assert "was successfully installed" in said, said
        self.port = free_port()
        self.log = open(self.folder / "log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [str(w) for w in [*server, "--host", "127.0.0.1", "--port", self.port, "--without-connection-token",
                              "--accept-server-license-terms", "--telemetry-level", "off"]],
            env=env, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True)
        end = time.monotonic() + 60
        while "Extension host agent started" not in (self.folder / "log").read_text():
            assert self.process.poll() is None and time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.1)

    def program(self, name="program"):
        """A folder with app.py as it is now, @2 of its earlier version and @1 of this one."""
        self.start()
        folder = self.folder / name
        if not folder.exists():
            folder.mkdir()
            for text in (BASE, HEAD):
                (folder / "app.py").write_text(text)
                fizeau("run", "app.py", folder=folder)
            shutil.copy(next(iter(sorted((folder / ".fizeau").glob("*.fz"))[1:])), folder / "head.fz")
        return folder

    def drive(self, folder, *steps, trust="Yes, I trust the authors"):
        """What was seen on the way: lists by kind of observation."""
        steps = [["trust", trust], *steps]
        url = f"http://127.0.0.1:{self.port}/?folder={folder}"
        seen = json.loads(run("node", TESTS / "workbench.js", url, json.dumps(steps)))
        assert seen["refused"] == [], seen["refused"]
        return seen

    def end(self):
        if self.process:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
            self.process.kill()
            self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


studio = Studio()
HEAT = (["open", "app.py"], ["command", "Fizeau: Show Heat"], ["pick", "@1"])


def value(ns):
    """As reports print it."""
    size, unit = next(((s, u) for s, u in ((1e9, "s"), (1e6, "ms")) if ns >= s), (1e3, "µs"))
    v = ns / size
    return f"{v:.0f} {unit}" if v >= 100 else f"{v:.1f} {unit}" if v >= 10 else f"{v:.2f} {unit}"


def colour(name, dark):
    """A colour of the pages, as it begins where a browser tells it with how strong it is."""
    sheet = (SOURCE / "web/tokens.css").read_text()
    r, g, b = bytes.fromhex(re.findall(rf"--{name}: #(\w+);", sheet)[dark])
    return f"rgba({r}, {g}, {b}, "


def is_coloured(line, *names, dark=False):
    return len(line["colours"]) == 1 and any(line["colours"][0].startswith(colour(n, dark)) for n in names)


def heat_of(report):
    """Expected annotations of lines of app.py: number -> text."""
    file = next(f for f in report["files"] if f["file"].endswith("/app.py"))
    return {line["line"]: f"{value(line['self'])} · {100 * line['self'] / report['head']['total']:.1f} %"
            for line in file["lines"] if line["self"]}


def expect_heat(lines, texts):
    for line in lines:
        text = texts.get(line["number"])
        assert bool(line["colours"]) == bool(text), (line, text)
        assert line["behind"] == ([text] if text else []), (line, text)


def lines_report(folder, *words, **options):
    return json.loads(fizeau(*words, "--format", "lines", folder=folder, **options))


@suite.test("heat: the lines have the cost that was recorded, and the pages' colours")
def heat():
    folder = studio.program()
    seen = studio.drive(folder, *HEAT, ["until", " ms · "], ["lines"], ["status"],
                        ["command", "Fizeau: Hide"], ["until", "- ms · "], ["lines"])
    report = lines_report(folder, "replay", "@1")
    shown, hidden = seen["lines"]
    expect_heat(shown, heat_of(report))
    assert is_coloured(shown[3], "h8"), shown[3]  # the hottest
    assert [line["text"] for line in hidden] == HEAD.split("\n"), hidden
    expect_heat(hidden, {})
    (status,) = seen["status"]
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d$", status["text"]) and f"{report['head']['samples']} samples" in status["label"], status


@suite.test("heat: an edited text has no colours until it equals the recorded one again")
def changed():
    folder = studio.program("edited")  # VS Code saves by itself, also what is undone a moment later
    seen = studio.drive(folder, *HEAT, ["until", " ms · "], ["type", "import os\n"],
                        ["until", "changed since it was recorded"], ["lines"], ["press", "Control+z"],
                        ["until", " ms · "], ["lines"])
    edited, undone = seen["lines"]
    assert edited[0]["text"] == "import os" and edited[0]["behind"] == ["Fizeau: changed since it was recorded"], edited
    assert not any(line["colours"] for line in edited) and not any(line["behind"] for line in edited[1:]), edited
    expect_heat(undone, heat_of(lines_report(folder, "replay", "@1")))


@suite.test("heat: a folder that was moved is known by the paths in it; dark as the editor is")
def moved():
    folder = studio.program()
    other = studio.folder / "moved"
    shutil.copytree(folder, other)
    (other / ".vscode").mkdir()
    (other / ".vscode/settings.json").write_text(json.dumps({"workbench.colorTheme": "Default Dark Modern"}))
    seen = studio.drive(other, *HEAT, ["until", " ms · "], ["lines"], ["open", "head.fz"], ["look"])
    expect_heat(seen["lines"][0], heat_of(lines_report(folder, "replay", "@1")))
    assert is_coloured(seen["lines"][0][3], "h8", dark=True) and seen["look"][0]["theme"] == "dark", seen


@suite.test("compare: red and blue where a function certainly changed, and the verdict")
def compare():
    folder = studio.program()
    report = lines_report(folder, "diff", "--fail-on", "regression", "@2", "@1", fine=(0, 1))
    verdicts = {f["name"]: (f["verdict"], f["diff_self"] > 0) for f in report["functions"]}
    assert verdicts["dearer"] == ("changed", True) and verdicts["cheaper"] == ("changed", False), verdicts
    seen = studio.drive(folder, ["open", "app.py"], ["command", "Fizeau: Compare with"], ["pick", "@1"],
                        ["pick", "@2"], ["until", "cheaper: −"], ["lines"], ["status"])
    (lines,), (status,) = seen["lines"], seen["status"]
    places = {p["line"]: p for f in report["files"] if f["file"].endswith("/app.py") for p in f["places"]}
    for number, sign, kinds in ((4, "+", ["m4", "m3"]), (11, "−", ["l4", "l3"])):
        text = f"{sign}{value(abs(places[number]['diff_self']))}"
        assert lines[number - 1]["behind"] == [text] and is_coloured(lines[number - 1], *kinds), (lines, text)
    for line in lines:  # an uncertain change is grey, and described as such
        place = places.get(line["number"])
        if not place or place["verdict"] == "unchanged" or not place["diff_self"]:
            assert not line["colours"], line
        elif "?" in line["behind"][0]:
            assert is_coloured(line, "hatch"), line
        else:
            up = place["diff_self"] > 0
            assert place["verdict"] == "changed" and is_coloured(line, *(f"{'m' if up else 'l'}{i}" for i in range(1, 5)))
    dearer = report["functions"][places[4]["function"]]
    assert lines[0]["behind"] == [f"▲ dearer: +{value(dearer['diff_self'])}"], lines[0]
    assert report["verdict"]["text"] in status["text"], (report["verdict"], status)
    slower = report["verdict"]["word"] == "slower" and report["verdict"]["change_pct"] >= 5
    assert status["alarm"] == slower and f"Status {int(slower)}:" in status["label"], status


@suite.test("page: a recording opens as its page, and a bar leads to its source")
def page():
    folder = studio.program()
    seen = studio.drive(folder, ["open", "head.fz"], ["look"], ["bar", ["cheaper", "Open in editor"]], ["place"])
    (look,) = seen["look"]
    assert look["theme"] == "light" and look["padding"] == "0px" and "head.fz" in look["title"], look
    assert seen["place"] == [["app.py", "Ln 8, Col 1"]], seen


@suite.test("page: in a folder that was moved as well, and from the store's list")
def page_moved():
    folder = studio.folder / "elsewhere"
    shutil.copytree(studio.program(), folder)
    (folder / "app.py").rename(folder / "other.py")
    (folder / "lib").mkdir()
    (folder / "lib/app.py").write_text(HEAD)
    hidden = studio.program() / "app.py"
    hidden.rename(hidden.with_suffix(".away"))
    try:
        seen = studio.drive(folder, ["command", "Fizeau: Open Recording"], ["pick", "@1"],
                            ["bar", ["dearer", "Open in editor"]], ["message"])
        assert "not found" in seen["message"][0]["text"], seen
        (folder / "lib/app.py").rename(folder / "app.py")
        seen = studio.drive(folder, ["command", "Fizeau: Open Recording"], ["pick", "@1"],
                            ["bar", ["dearer", "Open in editor"]], ["place"])
        assert seen["place"] == [["app.py", "Ln 1, Col 1"]], seen
    finally:
        hidden.with_suffix(".away").rename(hidden)


@suite.test("record: a file is run and recorded, and its heat is shown")
def record():
    studio.start()
    folder = studio.folder / "fresh"
    folder.mkdir()
    (folder / "app.py").write_text(HEAD)
    seen = studio.drive(folder, ["open", "app.py"], ["command", "Fizeau: Record This File"], ["until", " ms · "],
                        ["lines"])
    assert len(list((folder / ".fizeau").glob("*.fz"))) == 1
    expect_heat(seen["lines"][0], heat_of(lines_report(folder, "replay", "@1")))


@suite.test("errors: no program, no recording, nothing recorded: one message, with the remedy")
def errors():
    folder = studio.folder / "wrong"
    shutil.copytree(studio.program(), folder)  # with older recordings
    (folder / ".vscode").mkdir()
    (folder / "junk.fz").write_text("no recording\n")
    (folder / "fail.py").write_text("")
    junk = ["menu", ["junk.fz", "Show Heat"]]
    seen = studio.drive(folder, junk, ["message"])
    assert seen["message"][0]["text"].startswith("Fizeau: ") and "not a profile" in seen["message"][0]["text"], seen
    settings = folder / ".vscode/settings.json"
    settings.write_text(json.dumps({"fizeau.program": "no-such-program"}))
    seen = studio.drive(folder, junk, ["message"])
    assert "'no-such-program' cannot be run. Install fizeau" in seen["message"][0]["text"], seen
    assert seen["message"][0]["buttons"] == ["Open Settings"], seen
    settings.write_text(json.dumps({"fizeau.program": "/bin/echo"}))
    assert "is no fizeau" in studio.drive(folder, junk, ["message"])["message"][0]["text"]
    settings.write_text(json.dumps({"fizeau.run": ["--no-such-option", "${file}"]}))
    seen = studio.drive(folder, ["open", "fail.py"], ["command", "Fizeau: Record This File"], ["message"])
    assert seen["message"][0]["text"] == "Fizeau: Nothing was recorded; the terminal says why.", seen


@suite.test("a workspace that is not trusted has none of it")
def untrusted():
    folder = studio.program()
    seen = studio.drive(folder, ["offered", "Fizeau: Show Heat"], trust="No, I don't trust the authors")
    assert not any("Fizeau" in row for row in seen["offered"][0]), seen
    seen = studio.drive(folder, ["offered", "Fizeau: Show Heat"])
    assert any("Fizeau: Show Heat" in row for row in seen["offered"][0]), seen


# ---- without a VS Code ----

@suite.test("the package is a zip with its lists, of the program's version, and the same bytes twice")
def package():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        copy = folder / "copy"
        shutil.copytree(SOURCE / "bindings/vscode", copy / "bindings/vscode")
        shutil.copy(SOURCE / "LICENSE", copy)
        (folder / "again").mkdir()
        name = vscode.make(SOURCE, VERSION, folder)
        assert vscode.make(copy, VERSION, folder / "again") == name == f"fizeau-{VERSION}.vsix"
        assert (folder / name).read_bytes() == (folder / "again" / name).read_bytes()
        with zipfile.ZipFile(folder / name) as archive:
            assert archive.testzip() is None
            assert {entry.date_time for entry in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}
            names = set(archive.namelist())
            about = json.loads(archive.read("extension/package.json"))
            manifest = xml.etree.ElementTree.fromstring(archive.read("extension.vsixmanifest"))
            types = xml.etree.ElementTree.fromstring(archive.read("[Content_Types].xml"))
            code = {n: archive.read(n).decode() for n in names if n.endswith(".js")}
    space = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"
    identity = manifest.find(f"{space}Metadata/{space}Identity").attrib
    assert about["version"] == identity["Version"] == VERSION and about["name"] == identity["Id"] == "fizeau"
    assert {a.attrib["Path"] for a in manifest.iter(f"{space}Asset")} <= names
    assert {t.attrib["Extension"] for t in types} >= {pathlib.Path(n).suffix for n in names - {"[Content_Types].xml"}}
    assert "extension/" + about["main"].removeprefix("./") in names
    for name, text in code.items():
        for used in re.findall(r'require\("(\.[^"]+)"\)', text):
            assert os.path.normpath(pathlib.Path(name).parent / used) in names, (name, used)
    for command in about["contributes"]["commands"]:
        word = command["command"].removeprefix("fizeau.")
        assert f'command("{word}",' in code["extension/extension.js"], word


@suite.test("only functions of the oldest supported VS Code are called")
def types():
    packages()
    run("node", TESTS / "node_modules/typescript/bin/tsc", "-p", TESTS / "tsconfig.json")


@suite.test("modules: places, marks, numbers, colours, messages")
def modules():
    if not shutil.which("node"):
        raise Skip("no node")
    run("node", TESTS / "modules.js")


if __name__ == "__main__":
    if SANITIZED:
        suite.tests = [test for test in suite.tests if "package" in test[0] or "modules" in test[0]]
    try:
        suite.main()
    finally:
        studio.end()
