/* SPDX-License-Identifier: MIT */
/* Whatever is sent to the server: "PATH?name=value&name=value", a line with the type of the body,
 * the body. It is stored or refused with one line; what was stored can be compared, and is not
 * stored again. */
#include "fuzz.h"

#include "fleet/fold.h"
#include "serve/pushes.h"
#include "serve/routes.h"

static const struct {
	const char *path;
	void (*answer)(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
} routes[] = {
	{ "/api/push", fz_answer_push },
	{ "/ingest", fz_answer_ingest },
	{ "/push.v1.PusherService/Push", fz_answer_push_v1 },
	{ "/v1development/profiles", fz_answer_otlp },
};

static void say(const char *text)
{
	fz_assert(!strchr(text, '\n'));
}

/* Nothing is decoded: what a byte stands for is libmicrohttpd's to say. */
static void take_parameters(char *text, struct fz_http_request *q)
{
	char *rest;

	for (char *pair = strtok_r(text, "&", &rest); pair; pair = strtok_r(NULL, "&", &rest)) {
		char *value = strchr(pair, '=');

		if (!value || q->parameter_n == FZ_HTTP_PARAMETERS_MAX)
			continue;
		*value++ = 0;
		q->parameters[q->parameter_n].name = pair;
		q->parameters[q->parameter_n++].value = value;
	}
}

static struct fz_http_answer ask(struct fz_server *s, const char *path,
				 const struct fz_http_request *q)
{
	struct fz_http_answer a = { .status = 200, .type = "text/plain" };
	size_t route = 0;

	while (route + 1 < FZ_ARRAY_LEN(routes) && strcmp(path, routes[route].path) != 0)
		route++;
	routes[route].answer(s, q, &a);
	fz_assert(a.status == 200 || a.status == 400 || a.status == 413 || a.status == 415 ||
		  a.status == 422);
	if (a.status != 200 && strcmp(a.type, "application/x-protobuf") != 0)
		fz_assert(a.body.n > 1 &&
			  memchr(a.body.p, '\n', a.body.n) == a.body.p + a.body.n - 1);
	return a;
}

struct seen {
	char *release;
	int64_t samples;
};

static void take_entry(void *arg, const struct fz_fleet_entry *e)
{
	struct seen *seen = arg;

	seen->samples += e->samples;
	if (!seen->release)
		seen->release = fz_asprintf("%s@%s", e->service, e->version);
}

/* "service@version": the service, whose time fits into as many buckets as there may be. */
static void look_over_time(struct fz_server *s, const char *release, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *service = fz_strndup(release, strcspn(release, "@"));
	fz_auto(fz_fleet_timeline_release) struct fz_fleet_timeline t = { 0 };
	struct fz_fleet_query q = {
		.project = "p", .service = service, .labels = "", .until = INT64_MAX
	};

	if (fz_fleet_timeline(s->writer, &q, &t, err))
		return;
	fz_assert(t.buckets > 0 && t.buckets <= FZ_FLEET_BUCKETS);
	fz_assert(t.band_n > 0 && t.band_n <= FZ_FLEET_BANDS + 1);
}

static int64_t look(struct fz_server *s)
{
	struct fz_fleet_query q = { .project = "p", .labels = "", .until = INT64_MAX };
	struct fz_profile *p[2] = { NULL, NULL };
	struct seen seen = { 0 };
	struct fz_error err = { 0 };

	fz_assert(fz_fleet_list(s->writer, "p", take_entry, &seen, &err) == 0);
	if (seen.release &&
	    !fz_fleet_pair(s->writer, &q, (const char *const[]){ seen.release, seen.release }, p,
			   &err)) {
		fuzz_check(p[0]);
		fuzz_check(p[1]);
	}
	if (seen.release)
		look_over_time(s, seen.release, &err);
	fz_assert(!err.code || err.code == FZ_EINPUT || err.code == FZ_ELIMIT ||
		  err.code == FZ_EUSAGE);
	fz_profile_free(p[0]);
	fz_profile_free(p[1]);
	free(seen.release);
	return seen.samples;
}

/* What says when it was is not stored twice. */
static void send_twice(struct fz_server *s, char *path, const struct fz_http_request *q)
{
	struct fz_http_answer first = ask(s, path, q);
	int64_t samples = look(s);

	fz_fleet_close(s->writer);
	fz_buf_release(&first.body);
	s->writer = NULL;
	struct fz_error err;
	fz_assert(fz_fleet_open(":memory:", FZ_FLEET_WRITE, &s->writer, &err) == 0);
	struct fz_http_answer again = ask(s, path, q), once_more = ask(s, path, q);
	bool known = once_more.body.p && memmem(once_more.body.p, once_more.body.n, "\"known\"", 7);
	fz_assert(again.status == once_more.status);
	if (known)
		fz_assert(look(s) == samples);
	fz_buf_release(&again.body);
	fz_buf_release(&once_more.body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fz_str rest = { (const char *)data, n };
	struct fz_str line = fz_str_take_line(&rest), type = fz_str_take_line(&rest);
	fz_auto(fz_free_ptr) char *path = fz_strndup(line.p, line.n);
	struct fz_http_request q = {
		.project = "p", .peer = "127.0.0.1", .type = type, .body = rest
	};
	struct fz_server s = { .say = say, .memory.limit = (uint64_t)1 << 30 };
	char *query = strchr(path, '?');
	struct fz_error err;

	if (query) {
		*query++ = 0;
		take_parameters(query, &q);
	}
	fz_server_init_locks(&s);
	fz_assert(fz_fleet_open(":memory:", FZ_FLEET_WRITE, &s.writer, &err) == 0);
	send_twice(&s, path, &q);
	fz_fleet_close(s.writer);
	fz_server_release_locks(&s);
	return 0;
}
