/* SPDX-License-Identifier: MIT */
/* How much of a refactored program is still recognised.
 *
 * A synthetic program (functions that call their own callees, in files) is sampled twice; the
 * second time 3 % of its functions have other names, 5 % of its files other places, 1 % of its
 * functions a wrapper around them, 1 % are split in two, 1 % are gone and as many are new. For
 * each path of the head it is known which path of the base it was.
 *
 * Real recordings with functions renamed at random tell how that goes with real neighbourhoods.
 *
 * FZ_REFACTOR_NODES=1000000 runs it with a million nodes and prints how long matching took.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <time.h>

#include "diff/diff.h"
#include "format/format.h"

static uint64_t random_state;

static uint32_t dice(uint32_t sides)
{
	random_state = fz_hash64(random_state + 0x9e3779b97f4a7c15u);
	return (uint32_t)((random_state >> 32) % sides);
}

static bool chance(double p)
{
	return dice(1u << 24) < p * (1u << 24);
}

/* ---- a program ---- */

enum { CALLEES = 12, PER_FILE = 12, DEPTH_MAX = 24, SCALE = 20 };

struct program {
	uint32_t nodes, functions;
	uint32_t *function, *parent; /* of a node; node 0 is main */
	uint8_t *depth;
	int64_t *self;
};

static void program_init(struct program *g, uint32_t nodes, uint32_t functions)
{
	fz_auto(fz_free_ptr) uint32_t *callees =
		fz_calloc((size_t)functions * CALLEES, sizeof(*callees));
	struct fz_map children = { 0 };

	*g = (struct program){ .functions = functions,
			       .function = fz_calloc(nodes, sizeof(uint32_t)),
			       .parent = fz_calloc(nodes, sizeof(uint32_t)),
			       .depth = fz_calloc(nodes, 1),
			       .self = fz_calloc(nodes, sizeof(int64_t)) };
	for (size_t i = 0; i < (size_t)functions * CALLEES; i++) {
		/* Few functions are called from everywhere. */
		double x = (double)dice(1u << 20) / (1u << 20);
		callees[i] = 1 + (uint32_t)((double)(functions - 1) * x * x);
	}
	g->parent[0] = FZ_NONE;
	g->nodes = 1;
	while (g->nodes < nodes) {
		uint32_t parent = dice(g->nodes), at = g->nodes;
		uint32_t f = callees[(size_t)g->function[parent] * CALLEES + dice(CALLEES)];
		uint32_t *slot = fz_map_slot(&children, FZ_KEY(parent, f));
		if (*slot != FZ_NONE || g->depth[parent] >= DEPTH_MAX) {
			*slot = 0;
			continue;
		}
		*slot = at;
		g->function[at] = f;
		g->parent[at] = parent;
		g->depth[at] = (uint8_t)(g->depth[parent] + 1);
		g->self[at] = chance(0.6) ? 1 + dice(8) : 0;
		g->nodes++;
	}
	fz_map_release(&children);
}

static void program_release(struct program *g)
{
	free(g->function);
	free(g->parent);
	free(g->depth);
	free(g->self);
}

/* ---- two recordings of it ---- */

struct recordings {
	struct fz_profile *base, *head;
	uint32_t *truth; /* of a head stack: the base stack; FZ_NONE: new */
	size_t truth_cap;
};

static uint32_t frame(struct fz_profile *p, const char *name, const char *file, int32_t line)
{
	return fz_profile_frame_named(p, fz_str_of(name), fz_str_of(file), line, FZ_KIND_PYTHON);
}

static void add(struct fz_profile *p, uint32_t stack, int64_t count)
{
	if (count > 0)
		fz_profile_add_sample(
			p, &(struct fz_sample){ .stack = stack, .count = (uint32_t)count }, NULL);
}

static struct fz_profile *new_profile(void)
{
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	fz_profile_thread(p, &(struct fz_thread){ .tid = 1 });
	return p;
}

/* The frames of each function on both sides; 0 (no function's) where it has none. */
struct frames {
	uint32_t *base, *head, *wrapper, *inner;
	bool *deleted;
};

static void frames_init(struct frames *f, const struct program *g, struct recordings *r)
{
	char name[64], file[64];
	bool moved = false;

	f->base = fz_calloc(g->functions, sizeof(uint32_t));
	f->head = fz_calloc(g->functions, sizeof(uint32_t));
	f->wrapper = fz_calloc(g->functions, sizeof(uint32_t));
	f->inner = fz_calloc(g->functions, sizeof(uint32_t));
	f->deleted = fz_calloc(g->functions, sizeof(bool));
	/* Index 0 of the frames is nobody's. */
	frame(r->head, "nobody", "nobody.py", 1);
	for (uint32_t i = 0; i < g->functions; i++) {
		int32_t line = (int32_t)(i % PER_FILE) * 30 + 5;
		/* A quarter shares its name with functions of other files. */
		if (chance(0.25))
			snprintf(name, sizeof(name), "run%u", i % PER_FILE);
		else
			snprintf(name, sizeof(name), "work_%u", i);
		snprintf(file, sizeof(file), "src/m%u.py", i / PER_FILE);
		f->base[i] = frame(r->base, name, file, line);
		if (i == 0) {
			f->head[i] = frame(r->head, name, file, line);
			continue;
		}
		moved = i % PER_FILE == 0 ? chance(0.05) : moved;
		bool renamed = chance(0.03);
		if (renamed)
			snprintf(name, sizeof(name), "q%u", dice(1u << 30));
		if (moved)
			snprintf(file, sizeof(file), "lib/new/n%u.py", i / PER_FILE);
		line += (int32_t)(i * 7 % 40);
		f->head[i] = frame(r->head, name, file, line);
		if (chance(0.01)) {
			snprintf(name, sizeof(name), "wrapper_%u", i);
			f->wrapper[i] = frame(r->head, name, "src/deco.py", (int32_t)i);
		} else if (chance(0.01)) {
			snprintf(name, sizeof(name), "inner_%u", i);
			f->inner[i] = frame(r->head, name, file, line + 15);
		} else if (chance(0.01) && !renamed && !moved) {
			f->deleted[i] = true;
		}
	}
}

static void frames_release(struct frames *f)
{
	free(f->base);
	free(f->head);
	free(f->wrapper);
	free(f->inner);
	free(f->deleted);
}

static void set_truth(struct recordings *r, uint32_t head, uint32_t base)
{
	while (head >= r->truth_cap) {
		size_t cap = FZ_MAX(2 * r->truth_cap, 1024);
		r->truth = fz_reallocarray(r->truth, cap, sizeof(*r->truth));
		memset(r->truth + r->truth_cap, 0xff, (cap - r->truth_cap) * sizeof(*r->truth));
		r->truth_cap = cap;
	}
	r->truth[head] = base;
}

static void record(const struct program *g, const struct frames *f, struct recordings *r)
{
	fz_auto(fz_free_ptr) uint32_t *base = fz_calloc(g->nodes, sizeof(*base));
	fz_auto(fz_free_ptr) uint32_t *head = fz_calloc(g->nodes, sizeof(*head));
	fz_auto(fz_free_ptr) uint32_t *inner = fz_calloc(g->nodes, sizeof(*inner));

	for (uint32_t i = 0; i < g->nodes; i++) {
		uint32_t p = g->parent[i], fn = g->function[i];
		base[i] = fz_profile_stack(r->base, p == FZ_NONE ? FZ_NONE : base[p], f->base[fn]);
		add(r->base, base[i], g->self[i] * SCALE);
		head[i] = inner[i] = FZ_NONE;
		if (p != FZ_NONE && (head[p] == FZ_NONE || f->deleted[fn]))
			continue;
		uint32_t above = p == FZ_NONE ? FZ_NONE : head[p];
		if (p != FZ_NONE && inner[p] != FZ_NONE && fn & 1)
			above = inner[p];
		if (f->wrapper[fn])
			above = fz_profile_stack(r->head, above, f->wrapper[fn]);
		head[i] = fz_profile_stack(r->head, above, f->head[fn]);
		set_truth(r, head[i], base[i]);
		int64_t self = g->self[i] * SCALE * (80 + dice(41)) / 100;
		if (f->inner[fn]) {
			inner[i] = fz_profile_stack(r->head, head[i], f->inner[fn]);
			set_truth(r, inner[i], FZ_NONE);
			add(r->head, inner[i], self / 2);
			self -= self / 2;
		}
		add(r->head, head[i], self);
	}
}

static void add_new_code(const struct program *g, struct recordings *r)
{
	char name[32];

	for (uint32_t k = 0; k < g->functions / 100; k++) {
		snprintf(name, sizeof(name), "brandnew_%u", k);
		uint32_t at = frame(r->head, name, "src/feature.py", (int32_t)k * 10);
		for (int i = 0; i < 5; i++) {
			uint32_t stack = fz_profile_stack(r->head, dice(r->head->stack_count), at);
			set_truth(r, stack, FZ_NONE);
			add(r->head, stack, SCALE);
		}
	}
}

static void recordings_init(struct recordings *r, uint32_t nodes, uint64_t seed)
{
	struct program g;
	struct frames f;

	random_state = seed;
	*r = (struct recordings){ .base = new_profile(), .head = new_profile() };
	program_init(&g, nodes, FZ_MAX(nodes / 100, 100));
	frames_init(&f, &g, r);
	record(&g, &f, r);
	add_new_code(&g, r);
	assert_int_equal(fz_profile_check(r->base, NULL), 0);
	assert_int_equal(fz_profile_check(r->head, NULL), 0);
	frames_release(&f);
	program_release(&g);
}

static void recordings_release(struct recordings *r)
{
	fz_profile_free(r->base);
	fz_profile_free(r->head);
	free(r->truth);
}

/* ---- how well it was recognised ---- */

struct outcome {
	double same, right, wrong; /* head samples of old code, and what became of them */
	double fresh, mistaken;    /* of new code, and what was taken for old code */
	double base, left, gone;   /* of the base: all, unmatched, truly gone */
};

static void judge_head(const struct fz_diff *d, const struct recordings *r, struct outcome *o,
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

static struct outcome judge(const struct fz_diff *d, const struct recordings *r)
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

static struct outcome compare(const struct recordings *r, enum fz_match match)
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
	struct recordings r;

	recordings_init(&r, wish ? (uint32_t)strtoul(wish, NULL, 10) : 100000, 42);
	struct outcome names = compare(&r, FZ_MATCH_NAMES);
	struct outcome full = compare(&r, FZ_MATCH_FULL);
	recordings_release(&r);
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
static uint32_t *rename_functions(struct fz_profile *p, double rate)
{
	uint32_t *true_name = fz_calloc(p->function_count, sizeof(*true_name));
	char name[32];

	for (uint32_t i = 0; i < p->function_count; i++) {
		struct fz_function *f = &p->functions[i];
		if (f->kind == FZ_KIND_MARKER || p->strings[f->name].p[0] == '<' || !chance(rate))
			continue;
		true_name[i] = f->name;
		snprintf(name, sizeof(name), "zz%u", dice(1u << 30));
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
		random_state = 5;
		for (int i = 0; i < 10; i++) {
			fz_auto(fz_profile_freep) struct fz_profile *a =
				load_run(sides[i / 5], i % 5 + 1);
			for (int j = 0; j < 10; j++) {
				if (i == j)
					continue;
				fz_auto(fz_profile_freep) struct fz_profile *b =
					load_run(sides[j / 5], j % 5 + 1);
				fz_auto(fz_free_ptr) uint32_t *true_name =
					rename_functions(b, rates[k]);
				fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
				assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
				count_renamed(d, true_name, &r);
			}
		}
		print_message(
			"%.0f %% renamed: %.1f %% of their weight found, %u links, %u wrong\n",
			100 * rates[k], 100 * r.found / r.weight, r.links, r.wrong);
		assert_true(r.found >= 0.97 * r.weight);
		assert_true(r.wrong <= 0.02 * r.links);
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
