/* SPDX-License-Identifier: MIT */
/* Rows of functions; see function_rows.h. */
#include "report/function_rows.h"

#include <stdlib.h>

const struct fz_judged_keys fz_judged_self_keys = { "self_verdict", "self_p", "self_low",
						    "self_high", "self_confidence" };
const struct fz_judged_keys fz_judged_total_keys = { "total_verdict", "total_p", "total_low",
						     "total_high", "total_confidence" };

void fz_fields_name(struct fz_fields *f, struct fz_str name, struct fz_str file, int32_t line)
{
	fz_field_str(f, "name", name);
	fz_field_str(f, "file", file);
	fz_field_int(f, "line", line);
}

void fz_fields_cost(struct fz_fields *f, const struct fz_diff *d, const struct fz_diff_cost *c)
{
	const int64_t *self = c->self, *total = c->total;

	fz_field_int(f, "base_self", self[FZ_BASE]);
	fz_field_int(f, "base_total", total[FZ_BASE]);
	fz_field_int(f, "head_self", self[FZ_HEAD]);
	fz_field_int(f, "head_total", total[FZ_HEAD]);
	f->absent = d->factor == 1;
	fz_field_double(f, "expected_self", fz_diff_expected(d, self[FZ_BASE]));
	fz_field_double(f, "expected_total", fz_diff_expected(d, total[FZ_BASE]));
	f->absent = false;
	fz_field_double(f, "diff_self", fz_diff_delta(d, self[FZ_BASE], self[FZ_HEAD]));
	fz_field_double(f, "pct_self", 100 * fz_diff_ratio(d, self[FZ_BASE], self[FZ_HEAD]));
	fz_field_double(f, "diff_total", fz_diff_delta(d, total[FZ_BASE], total[FZ_HEAD]));
	fz_field_double(f, "pct_total", 100 * fz_diff_ratio(d, total[FZ_BASE], total[FZ_HEAD]));
}

void fz_fields_judged(struct fz_fields *f, const struct fz_judged_keys *keys,
		      const struct fz_judged *v)
{
	fz_field_str(f, keys->verdict, fz_str_of(fz_verdict_names[v->verdict]));
	fz_field_double(f, keys->p, v->p);
	fz_field_double(f, keys->low, v->low);
	fz_field_double(f, keys->high, v->high);
	fz_field_double(f, keys->confidence, 100 * v->confidence);
}

/* ---- a diff ---- */

/* How the base's function was matched; absent if there is none. */
static void add_match(struct fz_fields *f, const struct fz_link *link)
{
	f->absent = link->how == FZ_LINK_NONE;
	fz_fields_open(f, "match");
	fz_field_str(f, "how", fz_str_of(fz_link_names[link->how]));
	fz_field_double(f, "score", link->score);
	fz_fields_open(f, "from");
	fz_field_str(f, "name", link->name);
	fz_field_str(f, "file", link->file);
	fz_fields_close(f);
	fz_fields_close(f);
	f->absent = false;
}

static void add_function(struct fz_fields *f, const struct fz_diff *d,
			 const struct fz_diff_function *function, const struct fz_judged *self,
			 const struct fz_judged *total)
{
	fz_fields_begin(f);
	fz_fields_name(f, function->name, function->file, function->line);
	fz_field_str(f, "state", fz_str_of(fz_state_names[function->state]));
	f->absent = function->state == FZ_COMMON;
	fz_field_str(f, "word", f->absent ? FZ_STR("") : fz_str_of(fz_diff_word(function)));
	f->absent = false;
	fz_fields_cost(f, d, &function->cost);
	f->absent = !d->speed_scale.used;
	fz_field_int(f, "head_self_measured", function->measured_self);
	fz_field_int(f, "head_total_measured", function->measured_total);
	f->absent = false;
	fz_fields_judged(f, &fz_judged_self_keys, self);
	fz_fields_judged(f, &fz_judged_total_keys, total);
	add_match(f, &function->link);
	fz_fields_end(f);
}

void fz_function_rows_diff(struct fz_fields *f, const struct fz_diff *d,
			   const struct fz_judgement *verdicts, uint32_t most)
{
	for (uint32_t i = 0; i < FZ_MIN(d->function_count, most); i++)
		add_function(f, d, &d->functions[i], &verdicts->self[i], &verdicts->total[i]);
}

void fz_report_csv_diff(const struct fz_diff *d, const struct fz_judgement *verdicts, uint32_t most,
			struct fz_output *out)
{
	static const struct fz_diff_function no_function;
	static const struct fz_judged not_judged;
	struct fz_fields titles = { .csv = out, .titles = true }, rows = { .csv = out };

	add_function(&titles, d, &no_function, &not_judged, &not_judged);
	fz_function_rows_diff(&rows, d, verdicts, most);
}

/* ---- one profile ---- */

struct function_row {
	struct fz_str name, file;
	uint32_t function;
	int32_t line;
	int64_t self, total;
};

static int compare_rows(const void *pa, const void *pb)
{
	const struct function_row *a = pa, *b = pb;

	return FZ_CMP(b->total, a->total) ?: fz_str_cmp(a->name, b->name) ?:
	       fz_str_cmp(a->file, b->file) ?: FZ_CMP(a->function, b->function);
}

static void add_row(struct fz_fields *f, const struct function_row *r)
{
	fz_fields_begin(f);
	fz_fields_name(f, r->name, r->file, r->line);
	fz_field_int(f, "self", r->self);
	fz_field_int(f, "total", r->total);
	fz_fields_end(f);
}

void fz_function_rows_profile(struct fz_fields *f, const struct fz_tree *t, const int32_t *lines,
			      uint32_t most)
{
	const struct fz_profile *p = t->profile;
	fz_auto(fz_free_ptr) int64_t *self = NULL;
	fz_auto(fz_free_ptr) int64_t *total = NULL;
	fz_auto(fz_free_ptr) struct function_row *rows =
		fz_calloc(p->function_count, sizeof(*rows));
	uint32_t n = 0;

	fz_tree_function_costs(t, &self, &total);
	for (uint32_t i = 0; i < p->function_count; i++)
		if (self[i] || total[i])
			rows[n++] = (struct function_row){ p->strings[p->functions[i].name],
							   p->strings[p->functions[i].file],
							   i,
							   lines[i],
							   self[i],
							   total[i] };
	qsort(rows, n, sizeof(*rows), compare_rows);
	for (uint32_t i = 0; i < FZ_MIN(n, most); i++)
		add_row(f, &rows[i]);
}

void fz_report_csv_profile(const struct fz_profile *p, uint32_t most, struct fz_output *out)
{
	static const struct function_row no_row;
	struct fz_fields titles = { .csv = out, .titles = true }, rows = { .csv = out };
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &FZ_TREE_DEFAULTS);
	fz_auto(fz_free_ptr) int32_t *lines = fz_profile_function_lines(p, t->metric);

	add_row(&titles, &no_row);
	fz_function_rows_profile(&rows, t, lines, most);
}
