/* SPDX-License-Identifier: MIT */
/* What changed between two recordings, and whether the change is proven: the verdict of `fizeau
 * diff`, in the same words.
 *
 * Functions are ordered by the verdict on their self cost, as everywhere. Functions whose source
 * was edited and whose total cost changed significantly come first: cause and effect together.
 * Among the unsure ones the edited ones come first.
 */
#include "mcp/subject.h"

#include "mcp/answer.h"
#include "mcp/source.h"
#include "profile/cost_words.h"
#include "report/advice.h"
#include "report/findings.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>

/* Limits of rows, independent of the budget. */
enum { ROWS_MAX = 60, UNSURE_ROWS = 5, NAME_COLUMNS = 60 };

static const struct fz_style style = { .columns = 200 };

/* ---- members of the answer ---- */

/* Add warnings [from, to). */
static void add_warnings(struct fz_mcp_call *c, const struct fz_diff *d, const char *key,
			 uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		fz_mcp_append_text(c, key, d->warnings[i]);
}

static void add_notes(struct fz_mcp_call *c, const struct fz_mcp_subject *s, bool advice)
{
	fz_auto(fz_advice_release) struct fz_advice b;

	fz_advice_init(&b, s->diff, s->judgement);
	for (uint32_t i = 0; i < b.n; i++)
		fz_mcp_append_text(c, "notes", b.notes[i]);
	if (b.command && advice) {
		fz_auto(fz_free_ptr) char *text = fz_asprintf("%s: %s", b.advice, b.command);
		fz_mcp_append_text(c, "advice", text);
	}
}

static void add_headline(struct fz_mcp_call *c, const struct fz_mcp_subject *s)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	fz_findings_headline(s->diff, s->judgement, &style, &text);
	fz_mcp_add_text(c, "says", &text);
	json_object_set_new(c->answer, "of", json_string(s->name));
}

static void add_run(struct fz_mcp_call *c, const struct fz_mcp_subject *s)
{
	const struct fz_judged_run *run = &s->judgement->run;

	if (!c->structured)
		return;
	json_object_set_new(c->answer, "word", json_string(fz_run_word_names[run->word]));
	if (isfinite(run->change))
		json_object_set_new(c->answer, "change", json_real(run->change));
	if (isfinite(run->low) && isfinite(run->high)) {
		json_object_set_new(c->answer, "low", json_real(run->low));
		json_object_set_new(c->answer, "high", json_real(run->high));
	}
	json_object_set_new(c->answer, "unit", json_string(s->diff->unit));
}

/* ---- rows ---- */

struct sources {
	struct fz_mcp_source side[FZ_SIDES];
};

static void release_sources(struct sources *s)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_mcp_source_release(&s->side[side]);
}

static const char *edited(struct sources *s, const struct fz_diff_function *f)
{
	struct fz_mcp_body body[FZ_SIDES] = { 0 };
	const char *word = "-";

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		if (f->on_side[side] != FZ_NONE)
			fz_mcp_source_body(&s->side[side], f->on_side[side], &body[side]);
	if (body[FZ_BASE].n && body[FZ_HEAD].n)
		word = fz_mcp_body_equal(&body[FZ_BASE], &body[FZ_HEAD]) ? "same" : "edited";
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_mcp_body_release(&body[side]);
	return word;
}

static const struct fz_cost_words *words_of(const struct fz_diff *d)
{
	return fz_cost_words(d->metric, d->unit);
}

/* "slower", "faster", "new", "gone", "same", "unsure" */
static const char *verdict_word(const struct fz_finding *r, const struct fz_cost_words *words)
{
	switch (r->judged->verdict) {
	case FZ_VERDICT_CHANGED:
		return r->f->state != FZ_COMMON ? fz_diff_word(r->f)
		       : r->change > 0          ? words->more
						: words->less;
	case FZ_VERDICT_UNCHANGED:
		return "same";
	default:
		return "unsure";
	}
}

struct table {
	struct fz_mcp_call *c;
	const struct fz_mcp_subject *s;
	struct sources sources;
	json_t *rows;
	bool *shown; /* by function */
	/* Edited functions with the largest changes; FZ_NONE: none. */
	struct suspect {
		uint32_t function;
		double change;
	} certain, unsure;
};

static void add_interval(const struct fz_mcp_call *c, json_t *row, const struct fz_finding *r,
			 const char *unit)
{
	char text[FZ_INTERVAL_SIZE];

	if (c->structured) {
		fz_mcp_value(c, row, "low", r->judged->low, unit);
		fz_mcp_value(c, row, "high", r->judged->high, unit);
	} else if (*fz_finding_interval(r, unit, &style, text)) {
		json_object_set_new(row, "interval", json_string(text));
	}
}

static void add_row(struct table *t, const struct fz_finding *r, const char *by, const char *code)
{
	const struct fz_diff *d = t->s->diff;
	uint32_t function = (uint32_t)(r->f - d->functions);
	json_t *row = json_object();
	char percent[FZ_NUMBER_SIZE];

	if (t->shown[function] || json_array_size(t->rows) >= ROWS_MAX) {
		json_decref(row);
		return;
	}
	t->shown[function] = true;
	fz_mcp_subject_id(row, function);
	json_object_set_new(
		row, "verdict",
		json_string(verdict_word(r, t->c->structured ? &fz_cost_words_for_programs
							     : words_of(d))));
	fz_mcp_change(t->c, row, r->change, d->unit);
	add_interval(t->c, row, r, d->unit);
	if (!t->c->structured)
		json_object_set_new(row, "percent", json_string(fz_finding_percent(r, percent)));
	else if (r->expected > 0)
		json_object_set_new(row, "percent", json_real(100 * r->change / r->expected));
	json_object_set_new(row, "by", json_string(by));
	json_object_set_new(row, "code", json_string(code));
	fz_mcp_subject_names(t->s, row, function);
	json_array_append_new(t->rows, row);
}

static void suspect(struct suspect *s, const struct table *t, const struct fz_finding *r)
{
	if (s->function != FZ_NONE && fabs(r->change) <= s->change)
		return;
	s->function = (uint32_t)(r->f - t->s->diff->functions);
	s->change = fabs(r->change);
}

/* Add functions that have both a certain change, by self or total, and an edited text. */
static void add_edited(struct table *t, const struct fz_findings *f, bool total)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct fz_finding *r = &f->rows[i];
		uint32_t function = (uint32_t)(r->f - t->s->diff->functions);
		if (r->judged->verdict != FZ_VERDICT_CHANGED || t->shown[function] ||
		    strcmp(edited(&t->sources, r->f), "edited") != 0)
			continue;
		suspect(&t->certain, t, r);
		add_row(t, r, total ? "total" : "self", "edited");
	}
}

static void add_certain(struct table *t, const struct fz_findings *f)
{
	for (uint32_t i = 0; i < f->count[FZ_VERDICT_CHANGED]; i++)
		add_row(t, &f->rows[i], "self", edited(&t->sources, f->rows[i].f));
}

/* Add a few uncertain functions, as candidates if nothing is certain. */
static void add_unsure(struct table *t, const struct fz_findings *f, bool only_edited)
{
	uint32_t first = f->count[FZ_VERDICT_CHANGED], n = 0;

	for (uint32_t i = first; i < first + f->count[FZ_VERDICT_UNKNOWN] && n < UNSURE_ROWS; i++) {
		const char *code = edited(&t->sources, f->rows[i].f);
		if (f->rows[i].startup || (only_edited && strcmp(code, "edited") != 0))
			continue;
		if (only_edited)
			suspect(&t->unsure, t, &f->rows[i]);
		add_row(t, &f->rows[i], "self", code);
		n++;
	}
}

/* Suggest the function to examine first: an edited one with a certain change, else an edited one,
 * else one that changed; and the first row, if it is another one. */
static void add_next(struct table *t)
{
	const char *name = t->s->name;
	const char *id = json_string_value(json_object_get(json_array_get(t->rows, 0), "id"));
	uint32_t first = t->certain.function != FZ_NONE ? t->certain.function : t->unsure.function;
	char text[16] = "";

	if (first != FZ_NONE)
		snprintf(text, sizeof(text), "f%u", first);
	if (*text)
		fz_mcp_next(t->c, "where(of=%s, function=%s)", name, text);
	if (id && strcmp(id, text) != 0)
		fz_mcp_next(t->c, "where(of=%s, function=%s)", name, id);
}

static void add_functions(struct fz_mcp_call *c, const struct fz_mcp_subject *s)
{
	struct table t = {
		.c = c, .s = s, .rows = json_array(), .certain = { FZ_NONE }, .unsure = { FZ_NONE }
	};
	fz_auto(fz_buf_release) struct fz_buf summary = { 0 };
	fz_auto(fz_findings_release) struct fz_findings self = { 0 };
	fz_auto(fz_findings_release) struct fz_findings total = { 0 };

	fz_findings_init(&self, s->diff, s->judgement, false);
	fz_findings_init(&total, s->diff, s->judgement, true);
	t.shown = fz_calloc(s->diff->function_count, sizeof(*t.shown));
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_mcp_source_init(&t.sources.side[side], s->diff->profile[side]);
	add_edited(&t, &self, false);
	add_edited(&t, &total, true);
	add_certain(&t, &self);
	add_unsure(&t, &self, true);
	add_unsure(&t, &self, false);
	fz_findings_summary(&self, s->diff, s->judgement, &style, &summary);
	fz_mcp_add_text(c, "self", &summary);
	if (json_array_size(t.rows))
		json_object_set(c->answer, "functions", t.rows);
	add_next(&t);
	json_decref(t.rows);
	free(t.shown);
	release_sources(&t.sources);
}

/* ---- tools ---- */

void fz_mcp_add_changes(struct fz_mcp_call *c, const struct fz_mcp_subject *s)
{
	const struct fz_diff *d = s->diff;

	add_headline(c, s);
	add_run(c, s);
	add_warnings(c, d, "urgent", 0, d->urgent);
	add_functions(c, s);
	add_notes(c, s, false);
	add_warnings(c, d, "warnings", d->urgent, d->warning_count);
}

static int changes(struct fz_mcp_call *c, struct fz_error *err)
{
	fz_auto(fz_mcp_subject_release) struct fz_mcp_subject s;
	int r = fz_mcp_subject_open(c, FZ_MCP_TWO, &s, err);

	if (!r)
		fz_mcp_add_changes(c, &s);
	return r;
}

const struct fz_mcp_tool fz_mcp_tool_changes = {
	.name = "changes",
	.title = "What changed between two recordings",
	.help = "What became slower or faster (for bytes: larger or smaller) between base and "
		"head: the overall verdict, then functions, edited ones first. Default: the last "
		"two recordings of a program. Pass its handle (d1) to where, calls and verify.",
	.arguments = (const struct fz_mcp_argument[]){ FZ_MCP_SIDE_ARGUMENTS,
						       FZ_MCP_OF_ARGUMENT,
						       { 0 } },
	.run = changes,
};

/* ---- verify ---- */

/* Begin with the claim that the measurement justifies. */
static void claim(struct fz_mcp_call *c, const char *word, const char *of_what)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	fz_buf_printf(&text, "%s%s", strcmp(word, "unsure") == 0 ? "cannot tell" : word, of_what);
	fz_mcp_add_text(c, "claim", &text);
}

static void claim_run(struct fz_mcp_call *c, const struct fz_mcp_subject *s)
{
	const struct fz_cost_words *words = words_of(s->diff);
	const char *const claims[FZ_RUN_WORDS] = { "cannot tell", "same", words->more,
						   words->less };

	claim(c, claims[s->judgement->run.word], "");
	add_headline(c, s);
	add_run(c, s);
}

static int claim_function(struct fz_mcp_call *c, const struct fz_mcp_subject *s,
			  struct fz_error *err)
{
	fz_auto(fz_findings_release) struct fz_findings f = { 0 };
	fz_auto(fz_buf_release) struct fz_buf line = { 0 };
	char change[FZ_NUMBER_SIZE], interval[FZ_INTERVAL_SIZE], percent[FZ_NUMBER_SIZE];
	uint32_t function, i = 0;
	int r = fz_mcp_subject_function(c, s, &function, err);

	if (r)
		return r;
	fz_findings_init(&f, s->diff, s->judgement, true);
	while (i < f.n && f.rows[i].f != &s->diff->functions[function])
		i++;
	if (i == f.n)
		return fz_fail(err, FZ_EUSAGE, "f%u: not sampled on either side", function);
	const struct fz_finding *row = &f.rows[i];
	fz_buf_str(&line, " for ");
	fz_table_name(row->f->name, NAME_COLUMNS, &style, &line);
	fz_buf_str(&line, ", calls included");
	claim(c, verdict_word(row, words_of(s->diff)), line.p);
	fz_buf_reset(&line);
	fz_buf_printf(&line, "%s (%s)", fz_format_change(row->change, s->diff->unit, change),
		      fz_finding_percent(row, percent));
	if (*fz_finding_interval(row, s->diff->unit, &style, interval))
		fz_buf_printf(&line, ", interval %s", interval);
	fz_mcp_add_text(c, "change", &line);
	add_headline(c, s);
	return 0;
}

static int verify(struct fz_mcp_call *c, struct fz_error *err)
{
	fz_auto(fz_mcp_subject_release) struct fz_mcp_subject s;
	fz_auto(fz_buf_release) struct fz_buf power = { 0 };
	fz_auto(fz_buf_release) struct fz_buf method = { 0 };
	int r = fz_mcp_subject_open(c, FZ_MCP_TWO, &s, err);

	if (!r && fz_mcp_text(c, "function"))
		r = claim_function(c, &s, err);
	else if (!r)
		claim_run(c, &s);
	if (r)
		return r;
	add_warnings(c, s.diff, "warnings", 0, s.diff->warning_count);
	add_notes(c, &s, true);
	fz_findings_power(s.judgement, &power);
	fz_mcp_add_text(c, "power", &power);
	fz_findings_method(s.diff, s.judgement, &method);
	fz_mcp_add_text(c, "judged", &method);
	return 0;
}

const struct fz_mcp_tool fz_mcp_tool_verify = {
	.name = "verify",
	.title = "Is the change proven?",
	.help = "A statistically proven answer for the run or one function: faster, slower, same, "
		"or cannot tell (and which measurement would). Call it before claiming that "
		"something is faster.",
	.arguments = (const struct fz_mcp_argument[]){ FZ_MCP_SIDE_ARGUMENTS,
						       FZ_MCP_OF_ARGUMENT,
						       FZ_MCP_FUNCTION_ARGUMENT(false),
						       { 0 } },
	.run = verify,
};
