/* SPDX-License-Identifier: MIT */
/* Splits a window of the machine into profiles of services, one per version. */
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

/* Split the samples of the window into parts, highest cost first; parts beyond FZ_AGENT_PARTS_MAX
 * are the service "other". Programs must be named. Lost samples are distributed in proportion to
 * samples. FZ_ELIMIT: the window exceeds the limits of a profile. */
int fz_agent_split(struct fz_agent_window *w, struct fz_agent_parts *ret, struct fz_error *err);
void fz_agent_parts_release(struct fz_agent_parts *p);
