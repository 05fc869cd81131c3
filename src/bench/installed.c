/* SPDX-License-Identifier: MIT */
/* Listing the installed packages of a Python; see installed.h.
 *
 * They are in folders beside the interpreter, by the rules of CPython's site module and of Debian.
 * A virtual environment has its own, and uses those of the system only if its pyvenv.cfg allows it.
 * That file is not read: at worst, a listed package that is not used causes a base to be counted
 * again.
 */
#include "bench/installed.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* Relative to the parent of the interpreter's "bin". */
static const char *const places[] = { "lib/python3*/site-packages", "lib/python3*/dist-packages",
				      "local/lib/python3*/dist-packages" };

static void find_below(const char *prefix, const char *kind, glob_t *found)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(places); i++) {
		fz_auto(fz_free_ptr) char *pattern =
			fz_asprintf("%s/%s/%s", prefix, places[i], kind);
		glob(pattern, GLOB_APPEND, NULL, found);
	}
}

/* "/usr" for "/usr/bin/python3"; NULL if the path is too short. The caller frees. */
static char *prefix_of(const char *path)
{
	char *prefix = fz_strdup(path);

	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(prefix, '/');
		if (!slash) {
			free(prefix);
			return NULL;
		}
		*slash = '\0';
	}
	return prefix;
}

void fz_installed_find(const char *called, const char *path, const char *kind, glob_t *found)
{
	fz_auto(fz_free_ptr) char *here = prefix_of(called);
	fz_auto(fz_free_ptr) char *real = prefix_of(path);
	const char *user = getenv("HOME");

	if (here)
		find_below(here, kind, found);
	if (real && (!here || strcmp(here, real) != 0))
		find_below(real, kind, found);
	if (user) {
		fz_auto(fz_free_ptr) char *local = fz_asprintf("%s/.local", user);
		find_below(local, kind, found);
	}
}

bool fz_installed_is_python(const char *path)
{
	return fz_str_starts(fz_path_base(fz_str_of(path)), "python");
}

void fz_installed_describe(const char *called, const char *path, struct fz_buf *out)
{
	glob_t found = { 0 };
	uint64_t hash = 0;

	if (!fz_installed_is_python(path))
		return;
	fz_installed_find(called, path, "*.dist-info", &found);
	fz_installed_find(called, path, "*.egg-info", &found);
	/* A sum, so that neither folders nor order matter. */
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct fz_str name = fz_path_base(fz_str_of(found.gl_pathv[i]));
		hash += fz_hash_bytes(name.p, name.n);
	}
	fz_buf_printf(out, "packages %zu %016llx\n", found.gl_pathc, (unsigned long long)hash);
	globfree(&found);
}
