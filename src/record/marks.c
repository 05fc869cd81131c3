/* SPDX-License-Identifier: MIT */
/* Timing marked parts by seccomp's user notifications; see marks.h.
 *
 *   program: access("/.fizeau/start/a") -> stops -> [we read the path, note the time] -> runs ...
 *
 * The filter applies to the process and everything it starts. It notifies us of every system call
 * that may be a mark, since it cannot read paths itself. We read the path and always let the call
 * continue, so the program gets the kernel's answer.
 */
#include "record/marks.h"
#include "record/caretaker.h"

#include "base/clock.h"
#include "base/io.h"
#include "record/speed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char magic[] = "/.fizeau/";
enum { PATH_ROOM = 512, MARKS_MAX = 100000, VISITS_MAX = 1 << 20 };

/* System calls that may be marks, and the argument that is the path. */
static const struct {
	int number, argument;
} calls[] = {
#ifdef SYS_access
	{ SYS_access, 0 },     { SYS_stat, 0 },   { SYS_lstat, 0 },      { SYS_open, 0 },
#endif
	{ SYS_faccessat, 1 },  { SYS_openat, 1 }, { SYS_newfstatat, 1 }, { SYS_statx, 1 },
#ifdef SYS_faccessat2
	{ SYS_faccessat2, 1 },
#endif
};

/* In programs of another architecture (32-bit) the numbers mean other calls. */
#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Since Linux 6.6; not in older headers. */
#define NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define NOTIF_SYNC_WAKE_UP 1ul

/* ---- in the child, before exec ---- */

/* Returns the filter's descriptor, or -1. */
static int install_filter(void)
{
	enum { N = FZ_ARRAY_LEN(calls), HEAD = 3, LET = HEAD + N, ASK, END };
	struct sock_filter filter[END];
	struct sock_fprog program = { .len = END, .filter = filter };

	filter[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	filter[1] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, LET - 2);
	filter[2] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < N; i++)
		filter[HEAD + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i].number, (uint8_t)(N - i), 0);
	filter[LET] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[ASK] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

static bool send_fd(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &m, 0) == 1;
}

static int receive_fd(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Exit statuses of a child that failed before exec. */
enum { NO_FILTER = 126, NO_PROGRAM = 127 };

_Noreturn static void become(char *const argv[], const struct fz_launch_place *place,
			     const sigset_t *mask, int socket)
{
	sigprocmask(SIG_SETMASK, mask, NULL);
	fz_caretaker_mind(getpid());
	setpgid(0, 0);
	if (place->folder && chdir(place->folder))
		_exit(NO_PROGRAM);
	if (place->output >= 0)
		dup2(place->output, STDOUT_FILENO);
	if (place->errors >= 0)
		dup2(place->errors, STDERR_FILENO);
	if (place->no_input) {
		int null = open("/dev/null", O_RDONLY);
		dup2(null, STDIN_FILENO);
	}
	int fd = install_filter();
	if (fd < 0 || !send_fd(socket, fd))
		_exit(NO_FILTER);
	close(fd);
	execvpe(argv[0], argv, fz_launch_environ(place));
	_exit(NO_PROGRAM);
}

/* ---- watching ---- */

static struct fz_mark *mark_of(struct fz_marks *m, struct fz_str name)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (fz_str_eq(m->list[i].name, name))
			return &m->list[i];
	if (m->n >= MARKS_MAX)
		return NULL;
	fz_grow(m->list, m->n, m->cap);
	m->list[m->n] =
		(struct fz_mark){ .name = { fz_arena_strndup(&m->arena, name.p, name.n), name.n } };
	return &m->list[m->n++];
}

/* Read the path argument of a notification; false if it is not a mark. */
static bool read_path(const struct seccomp_notif *n, char out[PATH_ROOM])
{
	size_t got = 0;

	for (size_t i = 0; i < FZ_ARRAY_LEN(calls); i++) {
		if (calls[i].number != n->data.nr)
			continue;
		char *at = (char *)(uintptr_t)n->data.args[calls[i].argument];
		/* Read up to the end of the page first: the next one may not be mapped. */
		size_t first = FZ_MIN(4096 - ((uintptr_t)at & 4095), (size_t)PATH_ROOM - 1);
		struct iovec to = { out, first }, from = { at, first };
		ssize_t k = process_vm_readv((pid_t)n->pid, &to, 1, &from, 1, 0);
		got = k > 0 ? (size_t)k : 0;
		if (got == first && first < PATH_ROOM - 1 && !memchr(out, 0, got)) {
			to = (struct iovec){ out + got, PATH_ROOM - 1 - got };
			from = (struct iovec){ at + got, PATH_ROOM - 1 - got };
			k = process_vm_readv((pid_t)n->pid, &to, 1, &from, 1, 0);
			got += k > 0 ? (size_t)k : 0;
		}
		break;
	}
	out[got] = '\0';
	return strncmp(out, magic, strlen(magic)) == 0;
}

/* If a part is entered very often, the first visits suffice. */
static void add_visit(struct fz_marks *m, uint32_t mark, int64_t from, int64_t to)
{
	if (m->visit_n >= VISITS_MAX)
		return;
	fz_push(m->visits, m->visit_n, m->visit_cap, (struct fz_mark_visit){ mark, from, to });
}

static void note(struct fz_marks *m, const char *what, int64_t at)
{
	bool start = strncmp(what, "start/", 6) == 0;

	if (!start && strncmp(what, "stop/", 5) != 0)
		return;
	struct fz_mark *mark = mark_of(m, fz_str_of(strchr(what, '/') + 1));
	if (!mark)
		return;
	if (start) {
		mark->open = at;
	} else if (mark->open) {
		mark->ns += at - mark->open;
		mark->n++;
		add_visit(m, (uint32_t)(mark - m->list), mark->open, at);
		mark->open = 0;
	}
}

static void answer(struct fz_marks *m, int listener)
{
	struct seccomp_notif question = { 0 };
	char path[PATH_ROOM];

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question))
		return;
	int64_t at = fz_clock_now();
	struct seccomp_notif_resp go_on = { .id = question.id,
					    .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	bool is_mark = read_path(&question, path);
	if (is_mark && strncmp(path + strlen(magic), "start/", 6) == 0) {
		note(m, path + strlen(magic), fz_clock_now());
		is_mark = false;
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &go_on);
	if (is_mark)
		note(m, path + strlen(magic), at);
}

/* Answer notifications until the program ends, its time is up or a signal arrives. */
static void watch(struct fz_marks *m, const struct fz_child *child, int listener,
		  const sigset_t *ending, double seconds)
{
	fz_auto(fz_close_fd) int signals = signalfd(-1, ending, SFD_CLOEXEC | SFD_NONBLOCK);
	struct pollfd fds[] = { { .fd = listener, .events = POLLIN },
				{ .fd = child->pidfd, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };
	int64_t end = fz_clock_now() + (int64_t)(seconds * FZ_SECOND);

	for (;;) {
		int64_t left = seconds > 0 ? fz_clock_left(end) / FZ_MS : -1;
		int n = poll(fds, FZ_ARRAY_LEN(fds), (int)FZ_MIN(left, 1000000));
		if (n > 0 && fds[0].revents & POLLIN)
			answer(m, listener);
		else if (n > 0 && fds[0].revents)
			fds[0].fd = -1; /* no process has the filter any more */
		if (n > 0 && fds[1].revents)
			return;
		m->timed_out = n == 0 && seconds > 0 && fz_clock_now() >= end;
		m->stopped = n > 0 && fds[2].revents;
		if (m->timed_out || m->stopped)
			return;
	}
}

static int start(char *const argv[], const struct fz_launch_place *place, const sigset_t *mask,
		 struct fz_child *child, int *ret_listener, struct fz_error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return fz_fail_errno(err, "socketpair");
	child->pid = fork();
	if (child->pid == 0)
		become(argv, place, mask, pair[1]);
	close(pair[1]);
	*ret_listener = child->pid > 0 ? receive_fd(pair[0]) : -1;
	close(pair[0]);
	if (child->pid < 0)
		return fz_fail_errno(err, "fork");
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	if (*ret_listener >= 0 && child->pidfd >= 0)
		return 0;
	kill(child->pid, SIGKILL);
	fz_launch_wait(child);
	return fz_fail(err, FZ_EUNSUPPORTED, "seccomp prevents detecting when benchmarks start");
}

/* Compute the work done in each part; by its share of the time if not every visit was kept. */
static void work_out(struct fz_marks *m, const struct fz_speed_watch *w, int64_t begin)
{
	double whole = fz_speed_watch_cost(w, begin, begin + m->whole_ns);

	if (whole <= 0)
		return;
	m->whole_work = (double)m->whole_ns / whole;
	for (size_t i = 0; i < m->visit_n; i++) {
		const struct fz_mark_visit *v = &m->visits[i];

		m->list[v->mark].work +=
			(double)(v->to - v->from) / fz_speed_watch_cost(w, v->from, v->to);
	}
	for (uint32_t i = 0; m->visit_n == VISITS_MAX && i < m->n; i++)
		m->list[i].work = (double)m->list[i].ns / whole;
}

int fz_marks_run(struct fz_marks *m, char *const argv[], const struct fz_launch_place *place,
		 const sigset_t *mask, const sigset_t *ending, double seconds, struct fz_error *err)
{
	struct fz_child child = { .pidfd = -1 };
	fz_auto(fz_close_fd) int listener = -1;
	int64_t begin = fz_clock_now();

	*m = (struct fz_marks){ 0 };
	int rc = start(argv, place, mask, &child, &listener, err);
	if (rc) {
		fz_launch_release(&child);
		return rc;
	}
	/* Switch to us and back on the same processor, without delay; not in older kernels. */
	ioctl(listener, NOTIF_SET_FLAGS, NOTIF_SYNC_WAKE_UP);
	fz_auto(fz_speed_watch_freep) struct fz_speed_watch *speed =
		fz_speed_watch_start(child.pid);
	watch(m, &child, listener, ending, seconds);
	m->whole_ns = fz_clock_now() - begin;
	fz_speed_watch_stop(speed);
	work_out(m, speed, begin);
	/* Also kill processes that it left behind, because without us they would wait forever. */
	kill(-child.pid, SIGKILL);
	fz_launch_wait(&child);
	fz_launch_release(&child);
	m->status = child.status;
	return 0;
}

void fz_marks_release(struct fz_marks *m)
{
	fz_arena_release(&m->arena);
	free(m->list);
	free(m->visits);
	*m = (struct fz_marks){ 0 };
}
