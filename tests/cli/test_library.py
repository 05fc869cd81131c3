#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libfizeau as a distribution installs it: only its interface is visible, programs built with an
earlier version still work, and pkg-config suffices to link with it, shared or static.

FZ_UPDATE=1 tests/cli/test_library.py rewrites the interface in src/libfizeau.abi."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FZ_BUILD", TOP / "build"))
ABI = TOP / "src" / "libfizeau.abi"
ABIDIFF_ERROR, ABIDIFF_INCOMPATIBLE = 1 | 2, 8  # bits of its status


class Skip(Exception):
    """Raised by a case that cannot run here; the text is the reason."""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def only_the_interface():
    names = [line.split()[-1] for line in
             run("nm", "-D", "--defined-only", BUILD / "libfizeau.so").splitlines()]
    functions = [name.split("@")[0] for name in names if name != "FIZEAU_0"]
    assert len(functions) > 30, names
    assert not [name for name in functions if not name.startswith("fizeau_")], names


def write_abi(path):
    run("abidw", "--headers-dir", TOP / "include", "--drop-private-types", "--exported-interfaces-only",
        "--no-architecture", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
        "--no-elf-needed", "--type-id-style", "hash", "--out-file", path, BUILD / "libfizeau.so")


def keeps_its_abi():
    if not shutil.which("abidiff"):
        raise Skip("abidiff is not installed (abigail-tools)")
    if "FZ_UPDATE" in os.environ:
        write_abi(ABI)
    with tempfile.TemporaryDirectory() as folder:
        # Given the library itself, abidiff would filter out changes of structs as private.
        now = pathlib.Path(folder, "now.abi")
        write_abi(now)
        done = subprocess.run(["abidiff", ABI, now], capture_output=True, text=True)
    assert not done.returncode & ABIDIFF_ERROR, done.stderr
    if done.returncode & ABIDIFF_INCOMPATIBLE:
        remedy = "programs that use it break: undo that, or give it a new soname and version script"
    else:
        remedy = "where functions, or members at the end of structs with a size, were added, all is " \
            "well: FZ_UPDATE=1 tests/cli/test_library.py; anything else breaks programs that use it"
    assert done.returncode == 0, f"the interface is not that of src/libfizeau.abi; {remedy}\n{done.stdout}"


def installed(folder):
    """Where it is installed, and what pkg-config must know of that."""
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder)
    library = next(pathlib.Path(folder).rglob("libfizeau.so"))
    prefix = library.relative_to(folder).parents[2 if "-linux-" in library.parent.name else 1]
    # Only its own folders are moved, not those of what it needs.
    return library.parent, {**os.environ, "PKG_CONFIG_PATH": str(library.parent / "pkgconfig"),
                            "LD_LIBRARY_PATH": str(library.parent)}, \
        ["--define-variable", f"prefix={pathlib.Path(folder) / prefix}"]


def compares(program, folder, env):
    for name, count in (("base", 1), ("head", 3)):
        pathlib.Path(folder, name + ".folded").write_text(f"main;work {count}\n")
    out = run(program, "base.folded", "head.folded", cwd=folder, env=env)
    assert "changed most:" in out, out


def links_shared():
    with tempfile.TemporaryDirectory() as folder:
        _, env, moved = installed(folder)
        flags = run("pkg-config", *moved, "--cflags", "--libs", "fizeau", env=env).split()
        assert "-ljansson" not in flags, flags
        program = os.path.join(folder, "compare")
        run(os.environ.get("CC", "cc"), TOP / "examples" / "compare.c", *flags, "-lm", "-o", program)
        compares(program, folder, env)


def links_static():
    with tempfile.TemporaryDirectory() as folder:
        library, env, moved = installed(folder)
        flags = run("pkg-config", *moved, "--static", "--cflags", "--libs", "fizeau", env=env).split()
        flags = [str(library / "libfizeau.a") if flag == "-lfizeau" else flag for flag in flags]
        program = os.path.join(folder, "compare")
        run(os.environ.get("CC", "cc"), TOP / "examples" / "compare.c", *flags, "-o", program)
        assert "libfizeau" not in run("ldd", program)
        compares(program, folder, {**env, "LD_LIBRARY_PATH": ""})


def main():
    if "FZ_SANITIZED" in os.environ:
        print("1..0 # SKIP a sanitizer's library wants the sanitizer's runtime")
        return
    failed = 0
    cases = (only_the_interface, keeps_its_abi, links_shared, links_static)
    for number, case in enumerate(cases, 1):
        name = case.__name__.replace("_", " ")
        try:
            case()
            print(f"ok {number} - libfizeau: {name}")
        except Skip as reason:
            print(f"ok {number} - libfizeau: {name} # SKIP {reason}")
        except AssertionError as wrong:
            failed += 1
            print(f"not ok {number} - libfizeau: {name}")
            print("# " + str(wrong).replace("\n", "\n# "))
    print(f"1..{len(cases)}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
