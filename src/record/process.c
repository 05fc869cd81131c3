/* SPDX-License-Identifier: MIT */
/* Everything about another process comes from three places: process_vm_readv for its memory
 * (/proc/PID/mem where a kernel or a container refuses that), text files in /proc, and a pidfd,
 * the only handle that never comes to refer to another process.
 *
 * Memory is copied without stopping the process or writing to it. A copy ends before the first part
 * that is not mapped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/io.h"
#include "process.h"

#include "procstat.h"

enum {
	PROC_TEXT_MAX = 64 << 10,
	MAPS_TEXT_MAX = 64 << 20,
	THREADS_MAX = 1 << 20,
	PATH_SIZE = 64,
	START_SIZE = 4096, /* of a mapped file, compared to recognise it */
	START_MIN = 64,    /* an ELF header */
};

static bool is_over(char state)
{
	return state == 0 || state == 'Z' || state == 'X';
}

static void proc_path(char out[PATH_SIZE], pid_t pid, const char *name)
{
	snprintf(out, PATH_SIZE, "/proc/%d/%s", (int)pid, name);
}

/* ---- identity ---- */

static bool read_image(const struct fz_process *p, struct fz_process_image *ret)
{
	char path[PATH_SIZE];
	struct fz_procstat now;
	struct stat st;

	if (!fz_procstat_read_fd(p->stat_fd, &now))
		return false;
	ret->start_time = now.start_time;
	pid_t live = is_over(now.state) ? fz_process_live(p->pid) : p->pid;
	if (live != p->pid && !fz_procstat_read(live, 0, &now))
		return false;
	ret->start_stack = now.start_stack;
	proc_path(path, live, "exe");
	if (stat(path, &st) == 0) {
		ret->device = st.st_dev;
		ret->inode = st.st_ino;
	}
	return true;
}

bool fz_process_same_image(const struct fz_process *p)
{
	struct fz_process_image now = { 0 };

	return read_image(p, &now) && now.device == p->image.device &&
	       now.inode == p->image.inode && now.start_stack == p->image.start_stack &&
	       now.start_time == p->image.start_time;
}

/* Last number of the line "KEY:\t1 2 3" in a /proc status file. */
static bool status_last(const char *text, const char *key, uint64_t *ret)
{
	const char *line = strstr(text, key);

	if (!line)
		return false;
	/* The key starts with the newline of the previous line. */
	const char *end = line + 1 + strcspn(line + 1, "\n");
	const char *p = end;
	while (p > line && p[-1] >= '0' && p[-1] <= '9')
		p--;
	return fz_parse_u64((struct fz_str){ p, (size_t)(end - p) }, INT32_MAX, ret);
}

static pid_t inner_id(const char *status_path, pid_t outer)
{
	fz_auto(fz_free_ptr) char *text = fz_read_small(status_path, PROC_TEXT_MAX, NULL);
	uint64_t id;

	return text && status_last(text, "\nNSpid:", &id) ? (pid_t)id : outer;
}

/* The error for a process without a folder in /proc: it is gone, it is hidden from us (hidepid), or
 * /proc is not mounted. */
static int not_in_proc(pid_t pid, struct fz_error *err)
{
	if (access("/proc/self/stat", F_OK))
		return fz_fail(err, FZ_EPERM,
			       "process %d: /proc is not mounted; mount it with 'mount -t proc "
			       "proc /proc'",
			       (int)pid);
	if (kill(pid, 0) == 0 || errno == EPERM)
		return fz_fail(err, FZ_EPERM,
			       "process %d: hidden in /proc (mounted with hidepid) because it "
			       "belongs to another user; run fizeau with sudo",
			       (int)pid);
	return fz_fail(err, FZ_EGONE, "process %d: no such process", (int)pid);
}

/* Do the numbers in /proc belong to another PID namespace, so that they mean other processes? */
static bool is_proc_foreign(void)
{
	char self[PATH_SIZE];
	ssize_t n = readlink("/proc/self", self, sizeof(self));
	struct stat there;
	uint64_t pid;

	/* It leads nowhere: we have no number in that namespace. */
	if (n < 0 && errno == ENOENT && lstat("/proc/self", &there) == 0)
		return true;
	return n > 0 && fz_parse_u64((struct fz_str){ self, (size_t)n }, INT32_MAX, &pid) &&
	       (pid_t)pid != getpid();
}

int fz_process_open(struct fz_process *p, pid_t pid, struct fz_error *err)
{
	char path[PATH_SIZE];

	*p = (struct fz_process){ .pid = pid, .pidfd = -1, .stat_fd = -1, .mem_fd = -1 };
	if (pid <= 0)
		return fz_fail(err, FZ_EGONE, "process %d: no such process", (int)pid);
	if (is_proc_foreign())
		return fz_fail(err, FZ_EPERM,
			       "process %d: /proc belongs to another PID namespace; mount it "
			       "again, as unshare --mount-proc does",
			       (int)pid);
	p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p->pidfd < 0 && errno == ESRCH)
		return fz_fail(err, FZ_EGONE, "process %d: no such process", (int)pid);
	proc_path(path, pid, "stat");
	p->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (p->stat_fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		int rc = fz_fail_errno(err, "process %d", (int)pid);
		fz_process_release(p);
		return rc;
	}
	if (p->stat_fd < 0) {
		fz_process_release(p);
		return not_in_proc(pid, err);
	}
	if (!read_image(p, &p->image)) {
		fz_process_release(p);
		return fz_fail(err, FZ_EGONE, "process %d: no such process", (int)pid);
	}
	proc_path(path, pid, "status");
	p->inner_pid = inner_id(path, pid);
	return 0;
}

void fz_process_release(struct fz_process *p)
{
	fz_close_fd(&p->pidfd);
	fz_close_fd(&p->stat_fd);
	fz_close_fd(&p->mem_fd);
}

bool fz_process_alive(const struct fz_process *p)
{
	struct fz_procstat now;

	if (p->pidfd >= 0) {
		struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };
		return poll(&fd, 1, 0) == 0;
	}
	return fz_procstat_read_fd(p->stat_fd, &now) && now.start_time == p->image.start_time;
}

bool fz_process_link(const struct fz_process *p, const char *name, char *out, size_t size)
{
	char path[PATH_SIZE];

	proc_path(path, fz_process_live(p->pid), name);
	ssize_t n = readlink(path, out, size - 1);
	if (n < 0)
		return false;
	out[n] = '\0';
	return true;
}

/* ---- memory ---- */

/* fz_process_read_parts through /proc/PID/mem. */
static ssize_t read_parts_mem(struct fz_process *p, const struct iovec *parts, size_t n, char *out)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		ssize_t k = pread(p->mem_fd, out + done, parts[i].iov_len,
				  (off_t)(uintptr_t)parts[i].iov_base);
		if (k > 0)
			done += (size_t)k;
		if (k < (ssize_t)parts[i].iov_len) {
			if (done)
				break;
			/* The kernel returns EIO for unmapped memory, 0 for a dead process. */
			errno = k == 0 ? ESRCH : errno == EIO ? EFAULT : errno;
			return -1;
		}
	}
	return (ssize_t)done;
}

static bool open_mem(struct fz_process *p)
{
	char path[PATH_SIZE];

	proc_path(path, fz_process_live(p->pid), "mem");
	p->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	return p->mem_fd >= 0;
}

ssize_t fz_process_read_parts(struct fz_process *p, const struct iovec *parts, size_t n, void *out,
			      size_t total)
{
	struct iovec local = { out, total };

	fz_assert(n <= FZ_PROCESS_PARTS_MAX);
	p->calls++;
	if (p->copy)
		return p->copy(p->copy_arg, parts, n, out, total);
	if (p->mem_fd >= 0)
		return read_parts_mem(p, parts, n, out);
	ssize_t k = process_vm_readv(p->pid, &local, 1, parts, n, 0);
	/* Read the file if only this call is refused, by an old kernel or a container, or if the
	 * main thread has ended: the file shows the memory, whichever thread it was opened for. */
	int code = errno;
	if (k < 0 && (code == ENOSYS || code == EPERM || code == ESRCH) && open_mem(p))
		return read_parts_mem(p, parts, n, out);
	errno = code;
	return k;
}

bool fz_process_read(struct fz_process *p, uint64_t address, void *out, size_t n)
{
	struct iovec part = { (void *)(uintptr_t)address, n };
	ssize_t k = fz_process_read_parts(p, &part, 1, out, n);

	if (k == (ssize_t)n)
		return true;
	if (k >= 0)
		errno = EFAULT;
	return false;
}

bool fz_process_read_u64(struct fz_process *p, uint64_t address, uint64_t *ret)
{
	return fz_process_read(p, address, ret, sizeof(*ret));
}

/* ---- maps ---- */

/* "lo-hi perms offset maj:min inode   path" */
static bool parse_mapping(char *line, struct fz_mapping *ret)
{
	char perms[5];
	int path = 0;

	*ret = (struct fz_mapping){ 0 };
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &ret->start, &ret->end, perms, &ret->offset, &ret->dev_major, &ret->dev_minor,
		   &ret->inode, &path) < 7 ||
	    path == 0)
		return false;
	ret->readable = perms[0] == 'r';
	ret->writable = perms[1] == 'w';
	ret->executable = perms[2] == 'x';
	struct fz_str text = fz_str_of(line + path);
	if (fz_str_ends(text, " (deleted)")) {
		ret->deleted = true;
		line[path + text.n - strlen(" (deleted)")] = '\0';
	}
	ret->path = line + path;
	return true;
}

int fz_process_maps(const struct fz_process *p, struct fz_mappings *ret, struct fz_error *err)
{
	char path[PATH_SIZE];
	struct fz_mappings m = { 0 };
	struct fz_mapping mapping;

	proc_path(path, fz_process_live(p->pid), "maps");
	m.text = fz_read_small(path, MAPS_TEXT_MAX, NULL);
	if (!m.text)
		return fz_process_trouble(p, errno, err);
	for (char *line = m.text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!parse_mapping(line, &mapping))
			continue;
		fz_push(m.list, m.n, m.cap, mapping);
	}
	*ret = m;
	return 0;
}

static int open_file(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int fz_process_open_executable(pid_t pid)
{
	char path[PATH_SIZE];

	proc_path(path, fz_process_live(pid), "exe");
	return open_file(path);
}

/* Open a file if it begins as the mapping does. The start of an ELF file contains the build id, or
 * at least the sizes of all segments. */
static int open_if_mapped(struct fz_process *p, const struct fz_mapping *m, const char *path)
{
	uint8_t file[START_SIZE], memory[START_SIZE];
	fz_auto(fz_close_fd) int fd = open_file(path);
	ssize_t n = fd < 0 ? -1 : pread(fd, file, sizeof(file), 0);

	if (n < START_MIN || !fz_process_read(p, m->start, memory, (size_t)n) ||
	    memcmp(file, memory, (size_t)n) != 0)
		return -1;
	return fz_steal_fd(&fd);
}

int fz_process_open_mapped(struct fz_process *p, const struct fz_mapping *m)
{
	int live = (int)fz_process_live(p->pid);
	char path[4200];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, live, m->start,
		 m->end);
	int fd = open_file(path);
	/* The path of a deleted file may now be another file's, even one with the same start. */
	if (fd < 0 && !m->deleted) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", live, m->path);
		fd = open_if_mapped(p, m, path);
	}
	if (fd < 0 && !m->deleted)
		fd = open_if_mapped(p, m, m->path);
	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/exe", live);
		fd = open_if_mapped(p, m, path);
	}
	return fd;
}

void fz_mappings_release(struct fz_mappings *m)
{
	free(m->list);
	free(m->text);
	*m = (struct fz_mappings){ 0 };
}

/* ---- threads ---- */

int fz_process_threads(const struct fz_process *p, struct fz_process_threads *ret,
		       struct fz_error *err)
{
	struct fz_process_threads t = { 0 };
	char path[PATH_SIZE];
	struct dirent *entry;
	uint64_t tid;

	proc_path(path, p->pid, "task");
	DIR *dir = opendir(path);
	if (!dir)
		return fz_process_trouble(p, errno, err);
	bool same_namespace = p->inner_pid == p->pid;
	while (t.n < THREADS_MAX && (entry = readdir(dir))) {
		if (!fz_parse_u64(fz_str_of(entry->d_name), INT32_MAX, &tid))
			continue;
		if ((pid_t)tid == p->pid && is_over(fz_process_thread_state(p->pid, p->pid)))
			continue;
		struct fz_process_thread thread = { (pid_t)tid, (pid_t)tid };
		if (!same_namespace) {
			snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)p->pid,
				 (int)tid);
			thread.inner_tid = inner_id(path, (pid_t)tid);
		}
		fz_push(t.list, t.n, t.cap, thread);
	}
	closedir(dir);
	*ret = t;
	return 0;
}

void fz_process_threads_release(struct fz_process_threads *t)
{
	free(t->list);
	*t = (struct fz_process_threads){ 0 };
}

bool fz_process_thread_name(const struct fz_process *p, pid_t tid, char *out, size_t size)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)p->pid, (int)tid);
	fz_auto(fz_close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
	if (n <= 0)
		return false;
	if (out[n - 1] == '\n')
		n--;
	out[n] = '\0';
	return true;
}

pid_t fz_process_live(pid_t pid)
{
	fz_auto(fz_process_threads_release) struct fz_process_threads threads = { 0 };
	struct fz_process process = { .pid = pid, .inner_pid = pid, .pidfd = -1, .stat_fd = -1 };

	if (!is_over(fz_process_thread_state(pid, pid)) ||
	    fz_process_threads(&process, &threads, NULL))
		return pid;
	for (size_t i = 0; i < threads.n; i++)
		if (!is_over(fz_process_thread_state(pid, threads.list[i].tid)))
			return threads.list[i].tid;
	return pid;
}

int fz_process_check_started(const struct fz_process *p, struct fz_error *err)
{
	struct fz_procstat now;

	if (!fz_procstat_read_fd(p->stat_fd, &now) || !now.parent ||
	    syscall(SYS_kcmp, p->pid, fz_process_live(now.parent), KCMP_VM, 0, 0) != 0)
		return 0;
	return fz_fail(err, FZ_EAGAIN,
		       "process %d has not started its program yet: it is between vfork and exec",
		       (int)p->pid);
}

char fz_process_thread_state(pid_t pid, pid_t tid)
{
	struct fz_procstat now;

	return fz_procstat_read(pid, tid, &now) ? now.state : 0;
}

/* ---- errors and their remedies ---- */

static bool status_number(const char *status, const char *key, unsigned base, uint64_t *ret)
{
	const char *line = strstr(status, key);
	char *end;

	if (!line)
		return false;
	line += strlen(key);
	*ret = strtoull(line, &end, (int)base);
	return end != line;
}

pid_t fz_process_tracer(pid_t pid)
{
	char path[PATH_SIZE];
	uint64_t tracer = 0;

	proc_path(path, pid, "status");
	fz_auto(fz_free_ptr) char *status = fz_read_small(path, PROC_TEXT_MAX, NULL);
	if (status)
		status_number(status, "\nTracerPid:", 10, &tracer);
	return (pid_t)tracer;
}

static int ptrace_scope(void)
{
	fz_auto(fz_free_ptr) char *text =
		fz_read_small("/proc/sys/kernel/yama/ptrace_scope", 64, NULL);

	return text ? (int)strtol(text, NULL, 10) : 0;
}

static bool have_ptrace_capability(void)
{
	enum { CAP_SYS_PTRACE_BIT = 19 };
	fz_auto(fz_free_ptr) char *own = fz_read_small("/proc/self/status", PROC_TEXT_MAX, NULL);
	uint64_t caps = 0;

	return own && status_number(own, "\nCapEff:", 16, &caps) &&
	       (caps >> CAP_SYS_PTRACE_BIT & 1);
}

static bool in_container(void)
{
	return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

int fz_process_no_pidfd(struct fz_error *err)
{
	return fz_fail(err, FZ_EUNSUPPORTED,
		       "pidfd_open failed (%s); it requires Linux 5.3, and in a container a "
		       "seccomp profile that allows it",
		       strerror(errno));
}

int fz_process_denied(const struct fz_process *p, struct fz_error *err)
{
	char path[PATH_SIZE];
	uint64_t uid = 0;
	int pid = (int)p->pid;

	proc_path(path, p->pid, "status");
	fz_auto(fz_free_ptr) char *status = fz_read_small(path, PROC_TEXT_MAX, NULL);
	if (status)
		status_number(status, "\nUid:", 10, &uid);
	if (in_container() && geteuid() == 0 && !have_ptrace_capability())
		return fz_fail(err, FZ_EPERM,
			       "process %d: not allowed to read its memory: this container lacks a "
			       "capability; start it with --cap-add=SYS_PTRACE",
			       pid);
	int scope = ptrace_scope();
	if (geteuid() == 0 && scope != 3)
		return fz_fail(
			err, FZ_EPERM,
			"process %d: not allowed to read its memory, even as root: %s", pid,
			have_ptrace_capability()
				? "a security module or another user namespace forbids it; run "
				  "fizeau inside the target's container"
				: "CAP_SYS_PTRACE is missing; grant it to this process");
	if (uid != geteuid() && scope != 3)
		return fz_fail(err, FZ_EPERM,
			       "process %d: not allowed to read its memory: it belongs to user "
			       "%u; run fizeau with sudo",
			       pid, (unsigned)uid);
	if (scope == 1)
		return fz_fail(
			err, FZ_EPERM,
			"process %d: not allowed to read its memory: kernel.yama.ptrace_scope "
			"is 1 (only child processes); start the program with fizeau run, or: "
			"sudo sysctl kernel.yama.ptrace_scope=0",
			pid);
	if (scope == 2)
		return fz_fail(
			err, FZ_EPERM,
			"process %d: not allowed to read its memory: kernel.yama.ptrace_scope "
			"is 2 (only root); run fizeau with sudo",
			pid);
	if (scope == 3)
		return fz_fail(
			err, FZ_EPERM,
			"process %d: not allowed to read its memory: kernel.yama.ptrace_scope "
			"is 3 (nobody); it can only be changed at boot",
			pid);
	return fz_fail(err, FZ_EPERM,
		       "process %d: not allowed to read its memory: it is not dumpable (set-uid, "
		       "or it holds capabilities); run fizeau with sudo",
		       pid);
}

int fz_process_trouble(const struct fz_process *p, int code, struct fz_error *err)
{
	if (code == ESRCH || code == ENOENT || !fz_process_alive(p))
		return fz_fail(err, FZ_EGONE, "process %d has ended", (int)p->pid);
	if (code == EPERM || code == EACCES)
		return fz_process_denied(p, err);
	errno = code;
	return fz_fail_errno(err, "process %d: cannot read its memory", (int)p->pid);
}
