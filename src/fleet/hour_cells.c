/* SPDX-License-Identifier: MIT */
/* Reads and writes the cells of an hour. */
#include "fleet/hour_cells.h"

struct fz_hour_reader fz_hour_reader_of(int64_t hour, struct fz_str bytes)
{
	struct fz_hour_reader r = { .c = fz_cursor_of(bytes.p, bytes.n),
				    .hour = hour,
				    .minute = hour * FZ_HOUR_MINUTES - 1 };

	r.left = fz_cursor_varint(&r.c);
	return r;
}

bool fz_hour_reader_next(struct fz_hour_reader *r, struct fz_hour_cell *ret)
{
	if (r->bad || r->left == 0) {
		r->bad |= r->c.bad || fz_cursor_left(&r->c) > 0;
		return false;
	}
	r->left--;
	int64_t last = r->hour * FZ_HOUR_MINUTES + FZ_HOUR_MINUTES - 1;
	uint64_t later = fz_cursor_varint(&r->c);
	r->bad = later == 0 || later > (uint64_t)(last - r->minute) ||
		 __builtin_add_overflow(r->id, fz_cursor_zigzag(&r->c), &r->id);
	if (r->bad)
		return false;
	r->minute += (int64_t)later;
	*ret = (struct fz_hour_cell){ .id = r->id, .minute = r->minute };
	ret->exposure.cpu_ns = fz_cursor_zigzag(&r->c);
	ret->exposure.wall_ns = fz_cursor_zigzag(&r->c);
	ret->exposure.samples = fz_cursor_zigzag(&r->c);
	ret->exposure.lost = fz_cursor_zigzag(&r->c);
	r->bad = r->c.bad;
	return !r->bad;
}

void fz_hour_cells_write(int64_t hour, const struct fz_hour_cell *cells, uint32_t n,
			 struct fz_buf *ret)
{
	int64_t minute = hour * FZ_HOUR_MINUTES - 1, id = 0;

	fz_buf_varint(ret, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct fz_hour_cell *c = &cells[i];

		fz_buf_varint(ret, (uint64_t)(c->minute - minute));
		fz_buf_zigzag(ret, c->id - id);
		fz_buf_zigzag(ret, c->exposure.cpu_ns);
		fz_buf_zigzag(ret, c->exposure.wall_ns);
		fz_buf_zigzag(ret, c->exposure.samples);
		fz_buf_zigzag(ret, c->exposure.lost);
		minute = c->minute;
		id = c->id;
	}
}
