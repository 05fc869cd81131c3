/* SPDX-License-Identifier: MIT */
/* What work that takes long has to say meanwhile: whoever asked for it decides where that goes. */
#pragma once

#include "base/base.h"

enum fz_notice {
	FZ_NOTICE_NOTE,
	FZ_NOTICE_WARNING,
	FZ_NOTICE_PROGRESS, /* stands for the one before; "": over */
};

/* A NULL pointer to one, or one without a call, hears nothing. */
struct fz_notify {
	/* One line without its end, as plain text: it may hold bytes of a file's name. */
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
