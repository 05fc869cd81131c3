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
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MAX = 1 << 20, GIT_WORDS = 12 };

int fz_launch_and_wait(char *const argv[], const sigset_t *mask,
		       const struct fz_launch_place *place, int *ret_status, struct fz_error *err)
{
	struct fz_child child;
	int rc = fz_launch_start(argv, mask, place, &child, err);

	if (rc)
		return rc;
	fz_launch_wait(&child);
	fz_launch_release(&child);
	*ret_status = child.status;
	return 0;
}

/* Run git in a folder (NULL: here) with its output going to file descriptors (-1: ours). */
static int run_git(const char *folder, const char *const words[], int out, int errors,
		   int *ret_status, struct fz_error *err)
{
	struct fz_launch_place place = {
		.folder = folder, .no_input = true, .output = out, .errors = errors
	};
	char *argv[GIT_WORDS] = { (char *)"git" };
	sigset_t mask;

	for (size_t i = 0; words[i]; i++) {
		fz_assert(i + 2 < GIT_WORDS);
		argv[i + 1] = (char *)words[i];
	}
	sigprocmask(SIG_BLOCK, NULL, &mask);
	return fz_launch_and_wait(argv, &mask, &place, ret_status, err);
}

/* The first line that a pipe holds; it is closed. */
static char *take_line(int fd)
{
	fz_auto(fz_buf_release) struct fz_buf b = { .limit = ANSWER_MAX };

	for (char *room; (room = fz_buf_reserve(&b, 4096));) {
		ssize_t n = read(fd, room, 4096);
		if (n <= 0)
			break;
		b.n += (size_t)n;
		room[n] = 0;
	}
	close(fd);
	if (!b.p)
		return fz_strdup("");
	b.p[strcspn(b.p, "\n")] = 0;
	return fz_strdup(b.p);
}

/* The first line of what git answers; NULL when it fails, and then *ret_why (may be NULL) is
 * what it says about that. Both fit a pipe. */
static int ask_git(const char *folder, const char *const words[], char **ret, char **ret_why,
		   struct fz_error *err)
{
	int out[2], errors[2], status = 1;

	if (pipe2(out, O_CLOEXEC | O_NONBLOCK))
		return fz_fail_errno(err, "pipe");
	if (pipe2(errors, O_CLOEXEC | O_NONBLOCK)) {
		close(out[0]);
		close(out[1]);
		return fz_fail_errno(err, "pipe");
	}
	int rc = run_git(folder, words, out[1], errors[1], &status, err);
	close(out[1]);
	close(errors[1]);
	fz_auto(fz_free_ptr) char *answer = take_line(out[0]);
	fz_auto(fz_free_ptr) char *why = take_line(errors[0]);
	if (rc)
		return rc;
	*ret = status ? NULL : fz_steal(answer);
	if (status && ret_why)
		*ret_why = fz_steal(why);
	return 0;
}

/* Why git finds none: there is no checkout, or it belongs to somebody whom git does not trust. */
static int no_repository(const char *why, struct fz_error *err)
{
	static const char fatal[] = "fatal: ";

	if (strncmp(why, fatal, strlen(fatal)) == 0)
		why += strlen(fatal);
	return fz_fail(err, FZ_EUSAGE,
		       "git finds no checkout here: %s; compare two commands with --base and "
		       "--head",
		       *why ? why : "the current folder is in none");
}

int fz_repository_find(struct fz_repository *ret, struct fz_error *err)
{
	static const char *const root[] = { "rev-parse", "--show-toplevel", NULL };
	static const char *const prefix[] = { "rev-parse", "--show-prefix", NULL };
	/* A repository may name programs to run for fsmonitor; and its index is not ours to
	 * write. */
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

int fz_worktree_add(const struct fz_repository *r, const char *commit, const char *folder,
		    struct fz_error *err)
{
	const char *const words[] = {
		"worktree", "add", "--quiet", "--detach", folder, commit, NULL
	};
	int status = 0;
	int rc = run_git(r->root, words, STDERR_FILENO, -1, &status, err);

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
