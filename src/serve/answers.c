/* SPDX-License-Identifier: MIT */
/* Responses about releases: recordings for `fizeau diff --server`, and comparisons as pages and
 * JSON; also the cache in front of them and of timelines. Each response has its own store handle,
 * so readers never wait for a writer.
 *
 *   question: parameters, sides in absolute time, state of their data -> known answer, or a new one
 *
 *   GET /api/release?base=S@V&head=S@V&side=base|head[...]   one of two releases, as a recording
 *   GET /api/pair?base=S@V&head=S@V[...]                     both: a line with the number of bytes
 *                                                            of the base, the base, the head
 *   GET /diff?base=S@V&head=S@V[...]                         the page of their comparison
 *   GET /api/diff?base=S@V&head=S@V[...]                     the same as JSON (docs/diff-json.md)
 *
 * A side is a release or a time range (fleet/sides.h). All accept label=K=V, since= and until=
 * (seconds since 1970) and metric=NAME.
 */

#include "base/clock.h"
#include "compare/comparison.h"
#include "fleet/fold.h"
#include "format/format.h"
#include "report/report.h"
#include "serve/routes.h"
#include "serve/server.h"
#include "serve/timeline.h"

/* Convert a parameter from seconds to minutes; `otherwise` if missing. */
static int parse_minute(const struct fz_http_request *q, const char *name, int64_t otherwise,
			int64_t *ret, struct fz_error *err)
{
	const char *text = fz_http_parameter(q, name);
	uint64_t seconds;

	*ret = otherwise;
	if (!text || !*text)
		return 0;
	if (!fz_parse_u64(fz_str_of(text), INT64_MAX, &seconds))
		return fz_fail(err, FZ_EUSAGE,
			       "%s: invalid time '%s' (expected seconds since 1970)", name, text);
	*ret = (int64_t)seconds / 60;
	return 0;
}

/* Read label=, since=, until= and metric= of a request; texts borrow from the request and `labels`.
 */
static int parse_query(const struct fz_http_request *q, struct fz_buf *labels,
		       struct fz_fleet_query *ret, struct fz_error *err)
{
	const char *list[FZ_HTTP_PARAMETERS_MAX];
	size_t n = fz_http_parameters(q, "label", list, FZ_ARRAY_LEN(list));
	int r = fz_fleet_labels(list, n, labels, err);

	*ret = (struct fz_fleet_query){ .project = q->project,
					.labels = labels->p,
					.metric = fz_http_parameter(q, "metric") };
	if (ret->metric && !*ret->metric)
		ret->metric = NULL;
	if (!r)
		r = parse_minute(q, "since", 0, &ret->from, err);
	if (!r)
		r = parse_minute(q, "until", INT64_MAX, &ret->until, err);
	return r;
}

/* ---- questions ---- */

/* A kind of answer. */
struct kind {
	const char *name;
	bool of_service; /* else of two sides */
	int (*write)(const struct fz_server_question *k, const struct fz_http_request *q,
		     struct fz_http_answer *ret, struct fz_error *err);
};

static void release(struct fz_server_question *k)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_fleet_side_release(&k->side[side]);
	fz_fleet_close(k->f);
	fz_buf_release(&k->labels);
	fz_buf_release(&k->key);
}

/* Append a text to the key so that its end is known. */
static void add_text(struct fz_server_question *k, const char *text)
{
	fz_buf_printf(&k->key, "%zu %s ", strlen(text), text);
}

static void add_alarm(void *arg, const struct fz_fleet_alarm *a)
{
	add_text(arg, a->text);
}

/* Complete the key with the state of a side's data, or clear it if that is unknown. */
static int add_state(struct fz_server_question *k, const struct fz_fleet_side *side,
		     struct fz_error *err)
{
	add_text(k, side->name);
	int r = fz_fleet_state(k->f, k->query.project, side->service, side->version, &k->key, err);
	k->cacheable &= r > 0;
	return FZ_MIN(r, 0);
}

static int parse_sides(struct fz_server_question *k, const struct fz_http_request *q,
		       struct fz_error *err)
{
	int64_t now = fz_clock_unix() / FZ_MINUTE;
	int r = 0;

	for (enum fz_side side = 0; !r && side < FZ_SIDES; side++) {
		k->texts[side] = fz_http_parameter(q, fz_side_names[side]);
		r = k->texts[side]
			    ? fz_fleet_side_of(k->texts[side], now, &k->side[side], err)
			    : fz_fail(err, FZ_EUSAGE,
				      "missing parameter: %s (SERVICE@VERSION or SERVICE@FROM..TO)",
				      fz_side_names[side]);
	}
	for (enum fz_side side = 0; !r && side < FZ_SIDES; side++)
		r = add_state(k, &k->side[side], err);
	return r;
}

static int parse_service(struct fz_server_question *k, const struct fz_http_request *q,
			 struct fz_error *err)
{
	k->query.service = fz_http_parameter(q, "service");
	if (!k->query.service || !*k->query.service)
		return fz_fail(err, FZ_EUSAGE, "missing parameter: service");
	k->side[0].service = fz_strdup(k->query.service);
	k->side[0].name = fz_strdup("");
	int r = add_state(k, &k->side[0], err);
	return r ? r
		 : fz_fleet_alarms(k->f, q->project, k->query.service, FZ_TIMELINE_ALARMS,
				   add_alarm, k, err);
}

/* Open the store and take the question's parameters. */
static int parse_question(const struct fz_server *s, const struct fz_http_request *q,
			  const struct kind *of, struct fz_server_question *k, struct fz_error *err)
{
	int r = parse_query(q, &k->labels, &k->query, err);

	k->cacheable = true;
	add_text(k, of->name);
	add_text(k, q->project);
	for (size_t i = 0; i < q->parameter_n; i++) {
		add_text(k, q->parameters[i].name);
		add_text(k, q->parameters[i].value);
	}
	if (!r)
		r = fz_server_open_store(s, FZ_FLEET_READ, &k->f, err);
	return r ? r : of->of_service ? parse_service(k, q, err) : parse_sides(k, q, err);
}

/* ---- answers ---- */

struct pair {
	struct fz_profile *profile[FZ_SIDES];
};

static void release_pair(struct pair *p)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		fz_profile_free(p->profile[s]);
}

static int load(const struct fz_server_question *k, struct pair *p, struct fz_error *err)
{
	return fz_fleet_pair(k->f, &k->query,
			     (const char *const[]){ k->side[FZ_BASE].name, k->side[FZ_HEAD].name },
			     p->profile, err);
}

static int write_release(const struct fz_server_question *k, const struct fz_http_request *q,
			 struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(release_pair) struct pair p = { 0 };
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	const char *side = fz_http_parameter(q, "side");
	bool head = side && strcmp(side, "head") == 0;

	if (!head && !(side && strcmp(side, "base") == 0))
		return fz_fail(err, FZ_EUSAGE, "side: must be base or head");
	int r = load(k, &p, err);
	if (!r)
		r = fz_format_fz.write(p.profile[head ? FZ_HEAD : FZ_BASE], out, err);
	if (r)
		return r;
	struct fz_str bytes = fz_buf_view(fz_output_buffer(out));
	fz_buf_add(&ret->body, bytes.p, bytes.n);
	ret->type = "application/octet-stream";
	return 0;
}

static int write_pair(const struct fz_server_question *k, const struct fz_http_request *q,
		      struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(release_pair) struct pair p = { 0 };
	int r = load(k, &p, err);

	(void)q;
	for (enum fz_side side = 0; !r && side < FZ_SIDES; side++) {
		fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();

		r = fz_format_fz.write(p.profile[side], out, err);
		if (r)
			break;
		struct fz_str bytes = fz_buf_view(fz_output_buffer(out));
		if (side == FZ_BASE)
			fz_buf_printf(&ret->body, "%zu\n", bytes.n);
		fz_buf_add(&ret->body, bytes.p, bytes.n);
	}
	ret->type = "application/octet-stream";
	return r;
}

static int write_report(const struct fz_server_question *k, const char *name,
			struct fz_http_answer *ret, struct fz_error *err)
{
	const struct fz_report *of = fz_report_by_name(name);
	struct fz_comparison_options how = {
		.diff = { .cells = of->page, .lines = of->page },
	};
	struct fz_report_options report = { .html = FZ_HTML_DEFAULTS, .to_file = true };
	fz_auto(release_pair) struct pair p = { 0 };
	fz_auto(fz_comparison_freep) struct fz_comparison *c = NULL;
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	int r = load(k, &p, err);

	if (!r)
		r = fz_comparison_new(p.profile[FZ_BASE], p.profile[FZ_HEAD], &how, &c, err);
	if (r)
		return r;
	memcpy(report.html.labels, k->texts, sizeof(k->texts));
	r = of->diff(&report, c->diff, c->judgement, out, err);
	if (r)
		return r;
	struct fz_str text = fz_buf_view(fz_output_buffer(out));
	fz_buf_add(&ret->body, text.p, text.n);
	return 0;
}

static int write_json(const struct fz_server_question *k, const struct fz_http_request *q,
		      struct fz_http_answer *ret, struct fz_error *err)
{
	(void)q;
	ret->type = "application/json";
	return write_report(k, "json", ret, err);
}

static int write_page(const struct fz_server_question *k, const struct fz_http_request *q,
		      struct fz_http_answer *ret, struct fz_error *err)
{
	(void)q;
	ret->type = "text/html; charset=utf-8";
	/* The page itself allows its own script and style only, by their hashes. */
	ret->policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
		      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
	return write_report(k, "html", ret, err);
}

static int answer(struct fz_server *s, const struct fz_http_request *q, const struct kind *of,
		  struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(release) struct fz_server_question k = { 0 };
	int r = parse_question(s, q, of, &k, err);

	if (r)
		return r;
	struct fz_str key = fz_buf_view(&k.key);
	if (k.cacheable && fz_answer_cache_get(&s->answers, key, ret)) {
		atomic_fetch_add(&s->figures.cached, 1);
		return 0;
	}
	atomic_fetch_add(&s->figures.computed, 1);
	r = of->write(&k, q, ret, err);
	if (!r && k.cacheable && !fz_fleet_missing(k.f))
		fz_answer_cache_put(&s->answers, key, ret);
	return r;
}

static void work(struct fz_server *s, const struct fz_http_request *q, const struct kind *of,
		 struct fz_http_answer *ret)
{
	struct fz_error err;

	fz_server_begin_work(s);
	if (answer(s, q, of, ret, &err))
		fz_http_refuse(ret, &err);
	fz_server_end_work(s);
}

void fz_answer_release(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	work(arg, q, &(struct kind){ .name = "release", .write = write_release }, ret);
}

void fz_answer_pair(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	work(arg, q, &(struct kind){ .name = "pair", .write = write_pair }, ret);
}

void fz_answer_diff(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	work(arg, q, &(struct kind){ .name = "page", .write = write_page }, ret);
}

void fz_answer_json(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	work(arg, q, &(struct kind){ .name = "json", .write = write_json }, ret);
}

void fz_answer_timeline(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	work(arg, q,
	     &(struct kind){ .name = "timeline", .of_service = true, .write = fz_server_timeline },
	     ret);
}
