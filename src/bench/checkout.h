/* SPDX-License-Identifier: MIT */
/* Where `compare`, `ci`, `history` and `bisect` measure revisions: the user's own tree, and
 * worktrees in a scratch folder.
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
	char *tree;       /* top of its checkout; NULL: not checked out */
	char *folder;     /* where the command runs */
	bool worktree;    /* ours, to be removed */
};

struct fz_workspace {
	struct fz_series series;
	struct fz_record_options record; /* how runs are recorded */
	struct fz_repository repository;
	char *cache; /* folder of this command in the cache */
	struct fz_scratch scratch;
	struct fz_caretaker caretaker; /* removes the scratch folder if we are killed */
	char *const *argv;
	char *whole; /* name of the benchmark if the command marks none */
	const char *setup;
	char *imports; /* folders of each tree that Python imports from first (inplace.h); NULL */
	struct fz_environ environ; /* of programs that are started */
	bool own_bytecode;         /* Python's bytecode is in the scratch folder */
	bool native;               /* count the interpreter's own functions separately */
	int output;                /* the command's standard output */
	bool open;
};

#define FZ_WORKSPACE_REMEDY "run it in the checkout of the project"
#define FZ_WORKSPACE_NONE       \
	((struct fz_workspace){ \
		.scratch = FZ_SCRATCH_NONE, .caretaker = FZ_CARETAKER_NONE, .output = -1 })

/* Find the repository of the current folder. FZ_EUSAGE with the remedy if there is none. */
int fz_workspace_find(struct fz_workspace *w, const char *remedy, struct fz_error *err);
/* Create the scratch folder and block signals. notify (may be NULL) is borrowed. If we run in a git
 * hook, programs do not get its environment. Needs no repository. */
int fz_workspace_open(struct fz_workspace *w, const char *command, const struct fz_notify *notify,
		      bool show_output, struct fz_error *err);
/* Programs started from now on use a separate folder of Python bytecode with this name: runs that
 * are compared must not find what the other side compiled. Does nothing if the user has set one. */
void fz_workspace_keep_bytecode(struct fz_workspace *w, const char *name);
/* Remove the scratch folder, with a warning if that fails, and unblock signals. */
void fz_workspace_close(struct fz_workspace *w);

/* The user's tree as it is. */
int fz_checkout_here(struct fz_workspace *w, struct fz_checkout *ret, struct fz_error *err);
/* Check out a commit in a new worktree, only one at a time, and set it up. */
int fz_checkout_add(struct fz_workspace *w, const char *commit, const char *name,
		    struct fz_checkout *ret, struct fz_error *err);
/* Run --setup there. */
int fz_checkout_set_up(struct fz_workspace *w, const struct fz_checkout *checkout,
		       struct fz_error *err);
/* Find out whether the command's Python imports the project from a fixed checkout. Call it after
 * --setup, which may install the project. argv: the command. */
void fz_workspace_find_imports(struct fz_workspace *w, char *const argv[]);
/* The environment for measuring a checkout, in which such packages are imported from it. The caller
 * releases. */
void fz_checkout_environ(const struct fz_workspace *w, const struct fz_checkout *checkout,
			 struct fz_environ *ret);
/* Remove the worktree and release the checkout. */
void fz_checkout_remove(struct fz_workspace *w, struct fz_checkout *checkout);
void fz_checkout_release(struct fz_checkout *checkout);
/* The path of fizeau's folder `what` in the user's cache; the caller frees. */
int fz_workspace_cache_folder(const char *what, char **ret, struct fz_error *err);
