/* SPDX-License-Identifier: MIT */
/* Where revisions are measured: the user's own tree, and worktrees of others beside it in a
 * scratch folder of the cache. What `compare`, `ci`, `history` and `bisect` share.
 *
 *   fz_workspace_find -> fz_workspace_open
 *     -> fz_checkout_here, fz_checkout_add ... fz_checkout_remove
 *   -> fz_workspace_close
 */
#pragma once

#include "base/environ.h"
#include "record/caretaker.h"
#include "git/worktree.h"
#include "record/series.h"

/* One revision on disk. */
struct fz_checkout {
	const char *name; /* "base", for messages */
	char *commit;     /* full hash */
	char *tree;       /* top of its checkout; NULL: not there */
	char *folder;     /* where the command runs */
	bool worktree;    /* ours, to be removed */
};

struct fz_workspace {
	struct fz_series series;
	struct fz_record_options record; /* how runs are recorded */
	struct fz_repository repository;
	char *cache; /* of this command */
	struct fz_scratch scratch;
	struct fz_caretaker caretaker; /* of the scratch folder, should we be killed */
	char *const *argv;
	char *whole; /* name of the benchmark when the command marks none */
	const char *setup;
	char *imports; /* folders of each tree that Python imports from first (bench/inplace.h);
			* NULL
			*/
	struct fz_environ environ; /* of what is started */
	bool own_bytecode;         /* Python's is kept in the scratch folder */
	bool native;               /* count the interpreter's own functions apart */
	int output;                /* the command's standard output */
	bool open;
};

#define FZ_WORKSPACE_REMEDY "run it in the checkout of the project"
#define FZ_WORKSPACE_NONE       \
	((struct fz_workspace){ \
		.scratch = FZ_SCRATCH_NONE, .caretaker = FZ_CARETAKER_NONE, .output = -1 })

/* Find the repository of the current folder. FZ_EUSAGE: there is none, with the remedy. */
int fz_workspace_find(struct fz_workspace *w, const char *remedy, struct fz_error *err);
/* Make the scratch folder, hold signals back; notify (may be NULL) is borrowed; programs are told
 * nothing of a hook that we may run in. Needs no repository. */
int fz_workspace_open(struct fz_workspace *w, const char *command, const struct fz_notify *notify,
		      bool show_output, struct fz_error *err);
/* What is started from now on has Python's bytecode to itself, under a name: runs that are compared
 * must not find what the other side compiled. Nothing where the user keeps it elsewhere. */
void fz_workspace_keep_bytecode(struct fz_workspace *w, const char *name);
/* Signals act again, the scratch folder is gone; what cannot be removed is warned about. */
void fz_workspace_close(struct fz_workspace *w);

/* The user's tree as it is. */
int fz_checkout_here(struct fz_workspace *w, struct fz_checkout *ret, struct fz_error *err);
/* A commit in a new worktree, set up. */
int fz_checkout_add(struct fz_workspace *w, const char *commit, const char *name,
		    struct fz_checkout *ret, struct fz_error *err);
/* The top of those worktrees: there is one at a time. The caller frees. */
char *fz_workspace_tree(const struct fz_workspace *w);
/* Run --setup there. */
int fz_checkout_set_up(struct fz_workspace *w, const struct fz_checkout *checkout,
		       struct fz_error *err);
/* Find out whether the command's Python imports the project from one certain checkout. After
 * --setup, which may install it; argv is what runs there. */
void fz_workspace_find_imports(struct fz_workspace *w, char *const argv[]);
/* The environment of what measures a checkout: it imports such packages from there. The caller
 * releases. */
void fz_checkout_environ(const struct fz_workspace *w, const struct fz_checkout *checkout,
			 struct fz_environ *ret);
/* Remove the worktree; what it was is forgotten. */
void fz_checkout_remove(struct fz_workspace *w, struct fz_checkout *checkout);
void fz_checkout_release(struct fz_checkout *checkout);
/* The folder of the cache for something of fizeau; the caller frees. */
int fz_workspace_cache_folder(const char *what, char **ret, struct fz_error *err);
