# SPDX-License-Identifier: MIT
"""Wheels, zips and archives: the same tree gives the same bytes.

A wheel (https://packaging.python.org/specifications/binary-distribution-format) is a zip. Its folder
NAME-VERSION.data/scripts becomes bin/, NAME-VERSION.data/data the prefix, and its other folders are Python packages."""

import base64
import csv
import gzip
import hashlib
import io
import lzma
import os
import pathlib
import tarfile
import time
import zipfile

# A static program needs only Linux, so any libc works.
PLATFORMS = ("manylinux_2_17", "manylinux2014", "musllinux_1_1")

# The Python package; outside wheels it is with the other bindings.
PACKAGE = pathlib.Path("share/fizeau/bindings/python/fizeau")


def epoch():
    """The time stamp of everything that is built; zip has none before 1980."""
    return max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800)


def files_below(folder):
    """Relative paths in a fixed order."""
    root = pathlib.Path(folder)
    return sorted(p.relative_to(root) for p in root.rglob("*") if p.is_file())


def mode_of(path):
    return 0o755 if os.access(path, os.X_OK) else 0o644


def write_zip(path, entries):
    """entries: [(name, content, mode)]"""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, content, mode in entries:
            entry = zipfile.ZipInfo(name, time.gmtime(epoch())[:6])
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, content)


class Wheel:
    def __init__(self, name, version, machine, metadata, texts=(), entry_points=""):
        self.tags = [f"{platform}_{machine}" for platform in PLATFORMS]
        self.file = f"{name}-{version}-py3-none-{'.'.join(self.tags)}.whl"
        self.info = f"{name}-{version}.dist-info"
        self.data = f"{name}-{version}.data"
        self.metadata, self.texts, self.entry_points = metadata, texts, entry_points
        self.entries = []  # (name in the wheel, content, mode)

    def add(self, folder, path):
        """A file of an installed tree."""
        whole = folder / path
        if PACKAGE in path.parents:
            inside = f"fizeau/{path.relative_to(PACKAGE)}"
        else:
            inside = f"{self.data}/" + (f"scripts/{path.name}" if path.parts[0] == "bin" else f"data/{path}")
        self.entries.append((inside, whole.read_bytes(), mode_of(whole)))

    def info_entries(self):
        tags = "".join(f"Tag: py3-none-{tag}\n" for tag in self.tags)
        wheel = f"Wheel-Version: 1.0\nGenerator: fizeau\nRoot-Is-Purelib: false\n{tags}"
        yield f"{self.info}/METADATA", self.metadata.encode(), 0o644
        yield f"{self.info}/WHEEL", wheel.encode(), 0o644
        if self.entry_points:
            yield f"{self.info}/entry_points.txt", self.entry_points.encode(), 0o644
        for path in self.texts:
            yield f"{self.info}/{path.name}", path.read_bytes(), 0o644

    def write(self, folder):
        entries = [*self.entries, *self.info_entries()]
        record = io.StringIO()
        rows = csv.writer(record, lineterminator="\n")
        for name, content, _ in entries:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            rows.writerow([name, f"sha256={digest.decode()}", len(content)])
        rows.writerow([f"{self.info}/RECORD", "", ""])
        entries.append((f"{self.info}/RECORD", record.getvalue().encode(), 0o644))
        write_zip(folder / self.file, entries)
        return self.file


def write_archive(path, top, trees):
    """A .tar.gz or .tar.xz with one folder `top`; trees: [(folder, files below it)]."""
    with open(path, "wb") as raw:
        packed = (lzma.LZMAFile(raw, "wb") if path.suffix == ".xz" else
                  gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=epoch()))
        with packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as out:
            for folder, files in trees:
                for file in files:
                    entry = tarfile.TarInfo(f"{top}/{file}")
                    entry.mtime, entry.mode = epoch(), mode_of(folder / file)
                    entry.size = (folder / file).stat().st_size
                    with open(folder / file, "rb") as content:
                        out.addfile(entry, content)
