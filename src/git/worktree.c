/* SPDX-License-Identifier: MIT */
/* Manages worktrees with git commands; git prints errors directly to the user.
 *
 *   /home/me/project              the user's tree: never written to
 *   $TMPDIR/kw/project            the other revision, with paths of the same length and depth
 *     .git/commondir              path of its repository
 *   CACHE/compare/XXXXXX/away     link to $TMPDIR/kw for cleaning up after we are killed; a link
 *                                 in that folder leads back
 *   CACHE/compare/XXXXXX/base     link to the parent of the worktree, or a folder if there is no
 *                                 such place
 *
 * git inherits our signal mask: callers that block Ctrl-C let git commands finish.
 */
#include "git/worktree.h"

#include "base/buf.h"
#include "base/checkout.h"
#include "git/command.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { TEXT_MAX = 64 << 20, INDEX_MAX = 1 << 30, PLACES_MAX = 1 << 16 };

static const char scratch_name[] = "XXXXXX";
/* In a folder outside of the cache: link to its scratch folder. */
static const char mark_name[] = ".fizeau-scratch";

/* Queries git about revisions. */
static int query_git(const char *folder, const char *const words[], char **ret, char **ret_why,
		     struct fz_error *err)
{
	return fz_git_call_line(FZ_GIT_ASKS, folder, words, ret, ret_why, err);
}

/* Runs git in a folder; its output goes to the user. */
static int run_git(const char *folder, const char *const words[], int out, int errors,
		   int *ret_status, struct fz_error *err)
{
	struct fz_git_call c = { FZ_GIT_ACTS, folder, words, out, errors };

	return fz_git_call_run(&c, ret_status, err);
}

/* Reports why git finds no repository: no checkout, or an untrusted owner. */
static int no_repository(const char *why, struct fz_error *err)
{
	static const char fatal[] = "fatal: ";

	if (strncmp(why, fatal, strlen(fatal)) == 0)
		why += strlen(fatal);
	/* git's own remedy is on a later line. */
	const char *path = strstr(why, "dubious ownership") ? strchr(why, '\'') : NULL;
	if (path)
		return fz_fail(err, FZ_EINPUT,
			       "git: %s; if you trust it: git config --global --add "
			       "safe.directory %s",
			       why, path);
	return fz_fail(err, FZ_EUSAGE, "git: %s", *why ? why : "not in a checkout");
}

int fz_repository_find(struct fz_repository *ret, struct fz_error *err)
{
	static const char *const root[] = { "rev-parse", "--show-toplevel", NULL };
	static const char *const prefix[] = { "rev-parse", "--show-prefix", NULL };
	/* Disables fsmonitor programs and updates of the index. Filters stay enabled, because
	 * worktrees are created with them, too. */
	static const char *const changed[] = { "--no-optional-locks",
					       "-c",
					       "core.fsmonitor=false",
					       "diff",
					       "--quiet",
					       "HEAD",
					       "--",
					       NULL };
	fz_auto(fz_repository_release) struct fz_repository r = { 0 };
	fz_auto(fz_free_ptr) char *why = NULL;
	int status = 0;
	int rc = query_git(NULL, root, &r.root, &why, err);

	if (!rc && r.root)
		rc = query_git(NULL, prefix, &r.prefix, &why, err);
	if (!rc && (!r.root || !r.prefix))
		rc = no_repository(why ? why : "", err);
	/* git fails before the first commit. Resolving a revision reports that with a better
	 * message. */
	fz_auto(fz_close_fd) int silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!rc)
		rc = run_git(NULL, changed, silence, silence, &status, err);
	if (rc)
		return rc;
	/* If git cannot tell, the counts of this tree must not be stored for the commit. */
	r.dirty = status != 0;
	*ret = r;
	r = (struct fz_repository){ 0 };
	return 0;
}

void fz_repository_release(struct fz_repository *r)
{
	free(r->root);
	free(r->prefix);
	*r = (struct fz_repository){ 0 };
}

int fz_repository_commit(const struct fz_repository *r, const char *revision, char **ret,
			 struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *spec = fz_asprintf("%s^{commit}", revision);
	const char *const words[] = { "rev-parse",        "--verify", "--quiet",
				      "--end-of-options", spec,       NULL };
	char *commit = NULL;
	int rc = query_git(r->root, words, &commit, NULL, err);

	if (!rc && !commit)
		rc = fz_fail(err, FZ_EUSAGE, "'%s': no such revision", revision);
	if (!rc)
		*ret = commit;
	return rc;
}

/* Reads the contents of an unnamed file, up to a limit. */
static void read_all(int fd, struct fz_buf *out)
{
	lseek(fd, 0, SEEK_SET);
	while (out && out->n < TEXT_MAX) {
		char *room = fz_buf_reserve(out, 65536);
		ssize_t n = read(fd, room, 65536);
		room[n > 0 ? n : 0] = 0;
		if (n <= 0)
			break;
		out->n += (size_t)n;
	}
}

int fz_repository_git(const struct fz_repository *r, const char *folder, const char *const words[],
		      struct fz_buf *out, struct fz_buf *why, int *ret_status, struct fz_error *err)
{
	fz_auto(fz_close_fd) int o = memfd_create("git", MFD_CLOEXEC);
	fz_auto(fz_close_fd) int e = memfd_create("git", MFD_CLOEXEC);

	if (o < 0 || e < 0)
		return fz_fail_errno(err, "memfd_create");
	struct fz_git_call c = { FZ_GIT_ACTS, folder ? folder : r->root, words, o, e, r->index };
	int rc = fz_git_call_run(&c, ret_status, err);
	read_all(o, out);
	read_all(e, why);
	return rc;
}

char *fz_repository_query(const struct fz_repository *r, const char *const words[])
{
	char *line = NULL;

	return query_git(r->root, words, &line, NULL, NULL) ? NULL : line;
}

char *fz_repository_remote(const struct fz_repository *r)
{
	static const char *const words[] = { "config", "--get", "remote.origin.url", NULL };

	return fz_repository_query(r, words);
}

char *fz_repository_untracked(const struct fz_repository *r)
{
	/* Bytecode follows from the source. */
	static const char *const words[] = { "--no-optional-locks",
					     "-c",
					     "core.fsmonitor=false",
					     "ls-files",
					     "-z",
					     "--others",
					     "--exclude-standard",
					     "--exclude=__pycache__/",
					     "--directory",
					     "--no-empty-directory",
					     NULL };
	fz_auto(fz_buf_release) struct fz_buf paths = { 0 };
	int status = 0;

	if (fz_repository_git(r, NULL, words, &paths, NULL, &status, NULL) || status || !paths.n)
		return NULL;
	return fz_strdup(paths.p);
}

bool fz_repository_is_shallow(const struct fz_repository *r)
{
	static const char *const words[] = { "rev-parse", "--is-shallow-repository", NULL };
	fz_auto(fz_free_ptr) char *answer = fz_repository_query(r, words);

	return answer && strcmp(answer, "true") == 0;
}

/* ---- checkouts ---- */

char *fz_checkout_top(const char *path)
{
	long n = fz_checkout_length(path);

	return n > 0 ? fz_strndup(path, (size_t)n) : NULL;
}

/* Reads a path, relative to a folder, from the first line of a small file and resolves links; NULL
 * if there is none.
 */
static char *path_in_file(const char *folder, const char *name, const char *key)
{
	fz_auto(fz_free_ptr) char *file = fz_asprintf("%s/%s", folder, name);
	fz_auto(fz_free_ptr) char *text = fz_read_small(file, 8192, NULL);

	if (!text || !fz_str_starts(fz_str_of(text), key))
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	const char *path = text + strlen(key);
	fz_auto(fz_free_ptr) char *from = fz_asprintf("%s/%s", folder, path);
	return realpath(*path == '/' ? path : from, NULL);
}

/* The repository folder that all its checkouts share. */
static char *common_folder(const char *top)
{
	fz_auto(fz_free_ptr) char *usual = fz_asprintf("%s/.git", top);
	fz_auto(fz_free_ptr) char *own = path_in_file(top, ".git", "gitdir: ");
	const char *git = own ? own : usual;
	char *common = path_in_file(git, "commondir", "");

	return common ? common : realpath(git, NULL);
}

bool fz_checkout_share_repository(const char *a, const char *b)
{
	fz_auto(fz_free_ptr) char *x = common_folder(a);
	fz_auto(fz_free_ptr) char *y = common_folder(b);

	return x && y && strcmp(x, y) == 0;
}

/* ---- worktrees ---- */

static bool write_file(const char *folder, const char *name, const char *bytes, size_t n)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", folder, name);
	fz_auto(fz_close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	return fd >= 0 && fz_write_full(fd, bytes, n);
}

/* Opens and locks a folder; -1 if it is locked by another process. */
static int lock_folder(const char *path, int how)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, how) == 0)
		return fd;
	fz_close_fd(&fd);
	return -1;
}

/* Moves git's data of a worktree into the worktree: a folder .git that refers to the repository's
 * as common folder. On failure the data stays in place. */
static void move_git_data(const char *folder)
{
	fz_auto(fz_free_ptr) char *admin = path_in_file(folder, ".git", "gitdir: ");
	fz_auto(fz_free_ptr) char *common = admin ? path_in_file(admin, "commondir", "") : NULL;
	fz_auto(fz_free_ptr) char *fresh = fz_asprintf("%s/.git-fizeau", folder);
	fz_auto(fz_free_ptr) char *git = fz_asprintf("%s/.git", folder);
	fz_auto(fz_free_ptr) char *line = fz_asprintf("%s\n", common ? common : "");
	static const char *const names[] = { "HEAD", "index", "config.worktree" };
	bool ok = common && mkdir(fresh, 0755) == 0 &&
		  write_file(fresh, "commondir", line, strlen(line));

	for (size_t i = 0; ok && i < FZ_ARRAY_LEN(names); i++) {
		fz_auto(fz_free_ptr) char *from = fz_asprintf("%s/%s", admin, names[i]);
		size_t n;
		fz_auto(fz_free_ptr) char *bytes = fz_read_small(from, INDEX_MAX, &n);
		if (bytes)
			ok = write_file(fresh, names[i], bytes, n);
	}
	if (!ok || unlink(git) || rename(fresh, git))
		fz_remove_folder(fresh, NULL);
	else
		fz_remove_folder(admin, NULL);
}

int fz_worktree_add(const struct fz_repository *r, const char *commit, const char *folder,
		    struct fz_error *err)
{
	const char *const words[] = {
		"worktree", "add", "--quiet", "--detach", folder, commit, NULL
	};
	int status = 0;

	fz_assert(folder[0] == '/' && commit[0] != '-'); /* so git takes neither for an option */
	/* Concurrent calls would choose the same name in the repository. */
	fz_auto(fz_close_fd) int lock = lock_folder(r->root, LOCK_EX);
	int rc = run_git(r->root, words, STDERR_FILENO, -1, &status, err);

	(void)lock;
	if (!rc && status)
		rc = fz_fail(err, FZ_EINPUT, "%s: git could not check out %.12s", folder, commit);
	if (!rc)
		move_git_data(folder);
	return rc;
}

/* Whether the worktree is registered in git. */
static bool is_registered(const char *folder)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/.git", folder);
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int fz_worktree_remove(const struct fz_repository *r, const char *folder, struct fz_error *err)
{
	/* --force twice: even with changes, and even if locked. Not 'git worktree prune', which
	 * would drop the user's worktrees on unmounted disks. */
	const char *const words[] = { "worktree", "remove", "--force", "--force", folder, NULL };
	int status = 0, rc = 0;

	if (access(folder, F_OK))
		return 0;
	if (is_registered(folder))
		rc = run_git(r->root, words, STDERR_FILENO, -1, &status, err);
	return rc ? rc : fz_remove_folder(folder, err);
}

/* ---- scratch folders ---- */

/* Unregisters a worktree in git; its messages are not relevant to the user. */
static void forget_worktree(const char *worktree)
{
	fz_auto(fz_free_ptr) char *repository = common_folder(worktree);
	fz_auto(fz_close_fd) int silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int status;

	if (!repository)
		return;
	const char *const words[] = { "--git-dir", repository, "worktree", "remove",
				      "--force",   "--force",  worktree,   NULL };
	run_git("/", words, silence, silence, &status, NULL);
}

/* Removes the part of a scratch folder outside of the cache, if it is still ours: it may have been
 * cleaned up and its name reused. */
static void remove_away(const char *folder)
{
	fz_auto(fz_free_ptr) char *link = fz_asprintf("%s/away", folder);
	fz_auto(fz_free_ptr) char *away = realpath(link, NULL);
	fz_auto(fz_free_ptr) char *mark = away ? fz_asprintf("%s/%s", away, mark_name) : NULL;
	fz_auto(fz_free_ptr) char *owner = mark ? realpath(mark, NULL) : NULL;
	fz_auto(fz_free_ptr) char *own = realpath(folder, NULL);

	if (owner && own && strcmp(owner, own) == 0)
		fz_remove_folder(away, NULL);
}

/* Worktrees are in the folder "base". */
void fz_scratch_clear(const char *folder)
{
	fz_auto(fz_free_ptr) char *base = fz_asprintf("%s/base", folder);
	DIR *d = opendir(base);

	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		fz_auto(fz_free_ptr) char *worktree = fz_asprintf("%s/%s", base, e->d_name);
		forget_worktree(worktree);
	}
	if (d)
		closedir(d);
	remove_away(folder);
	fz_remove_folder(folder, NULL);
}

static void clean_cache(const char *cache)
{
	DIR *d = opendir(cache);

	for (struct dirent *e; d && (e = readdir(d));) {
		fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", cache, e->d_name);
		if (strlen(e->d_name) != strlen(scratch_name) || strchr(e->d_name, '.'))
			continue;
		fz_auto(fz_close_fd) int lock = lock_folder(path, LOCK_EX | LOCK_NB);
		if (lock >= 0)
			fz_scratch_clear(path);
	}
	if (d)
		closedir(d);
}

int fz_scratch_make(const char *cache, struct fz_scratch *ret, struct fz_error *err)
{
	int rc = fz_make_folder(cache, err);

	if (rc)
		return rc;
	/* A new folder must not look abandoned before it is locked. */
	fz_auto(fz_close_fd) int busy = lock_folder(cache, LOCK_EX);
	(void)busy; /* held until the end */
	clean_cache(cache);
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", cache, scratch_name);
	if (!mkdtemp(path))
		return fz_fail_errno(err, "%s", path);
	ret->lock = lock_folder(path, LOCK_EX | LOCK_NB);
	/* Resolved, like paths of processes. */
	ret->path = realpath(path, NULL);
	return ret->path ? 0 : fz_fail_errno(err, "%s", path);
}

/* ---- paths of a given length ---- */

static size_t depth_of(const char *path)
{
	size_t n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

/* The part of a path after its first n folders: "/c/d" for "/a/b/c/d" and 2. */
static const char *path_after(const char *path, size_t n)
{
	for (; *path; path++)
		if (*path == '/' && n-- == 0)
			break;
	return path;
}

/* Creates a folder with a new name of n letters; false on failure. */
static bool make_new(char *path, char *name, size_t n)
{
	for (unsigned i = 0; i < PLACES_MAX; i++) {
		unsigned x = (unsigned)getpid() * 7919u + i;
		for (size_t k = 0; k < n; k++, x /= 26)
			name[k] = (char)('a' + x % 26);
		if (mkdir(path, 0700) == 0)
			return true;
		if (errno != EEXIST)
			break;
	}
	return false;
}

/* Returns a path below `folder` with the length and depth of `like`. Its first part below `folder`
 * is a new folder, which is created (ret_first); the others are as in `like`. NULL if
 * impossible. */
static char *make_similar(const char *folder, const char *like, char **ret_first)
{
	/* Resolved, like paths of processes, without a trailing slash. */
	fz_auto(fz_free_ptr) char *real = *folder == '/' ? realpath(folder, NULL) : NULL;
	const char *top = real && real[1] ? real : "";
	size_t have = depth_of(top), n = strlen(like);
	const char *rest = path_after(like, have + 1);
	struct statvfs fs;

	if (!real || depth_of(like) <= have || n < strlen(top) + 2 + strlen(rest) ||
	    statvfs(real, &fs) || fs.f_flag & ST_NOEXEC)
		return NULL;
	size_t name = strlen(top) + 1, first = n - name - strlen(rest);
	fz_auto(fz_free_ptr) char *path = fz_calloc(name + first + 1, 1);
	memcpy(path, top, name - 1);
	path[name - 1] = '/';
	if (!make_new(path, path + name, first))
		return NULL;
	char *all = fz_asprintf("%s%s", path, rest);
	*ret_first = fz_steal(path);
	return all;
}

bool fz_scratch_place(struct fz_scratch *s, const char *root)
{
	const char *const tops[] = { s->path, fz_temporary_folder(), "/tmp", "/" };
	fz_auto(fz_free_ptr) char *like = fz_strndup(root, (size_t)(strrchr(root, '/') - root));
	fz_auto(fz_free_ptr) char *base = fz_asprintf("%s/base", s->path);
	fz_auto(fz_free_ptr) char *away = fz_asprintf("%s/away", s->path);
	fz_auto(fz_free_ptr) char *first = NULL;

	for (size_t i = 0; i < FZ_ARRAY_LEN(tops) && !s->base; i++)
		s->base = make_similar(tops[i], like, &first);
	fz_auto(fz_free_ptr) char *mark = fz_asprintf("%s/%s", first ? first : "", mark_name);
	if (s->base && !symlink(s->path, mark) && !symlink(first, away) &&
	    !symlink(s->base, base) && !fz_make_folder(s->base, NULL))
		return true;
	if (first)
		fz_remove_folder(first, NULL);
	free(s->base);
	s->base = fz_steal(base);
	return false;
}

int fz_scratch_remove(struct fz_scratch *s, struct fz_error *err)
{
	if (s->path)
		remove_away(s->path);
	int rc = s->path ? fz_remove_folder(s->path, err) : 0;

	fz_close_fd(&s->lock);
	free(s->path);
	free(s->base);
	*s = FZ_SCRATCH_NONE;
	return rc;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

int fz_remove_folder(const char *path, struct fz_error *err)
{
	if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		return fz_fail_errno(err, "%s cannot be removed", path);
	return 0;
}
