/* SPDX-License-Identifier: MIT */
/* The system call that a thread is in, and what it waits for there. */
#pragma once

#include "record/process.h"
#include "profile/waits.h"

struct fz_waitcall {
	int32_t number;   /* -1: none, as in a page fault */
	uint64_t args[2]; /* the first two */
	/* st_mode of the file, if it determines the kind of wait; 0: none */
	uint32_t fd_mode;
};

/* The kind of wait. Does not recognise the GIL or stopped threads. */
enum fz_wait fz_waitcall_kind(const struct fz_waitcall *call);

/* The text of /proc/PID/task/TID/syscall: "running", "-1 SP PC" or "202 0x7f0c3c0031f0 0x189 ...".
 */
enum { FZ_WAITCALL_TEXT = 256 };
enum fz_waitcall_answer {
	FZ_WAITCALL_UNKNOWN, /* malformed or truncated */
	FZ_WAITCALL_RUNS,    /* or is runnable */
	FZ_WAITCALL_SLEEPS,
};
/* Parse the text. Does not set fd_mode. */
enum fz_waitcall_answer fz_waitcall_parse(const char *text, struct fz_waitcall *ret);
/* Set call->fd_mode, if the kind of wait depends on the file. */
void fz_waitcall_find_file(struct fz_waitcall *call, struct fz_process *process);
