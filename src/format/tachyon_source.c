/* SPDX-License-Identifier: MIT */
/* See tachyon_source.h. Bytes move region -> (packed -> unpacked | nothing) -> buf, a window of
 * BUFFER bytes whose unread tail moves to its front when more is needed. */
#include "tachyon_source.h"

#include <zstd.h>

enum { BUFFER = 256 * 1024, PACKED = 64 * 1024, WINDOW_LOG_MAX = 27 };

void fz_tachyon_source_init(struct fz_tachyon_source *s, struct fz_input *in, uint64_t size,
			    bool compressed)
{
	*s = (struct fz_tachyon_source){ .in = in, .size = size };
	s->buf = fz_malloc(BUFFER);
	s->p = s->end = s->buf;
	if (!compressed)
		return;
	s->packed = fz_malloc(PACKED);
	s->zstd = ZSTD_createDStream();
	fz_assert(s->zstd);
	ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
}

void fz_tachyon_source_release(struct fz_tachyon_source *s)
{
	ZSTD_freeDStream(s->zstd);
	free(s->packed);
	free(s->buf);
	*s = (struct fz_tachyon_source){ 0 };
}

/* Reads up to n stored bytes of the region; 0 at its end or on an error. */
static size_t take_stored(struct fz_tachyon_source *s, void *to, size_t n)
{
	n = FZ_MIN((uint64_t)n, s->size - s->taken);
	int64_t got = fz_input_read(s->in, to, n, &s->err);

	if (got < 0) {
		s->error = (int)got;
		return 0;
	}
	/* The file ends within the region, so the region is shorter than stated. */
	if (got < (int64_t)n)
		s->size = s->taken + (uint64_t)got;
	s->taken += (uint64_t)got;
	return (size_t)got;
}

static size_t unpack(struct fz_tachyon_source *s, uint8_t *to, size_t n)
{
	ZSTD_outBuffer dst = { to, n, 0 };

	while (dst.pos == 0) {
		if (s->packed_at == s->packed_n) {
			s->packed_at = 0;
			s->packed_n = take_stored(s, s->packed, PACKED);
		}
		ZSTD_inBuffer src = { s->packed + s->packed_at, s->packed_n - s->packed_at, 0 };
		size_t z = ZSTD_decompressStream(s->zstd, &dst, &src);
		s->packed_at += src.pos;
		if (ZSTD_isError(z)) {
			s->bad = true;
			break;
		}
		/* After a complete frame zstd waits for another one. */
		bool nothing_happened = src.size == 0 && dst.pos == 0;
		if (nothing_happened)
			s->bad |= s->in_frame;
		else
			s->in_frame = z != 0;
		if (s->packed_n == 0)
			break;
	}
	return dst.pos;
}

bool fz_tachyon_source_fill(struct fz_tachyon_source *s, size_t n)
{
	size_t have = (size_t)(s->end - s->p);

	if (s->ended)
		return false;
	memmove(s->buf, s->p, have);
	s->p = s->buf;
	while (have < n && !s->ended) {
		size_t room = BUFFER - have;
		size_t got = s->zstd ? unpack(s, s->buf + have, room)
				     : take_stored(s, s->buf + have, room);
		s->ended = got == 0;
		have += got;
	}
	s->end = s->buf + have;
	return have >= n;
}

uint64_t fz_tachyon_source_long_varint(struct fz_tachyon_source *s)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = fz_tachyon_source_byte(s);
		if (s->bad || (shift == 63 && byte > 1))
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	s->bad = true;
	return 0;
}

int fz_tachyon_source_skip(struct fz_tachyon_source *s, struct fz_error *err)
{
	while (s->taken < s->size && !s->error)
		take_stored(s, s->buf, BUFFER);
	if (s->error && err)
		*err = s->err;
	return s->error;
}
