# SPDX-License-Identifier: MIT
"""The npm package: an installed tree for each machine, so `npx fizeau` needs neither a compiler nor root."""

import json
import pathlib
import tempfile

import wheels


CPUS = {"x86_64": "x64", "aarch64": "arm64"}  # Node's names
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
    """Write a tarball of the trees in npm's layout to `out`; return its name. stages: one for each machine, in a folder
    with its name."""
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
