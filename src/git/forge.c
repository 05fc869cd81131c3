/* SPDX-License-Identifier: MIT */
/* Converts a remote's URL to those of commits and files; see forge.h.
 *
 *   https://user:secret@github.com/me/project.git  \
 *   ssh://git@github.com:22/me/project.git          > host github.com, path me/project
 *   git@github.com:me/project                      /
 */
#include "git/forge.h"

#include "base/base.h"
#include "base/str.h"

static const struct forge {
	const char *host;   /* or a prefix with a dot: "gitlab." matches "gitlab.example.org" */
	const char *commit; /* between the path and the hash */
	/* around the hash in the URL of a file; NULL: "#L12" is not supported */
	const char *before, *after;
} forges[] = {
	{ "github.com", "/commit/", "/blob/", "/" },
	{ "gitlab.com", "/-/commit/", "/-/blob/", "/" },
	{ "bitbucket.org", "/commits/", NULL, NULL },
	{ "codeberg.org", "/commit/", "/src/commit/", "/" },
	{ "git.sr.ht", "/commit/", "/tree/", "/item/" },
	{ "github.", "/commit/", "/blob/", "/" },
	{ "gitlab.", "/-/commit/", "/-/blob/", "/" },
};

static const struct forge *find_forge(struct fz_str host)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(forges); i++) {
		struct fz_str name = fz_str_of(forges[i].host);
		bool is_part = name.p[name.n - 1] == '.';
		if (is_part ? fz_str_starts(host, name.p) : fz_str_eq(host, name))
			return &forges[i];
	}
	return NULL;
}

static bool is_made_of(struct fz_str s, const char *others)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool is_word =
			(c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		if (!is_word && !strchr(others, c))
			return false;
	}
	return s.n > 0;
}

static struct fz_str between(const char *from, const char *to)
{
	return (struct fz_str){ from, (size_t)(to - from) };
}

/* Splits a URL or scp-like address into host and path; false for other texts. */
static bool split(const char *remote, struct fz_str *ret_host, struct fz_str *ret_path)
{
	static const char *const schemes[] = { "https://", "http://", "ssh://", "git://" };
	const char *rest = remote;

	for (size_t i = 0; i < FZ_ARRAY_LEN(schemes) && rest == remote; i++)
		if (strncmp(remote, schemes[i], strlen(schemes[i])) == 0)
			rest += strlen(schemes[i]);
	bool is_url = rest != remote;
	const char *end = rest + strcspn(rest, is_url ? "/" : ":/");
	if (*end != (is_url ? '/' : ':'))
		return false;
	const char *at = memrchr(rest, '@', (size_t)(end - rest));
	struct fz_str host = between(at ? at + 1 : rest, end);
	const char *port = memchr(host.p, ':', host.n);
	if (port)
		host.n = (size_t)(port - host.p);
	struct fz_str path = fz_str_of(end + 1);
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	if (fz_str_ends(path, ".git"))
		path.n -= 4;
	*ret_host = host;
	*ret_path = path;
	return true;
}

/* Parses a remote; NULL if its forge is unknown, or its characters are not valid in a URL. */
static const struct forge *read_remote(const char *remote, struct fz_str *host, struct fz_str *path)
{
	if (!remote || !split(remote, host, path))
		return NULL;
	const struct forge *forge = find_forge(*host);

	return forge && is_made_of(*host, ".-") && is_made_of(*path, "._~/-") ? forge : NULL;
}

char *fz_forge_commits(const char *remote)
{
	struct fz_str host, path;
	const struct forge *forge = read_remote(remote, &host, &path);

	return forge ? fz_asprintf("https://%.*s/%.*s%s", (int)host.n, host.p, (int)path.n, path.p,
				   forge->commit)
		     : NULL;
}

char *fz_forge_files(const char *remote, const char *commit)
{
	struct fz_str host, path;
	const struct forge *forge = read_remote(remote, &host, &path);

	return forge && forge->before
		       ? fz_asprintf("https://%.*s/%.*s%s%s%s", (int)host.n, host.p, (int)path.n,
				     path.p, forge->before, commit, forge->after)
		       : NULL;
}

char *fz_forge_name(const char *remote)
{
	struct fz_str host, path;

	if (!remote || !split(remote, &host, &path) || !path.n)
		return NULL;
	return fz_asprintf("%.*s/%.*s", (int)host.n, host.p, (int)path.n, path.p);
}
