/* SPDX-License-Identifier: MIT */
/* Resolves names at the end of a recording.
 *
 * Every frame of an address becomes one or more frames (inlined calls), so stacks change:
 *
 *   main | libz.so.1+0x4a3f            becomes          main | deflate | longest_match
 *
 * and two addresses in the same line of a function become the same stack. The whole profile is
 * copied, table by table; samples keep their order, times and weights. Unnamed code is identified
 * by the start of its function if the unwind table has it.
 */
#include "symbol/images.h"

#include "base/buf.h"
#include "profile/speed.h"
#include "symbol/symbols.h"

#include <stdio.h>

#define UNKNOWN "[unknown]"
#define MADE "[jit]"

void fz_images_release(struct fz_images *images)
{
	for (uint32_t i = 0; i < images->n; i++) {
		free(images->list[i].module);
		fz_symbols_free(images->list[i].symbols);
		fz_image_free(images->list[i].image);
		fz_jitmap_free(images->list[i].map);
	}
	free(images->list);
	*images = (struct fz_images){ 0 };
}

static uint32_t find(const struct fz_images *images, const char *module)
{
	for (uint32_t i = 0; i < images->n; i++)
		if (strcmp(images->list[i].module, module) == 0)
			return i;
	return FZ_NONE;
}

uint32_t fz_images_add(struct fz_images *images, const char *module)
{
	uint32_t i = find(images, module);

	if (i != FZ_NONE)
		return i;
	fz_grow(images->list, images->n, images->cap);
	images->list[images->n] = (struct fz_images_entry){ .module = fz_strdup(module) };
	return images->n++;
}

uint32_t fz_images_add_image(struct fz_images *images, struct fz_image *image)
{
	uint32_t i = fz_images_add(images, fz_image_module(image));

	if (images->list[i].image)
		fz_image_free(image);
	else
		images->list[i].image = image;
	return i;
}

static struct fz_frame native_frame(struct fz_profile *p, const char *name, struct fz_str module)
{
	struct fz_function f = { .name = fz_profile_string(p, fz_str_of(name)),
				 .module = fz_profile_string(p, module),
				 .kind = FZ_KIND_NATIVE };

	return fz_frame_at(fz_profile_function(p, &f), FZ_NO_LINE);
}

static const char *file_name(const struct fz_images_entry *e)
{
	if (e->image)
		return fz_image_name(e->image);
	return e->module[0] == '/' ? fz_path_base(fz_str_of(e->module)).p : MADE;
}

/* "FILE+0xADDRESS" */
static void raw_name(struct fz_buf *out, const struct fz_images_entry *e, uint64_t address)
{
	fz_buf_printf(out, "%s+0x%llx", file_name(e), (unsigned long long)address);
}

/* ---- names ---- */

static struct fz_symbols *symbols_of(struct fz_images_entry *e)
{
	if (!e->symbols && e->image)
		e->symbols = fz_symbols_new(e->image);
	return e->symbols;
}

static uint32_t call_frame(struct fz_profile *p, const struct fz_symbols_call *call,
			   struct fz_str module)
{
	struct fz_function f = {
		.name = fz_profile_string(p, fz_str_of(call->name)),
		.file = call->file ? fz_profile_string(p, fz_str_of(call->file)) : 0,
		.module = fz_profile_string(p, module),
		.first_line = call->first_line,
		.kind = FZ_KIND_NATIVE,
	};
	struct fz_frame frame = native_frame(p, call->name, module);

	frame.function = fz_profile_function(p, &f);
	if (call->line > 0)
		frame.line = call->line;
	return fz_profile_frame(p, &frame);
}

/* Frame of unnamed code, identified by the start of its function or, if that is unknown, by its
 * file. */
static uint32_t unnamed_frame(struct fz_profile *p, struct fz_images_entry *e, uint64_t address)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	uint64_t start;
	bool file = e->image || e->module[0] == '/';

	if (e->image && fz_image_function_start(e->image, address, &start))
		raw_name(&name, e, start);
	else if (file)
		fz_buf_printf(&name, "[%s]", file_name(e));
	else
		fz_buf_str(&name, MADE);
	struct fz_frame f = native_frame(p, name.p, file ? fz_str_of(e->module) : FZ_STR(MADE));
	return fz_profile_frame(p, &f);
}

static unsigned find_calls(struct fz_images *images, struct fz_images_entry *e, uint64_t address,
			   struct fz_symbols_call *ret)
{
	bool keep = images->names && fz_names_can_cache(e->module);
	unsigned n = 0;

	if (keep && fz_names_get(images->names, e->module, address, ret, &n))
		return n;
	struct fz_symbols *s = symbols_of(e);
	if (s)
		n = fz_symbols_find(s, address, ret);
	if (images->names && n) {
		ret[0] = ret[n - 1];
		ret[0].line = 0;
		n = 1;
	}
	if (keep)
		fz_names_put(images->names, e->module, address, ret, n);
	return n;
}

uint32_t fz_images_name(struct fz_images *images, uint32_t entry, uint64_t address,
			struct fz_profile *p, uint32_t *ret)
{
	fz_assert(entry < images->n);
	struct fz_images_entry *e = &images->list[entry];
	struct fz_symbols_call calls[FZ_SYMBOLS_CALLS_MAX];
	struct fz_str made;
	unsigned n = find_calls(images, e, address, calls);
	fz_assert(n <= FZ_SYMBOLS_CALLS_MAX);

	for (unsigned i = 0; i < n; i++)
		ret[i] = call_frame(p, &calls[i], fz_str_of(e->module));
	if (n)
		return n;
	if (e->map && fz_jitmap_find(e->map, address, &made)) {
		fz_auto(fz_free_ptr) char *name = fz_strndup(made.p, made.n);
		ret[0] = call_frame(p, &(struct fz_symbols_call){ .name = name }, FZ_STR(MADE));
	} else {
		ret[0] = unnamed_frame(p, e, address);
	}
	return 1;
}

uint32_t fz_images_raw_frame(struct fz_images *images, uint32_t entry, uint64_t address,
			     struct fz_profile *p)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };

	if (entry == FZ_NONE) {
		struct fz_frame f = native_frame(p, UNKNOWN, FZ_STR(""));
		return fz_profile_frame(p, &f);
	}
	fz_assert(entry < images->n);
	struct fz_images_entry *e = &images->list[entry];
	/* The program is still writing the map of generated code. */
	if (images->eager && e->image) {
		uint32_t calls[FZ_SYMBOLS_CALLS_MAX];
		return calls[fz_images_name(images, entry, address, p, calls) - 1];
	}
	raw_name(&name, e, address);
	struct fz_frame f = native_frame(p, name.p, fz_str_of(e->module));
	return fz_profile_frame(p, &f);
}

/* ---- resolving ---- */

struct resolver {
	struct fz_images *images;
	const struct fz_profile *from;
	struct fz_profile *to;
	int64_t valid_from;
	/* from's index -> to's; FZ_NONE: not needed, or not copied yet */
	uint32_t *string, *stack, *thread;
	/* Resolved frames of each frame: number, then frames, innermost first. */
	uint32_t *chains;
	size_t chain_n, chain_cap;
	size_t *chain_of; /* of each frame of `from`: start of its chain */
};

#define NOT_NEEDED SIZE_MAX

static bool raw_address(struct fz_str name, uint64_t *ret)
{
	for (size_t i = name.n; i-- > 3;) {
		if (memcmp(name.p + i - 3, "+0x", 3) != 0)
			continue;
		uint64_t v = 0;
		size_t n = name.n - i;
		for (size_t k = i; k < name.n; k++) {
			char c = name.p[k];
			int digit = c >= '0' && c <= '9'   ? c - '0'
				    : c >= 'a' && c <= 'f' ? c - 'a' + 10
							   : -1;
			if (digit < 0)
				return false;
			v = v << 4 | (unsigned)digit;
		}
		*ret = v;
		return n > 0 && n <= 16;
	}
	return false;
}

/* The entry of a function that represents an address; FZ_NONE for other functions. */
static uint32_t entry_of(const struct resolver *r, const struct fz_function *f, uint64_t *ret)
{
	struct fz_str module = fz_profile_text(r->from, f->module);

	if (f->kind != FZ_KIND_NATIVE || f->file || !module.n ||
	    !raw_address(fz_profile_text(r->from, f->name), ret))
		return FZ_NONE;
	for (uint32_t i = 0; i < r->images->n; i++)
		if (fz_str_eq(module, fz_str_of(r->images->list[i].module)))
			return i;
	return FZ_NONE;
}

static uint32_t *nothing_yet(size_t n)
{
	uint32_t *table = fz_reallocarray(NULL, n + 1, sizeof(uint32_t));

	memset(table, 0xff, (n + 1) * sizeof(uint32_t));
	return table;
}

/* Copies a string on demand, because there are many names of addresses. */
static uint32_t string(struct resolver *r, uint32_t i)
{
	if (r->string[i] == FZ_NONE)
		r->string[i] = fz_profile_string(r->to, r->from->strings[i]);
	return r->string[i];
}

static uint32_t copy_frame(struct resolver *r, const struct fz_frame *from)
{
	const struct fz_function *old = &r->from->functions[from->function];
	struct fz_function f = *old;
	struct fz_frame frame = *from;

	f.name = string(r, old->name);
	f.file = string(r, old->file);
	f.module = string(r, old->module);
	frame.function = fz_profile_function(r->to, &f);
	return fz_profile_frame(r->to, &frame);
}

static void put_chain(struct resolver *r, const uint32_t *frames, uint32_t n)
{
	fz_push(r->chains, r->chain_n, r->chain_cap, n);
	for (uint32_t i = 0; i < n; i++) {
		fz_push(r->chains, r->chain_n, r->chain_cap, frames[i]);
	}
}

static size_t resolve_frame(struct resolver *r, uint32_t frame)
{
	const struct fz_frame *f = &r->from->frames[frame];
	uint32_t calls[FZ_SYMBOLS_CALLS_MAX] = { 0 }, n = 1;
	size_t at = r->chain_n;
	uint64_t address;
	uint32_t entry = entry_of(r, &r->from->functions[f->function], &address);

	if (entry != FZ_NONE)
		n = fz_images_name(r->images, entry, address, r->to, calls);
	else
		calls[0] = copy_frame(r, f);
	put_chain(r, calls, n);
	return at;
}

static bool is_valid(const struct resolver *r, size_t sample)
{
	return r->from->samples.time[sample] >= r->valid_from;
}

/* Marks the stacks needed by samples in one pass backwards, since callers precede callees. */
static void mark_stacks(struct resolver *r)
{
	const struct fz_profile *p = r->from;

	for (size_t i = 0; i < p->samples.n; i++)
		if (is_valid(r, i) && p->samples.stack[i] != FZ_NONE)
			r->stack[p->samples.stack[i]] = 0;
	for (uint32_t i = p->stack_count; i-- > 0;)
		if (r->stack[i] != FZ_NONE && p->stacks[i].parent != FZ_NONE)
			r->stack[p->stacks[i].parent] = 0;
}

struct asked {
	uint32_t entry;
	uint64_t address;
};

static int by_entry(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;

	return FZ_CMP(x->entry, y->entry) ?: FZ_CMP(x->address, y->address);
}

/* Caches all names, file by file. */
static void find_all_names(struct resolver *r)
{
	struct fz_symbols_call calls[FZ_SYMBOLS_CALLS_MAX];
	const struct fz_profile *p = r->from;
	struct asked *list = fz_calloc(FZ_MAX(p->stack_count, 1), sizeof(*list));
	size_t n = 0;

	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct fz_frame *f = &p->frames[p->stacks[i].frame];
		if (r->stack[i] == FZ_NONE)
			continue;
		list[n].entry = entry_of(r, &p->functions[f->function], &list[n].address);
		n += list[n].entry != FZ_NONE;
	}
	qsort(list, n, sizeof(*list), by_entry);
	for (size_t i = 0; i < n; i++) {
		struct fz_images_entry *e = &r->images->list[list[i].entry];
		if (fz_names_can_cache(e->module))
			find_calls(r->images, e, list[i].address, calls);
		if (i + 1 == n || list[i + 1].entry != list[i].entry)
			fz_symbols_free(fz_steal(e->symbols));
	}
	free(list);
}

static void copy_stacks(struct resolver *r)
{
	const struct fz_profile *p = r->from;

	r->chain_of = fz_reallocarray(NULL, (size_t)p->frame_count + 1, sizeof(*r->chain_of));
	for (uint32_t i = 0; i < p->frame_count; i++)
		r->chain_of[i] = NOT_NEEDED;
	mark_stacks(r);
	if (r->images->names)
		find_all_names(r);
	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct fz_stack *s = &p->stacks[i];
		if (r->stack[i] == FZ_NONE)
			continue;
		if (r->chain_of[s->frame] == NOT_NEEDED)
			r->chain_of[s->frame] = resolve_frame(r, s->frame);
		const uint32_t *chain = &r->chains[r->chain_of[s->frame]];
		uint32_t stack = s->parent == FZ_NONE ? FZ_NONE : r->stack[s->parent];
		for (uint32_t k = chain[0]; k > 0; k--)
			stack = fz_profile_stack(r->to, stack, chain[k]);
		r->stack[i] = stack;
	}
}

static uint32_t thread(struct resolver *r, uint32_t i)
{
	if (r->thread[i] == FZ_NONE) {
		struct fz_thread t = r->from->threads[i];
		t.name = string(r, t.name);
		r->thread[i] = fz_profile_thread(r->to, &t);
	}
	return r->thread[i];
}

/* Copies everything except threads, functions, frames, stacks and samples. */
static void copy_rest(struct resolver *r)
{
	const struct fz_profile *p = r->from;
	struct fz_profile *to = r->to;

	for (uint32_t i = 0; i < p->run_count; i++)
		fz_profile_add_run(to, &p->runs[i]);
	for (uint32_t i = 0; i < p->metric_count; i++) {
		const struct fz_metric *m = &p->metrics[i];
		fz_profile_add_metric(to, fz_str_of(m->name), fz_str_of(m->unit), m->each,
				      m->column != NULL);
	}
	to->default_metric = p->default_metric;
	to->recording = p->recording;
	to->quality = p->quality;
	for (size_t i = 0; i < p->speed.n; i++)
		fz_speed_add(&to->speed, &p->speed.probes[i]);
	for (uint32_t i = 0; i < p->fact_count; i++) {
		fz_auto(fz_free_ptr) char *key =
			fz_strndup(p->strings[p->facts[i].key].p, p->strings[p->facts[i].key].n);
		fz_profile_set_fact(to, key, fz_profile_text(p, p->facts[i].value));
	}
	for (uint32_t i = 0; i < p->source_count; i++)
		fz_profile_add_source(to, string(r, p->sources[i].file),
				      (struct fz_str){ p->sources[i].text, p->sources[i].size });
}

static void copy_samples(struct resolver *r)
{
	const struct fz_samples *from = &r->from->samples;

	r->to->samples.ordered = from->ordered;
	r->to->samples.timed = from->timed;
	r->to->samples.spans = from->spans;
	for (size_t i = 0; i < from->n; i++) {
		int64_t weights[FZ_METRICS_MAX];
		uint32_t n = 0;
		if (!is_valid(r, i))
			continue;
		struct fz_sample s = {
			.run = from->run ? from->run[i] : 0,
			.thread = thread(r, from->thread[i]),
			.stack = from->stack[i] == FZ_NONE ? FZ_NONE : r->stack[from->stack[i]],
			.time = from->time[i],
			.status = from->status[i],
			.count = from->count ? from->count[i] : 1,
		};
		for (uint32_t k = 0; k < r->from->metric_count; k++)
			if (r->from->metrics[k].column)
				weights[n++] = r->from->metrics[k].column[i];
		fz_profile_add_sample(r->to, &s, n ? weights : NULL);
	}
}

struct fz_profile *fz_images_resolve(struct fz_images *images, struct fz_profile *p,
				     int64_t valid_from)
{
	struct resolver r = { .images = images,
			      .from = p,
			      .to = fz_profile_new(),
			      .valid_from = valid_from,
			      .string = nothing_yet(p->string_count),
			      .stack = nothing_yet(p->stack_count),
			      .thread = nothing_yet(p->thread_count) };

	copy_rest(&r);
	copy_stacks(&r);
	copy_samples(&r);
	free(r.string);
	free(r.stack);
	free(r.thread);
	free(r.chains);
	free(r.chain_of);
	fz_profile_free(p);
	return r.to;
}
