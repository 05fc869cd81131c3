/* SPDX-License-Identifier: MIT */
/* The stages of a comparison, in the order in which fz_diff_new runs them. Each fills its part of
 * struct fz_diff from what the earlier ones left there. */
#pragma once

#include "compare/diff.h"
#include "compare/names.h"

/* match.c: functions, function_of, rules. Costs are still 0. */
int fz_diff_match(struct fz_diff *d, const struct fz_diff_options *o, struct fz_error *err);

/* A mapping "old=new" in its parts. In them \= stands for = and \\ for a backslash. */
struct fz_map_rule {
	struct fz_str old, new;
};
bool fz_map_rule_parse(const char *text, struct fz_arena *arena, struct fz_map_rule *ret);
/* Whether a mapping's side names this function, as "function" or "file:function". */
bool fz_map_rule_names(struct fz_str side, const struct fz_name *canonical, struct fz_str name,
		       struct fz_str file);

/* link.c: partners for functions that only one side has; the two become one function.
 * lines[side][profile function]: 0 when unknown. fixed[function]: not to be touched. */
struct fz_code;
void fz_diff_link(struct fz_diff *d, struct fz_code *code, struct fz_name *const names[FZ_SIDES],
		  int32_t *const lines[FZ_SIDES], const bool *fixed, bool no_rename);

/* speed_scale.c: the head's metric at the base's speed, where both recordings know theirs. */
void fz_diff_scale_speed(struct fz_diff *d, const uint32_t metric[FZ_SIDES]);
void fz_diff_release_speed_scale(struct fz_diff *d);
/* Both sides have the fact, and say the same. */
bool fz_diff_same_fact(const struct fz_diff *d, const char *key);
/* Of functions that are matched: what was measured of the head. */
void fz_diff_sum_measured(struct fz_diff *d);

/* by_clock.c: the logarithm of what the machine may have made of the head's cost, if both are
 * programs that end by the clock; 0: they do not look like it, or it is nothing. */
double fz_diff_clock_shift(const struct fz_diff *d);
void fz_diff_warn_about_clock(struct fz_diff *d);

/* shift.c: shifts, and the state of the nodes that take part. */
void fz_diff_find_shifts(struct fz_diff *d);
/* After matching. */
void fz_diff_find_splits(struct fz_diff *d, struct fz_code *code);

/* scale.c: scale and factor. What functions agree on takes function_of; until then the factor is
 * that of equal totals. */
int fz_diff_choose_scale(struct fz_diff *d, const struct fz_diff_options *o, struct fz_error *err);
void fz_diff_scale_by_agreement(struct fz_diff *d);
/* Wall time against CPU time, say; a time of which nobody knows the clock may be either. */
bool fz_diff_clocks_differ(const char *base, const char *head);
/* Whether that side's time is compared as a whole run's although it does not say what it is. */
bool fz_diff_assumes_whole_run(const struct fz_diff *d, enum fz_side s);
/* Whether both say how long was recorded. */
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

/* compare.c: false when both are known to have run something else. */
bool fz_diff_same_program(const struct fz_profile *base, const struct fz_profile *head);
/* compare.c: what speaks against comparing the two recordings. An error when they must not be
 * compared and force is not set, else warnings. */
int fz_diff_check_recordings(struct fz_diff *d, const struct fz_diff_options *o,
			     struct fz_error *err);
FZ_PRINTF(2, 3)
void fz_diff_warn(struct fz_diff *d, const char *fmt, ...);
