/* SPDX-License-Identifier: MIT */
/* One line on a terminal during long work that prints nothing itself: reading a large file,
 * comparing, writing a page.
 *
 *   main      busy("reading a.fz") ------------------------------> end(): remove the line
 *   a thread       waits for the end; after a moment it prints the line and ends
 *
 * So short work prints nothing, and the work itself needs no calls. The thread only reads `line`,
 * which is complete before it starts. Only the main thread begins and ends. */
#include "cli/busy.h"

#include "base/str.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOMENT_NS = 500000000, TEXT_MAX = PATH_MAX + 256 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool runs; /* the thread is to be joined */
	bool ended, shown;
	char line[4 * TEXT_MAX];
} busy = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *show(void *arg)
{
	struct timespec until;
	int rc = 0;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += MOMENT_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&busy.lock);
	while (!busy.ended && !rc)
		rc = pthread_cond_timedwait(&busy.changed, &busy.lock, &until);
	if (!busy.ended) {
		fprintf(stderr, "fizeau: %s\r", busy.line);
		busy.shown = true;
	}
	pthread_mutex_unlock(&busy.lock);
	return NULL;
}

static bool start(void)
{
	pthread_condattr_t by_clock;

	pthread_condattr_init(&by_clock);
	pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
	pthread_cond_init(&busy.changed, &by_clock);
	pthread_condattr_destroy(&by_clock);
	busy.ended = busy.shown = false;
	/* If no thread can be started, no line is printed; that is not an error. */
	return pthread_create(&busy.thread, NULL, show, NULL) == 0;
}

void fz_cli_busy(const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	fz_cli_busy_end();
	if (!isatty(STDERR_FILENO))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fz_str_printable(text, strlen(text), busy.line, sizeof(busy.line));
	busy.runs = start();
}

void fz_cli_busy_end(void)
{
	if (!busy.runs)
		return;
	pthread_mutex_lock(&busy.lock);
	busy.ended = true;
	pthread_cond_signal(&busy.changed);
	pthread_mutex_unlock(&busy.lock);
	pthread_join(busy.thread, NULL);
	pthread_cond_destroy(&busy.changed);
	busy.runs = false;
	if (busy.shown)
		fputs("\r\033[K", stderr);
}
