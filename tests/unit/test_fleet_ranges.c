/* SPDX-License-Identifier: MIT */
/* Two time ranges of one synthetic release in which nothing changed: functions are hardly ever
 * reported as changed. Minutes are autocorrelated, so adjacent ranges are alike and later ones may
 * have drifted. Comparisons go through the store, as real ones do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <time.h>

#include "compare/judge.h"
#include "fleet/fold.h"
#include "fleet_sim.h"
#include "repeats.h"

/* `before` minutes from the start, then those from `after` on to the end. */
static const struct {
	struct sim sim;
	int before, after;
} fleets[] = {
	/* hosts, minutes, on both sides, host_sd, minute_sd, memory, samples, stalls, restart_sd,
	 * load_sd */
	{ { "24 hosts that differ by 20 %, 20 minutes each", 24, 40, true, 0.2, 0.02, 0.8, 1000, 0,
	    0, 0.05 },
	  20,
	  20 },
	{ { "8 hosts, an hour and then 10 minutes", 8, 70, true, 0.2, 0.02, 0.8, 1000, 0, 0, 0.05 },
	  60,
	  60 },
	{ { "8 hosts, 15 minutes an hour apart", 8, 90, true, 0.2, 0.03, 0.9, 1000, 0, 0, 0.3 },
	  15,
	  75 },
	{ { "6 hosts whose clocks stall, 15 minutes each", 6, 30, true, 0.1, 0.02, 0.8, 1000, 0.3,
	    0, 0.05 },
	  15,
	  15 },
	{ { "3 hosts, half an hour each", 3, 60, true, 0.1, 0.02, 0.5, 1000, 0, 0, 0.3 }, 30, 30 },
	{ { "one host, an hour each, minutes that remember ten", 1, 120, true, 0.05, 0.03, 0.9,
	    3000, 0, 0, 0.3 },
	  60,
	  60 },
	{ { "one host, 3 hours each, minutes that remember fifty", 1, 360, true, 0.05, 0.03, 0.98,
	    1000, 0, 0, 0.3 },
	  180,
	  180 },
	{ { "20 hosts with 40 samples a minute, 15 minutes each", 20, 30, true, 0.03, 0.02, 0.5, 40,
	    0, 0, 0.5 },
	  15,
	  15 },
};
enum { COMPARED = 20 };

static char *range_of(int from, int until)
{
	char texts[2][32];

	for (int i = 0; i < 2; i++) {
		time_t at = (time_t)(SIM_START + (i ? until : from)) * 60;
		struct tm tm;

		strftime(texts[i], sizeof(texts[i]), "%Y-%m-%dT%H:%M", gmtime_r(&at, &tm));
	}
	return fz_asprintf("s@%s..%s", texts[0], texts[1]);
}

/* Whether a function changed; `units` is what was compared. */
static bool is_alarmed(size_t i, uint64_t seed, char units[128])
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	fz_auto(fz_free_ptr) char *before = range_of(0, fleets[i].before);
	fz_auto(fz_free_ptr) char *after = range_of(fleets[i].after, fleets[i].sim.minutes);
	struct fz_fleet_query q = { .project = "p", .labels = "", .until = INT64_MAX };
	struct fz_diff_options options = { .match = FZ_MATCH_NAMES };
	struct fz_judge_options judging = FZ_JUDGE_DEFAULTS;
	struct fz_profile *p[FZ_SIDES];
	struct fz_error err = { 0 };
	bool alarmed = false;

	if (fz_fleet_open(":memory:", FZ_FLEET_WRITE, &f, &err) ||
	    sim_push(f, &fleets[i].sim, "a", false, seed, 0, &err) ||
	    fz_fleet_pair(f, &q, (const char *const[]){ before, after }, p, &err))
		fail_msg("%s", err.message);
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	if (fz_diff_new(p[FZ_BASE], p[FZ_HEAD], &options, &d, &err))
		fail_msg("%s", err.message);
	fz_auto(fz_judgement_freep) struct fz_judgement *j = fz_judge(d, &judging);
	for (uint32_t k = 0; k < d->function_count; k++)
		alarmed |= j->self[k].verdict == FZ_VERDICT_CHANGED;
	snprintf(units, 128, "%s", fz_profile_fact(p[FZ_HEAD], "fleet").p);
	fz_profile_free(p[FZ_BASE]);
	fz_profile_free(p[FZ_HEAD]);
	return alarmed;
}

static void test_nothing_changed(void **state)
{
	const int n = repeats(COMPARED);

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(fleets); i++) {
		char units[128] = "";
		int alarms = 0;

		for (int k = 0; k < n; k++)
			alarms += is_alarmed(i, (uint64_t)k + 1, units);
		print_message("%s: %d of %d (%s)\n", fleets[i].sim.name, alarms, n, units);
		assert_true(alarms <= n / 20 || !rates_count());
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_nothing_changed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
