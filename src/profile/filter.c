/* SPDX-License-Identifier: MIT */
/* Filtering moves the remaining rows to the front of every column. Functions on a stack are checked
 * once per stack, from its parent, not once per sample. */
#include "profile/filter.h"

#include "profile/callgraph.h"
#include "profile/idle.h"

/* Returns, for each stack, whether a flagged function is on it. */
static bool *stacks_with(const struct fz_profile *p, const bool *functions)
{
	if (!functions)
		return NULL;
	bool *with = fz_calloc(p->stack_count, sizeof(*with));
	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct fz_stack *s = &p->stacks[i];
		fz_assert(s->parent == FZ_NONE || s->parent < i);
		with[i] = functions[p->frames[s->frame].function] ||
			  (s->parent != FZ_NONE && with[s->parent]);
	}
	return with;
}

struct test {
	const struct fz_profile *p;
	const struct fz_filter *f;
	bool *wanted, *hidden; /* of each stack, or NULL */
	struct fz_idle idle;   /* if needed */
};

static bool passes(const struct test *t, size_t row)
{
	const struct fz_samples *s = &t->p->samples;
	const struct fz_filter *f = t->f;
	uint32_t stack = s->stack[row];

	if (f->threads && !f->threads[s->thread[row]])
		return false;
	if (f->run != FZ_NONE && (s->run ? s->run[row] : 0) != f->run)
		return false;
	if (s->timed && (s->time[row] < f->from_ns || s->time[row] >= f->to_ns))
		return false;
	if ((s->status[row] & f->status_all) != f->status_all)
		return false;
	if (f->no_idle && fz_idle_sample(&t->idle, row))
		return false;
	if (t->wanted && (stack == FZ_NONE || !t->wanted[stack]))
		return false;
	return !t->hidden || stack == FZ_NONE || !t->hidden[stack];
}

static void move_row(struct fz_profile *p, size_t to, size_t from)
{
	struct fz_samples *s = &p->samples;

	s->thread[to] = s->thread[from];
	s->stack[to] = s->stack[from];
	s->time[to] = s->time[from];
	s->status[to] = s->status[from];
	if (s->run)
		s->run[to] = s->run[from];
	if (s->count)
		s->count[to] = s->count[from];
	if (s->label)
		s->label[to] = s->label[from];
	for (uint32_t m = 0; m < p->metric_count; m++)
		if (p->metrics[m].column)
			p->metrics[m].column[to] = p->metrics[m].column[from];
}

uint64_t fz_profile_filter(struct fz_profile *p, const struct fz_filter *filter)
{
	struct test t = {
		.p = p,
		.f = filter,
		.wanted = stacks_with(p, filter->functions),
		.hidden = stacks_with(p, filter->hidden),
	};
	size_t kept = 0;

	if (filter->no_idle)
		fz_idle_init(&t.idle, p);

	for (size_t row = 0; row < p->samples.n; row++)
		if (passes(&t, row))
			move_row(p, kept++, row);
	if (kept < p->samples.n) {
		fz_profile_drop_callgraph(p);
		p->wakes.n = 0; /* chains would need removed samples */
	}
	p->samples.n = kept;
	free(t.wanted);
	free(t.hidden);
	fz_idle_release(&t.idle);
	return fz_profile_sample_total(p);
}

uint64_t fz_profile_root_at(struct fz_profile *p, const bool *functions)
{
	uint32_t n = p->stack_count;
	fz_auto(fz_free_ptr) uint32_t *cut = fz_calloc(n + 1ul, sizeof(*cut));
	size_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct fz_stack s = p->stacks[i];
		fz_assert(s.parent == FZ_NONE || s.parent < i);
		uint32_t above = s.parent == FZ_NONE ? FZ_NONE : cut[s.parent];
		bool below = above != FZ_NONE || functions[p->frames[s.frame].function];
		cut[i] = below ? fz_profile_stack(p, above, s.frame) : FZ_NONE;
	}
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		if (stack == FZ_NONE || cut[stack] == FZ_NONE)
			continue;
		move_row(p, kept, row);
		p->samples.stack[kept++] = cut[stack];
	}
	fz_profile_drop_callgraph(p);
	p->samples.n = kept;
	return fz_profile_sample_total(p);
}

bool fz_function_is_unreadable(const struct fz_profile *p, const struct fz_function *f)
{
	return f->kind == FZ_KIND_MARKER &&
	       fz_str_eq(fz_profile_text(p, f->name), FZ_STR("[unreadable]"));
}

void fz_profile_drop_unreadable(struct fz_profile *p)
{
	fz_auto(fz_free_ptr) bool *unreadable = fz_calloc(p->function_count + 1ul, sizeof(bool));
	struct fz_filter filter = FZ_FILTER_DEFAULTS;

	for (uint32_t i = 0; i < p->function_count; i++)
		unreadable[i] = fz_function_is_unreadable(p, &p->functions[i]);
	filter.hidden = unreadable;
	fz_profile_filter(p, &filter);
}

bool *fz_filter_functions(const struct fz_profile *p, const regex_t *regex)
{
	bool *flags = fz_calloc(p->function_count + 1ul, sizeof(*flags));

	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct fz_function *f = &p->functions[i];
		flags[i] = fz_str_matches(fz_profile_text(p, f->name), regex) ||
			   fz_str_matches(fz_profile_text(p, f->file), regex);
	}
	return flags;
}
