/* SPDX-License-Identifier: MIT */
/* Starting the program to record, as the shell would, and passing its end on.
 *
 * We add nothing to the program: no wrapper, no environment, no frames. It inherits stdin, stdout,
 * stderr, the signal mask and the ignored signals that fizeau itself was given.
 */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "base/base.h"
#include "base/error.h"
#include "profile/profile.h"

struct fz_launch_words {
	char **words; /* what the user typed after the options */
	size_t n;
	bool module;        /* -m: the first word is a module */
	bool plain;         /* "--" preceded them */
	const char *python; /* NULL: python3 of PATH */
};

/* The argument vector to execute (caller frees the array; the strings are borrowed):
 * - a module, a .py/.pyw/.pyz file or a folder is run by `python`;
 * - so is a file that is not executable, unless PATH has a program of that name;
 * - everything else is a program, for which --python is an error;
 * - a script that does not exist is an error;
 * - after "--" a file that can be executed is a program, whatever its suffix;
 * - a "--" right after the script or module is dropped, as CPython's profiler does. */
int fz_launch_command(const struct fz_launch_words *w, char ***ret_argv, struct fz_error *err);

struct fz_child {
	pid_t pid;
	int pidfd;
	bool reaped;
	int status;                /* from waitpid, once reaped */
	int64_t ran_ns, waited_ns; /* of its first thread, once reaped; see load.h */
};

/* Where the program runs, if its surroundings differ from ours. */
struct fz_launch_place {
	const char *folder;   /* NULL: ours */
	char *const *environ; /* the list of a struct fz_environ; NULL: ours */
	bool no_input;        /* its standard input is empty */
	bool own_group;       /* in its own process group, so kill(-pid) reaches its children */
	int output;           /* its standard output; -1: ours */
	int errors;           /* its standard error; -1: ours */
};

/* The environment of the program; place: NULL is ours. */
char *const *fz_launch_environ(const struct fz_launch_place *place);
/* mask: the signal mask of the program; place: NULL is ours. */
int fz_launch_start(char *const argv[], const sigset_t *mask, const struct fz_launch_place *place,
		    struct fz_child *ret, struct fz_error *err);
/* Wait until it has ended and store its status. */
void fz_launch_wait(struct fz_child *child);
/* Store in run how the program ended; does nothing while it still runs. */
void fz_launch_set_outcome(const struct fz_child *child, struct fz_run *run);
void fz_launch_release(struct fz_child *child);
/* Start a program and wait until it ends; ret_status is that of waitpid. */
int fz_launch_and_wait(char *const argv[], const sigset_t *mask,
		       const struct fz_launch_place *place, int *ret_status, struct fz_error *err);
