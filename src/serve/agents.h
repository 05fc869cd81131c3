/* SPDX-License-Identifier: MIT */
/* Recognises two agents that push the same host at the same time, whose costs would count twice:
 * one agent was started twice, or two machines have one name. */
#pragma once

#include <pthread.h>

#include "base/map.h"

enum { FZ_AGENTS_HOSTS = 100000 };

struct fz_agents {
	pthread_mutex_t lock;
	struct fz_map host_map;
	struct fz_agents_host {
		uint64_t current, previous; /* hashes of their ids */
		int64_t first;              /* minute of the first push of `current` */
		bool reported;
	} * hosts;
	uint32_t n, cap;
};

void fz_agents_init(struct fz_agents *a);
void fz_agents_release(struct fz_agents *a);
/* Note a push. agent: different for each start of an agent; minute: the first one of the push.
 * Returns true once for each host if two agents push it. */
bool fz_agents_note(struct fz_agents *a, const char *project, const char *host, const char *agent,
		    int64_t minute);
