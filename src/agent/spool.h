/* SPDX-License-Identifier: MIT */
/* A folder of pushes that the server does not have yet: every push is written there first and
 * deleted when the server has it. So a push survives its writer, the agent or a run of `fizeau ci`,
 * and pushes are sent in order.
 *
 *   NUMBER-SECONDS.push   the request's line, then its body; renamed when complete
 *
 * NUMBER gives the order, SECONDS is the start of its window. Above the limit, or if the
 * disk is full, the oldest pushes are dropped. Several threads may use it. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "record/notify.h"

struct fz_agent_spool;

/* FZ_EUSAGE if others may write to the folder, or another process uses it; waits: wait for that
 * process instead. limit: bytes on disk, in whole blocks. Dropped pushes are reported to notify. */
int fz_agent_spool_open(const char *folder, uint64_t limit, bool waits,
			const struct fz_notify *notify, struct fz_agent_spool **ret,
			struct fz_error *err);
void fz_agent_spool_close(struct fz_agent_spool *s);

/* On success the push is on disk, or was dropped because it is larger than the limit. */
int fz_agent_spool_add(struct fz_agent_spool *s, const char *query, struct fz_str body,
		       int64_t unix_seconds, struct fz_error *err);

struct fz_agent_spooled {
	uint64_t number;
	int64_t unix_seconds;
	char *text;                /* owned */
	struct fz_str query, body; /* pieces of it; the query is terminated by a zero */
};
/* Get the oldest push, which stays until it is removed; false if there is none. Only one at a time.
 */
bool fz_agent_spool_first(struct fz_agent_spool *s, struct fz_agent_spooled *ret);
void fz_agent_spooled_release(struct fz_agent_spooled *p);
/* Remove a push that was sent or will never be accepted. */
void fz_agent_spool_remove(struct fz_agent_spool *s, uint64_t number);

struct fz_agent_spool_counts {
	size_t n;         /* pushes in the spool */
	uint64_t bytes;   /* on disk, in whole blocks */
	uint64_t dropped; /* since it was opened */
};
struct fz_agent_spool_counts fz_agent_spool_count(struct fz_agent_spool *s);
