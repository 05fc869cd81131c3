/* SPDX-License-Identifier: MIT */
/* Deletes old data. The clock may be wrong, for example until it is synchronised after a start, so
 * age is measured at a present that cannot jump. */
#pragma once

#include "base/base.h"

struct fz_server;

/* A clock's readings, in ns. */
struct fz_retention_clock {
	int64_t unix_ns, monotonic_ns;
};

/* Zero it before the first use. */
struct fz_retention {
	int64_t reached;  /* the present, ns since 1970; 0: not known yet */
	int64_t measured; /* monotonic time of that */
	bool reported;    /* the log says that the clock is ahead */
};

/* Advance the present: it begins at the newest stored data, advances at most twice as fast as
 * monotonic time, and is never later than the clock. newest_ns: not 0 the first time. */
int64_t fz_retention_advance(struct fz_retention *t, int64_t newest_ns,
			     struct fz_retention_clock clock);

/* Set s->newest_minute, before the first push. */
void fz_retention_begin(struct fz_server *s);

/* Delete old data of a server, or its minutes. `between` is as for fz_fleet_forget_between. */
void fz_retention_run(struct fz_retention *t, struct fz_server *s, struct fz_retention_clock clock,
		      bool (*between)(void *arg, int64_t rows), void *arg);
