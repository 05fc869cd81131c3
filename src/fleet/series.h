/* SPDX-License-Identifier: MIT */
/* The series that a query selects: by service, version, labels and time, and of one metric. */
#pragma once

#include "fleet/fleet.h"

struct fz_fleet_series {
	int64_t id;
	int64_t cells, first, last; /* number and minutes in the query's time */
	uint32_t version, metric;   /* indices */
	struct fz_fleet_kind kind;
};

struct fz_fleet_series_list {
	struct fz_fleet_series *list;
	uint32_t n, cap;
	/* versions with these labels; some may have no cells in that time */
	struct fz_fleet_version {
		char *name;
		int64_t first; /* first minute at any time */
	} * versions;
	uint32_t version_n, version_cap;
};

/* Texts are allocated in `texts`. From here on the handle does not see changes by others.
 * FZ_EINPUT, FZ_EUSAGE, FZ_EAGAIN: as for fz_fleet_find. */
int fz_fleet_series(struct fz_fleet *f, const struct fz_fleet_query *q, struct fz_arena *texts,
		    struct fz_fleet_series_list *ret, struct fz_error *err);
void fz_fleet_series_release(struct fz_fleet_series_list *s);
/* "api@1.4", or "api" without a version; the caller frees. */
char *fz_fleet_query_name(const struct fz_fleet_query *q);
