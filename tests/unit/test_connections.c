/* SPDX-License-Identifier: MIT */
/* Open connections on an injected clock, and the threads that work on complete requests. */
#include "serve/connections.h"

#include <arpa/inet.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "serve/workers.h"

/* ---- connections ---- */

static char ended[100]; /* descriptors as letters, in order */

static void note_end(int fd)
{
	size_t n = strlen(ended);

	ended[n] = (char)fd;
	ended[n + 1] = 0;
}

static struct fz_connections make(size_t crowded, size_t per_address)
{
	ended[0] = 0;
	return (struct fz_connections){
		.crowded = crowded,
		.per_address = per_address,
		.deadline = { [FZ_CONNECTION_HEADERS] = 10 * FZ_SECOND,
			      [FZ_CONNECTION_REFUSED] = 60 * FZ_SECOND,
			      [FZ_CONNECTION_BODY] = 60 * FZ_SECOND,
			      [FZ_CONNECTION_IDLE] = 7 * FZ_SECOND },
		.end = note_end,
	};
}

static void tick(struct fz_connections *c, int64_t second, const char *expected)
{
	fz_connections_tick(c, second * FZ_SECOND);
	assert_string_equal(ended, expected);
}

static void remove_all(struct fz_connections *c, struct fz_connection **all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fz_connections_remove(c, all[i]);
	assert_int_equal(c->n, 0);
	for (size_t i = 0; i < FZ_CONNECTION_BUCKETS; i++)
		assert_null(c->addresses[i]);
}

/* Each state has its own deadline, from when it began; a complete request has none. */
static void test_deadlines(void **state)
{
	struct fz_connections c = make(100, 100);
	struct fz_connection *all[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		all[i] = fz_connections_add(&c, 1, 'a' + i, i * FZ_SECOND);
	fz_connections_move(&c, all[1], FZ_CONNECTION_BODY, 5 * FZ_SECOND);
	fz_connections_move(&c, all[2], FZ_CONNECTION_REFUSED, 6 * FZ_SECOND);
	fz_connections_move(&c, all[3], FZ_CONNECTION_BODY, 6 * FZ_SECOND);
	fz_connections_move(&c, all[3], FZ_CONNECTION_ANSWER, 7 * FZ_SECOND);
	tick(&c, 10, "");
	tick(&c, 11, "a");
	tick(&c, 65, "a");
	tick(&c, 66, "ab");
	tick(&c, 67, "abc");
	tick(&c, 10000, "abc");
	fz_connections_move(&c, all[3], FZ_CONNECTION_IDLE, 10000 * FZ_SECOND);
	tick(&c, 10007, "abc");
	tick(&c, 10008, "abcd");
	remove_all(&c, all, 4);
}

static void test_address(void **state)
{
	struct fz_connections c = make(100, 2);
	struct fz_connection *all[5];

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_true(fz_connections_admit(&c, 7));
		all[i] = fz_connections_add(&c, 7, 'a' + i, 0);
		assert_int_equal(all[i]->surplus, i >= 2);
	}
	assert_false(fz_connections_admit(&c, 7));
	/* Others do not notice. */
	assert_true(fz_connections_admit(&c, 7 + FZ_CONNECTION_BUCKETS));
	all[4] = fz_connections_add(&c, 8, 'e', 0);
	assert_false(all[4]->surplus);
	fz_connections_remove(&c, all[0]);
	assert_true(fz_connections_admit(&c, 7));
	remove_all(&c, all + 1, 4);
}

/* Half of an address's connections may stay open after their answer. */
static void test_stay(void **state)
{
	struct fz_connections c = make(100, 4);
	struct fz_connection *all[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		all[i] = fz_connections_add(&c, 7, 'a' + i, 0);
		assert_int_equal(fz_connections_may_stay(&c, all[0]), i < 2);
	}
	remove_all(&c, all, 4);
}

/* In a crowd the oldest idle one goes, then the oldest without a request, then the oldest that is
 * refused; never one that is sending, and never the newest. */
static void test_crowded(void **state)
{
	struct fz_connections c = make(4, 100);
	struct fz_connection *all[8];

	(void)state;
	for (int i = 0; i < 4; i++)
		all[i] = fz_connections_add(&c, 1, 'a' + i, i);
	fz_connections_move(&c, all[0], FZ_CONNECTION_BODY, 4);
	fz_connections_move(&c, all[1], FZ_CONNECTION_REFUSED, 4);
	assert_string_equal(ended, "");
	for (int i = 4; i < 7; i++)
		all[i] = fz_connections_add(&c, 1, 'a' + i, i);
	assert_string_equal(ended, "cde");
	fz_connections_move(&c, all[5], FZ_CONNECTION_BODY, 8);
	fz_connections_move(&c, all[6], FZ_CONNECTION_BODY, 8);
	all[7] = fz_connections_add(&c, 1, 'h', 8);
	assert_string_equal(ended, "cdeb");
	fz_connections_move(&c, all[6], FZ_CONNECTION_IDLE, 9);
	fz_connections_remove(&c, all[1]);
	all[1] = fz_connections_add(&c, 1, 'i', 9);
	assert_string_equal(ended, "cdebg");
	remove_all(&c, all, 8);
}

static uint64_t key_of(const char *text)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return fz_connections_key((const void *)&v4);
	assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
	return fz_connections_key((const void *)&v6);
}

static void test_keys(void **state)
{
	(void)state;
	assert_int_not_equal(key_of("10.0.0.1"), key_of("10.0.0.2"));
	assert_int_equal(key_of("10.0.0.1"), key_of("::ffff:10.0.0.1"));
	assert_int_equal(key_of("2001:db8:0:1::1"), key_of("2001:db8:0:1:ffff::2"));
	assert_int_not_equal(key_of("2001:db8:0:1::1"), key_of("2001:db8:0:2::1"));
}

/* ---- workers ---- */

struct job {
	struct fz_work work; /* first */
	int *next, place;
};

static sem_t begun, may_end;

static void run(struct fz_work *work)
{
	struct job *job = (struct job *)(void *)work;

	sem_post(&begun);
	sem_wait(&may_end);
	job->place = ++*job->next;
}

/* One thread, and three that wait; more are refused. All that were accepted are done, those that
 * waited in order. */
static void test_workers(void **state)
{
	struct fz_workers w;
	struct job jobs[7];
	int done = 0;

	(void)state;
	sem_init(&begun, 0, 0);
	sem_init(&may_end, 0, 0);
	fz_workers_init(&w, 1, 3);
	for (int i = 0; i < 7; i++)
		jobs[i] = (struct job){ .work.run = run, .next = &done };
	assert_true(fz_workers_do(&w, &jobs[0].work));
	sem_wait(&begun);
	for (int i = 1; i < 4; i++)
		assert_true(fz_workers_do(&w, &jobs[i].work));
	assert_false(fz_workers_do(&w, &jobs[4].work));
	for (int i = 0; i < 4; i++)
		sem_post(&may_end);
	for (int i = 0; i < 3; i++)
		sem_wait(&begun);
	/* There is room again, also when the thread has ended. */
	assert_true(fz_workers_do(&w, &jobs[5].work));
	sem_post(&may_end);
	fz_workers_close(&w);
	assert_false(fz_workers_do(&w, &jobs[6].work));
	assert_int_equal(done, 5);
	for (int i = 0; i < 4; i++)
		assert_int_equal(jobs[i].place, i + 1);
	assert_int_equal(jobs[4].place, 0);
	assert_int_equal(jobs[5].place, 5);
	fz_workers_release(&w);
}

/* As many threads as permitted work at once. */
static void test_workers_at_once(void **state)
{
	struct fz_workers w;
	struct job jobs[3];
	int done[3] = { 0 };

	(void)state;
	sem_init(&begun, 0, 0);
	sem_init(&may_end, 0, 0);
	fz_workers_init(&w, 3, 0);
	for (int i = 0; i < 3; i++) {
		jobs[i] = (struct job){ .work.run = run, .next = &done[i] };
		assert_true(fz_workers_do(&w, &jobs[i].work));
	}
	for (int i = 0; i < 3; i++)
		sem_wait(&begun);
	for (int i = 0; i < 3; i++)
		sem_post(&may_end);
	fz_workers_close(&w);
	for (int i = 0; i < 3; i++)
		assert_int_equal(done[i], 1);
	fz_workers_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deadlines),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_crowded),
		cmocka_unit_test(test_stay),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_workers),
		cmocka_unit_test(test_workers_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
