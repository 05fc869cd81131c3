/* SPDX-License-Identifier: MIT */
/* The cells of one hour, host and series as bytes, without their values.
 *
 *   count, count x {minute, id, cpu, wall, samples, lost}      all LEB128
 *
 * Minutes ascend; the first is stored as its offset in the hour plus 1; the others and ids as the
 * difference from the previous one. All but minutes may be below 0 and are zigzag-encoded. Bytes
 * are validated as they are read: minutes belong to the hour and ascend.
 */
#pragma once

#include "fleet/fleet.h"

enum { FZ_HOUR_MINUTES = 60 };

/* Old hours cannot be divided, so a range of time begins and ends at the nearest hour. */
static inline int64_t fz_nearest_hour(int64_t minute)
{
	return (FZ_MIN(minute, INT64_MAX - FZ_HOUR_MINUTES) + FZ_HOUR_MINUTES / 2 - 1) /
	       FZ_HOUR_MINUTES;
}

struct fz_hour_cell {
	int64_t id, minute;
	struct fz_fleet_exposure exposure;
};

struct fz_hour_reader {
	struct fz_cursor c;
	uint64_t left;
	int64_t hour, id, minute; /* id, minute: of the previous cell */
	bool bad;                 /* at the end: the bytes were invalid */
};

struct fz_hour_reader fz_hour_reader_of(int64_t hour, struct fz_str bytes);
/* False at the end. */
bool fz_hour_reader_next(struct fz_hour_reader *r, struct fz_hour_cell *ret);
/* Cells must be in order of minutes. */
void fz_hour_cells_write(int64_t hour, const struct fz_hour_cell *cells, uint32_t n,
			 struct fz_buf *ret);
