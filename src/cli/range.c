/* SPDX-License-Identifier: MIT */
/* Parse time ranges ("30s-60s") with the options, and apply them when the recording is loaded. */
#include "cli/range.h"

#include "base/str.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/marks_file.h"
#include "profile/mark.h"
#include "profile/range.h"

static const struct {
	const char *name;
	enum fz_cli_instant_kind kind;
	double factor;
} units[] = {
	{ "%", FZ_CLI_INSTANT_PART, 0.01 }, { "ns", FZ_CLI_INSTANT_NS, 1 },
	{ "us", FZ_CLI_INSTANT_NS, 1e3 },   { "ms", FZ_CLI_INSTANT_NS, 1e6 },
	{ "s", FZ_CLI_INSTANT_NS, 1e9 },
};
enum { SECONDS = FZ_ARRAY_LEN(units) - 1, MARKS_NAMED = 12 };

/* About 30 years, which fits in an int64_t of ns. */
#define LATEST_NS 1e18

/* Cut off the unit at the end of the text and return it; `otherwise` if there is none. */
static size_t cut_unit(struct fz_str *text, size_t otherwise)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(units); i++) {
		size_t n = strlen(units[i].name);

		if (text->n <= n || memcmp(text->p + text->n - n, units[i].name, n) != 0)
			continue;
		text->n -= n;
		return i;
	}
	return otherwise;
}

/* otherwise: the unit of a number without one. */
static bool parse_instant(struct fz_str text, size_t otherwise, struct fz_cli_instant *ret)
{
	double number;

	if (text.n > 1 && text.p[0] == '@') {
		*ret = (struct fz_cli_instant){ .kind = FZ_CLI_INSTANT_MARK,
						.mark = { text.p + 1, text.n - 1 } };
		return true;
	}
	size_t unit = cut_unit(&text, otherwise);
	if (!fz_parse_decimal(fz_str_trimmed(text), &number) || !(number >= 0))
		return false;
	number *= units[unit].factor;
	if (number > (units[unit].kind == FZ_CLI_INSTANT_PART ? 1 : LATEST_NS))
		return false;
	*ret = (struct fz_cli_instant){ .kind = units[unit].kind, .value = number };
	return true;
}

int fz_cli_range_set_instant(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	if (parse_instant(fz_str_of(text), SECONDS, opt->value))
		return 0;
	return fz_fail(err, FZ_EUSAGE,
		       "invalid --%s '%s': use a time such as 10s, 500ms, 25%% or @MARKER",
		       opt->long_name, text);
}

/* In "10-20s" the unit applies to both ends. */
static bool parse_ends(struct fz_str from, struct fz_str to, struct fz_cli_range *ret)
{
	struct fz_str number = to;
	size_t unit = cut_unit(&number, SECONDS);

	return (from.n || to.n) && (!from.n || parse_instant(from, unit, &ret->from)) &&
	       (!to.n || parse_instant(to, SECONDS, &ret->to));
}

/* The text of a mark may contain dashes, so try each dash as the separator. */
static bool parse_range(struct fz_str text, struct fz_cli_range *ret)
{
	for (size_t i = 0; text.n > 1 && i < text.n; i++) {
		struct fz_str from = { text.p, i }, to = { text.p + i + 1, text.n - i - 1 };

		if (text.p[i] == '-' && parse_ends(fz_str_trimmed(from), fz_str_trimmed(to), ret))
			return true;
	}
	return false;
}

int fz_cli_range_set(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	struct fz_cli_range range = { .text = text };

	if (!parse_range(fz_str_of(text), &range))
		return fz_fail(
			err, FZ_EUSAGE,
			"invalid --%s '%s': use a range such as 10s-20s, 0%%-50%% or @MARKER-",
			opt->long_name, text);
	*(struct fz_cli_range *)opt->value = range;
	return 0;
}

static int find_mark(const struct fz_profile *p, struct fz_str text, const char *name, int64_t *ret,
		     struct fz_error *err)
{
	fz_auto(fz_free_ptr) struct fz_profile_mark *marks = NULL;
	size_t n = fz_profile_marks(p, &marks);
	fz_auto(fz_buf_release) struct fz_buf known = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (fz_str_eq(marks[i].text, text)) {
			*ret = marks[i].time;
			return 0;
		}
		if (i < MARKS_NAMED)
			fz_buf_printf(&known, "%s%.*s", i ? ", " : "", (int)marks[i].text.n,
				      marks[i].text.p);
	}
	if (!n)
		return fz_fail(err, FZ_EUSAGE,
			       "%s: has no markers; add some with 'fizeau mark' or --markers FILE",
			       name);
	return fz_fail(err, FZ_EUSAGE, "%s: has no marker '%.*s'; the markers are %s%s", name,
		       (int)text.n, text.p, known.p, n > MARKS_NAMED ? ", ..." : "");
}

static int resolve(const struct fz_profile *p, const struct fz_cli_instant *at, int64_t end,
		   const char *name, int64_t *ret, struct fz_error *err)
{
	switch (at->kind) {
	case FZ_CLI_INSTANT_NS:
		*ret = (int64_t)at->value;
		break;
	case FZ_CLI_INSTANT_PART:
		*ret = at->value < 1 ? (int64_t)((double)end * at->value) : end;
		break;
	case FZ_CLI_INSTANT_MARK:
		return find_mark(p, at->mark, name, ret, err);
	case FZ_CLI_INSTANT_NONE:
		break;
	}
	return 0;
}

static int check(const struct fz_range *range, int64_t end, const char *name, struct fz_error *err)
{
	char from[FZ_NUMBER_SIZE], to[FZ_NUMBER_SIZE];

	if (range->to_ns <= range->from_ns)
		return fz_fail(err, FZ_EUSAGE, "%s: the range from %s to %s is empty", name,
			       fz_format_value((double)range->from_ns, "ns", from),
			       fz_format_value((double)range->to_ns, "ns", to));
	if (range->from_ns >= end)
		return fz_fail(err, FZ_EUSAGE, "%s: the range starts at %s, after the end at %s",
			       name, fz_format_value((double)range->from_ns, "ns", from),
			       fz_format_value((double)end, "ns", to));
	return 0;
}

static int nothing_left(const struct fz_range *range, const char *name, struct fz_error *err)
{
	char from[FZ_NUMBER_SIZE], to[FZ_NUMBER_SIZE];

	return fz_fail(err, FZ_EUSAGE, "%s: no samples from %s to %s; use a longer range", name,
		       fz_format_value((double)range->from_ns, "ns", from),
		       fz_format_value((double)range->to_ns, "ns", to));
}

int fz_cli_range_keep(const struct fz_cli_range *r, const char *name, struct fz_profile *p,
		      struct fz_error *err)
{
	if ((r->marks || fz_cli_range_given(r)) && !p->samples.timed)
		return fz_fail(
			err, FZ_EUSAGE,
			"%s: samples have no times, so time ranges and markers cannot be used",
			name);
	int rc = r->marks ? fz_cli_marks_add(r->marks, name, p, err) : 0;
	if (rc || !fz_cli_range_given(r))
		return rc;
	int64_t end = fz_profile_end(p);
	struct fz_range range = { 0, INT64_MAX };
	rc = resolve(p, &r->from, end, name, &range.from_ns, err);
	if (!rc)
		rc = resolve(p, &r->to, end, name, &range.to_ns, err);
	/* A recording without samples has no end. */
	if (!rc && p->samples.n)
		rc = check(&range, end, name, err);
	if (rc)
		return rc;
	range.to_ns = FZ_MIN(range.to_ns, end);
	return p->samples.n && fz_profile_keep_range(p, &range) ? 0
								: nothing_left(&range, name, err);
}
