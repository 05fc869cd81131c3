/* SPDX-License-Identifier: MIT */
/* How much of a refactored program is recognised.
 *
 * A synthetic program is recorded, refactored and recorded again (refactor.h); the path of the base
 * that each path of the head corresponds to is known.
 *
 * Real recordings with functions renamed at random add realistic neighbourhoods.
 *
 * FZ_REFACTOR_NODES=1000000 runs it with a million nodes and prints the time that matching took.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <time.h>

#include "compare/diff.h"
#include "format/format.h"
#include "refactor.h"

/* ---- how well it was recognised ---- */

struct outcome {
	double same, right, wrong; /* head samples of old code, and what became of them */
	double fresh, mistaken;    /* of new code, and what was taken for old code */
	double base, left, gone;   /* of the base: all, unmatched, truly gone */
};

static void judge_head(const struct fz_diff *d, const struct fz_refactor *r, struct outcome *o,
		       bool *found)
{
	const uint32_t *of_base = d->tree[FZ_BASE]->stack_node;
	const uint32_t *of_head = d->tree[FZ_HEAD]->stack_node;

	for (uint32_t i = 0; i < r->head->stack_count; i++) {
		if (of_head[i] == FZ_NONE)
			continue;
		uint32_t node = d->node_of[FZ_HEAD][of_head[i]];
		double self = (double)d->tree[FZ_HEAD]->self[of_head[i]];
		bool common = d->nodes[node].state == FZ_COMMON;
		uint32_t truth = r->truth[i];
		if (truth == FZ_NONE || of_base[truth] == FZ_NONE) {
			o->fresh += self;
			o->mistaken += common ? self : 0;
			continue;
		}
		bool right = d->node_of[FZ_BASE][of_base[truth]] == node;
		found[of_base[truth]] = true;
		o->same += self;
		o->right += right ? self : 0;
		o->wrong += !right && common ? self : 0;
	}
}

static struct outcome judge(const struct fz_diff *d, const struct fz_refactor *r)
{
	const struct fz_tree *t = d->tree[FZ_BASE];
	fz_auto(fz_free_ptr) bool *found = fz_calloc(t->n, sizeof(*found));
	struct outcome o = { 0 };

	judge_head(d, r, &o, found);
	for (uint32_t i = 0; i < t->n; i++) {
		double self = (double)t->self[i];
		o.base += self;
		o.gone += found[i] ? 0 : self;
		o.left += d->nodes[d->node_of[FZ_BASE][i]].state == FZ_COMMON ? 0 : self;
	}
	return o;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct outcome compare(const struct fz_refactor *r, enum fz_match match)
{
	struct fz_diff_options o = { .match = match, .scale = FZ_SCALE_SHARE };
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	struct fz_error err;
	double start = seconds();

	if (fz_diff_new(r->base, r->head, &o, &d, &err))
		fail_msg("%s", err.message);
	double took = seconds() - start;
	struct outcome out = judge(d, r);
	print_message("%-5s %u+%u nodes, %u functions: right %.2f %%, wrong %.2f %%, new taken for "
		      "old %.2f %%, base unmatched %.2f %% (true: %.2f %%), %u links, %.3f s\n",
		      fz_match_names[match], d->tree[0]->n, d->tree[1]->n, d->function_count,
		      100 * out.right / out.same, 100 * out.wrong / out.same,
		      100 * out.mistaken / out.fresh, 100 * out.left / out.base,
		      100 * out.gone / out.base, d->link_count, took);
	return out;
}

static void a_refactored_program_is_recognised(void **state)
{
	(void)state;
	const char *wish = getenv("FZ_REFACTOR_NODES");
	struct fz_refactor r;

	uint32_t nodes = wish ? (uint32_t)strtoul(wish, NULL, 10) : 100000;

	fz_refactor_init(&r, nodes, FZ_MAX(nodes / 100, 100), FZ_REFACTORED, 42);
	assert_int_equal(fz_profile_check(r.base, NULL), 0);
	assert_int_equal(fz_profile_check(r.head, NULL), 0);
	struct outcome names = compare(&r, FZ_MATCH_NAMES);
	struct outcome full = compare(&r, FZ_MATCH_FULL);
	fz_refactor_release(&r);
	assert_true(full.right >= 0.99 * full.same);
	assert_true(full.wrong <= 0.01 * full.same);
	assert_true(full.mistaken <= 0.01 * full.same);
	/* The case is a hard one: paths of names alone lose most of it. */
	assert_true(names.right < 0.9 * names.same);
}

/* ---- real recordings ---- */

static struct fz_profile *load_run(const char *side, int run)
{
	const char *shared = getenv("FZ_SHARED");
	fz_auto(fz_free_ptr) char *path =
		fz_asprintf("%s/profiles/pairs/aa_ab/tachyon_wall_%s/%02d.bin",
			    shared ? shared : "../shared", side, run);
	struct fz_profile *p = NULL;
	struct fz_error err;

	if (fz_format_load(path, &p, &err)) {
		print_message("%s\n", err.message);
		skip();
	}
	return p;
}

/* Give functions other names; true_name[function] is what a renamed one was called, else 0. */
static uint32_t *rename_functions(struct fz_profile *p, double rate, struct fz_dice *dice)
{
	uint32_t *true_name = fz_calloc(p->function_count, sizeof(*true_name));
	char name[32];

	/* A library's functions only have other names in another release of it. */
	p->recording.python[2] = UINT8_MAX;
	for (uint32_t i = 0; i < p->function_count; i++) {
		struct fz_function *f = &p->functions[i];
		if (f->kind == FZ_KIND_MARKER || p->strings[f->name].p[0] == '<' ||
		    !fz_dice_chance(dice, rate))
			continue;
		true_name[i] = f->name;
		snprintf(name, sizeof(name), "zz%u", fz_dice(dice, 1u << 30));
		f->name = fz_profile_string(p, fz_str_of(name));
	}
	return true_name;
}

static bool is_called(const struct fz_profile *a, uint32_t f, const struct fz_profile *b,
		      uint32_t name, uint32_t file)
{
	return fz_str_eq(a->strings[a->functions[f].name], b->strings[name]) &&
	       fz_str_eq(a->strings[a->functions[f].file], b->strings[file]);
}

struct renamed {
	double weight, found; /* of renamed functions that the base has too */
	uint32_t links, wrong;
};

static bool base_has(const struct fz_diff *d, const struct fz_profile *head, uint32_t name,
		     uint32_t file)
{
	const struct fz_profile *base = d->profile[FZ_BASE];

	for (uint32_t i = 0; i < base->function_count; i++)
		if (d->function_of[FZ_BASE][i] != FZ_NONE && is_called(base, i, head, name, file))
			return true;
	return false;
}

static void count_renamed(const struct fz_diff *d, const uint32_t *true_name, struct renamed *r)
{
	const struct fz_profile *base = d->profile[FZ_BASE], *head = d->profile[FZ_HEAD];

	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		uint32_t b = f->on_side[FZ_BASE], h = f->on_side[FZ_HEAD];
		if (h == FZ_NONE)
			continue;
		uint32_t file = head->functions[h].file;
		uint32_t name = true_name[h] ? true_name[h] : head->functions[h].name;
		bool right = b != FZ_NONE && is_called(base, b, head, name, file);
		r->links += f->link.how == FZ_LINK_NEIGHBOURHOOD;
		r->wrong += f->link.how == FZ_LINK_NEIGHBOURHOOD && !right;
		if (true_name[h] && f->cost.total[FZ_HEAD] >= 10 && base_has(d, head, name, file)) {
			r->weight += (double)f->cost.total[FZ_HEAD];
			r->found += right ? (double)f->cost.total[FZ_HEAD] : 0;
		}
	}
}

static void renamed_functions_of_real_programs_are_found(void **state)
{
	(void)state;
	static const char *const sides[] = { "A", "B" };
	static const double rates[] = { 0.02, 0.10 };
	struct fz_diff_options o = { .scale = FZ_SCALE_SHARE, .metric = FZ_STR("samples") };

	for (size_t k = 0; k < FZ_ARRAY_LEN(rates); k++) {
		struct renamed r = { 0 };
		struct fz_dice dice = { 5 };
		for (int i = 0; i < 10; i++) {
			fz_auto(fz_profile_freep) struct fz_profile *a =
				load_run(sides[i / 5], i % 5 + 1);
			for (int j = 0; j < 10; j++) {
				if (i == j)
					continue;
				fz_auto(fz_profile_freep) struct fz_profile *b =
					load_run(sides[j / 5], j % 5 + 1);
				fz_auto(fz_free_ptr) uint32_t *true_name =
					rename_functions(b, rates[k], &dice);
				fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
				assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
				count_renamed(d, true_name, &r);
			}
		}
		print_message(
			"%.0f %% renamed: %.1f %% of their weight found, %u links, %u wrong\n",
			100 * rates[k], 100 * r.found / r.weight, r.links, r.wrong);
		/* Without sources and names leaves stay unlinked, but no link is wrong. */
		assert_true(r.found >= 0.75 * r.weight);
		assert_true(r.wrong <= 0.01 * r.links);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refactored_program_is_recognised),
		cmocka_unit_test(renamed_functions_of_real_programs_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
