/* SPDX-License-Identifier: MIT */
/* Permissions; see access.h. Symbolic links are resolved before a path is checked. */
#include "mcp/access.h"

#include "base/buf.h"
#include "store/store.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 &&
	       (path[n] == '/' || path[n] == 0 || strcmp(folder, "/") == 0);
}

/* True for files in the root and in the store of its checkout. A store that is a link is refused,
 * since the author of the repository chooses its target. */
static bool is_readable(const char *path)
{
	char root[PATH_MAX], store[PATH_MAX];

	if (!getcwd(root, sizeof(root)))
		return false;
	if (is_below(path, root))
		return true;
	fz_auto(fz_free_ptr) char *folder = fz_store_folder(root);
	return realpath(folder, store) && strcmp(store, folder) == 0 && is_below(path, store);
}

bool fz_mcp_may_read(const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) && is_readable(real);
}

int fz_mcp_resolve(const char *name, char **ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = NULL;
	char real[PATH_MAX];
	struct stat st;
	int r = 0;

	if (strchr(name, '/') && !fz_mcp_may_read(name))
		return fz_fail(err, FZ_EINPUT, "%s: not a file below the server's --root", name);
	if (!*name || strcmp(name, "-") == 0)
		return fz_fail(err, FZ_EUSAGE,
			       "'%s': not a recording; list_recordings returns names", name);
	r = fz_store_resolve(name, &path, err);
	if (r)
		return r;
	if (!realpath(path, real) || !is_readable(real))
		return fz_fail(err, FZ_EINPUT, "%s: not a file below the server's --root", name);
	if (stat(real, &st) || !S_ISREG(st.st_mode))
		return fz_fail(err, FZ_EINPUT, "%s: not a regular file", name);
	if (!fz_utf8_valid(fz_str_of(real)))
		return fz_fail(err, FZ_EINPUT, "%s: the path is not valid UTF-8", name);
	*ret = fz_strdup(real);
	return 0;
}

/* ---- commands ---- */

static bool allows(const char *command, const json_t *words)
{
	struct fz_str rest = fz_str_of(command);
	size_t n = json_array_size(words);

	for (size_t i = 0;; i++) {
		struct fz_str word = fz_str_take_word(&rest);
		if (fz_str_eq(word, FZ_STR("*")) && !fz_str_trimmed(rest).n && i)
			return i <= n;
		if (!word.n || i == n)
			return !word.n && i == n && n;
		if (!fz_str_eq(word, fz_str_of(json_string_value(json_array_get(words, i)))))
			return false;
	}
}

int fz_mcp_may_run(const struct fz_mcp_options *o, const json_t *words, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf all = { 0 };

	for (size_t i = 0; o->commands[i]; i++) {
		if (allows(o->commands[i], words))
			return 0;
		fz_buf_printf(&all, "%s'%s'", i ? ", " : "", o->commands[i]);
	}
	return fz_fail(err, FZ_EPERM,
		       "the user does not allow this command; allowed: %.500s. The user allows "
		       "commands with fizeau mcp --allow 'COMMAND'",
		       all.n ? all.p : "none");
}
