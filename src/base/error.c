/* SPDX-License-Identifier: MIT */
/* One error struct, owned by the caller; see error.h. */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "str.h"

/* A message that is too long (with a long path, say) loses its middle, since the reason is at the
 * end. Room is left for the text of errno. */
enum { FRONT = 200, BACK = 500 };

static void set_message(struct fz_error *err, const char *fmt, va_list ap)
{
	char raw[FRONT + sizeof("...") + BACK];
	va_list again;

	fz_assert(fmt);
	va_copy(again, ap);
	int n = vsnprintf(raw, sizeof(raw), fmt, ap);
	if (n >= (int)sizeof(raw)) {
		fz_auto(fz_free_ptr) char *whole = fz_malloc((size_t)n + 1);
		vsnprintf(whole, (size_t)n + 1, fmt, again);
		snprintf(raw, sizeof(raw), "%.*s...%s", FRONT, whole, whole + n - BACK);
	}
	va_end(again);
	fz_str_printable(raw, strlen(raw), err->message, sizeof(err->message));
}

int fz_fail(struct fz_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	fz_assert(code < 0);
	if (!err)
		return code;
	err->code = code;
	err->sys_errno = 0;
	va_start(ap, fmt);
	set_message(err, fmt, ap);
	va_end(ap);
	return code;
}

int fz_fail_errno(struct fz_error *err, const char *fmt, ...)
{
	int saved = errno;
	int code = saved == EACCES || saved == EPERM ? FZ_EPERM : FZ_ESYSTEM;
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	err->sys_errno = saved;
	va_start(ap, fmt);
	set_message(err, fmt, ap);
	va_end(ap);
	size_t used = strlen(err->message);
	snprintf(err->message + used, sizeof(err->message) - used, ": %s", strerror(saved));
	return code;
}

int fz_error_prefix(struct fz_error *err, const char *fmt, ...)
{
	char old[sizeof(err->message)];
	va_list ap;

	if (!err)
		return FZ_EINPUT;
	memcpy(old, err->message, sizeof(old));
	va_start(ap, fmt);
	set_message(err, fmt, ap);
	va_end(ap);
	size_t used = strlen(err->message);
	snprintf(err->message + used, sizeof(err->message) - used, ": %s", old);
	return err->code;
}
