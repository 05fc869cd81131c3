/* SPDX-License-Identifier: MIT */
/* Normal, Student's t and the chi-square median.
 *
 *   normal      erfc of the C library, which keeps relative precision in the tail; the quantile
 *               is a rough start, polished by Halley steps on erfc
 *   t           P(|T| > t) = I_x(df/2, 1/2), x = df/(df + t^2), the regularised incomplete beta
 *               function by its continued fraction (Lentz's method; DLMF 8.17.22); far from the
 *               centre x is small and the fraction converges in a few steps
 *   chi-square  the regularised incomplete gamma function by its series (DLMF 8.11.4), which
 *               converges well near the median, and Newton steps from Wilson and Hilferty's cube
 *
 * Quantiles are found by iteration on the distribution itself, so both directions agree.
 */
#include "distribution.h"

#include <float.h>
#include <math.h>

#include "base/base.h"

/* lgamma without its global sign variable. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

double fz_normal_two_sided(double z)
{
	return erfc(fabs(z) * M_SQRT1_2);
}

/* z >= 0 with P(Z > z) = tail, tail <= 1/2. */
static double normal_upper(double tail)
{
	/* Abramowitz and Stegun 26.2.23, good to 4.5e-4. */
	double t = sqrt(-2 * log(tail));
	double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
			       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));

	for (int i = 0; i < 4; i++) {
		/* Error relative to the density, so that far tails do not underflow. */
		double density = exp(-0.5 * z * z) / sqrt(2 * M_PI);
		double step;

		if (density < DBL_MIN)
			break;
		step = (0.5 * erfc(z * M_SQRT1_2) - tail) / density;
		step /= 1 - 0.5 * z * step;
		z += step;
		if (fabs(step) < 1e-15 * (1 + z))
			break;
	}
	return z;
}

double fz_normal_quantile(double p)
{
	fz_assert(p > 0 && p < 1);
	if (p == 0.5)
		return 0;
	return p < 0.5 ? -normal_upper(p) : normal_upper(1 - p);
}

/* The continued fraction of I_x(a, b), for x < (a + 1)/(a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	double h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m <= 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double change;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= c * d;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		change = c * d;
		h *= change;
		if (fabs(change - 1) < 4 * DBL_EPSILON)
			break;
	}
	return h;
}

/* I_x(a, b); y = 1 - x is passed because 1 - x loses precision when x is near 1. */
static double beta_regularised(double a, double b, double x, double y)
{
	double front;

	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

double fz_t_two_sided(double t, double df)
{
	double square = t * t;

	fz_assert(df > 0);
	if (isinf(df))
		return fz_normal_two_sided(t);
	if (isinf(square))
		return 0;
	return beta_regularised(df / 2, 0.5, df / (df + square), square / (df + square));
}

double fz_t_critical(double p, double df)
{
	double low = 0, high = 1;

	fz_assert(p > 0 && p <= 1 && df > 0);
	if (p == 1)
		return 0;
	if (isinf(df))
		return normal_upper(p / 2);
	while (fz_t_two_sided(high, df) > p && high < 1e150) {
		low = high;
		high *= 2;
	}
	/* The tail falls monotonically: bisection cannot fail, and 60 cheap steps give full
	 * precision. */
	for (int i = 0; i < 60; i++) {
		double middle = low + (high - low) / 2;

		if (fz_t_two_sided(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}
