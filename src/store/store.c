/* SPDX-License-Identifier: MIT */
/* The local store. */
#include "store/store.h"

#include "base/buf.h"
#include "base/io.h"
#include "base/text.h"
#include "format/format.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PROGRAM_MAX = 60, TRIES_MAX = 100, HASH_MAX = 64 };

char *fz_store_folder(const char *cwd)
{
	size_t n = strlen(cwd);

	for (;;) {
		fz_auto(fz_free_ptr) char *git = fz_asprintf("%.*s/.git", (int)n, cwd);
		if (access(git, F_OK) == 0)
			return fz_asprintf("%.*s/.fizeau", (int)n, cwd);
		if (n == 0)
			break;
		while (n > 0 && cwd[--n] != '/')
			;
	}
	return fz_asprintf("%s/.fizeau", strcmp(cwd, "/") == 0 ? "" : cwd);
}

/* ---- new recordings ---- */

/* Whose files we make, for this thread. Root in somebody's folder ("run fizeau with sudo" is our
 * own advice) makes them as their owner would, who could neither read them nor record there again
 * otherwise; and follows no link that the owner could not. */
static void act_as(uid_t user, gid_t group)
{
	if (geteuid() != 0)
		return;
	setfsgid(user ? group : getegid());
	setfsuid(user);
}

static void act_as_owner(const char *folder)
{
	size_t n = strlen(folder) - fz_path_base(fz_str_of(folder)).n;
	fz_auto(fz_free_ptr) char *above = fz_strndup(folder, n);
	struct stat st;

	if (stat(folder, &st) == 0 || stat(above, &st) == 0)
		act_as(st.st_uid, st.st_gid);
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

/* A file name's part: what could trouble a shell becomes "_". */
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

static int create(const char *folder, const char *program, char **ret_path, int *ret_fd,
		  struct fz_error *err)
{
	char name[PROGRAM_MAX + 1];
	struct timespec now;
	struct tm utc;

	if (make_folder(folder, err))
		return fz_error_prefix(err, "the store cannot be used; name a file with -o");
	clean_program(program, name);
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	fz_auto(fz_free_ptr) char *path = fz_asprintf(
		"%s/%04d%02d%02d-%02d%02d%02d-%03ld-%s-%d.fz", folder, utc.tm_year + 1900,
		utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
		now.tv_nsec / 1000000, name[0] ? name : "_", getpid());
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return fz_fail_errno(err, "%s", path);
	*ret_path = fz_steal(path);
	*ret_fd = fd;
	return 0;
}

int fz_store_create(const char *folder, const char *program, char **ret_path, int *ret_fd,
		    struct fz_error *err)
{
	act_as_owner(folder);
	int rc = create(folder, program, ret_path, ret_fd, err);
	act_as(0, 0);
	return rc;
}

/* ---- listing ---- */

static int newest_first(const void *a, const void *b)
{
	return -strcmp(*(char *const *)a, *(char *const *)b);
}

int fz_store_list(const char *folder, struct fz_store_list *ret, struct fz_error *err)
{
	struct fz_store_list l = { 0 };
	DIR *dir = opendir(folder);

	if (!dir && errno != ENOENT)
		return fz_fail_errno(err, "%s", folder);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct fz_str name = fz_str_of(e->d_name);
		if (name.p[0] == '.' || !fz_str_ends(name, ".fz"))
			continue;
		fz_grow(l.paths, l.n, l.cap);
		l.paths[l.n++] = fz_asprintf("%s/%s", folder, e->d_name);
	}
	if (dir)
		closedir(dir);
	if (l.n)
		qsort(l.paths, l.n, sizeof(*l.paths), newest_first);
	*ret = l;
	return 0;
}

void fz_store_list_release(struct fz_store_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->paths[i]);
	free(l->paths);
	*l = (struct fz_store_list){ 0 };
}

static int list_here(struct fz_store_list *ret, struct fz_error *err)
{
	char cwd[4096];

	if (!getcwd(cwd, sizeof(cwd)))
		return fz_fail_errno(err, "the current folder");
	fz_auto(fz_free_ptr) char *folder = fz_store_folder(cwd);
	return fz_store_list(folder, ret, err);
}

int fz_store_facts(const char *path, struct fz_profile **ret, struct fz_error *err)
{
	return fz_format_load_facts(path, ret, err);
}

/* ---- names of recordings ---- */

static int nth_latest(const char *digits, char **ret, struct fz_error *err)
{
	fz_auto(fz_store_list_release) struct fz_store_list l = { 0 };
	char count[FZ_NUMBER_SIZE];
	uint64_t n;

	if (!fz_parse_u64(fz_str_of(digits), INT32_MAX, &n) || n == 0)
		return fz_fail(err, FZ_EUSAGE, "@%s: write @1 for the latest recording", digits);
	if (list_here(&l, err))
		return err ? err->code : FZ_ESYSTEM;
	if (n > l.n)
		return fz_fail(err, FZ_EINPUT,
			       "@%s: the store holds %s; 'fizeau list' shows what there is", digits,
			       fz_format_plural((int64_t)l.n, "recording", count));
	*ret = fz_steal(l.paths[n - 1]);
	return 0;
}

/* The commit that git takes a revision for. */
static bool git_commit(const char *revision, char out[HASH_MAX + 1])
{
	fz_auto(fz_free_ptr) char *spec = fz_asprintf("%s^{commit}", revision);
	char *argv[] = { (char *)"git",
			 (char *)"rev-parse",
			 (char *)"--verify",
			 (char *)"--quiet",
			 (char *)"--end-of-options",
			 spec,
			 NULL };
	posix_spawn_file_actions_t files;
	int pipe_fds[2];
	pid_t pid;

	if (revision[0] == 0 || pipe2(pipe_fds, O_CLOEXEC))
		return false;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, pipe_fds[1], 1);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	int code = posix_spawnp(&pid, "git", &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	close(pipe_fds[1]);
	ssize_t n = code ? 0 : read(pipe_fds[0], out, HASH_MAX);
	close(pipe_fds[0]);
	if (!code)
		waitpid(pid, NULL, 0);
	out[FZ_MAX(n, 0)] = 0;
	out[strcspn(out, "\n")] = 0;
	return out[0] != 0;
}

static int latest_at_commit(const char *revision, const char *commit, char **ret,
			    struct fz_error *err)
{
	fz_auto(fz_store_list_release) struct fz_store_list l = { 0 };

	if (list_here(&l, err))
		return err ? err->code : FZ_ESYSTEM;
	for (size_t i = 0; i < l.n; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		if (fz_store_facts(l.paths[i], &p, NULL))
			continue; /* still being written, or damaged */
		if (!fz_str_eq(fz_profile_fact(p, "git.commit"), fz_str_of(commit)))
			continue;
		*ret = fz_steal(l.paths[i]);
		return 0;
	}
	return fz_fail(err, FZ_EINPUT,
		       "'%s': the store has no recording of commit %.12s; 'fizeau run' makes one",
		       revision, commit);
}

int fz_store_resolve(const char *name, char **ret_path, struct fz_error *err)
{
	char commit[HASH_MAX + 1];

	if (strcmp(name, "-") == 0 || access(name, F_OK) == 0) {
		*ret_path = fz_strdup(name);
		return 0;
	}
	int reason = errno;
	if (name[0] == '@' && isdigit((unsigned char)name[1]))
		return nth_latest(name + 1, ret_path, err);
	if (git_commit(name, commit))
		return latest_at_commit(name, commit, ret_path, err);
	errno = reason;
	if (reason != ENOENT)
		return fz_fail_errno(err, "%s", name);
	return fz_fail(err, FZ_EINPUT, "%s: no such file, recording or git revision", name);
}

/* The same script, module or executable, whatever it was called by. */
static bool same_program(const struct fz_profile *a, const struct fz_profile *b)
{
	struct fz_str x = fz_profile_fact(a, "script"), y = fz_profile_fact(b, "script");

	if (x.n && y.n)
		return fz_str_eq(x, y);
	return fz_str_eq(fz_profile_fact(a, "program"), fz_profile_fact(b, "program"));
}

int fz_store_last_two(char **ret_base, char **ret_head, struct fz_error *err)
{
	fz_auto(fz_store_list_release) struct fz_store_list l = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *head = NULL;
	size_t at = 0;

	if (list_here(&l, err))
		return err ? err->code : FZ_ESYSTEM;
	while (at < l.n && fz_store_facts(l.paths[at], &head, NULL))
		at++;
	for (size_t i = at + 1; head && i < l.n; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *base = NULL;
		if (fz_store_facts(l.paths[i], &base, NULL) || !same_program(base, head))
			continue;
		*ret_head = fz_steal(l.paths[at]);
		*ret_base = fz_steal(l.paths[i]);
		return 0;
	}
	return fz_fail(err, FZ_EINPUT,
		       "the store holds no two recordings of the same program; 'fizeau run' makes "
		       "them");
}
