/* SPDX-License-Identifier: MIT */
/* Sampling rates and their instants.
 *
 * A rate is stored in millionths of a hertz, and instant n of a grid is computed from n, never by
 * adding rounded intervals: 3 kHz means 333,333.33 ns however long the recording lasts.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"

struct fz_rate {
	uint64_t micro_hz; /* 0: back to back, as fast as possible */
};

/* "1000", "2.5khz", "10k", "1mhz", "max"; letters in either case. */
int fz_rate_parse(const char *text, struct fz_rate *ret, struct fz_error *err);
/* For people: "1 kHz", "333.3 Hz", "back to back". */
char *fz_rate_format(struct fz_rate rate, char *out, size_t size);
/* Nanoseconds from the start of the grid to instant n. */
int64_t fz_rate_time(struct fz_rate rate, uint64_t n);
/* The last instant that is not later than ns; fz_rate_slot(r, fz_rate_time(r, n)) == n. */
uint64_t fz_rate_slot(struct fz_rate rate, int64_t ns);
/* The offset in ns of an instant in its slot, after one at `shift` in the previous slot; dice: a
 * random number. */
int64_t fz_rate_shift(int64_t shift, int64_t interval, uint64_t dice);
