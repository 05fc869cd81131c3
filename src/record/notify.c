/* SPDX-License-Identifier: MIT */
/* Notices; see notify.h. */
#include "record/notify.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

/* A line with a path in it. */
enum { TEXT_MAX = PATH_MAX + 256 };

static void send(const struct fz_notify *to, enum fz_notice kind, const char *fmt, va_list ap)
{
	char text[TEXT_MAX];

	if (!to || !to->call)
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	to->call(to->arg, kind, text);
}

void fz_notify_note(const struct fz_notify *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	send(to, FZ_NOTICE_NOTE, fmt, ap);
	va_end(ap);
}

void fz_notify_warn(const struct fz_notify *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	send(to, FZ_NOTICE_WARNING, fmt, ap);
	va_end(ap);
}

void fz_notify_progress(const struct fz_notify *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	send(to, FZ_NOTICE_PROGRESS, fmt, ap);
	va_end(ap);
}

void fz_notify_progress_end(const struct fz_notify *to)
{
	if (to && to->call)
		to->call(to->arg, FZ_NOTICE_PROGRESS, "");
}
