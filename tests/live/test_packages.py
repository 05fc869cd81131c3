#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `make dist` makes is installed as its users would, and works there: wheels by pip, the archive
in an older and a newer Debian. Built twice, in two places, it is the same to the byte."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile

from livelib import SANITIZED, SOURCE, Skip, Suite, find_interpreter

suite = Suite()
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="fizeau-packages-"))
DIST = SCRATCH / "dist"
WORK = "sum(i * i for i in range(10_000_000))"  # a second


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=1800,
                          **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def sees(*program, interpreter="/usr/bin/python3", **options):
    """A recording by that program shows what its Python was at."""
    done = subprocess.run([*map(str, program), "run", "--collapsed", "-o", "-", "--", interpreter, "-c", WORK],
                          capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0 and "<genexpr>" in done.stdout, done


def made(ending):
    found = [p for p in DIST.glob("*") if p.name.endswith(ending)]
    assert len(found) == 1, f"{ending}: {found}"
    return found[0]


@suite.test("make dist: wheels, sources, the program, what is in it, and sums that fit", first=True)
def make_dist():
    if SANITIZED:
        raise Skip("packages are built without sanitizers")
    run("make", "-C", SOURCE, "dist", f"DIST={DIST}")
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=DIST)
    assert len(list(DIST.glob("*.whl"))) == 3 and made(".tar.gz") and made(".tgz")
    assert made("x86_64-linux.tar.xz") and made("aarch64-linux.tar.xz")
    assert len(list(DIST.glob("*.deb"))) == 4 and not (DIST / "debian").exists()
    return f"{sum(p.stat().st_size for p in DIST.glob('*.whl')) / 1e6:.1f} MB of wheels"


def need_dist():
    if not (DIST / "SHA256SUMS").exists():
        raise Skip("nothing was packed")


@suite.test("the sources in the archive make the same wheels, byte for byte, in another place")
def same_bytes():
    need_dist()
    again = SCRATCH / "again"
    with tarfile.open(made(".tar.gz")) as archive:
        archive.extractall(again / "sources")
    (source,) = (again / "sources").iterdir()
    epoch = run("git", "-C", SOURCE, "log", "-1", "--format=%ct").strip()
    run("python3", source / "packaging/backend.py", again / "dist", os.uname().machine,
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    made_again = list((again / "dist").glob("*.whl")) + list((again / "dist").glob("*.tar.xz"))
    assert len(made_again) == 3, made_again
    for file in made_again:
        assert file.read_bytes() == (DIST / file.name).read_bytes(), file.name


@suite.test("pip install 'fizeau[count]': records, compares and counts, whatever else is installed")
def by_pip():
    need_dist()
    place = SCRATCH / "by pip"
    run("/usr/bin/python3", "-m", "venv", place)
    run(place / "bin/pip", "install", "--no-index", "--find-links", DIST, "fizeau[count]")
    env = {"HOME": str(place), "PATH": "/nowhere"}
    fizeau = place / "bin/fizeau"
    for name in ("a", "b"):
        run(fizeau, "run", "-o", f"{name}.fz", "--", "/usr/bin/python3", "-c", WORK, cwd=place, env=env)
    run(fizeau, "diff", "a.fz", "b.fz", "-o", "d.html", cwd=place, env=env)
    assert "fizeau-page" in (place / "d.html").read_text()
    told = run(fizeau, "run", "--count", "--", "/usr/bin/python3", "-c", "print(1)", cwd=place, env=env)
    assert "instructions" in told and "callgrind" not in told, told
    assert (place / "share/man/man1/fizeau.1").exists()
    part = "import fizeau\nwith fizeau.record('part.fz'): " + WORK
    run(place / "bin/python", "-c", part, cwd=place, env=env)
    points = "from importlib.metadata import entry_points as e; print([p.value for p in e(group='pytest11')])"
    assert "fizeau.pytest_plugin" in run(place / "bin/python", "-c", points, cwd=place, env=env)
    assert "<genexpr>" in run(fizeau, "replay", "part.fz", cwd=place, env=env)
    run(place / "bin/pip", "uninstall", "-y", "fizeau", "fizeau-valgrind")
    left = [p for p in place.rglob("*fizeau*") if p.is_file() and p.suffix != ".html"]
    assert not [p for p in left if ".fizeau" not in p.parts and p.parent != place], left


def pinned():
    """Requirements as pip takes them with --require-hashes."""
    lines = [f"--no-index --find-links {DIST}"]
    for name, wanted in (("fizeau", "fizeau[count]"), ("fizeau_valgrind", "fizeau-valgrind")):
        wheels = [p for p in DIST.glob(f"{name}-*.whl")]
        hashes = " ".join(f"--hash=sha256:{hashlib.sha256(w.read_bytes()).hexdigest()}" for w in wheels)
        lines.append(f"{wanted}=={wheels[0].name.split('-')[1]} {hashes}")
    return "\n".join(lines) + "\n"


@suite.test("continuous integration: pip installs it for a job, from a file with hashes; one that differs is refused")
def for_a_job():
    need_dist()
    script, file = SOURCE / "bindings/ci/install", SCRATCH / "requirements.txt"
    env = {**os.environ, "FIZEAU": "", "RUNNER_TEMP": str(SCRATCH)}
    file.write_text(pinned())
    for words in (file, f"--no-index --find-links {DIST} fizeau[count]"):
        program = run(script, env={**env, "FIZEAU_INSTALL": str(words)}).strip()
        told = run(program, "run", "--count", "--", "/usr/bin/python3", "-c", "print(1)", cwd=SCRATCH, env=env)
        assert "instructions" in told, told
    file.write_text(re.sub("sha256:[0-9a-f]{8}", "sha256:01234567", pinned()))
    done = subprocess.run([script], env={**env, "FIZEAU_INSTALL": str(file)}, capture_output=True, text=True)
    assert done.returncode != 0 and not done.stdout and "HASH" in done.stderr.upper(), done


@suite.test("npm install: records and counts from another folder")
def by_npm():
    need_dist()
    if not shutil.which("npm"):
        raise Skip("npm is not here")
    place = SCRATCH / "by npm"
    place.mkdir()
    run("npm", "install", "--offline", "--no-audit", "--no-fund", made(".tgz"), cwd=place)
    told = run("npx", "--offline", "fizeau", "run", "--count", "--", "node", "-e", "0", cwd=place)
    assert "instructions" in told, told
    assert run(place / "node_modules/.bin/fizeau", "--version").startswith("fizeau ")


@suite.test("for aarch64: an emulated processor reads, compares and reports to the byte as this one does")
def emulated():
    need_dist()
    place = SCRATCH / "aarch64"
    with tarfile.open(made("aarch64-linux.tar.xz")) as archive:
        archive.extractall(place)
    (program,) = place.glob("*/bin/fizeau")
    start = place / "fizeau"
    start.write_text(f"#!/bin/sh\nexec qemu-aarch64-static '{program}' \"$@\"\n")
    start.chmod(0o755)
    for name in ("help", "diff", "replay", "tree", "options"):
        run(SOURCE / "tests/cli/run", SOURCE / f"tests/cli/{name}.t", env={**os.environ, "FIZEAU": str(start)})
    (wheel,) = DIST.glob("fizeau-*aarch64.whl")
    with zipfile.ZipFile(wheel) as packed:
        (inside,) = (n for n in packed.namelist() if n.endswith("scripts/fizeau"))
        assert packed.read(inside) == program.read_bytes()


@suite.test("Debian's packages: lintian has nothing to say; the program, its library and what counts run")
def debian():
    need_dist()
    packages = sorted(DIST.glob("*.deb"))
    run("lintian", "--allow-root", "--fail-on", "error,warning", *packages)
    place = SCRATCH / "debian"
    for package in packages:
        run("dpkg-deb", "-x", package, place)
    program = place / "usr/bin/fizeau"
    env = {**os.environ, "HOME": str(SCRATCH)}
    sees(program, env=env)
    told = run(program, "run", "--count", "--", "/usr/bin/python3", "-c", "print(1)", env=env, cwd=SCRATCH)
    assert "instructions" in told, told
    (library,) = place.glob("usr/lib/*/libfizeau.so.0")
    folder = library.parent
    run("cc", "-o", SCRATCH / "compare", SOURCE / "examples/compare.c", f"-I{place}/usr/include",
        f"-L{folder}", "-lfizeau", f"-Wl,-rpath,{folder}")
    depends = run("dpkg-deb", "--field", next(p for p in packages if p.name.startswith("fizeau_")), "Depends")
    assert "libdw1" in depends and "libzstd1" in depends, depends


def check_root(version):
    need_dist()
    python = find_interpreter(version)
    with python.scratch() as folder:
        with tarfile.open(made("x86_64-linux.tar.xz")) as archive:
            archive.extractall(folder)
        (program,) = pathlib.Path(folder).glob("*/bin/fizeau")
        start, interpreter = python.command[:-1], python.command[-1]
        sees(*start, python.path(program), interpreter=interpreter)


for version in ("bullseye-3.9", "forky-3.13"):
    suite.add(f"the program of the archive in another Debian, where nothing is installed: {version}",
              check_root, version)
try:
    suite.main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
