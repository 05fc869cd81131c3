/* SPDX-License-Identifier: MIT */
/* Marks in facts; see mark.h. Malformed values are ignored, because a file may contain anything. */
#include "profile/mark.h"

#include "base/clock.h"

#include <stdio.h>

static const char prefix[] = "mark.";
enum { DIGITS = 9, SECONDS_MOST = 1000000000 };

bool fz_is_mark_fact(struct fz_str key)
{
	return fz_str_starts(key, prefix);
}

/* Truncates a text to the limit, in whole characters and on one line. */
static struct fz_str cut(struct fz_str text)
{
	text = fz_str_trimmed(text);
	const char *end = memchr(text.p, '\n', text.n);
	if (end)
		text.n = (size_t)(end - text.p);
	if (text.n > FZ_PROFILE_MARK_TEXT) {
		text.n = FZ_PROFILE_MARK_TEXT;
		while (text.n && ((unsigned char)text.p[text.n] & 0xc0) == 0x80)
			text.n--;
	}
	return text;
}

static void set_mark(struct fz_profile *p, unsigned number, int64_t time, struct fz_str text)
{
	char key[24];
	fz_auto(fz_free_ptr) char *value =
		fz_asprintf("%lld.%09lld %.*s", (long long)(time / FZ_SECOND),
			    (long long)(time % FZ_SECOND), (int)text.n, text.p);

	snprintf(key, sizeof(key), "%s%u", prefix, number);
	fz_profile_set_fact(p, key, fz_str_of(value));
}

bool fz_profile_add_mark(struct fz_profile *p, int64_t time, struct fz_str text)
{
	unsigned number = 1;

	text = cut(text);
	for (uint32_t i = 0; i < p->fact_count; i++)
		number += fz_is_mark_fact(fz_profile_text(p, p->facts[i].key));
	if (!text.n || time < 0 || time >= SECONDS_MOST * FZ_SECOND || number > FZ_PROFILE_MARKS)
		return false;
	set_mark(p, number, time, text);
	return true;
}

static bool parse(struct fz_str value, struct fz_profile_mark *ret)
{
	const char *dot = memchr(value.p, '.', value.n);
	size_t whole = dot ? (size_t)(dot - value.p) : 0, text = whole + 1 + DIGITS + 1;
	uint64_t seconds, ns;

	if (!dot || value.n <= text || value.p[text - 1] != ' ' ||
	    !fz_parse_u64((struct fz_str){ value.p, whole }, SECONDS_MOST - 1, &seconds) ||
	    !fz_parse_u64((struct fz_str){ dot + 1, DIGITS }, FZ_SECOND - 1, &ns))
		return false;
	*ret = (struct fz_profile_mark){ (int64_t)seconds * FZ_SECOND + (int64_t)ns,
					 { value.p + text, value.n - text } };
	return true;
}

static int compare(const void *pa, const void *pb)
{
	const struct fz_profile_mark *a = pa, *b = pb;

	return FZ_CMP(a->time, b->time) ?: fz_str_cmp(a->text, b->text);
}

size_t fz_profile_marks(const struct fz_profile *p, struct fz_profile_mark **ret)
{
	struct fz_profile_mark *marks = fz_calloc(p->fact_count + 1ul, sizeof(*marks));
	size_t n = 0;

	for (uint32_t i = 0; i < p->fact_count && n < FZ_PROFILE_MARKS; i++)
		if (fz_is_mark_fact(fz_profile_text(p, p->facts[i].key)) &&
		    parse(fz_profile_text(p, p->facts[i].value), &marks[n]))
			n++;
	if (n)
		qsort(marks, n, sizeof(*marks), compare);
	*ret = marks;
	return n;
}

void fz_profile_move_marks(struct fz_profile *p, int64_t from, int64_t to)
{
	struct fz_profile_mark *marks;
	size_t n = fz_profile_marks(p, &marks);

	for (uint32_t i = 0; i < p->fact_count;)
		if (fz_is_mark_fact(fz_profile_text(p, p->facts[i].key)))
			fz_profile_set_fact(p, fz_profile_text(p, p->facts[i].key).p, FZ_STR(""));
		else
			i++;
	for (size_t i = 0; i < n; i++)
		if (marks[i].time >= from && marks[i].time < to)
			fz_profile_add_mark(p, marks[i].time - from, marks[i].text);
	free(marks);
}
