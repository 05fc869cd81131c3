/* SPDX-License-Identifier: MIT */
/* The service, version and host of a resource; see otlp_resource.h. */
#include "serve/otlp_resource.h"

#include "fleet/sides.h"
#include "format/wire.h"

enum { TEXTS_MAX = 4 << 20 };
/* Field numbers. */
enum {
	DICTIONARY_TEXTS = 5,
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPES = 2,
	SCOPE_PROFILES = 2,
	RESOURCE_ATTRIBUTES = 1,
	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2,
	ATTRIBUTE_KEY_NUMBER = 3,
	VALUE_TEXT = 1,
	VALUE_NUMBER = 8,
};

int fz_otlp_read_texts(struct fz_str dictionary, struct fz_otlp_texts *ret, struct fz_error *err)
{
	struct fz_wire w = fz_wire_of(dictionary);

	while (fz_wire_next(&w)) {
		if (w.field != DICTIONARY_TEXTS || w.type != FZ_WIRE_BYTES)
			continue;
		if (ret->n == TEXTS_MAX)
			return fz_fail(err, FZ_ELIMIT, "more than %d strings in a request",
				       TEXTS_MAX);
		fz_push(ret->list, ret->n, ret->cap, w.bytes);
	}
	return w.c.bad ? fz_fail(err, FZ_EINPUT, "the body is not an OTLP profiles message") : 0;
}

void fz_otlp_texts_release(struct fz_otlp_texts *t)
{
	free(t->list);
	*t = (struct fz_otlp_texts){ 0 };
}

static struct fz_str text_of(const struct fz_otlp_texts *t, uint64_t number)
{
	return number < t->n ? t->list[number] : FZ_STR("");
}

/* ---- attributes ---- */

/* The attributes of a resource read so far. */
struct reader {
	const struct fz_otlp_texts *texts;
	struct fz_otlp_source *source;
	char *program;
	char *labels[FZ_FLEET_LABELS_MAX];
	size_t label_n;
	struct fz_str cut; /* key of a text that contains a zero byte; "": none */
};

static void release(struct reader *r)
{
	free(r->program);
	for (size_t i = 0; i < r->label_n; i++)
		free(r->labels[i]);
}

/* Attributes kept as labels: those that do not change from push to push. */
static const char *const label_keys[] = { "service.namespace", "deployment.environment.name",
					  "deployment.environment", "cloud.region" };

static void use_attribute(struct reader *r, struct fz_str key, struct fz_str value)
{
	const struct {
		const char *key;
		char **ret;
	} names[] = {
		{ "service.name", &r->source->service },
		{ "service.version", &r->source->version },
		{ "host.name", &r->source->host },
		{ "process.executable.name", &r->program },
	};

	if (!value.n)
		return;
	size_t labels = r->label_n;
	bool taken = false;
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		if (!fz_str_eq(key, fz_str_of(names[i].key)) || *names[i].ret)
			continue;
		*names[i].ret = fz_strndup(value.p, value.n);
		taken = true;
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(label_keys); i++)
		if (fz_str_eq(key, fz_str_of(label_keys[i])) && r->label_n < FZ_FLEET_LABELS_MAX)
			r->labels[r->label_n++] =
				fz_asprintf("%s=%.*s", label_keys[i], (int)value.n, value.p);
	if ((taken || r->label_n > labels) && memchr(value.p, 0, value.n))
		r->cut = key;
}

static bool read_value(const struct reader *r, struct fz_str message, struct fz_str *ret)
{
	struct fz_wire w = fz_wire_of(message);

	while (fz_wire_next(&w)) {
		if (w.field == VALUE_TEXT && w.type == FZ_WIRE_BYTES)
			*ret = w.bytes;
		else if (w.field == VALUE_NUMBER && w.type == FZ_WIRE_VARINT)
			*ret = text_of(r->texts, w.value);
	}
	return !w.c.bad;
}

static bool read_attribute(struct reader *r, struct fz_str message)
{
	struct fz_wire w = fz_wire_of(message);
	struct fz_str key = FZ_STR(""), value = FZ_STR("");
	bool ok = true;

	while (ok && fz_wire_next(&w)) {
		if (w.field == ATTRIBUTE_KEY && w.type == FZ_WIRE_BYTES)
			key = w.bytes;
		else if (w.field == ATTRIBUTE_KEY_NUMBER && w.type == FZ_WIRE_VARINT)
			key = text_of(r->texts, w.value);
		else if (w.field == ATTRIBUTE_VALUE && w.type == FZ_WIRE_BYTES)
			ok = read_value(r, w.bytes, &value);
	}
	use_attribute(r, key, value);
	return ok && !w.c.bad;
}

/* ---- a resource ---- */

static bool read_attributes(struct reader *r, struct fz_str resource)
{
	struct fz_wire w = fz_wire_of(resource);
	bool ok = true;

	while (ok && fz_wire_next(&w))
		if (w.field == RESOURCE_ATTRIBUTES && w.type == FZ_WIRE_BYTES)
			ok = read_attribute(r, w.bytes);
	return ok && !w.c.bad;
}

static bool count_profiles(struct fz_otlp_source *source, struct fz_str scope)
{
	struct fz_wire w = fz_wire_of(scope);

	while (fz_wire_next(&w))
		source->profiles += w.field == SCOPE_PROFILES && w.type == FZ_WIRE_BYTES;
	return !w.c.bad;
}

static bool read_all(struct reader *r, struct fz_str resource)
{
	struct fz_wire w = fz_wire_of(resource);
	bool ok = true;

	while (ok && fz_wire_next(&w)) {
		if (w.type != FZ_WIRE_BYTES)
			continue;
		if (w.field == RESOURCE_PROFILES_RESOURCE)
			ok = read_attributes(r, w.bytes);
		else if (w.field == RESOURCE_PROFILES_SCOPES)
			ok = count_profiles(r->source, w.bytes);
	}
	return ok && !w.c.bad;
}

static int check(struct reader *r, struct fz_error *err)
{
	struct fz_otlp_source *source = r->source;

	if (r->cut.n)
		return fz_fail(err, FZ_EUSAGE, "the resource's %.*s contains a zero byte",
			       (int)r->cut.n, r->cut.p);
	if (!source->service)
		source->service = fz_steal(r->program);
	if (!source->service)
		return fz_fail(err, FZ_EUSAGE,
			       "a resource has no service.name; set OTEL_SERVICE_NAME");
	int code = fz_fleet_check_service(source->service, err);
	if (!code && source->version)
		code = fz_fleet_check_version(source->version, err);
	if (!code && source->host)
		code = fz_fleet_check_name("host", source->host, err);
	return code ? code
		    : fz_fleet_labels((const char *const *)r->labels, r->label_n, &source->labels,
				      err);
}

int fz_otlp_read_resource(struct fz_str resource, const struct fz_otlp_texts *texts,
			  struct fz_otlp_source *ret, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .texts = texts, .source = ret };

	if (!read_all(&r, resource))
		return fz_fail(err, FZ_EINPUT, "the body is not an OTLP profiles message");
	return check(&r, err);
}

void fz_otlp_source_release(struct fz_otlp_source *w)
{
	free(w->service);
	free(w->version);
	free(w->host);
	fz_buf_release(&w->labels);
	*w = (struct fz_otlp_source){ 0 };
}
