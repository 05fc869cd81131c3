/* SPDX-License-Identifier: MIT */
/* Finding code that is not the tree's own; see origin.h. */
#include "session/origin.h"

#include <unistd.h>

/* What follows the folder, or NULL when the file is not below it. */
static const char *below(const char *file, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(file, folder, n) == 0 && file[n] == '/' ? file + n + 1 : NULL;
}

/* The part of the path that an installed package has in every environment, or NULL. */
static const char *installed_part(const char *file)
{
	static const char *const folders[] = { "/site-packages/", "/dist-packages/" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(folders); i++) {
		const char *at = strstr(file, folders[i]);
		if (at)
			return at + strlen(folders[i]);
	}
	return NULL;
}

static bool tree_has(const char *tree, const char *part)
{
	static const char *const layouts[] = { "", "src/", "lib/", "python/" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(layouts); i++) {
		fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s%s", tree, layouts[i], part);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static bool is_strange(const char *file, const char *own, const char *other)
{
	const char *installed = installed_part(file);

	if (file[0] != '/')
		return false;
	if (installed)
		return !below(file, own) && tree_has(own, installed);
	return !below(file, own) && other && below(file, other);
}

char *fz_origin_strange(const struct fz_profile *p, const char *own, const char *other)
{
	for (uint32_t i = 0; i < p->function_count; i++) {
		struct fz_str name = fz_profile_text(p, p->functions[i].file);
		fz_auto(fz_free_ptr) char *file = fz_strndup(name.p, name.n);

		if (is_strange(file, own, other))
			return fz_steal(file);
	}
	return NULL;
}
