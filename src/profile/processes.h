/* SPDX-License-Identifier: MIT */
/* The processes of a recording that has several.
 *
 * A sample's process is the pid of its thread. More is stored in a fact "process.PID" with the
 * value "PARENT COMMAND" and, in recordings of the whole machine, "owner.PID" with "USER CGROUP";
 * all formats that store facts keep them.
 */
#pragma once

#include "profile/profile.h"

struct fz_profile_process {
	uint64_t pid, parent;       /* parent: 0 when unknown */
	struct fz_str command;      /* "" when unknown */
	struct fz_str name;         /* for display; a part of the command */
	struct fz_str user, cgroup; /* "" if unknown or none */
	uint32_t threads;
	uint64_t samples; /* samples of the main metric with a stack */
	int64_t cost;     /* of the main metric */
};

/* Processes with threads, in order of appearance. */
struct fz_processes {
	struct fz_profile_process *list;
	uint32_t n;
	uint32_t *of_thread; /* index in list by thread */
};

void fz_profile_set_process(struct fz_profile *p, uint64_t pid, uint64_t parent,
			    struct fz_str command);
void fz_profile_set_owner(struct fz_profile *p, uint64_t pid, struct fz_str user,
			  struct fz_str cgroup);
/* Display name of a command line's program: a part of it. */
struct fz_str fz_process_name(struct fz_str command);
/* Whether a fact with that key describes a process. */
bool fz_is_process_fact(struct fz_str key);
/* Released by the caller. */
struct fz_processes fz_profile_processes(const struct fz_profile *p);
/* Number of processes with samples. */
uint32_t fz_processes_sampled(const struct fz_processes *ps);
void fz_processes_release(struct fz_processes *ps);
/* "app.py 4711"; the caller frees it. */
char *fz_process_label(const struct fz_profile_process *p);
/* Whether a word matches a process: its number, user, control group or a part of its command. */
bool fz_process_is_named(const struct fz_profile_process *p, struct fz_str word);
