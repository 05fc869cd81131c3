/* SPDX-License-Identifier: MIT */
/* Hand-made profiles for tests, written as text:
 *
 *   "app.py:main:1;app.py:work:5 3\n"      stack, root first, and number of samples
 *   "2@app.py:main:1 4\n"                  the same in thread 2 (1 when not given)
 *
 * A frame is file:function:line; "function" alone has no file and no line.
 */
#pragma once

#include <stdio.h>

#include "base/buf.h"
#include "profile/profile.h"

static inline uint32_t hand_frame(struct fz_profile *p, struct fz_str text)
{
	const char *first = memchr(text.p, ':', text.n);
	const char *last = memrchr(text.p, ':', text.n);
	uint64_t line = 0;

	if (!first || first == last)
		return fz_profile_frame_named(p, text, FZ_STR(""), FZ_NO_LINE, FZ_KIND_PYTHON);
	struct fz_str digits = { last + 1, (size_t)(text.p + text.n - last - 1) };
	fz_assert(fz_parse_u64(digits, 1000000, &line));
	return fz_profile_frame_named(p, (struct fz_str){ first + 1, (size_t)(last - first - 1) },
				      (struct fz_str){ text.p, (size_t)(first - text.p) },
				      line ? (int32_t)line : FZ_NO_LINE, FZ_KIND_PYTHON);
}

static inline void hand_sample(struct fz_profile *p, struct fz_str line)
{
	const char *space = memrchr(line.p, ' ', line.n);
	const char *at = memchr(line.p, '@', line.n);
	uint64_t count = 1, tid = 1;
	uint32_t stack = FZ_NONE;

	fz_assert(space);
	struct fz_str number = { space + 1, (size_t)(line.p + line.n - space - 1) };
	fz_assert(fz_parse_u64(number, UINT32_MAX, &count));
	if (at)
		fz_assert(
			fz_parse_u64((struct fz_str){ line.p, (size_t)(at - line.p) }, 1000, &tid));
	const char *p0 = at ? at + 1 : line.p;
	while (p0 < space) {
		const char *end = memchr(p0, ';', (size_t)(space - p0));
		end = end ? end : space;
		stack = fz_profile_stack(p, stack,
					 hand_frame(p, (struct fz_str){ p0, (size_t)(end - p0) }));
		p0 = end + 1;
	}
	struct fz_thread thread = { .pid = 10, .tid = tid, .is_main = tid == 1 };
	struct fz_sample s = { .stack = stack,
			       .thread = fz_profile_thread(p, &thread),
			       .count = (uint32_t)count };
	fz_profile_add_sample(p, &s, NULL);
}

/* Metric "samples"; with an interval also "wall" (then the default). */
static inline struct fz_profile *hand_profile(const char *text, int64_t interval_ns)
{
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	if (interval_ns) {
		p->recording.interval_ns = interval_ns;
		p->default_metric =
			fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), interval_ns, false);
	}
	while (*text) {
		size_t n = strcspn(text, "\n");
		hand_sample(p, (struct fz_str){ text, n });
		text += n + (text[n] == '\n');
	}
	fz_assert(fz_profile_check(p, NULL) == 0);
	return p;
}
