/* SPDX-License-Identifier: MIT */
/* Where the source of a comparison can be read; see file_pages.h.
 *
 *   head recorded of a commit without edits,     https://github.com/me/project/blob/HASH/src/app.py
 *   and the forge of the checkout is known
 *   else, for a report beside the files          app.py
 *
 * A name is linked only if the current folder, or the top of its checkout, has that file: names in
 * libraries, and in recordings from other machines, are not paths here.
 */
#include "report/file_pages.h"

#include "git/forge.h"

#include <unistd.h>

static char *find_page(const struct fz_repository *r, const struct fz_profile *head)
{
	struct fz_str commit = fz_profile_fact(head, "git.commit");

	if (!commit.n || !fz_str_eq(fz_profile_fact(head, "git.dirty"), FZ_STR("no")))
		return NULL;
	fz_auto(fz_free_ptr) char *remote = fz_repository_remote(r);
	fz_auto(fz_free_ptr) char *hash = fz_strndup(commit.p, commit.n);

	return strspn(hash, "0123456789abcdef") == commit.n ? fz_forge_files(remote, hash) : NULL;
}

void fz_file_pages_init(struct fz_file_pages *ret, const struct fz_profile *head, bool beside)
{
	*ret = (struct fz_file_pages){ 0 };
	if (fz_repository_find(&ret->repository, NULL) == 0)
		ret->page = find_page(&ret->repository, head);
	ret->below = ret->page;
	if (!ret->page && beside)
		ret->page = fz_strdup("");
}

void fz_file_pages_release(struct fz_file_pages *p)
{
	fz_repository_release(&p->repository);
	free(p->page);
}

/* Is there a file at folder/prefix + file, as "src/" + "app.py"? *ret is its path below the
 * folder. */
static bool has_file(struct fz_buf *room, const char *folder, const char *prefix,
		     struct fz_str file, struct fz_str *ret)
{
	fz_buf_reset(room);
	fz_buf_printf(room, "%s/", folder);
	size_t top = room->n;
	fz_buf_str(room, prefix);
	fz_buf_add(room, file.p, file.n);
	fz_buf_char(room, '\0');
	*ret = (struct fz_str){ room->p + top, room->n - 1 - top };
	return access(room->p, R_OK) == 0;
}

struct fz_str fz_file_pages_path(const struct fz_file_pages *p, struct fz_str file,
				 struct fz_buf *room)
{
	struct fz_str path;

	if (!p->page || !file.n || strchr("/.<~", *file.p) || memchr(file.p, '\0', file.n))
		return FZ_STR("");
	if (!p->below)
		return has_file(room, ".", "", file, &path) ? path : FZ_STR("");
	if (has_file(room, p->repository.root, p->repository.prefix, file, &path) ||
	    has_file(room, p->repository.root, "", file, &path))
		return path;
	return FZ_STR("");
}
