/* SPDX-License-Identifier: MIT */
/* Stored counts of commits, by the environment in which they were counted.
 *
 *   (commit, key of the environment) -> recording
 *
 *   cache    CACHE/fizeau/baselines/COMMIT/KEY.fz
 *   notes    refs/notes/fizeau: in the note of the commit, one line "fizeau1 KEY BASE64" each
 *   branch   fizeau-data: COMMIT/KEY.fz
 *   server   `fizeau serve`, through callbacks of the caller
 *
 * Notes and branch are ordinary git refs and are fetched, merged and pushed as such. A writer
 * retries if the ref has moved meanwhile, so nothing is lost. Lines of notes are a set, so notes
 * are merged with
 *
 *   git notes merge --strategy=cat_sort_uniq
 *
 * A recording identifies itself by the fact "git.commit" and the fact "environment" (see
 * environment.h), whose hash is its key.
 */
#pragma once

#include "base/error.h"
#include "git/worktree.h"
#include "profile/profile.h"
#include "record/notify.h"

enum fz_baseline_place {
	FZ_BASELINE_CACHE,
	FZ_BASELINE_NOTES,
	FZ_BASELINE_BRANCH,
	FZ_BASELINE_SERVER,
	FZ_BASELINE_PLACES
};
/* "cache", "notes", "branch"; NULL-terminated. A server is named by its URL. */
extern const char *const fz_baseline_names[FZ_BASELINE_SERVER + 1];
/* The enum fz_baseline_place of a name or URL; -1 if the text is neither. */
int fz_baseline_place_of(const char *text);

#define FZ_BASELINE_NOTES_REF "refs/notes/fizeau"
#define FZ_BASELINE_BRANCH_NAME "fizeau-data"

/* Access to a server. Each function returns 0, or an error whose message names the server. */
struct fz_baseline_server {
	const char *url;
	void *arg;
	/* Append a line "COMMIT/KEY.fz" for each recording. commit: NULL is any. */
	int (*list)(void *arg, const char *commit, struct fz_buf *ret, struct fz_error *err);
	/* Read the bytes of one. */
	int (*read)(void *arg, const char *commit, const char *key, struct fz_buf *ret,
		    struct fz_error *err);
	int (*save)(void *arg, const char *commit, const char *key, struct fz_str bytes,
		    struct fz_error *err);
	/* Set when the server fails; then it is not contacted again. code 0: no failure. */
	struct fz_error trouble;
	bool warned; /* trouble was reported */
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

/* True if these are a commit and a key. */
bool fz_baseline_is_name(struct fz_str commit, struct fz_str key);
/* The key of a text that describes an environment. */
void fz_baseline_key(struct fz_str environment, char out[FZ_BASELINE_KEY_SIZE]);

/* List what is stored, by place, and in each place in no particular order (git rev-list knows it).
 * A recording in several places is listed several times. commit: NULL is any. */
void fz_baseline_list(const struct fz_baselines *b, const char *commit, struct fz_kept_list *ret);
void fz_kept_release(struct fz_kept_list *l);
/* For messages: "the note of 0123456789 in refs/notes/fizeau", or the path of a file; the caller
 * frees. */
char *fz_baseline_describe(const struct fz_baselines *b, const struct fz_kept *k);

/* Read a recording; fz_benchmarks_read then gets its benchmarks. */
int fz_baseline_read(const struct fz_baselines *b, const struct fz_kept *k, struct fz_profile **ret,
		     struct fz_error *err);
/* For messages: the command that fetches a place from a remote, if this clone has nothing of it;
 * the caller frees. NULL if there is something here, or no remote. */
char *fz_baseline_fetch(const struct fz_baselines *b, enum fz_baseline_place place);
/* Find the first readable recording of that commit and environment. False if there is none. */
bool fz_baseline_find(const struct fz_baselines *b, const char *commit, struct fz_str environment,
		      struct fz_profile **ret, struct fz_kept *ret_from);
/* True if that place has such a recording. */
bool fz_baseline_is_kept(const struct fz_baselines *b, enum fz_baseline_place place,
			 const char *commit, struct fz_str environment);
/* Store a recording; replaces one of the same commit and environment there. */
int fz_baseline_save(const struct fz_baselines *b, enum fz_baseline_place place, const char *commit,
		     const struct fz_profile *p, struct fz_error *err);

/* ---- a server that may be unreachable: the user is warned and work goes on ---- */

/* Warn, once, that the server's counts could not be read. who: the command. */
void fz_counts_warn(const struct fz_baselines *b, const char *who, const struct fz_notify *notify);
/* Like fz_baseline_save, but if a server fails, the counts are stored in the cache with a warning;
 * *ret_place is where they are. If that fails, too, there is a warning but no error. */
int fz_counts_save(const struct fz_baselines *b, enum fz_baseline_place place, const char *commit,
		   struct fz_profile *p, const char *who, const struct fz_notify *notify,
		   enum fz_baseline_place *ret_place, struct fz_error *err);
