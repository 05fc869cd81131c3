/* SPDX-License-Identifier: MIT */
/* OpenTelemetry profiles over HTTP, as protocol buffers or JSON, compressed or not.
 *
 *   request {resources*, dictionary}
 *     resources, by service and host -> groups: a message of each with the dictionary
 *                                       -> the reader of that format -> the store
 *
 * A profiler sends each process as its own resource; those of one service on one host are one push.
 * If a part of a request is rejected, the response is a success that reports it, as the protocol
 * requires; if nothing was stored, it is an error. Responses have the content type of the request.
 */
#include <stdio.h>
#include <strings.h>

#include "base/arena.h"
#include "base/io.h"
#include "base/json.h"
#include "fleet/texts.h"
#include "format/otlp_json.h"
#include "format/wire.h"
#include "serve/otlp_resource.h"
#include "serve/pushes.h"
#include "serve/routes.h"

/* At most TOGETHER groups are stored at once. Their messages have at most 1/TOGETHER_PART of the
 * request's memory, because the profiles read from them are larger. */
enum { RESOURCES_MAX = 10000, TOGETHER = 16, TOGETHER_PART = 16 };
/* Field numbers. */
enum {
	REQUEST_RESOURCES = 1,
	REQUEST_DICTIONARY = 2,
	ANSWER_PARTIAL = 1,
	PARTIAL_REJECTED = 1,
	PARTIAL_MESSAGE = 2,
	STATUS_MESSAGE = 2,
};

struct group {
	struct fz_otlp_source source;
	struct fz_buf message; /* its resources, encoded */
	uint32_t profiles;
};

struct request {
	struct fz_budget_part memory;
	struct fz_buf message; /* the whole request */
	struct fz_str dictionary;
	struct fz_otlp_texts texts;
	struct fz_arena arena;
	struct fz_texts owners; /* service, version, host and labels -> group */
	struct group *groups;
	uint32_t group_n, group_cap, resource_n;
	/* results */
	uint32_t stored, refused;
	uint64_t rejected;     /* profiles in rejected groups or resources */
	struct fz_error first; /* first error of these */
};

static void release(struct request *r)
{
	for (uint32_t i = 0; i < r->group_n; i++) {
		fz_otlp_source_release(&r->groups[i].source);
		fz_buf_release(&r->groups[i].message);
	}
	free(r->groups);
	fz_texts_release(&r->owners);
	fz_arena_release(&r->arena);
	fz_otlp_texts_release(&r->texts);
	fz_buf_release(&r->message);
	fz_budget_release(&r->memory);
}

static void refuse(struct request *r, uint32_t profiles, const struct fz_error *why)
{
	if (!r->refused++)
		r->first = *why;
	r->rejected += profiles;
}

/* ---- requests ---- */

static int reserve_memory(struct request *r, uint64_t bytes, struct fz_error *err)
{
	fz_budget_take(&r->memory, bytes);
	return fz_budget_check(&r->memory, "the body", err);
}

/* Decompress the body. This takes memory, so it is limited like other work. */
static int read_message(struct fz_server *s, struct fz_str body, bool is_json, struct request *r,
			struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;

	/* As a protocol buffer, an empty body is a message without fields. */
	if (!body.n)
		return is_json ? fz_fail(err, FZ_EINPUT, "the body is not valid JSON: it is empty")
			       : 0;
	int code = fz_server_open_body(body, &r->memory, &in, err);
	if (code)
		return code;
	fz_server_begin_work(s);
	code = is_json ? fz_otlp_from_json(in, &r->message, err)
		       : fz_input_read_all(in, &r->message, r->memory.limit, err);
	fz_server_end_work(s);
	if (code)
		return code;
	/* Give back the memory of the JSON, which has been freed. */
	fz_budget_give(&r->memory, r->memory.taken);
	return reserve_memory(r, r->message.n, err);
}

static int find_dictionary(struct request *r, struct fz_error *err)
{
	struct fz_wire w = fz_wire_of(fz_buf_view(&r->message));

	while (fz_wire_next(&w))
		if (w.field == REQUEST_DICTIONARY && w.type == FZ_WIRE_BYTES)
			r->dictionary = w.bytes;
	if (w.c.bad)
		return fz_fail(err, FZ_EINPUT, "the body is not an OTLP profiles message");
	return fz_otlp_read_texts(r->dictionary, &r->texts, err);
}

/* The group of a resource; a new group takes ownership of `source`. */
static struct group *group_of(struct request *r, struct fz_otlp_source *source)
{
	fz_auto(fz_free_ptr) char *owner = fz_asprintf(
		"%s\n%s\n%s\n%s", source->service, source->version ? source->version : "",
		source->host ? source->host : "", source->labels.p);
	uint32_t place = fz_texts_place(&r->owners, &r->arena, fz_str_of(owner));

	if (place == r->group_n) {
		fz_push(r->groups, r->group_n, r->group_cap, (struct group){ .source = *source });
		*source = (struct fz_otlp_source){ 0 };
	}
	return &r->groups[place];
}

static void read_resource(struct request *r, struct fz_str resource)
{
	fz_auto(fz_otlp_source_release) struct fz_otlp_source source = { 0 };
	struct fz_error err;
	int code = fz_otlp_read_resource(resource, &r->texts, &source, &err);
	uint32_t profiles = source.profiles;

	if (code) {
		refuse(r, profiles, &err);
	} else if (profiles) {
		struct group *g = group_of(r, &source);

		fz_wire_put_bytes(&g->message, REQUEST_RESOURCES, resource);
		g->profiles += profiles;
	}
}

static int read_resources(struct request *r, struct fz_error *err)
{
	struct fz_wire w = fz_wire_of(fz_buf_view(&r->message));
	/* Groups have copies of the resources. */
	int code = reserve_memory(r, r->message.n, err);

	while (!code && fz_wire_next(&w)) {
		if (w.field != REQUEST_RESOURCES || w.type != FZ_WIRE_BYTES)
			continue;
		if (++r->resource_n > RESOURCES_MAX)
			return fz_fail(err, FZ_ELIMIT, "more than %d resources in a request",
				       RESOURCES_MAX);
		read_resource(r, w.bytes);
	}
	return code;
}

/* ---- storing ---- */

static struct fz_server_push push_of(const struct fz_http_request *q, struct request *r,
				     struct group *g)
{
	const struct fz_otlp_source *source = &g->source;

	fz_wire_put_bytes(&g->message, REQUEST_DICTIONARY, r->dictionary);
	return (struct fz_server_push){
		.to = { .project = q->project,
			.service = source->service,
			.version = source->version ? source->version : "unversioned",
			.host = source->host ? source->host : q->peer,
			.labels = source->labels.p,
			.id = "" },
		.may_be_idle = true,
		.format = &fz_format_otlp,
		.body = fz_buf_view(&g->message),
		.memory = &r->memory,
	};
}

/* Store some groups. Fails if the store is unavailable: the client must repeat the whole request.
 */
static int store_some(struct fz_server *s, const struct fz_http_request *q, struct request *r,
		      struct group *groups, uint32_t n, struct fz_error *err)
{
	struct fz_server_item items[TOGETHER] = { 0 };
	uint64_t copies = n * r->dictionary.n;
	int code = reserve_memory(r, copies, err);

	if (code)
		return code;
	for (uint32_t i = 0; i < n; i++)
		items[i].push = push_of(q, r, &groups[i]);
	fz_server_store_all(s, items, n);
	fz_budget_give(&r->memory, copies);
	for (uint32_t i = 0; i < n; i++) {
		int result = items[i].result;

		fz_buf_release(&groups[i].message);
		if (result == FZ_ESYSTEM || result == FZ_EAGAIN) {
			*err = items[i].err;
			code = result;
		} else if (result) {
			refuse(r, groups[i].profiles, &items[i].err);
		}
		r->stored += !result;
	}
	return code;
}

/* How many groups from the first on are stored together. */
static uint32_t count_together(const struct request *r, uint32_t first)
{
	uint32_t n = 0;
	uint64_t bytes = 0;

	while (first + n < r->group_n && n < TOGETHER) {
		bytes += r->groups[first + n].message.n + r->dictionary.n;
		if (n && bytes > r->memory.limit / TOGETHER_PART)
			break;
		n++;
	}
	return n;
}

static int store_groups(struct fz_server *s, const struct fz_http_request *q, struct request *r,
			struct fz_error *err)
{
	int code = 0;

	for (uint32_t i = 0, n; !code && i < r->group_n; i += n) {
		n = count_together(r, i);
		code = store_some(s, q, r, &r->groups[i], n, err);
	}
	if (code)
		return code;
	if (r->refused && !r->stored)
		*err = r->first;
	return r->refused && !r->stored ? r->first.code : 0;
}

static int store_all(struct fz_server *s, const struct fz_http_request *q, bool is_json,
		     struct request *r, struct fz_error *err)
{
	int code = read_message(s, q->body, is_json, r, err);

	if (!code)
		code = find_dictionary(r, err);
	if (!code)
		code = read_resources(r, err);
	return code ? code : store_groups(s, q, r, err);
}

/* ---- responses ---- */

/* The protocol's statuses: 400 if the request cannot be read; clients retry only after some others,
 * such as 503. */
static void put_failure(struct fz_http_answer *a, bool is_json, const struct fz_error *err)
{
	enum { BAD_REQUEST = 400, AGAIN = 503 };

	fz_http_refuse(a, err);
	if (err->code == FZ_EINPUT)
		a->status = BAD_REQUEST;
	else if (err->code == FZ_ESYSTEM)
		a->status = AGAIN;
	fz_buf_reset(&a->body);
	if (!is_json) {
		fz_wire_put_bytes(&a->body, STATUS_MESSAGE, fz_str_of(err->message));
		return;
	}
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_json j;
	fz_json_init(&j, out, 0);
	fz_json_open(&j, '{');
	fz_json_kstr(&j, "message", fz_str_of(err->message));
	fz_json_close(&j, '}');
	fz_buf_add(&a->body, fz_output_buffer(out)->p, fz_output_buffer(out)->n);
}

/* A 64-bit number is a string in the protocol's JSON. */
static void put_partial_json(struct fz_http_answer *a, uint64_t rejected, struct fz_str why)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	char number[24];
	struct fz_json j;

	snprintf(number, sizeof(number), "%llu", (unsigned long long)rejected);
	fz_json_init(&j, out, 0);
	fz_json_open(&j, '{');
	fz_json_kopen(&j, "partialSuccess", '{');
	fz_json_kstr(&j, "rejectedProfiles", fz_str_of(number));
	fz_json_kstr(&j, "errorMessage", why);
	fz_json_close(&j, '}');
	fz_json_close(&j, '}');
	fz_buf_add(&a->body, fz_output_buffer(out)->p, fz_output_buffer(out)->n);
}

static void put_success(struct fz_http_answer *a, bool is_json, const struct request *r)
{
	fz_auto(fz_buf_release) struct fz_buf partial = { 0 };
	struct fz_str why = fz_str_of(r->first.message);

	if (!r->refused) {
		fz_buf_str(&a->body, is_json ? "{}\n" : "");
	} else if (is_json) {
		put_partial_json(a, r->rejected, why);
	} else {
		fz_wire_put(&partial, PARTIAL_REJECTED, r->rejected);
		fz_wire_put_bytes(&partial, PARTIAL_MESSAGE, why);
		fz_wire_put_message(&a->body, ANSWER_PARTIAL, &partial);
	}
}

/* With or without parameters: "application/json; charset=utf-8". */
static bool is_type(struct fz_str type, const char *name)
{
	size_t n = strlen(name);

	return type.n >= n && strncasecmp(type.p, name, n) == 0 &&
	       (type.n == n || type.p[n] == ';' || type.p[n] == ' ');
}

static int check_version(const struct fz_http_request *q, struct fz_error *err)
{
	if (!q->profiles_version.n || fz_str_eq(q->profiles_version, FZ_STR("1")))
		return 0;
	return fz_fail(err, FZ_EUSAGE,
		       "OTLP-Profiles-Development-Version '%.*s': only version 1 is supported; a "
		       "newer fizeau may support it",
		       (int)FZ_MIN(q->profiles_version.n, 20), q->profiles_version.p);
}

void fz_answer_otlp(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	static const char json[] = "application/json", proto[] = "application/x-protobuf";
	bool is_json = is_type(q->type, json);
	fz_auto(release) struct request r = { .memory = fz_server_memory(arg) };
	struct fz_error err;

	if (!is_json && !is_type(q->type, proto)) {
		fz_fail(&err, FZ_EUNSUPPORTED, "unsupported Content-Type: send %s or %s", proto,
			json);
		fz_http_refuse(ret, &err);
		return;
	}
	if (check_version(q, &err) || store_all(arg, q, is_json, &r, &err))
		put_failure(ret, is_json, &err);
	else
		put_success(ret, is_json, &r);
	ret->type = is_json ? json : proto;
}
