/* SPDX-License-Identifier: MIT */
/* The server without a socket: the file of tokens, and requests as its routes receive them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "serve_requests.h"

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

static void test_refused_tokens(void **state)
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

static unsigned request(server_route *route, const char *project, const char *parameters,
			const char *body, char **text)
{
	return request_typed(route, project, parameters, "", fz_str_of(body), text);
}

static void expect(unsigned status, const char *wanted, server_route *route, const char *project,
		   const char *parameters, const char *body)
{
	expect_typed(status, wanted, route, project, parameters, "", fz_str_of(body));
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

static void test_refused_pushes(void **state)
{
	static const struct {
		unsigned status;
		const char *parameters, *body, *wanted;
	} cases[] = {
		{ 400, "version=1 host=h", "main 1\n", "service" },
		{ 400, "service=api host=h", "main 1\n", "version" },
		{ 400, "service=api version=1", "main 1\n", "host" },
		{ 400, "service=api version=1 host=h start=yesterday", "main 1\n", "start" },
		{ 400, "service=api version=1 host=h start=99999999999", "main 1\n", "start" },
		{ 400, "service=api version=1 host=h start=9999999999999", "main 1\n", "start" },
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

/* A profile is not stored as if its rate were another one; 0: there is none. */
static void test_rates(void **state)
{
	static const struct {
		unsigned status;
		const char *rate, *wanted;
	} cases[] = {
		{ 200, "100", "stored" },       { 200, "0", "stored" },
		{ 200, "0.5", "stored" },       { 200, "1000000", "stored" },
		{ 400, "fast", "sampleRate" },  { 400, "-1", "sampleRate" },
		{ 400, "1e99", "sampleRate" },  { 400, "nan", "sampleRate" },
		{ 400, "1e-99", "sampleRate" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_free_ptr) char *parameters =
			fz_asprintf("name=rates sampleRate=%s", cases[i].rate);
		expect(cases[i].status, cases[i].wanted, fz_answer_ingest, "p", parameters,
		       "main;f 1\n");
	}
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
static void test_too_many_labels(void **state)
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

/* ---- known answers ---- */

/* Ask, and get whether the answer was computed. */
static bool is_computed(void (*route)(void *, const struct fz_http_request *,
				      struct fz_http_answer *),
			const char *project, const char *parameters, char **text)
{
	unsigned long long computed = server.figures.computed, cached = server.figures.cached;

	if (request(route, project, parameters, "", text) != 200)
		fail_msg("%s", *text);
	assert_int_equal(server.figures.computed + server.figures.cached, computed + cached + 1);
	return server.figures.computed > computed;
}

static void expect_same(void (*route)(void *, const struct fz_http_request *,
				      struct fz_http_answer *),
			const char *parameters)
{
	fz_auto(fz_free_ptr) char *first = NULL, *second = NULL;

	is_computed(route, "k", parameters, &first);
	assert_false(is_computed(route, "k", parameters, &second));
	assert_string_equal(first, second);
}

static void push_known(const char *parameters, const char *body)
{
	fz_auto(fz_free_ptr) char *all = fz_asprintf("host=h %s", parameters);

	expect(200, "stored", fz_answer_push, "k", all, body);
}

/* Does the question have to be computed again? */
static void expect_computed(bool wanted, const char *parameters, const char *text)
{
	fz_auto(fz_free_ptr) char *got = NULL;

	assert_int_equal(is_computed(fz_answer_json, "k", parameters, &got), wanted);
	if (!strstr(got, text))
		fail_msg("%s: %s", parameters, got);
}

/* The same question is answered from memory until its own data changes. */
static void test_known_answers(void **state)
{
	static const char *const pair = "base=a@1 head=a@2";
	struct fz_error err;

	(void)state;
	push_known("service=a version=1" FROM, "main;work 300\nmain;rest 100\n");
	push_known("service=a version=2" FROM, "main;work 300\nmain;rest 100\n");
	expect_computed(true, pair, "work");
	expect_computed(false, pair, "work");
	expect_same(fz_answer_diff, pair);
	expect_same(fz_answer_pair, pair);
	expect_same(fz_answer_release, "base=a@1 head=a@2 side=head");
	expect_same(fz_answer_timeline, "service=a");
	/* Others: of an option, of the other side, of another project. */
	expect_computed(true, "base=a@1 head=a@2 metric=samples", "work");
	expect_computed(true, "base=a@2 head=a@1", "work");
	expect(422, "a", fz_answer_json, "other", pair, "");
	/* Data of other services and versions changes nothing, its own does. */
	push_known("service=b version=2" FROM, "main;work 1\n");
	push_known("service=a version=3" FROM, "main;work 1\n");
	expect_computed(false, pair, "work");
	push_known("service=a version=2 start=1790000060", "main;late 50\n");
	expect_computed(true, pair, "late");
	expect_computed(false, pair, "late");
	/* A range is of all versions, and new ones are part of it. */
	expect_computed(true, "base=a@1 head=a@2026-09-21..2026-09-22", "late");
	push_known("service=a version=4" FROM, "main;newest 500\n");
	expect_computed(true, "base=a@1 head=a@2026-09-21..2026-09-22", "newest");
	/* Some of its minutes are deleted; the others are replaced by their hour. */
	push_known("service=a version=1 start=1790000060", "main;work 300\n");
	expect_computed(true, pair, "late");
	assert_true(fz_fleet_forget(server.writer, 1790000000 / 60 + 1, &err) > 0);
	expect_computed(true, pair, "late");
	assert_true(fz_fleet_age_between(server.writer, 1790010000 / 60, NULL, NULL, &err) > 0);
	expect_computed(true, pair, "all known only by the hour");
	expect_computed(false, pair, "all known only by the hour");
	/* What is deleted and pushed again has new answers, although ids are used again. */
	assert_true(fz_fleet_forget(server.writer, 1790000000 / 60 + 10, &err) > 0);
	expect(422, "a", fz_answer_json, "k", pair, "");
	push_known("service=a version=1" FROM, "main;again 300\n");
	push_known("service=a version=2" FROM, "main;again 300\n");
	expect_computed(true, pair, "again");
}

/* A timeline contains alarms, so a new one changes it. */
static void test_known_alarms(void **state)
{
	fz_auto(fz_free_ptr) char *text = NULL;
	const struct fz_fleet_alarm alarm = { .service = "c",
					      .base = "1",
					      .head = "2",
					      .function = "work",
					      .text = "{\"planted\":1}",
					      .raised = 1790000000 / 60 };
	struct fz_error err;
	bool is_new;

	(void)state;
	push_known("service=c version=2" FROM, "main;work 1\n");
	expect_same(fz_answer_timeline, "service=c");
	assert_int_equal(fz_fleet_raise(server.writer, "k", &alarm, &is_new, &err), 0);
	assert_true(is_computed(fz_answer_timeline, "k", "service=c", &text));
	assert_non_null(strstr(text, "planted"));
}

/* However many answers there are, they are within a limit, and the latest are known. */
static void test_bounded_answers(void **state)
{
	static struct fz_answer_cache c; /* large */
	struct fz_http_answer large = { 0 };
	char *bytes = fz_buf_reserve(&large.body, FZ_ANSWERS_BYTES / 5);

	(void)state;
	memset(bytes, 'x', FZ_ANSWERS_BYTES / 5);
	large.body.n = FZ_ANSWERS_BYTES / 5;
	fz_answer_cache_init(&c);
	for (int i = 0; i < FZ_ANSWERS + 20; i++) {
		struct fz_http_answer small = { 0 };
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		fz_buf_str(&small.body, key);
		fz_answer_cache_put(&c, fz_str_of(key), &small);
		fz_buf_reset(&small.body);
		/* This one is always in use. */
		assert_true(fz_answer_cache_get(&c, FZ_STR("0"), &small));
		fz_buf_release(&small.body);
	}
	assert_int_equal(c.n, FZ_ANSWERS);
	for (int i = 0; i < 6; i++) {
		char key[32];

		snprintf(key, sizeof(key), "large%d", i);
		fz_answer_cache_put(&c, fz_str_of(key), &large);
		assert_true(c.bytes <= FZ_ANSWERS_BYTES);
	}
	struct fz_http_answer got = { 0 };
	assert_false(fz_answer_cache_get(&c, FZ_STR("large0"), &got));
	assert_true(fz_answer_cache_get(&c, FZ_STR("large5"), &got));
	assert_int_equal(got.body.n, large.body.n);
	fz_buf_release(&got.body);
	fz_buf_release(&large.body);
	fz_answer_cache_release(&c);
	assert_int_equal(c.bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens),         cmocka_unit_test(test_refused_tokens),
		cmocka_unit_test(test_push),           cmocka_unit_test(test_known_answers),
		cmocka_unit_test(test_known_alarms),   cmocka_unit_test(test_bounded_answers),
		cmocka_unit_test(test_refused_pushes), cmocka_unit_test(test_too_many_labels),
		cmocka_unit_test(test_comparison),     cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests(tests, open_server, close_server);
}
