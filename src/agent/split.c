/* SPDX-License-Identifier: MIT */
/* Converts the rows of a window to profiles; see split.h.
 *
 *   rows -> samples -> names of addresses -> for each part: its samples, and only the table rows
 *                                            that they need, so pushes do not mix services
 */
#include "agent/split.h"

#include <stdio.h>

#include "base/map.h"
#include "profile/filter.h"

struct splitter {
	const struct fz_agent_window *w;
	struct fz_profile *named; /* its samples are the window's rows, in the same order */
	uint32_t *part_of;        /* by program */
	uint32_t *stack;          /* of `named` -> of the part's profile */
	uint64_t rows_before, lost_before;
};

/* ---- parts ---- */

static uint64_t key_of(const char *service, const char *version)
{
	return fz_hash64(fz_map_hash(service, strlen(service))) ^
	       fz_map_hash(version, strlen(version));
}

static int by_cost(const void *a, const void *b)
{
	const struct fz_agent_part *x = a, *y = b;

	return FZ_CMP(y->cost, x->cost) ?: strcmp(x->service, y->service) ?:
	       strcmp(x->version, y->version);
}

/* List the parts that have samples, highest cost first. */
static void list_parts(struct splitter *s, struct fz_agent_parts *parts)
{
	fz_auto(fz_map_release) struct fz_map map = { 0 };
	const struct fz_agent_window *w = s->w;

	for (size_t i = 0; i < w->row_n; i++) {
		const struct fz_agent_known *k = w->programs[w->rows[i].program];
		fz_assert(k->named);
		uint32_t *slot = fz_map_slot(&map, key_of(k->service, k->version));

		if (*slot == FZ_NONE) {
			fz_grow(parts->list, parts->n, parts->cap);
			struct fz_agent_part *p = &parts->list[parts->n];
			*p = (struct fz_agent_part){ .profile = NULL };
			memcpy(p->service, k->service, sizeof(p->service));
			memcpy(p->version, k->version, sizeof(p->version));
			*slot = (uint32_t)parts->n++;
		}
		parts->list[*slot].cost += w->rows[i].weight;
	}
	qsort(parts->list, parts->n, sizeof(*parts->list), by_cost);
}

/* Merge the parts beyond the limit into the last one. */
static void limit_parts(struct splitter *s, struct fz_agent_parts *parts)
{
	fz_auto(fz_map_release) struct fz_map map = { 0 };
	struct fz_agent_part *rest = &parts->list[FZ_AGENT_PARTS_MAX - 1];

	if (parts->n > FZ_AGENT_PARTS_MAX) {
		for (size_t i = FZ_AGENT_PARTS_MAX; i < parts->n; i++)
			rest->cost += parts->list[i].cost;
		snprintf(rest->service, sizeof(rest->service), "other");
		snprintf(rest->version, sizeof(rest->version), "unversioned");
		parts->n = FZ_AGENT_PARTS_MAX;
	}
	for (size_t i = 0; i < parts->n; i++)
		fz_map_put(&map, key_of(parts->list[i].service, parts->list[i].version),
			   (uint32_t)i);
	for (uint32_t i = 0; i < s->w->program_n; i++) {
		const struct fz_agent_known *k = s->w->programs[i];
		uint32_t part = fz_map_get(&map, key_of(k->service, k->version));
		s->part_of[i] = part == FZ_NONE ? (uint32_t)parts->n - 1 : part;
	}
}

/* ---- the profile of a part ---- */

static uint32_t copy_text(const struct fz_profile *from, struct fz_profile *to, uint32_t string)
{
	return fz_profile_string(to, fz_profile_text(from, string));
}

static uint32_t copy_frame(const struct fz_profile *from, struct fz_profile *to, uint32_t index)
{
	struct fz_frame frame = from->frames[index];
	struct fz_function f = from->functions[frame.function];

	f.name = copy_text(from, to, f.name);
	f.file = copy_text(from, to, f.file);
	f.module = copy_text(from, to, f.module);
	frame.function = fz_profile_function(to, &f);
	return fz_profile_frame(to, &frame);
}

/* Copy a stack with its callers first, which must precede it. */
static uint32_t copy_stack(struct splitter *s, struct fz_profile *to, uint32_t stack)
{
	const struct fz_profile *from = s->named;
	uint32_t depth = stack == FZ_NONE ? 0 : from->stacks[stack].depth, n = 0;
	fz_auto(fz_free_ptr) uint32_t *chain = fz_reallocarray(NULL, depth + 1ul, sizeof(*chain));
	uint32_t copied = FZ_NONE;

	for (uint32_t at = stack; at != FZ_NONE; at = from->stacks[at].parent) {
		if (s->stack[at] != FZ_NONE) {
			copied = s->stack[at];
			break;
		}
		chain[n++] = at;
	}
	while (n-- > 0) {
		uint32_t at = chain[n];
		uint32_t caller = copied;
		copied = fz_profile_stack(to, caller, copy_frame(from, to, from->stacks[at].frame));
		fz_assert(caller == FZ_NONE || caller < copied);
		s->stack[at] = copied;
	}
	return copied;
}

static uint32_t copy_thread(const struct fz_profile *from, struct fz_profile *to, uint32_t index)
{
	struct fz_thread t = from->threads[index];

	t.name = copy_text(from, to, t.name);
	return fz_profile_thread(to, &t);
}

static struct fz_profile *empty_part(const struct splitter *s)
{
	static const char *const facts[] = { "fizeau", "host", "kernel", "cpu", "rate",
					     "clock",  "mode", "engine", NULL };
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_run(p, &s->named->runs[0]);
	for (uint32_t i = 0; i < s->named->metric_count; i++) {
		const struct fz_metric *m = &s->named->metrics[i];
		fz_profile_add_metric(p, fz_str_of(m->name), fz_str_of(m->unit), m->each,
				      m->column != NULL);
	}
	p->recording = s->named->recording;
	p->samples.timed = true;
	p->quality.known = true;
	for (size_t i = 0; facts[i]; i++)
		fz_profile_set_fact(p, facts[i], fz_profile_fact(s->named, facts[i]));
	return p;
}

/* Lost samples, whose owner is unknown, are distributed in proportion to samples. */
static uint64_t share_of_lost(struct splitter *s, uint64_t samples)
{
	double all = (double)fz_profile_sample_total(s->named);
	uint64_t lost = s->w->profile->quality.missed;

	s->rows_before += samples;
	uint64_t until = (uint64_t)((double)lost * (double)s->rows_before / all);
	if ((double)s->rows_before >= all)
		until = lost;
	uint64_t share = until - s->lost_before;
	s->lost_before = until;
	return share;
}

static void fill(struct splitter *s, uint32_t part, struct fz_profile *to)
{
	const struct fz_profile *from = s->named;
	uint64_t samples = 0;

	memset(s->stack, 0xff, (from->stack_count + 1ul) * sizeof(*s->stack));
	for (size_t row = 0; row < from->samples.n; row++) {
		if (s->part_of[s->w->rows[row].program] != part)
			continue;
		uint32_t stack = copy_stack(s, to, from->samples.stack[row]);
		struct fz_sample sample = { .thread = copy_thread(from, to,
								  from->samples.thread[row]),
					    .stack = stack,
					    .time = from->samples.time[row],
					    .status = from->samples.status[row],
					    .count = fz_sample_count(from, row) };
		int64_t weight = fz_sample_weight(from, 0, row);
		fz_profile_add_sample(to, &sample, &weight);
		samples += sample.count;
		/* The reason is not stored per sample, and any reason serves here. */
		if (stack != FZ_NONE &&
		    fz_function_is_unreadable(to, fz_profile_stack_function(to, stack)))
			to->quality.rejected[FZ_REJECT_CHANGED] += sample.count;
	}
	to->quality.taken = samples;
	to->quality.missed = share_of_lost(s, samples);
}

/* ---- all of it ---- */

static int name_samples(struct splitter *s, struct fz_agent_window *w, struct fz_error *err)
{
	struct fz_profile *p = w->profile;
	struct fz_quality quality = p->quality;

	for (size_t i = 0; i < w->row_n; i++) {
		const struct fz_agent_row *r = &w->rows[i];
		fz_profile_add_sample(p,
				      &(struct fz_sample){ .thread = r->thread,
							   .stack = r->stack,
							   .time = r->time,
							   .status = FZ_STATUS_ON_CPU,
							   .count = r->count },
				      &r->weight);
	}
	p->runs[0].start_unix_ns = w->start_unix_ns;
	p->runs[0].duration_ns = p->recording.duration_ns = w->duration_ns;
	int r = fz_profile_check(p, err);
	if (r)
		return r;
	s->named = fz_images_resolve(&w->images, fz_steal(w->profile), INT64_MIN);
	fz_images_release(&w->images);
	/* The quality of the whole window is still needed. */
	w->profile = fz_profile_new();
	w->profile->quality = quality;
	return fz_profile_check(s->named, err);
}

int fz_agent_split(struct fz_agent_window *w, struct fz_agent_parts *ret, struct fz_error *err)
{
	struct splitter s = { .w = w };
	struct fz_agent_parts parts = { 0 };
	int r = name_samples(&s, w, err);

	if (!r && s.named->samples.n) {
		s.part_of = fz_calloc(FZ_MAX(w->program_n, 1), sizeof(*s.part_of));
		s.stack = fz_calloc(s.named->stack_count + 1ul, sizeof(*s.stack));
		list_parts(&s, &parts);
		limit_parts(&s, &parts);
		for (size_t i = 0; i < parts.n; i++) {
			parts.list[i].profile = empty_part(&s);
			fill(&s, (uint32_t)i, parts.list[i].profile);
		}
	}
	free(s.part_of);
	free(s.stack);
	fz_profile_free(s.named);
	*ret = parts;
	return r;
}

void fz_agent_parts_release(struct fz_agent_parts *p)
{
	while (p->n)
		fz_profile_free(p->list[--p->n].profile);
	free(p->list);
	*p = (struct fz_agent_parts){ 0 };
}
