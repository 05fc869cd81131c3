/* SPDX-License-Identifier: MIT */
/* Recognizes the files of the import system and of start-up. */
#include "profile/machinery.h"

#include "profile/origin.h"

bool fz_machinery_is_library(struct fz_str file)
{
	return fz_str_starts(file, "<") ||
	       fz_origin_of_file(file, (struct fz_str){ 0 }) == FZ_ORIGIN_STDLIB;
}

static bool is_one_of(struct fz_str file, const char *const *files)
{
	for (; *files; files++)
		if (fz_str_ends(file, *files))
			return fz_machinery_is_library(file);
	return false;
}

bool fz_machinery_imports(struct fz_str file)
{
	static const char *const files[] = {
		"/importlib/_bootstrap.py",
		"/importlib/_bootstrap_external.py",
		"/site.py",
		"/zipimport.py",
		"<frozen importlib._bootstrap>",
		"<frozen importlib._bootstrap_external>",
		"<frozen site>",
		"<frozen zipimport>",
		NULL,
	};

	return is_one_of(file, files);
}

bool fz_machinery_runs(struct fz_str file)
{
	static const char *const files[] = { "/runpy.py", "<frozen runpy>", NULL };

	return is_one_of(file, files);
}
