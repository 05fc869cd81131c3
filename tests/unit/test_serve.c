/* SPDX-License-Identifier: MIT */
/* The server without a socket: the file of tokens, and requests as its routes receive them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/io.h"
#include "serve/server.h"

/* ---- tokens ---- */

static int load_tokens(const char *text, mode_t mode, struct fz_tokens *ret, struct fz_error *err)
{
	char path[] = "/tmp/fz-tokens-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	int r = fz_tokens_load(path, ret, err);
	unlink(path);
	return r;
}

#define TOKEN_A "aaaaaaaaaaaaaaaa"
#define TOKEN_B "aaaaaaaaaaaaaaab"

static void test_tokens(void **state)
{
	struct fz_tokens t;
	struct fz_error err;

	(void)state;
	assert_int_equal(load_tokens("# who may do what\n\none read " TOKEN_A "\n"
				     "two\tread,write\t" TOKEN_B "\r\nthree badge c" TOKEN_A,
				     0600, &t, &err),
			 0);
	assert_int_equal(t.n, 3);
	const struct fz_token *a = fz_tokens_find(&t, FZ_STR(TOKEN_A));
	const struct fz_token *b = fz_tokens_find(&t, FZ_STR(TOKEN_B));
	assert_string_equal(a->project, "one");
	assert_int_equal(a->rights, FZ_RIGHT_READ | FZ_RIGHT_BADGE);
	assert_string_equal(b->project, "two");
	assert_int_equal(b->rights, FZ_RIGHT_READ | FZ_RIGHT_WRITE | FZ_RIGHT_BADGE);
	assert_int_equal(fz_tokens_find(&t, FZ_STR("c" TOKEN_A))->rights, FZ_RIGHT_BADGE);
	/* A part of a token, a token and more, and nothing. */
	assert_null(fz_tokens_find(&t, FZ_STR("aaaaaaaaaaaaaaa")));
	assert_null(fz_tokens_find(&t, FZ_STR(TOKEN_A TOKEN_A)));
	assert_null(fz_tokens_find(&t, FZ_STR("")));
	fz_tokens_release(&t);
}

static void test_tokens_that_are_refused(void **state)
{
	static const struct {
		const char *text, *message;
		mode_t mode;
	} cases[] = {
		{ "one read " TOKEN_A "\n", "readable by others; run: chmod 600", 0640 },
		{ "", "no tokens", 0600 },
		{ "# only a comment\n", "no tokens", 0600 },
		{ "one read short\n", ":1: the token is shorter than 16 characters", 0600 },
		{ "\none all " TOKEN_A "\n", ":2: expected 'PROJECT", 0600 },
		{ "one read\n", ":1: expected 'PROJECT", 0600 },
		{ "one read " TOKEN_A " more\n", ":1: expected 'PROJECT", 0600 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_tokens t;
		struct fz_error err;

		assert_true(load_tokens(cases[i].text, cases[i].mode, &t, &err) < 0);
		if (!strstr(err.message, cases[i].message))
			fail_msg("%s", err.message);
	}
}

/* ---- requests ---- */

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
	server.options.store = fz_asprintf("%s/store", folder);
	fz_server_init_locks(&server);
	if (fz_fleet_open(server.options.store, FZ_FLEET_WRITE, &server.writer, &err))
		fail_msg("%s", err.message);
	return 0;
}

static int close_server(void **state)
{
	fz_auto(fz_free_ptr) char *remove = fz_asprintf("rm -r %s", folder);

	(void)state;
	fz_fleet_close(server.writer);
	fz_server_release_locks(&server);
	free((char *)server.options.store);
	return system(remove);
}

/* "name=value name=value", and a body. Returns the status; the body of the answer is in *text. */
static unsigned request(void (*route)(void *, const struct fz_http_request *,
				      struct fz_http_answer *),
			const char *project, const char *parameters, const char *body, char **text)
{
	fz_auto(fz_free_ptr) char *words = fz_strdup(parameters);
	struct fz_http_request q = {
		.project = project, .rest = "", .peer = "127.0.0.1", .body = fz_str_of(body)
	};
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
static void expect(unsigned status, const char *wanted,
		   void (*route)(void *, const struct fz_http_request *, struct fz_http_answer *),
		   const char *project, const char *parameters, const char *body)
{
	fz_auto(fz_free_ptr) char *text = NULL;
	unsigned got = request(route, project, parameters, body, &text);

	if (got != status || !strstr(text, wanted))
		fail_msg("%s: %u %s", parameters, got, text);
}

#define FROM " start=1790000000"

static void test_push(void **state)
{
	static const char *const body = "main;work 30\nmain;rest 10\n";

	(void)state;
	expect(200, "\"status\":\"stored\"", fz_answer_push, "p",
	       "service=api version=1 host=h id=1" FROM, body);
	/* The same push again, and its id with other content. */
	expect(200, "\"status\":\"known\"", fz_answer_push, "p",
	       "service=api version=1 host=h id=1" FROM, body);
	expect(422, "used for another push", fz_answer_push, "p",
	       "service=api version=1 host=h id=1" FROM, "main;work 31\n");
	/* Another project has ids of its own. */
	expect(200, "\"status\":\"stored\"", fz_answer_push, "other",
	       "service=api version=1 host=h id=1" FROM, body);
}

static void test_pushes_that_are_refused(void **state)
{
	static const struct {
		unsigned status;
		const char *parameters, *body, *wanted;
	} cases[] = {
		{ 400, "version=1 host=h", "main 1\n", "service" },
		{ 400, "service=api host=h", "main 1\n", "version" },
		{ 400, "service=api version=1", "main 1\n", "host" },
		{ 400, "service=api version=1 host=h start=yesterday", "main 1\n", "start" },
		{ 400, "service=api version=1 host=h label=region", "main 1\n", "label" },
		{ 400, "service=api version=1 host=h keep=yes", "main 1\n", "requires id=ID" },
		{ 400, "service=api version=1 host=h keep=no id=1", "main 1\n", "expected yes" },
		{ 422, "service=api version=1 host=h", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++)
		expect(cases[i].status, cases[i].wanted, fz_answer_push, "p", cases[i].parameters,
		       cases[i].body);
}

/* "label=k0=v label=k1=v ..." */
static char *labels(const char *first, int n)
{
	struct fz_buf all = { 0 };

	fz_buf_str(&all, first);
	for (int i = 0; i < n; i++)
		fz_buf_printf(&all, " label=k%d=v", i);
	return all.p; /* ends with a zero byte */
}

/* None is ignored: not in a push, and not in a comparison, which would then be of other hosts. */
static void test_more_labels_than_fit(void **state)
{
	fz_auto(fz_free_ptr) char *push =
		labels("service=api version=1 host=h", FZ_FLEET_LABELS_MAX + 1);
	fz_auto(fz_free_ptr) char *diff = labels("base=api@1 head=api@1", FZ_FLEET_LABELS_MAX + 1);

	(void)state;
	expect(400, "more than 16 labels", fz_answer_push, "p", push, "main 1\n");
	expect(400, "more than 16 labels", fz_answer_json, "p", diff, "");
}

/* What was pushed is what is compared, by project. */
static void test_comparison(void **state)
{
	fz_auto(fz_free_ptr) char *text = NULL;
	json_t *v, *function;
	size_t i, found = 0;

	(void)state;
	expect(200, "stored", fz_answer_push, "shop", "service=web version=1 host=h" FROM,
	       "main;work 300\nmain;rest 100\n");
	expect(200, "stored", fz_answer_push, "shop", "service=web version=2 host=h" FROM,
	       "main;work 100\nmain;rest 100\nmain;more 40\n");
	expect(400, "missing parameter: head", fz_answer_json, "shop", "base=web@1", "");
	expect(422, "web", fz_answer_json, "p", "base=web@1 head=web@2", "");
	assert_int_equal(request(fz_answer_json, "shop", "base=web@1 head=web@2", "", &text), 200);
	v = json_loads(text, 0, NULL);
	json_array_foreach(json_object_get(v, "functions"), i, function)
	{
		const char *name = json_string_value(json_object_get(function, "name"));
		json_int_t base = json_integer_value(json_object_get(function, "base_self"));
		json_int_t head = json_integer_value(json_object_get(function, "head_self"));

		found += strcmp(name, "work") == 0 && base == 300 && head == 100;
		found += strcmp(name, "rest") == 0 && base == 100 && head == 100;
		found += strcmp(name, "more") == 0 && base == 0 && head == 40;
	}
	assert_int_equal(found, 3);
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_tokens_that_are_refused),
		cmocka_unit_test(test_push),
		cmocka_unit_test(test_pushes_that_are_refused),
		cmocka_unit_test(test_more_labels_than_fit),
		cmocka_unit_test(test_comparison),
	};

	return cmocka_run_group_tests(tests, open_server, close_server);
}
