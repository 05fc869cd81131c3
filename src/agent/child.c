/* SPDX-License-Identifier: MIT */
/* Runs one command as another user; see child.h. The folder is entered before privileges are
 * dropped, because that user may not be allowed to traverse the whole path. */
#include "agent/child.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include "base/clock.h"

enum { PATIENCE_MS = 10000, ANSWER_MAX = 1 << 20 };

static bool become_user(uid_t user, gid_t group)
{
	if (geteuid() != 0 || user == 0)
		return true;
	return setgroups(0, NULL) == 0 && setresgid(group, group, group) == 0 &&
	       setresuid(user, user, user) == 0;
}

_Noreturn static void be_child(const struct fz_agent_question *q, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	setpgid(0, 0);
	sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 });
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    (q->folder && chdir(q->folder)) || !become_user(q->user, q->group))
		_exit(127);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* It must not have our files, such as the connection to the server. */
	close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	/* It must not read our configuration. */
	setenv("HOME", "/nonexistent", 1);
	unsetenv("XDG_CONFIG_HOME");
	q->become(q->arg, out);
	_exit(127);
}

/* False if it took too long, or printed too much. */
static bool read_answer(int fd, struct fz_buf *ret)
{
	int64_t until = fz_clock_now() + PATIENCE_MS * FZ_MS;

	for (char *room; (room = fz_buf_reserve(ret, 4096));) {
		int64_t left = (until - fz_clock_now()) / FZ_MS;
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (left <= 0 || (poll(&p, 1, (int)left) == 0))
			return false;
		ssize_t n = read(fd, room, 4096);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		ret->n += (size_t)n;
		room[n] = 0;
	}
	return false;
}

bool fz_agent_run_child(const struct fz_agent_question *q, struct fz_buf *ret)
{
	int out[2], status = 1;

	ret->limit = ret->n + ANSWER_MAX;
	if (pipe2(out, O_CLOEXEC))
		return false;
	pid_t pid = fork();
	if (pid == 0)
		be_child(q, out[1]);
	close(out[1]);
	if (pid < 0) {
		close(out[0]);
		return false;
	}
	setpgid(pid, pid);
	bool whole = read_answer(out[0], ret);
	close(out[0]);
	if (!whole)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return whole && status == 0;
}
