/* SPDX-License-Identifier: MIT */
/* Layout of CPython 3.15's .bin, version 1, for reader and writer.
 *
 *   header 64 | samples (raw, or one zstd frame) | strings | frames | [stats 56] | footer 32
 *
 * Fixed-width numbers are in the writer's byte order, varints are LEB128. Header and footer are
 * written last, so a truncated recording has no tables and is lost.
 */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

enum {
	TACHYON_MAGIC = 0x54414348, /* "HCAT" in a little-endian file */
	TACHYON_VERSION = 1,
	TACHYON_HEADER = 64,
	TACHYON_FOOTER = 32,
	TACHYON_STATS = 56,     /* block right before the footer */
	TACHYON_STATS_OLD = 32, /* duration and rate only */
	TACHYON_TRAILER = 16,   /* its last bytes: "TACHSTAT", version, size */
	TACHYON_RECORD = 13,    /* thread u64, interpreter u32, encoding u8 */
	TACHYON_DEPTH = 256,    /* frames per stack in CPython, the innermost ones */
	TACHYON_ZSTD = 1,
};

/* Offsets of the header's fields. */
enum tachyon_field {
	TACHYON_AT_VERSION = 4,
	TACHYON_AT_PYTHON = 8,
	TACHYON_AT_START = 12,
	TACHYON_AT_INTERVAL = 20,
	TACHYON_AT_SAMPLES = 28,
	TACHYON_AT_THREADS = 36,
	TACHYON_AT_STRINGS = 40,
	TACHYON_AT_FRAMES = 48,
	TACHYON_AT_COMPRESSION = 56,
	TACHYON_AT_CONFIG = 60,
};

/* Record encodings; each changes the previous stack of the same thread and interpreter. */
enum tachyon_encoding {
	TACHYON_REPEAT,   /* n, n x (delta us, status): the same stack */
	TACHYON_FULL,     /* delta, status, n, n x frame */
	TACHYON_SUFFIX,   /* delta, status, outermost frames kept, n, n x frame */
	TACHYON_POP_PUSH, /* delta, status, innermost frames dropped, n, n x frame */
};

enum { TACHYON_STATS_HAS_ERROR = 1, TACHYON_STATS_HAS_MISSED = 2 };
enum {
	TACHYON_CONFIG_MODE = 7,
	TACHYON_CONFIG_FEATURES_KNOWN = 8,
	TACHYON_CONFIG_FEATURES_SHIFT = 4
};

#define TACHYON_STATS_MAGIC "TACHSTAT"
/* File name of frames other than code. */
#define TACHYON_SPECIAL "~"
/* Our mark for samples that were synthesized from times. It is the last string of a file, and no
 * frame refers to it; CPython's reader ignores it. */
#define TACHYON_MADE "fizeau: these samples were made of times"

/* Name of the metric of a mode: "wall", "cpu", "gil", "exception". */
struct fz_str tachyon_metric(enum fz_mode mode);

int fz_tachyon_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
/* Writes a .bin without compression. */
int fz_tachyon_write_plain(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
