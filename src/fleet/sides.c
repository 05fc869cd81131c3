/* SPDX-License-Identifier: MIT */
/* Sides of comparisons, from text; sides.h. Labels are at the end of the text, in braces, and
 * before them a range, after the last "@". */
#include "fleet/sides.h"

#include <time.h>

#include "base/str.h"

enum { YEAR_LEAST = 1970, MINUTE_S = 60 };

struct range {
	int64_t from, until; /* minutes */
};

/* ---- times ---- */

/* In a pattern, 'd' matches a digit; other characters match themselves. */
static bool fits(struct fz_str s, const char *pattern)
{
	for (size_t i = 0; i < s.n; i++)
		if (pattern[i] == 'd' ? s.p[i] < '0' || s.p[i] > '9' : s.p[i] != pattern[i])
			return false;
	return s.n == strlen(pattern);
}

static int number_at(struct fz_str s, size_t at, size_t n)
{
	int number = 0;

	for (size_t i = at; i < at + n && at + n <= s.n; i++)
		number = 10 * number + (s.p[i] - '0');
	return number;
}

/* "2026-11-23", "2026-11-23T06:15", "2026-11-23T06:15Z". */
static bool parse_date(struct fz_str s, int64_t *ret)
{
	if (!fits(s, "dddd-dd-dd") && !fits(s, "dddd-dd-ddTdd:dd") && !fits(s, "dddd-dd-ddTdd:ddZ"))
		return false;
	int year = number_at(s, 0, 4), month = number_at(s, 5, 2), day = number_at(s, 8, 2);
	int hour = number_at(s, 11, 2), minute = number_at(s, 14, 2);
	struct tm tm = { .tm_year = year - 1900,
			 .tm_mon = month - 1,
			 .tm_mday = day,
			 .tm_hour = hour,
			 .tm_min = minute };
	int64_t seconds = timegm(&tm);

	/* timegm changes invalid dates such as February 31. */
	if (year < YEAR_LEAST || tm.tm_mon != month - 1 || tm.tm_mday != day ||
	    tm.tm_hour != hour || tm.tm_min != minute)
		return false;
	*ret = seconds / MINUTE_S;
	return true;
}

static bool parse_time(struct fz_str s, int64_t now, int64_t *ret)
{
	int64_t ago;

	if (parse_date(s, ret))
		return true;
	if (!fz_parse_ago(s, &ago))
		return false;
	*ret = FZ_MAX(now - ago / MINUTE_S, 0);
	return true;
}

/* "FROM..TO"; one of the two may be missing. */
static bool parse_range(const char *text, int64_t now, struct range *ret)
{
	const char *dots = strstr(text, "..");
	struct range range = { 0, INT64_MAX };

	if (!dots)
		return false;
	struct fz_str from = { text, (size_t)(dots - text) }, until = fz_str_of(dots + 2);
	if (from.n + until.n == 0 || (from.n && !parse_time(from, now, &range.from)) ||
	    (until.n && !parse_time(until, now, &range.until)))
		return false;
	*ret = range;
	return true;
}

static void add_time(struct fz_buf *out, int64_t minute)
{
	time_t seconds = (time_t)(minute * MINUTE_S);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M", &tm);
	fz_buf_str(out, text);
}

/* ---- sides ---- */

/* Find the range at the end of the text after the service; NULL if there is none. */
static const char *find_range(const char *text, int64_t now, struct range *ret)
{
	const char *at = strrchr(text, '@');
	const char *range = at ? at + 1 : text;

	return parse_range(range, now, ret) ? range : NULL;
}

/* Where "{key=value,...}" begins at the end of the text; NULL if there is none. */
static const char *find_labels(const char *text)
{
	const char *brace = strchr(text, '{');

	return brace && strchr(brace, '=') && text[strlen(text) - 1] == '}' ? brace : NULL;
}

static int parse_labels(const char *text, struct fz_buf *ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *copy = fz_strndup(text + 1, strlen(text) - 2);
	const char *list[FZ_FLEET_LABELS_MAX + 1];
	size_t n = 0;

	for (char *rest = copy; rest && n < FZ_ARRAY_LEN(list);)
		list[n++] = strsep(&rest, ",");
	return fz_fleet_labels(list, n, ret, err);
}

static char *name_of(const struct fz_fleet_side *s, const struct range *range, const char *labels)
{
	struct fz_buf out = { 0 };

	fz_buf_printf(&out, "%s@%s%s", s->service, s->version ? s->version : "",
		      s->version && range ? "@" : "");
	/* ".." alone is not a range. */
	if (range && (range->from || range->until == INT64_MAX))
		add_time(&out, range->from);
	if (range)
		fz_buf_str(&out, "..");
	if (range && range->until < INT64_MAX)
		add_time(&out, range->until);
	fz_buf_str(&out, labels);
	return fz_buf_take(&out);
}

int fz_fleet_side_of(const char *whole, int64_t now, struct fz_fleet_side *ret,
		     struct fz_error *err)
{
	const char *labels = find_labels(whole);
	fz_auto(fz_free_ptr) char *text =
		fz_strndup(whole, labels ? (size_t)(labels - whole) : strlen(whole));
	fz_auto(fz_buf_release) struct fz_buf set = { 0 };
	const char *at = strchr(text, '@');
	struct range range = { 0, INT64_MAX };

	const char *found = at ? find_range(at + 1, now, &range) : NULL;

	if (!at || at == text || !at[1] || found == at + 2)
		return fz_fail(err, FZ_EUSAGE,
			       "invalid release '%s' (expected SERVICE@VERSION, such as api@1.4, "
			       "or SERVICE@FROM..TO, such as api@2h..1h)",
			       whole);
	if (range.from >= range.until)
		return fz_fail(err, FZ_EUSAGE, "'%s': the range ends before it begins", text);
	int r = labels ? parse_labels(labels, &set, err) : 0;
	if (r)
		return fz_error_prefix(err, "%s", whole);
	fz_buf_str(&set, "");
	*ret = (struct fz_fleet_side){ .service = fz_strndup(text, (size_t)(at - text)),
				       .from = range.from,
				       .until = range.until };
	if (found != at + 1)
		ret->version =
			found ? fz_strndup(at + 1, (size_t)(found - at - 2)) : fz_strdup(at + 1);
	ret->name = name_of(ret, found ? &range : NULL, labels ? labels : "");
	ret->labels = set;
	set = (struct fz_buf){ 0 };
	return 0;
}

void fz_fleet_side_release(struct fz_fleet_side *s)
{
	free(s->service);
	free(s->version);
	free(s->name);
	fz_buf_release(&s->labels);
}

int fz_fleet_check_version(const char *name, struct fz_error *err)
{
	int r = fz_fleet_check_name("version", name, err);
	struct range range;

	if (!r && find_labels(name))
		return fz_fail(err, FZ_EUSAGE,
			       "version: '%s' looks like a set of labels; choose another name",
			       name);
	if (!r && find_range(name, 0, &range))
		return fz_fail(err, FZ_EUSAGE,
			       "version: '%s' looks like a time range; choose another name", name);
	return r;
}
