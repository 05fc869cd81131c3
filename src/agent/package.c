/* SPDX-License-Identifier: MIT */
/* Packages; see package.h.
 *
 *   python -m shop.web         .../site-packages/shop-1.4.dist-info                   1.4
 *   .../bin/shop               .../shop-1.4.dist-info/entry_points.txt: "shop = ..."   1.4
 *   /usr/sbin/nginx            dpkg-query --search: "nginx-core: /usr/sbin/nginx"
 *                              dpkg-query --show: "nginx-core 1.22.1-9"
 *
 * On systems where /bin is a link to /usr/bin, a package may still list its file as /bin/ls.
 */
#include "agent/package.h"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include "agent/child.h"
#include "base/io.h"
#include "bench/installed.h"
#include "record/packages.h"

enum { ENTRY_POINTS_MAX = 1 << 20 };

/* ---- Python ---- */

/* "1.4" of ".../shop-1.4.dist-info". */
static char *wheel_version(const char *metadata)
{
	struct fz_str name, version;
	const char *entry = fz_path_base(fz_str_of(metadata)).p;

	return fz_packages_split(entry, &name, &version) ? fz_strndup(version.p, version.n) : NULL;
}

static bool is_word(struct fz_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
			    s.p[i]))
			return false;
	return s.n > 0;
}

static char *of_module(const struct fz_agent_program *p)
{
	struct fz_str name = { p->module, strcspn(p->module, ".") };
	glob_t found = { 0 };

	if (!is_word(name))
		return NULL;
	fz_auto(fz_free_ptr) char *kind = fz_asprintf("%.*s-*.dist-info", (int)name.n, name.p);
	const char *called = *p->called ? p->called : p->executable;
	fz_installed_find(called, p->executable, kind, &found);
	char *version = found.gl_pathc ? wheel_version(found.gl_pathv[0]) : NULL;
	globfree(&found);
	return version;
}

/* True if its entry points have a line "NAME = ...". */
static bool has_command(const char *metadata, struct fz_str name)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/entry_points.txt", metadata);
	fz_auto(fz_close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	fz_auto(fz_free_ptr) char *text = fd < 0 ? NULL : fz_read_text(fd, ENTRY_POINTS_MAX, &st);
	struct fz_str rest = { text, text ? (size_t)st.st_size : 0 };

	while (rest.n) {
		struct fz_str line = fz_str_take_line(&rest);
		const char *sign = line.n ? memchr(line.p, '=', line.n) : NULL;
		if (sign &&
		    fz_str_eq(fz_str_trimmed((struct fz_str){ line.p, (size_t)(sign - line.p) }),
			      name))
			return true;
	}
	return false;
}

static char *of_script(const struct fz_agent_program *p)
{
	struct fz_str name = fz_path_base(fz_str_of(p->script));
	char *version = NULL;
	glob_t found = { 0 };

	fz_installed_find(p->script, p->script, "*.dist-info", &found);
	for (size_t i = 0; !version && i < found.gl_pathc; i++)
		if (has_command(found.gl_pathv[i], name))
			version = wheel_version(found.gl_pathv[i]);
	globfree(&found);
	return version;
}

char *fz_agent_python_package(const struct fz_agent_program *p)
{
	if (*p->module)
		return of_module(p);
	return *p->script && fz_installed_is_python(p->executable) ? of_script(p) : NULL;
}

/* ---- Debian ---- */

static void be_dpkg(const void *arg, int out)
{
	char *const *words = arg;

	if (dup2(out, STDOUT_FILENO) >= 0) {
		setenv("LC_ALL", "C", 1);
		execvp(words[0], words);
	}
}

/* The exit status is ignored, because it is an error even if only one of many files was not
 * found. */
static void query_dpkg(char *const *words, struct fz_buf *ret)
{
	fz_agent_run_child(&(struct fz_agent_question){ .become = be_dpkg, .arg = words }, ret);
}

/* False if dpkg-query would interpret the path as a pattern. */
static bool is_plain(const char *path)
{
	return *path == '/' && !strpbrk(path, "*?[\\\n:,");
}

static const char *without_usr(const char *path)
{
	return strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
}

/* The first package of a file in lines "PACKAGE[:ARCHITECTURE], ...: PATH"; borrowed from answer.
 */
static struct fz_str package_of(struct fz_str answer, const char *path)
{
	while (answer.n) {
		struct fz_str line = fz_str_take_line(&answer);
		const char *at = line.n ? memmem(line.p, line.n, ": /", 3) : NULL;
		if (!at || fz_str_starts(line, "diversion "))
			continue;
		struct fz_str file = { at + 2, (size_t)(line.p + line.n - at - 2) };
		if (!fz_str_eq(file, fz_str_of(path)) &&
		    !fz_str_eq(file, fz_str_of(without_usr(path))))
			continue;
		size_t n = 0;
		while (line.p + n < at && line.p[n] != ':' && line.p[n] != ',')
			n++;
		return (struct fz_str){ line.p, n };
	}
	return FZ_STR("");
}

/* The version in "PACKAGE VERSION\n..."; the caller frees. */
static char *version_of(struct fz_str answer, struct fz_str package)
{
	while (answer.n) {
		struct fz_str line = fz_str_take_line(&answer), name = fz_str_take_word(&line);
		struct fz_str version = fz_str_trimmed(line);
		if (fz_str_eq(name, package) && version.n)
			return fz_strndup(version.p, version.n);
	}
	return NULL;
}

/* The first package of each file; the caller frees each string and the array. */
static char **owners_of(const char *const *files, size_t n)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	char **words = fz_calloc(2 * n + 4, sizeof(*words)), **ret = fz_calloc(n, sizeof(*ret));
	size_t word_n = 0;

	words[word_n++] = (char *)"dpkg-query";
	words[word_n++] = (char *)"--search";
	words[word_n++] = (char *)"--";
	for (size_t i = 0; i < n; i++) {
		if (!is_plain(files[i]))
			continue;
		words[word_n++] = (char *)files[i];
		words[word_n++] = (char *)without_usr(files[i]);
	}
	query_dpkg(words, &answer);
	for (size_t i = 0; i < n; i++) {
		struct fz_str package = package_of(fz_buf_view(&answer), files[i]);
		ret[i] = package.n ? fz_strndup(package.p, package.n) : NULL;
	}
	free(words);
	return ret;
}

char **fz_agent_debian_packages(const char *const *files, size_t n)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	char **ret = fz_calloc(FZ_MAX(n, 1), sizeof(*ret));
	size_t word_n = 0;

	if (!n)
		return ret;
	char **owners = owners_of(files, n), **words = fz_calloc(n + 5, sizeof(*words));
	words[word_n++] = (char *)"dpkg-query";
	words[word_n++] = (char *)"--show";
	words[word_n++] = (char *)"--showformat=${Package} ${Version}\\n";
	words[word_n++] = (char *)"--";
	for (size_t i = 0; i < n; i++)
		if (owners[i])
			words[word_n++] = owners[i];
	if (word_n > 4)
		query_dpkg(words, &answer);
	for (size_t i = 0; i < n; i++) {
		if (owners[i])
			ret[i] = version_of(fz_buf_view(&answer), fz_str_of(owners[i]));
		free(owners[i]);
	}
	free(owners);
	free(words);
	return ret;
}
