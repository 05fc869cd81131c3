/* SPDX-License-Identifier: MIT */
/* Another process: its memory, maps, threads and identity. Read-only. */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include "base/base.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

/* Identifies the program in a process. It changes on exec, after which memory that looks valid may
 * belong to another program. */
struct fz_process_image {
	uint64_t device, inode; /* of the executable */
	uint64_t start_stack;   /* moved by address randomisation */
	uint64_t start_time;    /* of the process, in clock ticks: distinguishes reused pids */
};

struct fz_process {
	pid_t pid;
	pid_t inner_pid; /* its pid in its own pid namespace */
	int pidfd;       /* -1 where the kernel has none */
	int stat_fd;     /* /proc/PID/stat */
	int mem_fd;      /* /proc/PID/mem, if process_vm_readv is refused; else -1 */
	struct fz_process_image image;
	uint64_t calls; /* read calls made, for statistics */
	/* If not NULL, replaces the kernel's call in fz_process_read_parts: reads recorded memory.
	 */
	ssize_t (*copy)(void *arg, const struct iovec *parts, size_t n, void *out, size_t total);
	void *copy_arg;
};

/* FZ_EGONE if there is no such process. Success does not mean that its memory may be read. */
int fz_process_open(struct fz_process *p, pid_t pid, struct fz_error *err);
void fz_process_release(struct fz_process *p);

bool fz_process_alive(const struct fz_process *p);
/* True if it is still the same program; false after exec or exit, or if the pid was reused. */
bool fz_process_same_image(const struct fz_process *p);

/* Copy n bytes from an address. On failure false with errno: EFAULT not mapped, ESRCH gone, EPERM,
 * ... */
bool fz_process_read(struct fz_process *p, uint64_t address, void *out, size_t n);
bool fz_process_read_u64(struct fz_process *p, uint64_t address, uint64_t *ret);

enum { FZ_PROCESS_PARTS_MAX = 1024 }; /* IOV_MAX */
/* Copy n parts of its memory, one after another, to `out` in one call. Returns the number of bytes
 * copied, up to the first part that is not mapped; -1 with errno if there are none. n is at most
 * FZ_PROCESS_PARTS_MAX. */
ssize_t fz_process_read_parts(struct fz_process *p, const struct iovec *parts, size_t n, void *out,
			      size_t total);

/* One line of /proc/PID/maps. */
struct fz_mapping {
	uint64_t start, end, offset, inode;
	uint32_t dev_major, dev_minor;
	bool readable, writable, executable;
	const char *path; /* "" for anonymous memory; owned by the list */
	bool deleted;     /* the file was deleted (" (deleted)" is cut from the path) */
};

struct fz_mappings {
	struct fz_mapping *list;
	size_t n, cap;
	char *text;
};

int fz_process_maps(const struct fz_process *p, struct fz_mappings *ret, struct fz_error *err);
/* Open the executable of a process, even if it was deleted; -1 with errno. */
int fz_process_open_executable(pid_t pid);
/* Open the file whose start is a mapping: by the kernel's handle, which no rename, mount or other
 * root changes; where that is not permitted, by the first of these whose start is equal: its path
 * in the root of the process or in ours, unless it was deleted, and /proc/PID/exe. -1 if there is
 * none. */
int fz_process_open_mapped(struct fz_process *p, const struct fz_mapping *m);
void fz_mappings_release(struct fz_mappings *m);

struct fz_process_thread {
	pid_t tid, inner_tid; /* in our pid namespace, and in that of the process */
};
struct fz_process_threads {
	struct fz_process_thread *list;
	size_t n, cap;
};
/* Lists threads that have not ended; the first one stays in /proc until all have. */
int fz_process_threads(const struct fz_process *p, struct fz_process_threads *ret,
		       struct fz_error *err);
void fz_process_threads_release(struct fz_process_threads *t);
/* The kernel's name of a thread, without the newline; false if it has ended. */
bool fz_process_thread_name(const struct fz_process *p, pid_t tid, char *out, size_t size);

/* Returns a thread that has not ended: the first one, unless it ended before others. In that case
 * /proc/PID shows neither memory nor files, but /proc/TID of the returned thread does. `pid` if all
 * have ended. */
pid_t fz_process_live(pid_t pid);

/* State letter of a thread as in /proc/PID/task/TID/stat ('R': runnable, 'S': sleeps, ...); 0 if it
 * has ended. */
char fz_process_thread_state(pid_t pid, pid_t tid);

/* FZ_EAGAIN between vfork and exec, while a process has its parent's memory and would be mistaken
 * for it. 0 also if the kernel cannot tell (kcmp). */
int fz_process_check_started(const struct fz_process *p, struct fz_error *err);

/* The error for a pidfd_open that failed with errno for an existing process. */
int fz_process_no_pidfd(struct fz_error *err);
/* The thread that traces a process or thread with ptrace, or 0. */
pid_t fz_process_tracer(pid_t pid);

/* Target of a link below /proc/PID ("exe", "cwd", "root"). False with errno. */
bool fz_process_link(const struct fz_process *p, const char *name, char *out, size_t size);

/* Set err to why we may not read its memory, with the remedy. Returns FZ_EPERM. */
int fz_process_denied(const struct fz_process *p, struct fz_error *err);
/* The error for a read that failed with errno `code`: gone, denied or another failure. */
int fz_process_trouble(const struct fz_process *p, int code, struct fz_error *err);
