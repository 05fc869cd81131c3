/* SPDX-License-Identifier: MIT */
/* A client's connections, counted by a server in this process, and which responses it believes. */
#include "fleet/client.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/sender.h"
#include "base/io.h"

enum { REQUESTS = 3 };

/* Serves one connection after the other. */
static struct counting {
	pthread_t thread;
	int listener;
	char url[64];
	bool closes; /* after each response, without saying so */
	const char *answer;
	atomic_uint connections, requests;
} server;

/* Returns false when the client has closed the connection. */
static bool take_request(int fd)
{
	fz_auto(fz_buf_release) struct fz_buf all = { 0 };
	const char *end = NULL, *length;
	char part[4096];

	while (!end || all.n < (size_t)(end - all.p) + 4 + strtoul(length + 16, NULL, 10)) {
		ssize_t n = read(fd, part, sizeof(part));

		if (n <= 0)
			return false;
		fz_buf_add(&all, part, (size_t)n);
		fz_buf_str(&all, "");
		end = strstr(all.p, "\r\n\r\n");
		length = strstr(all.p, "\r\nContent-Length:");
		assert_true(!end || length);
	}
	return true;
}

static void *serve(void *arg)
{
	int fd;

	(void)arg;
	while ((fd = accept(server.listener, NULL, NULL)) >= 0) {
		server.connections++;
		while (take_request(fd)) {
			server.requests++;
			if (!fz_write_full(fd, server.answer, strlen(server.answer)) ||
			    server.closes)
				break;
		}
		close(fd);
	}
	return NULL;
}

static int start(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);

	(void)state;
	server = (struct counting){ .listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
				    .answer = "HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n"
					      "{\"status\":\"stored\"}" };
	assert_int_equal(bind(server.listener, (struct sockaddr *)&at, size), 0);
	assert_int_equal(listen(server.listener, 8), 0);
	assert_int_equal(getsockname(server.listener, (struct sockaddr *)&at, &size), 0);
	snprintf(server.url, sizeof(server.url), "http://127.0.0.1:%u", ntohs(at.sin_port));
	assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	shutdown(server.listener, SHUT_RDWR);
	pthread_join(server.thread, NULL);
	close(server.listener);
	return 0;
}

/* Push some times. */
static void push(struct fz_connection *connection)
{
	const struct fz_client client = { .server = server.url, .connection = connection };
	const struct fz_str body = FZ_STR("body");

	for (int i = 0; i < REQUESTS; i++) {
		fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
		struct fz_error err;

		if (fz_client_request(&client, "/api/push", &body, &answer, &err))
			fail_msg("%s", err.message);
		assert_true(fz_str_eq(fz_buf_view(&answer), FZ_STR("{\"status\":\"stored\"}")));
	}
	assert_int_equal(server.requests, REQUESTS);
}

static void one_each(void **state)
{
	(void)state;
	push(NULL);
	assert_int_equal(server.connections, REQUESTS);
}

static void kept(void **state)
{
	struct fz_connection connection = { 0 };

	(void)state;
	push(&connection);
	assert_int_equal(server.connections, 1);
	fz_connection_close(&connection);
	fz_connection_close(&connection);
}

/* The server closed the connection meanwhile. */
static void closed(void **state)
{
	struct fz_connection connection = { 0 };

	(void)state;
	server.closes = true;
	push(&connection);
	assert_int_equal(server.connections, REQUESTS);
	fz_connection_close(&connection);
}

/* An agent's sender, whose pushes come one by one. */
static void sender(void **state)
{
	const struct fz_client client = { .server = server.url };
	const struct fz_notify notify = { 0 };
	char folder[] = "/tmp/fizeau-client-XXXXXX";
	struct fz_agent_sender *sender;
	struct fz_agent_spool *spool;
	struct fz_error err;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(fz_client_load(&err), 0);
	assert_int_equal(fz_agent_spool_open(folder, 1 << 20, false, &notify, &spool, &err), 0);
	assert_int_equal(fz_agent_sender_start(&client, spool, &notify, &sender, &err), 0);
	for (int i = 0; i < REQUESTS; i++) {
		assert_int_equal(fz_agent_spool_add(spool, "/api/push", FZ_STR("body"), 1, &err),
				 0);
		fz_agent_sender_wake(sender);
		while (fz_agent_spool_count(spool).n)
			usleep(1000);
	}
	assert_int_equal(fz_agent_sender_finish(sender), REQUESTS);
	assert_int_equal(server.connections, 1);
	fz_agent_spool_close(spool);
	fz_auto(fz_free_ptr) char *remove = fz_asprintf("rm -r %s", folder);
	assert_int_equal(system(remove), 0);
}

static void ignore_gone(void *arg, const struct fz_agent_spooled *p, const struct fz_buf *answer)
{
	(void)arg;
	(void)p;
	(void)answer;
}

/* Only a server's confirmation is believed: after anything else a push stays in the spool. */
static void not_confirmed(void **state)
{
	static const struct {
		const char *answer, *says;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n<html></html>",
		  "unexpected response (is 'fizeau serve' running there, in a current version?)" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nkept\n", "in a current version" },
		{ "HTTP/1.1 204 No Content\r\n\r\n", "unexpected response" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"status\":", "(status 200)" },
		{ "HTTP/1.1 301 Moved\r\nLocation: https://x/\r\nContent-Length: 0\r\n\r\n",
		  "this URL redirects; use the one it leads to (status 301)" },
		{ "HTTP/1.1 500 Error\r\nContent-Length: 0\r\n\r\n",
		  "the response gives no reason (status 500)" },
	};
	const struct fz_client client = { .server = server.url };
	const struct fz_notify notify = { 0 };
	char folder[] = "/tmp/fizeau-client-XXXXXX";
	struct fz_agent_spool *spool;
	struct fz_error err;

	(void)state;
	server.closes = true;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(fz_agent_spool_open(folder, 1 << 20, false, &notify, &spool, &err), 0);
	assert_int_equal(fz_agent_spool_add(spool, "/api/push", FZ_STR("body"), 1, &err), 0);
	const struct fz_agent_send how = {
		.client = &client, .spool = spool, .notify = &notify, .gone = ignore_gone
	};
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		server.answer = cases[i].answer;
		if (!fz_agent_send(&how, &err) || !strstr(err.message, cases[i].says))
			fail_msg("%zu: %s", i, err.message);
		assert_int_equal(fz_agent_spool_count(spool).n, 1);
	}
	fz_agent_spool_close(spool);
	fz_auto(fz_free_ptr) char *remove = fz_asprintf("rm -r %s", folder);
	assert_int_equal(system(remove), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_each, start, stop),
		cmocka_unit_test_setup_teardown(kept, start, stop),
		cmocka_unit_test_setup_teardown(closed, start, stop),
		cmocka_unit_test_setup_teardown(sender, start, stop),
		cmocka_unit_test_setup_teardown(not_confirmed, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
