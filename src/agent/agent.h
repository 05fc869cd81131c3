/* SPDX-License-Identifier: MIT */
/* The agent: profiles this machine for a fleet server.
 *
 *   sampler (this thread)   window after window, without a tick between them
 *        | one window at a time
 *        v
 *   maker    symbols, services, versions -> one push each, into the spool      spool.h
 *        | the folder
 *        v
 *   sender   oldest first, deleted when the server has it                      sender.h
 *
 * A window ends at a multiple of its length since 1970, so that a one-minute window is one cell of
 * the server. While the maker is busy with the previous window, the current one continues. */
#pragma once

#include "agent/services.h"
#include "record/rate.h"
#include "record/notify.h"

struct fz_agent_options {
	const char *server, *token; /* token NULL: none */
	const char *host;           /* name of this machine on the server */
	const char *labels;         /* from fz_fleet_labels */
	struct fz_rate rate;
	int64_t every_ns;
	const char *spool;
	uint64_t spool_limit;
	const char *config; /* fizeau.ini; NULL: the one in this folder, if any */
	struct fz_agent_order order;
	const char *containers; /* Docker's folder of containers */
};

struct fz_agent_figures {
	uint64_t windows, samples, pushes, sent, dropped;
	size_t kept; /* in the spool */
};

/* Run until SIGINT, SIGTERM or SIGHUP, which are blocked in this thread and its later threads. On
 * return all samples have been sent or are in the spool. ready: called after the set-up. */
int fz_agent_run(const struct fz_agent_options *o, const struct fz_notify *notify,
		 void (*ready)(void), struct fz_agent_figures *ret, struct fz_error *err);
