/* SPDX-License-Identifier: MIT */
/* The JSON reports. Each node and function is on its own line, so that line-based tools can read
 * and compare them.
 */
#include "report/json.h"

#include "base/json.h"
#include "profile/cost_words.h"
#include "profile/per_run.h"
#include "profile/tree.h"
#include "report/advice.h"
#include "report/findings.h"
#include "report/function_rows.h"
#include "report/json_facts.h"
#include "report/processes.h"
#include "report/states.h"
#include "report/waits.h"

#include <math.h>

enum { SCHEMA = 1 };

/* ---- verdicts ---- */

/* A path counts as changed if its self cost or its total changed. */
static enum fz_verdict path_verdict(const struct fz_judgement *verdicts, uint32_t node)
{
	enum fz_verdict self = verdicts->path_self[node].verdict;
	enum fz_verdict total = verdicts->path_total[node].verdict;

	if (self == FZ_VERDICT_CHANGED || total == FZ_VERDICT_CHANGED)
		return FZ_VERDICT_CHANGED;
	return self == total ? self : FZ_VERDICT_UNKNOWN;
}

/* Write a path's verdict, with intervals if it was tested. */
static void write_path_verdict(struct fz_fields *f, const struct fz_judgement *verdicts,
			       uint32_t node)
{
	const struct fz_judged *self = &verdicts->path_self[node];
	const struct fz_judged *total = &verdicts->path_total[node];

	fz_field_str(f, "verdict", fz_str_of(fz_verdict_names[path_verdict(verdicts, node)]));
	if (!isnan(self->low))
		fz_fields_judged(f, &fz_judged_self_keys, self);
	if (!isnan(total->low))
		fz_fields_judged(f, &fz_judged_total_keys, total);
}

/* Why the verdict is unknown; NULL if it is known. */
static const char *unknown_reason(const struct fz_diff *d, const struct fz_judgement *verdicts)
{
	if (verdicts->run.word != FZ_RUN_UNKNOWN)
		return NULL;
	if (verdicts->method == FZ_JUDGE_NONE)
		return verdicts->empty_run ? "no samples" : "no test";
	return d->scale == FZ_SCALE_SHARE    ? "shares only"
	       : d->scale == FZ_SCALE_WINDOW ? "windows only"
					     : "noise";
}

static void write_notes(struct fz_json *j, const struct fz_diff *d,
			const struct fz_judgement *verdicts)
{
	fz_auto(fz_advice_release) struct fz_advice b;

	fz_advice_init(&b, d, verdicts);
	fz_json_kopen(j, "notes", '[');
	for (uint32_t i = 0; i < b.n; i++)
		fz_json_str(j, fz_str_of(b.notes[i]));
	fz_json_close(j, ']');
	fz_json_kbool(j, "busy", b.busy);
	if (b.command) {
		fz_json_kstr(j, "advice", fz_str_of(b.advice));
		fz_json_kstr(j, "command", fz_str_of(b.command));
	}
}

static void write_words(struct fz_json *j, enum fz_run_word word, const char *one, const char *many)
{
	fz_json_kopen(j, fz_run_word_names[word], '{');
	fz_json_kstr(j, "one", fz_str_of(one));
	fz_json_kstr(j, "many", fz_str_of(many));
	fz_json_close(j, '}');
}

void fz_report_json_words(struct fz_json *j, const char *metric, const char *unit)
{
	const struct fz_cost_words *words = fz_cost_words(metric, unit);

	fz_json_kopen(j, "words", '{');
	write_words(j, FZ_RUN_SLOWER, words->more, words->many_more);
	write_words(j, FZ_RUN_FASTER, words->less, words->many_less);
	fz_json_close(j, '}');
}

void fz_report_json_verdict(struct fz_json *j, const struct fz_diff *d,
			    const struct fz_judgement *verdicts)
{
	static const struct fz_style style = { 0 };
	const struct fz_judged_run *run = &verdicts->run;
	const char *reason = unknown_reason(d, verdicts);
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	fz_auto(fz_buf_release) struct fz_buf power = { 0 };

	fz_json_kopen(j, "verdict", '{');
	fz_json_kstr(j, "word", fz_str_of(fz_run_word_names[run->word]));
	fz_findings_verdict(d, verdicts, &style, &text);
	fz_json_kstr(j, "text", fz_buf_view(&text));
	if (reason)
		fz_json_kstr(j, "reason", fz_str_of(reason));
	fz_json_kdouble(j, "change_pct", 100 * run->change);
	fz_json_kdouble(j, "low", 100 * run->low);
	fz_json_kdouble(j, "high", 100 * run->high);
	fz_json_kdouble(j, "p", run->p);
	fz_json_kdouble(j, "smallest_visible_pct", 100 * run->smallest_visible);
	fz_json_kdouble(j, "visible_share_pct", 100 * run->visible_share);
	fz_json_kdouble(j, "more_runs", run->more_runs);
	fz_findings_power(verdicts, &power);
	fz_json_kstr(j, "power", fz_buf_view(&power));
	fz_json_kstr(j, "method", fz_str_of(fz_judge_method_names[verdicts->method]));
	fz_json_kdouble(j, "delta_pct", 100 * verdicts->delta);
	write_notes(j, d, verdicts);
	fz_json_close(j, '}');
}

/* Write the members that all nodes of a tree begin with. */
static void write_node(struct fz_fields *f, uint32_t id, uint32_t parent)
{
	fz_field_int(f, "id", id);
	fz_field_int(f, "parent", parent == FZ_NONE ? -1 : (int64_t)parent);
}

/* ---- diff ---- */

static void write_side(struct fz_json *j, const char *key, const struct fz_diff *d, enum fz_side s)
{
	fz_json_kopen(j, key, '{');
	fz_report_json_counts(j, d->profile[s], fz_diff_recorded_samples(d, s));
	fz_json_kint(j, "total", d->total[s]);
	fz_json_kstr(j, "unit", fz_str_of(d->unit));
	fz_report_json_facts(j, d->profile[s]);
	fz_json_close(j, '}');
}

/* Write the machine's speed if the head was adjusted to the base's. */
static void write_speed(struct fz_json *j, const struct fz_diff *d)
{
	const struct fz_speed_scale_side *side = d->speed_scale.side;
	double best = FZ_MIN(side[FZ_BASE].range.fastest, side[FZ_HEAD].range.fastest);

	if (!d->speed_scale.used)
		return;
	fz_json_kopen(j, "speed", '{');
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		fz_json_kopen(j, fz_side_names[s], '{');
		fz_json_kdouble(j, "mean_pct", 100 * best / side[s].piece);
		fz_json_kdouble(j, "slowest_pct", 100 * best / side[s].range.slowest);
		fz_json_kdouble(j, "fastest_pct", 100 * best / side[s].range.fastest);
		fz_json_kint(j, "waited_ns", side[s].waited);
		fz_json_close(j, '}');
	}
	fz_json_kint(j, "head_total_measured", d->speed_scale.total);
	fz_json_close(j, '}');
}

static void write_diff_nodes(struct fz_json *j, const struct fz_diff *d,
			     const struct fz_judgement *verdicts)
{
	struct fz_fields fields = { .json = j };

	fz_json_kopen(j, "nodes", '[');
	for (uint32_t i = 0; i < d->node_count; i++) {
		const struct fz_diff_node *node = &d->nodes[i];
		const struct fz_diff_function *f = &d->functions[node->function];
		fz_fields_begin(&fields);
		write_node(&fields, i, node->parent);
		fz_fields_name(&fields, f->name, f->file, f->line);
		fz_field_str(&fields, "state", fz_str_of(fz_state_names[node->state]));
		if (node->wraps)
			fz_json_kbool(j, "wraps", true);
		fz_fields_cost(&fields, d, &node->cost);
		if (verdicts->path_self)
			write_path_verdict(&fields, verdicts, i);
		fz_fields_end(&fields);
	}
	fz_json_close(j, ']');
}

void fz_report_json_warnings(struct fz_json *j, const struct fz_diff *d)
{
	fz_json_kopen(j, "warnings", '[');
	for (uint32_t i = 0; i < d->warning_count; i++)
		fz_json_str(j, fz_str_of(d->warnings[i]));
	fz_json_close(j, ']');
}

void fz_report_json_scale(struct fz_json *j, const struct fz_diff *d)
{
	fz_json_kopen(j, "scale", '{');
	fz_json_kstr(j, "mode", fz_str_of(fz_scale_names[d->scale]));
	fz_json_kdouble(j, "factor", d->factor);
	if (d->scale == FZ_SCALE_UNIT) {
		fz_json_kdouble(j, "base_units", d->units[FZ_BASE]);
		fz_json_kdouble(j, "head_units", d->units[FZ_HEAD]);
	}
	if (d->basis != FZ_BASIS_GIVEN)
		fz_json_kstr(j, "basis", fz_str_of(fz_basis_names[d->basis]));
	if (d->factor_error > 0)
		fz_json_kdouble(j, "log_error", d->factor_error);
	fz_json_close(j, '}');
}

void fz_report_json_rules(struct fz_json *j, const struct fz_diff *d)
{
	fz_json_kopen(j, "name_rules", '[');
	for (uint32_t i = 0; i < d->rule_count; i++) {
		fz_json_open(j, '{');
		fz_json_kstr(j, "rule", fz_str_of(d->rules[i].text));
		fz_json_kint(j, "base_functions", d->rules[i].functions[FZ_BASE]);
		fz_json_kint(j, "head_functions", d->rules[i].functions[FZ_HEAD]);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

void fz_report_json_links(struct fz_json *j, const struct fz_diff *d)
{
	fz_json_kopen(j, "links", '[');
	for (uint32_t i = 0; i < d->link_count; i++) {
		const struct fz_diff_function *f = &d->functions[d->links[i]];
		fz_json_open(j, '{');
		fz_json_kstr(j, "how", fz_str_of(fz_link_names[f->link.how]));
		fz_json_kdouble(j, "score", f->link.score);
		fz_json_kstr(j, "from_name", f->link.name);
		fz_json_kstr(j, "from_file", f->link.file);
		fz_json_kstr(j, "name", f->name);
		fz_json_kstr(j, "file", f->file);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

void fz_report_json_splits(struct fz_json *j, const struct fz_diff *d)
{
	fz_json_kopen(j, "splits", '[');
	for (uint32_t i = 0; i < d->split_count; i++) {
		const struct fz_diff_function *f = &d->functions[d->splits[i].function];
		const struct fz_diff_function *from = &d->functions[d->splits[i].from];
		fz_json_open(j, '{');
		fz_json_kstr(j, "name", f->name);
		fz_json_kstr(j, "file", f->file);
		fz_json_kstr(j, "from_name", from->name);
		fz_json_kstr(j, "from_file", from->file);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

void fz_report_json_shifts(struct fz_json *j, const struct fz_diff *d)
{
	fz_json_kopen(j, "shifts", '[');
	for (uint32_t i = 0; i < d->shift_count; i++) {
		const struct fz_diff_shift *s = &d->shifts[i];
		fz_json_open(j, '{');
		fz_json_kint(j, "node", s->node);
		fz_json_kint(j, "base_callees", s->callees[FZ_BASE]);
		fz_json_kint(j, "head_callees", s->callees[FZ_HEAD]);
		fz_json_kint(j, "base_total", s->cost[FZ_BASE]);
		fz_json_kint(j, "head_total", s->cost[FZ_HEAD]);
		fz_json_kdouble(j, "diff_total",
				fz_diff_delta(d, s->cost[FZ_BASE], s->cost[FZ_HEAD]));
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

void fz_report_json_diff(const struct fz_diff *d, const struct fz_judgement *verdicts,
			 struct fz_output *out)
{
	struct fz_json j;

	fz_json_init(&j, out, 2);
	fz_json_open(&j, '{');
	fz_json_kint(&j, "schema", SCHEMA);
	fz_json_kstr(&j, "kind", FZ_STR("diff"));
	fz_json_kstr(&j, "metric", fz_str_of(d->metric));
	fz_report_json_words(&j, d->metric, d->unit);
	if (d->per_run)
		fz_json_kbool(&j, "per_run", true);
	fz_json_kstr(&j, "match", fz_str_of(fz_match_names[d->match]));
	write_side(&j, "base", d, FZ_BASE);
	write_side(&j, "head", d, FZ_HEAD);
	write_speed(&j, d);
	fz_report_json_scale(&j, d);
	fz_report_json_verdict(&j, d, verdicts);
	fz_report_json_warnings(&j, d);
	fz_report_json_rules(&j, d);
	fz_report_json_links(&j, d);
	fz_report_json_splits(&j, d);
	fz_report_json_shifts(&j, d);
	if (d->inverted)
		fz_json_kbool(&j, "inverted", true);
	write_diff_nodes(&j, d, verdicts);
	fz_json_kopen(&j, "functions", '[');
	fz_function_rows_diff(&(struct fz_fields){ .json = &j }, d, verdicts, UINT32_MAX);
	fz_json_close(&j, ']');
	fz_json_kint(&j, "elided_count", d->elided_count);
	fz_json_kint(&j, "elided_time", d->elided_time);
	fz_json_close(&j, '}');
}

/* ---- one profile ---- */

static void write_profile_nodes(struct fz_json *j, const struct fz_tree *t, const int32_t *lines)
{
	const struct fz_profile *p = t->profile;
	struct fz_fields fields = { .json = j };

	fz_json_kopen(j, "nodes", '[');
	for (uint32_t i = 0; i < t->n; i++) {
		const struct fz_function *f = &p->functions[t->function[i]];
		fz_fields_begin(&fields);
		write_node(&fields, i, t->parent[i]);
		fz_fields_name(&fields, p->strings[f->name], p->strings[f->file],
			       lines[t->function[i]]);
		fz_field_int(&fields, "self", t->self[i]);
		fz_field_int(&fields, "total", t->total[i]);
		fz_fields_end(&fields);
	}
	fz_json_close(j, ']');
}

void fz_report_json_profile(const struct fz_profile *p, bool inverted, struct fz_output *out)
{
	struct fz_json j;
	struct fz_tree_options turned = FZ_TREE_DEFAULTS;
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &FZ_TREE_DEFAULTS);
	fz_auto(fz_tree_freep) struct fz_tree *nodes = NULL;
	const struct fz_metric *m = &p->metrics[t->metric];
	fz_auto(fz_free_ptr) int32_t *lines = fz_profile_function_lines(p, t->metric);

	fz_json_init(&j, out, 2);
	fz_json_open(&j, '{');
	fz_json_kint(&j, "schema", SCHEMA);
	fz_json_kstr(&j, "kind", FZ_STR("profile"));
	fz_json_kstr(&j, "metric", fz_str_of(m->name));
	fz_json_kstr(&j, "unit", fz_str_of(m->unit));
	if (p->per_run && fz_metric_is_per_run(m->name))
		fz_json_kbool(&j, "per_run", true);
	fz_report_json_counts(&j, p, t->samples);
	fz_json_kint(&j, "total", t->sum);
	if (t->stackless) {
		fz_json_kint(&j, "stackless_samples", (int64_t)t->stackless);
		fz_json_kint(&j, "stackless_total", t->stackless_sum);
	}
	fz_report_json_facts(&j, p);
	fz_report_processes_json(p, &j);
	fz_report_states_json(p, &j);
	fz_report_waits_json(p, &j);
	turned.inverted = true;
	if (inverted) {
		nodes = fz_tree_new(p, &turned);
		fz_json_kbool(&j, "inverted", true);
	}
	write_profile_nodes(&j, nodes ? nodes : t, lines);
	fz_json_kopen(&j, "functions", '[');
	fz_function_rows_profile(&(struct fz_fields){ .json = &j }, t, lines, UINT32_MAX);
	fz_json_close(&j, ']');
	fz_json_close(&j, '}');
}
