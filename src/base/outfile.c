/* SPDX-License-Identifier: MIT */
/* Chooses and replaces output files; see outfile.h.
 *
 *   -o a -> b -> /data/c       links, each checked in its folder
 *              /data/c.x7k2q9  written to, then renamed over /data/c
 *
 * The kernel's fs.protected_symlinks, _fifos and _regular only apply to opening files, and may be
 * off. So their rule is applied here to renames, too: in a sticky, world-writable folder, only
 * files of ours or of the folder's owner are followed or replaced.
 */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "clock.h"
#include "map.h"
#include "str.h"

enum { LINKS_MAX = 40, NAMES_MAX = 100 };

static bool is_foreign(const char *folder, const struct stat *st)
{
	struct stat above;

	return stat(folder, &above) == 0 && above.st_mode & S_ISVTX && above.st_mode & S_IWOTH &&
	       st->st_uid != geteuid() && st->st_uid != above.st_uid;
}

/* Links in /proc refer to descriptors; their text may not be a path. */
static bool is_in_proc(const char *folder)
{
	struct statfs fs;

	return statfs(folder, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Target of a link in a folder; the caller frees. NULL with errno set. */
static char *next_of(const char *folder, const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		return NULL;
	target[n] = 0;
	return target[0] == '/' ? fz_strdup(target) : fz_asprintf("%s%s", folder, target);
}

int fz_outfile_resolve(const char *path, char **ret, bool *ret_direct, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *at = fz_strdup(path);
	struct stat st;

	for (int i = 0; i < LINKS_MAX; i++) {
		struct fz_str above = fz_path_folder(fz_str_of(at));
		fz_auto(fz_free_ptr) char *folder = fz_strndup(above.p, above.n);
		bool exists = lstat(at, &st) == 0, link = exists && S_ISLNK(st.st_mode);
		if (exists && is_foreign(folder, &st))
			return fz_fail(err, FZ_EPERM,
				       "%s: belongs to another user (%u) in a folder that is "
				       "writable by all; use another file",
				       at, (unsigned)st.st_uid);
		bool proc = link && is_in_proc(folder);
		if (!link || proc) {
			*ret_direct = proc || (exists && !S_ISREG(st.st_mode));
			*ret = fz_steal(at);
			return 0;
		}
		char *next = next_of(folder, at);
		if (!next)
			return fz_fail_errno(err, "%s: cannot be written", path);
		free(at);
		at = next;
	}
	errno = ELOOP;
	return fz_fail_errno(err, "%s: cannot be written", path);
}

/* ---- the new file ---- */

/* Creates a temporary file in the same folder. NULL with errno set. */
static char *create_beside(const char *path, mode_t mode, int *ret_fd)
{
	uint64_t dice = (uint64_t)fz_clock_now() ^ (uint64_t)getpid() << 40;

	/* The name may be predictable, so only a new file is opened. */
	for (int i = 0; i < NAMES_MAX; i++) {
		dice = fz_hash64(dice + 1);
		char *name = fz_asprintf("%s.%06llx", path, (unsigned long long)(dice & 0xffffff));
		*ret_fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (*ret_fd >= 0)
			return name;
		int code = errno;
		free(name);
		errno = code;
		if (code != EEXIST)
			break;
	}
	return NULL;
}

/* Copies mode and owner, so that nobody else can read the new file. */
static void copy_permissions(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & 0777;

	if (fchown(fd, old->st_uid, old->st_gid) && fchown(fd, (uid_t)-1, old->st_gid))
		mode = (mode & ~(mode_t)070) | (mode & 7) << 3;
	/* Ignore file systems without modes. */
	(void)!fchmod(fd, mode);
}

static int open_beside(struct fz_outfile *f, const char *name, int *ret_fd, struct fz_error *err)
{
	struct stat st;
	bool exists = stat(f->path, &st) == 0;

	/* A file without write permission must not be replaced. */
	if (exists && access(f->path, W_OK))
		return fz_fail_errno(err, "%s: cannot be written", name);
	f->temporary = create_beside(f->path, exists ? 0600 : 0666, ret_fd);
	if (!f->temporary)
		return fz_fail_errno(err, "%s: cannot be written", name);
	if (exists)
		copy_permissions(*ret_fd, &st);
	f->replaces = exists && st.st_size > 0;
	return 0;
}

int fz_outfile_open(struct fz_outfile *f, const char *path, int *ret_fd, struct fz_error *err)
{
	struct stat st;
	bool direct;

	*f = (struct fz_outfile){ 0 };
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return fz_fail(err, FZ_EUSAGE, "%s: is a folder; specify a file to write", path);
	int rc = fz_outfile_resolve(path, &f->path, &direct, err);
	if (rc || !direct)
		return rc ? rc : open_beside(f, path, ret_fd, err);
	*ret_fd = open(f->path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
	return *ret_fd < 0 ? fz_fail_errno(err, "%s: cannot be written", path) : 0;
}

/* Syncs the data, so that after a crash there is either the old file or the new one; some file
 * systems do not support it. */
static bool is_safe(const struct fz_outfile *f, int fd)
{
	return !f->temporary || !f->replaces || fsync(fd) == 0 || errno == EINVAL;
}

bool fz_outfile_commit(struct fz_outfile *f, int fd)
{
	bool safe = is_safe(f, fd);
	int code = errno;

	if (close(fd) && safe)
		return false;
	errno = code;
	if (!safe || (f->temporary && rename(f->temporary, f->path)))
		return false;
	free(fz_steal(f->temporary));
	return true;
}

void fz_outfile_release(struct fz_outfile *f)
{
	if (f->temporary)
		unlink(f->temporary);
	free(f->temporary);
	free(f->path);
	*f = (struct fz_outfile){ 0 };
}
