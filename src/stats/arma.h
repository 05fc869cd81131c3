/* SPDX-License-Identifier: MIT */
/* Noise that remembers: a part that wanders (what is left of it after a step is phi) and white
 * noise on top, together
 *
 *     x_t = phi x_{t-1} + e_t - theta e_{t-1}        ARMA(1,1), e_t independent
 *
 * White noise, a first-order autoregression, slow drift under measurement noise and a machine that
 * changes its mood now and then all have such autocovariances. */
#pragma once

#include <stddef.h>

struct fz_arma {
	double phi, theta;
	double start; /* variance of a value relative to that of e_t */
};

/* phi in [0, 1); white: the part of the variance that is white noise, in [0, 1). */
struct fz_arma fz_arma_of(double phi, double white);

/* Makes values of such noise independent, each with the variance of e_t. */
enum { FZ_ARMA_MAX = 160 };
struct fz_whitener {
	double phi;
	size_t n;
	double scale[FZ_ARMA_MAX]; /* 1/standard deviation of what is not foreseen of x_t */
	double gain[FZ_ARMA_MAX];  /* how much of that is still there in x_{t+1} */
	double log_determinant;    /* of the covariance matrix, for e_t of variance 1 */
};

void fz_whitener_init(struct fz_whitener *w, const struct fz_arma *noise, size_t n);
/* out[t]: what of x[t] could not be foreseen from the values before it. */
void fz_whiten(const struct fz_whitener *w, const double *x, double *out);

/* A step at t is 0 before t and 1 from there on. out[t] is the product of the white series e and
 * the whitened step at t. */
void fz_whitened_steps(const struct fz_whitener *w, const double *e, double *out);

/* Products of whitened steps among themselves: that of a step at t with one of which h is left
 * there is a[t] + b[t] (1 + h)/2 + c[t] h; of the step with itself, h = 1. */
struct fz_step_products {
	double a[FZ_ARMA_MAX], b[FZ_ARMA_MAX], c[FZ_ARMA_MAX];
};
void fz_step_products(const struct fz_whitener *w, struct fz_step_products *ret);
