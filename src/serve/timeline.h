/* SPDX-License-Identifier: MIT */
/* A service over time as JSON, and the query that this and other answers are for. */
#pragma once

#include "fleet/fleet.h"
#include "fleet/sides.h"
#include "compare/diff.h"
#include "serve/http.h"

/* A question about the store's data: a comparison, or a service over time. */
struct fz_server_question {
	struct fz_fleet *f; /* the store as of one instant */
	struct fz_fleet_query query;
	struct fz_buf labels;
	const char *texts[FZ_SIDES];         /* as in the request */
	struct fz_fleet_side side[FZ_SIDES]; /* of a comparison */
	struct fz_buf key;                   /* all of it, and the state of the data */
	bool cacheable;                      /* the state is known */
};

enum { FZ_TIMELINE_ALARMS = 100 };
int fz_server_timeline(const struct fz_server_question *k, const struct fz_http_request *q,
		       struct fz_http_answer *ret, struct fz_error *err);
