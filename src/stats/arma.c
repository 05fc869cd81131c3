/* SPDX-License-Identifier: MIT */
/* Whitening by the innovations algorithm (Brockwell and Davis, 5.3): the prediction error of each
 * value, divided by its standard deviation. Error variances start at that of the process and tend
 * to that of e_t:
 *
 *     r_0 = x_0                                             v_0 = start
 *     r_t = x_t - phi x_{t-1} + theta/v_{t-1} r_{t-1}       v_t = 1 + theta^2 - theta^2/v_{t-1}
 *
 * A step that starts at t has the error h_t = 1 there, and then h_{u+1} = (1 - phi) + gain_u h_u.
 * Sums over its future are therefore linear or quadratic in h, and one pass backwards computes
 * their coefficients for all t.
 */
#include "arma.h"

#include <math.h>

#include "base/base.h"

struct fz_arma fz_arma_of(double phi, double white)
{
	fz_assert(phi >= 0 && phi < 1 && white >= 0 && white < 1);
	/* Variance of x_t - phi x_{t-1}, and correlation of neighbours, which theta must explain.
	 */
	double variance = 1 - phi * phi + 2 * phi * phi * white;
	double ratio = phi * white / variance;
	double theta = ratio > 0 ? (1 - sqrt(1 - 4 * ratio * ratio)) / (2 * ratio) : 0;

	return (struct fz_arma){ phi, theta, (1 + theta * theta) / variance };
}

void fz_whitener_init(struct fz_whitener *w, const struct fz_arma *noise, size_t n)
{
	double theta = noise->theta, variance = noise->start;

	fz_assert(n <= FZ_ARMA_MAX);
	w->n = n;
	w->phi = noise->phi;
	w->log_determinant = 0;
	for (size_t t = 0; t < w->n; t++) {
		if (t > 0)
			variance = 1 + theta * theta - theta * theta / variance;
		w->scale[t] = 1 / sqrt(variance);
		w->gain[t] = theta / variance;
		w->log_determinant += log(variance);
	}
}

void fz_whiten(const struct fz_whitener *w, const double *x, double *out)
{
	double error = 0;

	for (size_t t = 0; t < w->n; t++) {
		error = t ? x[t] - w->phi * x[t - 1] + w->gain[t - 1] * error : x[0];
		out[t] = error * w->scale[t];
	}
}

void fz_whitened_steps(const struct fz_whitener *w, const double *e, double *out)
{
	double constant = 0, slope = 0; /* in h */

	for (size_t t = w->n; t-- > 0;) {
		constant += (1 - w->phi) * slope;
		slope = e[t] * w->scale[t] + w->gain[t] * slope;
		out[t] = constant + slope;
	}
}

void fz_step_products(const struct fz_whitener *w, struct fz_step_products *ret)
{
	double a = 0, b = 0, c = 0, lasting = 1 - w->phi;

	for (size_t t = w->n; t-- > 0;) {
		double gain = w->gain[t];

		a += lasting * b + lasting * lasting * c;
		b = gain * (b + 2 * lasting * c);
		c = w->scale[t] * w->scale[t] + gain * gain * c;
		ret->a[t] = a;
		ret->b[t] = b;
		ret->c[t] = c;
	}
}
