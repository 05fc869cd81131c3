/* SPDX-License-Identifier: MIT */
/* The human-readable part of a judged diff: functions in order of importance, and sentences. Text
 * and markdown share them, so they cannot disagree.
 *
 *   functions with cost  ->  changed | unsure | unsure, start-up | same; each sorted by size
 */
#pragma once

#include "base/buf.h"
#include "base/text.h"
#include "compare/judge.h"

#include <math.h>

/* A function by self or by total. */
struct fz_finding {
	const struct fz_diff_function *f;
	const struct fz_judged *judged;
	double before, after; /* as measured */
	double expected;      /* before, scaled: the head's cost if nothing had changed */
	double change;        /* after - expected */
	bool startup;         /* of Python's start-up and imports; see startup.h */
};

struct fz_findings {
	struct fz_finding *rows;
	uint32_t n;
	uint32_t count[FZ_VERDICTS];
	uint32_t startup;                                       /* number of unsure ones */
	double startup_before, startup_expected, startup_after; /* sums; by total they overlap */
	uint32_t imports;   /* by total: imports that only moved, which have no rows */
	double imports_net; /* change of all imports together */
};

/* Collect the functions that have a cost on either side. */
void fz_findings_init(struct fz_findings *ret, const struct fz_diff *d,
		      const struct fz_judgement *j, bool total);
void fz_findings_release(struct fz_findings *f);

enum { FZ_INTERVAL_SIZE = FZ_NUMBER_SIZE + 4 };
/* The 95 % interval next to the change: "±43.0 ms", or "" if there is none. If the change is
 * certain but the interval is so asymmetric that ± would seem to include 0, its end nearer to 0 is
 * shown instead: "≥+4.17 s" or "≤-4.17 s". */
const char *fz_finding_interval(const struct fz_finding *r, const char *unit,
				const struct fz_style *style, char out[FZ_INTERVAL_SIZE]);
/* "+27.9 %", "12 x"; without a base or head value "new" or "gone" if the function certainly is,
 * else "from 0" or "to 0". */
const char *fz_finding_percent(const struct fz_finding *r, char out[FZ_NUMBER_SIZE]);
/* Whether to show a scale: one that rounds to 1.00 changes no value by more than its rounding. */
static inline bool fz_findings_shows_scale(double factor)
{
	return fabs(factor - 1) >= .005;
}
/* Does "expected" differ from "before"? */
static inline bool fz_findings_scaled(const struct fz_diff *d)
{
	return fz_findings_shows_scale(d->factor);
}
/* Title of the change column: "change", or "by share" if only shares are compared. */
const char *fz_findings_change_title(const struct fz_diff *d);

/* Append "Slower by 27.9 % [+12.1 %, +43.7 %]", for bytes "Larger by ..." (cost_words.h). Adds a
 * note if the verdict is approximate, or the reason if shares allow none. */
void fz_findings_verdict(const struct fz_diff *d, const struct fz_judgement *j,
			 const struct fz_style *style, struct fz_buf *out);
/* Append "Slower by 27.9 % [+12.1 %, +43.7 %]: 2.33 s -> 2.98 s of wall time, +650 ms." */
void fz_findings_headline(const struct fz_diff *d, const struct fz_judgement *j,
			  const struct fz_style *style, struct fz_buf *out);
/* Append "1 slower, 1 faster, 2 new, 5 same within ±0.2 % of the run, 12 unsure"; if the run is
 * faster, "faster" comes first. */
void fz_findings_summary(const struct fz_findings *f, const struct fz_diff *d,
			 const struct fz_judgement *j, const struct fz_style *style,
			 struct fz_buf *out);
/* "1 slower, 1 faster, 2 new" */
void fz_findings_counts(const struct fz_findings *f, const struct fz_diff *d,
			const struct fz_judgement *j, struct fz_buf *out);
/* Append "3 moved imports, +12.0 ms net"; nothing if there are none. */
void fz_findings_imports(const struct fz_findings *f, const char *unit, struct fz_buf *out);
/* Append the smallest detectable change, of the run or of a function's share, and how many more
 * runs would detect 5 %. Appends nothing if that is unknown. */
void fz_findings_power(const struct fz_judgement *j, struct fz_buf *out);
/* Words for what a row is: a function or, in a heap, a type or what holds its objects. */
struct fz_row_words {
	const char *one, *many; /* "function", "functions" */
	const char *below;      /* what a total includes: "callees" */
	const char *whole;      /* "run" */
};
const struct fz_row_words *fz_findings_words(const struct fz_diff *d);
/* Append "1 function", "3 more functions", "12 types and holders". more: "more " or "". */
void fz_findings_rows(const struct fz_diff *d, uint32_t n, const char *more, struct fz_buf *out);
/* Why nothing was judged (FZ_JUDGE_NONE). */
const char *fz_findings_why_not(const struct fz_diff *d, const struct fz_judgement *j);
/* Append which test was used and what that means. */
void fz_findings_method(const struct fz_diff *d, const struct fz_judgement *j, struct fz_buf *out);
/* If the head was adjusted to the base's machine speed, append that, both speeds, and the measured
 * total. */
void fz_findings_speed(const struct fz_diff *d, struct fz_buf *out);
/* "Scaling: time, factor 1; base values are as recorded." */
void fz_findings_scaling(const struct fz_diff *d, struct fz_buf *out);
