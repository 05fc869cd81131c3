/* SPDX-License-Identifier: MIT */
/* Facts of a process, read while it lives: enough to find its service and version later. Unknown
 * texts are "". */
#pragma once

#include "record/facts.h"
#include "record/sampler_state.h"

struct fz_agent_program {
	pid_t pid;
	enum fz_met met;
	uint64_t start_ticks;  /* when it started, by the machine's own clock ... */
	int64_t start_unix_ns; /* ... and by the calendar; 0: not known */
	char *command;         /* the command line, as a shell reads it */
	char *name;            /* what it runs, for people: "app.py" */
	char *cgroup;          /* the path of its control group */
	char *executable;      /* a path */
	char *folder;          /* it works in */
	char *script;          /* what an interpreter runs: its path, links followed */
	char *module;          /* "python -m MODULE" */
	char *called;          /* the interpreter's path as it was called: tells environments */
	char *build;           /* build id of a program that is no interpreter's */
	bool interpreted;      /* what runs is not the executable\'s own */
	bool deleted;          /* the executable's file is another one by now, or gone */
	bool elsewhere;        /* its files are not ours: a container */
};

/* met: what the sampler said; of others than programs nothing is read. */
void fz_agent_program_read(pid_t pid, enum fz_met met, struct fz_agent_program *ret);
void fz_agent_program_release(struct fz_agent_program *p);
/* The same for equal programs: of one process, as long as it runs the same. */
uint64_t fz_agent_program_key(const struct fz_agent_program *p);
/* The file that makes its version: the script of an interpreter, else the executable; "": it is not
 * known. */
const char *fz_agent_program_file(const struct fz_agent_program *p);
