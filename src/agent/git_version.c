/* SPDX-License-Identifier: MIT */
/* The commit of a checkout; see git_version.h.
 *
 *   process started   <  the last move of HEAD    from the reflog: HEAD@{time of the start}
 *                     >                           HEAD, and whether files are modified: read once
 *
 * Git runs as the owner of the checkout, because a repository can make git run programs.
 */
#include "agent/git_version.h"

#include <sys/stat.h>
#include <time.h>

#include "agent/child.h"
#include "base/checkout.h"
#include "base/clock.h"
#include "git/command.h"
#include "base/io.h"

struct fz_agent_checkout {
	char *top, *commit; /* commit NULL: unknown to git */
};

void fz_agent_checkouts_release(struct fz_agent_checkouts *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->list[i].top);
		free(c->list[i].commit);
	}
	free(c->list);
	*c = (struct fz_agent_checkouts){ 0 };
}

struct call {
	enum fz_git_call_kind kind;
	const char *const *words;
};

static void be_git(const void *arg, int out)
{
	const struct call *c = arg;

	fz_git_call_become(&(struct fz_git_call){ c->kind, NULL, c->words, out, -1 });
}

/* Run git; returns the first line of its output, which may be empty; the caller frees. NULL if it
 * failed. */
static char *query_git(const char *top, enum fz_git_call_kind kind, const char *const *words)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	struct call call = { kind, words };
	struct stat st;

	if (stat(top, &st))
		return NULL;
	struct fz_agent_question q = { st.st_uid, st.st_gid, top, be_git, &call };
	if (!fz_agent_run_child(&q, &answer))
		return NULL;
	struct fz_str rest = fz_buf_view(&answer), line = fz_str_take_line(&rest);
	return fz_strndup(line.p, line.n);
}

static char *commit(const char *top, const char *revision)
{
	const char *const words[] = { "rev-parse", "--verify", "--short=12", revision, NULL };
	char *line = query_git(top, FZ_GIT_ASKS, words);

	if (line && !*line)
		free(fz_steal(line));
	return line;
}

static char *commit_at(const char *top, int64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / FZ_SECOND);
	char text[64];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "HEAD@{%Y-%m-%d %H:%M:%S +0000}", &tm);
	return commit(top, text);
}

static char *commit_now(const char *top)
{
	static const char *const words[] = { "status", "--porcelain", "--untracked-files=no",
					     "--ignore-submodules", NULL };
	fz_auto(fz_free_ptr) char *name = commit(top, "HEAD");
	fz_auto(fz_free_ptr) char *edited = name ? query_git(top, FZ_GIT_ASKS_TREE, words) : NULL;

	return name ? fz_asprintf("%s%s", name, edited && *edited ? "-dirty" : "") : NULL;
}

/* The git folder of this checkout: ".git", or the one that this file names. The caller frees. */
static char *git_folder(const char *top)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/.git", top);
	struct stat st;
	size_t n;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return fz_steal(path);
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, 4096, &n);
	struct fz_str rest = fz_str_of(text ? text : ""), line = fz_str_take_line(&rest);
	if (!fz_str_starts(line, "gitdir: "))
		return fz_steal(path);
	line = (struct fz_str){ line.p + 8, line.n - 8 };
	return *line.p == '/' ? fz_strndup(line.p, line.n)
			      : fz_asprintf("%s/%.*s", top, (int)line.n, line.p);
}

/* When HEAD last moved; 0 if there is no reflog. */
static int64_t moved_at(const char *top)
{
	fz_auto(fz_free_ptr) char *folder = git_folder(top);
	fz_auto(fz_free_ptr) char *log = fz_asprintf("%s/logs/HEAD", folder);
	struct stat st;

	return stat(log, &st) ? 0 : fz_clock_ns(st.st_mtim);
}

char *fz_agent_commit_of(struct fz_agent_checkouts *c, const char *folder, int64_t at_unix_ns)
{
	long n = fz_checkout_length(folder);
	fz_auto(fz_free_ptr) char *top = NULL;

	if (n == FZ_NO_CHECKOUT)
		return NULL;
	top = n ? fz_strndup(folder, (size_t)n) : fz_strdup("/");
	if (at_unix_ns && moved_at(top) > at_unix_ns) {
		char *name = commit_at(top, at_unix_ns);
		if (name)
			return name;
	}
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->list[i].top, top) == 0)
			return c->list[i].commit ? fz_strdup(c->list[i].commit) : NULL;
	char *name = commit_now(top);
	fz_push(c->list, c->n, c->cap, (struct fz_agent_checkout){ fz_steal(top), name });
	return name ? fz_strdup(name) : NULL;
}
