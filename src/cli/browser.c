/* SPDX-License-Identifier: MIT */
/* Start a browser; see cli.h. No shell is involved: a file name is never a command. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>

/* file:///home/me/a%20b.html; the caller frees. */
static char *file_address(const char *path)
{
	char absolute[PATH_MAX];
	struct fz_buf url = { 0 };

	if (!realpath(path, absolute))
		return NULL;
	fz_buf_str(&url, "file://");
	fz_buf_uri_part(&url, fz_str_of(absolute));
	return fz_buf_take(&url);
}

/* One word of a command with every %s replaced. */
static char *expand(struct fz_str word, const char *address, bool *used)
{
	struct fz_buf out = { 0 };

	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] == '%' && i + 1 < word.n && word.p[i + 1] == 's') {
			fz_buf_str(&out, address);
			*used = true;
			i++;
		} else {
			fz_buf_char(&out, word.p[i]);
		}
	}
	return fz_buf_take(&out);
}

enum { WORDS_MAX = 32 };

/* Split a command into words, including the address, with NULL at the end. Returns true if it ends
 * with "&". */
static bool split_command(struct fz_str command, const char *address, char *words[WORDS_MAX + 1])
{
	const char *p = command.p, *end = command.p + command.n;
	bool used = false, background = false;
	size_t n = 0;

	while (p < end && n + 1 < WORDS_MAX) {
		const char *space = memchr(p, ' ', (size_t)(end - p));
		space = space ? space : end;
		struct fz_str word = { p, (size_t)(space - p) };
		background = fz_str_eq(word, FZ_STR("&"));
		if (word.n && !background)
			words[n++] = expand(word, address, &used);
		p = space + 1;
	}
	if (n && !used)
		words[n++] = fz_strdup(address);
	words[n] = NULL;
	return background;
}

/* True if the command was started and did not fail. */
static bool run_command(struct fz_str command, const char *address)
{
	char *words[WORDS_MAX + 1];
	bool background = split_command(command, address, words);
	pid_t pid;
	int status = 0;
	bool good = words[0] && posix_spawnp(&pid, words[0], NULL, NULL, words, environ) == 0;

	if (good && !background)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	return good && status == 0;
}

int fz_cli_browser_open(const char *path, struct fz_error *err)
{
	const char *browser = getenv("BROWSER");
	fz_auto(fz_free_ptr) char *address = file_address(path);

	if (!address)
		return fz_fail_errno(err, "%s: cannot be opened", path);
	if (!browser || !*browser)
		browser = "xdg-open";
	for (const char *p = browser; *p;) {
		size_t n = strcspn(p, ":");
		if (run_command((struct fz_str){ p, n }, address))
			return 0;
		p += n + (p[n] == ':');
	}
	return fz_fail(err, FZ_ESYSTEM,
		       "%s: cannot start a browser (%s); open the file yourself or set BROWSER",
		       path, browser);
}
