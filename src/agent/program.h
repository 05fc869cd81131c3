/* SPDX-License-Identifier: MIT */
/* Facts of a process, read while it lives, from which its service and version are found later.
 * Unknown texts are "". */
#pragma once

#include "record/facts.h"
#include "record/sampler_state.h"

struct fz_agent_program {
	pid_t pid;
	enum fz_met met;
	uint64_t start_ticks;  /* when it started, in clock ticks since boot ... */
	int64_t start_unix_ns; /* ... and since 1970; 0: unknown */
	char *command;         /* the command line, quoted for a shell */
	char *name;            /* what it runs, for people: "app.py" */
	char *cgroup;          /* the path of its control group */
	char *executable;      /* a path */
	char *folder;          /* its working folder */
	char *script;          /* the path of an interpreter's script, with links resolved */
	char *module;          /* "python -m MODULE" */
	char *called;          /* the interpreter's path as called: identifies environments */
	char *build;           /* build id, unless it is an interpreter's */
	bool interpreted;      /* an interpreter runs it */
	bool deleted;          /* the executable's file was deleted or replaced */
	bool elsewhere;        /* in another root: a container */
};

/* met: the kind that the sampler reported; only programs are read. */
void fz_agent_program_read(pid_t pid, enum fz_met met, struct fz_agent_program *ret);
void fz_agent_program_release(struct fz_agent_program *p);
/* A key for one program in one process; it changes on exec. */
uint64_t fz_agent_program_key(const struct fz_agent_program *p);
/* The file that determines its version: the script of an interpreter, else the executable; "" if
 * unknown. */
const char *fz_agent_program_file(const struct fz_agent_program *p);
