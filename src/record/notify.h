/* SPDX-License-Identifier: MIT */
/* Messages and progress of long operations; the caller decides where they go. */
#pragma once

#include "base/base.h"

enum fz_notice {
	FZ_NOTICE_NOTE,
	FZ_NOTICE_WARNING,
	FZ_NOTICE_PROGRESS, /* replaces the previous one; "": done */
};

/* If the pointer to it or its `call` is NULL, messages are dropped. */
struct fz_notify {
	/* text: one line without its newline, unescaped; it may contain any bytes of a file name.
	 */
	void (*call)(void *arg, enum fz_notice kind, const char *text);
	void *arg;
};

FZ_PRINTF(2, 3)
void fz_notify_note(const struct fz_notify *to, const char *fmt, ...);
FZ_PRINTF(2, 3)
void fz_notify_warn(const struct fz_notify *to, const char *fmt, ...);
FZ_PRINTF(2, 3)
void fz_notify_progress(const struct fz_notify *to, const char *fmt, ...);
void fz_notify_progress_end(const struct fz_notify *to);
