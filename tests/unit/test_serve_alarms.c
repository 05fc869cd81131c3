/* SPDX-License-Identifier: MIT */
/* An alarm that could not be stored is raised later. */
#include "serve_requests.h"

#include <stdio.h>

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

static void test_raised_again(void **state)
{
	struct fz_fleet_watch w = {
		.project = sim_project, .service = "s", .version = "b", .first = SIM_START + MINUTES
	};
	struct fz_error err;
	int failed = 0;

	(void)state;
	push_releases();
	change_store("ALTER TABLE alarm RENAME TO other");
	for (int minute = 1; minute < MINUTES; minute++) {
		w.last = w.first + minute;
		if (!fz_fleet_check_due(&w) || !fz_watcher_check(&server, &w, &err))
			continue;
		failed++;
		change_store("ALTER TABLE other RENAME TO alarm");
		expect_alarms("\"alarms\":[]");
		break;
	}
	assert_int_equal(failed, 1);
	w.last = w.first + MINUTES;
	while (fz_fleet_check_due(&w))
		assert_int_equal(fz_watcher_check(&server, &w, &err), 0);
	expect_alarms("\"head\":\"b\"");
	fz_fleet_watch_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_raised_again) };

	return cmocka_run_group_tests(tests, open_server, close_server);
}
