/* SPDX-License-Identifier: MIT */
/* Joins comprehensions with the functions around them; see comprehensions.h.
 *
 * Python calls a comprehension where it is, so its caller is the function around it. If that is not
 * on the stack, as in a truncated one, the comprehension stays. Both sides are treated alike,
 * because versions that inline leave out some.
 */
#include "compare/comprehensions.h"

static const char *const words[] = { "<listcomp>", "<setcomp>", "<dictcomp>" };

static bool inlines(const struct fz_profile *p)
{
	const uint8_t *python = p->recording.python;

	return python[0] == 3 && python[1] >= 12;
}

static bool is_comprehension(struct fz_str name)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i]);
		if (fz_str_ends(name, words[i]) && (name.n == n || name.p[name.n - n - 1] == '.'))
			return true;
	}
	return false;
}

/* Whether any function is a comprehension or in one. */
static bool calls_any(const struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->function_count; i++) {
		struct fz_str name = p->strings[p->functions[i].name];
		for (size_t k = 0; k < FZ_ARRAY_LEN(words); k++)
			if (memmem(name.p, name.n, words[k], strlen(words[k])))
				return true;
	}
	return false;
}

bool fz_diff_knows_python_versions(const struct fz_profile *base, const struct fz_profile *head)
{
	return base->recording.python[0] && head->recording.python[0];
}

bool fz_diff_joins_comprehensions(const struct fz_profile *base, const struct fz_profile *head)
{
	if (fz_diff_knows_python_versions(base, head))
		return inlines(base) != inlines(head) && (calls_any(base) || calls_any(head));
	return calls_any(base) != calls_any(head);
}

/* The stack of a frame that `parent` calls, or in which it runs. */
static uint32_t stack_of(struct fz_profile *p, uint32_t parent, uint32_t frame)
{
	struct fz_frame now = p->frames[frame];
	const struct fz_function *f = &p->functions[now.function];

	if (parent == FZ_NONE || !is_comprehension(p->strings[f->name]) ||
	    f->file != fz_profile_stack_function(p, parent)->file)
		return fz_profile_stack(p, parent, frame);
	now.function = p->frames[p->stacks[parent].frame].function;
	return fz_profile_stack(p, p->stacks[parent].parent, fz_profile_frame(p, &now));
}

/* Moves samples to their new stacks. What was joined is not called any more. */
static void move_samples(struct fz_profile *p, const uint32_t *to)
{
	uint32_t metric = fz_profile_find_metric(p, FZ_STR("calls"));
	int64_t *calls = metric == FZ_NONE ? NULL : p->metrics[metric].column;

	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t was = p->samples.stack[row];
		if (was == FZ_NONE)
			continue;
		p->samples.stack[row] = to[was];
		if (calls &&
		    fz_profile_stack_function(p, was) != fz_profile_stack_function(p, to[was]))
			calls[row] = 0;
	}
}

int fz_diff_join_comprehensions(struct fz_profile *p, struct fz_error *err)
{
	uint32_t n = p->stack_count;
	fz_auto(fz_free_ptr) uint32_t *to = fz_reallocarray(NULL, n + 1ul, sizeof(*to));

	for (uint32_t i = 0; i < n; i++) {
		const struct fz_stack *s = &p->stacks[i]; /* callers have lower indices */
		to[i] = stack_of(p, s->parent == FZ_NONE ? FZ_NONE : to[s->parent], s->frame);
	}
	move_samples(p, to);
	return fz_profile_check(p, err);
}

struct fz_str fz_name_without_comprehensions(struct fz_arena *arena, struct fz_str name)
{
	char *text = fz_arena_alloc(arena, name.n + 1);
	size_t n = 0;

	for (size_t i = 0, skip; i < name.n; i += skip) {
		struct fz_str rest = { name.p + i, name.n - i };
		skip = 0;
		for (size_t k = 0; k < FZ_ARRAY_LEN(words); k++)
			skip = fz_str_starts(rest, words[k]) ? strlen(words[k]) + 1 : skip;
		if (!skip || skip > rest.n) {
			text[n++] = name.p[i];
			skip = 1;
		}
	}
	text[n] = '\0';
	return (struct fz_str){ text, n };
}
