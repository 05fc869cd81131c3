/* SPDX-License-Identifier: MIT */
/* Costs of places, and callers and callees, on a profile small enough to work out by hand. */
#include "profile/places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static uint32_t frame(struct fz_profile *p, const char *name, int32_t line, int32_t column)
{
	struct fz_function f = {
		.name = fz_profile_string(p, fz_str_of(name)),
		.file = fz_profile_string(p, FZ_STR("/a.py")),
		.kind = FZ_KIND_PYTHON,
	};

	return fz_profile_frame(p, &(struct fz_frame){ .function = fz_profile_function(p, &f),
						       .line = line,
						       .end_line = line,
						       .column = column,
						       .end_column = column + 1,
						       .opcode = FZ_NO_OPCODE });
}

static uint32_t stack(struct fz_profile *p, const uint32_t *frames, size_t n)
{
	uint32_t at = FZ_NONE;

	for (size_t i = 0; i < n; i++)
		at = fz_profile_stack(p, at, frames[i]);
	return at;
}

/* f at lines 1 and 2, g at line 5:   f:1 f:2 g 3x   f:1 1x   f:2 f:1 2x (column 9)   empty 4x */
static struct fz_profile *profile(void)
{
	struct fz_profile *p = fz_profile_new();
	uint32_t f1 = frame(p, "f", 1, 0), f2 = frame(p, "f", 2, 0), g = frame(p, "g", 5, 0);
	uint32_t f1_later = frame(p, "f", 1, 9);
	const struct {
		uint32_t stack, count;
	} samples[] = {
		{ stack(p, (uint32_t[]){ f1, f2, g }, 3), 3 },
		{ stack(p, (uint32_t[]){ f1 }, 1), 1 },
		{ stack(p, (uint32_t[]){ f2, f1_later }, 2), 2 },
		{ FZ_NONE, 4 },
	};

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 10, false);
	uint32_t thread = fz_profile_thread(p, &(struct fz_thread){ .tid = 1 });
	for (size_t i = 0; i < FZ_ARRAY_LEN(samples); i++)
		fz_profile_add_sample(p,
				      &(struct fz_sample){ .thread = thread,
							   .stack = samples[i].stack,
							   .count = samples[i].count },
				      NULL);
	return p;
}

static const struct fz_place *find(const struct fz_profile *p, const struct fz_places *places,
				   const char *name, int32_t line)
{
	const struct fz_place *found = NULL;

	for (uint32_t i = 0; i < places->n; i++) {
		const struct fz_function *f = fz_place_function(p, &places->list[i]);
		if (fz_str_eq(p->strings[f->name], fz_str_of(name)) &&
		    places->list[i].line == line) {
			assert_null(found);
			found = &places->list[i];
		}
	}
	assert_non_null(found);
	return found;
}

static void check(const struct fz_place *place, uint64_t self, uint64_t total)
{
	assert_int_equal(place->self_samples, self);
	assert_int_equal(place->total_samples, total);
	assert_int_equal(place->self, 10 * self);
	assert_int_equal(place->total, 10 * total);
}

static void a_function_counts_a_sample_once(void **state)
{
	struct fz_profile *p = profile();
	struct fz_places places;

	(void)state;
	fz_places_init(&places, p, FZ_PLACE_FUNCTION, 0);
	assert_int_equal(places.n, 2);
	assert_int_equal(places.samples, 6);
	assert_int_equal(places.sum, 60);
	check(find(p, &places, "f", 1), 3, 6);
	check(find(p, &places, "g", 5), 3, 3);
	fz_places_release(&places);
	fz_profile_free(p);
}

static void lines_and_spans_are_distinguished(void **state)
{
	struct fz_profile *p = profile();
	struct fz_places places;

	(void)state;
	fz_places_init(&places, p, FZ_PLACE_FUNCTION_LINE, 0);
	assert_int_equal(places.n, 3);
	check(find(p, &places, "f", 1), 3, 6);
	check(find(p, &places, "f", 2), 0, 5);
	fz_places_release(&places);
	fz_places_init(&places, p, FZ_PLACE_SPAN, 0);
	assert_int_equal(places.n, 4);
	fz_places_release(&places);
	fz_places_init(&places, p, FZ_PLACE_FILE, 0);
	assert_int_equal(places.n, 1);
	check(&places.list[0], 6, 6);
	fz_places_release(&places);
	fz_profile_free(p);
}

/* f calls f and g; with a stack f f f the call f -> f is there twice. */
static void calls_count_each_time_or_once(void **state)
{
	struct fz_profile *p = profile();
	struct fz_places places;
	uint32_t f1 = frame(p, "f", 1, 0);
	size_t n;

	(void)state;
	fz_profile_add_sample(
		p, &(struct fz_sample){ .stack = stack(p, (uint32_t[]){ f1, f1, f1 }, 3) }, NULL);
	fz_places_init(&places, p, FZ_PLACE_FUNCTION, 0);
	for (int once = 0; once < 2; once++) {
		struct fz_place_call *calls =
			fz_places_calls(p, &places, &places, 0, once != 0, &n);
		assert_int_equal(n, 2);
		assert_int_equal(calls[0].caller, calls[0].callee);
		assert_int_equal(calls[0].total_samples, once ? 3 + 2 + 1 : 3 + 2 + 2);
		assert_int_equal(calls[0].self_samples, 2 + 1);
		assert_int_equal(calls[1].total_samples, 3);
		assert_int_equal(calls[1].self, 30);
		free(calls);
	}
	fz_places_release(&places);
	fz_profile_free(p);
}

static void nothing_costs_nothing(void **state)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_places places;
	size_t n = 1;

	(void)state;
	fz_places_init(&places, p, FZ_PLACE_LINE, FZ_METRIC_SAMPLES);
	assert_int_equal(places.n, 0);
	assert_null(fz_places_calls(p, &places, &places, FZ_METRIC_SAMPLES, true, &n));
	assert_int_equal(n, 0);
	fz_places_release(&places);
	fz_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_counts_a_sample_once),
		cmocka_unit_test(lines_and_spans_are_distinguished),
		cmocka_unit_test(calls_count_each_time_or_once),
		cmocka_unit_test(nothing_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
