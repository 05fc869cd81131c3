/* SPDX-License-Identifier: MIT */
/* Listing the installed packages of a Python; see installed.h.
 *
 * They are in folders beside the interpreter, by the rules of CPython's site module and of
 * Debian's: a virtual environment has its own, and shares those of the system only if its
 * pyvenv.cfg says so, which is not looked at: one package too many makes at most a base be counted
 * once more.
 */
#include "bench/installed.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* Below the folder that the interpreter's own "bin" is in. */
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

/* "/usr" of "/usr/bin/python3"; NULL when it is in no such folder. The caller frees. */
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
	/* Where they lie does not matter: a sum has no order either. */
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct fz_str name = fz_path_base(fz_str_of(found.gl_pathv[i]));
		hash += fz_hash_bytes(name.p, name.n);
	}
	fz_buf_printf(out, "packages %zu %016llx\n", found.gl_pathc, (unsigned long long)hash);
	globfree(&found);
}
