/* SPDX-License-Identifier: MIT */
/* An alarm that could not be stored is raised later. */
#include "serve_requests.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "fleet/sqlite_calls.h"
#include "fleet_sim.h"
#include "serve/watcher.h"

enum { MINUTES = 80 };

static void change_store(const char *sql)
{
	struct fz_sql s;
	struct fz_error err;

	if (fz_sql_open(&s, server.options.store, false, &err) || fz_sql_script(&s, sql, &err))
		fail_msg("%s", err.message);
	fz_sql_close(&s);
}

/* Releases on the same hosts; the second one is slower. */
static void push_releases(void)
{
	struct sim sim = { "", 6, MINUTES, true, 0.1, 0.02, 0.8, 1000, 0, 0.01, 0.05 };
	struct fz_error err;

	assert_int_equal(sim_push(server.writer, &sim, "a", false, 1, 0, &err), 0);
	sim.start = MINUTES;
	assert_int_equal(sim_push(server.writer, &sim, "b", true, 1, 1, &err), 0);
}

static void expect_alarms(const char *wanted)
{
	expect_typed(200, wanted, fz_answer_timeline, sim_project, "service=s", "", FZ_STR(""));
}

/* Tell the watcher that a host pushed release b, and nothing after that. */
static void note_release(void)
{
	const struct fz_fleet_push push = { .project = sim_project,
					    .service = "s",
					    .version = "b",
					    .host = "h",
					    .labels = "",
					    .id = "" };
	struct fz_fleet_kind kind = { .metric = FZ_STR("cpu"), .main = true };
	struct fz_fleet_cell cells[] = { { .minute = SIM_START + MINUTES },
					 { .minute = SIM_START + 2 * MINUTES } };

	fz_watcher_note(server.watcher, &push,
			&(struct fz_fleet_batch){
				.kinds = &kind, .kind_n = 1, .cells = cells, .cell_n = 2 });
}

static atomic_uint failures, alarms;

static void listen(const char *text)
{
	*(strncmp(text, "alarm: ", 7) == 0 ? &alarms : &failures) += 1;
}

static void wait_for(atomic_uint *lines)
{
	while (!*lines)
		usleep(20000);
	assert_int_equal(*lines, 1);
}

/* An alarm that cannot be stored is raised when the store takes it, without more data. */
static void test_raised_later(void **state)
{
	(void)state;
	push_releases();
	server.say = listen;
	fz_watcher_start(&server, &server.watcher);
	change_store("ALTER TABLE alarm RENAME TO other");
	note_release();
	wait_for(&failures);
	change_store("ALTER TABLE other RENAME TO alarm");
	expect_alarms("\"alarms\":[]");
	wait_for(&alarms);
	expect_alarms("\"head\":\"b\"");
	fz_watcher_stop(server.watcher);
	assert_int_equal(failures, 1);
	assert_int_equal(alarms, 1);
}

/* The pause doubles up to a limit; a message is reported once, another one again, and everything
 * after a check that is done. */
static void test_failures(void **state)
{
	static const struct {
		int result;
		const char *message;
		bool reported;
		int pause;
	} checks[] = {
		{ FZ_EAGAIN, "a", true, 5 },
		{ FZ_EAGAIN, "a", false, 10 },
		{ FZ_ESYSTEM, "b", true, 20 },
		{ FZ_ESYSTEM, "b", false, 40 },
		{ FZ_EAGAIN, "a", true, 80 },
		{ FZ_EAGAIN, "a", false, 160 },
		{ FZ_EAGAIN, "a", false, 320 },
		{ FZ_EAGAIN, "a", false, 320 },
		{ 0, "", false, 0 },
		{ FZ_EAGAIN, "a", true, 5 },
		{ FZ_ELIMIT, "c", true, 0 },
		{ FZ_EAGAIN, "c", true, 5 },
	};
	struct fz_retry retry = { 0 };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(checks); i++) {
		struct fz_error err;

		snprintf(err.message, sizeof(err.message), "%s", checks[i].message);
		assert_int_equal(fz_retry_note(&retry, 7, checks[i].result, &err),
				 checks[i].reported);
		assert_int_equal(retry.next, 7 + checks[i].pause * FZ_SECOND);
	}
	free(retry.message);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_failures),
					    cmocka_unit_test(test_raised_later) };

	return cmocka_run_group_tests(tests, open_server, close_server);
}
