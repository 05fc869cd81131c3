#!/usr/bin/env python3
"""Verdicts as people and machines get them: one diff has the same verdicts in every report, a program
compared with itself has not changed, a comment never grows too long."""

import base64
import html
import itertools
import json
import pathlib
import re
import tempfile
import zlib

from livelib import SHARED, SOURCE, Skip, Suite, counts_of, fizeau
from wire import varint

suite = Suite()
VECTORS = SOURCE / "tests" / "data" / "tachyon-diff"
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def report(form, *arguments):
    done = fizeau("diff", "--format", form, *map(str, arguments))
    assert done.returncode == 0, done.stderr
    return done.stdout


def nanoseconds(text):
    number, unit = text.replace(",", "").lstrip("±+").split()
    return float(number) * UNITS[unit]


def close(text, value):
    """A duration in text has three digits, so it may be off by half of the last."""
    return abs(nanoseconds(text) - value) <= 0.0051 * abs(value)


def page_of(*arguments):
    """(header, columns) of the page, by name: lists of numbers or of strings."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "diff.html"
        done = fizeau("diff", "-o", str(path), *map(str, arguments))
        assert done.returncode == 0, done.stderr
        text = path.read_text(encoding="utf-8")
    header = json.loads(re.search(r'<script[^>]*id="fz-header"[^>]*>(.*?)</script>', text, re.S)[1])
    packed = re.search(r'<script[^>]*id="fz-data"[^>]*>(.*?)</script>', text, re.S)[1]
    blob = zlib.decompress(base64.b64decode(packed), -15)
    return header, {c["name"]: column_of(c, blob) for c in header["columns"]}


def column_of(column, blob):
    at, values = column["at"], []
    for _ in range(column["n"]):
        value, at = varint(blob, at)
        if column["type"] == "s":
            values.append(blob[at:at + value].decode())
            at += value
        else:
            if column["type"] == "z":
                value = value >> 1 ^ -(value & 1)
            values.append(value * column["unit"])
    return values


def page_agrees(answer, *arguments):
    header, columns = page_of(*arguments)
    assert header["verdict"] == answer["verdict"], header["verdict"]
    words = ["unknown", "unchanged", "changed"]
    place = {name: i for i, name in enumerate(columns["function.name"])}
    for f in answer["functions"]:
        i = place[f["name"]]
        for family in "self", "total":
            assert words[columns["function.verdict." + family][i]] == f[family + "_verdict"], f
            reaches = [columns[f"function.{end}.{family}"][i] for end in ("below", "above")]
            if f[family + "_low"] is None:
                assert reaches == [-1, -1], (f, reaches)
                continue
            for told, wanted in zip(reaches, reach(f, family)):
                assert abs(told - wanted) <= 1, (f, reaches)


def reach(f, family):
    """How far the interval goes below and above the change."""
    low, high, delta = f[family + "_low"], f[family + "_high"], f["diff_" + family]
    return delta - low, high - delta


def markdown_rows(text):
    """(title, cells) of each row of the open tables."""
    title = None
    for line in text.splitlines():
        if line.startswith("**"):
            title = line.split("**")[1]
        elif line.startswith("<details>"):
            title = None
        elif line.startswith("| ") and title and not line.startswith("| function"):
            yield title, [plain(cell) for cell in line.strip("|").split("|")]


def plain(cell):
    """What a reader sees of a cell, with lines for its lines."""
    seen = re.sub(r"<(?!br>)[^>]*>", "", cell).replace("&nbsp;", " ").strip()
    return html.unescape(seen).replace("<br>", "\n")


def expected_percent(function, family):
    if function["state"] != "common":
        sure = function["word"] in ("new", "gone")
        return function["word"] if sure else "from 0" if function["state"] == "new" else "to 0"
    return f"{function['pct_' + family]:+.1f} %"


def reports_agree(*arguments):
    answer = json.loads(report("json", *arguments))
    text, markdown = report("text", "--verbose", *arguments), report("markdown", *arguments)
    rows = list(markdown_rows(markdown))
    for family, title in ("self", "Self"), ("total", "Total, with callees"):
        costly = [f for f in answer["functions"] if f["base_" + family] or f["head_" + family]]
        count = {word: sum(f[family + "_verdict"] == word for f in costly) for word in ("unchanged", "unknown")}
        changed = sorted((f for f in costly if f[family + "_verdict"] == "changed"),
                         key=lambda f: -abs(f["diff_" + family]))
        summary = (f"{counts_of(changed, family)}, {count['unchanged']:,} same within ±0.2 % of the run, "
                   f"{count['unknown']:,} unsure")
        assert f"{title}: {summary}" in re.sub(r"\n +", " ", text), (summary, text)
        assert f"**{title}**: {summary}." in markdown, (summary, markdown)
        shown = [cells for where, cells in rows if where == title]
        assert len(shown) == len(changed), (shown, changed)
        for f, cells in zip(changed, shown):
            margin = max(reach(f, family))
            sign, name = cells[0].split(" ", 1)
            change, interval, percent = cells[1].split("\n")
            before, after = cells[2].split("\n")[0].split(" → ")
            expected = [line.removeprefix("expected ") for line in cells[2].split("\n")[1:]]
            numbers = [before, *expected, after, change, interval, percent]
            assert re.search(r" +".join(map(re.escape, numbers)), text), (cells, text)
            if abs(answer["scale"]["factor"] - 1) >= .005:
                assert close(expected[0], f["expected_" + family]), (f, cells)
            assert name == f["name"] and sign == ("▲" if f["diff_" + family] > 0 else "▼"), (f, cells)
            assert f["file"] in cells[3], (f, cells)
            assert close(before, f["base_" + family]), (f, cells)
            assert close(after, f["head_" + family]), (f, cells)
            assert close(change.lstrip("-"), abs(f["diff_" + family])), (f, cells)
            assert close(interval, margin), (f, cells)
            assert percent == expected_percent(f, family), (f, cells)
    verdict = answer["verdict"]
    headline = " ".join(re.split(r"\n(?! )", text)[0].split())
    assert f"### {headline}\n" in markdown, (headline, markdown)
    assert headline.startswith(verdict["text"] + ": "), (headline, verdict)
    assert ("reason" in verdict) == (verdict["word"] == "unknown"), verdict
    assert (verdict["change_pct"] is None) == (answer["scale"]["mode"] in ("share", "window")), verdict
    if verdict["change_pct"] is not None and verdict["method"] != "identical":
        assert f"[{verdict['low']:+.1f} %, {verdict['high']:+.1f} %]" in headline, headline
    if verdict["method"] != "identical":
        assert f"{verdict['smallest_visible_pct']:.1f} %" in verdict["power"], verdict
        assert verdict["power"] in " ".join(text.split()), text
        assert verdict["power"] in markdown, markdown
    return answer


@suite.test("text, markdown, page and JSON agree: by share, by time, by window, by reference")
def agreement():
    for mode in "share", "time", "window", "reference":
        answer = reports_agree(VECTORS / "base.bin", VECTORS / "head.bin", "--scale", mode)
        # No functions of these two agree, so there is no reference.
        scattered = mode == "reference" and answer["scale"]["basis"] == "scattered"
        assert answer["scale"]["mode"] == ("share" if scattered else mode), answer["scale"]
        page_agrees(answer, VECTORS / "base.bin", VECTORS / "head.bin", "--scale", mode)


@suite.test("a recording compared with itself is unchanged all over")
def identity():
    answer = reports_agree(VECTORS / "base.bin", VECTORS / "base.bin", "--scale", "time")
    assert answer["verdict"]["word"] == "same" and answer["verdict"]["method"] == "identical"
    assert {n["verdict"] for n in answer["nodes"]} == {"unchanged"}


@suite.test("runs of one program: nothing changed, and the gate stays open")
def same_program():
    folders = [SHARED / "profiles" / "pairs" / "aa_ab" / name
               for name in ("tachyon_wall_A", "tachyon_cpu_A")]
    if not all(folder.exists() for folder in folders):
        raise Skip("the recordings are not there")
    pairs = false = 0
    for folder in folders:
        for base, head in itertools.combinations(sorted(folder.glob("*.bin")), 2):
            done = fizeau("diff", "--format", "json", str(base), str(head), "--scale", "time",
                          "--fail-on", "change", "--threshold", "0")
            assert done.returncode == 0, (base, head, done.stderr)
            answer = json.loads(done.stdout)
            assert answer["verdict"]["word"] in ("same", "unknown"), answer["verdict"]
            pairs += 1
            false += sum(f["self_verdict"] == "changed" or f["total_verdict"] == "changed"
                         for f in answer["functions"])
    assert pairs == 20 and false <= 0.1 * pairs, (pairs, false)
    return f"{false} functions called changed in {pairs} pairs"


@suite.test("a comment with many changes and hostile names is short and harmless")
def long_comment():
    def lines(count):
        return "".join(f"m;f{i}|`*_<script>@you![x](y)__{'long' * 40} {1000 if i % 3 else count}\n"
                       for i in range(450))
    with tempfile.TemporaryDirectory() as folder:
        pair = [pathlib.Path(folder) / name for name in ("a.folded", "b.folded")]
        pair[0].write_text(lines(1000), encoding="utf-8")
        pair[1].write_text(lines(9000), encoding="utf-8")
        # A name that is drawn by lot may hold an underscore, which is harmless within a word.
        text = report("markdown", *pair, "--scale", "time", "--limit", "100000").replace(folder, "")
    assert 30000 < len(text.encode()) <= 60000, len(text)
    assert "more functions" in text and "How it was measured" in text
    for row in (line for line in text.splitlines() if line.startswith("| ")):
        assert row.count("|") == 5, row
    assert not re.search(r"[`*_@!\[]|<script", text.replace("**", "").replace("[+", "").replace("[-", "").replace("@<!-- -->", "")), text[:3000]


@suite.test("a comment stays below 60 kB for a huge diff, and its picture shows verdicts")
def huge_comment():
    with tempfile.TemporaryDirectory() as folder:
        pair = [pathlib.Path(folder) / name for name in ("a.folded", "b.folded")]
        for side, path in enumerate(pair):
            path.write_text("".join(
                f"{'m' * 90}{i % 50};{'caller' * 30}{i // 40};{'renamed' if side and i % 7 == 0 else 'f'}"
                f"{'x' * 150}{i} {9000 if side and i % 25 == 0 else 200}\n"
                for i in range(20000)), encoding="utf-8")
        report_file = pathlib.Path(folder) / "a b.md"
        done = fizeau("diff", *map(str, pair), "-o", str(report_file), "--scale", "time",
                      "--limit", "1000000")
        assert done.returncode == 0, done.stderr
        text = report_file.read_bytes()
        assert 30000 < len(text) <= 60000, len(text)
        assert b"How it was measured" in text and b"more lines; text, JSON and page" in text
        assert b"\n![Call paths that changed](a%20b.md.svg)\n" in text
        assert f"wrote {report_file}.svg" in done.stderr, done.stderr
        small = (pathlib.Path(folder) / "a b.md.svg").read_text(encoding="utf-8")
        assert len(small) < 400000, len(small)


@suite.test("a picture is hatched where the verdict is unsure, and grey only where nothing changed")
def picture():
    pair = VECTORS / "base.bin", VECTORS / "head.bin"
    answer = json.loads(report("json", *pair))
    text = report("svg", *pair, "-o", "-")
    frames = re.findall(r'<title>(.*?)\n.*?</title><rect class="(c\d+)', text, re.S)
    verdicts = {html.escape(f["name"], quote=False): f for f in answer["functions"]}
    kept, unsure, unsure_new = "c11", "c20", "c21"
    classes = {"changed": {f"c{i}" for i in range(1, 11)}, "unchanged": {"c0"}, "unknown": {unsure, unsure_new}}
    told = set()
    for name, colour in frames:
        if name not in verdicts:
            # Several frames as one: none of them certainly changed.
            assert colour in ("c0", kept, unsure), (name, colour)
            continue
        f = verdicts[name]
        if colour == kept or f["state"] == "removed" or not (f["base_self"] or f["head_self"]):
            continue
        assert colour in classes[f["self_verdict"]] | {"c10", "c0"}, (name, colour, f)
        told.add(colour)
    assert unsure in told, told
    assert answer["verdict"]["text"] in text and "unsure</text>" in text
    plain = report("svg", *pair, "-o", "-", "--palette", "tachyon")
    assert "within 15 %" in plain and "unsure</text>" not in plain


def refactored(folder):
    """A file that moved, and a function that was renamed."""
    pair = [pathlib.Path(folder) / name for name in ("base.folded", "head.folded")]
    for path, tools, name, split in ((pair[0], "util.py", "parse_issue_fixed", 400),
                                     (pair[1], "lib/tools.py", "find_issue", 500)):
        path.write_text("".join(f"a.py:main:1;{stack}\n" for stack in (
            f"{tools}:load:1 700", f"{tools}:save:9 650", f"m.py:{name}:5;m.py:split:1 {split}",
            f"m.py:{name}:6;m.py:strip:20 300", f"m.py:{name}:5 200", "m.py:made_12:40 90")), encoding="utf-8")
    return pair


@suite.test("inferred matches are in every report, with score, scaling and warnings, and can be refused")
def inferred():
    with tempfile.TemporaryDirectory() as folder:
        pair = refactored(folder)
        answer = json.loads(report("json", *pair, "--scale", "reference"))
        links = {link["name"]: link for link in answer["links"]}
        assert links["find_issue"]["from_name"] == "parse_issue_fixed", links
        assert links["load"]["how"] == links["save"]["how"] == "moved", links
        assert links["load"]["from_file"] == "util.py", links
        for form in ("text", "markdown", "folded"):
            more = ("--verbose",) if form == "text" else ()
            text = report(form, *pair, "--scale", "reference", "-o", "-", *more)
            text = html.unescape(text) if form == "markdown" else text
            flat = " ".join(re.sub(r"(?m)^# ", "", text).split())
            assert "Scaling: " + answer["scale"]["mode"] in flat, (form, text)
            assert all(f"Warning: {warning[:60]}" in flat for warning in answer["warnings"]), (form, text)
            for link in links.values():
                score = r"\d\.\d\d" if form == "folded" else f"{link['score']:.2f}"
                assert re.search(rf"{score} +{link['how']} +{link['name']} .*\n#? +was {link['from_name']} ", text), (form, text)
        header, _ = page_of(*pair, "--scale", "reference")
        for key in "scale", "warnings", "links", "shifts", "name_rules", "verdict":
            assert header[key] == answer[key], key

        def state(*options):
            functions = json.loads(report("json", *pair, *options))["functions"]
            return {f["name"]: f["state"] for f in functions}["find_issue"]
        assert state() == "common"
        for veto in (["--no-rename-detection"], ["--map", "parse_issue_fixed="], ["--match", "names"]):
            assert state(*veto) == "new", veto
        assert state("--no-rename-detection", "--map", "parse_issue_fixed=find_issue") == "common"
        assert state("--match", "names", "--rename", "parse_issue_fixed=find_issue") == "common"


if __name__ == "__main__":
    suite.main()
