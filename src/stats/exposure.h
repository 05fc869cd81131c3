/* SPDX-License-Identifier: MIT */
/* How many samples of the head are to be expected for each sample of the base if nothing changed:
 * the exposure ratio rho, and exposures of several runs. Everything that is called a change is a
 * difference from this.
 *
 *   time        both are complete runs of one command: equal time is equal cost
 *   share       attached, or cut short: both runs are made equally long
 *   reference   another machine, or large changes: the typical function is taken as unchanged,
 *               so one function that got slower does not make all others look faster
 *   unit        the user counted what was done (requests, iterations)
 *
 * 0 stands for "cannot be told" (nothing on one side), and the caller falls back or gives up.
 */
#pragma once

#include <stddef.h>

/* From the time between two samples of each side. */
double fz_exposure_time(double base_interval, double head_interval);
/* From the samples of each side. */
double fz_exposure_share(double base_samples, double head_samples);
/* From units of work and the time between two samples. */
double fz_exposure_unit(double base_units, double base_interval, double head_units,
			double head_interval);
/* Weighted median of head[i]/base[i], weights sqrt(base[i] head[i]), over functions (by self
 * samples, so that none is counted twice) with at least 10 samples on both sides. */
double fz_exposure_reference(const double *base, const double *head, size_t n);

/* Relative exposures of several runs by the median of ratios to the geometric mean run (Anders
 * and Huber 2010): the counterpart of `reference` for quasi.h. counts[i * runs + r] belongs to
 * function i in run r; only functions with at least 10 samples in every run count. Sets
 * ret_exposure[0..runs) with mean 1 and returns how many functions were used; with 0 it is not
 * set. */
size_t fz_exposure_runs(const double *counts, size_t functions, size_t runs, double *ret_exposure);
