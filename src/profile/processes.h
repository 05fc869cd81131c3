/* SPDX-License-Identifier: MIT */
/* The processes of a recording that has several.
 *
 * Samples know theirs by the pid of their thread; what is known of a process besides is a fact
 * named "process.PID" with the value "PARENT COMMAND", and of the whole machine's "owner.PID" with
 * "USER CGROUP", which every file keeps that keeps facts.
 */
#pragma once

#include "profile/profile.h"

struct fz_profile_process {
	uint64_t pid, parent;       /* parent: 0 when unknown */
	struct fz_str command;      /* "" when unknown */
	struct fz_str name;         /* what it runs, for people; a part of the command */
	struct fz_str user, cgroup; /* whose it is; "" when unknown, or when it is in none */
	uint32_t threads;
	uint64_t samples; /* that have a stack */
	int64_t cost;     /* of the main metric */
};

/* Those that have threads, in order of appearance. */
struct fz_processes {
	struct fz_profile_process *list;
	uint32_t n;
	uint32_t *of_thread; /* index in list by thread */
};

void fz_profile_set_process(struct fz_profile *p, uint64_t pid, uint64_t parent,
			    struct fz_str command);
void fz_profile_set_owner(struct fz_profile *p, uint64_t pid, struct fz_str user,
			  struct fz_str cgroup);
/* What a command line runs, for people: a part of it. */
struct fz_str fz_process_name(struct fz_str command);
/* Is the key of a fact that says what a process is? */
bool fz_is_process_fact(struct fz_str key);
/* The caller releases them. */
struct fz_processes fz_profile_processes(const struct fz_profile *p);
/* How many have samples. */
uint32_t fz_processes_sampled(const struct fz_processes *ps);
void fz_processes_release(struct fz_processes *ps);
/* "app.py 4711"; the caller frees it. */
char *fz_process_label(const struct fz_profile_process *p);
/* Does the word name this process: by its number, its user, its control group or a part
 * of its command? */
bool fz_process_is_named(const struct fz_profile_process *p, struct fz_str word);
