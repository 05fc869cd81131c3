/* SPDX-License-Identifier: MIT */
/* The local store. */
#include "store/store.h"

#include "base/checkout.h"
#include "base/clock.h"
#include "git/command.h"
#include "base/identity.h"
#include "base/io.h"
#include "base/text.h"
#include "format/format.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAM_MAX = 60 };

char *fz_store_folder(const char *cwd)
{
	long n = fz_checkout_length(cwd);

	if (n != FZ_NO_CHECKOUT)
		return fz_asprintf("%.*s/.fizeau", (int)n, cwd);
	return fz_asprintf("%s/.fizeau", strcmp(cwd, "/") == 0 ? "" : cwd);
}

/* ---- new recordings ---- */

/* As root we act as the owner of the folder (we ourselves advise running fizeau with sudo), so that
 * the owner can read the files and record again, and so that links only lead where the owner may
 * go. If the store is a link, its owner is that of the link. */
static void act_as_owner(const char *folder)
{
	size_t n = strlen(folder) - fz_path_base(fz_str_of(folder)).n;
	fz_auto(fz_free_ptr) char *above = fz_strndup(folder, n);
	struct stat st;

	if (lstat(folder, &st) == 0 || stat(above, &st) == 0)
		fz_identity_assume(st.st_uid, st.st_gid);
}

/* Likewise for a recording. */
static void act_as_owner_of(const char *path)
{
	size_t n = strlen(path) - fz_path_base(fz_str_of(path)).n;
	fz_auto(fz_free_ptr) char *folder = fz_strndup(path, n ? n - 1 : 0);

	act_as_owner(folder);
}

static int make_folder(const char *folder, struct fz_error *err)
{
	if (fz_make_folder(folder, err))
		return err ? err->code : FZ_ESYSTEM;
	fz_auto(fz_free_ptr) char *ignore = fz_asprintf("%s/.gitignore", folder);
	int fd = open(ignore, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EEXIST ? 0 : fz_fail_errno(err, "%s", ignore);
	bool ok = fz_write_full(fd, "*\n", 2);
	int rc = ok ? 0 : fz_fail_errno(err, "%s", ignore);
	close(fd);
	return rc;
}

/* Converts a program to a part of a file name, with "_" for characters that are special in
 * shells. */
static void clean_program(const char *program, char out[PROGRAM_MAX + 1])
{
	size_t n = 0;

	for (; program[n] && n < PROGRAM_MAX; n++) {
		unsigned char c = (unsigned char)program[n];
		out[n] = isalnum(c) || strchr("._+", c) ? (char)c : '_';
	}
	out[n] = 0;
	if (out[0] == '.')
		out[0] = '_';
}

/* Creates a file that is locked before it is visible. On a file system without locks, unfinished
 * files look complete. */
static int create_locked(const char *folder, char **path, char **ret_path, int *ret_fd,
			 struct fz_error *err)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	fz_auto(fz_free_ptr) char *hidden =
		fz_asprintf("%s/.%s", folder, fz_path_base(fz_str_of(*path)).p);
	int fd = open(hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return fz_fail_errno(err, "%s", *path);
	fcntl(fd, F_OFD_SETLK, &all);
	if (rename(hidden, *path)) {
		int rc = fz_fail_errno(err, "%s", *path);
		unlink(hidden);
		close(fd);
		return rc;
	}
	*ret_path = *path;
	*path = NULL;
	*ret_fd = fd;
	return 0;
}

static int create(const char *folder, const char *program, char **ret_path, int *ret_fd,
		  struct fz_error *err)
{
	char name[PROGRAM_MAX + 1];
	struct timespec now;
	struct tm utc;

	if (make_folder(folder, err))
		return fz_error_prefix(err, "the store cannot be used; specify a file with -o");
	clean_program(program, name);
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	fz_auto(fz_free_ptr) char *path = fz_asprintf(
		"%s/%04d%02d%02d-%02d%02d%02d-%03ld-%s-%d.fz", folder, utc.tm_year + 1900,
		utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
		now.tv_nsec / 1000000, name[0] ? name : "_", getpid());
	return create_locked(folder, &path, ret_path, ret_fd, err);
}

int fz_store_create(const char *folder, const char *program, char **ret_path, int *ret_fd,
		    struct fz_error *err)
{
	act_as_owner(folder);
	int rc = create(folder, program, ret_path, ret_fd, err);
	fz_identity_drop();
	return rc;
}

static bool holds_recordings(const char *folder)
{
	bool any = false;
	DIR *dir = opendir(folder);

	for (struct dirent *e; dir && !any && (e = readdir(dir));)
		any = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		      strcmp(e->d_name, ".gitignore") != 0;
	if (dir)
		closedir(dir);
	return !dir || any;
}

void fz_store_discard(const char *path)
{
	const char *name = fz_path_base(fz_str_of(path)).p;
	fz_auto(fz_free_ptr) char *folder = fz_strndup(path, (size_t)(name - path));
	fz_auto(fz_free_ptr) char *ignore = fz_asprintf("%s.gitignore", folder);

	act_as_owner_of(path);
	unlink(path);
	if (!holds_recordings(folder)) {
		unlink(ignore);
		rmdir(folder);
	}
	fz_identity_drop();
}

int fz_store_save(const struct fz_profile *p, const char *path, struct fz_error *err)
{
	act_as_owner_of(path);
	int rc = fz_format_save(p, &fz_format_fz, path, err);
	fz_identity_drop();
	return rc;
}

int fz_store_remove(const char *path, struct fz_error *err)
{
	act_as_owner_of(path);
	/* Naming a recording twice in a command is not an error. */
	int rc = unlink(path) && errno != ENOENT ? fz_fail_errno(err, "%s", path) : 0;
	fz_identity_drop();
	return rc;
}

/* ---- listing ---- */

static int newest_first(const void *a, const void *b)
{
	return -strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whether a recording is still being written. */
static bool is_open(const char *path)
{
	struct flock any = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	fz_auto(fz_close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd >= 0 && fcntl(fd, F_OFD_GETLK, &any) == 0 && any.l_type == F_WRLCK;
}

static void add_path(struct fz_store_list *l, char *path)
{
	fz_push(l->paths, l->n, l->cap, path);
}

static void sort(struct fz_store_list *l)
{
	if (l->n)
		qsort(l->paths, l->n, sizeof(*l->paths), newest_first);
}

int fz_store_list(const char *folder, struct fz_store_list *ret, struct fz_store_list *ret_open,
		  struct fz_error *err)
{
	struct fz_store_list done = { 0 }, open = { 0 };
	DIR *dir = opendir(folder);

	if (!dir && errno != ENOENT)
		return fz_fail_errno(err, "%s", folder);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct fz_str name = fz_str_of(e->d_name);
		if (name.p[0] == '.' || !fz_str_ends(name, ".fz"))
			continue;
		char *path = fz_asprintf("%s/%s", folder, e->d_name);
		add_path(is_open(path) ? &open : &done, path);
	}
	if (dir)
		closedir(dir);
	sort(&done);
	sort(&open);
	*ret = done;
	if (ret_open)
		*ret_open = open;
	else
		fz_store_list_release(&open);
	return 0;
}

void fz_store_list_release(struct fz_store_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->paths[i]);
	free(l->paths);
	*l = (struct fz_store_list){ 0 };
}

int fz_store_list_here(struct fz_store_list *ret, struct fz_store_list *ret_open,
		       struct fz_error *err)
{
	char cwd[4096];

	if (!getcwd(cwd, sizeof(cwd)))
		return fz_fail_errno(err, "the current folder");
	fz_auto(fz_free_ptr) char *folder = fz_store_folder(cwd);
	return fz_store_list(folder, ret, ret_open, err);
}

bool fz_store_parse_name(const char *path, struct fz_store_name *ret)
{
	struct tm utc = { 0 };
	int milliseconds, at = 0;
	struct fz_str name = fz_path_base(fz_str_of(path));

	if (sscanf(name.p, "%4d%2d%2d-%2d%2d%2d-%3d-%n", &utc.tm_year, &utc.tm_mon, &utc.tm_mday,
		   &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &milliseconds, &at) != 7 ||
	    at == 0)
		return false;
	struct fz_str rest = { name.p + at, name.n - (size_t)at };
	uint64_t pid;
	const char *dash = strrchr(rest.p, '-');
	if (!dash || !fz_str_ends(rest, ".fz"))
		return false;
	struct fz_str number = { dash + 1, (size_t)(rest.p + rest.n - dash) - 4 };
	if (!fz_parse_u64(number, INT32_MAX, &pid))
		return false;
	utc.tm_year -= 1900;
	utc.tm_mon -= 1;
	ret->start_unix_ns = timegm(&utc) * FZ_SECOND + milliseconds * FZ_MS;
	ret->program = (struct fz_str){ rest.p, (size_t)(dash - rest.p) };
	ret->pid = (pid_t)pid;
	return true;
}

int fz_store_facts(const char *path, struct fz_profile **ret, struct fz_error *err)
{
	return fz_format_load_facts(path, ret, err);
}

/* ---- names of recordings ---- */

static int nth_latest(const char *digits, char **ret, struct fz_error *err)
{
	fz_auto(fz_store_list_release) struct fz_store_list l = { 0 };
	fz_auto(fz_store_list_release) struct fz_store_list open = { 0 };
	char count[FZ_NUMBER_SIZE];
	uint64_t n;

	if (!fz_parse_u64(fz_str_of(digits), INT32_MAX, &n) || n == 0)
		return fz_fail(err, FZ_EUSAGE, "invalid recording '@%s'; @1 is the latest", digits);
	if (fz_store_list_here(&l, &open, err))
		return err ? err->code : FZ_ESYSTEM;
	if (n > l.n)
		return fz_fail(err, FZ_EINPUT,
			       "@%s: no such recording; the store has %s%s ('fizeau list')", digits,
			       fz_format_plural((int64_t)l.n, "recording", count),
			       open.n ? " that is complete" : "");
	*ret = fz_steal(l.paths[n - 1]);
	return 0;
}

/* Resolves a revision to a commit; NULL if invalid. The caller frees. */
static char *git_commit(const char *revision)
{
	fz_auto(fz_free_ptr) char *spec = fz_asprintf("%s^{commit}", revision);
	const char *const words[] = { "rev-parse",        "--verify", "--quiet",
				      "--end-of-options", spec,       NULL };
	char *commit = NULL;

	if (revision[0] == 0 || fz_git_call_line(FZ_GIT_ASKS, NULL, words, &commit, NULL, NULL))
		return NULL;
	return commit;
}

static int latest_at_commit(const char *revision, const char *commit, char **ret,
			    struct fz_error *err)
{
	fz_auto(fz_store_list_release) struct fz_store_list l = { 0 };

	if (fz_store_list_here(&l, NULL, err))
		return err ? err->code : FZ_ESYSTEM;
	for (size_t i = 0; i < l.n; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		if (fz_store_facts(l.paths[i], &p, NULL))
			continue; /* damaged */
		if (!fz_str_eq(fz_profile_fact(p, "git.commit"), fz_str_of(commit)))
			continue;
		*ret = fz_steal(l.paths[i]);
		return 0;
	}
	return fz_fail(
		err, FZ_EINPUT,
		"'%s': no recording of commit %.12s in the store; use 'fizeau run' to make one",
		revision, commit);
}

int fz_store_resolve(const char *name, char **ret_path, struct fz_error *err)
{
	if (strcmp(name, "-") == 0 || access(name, F_OK) == 0) {
		*ret_path = fz_strdup(name);
		return 0;
	}
	int reason = errno;
	if (name[0] == '@' && isdigit((unsigned char)name[1]))
		return nth_latest(name + 1, ret_path, err);
	fz_auto(fz_free_ptr) char *commit = git_commit(name);
	if (commit)
		return latest_at_commit(name, commit, ret_path, err);
	errno = reason;
	if (reason != ENOENT)
		return fz_fail_errno(err, "%s", name);
	return fz_fail(err, FZ_EINPUT, "%s: no such file, recording or git revision%s", name,
		       *name && strchr(name + 1, '@')
			       ? "; use 'fizeau diff --server URL' to compare releases"
			       : "");
}
