/* SPDX-License-Identifier: MIT */
/* What speaks against comparing two recordings.
 *
 * Any two recordings can be subtracted and the result always looks like a finding. So what was
 * recorded differently is an error where it changes what a stack means (clock mode, features: as
 * Tachyon, only when both sides know theirs) and a warning elsewhere.
 */
#include "diff/internal.h"

#include "base/buf.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { WARNINGS_MAX = 16 };

void fz_diff_warn(struct fz_diff *d, const char *fmt, ...)
{
	char text[1024], safe[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	size_t n = fz_str_printable(text, strlen(text), safe, sizeof(safe));
	if (!d->warnings)
		d->warnings = fz_arena_alloc(&d->arena, WARNINGS_MAX * sizeof(*d->warnings));
	if (d->warning_count < WARNINGS_MAX)
		d->warnings[d->warning_count++] = fz_arena_strndup(&d->arena, safe, n);
}

static const char *mode_name(enum fz_mode mode)
{
	switch (mode) {
	case FZ_MODE_WALL:
		return "wall";
	case FZ_MODE_CPU:
		return "cpu";
	case FZ_MODE_GIL:
		return "gil";
	case FZ_MODE_ALL:
		return "all";
	case FZ_MODE_EXCEPTION:
		return "exception";
	case FZ_MODE_UNKNOWN:
		break;
	}
	return "unknown";
}

static char *feature_names(unsigned features)
{
	static const struct {
		unsigned bit;
		const char *name;
	} names[] = {
		{ FZ_FEATURE_ALL_THREADS, "all threads" },
		{ FZ_FEATURE_NATIVE, "native" },
		{ FZ_FEATURE_GC, "gc" },
		{ FZ_FEATURE_OPCODES, "opcodes" },
		{ FZ_FEATURE_BLOCKING, "blocking" },
	};
	struct fz_buf out = { 0 };

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		if (features & names[i].bit)
			fz_buf_printf(&out, "%s%s", out.n ? ", " : "", names[i].name);
	if (!out.n)
		fz_buf_str(&out, "none");
	return fz_buf_take(&out);
}

/* One difference that forbids comparing. */
static int refuse(struct fz_error *err, const char *what, const char *base, const char *head)
{
	return fz_fail(err, FZ_EINPUT,
		       "the recordings differ in %s (base: %s; head: %s); record both alike, or "
		       "use --force to compare them all the same",
		       what, base, head);
}

int fz_diff_comparable(const struct fz_recording *base, const struct fz_recording *head,
		       struct fz_error *err)
{
	if (base->mode != head->mode && base->mode && head->mode)
		return refuse(err, "mode", mode_name(base->mode), mode_name(head->mode));
	if (!base->features_known || !head->features_known || base->features == head->features)
		return 0;
	fz_auto(fz_free_ptr) char *b = feature_names(base->features);
	fz_auto(fz_free_ptr) char *h = feature_names(head->features);
	return refuse(err, "what was recorded", b, h);
}

/* What would have been refused. */
static void warn_about_forced(struct fz_diff *d)
{
	const struct fz_recording *base = &d->profile[FZ_BASE]->recording;
	const struct fz_recording *head = &d->profile[FZ_HEAD]->recording;

	if (base->mode != head->mode && base->mode && head->mode)
		fz_diff_warn(d, "the modes differ: base %s, head %s", mode_name(base->mode),
			     mode_name(head->mode));
	if (!base->features_known || !head->features_known || base->features == head->features)
		return;
	fz_auto(fz_free_ptr) char *b = feature_names(base->features);
	fz_auto(fz_free_ptr) char *h = feature_names(head->features);
	fz_diff_warn(d, "what was recorded differs: base %s; head %s", b, h);
}

static void warn_about_facts(struct fz_diff *d)
{
	static const struct {
		const char *key, *title;
	} facts[] = {
		{ "command", "commands" },
		{ "clock", "clocks" },
		{ "cpu", "processors" },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(facts); i++) {
		struct fz_str base = fz_profile_fact(d->profile[FZ_BASE], facts[i].key);
		struct fz_str head = fz_profile_fact(d->profile[FZ_HEAD], facts[i].key);
		if (base.n && head.n && !fz_str_eq(base, head))
			fz_diff_warn(d, "the %s differ: base '%.*s', head '%.*s'", facts[i].title,
				     (int)FZ_MIN(base.n, 200), base.p, (int)FZ_MIN(head.n, 200),
				     head.p);
	}
}

static void warn_about_python(struct fz_diff *d)
{
	const uint8_t *base = d->profile[FZ_BASE]->recording.python;
	const uint8_t *head = d->profile[FZ_HEAD]->recording.python;

	if (base[0] && head[0] && memcmp(base, head, 3) != 0)
		fz_diff_warn(d, "the Python versions differ: base %d.%d.%d, head %d.%d.%d", base[0],
			     base[1], base[2], head[0], head[1], head[2]);
}

static void warn_about_rate(struct fz_diff *d)
{
	int64_t base = d->profile[FZ_BASE]->recording.interval_ns;
	int64_t head = d->profile[FZ_HEAD]->recording.interval_ns;
	char b[FZ_NUMBER_SIZE], h[FZ_NUMBER_SIZE];

	if (base > 0 && head > 0 && base != head)
		fz_diff_warn(d,
			     "the sampling intervals differ: base %s, head %s; "
			     "scaling takes that into account",
			     fz_format_ns((double)base, b), fz_format_ns((double)head, h));
}

static void warn_about_quality(struct fz_diff *d, enum fz_side s)
{
	static const char *const names[] = { "base", "head" };
	const struct fz_profile *p = d->profile[s];
	uint64_t rejected = 0;
	char number[FZ_NUMBER_SIZE];

	for (size_t i = 0; i < FZ_REJECTS; i++)
		rejected += p->quality.rejected[i];
	if (p->quality.dropped_bytes)
		fz_diff_warn(d, "the %s is damaged: %s could not be read", names[s],
			     fz_format_plural((int64_t)p->quality.dropped_bytes, "byte", number));
	if (d->samples[s] == 0)
		fz_diff_warn(d, "the %s has no samples", names[s]);
	if (p->recording.reconstructed)
		fz_diff_warn(d, "the call tree of the %s was inferred, not recorded", names[s]);
	if ((double)rejected > 0.05 * ((double)rejected + (double)p->quality.taken) ||
	    p->recording.error_rate > 5)
		fz_diff_warn(d, "more than 5 %% of the %s's samples could not be read", names[s]);
	if (d->scale == FZ_SCALE_TIME && !p->recording.complete && d->samples[s])
		fz_diff_warn(d,
			     "the %s is not known to be a complete run: its time depends on "
			     "how long was recorded",
			     names[s]);
}

int fz_diff_check_recordings(struct fz_diff *d, bool force, struct fz_error *err)
{
	int r = fz_diff_comparable(&d->profile[FZ_BASE]->recording, &d->profile[FZ_HEAD]->recording,
				   err);

	if (r && !force)
		return r;
	warn_about_forced(d);
	warn_about_facts(d);
	warn_about_python(d);
	warn_about_rate(d);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		warn_about_quality(d, s);
	return 0;
}
