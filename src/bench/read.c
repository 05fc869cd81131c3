/* SPDX-License-Identifier: MIT */
/* Reading reports of fz_ci_json; see report.h. A report may come from a job that ran untrusted
 * code: its texts are made printable, and its figures are not trusted as sizes. */
#include "bench/report.h"

#include "format/jsonread.h"

#include <math.h>

static char *printable(struct fz_arena *arena, struct fz_str text)
{
	fz_auto(fz_free_ptr) char *out = fz_malloc(4 * text.n + 1);
	size_t n = fz_str_printable(text.p, text.n, out, 4 * text.n + 1);

	return fz_arena_strndup(arena, out, n);
}

/* NULL if it is missing. */
static const char *text_of(struct fz_ci_result *r, const json_t *v, const char *key)
{
	const json_t *text = json_object_get(v, key);

	return json_is_string(text) ? printable(&r->arena, fz_jsonread_str(text)) : NULL;
}

/* Its lines, made printable. */
static const char *environment_of(struct fz_ci_result *r, const json_t *v)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_str rest = fz_jsonread_kstr(v, "environment");

	while (rest.n)
		fz_buf_printf(&out, "%s\n", printable(&r->arena, fz_str_take_line(&rest)));
	return out.n ? fz_arena_strndup(&r->arena, out.p, out.n) : NULL;
}

static double number_of(const json_t *v, const char *key)
{
	const json_t *number = json_object_get(v, key);

	return json_is_number(number) ? json_number_value(number) : NAN;
}

static bool read_verdict(const json_t *v, enum fz_ci_verdict *ret)
{
	for (int i = 0; i < FZ_CI_VERDICTS; i++) {
		if (fz_str_eq(fz_jsonread_kstr(v, "verdict"), fz_str_of(fz_ci_verdict_names[i]))) {
			*ret = (enum fz_ci_verdict)i;
			return true;
		}
	}
	return false;
}

static void read_side(struct fz_ci_bench *b, enum fz_side side, const json_t *v, const char *count,
		      const char *cycles)
{
	double n = number_of(v, count), m = number_of(v, cycles);

	b->on_side[side] = !isnan(n);
	b->count[side] = isnan(n) ? 0 : n;
	b->cycles[side] = isnan(m) ? 0 : m;
}

static void read_wall(struct fz_ci_bench *b, const json_t *v)
{
	double pairs = number_of(v, "pairs");

	if (!(pairs >= 1 && pairs < UINT32_MAX))
		return;
	b->wall = (struct fz_pairs){ .n = (unsigned)pairs,
				     .change = number_of(v, "change"),
				     .low = number_of(v, "low"),
				     .high = number_of(v, "high"),
				     .decided = json_is_true(json_object_get(v, "decided")) };
	b->wall_ns[FZ_BASE] = number_of(v, "base_ns");
	b->wall_ns[FZ_HEAD] = number_of(v, "head_ns");
}

static void read_place(struct fz_ci_result *r, struct fz_ci_place *p, const json_t *v)
{
	p->context = text_of(r, v, "context");
	p->change = number_of(v, "change");
	p->base = number_of(v, "base");
	p->file = text_of(r, v, "file");
	p->line = (int32_t)fz_jsonread_int(json_object_get(v, "line"), 0);
}

/* Reports of one metric need not repeat it. */
static const char *metric_of(const struct fz_ci_result *r, const json_t *v)
{
	struct fz_str text = fz_jsonread_kstr(v, "metric");

	for (uint32_t i = 0; i < r->metrics.n; i++)
		if (fz_str_eq(text, fz_str_of(r->metrics.list[i])))
			return r->metrics.list[i];
	return text.n || r->metrics.n > 1 ? NULL : r->metrics.list[0];
}

static int read_bench(struct fz_ci_result *r, const json_t *v, struct fz_error *err)
{
	fz_auto(fz_arena_release) struct fz_arena scratch = { 0 };
	struct fz_str name = fz_str_of(printable(&scratch, fz_jsonread_kstr(v, "name")));
	const char *metric = metric_of(r, v);
	uint32_t before = r->n;

	if (!metric)
		return fz_fail(err, FZ_EINPUT, "'%.*s' has a metric that is not in the report",
			       (int)name.n, name.p);
	struct fz_ci_bench *b = fz_ci_bench_of(r, name, metric);
	if (r->n == before)
		return fz_fail(err, FZ_EINPUT,
			       "benchmark '%.*s' occurs twice; each name must be unique",
			       (int)name.n, name.p);
	if (!read_verdict(v, &b->verdict))
		return fz_fail(err, FZ_EINPUT, "'%.*s' has an unknown verdict", (int)name.n,
			       name.p);
	b->suspect = b->verdict == FZ_CI_SLOWER || b->verdict == FZ_CI_FASTER ||
		     b->verdict == FZ_CI_DISAGREE;
	b->was = text_of(r, v, "renamed_from");
	b->trouble = text_of(r, v, "trouble");
	b->ignored = text_of(r, v, "ignored");
	b->accepted = text_of(r, v, "accepted");
	b->accepted_by = text_of(r, v, "accepted_by");
	b->fails = json_is_true(json_object_get(v, "fails"));
	b->change = number_of(v, "change");
	b->floor = number_of(v, "floor");
	b->limit = number_of(v, "limit");
	read_side(b, FZ_BASE, v, "base", "base_cycles");
	read_side(b, FZ_HEAD, v, "head", "head_cycles");
	read_wall(b, json_object_get(v, "wall"));
	read_place(r, &b->place, json_object_get(v, "where"));
	return 0;
}

/* Check that merged reports are of the same change. */
static int read_head(struct fz_ci_result *r, const json_t *v, struct fz_error *err)
{
	static const char *const keys[] = { "metric", "base", "head" };
	fz_auto(fz_buf_release) struct fz_buf metrics = { 0 };
	const char *was = NULL;
	const char **known[] = { &was, &r->labels[FZ_BASE], &r->labels[FZ_HEAD] };

	fz_ci_metrics_text(r, &metrics);
	was = metrics.n ? metrics.p : NULL;

	if (fz_jsonread_int(json_object_get(v, "schema"), 0) != 1)
		return fz_fail(err, FZ_EINPUT, "not a report of fizeau ci");
	if (json_array_size(json_object_get(v, "benchmarks")) > FZ_CI_READ_MAX)
		return fz_fail(err, FZ_ELIMIT, "has more than %d benchmarks", FZ_CI_READ_MAX);
	for (size_t i = 0; i < FZ_ARRAY_LEN(keys); i++) {
		const char *text = text_of(r, v, keys[i]);
		if (!text)
			return fz_fail(err, FZ_EINPUT, "has no %s", keys[i]);
		if (*known[i] && strcmp(*known[i], text) != 0)
			return fz_fail(err, FZ_EINPUT,
				       "its %s is %s, but %s in another report; only reports of "
				       "the same change can be merged",
				       keys[i], text, *known[i]);
		*known[i] = text;
	}
	if (!fz_ci_parse_metrics(fz_str_of(was), &r->metrics))
		return fz_fail(err, FZ_EINPUT, "unknown metric '%s'", was);
	return 0;
}

static bool is_among(char *const *lines, uint32_t n, const char *line)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(lines[i], line) == 0)
			return true;
	return false;
}

static void read_lines(struct fz_ci_result *r, const json_t *v)
{
	const json_t *line;
	size_t i;

	json_array_foreach(json_object_get(v, "troubles"), i, line)
		fz_ci_trouble(r, "%s", printable(&r->arena, fz_jsonread_str(line)));
	json_array_foreach(json_object_get(v, "notes"), i, line)
	{
		const char *text = printable(&r->arena, fz_jsonread_str(line));
		if (!is_among(r->notes, r->note_n, text))
			fz_ci_note(r, "%s", text);
	}
}

static int read_report(struct fz_ci_result *r, const json_t *v, struct fz_error *err)
{
	const json_t *bench;
	size_t i;
	int rc = read_head(r, v, err);

	json_array_foreach(json_object_get(v, "benchmarks"), i, bench)
	{
		if (!rc)
			rc = read_bench(r, bench, err);
	}
	if (rc)
		return rc;
	if (!r->environment)
		r->environment = environment_of(r, v);
	read_lines(r, v);
	return 0;
}

int fz_ci_read(struct fz_ci_result *r, struct fz_input *in, struct fz_error *err)
{
	fz_auto(fz_jsonread_release) json_t *v = NULL;
	int rc = fz_jsonread_load(in, &v, err);

	if (rc)
		return rc;
	rc = read_report(r, v, err);
	return rc ? fz_error_prefix(err, "%s", fz_input_name(in)) : 0;
}
