/* SPDX-License-Identifier: MIT */
/* Benchmarks in a page's header: the limit of each, and a gate's decision.
 *
 * Each benchmark is judged alone, since a large change of a small benchmark would vanish in the
 * sum. Counts are exact, so a bound replaces the statistical test (fz_judge_benchmark_bound).
 */
#include "report/page_benchmarks.h"

#include "profile/benchmarks.h"

static void write_bounds(const struct fz_diff *d, struct fz_json *j)
{
	fz_json_kopen(j, "bounds", '[');
	for (uint32_t root = 0; root < d->node_count; root += d->nodes[root].size) {
		const struct fz_diff_function *f = &d->functions[d->nodes[root].function];

		if (f->kind != FZ_KIND_MARKER)
			continue;
		fz_json_open(j, '{');
		fz_json_kstr(j, "benchmark", f->name);
		fz_json_kdouble(j, "bound", fz_judge_benchmark_bound(d, root));
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

static void write_benchmark(const struct fz_html_benchmark *b, struct fz_json *j)
{
	fz_json_open(j, '{');
	fz_json_kstr(j, "name", b->name);
	fz_json_kstr(j, "metric", fz_str_of(b->metric));
	fz_json_kstr(j, "unit", fz_str_of(b->unit));
	if (b->page)
		fz_json_kstr(j, "page", fz_str_of(b->page));
	fz_json_kstr(j, "verdict", fz_str_of(b->verdict));
	fz_json_kstr(j, "word", fz_str_of(b->word));
	fz_json_kbool(j, "fails", b->fails);
	fz_json_kdouble(j, "base", b->count[FZ_BASE]);
	fz_json_kdouble(j, "head", b->count[FZ_HEAD]);
	fz_json_kdouble(j, "change", b->change);
	fz_json_kdouble(j, "limit", b->limit);
	fz_json_kstr(j, "where", b->where);
	if (b->file) {
		fz_json_kstr(j, "file", fz_str_of(b->file));
		fz_json_kint(j, "line", b->line);
	}
	fz_json_kstr(j, "clock", b->clock);
	fz_json_kstr(j, "note", b->note);
	fz_json_close(j, '}');
}

static void write_gate(const struct fz_html_gate *gate, struct fz_json *j)
{
	fz_json_kopen(j, "gate", '{');
	fz_json_kint(j, "status", gate->status);
	fz_json_kstr(j, "headline", gate->headline);
	fz_json_kstr(j, "why", gate->why);
	fz_json_kopen(j, "benchmarks", '[');
	for (size_t i = 0; i < gate->n; i++)
		write_benchmark(&gate->list[i], j);
	fz_json_close(j, ']');
	fz_json_close(j, '}');
}

void fz_page_write_benchmarks(const struct fz_page *page, const struct fz_html_gate *gate,
			      struct fz_json *j)
{
	if (page->judgement && page->judgement->method == FZ_JUDGE_COUNTS)
		write_bounds(page->diff, j);
	if (gate)
		write_gate(gate, j);
	fz_json_kbool(j, "runner", fz_benchmarks_any(page->profile[FZ_HEAD]));
}
