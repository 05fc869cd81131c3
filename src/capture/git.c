/* SPDX-License-Identifier: MIT */
/* What git knows about the checkout, asked once and in the background.
 *
 * git runs at idle priority from the moment the command has started, so that neither its start
 * nor its first seconds wait for it, and a commit made while the command runs is not taken for
 * the one that ran. One "git status" answers everything.
 */
#include "capture/git.h"

#include "base/buf.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { GIT_ANSWER_MAX = 1 << 20, GIT_PATIENCE_MS = 2000 };

static bool in_checkout(const char *folder)
{
	char path[4200];
	size_t n = strlen(folder);

	while (n > 0 && n < sizeof(path) - 8) {
		snprintf(path, sizeof(path), "%.*s/.git", (int)n, folder);
		if (access(path, F_OK) == 0)
			return true;
		while (n > 0 && folder[--n] != '/')
			;
	}
	return access("/.git", F_OK) == 0;
}

static int spawn_git(char *const argv[], int out, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	struct sched_param param = { 0 };
	sigset_t none;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSCHEDULER |
						POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setschedpolicy(&attr, SCHED_IDLE);
	posix_spawnattr_setschedparam(&attr, &param);
	int code = posix_spawnp(ret, argv[0], &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return code;
}

void fz_git_start(struct fz_git *g, const char *folder)
{
	/* A repository may name programs to run for fsmonitor; and its index is not ours to write.
	 */
	char *argv[] = { (char *)"git",
			 (char *)"--no-optional-locks",
			 (char *)"-c",
			 (char *)"core.fsmonitor=false",
			 (char *)"-C",
			 (char *)folder,
			 (char *)"status",
			 (char *)"--porcelain=v2",
			 (char *)"--branch",
			 (char *)"--untracked-files=no",
			 (char *)"--ignore-submodules",
			 NULL };
	int out[2];

	*g = (struct fz_git){ .out = -1 };
	if (!in_checkout(folder) || pipe2(out, O_CLOEXEC))
		return;
	if (spawn_git(argv, out[1], &g->pid) == 0) {
		g->out = out[0];
	} else {
		g->pid = 0;
		close(out[0]);
	}
	close(out[1]);
}

static void read_answer(struct fz_git *g, struct fz_buf *b)
{
	struct pollfd fd = { .fd = g->out, .events = POLLIN };

	while (poll(&fd, 1, GIT_PATIENCE_MS) > 0) {
		char *room = fz_buf_reserve(b, 4096);
		ssize_t n = room ? read(g->out, room, 4096) : 0;
		if (n <= 0)
			break;
		b->n += (size_t)n;
		room[n] = 0;
	}
}

static void set_line(struct fz_profile *p, const char *key, const char *text, const char *prefix)
{
	const char *at = strstr(text, prefix);

	if (!at)
		return;
	at += strlen(prefix);
	struct fz_str value = { at, strcspn(at, "\n") };
	if (value.n && value.p[0] != '(')
		fz_profile_set_fact(p, key, value);
}

void fz_git_finish(struct fz_git *g, struct fz_profile *p)
{
	fz_auto(fz_buf_release) struct fz_buf b = { .limit = GIT_ANSWER_MAX };
	int status = 1;

	if (!g->pid)
		return;
	/* Now that somebody waits for it: at idle priority a busy machine would never let it end.
	 */
	sched_setscheduler(g->pid, SCHED_OTHER, &(struct sched_param){ 0 });
	read_answer(g, &b);
	kill(g->pid, SIGKILL); /* it has closed its output, or is too slow */
	while (waitpid(g->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(g->out);
	*g = (struct fz_git){ .out = -1 };
	if (!b.p || !strstr(b.p, "# branch.oid "))
		return;
	set_line(p, "git.commit", b.p, "# branch.oid ");
	set_line(p, "git.branch", b.p, "# branch.head ");
	bool dirty = false;
	for (const char *line = b.p; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		dirty |= *line && *line != '#';
	}
	fz_profile_set_fact(p, "git.dirty", dirty ? FZ_STR("yes") : FZ_STR("no"));
}

void fz_git_poll(struct fz_git *g, struct fz_profile *p)
{
	struct pollfd fd = { .fd = g->out, .events = POLLIN };

	if (g->pid && poll(&fd, 1, 0) > 0 && fd.revents & POLLHUP)
		fz_git_finish(g, p);
}
