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
	bool tells_age; /* send the age of a push in seconds: "&age=12" */
	/* A push was sent; answer is NULL if the server rejected it permanently. */
	void (*gone)(void *arg, const struct fz_agent_spooled *p, const struct fz_buf *answer);
	void *arg;
};
/* Send all pushes. Fails if the server does not accept them now; the rest stays in the spool. */
int fz_agent_send(const struct fz_agent_send *how, struct fz_error *err);

struct fz_agent_sender;

/* All arguments are borrowed. The connection to the server stays open between pushes. */
int fz_agent_sender_start(const struct fz_client *client, struct fz_agent_spool *spool,
			  const struct fz_notify *notify, struct fz_agent_sender **ret,
			  struct fz_error *err);
/* There is a new push. */
void fz_agent_sender_wake(struct fz_agent_sender *s);
/* Send the rest, unless the server is unreachable; returns the number of pushes sent. Frees s. */
uint64_t fz_agent_sender_finish(struct fz_agent_sender *s);
