/* SPDX-License-Identifier: MIT */
/* A server without a socket, with a store of its own, and requests as its routes receive them. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/io.h"
#include "serve/pushes.h"
#include "serve/routes.h"

enum { SERVER_MEMORY = 16 << 20 }; /* one request may take half */

static void ignore(const char *text)
{
	(void)text;
}

static char folder[] = "/tmp/fz-serve-XXXXXX";
static struct fz_server server;

static int open_server(void **state)
{
	struct fz_error err;

	(void)state;
	assert_non_null(mkdtemp(folder));
	server = (struct fz_server){ .say = ignore };
	server.memory.limit = SERVER_MEMORY;
	server.options.store = fz_asprintf("%s/store", folder);
	fz_server_init_locks(&server);
	if (fz_fleet_open(server.options.store, FZ_FLEET_WRITE, &server.writer, &err))
		fail_msg("%s", err.message);
	if (fz_results_open(server.options.store, true, &server.results, &err))
		fail_msg("%s", err.message);
	return 0;
}

static int close_server(void **state)
{
	fz_auto(fz_free_ptr) char *remove = fz_asprintf("rm -r %s", folder);

	(void)state;
	fz_results_close(server.results);
	fz_fleet_close(server.writer);
	fz_server_release_locks(&server);
	free((char *)server.options.store);
	return system(remove);
}

/* As in struct fz_http_route. */
typedef void server_route(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);

/* "name=value name=value", and a body of some type. Returns the status; the body of the answer is
 * in *text. */
static unsigned request_typed(server_route *route, const char *project, const char *parameters,
			      const char *type, struct fz_str body, char **text)
{
	fz_auto(fz_free_ptr) char *words = fz_strdup(parameters);
	struct fz_http_request q = { .project = project,
				     .rest = "",
				     .peer = "127.0.0.1",
				     .type = fz_str_of(type),
				     .body = body };
	struct fz_http_answer a = { .status = 200, .type = "text/plain", .file = -1 };
	char *rest;

	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '=');

		*value++ = 0;
		q.parameters[q.parameter_n].name = word;
		q.parameters[q.parameter_n++].value = value;
	}
	route(&server, &q, &a);
	*text = fz_strndup(a.body.p ? a.body.p : "", a.body.n);
	fz_buf_release(&a.body);
	return a.status;
}

/* Checks the status, and that the answer has this text. */
static void expect_typed(unsigned status, const char *wanted, server_route *route,
			 const char *project, const char *parameters, const char *type,
			 struct fz_str body)
{
	fz_auto(fz_free_ptr) char *text = NULL;
	unsigned got = request_typed(route, project, parameters, type, body, &text);

	if (got != status || !strstr(text, wanted))
		fail_msg("%s: %u %s", parameters, got, text);
}
