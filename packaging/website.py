#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The site: the project's documents as self-contained pages.

    packaging/website.py FOLDER

mkdocs makes pages of docs/ and the documents next to it, with the theme of packaging/website; scdoc and mandoc make
pages of the manual. Links between files of the project become links between pages. A link to a missing page or
heading is an error, which lists all of them."""

import html.parser
import json
import os
import pathlib
import posixpath
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent

# Files of the project by parts of the manual, with their titles there.
PARTS = {
    "Start": {"README.md": "Fizeau", "docs/tour.md": "Five minutes", "docs/modes.md": "Which way of measuring",
              "docs/recipes.md": "Recipes", "docs/verdict.md": "How the verdict works",
              "docs/alternatives.md": "Other tools", "docs/packages.md": "Packages",
              "docs/permissions.md": "Permissions"},
    "Record": {"docs/python.md": "From Python", "docs/native.md": "Native stacks", "docs/waits.md": "Waits",
               "docs/growth.md": "Growth",
               "docs/system.md": "The whole machine",
               "docs/live.md": "The live view",
               "docs/control.md": "Control from outside", "docs/counting.md": "Counting instructions",
               "docs/tachyon.md": "From CPython's profiler"},
    "Compare": {"docs/page.md": "The page", "docs/heatmap.md": "Heat maps",
                "bindings/vscode/README.md": "In VS Code", "docs/benchmarks.md": "Benchmarks",
                "docs/ci.md": "Continuous integration", "bindings/ci/github/README.md": "GitHub",
                "bindings/ci/gitlab/README.md": "GitLab", "bindings/ci/README.md": "Other services",
                "docs/server.md": "Releases of a fleet", "docs/mcp.md": "MCP server",
                "docs/matching.md": "Matching", "docs/statistics.md": "Statistics"},
    "Marks": {f"bindings/{name}/README.md": title for name, title in
              (("python", "Python"), ("c", "C and C++"), ("rust", "Rust"), ("node", "Node"))},
    "Formats": {"docs/formats.md": "Files of other tools", "docs/format.md": "The recording",
                "docs/diff-json.md": "A comparison as JSON"},
    "Behind it": {"ARCHITECTURE.md": "Architecture", "docs/cpython.md": "Reading CPython",
                  "docs/performance.md": "Performance", "CONTRIBUTING.md": "Contributing",
                  "SECURITY.md": "Security", "CHANGELOG.md": "Changes"},
}


# Wide blocks can be scrolled by keys, too, and an empty corner of a table is not a heading.
ACCESSIBLE = {"<table>": '<div class="wide" tabindex="0"><table>', "</table>": "</table></div>",
              "<pre>": '<pre tabindex="0">', "<th></th>": "<td></td>"}


def run(*command, text=None):
    done = subprocess.run([str(c) for c in command], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def page_of(path):
    """Where a file of the project is in the site; None: nowhere."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/man/"):
        return "man/" + posixpath.basename(path).split(".")[0] + ".md"
    if path.startswith("docs/"):
        return path[len("docs/"):]
    if path in {p for part in PARTS.values() for p in part}:
        return path.replace("/README.md", ".md").lower()
    return None


def relink(text, path):
    """Links of a file, which name files, as links of its page."""
    here = posixpath.dirname(page_of(path)) or "."

    def link(match):
        to, anchor = match[2], match[3] or ""
        if "://" in to or not to:
            return match[0]
        page = page_of(posixpath.normpath(posixpath.join(posixpath.dirname(path), to)))
        return f"{match[1]}({posixpath.relpath(page, here)}{anchor})" if page else match[0]

    return re.sub(r"(\])\(([^)\s#]*)(#[^)\s]*)?\)", link, text)


def manual_page(path):
    """Of an scdoc source, as Markdown that holds HTML."""
    name = path.name.split(".")[0]
    body = run("mandoc", "-T", "html", "-O", "fragment", text=run("scdoc", text=path.read_text()))
    body = re.sub(r'<h1 class="Sh" id="([^"]*)">(.*?)</h1>', r'<h2 id="\1">\2</h2>', body)
    body = re.sub(r'<table class="(?:head|foot)">.*?</table>', "", body, flags=re.S)
    return f"# {name}(1)\n\n{body}\n"


def stage(folder):
    """Everything that mkdocs reads. Returns the pages by parts."""
    for path in [*(p for part in PARTS.values() for p in part)]:
        page = folder / page_of(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(relink((SOURCE / path).read_text(), path))
    for path in sorted((SOURCE / "docs" / "images").iterdir()):
        (folder / "images").mkdir(exist_ok=True)
        (folder / "images" / path.name).write_bytes(path.read_bytes())
    manual = sorted((SOURCE / "docs" / "man").glob("*.scd"))
    for path in manual:
        page = folder / page_of(f"docs/man/{path.name}")
        page.parent.mkdir(exist_ok=True)
        page.write_text(manual_page(path))
    left = [p.name for p in (SOURCE / "docs").glob("*.md") if not (folder / p.name).exists()]
    if left:
        sys.exit(f"site: in no part of the manual: {', '.join(left)}")
    (folder / "tokens.css").write_text(by_system((SOURCE / "web" / "tokens.css").read_text()))
    (folder / "site.css").write_text((SOURCE / "packaging" / "website" / "site.css").read_text())
    parts = [{part: [{title: page_of(path)} for path, title in pages.items()]} for part, pages in PARTS.items()]
    return [*parts, {"Manual": [{p.name.split(".")[0]: page_of(f"docs/man/{p.name}")} for p in manual]}]


def by_system(tokens):
    """The dark theme where the system has it: the site has no switch."""
    return re.sub(r':root\[data-theme="dark"\] (\{.*?\n?\})', r"@media (prefers-color-scheme: dark) { :root \1 }",
                  tokens, flags=re.S)


def build(out):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "docs").mkdir()
        config = {
            "site_name": "fizeau", "site_description": "what became slower, where, and how sure that is",
            "docs_dir": str(scratch / "docs"), "site_dir": str(out), "use_directory_urls": False,
            "nav": stage(scratch / "docs"), "plugins": [], "extra_css": ["tokens.css", "site.css"],
            "theme": {"name": None, "custom_dir": str(SOURCE / "packaging" / "website")},
            "markdown_extensions": ["tables", "fenced_code", {"toc": {"permalink": "#", "toc_depth": "2-4"}}],
        }
        (scratch / "mkdocs.yml").write_text(json.dumps(config))  # which is YAML
        run("mkdocs", "build", "--quiet", "--strict", "--clean", "--config-file", scratch / "mkdocs.yml")
    for page in out.rglob("*.html"):
        text = page.read_text()
        for was, instead in ACCESSIBLE.items():
            text = text.replace(was, instead)
        page.write_text(text)
    for name in ("sitemap.xml", "sitemap.xml.gz"):  # they hold the day
        (out / name).unlink(missing_ok=True)


# ---- links ----

class Page(html.parser.HTMLParser):
    """What a page links to, what it loads, and its places."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.places |= {attrs["id"]} if attrs.get("id") else set()
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        self.loads += [attrs[key] for key in ("src", "href") if tag != "a" and key in attrs]


def broken(out):
    """Links that lead nowhere, and what is loaded from elsewhere, as (page, link)."""
    pages = {p: Page(p.read_text()) for p in out.rglob("*.html")}
    found = []
    for path, page in pages.items():
        found += [(path, link) for link in page.loads if re.match(r"(https?:)?//", link)]
        for link in page.links + [x for x in page.loads if not x.startswith("data:")]:
            to, _, place = link.partition("#")
            if re.match(r"[a-z]+:", to):
                continue
            target = pathlib.Path(os.path.normpath(path.parent / to)) if to else path
            if not target.is_file() or (place and target in pages and place not in pages[target].places):
                found.append((path, link))
    return found


def make(out):
    """The site in a folder, of which nothing leads nowhere."""
    build(out)
    wrong = broken(out)
    if wrong:
        sys.exit("\n".join(f"site: {page.relative_to(out)}: broken link to {link}" for page, link in wrong))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: packaging/website.py FOLDER")
    make(pathlib.Path(sys.argv[1]).resolve())
