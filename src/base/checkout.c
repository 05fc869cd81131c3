/* SPDX-License-Identifier: MIT */
/* Find ".git" in parent folders; see checkout.h. */
#include "base/checkout.h"

#include "base/base.h"

#include <string.h>
#include <unistd.h>

long fz_checkout_length(const char *path)
{
	size_t n = strlen(path);

	for (;;) {
		fz_auto(fz_free_ptr) char *git = fz_asprintf("%.*s/.git", (int)n, path);
		if (access(git, F_OK) == 0)
			return (long)n;
		if (n == 0)
			return FZ_NO_CHECKOUT;
		while (n > 0 && path[--n] != '/')
			;
	}
}
