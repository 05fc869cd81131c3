/* SPDX-License-Identifier: MIT */
/* Reading source for recordings; see texts.h.
 *
 *   a tree on disk              its files
 *   a commit, not checked out   git show COMMIT:path
 */
#include "bench/texts.h"

#include "base/io.h"
#include "bench/ci.h"

#include <fcntl.h>
#include <sys/stat.h>

/* As recorded: "/build/project/sub/" minus the prefix "sub/". */
char *fz_texts_root(const struct fz_repository *r, const struct fz_profile *p)
{
	struct fz_str folder = fz_profile_fact(p, "cwd");
	fz_auto(fz_free_ptr) char *prefix = fz_asprintf("/%s", r->prefix ? r->prefix : "");

	if (!folder.n)
		return NULL;
	if (strlen(prefix) > 1 && fz_str_ends(folder, prefix))
		folder.n -= strlen(prefix) - 1;
	while (folder.n > 1 && folder.p[folder.n - 1] == '/')
		folder.n--;
	return fz_strndup(folder.p, folder.n);
}

static void add_file(struct fz_profile *p, uint32_t file, const char *root, const char *name)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", root, name);
	fz_auto(fz_close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	fz_auto(fz_free_ptr) char *text =
		fd < 0 ? NULL : fz_read_text(fd, FZ_SOURCE_MAX_BYTES, &st);

	if (text)
		fz_profile_add_source(p, file, (struct fz_str){ text, (size_t)st.st_size });
}

static void add_committed(const struct fz_repository *r, const char *commit, struct fz_profile *p,
			  uint32_t file, const char *name)
{
	fz_auto(fz_free_ptr) char *what = fz_asprintf("%s:%s", commit, name);
	const char *const words[] = { "show", "--no-textconv", what, NULL };
	fz_auto(fz_buf_release) struct fz_buf text = { .limit = FZ_SOURCE_MAX_BYTES };
	int status;

	if (fz_repository_git(r, NULL, words, &text, NULL, &status, NULL) || status || !text.n ||
	    memchr(text.p, 0, text.n))
		return;
	fz_profile_add_source(p, file, fz_buf_view(&text));
}

void fz_texts_add(const struct fz_repository *r, const char *commit, const char *root,
		  struct fz_profile *p)
{
	struct fz_map seen = { 0 };

	for (uint32_t i = 0; i < p->function_count; i++) {
		uint32_t file = p->functions[i].file, *slot = fz_map_slot(&seen, file);
		if (*slot != FZ_NONE || fz_profile_source(p, file))
			continue;
		*slot = 1;
		struct fz_str below = fz_ci_file_below(p, i, root);
		fz_auto(fz_free_ptr) char *name = fz_strndup(below.p, below.n);
		if (*name && commit)
			add_committed(r, commit, p, file, name);
		else if (*name)
			add_file(p, file, root, name);
	}
	fz_map_release(&seen);
}
