/* SPDX-License-Identifier: MIT */
/* Pushes of Pyroscope agents.
 *
 *   POST /ingest?name=S{k=v,k=v}[&from=T&until=T][&sampleRate=HZ]    older ones: any format
 *   POST /push.v1.PusherService/Push                                 newer ones: protocol buffers
 *
 *     request {series* {label* {name, value}, sample* {profile as pprof, id}}}
 *
 * Labels provide the service, version and host. A sample's id becomes the push id, so that a
 * repeated push counts once.
 */
#include <math.h>
#include <stdio.h>

#include "base/io.h"
#include "base/text.h"
#include "format/wire.h"
#include "serve/inputs.h"
#include "serve/routes.h"

enum { SAMPLES_MAX = 10000 };
/* Samples per second. */
#define RATE_DEFAULT 100
#define RATE_MIN 1e-3
#define RATE_MAX 1e6
/* Field numbers. */
enum {
	PUSH_SERIES = 1,
	SERIES_LABELS = 1,
	SERIES_SAMPLES = 2,
	LABEL_NAME = 1,
	LABEL_VALUE = 2,
	SAMPLE_PROFILE = 1,
	SAMPLE_ID = 2,
};

/* Parsed "name{k=v,k=v}". Labels whose value changes with every push are dropped. */
struct source {
	char *text;
	const char *service, *version, *host;
	const char
		*labels[FZ_FLEET_LABELS_MAX + 1]; /* one more than allowed, to detect the error */
	size_t label_n;
};

static void release_source(struct source *g)
{
	free(g->text);
}

static void parse_label(struct source *g, const char *pair)
{
	static const struct {
		const char *key;
		size_t where; /* 0: dropped */
	} special[] = {
		{ "service_name", offsetof(struct source, service) },
		{ "version", offsetof(struct source, version) },
		{ "service_version", offsetof(struct source, version) },
		{ "service_git_ref", offsetof(struct source, version) },
		{ "host", offsetof(struct source, host) },
		{ "hostname", offsetof(struct source, host) },
		{ "pod", offsetof(struct source, host) },
		{ "instance", offsetof(struct source, host) },
		{ "thread_id", 0 },
		{ "span_id", 0 },
		{ "profile_id", 0 },
	};
	size_t key = strcspn(pair, "=");

	/* Agents of several languages add labels that start with "__". */
	if (pair[key] == 0 || pair[key + 1] == 0 || strncmp(pair, "__", 2) == 0)
		return;
	for (size_t i = 0; i < FZ_ARRAY_LEN(special); i++) {
		if (strlen(special[i].key) != key || strncmp(pair, special[i].key, key) != 0)
			continue;
		if (special[i].where)
			*(const char **)(void *)((char *)g + special[i].where) = pair + key + 1;
		return;
	}
	if (g->label_n < FZ_ARRAY_LEN(g->labels))
		g->labels[g->label_n++] = pair;
}

static void parse_name(struct source *g, const char *name)
{
	g->text = fz_strdup(name);
	char *brace = strchr(g->text, '{'), *rest;
	g->service = g->text;
	if (!brace)
		return;
	*brace = 0;
	for (char *pair = strtok_r(brace + 1, ",}", &rest); pair;
	     pair = strtok_r(NULL, ",}", &rest))
		parse_label(g, pair + strspn(pair, " "));
}

/* Fill in the names of a push; texts borrow from the request and `labels`. */
static int parse_push(const struct source *g, const struct fz_http_request *q,
		      struct fz_buf *labels, struct fz_fleet_push *ret, struct fz_error *err)
{
	int r = fz_fleet_labels(g->labels, g->label_n, labels, err);

	*ret = (struct fz_fleet_push){ .project = q->project,
				       .service = g->service ? g->service : "",
				       .version = g->version ? g->version : "unversioned",
				       .host = g->host ? g->host : q->peer,
				       .labels = labels->p,
				       .id = "" };
	return r ? r : fz_inputs_check(ret, err);
}

/* ---- /ingest ---- */

/* The part "profile" of a form, or the whole body. */
static struct fz_str profile_in(const struct fz_http_request *q)
{
	fz_auto(fz_buf_release) struct fz_buf mark = { 0 };
	const char *boundary = memmem(q->type.p, q->type.n, "boundary=", 9);
	struct fz_str body = q->body;

	if (!boundary || !fz_str_starts(q->type, "multipart/"))
		return body;
	boundary += 9;
	boundary += *boundary == '"';
	fz_buf_printf(&mark, "\r\n--%.*s", (int)strcspn(boundary, "\";"), boundary);
	for (size_t at = 0; at < body.n;) {
		const char *head = body.p + at;
		const char *end = memmem(head, body.n - at, "\r\n\r\n", 4);
		if (!end)
			break;
		const char *data = end + 4;
		size_t left = body.n - (size_t)(data - body.p);
		const char *next = memmem(data, left, mark.p, mark.n);
		if (!next)
			break;
		if (memmem(head, (size_t)(end - head), "name=\"profile\"", 14))
			return (struct fz_str){ data, (size_t)(next - data) };
		at = (size_t)(next - body.p) + mark.n;
	}
	return FZ_STR("");
}

/* Clients send 0 for profiles that are not sampled over time. */
static int parse_rate(const char *text, double *ret, struct fz_error *err)
{
	double v = RATE_DEFAULT;

	if (*text &&
	    (!fz_parse_decimal(fz_str_of(text), &v) || v > RATE_MAX || (v != 0 && v < RATE_MIN)))
		return fz_fail(err, FZ_EUSAGE,
			       "sampleRate: invalid rate '%.40s' (expected samples per second)",
			       text);
	*ret = v;
	return 0;
}

static int ingest(struct fz_server *s, const struct fz_http_request *q, struct source *g,
		  struct fz_server_pushed *ret, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf labels = { 0 };
	fz_auto(fz_budget_release) struct fz_budget_part memory = fz_server_memory(s);
	struct fz_server_push p = { .body = profile_in(q), .memory = &memory, .may_be_idle = true };
	int64_t until = 0;

	parse_name(g, fz_inputs_text(q, "name"));
	int r = parse_push(g, q, &labels, &p.to, err);

	if (!r)
		r = fz_inputs_time("from", fz_inputs_text(q, "from"), &p.start_unix_ns, err);
	if (!r)
		r = fz_inputs_time("until", fz_inputs_text(q, "until"), &until, err);
	if (!r)
		r = parse_rate(fz_inputs_text(q, "sampleRate"), &p.hertz, err);
	if (r)
		return r;
	if (until > p.start_unix_ns && p.start_unix_ns)
		p.duration_ns = until - p.start_unix_ns;
	return fz_server_store(s, &p, ret, err);
}

void fz_answer_ingest(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_auto(release_source) struct source g = { 0 };
	struct fz_server_pushed pushed;
	struct fz_error err;

	if (ingest(arg, q, &g, &pushed, &err))
		fz_http_refuse(ret, &err);
	else
		fz_inputs_report(ret, &pushed, NULL);
}

/* ---- push.v1 ---- */

/* The texts of fields 1 and 2. */
static bool read_texts(struct fz_str message, struct fz_str ret[2])
{
	struct fz_wire w = fz_wire_of(message);

	ret[0] = ret[1] = FZ_STR("");
	while (fz_wire_next(&w))
		if (w.type == FZ_WIRE_BYTES && (w.field == 1 || w.field == 2))
			ret[w.field - 1] = w.bytes;
	return !w.c.bad;
}

/* Read all labels into one text "k=v\0k=v\0", which `g` points into. */
static bool read_labels(struct fz_str series, struct source *g)
{
	struct fz_wire w = fz_wire_of(series);
	struct fz_buf text = { 0 };
	struct fz_str pair[2];
	bool ok = true;

	while (ok && fz_wire_next(&w)) {
		if (w.field != SERIES_LABELS || w.type != FZ_WIRE_BYTES)
			continue;
		ok = read_texts(w.bytes, pair) && !memchr(pair[0].p, 0, pair[0].n) &&
		     !memchr(pair[1].p, 0, pair[1].n);
		if (!ok)
			break;
		fz_buf_add(&text, pair[LABEL_NAME - 1].p, pair[LABEL_NAME - 1].n);
		fz_buf_char(&text, '=');
		fz_buf_add(&text, pair[LABEL_VALUE - 1].p, pair[LABEL_VALUE - 1].n);
		fz_buf_char(&text, 0);
	}
	size_t n = text.n;
	g->text = fz_buf_take(&text);
	for (size_t at = 0; ok && at < n; at += strlen(g->text + at) + 1)
		parse_label(g, g->text + at);
	return ok && !w.c.bad;
}

static int store_sample(struct fz_server *s, struct fz_budget_part *memory,
			const struct fz_fleet_push *to, struct fz_str sample, struct fz_error *err)
{
	struct fz_server_pushed pushed;
	struct fz_str part[2];
	fz_auto(fz_free_ptr) char *id = NULL;

	if (!read_texts(sample, part) || memchr(part[SAMPLE_ID - 1].p, 0, part[SAMPLE_ID - 1].n))
		return fz_fail(err, FZ_EINPUT, "the body is not a push.v1 message");
	struct fz_server_push p = {
		.to = *to, .body = part[SAMPLE_PROFILE - 1], .memory = memory, .may_be_idle = true
	};
	p.to.id = id = fz_strndup(part[SAMPLE_ID - 1].p, part[SAMPLE_ID - 1].n);
	int r = fz_inputs_check(&p.to, err);
	return r ? r : fz_server_store(s, &p, &pushed, err);
}

static int store_series(struct fz_server *s, struct fz_budget_part *memory,
			const struct fz_http_request *q, struct fz_str series, unsigned *samples,
			struct fz_error *err)
{
	fz_auto(release_source) struct source g = { 0 };
	fz_auto(fz_buf_release) struct fz_buf labels = { 0 };
	struct fz_wire w = fz_wire_of(series);
	struct fz_fleet_push to;

	if (!read_labels(series, &g))
		return fz_fail(err, FZ_EINPUT, "the body is not a push.v1 message");
	int r = parse_push(&g, q, &labels, &to, err);
	while (!r && fz_wire_next(&w)) {
		if (w.field != SERIES_SAMPLES || w.type != FZ_WIRE_BYTES)
			continue;
		if (++*samples > SAMPLES_MAX)
			r = fz_fail(err, FZ_ELIMIT, "more than %d profiles in a request",
				    SAMPLES_MAX);
		else
			r = store_sample(s, memory, &to, w.bytes, err);
	}
	return r;
}

static int store_all(struct fz_server *s, const struct fz_http_request *q, struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	fz_auto(fz_buf_release) struct fz_buf message = { 0 };
	fz_auto(fz_budget_release) struct fz_budget_part memory = fz_server_memory(s);
	unsigned samples = 0;
	/* Agents may compress the body. */
	int r = fz_server_open_body(q->body, &memory, &in, err);

	if (!r)
		r = fz_input_read_all(in, &message, memory.limit, err);
	if (r)
		return r;
	struct fz_wire w = fz_wire_of(fz_buf_view(&message));
	while (!r && fz_wire_next(&w))
		if (w.field == PUSH_SERIES && w.type == FZ_WIRE_BYTES)
			r = store_series(s, &memory, q, w.bytes, &samples, err);
	if (!r && (w.c.bad || !samples))
		r = fz_fail(err, FZ_EINPUT, "the body is not a push.v1 message");
	return r;
}

void fz_answer_push_v1(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	struct fz_error err;

	if (!fz_str_starts(q->type, "application/proto"))
		fz_http_refuse(ret, (fz_fail(&err, FZ_EUNSUPPORTED,
					     "unsupported Content-Type: send protocol buffers"),
				     &err));
	else if (store_all(arg, q, &err))
		fz_http_refuse(ret, &err);
	else
		ret->type = "application/proto";
}
