/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share. Each is fuzz_NAME.c with one function; tests/fuzz/run drives it
 * with libFuzzer, replay.c with the corpus and simple damage to it. */
#pragma once

#include "format/format.h"
#include "format/tachyon_plan.h"
#include "profile/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Far below the real limits, so that breaking them is cheap and memory stays under 256 MB. */
static const struct fz_limits fuzz_limits = {
	.strings = 1 << 16,
	.functions = 1 << 16,
	.frames = 1 << 16,
	.stacks = 1 << 18,
	.threads = 1 << 12,
	.samples = 1 << 20,
	.free_samples = 1 << 14,
	.string_bytes = 16 << 20,
};

enum { FUZZ_INPUT_LIMIT = 16 << 20 };

/* A profile that was read must hold together: indices in range, children after parents. */
static inline void fuzz_check(const struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct fz_function *f = &p->functions[i];
		fz_assert(f->name < p->string_count && f->file < p->string_count);
		fz_assert(f->module < p->string_count && f->kind < FZ_KINDS);
	}
	for (uint32_t i = 0; i < p->frame_count; i++)
		fz_assert(p->frames[i].function < p->function_count);
	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct fz_stack *s = &p->stacks[i];
		fz_assert(s->frame < p->frame_count);
		fz_assert(s->parent == FZ_NONE || s->parent < i);
	}
	for (uint32_t i = 0; i < p->thread_count; i++)
		fz_assert(p->threads[i].name < p->string_count);
	fz_assert(p->metric_count > 0 && p->default_metric < p->metric_count);
	for (size_t row = 0; row < p->samples.n; row++) {
		fz_assert(p->samples.thread[row] < p->thread_count);
		fz_assert(p->samples.stack[row] == FZ_NONE ||
			  p->samples.stack[row] < p->stack_count);
	}
}

/* NULL when it cannot be read. */
static inline struct fz_profile *fuzz_read(const struct fz_format *f, const void *data, size_t n)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	struct fz_error err = { 0 };

	p->limits = &fuzz_limits;
	fz_assert(fz_input_open_memory(data, n, "fuzz", &in, &err) == 0);
	fz_input_set_limit(in, FUZZ_INPUT_LIMIT);
	int r = f->read(in, p, &err);
	fz_assert(r <= 0);
	if (r) {
		fz_assert(err.code == r && err.message[0] && !strchr(err.message, '\n'));
		return NULL;
	}
	if (fz_profile_check(p, &err))
		return NULL;
	fuzz_check(p);
	return fz_steal(p);
}

/* Tachyon's files have an entry for each sample, however many a row stands for. */
static inline bool fuzz_is_small(const struct fz_profile *p)
{
	struct fz_tachyon_plan plan = { 0 };
	struct fz_error err;
	bool small = !fz_tachyon_plan_init(&plan, p, &err) && plan.samples < 1 << 16;

	fz_tachyon_plan_release(&plan);
	return small;
}

static inline struct fz_output *fuzz_write(const struct fz_profile *p, const struct fz_format *f)
{
	struct fz_output *out = fz_output_memory();
	struct fz_error err;

	if (f == &fz_format_tachyon && !fuzz_is_small(p)) {
		fz_output_abort(out);
		return NULL;
	}
	if (!f->write(p, out, &err))
		return out;
	fz_output_abort(out);
	return NULL;
}

/* Whatever was read can be made a tree and written, and reads back. */
static inline void fuzz_use(const struct fz_profile *p)
{
	struct fz_tree_options o = FZ_TREE_DEFAULTS;

	o.cells = o.lines = true;
	fz_tree_free(fz_tree_new(p, &o));
	for (size_t i = 0; fz_formats[i]; i++) {
		if (!fz_formats[i]->write)
			continue;
		fz_auto(fz_output_abortp) struct fz_output *out = fuzz_write(p, fz_formats[i]);
		if (!out || !fz_formats[i]->read)
			continue;
		struct fz_buf *b = fz_output_buffer(out);
		fz_profile_free(fuzz_read(fz_formats[i], b->p ? b->p : "", b->n));
	}
}
