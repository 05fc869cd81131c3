/* SPDX-License-Identifier: MIT */
/* Two profiles, compared and judged, for as long as a test lasts. cmocka.h comes first. */
#pragma once

#include "compare/judge.h"
#include "named.h"

struct verdict {
	struct fz_profile *base, *head; /* owned */
	struct fz_diff *d;
	struct fz_judgement *j;
};

static inline void release_verdict(struct verdict *v)
{
	fz_judgement_free(v->j);
	fz_diff_free(v->d);
	fz_profile_free(v->base);
	fz_profile_free(v->head);
}
#define judged __attribute__((cleanup(release_verdict))) struct verdict

static inline struct verdict judge_with(struct fz_profile *base, struct fz_profile *head,
					struct fz_diff_options options, struct fz_judge_options how)
{
	struct verdict v = { .base = base, .head = head };
	struct fz_error err;

	options.match = FZ_MATCH_NAMES;
	how.paths = true;
	if (fz_diff_new(base, head, &options, &v.d, &err) < 0)
		fail_msg("%s", err.message);
	v.j = fz_judge(v.d, &how);
	return v;
}
