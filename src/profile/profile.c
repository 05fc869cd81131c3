/* SPDX-License-Identifier: MIT */
/* Interning tables of the model; see the picture in profile.h.
 *
 * Strings, functions, frames and threads are found by the hash of their content: the map's key is
 * that hash, and on the rare collision the key is perturbed until the slot is empty or equal.
 * Stacks have an exact 64-bit key, (parent, frame).
 */
#include "profile.h"

#include "base/io.h"
#include "profile/callgraph_data.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

const char *const fz_mode_names[] = {
	[FZ_MODE_UNKNOWN] = "", [FZ_MODE_WALL] = "wall", [FZ_MODE_CPU] = "cpu",
	[FZ_MODE_GIL] = "gil",  [FZ_MODE_ALL] = "all",   [FZ_MODE_EXCEPTION] = "exception",
};

const char *const fz_reject_names[FZ_REJECTS] = {
	[FZ_REJECT_CHANGED] = "changed while read",
	[FZ_REJECT_ROOT] = "root missing",
	[FZ_REJECT_UNMAPPED] = "memory not mapped",
	[FZ_REJECT_CORRUPT] = "impossible value",
};

const struct fz_limits fz_limits_default = {
	.strings = 1u << 26,
	.functions = 1u << 26,
	.frames = 1u << 27,
	.stacks = 1u << 28,
	.threads = 1u << 22,
	.samples = 1ull << 33,
	.free_samples = 1ull << 25,
	.string_bytes = 4ull << 30,
};

struct fz_profile *fz_profile_new(void)
{
	struct fz_profile *p = fz_calloc(1, sizeof(*p));

	p->limits = &fz_limits_default;
	p->samples.ordered = true;
	p->samples.timed = true;
	p->recording.error_rate = __builtin_nan("");
	p->recording.missed_rate = __builtin_nan("");
	p->recording.achieved_hz = __builtin_nan("");
	fz_profile_string(p, FZ_STR(""));
	return p;
}

void fz_profile_free(struct fz_profile *p)
{
	if (!p)
		return;
	struct fz_samples *s = &p->samples;
	void *arrays[] = { p->strings,    p->functions, p->frames,    p->stacks, p->threads,
			   p->runs,       p->facts,     p->sources,   s->run,    s->thread,
			   s->stack,      s->time,      s->status,    s->count,  p->speed.probes,
			   p->wakes.list, s->label,     p->label_sets };
	for (size_t i = 0; i < FZ_ARRAY_LEN(arrays); i++)
		free(arrays[i]);
	for (uint32_t i = 0; i < p->metric_count; i++)
		free(p->metrics[i].column);
	fz_callgraph_free(p->callgraph);
	fz_map_release(&p->string_map);
	fz_map_release(&p->function_map);
	fz_map_release(&p->frame_map);
	fz_map_release(&p->stack_map);
	fz_map_release(&p->thread_map);
	fz_map_release(&p->label_map);
	fz_arena_release(&p->arena);
	free(p);
}

void fz_profile_freep(struct fz_profile **p)
{
	fz_profile_free(*p);
}

/* Memory per entry of a map, which is half full on average and copied as it grows. */
enum { SLOT_BYTES = 48, SAMPLE_BYTES = 24 };

bool fz_profile_takes(struct fz_profile *p, uint64_t bytes)
{
	if (!p->input || fz_input_charge(p->input, bytes))
		return true;
	p->over_limit = true;
	return false;
}

/* Find the slot for content with this hash: either empty or holding equal content. `equal` sees
 * candidates one by one; different content with the same hash moves on to a derived key. */
#define FIND_SLOT(map, hash, candidate, equal)                    \
	({                                                        \
		uint64_t find_key = (hash);                       \
		uint32_t *find_slot;                              \
		for (;;) {                                        \
			find_slot = fz_map_slot((map), find_key); \
			uint32_t candidate = *find_slot;          \
			if (candidate == FZ_NONE || (equal))      \
				break;                            \
			find_key = fz_hash64(find_key + 1);       \
		}                                                 \
		find_slot;                                        \
	})

/* Whether a table is at its limit. If so, sets the slot that was made for a new entry to 0. */
static bool is_full(struct fz_profile *p, uint64_t count, uint64_t limit, uint32_t *slot)
{
	if (count < limit)
		return false;
	p->over_limit = true;
	*slot = 0;
	return true;
}

uint32_t fz_profile_string(struct fz_profile *p, struct fz_str s)
{
	uint32_t *slot =
		FIND_SLOT(&p->string_map, fz_map_hash(s.p, s.n), i, fz_str_eq(p->strings[i], s));

	if (*slot != FZ_NONE || is_full(p, p->arena.bytes + s.n, p->limits->string_bytes, slot) ||
	    is_full(p, p->string_count, p->limits->strings, slot))
		return *slot;
	fz_profile_takes(p, s.n + sizeof(s) + SLOT_BYTES);
	*slot = p->string_count;
	fz_grow(p->strings, p->string_count, p->string_cap);
	p->strings[p->string_count] = (struct fz_str){ fz_arena_strndup(&p->arena, s.p, s.n), s.n };
	return p->string_count++;
}

static bool same_function(const struct fz_function *a, const struct fz_function *b)
{
	return a->name == b->name && a->file == b->file && a->module == b->module &&
	       a->first_line == b->first_line && a->kind == b->kind;
}

uint32_t fz_profile_function(struct fz_profile *p, const struct fz_function *f)
{
	const uint32_t key[] = { f->name, f->file, f->module, (uint32_t)f->first_line, f->kind };
	uint64_t hash = fz_map_hash(key, sizeof(key));
	fz_assert((f->name < p->string_count && f->file < p->string_count &&
		   f->module < p->string_count) ||
		  p->over_limit);
	uint32_t *slot = FIND_SLOT(&p->function_map, hash, i, same_function(&p->functions[i], f));

	if (*slot != FZ_NONE || is_full(p, p->function_count, p->limits->functions, slot))
		return *slot;
	fz_profile_takes(p, sizeof(*p->functions) + SLOT_BYTES);
	*slot = p->function_count;
	fz_grow(p->functions, p->function_count, p->function_cap);
	p->functions[p->function_count] = *f;
	return p->function_count++;
}

static bool same_frame(const struct fz_frame *a, const struct fz_frame *b)
{
	return a->function == b->function && a->line == b->line && a->end_line == b->end_line &&
	       a->column == b->column && a->end_column == b->end_column && a->opcode == b->opcode;
}

uint32_t fz_profile_frame(struct fz_profile *p, const struct fz_frame *f)
{
	const uint32_t key[] = {
		f->function,         (uint32_t)f->line,       (uint32_t)f->end_line,
		(uint32_t)f->column, (uint32_t)f->end_column, (uint32_t)f->opcode
	};
	uint64_t hash = fz_map_hash(key, sizeof(key));
	fz_assert(f->function < p->function_count || p->over_limit);
	uint32_t *slot = FIND_SLOT(&p->frame_map, hash, i, same_frame(&p->frames[i], f));

	if (*slot != FZ_NONE || is_full(p, p->frame_count, p->limits->frames, slot))
		return *slot;
	fz_profile_takes(p, sizeof(*p->frames) + SLOT_BYTES);
	*slot = p->frame_count;
	fz_grow(p->frames, p->frame_count, p->frame_cap);
	p->frames[p->frame_count] = *f;
	return p->frame_count++;
}

uint32_t fz_profile_frame_named(struct fz_profile *p, struct fz_str name, struct fz_str file,
				int32_t line, enum fz_kind kind)
{
	struct fz_function function = {
		.name = fz_profile_string(p, name),
		.file = fz_profile_string(p, file),
		.kind = (uint8_t)kind,
	};
	struct fz_frame frame = fz_frame_at(fz_profile_function(p, &function), line);

	return fz_profile_frame(p, &frame);
}

uint32_t fz_profile_stack(struct fz_profile *p, uint32_t parent, uint32_t frame)
{
	uint32_t *slot = fz_map_slot(&p->stack_map, FZ_KEY(parent, frame));

	fz_assert(frame < p->frame_count || p->over_limit);
	fz_assert(parent == FZ_NONE || parent < p->stack_count || p->over_limit);
	if (*slot != FZ_NONE || is_full(p, p->stack_count, p->limits->stacks, slot))
		return *slot;
	fz_profile_takes(p, sizeof(*p->stacks) + SLOT_BYTES);
	*slot = p->stack_count;
	fz_grow(p->stacks, p->stack_count, p->stack_cap);
	uint32_t depth = parent == FZ_NONE ? 1 : p->stacks[parent].depth + 1;
	p->stacks[p->stack_count] = (struct fz_stack){ parent, frame, depth };
	return p->stack_count++;
}

/* Returns 1 for each stack with samples, directly or in callees, else 0. Callers have lower
 * indices. */
static uint32_t *mark_used(const struct fz_profile *p)
{
	uint32_t *used = fz_calloc(p->stack_count + 1ul, sizeof(*used));

	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] != FZ_NONE)
			used[p->samples.stack[row]] = 1;
	for (uint32_t i = p->stack_count; i-- > 0;)
		if (used[i] && p->stacks[i].parent != FZ_NONE)
			used[p->stacks[i].parent] = 1;
	return used;
}

void fz_profile_keep_used(struct fz_profile *p)
{
	fz_auto(fz_free_ptr) uint32_t *now = mark_used(p); /* later the new index plus 1 */
	uint32_t n = 0;

	fz_map_release(&p->stack_map);
	for (uint32_t i = 0; i < p->stack_count; i++) {
		struct fz_stack s = p->stacks[i];

		if (!now[i])
			continue;
		fz_assert(s.parent == FZ_NONE || s.parent < i);
		if (s.parent != FZ_NONE)
			s.parent = now[s.parent] - 1;
		fz_map_put(&p->stack_map, FZ_KEY(s.parent, s.frame), n);
		p->stacks[n] = s;
		now[i] = ++n;
	}
	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] != FZ_NONE)
			p->samples.stack[row] = now[p->samples.stack[row]] - 1;
	p->stack_count = n;
}

static bool same_thread(const struct fz_thread *a, const struct fz_thread *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->interp == b->interp;
}

uint32_t fz_profile_thread(struct fz_profile *p, const struct fz_thread *t)
{
	const uint64_t key[] = { t->pid, t->tid, t->interp };
	uint64_t hash = fz_map_hash(key, sizeof(key));
	uint32_t *slot = FIND_SLOT(&p->thread_map, hash, i, same_thread(&p->threads[i], t));

	if (*slot != FZ_NONE) {
		struct fz_thread *known = &p->threads[*slot];
		known->is_main |= t->is_main;
		if (t->name)
			known->name = t->name;
		return *slot;
	}
	if (is_full(p, p->thread_count, p->limits->threads, slot))
		return *slot;
	fz_profile_takes(p, sizeof(*p->threads) + SLOT_BYTES);
	*slot = p->thread_count;
	fz_grow(p->threads, p->thread_count, p->thread_cap);
	p->threads[p->thread_count] = *t;
	return p->thread_count++;
}

int fz_profile_check(const struct fz_profile *p, struct fz_error *err)
{
	for (uint32_t m = 0; m < p->metric_count; m++)
		if (p->magnitude[m] > INT64_MAX)
			return fz_fail(err, FZ_ELIMIT, "the values of '%s' add up to 2^63 or more",
				       p->metrics[m].name);
	if (p->over_limit)
		return fz_fail(err, FZ_ELIMIT, "too many strings, frames or samples");
	return 0;
}

struct fz_str fz_module_file(struct fz_str module)
{
	enum { BUILD_ID_LEAST = 8 };
	size_t digits = 0;

	while (digits < module.n && isxdigit((unsigned char)module.p[module.n - 1 - digits]))
		digits++;
	if (digits >= BUILD_ID_LEAST && digits + 1 < module.n &&
	    module.p[module.n - 1 - digits] == ' ')
		module.n -= digits + 1;
	return module;
}

/* Reports print names and units of metrics as they are, and files may contain any. */
static const char *printable(struct fz_profile *p, struct fz_str s)
{
	char text[1024];

	return fz_arena_strndup(&p->arena, text, fz_str_printable(s.p, s.n, text, sizeof(text)));
}

uint32_t fz_profile_add_metric(struct fz_profile *p, struct fz_str name, struct fz_str unit,
			       int64_t each, bool has_column)
{
	fz_assert(p->samples.n == 0 && p->metric_count < FZ_METRICS_MAX);
	p->metrics[p->metric_count] = (struct fz_metric){
		.name = printable(p, name),
		.unit = printable(p, unit),
		.each = each,
		.column = has_column ? fz_malloc(sizeof(int64_t)) : NULL,
	};
	return p->metric_count++;
}

uint32_t fz_profile_count_samples(struct fz_profile *p)
{
	if (p->metric_count >= FZ_METRICS_MAX)
		return FZ_NONE;
	p->metrics[p->metric_count] =
		(struct fz_metric){ .name = "samples", .unit = "count", .each = 1 };
	return p->metric_count++;
}

uint32_t fz_profile_find_metric(const struct fz_profile *p, struct fz_str name)
{
	for (uint32_t i = 0; i < p->metric_count; i++)
		if (fz_str_eq(fz_str_of(p->metrics[i].name), name))
			return i;
	return FZ_NONE;
}

void fz_profile_add_run(struct fz_profile *p, const struct fz_run *run)
{
	fz_push(p->runs, p->run_count, p->run_cap, *run);
}

static void grow_samples(struct fz_profile *p)
{
	struct fz_samples *s = &p->samples;

	size_t more = s->cap ? s->cap / 2 : 1024;

	fz_profile_takes(p, more * (SAMPLE_BYTES + p->metric_count * sizeof(int64_t)));
	s->cap += more;
	s->thread = fz_reallocarray(s->thread, s->cap, sizeof(*s->thread));
	s->stack = fz_reallocarray(s->stack, s->cap, sizeof(*s->stack));
	s->time = fz_reallocarray(s->time, s->cap, sizeof(*s->time));
	s->status = fz_reallocarray(s->status, s->cap, sizeof(*s->status));
	if (s->run)
		s->run = fz_reallocarray(s->run, s->cap, sizeof(*s->run));
	if (s->count)
		s->count = fz_reallocarray(s->count, s->cap, sizeof(*s->count));
	if (s->label)
		s->label = fz_reallocarray(s->label, s->cap, sizeof(*s->label));
	for (uint32_t m = 0; m < p->metric_count; m++)
		if (p->metrics[m].column)
			p->metrics[m].column =
				fz_reallocarray(p->metrics[m].column, s->cap, sizeof(int64_t));
}

/* Creates optional columns with the first row that needs them. */
static void add_optional_columns(struct fz_samples *s, const struct fz_sample *sample)
{
	if (sample->run && !s->run)
		s->run = fz_calloc(s->cap, sizeof(*s->run));
	if (sample->count > 1 && !s->count) {
		s->count = fz_reallocarray(NULL, s->cap, sizeof(*s->count));
		for (size_t i = 0; i < s->n; i++)
			s->count[i] = 1;
	}
	if (sample->labels.n && !s->label) {
		s->label = fz_reallocarray(NULL, s->cap, sizeof(*s->label));
		for (size_t i = 0; i < s->n; i++)
			s->label[i] = FZ_NONE;
	}
}

static uint32_t label_set(struct fz_profile *p, struct fz_str s)
{
	uint32_t *slot =
		FIND_SLOT(&p->label_map, fz_map_hash(s.p, s.n), i, fz_str_eq(p->label_sets[i], s));

	if (*slot != FZ_NONE || is_full(p, p->label_set_count, p->limits->strings, slot))
		return *slot;
	fz_profile_takes(p, s.n + sizeof(s) + SLOT_BYTES);
	*slot = p->label_set_count;
	fz_grow(p->label_sets, p->label_set_count, p->label_set_cap);
	p->label_sets[p->label_set_count] =
		(struct fz_str){ fz_arena_strndup(&p->arena, s.p, s.n), s.n };
	return p->label_set_count++;
}

/* Ensures that no sum over samples overflows int64_t, whatever a file contains, so that code that
 * adds weights need not check. False if this sample could cause an overflow. */
static bool count_magnitude(struct fz_profile *p, uint32_t count, const int64_t *weights)
{
	bool fits = true;

	for (uint32_t m = 0; m < p->metric_count; m++) {
		const struct fz_metric *metric = &p->metrics[m];
		int64_t w = metric->column ? *weights++ : metric->each;
		uint64_t size = w < 0 ? -(uint64_t)w : (uint64_t)w;
		bool over = !metric->column && __builtin_mul_overflow(size, count, &size);
		over |= __builtin_add_overflow(p->magnitude[m], size, &p->magnitude[m]);
		p->magnitude[m] = over ? UINT64_MAX : p->magnitude[m];
		fits &= p->magnitude[m] <= INT64_MAX;
	}
	return fits;
}

void fz_profile_add_sample(struct fz_profile *p, const struct fz_sample *sample,
			   const int64_t *weights)
{
	struct fz_samples *s = &p->samples;
	uint32_t count = FZ_MAX(sample->count, 1);

	if (s->n >= p->limits->samples || !count_magnitude(p, count, weights)) {
		p->over_limit = true;
		return;
	}
	if (s->n == s->cap)
		grow_samples(p);
	add_optional_columns(s, sample);
	size_t row = s->n++;
	s->thread[row] = sample->thread;
	s->stack[row] = sample->stack;
	s->time[row] = sample->time;
	s->status[row] = sample->status;
	if (s->run)
		s->run[row] = sample->run;
	if (s->count)
		s->count[row] = count;
	if (s->label)
		s->label[row] = sample->labels.n ? label_set(p, sample->labels) : FZ_NONE;
	for (uint32_t m = 0, w = 0; m < p->metric_count; m++)
		if (p->metrics[m].column)
			p->metrics[m].column[row] = weights[w++];
}

bool fz_profile_has_values(const struct fz_profile *p, uint32_t metric)
{
	for (size_t row = 0; row < p->samples.n; row++)
		if (fz_sample_weight(p, metric, row))
			return true;
	return false;
}

uint64_t fz_profile_sample_total(const struct fz_profile *p)
{
	uint64_t total = 0;

	if (!p->samples.count)
		return p->samples.n;
	for (size_t row = 0; row < p->samples.n; row++)
		total += p->samples.count[row];
	return total;
}

static struct fz_fact *find_fact(const struct fz_profile *p, const char *key)
{
	for (uint32_t i = 0; i < p->fact_count; i++)
		if (fz_str_eq(p->strings[p->facts[i].key], fz_str_of(key)))
			return &p->facts[i];
	return NULL;
}

void fz_profile_set_fact(struct fz_profile *p, const char *key, struct fz_str value)
{
	struct fz_fact *fact = find_fact(p, key);

	if (fact && value.n == 0) {
		size_t after = (size_t)(p->facts + --p->fact_count - fact);
		memmove(fact, fact + 1, after * sizeof(*fact));
		return;
	}
	if (value.n == 0)
		return;
	if (!fact) {
		fz_grow(p->facts, p->fact_count, p->fact_cap);
		fact = &p->facts[p->fact_count++];
		fact->key = fz_profile_string(p, fz_str_of(key));
	}
	fact->value = fz_profile_string(p, value);
}

void fz_profile_note(struct fz_profile *p, const char *fmt, ...)
{
	struct fz_str before = fz_profile_fact(p, "notes");
	char note[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(note, sizeof(note), fmt, args);
	va_end(args);
	fz_auto(fz_free_ptr) char *notes =
		fz_asprintf("%.*s%s%s", (int)before.n, before.p, before.n ? "; " : "", note);
	fz_profile_set_fact(p, "notes", fz_str_of(notes));
}

struct fz_str fz_profile_fact(const struct fz_profile *p, const char *key)
{
	const struct fz_fact *fact = find_fact(p, key);

	return fact ? p->strings[fact->value] : FZ_STR("");
}

bool fz_profile_is_ours(const struct fz_profile *p)
{
	return p->quality.known || fz_profile_fact(p, "fizeau").n > 0;
}

void fz_profile_add_source(struct fz_profile *p, uint32_t file, struct fz_str text)
{
	if (fz_profile_source(p, file) || text.n >= UINT32_MAX)
		return;
	if (!fz_profile_takes(p, text.n))
		return;
	fz_push(p->sources, p->source_count, p->source_cap,
		(struct fz_source_text){
			.file = file,
			.size = (uint32_t)text.n,
			.text = fz_arena_strndup(&p->arena, text.p, text.n),
		});
}

const struct fz_source_text *fz_profile_source(const struct fz_profile *p, uint32_t file)
{
	for (uint32_t i = 0; i < p->source_count; i++)
		if (p->sources[i].file == file)
			return &p->sources[i];
	return NULL;
}

/* ---- wakes ---- */

void fz_wakes_add(struct fz_wakes *w, const struct fz_wake *wake)
{
	fz_push(w->list, w->n, w->cap, *wake);
}

void fz_wakes_keep_range(struct fz_wakes *w, int64_t from, int64_t to)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->n; i++) {
		struct fz_wake wake = w->list[i];

		if (wake.time < from || wake.time > to)
			continue;
		wake.time -= from;
		w->list[kept++] = wake;
	}
	w->n = kept;
}
