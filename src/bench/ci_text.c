/* SPDX-License-Identifier: MIT */
/* The source of what both sides executed, for the report and for the line of a change.
 *
 *   a side with a checkout      its files
 *   a base with stored counts   git show COMMIT:path
 *
 * Counting itself records no source. Only files of the repository are read, because they contain
 * the change, and libraries would make each stored recording larger.
 */
#include "bench/ci_run.h"

#include "base/io.h"

#include <fcntl.h>
#include <sys/stat.h>

/* The top of the tree in the side's file names; the caller frees. NULL if unknown. */
static char *find_root(const struct fz_ci_run *c, enum fz_side s)
{
	struct fz_str cwd = fz_profile_fact(c->profile[s], "cwd");
	fz_auto(fz_free_ptr) char *prefix = fz_asprintf(
		"/%s", c->workspace.repository.prefix ? c->workspace.repository.prefix : "");

	if (c->checkout[s].tree)
		return fz_strdup(c->checkout[s].tree);
	/* As recorded: "/build/project/sub/" minus the prefix "sub/". */
	if (!fz_str_ends(cwd, "/") || !fz_str_ends(cwd, prefix) || cwd.n <= strlen(prefix))
		return NULL;
	return fz_strndup(cwd.p, cwd.n - strlen(prefix));
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

static void add_committed(struct fz_ci_run *c, uint32_t file, const char *name)
{
	fz_auto(fz_free_ptr) char *what = fz_asprintf("%s:%s", c->base_commit, name);
	const char *const words[] = { "show", "--no-textconv", what, NULL };
	fz_auto(fz_buf_release) struct fz_buf text = { .limit = FZ_SOURCE_MAX_BYTES };
	int status;

	if (fz_repository_git(&c->workspace.repository, NULL, words, &text, NULL, &status, NULL) ||
	    status || !text.n || memchr(text.p, 0, text.n))
		return;
	fz_profile_add_source(c->profile[FZ_BASE], file, fz_buf_view(&text));
}

static void read_side(struct fz_ci_run *c, enum fz_side s)
{
	struct fz_profile *p = c->profile[s];
	fz_auto(fz_free_ptr) char *root = find_root(c, s);
	bool has_tree = c->checkout[s].tree;
	struct fz_map seen = { 0 };

	for (uint32_t i = 0; root && i < p->function_count; i++) {
		uint32_t file = p->functions[i].file, *slot = fz_map_slot(&seen, file);
		if (*slot != FZ_NONE || fz_profile_source(p, file))
			continue;
		*slot = 1;
		struct fz_str below = fz_ci_file_below(p, i, root);
		fz_auto(fz_free_ptr) char *name = fz_strndup(below.p, below.n);
		if (*name && has_tree)
			add_file(p, file, root, name);
		else if (*name && c->base_commit)
			add_committed(c, file, name);
	}
	fz_map_release(&seen);
}

void fz_ci_run_read_texts(struct fz_ci_run *c)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		read_side(c, s);
}
