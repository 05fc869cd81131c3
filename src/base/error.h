/* SPDX-License-Identifier: MIT */
/* External errors: bad files, dead processes, missing permissions.
 *
 * A function that can fail returns 0 or a negative enum fz_error_code and fills the caller's struct
 * fz_error (which may be NULL). The message is one line of the form "WHAT: what is wrong; what to
 * do"; the CLI prefixes "fizeau: ". Untrusted text is escaped, so messages are always safe to
 * print.
 */
#pragma once

#include "base.h"

enum fz_error_code {
	FZ_OK = 0,
	FZ_EINPUT = -1,       /* invalid contents of a file or the target's memory */
	FZ_ELIMIT = -2,       /* exceeds a limit */
	FZ_ESYSTEM = -3,      /* a system call failed; see sys_errno */
	FZ_EPERM = -4,        /* no permission to read the process or file */
	FZ_EGONE = -5,        /* the process ended */
	FZ_EUNSUPPORTED = -6, /* valid, but not supported */
	FZ_EUSAGE = -7,       /* wrong options or arguments */
	FZ_EAGAIN = -8,       /* not yet: try again (the process is still starting) */
	FZ_EINTERRUPTED = -9, /* a signal asked us to stop */
	FZ_ENOSAMPLE = -10,   /* the options select no sample */
};

struct fz_error {
	int code;      /* enum fz_error_code */
	int sys_errno; /* errno when code is FZ_ESYSTEM or FZ_EPERM, else 0 */
	char message[1024];
};

/* Sets an error and returns its code: `return fz_fail(err, FZ_EINPUT, "...")`. */
FZ_PRINTF(3, 4)
int fz_fail(struct fz_error *err, int code, const char *fmt, ...);

/* Like fz_fail with FZ_ESYSTEM (FZ_EPERM for EACCES and EPERM); appends ": " and
 * strerror(errno). */
FZ_PRINTF(2, 3)
int fz_fail_errno(struct fz_error *err, const char *fmt, ...);

/* Prefixes the message with "PREFIX: " (a file name, say). Returns err->code. */
FZ_PRINTF(2, 3)
int fz_error_prefix(struct fz_error *err, const char *fmt, ...);
