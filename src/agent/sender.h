/* SPDX-License-Identifier: MIT */
/* Sends the pushes in the spool, oldest first, one at a time; a push is deleted from the spool when
 * the server has it. A push that the server will never accept is dropped, with a message.
 *
 * fz_agent_send does that once; a sender repeats it in its own thread and reports when the server
 * is unreachable. */
#pragma once

#include "agent/spool.h"
#include "fleet/client.h"

struct fz_agent_send {
	const struct fz_client *client;
	struct fz_agent_spool *spool;
	const struct fz_notify *notify;
	bool tells_age; /* the server is told how many seconds ago it was made: "&age=12" */
	/* It went; answer is NULL where the server will never take it. */
	void (*gone)(void *arg, const struct fz_agent_spooled *p, const struct fz_buf *answer);
	void *arg;
};
/* All that there is; else why the server does not take it now, and what is left stays. */
int fz_agent_send(const struct fz_agent_send *how, struct fz_error *err);

struct fz_agent_sender;

/* All is borrowed. */
int fz_agent_sender_start(const struct fz_client *client, struct fz_agent_spool *spool,
			  const struct fz_notify *notify, struct fz_agent_sender **ret,
			  struct fz_error *err);
/* There is something new. */
void fz_agent_sender_wake(struct fz_agent_sender *s);
/* Send what there is, until the server does not answer; returns how many pushes it has had. Frees.
 */
uint64_t fz_agent_sender_finish(struct fz_agent_sender *s);
