/* SPDX-License-Identifier: MIT */
/* The stages of a comparison, in the order in which fz_diff_new runs them. Each fills its part of
 * struct fz_diff from those of earlier ones. */
#pragma once

#include "compare/diff.h"
#include "compare/names.h"

/* warning.c: adds a warning, made printable, unless there are too many. */
FZ_PRINTF(2, 3)
void fz_diff_warn(struct fz_diff *d, const char *fmt, ...);
/* Moves the last warning to the end of the urgent ones. */
void fz_diff_make_urgent(struct fz_diff *d);

/* match.c: functions, function_of, rules. Costs are still 0. */
int fz_diff_match(struct fz_diff *d, const struct fz_diff_options *o, struct fz_error *err);

/* link.c: partners for functions that only one side has; the two become one function.
 * lines[side][profile function]: 0 if unknown. fixed[function]: must not change. */
struct fz_code;
void fz_diff_link(struct fz_diff *d, struct fz_code *code, struct fz_name *const names[FZ_SIDES],
		  int32_t *const lines[FZ_SIDES], const bool *fixed, bool no_rename);

/* speed_scale.c: adjusts the head's metric to the base's speed, if both recordings have the
 * speed. */
void fz_diff_scale_speed(struct fz_diff *d, const uint32_t metric[FZ_SIDES]);
void fz_diff_release_speed_scale(struct fz_diff *d);
/* Whether both sides have the fact, with the same value. */
bool fz_diff_same_fact(const struct fz_diff *d, const char *key);
/* Sums the measured costs of the head by matched function. */
void fz_diff_sum_measured(struct fz_diff *d);

/* by_clock.c: the logarithm of the machine's possible effect on the head's cost, if both sides seem
 * to run for a fixed time; else 0. */
double fz_diff_clock_shift(const struct fz_diff *d);
void fz_diff_warn_about_clock(struct fz_diff *d);

/* shift.c: shifts, and the state of the nodes that take part. */
void fz_diff_find_shifts(struct fz_diff *d);
/* Call after matching. */
void fz_diff_find_splits(struct fz_diff *d, struct fz_code *code);

/* scale.c: scale and factor. Agreement of functions needs function_of; before that the factor is
 * that of equal totals. */
int fz_diff_choose_scale(struct fz_diff *d, const struct fz_diff_options *o, struct fz_error *err);
void fz_diff_scale_by_agreement(struct fz_diff *d);
/* Whether one is wall time and the other CPU time; a time of unknown clock may be either. */
bool fz_diff_clocks_differ(const char *base, const char *head);
/* Whether that side's time is compared as that of a whole run although the file does not specify
 * it. */
bool fz_diff_assumes_whole_run(const struct fz_diff *d, enum fz_side s);
/* Whether both sides have a duration. */
bool fz_diff_has_durations(const struct fz_diff *d);

/* align.c: the union tree of two trees: nodes and node_of. The arrays belong to the caller. */
struct fz_union {
	struct fz_diff_node *nodes;
	uint32_t n;
	uint32_t *node_of[FZ_SIDES];
};
void fz_diff_align(const struct fz_diff *d, struct fz_tree *const tree[FZ_SIDES],
		   bool set_launchers_aside, struct fz_union *ret);

/* threads.c: threads, and cells of d->nodes. */
void fz_diff_match_threads(struct fz_diff *d);
void fz_diff_merge_cells(struct fz_diff *d);

/* comparable.c: fails if the two recordings cannot be compared and force is not set, else adds
 * warnings. */
int fz_diff_check_recordings(struct fz_diff *d, const struct fz_diff_options *o,
			     struct fz_error *err);
