/* SPDX-License-Identifier: MIT */
/* The loop of the server.
 *
 *   stdin  --lines-->  protocol  --request-->  one process per call
 *   stdout <--lines--     ^------ progress, result ------'  over a pipe, one JSON value per line
 *
 * Each call runs in its own process. So a bad recording can crash only that process, whose memory
 * is freed with it; calls can be cancelled; and pings are answered during a call. The handle
 * outlives the call, so it comes back over the pipe.
 *
 * A process is stopped with SIGTERM. A comparison then stops its runs and cleans up; after a
 * timeout it answers with the runs that it has. SIGKILL follows if the process does not exit.
 */
#include "mcp/mcp.h"

#include "base/clock.h"
#include "base/io.h"
#include "git/worktree.h"
#include "format/jsonread.h"
#include "mcp/protocol.h"
#include "mcp/tools.h"
#include "bench/checkout.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Limits: concurrent processes; bytes of output; ns to exit after SIGTERM. */
enum { PROCESSES_MAX = 8, SAID_MAX = 1 << 20, CHUNK = 1 << 16 };
#define PATIENCE (20 * FZ_SECOND)

struct process {
	pid_t pid; /* 0: none */
	int fd;
	struct fz_mcp_request *request; /* NULL: it was cancelled */
	struct fz_buf said;
	bool measures;    /* a measurement is running */
	int64_t deadline; /* when to send the next signal */
	int signal;       /* the last one sent; 0: none yet */
};

struct server {
	const struct fz_mcp_options *options;
	struct fz_mcp_protocol protocol;
	struct fz_mcp_handles handles;
	struct fz_scratch scratch;
	struct process processes[PROCESSES_MAX];
	struct fz_buf line;
	bool too_long; /* the current line is too long, and taken in parts */
	int in, out, signals;
	sigset_t old_mask;
	bool deaf; /* the client has closed its end */
};

/* ---- the process of a call ---- */

static void say(int fd, json_t *value)
{
	fz_auto(fz_free_ptr) char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17));

	if (text && fz_write_full(fd, text, strlen(text)))
		fz_write_full(fd, "\n", 1);
	json_decref(value);
}

static void on_notice(void *arg, enum fz_notice kind, const char *text)
{
	const int *fd = arg;
	char safe[1024];

	if (kind == FZ_NOTICE_NOTE || !*text)
		return;
	size_t n = fz_str_printable(text, strlen(text), safe, sizeof(safe));
	say(*fd, json_pack("{s:o}", "progress", json_stringn(safe, n)));
}

/* Standard streams go to /dev/null; progress and result go to the pipe. */
_Noreturn static void run_call(struct server *s, const struct fz_mcp_request *r, int fd)
{
	struct fz_notify notify = { .call = on_notice, .arg = &fd };
	struct fz_mcp_call call = { .options = s->options,
				    .handles = &s->handles,
				    .scratch = s->scratch.path,
				    .notify = &notify };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		_exit(1);
	sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
	json_t *empty = json_object();
	json_t *result =
		fz_mcp_tool_run(r->tool, &call, r->arguments ? r->arguments : empty, r->structures);
	json_t *handle = fz_mcp_handles_added(&s->handles);
	say(fd, handle ? json_pack("{s:o, s:o}", "result", result, "handle", handle)
		       : json_pack("{s:o}", "result", result));
	_exit(0);
}

static json_t *failure(const char *text)
{
	return json_pack("{s:[{s:s, s:s}], s:b}", "content", "type", "text", "text", text,
			 "isError", 1);
}

/* Why a call cannot be started now; NULL: it can. */
static const char *obstacle(const struct server *s, const struct fz_mcp_request *r,
			    struct process **ret)
{
	const char *why = "eight calls are running; wait for one to finish";

	for (size_t i = 0; i < PROCESSES_MAX; i++) {
		if (s->processes[i].pid && s->processes[i].measures && r->tool->measures)
			return "a measurement is running, and a second one would disturb it; wait "
			       "for it or cancel it";
		if (!s->processes[i].pid) {
			*ret = (struct process *)&s->processes[i];
			why = NULL;
		}
	}
	return why;
}

static void begin(void *arg, struct fz_mcp_request *r)
{
	struct server *s = arg;
	struct process *p = NULL;
	const char *why = obstacle(s, r, &p);
	int pipes[2];
	pid_t parent = getpid();

	if (!why && pipe2(pipes, O_CLOEXEC))
		why = "too many open files";
	if (why) {
		fz_mcp_finish(&s->protocol, r, failure(why));
		return;
	}
	s->handles.next++;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(1);
		run_call(s, r, pipes[1]);
	}
	close(pipes[1]);
	if (pid < 0) {
		close(pipes[0]);
		fz_mcp_finish(&s->protocol, r, failure("cannot start a process"));
		return;
	}
	*p = (struct process){ .pid = pid,
			       .fd = pipes[0],
			       .request = r,
			       .measures = r->tool->measures,
			       .deadline = fz_clock_now() + s->options->timeout * FZ_SECOND };
}

/* ---- its end ---- */

static void end_process(struct process *p)
{
	kill(p->pid, p->signal ? SIGKILL : SIGTERM);
	p->signal = p->signal ? SIGKILL : SIGTERM;
	p->deadline = fz_clock_now() + PATIENCE;
}

static void cancel(void *arg, struct fz_mcp_request *r)
{
	struct server *s = arg;

	for (size_t i = 0; i < PROCESSES_MAX; i++) {
		struct process *p = &s->processes[i];
		if (!p->pid || p->request != r)
			continue;
		p->request = NULL;
		end_process(p);
	}
}

/* The result of a call whose process ended without an answer. */
static json_t *lost(const struct server *s, const struct process *p, int status)
{
	char text[200];

	if (p->signal)
		snprintf(text, sizeof(text),
			 "the call timed out after %d seconds; the user sets this with fizeau mcp "
			 "--timeout",
			 s->options->timeout);
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof(text),
			 "the call crashed with signal %d; this is a bug in fizeau",
			 WTERMSIG(status));
	else
		snprintf(text, sizeof(text), "the call ended without an answer");
	return failure(text);
}

static void reap(struct server *s, struct process *p)
{
	int status = 0;

	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (p->request)
		fz_mcp_finish(&s->protocol, p->request, lost(s, p, status));
	close(p->fd);
	fz_buf_release(&p->said);
	*p = (struct process){ 0 };
}

/* Also take the handles of cancelled calls, because their files must be removed. */
static void read_output(struct server *s, struct process *p, struct fz_str line)
{
	fz_auto(fz_jsonread_release) json_t *v = json_loadb(line.p, line.n, 0, NULL);
	const json_t *progress = json_object_get(v, "progress");
	json_t *result = json_object_get(v, "result");

	fz_mcp_handles_take(&s->handles, json_object_get(v, "handle"));
	if (!p->request)
		return;
	if (progress)
		fz_mcp_progress(&s->protocol, p->request, fz_jsonread_str(progress));
	if (!result)
		return;
	struct fz_mcp_request *r = fz_steal(p->request);
	p->measures = false;
	fz_mcp_finish(&s->protocol, r, json_incref(result));
}

/* The next complete line of a buffer; after the last one, the rest is moved to the front. */
static bool next_line(struct fz_buf *b, size_t *at, struct fz_str *ret)
{
	const char *end = b->n > *at ? memchr(b->p + *at, '\n', b->n - *at) : NULL;

	if (!end) {
		if (*at)
			memmove(b->p, b->p + *at, b->n - *at);
		b->n -= *at;
		return false;
	}
	*ret = (struct fz_str){ b->p + *at, (size_t)(end - (b->p + *at)) };
	*at = (size_t)(end - b->p) + 1;
	return true;
}

static void listen_to(struct server *s, struct process *p)
{
	ssize_t n = read(p->fd, fz_buf_reserve(&p->said, CHUNK), CHUNK);
	struct fz_str line;
	size_t at = 0;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		reap(s, p);
		return;
	}
	p->said.n += (size_t)n;
	while (next_line(&p->said, &at, &line))
		read_output(s, p, line);
	if (p->said.n > SAID_MAX)
		end_process(p);
}

/* ---- the client ---- */

static void send(void *arg, struct fz_str line)
{
	struct server *s = arg;

	if (!s->deaf && (!fz_write_full(s->out, line.p, line.n) || !fz_write_full(s->out, "\n", 1)))
		s->deaf = true;
}

/* Read from the client; false at the end of input. */
static bool listen_to_client(struct server *s)
{
	ssize_t n = read(s->in, fz_buf_reserve(&s->line, CHUNK), CHUNK);
	struct fz_str line;
	size_t at = 0;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0)
		return false;
	s->line.n += (size_t)n;
	while (next_line(&s->line, &at, &line)) {
		if (!s->too_long && line.n <= FZ_MCP_LINE_MAX) {
			fz_mcp_take(&s->protocol, line);
			continue;
		}
		fz_mcp_take_part(&s->protocol, line);
		fz_mcp_end_parts(&s->protocol);
		s->too_long = false;
	}
	if (s->line.n > FZ_MCP_LINE_MAX) {
		fz_mcp_take_part(&s->protocol, fz_buf_view(&s->line));
		s->too_long = true;
		s->line.n = 0;
	}
	return true;
}

/* ---- the loop ---- */

/* Milliseconds to the next deadline; -1 if there is none. */
static int until_deadline(const struct server *s, int64_t now)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < PROCESSES_MAX; i++)
		if (s->processes[i].pid)
			least = FZ_MIN(least, s->processes[i].deadline);
	if (least == INT64_MAX)
		return -1;
	return (int)(FZ_MAX(least - now, 0) / 1000000) + 1;
}

static void end_late(struct server *s)
{
	int64_t now = fz_clock_now();

	for (size_t i = 0; i < PROCESSES_MAX; i++)
		if (s->processes[i].pid && s->processes[i].deadline <= now)
			end_process(&s->processes[i]);
}

static bool is_idle(const struct server *s)
{
	for (size_t i = 0; i < PROCESSES_MAX; i++)
		if (s->processes[i].pid)
			return false;
	return true;
}

/* One iteration. open: also read from the client. False at the end of input or after a signal. */
static bool turn(struct server *s, bool open, int *ret_signal)
{
	struct pollfd polls[PROCESSES_MAX + 2] = {
		{ .fd = open ? s->in : -1, .events = POLLIN },
		{ .fd = s->signals, .events = POLLIN },
	};
	struct signalfd_siginfo info;

	for (size_t i = 0; i < PROCESSES_MAX; i++)
		polls[i + 2] = (struct pollfd){ .fd = s->processes[i].pid ? s->processes[i].fd : -1,
						.events = POLLIN };
	if (poll(polls, FZ_ARRAY_LEN(polls), until_deadline(s, fz_clock_now())) < 0)
		return errno == EINTR && open;
	end_late(s);
	for (size_t i = 0; i < PROCESSES_MAX; i++)
		if (polls[i + 2].revents)
			listen_to(s, &s->processes[i]);
	if (polls[1].revents && read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		*ret_signal = (int)info.ssi_signo;
		return false;
	}
	return !polls[0].revents || listen_to_client(s);
}

/* When the client closes its end, calls are terminated and their files removed. */
static int serve(struct server *s)
{
	int stopped_by = 0, again = 0;

	while (!s->deaf && turn(s, true, &stopped_by))
		;
	fz_mcp_protocol_release(&s->protocol);
	while (!is_idle(s)) {
		turn(s, false, &again);
		for (size_t i = 0; i < PROCESSES_MAX && again; i++)
			if (s->processes[i].pid)
				kill(s->processes[i].pid, SIGKILL);
	}
	return stopped_by;
}

static int open_server(struct server *s, struct fz_error *err)
{
	sigset_t ending = fz_trial_ending();
	fz_auto(fz_free_ptr) char *cache = NULL;

	if (chdir(s->options->root))
		return fz_fail_errno(err, "--root %s", s->options->root);
	if (s->options->commands[0]) {
		int r = fz_workspace_cache_folder("mcp", &cache, err);
		if (!r)
			r = fz_make_folder(cache, err);
		if (!r)
			r = fz_scratch_make(cache, &s->scratch, err);
		if (r)
			return fz_error_prefix(err, "no cache folder; set XDG_CACHE_HOME");
	}
	sigprocmask(SIG_BLOCK, &ending, &s->old_mask);
	s->signals = signalfd(-1, &ending, SFD_CLOEXEC);
	return s->signals < 0 ? fz_fail_errno(err, "signalfd") : 0;
}

static void close_server(struct server *s)
{
	struct fz_error err;

	fz_mcp_handles_release(&s->handles);
	if (s->scratch.path && fz_scratch_remove(&s->scratch, &err))
		fprintf(stderr, "fizeau: warning: mcp: %s\n", err.message);
	fz_buf_release(&s->line);
	if (s->signals >= 0)
		sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
	fz_close_fd(&s->signals);
}

int fz_mcp_serve(const struct fz_mcp_options *o, int in, int out, int *ret_stopped_by,
		 struct fz_error *err)
{
	struct server s = {
		.options = o, .scratch = FZ_SCRATCH_NONE, .in = in, .out = out, .signals = -1
	};
	struct fz_mcp_host host = { .send = send, .begin = begin, .cancel = cancel, .arg = &s };
	int r = open_server(&s, err);

	s.protocol.host = &host;
	if (!r)
		*ret_stopped_by = serve(&s);
	close_server(&s);
	return r;
}
