/* SPDX-License-Identifier: MIT */
/* Which modules Python sources import, as paths: "pkg/sub/module".
 *
 *   from .html import x      in pkg/sub/a.py      pkg/sub/html, pkg/sub/html/x
 *   import pkg.sub.b as c                         pkg/sub/b, sub/b, b
 *
 * An absolute name is kept from each of its components on, since a recording's files may have lost
 * the folder that it begins with. So a set may hold more than what is imported, and what is not in
 * it is not imported by these sources.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"

struct fz_imports {
	struct fz_map paths; /* hash of a path -> the bits that it was added with */
};

/* The imports of a source whose file is called `file`. */
void fz_imports_add(struct fz_imports *s, struct fz_str file, struct fz_str text, uint32_t bits);
void fz_imports_release(struct fz_imports *s);
/* The bits with which a file's module was added; 0: it is not imported. */
uint32_t fz_imports_find(const struct fz_imports *s, struct fz_str file);
