/* SPDX-License-Identifier: MIT */
/* Searching a command and its descendants for the process to sample.
 *
 * An interpreter needs 10-15 ms from exec to its first Python frame, and a try costs tens of
 * microseconds. So there is one try per millisecond for as long as a shell usually takes to become
 * Python; then they thin out to one per 50 ms. The time of the last failed try is kept, because
 * code that ran since then was not sampled.
 */
#include "record/target.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "record/procstat.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum {
	PAUSE_FIRST_NS = 1000000,
	PAUSE_LAST_NS = 50000000,
	PAUSE_NATIVE_NS = 500000000, /* while another process is sampled */
	EAGER_NS = 500000000,        /* before tries thin out */
	GRACE_NS = 300000000,        /* for a shell to start its command */
	DESCENDANTS_MAX = 512,       /* examined in one try */
};

void fz_target_init(struct fz_target *t, pid_t root, const struct fz_python_options *options,
		    struct fz_profile *profile, struct fz_images *images)
{
	int64_t now = fz_clock_now();

	*t = (struct fz_target){ .root = root,
				 .options = *options,
				 .natives = true,
				 .profile = profile,
				 .images = images,
				 .since = now,
				 .last_try = now,
				 .next_try = now,
				 .pause = PAUSE_FIRST_NS };
}

/* Processes in the order in which they were found. */
struct found {
	pid_t pids[DESCENDANTS_MAX];
	size_t n;
};

static void add_children(struct found *f, pid_t pid)
{
	f->n += fz_procstat_children_of_all(pid, f->pids + f->n, DESCENDANTS_MAX - f->n);
}

/* True if a process is exiting, or was sampled and is still the same program. Its children, such as
 * multiprocessing's resource tracker, outlive it for a moment but must not be sampled. After an
 * exec it may be a shell that starts another interpreter. */
static bool has_had_its_turn(const struct fz_target *t, pid_t pid)
{
	char path[64], link[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)fz_process_live(pid));
	if (readlink(path, link, sizeof(link)) < 0 && errno == ENOENT)
		return true;
	return t->last.pid == pid && fz_process_same_image(&t->last);
}

static void remember(struct fz_target *t, pid_t pid)
{
	if (t->last.pid)
		fz_process_release(&t->last);
	if (fz_process_open(&t->last, pid, NULL))
		t->last = (struct fz_process){ 0 };
}

static bool open_process(struct fz_target *t, pid_t pid, struct fz_error *err)
{
	struct fz_python *python;
	struct fz_native *native = NULL;
	struct fz_python_options python_options = t->options;

	/* With native stacks, threads that never run Python are sampled, too. */
	python_options.left_out = t->stacks ? NULL : &t->left_out;
	if (fz_python_open(pid, &python_options, t->profile, &python, err))
		return false;
	struct fz_native_options options = { .all_threads = t->options.all_threads,
					     .left_out = &t->left_out,
					     .python = fz_python_info(python)->module };
	if (t->stacks && fz_native_open(pid, &options, t->images, t->profile, &native, err)) {
		fz_python_close(python);
		return false;
	}
	fz_native_close(t->native);
	t->native = native;
	t->python = python;
	t->pid = pid;
	t->opened++;
	remember(t, pid);
	return true;
}

/* Breadth first: nearest descendant, oldest first. */
static bool open_descendant(struct fz_target *t)
{
	struct found f;

	f.n = 0;
	if (!has_had_its_turn(t, t->root))
		add_children(&f, t->root);
	for (size_t i = 0; i < f.n; i++) {
		struct fz_error ignored;
		if (open_process(t, f.pids[i], &ignored))
			return true;
		if (!has_had_its_turn(t, f.pids[i]))
			add_children(&f, f.pids[i]);
	}
	return false;
}

/* ---- processes that are not Python ---- */

/* Programs that only run others and wait for them. */
static const char *const launchers[] = {
	"sh",     "bash",    "dash",   "zsh",       "ksh",     "fish",    "busybox",
	"env",    "make",    "ninja",  "nice",      "nohup",   "time",    "timeout",
	"stdbuf", "xargs",   "setsid", "setpriv",   "sudo",    "su",      "doas",
	"flock",  "taskset", "chrt",   "ionice",    "unshare", "nsenter", "chroot",
	"script", "uv",      "tini",   "dumb-init", "entr",
};

static bool is_launcher(const char *name)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(launchers); i++)
		if (strcmp(name, launchers[i]) == 0)
			return true;
	return false;
}

static bool exe_name(pid_t pid, char *out, size_t size)
{
	char path[64], link[4096];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)fz_process_live(pid));
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return false;
	link[n] = 0;
	snprintf(out, size, "%s", fz_path_base(fz_str_of(link)).p);
	return true;
}

/* True if a process should be sampled now; false for launchers and for interpreters that have not
 * started yet. */
static bool is_worker(const struct fz_target *t, pid_t pid, bool has_children)
{
	char name[256];

	if (!exe_name(pid, name, sizeof(name)))
		return false;
	bool python = strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0;
	if (!python && !is_launcher(name))
		return true;
	if (fz_clock_now() - t->since < GRACE_NS)
		return false;
	return python ? t->stacks : !(has_children && t->descendants);
}

/* The root or the nearest descendant that is a worker; 0 if there is none. */
static pid_t find_worker(const struct fz_target *t)
{
	struct found f;

	f.n = 0;
	add_children(&f, t->root);
	if (is_worker(t, t->root, f.n > 0))
		return t->root;
	for (size_t i = 0; t->descendants && i < f.n; i++) {
		size_t before = f.n;
		add_children(&f, f.pids[i]);
		if (is_worker(t, f.pids[i], f.n > before))
			return f.pids[i];
	}
	return 0;
}

/* True if native stacks must not replace Python: an interpreter was opened before, or the root
 * could not be opened for a reason to report. */
static bool is_refused(const struct fz_target *t)
{
	int code = t->why.code;

	return t->opened > 0 || (code != FZ_EAGAIN && !(t->stacks && code == FZ_EUNSUPPORTED));
}

static bool open_worker(struct fz_target *t)
{
	struct fz_native_options options = { .all_threads = t->options.all_threads,
					     .left_out = &t->left_out };
	pid_t pid = is_refused(t) ? 0 : find_worker(t);
	struct fz_error ignored;

	if (!pid || fz_native_open(pid, &options, t->images, t->profile, &t->native, &ignored))
		return false;
	t->pid = pid;
	t->entered++;
	t->next_try = fz_clock_now() + t->pause;
	return true;
}

/* ---- seeking ---- */

static bool open_python(struct fz_target *t)
{
	int64_t now = fz_clock_now();
	struct fz_error why;

	if (open_process(t, t->root, &why) || (t->descendants && open_descendant(t))) {
		t->why = (struct fz_error){ 0 };
		return true;
	}
	/* Keep an earlier refusal: the end of the process does not explain it. */
	if (why.code != FZ_EGONE || t->why.code == 0 || t->why.code == FZ_EAGAIN)
		t->why = why;
	t->last_try = now;
	return false;
}

static void try_later(struct fz_target *t, int64_t most)
{
	t->next_try = fz_clock_now() + t->pause;
	if (t->next_try - t->since > EAGER_NS)
		t->pause = FZ_MIN(t->pause + t->pause / 4, most);
}

bool fz_target_seek(struct fz_target *t)
{
	fz_assert(!fz_target_is_open(t));
	if (open_python(t) || (t->natives && open_worker(t)))
		return true;
	try_later(t, PAUSE_LAST_NS);
	return false;
}

bool fz_target_seek_python(struct fz_target *t)
{
	if (open_python(t))
		return true;
	try_later(t, PAUSE_NATIVE_NS);
	return false;
}

void fz_target_drop(struct fz_target *t)
{
	fz_python_close(t->python);
	t->python = NULL;
	fz_native_close(t->native);
	t->native = NULL;
	t->pause = PAUSE_FIRST_NS;
	t->since = t->last_try = fz_clock_now();
	t->next_try = t->since + t->pause;
}

void fz_target_release(struct fz_target *t)
{
	fz_target_drop(t);
	if (t->last.pid)
		fz_process_release(&t->last);
	fz_map_release(&t->left_out);
}
