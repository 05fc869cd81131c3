/* SPDX-License-Identifier: MIT */
/* Reads git and the environment; see ci_source.h. */
#include "bench/ci_source.h"

#include "base/map.h"
#include "base/str.h"
#include "git/forge.h"

/* The first variable that is set; NULL if none is. */
static const char *variable(const char *const *names)
{
	for (size_t i = 0; names[i]; i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return value;
	}
	return NULL;
}

static char *copied(const char *text)
{
	return fz_strdup(text ? text : "");
}

static char *without(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return copied(strncmp(text, prefix, n) == 0 ? text + n : text);
}

/* The repository's page at the CI service; the caller frees. NULL if unknown. */
static char *service_page(void)
{
	static const char *const gitlab[] = { "CI_PROJECT_URL", NULL };
	const char *host = getenv("GITHUB_SERVER_URL"), *path = getenv("GITHUB_REPOSITORY");
	const char *page = variable(gitlab);

	if (host && *host && path && *path)
		return fz_asprintf("%s/%s", host, path);
	return page ? fz_strdup(page) : NULL;
}

static char *find_repository(const struct fz_repository *r, const char *remote)
{
	fz_auto(fz_free_ptr) char *page = service_page();
	char *name = fz_forge_name(page ? page : remote);

	if (name)
		return name;
	struct fz_str folder = fz_path_base(fz_str_of(r->root));
	return fz_strndup(folder.p, folder.n);
}

/* The number of the pull request: 128 for "refs/pull/128/merge". */
static char *find_pull(void)
{
	static const char *const gitlab[] = { "CI_MERGE_REQUEST_IID", NULL };
	static const char before[] = "refs/pull/";
	const char *ref = getenv("GITHUB_REF");

	if (!ref || strncmp(ref, before, strlen(before)) != 0)
		return copied(variable(gitlab));
	const char *number = ref + strlen(before);
	return fz_strndup(number, strcspn(number, "/"));
}

static char *find_branch(const struct fz_repository *r)
{
	static const char *const pulls[] = { "GITHUB_HEAD_REF",
					     "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME",
					     "CI_COMMIT_BRANCH", NULL };
	static const char *const words[] = { "symbolic-ref", "--quiet", "--short", "HEAD", NULL };
	const char *said = variable(pulls), *ref = getenv("GITHUB_REF");

	if (said)
		return fz_strdup(said);
	if (ref && strncmp(ref, "refs/heads/", 11) == 0)
		return fz_strdup(ref + 11);
	char *branch = fz_repository_query(r, words);
	return branch ? branch : fz_strdup("");
}

/* "main" for main and origin/main; "" for a tag or a hash. */
static char *branch_of(const struct fz_repository *r, const char *revision)
{
	static const char *const places[] = { "refs/heads/", "refs/remotes/origin/" };
	const char *const words[] = { "rev-parse", "--symbolic-full-name", revision, NULL };
	fz_auto(fz_free_ptr) char *name = fz_repository_query(r, words);

	for (size_t i = 0; name && i < FZ_ARRAY_LEN(places); i++)
		if (strncmp(name, places[i], strlen(places[i])) == 0)
			return fz_strdup(name + strlen(places[i]));
	return fz_strdup("");
}

/* The target branch of the pull request, else the main branch; "" if there is none. */
static char *find_target(const struct fz_repository *r)
{
	static const char *const targets[] = { "GITHUB_BASE_REF",
					       "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
					       "CI_DEFAULT_BRANCH", NULL };
	static const char *const words[] = { "rev-parse", "--abbrev-ref", "origin/HEAD", NULL };
	static const char *const usual[] = { "main", "master" };
	const char *said = variable(targets);
	fz_auto(fz_free_ptr) char *found = said ? NULL : fz_repository_query(r, words);

	if (said)
		return fz_strdup(said);
	if (found && strncmp(found, "origin/", 7) == 0)
		return without(found, "origin/");
	for (size_t i = 0; i < FZ_ARRAY_LEN(usual); i++) {
		fz_auto(fz_free_ptr) char *commit = NULL;
		fz_auto(fz_free_ptr) char *remote = fz_asprintf("origin/%s", usual[i]);
		fz_auto(fz_free_ptr) char *there = NULL;
		if (!fz_repository_commit(r, remote, &there, NULL) ||
		    !fz_repository_commit(r, usual[i], &commit, NULL))
			return fz_strdup(usual[i]);
	}
	return fz_strdup("");
}

/* Set hash, time and subject of a revision. */
static int describe(const struct fz_repository *r, const char *revision,
		    struct fz_ci_source_commit *ret, struct fz_error *err)
{
	int rc = fz_repository_commit(r, revision, &ret->hash, err);

	if (rc)
		return rc;
	const char *const words[] = { "show", "-s", "--format=%ct %s", ret->hash, NULL };
	fz_auto(fz_free_ptr) char *line = fz_repository_query(r, words);
	struct fz_str rest = fz_str_of(line ? line : "");
	uint64_t seconds = 0;

	fz_parse_u64(fz_str_take_word(&rest), INT32_MAX * 4ULL, &seconds);
	rest = fz_str_trimmed(rest);
	ret->time = (int64_t)seconds;
	ret->subject = fz_strndup(rest.n ? rest.p : "", rest.n);
	return 0;
}

/* Hash the removed and added lines by file, without their positions and context, which differ when
 * the change lands on a branch that has advanced. */
static char *digest(struct fz_str diff)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	while (diff.n) {
		struct fz_str line = fz_str_take_line(&diff);
		if (fz_str_starts(line, "@@") || fz_str_starts(line, "index "))
			continue;
		fz_buf_add(&text, line.p, line.n);
		fz_buf_char(&text, '\n');
	}
	return text.n ? fz_asprintf("%016llx", (unsigned long long)fz_hash_bytes(text.p, text.n))
		      : fz_strdup("");
}

/* The digest of the changes from base to head; "" if unknown. */
static char *find_patch(const struct fz_repository *r, const char *base, const char *head)
{
	const char *const words[] = { "diff-tree",
				      "-r",
				      "-p",
				      "--unified=0",
				      "--binary",
				      "--no-renames",
				      "--no-ext-diff",
				      "--no-color",
				      "--no-textconv",
				      base,
				      head,
				      NULL };
	fz_auto(fz_buf_release) struct fz_buf diff = { 0 };
	int status;

	if (!base || fz_repository_git(r, NULL, words, &diff, NULL, &status, NULL) || status)
		return fz_strdup("");
	return digest(fz_buf_view(&diff));
}

char *fz_ci_source_files(const struct fz_repository *r, const char *commit)
{
	fz_auto(fz_free_ptr) char *page = service_page();
	fz_auto(fz_free_ptr) char *remote = page ? NULL : fz_repository_remote(r);

	return fz_forge_files(page ? page : remote, commit);
}

int fz_ci_source_find(const struct fz_repository *r, const char *head, const char *base,
		      const struct fz_ci_source_options *o, struct fz_ci_source *ret,
		      struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *remote = fz_repository_remote(r);

	*ret = (struct fz_ci_source){ 0 };
	ret->commit_pages = fz_forge_commits(remote);
	if (!ret->commit_pages)
		ret->commit_pages = fz_strdup("");
	ret->repository = o->repository ? fz_strdup(o->repository) : find_repository(r, remote);
	ret->pull = o->pull ? fz_strdup(o->pull) : find_pull();
	ret->branch = find_branch(r);
	ret->into = o->into ? branch_of(r, o->into) : find_target(r);
	ret->patch = find_patch(r, base, head);
	int rc = describe(r, head, &ret->head, err);
	return rc || !base ? rc : describe(r, base, &ret->base, err);
}

void fz_ci_source_release(struct fz_ci_source *s)
{
	char *const texts[] = { s->repository, s->commit_pages, s->pull,      s->branch,
				s->into,       s->patch,        s->head.hash, s->head.subject,
				s->base.hash,  s->base.subject };

	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++)
		free(texts[i]);
	*s = (struct fz_ci_source){ 0 };
}
