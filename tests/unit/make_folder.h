/* SPDX-License-Identifier: MIT */
/* Folders of a test, with those above them. */
#pragma once

#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"

/* Make a folder that is not there; "path" is below "root", which is. */
static inline void make_folder(const char *root, const char *path)
{
	fz_auto(fz_free_ptr) char *all = fz_asprintf("%s/%s", root, path);

	for (char *p = all + strlen(root); (p = strchr(p + 1, '/'));) {
		*p = '\0';
		mkdir(all, 0755);
		*p = '/';
	}
	assert_int_equal(mkdir(all, 0755), 0);
}
