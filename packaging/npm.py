# SPDX-License-Identifier: MIT
"""The package for npm: an installed tree for each machine, so that `npx fizeau` needs neither a compiler
nor root."""

import json
import pathlib
import tempfile

import wheels


CPUS = {"x86_64": "x64", "aarch64": "arm64"}  # what Node calls them
START = """\
#!/bin/sh
# SPDX-License-Identifier: MIT
exec "$(dirname "$(readlink -f "$0")")/../$(uname -m)/bin/fizeau" "$@"
"""


def description(version, summary, machines, counts):
    return {
        "name": "fizeau", "version": version, "description": summary,
        "license": "(MIT AND GPL-2.0-or-later)" if counts else "MIT",
        "os": ["linux"], "cpu": [CPUS[m] for m in machines],
        "bin": {"fizeau": "bin/fizeau"},
        "keywords": ["profiler", "flamegraph", "benchmark", "performance"],
    }


def make(source, stages, version, summary, out):
    """A tarball of the trees as npm wants it, in `out`; its name. stages: of each machine, in a folder
    of its name."""
    name = f"fizeau-{version}.tgz"
    with tempfile.TemporaryDirectory() as folder:
        own = pathlib.Path(folder)
        counts = any((stage / "libexec/fizeau/valgrind").exists() for stage in stages.values())
        about = description(version, summary, list(stages), counts)
        (own / "bin").mkdir()
        (own / "bin/fizeau").write_text(START)
        (own / "bin/fizeau").chmod(0o755)
        (own / "package.json").write_text(json.dumps(about, indent=2) + "\n")
        wheels.write_archive(out / name, "package", [
            (own, [pathlib.Path("bin/fizeau"), pathlib.Path("package.json")]),
            (source, [pathlib.Path("README.md"), pathlib.Path("LICENSE")]),
            *((stage.parent, [stage.name / p for p in wheels.files_below(stage)])
              for stage in stages.values())])
    return name
