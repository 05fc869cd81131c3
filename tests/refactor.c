/* SPDX-License-Identifier: MIT */
/* A synthetic program and its recordings; see refactor.h. */
#include "refactor.h"

#include <stdio.h>

uint32_t fz_dice(struct fz_dice *dice, uint32_t sides)
{
	dice->state = fz_hash64(dice->state + 0x9e3779b97f4a7c15u);
	return (uint32_t)((dice->state >> 32) % sides);
}

bool fz_dice_chance(struct fz_dice *dice, double p)
{
	return fz_dice(dice, 1u << 24) < p * (1u << 24);
}

/* ---- a program ---- */

enum { CALLEES = 12, PER_FILE = 12, DEPTH_MAX = 24, SCALE = 20 };

struct program {
	uint32_t nodes, functions;
	uint32_t *function, *parent; /* of a node; node 0 is main */
	uint8_t *depth;
	int64_t *self;
};

static void program_init(struct program *g, uint32_t nodes, uint32_t functions, struct fz_dice *d)
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
		double x = (double)fz_dice(d, 1u << 20) / (1u << 20);
		callees[i] = 1 + (uint32_t)((double)(functions - 1) * x * x);
	}
	g->parent[0] = FZ_NONE;
	g->nodes = 1;
	while (g->nodes < nodes) {
		uint32_t parent = fz_dice(d, g->nodes), at = g->nodes;
		uint32_t f = callees[(size_t)g->function[parent] * CALLEES + fz_dice(d, CALLEES)];
		uint32_t *slot = fz_map_slot(&children, FZ_KEY(parent, f));
		if (*slot != FZ_NONE || g->depth[parent] >= DEPTH_MAX) {
			*slot = 0;
			continue;
		}
		*slot = at;
		g->function[at] = f;
		g->parent[at] = parent;
		g->depth[at] = (uint8_t)(g->depth[parent] + 1);
		g->self[at] = fz_dice_chance(d, 0.6) ? 1 + fz_dice(d, 8) : 0;
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

static void frames_init(struct frames *f, const struct program *g, struct fz_refactor *r)
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
		if (fz_dice_chance(&r->dice, 0.25))
			snprintf(name, sizeof(name), "run%u", i % PER_FILE);
		else
			snprintf(name, sizeof(name), "work_%u", i);
		snprintf(file, sizeof(file), "src/m%u.py", i / PER_FILE);
		f->base[i] = frame(r->base, name, file, line);
		if (i == 0 || r->kind == FZ_REPEATED) {
			f->head[i] = frame(r->head, name, file, line);
			continue;
		}
		moved = i % PER_FILE == 0 ? fz_dice_chance(&r->dice, 0.05) : moved;
		bool renamed = fz_dice_chance(&r->dice, 0.03);
		if (renamed)
			snprintf(name, sizeof(name), "q%u", fz_dice(&r->dice, 1u << 30));
		if (moved)
			snprintf(file, sizeof(file), "lib/new/n%u.py", i / PER_FILE);
		line += (int32_t)(i * 7 % 40);
		f->head[i] = frame(r->head, name, file, line);
		if (fz_dice_chance(&r->dice, 0.01)) {
			snprintf(name, sizeof(name), "wrapper_%u", i);
			f->wrapper[i] = frame(r->head, name, "src/deco.py", (int32_t)i);
		} else if (fz_dice_chance(&r->dice, 0.01)) {
			snprintf(name, sizeof(name), "inner_%u", i);
			f->inner[i] = frame(r->head, name, file, line + 15);
		} else if (fz_dice_chance(&r->dice, 0.01) && !renamed && !moved) {
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

static void set_truth(struct fz_refactor *r, uint32_t head, uint32_t base)
{
	while (head >= r->truth_cap) {
		size_t cap = FZ_MAX(2 * r->truth_cap, 1024);
		r->truth = fz_reallocarray(r->truth, cap, sizeof(*r->truth));
		memset(r->truth + r->truth_cap, 0xff, (cap - r->truth_cap) * sizeof(*r->truth));
		r->truth_cap = cap;
	}
	r->truth[head] = base;
}

/* What a node of the base takes in the head. Many small counts for a program that is repeated, as
 * in recordings of large trees; large ones for a refactored one, so that noise does not decide. */
static void take_self(struct fz_refactor *r, int64_t self, int64_t *base, int64_t *head)
{
	if (r->kind == FZ_REFACTORED) {
		*base = self * SCALE;
		*head = *base * (80 + fz_dice(&r->dice, 41)) / 100;
		return;
	}
	*base = self;
	*head = self ? self + (int64_t)fz_dice(&r->dice, 3) - 1 : fz_dice_chance(&r->dice, 0.02);
}

static void record(const struct program *g, const struct frames *f, struct fz_refactor *r)
{
	fz_auto(fz_free_ptr) uint32_t *base = fz_calloc(g->nodes, sizeof(*base));
	fz_auto(fz_free_ptr) uint32_t *head = fz_calloc(g->nodes, sizeof(*head));
	fz_auto(fz_free_ptr) uint32_t *inner = fz_calloc(g->nodes, sizeof(*inner));

	for (uint32_t i = 0; i < g->nodes; i++) {
		uint32_t p = g->parent[i], fn = g->function[i];
		base[i] = fz_profile_stack(r->base, p == FZ_NONE ? FZ_NONE : base[p], f->base[fn]);
		int64_t self_base, self;
		take_self(r, g->self[i], &self_base, &self);
		add(r->base, base[i], self_base);
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
		if (f->inner[fn]) {
			inner[i] = fz_profile_stack(r->head, head[i], f->inner[fn]);
			set_truth(r, inner[i], FZ_NONE);
			add(r->head, inner[i], self / 2);
			self -= self / 2;
		}
		add(r->head, head[i], self);
	}
}

static void add_new_code(const struct program *g, struct fz_refactor *r)
{
	char name[32];

	for (uint32_t k = 0; k < g->functions / 100; k++) {
		snprintf(name, sizeof(name), "brandnew_%u", k);
		uint32_t at = frame(r->head, name, "src/feature.py", (int32_t)k * 10);
		for (int i = 0; i < 5; i++) {
			uint32_t stack = fz_profile_stack(
				r->head, fz_dice(&r->dice, r->head->stack_count), at);
			set_truth(r, stack, FZ_NONE);
			add(r->head, stack, SCALE);
		}
	}
}

void fz_refactor_init(struct fz_refactor *r, uint32_t nodes, uint32_t functions,
		      enum fz_refactor_kind kind, uint64_t seed)
{
	struct program g;
	struct frames f;

	*r = (struct fz_refactor){
		.base = new_profile(), .head = new_profile(), .dice = { seed }, .kind = kind
	};
	program_init(&g, nodes, functions, &r->dice);
	frames_init(&f, &g, r);
	record(&g, &f, r);
	if (kind == FZ_REFACTORED)
		add_new_code(&g, r);
	frames_release(&f);
	program_release(&g);
}

void fz_refactor_release(struct fz_refactor *r)
{
	fz_profile_free(r->base);
	fz_profile_free(r->head);
	free(r->truth);
}
