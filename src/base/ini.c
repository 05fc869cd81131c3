/* SPDX-License-Identifier: MIT */
/* Read files of sections and keys; see ini.h. */
#include "base/ini.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

enum { FILE_MAX_BYTES = 1 << 20 };

struct reader {
	struct fz_ini ini;
	fz_ini_take take;
};

int fz_ini_complain(struct fz_ini *ini, const char *fmt, ...)
{
	va_list ap;

	if (*ini->message)
		return 0;
	va_start(ap, fmt);
	vsnprintf(ini->message, sizeof(ini->message), fmt, ap);
	va_end(ap);
	return 0;
}

static int on_line(void *arg, const char *section, const char *name, const char *value)
{
	struct reader *r = arg;
	bool begins = !r->ini.section || strcmp(r->ini.section, section) != 0;
	struct fz_ini_line line = { section, begins, value ? name : NULL, name ? value : NULL };

	/* After an error, later lines could be misinterpreted. */
	if (*r->ini.message)
		return 0;
	if (begins) {
		free(r->ini.section);
		r->ini.section = fz_strdup(section);
	}
	return r->take(&r->ini, &line);
}

/* The number of a line with text after its section, which libinih would ignore; 0: none. */
static int find_text_after_section(struct fz_str text)
{
	for (int number = 1; text.n; number++) {
		struct fz_str line = fz_str_trimmed(fz_str_take_line(&text));
		const char *end = fz_str_starts(line, "[") ? memchr(line.p, ']', line.n) : NULL;
		if (!end)
			continue;
		struct fz_str rest = { end + 1, (size_t)(line.p + line.n - end - 1) };
		rest = fz_str_trimmed(rest);
		if (rest.n && *rest.p != ';' && *rest.p != '#')
			return number;
	}
	return 0;
}

int fz_ini_parse(const char *text, const char *file, fz_ini_take take, void *to,
		 struct fz_error *err)
{
	struct reader r = { { .to = to }, take };
	bool multiline = ini_allow_multiline;

	ini_allow_multiline = false;
	int line = ini_parse_string(text, on_line, &r);
	ini_allow_multiline = multiline;
	free(r.ini.section);
	int after = find_text_after_section(fz_str_of(text));
	if (after && (!line || after < line))
		return fz_fail(err, FZ_EINPUT,
			       "%s:%d: text after a section's ]; write ? for a bracket in a name, "
			       "and keys on lines of their own",
			       file, after);
	if (!line)
		return 0;
	return fz_fail(err, FZ_EINPUT, "%s:%d: %s", file, line,
		       *r.ini.message ? r.ini.message : "expected [section] or 'key = value'");
}

int fz_ini_load(const char *path, bool wanted, char **ret_text, struct fz_error *err)
{
	size_t n;

	*ret_text = NULL;
	if (!wanted && access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, FILE_MAX_BYTES, &n);
	if (!text)
		return fz_fail_errno(err, "%s cannot be read", path);
	if (strlen(text) != n)
		return fz_fail(err, FZ_EINPUT, "%s: not a text file", path);
	*ret_text = fz_steal(text);
	return 0;
}
