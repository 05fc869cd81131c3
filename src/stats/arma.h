/* SPDX-License-Identifier: MIT */
/* Autocorrelated noise: an autoregressive part with coefficient phi plus white noise, together
 *
 *     x_t = phi x_{t-1} + e_t - theta e_{t-1}        ARMA(1,1), e_t independent
 *
 * White noise, a first-order autoregression, slow drift under measurement noise and a machine that
 * switches states now and then all have such autocovariances. */
#pragma once

#include <stddef.h>

struct fz_arma {
	double phi, theta;
	double start; /* variance of a value relative to that of e_t */
};

/* phi in [0, 1); white: the fraction of the variance that is white noise, in [0, 1). */
struct fz_arma fz_arma_of(double phi, double white);

/* Transforms such noise to independent values with the variance of e_t. */
enum { FZ_ARMA_MAX = 160 };
struct fz_whitener {
	double phi;
	size_t n;
	double scale[FZ_ARMA_MAX]; /* 1/standard deviation of the prediction error of x_t */
	double gain[FZ_ARMA_MAX];  /* part of that error that x_{t+1} inherits */
	double log_determinant;    /* of the covariance matrix, for e_t of variance 1 */
};

void fz_whitener_init(struct fz_whitener *w, const struct fz_arma *noise, size_t n);
/* out[t]: the scaled error of predicting x[t] from the values before it. */
void fz_whiten(const struct fz_whitener *w, const double *x, double *out);

/* A step at t is 0 before t and 1 from there on. out[t] is the product of the white series e and
 * the whitened step at t. */
void fz_whitened_steps(const struct fz_whitener *w, const double *e, double *out);

/* Products of whitened steps: that of a step at t with an earlier one whose error at t is h is a[t]
 * + b[t] (1 + h)/2 + c[t] h; with itself, h = 1. */
struct fz_step_products {
	double a[FZ_ARMA_MAX], b[FZ_ARMA_MAX], c[FZ_ARMA_MAX];
};
void fz_step_products(const struct fz_whitener *w, struct fz_step_products *ret);
