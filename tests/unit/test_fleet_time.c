/* SPDX-License-Identifier: MIT */
/* Times in a store: names for the sides of comparisons, and a service over time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fleet/fleet.h"
#include "fleet/sides.h"

enum { START = 29000000 /* minutes */, SIX = 29664375 /* 2026-05-27T06:15 */ };

/* ---- sides ---- */

static const struct {
	const char *text, *version, *name;
	int64_t from, until;
	const char *labels; /* NULL: none */
} good[] = {
	{ "api@1.4{b=2,a=1}", "1.4", "api@1.4{b=2,a=1}", 0, INT64_MAX, "\na=1\nb=2\n" },
	{ "api@15m..{a=x@y}", NULL, "api@2026-05-27T06:00..{a=x@y}", SIX - 15, INT64_MAX,
	  "\na=x@y\n" },
	{ "api@1.4@2h..1h{a=1}", "1.4", "api@1.4@2026-05-27T04:15..2026-05-27T05:15{a=1}",
	  SIX - 120, SIX - 60, "\na=1\n" },
	{ "api@{x}", "{x}", "api@{x}", 0, INT64_MAX },
	{ "api@1.4", "1.4", "api@1.4", 0, INT64_MAX },
	{ "api@v1@x", "v1@x", "api@v1@x", 0, INT64_MAX },
	{ "api@1..2", "1..2", "api@1..2", 0, INT64_MAX },
	{ "api@2h..rc1", "2h..rc1", "api@2h..rc1", 0, INT64_MAX },
	{ "api@2026-05-27", "2026-05-27", "api@2026-05-27", 0, INT64_MAX },
	{ "api@2026-05-27T06:15..2026-05-27T06:45Z", NULL, "api@2026-05-27T06:15..2026-05-27T06:45",
	  SIX, SIX + 30 },
	{ "api@2026-05-27..2026-05-28", NULL, "api@2026-05-27T00:00..2026-05-28T00:00", SIX - 375,
	  SIX - 375 + 1440 },
	{ "api@2h..1h", NULL, "api@2026-05-27T04:15..2026-05-27T05:15", SIX - 120, SIX - 60 },
	{ "api@15m..", NULL, "api@2026-05-27T06:00..", SIX - 15, INT64_MAX },
	{ "api@99999d..", NULL, "api@1970-01-01T00:00..", 0, INT64_MAX },
	{ "api@..1d", NULL, "api@..2026-05-26T06:15", 0, SIX - 1440 },
	{ "api@1.4@2h..1h", "1.4", "api@1.4@2026-05-27T04:15..2026-05-27T05:15", SIX - 120,
	  SIX - 60 },
	{ "api@2026-02-31..", "2026-02-31..", "api@2026-02-31..", 0, INT64_MAX },
	{ "api@2026-05-27T24:00..", "2026-05-27T24:00..", "api@2026-05-27T24:00..", 0, INT64_MAX },
	{ "api@..", "..", "api@..", 0, INT64_MAX },
};

static void check_side(size_t i, const char *text)
{
	fz_auto(fz_fleet_side_release) struct fz_fleet_side side = { 0 };
	struct fz_error err;

	if (fz_fleet_side_of(text, SIX, &side, &err))
		fail_msg("%s: %s", text, err.message);
	assert_string_equal(side.service, "api");
	assert_string_equal(side.name, good[i].name);
	assert_true(!side.version == !good[i].version);
	if (side.version)
		assert_string_equal(side.version, good[i].version);
	assert_int_equal(side.from, good[i].from);
	assert_int_equal(side.until, good[i].until);
	assert_string_equal(side.labels.p, good[i].labels ? good[i].labels : "");
}

/* Its canonical text is the same side. */
static void test_sides(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(good); i++) {
		check_side(i, good[i].text);
		check_side(i, good[i].name);
	}
}

static void test_no_sides(void **state)
{
	static const char *const wrong[] = {
		"api",
		"@1",
		"api@",
		"",
		"api@1h..2h",
		"api@1h..1h",
		"api@@2h..",
		"@2h..1h",
		"api@2026-05-27..2026-05-26",
		"api@{a=1}",
		"api{a=1}",
		"api@1{=1}",
		"api@1{a=1,}",
	};
	struct fz_fleet_side side;
	struct fz_error err;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(wrong); i++)
		assert_int_equal(fz_fleet_side_of(wrong[i], SIX, &side, &err), FZ_EUSAGE);
}

/* A version that reads as a range could not be selected. */
static void test_versions(void **state)
{
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_fleet_check_version("1.4", &err), 0);
	assert_int_equal(fz_fleet_check_version("{x}", &err), 0);
	assert_int_equal(fz_fleet_check_version("1.4{a=1}", &err), FZ_EUSAGE);
	assert_int_equal(fz_fleet_check_version("1..2", &err), 0);
	assert_int_equal(fz_fleet_check_version("2h..1h", &err), FZ_EUSAGE);
	assert_non_null(strstr(err.message, "looks like a time range"));
	assert_int_equal(fz_fleet_check_version("1@2026-05-27..", &err), FZ_EUSAGE);
	assert_int_equal(fz_fleet_check_version("", &err), FZ_EUSAGE);
}

/* ---- time lines ---- */

/* `n` minutes from that one on, of 10 samples and `cpu` ns each. */
static void put(struct fz_fleet *f, const char *version, const char *labels, int64_t minute,
		uint32_t n, int64_t cpu)
{
	fz_auto(fz_free_ptr) struct fz_fleet_cell *cells = fz_calloc(n, sizeof(*cells));
	fz_auto(fz_free_ptr) char *id =
		fz_asprintf("%s-%s-%lld", version, labels, (long long)minute);
	struct fz_profile *p = fz_profile_new();
	struct fz_fleet_kind kind = { .metric = FZ_STR("cpu"), .unit = FZ_STR("ns"), .main = true };
	struct fz_fleet_batch b = {
		.profile = p, .kinds = &kind, .kind_n = 1, .cells = cells, .cell_n = n
	};
	enum fz_fleet_put done;
	struct fz_error err;

	for (uint32_t i = 0; i < n; i++)
		cells[i] = (struct fz_fleet_cell){ .minute = minute + i,
						   .exposure = { .cpu_ns = cpu, .samples = 10 } };
	if (fz_fleet_put(f, &(struct fz_fleet_push){ "p", "s", version, "h", labels, id }, &b,
			 &done, &err))
		fail_msg("%s", err.message);
	fz_profile_free(p);
}

static struct fz_fleet *open_store(void)
{
	struct fz_fleet *f;
	struct fz_error err;

	if (fz_fleet_open(":memory:", FZ_FLEET_WRITE, &f, &err))
		fail_msg("%s", err.message);
	return f;
}

static struct fz_fleet_timeline look(struct fz_fleet *f, int64_t from, int64_t until)
{
	struct fz_fleet_query q = {
		.project = "p", .service = "s", .labels = "", .from = from, .until = until
	};
	struct fz_fleet_timeline t;
	struct fz_error err;

	if (fz_fleet_timeline(f, &q, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

static int64_t sum(const struct fz_fleet_timeline *t)
{
	int64_t all = 0;

	for (size_t i = 0; i < (size_t)t->band_n * t->buckets; i++)
		all += t->amounts[i].cost;
	return all;
}

static void test_one_minute(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store();

	(void)state;
	put(f, "1", "", START, 1, 7);
	fz_auto(fz_fleet_timeline_release) struct fz_fleet_timeline t = look(f, 0, INT64_MAX);
	assert_int_equal(t.buckets, 1);
	assert_int_equal(t.minutes, 1);
	assert_int_equal(t.first, START);
	assert_true(t.by_cpu);
	assert_int_equal(t.amounts[0].cost, 7);
	assert_int_equal(t.amounts[0].cells, 1);
}

/* Nothing is lost in longer buckets, and where nothing was pushed nothing is there. */
static void test_long(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store();

	(void)state;
	put(f, "1", "", START, 4000, 3);
	put(f, "2", "", START + 6000, 4000, 5);
	fz_auto(fz_fleet_timeline_release) struct fz_fleet_timeline t = look(f, 0, INT64_MAX);
	assert_int_equal(t.minutes, 30);
	assert_true(t.buckets >= 10000 / 30 && t.buckets <= FZ_FLEET_BUCKETS);
	assert_int_equal(t.first % 30, 0);
	assert_int_equal(sum(&t), 4000 * 3 + 4000 * 5);
	assert_int_equal(t.amounts[5000 / 30].cells, 0);
	assert_int_equal(t.amounts[t.buckets + 5000 / 30].cells, 0);
	assert_int_equal(t.amounts[t.buckets + 8000 / 30].cost, 30 * 5);
}

/* A clock that is wrong by fifty years makes days of buckets, not more of them. */
static void test_span(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store();

	(void)state;
	put(f, "1", "", 0, 1, 1);
	put(f, "1", "", START, 1, 1);
	fz_auto(fz_fleet_timeline_release) struct fz_fleet_timeline t = look(f, 0, INT64_MAX);
	assert_true(t.buckets <= FZ_FLEET_BUCKETS && t.minutes % 1440 == 0);
	assert_int_equal(sum(&t), 2);
}

/* The version that ran before is none that begins in that time, also with labels that do. */
static void test_window(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store();

	(void)state;
	put(f, "1", "", START, 20, 0);
	put(f, "1", "\nregion=eu\n", START + 10, 20, 0);
	put(f, "2", "", START + 20, 20, 0);
	fz_auto(fz_fleet_timeline_release) struct fz_fleet_timeline t =
		look(f, START + 25, START + 30);
	assert_int_equal(t.buckets, 5);
	assert_int_equal(t.band_n, 2);
	assert_string_equal(t.bands[0].version, "1");
	assert_int_equal(t.bands[0].first, START);
	assert_int_equal(t.bands[1].first, START + 20);
	assert_false(t.by_cpu);
	assert_int_equal(sum(&t), 5 * 10 + 5 * 10);
}

static void test_many_versions(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store();

	(void)state;
	for (int i = 0; i < FZ_FLEET_BANDS + 7; i++) {
		fz_auto(fz_free_ptr) char *version = fz_asprintf("%d", i);

		put(f, version, "", START + i, 2, 1);
	}
	fz_auto(fz_fleet_timeline_release) struct fz_fleet_timeline t = look(f, 0, INT64_MAX);
	assert_int_equal(t.band_n, FZ_FLEET_BANDS + 1);
	assert_int_equal(t.older, 7);
	assert_null(t.bands[0].version);
	assert_int_equal(t.bands[0].first, START);
	assert_string_equal(t.bands[1].version, "7");
	assert_int_equal(t.amounts[1].cost, 2);
	assert_int_equal(sum(&t), 2 * (FZ_FLEET_BANDS + 7));
}

static void test_nothing(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store();
	struct fz_fleet_query q = {
		.project = "p", .service = "s", .labels = "", .until = INT64_MAX
	};
	struct fz_fleet_timeline t;
	struct fz_error err;

	(void)state;
	put(f, "1", "", START, 1, 1);
	q.service = "t";
	assert_int_equal(fz_fleet_timeline(f, &q, &t, &err), FZ_EINPUT);
	assert_string_equal(err.message, "t: no such service; there are: s");
	q.service = "s";
	q.until = START;
	assert_int_equal(fz_fleet_timeline(f, &q, &t, &err), FZ_EINPUT);
	assert_string_equal(err.message, "s: no profiles with these labels in this time range");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sides),    cmocka_unit_test(test_no_sides),
		cmocka_unit_test(test_versions), cmocka_unit_test(test_one_minute),
		cmocka_unit_test(test_long),     cmocka_unit_test(test_span),
		cmocka_unit_test(test_window),   cmocka_unit_test(test_many_versions),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
