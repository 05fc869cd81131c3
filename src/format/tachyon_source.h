/* SPDX-License-Identifier: MIT */
/* The sample region of a .bin as a stream of plain bytes: a part of an input of known size,
 * perhaps holding one zstd frame, so that samples are decoded without the region in memory. */
#pragma once

#include "base/io.h"

struct fz_tachyon_source {
	struct fz_input *in;
	uint64_t size, taken; /* of the region, as stored */
	void *zstd;           /* ZSTD_DStream, or NULL when stored plainly */
	uint8_t *packed;      /* compressed bytes read and not yet unpacked */
	size_t packed_at, packed_n;
	bool in_frame; /* a compressed frame is not complete */
	uint8_t *buf;
	const uint8_t *p, *end; /* in buf */
	bool ended;             /* nothing comes after end */
	bool bad;               /* damaged, or more was asked for than there is */
	int error;              /* the input failed: err says how */
	struct fz_error err;
};

void fz_tachyon_source_init(struct fz_tachyon_source *s, struct fz_input *in, uint64_t size,
			    bool compressed);
void fz_tachyon_source_release(struct fz_tachyon_source *s);
/* Read and drop what is left of the region. */
int fz_tachyon_source_skip(struct fz_tachyon_source *s, struct fz_error *err);
/* Make more than what is buffered available; at least n bytes, or false. */
bool fz_tachyon_source_fill(struct fz_tachyon_source *s, size_t n);
uint64_t fz_tachyon_source_long_varint(struct fz_tachyon_source *s);

static inline bool fz_tachyon_source_at_end(struct fz_tachyon_source *s)
{
	return s->p == s->end && !fz_tachyon_source_fill(s, 1);
}

/* n (at most 64) bytes, valid until the next call; NULL and bad when there are fewer. */
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
