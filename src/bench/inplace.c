/* SPDX-License-Identifier: MIT */
/* Finding packages in editable mode; see inplace.h.
 *
 *   site-packages/x.pth                          a line: /home/me/project/src
 *   site-packages/__editable___x_finder.py       setuptools: MAPPING = {'x': '/home/me/project/x'}
 *   site-packages/x -> /home/me/project/src/x    a link, created by flit
 *
 * Import hooks that precede PYTHONPATH (meson-python's, scikit-build's) are not supported: they
 * build what they import. If one is active, bench/origin.h reports that other code ran.
 */
#include "bench/inplace.h"

#include "base/io.h"
#include "git/worktree.h"
#include "bench/installed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

struct search {
	const char *tree;
	struct fz_buf *out;
};

static bool has(const struct fz_buf *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list->n ? list->p : NULL; at && *at;
	     at += strcspn(at, ":"), at += *at == ':')
		if (strcspn(at, ":") == n && strncmp(at, word, n) == 0)
			return true;
	return false;
}

/* Add a folder from which packages are imported, if it is in a checkout of this repository. */
static void add_folder(struct search *s, const char *folder)
{
	fz_auto(fz_free_ptr) char *real = realpath(folder, NULL);
	fz_auto(fz_free_ptr) char *top = real ? fz_checkout_top(real) : NULL;

	if (!top || !fz_checkout_share_repository(top, s->tree))
		return;
	const char *rest = real + strlen(top);
	const char *name = *rest ? rest + 1 : ".";
	if (strchr(name, ':') || has(s->out, name))
		return;
	fz_buf_printf(s->out, "%s%s", s->out->n ? ":" : "", name);
}

/* Add the folder of a package. */
static void add_package(struct search *s, const char *package)
{
	const char *slash = strrchr(package, '/');
	fz_auto(fz_free_ptr) char *folder =
		slash ? fz_strndup(package, (size_t)(slash - package)) : NULL;

	if (folder && *folder)
		add_folder(s, folder);
}

/* Lines are folders, or code. */
static void read_pth(struct search *s, const char *path)
{
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, TEXT_MAX, NULL);
	struct fz_str rest = fz_str_of(text ? text : "");

	while (rest.n) {
		struct fz_str line = fz_str_trimmed(fz_str_take_line(&rest));
		fz_auto(fz_free_ptr) char *folder = fz_strndup(line.p, line.n);
		if (*folder == '/')
			add_folder(s, folder);
	}
}

/* Read entries 'name': '/home/me/project/name'. If the folder has another name, PYTHONPATH cannot
 * replace the hook. */
static void read_finder(struct search *s, const char *path)
{
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, TEXT_MAX, NULL);
	static const char between[] = "': '";

	for (char *at = text; at && (at = strstr(at, between));) {
		char *name = at, *value = at + strlen(between), *end = strchr(value, '\'');
		while (name > text && name[-1] != '\'')
			name--;
		*at = '\0';
		at = value;
		if (!end)
			break;
		*end = '\0';
		at = end + 1;
		if (*value == '/' && strcmp(fz_path_base(fz_str_of(value)).p, name) == 0)
			add_package(s, value);
	}
}

static void read_link(struct search *s, const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n <= 0 || *target != '/')
		return;
	target[n] = '\0';
	add_package(s, target);
}

static void search_folder(struct search *s, const char *called, const char *path)
{
	static const struct {
		const char *kind;
		void (*read)(struct search *s, const char *path);
	} kinds[] = { { "*.pth", read_pth },
		      { "__editable___*_finder.py", read_finder },
		      { "*", read_link } };

	for (size_t k = 0; k < FZ_ARRAY_LEN(kinds); k++) {
		glob_t found = { 0 };
		fz_installed_find(called, path, kinds[k].kind, &found);
		for (size_t i = 0; i < found.gl_pathc; i++)
			kinds[k].read(s, found.gl_pathv[i]);
		globfree(&found);
	}
}

/* ---- interpreters ---- */

/* False if it is not a Python interpreter. */
static bool try_python(struct search *s, const char *called)
{
	fz_auto(fz_free_ptr) char *path = called ? realpath(called, NULL) : NULL;

	if (!path || !fz_installed_is_python(path))
		return false;
	search_folder(s, called, path);
	return true;
}

void fz_inplace_find(const char *const *argv, const char *folder, const char *tree,
		     struct fz_buf *out)
{
	struct search s = { tree, out };
	fz_auto(fz_free_ptr) char *called = !strchr(argv[0], '/') ? fz_find_on_path(argv[0])
					    : *argv[0] == '/'
						    ? fz_strdup(argv[0])
						    : fz_asprintf("%s/%s", folder, argv[0]);

	if (try_python(&s, called))
		return;
	/* bin/pytest is beside its Python. */
	char *slash = called ? strrchr(called, '/') : NULL;
	fz_auto(fz_free_ptr) char *beside =
		slash ? fz_asprintf("%.*s/python3", (int)(slash - called), called) : NULL;
	fz_auto(fz_free_ptr) char *usual = fz_find_on_path("python3");
	try_python(&s, beside);
	if (!beside || !usual || strcmp(beside, usual) != 0)
		try_python(&s, usual);
}

void fz_inplace_prefer(const char *imports, const char *tree, struct fz_environ *e)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	if (!imports || !*imports || !tree)
		return;
	for (const char *at = imports; *at; at += strcspn(at, ":"), at += *at == ':') {
		size_t n = strcspn(at, ":");
		fz_buf_printf(&text, "%s%s", text.n ? ":" : "", tree);
		if (n != 1 || *at != '.')
			fz_buf_printf(&text, "/%.*s", (int)n, at);
	}
	fz_environ_prepend(e, "PYTHONPATH", text.p, ':');
}
