/* SPDX-License-Identifier: MIT */
/* Names of generated code, written by the program itself to /tmp/perf-PID.map in hexadecimal lines
 * "START SIZE NAME".
 *
 * If code was moved or discarded, later lines replace earlier ones at the same addresses.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "base/str.h"

struct fz_jitmap;

/* Opens the map of a program of this user. NULL if there is none, or if it has a different owner,
 * because any user can create such a file in /tmp. */
struct fz_jitmap *fz_jitmap_open(const char *path, uid_t owner);
/* Takes ownership of fd, which is read on first use, at the end of the recording. */
struct fz_jitmap *fz_jitmap_new(int fd);
void fz_jitmap_free(struct fz_jitmap *map);
/* Finds the name of the code at an address, valid as long as the map. map: may be NULL. */
bool fz_jitmap_find(struct fz_jitmap *map, uint64_t address, struct fz_str *ret);

/* Parsed name: from V8 "JS:~parse file:///a/b.js:3:7", with marks of the compiler tier; from
 * CPython "py::parse:/a/b.py"; from others just a name. */
struct fz_made_code {
	struct fz_str name, file; /* parts of the text; file "" if unknown */
	int32_t line;             /* 0 if unknown */
	bool python;
};
struct fz_made_code fz_jitmap_split(struct fz_str text);
/* Whether V8 wrote the name, with its mark: "LazyCompile:*f a.js:3". */
bool fz_jitmap_is_v8(struct fz_str text);
