/* SPDX-License-Identifier: MIT */
/* Cleaning up after ourselves; see caretaker.h.
 *
 *   we --pipe--> caretaker          "d": it exits; end of file: it cleans up first
 *      \-- shared page: pid of the running program
 *
 * It has its own session and inherits only the pipe and the lock of the scratch folder, so no other
 * process cleans up that folder meanwhile. Our forks hold the pipe, too, so it waits until they
 * have ended their programs.
 */
#include "record/caretaker.h"

#include "base/io.h"
#include "record/procstat.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TREE_MAX = 4096, FILES_MAX = 1024 };

static volatile pid_t *minded; /* in a page that both processes share */

void fz_caretaker_mind(pid_t program)
{
	if (minded)
		*minded = program;
}

/* ---- the other process ---- */

/* Kill the program and all its descendants. Stop them first so that they start nothing new. */
static void kill_tree(pid_t program)
{
	static pid_t tree[TREE_MAX];
	size_t n = 0;

	tree[n++] = program;
	for (size_t i = 0; i < n; i++) {
		kill(tree[i], SIGSTOP);
		/* Only children of the first thread, which is nearly always the one that forks. */
		n += fz_procstat_children(tree[i], tree[i], tree + n, TREE_MAX - n);
	}
	while (n)
		kill(tree[--n], SIGKILL);
}

/* A reader of our output must not wait for this process. */
static void close_all_but(int line, int lock)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < FILES_MAX; fd++)
		if (fd <= STDERR_FILENO)
			dup2(null, fd);
		else if (fd != line && fd != lock)
			close(fd);
}

_Noreturn static void take_care(int line, const struct fz_scratch *s)
{
	sigset_t all;
	char done;
	ssize_t n;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	close_all_but(line, s->lock);
	while ((n = read(line, &done, 1)) < 0 && errno == EINTR)
		;
	if (n == 0) {
		if (*minded > 0)
			kill_tree(*minded);
		fz_scratch_clear(s->path);
	}
	_exit(0);
}

/* ---- ours ---- */

int fz_caretaker_start(struct fz_caretaker *c, const struct fz_scratch *s, struct fz_error *err)
{
	int line[2];
	void *page = mmap(NULL, sizeof(*minded), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);

	if (page == MAP_FAILED)
		return fz_fail_errno(err, "mmap");
	if (pipe2(line, O_CLOEXEC)) {
		munmap(page, sizeof(*minded));
		return fz_fail_errno(err, "pipe");
	}
	minded = page;
	c->pid = fork();
	if (c->pid == 0) {
		close(line[1]);
		take_care(line[0], s);
	}
	close(line[0]);
	c->line = line[1];
	if (c->pid > 0)
		return 0;
	int rc = fz_fail_errno(err, "fork");
	c->pid = 0;
	fz_caretaker_stop(c);
	return rc;
}

void fz_caretaker_stop(struct fz_caretaker *c)
{
	if (c->pid > 0 && fz_write_full(c->line, "d", 1))
		while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
			;
	fz_close_fd(&c->line);
	if (minded)
		munmap((void *)minded, sizeof(*minded));
	minded = NULL;
	*c = FZ_CARETAKER_NONE;
}
