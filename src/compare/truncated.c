/* SPDX-License-Identifier: MIT */
/* Cuts stacks where those of the other side were truncated; see truncated.h.
 *
 * Functions count as equal here if their names and the base names of their files are equal, because
 * matching comes later. Each stack with samples is visited once, at most `depth` frames of it.
 */
#include "compare/truncated.h"

#include "base/buf.h"

enum { NAMED_MAX = 3 };

struct cutter {
	struct fz_profile *p;
	uint32_t depth;
	const struct fz_map *begins; /* hashes of functions that truncated stacks start with */
	uint32_t *now;               /* new stack of a stack; FZ_NONE: not computed yet */
	uint32_t *frames;            /* `depth` of them, innermost first */
};

static uint64_t hash_of(const struct fz_profile *p, const struct fz_function *f)
{
	struct fz_str name = fz_profile_text(p, f->name);
	struct fz_str file = fz_path_base(fz_profile_text(p, f->file));
	uint64_t parts[] = { fz_hash_bytes(name.p, name.n), fz_hash_bytes(file.p, file.n) };

	return fz_map_hash(parts, sizeof(parts));
}

static uint32_t root_of(const struct fz_profile *p, uint32_t stack)
{
	while (p->stacks[stack].parent != FZ_NONE)
		stack = p->stacks[stack].parent;
	return p->frames[p->stacks[stack].frame].function;
}

/* Collects the functions that truncated stacks start with, and appends their names. */
static void find_begins(const struct fz_profile *p, uint32_t depth, struct fz_map *begins,
			struct fz_buf *names)
{
	fz_auto(fz_free_ptr) bool *seen = fz_calloc(p->stack_count + 1ul, sizeof(*seen));
	uint32_t n = 0;

	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		if (stack == FZ_NONE || seen[stack] || p->stacks[stack].depth != depth)
			continue;
		seen[stack] = true;
		const struct fz_function *f = &p->functions[root_of(p, stack)];
		uint32_t *slot = fz_map_slot(begins, hash_of(p, f));
		struct fz_str name = fz_profile_text(p, f->name);
		if (*slot != FZ_NONE)
			continue;
		*slot = n++;
		if (n <= NAMED_MAX)
			fz_buf_printf(names, "%s%.*s", n > 1 ? ", " : "", (int)FZ_MIN(name.n, 80),
				      name.p);
	}
	if (n > NAMED_MAX)
		fz_buf_printf(names, " and %u more", n - NAMED_MAX);
}

static uint32_t begin_anew(struct cutter *c, uint32_t stack)
{
	const struct fz_profile *p = c->p;
	uint32_t n = 0, keep = 0, ret = FZ_NONE;

	for (uint32_t at = stack; at != FZ_NONE && n < c->depth; at = p->stacks[at].parent) {
		c->frames[n++] = p->stacks[at].frame;
		const struct fz_function *f =
			&p->functions[p->frames[p->stacks[at].frame].function];
		if (fz_map_get(c->begins, hash_of(p, f)) != FZ_NONE)
			keep = n;
	}
	keep = keep ? keep : n;
	if (keep == p->stacks[stack].depth)
		return stack;
	while (keep-- > 0)
		ret = fz_profile_stack(c->p, ret, c->frames[keep]);
	return ret;
}

static int cut(struct fz_profile *p, uint32_t depth, const struct fz_map *begins,
	       struct fz_error *err)
{
	struct cutter c = { .p = p, .depth = depth, .begins = begins };
	uint32_t stacks = p->stack_count;

	c.now = fz_malloc((stacks + 1ul) * sizeof(*c.now));
	memset(c.now, 0xff, stacks * sizeof(*c.now));
	c.frames = fz_calloc(depth, sizeof(*c.frames));
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		if (stack == FZ_NONE)
			continue;
		if (c.now[stack] == FZ_NONE)
			c.now[stack] = begin_anew(&c, stack);
		p->samples.stack[row] = c.now[stack];
	}
	free(c.now);
	free(c.frames);
	return fz_profile_check(p, err);
}

/* Depth of the truncated side; 0 if none or both are truncated. */
static uint64_t depth_of_cut(const struct fz_profile *base, const struct fz_profile *head)
{
	bool base_is_cut = fz_profile_fact(base, "stacks.cut").n;
	const struct fz_profile *is_cut = base_is_cut ? base : head;
	uint64_t depth;

	if (base_is_cut == (fz_profile_fact(head, "stacks.cut").n > 0) ||
	    !fz_parse_u64(fz_profile_fact(is_cut, "stacks.cut"), UINT16_MAX, &depth))
		return 0;
	return depth;
}

bool fz_diff_cuts(const struct fz_profile *base, const struct fz_profile *head)
{
	return depth_of_cut(base, head) > 0;
}

int fz_diff_cut_alike(struct fz_profile *base, struct fz_profile *head, struct fz_error *err)
{
	struct fz_profile *is_cut = fz_profile_fact(base, "stacks.cut").n ? base : head;
	uint32_t depth = (uint32_t)depth_of_cut(base, head);
	fz_auto(fz_map_release) struct fz_map begins = { 0 };
	fz_auto(fz_buf_release) struct fz_buf names = { 0 };

	if (!depth)
		return 0;
	find_begins(is_cut, depth, &begins, &names);
	if (!names.n)
		return 0;
	fz_profile_set_fact(is_cut, "stacks.begin", fz_buf_view(&names));
	int r = cut(base, depth, &begins, err);
	return r ? r : cut(head, depth, &begins, err);
}
