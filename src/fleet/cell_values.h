/* SPDX-License-Identifier: MIT */
/* The values of one cell as bytes, as stored in SQLite.
 *
 *   count, unit, count x {node, cost [, samples]}      all LEB128
 *
 * Nodes ascend, and each is stored as the difference from the previous one. A cost is a multiple of
 * the unit, their greatest common divisor: with samples at intervals that is the interval, and the
 * multiple the number of samples, which is then omitted. The lowest bit of a stored cost tells
 * whether samples follow. If zstd makes it smaller, a zero byte and a zstd frame are stored
 * instead.
 *
 * Bytes are validated as they are read: no value is below 0 or above 63 bits, and nodes ascend from
 * 1.
 */
#pragma once

#include "base/buf.h"

struct fz_cell_value {
	int64_t node, value, n; /* samples */
};

/* Compression state, for one cell at a time; initialise with zeros. */
struct fz_cell_codec {
	struct ZSTD_CCtx_s *packer;
	struct ZSTD_DCtx_s *unpacker;
	struct fz_buf plain;
};
void fz_cell_codec_release(struct fz_cell_codec *c);

struct fz_cell_reader {
	struct fz_cursor c;
	uint64_t left, unit;
	int64_t node; /* the previous one */
	bool bad;     /* at the end: the bytes were invalid */
};

/* Valid until the next use of the codec. */
struct fz_cell_reader fz_cell_reader_of(struct fz_cell_codec *codec, struct fz_str bytes);
/* False at the end. */
bool fz_cell_reader_next(struct fz_cell_reader *r, struct fz_cell_value *ret);

/* Sort values by node and add up those of the same node; sets *n. False if a sum exceeds 63 bits.
 */
bool fz_cell_values_add_up(struct fz_cell_value *values, size_t *n);
/* Write at least one value, sorted and added up, none below 0. Without a codec they are not
 * compressed: faster to read, and larger by half. */
void fz_cell_values_write(struct fz_cell_codec *codec, const struct fz_cell_value *values, size_t n,
			  struct fz_buf *ret);
