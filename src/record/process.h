/* SPDX-License-Identifier: MIT */
/* Another process, looked at from outside: its memory, maps, threads and identity. Read-only. */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include "base/base.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

/* What tells one program image in a process from the next: it changes on exec, when memory that
 * looks valid may be that of another program. */
struct fz_process_image {
	uint64_t device, inode; /* of the executable */
	uint64_t start_stack;   /* moved by address randomisation */
	uint64_t start_time;    /* of the process, in clock ticks: tells reused pids apart */
};

struct fz_process {
	pid_t pid;
	pid_t inner_pid; /* as the process itself sees it (pid namespaces) */
	int pidfd;       /* -1 where the kernel has none */
	int stat_fd;     /* kept open: /proc/PID/stat */
	int mem_fd;      /* /proc/PID/mem, where process_vm_readv is refused; else -1 */
	struct fz_process_image image;
	uint64_t calls; /* read calls made, for statistics */
	/* Copies in the kernel's place, as fz_process_read_parts does; NULL. For memory that was
	 * recorded. */
	ssize_t (*copy)(void *arg, const struct iovec *parts, size_t n, void *out, size_t total);
	void *copy_arg;
};

/* FZ_EGONE when there is no such process. Memory may still turn out to be unreadable. */
int fz_process_open(struct fz_process *p, pid_t pid, struct fz_error *err);
void fz_process_release(struct fz_process *p);

bool fz_process_alive(const struct fz_process *p);
/* Is it still the same program? False after exec, exit or when the pid was given away. */
bool fz_process_same_image(const struct fz_process *p);

/* Copy n bytes at an address. False with errno: EFAULT not mapped, ESRCH gone, EPERM, ... */
bool fz_process_read(struct fz_process *p, uint64_t address, void *out, size_t n);
bool fz_process_read_u64(struct fz_process *p, uint64_t address, uint64_t *ret);

enum { FZ_PROCESS_PARTS_MAX = 1024 }; /* IOV_MAX */
/* Copy n parts of its memory, one after another, to `out` in one call. Returns the bytes copied:
 * all that precede the first that is not there; -1 with errno when there are none. n is at most
 * FZ_PROCESS_PARTS_MAX. */
ssize_t fz_process_read_parts(struct fz_process *p, const struct iovec *parts, size_t n, void *out,
			      size_t total);

/* One line of /proc/PID/maps. */
struct fz_mapping {
	uint64_t start, end, offset, inode;
	uint32_t dev_major, dev_minor;
	bool readable, writable, executable;
	const char *path; /* "" for anonymous memory; owned by the list */
	bool deleted;     /* the file has no name any more (" (deleted)" is cut from the path) */
};

struct fz_mappings {
	struct fz_mapping *list;
	size_t n, cap;
	char *text;
};

int fz_process_maps(const struct fz_process *p, struct fz_mappings *ret, struct fz_error *err);
void fz_mappings_release(struct fz_mappings *m);

/* Thread ids: as the process sees its own, to as we see them. */
struct fz_process_thread {
	pid_t tid, inner_tid;
};
struct fz_process_threads {
	struct fz_process_thread *list;
	size_t n, cap;
};
int fz_process_threads(const struct fz_process *p, struct fz_process_threads *ret,
		       struct fz_error *err);
void fz_process_threads_release(struct fz_process_threads *t);
/* Name that the kernel has for a thread, without the newline; false when it ended. */
bool fz_process_thread_name(const struct fz_process *p, pid_t tid, char *out, size_t size);

/* State letter of a thread as in /proc/PID/task/TID/stat ('R': runs or could run at once, 'S':
 * sleeps, ...); 0 when it ended. */
char fz_process_thread_state(pid_t pid, pid_t tid);

/* The error for a pidfd_open that failed, by errno, though the process is there. */
int fz_process_no_pidfd(struct fz_error *err);
/* The process that traces it with ptrace, or 0. */
pid_t fz_process_tracer(pid_t pid);

/* Target of a link below /proc/PID ("exe", "cwd", "root"). False with errno. */
bool fz_process_link(const struct fz_process *p, const char *name, char *out, size_t size);

/* Fill err with the one thing to do about not being allowed to read its memory. FZ_EPERM. */
int fz_process_denied(const struct fz_process *p, struct fz_error *err);
/* The error for a read that failed with errno `code`: gone, denied or other trouble. */
int fz_process_trouble(const struct fz_process *p, int code, struct fz_error *err);
