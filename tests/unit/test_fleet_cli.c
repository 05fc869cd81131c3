/* SPDX-License-Identifier: MIT */
/* Options of commands that call a server, and answers of a server that is not ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include "base/io.h"
#include "cli/fleet.h"
#include "format/format.h"
#include "hand_profile.h"
#include "refused.h"

/* ---- options ---- */

static void test_ages(void **state)
{
	static const char *const wrong[] = { "",
					     "7",
					     "d",
					     "-7d",
					     "0d",
					     "7w",
					     "1.5h",
					     "7d ",
					     "7dd",
					     "100001d",
					     "99999999999999999999m" };
	struct fz_cli_fleet f = { 0 };
	struct fz_error err;

	(void)state;
	assert_int_equal(set_option(fz_cli_fleet_set_since, "since", "90m", &f, &err), 0);
	assert_int_equal(set_option(fz_cli_fleet_set_since, "until", "7d", &f, &err), 0);
	assert_true(f.since_s == 90 * 60 && f.until_s == 7 * 86400);
	assert_true(fz_cli_fleet_asked(&f));
	for (size_t i = 0; i < FZ_ARRAY_LEN(wrong); i++)
		if (set_option(fz_cli_fleet_set_since, "since", wrong[i], &f, &err) != FZ_EUSAGE)
			fail_msg("accepted as an age: '%s'", wrong[i]);
	assert_true(f.since_s == 90 * 60);
	assert_refused(set_option(fz_cli_fleet_set_since, "until", "7w", &f, &err), err,
		       "invalid --until '7w': use a time before now, such as 90m, 24h or 7d");
}

static void test_labels(void **state)
{
	struct fz_cli_fleet f = { 0 };
	struct fz_error err;

	(void)state;
	for (int i = 0; i < FZ_CLI_LABELS_MAX; i++)
		assert_int_equal(set_option(fz_cli_fleet_add_label, "label", "a=b", &f, &err), 0);
	assert_refused(set_option(fz_cli_fleet_add_label, "label", "a=b", &f, &err), err,
		       "--label: can be given at most 16 times");
}

static void test_spool_limits(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = {
		{ "64K", 64 << 10 },
		{ "65536", 65536 },
		{ "256M", 256 << 20 },
		{ "2G", 2ull << 30 },
		{ "1T", 1ull << 40 },
		{ "4294967295", 4294967295 },
		{ "8388607T", 8388607ull << 40 },
	};
	static const char *const wrong[] = {
		"",
		"K",
		"63K",
		"65535",
		"-1M",
		"1.5G",
		"64k",
		"64KB",
		"M64",
		"64 M",
		/* beyond 64 bits, and so for a program that does not look: 1T */
		"16777217T",
		"4294967295T",
		"4294967296",
	};
	uint64_t limit = 77;
	struct fz_error err;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(wrong); i++)
		if (set_option(fz_cli_spool_set_limit, "spool-limit", wrong[i], &limit, &err) !=
		    FZ_EUSAGE)
			fail_msg("accepted as a limit: '%s'", wrong[i]);
	assert_int_equal(limit, 77);
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		assert_int_equal(set_option(fz_cli_spool_set_limit, "spool-limit", cases[i].text,
					    &limit, &err),
				 0);
		assert_true(limit == cases[i].bytes);
	}
	assert_refused(set_option(fz_cli_spool_set_limit, "spool-limit", "63K", &limit, &err), err,
		       "invalid --spool-limit '63K': use a size of at least 64K, such as 256M or "
		       "2G");
}

static void test_token(void **state)
{
	struct fz_cli_fleet f = { 0 };
	char path[] = "/tmp/fizeau_token_XXXXXX", *token = NULL;
	int fd = mkstemp(path);
	struct fz_error err;

	(void)state;
	setenv("FIZEAU_TOKEN", "of the environment", 1);
	assert_int_equal(fz_cli_fleet_token(&f, &token, &err), 0);
	assert_string_equal(token, "of the environment");
	free(token);
	/* A file goes before the environment. */
	f.token_file = path;
	assert_int_equal(write(fd, "  secret\n", 9), 9);
	assert_int_equal(fz_cli_fleet_token(&f, &token, &err), 0);
	assert_string_equal(token, "secret");
	free(token);
	assert_int_equal(ftruncate(fd, 2), 0);
	assert_int_equal(fz_cli_fleet_token(&f, &token, &err), FZ_EINPUT);
	assert_non_null(strstr(err.message, ": file is empty"));
	close(fd);
	unlink(path);
	assert_int_equal(fz_cli_fleet_token(&f, &token, &err), FZ_ESYSTEM);
	f.token_file = NULL;
	setenv("FIZEAU_TOKEN", "", 1);
	assert_int_equal(fz_cli_fleet_token(&f, &token, &err), 0);
	assert_null(token);
	unsetenv("FIZEAU_TOKEN");
	assert_int_equal(fz_cli_fleet_token(&f, &token, &err), 0);
	assert_null(token);
}

/* ---- sides ---- */

static const char *const names[] = { "shop@1", "shop@2" };

static void test_contradictions(void **state)
{
	struct fz_cli_fleet neither = { .since_s = 60 }, both = { .server = "a", .store = "b" },
			    store = { .store = "b", .token_file = "c" };
	struct fz_profile *p[2];
	struct fz_error err;

	(void)state;
	assert_refused(fz_cli_fleet_load(&neither, names, NULL, p, &err), err,
		       "--label, --since, --until and --token-file require --server URL or "
		       "--store PATH");
	assert_refused(fz_cli_fleet_load(&both, names, NULL, p, &err), err,
		       "--server and --store exclude each other");
	assert_refused(fz_cli_fleet_load(&store, names, NULL, p, &err), err,
		       "--token-file requires --server");
}

/* ---- answers ---- */

struct server {
	int fd;
	struct fz_str answer;
	char url[40];
	pthread_t thread;
};

/* Answer one request, whatever it is. */
static void *answer_one(void *arg)
{
	struct server *s = arg;
	char request[4096], head[100];
	int fd = accept(s->fd, NULL, NULL);

	if (fd < 0 || read(fd, request, sizeof(request)) <= 0)
		return NULL;
	int n = snprintf(head, sizeof(head),
			 "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
			 s->answer.n);
	fz_write_full(fd, head, (size_t)n);
	fz_write_full(fd, s->answer.p, s->answer.n);
	close(fd);
	return NULL;
}

/* Load two releases from a server with that answer. */
static int load_from(struct fz_str answer, struct fz_profile *ret[2], struct fz_error *err)
{
	struct server s = { .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
			    .answer = answer };
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);
	struct fz_cli_fleet f = { .server = s.url };

	assert_true(s.fd >= 0 && bind(s.fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
		    listen(s.fd, 1) == 0 && getsockname(s.fd, (struct sockaddr *)&at, &n) == 0);
	snprintf(s.url, sizeof(s.url), "http://127.0.0.1:%d", ntohs(at.sin_port));
	assert_int_equal(pthread_create(&s.thread, NULL, answer_one, &s), 0);
	ret[0] = ret[1] = NULL;
	int r = fz_cli_fleet_load(&f, names, "cpu", ret, err);
	pthread_join(s.thread, NULL);
	close(s.fd);
	return r;
}

/* "SIZE\nBASE HEAD" with two small recordings. */
static void add_pair(struct fz_buf *out, int64_t more)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = hand_profile("main;work 3\n", 1000);
	fz_auto(fz_output_abortp) struct fz_output *file = fz_output_memory();

	assert_int_equal(fz_format_by_name("fz")->write(p, file, NULL), 0);
	const struct fz_buf *bytes = fz_output_buffer(file);
	fz_buf_printf(out, "%lld\n", (long long)bytes->n + more);
	fz_buf_add(out, bytes->p, bytes->n);
	fz_buf_add(out, bytes->p, bytes->n);
}

static void test_pair(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	struct fz_profile *p[2];
	struct fz_error err;

	(void)state;
	add_pair(&answer, 0);
	if (load_from(fz_buf_view(&answer), p, &err))
		fail_msg("%s", err.message);
	assert_true(p[0]->samples.n == 1 && p[1]->samples.n == 1);
	fz_profile_free(p[0]);
	fz_profile_free(p[1]);
}

/* The size of the base must leave room for it: no byte behind the answer is read. */
static void test_hostile_pairs(void **state)
{
	static const char *const texts[] = {
		"", "\n", "x\n", "-1\n", "3", "6\nshort", "7\nshort", "99999999999999999999\nshort",
	};
	struct fz_profile *p[2];
	struct fz_error err;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++) {
		assert_int_equal(load_from(fz_str_of(texts[i]), p, &err), FZ_EINPUT);
		if (!strstr(err.message, ": unexpected response: not a pair of releases"))
			fail_msg("'%s': %s", texts[i], err.message);
		assert_true(!p[0] && !p[1]);
	}
	/* All of it is the base, or it is cut. */
	assert_int_equal(load_from(FZ_STR("5\nshort"), p, &err), FZ_EINPUT);
	for (int64_t more = -1; more <= 1; more += 2) {
		fz_auto(fz_buf_release) struct fz_buf answer = { 0 };

		add_pair(&answer, more);
		assert_true(load_from(fz_buf_view(&answer), p, &err) < 0);
		assert_true(!p[0] && !p[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ages),           cmocka_unit_test(test_labels),
		cmocka_unit_test(test_spool_limits),   cmocka_unit_test(test_token),
		cmocka_unit_test(test_contradictions), cmocka_unit_test(test_pair),
		cmocka_unit_test(test_hostile_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
