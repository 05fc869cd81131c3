/* SPDX-License-Identifier: MIT */
/* Which series of a store a question is about: those of its service, version, labels and time, and
 * of one metric. */
#pragma once

#include "fleet/fleet.h"

struct fz_fleet_series {
	int64_t id;
	int64_t cells, first, last; /* how many in the time that is asked for; of which minutes */
	uint32_t version, metric;   /* places in the lists */
	struct fz_fleet_kind kind;
};

struct fz_fleet_series_list {
	struct fz_fleet_series *list;
	uint32_t n, cap;
	/* of these labels, some of which may have nothing in that time */
	struct fz_fleet_version {
		char *name;
		int64_t first; /* minute, whatever time is asked for */
	} * versions;
	uint32_t version_n, version_cap;
};

/* What texts are in is `texts`. From here to the end of the handle nobody's changes are seen.
 * FZ_EINPUT, FZ_EUSAGE, FZ_EAGAIN: as of fz_fleet_find. */
int fz_fleet_series(struct fz_fleet *f, const struct fz_fleet_query *q, struct fz_arena *texts,
		    struct fz_fleet_series_list *ret, struct fz_error *err);
void fz_fleet_series_release(struct fz_fleet_series_list *s);
/* "api@1.4", or "api" where no version is asked for; the caller frees. */
char *fz_fleet_query_name(const struct fz_fleet_query *q);
