/* SPDX-License-Identifier: MIT */
/* Stores pushes of all inputs. */
#pragma once

#include "format/format.h"
#include "serve/server.h"

/* A push, its times and its body; texts are borrowed. */
struct fz_server_push {
	struct fz_fleet_push to;
	int64_t start_unix_ns;          /* if the body has no start; 0: now */
	int64_t duration_ns;            /* if the body has no duration; 0: unknown */
	double hertz;                   /* if the body has no interval; 0: unknown */
	bool may_be_idle;               /* accept a profile without samples */
	const struct fz_format *format; /* of the body; NULL: detect it */
	struct fz_str body;
	struct fz_budget_part *memory; /* of the request */
};
struct fz_server_pushed {
	enum fz_fleet_put put;
	uint32_t minutes;
	int64_t samples;
	uint64_t unlabelled;   /* samples whose labels are not kept */
	int64_t start_unix_ns; /* of its first minute */
};

/* Read a profile in any supported format and store it. An id of "" is derived from the content. */
int fz_server_store(struct fz_server *s, const struct fz_server_push *push,
		    struct fz_server_pushed *ret, struct fz_error *err);

struct fz_server_item {
	struct fz_server_push push;
	/* results */
	struct fz_server_pushed pushed;
	int result;
	struct fz_error err;
};
/* Store several pushes, each as if alone, but with one write to disk. All are in memory until
 * then. */
void fz_server_store_all(struct fz_server *s, struct fz_server_item *items, size_t n);

/* Keep the body of a push unchanged. *ret: does this server keep recordings? */
int fz_server_keep(struct fz_server *s, const struct fz_server_push *push,
		   const struct fz_server_pushed *pushed, bool *ret, struct fz_error *err);
