/* SPDX-License-Identifier: MIT */
/* Wake-ups in a .fz file, each as the difference to the previous one. */
#include "fz_reader.h"

void fz_file_wakes_encode(const struct fz_wakes *w, int64_t quantum, struct fz_buf *out)
{
	struct fz_wake last = { 0 };

	fz_buf_varint(out, w->n);
	fz_assert(w->n <= FZ_FZ_WAKES_MAX);
	for (size_t i = 0; i < w->n; i++) {
		struct fz_wake wake = w->list[i];

		wake.time = fz_file_round_quanta(wake.time, quantum);
		fz_buf_varint(out, wake.run);
		fz_buf_zigzag(out, wake.time - last.time);
		fz_buf_zigzag(out, (int64_t)wake.thread - last.thread);
		fz_buf_zigzag(out, (int64_t)wake.by - last.by);
		last = wake;
	}
}

/* Reads an index stored as the difference to *last. */
static bool read_index(struct fz_cursor *c, uint32_t *last)
{
	int64_t more = fz_cursor_zigzag(c);

	if (c->bad || more < -(int64_t)*last || more > (int64_t)UINT32_MAX - *last)
		return false;
	*last = (uint32_t)(*last + more);
	return true;
}

bool fz_file_wakes_read(struct fz_profile *p, const struct fz_file_table *threads, int64_t quantum,
			struct fz_cursor *c)
{
	uint64_t n = fz_cursor_varint(c);
	struct fz_wake last = { 0 };

	if (c->bad || n > FZ_FZ_WAKES_MAX)
		return false;
	if (!fz_profile_takes(p, n * sizeof(last)))
		return true;
	for (uint64_t i = 0; i < n; i++) {
		struct fz_wake wake = { .run = (uint16_t)fz_cursor_varint32(c, UINT16_MAX) };

		if (__builtin_add_overflow(last.time, fz_cursor_zigzag(c), &last.time) ||
		    __builtin_mul_overflow(last.time, quantum, &wake.time) ||
		    !read_index(c, &last.thread) || !read_index(c, &last.by))
			return false;
		wake.thread = fz_file_translate(threads, last.thread);
		wake.by = fz_file_translate(threads, last.by);
		/* Skip threads whose entry was lost. */
		if (wake.thread != FZ_NONE && wake.by != FZ_NONE)
			fz_wakes_add(&p->wakes, &wake);
	}
	return true;
}
