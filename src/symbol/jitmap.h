/* SPDX-License-Identifier: MIT */
/* Names of code made at run time, as the program itself writes them down: "START SIZE NAME" a line,
 * hexadecimal, in /tmp/perf-PID.map.
 *
 * Where code was moved or thrown away, later lines are right about addresses that earlier ones
 * name too.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "base/str.h"

struct fz_jitmap;

/* The map that a program of this user wrote: anybody may put a file of that name into /tmp, and
 * says with it what code is called. NULL: there is none, or it is a stranger's. */
struct fz_jitmap *fz_jitmap_open(const char *path, uid_t owner);
/* Takes the file over; it is read when first asked, at the end of the recording. */
struct fz_jitmap *fz_jitmap_new(int fd);
void fz_jitmap_free(struct fz_jitmap *map);
/* Name of the code at an address. Valid as long as the map; NULL has none. */
bool fz_jitmap_find(struct fz_jitmap *map, uint64_t address, struct fz_str *ret);

/* What V8 writes: "JS:~parse file:///a/b.js:3:7", with marks of how it was compiled; what CPython
 * does: "py::parse:/a/b.py"; and what others do: a name. */
struct fz_made_code {
	struct fz_str name, file; /* parts of the text; file "" when it is not known */
	int32_t line;             /* 0 when it is not known */
	bool python;
};
struct fz_made_code fz_jitmap_split(struct fz_str text);
