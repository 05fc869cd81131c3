/* SPDX-License-Identifier: MIT */
/* Costs of source lines as JSON; see lines.h.
 *
 *   profile   file -> lines, each with what it cost and its text
 *   diff      file -> places: a line that both sides have, or lines that replaced others
 *
 * An edited line counts as removed and added. Neither has a difference; the place has one, of all
 * lines removed and added there.
 */
#include "report/lines.h"

#include "base/json.h"
#include "compare/lines.h"
#include "profile/per_run.h"
#include "report/json.h"
#include "report/json_facts.h"

enum { SCHEMA = 1 };

static const struct fz_source_text *text_of(const struct fz_line_costs *h,
					    const struct fz_line_costs_file *f, enum fz_side side)
{
	uint32_t string = f->on_side[side];

	return string == FZ_NONE ? NULL : fz_profile_source(h->profile[side], string);
}

static struct fz_str path_of(const struct fz_line_costs *h, const struct fz_line_costs_file *f,
			     enum fz_side side)
{
	uint32_t string = f->on_side[side];

	return string == FZ_NONE ? FZ_STR("") : h->profile[side]->strings[string];
}

static void lines_of(const struct fz_line_costs *h, const struct fz_line_costs_file *f,
		     enum fz_side side, struct fz_line_list *ret)
{
	const struct fz_source_text *t = text_of(h, f, side);

	fz_lines_init(ret, t ? (struct fz_str){ t->text, t->size } : FZ_STR(""));
}

/* ---- one profile ---- */

static void write_line(struct fz_json *j, const struct fz_line_costs_line *l,
		       const struct fz_line_list *text)
{
	fz_json_open(j, '{');
	fz_json_kint(j, "line", l->line);
	fz_json_kint(j, "self", l->self);
	fz_json_kint(j, "total", l->total);
	if ((uint32_t)l->line <= text->n)
		fz_json_kstr(j, "text", text->list[l->line - 1]);
	fz_json_close(j, '}');
}

static void write_lines(struct fz_json *j, const struct fz_line_costs *h,
			const struct fz_line_costs_file *f)
{
	fz_auto(fz_lines_release) struct fz_line_list text;

	lines_of(h, f, FZ_HEAD, &text);
	fz_json_kint(j, "self", f->cost.self[FZ_HEAD]);
	fz_json_kint(j, "total", f->cost.total[FZ_HEAD]);
	fz_json_kopen(j, "lines", '[');
	for (uint32_t i = 0; i < f->line_count[FZ_HEAD]; i++)
		write_line(j, &h->lines[FZ_HEAD][f->first_line[FZ_HEAD] + i], &text);
	fz_json_close(j, ']');
}

/* ---- a diff ---- */

/* Lines of both sides at the same place, numbered from 0. */
struct place {
	uint32_t first[FZ_SIDES], n[FZ_SIDES];
	int64_t self[FZ_SIDES];
	uint32_t function; /* the only function with costs here; FZ_NONE: several, or unknown */
	bool has_cost, one_function;
};

static void add_costs(const struct fz_line_costs *h, const struct fz_line_costs_file *f,
		      enum fz_side side, uint32_t *next, struct place *p)
{
	uint32_t end = p->first[side] + p->n[side];

	for (; *next < f->line_count[side]; ++*next) {
		const struct fz_line_costs_line *l = &h->lines[side][f->first_line[side] + *next];
		if ((uint32_t)l->line > end)
			return;
		p->one_function = !p->has_cost || (p->one_function && p->function == l->function);
		p->function = l->function;
		p->has_cost = true;
		p->self[side] += l->self;
	}
}

static const char *verdict_of(const struct fz_line_costs *h, const struct place *p)
{
	return fz_verdict_names[p->one_function && p->function != FZ_NONE
					? h->functions[p->function].self_verdict
					: FZ_VERDICT_UNKNOWN];
}

static void write_cost(struct fz_json *j, const struct fz_line_costs *h,
		       const int64_t self[FZ_SIDES])
{
	fz_json_kint(j, "base_self", self[FZ_BASE]);
	fz_json_kint(j, "head_self", self[FZ_HEAD]);
	fz_json_kdouble(j, "diff_self", fz_diff_delta(h->diff, self[FZ_BASE], self[FZ_HEAD]));
}

static void write_place(struct fz_json *j, const struct fz_line_costs *h, const struct place *p,
			const struct fz_line_list text[FZ_SIDES])
{
	fz_json_open(j, '{');
	fz_json_kint(j, "line", p->first[FZ_HEAD] + 1ll);
	fz_json_kint(j, "lines", p->n[FZ_HEAD]);
	fz_json_kint(j, "base_line", p->first[FZ_BASE] + 1ll);
	fz_json_kint(j, "base_lines", p->n[FZ_BASE]);
	write_cost(j, h, p->self);
	fz_json_kstr(j, "verdict", fz_str_of(verdict_of(h, p)));
	if (p->one_function && p->function != FZ_NONE)
		fz_json_kint(j, "function", p->function);
	fz_json_kopen(j, "text", '[');
	for (uint32_t i = 0; i < p->n[FZ_HEAD]; i++)
		fz_json_str(j, text[FZ_HEAD].list[p->first[FZ_HEAD] + i]);
	fz_json_close(j, ']');
	fz_json_close(j, '}');
}

/* Take the next place, starting at pairs[*at]. */
static struct place take_place(const struct fz_line_pair *pairs, uint32_t n, uint32_t *at,
			       struct place last)
{
	struct place p = { .function = FZ_NONE };

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		p.first[side] = last.first[side] + last.n[side];
	do {
		const uint32_t *on = pairs[*at].on_side;
		bool both = on[FZ_BASE] != FZ_NONE && on[FZ_HEAD] != FZ_NONE;
		if (both && p.n[FZ_BASE] + p.n[FZ_HEAD])
			break;
		p.n[FZ_BASE] += on[FZ_BASE] != FZ_NONE;
		p.n[FZ_HEAD] += on[FZ_HEAD] != FZ_NONE;
		++*at;
		if (both)
			break;
	} while (*at < n);
	return p;
}

static void write_places(struct fz_json *j, const struct fz_line_costs *h,
			 const struct fz_line_costs_file *f)
{
	struct fz_line_list text[FZ_SIDES];
	struct place p = { 0 };
	uint32_t n, next[FZ_SIDES] = { 0 };

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		lines_of(h, f, side, &text[side]);
	fz_auto(fz_free_ptr) struct fz_line_pair *pairs = fz_lines_align(text, &n);
	fz_json_kopen(j, "places", '[');
	for (uint32_t at = 0; at < n;) {
		p = take_place(pairs, n, &at, p);
		/* added lines without removed ones are separate places */
		uint32_t parts = p.n[FZ_BASE] ? 1 : p.n[FZ_HEAD];
		for (uint32_t i = 0; i < parts; i++) {
			struct place part = p;
			part.first[FZ_HEAD] += i;
			part.n[FZ_HEAD] = p.n[FZ_HEAD] / parts;
			for (enum fz_side side = 0; side < FZ_SIDES; side++)
				add_costs(h, f, side, &next[side], &part);
			if (part.self[FZ_BASE] || part.self[FZ_HEAD])
				write_place(j, h, &part, text);
		}
	}
	fz_json_close(j, ']');
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_lines_release(&text[side]);
}

/* Are the texts of both sides known? Lines cannot be matched without them. */
static bool can_align(const struct fz_line_costs *h, const struct fz_line_costs_file *f)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		if (f->on_side[side] != FZ_NONE && !text_of(h, f, side))
			return false;
	return true;
}

static void write_compared(struct fz_json *j, const struct fz_line_costs *h,
			   const struct fz_line_costs_file *f)
{
	fz_json_kstr(j, "base_file", path_of(h, f, FZ_BASE));
	write_cost(j, h, f->cost.self);
	fz_json_kbool(j, "aligned", can_align(h, f));
	if (can_align(h, f))
		write_places(j, h, f);
}

static void write_functions(struct fz_json *j, const struct fz_line_costs *h)
{
	fz_json_kopen(j, "functions", '[');
	for (uint32_t i = 0; i < h->function_count; i++) {
		const struct fz_line_costs_function *f = &h->functions[i];
		fz_json_open(j, '{');
		fz_json_kint(j, "id", i);
		fz_json_kstr(j, "name", f->name);
		fz_json_kint(j, "file", f->file);
		fz_json_kint(j, "line", f->line);
		fz_json_kstr(j, "state", fz_str_of(fz_state_names[f->state]));
		write_cost(j, h, f->self);
		fz_json_kstr(j, "verdict", fz_str_of(fz_verdict_names[f->self_verdict]));
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

/* ---- the whole ---- */

static void write_side(struct fz_json *j, const struct fz_line_costs *h, enum fz_side side)
{
	const struct fz_profile *p = h->profile[side];

	fz_json_kopen(j, fz_side_names[side], '{');
	fz_report_json_counts(j, p, h->samples[side]);
	fz_json_kint(j, "total", h->sum[side]);
	if (p->run_count && p->runs[0].start_unix_ns > 0)
		fz_json_kdouble(j, "started", (double)p->runs[0].start_unix_ns / 1e9);
	fz_report_json_facts(j, p);
	fz_json_close(j, '}');
}

static void write_files(struct fz_json *j, const struct fz_line_costs *h)
{
	fz_json_kopen(j, "files", '[');
	for (uint32_t i = 0; i < h->file_count; i++) {
		const struct fz_line_costs_file *f = &h->files[i];
		fz_json_open(j, '{');
		fz_json_kstr(j, "name", f->name);
		fz_json_kstr(j, "file", path_of(h, f, FZ_HEAD));
		(h->diff ? write_compared : write_lines)(j, h, f);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

static void write_all(const struct fz_line_costs *h, struct fz_output *out)
{
	struct fz_json j;

	fz_json_init(&j, out, 4); /* each source line on one line */
	fz_json_open(&j, '{');
	fz_json_kint(&j, "schema", SCHEMA);
	fz_json_kstr(&j, "kind", h->diff ? FZ_STR("diff-lines") : FZ_STR("lines"));
	fz_json_kstr(&j, "metric", fz_str_of(h->metric));
	fz_json_kstr(&j, "unit", fz_str_of(h->unit));
	if (h->diff ? h->diff->per_run
		    : h->profile[FZ_HEAD]->per_run && fz_metric_is_per_run(h->metric))
		fz_json_kbool(&j, "per_run", true);
	for (enum fz_side side = h->diff ? FZ_BASE : FZ_HEAD; side < FZ_SIDES; side++)
		write_side(&j, h, side);
	if (h->diff) {
		fz_report_json_words(&j, h->metric, h->unit);
		fz_report_json_scale(&j, h->diff);
		fz_report_json_verdict(&j, h->diff, h->judgement);
		fz_report_json_warnings(&j, h->diff);
		write_functions(&j, h);
	}
	write_files(&j, h);
	fz_json_close(&j, '}');
}

int fz_report_lines_profile(const struct fz_profile *p, uint32_t metric, struct fz_output *out,
			    struct fz_error *err)
{
	fz_auto(fz_line_costs_release) struct fz_line_costs h = { 0 };
	int r = fz_line_costs_of_profile(&h, p, metric, err);

	if (!r)
		write_all(&h, out);
	return r;
}

void fz_report_lines_diff(const struct fz_diff *d, const struct fz_judgement *j,
			  struct fz_output *out)
{
	fz_auto(fz_line_costs_release) struct fz_line_costs h;

	fz_line_costs_of_diff(&h, d, j);
	write_all(&h, out);
}
