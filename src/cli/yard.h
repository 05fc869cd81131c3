/* SPDX-License-Identifier: MIT */
/* Where revisions are measured: the user's own tree, and worktrees of others beside it in a
 * scratch folder of the cache. What `compare`, `ci`, `history` and `bisect` share.
 *
 *   fz_yard_find -> fz_yard_open -> fz_yard_here, fz_yard_check_out ... -> fz_yard_close
 */
#pragma once

#include "capture/caretaker.h"
#include "capture/worktree.h"
#include "session/bench.h"

/* One revision on disk. */
struct fz_site {
	const char *name; /* "base", for messages */
	char *commit;     /* full hash */
	char *tree;       /* top of its checkout; NULL: not there */
	char *folder;     /* where the command runs */
	bool worktree;    /* ours, to be removed */
};

struct fz_yard {
	struct fz_series series;
	struct fz_record_options record; /* how runs are recorded */
	struct fz_repository repository;
	char *cache; /* of this command */
	struct fz_scratch scratch;
	struct fz_caretaker caretaker; /* of the scratch folder, should we be killed */
	char *const *argv;
	char *whole; /* name of the benchmark when the command marks none */
	const char *setup;
	bool native; /* count the interpreter's own functions apart */
	int output;  /* the command's standard output */
	bool open;
};

#define FZ_YARD_REMEDY "run it in the checkout of the project"
#define FZ_YARD_NONE       \
	((struct fz_yard){ \
		.scratch = FZ_SCRATCH_NONE, .caretaker = FZ_CARETAKER_NONE, .output = -1 })

/* Find the repository of the current folder. FZ_EUSAGE: there is none, with the remedy. */
int fz_yard_find(struct fz_yard *y, const char *remedy, struct fz_error *err);
/* Make the scratch folder, hold signals back; programs are told nothing of a hook that we may run
 * in. Needs no repository. */
int fz_yard_open(struct fz_yard *y, const char *command, bool show_output, struct fz_error *err);
/* Signals act again, the scratch folder is gone; what cannot be removed is warned about. */
void fz_yard_close(struct fz_yard *y);

/* The user's tree as it is. */
int fz_yard_here(struct fz_yard *y, struct fz_site *ret, struct fz_error *err);
/* A commit in a new worktree, set up. */
int fz_yard_check_out(struct fz_yard *y, const char *commit, const char *name, struct fz_site *ret,
		      struct fz_error *err);
/* The top of those worktrees: there is one at a time. The caller frees. */
char *fz_yard_tree(const struct fz_yard *y);
/* Run --setup there. */
int fz_yard_set_up(struct fz_yard *y, const struct fz_site *site, struct fz_error *err);
/* Remove the worktree; what it was is forgotten. */
void fz_yard_leave(struct fz_yard *y, struct fz_site *site);
void fz_site_release(struct fz_site *site);
/* The folder of the cache for something of fizeau; the caller frees. */
int fz_yard_cache_folder(const char *what, char **ret, struct fz_error *err);

/* One run of the command, in a process of its own, so that several can run side by side: counts
 * do not depend on what else the machine does. */
struct fz_job {
	const struct fz_site *site;
	bool native;    /* as usual, to see that it works and to have bytecode made */
	unsigned other; /* surroundings: struct fz_counter */
	/* results */
	struct fz_profile *profile; /* NULL: nothing was counted */
	char *trouble; /* how it went wrong; NULL: it did not, or the profile says it */
	bool fatal;    /* so that there is nothing to be had */
	/* private */
	pid_t pid;
	char *path;
};

/* Run them, at most `parallel` at a time. False: a signal ended it. */
bool fz_yard_run(struct fz_yard *y, struct fz_job *jobs, size_t n, unsigned parallel);
void fz_job_release(struct fz_job *job);
