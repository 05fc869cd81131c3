/* SPDX-License-Identifier: MIT */
/* Keeping recordings; see baseline.h.
 *
 * Each place has three functions: list the recordings of a commit, read one, add one. Adding to git
 * is always the same:
 *
 *   old = the ref;  new = a commit on top of old that adds it;  the ref: old -> new, or retry
 *
 * git compares in the last step: if the ref is no longer `old`, it changes nothing.
 */
#include "bench/baseline.h"

#include "base/base64.h"
#include "base/io.h"
#include "format/format.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	TRIES = 100,
	PAUSE_NS = 10000000,
	RECORDING_MAX = 32 << 20, /* larger ones would bloat a repository */
	KEPT_MAX = 1000000,
	HASH_MIN = 40,
};

#define BRANCH_REF "refs/heads/" FZ_BASELINE_BRANCH_NAME

static const char line_word[] = "fizeau1 ";
static const char suffix[] = ".fz";

const char *const fz_baseline_names[] = { "cache", "notes", "branch", NULL };

int fz_baseline_place_of(const char *text)
{
	for (int i = 0; fz_baseline_names[i]; i++)
		if (strcmp(fz_baseline_names[i], text) == 0)
			return i;
	return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0
		       ? FZ_BASELINE_SERVER
		       : -1;
}

void fz_baseline_key(struct fz_str environment, char out[FZ_BASELINE_KEY_SIZE])
{
	snprintf(out, FZ_BASELINE_KEY_SIZE, "%016llx",
		 (unsigned long long)fz_hash_bytes(environment.p, environment.n));
}

/* ---- names ---- */

static bool is_hex(struct fz_str s, size_t least, size_t most)
{
	if (s.n < least || s.n > most)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("0123456789abcdef", s.p[i]) || !s.p[i])
			return false;
	return true;
}

bool fz_baseline_is_name(struct fz_str commit, struct fz_str key)
{
	return is_hex(commit, HASH_MIN, FZ_COMMIT_SIZE - 1) &&
	       is_hex(key, FZ_BASELINE_KEY_SIZE - 1, FZ_BASELINE_KEY_SIZE - 1);
}

/* Add an entry if these are a commit and a key. wanted: the only commit to add; NULL: any. */
static void add_kept(struct fz_kept_list *l, enum fz_baseline_place place, struct fz_str commit,
		     struct fz_str key, const char *wanted)
{
	struct fz_kept k = { .place = place };

	if (l->n >= KEPT_MAX || !fz_baseline_is_name(commit, key) ||
	    (wanted && !fz_str_eq(commit, fz_str_of(wanted))))
		return;
	memcpy(k.commit, commit.p, commit.n);
	memcpy(k.key, key.p, key.n);
	fz_push(l->list, l->n, l->cap, k);
}

/* "COMMIT/KEY.fz" */
static void add_path(struct fz_kept_list *l, enum fz_baseline_place place, struct fz_str path,
		     const char *wanted)
{
	const char *slash = memchr(path.p, '/', path.n);

	if (!slash || !fz_str_ends(path, suffix))
		return;
	struct fz_str commit = { path.p, (size_t)(slash - path.p) };
	struct fz_str key = { slash + 1, path.n - commit.n - 1 - strlen(suffix) };
	add_kept(l, place, commit, key, wanted);
}

static bool next_line(struct fz_str *rest, struct fz_str *ret)
{
	if (!rest->n)
		return false;
	const char *end = memchr(rest->p, '\n', rest->n);
	ret->p = rest->p;
	ret->n = end ? (size_t)(end - rest->p) : rest->n;
	rest->p += ret->n + !!end;
	rest->n -= ret->n + !!end;
	return true;
}

/* ---- git ---- */

/* Run git. If it fails: FZ_EINPUT with its message. */
static int git_words(const struct fz_baselines *b, const char *const words[], struct fz_buf *out,
		     struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf why = { 0 };
	int status = 1;
	int rc = fz_repository_git(b->repository, NULL, words, out, &why, &status, err);

	if (rc || status == 0)
		return rc;
	while (strcmp(words[0], "-c") == 0)
		words += 2;
	fz_buf_char(&why, '\n');
	return fz_fail(err, FZ_EINPUT, "git %s: %.*s", words[0], (int)strcspn(why.p, "\n"), why.p);
}
#define git(b, out, err, ...) git_words(b, (const char *const[]){ __VA_ARGS__, NULL }, out, err)

/* The same; returns the first line of the output. */
static int git_line_words(const struct fz_baselines *b, const char *const words[], char **ret,
			  struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	int rc = git_words(b, words, &out, err);

	if (!rc)
		*ret = fz_strndup(fz_buf_view(&out).p, strcspn(fz_buf_view(&out).p, "\n"));
	return rc;
}
#define git_line(b, ret, err, ...) \
	git_line_words(b, (const char *const[]){ __VA_ARGS__, NULL }, ret, err)

/* The commit of a ref; "" if it does not exist. */
static char *tip(const struct fz_baselines *b, const char *ref)
{
	char *commit = NULL;

	if (git_line(b, &commit, NULL, "rev-parse", "--verify", "--quiet", ref))
		return fz_strdup("");
	return commit;
}

/* Commits have a fixed author. */
#define AUTHOR "-c", "user.name=fizeau", "-c", "user.email=fizeau@localhost"

/* A recording to add; `make` creates a new commit on top of `old`, which may be "". */
struct addition {
	const char *commit, *key;
	const char *path; /* of the recording, in its own folder */
	const char *name; /* of that folder, which is unique */
	int (*make)(const struct fz_baselines *b, const struct addition *a, const char *old,
		    char **ret, struct fz_error *err);
};

/* Move a ref to a commit with the addition. Retries if another process moved it meanwhile. */
static int add_to_ref(const struct fz_baselines *b, const char *ref, const struct addition *a,
		      char *(*start)(const struct fz_baselines *b), struct fz_error *err)
{
	for (int i = 0;; i++) {
		fz_auto(fz_free_ptr) char *old = tip(b, ref);
		/* A ref that does not exist starts at the remote's. */
		fz_auto(fz_free_ptr) char *from = *old || !start ? fz_strdup(old) : start(b);
		fz_auto(fz_free_ptr) char *new = NULL;
		int rc = a->make(b, a, from, &new, err);
		if (rc)
			return rc;
		rc = git(b, NULL, err, "update-ref", "-m", "fizeau: keep a recording", ref, new,
			 old);
		fz_auto(fz_free_ptr) char *now = tip(b, ref);
		bool moved = strcmp(now, old) != 0;
		if (!rc || i >= (moved ? TRIES : TRIES / 10))
			return rc;
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
}

/* Parse a recording from git or a server. */
static int read_bytes(const struct fz_buf *bytes, const char *name, struct fz_profile **ret,
		      struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	int rc = fz_input_open_memory(bytes->p, bytes->n, name, &in, err);

	return rc ? rc : fz_format_load_input(in, ret, err);
}

/* ---- notes ---- */

static void list_notes(const struct fz_baselines *b, const char *wanted, struct fz_kept_list *ret)
{
	static const char prefix[] = FZ_BASELINE_NOTES_REF ":";
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	struct fz_str rest, line;

	/* "refs/notes/fizeau:01/23456...:fizeau1 KEY": git splits many notes into folders. */
	const char *w = wanted;
	fz_auto(fz_free_ptr) char *flat = fz_strdup(w ? w : ".");
	fz_auto(fz_free_ptr) char *deep = fz_asprintf("%.2s/%s", flat, w ? w + 2 : "");
	fz_auto(fz_free_ptr) char *deeper =
		fz_asprintf("%.2s/%.2s/%s", flat, w ? w + 2 : "", w ? w + 4 : "");
	if (git(b, &out, NULL, "grep", "--text", "--only-matching", "--full-name", "-E",
		"^fizeau1 [0-9a-f]{16}", FZ_BASELINE_NOTES_REF, "--", flat, deep, deeper))
		return;
	rest = fz_buf_view(&out);
	while (next_line(&rest, &line)) {
		char commit[FZ_COMMIT_SIZE];
		size_t n = 0, at = strlen(prefix);
		if (!fz_str_starts(line, prefix))
			continue;
		for (; at < line.n && line.p[at] != ':' && n < sizeof(commit); at++)
			if (line.p[at] != '/')
				commit[n++] = line.p[at];
		at += 1 + strlen(line_word);
		if (at < line.n)
			add_kept(ret, FZ_BASELINE_NOTES, (struct fz_str){ commit, n },
				 (struct fz_str){ line.p + at, line.n - at }, wanted);
	}
}

/* Get the base64 of a line "fizeau1 KEY BASE64"; false for other lines. */
static bool split_line(struct fz_str line, const char *key, struct fz_str *ret)
{
	size_t head = strlen(line_word) + FZ_BASELINE_KEY_SIZE;

	if (!fz_str_starts(line, line_word) || line.n <= head || line.p[head - 1] != ' ' ||
	    memcmp(line.p + strlen(line_word), key, FZ_BASELINE_KEY_SIZE - 1) != 0)
		return false;
	*ret = (struct fz_str){ line.p + head, line.n - head };
	return true;
}

static int read_note(const struct fz_baselines *b, const struct fz_kept *k, struct fz_profile **ret,
		     struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf note = { 0 };
	fz_auto(fz_free_ptr) char *name = fz_baseline_describe(b, k);
	struct fz_str rest, line, text;
	int rc = git(b, &note, err, "notes", "--ref", FZ_BASELINE_NOTES_REF, "show", k->commit);

	if (rc)
		return rc;
	rest = fz_buf_view(&note);
	rc = fz_fail(err, FZ_EINPUT, "%s: not found", name);
	/* After a merge of notes there may be two lines with the same key; use any. */
	while (rc && next_line(&rest, &line)) {
		fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
		if (!split_line(line, k->key, &text))
			continue;
		if (fz_base64_decode(&bytes, text))
			rc = read_bytes(&bytes, name, ret, err);
		else
			rc = fz_fail(err, FZ_EINPUT, "%s: is damaged", name);
	}
	return rc;
}

/* Write the old note without lines of this key, and the line of the recording, to path. */
static int compose_note(const struct fz_baselines *b, const struct addition *a, const char *ref,
			const char *path, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf old = { 0 };
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	fz_auto(fz_output_abortp) struct fz_output *out = NULL;
	struct fz_str rest, line, ignored;
	size_t n;
	fz_auto(fz_free_ptr) char *bytes = fz_read_small(a->path, RECORDING_MAX, &n);

	if (!bytes)
		return fz_fail_errno(err, "%s", a->path);
	if (!git(b, &old, NULL, "notes", "--ref", ref, "show", a->commit)) {
		rest = fz_buf_view(&old);
		while (next_line(&rest, &line))
			if (!split_line(line, a->key, &ignored)) {
				fz_buf_add(&text, line.p, line.n);
				fz_buf_char(&text, '\n');
			}
	}
	fz_buf_printf(&text, "%s%s ", line_word, a->key);
	fz_base64_encode(&text, bytes, n);
	fz_buf_char(&text, '\n');
	int rc = fz_output_open(path, &out, err);
	if (rc)
		return rc;
	fz_output_add(out, text.p, text.n);
	return fz_output_close(fz_steal(out), err);
}

/* Let git add the note at a temporary ref, since it knows the layout of the folders. */
static int make_note(const struct fz_baselines *b, const struct addition *a, const char *old,
		     char **ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *ref = fz_asprintf("refs/notes/%s", a->name);
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s.note", a->path);
	fz_auto(fz_free_ptr) char *blob = NULL;
	int rc = *old ? git(b, NULL, err, "update-ref", ref, old) : 0;

	if (!rc)
		rc = compose_note(b, a, ref, path, err);
	if (!rc)
		rc = git_line(b, &blob, err, "hash-object", "-w", "--no-filters", path);
	if (!rc)
		rc = git(b, NULL, err, AUTHOR, "notes", "--ref", ref, "add", "-f", "-C", blob,
			 a->commit);
	if (!rc)
		*ret = tip(b, ref);
	git(b, NULL, NULL, "update-ref", "-d", ref);
	return rc;
}

/* ---- branch ---- */

/* The local branch, or its last fetched remote; "" if there is none. */
static char *branch_ref(const struct fz_baselines *b)
{
	static const char *const patterns[] = { BRANCH_REF,
						"refs/remotes/*/" FZ_BASELINE_BRANCH_NAME };

	for (size_t i = 0; i < FZ_ARRAY_LEN(patterns); i++) {
		char *ref = NULL;
		if (!git_line(b, &ref, NULL, "for-each-ref", "--count=1", "--format=%(refname)",
			      patterns[i]) &&
		    *ref)
			return ref;
		free(ref);
	}
	return fz_strdup("");
}

static char *branch_start(const struct fz_baselines *b)
{
	fz_auto(fz_free_ptr) char *ref = branch_ref(b);

	return *ref ? tip(b, ref) : fz_strdup("");
}

static void list_branch(const struct fz_baselines *b, const char *wanted, struct fz_kept_list *ret)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };
	fz_auto(fz_free_ptr) char *ref = branch_ref(b);
	fz_auto(fz_free_ptr) char *folder = fz_asprintf("%s/", wanted ? wanted : "");
	struct fz_str rest, line;

	if (!*ref || git(b, &out, NULL, "ls-tree", "-r", "--name-only", "--full-tree", ref, "--",
			 wanted ? folder : "."))
		return;
	rest = fz_buf_view(&out);
	while (next_line(&rest, &line))
		add_path(ret, FZ_BASELINE_BRANCH, line, wanted);
}

static int read_branch(const struct fz_baselines *b, const struct fz_kept *k,
		       struct fz_profile **ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *ref = branch_ref(b);
	fz_auto(fz_free_ptr) char *object =
		fz_asprintf("%s:%s/%s%s", ref, k->commit, k->key, suffix);
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	int rc = git(b, &bytes, err, "cat-file", "blob", object);

	return rc ? rc : read_bytes(&bytes, object, ret, err);
}

/* Uses a separate index, not the user's. */
static int make_tree(const struct fz_baselines *b, const struct addition *a, const char *old,
		     char **ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *blob = NULL;
	int rc = git_line(b, &blob, err, "hash-object", "-w", "--no-filters", a->path);

	fz_auto(fz_free_ptr) char *entry =
		fz_asprintf("100644,%s,%s/%s%s", blob ? blob : "", a->commit, a->key, suffix);
	if (!rc)
		rc = git(b, NULL, err, "read-tree", *old ? old : "--empty");
	if (!rc)
		rc = git(b, NULL, err, "update-index", "--add", "--cacheinfo", entry);
	return rc ? rc : git_line(b, ret, err, "write-tree");
}

static int make_commit(const struct fz_baselines *b, const struct addition *a, const char *old,
		       char **ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *index = fz_asprintf("%s.index", a->path);
	fz_auto(fz_free_ptr) char *message = fz_asprintf("Store the counts of %.10s", a->commit);
	struct fz_repository apart = *b->repository;
	struct fz_baselines with = { &apart, b->cache, NULL };
	fz_auto(fz_free_ptr) char *tree = NULL;

	apart.index = index;
	int rc = make_tree(&with, a, old, &tree, err);
	if (rc)
		return rc;
	return *old ? git_line(b, ret, err, AUTHOR, "commit-tree", tree, "-p", old, "-m", message)
		    : git_line(b, ret, err, AUTHOR, "commit-tree", tree, "-m", message);
}

/* ---- cache ---- */

static void list_commit_folder(const struct fz_baselines *b, const char *commit,
			       struct fz_kept_list *ret)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", b->cache, commit);
	DIR *d = opendir(path);

	for (struct dirent *e; d && (e = readdir(d));) {
		fz_auto(fz_free_ptr) char *name = fz_asprintf("%s/%s", commit, e->d_name);
		add_path(ret, FZ_BASELINE_CACHE, fz_str_of(name), NULL);
	}
	if (d)
		closedir(d);
}

static void list_cache(const struct fz_baselines *b, const char *wanted, struct fz_kept_list *ret)
{
	if (wanted) {
		list_commit_folder(b, wanted, ret);
		return;
	}
	DIR *d = opendir(b->cache);
	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			list_commit_folder(b, e->d_name, ret);
	if (d)
		closedir(d);
}

static char *cache_path(const struct fz_baselines *b, const char *commit, const char *key)
{
	return fz_asprintf("%s/%s/%s%s", b->cache, commit, key, suffix);
}

static int read_cache(const struct fz_baselines *b, const struct fz_kept *k,
		      struct fz_profile **ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = cache_path(b, k->commit, k->key);

	return fz_format_load(path, ret, err);
}

static int save_cache(const struct fz_baselines *b, const char *commit, const char *key,
		      const struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *folder = fz_asprintf("%s/%s", b->cache, commit);
	fz_auto(fz_free_ptr) char *path = cache_path(b, commit, key);
	int rc = fz_make_folder(folder, err);

	return rc ? rc : fz_format_save(p, &fz_format_fz, path, err);
}

/* ---- server ---- */

static void list_server(const struct fz_baselines *b, const char *wanted, struct fz_kept_list *ret)
{
	struct fz_baseline_server *s = b->server;
	fz_auto(fz_buf_release) struct fz_buf lines = { 0 };

	/* After one failure the server is not contacted again. */
	if (!s || s->trouble.code || s->list(s->arg, wanted, &lines, &s->trouble))
		return;
	struct fz_str rest = fz_buf_view(&lines), line;
	while (next_line(&rest, &line))
		add_path(ret, FZ_BASELINE_SERVER, line, wanted);
}

static int read_server(const struct fz_baselines *b, const struct fz_kept *k,
		       struct fz_profile **ret, struct fz_error *err)
{
	struct fz_baseline_server *s = b->server;
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	struct fz_error why = s->trouble;
	int rc = why.code ? why.code : s->read(s->arg, k->commit, k->key, &bytes, &why);

	/* The server became unreachable after it listed its recordings. */
	if (rc == FZ_ESYSTEM)
		s->trouble = why;
	if (rc && err)
		*err = why;
	return rc ? rc : read_bytes(&bytes, s->url, ret, err);
}

static int save_server(const struct fz_baselines *b, const char *commit, const char *key,
		       const struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	int rc = fz_format_fz.write(p, out, err);

	fz_assert(b->server);
	return rc ? rc
		  : b->server->save(b->server->arg, commit, key, fz_buf_view(fz_output_buffer(out)),
				    err);
}

/* ---- all places ---- */

static const struct {
	void (*list)(const struct fz_baselines *b, const char *commit, struct fz_kept_list *ret);
	int (*read)(const struct fz_baselines *b, const struct fz_kept *k, struct fz_profile **ret,
		    struct fz_error *err);
	const char *ref;
	int (*make)(const struct fz_baselines *b, const struct addition *a, const char *old,
		    char **ret, struct fz_error *err);
	char *(*start)(const struct fz_baselines *b);
} places[FZ_BASELINE_PLACES] = {
	[FZ_BASELINE_CACHE] = { list_cache, read_cache, NULL, NULL, NULL },
	[FZ_BASELINE_NOTES] = { list_notes, read_note, FZ_BASELINE_NOTES_REF, make_note, NULL },
	[FZ_BASELINE_BRANCH] = { list_branch, read_branch, BRANCH_REF, make_commit, branch_start },
	[FZ_BASELINE_SERVER] = { list_server, read_server, NULL, NULL, NULL },
};

void fz_baseline_list(const struct fz_baselines *b, const char *commit, struct fz_kept_list *ret)
{
	*ret = (struct fz_kept_list){ 0 };
	for (size_t i = 0; i < FZ_ARRAY_LEN(places); i++)
		places[i].list(b, commit, ret);
}

void fz_kept_release(struct fz_kept_list *l)
{
	free(l->list);
	*l = (struct fz_kept_list){ 0 };
}

char *fz_baseline_describe(const struct fz_baselines *b, const struct fz_kept *k)
{
	if (k->place == FZ_BASELINE_CACHE)
		return cache_path(b, k->commit, k->key);
	if (k->place == FZ_BASELINE_BRANCH)
		return fz_asprintf("the branch " FZ_BASELINE_BRANCH_NAME ", %.10s/%s%s", k->commit,
				   k->key, suffix);
	if (k->place == FZ_BASELINE_SERVER)
		return fz_asprintf("%s, %.10s", b->server->url, k->commit);
	return fz_asprintf("the note of %.10s in " FZ_BASELINE_NOTES_REF, k->commit);
}

int fz_baseline_read(const struct fz_baselines *b, const struct fz_kept *k, struct fz_profile **ret,
		     struct fz_error *err)
{
	return places[k->place].read(b, k, ret, err);
}

static bool find_in(const struct fz_baselines *b, const struct fz_kept_list *l,
		    struct fz_str environment, struct fz_profile **ret, struct fz_kept *ret_from)
{
	char key[FZ_BASELINE_KEY_SIZE];

	fz_baseline_key(environment, key);
	for (size_t i = 0; i < l->n; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		if (strcmp(l->list[i].key, key) != 0 ||
		    fz_baseline_read(b, &l->list[i], &p, NULL) ||
		    !fz_str_eq(fz_profile_fact(p, "environment"), environment))
			continue;
		*ret = fz_steal(p);
		*ret_from = l->list[i];
		return true;
	}
	return false;
}

bool fz_baseline_find(const struct fz_baselines *b, const char *commit, struct fz_str environment,
		      struct fz_profile **ret, struct fz_kept *ret_from)
{
	bool found = false;

	/* Nearest first: the server is only queried if nothing is found locally. */
	for (size_t i = 0; i < FZ_ARRAY_LEN(places) && !found; i++) {
		fz_auto(fz_kept_release) struct fz_kept_list l = { 0 };
		places[i].list(b, commit, &l);
		found = find_in(b, &l, environment, ret, ret_from);
	}
	return found;
}

bool fz_baseline_is_kept(const struct fz_baselines *b, enum fz_baseline_place place,
			 const char *commit, struct fz_str environment)
{
	fz_auto(fz_kept_release) struct fz_kept_list l = { 0 };
	char key[FZ_BASELINE_KEY_SIZE];

	fz_baseline_key(environment, key);
	places[place].list(b, commit, &l);
	for (size_t i = 0; i < l.n; i++)
		if (strcmp(l.list[i].key, key) == 0)
			return true;
	return false;
}

char *fz_baseline_fetch(const struct fz_baselines *b, enum fz_baseline_place place)
{
	static const char *const refs[FZ_BASELINE_PLACES] = {
		[FZ_BASELINE_NOTES] = FZ_BASELINE_NOTES_REF ":" FZ_BASELINE_NOTES_REF,
		[FZ_BASELINE_BRANCH] = FZ_BASELINE_BRANCH_NAME,
	};
	fz_auto(fz_free_ptr) char *remote = NULL;

	if (!refs[place] || git_line(b, &remote, NULL, "remote") || !*remote)
		return NULL;
	fz_auto(fz_free_ptr) char *here =
		place == FZ_BASELINE_BRANCH ? branch_ref(b) : tip(b, places[place].ref);
	return *here ? NULL : fz_asprintf("git fetch %s %s", remote, refs[place]);
}

static int save_git(const struct fz_baselines *b, enum fz_baseline_place place, const char *commit,
		    const char *key, const struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *folder =
		fz_asprintf("%s/fizeau-keep-XXXXXX", fz_temporary_folder());

	if (!mkdtemp(folder))
		return fz_fail_errno(err, "%s: cannot create a temporary folder; set TMPDIR",
				     folder);
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s%s", folder, key, suffix);
	struct addition a = { .commit = commit,
			      .key = key,
			      .path = path,
			      .name = fz_path_base(fz_str_of(folder)).p,
			      .make = places[place].make };
	struct stat st;
	int rc = fz_format_save(p, &fz_format_fz, path, err);
	if (!rc && (stat(path, &st) || st.st_size > RECORDING_MAX))
		rc = fz_fail(err, FZ_ELIMIT, "larger than %d MiB", RECORDING_MAX >> 20);
	if (!rc)
		rc = add_to_ref(b, places[place].ref, &a, places[place].start, err);
	fz_remove_folder(folder, NULL);
	return rc;
}

int fz_baseline_save(const struct fz_baselines *b, enum fz_baseline_place place, const char *commit,
		     const struct fz_profile *p, struct fz_error *err)
{
	struct fz_str environment = fz_profile_fact(p, "environment");
	char key[FZ_BASELINE_KEY_SIZE];

	fz_assert(environment.n);
	fz_baseline_key(environment, key);
	fz_assert(fz_baseline_is_name(fz_str_of(commit), fz_str_of(key)));
	int rc = place == FZ_BASELINE_CACHE    ? save_cache(b, commit, key, p, err)
		 : place == FZ_BASELINE_SERVER ? save_server(b, commit, key, p, err)
					       : save_git(b, place, commit, key, p, err);
	if (!rc)
		return 0;
	return place == FZ_BASELINE_SERVER
		       ? fz_error_prefix(err, "cannot store the recording of %.10s", commit)
		       : fz_error_prefix(err, "cannot store the recording of %.10s (--save %s)",
					 commit, fz_baseline_names[place]);
}

/* ---- a server that may be unreachable ---- */

void fz_counts_warn(const struct fz_baselines *b, const char *who, const struct fz_notify *notify)
{
	struct fz_baseline_server *s = b->server;

	if (!s || !s->trouble.code || s->warned)
		return;
	s->warned = true;
	fz_notify_warn(notify, "%s: continuing without the server's counts: %s", who,
		       s->trouble.message);
}

int fz_counts_save(const struct fz_baselines *b, enum fz_baseline_place place, const char *commit,
		   struct fz_profile *p, const char *who, const struct fz_notify *notify,
		   enum fz_baseline_place *ret_place, struct fz_error *err)
{
	struct fz_error failed;

	*ret_place = place;
	/* On a busy machine git may not have answered in time while the program was counted. */
	if (!fz_profile_fact(p, "git.commit").n)
		fz_profile_set_fact(p, "git.commit", fz_str_of(commit));
	if (place != FZ_BASELINE_SERVER)
		return fz_baseline_save(b, place, commit, p, err);
	if (!fz_baseline_save(b, place, commit, p, &failed))
		return 0;
	*ret_place = FZ_BASELINE_CACHE;
	fz_notify_warn(notify, "%s: %s; stored in this machine's cache instead", who,
		       failed.message);
	if (!fz_baseline_is_kept(b, FZ_BASELINE_CACHE, commit, fz_profile_fact(p, "environment")) &&
	    fz_baseline_save(b, FZ_BASELINE_CACHE, commit, p, &failed))
		fz_notify_warn(notify, "%s: %s", who, failed.message);
	return 0;
}
