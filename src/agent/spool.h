/* SPDX-License-Identifier: MIT */
/* A folder of pushes that the server does not have yet: every push is written there first and
 * deleted when the server has it. So a push survives its writer, the agent or a run of `fizeau ci`,
 * and pushes are sent in order.
 *
 *   NUMBER-SECONDS.push   the request's line, then its body; written whole, then given its name
 *
 * NUMBER gives the order, SECONDS is when it was made: when its window began. Beyond the bound the
 * oldest go. Several threads may use it. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "record/notify.h"

struct fz_agent_spool;

/* FZ_EUSAGE: others may write to the folder; another process has it, unless it `waits` for that one
 * to end. limit: bytes on the disk, in whole blocks. What is dropped is told to notify. */
int fz_agent_spool_open(const char *folder, uint64_t limit, bool waits,
			const struct fz_notify *notify, struct fz_agent_spool **ret,
			struct fz_error *err);
void fz_agent_spool_close(struct fz_agent_spool *s);

/* On success it is on the disk, or was dropped for being larger than the bound. */
int fz_agent_spool_add(struct fz_agent_spool *s, const char *query, struct fz_str body,
		       int64_t unix_seconds, struct fz_error *err);

struct fz_agent_spooled {
	uint64_t number;
	int64_t unix_seconds;
	char *text;                /* owned */
	struct fz_str query, body; /* pieces of it; the query is terminated */
};
/* The oldest, which stays until it is removed; false: there is none. One at a time. */
bool fz_agent_spool_first(struct fz_agent_spool *s, struct fz_agent_spooled *ret);
void fz_agent_spooled_release(struct fz_agent_spooled *p);
/* The server has it, or will never take it. */
void fz_agent_spool_remove(struct fz_agent_spool *s, uint64_t number);

struct fz_agent_spool_counts {
	size_t n;         /* there */
	uint64_t bytes;   /* on the disk, in whole blocks */
	uint64_t dropped; /* since it was opened */
};
struct fz_agent_spool_counts fz_agent_spool_count(struct fz_agent_spool *s);
