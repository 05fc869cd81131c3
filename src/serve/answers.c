/* SPDX-License-Identifier: MIT */
/* Responses about releases: recordings for `fizeau diff --server`, and comparisons as pages and
 * JSON. Each response has its own store handle, so readers never wait for a writer.
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

#include "compare/comparison.h"
#include "fleet/fold.h"
#include "format/format.h"
#include "report/report.h"
#include "serve/server.h"

struct pair {
	const char *texts[FZ_SIDES];
	struct fz_profile *profile[FZ_SIDES];
};

static void release(struct pair *p)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		fz_profile_free(p->profile[s]);
}

/* Convert a parameter from seconds to minutes; `otherwise` if missing. */
static int take_minute(const struct fz_http_request *q, const char *name, int64_t otherwise,
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

int fz_server_take_query(const struct fz_http_request *q, struct fz_buf *labels,
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
		r = take_minute(q, "since", 0, &ret->from, err);
	if (!r)
		r = take_minute(q, "until", INT64_MAX, &ret->until, err);
	return r;
}

static int load(const struct fz_server *s, const struct fz_http_request *q, struct pair *p,
		struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf labels = { 0 };
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_fleet_query query;
	int r = fz_server_take_query(q, &labels, &query, err);

	for (enum fz_side side = 0; !r && side < FZ_SIDES; side++) {
		p->texts[side] = fz_http_parameter(q, fz_side_names[side]);
		if (!p->texts[side])
			r = fz_fail(err, FZ_EUSAGE,
				    "missing parameter: %s (SERVICE@VERSION or SERVICE@FROM..TO)",
				    fz_side_names[side]);
	}
	if (!r)
		r = fz_fleet_open(s->options.store, FZ_FLEET_READ, &f, err);
	return r ? r : fz_fleet_pair(f, &query, p->texts, p->profile, err);
}

static int write_release(struct fz_server *s, const struct fz_http_request *q,
			 struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(release) struct pair p = { 0 };
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	const char *side = fz_http_parameter(q, "side");
	bool head = side && strcmp(side, "head") == 0;

	if (!head && !(side && strcmp(side, "base") == 0))
		return fz_fail(err, FZ_EUSAGE, "side: must be base or head");
	int r = load(s, q, &p, err);
	if (!r)
		r = fz_format_fz.write(p.profile[head ? FZ_HEAD : FZ_BASE], out, err);
	if (r)
		return r;
	struct fz_str bytes = fz_buf_view(fz_output_buffer(out));
	fz_buf_add(&ret->body, bytes.p, bytes.n);
	ret->type = "application/octet-stream";
	return 0;
}

static int write_pair(struct fz_server *s, const struct fz_http_request *q,
		      struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(release) struct pair p = { 0 };
	int r = load(s, q, &p, err);

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

static int write_report(struct fz_server *s, const struct fz_http_request *q, const char *name,
			struct fz_http_answer *ret, struct fz_error *err)
{
	const struct fz_report *of = fz_report_by_name(name);
	struct fz_comparison_options how = {
		.diff = { .cells = of->page, .lines = of->page },
	};
	struct fz_report_options report = { .html = FZ_HTML_DEFAULTS, .to_file = true };
	fz_auto(release) struct pair p = { 0 };
	fz_auto(fz_comparison_freep) struct fz_comparison *c = NULL;
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	int r = load(s, q, &p, err);

	if (!r)
		r = fz_comparison_new(p.profile[FZ_BASE], p.profile[FZ_HEAD], &how, &c, err);
	if (r)
		return r;
	memcpy(report.html.labels, p.texts, sizeof(p.texts));
	r = of->diff(&report, c->diff, c->judgement, out, err);
	if (r)
		return r;
	struct fz_str text = fz_buf_view(fz_output_buffer(out));
	fz_buf_add(&ret->body, text.p, text.n);
	return 0;
}

static int write_json(struct fz_server *s, const struct fz_http_request *q,
		      struct fz_http_answer *ret, struct fz_error *err)
{
	ret->type = "application/json";
	return write_report(s, q, "json", ret, err);
}

static int write_page(struct fz_server *s, const struct fz_http_request *q,
		      struct fz_http_answer *ret, struct fz_error *err)
{
	ret->type = "text/html; charset=utf-8";
	/* The page itself allows its own script and style only, by their hashes. */
	ret->policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
		      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
	return write_report(s, q, "html", ret, err);
}

static void work(struct fz_server *s, const struct fz_http_request *q, struct fz_http_answer *ret,
		 int (*write)(struct fz_server *s, const struct fz_http_request *q,
			      struct fz_http_answer *ret, struct fz_error *err))
{
	struct fz_error err;

	fz_server_begin_work(s);
	if (write(s, q, ret, &err))
		fz_http_refuse(ret, &err);
	fz_server_end_work(s);
}

void fz_answer_release(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	work(arg, q, ret, write_release);
}

void fz_answer_pair(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	work(arg, q, ret, write_pair);
}

void fz_answer_diff(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	work(arg, q, ret, write_page);
}

void fz_answer_json(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	work(arg, q, ret, write_json);
}

void fz_answer_timeline(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	work(arg, q, ret, fz_server_timeline);
}
