/* SPDX-License-Identifier: MIT */
/* Set up the live view: redirect the program's output meanwhile, and copy the recording to the
 * store.
 *
 * Output of the program to the terminal would overwrite the view, so it goes to an unnamed file.
 * The view can show it, and it is printed at the end. Redirected output is left alone.
 */
#include "cli/watch.h"

#include "record/process.h"
#include "store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRINT_MAX = 1 << 20 };

static int open_collector(struct fz_error *err)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/fizeau-XXXXXX", fz_temporary_folder());
	int fd = mkostemp(path, O_CLOEXEC | O_APPEND);
	if (fd < 0)
		return fz_fail_errno(err, "%s: cannot create a temporary file; set TMPDIR", path);
	unlink(path);
	return fd;
}

int fz_watch_prepare(struct fz_watch *w, bool collect, struct fz_error *err)
{
	int rc = fz_live_check(err);

	*w = (struct fz_watch){ .output = -1, .place = { .output = -1, .errors = -1 } };
	if (rc || !collect)
		return rc;
	w->place.no_input = isatty(STDIN_FILENO);
	bool output = isatty(STDOUT_FILENO), errors = isatty(STDERR_FILENO);
	if (!output && !errors)
		return 0;
	w->output = open_collector(err);
	if (w->output < 0)
		return w->output;
	w->place.output = output ? w->output : -1;
	w->place.errors = errors ? w->output : -1;
	return 0;
}

void fz_watch_title(struct fz_watch *w, char *const words[])
{
	struct fz_buf b = { 0 };

	for (size_t i = 0; words[i]; i++)
		fz_buf_printf(&b, "%s%s", i ? " " : "", words[i]);
	free(w->title);
	w->title = fz_buf_take(&b);
}

void fz_watch_title_of(struct fz_watch *w, pid_t pid)
{
	char path[64];
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)fz_process_live(pid));
	free(w->title);
	w->title = fz_read_small(path, 65536, &n);
	if (!w->title)
		w->title = fz_strdup("");
	while (n && !w->title[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!w->title[i])
			w->title[i] = ' ';
}

/* Copies that the user makes with the key `w` go to the store. */
static int new_copy(void *arg, char **ret_path, struct fz_error *err)
{
	const struct fz_watch *w = arg;
	char cwd[4096];
	int fd = -1;

	if (!getcwd(cwd, sizeof(cwd)))
		return fz_fail_errno(err, "the current folder");
	fz_auto(fz_free_ptr) char *folder = fz_store_folder(cwd);
	int rc = fz_store_create(folder, w->program, ret_path, &fd, err);
	fz_close_fd(&fd);
	return rc;
}

static void on_second(void *arg, const struct fz_sampler *s)
{
	const struct fz_watch *w = arg;

	if (w->live)
		fz_live_tick(w->live, s);
}

static void on_sample(void *arg, const struct fz_sampler *s, const struct fz_sample *sample,
		      int64_t weight)
{
	const struct fz_watch *w = arg;

	fz_live_sample(w->live, s, sample, weight);
}

struct fz_record_callbacks fz_watch_callbacks(struct fz_watch *w)
{
	return (struct fz_record_callbacks){ .on_second = on_second,
					     .on_sample = on_sample,
					     .arg = w };
}

int fz_watch_begin(struct fz_watch *w, const struct fz_record *r, enum fz_color_when color,
		   struct fz_error *err)
{
	struct fz_live_options live = { .title = w->title,
					.pid = r->sampling.pid,
					.started = r->sampling.started,
					.clock = r->options->clock,
					.rate = r->options->rate,
					.color = color,
					.output = w->output,
					.signals = r->signal_fd,
					.recording = r->path,
					.new_copy = new_copy,
					.arg = w };

	return fz_live_start(&live, &w->live, err);
}

void fz_watch_end(struct fz_watch *w, const char *how)
{
	fz_live_stop(w->live, how);
	w->live = NULL;
}

bool fz_watch_left(const struct signalfd_siginfo *info)
{
	return info->ssi_code == SI_USER && (pid_t)info->ssi_pid == getpid();
}

static void print_collected(int from)
{
	struct stat st;
	char text[65536];
	off_t at = 0;

	fflush(stdout);
	if (fstat(from, &st) || st.st_size == 0)
		return;
	if (st.st_size > PRINT_MAX) {
		at = st.st_size - PRINT_MAX;
		fprintf(stderr, "fizeau: the program printed %lld bytes; the last %d bytes:\n",
			(long long)st.st_size, PRINT_MAX);
	}
	for (ssize_t n; (n = pread(from, text, sizeof(text), at)) > 0; at += n)
		if (!fz_write_full(STDERR_FILENO, text, (size_t)n))
			break;
}

void fz_watch_release(struct fz_watch *w)
{
	if (w->output >= 0)
		print_collected(w->output);
	fz_close_fd(&w->output);
	free(w->title);
	*w = (struct fz_watch){ .output = -1 };
}
