/* SPDX-License-Identifier: MIT */
/* Estimating the variation of costs between runs from many functions together. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../stats/chance.h"
#include "base/base.h"
#include "stats/pool.h"

enum { MOST = 400 };

static const struct fz_pool prior = { .dispersion = 5, .own = 0.14, .freedom = 3 };

/* Functions of 3 runs a side whose log costs vary by chance of that dispersion and by `own`, which
 * is `spread` times as large for every second one. */
static void make(struct fz_pool_item *items, size_t n, double dispersion, double own, double spread)
{
	struct chance c = { .seed = 5 };
	enum { FREEDOM = 4 };

	for (size_t i = 0; i < n; i++) {
		double sampling = exp(-2.3 - 5.3 * chance_uniform(&c)); /* of 10 to 2000 samples */
		double each = own * (i % 2 ? spread : 1);

		items[i] = (struct fz_pool_item){ 0, sampling * FREEDOM, FREEDOM };
		for (int k = 0; k < FREEDOM; k++) {
			double z = chance_normal(&c);

			items[i].squares += z * z * (dispersion * sampling + each * each);
		}
	}
}

static void test_many(void **state)
{
	struct fz_pool_item items[MOST];

	(void)state;
	make(items, MOST, 3, 0.04, 1);
	struct fz_pool pool = fz_pool_fit(items, MOST, &prior);
	print_message("dispersion %.2f, own %.3f, freedom %.1f\n", pool.dispersion, pool.own,
		      pool.freedom);
	assert_true(fabs(pool.dispersion - 3) < 0.5 && fabs(pool.own - 0.04) < 0.015);
	assert_true(pool.freedom > 10);
}

/* Nothing varies by less than chance, and none is believed to vary by nothing at all. */
static void test_bounds(void **state)
{
	struct fz_pool_item items[MOST];

	(void)state;
	make(items, MOST, 0.3, 0, 1);
	struct fz_pool even = { 1, 0.03, 3 }, pool = fz_pool_fit(items, MOST, &even);
	assert_true(pool.dispersion == 1); /* as the prior, and as the fit */
	assert_true(pool.own >= FZ_POOL_LEAST_OWN && pool.own < 0.03);
}

static void test_few(void **state)
{
	struct fz_pool_item items[MOST];

	(void)state;
	make(items, 1, 1, 0.02, 1);
	struct fz_pool pool = fz_pool_fit(items, 0, &prior);
	assert_true(fabs(pool.own - prior.own) < 1e-9 && fabs(pool.dispersion - 5) < 1e-9);
	pool = fz_pool_fit(items, 1, &prior);
	assert_true(pool.own > 0.02 && pool.own < prior.own && pool.freedom == prior.freedom);
}

/* If functions vary differently, what all of them show is weaker evidence about each. */
static void test_unlike(void **state)
{
	struct fz_pool_item alike[MOST], unlike[MOST];

	(void)state;
	make(alike, MOST, 1, 0.05, 1);
	make(unlike, MOST, 1, 0.05, 6);
	assert_true(fz_pool_fit(unlike, MOST, &prior).freedom <
		    fz_pool_fit(alike, MOST, &prior).freedom);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_unlike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
