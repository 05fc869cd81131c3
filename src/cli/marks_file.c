/* SPDX-License-Identifier: MIT */
/* Read markers from a file of lines with times; see marks_file.h. */
#include "cli/marks_file.h"

#include "base/clock.h"
#include "base/io.h"
#include "cli/cli.h"
#include "profile/mark.h"
#include "profile/range.h"

#include <time.h>

enum { FILE_MOST = 64 << 20, YEAR_LEAST = 1970, YEAR_MOST = 2200 };
/* 2001 to 2286: other numbers at the start of a line are probably not times. */
#define EPOCH_LEAST 1000000000u
#define EPOCH_MOST 9999999999u

/* Take up to n digits; false if there are none. */
static bool take_number(struct fz_str *s, size_t n, uint64_t *ret)
{
	size_t i = 0;

	while (i < n && i < s->n && s->p[i] >= '0' && s->p[i] <= '9')
		i++;
	if (!i || !fz_parse_u64((struct fz_str){ s->p, i }, UINT64_MAX, ret))
		return false;
	*s = (struct fz_str){ s->p + i, s->n - i };
	return true;
}

static bool take_char(struct fz_str *s, const char *one_of)
{
	if (!s->n || !strchr(one_of, s->p[0]) || !s->p[0])
		return false;
	*s = (struct fz_str){ s->p + 1, s->n - 1 };
	return true;
}

static bool starts_with_digit(struct fz_str s)
{
	return s.n && s.p[0] >= '0' && s.p[0] <= '9';
}

/* Take ".25" or ",250"; returns ns, 0 if there is no fraction. */
static int64_t take_fraction(struct fz_str *s)
{
	struct fz_str rest = *s;
	int64_t unit = FZ_SECOND, ns = 0;

	if (!take_char(&rest, ".,") || !starts_with_digit(rest))
		return 0;
	for (; starts_with_digit(rest); rest.p++, rest.n--) {
		unit /= 10;
		ns += unit * (rest.p[0] - '0');
	}
	*s = rest;
	return ns;
}

/* Take "Z", "+02:00", "+0200" or " +0200"; false if there is no zone, so the time is local. */
static bool take_zone(struct fz_str *s, int *ret_minutes)
{
	struct fz_str rest = *s;
	uint64_t hours, minutes = 0;

	if (take_char(s, "Z")) {
		*ret_minutes = 0;
		return true;
	}
	take_char(&rest, " ");
	bool west = rest.n && rest.p[0] == '-';
	if (!take_char(&rest, "+-") || !take_number(&rest, 2, &hours) || hours > 14)
		return false;
	take_char(&rest, ":");
	if (!take_number(&rest, 2, &minutes) || minutes > 59)
		return false;
	*s = rest;
	*ret_minutes = (int)(hours * 60 + minutes) * (west ? -1 : 1);
	return true;
}

static bool has_day(uint64_t year, uint64_t month, uint64_t day)
{
	struct tm tm = { .tm_year = (int)year - 1900,
			 .tm_mon = (int)month - 1,
			 .tm_mday = (int)day };

	timegm(&tm);
	return tm.tm_mday == (int)day;
}

static bool take_iso(struct fz_str *s, int64_t *ret)
{
	uint64_t part[6];
	static const struct {
		size_t digits;
		const char *after;
		uint64_t least, most;
	} parts[] = {
		{ 4, "-", YEAR_LEAST, YEAR_MOST },
		{ 2, "-", 1, 12 },
		{ 2, "Tt ", 1, 31 },
		{ 2, ":", 0, 23 },
		{ 2, ":", 0, 59 },
		{ 2, NULL, 0, 60 },
	};
	int zone;

	for (size_t i = 0; i < FZ_ARRAY_LEN(parts); i++)
		if (!take_number(s, parts[i].digits, &part[i]) || part[i] < parts[i].least ||
		    part[i] > parts[i].most || (parts[i].after && !take_char(s, parts[i].after)))
			return false;
	if (!has_day(part[0], part[1], part[2]))
		return false;
	int64_t fraction = take_fraction(s);
	struct tm tm = { .tm_year = (int)part[0] - 1900,
			 .tm_mon = (int)part[1] - 1,
			 .tm_mday = (int)part[2],
			 .tm_hour = (int)part[3],
			 .tm_min = (int)part[4],
			 .tm_sec = (int)part[5],
			 .tm_isdst = -1 };
	*ret = (take_zone(s, &zone) ? timegm(&tm) - zone * 60 : mktime(&tm)) * FZ_SECOND + fraction;
	return true;
}

/* Take seconds since 1970. A longer number is milliseconds, or not a time. */
static bool take_epoch(struct fz_str *s, int64_t *ret)
{
	uint64_t seconds;

	if (!take_number(s, 10, &seconds) || starts_with_digit(*s) || seconds < EPOCH_LEAST ||
	    seconds > EPOCH_MOST)
		return false;
	*ret = (int64_t)seconds * FZ_SECOND + take_fraction(s);
	return true;
}

/* Take the time at the start of a line, with the brackets around it. */
static bool take_time(struct fz_str *line, int64_t *ret)
{
	struct fz_str s = *line;

	take_char(&s, "[");
	struct fz_str epoch = s;
	bool is_iso = take_iso(&s, ret);
	if (!is_iso && !take_epoch(&epoch, ret))
		return false;
	s = is_iso ? s : epoch;
	take_char(&s, "]");
	*line = fz_str_trimmed(s);
	return true;
}

int fz_cli_marks_add(const char *file, const char *name, struct fz_profile *p, struct fz_error *err)
{
	int64_t start = p->run_count == 1 ? p->runs[0].start_unix_ns : 0;
	int64_t end = fz_profile_end(p), at;
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	size_t times = 0, fitting = 0, kept = 0;

	if (start <= 0)
		return fz_fail(err, FZ_EUSAGE, "--markers: cannot place clock times in %s: it %s",
			       name, p->run_count > 1 ? "has several runs" : "has no start time");
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	int rc = fz_input_open(file, &in, err);
	if (!rc)
		rc = fz_input_read_all(in, &text, FILE_MOST, err);
	if (rc)
		return fz_error_prefix(err, "--markers");
	for (struct fz_str rest = fz_buf_view(&text); rest.n;) {
		struct fz_str line = fz_str_trimmed(fz_str_take_line(&rest));

		if (!take_time(&line, &at))
			continue;
		times++;
		if (!line.n || at < start || at - start > end)
			continue;
		fitting++;
		kept += fz_profile_add_mark(p, at - start, line);
	}
	if (!times)
		return fz_fail(err, FZ_EUSAGE,
			       "--markers: no line of %s begins with a time, such as "
			       "2026-11-23T14:03:05Z or 1795442585",
			       file);
	if (kept < fitting)
		fz_cli_warn("--markers: using the first %zu of %zu lines of %s within the "
			    "recording; a recording can have at most %d markers",
			    kept, fitting, file, FZ_PROFILE_MARKS);
	else if (!fitting)
		fz_cli_warn("--markers: no line of %s is within the time of %s", file, name);
	return 0;
}
