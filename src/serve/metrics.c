/* SPDX-License-Identifier: MIT */
/* Health and counters of the server, for supervisors and for Prometheus.
 *
 *   GET /healthz   "ok" if the store can be read, else 503; public, so the reason is printed
 *                  on standard error only
 *   GET /metrics   counters since the start, in Prometheus's text format 0.0.4
 *                  (prometheus.io/docs/instrumenting/exposition_formats)
 */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "serve/routes.h"
#include "serve/server.h"

enum { UNAVAILABLE = 503 };

void fz_answer_health(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	struct fz_server *s = arg;
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_error err;

	(void)q;
	if (fz_server_open_store(s, FZ_FLEET_READ, &f, &err)) {
		s->say(err.message);
		ret->status = UNAVAILABLE;
	}
	fz_buf_str(&ret->body, f ? "ok\n" : "the store cannot be read\n");
}

/* ---- figures ---- */

static void begin_metric(struct fz_buf *out, const char *name, const char *type, const char *help)
{
	fz_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_metric(struct fz_buf *out, const char *name, const char *type, const char *help,
		       double value)
{
	begin_metric(out, name, type, help);
	fz_buf_printf(out, "%s %.15g\n", name, value);
}

static void add_requests(const struct fz_http_request *q, struct fz_buf *out)
{
	struct fz_http_figures f = fz_http_figures(q->http);

	begin_metric(out, "fizeau_http_responses_total", "counter", "Responses by status.");
	for (size_t i = 1; i < FZ_ARRAY_LEN(f.responses); i++)
		fz_buf_printf(out, "fizeau_http_responses_total{code=\"%zuxx\"} %llu\n", i,
			      (unsigned long long)f.responses[i]);
	add_metric(out, "fizeau_http_connections", "gauge", "Open connections.",
		   (double)f.connections);
	add_metric(out, "fizeau_http_body_bytes", "gauge",
		   "Bytes of request bodies that are being received or handled.",
		   (double)f.body_bytes);
}

static void add_pushes(struct fz_server *s, struct fz_buf *out)
{
	const struct {
		const char *name;
		atomic_ullong *n;
	} results[] = { { "stored", &s->figures.stored },
			{ "known", &s->figures.known },
			{ "refused", &s->figures.refused },
			{ "failed", &s->figures.failed } };

	begin_metric(out, "fizeau_pushes_total", "counter", "Pushed profiles by result.");
	for (size_t i = 0; i < FZ_ARRAY_LEN(results); i++)
		fz_buf_printf(out, "fizeau_pushes_total{result=\"%s\"} %llu\n", results[i].name,
			      atomic_load(results[i].n));
	add_metric(out, "fizeau_pushed_bytes_total", "counter", "Bytes of stored pushes as sent.",
		   (double)atomic_load(&s->figures.bytes));
	add_metric(out, "fizeau_pushed_samples_unlabelled_total", "counter",
		   "Samples of stored pushes whose labels are not stored.",
		   (double)atomic_load(&s->figures.unlabelled));
	add_metric(out, "fizeau_pushes_memory_bytes", "gauge",
		   "Memory of pushed profiles that are being read or stored.",
		   (double)atomic_load(&s->memory.taken));
	add_metric(out, "fizeau_pushed_samples_total", "counter", "Samples of stored pushes.",
		   (double)atomic_load(&s->figures.samples));
}

static void add_answers(struct fz_server *s, struct fz_buf *out)
{
	begin_metric(out, "fizeau_answers_total", "counter",
		     "Comparisons and timelines, computed or cached.");
	fz_buf_printf(out, "fizeau_answers_total{result=\"computed\"} %llu\n",
		      atomic_load(&s->figures.computed));
	fz_buf_printf(out, "fizeau_answers_total{result=\"cached\"} %llu\n",
		      atomic_load(&s->figures.cached));
}

/* Same names as in Prometheus's client libraries. */
static void add_process(const struct fz_server *s, struct fz_buf *out)
{
	fz_auto(fz_free_ptr) char *text = fz_read_small("/proc/self/statm", 256, NULL);
	unsigned long long pages = 0;

	add_metric(out, "process_start_time_seconds", "gauge", "Start, in seconds since 1970.",
		   (double)s->started / (double)FZ_SECOND);
	add_metric(out, "process_cpu_seconds_total", "counter", "CPU time used.",
		   (double)fz_clock_read(CLOCK_PROCESS_CPUTIME_ID) / (double)FZ_SECOND);
	if (text && sscanf(text, "%*u %llu", &pages) == 1)
		add_metric(out, "process_resident_memory_bytes", "gauge", "Resident memory.",
			   (double)pages * (double)sysconf(_SC_PAGESIZE));
}

void fz_answer_metrics(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	struct fz_server *s = arg;

	ret->type = "text/plain; version=0.0.4; charset=utf-8";
	add_requests(q, &ret->body);
	add_pushes(s, &ret->body);
	add_answers(s, &ret->body);
	add_process(s, &ret->body);
}
