#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build what is published: everything (`make dist`), the wheels of this machine (`make wheel`), and the back end (PEP
517) for pip.

    packaging/backend.py FOLDER            wheels, packages for Debian, npm and VS Code, sources, an archive of
                                           the program, a Containerfile, the documents as pages, bills of
                                           materials, checksums
    packaging/backend.py FOLDER MACHINE    the wheels, the archive and the bill of materials for one machine
    packaging/backend.py --wheels FOLDER   the wheels of this machine

The program is static, without debug information, and finds its parts from its own location."""

import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "packaging"))
import deb  # noqa: E402
import npm  # noqa: E402
import vscode  # noqa: E402
import website  # noqa: E402
import wheels  # noqa: E402

VERSION = re.search(r"version: '([^']+)'", (SOURCE / "meson.build").read_text()).group(1)
SUMMARY = re.search(r'^description = "([^"]+)"', (SOURCE / "pyproject.toml").read_text(), re.M).group(1)
COUNTS = pathlib.Path("libexec/fizeau/valgrind/lib")
# Debian's packages that are linked into the program, and of Valgrind for counting.
LINKED = ["libzstd-dev", "zlib1g-dev", "libjansson-dev", "libinih-dev", "libxxhash-dev",
          "libncurses-dev", "libdw-dev", "libelf-dev", "liblzma-dev", "libbz2-dev", "libiberty-dev",
          "libbpf-dev", "libc6-dev"]


def metadata(name, summary, license_name, *more, text=""):
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {VERSION}", f"Summary: {summary}",
             f"License: {license_name}", "Requires-Python: >=3.6",
             "Classifier: Operating System :: POSIX :: Linux",
             "Classifier: Topic :: Software Development :: Debuggers", *more]
    return "\n".join(lines) + f"\nDescription-Content-Type: text/markdown\n\n{text}"


def source_files():
    """The files in git, or all files of an unpacked archive."""
    done = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], capture_output=True)
    if done.returncode == 0 and done.stdout:
        names = [pathlib.Path(os.fsdecode(n)) for n in done.stdout.split(b"\0") if n]
        return sorted(n for n in names if (SOURCE / n).is_file())
    return wheels.files_below(SOURCE)


def settle_time():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return
    done = subprocess.run(["git", "-C", SOURCE, "log", "-1", "--format=%ct"], capture_output=True,
                          text=True)
    os.environ["SOURCE_DATE_EPOCH"] = done.stdout.strip() if done.returncode == 0 else "315532800"


def machines():
    """This machine first; others if there is a compiler for them."""
    own, cross = platform.machine(), "aarch64"
    if cross != own and shutil.which(f"{cross}-linux-gnu-gcc"):
        return [own, cross]
    print(f"dist: for {own} only, because no compiler for {cross} is installed", file=sys.stderr)
    return [own]


def install(folder, machine):
    """Build and install into a prefix; return its folder."""
    build, stage = folder / f"build-{machine}", folder / machine
    cross = [] if machine == platform.machine() else [
        f"--cross-file={SOURCE / 'packaging' / machine}.ini", "-Dbpf=disabled"]
    # The compiler runs in the build folder, and names sources relative to it.
    names = (SOURCE, build, os.path.relpath(SOURCE, build))
    flags = " ".join(f"-ffile-prefix-map={name}=." for name in names)
    for command in (["meson", "setup", "-Dportable=true", "-Dbuildtype=release", "-Dprefix=/",
                     "-Dlibdir=lib", f"-Dc_args={flags}", "-Dc_link_args=-Wl,--build-id=none",
                     *cross, build, SOURCE],
                    ["ninja", "-C", build],
                    ["meson", "install", "-C", build, "--strip", "--destdir", stage, "--no-rebuild"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    for name in ("lib", "include"):  # for programs in C: a wheel has no place for them
        shutil.rmtree(stage / name, ignore_errors=True)
    strip = [p for p in (stage / COUNTS).glob("*") if p.suffix != ".supp" and p.name != "VERSION"]
    if strip:
        subprocess.run(["strip", "--strip-debug", *strip], check=True)
    return stage


def program_wheel(stage, machine):
    text = (SOURCE / "README.md").read_text()
    # On other machines an installed Valgrind's callgrind can count.
    wheel = wheels.Wheel("fizeau", VERSION, machine, metadata(
        "fizeau", SUMMARY, "MIT", "Provides-Extra: count",
        f'Requires-Dist: fizeau-valgrind (=={VERSION}) ; extra == "count" and platform_machine == "x86_64"',
        text=text),
        [SOURCE / "LICENSE"], "[pytest11]\nfizeau = fizeau.pytest_plugin\n")
    for path in wheels.files_below(stage):
        if COUNTS not in path.parents:
            wheel.add(stage, path)
    return wheel


def count_wheel(stage, machine):
    valgrind = (stage / COUNTS / "VERSION").read_text().strip()
    text = (f"`fizeau run --count`, `bench` and `ci` need this to count instructions: fizeau's tool for "
            f"Valgrind {valgrind}, including that Valgrind's core. None of it is linked into "
            f"fizeau. Sources: the folder valgrind/ of fizeau {VERSION}, and valgrind-{valgrind} from "
            f"valgrind.org.\n")
    wheel = wheels.Wheel("fizeau_valgrind", VERSION, machine, metadata(
        "fizeau-valgrind", "Counting instructions with fizeau", "GPL-2.0-or-later", text=text))
    for path in wheels.files_below(stage):
        if COUNTS in path.parents:
            wheel.add(stage, path)
    return wheel


def debian_version(package, machine):
    """The version of a package for that machine."""
    package = f"{package}:{ {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(machine, machine) }"
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True,
                          text=True)
    return done.stdout if done.returncode == 0 else "NOASSERTION"


def bill_of_materials(stage, machine):
    """SPDX 2.3: the program, and the libraries linked into it."""
    made = [("fizeau", VERSION, "MIT")] + [(p, debian_version(p, machine), "NOASSERTION")
                                                 for p in LINKED]
    if (stage / COUNTS / "VERSION").exists():
        made.append(("valgrind", (stage / COUNTS / "VERSION").read_text().strip(), "GPL-2.0-or-later"))
    name = f"fizeau-{VERSION}-{machine}-linux"
    created = datetime.datetime.fromtimestamp(wheels.epoch(), datetime.timezone.utc)
    packages = [{"SPDXID": f"SPDXRef-{p}", "name": p, "versionInfo": v, "licenseConcluded": licence,
                 "downloadLocation": "NOASSERTION", "filesAnalyzed": False} for p, v, licence in made]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-fizeau"}]
    relations += [{"spdxElementId": "SPDXRef-fizeau", "relationshipType": "STATIC_LINK",
                   "relatedSpdxElement": f"SPDXRef-{p}"} for p in LINKED]
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: fizeau-packaging"]},
        "packages": packages, "relationships": relations}, indent=1) + "\n"


# ---- the back end for pip ----

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    settle_time()
    with tempfile.TemporaryDirectory() as folder:
        own = platform.machine()
        return program_wheel(install(pathlib.Path(folder), own), own).write(pathlib.Path(wheel_directory))


def build_sdist(sdist_directory, config_settings=None):
    settle_time()
    top = f"fizeau-{VERSION}"
    path = pathlib.Path(sdist_directory) / f"{top}.tar.gz"
    with tempfile.TemporaryDirectory() as folder:
        information = pathlib.Path(folder) / "PKG-INFO"
        information.write_text(metadata("fizeau", SUMMARY, "MIT"))
        wheels.write_archive(path, top, [(SOURCE, source_files()), (information.parent,
                                                                    [pathlib.Path("PKG-INFO")])])
    return path.name


# ---- all of it ----

def documents(out):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        website.make(folder)
        name = f"fizeau-{VERSION}-documents.tar.xz"
        wheels.write_archive(out / name, name[:-len(".tar.xz")], [(folder, wheels.files_below(folder))])
        return name


def pack_wheels(stage, machine, out):
    """The program, and what counting needs where it was built; their names."""
    names = [program_wheel(stage, machine).write(out)]
    if (stage / COUNTS / "VERSION").exists():
        names.append(count_wheel(stage, machine).write(out))
    elif machine == platform.machine():
        print("dist: no wheel for counting, because Valgrind is not installed", file=sys.stderr)
    return names


def pack(stage, machine, out):
    """Wheels, archive and list of the program for a machine; their names."""
    names = pack_wheels(stage, machine, out)
    top = f"fizeau-{VERSION}-{machine}-linux"
    names += [f"{top}.tar.gz", f"{top}.spdx.json"]
    wheels.write_archive(out / names[-2], top, [(stage, wheels.files_below(stage))])
    (out / names[-1]).write_text(bill_of_materials(stage, machine))
    return names


def main(out):
    with tempfile.TemporaryDirectory() as folder:
        stages = {machine: install(pathlib.Path(folder), machine) for machine in machines()}
        names = [name for machine, stage in stages.items() for name in pack(stage, machine, out)]
        names.append(npm.make(SOURCE, stages, VERSION, SUMMARY, out))
    names.append(vscode.make(SOURCE, VERSION, out))
    container = (SOURCE / "packaging/Containerfile").read_text()
    (out / "Containerfile").write_text(container.replace("@VERSION@", VERSION))
    names.append("Containerfile")
    names += deb.make(SOURCE, source_files(), VERSION, out)
    names.append(documents(out))
    names.append(build_sdist(out))
    sums = "".join(f"{hashlib.sha256((out / n).read_bytes()).hexdigest()}  {n}\n" for n in sorted(names))
    (out / "SHA256SUMS").write_text(sums)
    print(sums, end="")


def one(out, machine):
    with tempfile.TemporaryDirectory() as folder:
        pack(install(pathlib.Path(folder), machine), machine, out)


def own_wheels(out):
    with tempfile.TemporaryDirectory() as folder:
        for name in pack_wheels(install(pathlib.Path(folder), platform.machine()), platform.machine(), out):
            print(out / name)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--wheels"]
    alone = len(words) < len(sys.argv) - 1
    if not words or len(words) > (1 if alone else 2):
        sys.exit("usage: packaging/backend.py FOLDER [MACHINE] | --wheels FOLDER")
    settle_time()
    destination = pathlib.Path(words[0])
    destination.mkdir(parents=True, exist_ok=True)
    if alone:
        own_wheels(destination)
    elif len(words) == 2:
        one(destination, words[1])
    else:
        main(destination)
