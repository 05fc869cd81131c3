/* SPDX-License-Identifier: MIT */
/* The file of tokens; tokens.h. */
#include "serve/tokens.h"

#include <sys/stat.h>

#include "base/io.h"
#include "fleet/fleet.h"

enum { FILE_MAX = 1 << 20, TOKEN_LEAST = 16 };

static bool parse_rights(struct fz_str text, unsigned *ret)
{
	static const struct {
		const char *name;
		unsigned rights;
	} names[] = {
		{ "read", FZ_RIGHT_READ | FZ_RIGHT_BADGE },
		{ "write", FZ_RIGHT_WRITE },
		{ "read,write", FZ_RIGHT_READ | FZ_RIGHT_WRITE | FZ_RIGHT_BADGE },
		{ "badge", FZ_RIGHT_BADGE },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		if (!fz_str_eq(text, fz_str_of(names[i].name)))
			continue;
		*ret = names[i].rights;
		return true;
	}
	return false;
}

static int parse_line(struct fz_tokens *t, struct fz_str line, struct fz_error *err)
{
	struct fz_str project = fz_str_take_word(&line);
	struct fz_str rights = fz_str_take_word(&line);
	struct fz_str token = fz_str_take_word(&line);
	struct fz_token new = { 0 };

	if (!project.n || project.p[0] == '#')
		return 0;
	if (!parse_rights(rights, &new.rights) || !token.n || fz_str_take_word(&line).n)
		return fz_fail(err, FZ_EINPUT,
			       "expected 'PROJECT read|write|read,write|badge TOKEN'");
	if (token.n < TOKEN_LEAST)
		return fz_fail(err, FZ_EINPUT,
			       "the token is shorter than %d characters and can be guessed; create "
			       "one with: openssl rand -hex 16",
			       TOKEN_LEAST);
	new.project = fz_strndup(project.p, project.n);
	int r = fz_fleet_check_name("project", new.project, err);
	if (r) {
		free(new.project);
		return r;
	}
	new.token = fz_strndup(token.p, token.n);
	fz_push(t->list, t->n, t->cap, new);
	return 0;
}

int fz_tokens_load(const char *path, struct fz_tokens *ret, struct fz_error *err)
{
	struct fz_tokens t = { 0 };
	struct stat st;
	size_t n = 0;
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, FILE_MAX, &n);
	struct fz_str rest = { text, n };
	int r = 0;

	if (!text || stat(path, &st))
		return fz_fail_errno(err, "%s: cannot be read", path);
	if (st.st_mode & 077)
		return fz_fail(err, FZ_EPERM, "%s: readable by others; run: chmod 600 %s", path,
			       path);
	for (int line = 1; !r && rest.n; line++) {
		r = parse_line(&t, fz_str_take_line(&rest), err);
		if (r)
			fz_error_prefix(err, "%s:%d", path, line);
	}
	if (!r && t.n == 0)
		r = fz_fail(err, FZ_EINPUT,
			    "%s: no tokens (expected lines 'PROJECT read,write TOKEN')", path);
	if (r)
		fz_tokens_release(&t);
	else
		*ret = t;
	return r;
}

void fz_tokens_release(struct fz_tokens *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->list[i].project);
		free(t->list[i].token);
	}
	free(t->list);
	*t = (struct fz_tokens){ 0 };
}

const struct fz_token *fz_tokens_find(const struct fz_tokens *t, struct fz_str token)
{
	const struct fz_token *found = NULL;

	for (size_t i = 0; i < t->n; i++) {
		size_t n = strlen(t->list[i].token);
		unsigned differs = n != token.n;

		for (size_t j = 0; j < token.n; j++)
			differs |= (unsigned char)(token.p[j] ^ t->list[i].token[j % n]);
		if (!differs)
			found = &t->list[i];
	}
	return found;
}
