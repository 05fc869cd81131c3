/* SPDX-License-Identifier: MIT */
/* Queries git about the checkout once, in the background.
 *
 * git runs at idle priority from the start of the command, so that it does not delay the command,
 * and a commit made while the command runs is not mistaken for the one that ran. One "git status"
 * is enough.
 */
#include "git/facts.h"

#include "base/buf.h"
#include "base/checkout.h"
#include "git/command.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GIT_ANSWER_MAX = 1 << 20, GIT_PATIENCE_MS = 2000 };

/* Runs git in its own process group, so that it can be killed with its children. */
_Noreturn static void be_git(const char *folder, int out)
{
	static const char *const words[] = { "status",
					     "--porcelain=v2",
					     "--branch",
					     "--untracked-files=no",
					     "--ignore-submodules",
					     NULL };
	struct sched_param param = { 0 };
	sigset_t none;

	setpgid(0, 0);
	sched_setscheduler(0, SCHED_IDLE, &param);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	int silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fz_git_call_become(&(struct fz_git_call){ FZ_GIT_ASKS_TREE, folder, words, out, silence });
}

void fz_git_start(struct fz_git *g, const char *folder)
{
	int out[2];

	*g = (struct fz_git){ .out = -1 };
	if (fz_checkout_length(folder) == FZ_NO_CHECKOUT || pipe2(out, O_CLOEXEC))
		return;
	pid_t pid = fork();
	if (pid == 0)
		be_git(folder, out[1]);
	if (pid > 0) {
		setpgid(pid, pid);
		g->pid = pid;
		g->out = out[0];
	} else {
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
	/* Now we wait for git, which at idle priority might never finish on a busy machine. */
	sched_setscheduler(g->pid, SCHED_OTHER, &(struct sched_param){ 0 });
	read_answer(g, &b);
	kill(-g->pid, SIGKILL); /* its output is closed, or it is too slow */
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
