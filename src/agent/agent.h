/* SPDX-License-Identifier: MIT */
/* The agent: profiles this machine for a fleet server.
 *
 *   sampler (this thread)   window after window, without a tick between them
 *        | one window at a time
 *        v
 *   maker    names, services, versions -> a push for each, into the spool      spool.h
 *        | the folder
 *        v
 *   sender   oldest first, away when the server has it                         sender.h
 *
 * A window ends at a multiple of its length since 1970, so that a one-minute window is one cell of
 * the server. While the maker is still busy with the window before, the current one continues. */
#pragma once

#include "agent/services.h"
#include "record/rate.h"
#include "record/notify.h"

struct fz_agent_options {
	const char *server, *token; /* token NULL: none */
	const char *host;           /* as the server is to know this machine */
	const char *labels;         /* as fz_fleet_labels makes them */
	struct fz_rate rate;
	int64_t every_ns;
	const char *spool;
	uint64_t spool_limit;
	const char *config; /* fizeau.ini; NULL: the one here, if there is one */
	struct fz_agent_order order;
	const char *containers; /* where Docker keeps its containers */
};

struct fz_agent_figures {
	uint64_t windows, samples, pushes, sent, dropped;
	size_t kept; /* in the spool */
};

/* Until SIGINT, SIGTERM or SIGHUP, which this thread and those after it then no longer get: what
 * was sampled is sent, or in the spool. `ready` is called when all is set up. */
int fz_agent_run(const struct fz_agent_options *o, const struct fz_notify *notify,
		 void (*ready)(void), struct fz_agent_figures *ret, struct fz_error *err);
