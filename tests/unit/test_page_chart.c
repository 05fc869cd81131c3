/* SPDX-License-Identifier: MIT */
/* The chart of activity over time: every cell shows what took most of its time, and levels stay
 * small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "../stats/chance.h"
#include "report/page_chart.h"

enum { THREADS = 3 };

/* A tree of random stacks. */
static struct fz_tree *random_tree(struct chance *c, struct fz_profile *p)
{
	struct fz_tree_options o = FZ_TREE_DEFAULTS;

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 1, false);
	for (int i = 0; i < 40; i++) {
		struct fz_sample s = { .stack = FZ_NONE };

		fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = i % THREADS + 1ul });
		for (int depth = 1 + (int)(chance_uniform(c) * 6); depth > 0; depth--) {
			char name[8];

			snprintf(name, sizeof(name), "f%d", (int)(chance_uniform(c) * 3));
			s.stack = fz_profile_stack(p, s.stack,
						   fz_profile_frame_named(p, fz_str_of(name),
									  FZ_STR("a.py"), 1,
									  FZ_KIND_PYTHON));
		}
		fz_profile_add_sample(p, &s, NULL);
	}
	return fz_tree_new(p, &o);
}

static size_t random_pieces(struct chance *c, const struct fz_tree *t, struct fz_chart_piece *list,
			    size_t most, int64_t *ret_end)
{
	size_t n = 0;

	*ret_end = 0;
	for (uint32_t thread = 0; thread < THREADS; thread++)
		for (int64_t at = 0; n < most * (thread + 1) / THREADS;) {
			int64_t from = at;

			if (chance_uniform(c) < 0.1)
				from += (int64_t)(chance_exponential(c) * 900);
			at = from + 1 + (int64_t)(chance_exponential(c) * 50);
			list[n++] = (struct fz_chart_piece){ thread,
							     (uint32_t)(chance_uniform(c) * t->n),
							     from, at };
			*ret_end = FZ_MAX(*ret_end, at);
		}
	return n;
}

static uint32_t depth_of(const struct fz_tree *t, uint32_t node)
{
	uint32_t depth = 0;

	for (; node != FZ_NONE; node = t->parent[node])
		depth++;
	return depth;
}

struct truth {
	int64_t all;
	uint32_t node, shared, deepest; /* shared: depth that all of it has in common */
};

/* The child of a node (FZ_NONE: a root) below which more than `least` lies. */
static uint32_t heavy_child(const struct fz_tree *t, uint32_t node, const int64_t *weights,
			    int64_t least)
{
	for (uint32_t i = 0; i < t->n; i++) {
		int64_t below = 0;

		for (uint32_t k = i; t->parent[i] == node && k < i + t->size[i]; k++)
			below += weights[k];
		if (below > least)
			return i;
	}
	return FZ_NONE;
}

/* The slow way: from the root down, as long as one callee has more than half. */
static struct truth look(const struct fz_tree *t, const struct fz_chart_piece *list, size_t n,
			 uint32_t thread, int64_t from, int64_t to)
{
	fz_auto(fz_free_ptr) int64_t *weights = fz_calloc(t->n, sizeof(*weights));
	struct truth truth = { .node = FZ_NONE };
	uint32_t within = 0, distinct = 0, longest = FZ_NONE;

	for (size_t i = 0; i < n; i++) {
		int64_t part = FZ_MIN(list[i].to, to) - FZ_MAX(list[i].from, from);

		if (list[i].thread != thread || part <= 0)
			continue;
		within += list[i].from >= from && list[i].to < to;
		distinct += !weights[list[i].node];
		weights[list[i].node] += part;
		if (longest == FZ_NONE || weights[list[i].node] > weights[longest])
			longest = list[i].node;
		truth.all += part;
		truth.deepest = FZ_MAX(truth.deepest, depth_of(t, list[i].node));
	}
	for (uint32_t next = FZ_NONE;
	     truth.all && (next = heavy_child(t, next, weights, truth.all / 2)) != FZ_NONE;)
		truth.node = next;
	for (uint32_t next = FZ_NONE;
	     truth.all && (next = heavy_child(t, next, weights, truth.all - 1)) != FZ_NONE;)
		truth.shared++;
	if (distinct == 2 && !within) {
		truth.node = longest;
		truth.shared = truth.deepest = depth_of(t, longest);
	}
	return truth;
}

static int64_t edge(int64_t end, uint32_t cell, uint32_t cells)
{
	return (int64_t)(((__int128)end * cell + cells - 1) / cells);
}

/* Marks of cells that became one run are the greatest of theirs. */
static void check_run(const struct fz_tree *t, const struct fz_chart_piece *list, size_t n,
		      const struct fz_chart_run *run, int64_t end, uint32_t cells)
{
	uint32_t mixed = 0, more = 0, depth = depth_of(t, run->node);

	for (uint32_t c = run->from; c < run->from + run->length; c++) {
		struct truth truth =
			look(t, list, n, run->thread, edge(end, c, cells), edge(end, c + 1, cells));

		if (!truth.all) /* shorter than a ns */
			continue;
		assert_int_equal(truth.node, run->node);
		mixed = FZ_MAX(mixed, depth - truth.shared);
		more = FZ_MAX(more, truth.deepest > depth ? truth.deepest - depth : 0);
	}
	assert_int_equal(run->mixed, mixed);
	assert_int_equal(run->more, more);
}

static void runs_report_how_they_spent_their_time(void **state)
{
	struct chance c = { 1 };

	(void)state;
	for (int round = 0; round < 6; round++) {
		struct fz_profile *p = fz_profile_new();
		struct fz_tree *t = random_tree(&c, p);
		struct fz_chart_piece list[600];
		struct fz_chart chart;
		int64_t end;
		size_t n = random_pieces(&c, t, list, FZ_ARRAY_LEN(list), &end);

		fz_chart_build(&chart, t, list, n, end, 40u << round);
		for (uint32_t l = 0; l < chart.levels; l++) {
			struct fz_chart_level *level = &chart.level[l];
			bool seen[THREADS] = { false };

			for (size_t i = level->first; i < level->first + level->n; i++) {
				struct fz_chart_run *run = &chart.list[i];

				assert_true(run->from + run->length <= level->cells);
				if (i > level->first && run[-1].thread == run->thread)
					assert_true(run[-1].from + run[-1].length <= run->from);
				seen[run->thread] = true;
				if (level->cells <= 4096)
					check_run(t, list, n, run, end, level->cells);
			}
			assert_true(seen[0] && seen[1] && seen[2]);
		}
		fz_chart_release(&chart);
		fz_tree_free(t);
		fz_profile_free(p);
	}
}

static void levels_are_bounded(void **state)
{
	struct chance c = { 2 };
	struct fz_profile *p = fz_profile_new();
	struct fz_tree *t = random_tree(&c, p);
	enum { PIECES = 60000 };
	fz_auto(fz_free_ptr) struct fz_chart_piece *list = fz_calloc(PIECES, sizeof(*list));
	int64_t end;
	size_t n = random_pieces(&c, t, list, PIECES, &end);

	(void)state;
	for (size_t most = 1; most <= 100000; most *= 10) {
		struct fz_chart chart;

		fz_chart_build(&chart, t, list, n, end, most);
		assert_true(chart.levels > 0 && chart.level[0].n <= FZ_MAX(most, THREADS));
		for (uint32_t l = 1; l < chart.levels; l++) {
			assert_true(chart.level[l].n <= chart.level[l - 1].n / 2);
			assert_true(chart.level[l].cells < chart.level[l - 1].cells);
		}
		fz_chart_release(&chart);
	}
	fz_tree_free(t);
	fz_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_report_how_they_spent_their_time),
		cmocka_unit_test(levels_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
