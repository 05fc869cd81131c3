/* SPDX-License-Identifier: MIT */
/* URLs of a forge's pages for the commits and files of a remote. */
#include "format_help.h"

#include "git/forge.h"

static const struct {
	const char *remote, *commits; /* NULL: none */
} cases[] = {
	{ "https://github.com/me/project.git", "https://github.com/me/project/commit/" },
	{ "https://github.com/me/project/", "https://github.com/me/project/commit/" },
	{ "https://me:secret@github.com/me/project", "https://github.com/me/project/commit/" },
	{ "https://me:se@cret@github.com/me/project", "https://github.com/me/project/commit/" },
	{ "git@github.com:me/project.git", "https://github.com/me/project/commit/" },
	{ "ssh://git@gitlab.com:22/a/b/c.git", "https://gitlab.com/a/b/c/-/commit/" },
	{ "https://gitlab.example.org/a/b", "https://gitlab.example.org/a/b/-/commit/" },
	{ "git@bitbucket.org:a/b.git", "https://bitbucket.org/a/b/commits/" },
	{ "https://codeberg.org/a/b", "https://codeberg.org/a/b/commit/" },
	{ "git@git.sr.ht:~a/b", "https://git.sr.ht/~a/b/commit/" },
	{ "https://example.org/github.com/a", NULL },
	{ "https://notgithub.com/a/b", NULL },
	{ "https://github.example.org/a/b", "https://github.example.org/a/b/commit/" },
	{ "/srv/git/project.git", NULL },
	{ "../project", NULL },
	{ "file:///srv/github.com/a", NULL },
	{ "https://github.com/a/\"><b>", NULL },
	{ "https://github.com/a b", NULL },
	{ "https://github.com", NULL },
	{ "https://github.com/", NULL },
	{ "javascript:alert(1)", NULL },
	{ "", NULL },
};

static void test_forges(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_free_ptr) char *got = fz_forge_commits(cases[i].remote);
		if (!got != !cases[i].commits || (got && strcmp(got, cases[i].commits)))
			fail_msg("%s: %s", cases[i].remote, got ? got : "none");
	}
	assert_null(fz_forge_commits(NULL));
}

static void test_files(void **state)
{
	static const struct {
		const char *remote, *files; /* NULL: none */
	} remotes[] = {
		{ "git@github.com:me/project.git", "https://github.com/me/project/blob/1a2b/" },
		{ "https://gitlab.example.org/a/b", "https://gitlab.example.org/a/b/-/blob/1a2b/" },
		{ "https://codeberg.org/a/b", "https://codeberg.org/a/b/src/commit/1a2b/" },
		{ "git@git.sr.ht:~a/b", "https://git.sr.ht/~a/b/tree/1a2b/item/" },
		{ "git@bitbucket.org:a/b.git", NULL },
		{ "/srv/git/project.git", NULL },
		{ NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(remotes); i++) {
		fz_auto(fz_free_ptr) char *got = fz_forge_files(remotes[i].remote, "1a2b");
		if (!got != !remotes[i].files || (got && strcmp(got, remotes[i].files)))
			fail_msg("%zu: %s", i, got ? got : "none");
	}
}

static void test_names(void **state)
{
	static const struct {
		const char *remote, *name; /* NULL: none */
	} remotes[] = {
		{ "https://me:secret@github.com/me/project.git", "github.com/me/project" },
		{ "git@git.example.org:a/b/c.git", "git.example.org/a/b/c" },
		{ "ssh://git@gitlab.com:22/a/b/", "gitlab.com/a/b" },
		{ "https://example.org/", NULL },
		{ "/srv/git/project.git", NULL },
		{ NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(remotes); i++) {
		fz_auto(fz_free_ptr) char *got = fz_forge_name(remotes[i].remote);
		if (!got != !remotes[i].name || (got && strcmp(got, remotes[i].name)))
			fail_msg("%zu: %s", i, got ? got : "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forges),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
