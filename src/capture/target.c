/* SPDX-License-Identifier: MIT */
/* Searching the sampled process among a command and its descendants.
 *
 * An interpreter needs 10-15 ms from exec to its first Python frame and a try costs tens of
 * microseconds, so tries begin each millisecond and thin out to one each 50 ms.
 */
#include "capture/target.h"

#include "base/io.h"
#include "base/str.h"
#include "capture/rate.h"

#include <dirent.h>
#include <stdio.h>

enum {
	PAUSE_FIRST_NS = 1000000,
	PAUSE_LAST_NS = 50000000,
	DESCENDANTS_MAX = 512, /* looked at in one try */
	CHILDREN_TEXT_MAX = 65536,
};

void fz_target_init(struct fz_target *t, pid_t root, const struct fz_python_options *options,
		    struct fz_profile *profile)
{
	*t = (struct fz_target){ .root = root,
				 .options = *options,
				 .profile = profile,
				 .next_try = fz_clock_now(),
				 .pause = PAUSE_FIRST_NS };
}

struct family {
	pid_t pids[DESCENDANTS_MAX];
	size_t n;
};

/* Append the children that one thread has started. */
static void add_children_of_thread(struct family *f, pid_t pid, const char *tid)
{
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", pid, tid);
	char *text = fz_read_small(path, CHILDREN_TEXT_MAX, &n);
	char *end = text;
	for (char *p = text; p && *p && f->n < DESCENDANTS_MAX; p = end) {
		long child = strtol(p, &end, 10);
		if (end == p)
			break;
		f->pids[f->n++] = (pid_t)child;
	}
	free(text);
}

static void add_children(struct family *f, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *dir = opendir(path);
	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir));)
		if (e->d_name[0] != '.')
			add_children_of_thread(f, pid, e->d_name);
	closedir(dir);
}

static bool open_process(struct fz_target *t, pid_t pid, struct fz_error *err)
{
	struct fz_python *python;

	if (fz_python_open(pid, &t->options, t->profile, &python, err))
		return false;
	t->python = python;
	t->pid = pid;
	t->opened++;
	return true;
}

/* Breadth first: nearest descendant, oldest first. */
static bool open_descendant(struct fz_target *t)
{
	struct family f;

	f.n = 0;
	add_children(&f, t->root);
	for (size_t i = 0; i < f.n; i++) {
		struct fz_error ignored;
		if (open_process(t, f.pids[i], &ignored))
			return true;
		add_children(&f, f.pids[i]);
	}
	return false;
}

bool fz_target_seek(struct fz_target *t)
{
	fz_assert(!t->python);
	if (open_process(t, t->root, &t->why) || (t->descendants && open_descendant(t)))
		return true;
	t->next_try = fz_clock_now() + t->pause;
	t->pause = FZ_MIN(t->pause + t->pause / 4, PAUSE_LAST_NS);
	return false;
}

void fz_target_drop(struct fz_target *t)
{
	fz_python_close(t->python);
	t->python = NULL;
	t->pause = PAUSE_FIRST_NS;
	t->next_try = fz_clock_now() + t->pause;
}
