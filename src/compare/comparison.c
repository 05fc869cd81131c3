/* SPDX-License-Identifier: MIT */
/* The steps of a comparison in their order; see comparison.h. */
#include "compare/comparison.h"

#include "compare/comprehensions.h"
#include "compare/truncated.h"
#include "profile/fleet_fact.h"
#include "profile/fold.h"
#include "profile/per_run.h"

/* Whether any step would change this profile. */
static bool needs_copy(const struct fz_profile *p, bool restacked)
{
	bool several_runs = p->run_count > 1 && !p->per_run && !fz_profile_is_fleet(p);

	return restacked || several_runs || fz_profile_has_rounds(p);
}

/* Steps that change the stacks of both sides. */
struct restacking {
	bool cut, join, fold;
};

static struct restacking restacking_of(const struct fz_comparison_options *o,
				       const struct fz_profile *const side[FZ_SIDES])
{
	return (struct restacking){
		.cut = fz_diff_cuts(side[FZ_BASE], side[FZ_HEAD]),
		.join = o->diff.match != FZ_MATCH_EXACT &&
			fz_diff_joins_comprehensions(side[FZ_BASE], side[FZ_HEAD]),
		.fold = o->fold_recursion,
	};
}

static void copy_sides(struct fz_comparison *c, const struct fz_profile *const side[FZ_SIDES],
		       const struct restacking *steps)
{
	bool restacked = steps->cut || steps->join || steps->fold;
	/* Dividing by runs changes both sides if it changes one. */
	bool both = needs_copy(side[FZ_BASE], restacked) || needs_copy(side[FZ_HEAD], restacked);

	for (enum fz_side s = 0; both && s < FZ_SIDES; s++)
		c->copy[s] = fz_profile_copy(side[s]);
}

static int prepare(struct fz_comparison *c, const struct restacking *steps, struct fz_error *err)
{
	int r = fz_diff_cut_alike(c->copy[FZ_BASE], c->copy[FZ_HEAD], err);

	for (enum fz_side s = 0; !r && s < FZ_SIDES; s++) {
		if (steps->join)
			r = fz_diff_join_comprehensions(c->copy[s], err);
		if (!r && steps->fold)
			r = fz_profile_fold_recursion(c->copy[s], err);
		fz_profile_per_round(c->copy[s]);
	}
	return r;
}

static struct fz_judge_options judge_options_of(const struct fz_comparison_options *o,
						const struct fz_profile *const side[FZ_SIDES])
{
	struct fz_judge_options ret = FZ_JUDGE_DEFAULTS;

	ret.paths = !o->diff.inverted;
	/* The margin covers variation that samples do not average out. It differs between hosts, so
	 * more hosts average it out. */
	ret.delta /= fz_profile_unit_hosts(side);
	ret.delta = o->delta > 0 ? o->delta : ret.delta;
	ret.run_delta = o->run_delta > 0 ? o->run_delta : ret.run_delta;
	return ret;
}

int fz_comparison_new(const struct fz_profile *base, const struct fz_profile *head,
		      const struct fz_comparison_options *options, struct fz_comparison **ret,
		      struct fz_error *err)
{
	const struct fz_profile *side[FZ_SIDES] = { base, head };
	struct fz_comparison_options o = options ? *options : (struct fz_comparison_options){ 0 };
	struct fz_judge_options how = judge_options_of(&o, side);
	struct restacking steps = restacking_of(&o, side);
	fz_auto(fz_comparison_freep) struct fz_comparison *c = fz_calloc(1, sizeof(*c));
	int r = 0;

	o.diff.join_comprehensions = steps.join;
	copy_sides(c, side, &steps);
	if (c->copy[FZ_BASE]) {
		r = prepare(c, &steps, err);
		memcpy(side, c->copy, sizeof(side));
	}
	if (!r)
		r = fz_diff_new(side[FZ_BASE], side[FZ_HEAD], &o.diff, &c->diff, err);
	if (r)
		return r;
	c->diff->recorded[FZ_BASE] = base;
	c->diff->recorded[FZ_HEAD] = head;
	c->judgement = fz_judge(c->diff, &how);
	if (c->copy[FZ_BASE])
		fz_diff_per_run(c->diff, c->judgement, c->copy[FZ_BASE], c->copy[FZ_HEAD]);
	*ret = fz_steal(c);
	return 0;
}

void fz_comparison_free(struct fz_comparison *c)
{
	if (!c)
		return;
	fz_judgement_free(c->judgement);
	fz_diff_free(c->diff);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		fz_profile_free(c->copy[s]);
	free(c);
}

void fz_comparison_freep(struct fz_comparison **c)
{
	fz_comparison_free(*c);
}
