/* SPDX-License-Identifier: MIT */
/* Commands for a sampler, one per line; see control.h. */
#include "record/control.h"

#include "base/clock.h"
#include "profile/mark.h"

#include <stdio.h>

static void enable(struct fz_sampler *s, struct fz_buf *ret)
{
	fz_sampler_pause(s, false);
	fz_buf_str(ret, "ok");
}

static void disable(struct fz_sampler *s, struct fz_buf *ret)
{
	fz_sampler_pause(s, true);
	fz_buf_str(ret, "ok");
}

static void ping(struct fz_sampler *s, struct fz_buf *ret)
{
	(void)s;
	fz_buf_str(ret, "ok");
}

/* True and False, as CPython's profiler prints them: scripts compare with these words. */
static const char *truth(bool is)
{
	return is ? "True" : "False";
}

static void status(struct fz_sampler *s, struct fz_buf *ret)
{
	fz_buf_printf(ret, "ok enabled=%s attached=%s samples=%llu seconds=%.3f", truth(!s->paused),
		      truth(s->open_n > 0), (unsigned long long)s->samples,
		      (double)(fz_clock_now() - s->sampling->start) / 1e9);
}

/* End the recording and keep it, as when the duration is over. */
static void quit(struct fz_sampler *s, struct fz_buf *ret)
{
	if (!s->end)
		s->end = FZ_END_TIME;
	fz_buf_str(ret, "ok");
}

/* Flush what was recorded so far to the file; the recording continues. */
static void save(struct fz_sampler *s, struct fz_buf *ret)
{
	struct fz_error err;

	if (!s->writer)
		fz_buf_str(ret, "err no recording in progress");
	else if (fz_file_writer_save(s->writer, &err))
		fz_buf_printf(ret, "err %s", err.message);
	else
		fz_buf_printf(ret, "ok samples=%llu", (unsigned long long)s->samples);
}

/* "mark TEXT": add a mark to the recording's timeline. */
static void mark(struct fz_sampler *s, struct fz_str text, struct fz_buf *ret)
{
	int64_t now = FZ_MAX(fz_clock_now() - s->sampling->start, 0);

	if (fz_profile_add_mark(s->profile, now, text))
		fz_buf_printf(ret, "ok %.3f", (double)now / 1e9);
	else
		fz_buf_printf(ret,
			      "err a marker requires a text, and a recording can have at most %d",
			      FZ_PROFILE_MARKS);
}

static const struct {
	const char *word;
	void (*run)(struct fz_sampler *s, struct fz_buf *ret);
} commands[] = {
	{ "enable", enable }, { "disable", disable }, { "ping", ping },
	{ "status", status }, { "save", save },       { "quit", quit },
};

static const char marking[] = "mark ";

static void answer(void *arg, struct fz_str line, struct fz_buf *ret)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(commands); i++) {
		if (fz_str_eq(line, fz_str_of(commands[i].word))) {
			commands[i].run(arg, ret);
			return;
		}
	}
	if (fz_str_starts(line, marking)) {
		line.p += strlen(marking);
		line.n -= strlen(marking);
		mark(arg, line, ret);
		return;
	}
	fz_buf_str(ret, "err unknown command; use one of");
	for (size_t i = 0; i < FZ_ARRAY_LEN(commands); i++)
		fz_buf_printf(ret, " %s", commands[i].word);
	fz_buf_str(ret, " mark");
}

int fz_control_open(const char *uri, struct fz_sampler *s, struct fz_lineserver **ret,
		    struct fz_error *err)
{
	static const char scheme[] = "unix:";
	const char *path = uri + strlen(scheme);

	if (!fz_str_starts(fz_str_of(uri), scheme) || !*path)
		return fz_fail(err, FZ_EUSAGE, "invalid --control '%s': use unix:PATH", uri);
	int rc = fz_lineserver_new(path, answer, s, ret, err);
	if (rc)
		fz_error_prefix(err, "--control");
	return rc;
}

void fz_control_uri(pid_t pid, char out[FZ_CONTROL_URI_SIZE])
{
	snprintf(out, FZ_CONTROL_URI_SIZE, "unix:@fizeau-recorder-%d", (int)pid);
}
