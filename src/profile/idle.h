/* SPDX-License-Identifier: MIT */
/* Waiting: samples of threads that did nothing and wanted nothing but that something happens. A
 * thread that waits for the GIL has work to do. */
#pragma once

#include "profile/profile.h"

struct fz_idle {
	const struct fz_profile *profile;
	bool *waits;             /* of each function: threads wait in it, by its name */
	bool states;             /* the profile says of samples what their threads did */
	bool timed;              /* it is of time: what is counted is work */
	const int64_t *runnable; /* above 0: the thread could run and had no processor; NULL */
};

void fz_idle_init(struct fz_idle *idle, const struct fz_profile *p);
void fz_idle_release(struct fz_idle *idle);
/* Did the thread wait at this row? The recording says so by its state, or, where nobody looked at
 * the state, the innermost function does by its name. */
bool fz_idle_sample(const struct fz_idle *idle, size_t row);
/* Did threads wait at all rows? */
bool fz_idle_all(const struct fz_profile *p);
/* Flags of the functions that do hardly anything but wait themselves: more than nine in ten of the
 * samples that they are innermost in. function_count entries, freed by the caller. */
bool *fz_idle_functions(const struct fz_profile *p);
