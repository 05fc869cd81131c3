/* SPDX-License-Identifier: MIT */
/* The modules that Python sources import, as paths: "pkg/sub/module".
 *
 *   from .html import x      in pkg/sub/a.py      pkg/sub/html, pkg/sub/html/x
 *   import pkg.sub.b as c                         pkg/sub/b, sub/b, b
 *
 * All suffixes of an absolute name are stored, because names of recorded files may lack leading
 * folders. So a set may contain false members, but it contains everything that is imported.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"

struct fz_imports {
	struct fz_map paths; /* hash of a path -> the bits it was added with */
};

/* Adds the imports of a source named `file`. */
void fz_imports_add(struct fz_imports *s, struct fz_str file, struct fz_str text, uint32_t bits);
void fz_imports_release(struct fz_imports *s);
/* The module of a file, as a path: "pkg/core" for pkg/core.py, "pkg" for pkg/__init__.py. */
struct fz_str fz_imports_module(struct fz_str file);
/* Returns the bits with which a file's module was added; 0: not imported. */
uint32_t fz_imports_find(const struct fz_imports *s, struct fz_str file);
