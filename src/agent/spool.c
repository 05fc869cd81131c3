/* SPDX-License-Identifier: MIT */
/* The folder of pushes; see spool.h. The list in memory has the files of the folder by number:
 *
 *   list[first]  list[first + 1] ... list[n - 1]
 *      ^ sent next; dropped next, unless it is being sent
 */
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"

enum { BLOCK = 4096 };
#define FILE_MAX_BYTES ((size_t)1 << 30)
#define UNFINISHED "unfinished"

struct entry {
	uint64_t number;
	int64_t seconds;
	uint64_t bytes;
};

struct fz_agent_spool {
	pthread_mutex_t lock;
	const struct fz_notify *notify;
	char *folder;
	uint64_t limit, next, bytes, dropped;
	uint64_t busy; /* number of the push that is being sent; 0: none */
	int lock_fd;
	struct entry *list;
	size_t n, cap;
};

static char *path_of(const struct fz_agent_spool *s, const struct entry *e)
{
	return fz_asprintf("%s/%016llx-%lld.push", s->folder, (unsigned long long)e->number,
			   (long long)e->seconds);
}

static uint64_t on_disk(uint64_t bytes)
{
	return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

/* ---- opening ---- */

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return FZ_CMP(x->number, y->number);
}

/* Add a file to the list; ignores files with other names. */
static void add_file(struct fz_agent_spool *s, const char *name)
{
	unsigned long long number;
	long long seconds;
	struct stat st;
	int end = 0;

	if (sscanf(name, "%16llx-%lld.push%n", &number, &seconds, &end) != 2 || !end || name[end] ||
	    !number)
		return;
	struct entry e = { number, seconds, 0 };
	fz_auto(fz_free_ptr) char *path = path_of(s, &e);
	if (lstat(path, &st) || !S_ISREG(st.st_mode))
		return;
	e.bytes = on_disk((uint64_t)st.st_size);
	fz_push(s->list, s->n, s->cap, e);
	s->bytes += e.bytes;
	s->next = FZ_MAX(s->next, number + 1);
}

static int list_folder(struct fz_agent_spool *s, struct fz_error *err)
{
	DIR *dir = opendir(s->folder);

	if (!dir)
		return fz_fail_errno(err, "--spool %s", s->folder);
	for (struct dirent *e; (e = readdir(dir));)
		add_file(s, e->d_name);
	closedir(dir);
	if (s->n)
		qsort(s->list, s->n, sizeof(*s->list), compare);
	return 0;
}

static int claim(struct fz_agent_spool *s, bool waits, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/lock", s->folder);
	fz_auto(fz_free_ptr) char *rest = fz_asprintf("%s/" UNFINISHED, s->folder);
	struct stat st;

	if (stat(s->folder, &st))
		return fz_fail_errno(err, "--spool %s", s->folder);
	if (st.st_uid != geteuid() || st.st_mode & 022)
		return fz_fail(err, FZ_EUSAGE,
			       "--spool %s: the folder is writable by others; use a private one "
			       "(chmod 700)",
			       s->folder);
	s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock_fd < 0)
		return fz_fail_errno(err, "--spool %s: cannot write", s->folder);
	if (flock(s->lock_fd, LOCK_EX | (waits ? 0 : LOCK_NB)))
		return fz_fail(err, FZ_EUSAGE, "--spool %s: in use by another agent", s->folder);
	unlink(rest);
	return 0;
}

int fz_agent_spool_open(const char *folder, uint64_t limit, bool waits,
			const struct fz_notify *notify, struct fz_agent_spool **ret,
			struct fz_error *err)
{
	struct fz_agent_spool *s = fz_calloc(1, sizeof(*s));

	pthread_mutex_init(&s->lock, NULL);
	s->notify = notify;
	s->folder = fz_strdup(folder);
	s->limit = limit;
	s->next = 1;
	s->lock_fd = -1;
	int r = fz_make_folder(folder, err);
	if (r)
		fz_error_prefix(err, "--spool");
	if (!r)
		r = claim(s, waits, err);
	if (!r)
		r = list_folder(s, err);
	if (r)
		fz_agent_spool_close(s);
	else
		*ret = s;
	return r;
}

void fz_agent_spool_close(struct fz_agent_spool *s)
{
	if (!s)
		return;
	fz_close_fd(&s->lock_fd);
	pthread_mutex_destroy(&s->lock);
	free(s->folder);
	free(s->list);
	free(s);
}

/* ---- dropping ---- */

static void forget(struct fz_agent_spool *s, size_t i)
{
	fz_auto(fz_free_ptr) char *path = path_of(s, &s->list[i]);

	unlink(path);
	s->bytes -= s->list[i].bytes;
	memmove(&s->list[i], &s->list[i + 1], (--s->n - i) * sizeof(*s->list));
}

static void format_time(int64_t seconds, char *out, size_t size)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(out, size, "%Y-%m-%d %H:%M:%S UTC", &tm))
		snprintf(out, size, "%lld", (long long)seconds);
}

/* Drop the oldest pushes, except one that is being sent, until at most `most` bytes are left.
 * full: the reason. Returns false if there is none to drop. */
static bool drop_oldest(struct fz_agent_spool *s, uint64_t most, const char *full)
{
	char count[FZ_NUMBER_SIZE], from[64], to[64];
	int64_t first = INT64_MAX, last = INT64_MIN;
	uint64_t n = 0;

	for (size_t i = 0; i < s->n && s->bytes > most;) {
		if (s->list[i].number == s->busy) {
			i++;
			continue;
		}
		first = FZ_MIN(first, s->list[i].seconds);
		last = FZ_MAX(last, s->list[i].seconds);
		n++;
		forget(s, i);
	}
	if (!n)
		return false;
	s->dropped += n;
	format_time(first, from, sizeof(from));
	format_time(last, to, sizeof(to));
	fz_notify_warn(s->notify,
		       "the %s is full: dropped the oldest %s %s, recorded from %s to %s", full,
		       fz_format_count((int64_t)n, count), n == 1 ? "push" : "pushes", from, to);
	return true;
}

/* ---- adding ---- */

static bool write_file(int fd, const char *query, struct fz_str body)
{
	return fz_write_full(fd, query, strlen(query)) && fz_write_full(fd, "\n", 1) &&
	       fz_write_full(fd, body.p, body.n) && fdatasync(fd) == 0;
}

/* The caller holds s->lock. */
static int write_entry(struct fz_agent_spool *s, const struct entry *e, const char *query,
		       struct fz_str body, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = path_of(s, e);
	fz_auto(fz_free_ptr) char *rest = fz_asprintf("%s/" UNFINISHED, s->folder);
	fz_auto(fz_close_fd) int fd =
		open(rest, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0 && write_file(fd, query, body) && rename(rest, path) == 0)
		return 0;
	fz_fail_errno(err, "%s: cannot be written", path);
	unlink(rest);
	return err->code;
}

/* If the disk is full, it may be so because of others, so only the space for this push is freed. */
static int write_newest(struct fz_agent_spool *s, const struct entry *e, const char *query,
			struct fz_str body, struct fz_error *err)
{
	drop_oldest(s, s->limit - e->bytes, "spool");
	int r = write_entry(s, e, query, body, err);

	if (r && (err->sys_errno == ENOSPC || err->sys_errno == EDQUOT) &&
	    drop_oldest(s, s->bytes - FZ_MIN(s->bytes, e->bytes), "disk"))
		r = write_entry(s, e, query, body, err);
	return r;
}

int fz_agent_spool_add(struct fz_agent_spool *s, const char *query, struct fz_str body,
		       int64_t unix_seconds, struct fz_error *err)
{
	uint64_t bytes = on_disk(strlen(query) + 1 + body.n);
	char size[FZ_NUMBER_SIZE], when[64];
	int r = 0;

	pthread_mutex_lock(&s->lock);
	struct entry e = { s->next, unix_seconds, bytes };
	if (bytes > s->limit) {
		s->dropped++;
		format_time(unix_seconds, when, sizeof(when));
		fz_notify_warn(s->notify, "dropped a push from %s: its %s exceed --spool-limit",
			       when, fz_format_value((double)bytes, "bytes", size));
	} else {
		r = write_newest(s, &e, query, body, err);
	}
	if (!r && bytes <= s->limit) {
		s->next++;
		fz_push(s->list, s->n, s->cap, e);
		s->bytes += bytes;
	}
	s->dropped += r != 0;
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* ---- sending ---- */

static bool read_entry(const struct fz_agent_spool *s, const struct entry *e,
		       struct fz_agent_spooled *ret)
{
	fz_auto(fz_free_ptr) char *path = path_of(s, e);
	size_t n = 0;
	char *text = fz_read_small(path, FILE_MAX_BYTES, &n);
	char *end = text ? memchr(text, '\n', n) : NULL;

	if (!end) {
		free(text);
		return false;
	}
	*end = '\0';
	*ret = (struct fz_agent_spooled){
		.number = e->number,
		.unix_seconds = e->seconds,
		.text = text,
		.query = { text, (size_t)(end - text) },
		.body = { end + 1, n - (size_t)(end + 1 - text) },
	};
	return true;
}

bool fz_agent_spool_first(struct fz_agent_spool *s, struct fz_agent_spooled *ret)
{
	bool found = false;

	pthread_mutex_lock(&s->lock);
	while (s->n && !found) {
		found = read_entry(s, &s->list[0], ret);
		if (found)
			break;
		fz_notify_warn(s->notify, "%s: dropped an unreadable push", s->folder);
		s->dropped++;
		forget(s, 0);
	}
	s->busy = found ? ret->number : 0;
	pthread_mutex_unlock(&s->lock);
	return found;
}

void fz_agent_spooled_release(struct fz_agent_spooled *p)
{
	free(p->text);
	*p = (struct fz_agent_spooled){ 0 };
}

void fz_agent_spool_remove(struct fz_agent_spool *s, uint64_t number)
{
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->n; i++) {
		if (s->list[i].number != number)
			continue;
		forget(s, i);
		break;
	}
	s->busy = 0;
	pthread_mutex_unlock(&s->lock);
}

struct fz_agent_spool_counts fz_agent_spool_count(struct fz_agent_spool *s)
{
	pthread_mutex_lock(&s->lock);
	struct fz_agent_spool_counts c = { s->n, s->bytes, s->dropped };
	pthread_mutex_unlock(&s->lock);
	return c;
}
