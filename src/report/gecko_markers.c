/* SPDX-License-Identifier: MIT */
/* Intervals in which a thread held the interpreter's lock, ran on a CPU, collected garbage ...
 *
 *   samples   |  G   G   G   .   .   G        G: status has the bit
 *   markers   |  [Has GIL   ][No GIL][Has ...
 *
 * A state begins with the first sample that has it and ends with the first that does not. A state
 * that was not recorded has no marker (in wall-clock recordings, whether the thread ran).
 */
#include "report/gecko_writer.h"

static const struct {
	const char *name;
	enum fz_gecko_category category;
} kinds[FZ_GECKO_MARKERS] = {
	[FZ_GECKO_HAS_GIL] = { "Has GIL", FZ_GECKO_GIL },
	[FZ_GECKO_NO_GIL] = { "No GIL", FZ_GECKO_GIL },
	[FZ_GECKO_WAITS_FOR_GIL] = { "Waiting for GIL", FZ_GECKO_GIL },
	[FZ_GECKO_ON_CPU] = { "On CPU", FZ_GECKO_CPU },
	[FZ_GECKO_OFF_CPU] = { "Off CPU", FZ_GECKO_CPU },
	[FZ_GECKO_PYTHON_CODE] = { "Python Code", FZ_GECKO_CODE_TYPE },
	[FZ_GECKO_NATIVE_CODE] = { "Native Code", FZ_GECKO_CODE_TYPE },
	[FZ_GECKO_HAS_EXCEPTION] = { "Has Exception", FZ_GECKO_EXCEPTION },
	[FZ_GECKO_NO_EXCEPTION] = { "No Exception", FZ_GECKO_EXCEPTION },
	[FZ_GECKO_COLLECTING] = { "GC Collecting", FZ_GECKO_GC },
};

const char *fz_gecko_marker_name(enum fz_gecko_marker marker)
{
	return kinds[marker].name;
}

enum fz_gecko_category fz_gecko_marker_category(enum fz_gecko_marker marker)
{
	return kinds[marker].category;
}

void fz_gecko_known_init(struct fz_gecko_known *k, const struct fz_profile *p)
{
	*k = (struct fz_gecko_known){
		.collecting = fz_calloc(p->stack_count + 1ul, sizeof(*k->collecting)),
	};
	for (size_t row = 0; row < p->samples.n; row++) {
		uint8_t status = p->samples.status[row];
		k->status |= (status & ~FZ_STATUS_MAIN_THREAD) != 0;
		k->cpu |= (status & FZ_STATUS_ON_CPU) && !(status & FZ_STATUS_UNKNOWN);
	}
	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct fz_stack *s = &p->stacks[i];
		const struct fz_function *f = &p->functions[p->frames[s->frame].function];
		k->collecting[i] = fz_str_eq(p->strings[f->name], FZ_STR("<GC>")) ||
				   (s->parent != FZ_NONE && k->collecting[s->parent]);
	}
}

void fz_gecko_known_release(struct fz_gecko_known *k)
{
	free(k->collecting);
}

/* Markers of a sample's states, one bit each. */
static unsigned states_of(const struct fz_gecko_known *k, uint8_t status, uint32_t stack)
{
	bool gil = status & FZ_STATUS_HAS_GIL, cpu = status & FZ_STATUS_ON_CPU;
	unsigned states = 0;

	if (k->status) {
		states |= 1u << (gil ? FZ_GECKO_HAS_GIL : FZ_GECKO_NO_GIL);
		states |= 1u << (status & FZ_STATUS_HAS_EXCEPTION ? FZ_GECKO_HAS_EXCEPTION
								  : FZ_GECKO_NO_EXCEPTION);
		if (status & FZ_STATUS_GIL_REQUESTED)
			states |= 1u << FZ_GECKO_WAITS_FOR_GIL;
		if (gil || cpu)
			states |= 1u << (gil ? FZ_GECKO_PYTHON_CODE : FZ_GECKO_NATIVE_CODE);
	}
	if (k->cpu && !(status & FZ_STATUS_UNKNOWN))
		states |= 1u << (cpu ? FZ_GECKO_ON_CPU : FZ_GECKO_OFF_CPU);
	if (stack != FZ_NONE && k->collecting[stack])
		states |= 1u << FZ_GECKO_COLLECTING;
	return states;
}

struct intervals {
	struct fz_gecko_interval *list;
	size_t n, cap;
	int64_t since[FZ_GECKO_MARKERS];
};

static void change_states(struct intervals *v, unsigned old, unsigned new, int64_t now)
{
	for (unsigned i = 0; i < FZ_GECKO_MARKERS; i++) {
		if (!((old ^ new) >> i & 1))
			continue;
		if (new >> i & 1) {
			v->since[i] = now;
			continue;
		}
		fz_push(v->list, v->n, v->cap,
			(struct fz_gecko_interval){ (uint8_t)i, v->since[i], now });
	}
}

static int compare_intervals(const void *pa, const void *pb)
{
	const struct fz_gecko_interval *a = pa, *b = pb;

	return FZ_CMP(a->from, b->from) ?: FZ_CMP(a->marker, b->marker);
}

struct fz_gecko_interval *fz_gecko_intervals(const struct fz_profile *p,
					     const struct fz_gecko_known *k, const size_t *rows,
					     const int64_t *times, size_t n, int64_t end,
					     size_t *ret_n)
{
	struct intervals v = { 0 };
	unsigned states = 0;

	for (size_t i = 0; i < n; i++) {
		if (p->samples.status[rows[i]] & FZ_STATUS_BESIDE)
			continue;
		unsigned now = states_of(k, p->samples.status[rows[i]], p->samples.stack[rows[i]]);
		change_states(&v, states, now, times[i]);
		states = now;
	}
	change_states(&v, states, 0, end);
	if (v.n)
		qsort(v.list, v.n, sizeof(*v.list), compare_intervals);
	*ret_n = v.n;
	return v.list;
}

static bool same_step(const struct fz_profile *p, uint32_t a, uint32_t b)
{
	if (a == FZ_NONE || b == FZ_NONE)
		return a == b;
	const struct fz_frame *fa = &p->frames[a], *fb = &p->frames[b];
	return fa->function == fb->function && fa->opcode == fb->opcode && fa->line == fb->line &&
	       fa->column == fb->column;
}

struct fz_gecko_step *fz_gecko_steps(const struct fz_profile *p, const size_t *rows,
				     const int64_t *times, size_t n, int64_t end, size_t *ret_n)
{
	struct fz_gecko_step *steps = NULL;
	uint32_t at = FZ_NONE;
	int64_t since = 0;
	size_t count = 0, cap = 0;

	for (size_t i = 0; i <= n; i++) {
		uint32_t stack = i < n ? p->samples.stack[rows[i]] : FZ_NONE;
		uint32_t frame = stack == FZ_NONE ? FZ_NONE : p->stacks[stack].frame;
		int64_t now = i < n ? times[i] : end;
		if (i < n && (stack == FZ_NONE || same_step(p, at, frame)))
			continue;
		if (at != FZ_NONE && p->frames[at].opcode != FZ_NO_OPCODE) {
			fz_push(steps, count, cap, (struct fz_gecko_step){ at, since, now });
		}
		at = frame;
		since = now;
	}
	*ret_n = count;
	return steps;
}
