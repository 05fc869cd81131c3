/* SPDX-License-Identifier: MIT */
/* The sample region of a .bin as a stream of bytes: a part of an input with known size, plain or
 * one zstd frame, so that samples are decoded without having the region in memory. */
#pragma once

#include "base/io.h"

struct fz_tachyon_source {
	struct fz_input *in;
	uint64_t size, taken; /* of the region, as stored */
	void *zstd;           /* ZSTD_DStream, or NULL if not compressed */
	uint8_t *packed;      /* compressed bytes read and not yet unpacked */
	size_t packed_at, packed_n;
	bool in_frame; /* a compressed frame is not complete */
	uint8_t *buf;
	const uint8_t *p, *end; /* in buf */
	bool ended;             /* nothing follows `end` */
	bool bad;               /* damaged, or read beyond the end */
	int error;              /* the input failed; see err */
	struct fz_error err;
};

void fz_tachyon_source_init(struct fz_tachyon_source *s, struct fz_input *in, uint64_t size,
			    bool compressed);
void fz_tachyon_source_release(struct fz_tachyon_source *s);
/* Skips the rest of the region. */
int fz_tachyon_source_skip(struct fz_tachyon_source *s, struct fz_error *err);
/* Buffers at least n bytes; false if there are fewer. */
bool fz_tachyon_source_fill(struct fz_tachyon_source *s, size_t n);
uint64_t fz_tachyon_source_long_varint(struct fz_tachyon_source *s);

static inline bool fz_tachyon_source_at_end(struct fz_tachyon_source *s)
{
	return s->p == s->end && !fz_tachyon_source_fill(s, 1);
}

/* Returns n (at most 64) bytes, valid until the next call; NULL, and sets bad, if there are
 * fewer. */
static inline const uint8_t *fz_tachyon_source_bytes(struct fz_tachyon_source *s, size_t n)
{
	if ((size_t)(s->end - s->p) < n && !fz_tachyon_source_fill(s, n)) {
		s->bad = true;
		return NULL;
	}
	const uint8_t *p = s->p;
	s->p += n;
	return p;
}

static inline uint8_t fz_tachyon_source_byte(struct fz_tachyon_source *s)
{
	const uint8_t *p = fz_tachyon_source_bytes(s, 1);

	return p ? *p : 0;
}

static inline uint64_t fz_tachyon_source_varint(struct fz_tachyon_source *s)
{
	if (s->p < s->end && *s->p < 0x80)
		return *s->p++;
	return fz_tachyon_source_long_varint(s);
}
