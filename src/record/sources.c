/* SPDX-License-Identifier: MIT */
/* Source text of executed files.
 *
 *   profile functions --(new since the last step)--> file names --open as the target--> text
 *
 * The root and working folder of the process are kept open, so a file can still be found in a
 * container after the process has ended. One file is loaded at a time, between two instants.
 */
#include "record/sources.h"

#include "base/clock.h"
#include "base/identity.h"
#include "base/io.h"
#include "record/packages.h"
#include "record/process.h"
#include "record/procstat.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct fz_sources {
	struct fz_profile *profile;
	struct fz_map seen;     /* string index of a file -> 1 */
	uint32_t next_function; /* the first that was not examined */
	size_t bytes;           /* of text kept so far */
	int root, cwd;          /* of the process; -1: none yet */
	uid_t uid;
	gid_t gid;
	int64_t newest; /* ignore files modified after this Unix time; 0: no limit */
};

struct fz_sources *fz_sources_new(struct fz_profile *p)
{
	struct fz_sources *s = fz_calloc(1, sizeof(*s));

	s->profile = p;
	s->root = s->cwd = -1;
	return s;
}

void fz_sources_free(struct fz_sources *s)
{
	if (!s)
		return;
	fz_close_fd(&s->root);
	fz_close_fd(&s->cwd);
	fz_map_release(&s->seen);
	free(s);
}

static int open_folder(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)fz_process_live(pid), name);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* When a process started, in Unix seconds; 0 if unknown. */
static int64_t start_time(pid_t pid)
{
	struct fz_procstat now;

	if (!fz_procstat_read(pid, 0, &now))
		return 0;
	int64_t boot = (fz_clock_unix() - fz_clock_read(CLOCK_BOOTTIME)) / FZ_SECOND;
	return boot + (int64_t)now.start_time / sysconf(_SC_CLK_TCK) + 1;
}

void fz_sources_process(struct fz_sources *s, pid_t pid, bool started)
{
	char path[64];
	struct stat st;

	fz_close_fd(&s->root);
	fz_close_fd(&s->cwd);
	s->root = open_folder(pid, "root");
	s->cwd = open_folder(pid, "cwd");
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st))
		return;
	s->uid = st.st_uid;
	s->gid = st.st_gid;
	s->newest = started ? 0 : start_time(pid);
}

void fz_sources_ended(struct fz_sources *s, const char *folder, int64_t start_ns)
{
	fz_close_fd(&s->root);
	fz_close_fd(&s->cwd);
	s->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	s->cwd = open(folder ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	s->uid = geteuid();
	s->gid = getegid();
	s->newest = start_ns / FZ_SECOND;
}

static bool is_our_root(int folder)
{
	struct stat theirs, ours;

	return fstat(folder, &theirs) == 0 && stat("/", &ours) == 0 &&
	       theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

static int open_in_root(const struct fz_sources *s, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int folder = path[0] == '/' ? s->root : s->cwd;

	if (folder < 0)
		return -1;
	if (path[0] != '/')
		return openat(folder, path, (int)how.flags);
	int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
	/* openat2 is missing before Linux 5.6 and in some containers. Then only a process in our
	 * own root is safe: otherwise links would lead into ours. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM) && is_our_root(folder))
		fd = open(path, (int)how.flags);
	return fd;
}

/* Open with the rights of the target's user, so that a name made up by the target cannot expose a
 * file that only we may read. */
static int open_as_target(const struct fz_sources *s, const char *path)
{
	fz_identity_assume(s->uid, s->gid);
	int fd = open_in_root(s, path);
	fz_identity_drop();
	return fd;
}

static int open_package(void *sources, const char *path)
{
	return open_as_target(sources, path);
}

static void load(struct fz_sources *s, uint32_t file)
{
	struct fz_str name = fz_profile_text(s->profile, file);
	char path[4096];
	struct stat st;

	if (name.n == 0 || name.n >= sizeof(path) || name.p[0] == '<' || name.p[0] == '~' ||
	    memchr(name.p, 0, name.n))
		return;
	memcpy(path, name.p, name.n);
	path[name.n] = 0;
	fz_auto(fz_close_fd) int fd = open_as_target(s, path);
	if (fd < 0)
		return;
	fz_auto(fz_free_ptr) char *text = fz_read_text(
		fd, FZ_MIN((size_t)FZ_SOURCE_MAX_BYTES, FZ_SOURCES_MAX_BYTES - s->bytes), &st);
	if (!text || (s->newest && st.st_mtim.tv_sec > s->newest))
		return;
	fz_profile_add_source(s->profile, file, (struct fz_str){ text, (size_t)st.st_size });
	s->bytes += (size_t)st.st_size;
}

/* Examine one function; true if its file was loaded (or tried). */
static bool load_source_of(struct fz_sources *s, const struct fz_function *f, enum fz_kind kind)
{
	if (f->kind != kind)
		return false;
	uint32_t *slot = fz_map_slot(&s->seen, f->file);
	if (*slot != FZ_NONE)
		return false;
	*slot = 1;
	load(s, f->file);
	return true;
}

void fz_sources_step(struct fz_sources *s)
{
	while (s->next_function < s->profile->function_count)
		if (load_source_of(s, &s->profile->functions[s->next_function++], FZ_KIND_PYTHON))
			return;
}

void fz_sources_finish(struct fz_sources *s)
{
	while (s->next_function < s->profile->function_count)
		load_source_of(s, &s->profile->functions[s->next_function++], FZ_KIND_PYTHON);
}

void fz_sources_packages(struct fz_sources *s)
{
	fz_packages_record(s->profile, open_package, s);
}

void fz_sources_finish_native(struct fz_sources *s, struct fz_profile *p)
{
	s->profile = p;
	fz_map_clear(&s->seen);
	for (uint32_t i = 0; i < p->function_count; i++)
		load_source_of(s, &p->functions[i], FZ_KIND_NATIVE);
}
