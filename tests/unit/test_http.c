/* SPDX-License-Identifier: MIT */
/* The HTTP server with routes of this test, in this process. */
#include "serve/http.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static sem_t begun, may_end;

static void answer_slowly(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	(void)arg;
	(void)q;
	sem_post(&begun);
	sem_wait(&may_end);
	fz_buf_str(&ret->body, "it took long\n");
}

static void answer(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	(void)arg;
	fz_buf_printf(&ret->body, "%.*s from %s", (int)q->body.n, q->body.p, q->peer);
}

static const struct fz_http_route routes[] = {
	{ "GET", "/slow", FZ_RIGHT_READ, answer_slowly },
	{ "POST", "/push", FZ_RIGHT_WRITE, answer },
	{ "GET", "/public", 0, answer },
	{ 0 },
};

static struct fz_http *start(void)
{
	const struct fz_http_options options = { .host = "127.0.0.1",
						 .body_max = 1000,
						 .headers_seconds = 60,
						 .seconds_max = 60,
						 .idle_seconds = 60,
						 .per_address = 1000 };
	struct fz_http *h;
	struct fz_error err;

	sem_init(&begun, 0, 0);
	sem_init(&may_end, 0, 0);
	if (fz_http_start(&options, routes, NULL, &h, &err))
		fail_msg("%s", err.message);
	return h;
}

static int ask(const struct fz_http *h, const char *request)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(fz_http_port(h)),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(write(fd, request, strlen(request)), strlen(request));
	return fd;
}

/* The whole response to a request. */
static void expect(int fd, const char *status, const char *text)
{
	struct fz_buf all = { 0 };
	char part[1000];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0)
		fz_buf_add(&all, part, (size_t)n);
	fz_buf_char(&all, 0);
	if (!strstr(all.p, status) || !strstr(all.p, text))
		fail_msg("%s", all.p);
	fz_buf_release(&all);
	close(fd);
}

#define SLOW "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define PUBLIC "GET /public HTTP/1.1\r\nHost: localhost\r\n"
#define STAY "POST /push HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
#define LAST "Connection: close\r\n\r\n"
#define PUSH STAY LAST "main"

enum { MANY = 300 }; /* more than readers may have at once, and than may wait for them */

/* Slow readers block neither pushes nor supervisors. Readers beyond the limit of waiting ones are
 * refused at once. */
static void test_kinds(void **state)
{
	struct fz_http *h = start();
	struct pollfd fds[MANY];
	int refused = 0;

	(void)state;
	for (int i = 0; i < MANY; i++)
		fds[i] = (struct pollfd){ .fd = ask(h, SLOW), .events = POLLIN };
	assert_true(poll(fds, MANY, -1) > 0);
	while (!fds[refused].revents)
		refused++;
	expect(fds[refused].fd, " 503 ", "Retry-After: 5\r\n");
	expect(ask(h, PUSH), " 200 ", "main from 127.0.0.1");
	expect(ask(h, PUBLIC LAST), " 200 ", " from 127.0.0.1");
	for (int i = 0; i < MANY; i++)
		sem_post(&may_end);
	for (int i = 0; i < MANY; i++)
		if (i != refused)
			close(fds[i].fd);
	fz_http_stop(h);
}

/* Read the response to one request, whose body ends with a text. */
static void expect_one(int fd, const char *text)
{
	char all[2000] = "";
	size_t n = 0;

	while (n < sizeof(all) - 1 && !strstr(all, text)) {
		assert_int_equal(read(fd, all + n, 1), 1);
		n++;
	}
	assert_non_null(strstr(all, "HTTP/1.1 200 "));
	assert_null(strstr(all, "Connection: close"));
}

static void send_to(int fd, const char *request)
{
	assert_int_equal(write(fd, request, strlen(request)), strlen(request));
}

/* One connection carries requests one after the other, also if they are sent at once; until an
 * error, or until the client closes it. */
static void test_stays(void **state)
{
	struct fz_http *h = start();
	int fd = ask(h, STAY "\r\nmain");

	(void)state;
	expect_one(fd, "main from 127.0.0.1");
	send_to(fd, STAY "\r\nnext" STAY "\r\nlast" PUBLIC "\r\n");
	expect_one(fd, "next from 127.0.0.1");
	expect_one(fd, "last from 127.0.0.1");
	expect_one(fd, " from 127.0.0.1");
	assert_int_equal(fz_http_figures(h).connections, 1);
	send_to(fd, "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
	expect(fd, " 404 ", "Connection: close");
	fd = ask(h, STAY "\r\nmain");
	expect_one(fd, "main from 127.0.0.1");
	send_to(fd, STAY LAST "main");
	expect(fd, " 200 ", "main from");
	fz_http_stop(h);
}

/* Only as many as half of the limit of an address. */
static void test_half(void **state)
{
	struct fz_http *h = start();
	int fds[501];

	(void)state;
	for (int i = 0; i < 500; i++) {
		fds[i] = ask(h, STAY "\r\nmain");
		expect_one(fds[i], "main from 127.0.0.1");
	}
	expect(ask(h, STAY "\r\nmain"), " 200 ", "Connection: close");
	for (int i = 0; i < 500; i++)
		close(fds[i]);
	fz_http_stop(h);
}

static void *stop(void *arg)
{
	fz_http_stop(arg);
	return NULL;
}

/* A complete request is answered before the server ends, which does not wait for others. */
static void test_stop(void **state)
{
	struct fz_http *h = start();
	int slow = ask(h, SLOW), idle = ask(h, STAY "\r\nmain");
	/* Its body is never complete. */
	int late = ask(h, "POST /push HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n");
	pthread_t thread;

	(void)state;
	sem_wait(&begun);
	assert_int_equal(pthread_create(&thread, NULL, stop, h), 0);
	sem_post(&may_end);
	expect(slow, " 200 ", "it took long");
	expect(idle, "", "");
	pthread_join(thread, NULL);
	close(late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_stays),
		cmocka_unit_test(test_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
