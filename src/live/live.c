/* SPDX-License-Identifier: MIT */
/* The view thread: waits for keys, batches, terminal signals and the redraw timer. */
#include "live/live.h"

#include "base/clock.h"
#include "format/format.h"
#include "live/view.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define REFRESH_NS (100 * FZ_MS)
#define EAGER_NS (300 * FZ_MS)

enum { NICE = 5 };

struct fz_live {
	struct fz_live_options options;
	struct fz_live_view view;
	struct fz_live_feed feed;
	pthread_t thread;
	int signal_fd; /* of the terminal's signals */
	int stop_fd;   /* eventfd: the sampling has ended */
	const char *how;
	bool over;     /* the view has read stop_fd */
	bool leaving;  /* the user has left, or the terminal is gone */
	int64_t drawn; /* time of the last drawing */
	bool dirty;    /* draw before the timer */
	int64_t first; /* fz_clock_now() of the first batch; 0: none yet */
};

/* ---- saving ---- */

/* Save a copy: the recording so far is an incomplete file. Read it, add the facts from the
 * recorder, and write it as a complete recording. */
static int save_copy(struct fz_live *l, const struct fz_live_facts *facts, char **ret_path,
		     struct fz_error *err)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	int rc = fz_format_load(l->options.recording, &p, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < facts->n; i++) {
		fz_auto(fz_free_ptr) char *key = fz_strndup(facts->keys[i].p, facts->keys[i].n);
		fz_profile_set_fact(p, key, facts->values[i]);
	}
	for (uint32_t i = 0; i < facts->source_n; i++)
		fz_profile_add_source(
			p, fz_profile_string(p, facts->files[i]),
			(struct fz_str){ facts->sources[i].text, facts->sources[i].size });
	p->recording = facts->recording;
	p->quality = facts->quality;
	if (p->run_count)
		p->runs[0] = facts->run;
	else
		fz_profile_add_run(p, &facts->run);
	rc = l->options.new_copy(l->options.arg, ret_path, err);
	if (!rc)
		rc = fz_format_save(p, &fz_format_fz, *ret_path, err);
	if (!rc) {
		char n[FZ_NUMBER_SIZE];
		fz_live_view_message(
			&l->view, "saved %s so far to %s",
			fz_format_plural((int64_t)fz_profile_sample_total(p), "sample", n),
			*ret_path);
	}
	return rc;
}

static void add_facts(struct fz_live *l)
{
	struct fz_live_facts *facts = fz_live_feed_take_facts(&l->feed);
	fz_auto(fz_free_ptr) char *path = NULL;
	struct fz_error err = { .message = "cannot write the recording" };

	if (!facts)
		return;
	if (facts->error || save_copy(l, facts, &path, &err))
		fz_live_view_message(&l->view, "not saved: %s", err.message);
	fz_live_facts_free(facts);
	l->dirty = true;
}

/* ---- events ---- */

static void add_batch(struct fz_live *l)
{
	if (l->view.frozen)
		return;
	struct fz_live_batch *b = fz_live_feed_take(&l->feed);
	if (!b)
		return;
	fz_live_model_add(&l->view.model, b);
	fz_live_batch_free(b);
	if (!l->first)
		l->first = fz_clock_now();
	/* Draw more often at the start, until there is something to show. */
	l->dirty |= fz_clock_now() - l->first < EAGER_NS;
}

/* Restore the terminal and stop the process; take the terminal again when continued. */
static void suspend(struct fz_live *l)
{
	fz_live_screen_leave(&l->view.screen);
	/* Sent to this thread, so that it stops before it takes the terminal again. */
	raise(SIGSTOP);
	fz_live_screen_return(&l->view.screen);
	l->view.suspend = false;
	l->dirty = true;
}

static void read_keys(struct fz_live *l)
{
	struct fz_live_view *v = &l->view;
	bool was_frozen = v->frozen;
	wint_t key;
	int kind;

	while ((kind = get_wch(&key)) != ERR) {
		if (kind == KEY_CODE_YES && key == KEY_RESIZE)
			continue;
		fz_live_view_key(v, key, kind == KEY_CODE_YES);
		l->dirty = true;
	}
	if (was_frozen && !v->frozen)
		add_batch(l);
	if (v->suspend)
		suspend(l);
	if (v->save) {
		v->save = false;
		if (l->over) {
			fz_live_view_message(v, "the program has ended; the recording is complete");
		} else {
			fz_live_feed_want_facts(&l->feed);
			fz_live_view_message(v, "saving ...");
		}
	}
	/* The sampler's thread handles it like an external signal. */
	if (v->quit && !l->over && !l->leaving) {
		l->leaving = true;
		kill(getpid(), SIGTERM);
	}
}

static void read_signals(struct fz_live *l)
{
	struct signalfd_siginfo info;

	while (read(l->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTSTP) {
			suspend(l);
		} else {
			fz_live_screen_resize(&l->view.screen);
			clearok(stdscr, TRUE);
			l->dirty = true;
		}
	}
}

static void drain(int fd)
{
	uint64_t count;

	while (read(fd, &count, sizeof(count)) == sizeof(count))
		;
}

static void draw(struct fz_live *l)
{
	fz_live_view_draw(&l->view);
	l->drawn = fz_clock_now();
	l->dirty = false;
}

/* The sampling has ended: close the view, unless it is frozen. */
static void end_view(struct fz_live *l)
{
	struct fz_live_view *v = &l->view;

	drain(l->stop_fd);
	l->over = true;
	if (l->leaving || !v->frozen || !l->how) {
		v->quit = true;
		return;
	}
	snprintf(v->ended, sizeof(v->ended), "%s", l->how);
	fz_live_view_message(v, "the program has ended; q quits");
	l->dirty = true;
}

static void wait_for_something(struct fz_live *l)
{
	int64_t left = l->drawn + l->view.refresh - fz_clock_now();
	struct pollfd fds[] = {
		{ .fd = l->view.screen.fd, .events = POLLIN },
		{ .fd = l->feed.wake, .events = POLLIN },
		{ .fd = l->signal_fd, .events = POLLIN },
		{ .fd = l->stop_fd, .events = POLLIN },
		{ .fd = l->over ? l->options.signals : -1, .events = POLLIN },
	};

	if (poll(fds, FZ_ARRAY_LEN(fds), l->dirty ? 0 : (int)(FZ_MAX(left, 0) / FZ_MS) + 1) <= 0)
		return;
	if (fds[2].revents)
		read_signals(l);
	if (fds[1].revents) {
		drain(l->feed.wake);
		add_batch(l);
		add_facts(l);
	}
	if (fds[3].revents)
		end_view(l);
	if (fds[4].revents)
		l->view.quit = true;
	if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) {
		l->view.quit = true; /* the terminal is gone */
		if (!l->over && !l->leaving)
			kill(getpid(), SIGTERM);
		l->leaving = true;
	} else if (fds[0].revents) {
		read_keys(l);
	}
}

static void *run_view(void *arg)
{
	struct fz_live *l = arg;

	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	draw(l);
	while (!l->view.quit || !l->over) {
		wait_for_something(l);
		if (l->view.quit && !l->over && l->leaving) {
			/* From now on, only wait for the end of sampling. */
			struct pollfd fd = { .fd = l->stop_fd, .events = POLLIN };
			if (poll(&fd, 1, -1) > 0)
				end_view(l);
			continue;
		}
		if (l->dirty || fz_clock_now() - l->drawn >= l->view.refresh)
			draw(l);
	}
	return NULL;
}

/* ---- beginning and end ---- */

int fz_live_check(struct fz_error *err)
{
	return fz_live_screen_check(err);
}

static int begin(struct fz_live *l, struct fz_error *err)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGWINCH);
	sigaddset(&mask, SIGTSTP);
	sigaddset(&mask, SIGCONT);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	l->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	l->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->signal_fd < 0 || l->stop_fd < 0)
		return fz_fail_errno(err, "the live view");
	int rc = fz_live_screen_open(&l->view.screen, l->options.color, err);
	if (rc)
		return rc;
	if (pthread_create(&l->thread, NULL, run_view, l)) {
		fz_live_screen_close(&l->view.screen);
		return fz_fail(err, FZ_ESYSTEM, "the live view: cannot start a thread");
	}
	return 0;
}

static void release(struct fz_live *l)
{
	fz_live_calls_release(&l->view.calls);
	fz_sources_free(l->view.sources);
	fz_live_model_release(&l->view.model);
	fz_live_feed_release(&l->feed);
	fz_close_fd(&l->signal_fd);
	fz_close_fd(&l->stop_fd);
	free(l);
}

int fz_live_start(const struct fz_live_options *options, struct fz_live **ret, struct fz_error *err)
{
	struct fz_live *l = fz_calloc(1, sizeof(*l));

	l->options = *options;
	l->signal_fd = l->stop_fd = -1;
	fz_live_model_init(&l->view.model);
	l->view.options = &l->options;
	l->view.began = fz_clock_now();
	l->view.refresh = REFRESH_NS;
	l->view.trends = true;
	l->view.selected = l->view.calls_of = FZ_NONE;
	l->view.sources = fz_sources_new(l->view.model.mirror);
	int rc = fz_live_feed_init(&l->feed, err);
	if (!rc)
		rc = begin(l, err);
	if (rc) {
		release(l);
		return rc;
	}
	*ret = l;
	return 0;
}

void fz_live_stop(struct fz_live *l, const char *how)
{
	uint64_t one = 1;

	if (!l)
		return;
	l->how = how;
	if (write(l->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(l->thread, NULL);
	fz_live_screen_close(&l->view.screen);
	release(l);
}

void fz_live_sample(struct fz_live *l, const struct fz_sampler *s, const struct fz_sample *sample,
		    int64_t weight)
{
	fz_live_feed_add(&l->feed, s, sample, weight);
}

void fz_live_tick(struct fz_live *l, const struct fz_sampler *s)
{
	fz_live_feed_tick(&l->feed, s);
}
