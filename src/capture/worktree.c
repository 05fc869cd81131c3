/* SPDX-License-Identifier: MIT */
/* Worktrees by git itself: every call is one git command, and what git prints as an error is for
 * the user.
 *
 *   /home/me/project            the user's tree: never written to
 *   CACHE/compare/XXXXXX/base   the other revision, known to git as a worktree of the same
 *                               repository until it is removed
 *
 * git inherits our signal mask: who blocks Ctrl-C beforehand has its commands completed.
 */
#include "capture/worktree.h"

#include "base/buf.h"
#include "base/gitcall.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_MAX = 64 << 20 };

static const char scratch_name[] = "XXXXXX";

/* A question about revisions. */
static int ask_git(const char *folder, const char *const words[], char **ret, char **ret_why,
		   struct fz_error *err)
{
	return fz_gitcall_line(FZ_GIT_ASKS, folder, words, ret, ret_why, err);
}

/* Something to do in a folder; what git prints is for the user. */
static int run_git(const char *folder, const char *const words[], int out, int errors,
		   int *ret_status, struct fz_error *err)
{
	struct fz_gitcall c = { FZ_GIT_ACTS, folder, words, out, errors };

	return fz_gitcall_run(&c, ret_status, err);
}

/* Why git finds none: there is no checkout, or it belongs to somebody whom git does not trust. */
static int no_repository(const char *why, struct fz_error *err)
{
	static const char fatal[] = "fatal: ";

	if (strncmp(why, fatal, strlen(fatal)) == 0)
		why += strlen(fatal);
	return fz_fail(err, FZ_EUSAGE, "git finds no checkout here: %s",
		       *why ? why : "the current folder is in none");
}

int fz_repository_find(struct fz_repository *ret, struct fz_error *err)
{
	static const char *const root[] = { "rev-parse", "--show-toplevel", NULL };
	static const char *const prefix[] = { "rev-parse", "--show-prefix", NULL };
	/* A repository may name programs to run for fsmonitor; and its index is not ours to
	 * write. Its filters are needed: the worktrees that follow are made with them, too. */
	static const char *const changed[] = { "--no-optional-locks",
					       "-c",
					       "core.fsmonitor=false",
					       "diff",
					       "--quiet",
					       "HEAD",
					       "--",
					       NULL };
	fz_auto(fz_repository_release) struct fz_repository r = { 0 };
	fz_auto(fz_free_ptr) char *why = NULL;
	int status = 0;
	int rc = ask_git(NULL, root, &r.root, &why, err);

	if (!rc && r.root)
		rc = ask_git(NULL, prefix, &r.prefix, &why, err);
	if (!rc && (!r.root || !r.prefix))
		rc = no_repository(why ? why : "", err);
	/* Before the first commit it complains; whoever asks for a revision then says more. */
	fz_auto(fz_close_fd) int silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!rc)
		rc = run_git(NULL, changed, silence, silence, &status, err);
	if (rc)
		return rc;
	r.dirty = WIFEXITED(status) && WEXITSTATUS(status) == 1;
	*ret = r;
	r = (struct fz_repository){ 0 };
	return 0;
}

void fz_repository_release(struct fz_repository *r)
{
	free(r->root);
	free(r->prefix);
	*r = (struct fz_repository){ 0 };
}

int fz_repository_commit(const struct fz_repository *r, const char *revision, char **ret,
			 struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *spec = fz_asprintf("%s^{commit}", revision);
	const char *const words[] = { "rev-parse",        "--verify", "--quiet",
				      "--end-of-options", spec,       NULL };
	char *commit = NULL;
	int rc = ask_git(r->root, words, &commit, NULL, err);

	if (!rc && !commit)
		rc = fz_fail(err, FZ_EUSAGE, "'%s': git knows no such revision", revision);
	if (!rc)
		*ret = commit;
	return rc;
}

/* All that was written to a file without a name; at most so much. */
static void take_all(int fd, struct fz_buf *out)
{
	lseek(fd, 0, SEEK_SET);
	while (out && out->n < TEXT_MAX) {
		char *room = fz_buf_reserve(out, 65536);
		ssize_t n = read(fd, room, 65536);
		room[n > 0 ? n : 0] = 0;
		if (n <= 0)
			break;
		out->n += (size_t)n;
	}
}

int fz_repository_git(const struct fz_repository *r, const char *folder, const char *const words[],
		      struct fz_buf *out, struct fz_buf *why, int *ret_status, struct fz_error *err)
{
	fz_auto(fz_close_fd) int o = memfd_create("git", MFD_CLOEXEC);
	fz_auto(fz_close_fd) int e = memfd_create("git", MFD_CLOEXEC);

	if (o < 0 || e < 0)
		return fz_fail_errno(err, "memfd_create");
	struct fz_gitcall c = { FZ_GIT_ACTS, folder ? folder : r->root, words, o, e, r->index };
	int rc = fz_gitcall_run(&c, ret_status, err);
	take_all(o, out);
	take_all(e, why);
	return rc;
}

char *fz_repository_ask(const struct fz_repository *r, const char *const words[])
{
	char *line = NULL;

	return ask_git(r->root, words, &line, NULL, NULL) ? NULL : line;
}

bool fz_repository_is_shallow(const struct fz_repository *r)
{
	static const char *const words[] = { "rev-parse", "--is-shallow-repository", NULL };
	fz_auto(fz_free_ptr) char *answer = fz_repository_ask(r, words);

	return answer && strcmp(answer, "true") == 0;
}

/* The folder, locked; -1 when somebody else has it. */
static int lock_folder(const char *path, int how)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, how) == 0)
		return fd;
	fz_close_fd(&fd);
	return -1;
}

int fz_worktree_add(const struct fz_repository *r, const char *commit, const char *folder,
		    struct fz_error *err)
{
	const char *const words[] = {
		"worktree", "add", "--quiet", "--detach", folder, commit, NULL
	};
	int status = 0;
	/* Two at the same time would take the same name in the repository. */
	fz_auto(fz_close_fd) int lock = lock_folder(r->root, LOCK_EX);
	int rc = run_git(r->root, words, STDERR_FILENO, -1, &status, err);

	(void)lock;
	if (!rc && status)
		rc = fz_fail(err, FZ_EINPUT, "%s: git could not check out %.12s there", folder,
			     commit);
	return rc;
}

int fz_worktree_remove(const struct fz_repository *r, const char *folder, struct fz_error *err)
{
	/* Twice: even if it has changes, and even if it is locked. Not 'git worktree prune', which
	 * would forget the user's own worktrees on disks that are not mounted now. */
	const char *const words[] = { "worktree", "remove", "--force", "--force", folder, NULL };
	int status = 0;

	if (access(folder, F_OK))
		return 0;
	int rc = run_git(r->root, words, STDERR_FILENO, -1, &status, err);
	return rc ? rc : fz_remove_folder(folder, err);
}

/* ---- scratch folders ---- */

/* "gitdir: /home/me/project/.git/worktrees/base" in a worktree's file .git: its repository. */
static char *repository_of(const char *worktree)
{
	static const char key[] = "gitdir: ", place[] = "/worktrees/";
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/.git", worktree);
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, 8192, NULL);

	if (!text || strncmp(text, key, strlen(key)) != 0)
		return NULL;
	char *end = NULL;
	for (char *at = text; (at = strstr(at, place)); at++)
		end = at;
	return end ? fz_strndup(text + strlen(key), (size_t)(end - text) - strlen(key)) : NULL;
}

/* git forgets what it knew of a worktree. What it says is of no use to the user of today. */
static void forget_worktree(const char *worktree)
{
	fz_auto(fz_free_ptr) char *repository = repository_of(worktree);
	fz_auto(fz_close_fd) int silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int status;

	if (!repository)
		return;
	const char *const words[] = { "--git-dir", repository, "worktree", "remove",
				      "--force",   "--force",  worktree,   NULL };
	run_git("/", words, silence, silence, &status, NULL);
}

/* Worktrees lie in the folder "base". */
void fz_scratch_clear(const char *folder)
{
	fz_auto(fz_free_ptr) char *base = fz_asprintf("%s/base", folder);
	DIR *d = opendir(base);

	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		fz_auto(fz_free_ptr) char *worktree = fz_asprintf("%s/%s", base, e->d_name);
		forget_worktree(worktree);
	}
	if (d)
		closedir(d);
	fz_remove_folder(folder, NULL);
}

static void clean_cache(const char *cache)
{
	DIR *d = opendir(cache);

	for (struct dirent *e; d && (e = readdir(d));) {
		fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", cache, e->d_name);
		if (strlen(e->d_name) != strlen(scratch_name) || strchr(e->d_name, '.'))
			continue;
		fz_auto(fz_close_fd) int lock = lock_folder(path, LOCK_EX | LOCK_NB);
		if (lock >= 0)
			fz_scratch_clear(path);
	}
	if (d)
		closedir(d);
}

int fz_scratch_make(const char *cache, struct fz_scratch *ret, struct fz_error *err)
{
	int rc = fz_make_folder(cache, err);

	if (rc)
		return rc;
	/* Between its making and its locking a folder must not look dead. */
	fz_auto(fz_close_fd) int busy = lock_folder(cache, LOCK_EX);
	(void)busy; /* held until the end */
	clean_cache(cache);
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", cache, scratch_name);
	if (!mkdtemp(path))
		return fz_fail_errno(err, "%s", path);
	ret->lock = lock_folder(path, LOCK_EX | LOCK_NB);
	ret->path = fz_steal(path);
	return 0;
}

int fz_scratch_remove(struct fz_scratch *s, struct fz_error *err)
{
	int rc = s->path ? fz_remove_folder(s->path, err) : 0;

	fz_close_fd(&s->lock);
	free(s->path);
	*s = FZ_SCRATCH_NONE;
	return rc;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

int fz_remove_folder(const char *path, struct fz_error *err)
{
	if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		return fz_fail_errno(err, "%s cannot be removed", path);
	return 0;
}
