/* SPDX-License-Identifier: MIT */
/* The few distributions that the tests of this folder need, from their series and continued
 * fractions: relative errors stay below 1e-9, also in the far tails (checked against scipy).
 * Degrees of freedom need not be whole; INFINITY makes t the normal distribution. */
#pragma once

/* P(|Z| > |z|) of a standard normal variable. */
double fz_normal_two_sided(double z);
/* z with P(Z <= z) = p, 0 < p < 1; relative precision is kept for p near 0. */
double fz_normal_quantile(double p);

/* P(|T| > |t|) of Student's t with df > 0. */
double fz_t_two_sided(double t, double df);
/* t >= 0 with P(|T| > t) = p, 0 < p <= 1: the factor of a two-sided 1 - p interval. */
double fz_t_critical(double p, double df);
