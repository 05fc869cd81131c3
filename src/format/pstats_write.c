/* SPDX-License-Identifier: MIT */
/* Writes files for pstats.Stats(FILE): one marshalled dict.
 *
 *   {(file, line, name): (cc, nc, tt, ct, {(file, line, name) of a caller: (cc, nc, tt, ct)})}
 *
 *   cc  samples with the function innermost      tt  its own time in seconds
 *   nc  samples with it on the stack             ct  its time including callees
 *
 * like CPython's sampling profiler. The mark {("__sampled__",): True}, which makes pstats print
 * samples, is written if the program ran on 3.15 or newer, because older versions of pstats fail on
 * it. Callers are tuples, which every version and tool understands; CPython writes bare counts.
 *
 * If the profile has a recorded call graph, its values are written: calls instead of samples (for a
 * caller the two counts are swapped, as in cProfile), and bare counts where the cost of calls is
 * unknown.
 *
 * The marshal codes used are those of version 2, which every Python reads. The format stores
 * seconds: samples are multiplied by their interval, other metrics are refused.
 */
#include "format.h"

#include "format/metric_fit.h"
#include "profile/callgraph.h"
#include "profile/places.h"

struct writer {
	const struct fz_profile *p;
	struct fz_output *out;
	struct fz_places places;
	struct fz_place_call *calls; /* by callee */
	size_t call_count;
	bool bare;   /* calls are counts, self_samples */
	double unit; /* seconds per unit of weight */
};

static void put_u32(struct writer *w, uint32_t v)
{
	uint8_t b[4] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) };

	fz_output_add(w->out, b, sizeof(b));
}

static void put_code(struct writer *w, char code)
{
	fz_output_add(w->out, &code, 1);
}

static void put_tuple(struct writer *w, uint32_t n)
{
	put_code(w, '(');
	put_u32(w, n);
}

/* Numbers beyond 31 bits are written as digits of 15 bits. */
static void put_int(struct writer *w, uint64_t v)
{
	if (v <= INT32_MAX) {
		put_code(w, 'i');
		put_u32(w, (uint32_t)v);
		return;
	}
	uint32_t digits = 0;
	for (uint64_t rest = v; rest; rest >>= 15)
		digits++;
	put_code(w, 'l');
	put_u32(w, digits);
	for (; v; v >>= 15) {
		uint8_t b[2] = { (uint8_t)v, (uint8_t)(v >> 8 & 0x7f) };
		fz_output_add(w->out, b, sizeof(b));
	}
}

static void put_double(struct writer *w, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_code(w, 'g');
	put_u32(w, (uint32_t)bits);
	put_u32(w, (uint32_t)(bits >> 32));
}

/* Python refuses strings other than UTF-8, so invalid bytes become U+FFFD. */
static void put_str(struct writer *w, struct fz_str s)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };
	uint32_t code;

	for (size_t at = 0; at < s.n && !fz_utf8_valid(s);) {
		size_t n = fz_utf8_decode(s.p + at, s.n - at, &code);
		if (n)
			fz_buf_add(&b, s.p + at, n);
		else
			fz_buf_str(&b, "\xef\xbf\xbd");
		at += n ? n : 1;
	}
	if (b.n)
		s = fz_buf_view(&b);
	put_code(w, 'u');
	put_u32(w, (uint32_t)s.n);
	fz_output_add(w->out, s.p, s.n);
}

static void put_key(struct writer *w, const struct fz_place *place)
{
	const struct fz_function *f = fz_place_function(w->p, place);

	put_tuple(w, 3);
	put_str(w, fz_place_file(w->p, f));
	put_int(w, (uint64_t)place->line);
	put_str(w, w->p->strings[f->name]);
}

static void put_costs(struct writer *w, uint64_t self, uint64_t total, int64_t own, int64_t all)
{
	put_int(w, self);
	put_int(w, total);
	put_double(w, (double)own * w->unit);
	put_double(w, (double)all * w->unit);
}

static void put_entry(struct writer *w, uint32_t number, size_t *call)
{
	const struct fz_place *place = &w->places.list[number];

	put_key(w, place);
	put_tuple(w, 5);
	put_costs(w, place->self_samples, place->total_samples, place->self, place->total);
	put_code(w, '{');
	for (; *call < w->call_count && w->calls[*call].callee == number; ++*call) {
		const struct fz_place_call *c = &w->calls[*call];
		put_key(w, &w->places.list[c->caller]);
		if (w->bare) {
			put_int(w, c->self_samples);
			continue;
		}
		put_tuple(w, 4);
		put_costs(w, c->self_samples, c->total_samples, c->self, c->total);
	}
	put_code(w, '0');
}

/* Skips an entry without costs, and its calls. */
static void skip_entry(struct writer *w, uint32_t number, size_t *call)
{
	while (*call < w->call_count && w->calls[*call].callee == number)
		++*call;
}

static int compare_callees(const void *pa, const void *pb)
{
	const struct fz_place_call *a = pa, *b = pb;

	return FZ_CMP(a->callee, b->callee) ?: FZ_CMP(a->caller, b->caller);
}

/* Whether to write the mark: values are samples, not calls, and pstats of the program's Python
 * supports it.
 */
static bool is_marked(const struct fz_profile *p)
{
	const uint8_t *python = p->recording.python;

	return !fz_callgraph_states(p, p->default_metric) &&
	       (python[0] > 3 || (python[0] == 3 && python[1] >= 15));
}

/* ---- a recorded graph ---- */

static uint32_t place_of(const struct writer *w, uint32_t function)
{
	return w->places.of_frame[w->p->callgraph->functions[function].frame];
}

/* Sets totals of functions from the graph; self costs come from samples. */
static void add_functions(struct writer *w, uint32_t metric)
{
	const struct fz_profile *p = w->p;
	const struct fz_callgraph *g = p->callgraph;
	fz_auto(fz_free_ptr) int64_t *total = fz_calloc(w->places.n + 1ul, sizeof(*total));
	fz_auto(fz_free_ptr) uint32_t *group = fz_reallocarray(NULL, g->n + 1ul, sizeof(*group));

	for (uint32_t i = 0; i < w->places.n; i++) {
		struct fz_place *place = &w->places.list[i];
		place->self_samples = place->total_samples = 0;
		total[i] = place->total;
		place->total = 0; /* unless it is in the graph */
	}
	for (uint32_t i = 0; i < g->n; i++) {
		const struct fz_callgraph_function *f = &g->functions[i];
		struct fz_place *place = &w->places.list[place_of(w, i)];
		group[i] = place_of(w, i);
		place->self_samples += f->primitive;
		place->total_samples += f->calls;
	}
	fz_callgraph_group_totals(p, metric, group, w->places.n, total);
	for (uint32_t i = 0; i < g->n; i++)
		w->places.list[group[i]].total = total[group[i]];
}

/* Sets the costs of a call; those of inner variants are included in the outermost's. */
static void add_call(struct writer *w, const struct fz_callgraph_call *c, uint32_t metric,
		     struct fz_place_call *ret)
{
	const struct fz_callgraph *g = w->p->callgraph;
	const int64_t *self = fz_callgraph_row(g, c->self), *total = fz_callgraph_row(g, c->total);

	ret->self_samples += c->calls;
	ret->total_samples += c->primitive;
	ret->self += self ? self[metric] : 0;
	if (!g->functions[c->callee].inner)
		ret->total += total ? total[metric] : 0;
	w->bare |= !total;
}

static void add_calls(struct writer *w, uint32_t metric)
{
	const struct fz_callgraph *g = w->p->callgraph;
	struct fz_map map = { 0 };

	w->calls = fz_calloc(g->call_n + 1ul, sizeof(*w->calls));
	for (uint32_t i = 0; i < g->call_n; i++) {
		const struct fz_callgraph_call *c = &g->calls[i];
		uint32_t caller = place_of(w, c->caller), callee = place_of(w, c->callee);
		uint32_t *slot = fz_map_slot(&map, FZ_KEY(caller, callee));
		if (*slot == FZ_NONE) {
			*slot = (uint32_t)w->call_count++;
			w->calls[*slot].caller = caller;
			w->calls[*slot].callee = callee;
		}
		add_call(w, c, metric, &w->calls[*slot]);
	}
	fz_map_release(&map);
}

static void write(struct writer *w)
{
	size_t call = 0;

	put_code(w, '{');
	for (uint32_t i = 0; i < w->places.n; i++)
		if (w->places.list[i].total_samples || w->places.list[i].total)
			put_entry(w, i, &call);
		else
			skip_entry(w, i, &call);
	if (is_marked(w->p)) {
		put_tuple(w, 1);
		put_str(w, FZ_STR("__sampled__"));
		put_code(w, 'T');
	}
	put_code(w, '0');
}

int fz_pstats_write(const struct fz_profile *p, bool per_line, struct fz_output *out,
		    struct fz_error *err)
{
	struct writer w = { .p = p, .out = out };
	unsigned by = per_line ? FZ_PLACE_FUNCTION_LINE : FZ_PLACE_FUNCTION;

	int r = fz_fit_time(p, "a pstats file", &w.unit, err);

	if (r)
		return r;
	w.unit *= 1e-9;
	fz_places_init(&w.places, p, by, p->default_metric);
	if (fz_callgraph_states(p, p->default_metric)) {
		add_functions(&w, p->default_metric);
		add_calls(&w, p->default_metric);
	} else {
		w.calls = fz_places_calls(p, &w.places, &w.places, p->default_metric, false,
					  &w.call_count);
	}
	if (w.call_count)
		qsort(w.calls, w.call_count, sizeof(*w.calls), compare_callees);
	write(&w);
	free(w.calls);
	fz_places_release(&w.places);
	return 0;
}
