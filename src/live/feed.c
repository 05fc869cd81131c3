/* SPDX-License-Identifier: MIT */
/* Passes samples from the sampler thread to the view thread; see feed.h. */
#include "live/feed.h"
#include "base/clock.h"

#include <sys/eventfd.h>
#include <unistd.h>

#define PUBLISH_EVERY ((int64_t)20000000)

int fz_live_feed_init(struct fz_live_feed *f, struct fz_error *err)
{
	struct fz_profile *fresh = fz_profile_new();

	*f = (struct fz_live_feed){ .own = fz_calloc(1, sizeof(*f->own)) };
	/* The mirror already has the entries that every new profile has. */
	f->string_n = fresh->string_count;
	f->function_n = fresh->function_count;
	f->frame_n = fresh->frame_count;
	f->stack_n = fresh->stack_count;
	fz_profile_free(fresh);
	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->wake < 0)
		return fz_fail_errno(err, "eventfd");
	return 0;
}

void fz_live_feed_release(struct fz_live_feed *f)
{
	fz_live_batch_free(f->own);
	fz_live_batch_free(atomic_exchange(&f->slot, NULL));
	fz_live_facts_free(atomic_exchange(&f->facts, NULL));
	fz_close_fd(&f->wake);
}

void fz_live_batch_free(struct fz_live_batch *b)
{
	if (!b)
		return;
	fz_map_release(&b->by_key);
	free(b->cells);
	free(b->states);
	free(b->strings);
	free(b->functions);
	free(b->frames);
	free(b->stacks);
	free(b->threads);
	free(b);
}

void fz_live_facts_free(struct fz_live_facts *facts)
{
	if (!facts)
		return;
	free(facts->keys);
	free(facts->values);
	free(facts->sources);
	free(facts->files);
	free(facts);
}

/* ---- on the sampler's thread ---- */

static struct fz_live_states *states_of(struct fz_live_batch *b, uint32_t thread)
{
	if (thread >= b->state_cap) {
		uint32_t cap = FZ_MAX(b->state_cap * 2, thread + 16);
		b->states = fz_reallocarray(b->states, cap, sizeof(*b->states));
		memset(b->states + b->state_cap, 0, (cap - b->state_cap) * sizeof(*b->states));
		b->state_cap = cap;
	}
	b->state_n = FZ_MAX(b->state_n, thread + 1);
	return &b->states[thread];
}

static bool is_collecting(const struct fz_profile *p, uint32_t stack)
{
	return stack != FZ_NONE && fz_profile_stack_collects(p, stack);
}

static void add_states(struct fz_live_states *st, const struct fz_profile *p,
		       const struct fz_sample *s)
{
	bool holds = s->status & FZ_STATUS_HAS_GIL;

	st->samples++;
	st->has_gil += holds;
	st->waits_gil += !holds && (s->status & FZ_STATUS_GIL_REQUESTED);
	st->cpu_known += !(s->status & FZ_STATUS_UNKNOWN);
	st->on_cpu += !(s->status & FZ_STATUS_UNKNOWN) && (s->status & FZ_STATUS_ON_CPU);
	st->exception += (s->status & FZ_STATUS_HAS_EXCEPTION) != 0;
	st->collecting += is_collecting(p, s->stack);
}

#define COPY_NEW(b, f, p, what)                                                                 \
	do {                                                                                    \
		(b)->what##_n = (p)->what##_count - (f)->what##_n;                              \
		(b)->what##s = fz_reallocarray(NULL, (b)->what##_n + 1, sizeof(*(b)->what##s)); \
		if ((b)->what##_n)                                                              \
			memcpy((b)->what##s, (p)->what##s + (f)->what##_n,                      \
			       (b)->what##_n * sizeof(*(b)->what##s));                          \
		(f)->what##_n = (p)->what##_count;                                              \
	} while (0)

static void complete(struct fz_live_feed *f, const struct fz_sampler *s)
{
	const struct fz_profile *p = s->profile;
	struct fz_live_batch *b = f->own;

	COPY_NEW(b, f, p, string);
	COPY_NEW(b, f, p, function);
	COPY_NEW(b, f, p, frame);
	COPY_NEW(b, f, p, stack);
	b->thread_n = p->thread_count;
	b->threads = fz_reallocarray(NULL, b->thread_n + 1, sizeof(*b->threads));
	if (b->thread_n)
		memcpy(b->threads, p->threads, b->thread_n * sizeof(*b->threads));
	b->quality = p->quality;
	const struct fz_target *t = fz_sampler_target(s);
	if (t && t->python) {
		memcpy(b->python, fz_python_info(t->python)->version, sizeof(b->python));
		b->pid = t->pid;
	}
}

static void wake(struct fz_live_feed *f)
{
	uint64_t one = 1;

	if (write(f->wake, &one, sizeof(one)) < 0)
		return; /* it is awake already */
}

static void publish(struct fz_live_feed *f, const struct fz_sampler *s, int64_t now)
{
	if (atomic_load(&f->slot))
		return;
	complete(f, s);
	f->own->now = now;
	atomic_store(&f->slot, f->own);
	f->own = fz_calloc(1, sizeof(*f->own));
	f->published = now;
	wake(f);
}

void fz_live_feed_add(struct fz_live_feed *f, const struct fz_sampler *s,
		      const struct fz_sample *sample, int64_t weight)
{
	struct fz_live_batch *b = f->own;
	uint32_t *slot = fz_map_slot(&b->by_key, FZ_KEY(sample->thread, sample->stack));

	if (*slot == FZ_NONE) {
		*slot = b->cell_n;
		fz_push(b->cells, b->cell_n, b->cell_cap,
			(struct fz_live_cell){ .thread = sample->thread, .stack = sample->stack });
	}
	struct fz_live_cell *cell = &b->cells[*slot];
	cell->count++;
	cell->weight += weight;
	if (!(sample->status & FZ_STATUS_BESIDE))
		add_states(states_of(b, sample->thread), s->profile, sample);
	if (s->now - f->published >= PUBLISH_EVERY)
		publish(f, s, s->now);
}

static void give_facts(struct fz_live_feed *f, const struct fz_sampler *s)
{
	const struct fz_profile *p = s->profile;
	struct fz_live_facts *facts = fz_calloc(1, sizeof(*facts));

	facts->error = fz_file_writer_flush(s->writer, NULL);
	facts->n = p->fact_count;
	facts->keys = fz_calloc(p->fact_count + 1, sizeof(*facts->keys));
	facts->values = fz_calloc(p->fact_count + 1, sizeof(*facts->values));
	for (uint32_t i = 0; i < p->fact_count; i++) {
		facts->keys[i] = fz_profile_text(p, p->facts[i].key);
		facts->values[i] = fz_profile_text(p, p->facts[i].value);
	}
	facts->source_n = p->source_count;
	facts->sources = fz_calloc(p->source_count + 1, sizeof(*facts->sources));
	facts->files = fz_calloc(p->source_count + 1, sizeof(*facts->files));
	for (uint32_t i = 0; i < p->source_count; i++) {
		facts->sources[i] = p->sources[i];
		facts->files[i] = fz_profile_text(p, p->sources[i].file);
	}
	facts->recording = p->recording;
	facts->recording.duration_ns = fz_clock_now() - s->sampling->start;
	facts->quality = p->quality;
	if (p->run_count)
		facts->run = p->runs[0];
	facts->run.duration_ns = facts->recording.duration_ns;
	fz_live_facts_free(atomic_exchange(&f->facts, facts));
	wake(f);
}

void fz_live_feed_tick(struct fz_live_feed *f, const struct fz_sampler *s)
{
	publish(f, s, fz_clock_now());
	if (atomic_exchange(&f->save_wanted, false))
		give_facts(f, s);
}

/* ---- on the view's thread ---- */

struct fz_live_batch *fz_live_feed_take(struct fz_live_feed *f)
{
	return atomic_exchange(&f->slot, NULL);
}

void fz_live_feed_want_facts(struct fz_live_feed *f)
{
	atomic_store(&f->save_wanted, true);
}

struct fz_live_facts *fz_live_feed_take_facts(struct fz_live_feed *f)
{
	return atomic_exchange(&f->facts, NULL);
}

void fz_live_batch_mirror(const struct fz_live_batch *b, struct fz_profile *m)
{
	for (uint32_t i = 0; i < b->string_n; i++)
		fz_profile_string(m, b->strings[i]);
	for (uint32_t i = 0; i < b->function_n; i++)
		fz_profile_function(m, &b->functions[i]);
	for (uint32_t i = 0; i < b->frame_n; i++)
		fz_profile_frame(m, &b->frames[i]);
	for (uint32_t i = 0; i < b->stack_n; i++)
		fz_profile_stack(m, b->stacks[i].parent, b->stacks[i].frame);
	for (uint32_t i = 0; i < b->thread_n; i++)
		fz_profile_thread(m, &b->threads[i]);
}
