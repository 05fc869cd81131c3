/* SPDX-License-Identifier: MIT */
/* Watching releases: synthetic ones that changed nothing hardly ever raise an alarm, and those that
 * changed something raise one in time. A service-month is 30 releases, one a day. With
 * FZ_FLEET_HOSTS it prints a table of larger fleets instead (bench/releases).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>

#include "compare/comparison.h"
#include "fleet/fold.h"
#include "fleet/watch.h"
#include "fleet_sim.h"
#include "repeats.h"

enum { MINUTES = 80, RELEASES = 30, PLANTED = 5 };

static const struct sim fleets[] = {
	/* hosts, minutes, on both sides, host_sd, minute_sd, memory, samples, stalls, restart_sd,
	 * load_sd */
	{ "24 same hosts that differ by 20 %", 24, MINUTES, true, 0.2, 0.02, 0.8, 1000, 0, 0.01,
	  0.05 },
	{ "24 other hosts that differ by 3 %", 24, MINUTES, false, 0.03, 0.02, 0.8, 1000, 0, 0.01,
	  0.05 },
	{ "6 same hosts, whose clocks stall", 6, MINUTES, true, 0.1, 0.02, 0.8, 1000, 0.3, 0.02,
	  0.05 },
};

struct watched {
	int minutes; /* until an alarm; 0: there was none */
	char function[32];
	struct fz_fleet_alarm alarm;
};

/* Check a release while its minutes come in. */
static int watch_release(struct fz_fleet *f, int minutes, struct watched *ret, struct fz_error *err)
{
	fz_auto(fz_arena_release) struct fz_arena texts = { 0 };
	struct fz_fleet_watch w = {
		.project = sim_project, .service = "s", .version = "b", .first = SIM_START + MINUTES
	};
	int r = 0;

	for (int minute = 1; !r && minute <= minutes && !ret->minutes; minute++) {
		w.last = w.first + minute;
		if (!fz_fleet_check_due(&w))
			continue;
		r = fz_fleet_check(f, &w, &ret->alarm, &texts, err);
		fz_fleet_checked(&w);
		if (r <= 0)
			continue;
		r = 0;
		ret->minutes = minute;
		snprintf(ret->function, sizeof(ret->function), "%s", ret->alarm.function);
		assert_non_null(strstr(ret->alarm.text, "\"page\":\"/diff?base=s@a&head=s@b\""));
	}
	fz_fleet_watch_release(&w);
	return r;
}

/* A release after another one. */
static struct watched watch_in(struct fz_fleet *f, const struct sim *of, uint64_t seed,
			       double slower)
{
	struct sim sim = *of;
	struct watched ret = { 0 };
	struct fz_error err;

	sim.start = MINUTES - of->minutes;
	sim.rolls = 0;
	sim.starting = 0;
	int r = sim_push(f, &sim, "a", false, seed, 0, &err);
	sim = *of;
	sim.start = MINUTES;
	if (!r)
		r = sim_push(f, &sim, "b", true, seed, slower, &err);
	if (!r)
		r = watch_release(f, of->minutes, &ret, &err);
	if (r)
		fail_msg("%s", err.message);
	return ret;
}

static struct watched watch(const struct sim *of, uint64_t seed, double slower)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_error err;

	if (fz_fleet_open(":memory:", FZ_FLEET_WRITE, &f, &err))
		fail_msg("%s", err.message);
	return watch_in(f, of, seed, slower);
}

/* Versions that run side by side: the one that began later is compared with the other, and the
 * first with none. */
static void test_previous(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	fz_auto(fz_buf_release) struct fz_buf of_first = { 0 };
	fz_auto(fz_buf_release) struct fz_buf of_last = { 0 };
	fz_auto(fz_buf_release) struct fz_buf of_late = { 0 };
	struct sim sim = { "", 1, 10, true, 0, 0, 0, 100, 0, 0, 0, 0 };
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_fleet_open(":memory:", FZ_FLEET_WRITE, &f, &err), 0);
	assert_int_equal(sim_push(f, &sim, "old", false, 1, 0, &err), 0);
	sim.start = 5;
	assert_int_equal(sim_push(f, &sim, "mid", false, 1, 0, &err), 0);
	sim.start = 6;
	sim.minutes = 2;
	assert_int_equal(sim_push(f, &sim, "new", false, 1, 0, &err), 0);
	assert_int_equal(fz_fleet_previous(f, "p", "s", "old", &of_first, &err), 0);
	assert_int_equal(of_first.n, 0);
	assert_int_equal(fz_fleet_previous(f, "p", "s", "new", &of_last, &err), 0);
	assert_true(fz_str_eq(fz_buf_view(&of_last), FZ_STR("mid")));
	/* One of its hosts has a clock that is so far behind that it seems to be there first. */
	sim = (struct sim){ "", 3, 10, true, 0, 0, 0, 100, 0, 0, 0, 10 };
	assert_int_equal(sim_push(f, &sim, "late", false, 1, 0, &err), 0);
	sim.start = -180;
	sim.hosts = 1;
	assert_int_equal(sim_push(f, &sim, "late", false, 1, 0, &err), 0);
	assert_int_equal(fz_fleet_previous(f, "p", "s", "late", &of_late, &err), 0);
	assert_true(fz_str_eq(fz_buf_view(&of_late), FZ_STR("mid")));
}

static void test_nothing_changed(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(fleets); i++) {
		int n = repeats(i == 0 ? RELEASES : RELEASES / 3), alarms = 0;

		for (int release = 0; release < n; release++)
			alarms += watch(&fleets[i], (uint64_t)release + 1, 0).minutes > 0;
		print_message("%s: %d alarms in %d releases that changed nothing\n", fleets[i].name,
			      alarms, n);
		assert_true(alarms <= n / RELEASES + 1 || !rates_count());
	}
}

static void test_planted(void **state)
{
	static const double slower[] = { 0.03, 0.05, 0.1, 0.2 };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(fleets); i++)
		for (size_t size = 0; size < FZ_ARRAY_LEN(slower); size++) {
			int n = repeats(PLANTED), found = 0, minutes = 0, wrong = 0;

			for (int k = 0; k < n; k++) {
				struct watched w =
					watch(&fleets[i], (uint64_t)k + 1000, slower[size]);

				found += w.minutes > 0;
				minutes += w.minutes;
				wrong += w.minutes && strcmp(w.function, "f3") != 0;
			}
			print_message("%s: +%.0f %% of 13 %%: %d of %d, after %d minutes, %d of "
				      "another function\n",
				      fleets[i].name, 100 * slower[size], found, n,
				      found ? minutes / found : 0, wrong);
			assert_true(wrong <= n / 10 || !rates_count());
			assert_true(slower[size] < 0.2 || i > 0 || found == n);
		}
}

/* Function 3 costs more at a certain hour in every version, which no release caused. A release at
 * that hour that changed nothing raises no alarm, and one that costs even more does. */
struct hours {
	const char *name;
	size_t fleet;
	struct {
		int start, minutes; /* after SIM_START */
		double slower;
		const char *version; /* NULL: "a", the last of them */
	} base[3], head;
	bool alarm;
};

enum { DAY = 1440, WEEK = 7 * DAY };

static const struct hours hours[] = {
	{ "each day",
	  0,
	  { { 0, MINUTES, 0.2 }, { DAY - 100, 100, 0 } },
	  { DAY, MINUTES, 0.2 },
	  false },
	{ "not each day",
	  0,
	  { { 0, MINUTES, 0 }, { DAY - 100, 100, 0 } },
	  { DAY, MINUTES, 0.2 },
	  true },
	{ "each day, and more",
	  0,
	  { { 0, MINUTES, 0.2 }, { DAY - 100, 100, 0 } },
	  { DAY, MINUTES, 0.6 },
	  true },
	{ "each week",
	  0,
	  { { 0, MINUTES, 0.2 }, { WEEK - DAY, MINUTES, 0 }, { WEEK - 100, 100, 0 } },
	  { WEEK, MINUTES, 0.2 },
	  false },
	{ "not each week",
	  0,
	  { { 0, MINUTES, 0 }, { WEEK - DAY, MINUTES, 0 }, { WEEK - 100, 100, 0 } },
	  { WEEK, MINUTES, 0.2 },
	  true },
	{ "each week, also before the base",
	  0,
	  { { -DAY, MINUTES, 0, "0" }, { 0, MINUTES, 0.2, "0" }, { WEEK - DAY, MINUTES, 0 } },
	  { WEEK, MINUTES, 0.2 },
	  false },
	{ "not each week, nor before the base",
	  0,
	  { { -DAY, MINUTES, 0, "0" }, { 0, MINUTES, 0, "0" }, { WEEK - DAY, MINUTES, 0 } },
	  { WEEK, MINUTES, 0.2 },
	  true },
	{ "each week before the base, and more",
	  0,
	  { { -DAY, MINUTES, 0, "0" }, { 0, MINUTES, 0.2, "0" }, { WEEK - DAY, MINUTES, 0 } },
	  { WEEK, MINUTES, 0.6 },
	  true },
	{ "each week, and the base is a few hours old",
	  0,
	  { { -100, 100, 0, "0" }, { 0, MINUTES, 0.2, "0" }, { WEEK - 100, 100, 0 } },
	  { WEEK, MINUTES, 0.2 },
	  false },
	{ "on other hosts meanwhile",
	  1,
	  { { DAY - 100, 100, 0 }, { DAY, MINUTES, 0.2 } },
	  { DAY, MINUTES, 0.2 },
	  false },
	{ "not on other hosts",
	  1,
	  { { DAY - 100, 100, 0 }, { DAY, MINUTES, 0 } },
	  { DAY, MINUTES, 0.2 },
	  true },
	{ "on other hosts, and more",
	  1,
	  { { DAY - 100, 100, 0 }, { DAY, MINUTES, 0.2 } },
	  { DAY, MINUTES, 0.6 },
	  true },
};

static int watch_hours(struct fz_fleet *f, const struct hours *h, int *alarms, struct fz_error *err)
{
	struct fz_fleet_watch w = { .project = "p", .service = "s", .version = "b" };
	struct sim sim = fleets[h->fleet];
	int r = 0;

	for (size_t i = 0; !r && i < FZ_ARRAY_LEN(h->base) && h->base[i].minutes; i++) {
		sim.start = h->base[i].start;
		sim.minutes = h->base[i].minutes;
		r = sim_push(f, &sim, h->base[i].version ?: "a", false, 1, h->base[i].slower, err);
	}
	sim.start = h->head.start;
	sim.minutes = h->head.minutes;
	if (!r)
		r = sim_push(f, &sim, "b", true, 1, h->head.slower, err);
	w.first = SIM_START + h->head.start;
	w.last = w.first + h->head.minutes;
	while (!r && fz_fleet_check_due(&w)) {
		fz_auto(fz_arena_release) struct fz_arena texts = { 0 };
		struct fz_fleet_alarm alarm;

		r = fz_fleet_check(f, &w, &alarm, &texts, err);
		fz_fleet_checked(&w);
		*alarms += r > 0;
		r = FZ_MIN(r, 0);
	}
	fz_fleet_watch_release(&w);
	return r;
}

static void test_hours(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(hours); i++) {
		fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
		struct fz_error err;
		int alarms = 0;

		if (fz_fleet_open(":memory:", FZ_FLEET_WRITE, &f, &err) ||
		    watch_hours(f, &hours[i], &alarms, &err))
			fail_msg("%s", err.message);
		if ((alarms > 0) != hours[i].alarm)
			fail_msg("%s: %d alarms", hours[i].name, alarms);
	}
}

/* Hosts that get the release one after the other: one of them always starts. */
static void test_rolling(void **state)
{
	static const struct sim rolls = { .hosts = 12,
					  .minutes = MINUTES,
					  .host_sd = 0.03,
					  .minute_sd = 0.02,
					  .memory = 0.8,
					  .samples = 300,
					  .load_sd = 0.05,
					  .rolls = 5 };
	int n = repeats(RELEASES / 3), alarms = 0, found = 0;

	(void)state;
	for (int k = 0; k < n; k++) {
		struct sim sim = rolls;

		sim.same_hosts = k % 2;
		found += watch(&sim, (uint64_t)k + 1, 0.2).minutes > 0;
		sim.starting = 2;
		alarms += watch(&sim, (uint64_t)k + 1, 0).minutes > 0;
	}
	print_message(
		"hosts start one after the other: %d alarms for starts, %d of %d for +20 %%\n",
		alarms, found, n);
	assert_true((alarms <= n / RELEASES && found > n / 2) || !rates_count());
}

/* ---- releases on a few hosts ---- */

struct canary {
	int hosts;    /* of the release; the version before has 24 and continues on the others */
	bool is_new;  /* the version before never ran on them */
	double sd;    /* how much hosts differ */
	double found; /* least proportion of +20 % of 13 % that is found */
};

static struct watched watch_canary(const struct canary *c, uint64_t seed, double slower)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct sim sim = { .hosts = 24,
			   .minutes = 2 * MINUTES,
			   .same_hosts = !c->is_new,
			   .host_sd = c->sd,
			   .minute_sd = 0.02,
			   .memory = 0.8,
			   .samples = 1000,
			   .restart_sd = 0.01,
			   .load_sd = 0.05 };
	struct watched ret = { 0 };
	struct fz_error err;
	int r = fz_fleet_open(":memory:", FZ_FLEET_WRITE, &f, &err);

	if (!r)
		r = sim_push(f, &sim, "a", false, seed, 0, &err);
	sim.hosts = c->hosts;
	sim.start = sim.minutes = MINUTES;
	if (!r)
		r = sim_push(f, &sim, "b", true, seed, slower, &err);
	if (!r)
		r = watch_release(f, MINUTES, &ret, &err);
	if (r)
		fail_msg("%s", err.message);
	return ret;
}

/* What differs on one host that the version before never ran on may be the host. */
static void test_few_hosts(void **state)
{
	static const struct canary canaries[] = {
		{ 1, false, 0.2, 0.9 }, { 2, false, 0.2, 0.9 }, { 1, true, 0.03, 0.8 },
		{ 2, true, 0.03, 0.9 }, { 1, true, 0.2, 0 },    { 2, true, 0.2, 0 },
	};
	int n = repeats(20);

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(canaries); i++) {
		const struct canary *c = &canaries[i];
		int alarms = 0, found = 0;

		for (int k = 0; k < n; k++) {
			alarms += watch_canary(c, (uint64_t)k + 1, 0).minutes > 0;
			struct watched w = watch_canary(c, (uint64_t)k + 1, 0.2);
			found += strcmp(w.function, "f3") == 0;
		}
		print_message("%d %s of 24, which differ by %.0f %%: %d alarms, %d of %d for "
			      "+20 %%\n",
			      c->hosts, c->is_new ? "others instead" : "hosts", 100 * c->sd, alarms,
			      found, n);
		assert_true((alarms <= n / 20 && found >= c->found * n) || !rates_count());
	}
}

/* A check has twice as much data as the one before. */
static void test_when_due(void **state)
{
	struct fz_fleet_watch w = { .first = 100, .last = 104 };

	(void)state;
	assert_false(fz_fleet_check_due(&w));
	w.last = 105;
	assert_true(fz_fleet_check_due(&w));
	fz_fleet_checked(&w);
	w.last = 109;
	assert_false(fz_fleet_check_due(&w));
	w.last = 110;
	assert_true(fz_fleet_check_due(&w));
}

/* ---- larger fleets ---- */

/* In a store of its own or, for ClickHouse, in a project of its own. A handle sees one instant. */
static struct watched watch_large(const struct sim *sim, const char *store, uint64_t seed,
				  double slower)
{
	fz_auto(fz_free_ptr) char *project =
		fz_asprintf("%llu-%g", (unsigned long long)seed, slower);
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_error err;

	if (fz_fleet_open(store, FZ_FLEET_WRITE, &f, &err))
		fail_msg("%s", err.message);
	sim_project = project;
	struct watched ret = watch_in(f, sim, seed, slower);
	sim_project = "p";
	return ret;
}

/* ---- a day of large fleets, with patterns of the day and the week ---- */

enum { A_DAY = 1440, CELL_MINUTES = 360, CELLS_A_DAY = A_DAY / CELL_MINUTES, BASE_DAYS = 8 };

struct day {
	char alarm[32]; /* function; "": none */
	int minutes;
	bool found, other; /* in a comparison with the same day of the week before */
};

static struct sim sim_of_days(int hosts)
{
	struct sim sim = fleets[0];

	sim.hosts = hosts;
	sim.every = CELL_MINUTES;
	sim.samples *= CELL_MINUTES;
	/* The mean of minutes that remember. */
	sim.minute_sd *= sqrt((1 + sim.memory) / (1 - sim.memory) / CELL_MINUTES);
	sim.memory = 0;
	sim.daily = 0.05;
	sim.weekend = 0.03;
	return sim;
}

static int watch_one_day(struct fz_fleet *f, int64_t first, struct day *ret, struct fz_error *err)
{
	struct fz_fleet_watch w = {
		.project = "p", .service = "s", .version = "b", .first = first
	};
	int r = 0;

	for (int minute = 1; r >= 0 && minute <= A_DAY && !ret->minutes; minute++) {
		fz_auto(fz_arena_release) struct fz_arena texts = { 0 };
		struct fz_fleet_alarm alarm;

		w.last = w.first + minute;
		if (!fz_fleet_check_due(&w))
			continue;
		r = fz_fleet_check(f, &w, &alarm, &texts, err);
		fz_fleet_checked(&w);
		if (r <= 0)
			continue;
		ret->minutes = minute;
		snprintf(ret->alarm, sizeof(ret->alarm), "%s", alarm.function);
	}
	fz_fleet_watch_release(&w);
	return FZ_MIN(r, 0);
}

static int compare_days(struct fz_fleet *f, int64_t first, struct day *ret, struct fz_error *err)
{
	static const char *const sides[] = { "s@a", "s@b" };
	struct fz_fleet_query q = { .project = "p",
				    .labels = "",
				    .from = first - 7 * A_DAY,
				    .until = first + A_DAY,
				    .base_until = first - 6 * A_DAY };
	fz_auto(fz_comparison_freep) struct fz_comparison *c = NULL;
	struct fz_profile *p[FZ_SIDES];
	int r = fz_fleet_pair(f, &q, sides, p, err);

	if (!r)
		r = fz_comparison_new(p[FZ_BASE], p[FZ_HEAD], NULL, &c, err);
	for (uint32_t i = 0; !r && i < c->diff->function_count; i++) {
		const struct fz_judged *j = &c->judgement->self[i];
		bool is_f3 = fz_str_eq(c->diff->functions[i].name, FZ_STR("f3"));

		if (j->verdict != FZ_VERDICT_CHANGED)
			continue;
		ret->found |= is_f3 && j->low > 0;
		ret->other |= !is_f3 || j->low <= 0;
	}
	fz_profile_free(p[FZ_BASE]);
	fz_profile_free(p[FZ_HEAD]);
	return r;
}

static struct day watch_day(const struct sim *of, uint64_t seed, double slower)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct sim sim = *of;
	int start = (int)(seed % 7) * A_DAY + (int)(seed * 7 % 24) * 60;
	struct day ret = { 0 };
	struct fz_error err;

	sim.start = start - BASE_DAYS * A_DAY;
	sim.minutes = BASE_DAYS * CELLS_A_DAY;
	int r = fz_fleet_open(":memory:", FZ_FLEET_WRITE, &f, &err);
	if (!r)
		r = sim_push(f, &sim, "a", false, seed, 0, &err);
	/* A cell of its own for the start of the hosts, which does not count everywhere. */
	sim.start = start;
	sim.minutes = 1;
	sim.samples /= CELL_MINUTES;
	if (!r)
		r = sim_push(f, &sim, "b", true, seed, slower, &err);
	sim.start = start + FZ_FLEET_START;
	sim.minutes = CELLS_A_DAY;
	sim.samples *= CELL_MINUTES;
	if (!r)
		r = sim_push(f, &sim, "b", true, seed, slower, &err);
	if (!r)
		r = compare_days(f, SIM_START + start, &ret, &err);
	if (!r)
		r = watch_one_day(f, SIM_START + start, &ret, &err);
	if (r)
		fail_msg("%s", err.message);
	return ret;
}

/* More hosts show a smaller change: 0.05 % of the service. */
static void test_many_hosts(void **state)
{
	const struct sim sim = sim_of_days(1000);

	(void)state;
	if (!rates_count())
		return;
	struct day same = watch_day(&sim, 1, 0), more = watch_day(&sim, 1, 0.0005 / sim_share(3));
	assert_true(!same.minutes && !same.found && !same.other);
	assert_true(more.found && !more.other);
	assert_string_equal(more.alarm, "f3");
}

static int number_of(const char *variable, int otherwise)
{
	const char *text = getenv(variable);

	return text ? atoi(text) : otherwise;
}

/* A line for each change: how many of the releases raised an alarm for it, after how many minutes
 * on average, and how many for another function. */
static void test_large(void **state)
{
	static const double more[] = { 0, 0.001, 0.0025, 0.005, 0.01 }; /* of the service */
	struct sim sim = fleets[0];
	const char *store = getenv("FZ_FLEET_STORE");
	int releases = number_of("FZ_FLEET_RELEASES", 20);

	(void)state;
	sim.hosts = number_of("FZ_FLEET_HOSTS", 1000);
	sim.minutes = number_of("FZ_FLEET_MINUTES", MINUTES);
	for (size_t i = 0; i < FZ_ARRAY_LEN(more); i++) {
		int found = 0, minutes = 0, wrong = 0;

		for (int k = 0; k < releases; k++) {
			struct watched w =
				watch_large(&sim, store ? store : ":memory:", (uint64_t)k + 1,
					    more[i] / sim_share(3));
			bool right = more[i] > 0 && strcmp(w.function, "f3") == 0;

			found += right;
			minutes += right ? w.minutes : 0;
			wrong += w.minutes && !right;
		}
		printf("%g %d %d %d %d\n", more[i], releases, found, found ? minutes / found : 0,
		       wrong);
		fflush(stdout);
	}
}

/* A line for each change: as above, then how many comparisons found it, and how many found another
 * change. */
static void test_days(void **state)
{
	static const double more[] = { 0, 0.0005, 0.001, 0.0025, 0.005 }; /* of the service */
	struct sim sim = sim_of_days(number_of("FZ_FLEET_HOSTS", 1000));
	int releases = number_of("FZ_FLEET_RELEASES", 20);

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(more); i++) {
		int alarms = 0, minutes = 0, wrong = 0, found = 0, other = 0;

		for (int k = 0; k < releases; k++) {
			struct day d = watch_day(&sim, (uint64_t)k + 1, more[i] / sim_share(3));
			bool right = more[i] > 0 && strcmp(d.alarm, "f3") == 0;

			alarms += right;
			minutes += right ? d.minutes : 0;
			wrong += d.minutes && !right;
			found += more[i] > 0 && d.found;
			other += d.other || (more[i] == 0 && d.found);
		}
		printf("%g %d %d %d %d %d %d\n", more[i], releases, alarms,
		       alarms ? minutes / alarms : 0, wrong, found, other);
		fflush(stdout);
	}
}

int main(void)
{
	const struct CMUnitTest days[] = { cmocka_unit_test(test_days) };
	const struct CMUnitTest large[] = { cmocka_unit_test(test_large) };

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when_due),        cmocka_unit_test(test_previous),
		cmocka_unit_test(test_nothing_changed), cmocka_unit_test(test_planted),
		cmocka_unit_test(test_rolling),         cmocka_unit_test(test_hours),
		cmocka_unit_test(test_many_hosts),      cmocka_unit_test(test_few_hosts),
	};

	if (getenv("FZ_FLEET_DAY"))
		return cmocka_run_group_tests(days, NULL, NULL);
	if (getenv("FZ_FLEET_HOSTS"))
		return cmocka_run_group_tests(large, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
