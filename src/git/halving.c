/* SPDX-License-Identifier: MIT */
/* Chooses the next commit of a bisection with git rev-list --bisect-all, which supports histories
 * with merges; see halving.h. It prints lines "HASH (dist=N)".
 */
#include "git/halving.h"

void fz_halving_release(struct fz_halving *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->list[i]);
	free(h->list);
	*h = (struct fz_halving){ 0 };
}

/* Takes the first word of each line. */
static void parse_commits(const char *text, struct fz_halving *ret)
{
	while (text && *text) {
		size_t line = strcspn(text, "\n");
		fz_push(ret->list, ret->n, ret->cap, fz_strndup(text, strcspn(text, " \n")));
		text += line + (text[line] == '\n');
	}
}

int fz_halving_find(const struct fz_repository *r, const char *bad, const char *const good[],
		    bool first_parent, struct fz_halving *ret, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	size_t n = 0, most = 0;
	int status = 1;

	/* (Hashes: git would take a word that begins with a dash for an option.) */
	fz_assert(bad[0] != '-' && good[0]);
	for (; good[most]; most++)
		fz_assert(good[most][0] != '-');
	fz_auto(fz_free_ptr) const char **words = fz_calloc(most + 7, sizeof(*words));
	words[n++] = "rev-list";
	words[n++] = "--bisect-all";
	if (first_parent)
		words[n++] = "--first-parent";
	words[n++] = bad;
	words[n++] = "--not";
	for (size_t i = 0; i < most; i++)
		words[n++] = good[i];
	words[n] = "--";
	int rc = fz_repository_git(r, NULL, words, &out, NULL, &status, err);
	if (!rc && status)
		rc = fz_fail(err, FZ_EINPUT, "git cannot list the ancestors of %.10s", bad);
	if (!rc)
		parse_commits(out.p, ret);
	return rc;
}
