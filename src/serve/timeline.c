/* SPDX-License-Identifier: MIT */
/* A service over time, for its page (web/service.js) and other clients.
 *
 *   GET /api/timeline?service=S[&since=][&until=][&label=K=V ...][&metric=NAME][&rows=yes]
 *   GET /service?name=S     the page, which loads the timeline and comparisons (/api/diff)
 *
 * The response size is bounded (see fleet.h), however long the history is.
 */
#include "serve/timeline.h"

#include <stdio.h>

#include "base/json.h"
#include "report/markup.h"
#include "report/viewer.h"
#include "serve/routes.h"

enum { MINUTE_S = 60 };

/* Write [bucket, cost, host-minutes] of each bucket that has data. */
static void add_points(const struct fz_fleet_timeline *t, uint32_t band, struct fz_json *j)
{
	const struct fz_fleet_amount *row = &t->amounts[(size_t)band * t->buckets];

	fz_json_kopen(j, "points", '[');
	for (uint32_t i = 0; i < t->buckets; i++) {
		if (!row[i].cells)
			continue;
		fz_json_open(j, '[');
		fz_json_int(j, i);
		fz_json_int(j, row[i].cost);
		fz_json_int(j, row[i].cells);
		fz_json_close(j, ']');
	}
	fz_json_close(j, ']');
}

static void add_bands(const struct fz_fleet_timeline *t, struct fz_json *j)
{
	fz_json_kopen(j, "versions", '[');
	for (uint32_t i = 0; i < t->band_n; i++) {
		fz_json_open(j, '{');
		if (t->bands[i].version)
			fz_json_kstr(j, "version", fz_str_of(t->bands[i].version));
		else
			fz_json_kint(j, "older", t->older);
		fz_json_kint(j, "first", t->bands[i].first * MINUTE_S);
		add_points(t, i, j);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

/* The same as a list of objects with absolute times, for programs that draw tables. */
static void add_rows(const struct fz_fleet_timeline *t, struct fz_json *j)
{
	fz_json_kopen(j, "rows", '[');
	for (uint32_t i = 0; i < t->band_n * t->buckets; i++) {
		const struct fz_fleet_band *band = &t->bands[i / t->buckets];
		int64_t minute = t->first + i % t->buckets * t->minutes;

		if (!t->amounts[i].cells)
			continue;
		fz_json_open(j, '{');
		fz_json_kint(j, "time", minute * MINUTE_S);
		fz_json_kstr(j, "version", fz_str_of(band->version ? band->version : "older"));
		fz_json_kint(j, "cost", t->amounts[i].cost);
		fz_json_kint(j, "minutes", t->amounts[i].cells);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

/* The text of a stored alarm is JSON. */
static void add_alarm(void *arg, const struct fz_fleet_alarm *a)
{
	fz_json_raw(arg, fz_str_of(a->text));
}

static int write_json(const struct fz_http_request *q, struct fz_fleet *f,
		      const struct fz_fleet_timeline *t, const char *service, struct fz_output *out,
		      struct fz_error *err)
{
	struct fz_json j;

	fz_json_init(&j, out, 0);
	fz_json_open(&j, '{');
	fz_json_kstr(&j, "service", fz_str_of(service));
	if (fz_fleet_missing(f))
		fz_json_kstr(&j, "missing", fz_str_of(fz_fleet_missing(f)));
	fz_json_kstr(&j, "metric", t->metric);
	fz_json_kstr(&j, "unit", t->by_cpu ? FZ_STR("ns") : FZ_STR("samples"));
	fz_json_kint(&j, "first", t->first * MINUTE_S);
	fz_json_kint(&j, "seconds", t->minutes * MINUTE_S);
	fz_json_kint(&j, "buckets", t->buckets);
	if (fz_http_parameter(q, "rows"))
		add_rows(t, &j);
	else
		add_bands(t, &j);
	fz_json_kopen(&j, "alarms", '[');
	int r = fz_fleet_alarms(f, q->project, service, FZ_TIMELINE_ALARMS, add_alarm, &j, err);
	if (r)
		return r;
	fz_json_close(&j, ']');
	fz_json_close(&j, '}');
	return 0;
}

int fz_server_timeline(const struct fz_server_question *k, const struct fz_http_request *q,
		       struct fz_http_answer *ret, struct fz_error *err)
{
	fz_auto(fz_fleet_timeline_release) struct fz_fleet_timeline t = { 0 };
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	const char *rows = fz_http_parameter(q, "rows");

	if (rows && strcmp(rows, "yes") != 0)
		return fz_fail(err, FZ_EUSAGE, "rows: invalid value '%.40s' (expected yes)", rows);
	int r = fz_fleet_timeline(k->f, &k->query, &t, err);
	if (!r)
		r = write_json(q, k->f, &t, k->query.service, out, err);
	if (r)
		return r;
	struct fz_str text = fz_buf_view(fz_output_buffer(out));
	fz_buf_add(&ret->body, text.p, text.n);
	ret->type = "application/json";
	return 0;
}

/* ---- the page ---- */

struct filling {
	struct fz_output *out;
	const char *service, *project;
};

static void fill_mark(void *arg, struct fz_str name)
{
	struct filling *k = arg;

	fz_html_write(k->out,
		      fz_str_of(fz_str_eq(name, FZ_STR("project")) ? k->project : k->service));
}

void fz_answer_service(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	const char *service = fz_http_parameter(q, "name");
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_error err;

	(void)arg;
	if (fz_fleet_check_service(service ? service : "", &err)) {
		fz_http_refuse(ret, &err);
		return;
	}
	fz_viewer_fill(fz_service_page, fill_mark, &(struct filling){ out, service, q->project },
		       out);
	fz_http_page(ret, fz_buf_view(fz_output_buffer(out)));
}
