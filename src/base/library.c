/* SPDX-License-Identifier: MIT */
/* Load shared libraries; see library.h. */
#include "library.h"

#include <dlfcn.h>

int fz_library_load(const char *file, const char *package, const struct fz_library_symbol *symbols,
		    size_t n, struct fz_error *err)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s cannot be loaded; install it: apt install %s", file, package);
	for (size_t i = 0; i < n; i++)
		if (!dlsym(library, symbols[i].name))
			return fz_fail(err, FZ_EUNSUPPORTED,
				       "%s has no %s: install a newer version of %s", file,
				       symbols[i].name, package);
	for (size_t i = 0; i < n; i++)
		*(void **)symbols[i].ret = dlsym(library, symbols[i].name);
	return 0;
}
