/* SPDX-License-Identifier: MIT */
/* Sampling rates: parsing them and exact arithmetic on the grid of instants. */
#include "record/rate.h"

#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

enum { MICRO = 1000000, RATE_DIGITS_MAX = 15 };

/* 1 MHz. No engine is that fast, and "500mhz" is probably meant as 0.5 Hz. */
static const uint64_t MICRO_HZ_MAX = (uint64_t)1000000 * MICRO;

/* Nanoseconds per second times 1e6: an interval is this divided by micro_hz. */
static const uint64_t NS_MICRO = 1000000000000000;

static const struct {
	const char *suffix;
	uint64_t scale;
} units[] = { { "", 1 },       { "hz", 1 },      { "k", 1000 },
	      { "khz", 1000 }, { "m", 1000000 }, { "mhz", 1000000 } };

static int bad_rate(const char *text, struct fz_error *err)
{
	return fz_fail(err, FZ_EUSAGE,
		       "invalid sampling rate '%s'; use for example 1000, 2.5khz, 10k or max",
		       text);
}

int fz_rate_parse(const char *text, struct fz_rate *ret, struct fz_error *err)
{
	const char *p = text;
	unsigned __int128 digits = 0, scale = MICRO, divisor = 1;
	unsigned count = 0;
	bool fraction = false;

	if (strcasecmp(text, "max") == 0) {
		ret->micro_hz = 0;
		return 0;
	}
	for (; isdigit((unsigned char)*p) || (*p == '.' && !fraction); p++) {
		if (*p == '.') {
			fraction = true;
			continue;
		}
		if (++count > RATE_DIGITS_MAX)
			return bad_rate(text, err);
		digits = digits * 10 + (unsigned)(*p - '0');
		divisor *= fraction ? 10 : 1;
	}
	size_t u = 0;
	while (u < FZ_ARRAY_LEN(units) && strcasecmp(p, units[u].suffix) != 0)
		u++;
	if (count == 0 || u == FZ_ARRAY_LEN(units))
		return bad_rate(text, err);
	scale *= units[u].scale;
	unsigned __int128 micro_hz = digits * scale / divisor;
	if (micro_hz == 0)
		return fz_fail(err, FZ_EUSAGE, "invalid sampling rate '%s': must be above 0", text);
	if (micro_hz > MICRO_HZ_MAX)
		return fz_fail(err, FZ_EUSAGE,
			       "invalid sampling rate '%s': above 1 MHz; use 'max' to sample as "
			       "fast as possible",
			       text);
	ret->micro_hz = (uint64_t)micro_hz;
	return 0;
}

char *fz_rate_format(struct fz_rate rate, char *out, size_t size)
{
	double hz = (double)rate.micro_hz / MICRO;

	if (rate.micro_hz == 0)
		snprintf(out, size, "back to back");
	else if (hz >= 1000)
		snprintf(out, size, "%.6g kHz", hz / 1000);
	else
		snprintf(out, size, "%.6g Hz", hz);
	return out;
}

int64_t fz_rate_time(struct fz_rate rate, uint64_t n)
{
	fz_assert(rate.micro_hz > 0);
	/* Rounded up, so that fz_rate_slot of the result is n again. */
	return (int64_t)(((unsigned __int128)n * NS_MICRO + rate.micro_hz - 1) / rate.micro_hz);
}

uint64_t fz_rate_slot(struct fz_rate rate, int64_t ns)
{
	fz_assert(ns >= 0);
	return (uint64_t)((unsigned __int128)ns * rate.micro_hz / NS_MICRO);
}

/* A program that repeats itself every few intervals must not always be sampled at the same places,
 * and no part of it may never be sampled. So each offset in a slot is equally likely. From one slot
 * to the next it changes by up to half an interval, reflected at the ends, so that two instants are
 * never closer than that. */
int64_t fz_rate_shift(int64_t shift, int64_t interval, uint64_t dice)
{
	fz_assert(shift >= 0 && shift < interval);
	int64_t at = shift + (int64_t)(dice % (uint64_t)interval) - interval / 2;

	if (at < 0)
		at = -at;
	else if (at >= interval)
		at = 2 * interval - 1 - at;
	fz_assert(at >= 0 && at < interval);
	return at;
}
