/* SPDX-License-Identifier: MIT */
/* A window of the machine as profiles of its services, one for each version. */
#pragma once

#include "agent/window.h"

enum { FZ_AGENT_PARTS_MAX = 100 };

struct fz_agent_part {
	char service[FZ_FLEET_NAME_MAX + 1], version[FZ_FLEET_NAME_MAX + 1];
	int64_t cost; /* CPU time, ns */
	struct fz_profile *profile;
};

struct fz_agent_parts {
	struct fz_agent_part *list;
	size_t n, cap;
};

/* All samples of the window, each in one part, the dearest first; beyond FZ_AGENT_PARTS_MAX the
 * rest is the service "other". Programs are named. What the window lost is shared out by samples.
 * FZ_ELIMIT: it holds more than a profile may. */
int fz_agent_split(struct fz_agent_window *w, struct fz_agent_parts *ret, struct fz_error *err);
void fz_agent_parts_release(struct fz_agent_parts *p);
