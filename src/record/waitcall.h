/* SPDX-License-Identifier: MIT */
/* The system call that a thread is in the middle of, and what it waits for there. */
#pragma once

#include "record/process.h"
#include "profile/waits.h"

struct fz_waitcall {
	int32_t number;   /* -1: none, as in a page fault */
	uint64_t args[2]; /* the first two */
	/* st_mode of the file that it is about, where that says what for; 0: none */
	uint32_t fd_mode;
};

/* Neither a GIL nor a stopped thread is told apart here. */
enum fz_wait fz_waitcall_kind(const struct fz_waitcall *call);

/* What /proc/PID/task/TID/syscall says: "running", "-1 SP PC" or "202 0x7f0c3c0031f0 0x189 ...". */
enum { FZ_WAITCALL_TEXT = 256 };
enum fz_waitcall_answer {
	FZ_WAITCALL_UNKNOWN, /* it is none of these, or not whole */
	FZ_WAITCALL_RUNS,    /* or could */
	FZ_WAITCALL_SLEEPS,
};
/* Without the file. */
enum fz_waitcall_answer fz_waitcall_parse(const char *text, struct fz_waitcall *ret);
/* The kind of file that the call is about, if that says what for. */
void fz_waitcall_find_file(struct fz_waitcall *call, struct fz_process *process);
