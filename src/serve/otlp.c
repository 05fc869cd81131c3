/* SPDX-License-Identifier: MIT */
/* OpenTelemetry's profiles over HTTP, as protocol buffers.
 *
 *   request {resources*, dictionary} -> for each resource a message of its own with the dictionary
 *                                       -> the reader of that format -> the store
 *
 * A resource is who was profiled: service.name, service.version, host.name. What of a request was
 * refused is said in its answer, which is a success then, as the protocol wants it; a request of
 * which nothing could be stored is an error.
 */
#include "fleet/sides.h"
#include "format/wire.h"
#include "serve/server.h"

enum { RESOURCES_MAX = 10000 };
/* Field numbers. */
enum {
	REQUEST_RESOURCES = 1,
	REQUEST_DICTIONARY = 2,
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_ATTRIBUTES = 1,
	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2,
	VALUE_TEXT = 1,
	ANSWER_PARTIAL = 1,
	PARTIAL_REJECTED = 1,
	PARTIAL_MESSAGE = 2,
	STATUS_MESSAGE = 2,
};

struct who {
	char *service, *version, *host, *labels[FZ_FLEET_LABELS_MAX];
	size_t label_n;
};

static void release_who(struct who *w)
{
	free(w->service);
	free(w->version);
	free(w->host);
	for (size_t i = 0; i < w->label_n; i++)
		free(w->labels[i]);
}

/* Of all that is known of a resource, what does not change from push to push. */
static const char *const label_keys[] = { "service.namespace", "deployment.environment.name",
					  "deployment.environment", "cloud.region" };

static void take_attribute(struct who *who, struct fz_str key, struct fz_str value)
{
	const struct {
		const char *key;
		char **ret;
	} names[] = {
		{ "service.name", &who->service },
		{ "service.version", &who->version },
		{ "host.name", &who->host },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		if (fz_str_eq(key, fz_str_of(names[i].key)) && !*names[i].ret)
			*names[i].ret = fz_strndup(value.p, value.n);
	for (size_t i = 0; i < FZ_ARRAY_LEN(label_keys); i++)
		if (fz_str_eq(key, fz_str_of(label_keys[i])) && value.n &&
		    who->label_n < FZ_FLEET_LABELS_MAX)
			who->labels[who->label_n++] =
				fz_asprintf("%s=%.*s", label_keys[i], (int)value.n, value.p);
}

static bool read_attribute(struct who *who, struct fz_str message)
{
	struct fz_wire w = fz_wire_of(message);
	struct fz_str key = FZ_STR(""), value = FZ_STR("");

	while (fz_wire_next(&w)) {
		if (w.type != FZ_WIRE_BYTES)
			continue;
		if (w.field == ATTRIBUTE_KEY)
			key = w.bytes;
		if (w.field != ATTRIBUTE_VALUE)
			continue;
		struct fz_wire inner = fz_wire_of(w.bytes);
		while (fz_wire_next(&inner))
			if (inner.field == VALUE_TEXT && inner.type == FZ_WIRE_BYTES)
				value = inner.bytes;
	}
	take_attribute(who, key, value);
	return !w.c.bad;
}

static bool read_who(struct who *who, struct fz_str resource_profiles)
{
	struct fz_wire w = fz_wire_of(resource_profiles);
	bool ok = true;

	while (fz_wire_next(&w)) {
		if (w.field != RESOURCE_PROFILES_RESOURCE || w.type != FZ_WIRE_BYTES)
			continue;
		struct fz_wire inner = fz_wire_of(w.bytes);
		while (ok && fz_wire_next(&inner))
			if (inner.field == RESOURCE_ATTRIBUTES && inner.type == FZ_WIRE_BYTES)
				ok = read_attribute(who, inner.bytes);
		ok = ok && !inner.c.bad;
	}
	return ok && !w.c.bad;
}

static int store_one(struct fz_server *s, const struct fz_http_request *q, struct fz_str resource,
		     struct fz_str dictionary, struct fz_error *err)
{
	fz_auto(release_who) struct who who = { 0 };
	fz_auto(fz_buf_release) struct fz_buf labels = { 0 };
	fz_auto(fz_buf_release) struct fz_buf message = { 0 };
	struct fz_server_pushed pushed;

	if (!read_who(&who, resource))
		return fz_fail(err, FZ_EINPUT, "the body is no OTLP message of profiles");
	if (!who.service)
		return fz_fail(err, FZ_EUSAGE,
			       "a resource has no service.name; set OTEL_SERVICE_NAME");
	int r = fz_fleet_check_service(who.service, err);
	if (!r)
		r = fz_fleet_labels((const char *const *)who.labels, who.label_n, &labels, err);
	if (!r && who.version)
		r = fz_fleet_check_version(who.version, err);
	if (!r && who.host)
		r = fz_fleet_check_name("host", who.host, err);
	if (r)
		return r;
	fz_wire_put_bytes(&message, REQUEST_RESOURCES, resource);
	fz_wire_put_bytes(&message, REQUEST_DICTIONARY, dictionary);
	struct fz_server_push p = {
		.to = { .project = q->project,
			.service = who.service,
			.version = who.version ? who.version : "unversioned",
			.host = who.host ? who.host : q->peer,
			.labels = labels.p,
			.id = "" },
		.body = fz_buf_view(&message),
	};
	return fz_server_store(s, &p, &pushed, err);
}

struct outcome {
	unsigned stored, refused;
	struct fz_error first; /* of those refused */
};

static int store_all(struct fz_server *s, const struct fz_http_request *q, struct outcome *o,
		     struct fz_error *err)
{
	struct fz_wire w = fz_wire_of(q->body);
	struct fz_str dictionary = FZ_STR("");

	while (fz_wire_next(&w))
		if (w.field == REQUEST_DICTIONARY && w.type == FZ_WIRE_BYTES)
			dictionary = w.bytes;
	if (w.c.bad || !q->body.n)
		return fz_fail(err, FZ_EINPUT, "the body is no OTLP message of profiles");
	w = fz_wire_of(q->body);
	while (fz_wire_next(&w)) {
		struct fz_error one;

		if (w.field != REQUEST_RESOURCES || w.type != FZ_WIRE_BYTES)
			continue;
		if (o->stored + o->refused == RESOURCES_MAX)
			return fz_fail(err, FZ_ELIMIT, "more than %d resources in a request",
				       RESOURCES_MAX);
		int r = store_one(s, q, w.bytes, dictionary, &one);
		o->stored += !r;
		if (r && !o->refused++)
			o->first = one;
		/* The disk: all of it again, later. */
		if (r == FZ_ESYSTEM || r == FZ_EAGAIN) {
			*err = one;
			return r;
		}
	}
	if (o->refused && !o->stored)
		*err = o->first;
	return o->refused && !o->stored ? o->first.code : 0;
}

void fz_answer_otlp(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_auto(fz_buf_release) struct fz_buf partial = { 0 };
	struct outcome o = { 0 };
	struct fz_error err;
	int r = fz_str_starts(q->type, "application/x-protobuf")
			? store_all(arg, q, &o, &err)
			: fz_fail(&err, FZ_EUNSUPPORTED,
				  "only protocol buffers are taken: set the exporter's encoding "
				  "to proto");

	if (r) {
		fz_http_refuse(ret, &err);
		fz_buf_reset(&ret->body);
		fz_wire_put_bytes(&ret->body, STATUS_MESSAGE, fz_str_of(err.message));
	} else if (o.refused) {
		fz_wire_put(&partial, PARTIAL_REJECTED, o.refused);
		fz_wire_put_bytes(&partial, PARTIAL_MESSAGE, fz_str_of(o.first.message));
		fz_wire_put_message(&ret->body, ANSWER_PARTIAL, &partial);
	}
	ret->type = "application/x-protobuf";
}
