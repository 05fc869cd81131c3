/* SPDX-License-Identifier: MIT */
/* The values of one cell as bytes, which is how SQLite keeps them.
 *
 *   count, unit, count x {node, what it cost [, samples]}      all LEB128
 *
 * Nodes ascend, and each is stored as the difference from the one before. A cost is a multiple of
 * the unit, their greatest common divisor: with samples at intervals that is the interval, and the
 * multiple the number of samples, which is then not stored again. The lowest bit of what is stored
 * says whether samples follow. Where zstd makes less of all this, a zero byte and its frame stand
 * for it.
 *
 * Bytes are checked as they are read: whatever they are, no value is below 0 or above 63 bits, and
 * nodes ascend from 1.
 */
#pragma once

#include "base/buf.h"

struct fz_cell_value {
	int64_t node, value, n; /* samples */
};

/* Of whoever reads or writes, one value at a time; zero to begin with. */
struct fz_cell_codec {
	struct ZSTD_CCtx_s *packer;
	struct ZSTD_DCtx_s *unpacker;
	struct fz_buf plain;
};
void fz_cell_codec_release(struct fz_cell_codec *c);

struct fz_cell_reader {
	struct fz_cursor c;
	uint64_t left, unit;
	int64_t node; /* the last one */
	bool bad;     /* at the end: these are no values of a cell */
};

/* Until the next use of the codec. */
struct fz_cell_reader fz_cell_reader_of(struct fz_cell_codec *codec, struct fz_str bytes);
/* False: at the end. */
bool fz_cell_reader_next(struct fz_cell_reader *r, struct fz_cell_value *ret);

/* In order of nodes, those of one node added up, *n of them left. False: a sum is above 63 bits. */
bool fz_cell_values_add_up(struct fz_cell_value *values, size_t *n);
/* What was added up, none of it below 0; at least one. Without a codec it is not packed: faster to
 * read, and larger by half. */
void fz_cell_values_write(struct fz_cell_codec *codec, const struct fz_cell_value *values, size_t n,
			  struct fz_buf *ret);
