/* SPDX-License-Identifier: MIT */
/* The first page of the server, made from web/fleet.html: a card per service, a row per version and
 * metric, and a form that compares two versions. The form works without script; script only adds
 * the search.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/text.h"
#include "compare/diff.h"
#include "format/jsonread.h"
#include "report/markup.h"
#include "report/viewer.h"
#include "serve/routes.h"
#include "serve/server.h"

enum { ALARMS_SHOWN = 100 };

struct home {
	const char *project;
	char *missing; /* shards that did not respond; NULL: none */
	struct fz_buf cards, alarms;
	/* of the last row */
	char service[FZ_FLEET_NAME_MAX + 1], version[FZ_FLEET_NAME_MAX + 1];
	int versions; /* of its service */
	int64_t services, all_versions;
	struct fz_output *out;
};

static void add_cell(struct fz_buf *out, const char *text)
{
	fz_buf_str(out, "<td>");
	fz_html_escape(out, fz_str_of(text));
}

/* "2026-11-23 06:15" */
static void add_minute(struct fz_buf *out, int64_t minute)
{
	time_t seconds = (time_t)(minute * 60);
	char text[32] = "";
	struct tm t;

	if (gmtime_r(&seconds, &t))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &t);
	add_cell(out, text);
}

/* By default the latest version is the head and the previous one the base. */
static void add_choices(struct home *h, const struct fz_fleet_entry *e)
{
	for (int side = 0; side < FZ_SIDES; side++) {
		bool chosen = h->versions == (side ? 1 : 2);

		fz_buf_printf(&h->cards, "<td><input type=\"radio\" name=\"%s\"%s value=\"",
			      fz_side_names[side], chosen ? " checked" : "");
		fz_html_escape(&h->cards, fz_str_of(e->service));
		fz_buf_char(&h->cards, '@');
		fz_html_escape(&h->cards, fz_str_of(e->version));
		fz_buf_printf(&h->cards, "\" aria-label=\"%s: ", fz_side_names[side]);
		fz_html_escape(&h->cards, fz_str_of(e->version));
		fz_buf_str(&h->cards, "\">");
	}
}

static void end_card(struct home *h)
{
	if (!h->services)
		return;
	fz_buf_str(&h->cards, "</tbody></table></div>\n");
	if (h->versions > 1)
		fz_buf_str(&h->cards, "<p class=\"act\"><button>Compare base with head</button>"
				      "</p>\n");
	fz_buf_str(&h->cards, "</form></section>\n");
}

static void begin_card(struct home *h, const struct fz_fleet_entry *e)
{
	end_card(h);
	h->services++;
	h->versions = 0;
	h->version[0] = 0;
	snprintf(h->service, sizeof(h->service), "%s", e->service);
	fz_buf_str(&h->cards, "<section><h2><a href=\"/service?name=");
	fz_buf_uri_part(&h->cards, fz_str_of(e->service));
	fz_buf_str(&h->cards, "\">");
	fz_html_escape(&h->cards, fz_str_of(e->service));
	fz_buf_str(&h->cards,
		   "</a></h2>\n<form action=\"/diff\"><div class=\"wide\"><table><thead><tr>"
		   "<th>Base<th>Head<th>Version<th>Metric<th>First<th>Last (UTC)<th>Hosts"
		   "<th>Host-minutes<th>Samples<th>Lost<th>CPU time<th>Pushes</thead><tbody>\n");
}

static void add_row(void *arg, const struct fz_fleet_entry *e)
{
	struct home *h = arg;
	char number[FZ_NUMBER_SIZE];

	if (!h->services || strcmp(e->service, h->service) != 0)
		begin_card(h, e);
	bool first = h->versions == 0 || strcmp(e->version, h->version) != 0;
	h->versions += first;
	h->all_versions += first;
	snprintf(h->version, sizeof(h->version), "%s", e->version);
	fz_buf_str(&h->cards, "<tr>");
	if (first)
		add_choices(h, e);
	else
		fz_buf_str(&h->cards, "<td><td>");
	fz_buf_str(&h->cards, "<td class=\"name\">");
	fz_html_escape(&h->cards, fz_str_of(first ? e->version : ""));
	add_cell(&h->cards, e->metric);
	add_minute(&h->cards, e->first);
	add_minute(&h->cards, e->last);
	add_cell(&h->cards, fz_format_count(e->hosts, number));
	add_cell(&h->cards, fz_format_count(e->cells, number));
	add_cell(&h->cards, fz_format_count(e->samples, number));
	add_cell(&h->cards, fz_format_count(e->lost, number));
	add_cell(&h->cards, e->cpu_ns > 0 ? fz_format_ns(e->cpu_ns, number) : "");
	add_cell(&h->cards, fz_format_count(e->pushes, number));
	fz_buf_char(&h->cards, '\n');
}

/* "+5.2 % (3.9 % to 6.5 %)" */
static void add_change(struct fz_buf *out, const struct fz_fleet_alarm *a)
{
	if (isnan(a->change))
		fz_buf_str(out, "<td>new");
	else
		fz_buf_printf(out, "<td>%+.1f&nbsp;%% (%.1f&nbsp;%% to %.1f&nbsp;%%)",
			      100 * a->change, 100 * a->low, 100 * a->high);
}

static void add_alarm(void *arg, const struct fz_fleet_alarm *a)
{
	fz_auto(fz_jsonread_release) json_t *all = json_loads(a->text, 0, NULL);
	struct home *h = arg;
	struct fz_buf *out = &h->alarms;

	if (!out->n)
		fz_buf_str(out, "<section><h2>Alarms</h2>\n<div class=\"wide\"><table><thead><tr>"
				"<th>Raised (UTC)<th>Service<th>Function<th>Costs more by<th>Since"
				"<th>Release<th>Page</thead><tbody>\n");
	fz_buf_str(out, "<tr>");
	add_minute(out, a->raised);
	add_cell(out, a->service);
	fz_buf_str(out, "<td class=\"name\">");
	fz_html_escape(out, fz_str_of(a->function));
	add_change(out, a);
	add_minute(out, a->first_seen);
	add_cell(out, a->head);
	fz_buf_str(out, "<td><a href=\"");
	fz_html_escape(out, fz_jsonread_kstr(all, "page"));
	fz_buf_str(out, "\">Compare</a>\n");
}

static void fill_mark(void *arg, struct fz_str name)
{
	struct home *h = arg;
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	char services[FZ_NUMBER_SIZE], versions[FZ_NUMBER_SIZE];

	if (fz_str_eq(name, FZ_STR("subtitle"))) {
		fz_buf_str(&text, "project ");
		fz_html_escape(&text, fz_str_of(h->project));
		fz_buf_printf(&text, ": %s, %s", fz_format_plural(h->services, "service", services),
			      fz_format_plural(h->all_versions, "version", versions));
		if (h->missing) {
			fz_buf_str(&text, "; without data from ");
			fz_html_escape(&text, fz_str_of(h->missing));
			fz_buf_str(&text, ", which does not answer");
		}
	} else if (h->services) {
		if (h->alarms.n) {
			fz_buf_add(&text, h->alarms.p, h->alarms.n);
			fz_buf_str(&text, "</tbody></table></div></section>\n");
		}
		fz_buf_add(&text, h->cards.p, h->cards.n);
	} else {
		fz_buf_str(&text, "<p class=\"empty\">No profiles yet: <code>fizeau push @1 "
				  "--server URL --service NAME</code></p>");
	}
	fz_output_add(h->out, text.p ? text.p : "", text.n);
}

static int write_home(const struct fz_server *s, const struct fz_http_request *q,
		      struct fz_http_answer *ret, struct fz_error *err)
{
	struct home h = { .project = q->project, .out = fz_output_memory() };
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	int r = fz_server_open_store(s, FZ_FLEET_READ, &f, err);

	if (!r)
		r = fz_fleet_list(f, q->project, add_row, &h, err);
	if (!r)
		r = fz_fleet_alarms(f, q->project, "", ALARMS_SHOWN, add_alarm, &h, err);
	if (!r) {
		h.missing = fz_fleet_missing(f) ? fz_strdup(fz_fleet_missing(f)) : NULL;
		end_card(&h);
		fz_viewer_fill(fz_fleet_page, fill_mark, &h, h.out);
		struct fz_str text = fz_buf_view(fz_output_buffer(h.out));
		fz_buf_add(&ret->body, text.p, text.n);
	}
	free(h.missing);
	fz_buf_release(&h.cards);
	fz_buf_release(&h.alarms);
	fz_output_abort(h.out);
	return r;
}

void fz_answer_home(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	struct fz_error err;

	if (write_home(arg, q, ret, &err)) {
		fz_http_refuse(ret, &err);
		return;
	}
	ret->type = "text/html; charset=utf-8";
	/* The page itself allows its own script and style only, by their hashes. */
	ret->policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
		      "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
}
