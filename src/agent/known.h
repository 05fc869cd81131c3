/* SPDX-License-Identifier: MIT */
/* The table of known programs: service and version of each are determined once and stay the same as
 * long as it runs, even if its files change. One thread at a time may use it. */
#pragma once

#include "agent/version.h"

struct fz_agent_known {
	uint64_t key;
	struct fz_agent_program program;
	bool named; /* service and version are set */
	char service[FZ_FLEET_NAME_MAX + 1], version[FZ_FLEET_NAME_MAX + 1];
	uint64_t seen; /* number of the last window in which it was found */
};

struct fz_agent_memory {
	struct fz_agent_known **list;
	size_t n, cap;
	struct fz_map by_key;
};

/* Find or add the program that the process runs now; valid until it is removed. */
struct fz_agent_known *fz_agent_memory_find_or_add(struct fz_agent_memory *m, pid_t pid,
						   enum fz_met met, uint64_t window);
/* Remove programs that were not found in that window or later, and have ended. */
void fz_agent_forget(struct fz_agent_memory *m, uint64_t window);
void fz_agent_memory_release(struct fz_agent_memory *m);

/* How programs are named. */
struct fz_agent_naming {
	struct fz_agent_rules rules;
	struct fz_agent_order order;
	struct fz_agent_versions *versions;
	const char *containers; /* struct fz_agent_container: root */
};
/* Set service and version of programs that have none yet. */
void fz_agent_name_all(const struct fz_agent_naming *naming, struct fz_agent_known *const *list,
		       size_t n);
