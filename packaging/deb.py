# SPDX-License-Identifier: MIT
"""Debian's packages, built by debhelper from packaging/debian and the sources.

This module fills in what depends on the version or the packager: the changelog, the maintainer (from DEBFULLNAME and
DEBEMAIL, like Debian's own tools) and the text of the licence."""

import email.utils
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import wheels


def maintainer():
    return email.utils.formataddr((os.environ.get("DEBFULLNAME", "The Fizeau authors"),
                                   os.environ.get("DEBEMAIL", "authors@fizeau.invalid")))


def fill_in(source, folder, version):
    """debian/ in the copied sources `folder`."""
    debian = folder / "debian"
    shutil.copytree(source / "packaging/debian", debian)
    (debian / "changelog").write_text(
        f"fizeau ({version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n"
        f" -- {maintainer()}  {email.utils.formatdate(wheels.epoch())}\n")
    licence = (source / "LICENSE").read_text().partition("\n\n")[2].partition("\n\n")[2]
    licence = "\n".join(line or "." for line in licence.strip().splitlines())
    for name, mark, text in (("control", "@MAINTAINER@", maintainer()),
                             ("copyright", "@MIT@", textwrap.indent(licence, " "))):
        path = debian / name
        path.write_text(path.read_text().replace(mark, text))


def make(source, files, version, out):
    """Build the packages of the sources (files: relative to `source`) into `out`; their names."""
    if not shutil.which("dh"):
        print("dist: debhelper is not installed, so there are no packages for Debian", file=sys.stderr)
        return []
    work = out / "debian"
    folder = work / f"fizeau-{version}"
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / file, folder / file)
    fill_in(source, folder, version)
    done = subprocess.run(["dpkg-buildpackage", "--build=binary", "--no-sign"], cwd=folder,
                          capture_output=True, text=True,
                          env={**os.environ, "DEB_BUILD_OPTIONS": "nocheck noautodbgsym",
                               "DEB_CFLAGS_STRIP": "-g", "LC_ALL": "C.UTF-8"})
    if done.returncode:
        sys.exit(f"dpkg-buildpackage\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    names = sorted(path.name for path in work.glob("*.deb"))
    for name in names:
        (work / name).replace(out / name)
    shutil.rmtree(work)
    return names
