/* SPDX-License-Identifier: MIT */
/* Many tests at once: control of the false discovery rate.
 *
 * A run has thousands of functions; at p < 0.05 each, hundreds would be reported as changed in a
 * comparison of a program with itself. The families that are corrected together are: the run (one
 * test, no correction), all functions by self cost, all functions by total cost, and call paths
 * inside the functions that were found to have changed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The rate used everywhere: 5 % of what is reported as changed may be wrong. */
#define FZ_FALSE_DISCOVERY_RATE 0.05

/* Benjamini and Hochberg (1995); valid for independent and positively dependent tests. p[i] is
 * NaN where nothing was tested: such entries do not count and are never rejected. Returns how
 * many were rejected and sets ret_rejected[0..n). */
size_t fz_bh(const double *p, size_t n, double q, bool *ret_rejected);

/* Weights of tests by cost, with a mean of 1 over those that were tested: a tenth of the weight is
 * divided evenly, the rest by cost[i] >= 0. Rejecting by p[i]/weight[i] in place of p[i] keeps the
 * false discovery rate (Genovese, Roeder and Wasserman 2006) if the weights do not depend on the
 * p-values, as the cost of both sides together does not. So changes of costly functions are found
 * among hundreds of cheap ones. Sets ret_weight[0..n), 1 where p[i] is NaN. */
void fz_bh_weigh(const double *p, const double *cost, size_t n, double *ret_weight);

/* Tests inside selected families, Benjamini and Bogomolov (2014): family i (the paths of function
 * i) is p[start[i]] .. p[start[i + 1]); only families with selected[i] are tested, each at level q
 * * (selected families) / (tested families). Sets ret_rejected for all start[families] entries and
 * returns how many were rejected. */
size_t fz_bh_inside(const double *p, const size_t *start, const bool *selected, size_t families,
		    size_t tested_families, double q, bool *ret_rejected);
