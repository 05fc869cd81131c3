/* SPDX-License-Identifier: MIT */
/* Finding code from outside the tree; see origin.h. */
#include "bench/origin.h"

#include "base/map.h"
#include "git/worktree.h"
#include "profile/origin.h"

#include <unistd.h>

/* The path relative to the folder, or NULL if the file is not below it. */
static const char *below(const char *file, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(file, folder, n) == 0 && file[n] == '/' ? file + n + 1 : NULL;
}

/* The part of an installed package's path that is the same in every environment, or NULL. */
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

/* True if the file is in a Python or Node environment, which may be in a checkout. */
static bool in_environment(const char *file, const char *top)
{
	fz_auto(fz_free_ptr) char *folder = fz_strdup(file);

	for (char *slash; strlen(folder) > strlen(top) && (slash = strrchr(folder, '/'));) {
		*slash = '\0';
		fz_auto(fz_free_ptr) char *mark = fz_asprintf("%s/pyvenv.cfg", folder);
		if (access(mark, F_OK) == 0)
			return true;
	}
	return strstr(file, "/node_modules/") != NULL;
}

static bool is_strange(const char *file, const char *own)
{
	const char *installed = installed_part(file);

	if (file[0] != '/' || below(file, own))
		return false;
	if (installed)
		return tree_has(own, installed);
	if (fz_origin_of_file(fz_str_of(file), FZ_STR("")) == FZ_ORIGIN_STDLIB)
		return false;
	fz_auto(fz_free_ptr) char *top = fz_checkout_top(file);
	return top && fz_checkout_share_repository(top, own) && !in_environment(file, top);
}

/* Find a file that should not have run; each file is checked once. The caller frees. */
static char *find_strange(const struct fz_profile *p, const char *own)
{
	fz_auto(fz_map_release) struct fz_map seen = { 0 };

	for (uint32_t i = 0; i < p->function_count; i++) {
		const uint32_t names[] = { p->functions[i].file, p->functions[i].module };
		for (size_t k = 0; k < FZ_ARRAY_LEN(names); k++) {
			struct fz_str name = fz_profile_text(p, names[k]);
			uint32_t *slot = name.n ? fz_map_slot(&seen, names[k]) : NULL;
			if (!slot || *slot != FZ_NONE)
				continue;
			*slot = 0;
			fz_auto(fz_free_ptr) char *file = fz_strndup(name.p, name.n);
			if (is_strange(file, own))
				return fz_steal(file);
		}
	}
	return NULL;
}

int fz_origin_check(const struct fz_profile *p, const char *own, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *file = own ? find_strange(p, own) : NULL;

	if (!file)
		return 0;
	if (installed_part(file))
		return fz_fail(err, FZ_EINPUT,
			       "the command ran installed code instead of the checked-out code: "
			       "%s; create an environment per tree (--setup 'python3 -m venv .venv "
			       "&& .venv/bin/pip install .' -- .venv/bin/...), or set PYTHONPATH "
			       "to a folder relative to the tree",
			       file);
	return fz_fail(
		err, FZ_EINPUT,
		"the command ran code of another checkout of this project: %s; use a path relative "
		"to the tree, or install each tree in its own environment (--setup)",
		file);
}
