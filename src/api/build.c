/* SPDX-License-Identifier: MIT */
/* Profiles that a caller builds sample by sample; include/fizeau.h is the documentation. */
#include "api/api.h"

#include "profile/profile.h"

struct fizeau_builder {
	struct fz_profile *p;
	int64_t interval; /* ns that pass with a sample */
	int64_t now;
	uint32_t thread;
};

int fizeau_builder_new(const struct fizeau_builder_options *options, struct fizeau_builder **ret,
		       struct fizeau_error *err)
{
	struct fizeau_builder_options all = { .size = 0 }, *o = &all;
	struct fz_thread main = { .tid = 1, .is_main = true };
	int r = ret ? fz_api_copy_options(o, sizeof(*o), options, err) : fz_api_no_argument(err);

	if (r)
		return r;
	struct fizeau_builder *b = fz_calloc(1, sizeof(*b));
	b->p = fz_profile_new();
	b->interval = FZ_MAX(o->interval_ns, 0);
	b->p->recording.interval_ns = b->interval;
	b->p->recording.complete = o->complete != 0;
	b->p->samples.ordered = o->ordered != 0;
	b->p->samples.timed = o->ordered && b->interval;
	fz_profile_add_metric(b->p, fz_str_of(o->metric ? o->metric : "samples"),
			      fz_str_of(o->unit ? o->unit : "count"), 1, true);
	fz_profile_add_run(b->p, &(struct fz_run){ 0 });
	b->thread = fz_profile_thread(b->p, &main);
	*ret = b;
	return 0;
}

void fizeau_builder_next_run(struct fizeau_builder *b)
{
	if (!b)
		return;
	if (b->p->run_count <= UINT16_MAX)
		fz_profile_add_run(b->p, &(struct fz_run){ 0 });
	b->now = 0;
}

void fizeau_builder_began(struct fizeau_builder *b, int64_t unix_ns)
{
	if (b)
		b->p->runs[b->p->run_count - 1].start_unix_ns = FZ_MAX(unix_ns, 0);
}

void fizeau_builder_fact(struct fizeau_builder *b, const char *key, const char *value)
{
	if (b && key && value)
		fz_profile_set_fact(b->p, key, fz_str_of(value));
}

static bool have_names(const struct fizeau_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!frames || !frames[i].name)
			return false;
	return true;
}

int fizeau_builder_add(struct fizeau_builder *b, const struct fizeau_frame *frames, size_t count,
		       int64_t cost)
{
	if (!b || !have_names(frames, count))
		return FIZEAU_EUSAGE;
	struct fz_sample sample = { .run = (uint16_t)(b->p->run_count - 1),
				    .thread = b->thread,
				    .stack = FZ_NONE,
				    .time = b->now += b->interval };

	for (size_t i = 0; i < count; i++) {
		const struct fizeau_frame *f = &frames[i];
		uint32_t frame = fz_profile_frame_named(
			b->p, fz_str_of(f->name), fz_str_of(f->file ? f->file : ""),
			f->line > 0 ? f->line : FZ_NO_LINE, FZ_KIND_UNKNOWN);
		sample.stack = fz_profile_stack(b->p, sample.stack, frame);
	}
	fz_profile_add_sample(b->p, &sample, &cost);
	return 0;
}

int fizeau_builder_build(struct fizeau_builder *b, struct fizeau_profile **ret,
			 struct fizeau_error *err)
{
	fz_auto(fz_numeric_leave) struct fz_numeric numbers = fz_numeric_enter();

	if (!b)
		return fz_api_no_argument(err);
	int r = ret ? fz_profile_check(b->p, fz_api_error(err)) : fz_api_no_argument(err);
	if (!r)
		*ret = fz_api_profile(fz_steal(b->p));
	fizeau_builder_free(b);
	return r;
}

void fizeau_builder_free(struct fizeau_builder *b)
{
	if (!b)
		return;
	fz_profile_free(b->p);
	free(b);
}
