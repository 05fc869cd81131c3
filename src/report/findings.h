/* SPDX-License-Identifier: MIT */
/* The human-readable part of a judged diff: functions in order of importance, and sentences. Text
 * and markdown share them, so they cannot disagree.
 *
 *   functions with cost  ->  changed | unsure | unsure, start-up | same; each by
 * size
 */
#pragma once

#include "base/buf.h"
#include "base/text.h"
#include "compare/judge.h"

/* A function by self or by total. */
struct fz_finding {
	const struct fz_diff_function *f;
	const struct fz_judged *judged;
	double before, after; /* as measured */
	double expected;      /* before, scaled: what the head would show if nothing had changed */
	double change;        /* after - expected */
	bool startup;         /* of Python's start-up and imports; see startup.h */
};

struct fz_findings {
	struct fz_finding *rows;
	uint32_t n;
	uint32_t count[FZ_VERDICTS];
	uint32_t startup;                                       /* of those that cannot be told */
	double startup_before, startup_expected, startup_after; /* sums; by total they overlap */
	uint32_t imports;   /* by total: imports that only moved, which are no rows */
	double imports_net; /* by how much all imports together changed */
};

/* Of functions that cost anything on either side. */
void fz_findings_init(struct fz_findings *ret, const struct fz_diff *d,
		      const struct fz_judgement *j, bool total);
void fz_findings_release(struct fz_findings *f);

enum { FZ_INTERVAL_SIZE = FZ_NUMBER_SIZE + 4 };
/* The 95 % interval beside the change, "" when there is none: "±43.0 ms"; of what certainly changed
 * its end towards 0, "≥+4.17 s" or "≤-4.17 s", where it reaches further to the other side than 0 is
 * away, so that ± would seem to hold 0. */
const char *fz_finding_interval(const struct fz_finding *r, const char *unit,
				const struct fz_style *style, char out[FZ_INTERVAL_SIZE]);
/* "+27.9 %", "12 x"; "new", "gone" where that is known, else "from 0", "to 0". */
const char *fz_finding_percent(const struct fz_finding *r, char out[FZ_NUMBER_SIZE]);
/* Whether "expected" says something that "before" does not. */
static inline bool fz_findings_scaled(const struct fz_diff *d)
{
	return d->factor != 1;
}
/* What a difference is by: "change", or "by share" where only shares are compared. */
const char *fz_findings_change_title(const struct fz_diff *d);
/* "±" or its ASCII form. */
const char *fz_plus_minus(const struct fz_style *style);

/* "Slower by 27.9 % [+12.1 %, +43.7 %]", "Larger by ..." of bytes (cost_words.h); says where that
 * is approximate, and why it cannot be told by shares. */
void fz_findings_verdict(const struct fz_diff *d, const struct fz_judgement *j,
			 const struct fz_style *style, struct fz_buf *out);
/* "Slower by 27.9 % [+12.1 %, +43.7 %]: 2.33 s -> 2.98 s of wall time, +650 ms." */
void fz_findings_headline(const struct fz_diff *d, const struct fz_judgement *j,
			  const struct fz_style *style, struct fz_buf *out);
/* "1 slower, 1 faster, 5 same within ±0.2 % of the run, 12 unsure"; of a run that is faster that
 * word leads. */
void fz_findings_summary(const struct fz_findings *f, const struct fz_diff *d,
			 const struct fz_judgement *j, const struct fz_style *style,
			 struct fz_buf *out);
/* "1 slower, 1 faster" */
void fz_findings_counts(const struct fz_findings *f, const struct fz_diff *d,
			const struct fz_judgement *j, struct fz_buf *out);
/* The smallest change that would have shown, of the run or by shares of a function, and how many
 * more runs would show 5 %. Adds nothing where that is not known. */
void fz_findings_power(const struct fz_judgement *j, struct fz_buf *out);
/* By which test, and what that means. */
void fz_findings_method(const struct fz_diff *d, const struct fz_judgement *j, struct fz_buf *out);
/* "Scaling: time, factor 1; base values stand as recorded." */
/* With the head at the base's speed: that it is, how fast the machine was, what was measured. */
void fz_findings_speed(const struct fz_diff *d, struct fz_buf *out);
void fz_findings_scaling(const struct fz_diff *d, struct fz_buf *out);
