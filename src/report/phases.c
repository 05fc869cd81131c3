/* SPDX-License-Identifier: MIT */
/* Self time by function and slot: the functions with most of it, and all others as one. A sample's
 * time is before its instant, in a trace after the start of a call.
 */
#include "report/phases.h"

#include "profile/range.h"
#include "report/table.h"

#include <math.h>

enum { SLOTS = FZ_COMPOSITION_SLOTS, SAMPLES_LEAST = 512 };

static uint32_t function_of(const struct fz_profile *p, size_t row)
{
	uint32_t stack = p->samples.stack[row];

	return stack == FZ_NONE ? FZ_NONE : p->frames[p->stacks[stack].frame].function;
}

struct cost {
	double cost;
	uint32_t function;
};

static int compare(const void *pa, const void *pb)
{
	const struct cost *a = pa, *b = pb;

	return FZ_CMP(b->cost, a->cost) ?: FZ_CMP(a->function, b->function);
}

/* Kind of each function; function_count entries, freed by the caller. */
static uint8_t *choose_kinds(struct fz_phases *ph, uint32_t metric)
{
	const struct fz_profile *p = ph->profile;
	fz_auto(fz_free_ptr) struct cost *costs =
		fz_calloc(p->function_count + 1ul, sizeof(*costs));
	uint8_t *kind = fz_calloc(p->function_count + 1ul, sizeof(*kind));
	uint32_t own = FZ_MIN(p->function_count, (uint32_t)FZ_COMPOSITION_KINDS - 1);

	for (uint32_t f = 0; f < p->function_count; f++)
		costs[f].function = f;
	for (size_t row = 0; row < p->samples.n; row++)
		if (function_of(p, row) != FZ_NONE)
			costs[function_of(p, row)].cost += (double)fz_sample_weight(p, metric, row);
	qsort(costs, p->function_count, sizeof(*costs), compare);
	memset(kind, (int)own, p->function_count);
	for (uint32_t k = 0; k < own; k++) {
		kind[costs[k].function] = (uint8_t)k;
		ph->function[k] = costs[k].function;
	}
	ph->function[own] = FZ_NONE;
	ph->kinds = own + 1;
	return kind;
}

static void spread(struct fz_phases *ph, double from, double to, double cost, size_t kind)
{
	double slot = (double)ph->end / SLOTS;
	size_t first = (size_t)FZ_MIN(FZ_MAX(from, 0) / slot, SLOTS - 1);

	if (to <= from) {
		ph->costs[first * ph->kinds + kind] += cost;
		return;
	}
	for (size_t i = first; i < SLOTS && (double)i * slot < to; i++) {
		double low = FZ_MAX(from, (double)i * slot);
		double high = FZ_MIN(to, (double)(i + 1) * slot);

		ph->costs[i * ph->kinds + kind] += cost * FZ_MAX(high - low, 0) / (to - from);
	}
}

static void add_rows(struct fz_phases *ph, uint32_t metric)
{
	const struct fz_profile *p = ph->profile;
	bool lasts = strcmp(p->metrics[metric].unit, "ns") == 0;
	fz_auto(fz_free_ptr) uint8_t *kind = choose_kinds(ph, metric);

	ph->costs = fz_calloc(SLOTS * ph->kinds, sizeof(*ph->costs));
	for (size_t row = 0; row < p->samples.n; row++) {
		double cost = (double)fz_sample_weight(p, metric, row);
		double to = (double)fz_sample_end(p, row);

		if (cost > 0 && function_of(p, row) != FZ_NONE)
			spread(ph, FZ_MAX(to - (lasts ? cost : 0), 0), FZ_MAX(to, 0), cost,
			       kind[function_of(p, row)]);
	}
}

void fz_phases_find(struct fz_phases *ret, const struct fz_profile *p, uint32_t metric)
{
	*ret = (struct fz_phases){ .profile = p };
	if (!p->samples.timed || p->run_count > 1 || p->per_round || metric >= p->metric_count ||
	    fz_profile_sample_total(p) < SAMPLES_LEAST)
		return;
	ret->end = fz_profile_end(p);
	if (ret->end < SLOTS)
		return;
	add_rows(ret, metric);
	ret->n = fz_composition_find(ret->costs, ret->kinds, ret->at);
}

void fz_phases_release(struct fz_phases *phases)
{
	free(phases->costs);
	*phases = (struct fz_phases){ .n = 0 };
}

/* ---- text ---- */

static size_t slot_of(const struct fz_phases *ph, size_t i)
{
	return i < ph->n ? ph->at[i] : SLOTS;
}

static int64_t time_of(const struct fz_phases *ph, size_t slot)
{
	return (int64_t)((__int128)ph->end * (int64_t)slot / SLOTS);
}

int64_t fz_phases_time(const struct fz_phases *phases, size_t i)
{
	return time_of(phases, slot_of(phases, i));
}

/* A kind's fraction of the time in slots [from, to). */
static double share(const struct fz_phases *ph, size_t from, size_t to, size_t kind)
{
	double own = 0, all = 0;

	for (size_t i = from * ph->kinds; i < to * ph->kinds; i++) {
		all += ph->costs[i];
		own += i % ph->kinds == kind ? ph->costs[i] : 0;
	}
	return all > 0 ? own / all : 0;
}

struct move {
	size_t kind;
	double before, after;
};

/* The kinds that gained and lost most: [0] and [1]. */
static void find_moves(const struct fz_phases *ph, size_t i, struct move ret[2])
{
	size_t from = i ? ph->at[i - 1] : 0, to = slot_of(ph, i + 1);

	ret[0] = ret[1] = (struct move){ 0 };
	for (size_t k = 0; k < ph->kinds; k++) {
		struct move m = { k, share(ph, from, ph->at[i], k), share(ph, ph->at[i], to, k) };

		if (m.after - m.before > ret[0].after - ret[0].before)
			ret[0] = m;
		if (m.after - m.before < ret[1].after - ret[1].before)
			ret[1] = m;
	}
}

static struct fz_str name_of(const struct fz_phases *ph, size_t kind)
{
	const struct fz_profile *p = ph->profile;
	uint32_t f = ph->function[kind];

	return f == FZ_NONE ? FZ_STR("others") : fz_profile_text(p, p->functions[f].name);
}

struct fz_str fz_phases_name(const struct fz_phases *phases, size_t i)
{
	struct move moves[2];

	find_moves(phases, i, moves);
	return name_of(phases, moves[0].kind);
}

void fz_phases_words(const struct fz_phases *phases, size_t i, const char *arrow,
		     struct fz_buf *out)
{
	struct move moves[2];

	find_moves(phases, i, moves);
	for (int k = 0; k < 2; k++) {
		struct fz_str name = name_of(phases, moves[k].kind);

		fz_buf_printf(out, "%s%.*s %.0f %% %s %.0f %%", k ? ", " : "",
			      (int)FZ_MIN(name.n, 200), name.p, 100 * moves[k].before, arrow,
			      100 * moves[k].after);
	}
}

/* Append a time in the format of --from, with a slot's precision. */
static void add_time(const struct fz_phases *ph, size_t slot, struct fz_buf *out)
{
	int digits = (int)FZ_MAX(0, ceil(1 - log10((double)ph->end / SLOTS / 1e9)));

	fz_buf_printf(out, "%.*fs", FZ_MIN(digits, 9), (double)time_of(ph, slot) / 1e9);
}

void fz_phases_ranges(const struct fz_phases *phases, size_t i, struct fz_buf *out)
{
	size_t ends[] = { i ? phases->at[i - 1] : 0, phases->at[i], slot_of(phases, i + 1) };

	for (int k = 0; k < 2; k++) {
		fz_buf_str(out, k ? " --head-range " : "--base-range ");
		add_time(phases, ends[k], out);
		fz_buf_char(out, '-');
		if (ends[k + 1] < SLOTS)
			add_time(phases, ends[k + 1], out);
	}
}

/* Append untrusted text, made printable. */
static void add_escaped(const struct fz_buf *text, const struct fz_style *style, struct fz_buf *out)
{
	fz_table_text(fz_buf_view(text), UINT16_MAX, style, out);
}

static void add_change(const struct fz_phases *ph, size_t i, const char *name,
		       const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf words = { 0 };
	fz_auto(fz_buf_release) struct fz_buf sentence = { 0 };
	fz_auto(fz_buf_release) struct fz_buf command = { 0 };
	char number[FZ_NUMBER_SIZE];

	fz_buf_printf(&words, "%s %s: ", i ? "At" : "The program's behaviour changed at",
		      fz_format_ns((double)fz_phases_time(ph, i), number));
	fz_phases_words(ph, i, "->", &words);
	fz_buf_char(&words, '.');
	add_escaped(&words, style, &sentence);
	fz_table_wrap(sentence.p, style, out);
	fz_buf_str(&command, "fizeau diff ");
	fz_buf_shell_word(&command, name);
	fz_buf_char(&command, ' ');
	fz_phases_ranges(ph, i, &command);
	fz_buf_str(out, "  ");
	add_escaped(&command, style, out);
	fz_buf_char(out, '\n');
}

void fz_report_phases_text(const struct fz_profile *p, const char *name,
			   const struct fz_style *style, struct fz_buf *out)
{
	struct fz_phases phases;

	fz_phases_find(&phases, p, p->default_metric);
	for (size_t i = 0; i < phases.n; i++)
		add_change(&phases, i, name, style, out);
	fz_phases_release(&phases);
}
