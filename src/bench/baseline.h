/* SPDX-License-Identifier: MIT */
/* Counted recordings that are kept for later: what a commit cost, under which circumstances.
 *
 *   (commit, key of the environment) -> recording
 *
 *   cache    CACHE/fizeau/baselines/COMMIT/KEY.fz
 *   notes    refs/notes/fizeau: in the note of the commit a line "fizeau1 KEY BASE64" for each
 *   branch   fizeau-data: COMMIT/KEY.fz
 *   server   of `fizeau serve`'s, where somebody says how it is asked
 *
 * Notes and branch are ordinary git: they are fetched, merged and pushed as such. Each writer adds
 * to what is there when it is done and begins again when somebody else was faster, so nothing
 * that was kept is lost. Lines of notes are a set (`git notes merge --strategy=cat_sort_uniq`).
 *
 * A recording says itself what it is of: the fact "git.commit", and the fact "environment" (see
 * environment.h), whose hash is its key.
 */
#pragma once

#include "base/error.h"
#include "git/worktree.h"
#include "profile/profile.h"

enum fz_baseline_place {
	FZ_BASELINE_CACHE,
	FZ_BASELINE_NOTES,
	FZ_BASELINE_BRANCH,
	FZ_BASELINE_SERVER,
	FZ_BASELINE_PLACES
};
/* "cache", "notes", "branch"; NULL-terminated. A server is called by its address. */
extern const char *const fz_baseline_names[FZ_BASELINE_SERVER + 1];
/* An enum fz_baseline_place; -1: the text is neither a name nor an address. */
int fz_baseline_place_of(const char *text);

#define FZ_BASELINE_NOTES_REF "refs/notes/fizeau"
#define FZ_BASELINE_BRANCH_NAME "fizeau-data"

/* How a server is asked, by whoever can. Each returns 0, or an error whose message names it. */
struct fz_baseline_server {
	const char *url;
	void *arg;
	/* Append a line "COMMIT/KEY.fz" for each that is there. commit: NULL is any. */
	int (*list)(void *arg, const char *commit, struct fz_buf *ret, struct fz_error *err);
	/* The bytes of one. */
	int (*read)(void *arg, const char *commit, const char *key, struct fz_buf *ret,
		    struct fz_error *err);
	int (*save)(void *arg, const char *commit, const char *key, struct fz_str bytes,
		    struct fz_error *err);
	/* Why nothing is read of it any more; code 0 to begin with: all is well. */
	struct fz_error trouble;
	bool told; /* somebody heard of it */
};

struct fz_baselines {
	const struct fz_repository *repository;
	const char *cache; /* the folder "baselines" of the cache; may not exist yet */
	struct fz_baseline_server *server; /* NULL: none */
};

enum { FZ_BASELINE_KEY_SIZE = 17, FZ_COMMIT_SIZE = 65 };

/* Where one recording is. */
struct fz_kept {
	enum fz_baseline_place place;
	char commit[FZ_COMMIT_SIZE];
	char key[FZ_BASELINE_KEY_SIZE];
};

struct fz_kept_list {
	struct fz_kept *list;
	size_t n, cap;
};

/* Whether these are a commit and a key. */
bool fz_baseline_is_name(struct fz_str commit, struct fz_str key);
/* The key of a text that describes an environment. */
void fz_baseline_key(struct fz_str environment, char out[FZ_BASELINE_KEY_SIZE]);

/* Everything that is kept: by place, then in no order of time; ask git for that (rev-list). What
 * is kept in several places is there as often. commit: NULL is any. */
void fz_baseline_list(const struct fz_baselines *b, const char *commit, struct fz_kept_list *ret);
void fz_kept_release(struct fz_kept_list *l);
/* "the note of 0123456789 in refs/notes/fizeau", the path of a file: for messages; the caller
 * frees. */
char *fz_baseline_describe(const struct fz_baselines *b, const struct fz_kept *k);

/* Its benchmarks are read by fz_benchmarks_read. */
int fz_baseline_read(const struct fz_baselines *b, const struct fz_kept *k, struct fz_profile **ret,
		     struct fz_error *err);
/* The command that brings what a remote keeps in a place of which this clone has nothing, for
 * messages; the caller frees. NULL: there is something here, or there is no remote. */
char *fz_baseline_fetch(const struct fz_baselines *b, enum fz_baseline_place place);
/* The first place that has a recording of that commit and environment which can be read.
 * False: there is none. */
bool fz_baseline_find(const struct fz_baselines *b, const char *commit, struct fz_str environment,
		      struct fz_profile **ret, struct fz_kept *ret_from);
/* Whether that place has one. */
bool fz_baseline_is_kept(const struct fz_baselines *b, enum fz_baseline_place place,
			 const char *commit, struct fz_str environment);
/* Keep a recording; what is kept there under the same commit and environment is replaced. */
int fz_baseline_save(const struct fz_baselines *b, enum fz_baseline_place place, const char *commit,
		     const struct fz_profile *p, struct fz_error *err);
