/* SPDX-License-Identifier: MIT */
/* Starts git; see command.h.
 *
 *   our environment - variables that name a repository -> git's, plus our settings:
 *
 *   GIT_CONFIG_COUNT=3  GIT_CONFIG_KEY_0=core.fsmonitor  GIT_CONFIG_VALUE_0=false ...
 *
 * Settings in the environment override those of all files, and their names are used verbatim: "-c
 * filter.a=b.clean=" would not work for a filter "a=b". Filters cannot be disabled all at once, so
 * git is queried for their names first. Without its filter, a file with a new modification time
 * counts as changed if its stored form differs.
 */
#include "git/command.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MAX = 1 << 20, SETTINGS_MAX = 4096 };

/* Output of `git rev-parse --local-env-vars` over all versions; checked by a test. */
static const char *const local[] = {
	"GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR",
	"GIT_CONFIG",
	"GIT_CONFIG_COUNT",
	"GIT_CONFIG_PARAMETERS",
	"GIT_DIR",
	"GIT_GRAFT_FILE",
	"GIT_IMPLICIT_WORK_TREE",
	"GIT_INDEX_FILE",
	"GIT_INTERNAL_SUPER_PREFIX",
	"GIT_NO_REPLACE_OBJECTS",
	"GIT_OBJECT_DIRECTORY",
	"GIT_PREFIX",
	"GIT_REPLACE_REF_BASE",
	"GIT_SHALLOW_FILE",
	"GIT_WORK_TREE",
};

/* Environment for queries. No protocol has this name, so a partial clone does not fetch missing
 * objects. */
static const struct {
	const char *name, *value;
} quiet[] = { { "GIT_OPTIONAL_LOCKS", "0" },
	      { "GIT_NO_LAZY_FETCH", "1" },
	      { "GIT_ALLOW_PROTOCOL", "none" },
	      { "GIT_TERMINAL_PROMPT", "0" } };

struct setup {
	char **argv;
	struct fz_environ environ;
	size_t settings;
};

static void release(struct setup *s)
{
	free(s->argv);
	fz_environ_release(&s->environ);
}

static void add_setting(struct setup *s, const char *key, const char *value)
{
	char name[64];

	if (s->settings == SETTINGS_MAX)
		return;
	snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%zu", s->settings);
	fz_environ_set(&s->environ, name, key);
	snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%zu", s->settings);
	fz_environ_set(&s->environ, name, value);
	s->settings++;
}

/* ---- environment ---- */

/* Settings in the environment are dropped with the rest, except safe.directory, which containers
 * set this way. */
static void keep_trust(struct setup *s)
{
	const char *count = getenv("GIT_CONFIG_COUNT");
	long n = count ? strtol(count, NULL, 10) : 0;
	char name[64];

	for (long i = 0; i < FZ_MIN(n, (long)SETTINGS_MAX); i++) {
		snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%ld", i);
		const char *key = getenv(name);
		snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%ld", i);
		const char *value = getenv(name);
		if (key && value && strcasecmp(key, "safe.directory") == 0)
			add_setting(s, "safe.directory", value);
	}
}

static void set_environment(struct setup *s, const struct fz_git_call *c)
{
	fz_environ_init(&s->environ, NULL);
	for (size_t i = 0; i < FZ_ARRAY_LEN(local); i++)
		fz_environ_unset(&s->environ, local[i]);
	fz_environ_unset_prefix(&s->environ, "GIT_CONFIG_KEY_");
	fz_environ_unset_prefix(&s->environ, "GIT_CONFIG_VALUE_");
	if (c->index)
		fz_environ_set(&s->environ, "GIT_INDEX_FILE", c->index);
	keep_trust(s);
}

static void set_quiet(struct setup *s)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(quiet); i++)
		fz_environ_set(&s->environ, quiet[i].name, quiet[i].value);
	add_setting(s, "core.fsmonitor", "false");
	add_setting(s, "core.hooksPath", "/dev/null");
}

static void finish_environment(struct setup *s)
{
	char count[32];

	snprintf(count, sizeof(count), "%zu", s->settings);
	fz_environ_set(&s->environ, "GIT_CONFIG_COUNT", count);
}

/* Keeps settings, which name no repository and may be intended for programs. */
void fz_git_call_leave_hook(struct fz_environ *e)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(local); i++)
		if (strncmp(local[i], "GIT_CONFIG", strlen("GIT_CONFIG")) != 0)
			fz_environ_unset(e, local[i]);
}

/* ---- processes ---- */

static void set_words(struct setup *s, const struct fz_git_call *c)
{
	size_t n = 0;

	while (c->words[n])
		n++;
	s->argv = fz_calloc(n + 2, sizeof(*s->argv));
	s->argv[0] = (char *)"git";
	memcpy(s->argv + 1, c->words, n * sizeof(*s->argv));
}

static int spawn(const struct setup *s, const struct fz_git_call *c, pid_t *ret,
		 struct fz_error *err)
{
	posix_spawn_file_actions_t files;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (c->out >= 0)
		posix_spawn_file_actions_adddup2(&files, c->out, STDOUT_FILENO);
	if (c->errors >= 0)
		posix_spawn_file_actions_adddup2(&files, c->errors, STDERR_FILENO);
	if (c->folder)
		posix_spawn_file_actions_addchdir_np(&files, c->folder);
	int code = posix_spawnp(ret, s->argv[0], &files, NULL, s->argv, s->environ.list);
	posix_spawn_file_actions_destroy(&files);
	if (code == ENOENT && (!c->folder || access(c->folder, F_OK) == 0))
		return fz_fail(err, FZ_EINPUT, "'git': command not found in PATH");
	errno = code;
	return code ? fz_fail_errno(err, "'git' cannot be started") : 0;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void read_text(int fd, struct fz_buf *b)
{
	for (char *room; (room = fz_buf_reserve(b, 4096));) {
		ssize_t n = read(fd, room, 4096);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		b->n += (size_t)n;
		room[n] = 0;
	}
}

/* ---- filters ---- */

static int start(const struct fz_git_call *c, pid_t *ret, struct fz_error *err);

/* Disables "filter.NAME.clean" etc.: a filter without a command does nothing, and is not
 * required. */
static void disable(struct setup *s, const char *key)
{
	const char *dot = strrchr(key, '.');

	if (dot && strcasecmp(dot, ".required") != 0)
		add_setting(s, key, "");
	if (!dot || dot == strchr(key, '.'))
		return;
	fz_auto(fz_free_ptr) char *required = fz_asprintf("%.*s.required", (int)(dot - key), key);
	add_setting(s, required, "false");
}

static int disable_filters(struct setup *s, const char *folder, struct fz_error *err)
{
	static const char *const words[] = { "config",       "--null",     "--name-only",
					     "--get-regexp", "^filter\\.", NULL };
	fz_auto(fz_buf_release) struct fz_buf names = { .limit = ANSWER_MAX };
	fz_auto(fz_close_fd) int silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct fz_git_call c = { FZ_GIT_ASKS, folder, words, .errors = silence };
	int pipe_fds[2];
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return fz_fail_errno(err, "pipe");
	c.out = pipe_fds[1];
	int rc = start(&c, &pid, err);
	close(pipe_fds[1]);
	if (!rc) {
		read_text(pipe_fds[0], &names);
		wait_for(pid);
	}
	close(pipe_fds[0]);
	for (size_t at = 0; !rc && at < names.n; at += strlen(names.p + at) + 1)
		disable(s, names.p + at);
	if (!rc && (names.overflow || s->settings == SETTINGS_MAX))
		rc = fz_fail(err, FZ_ELIMIT, "the repository has too many filters");
	return rc;
}

/* ---- calls ---- */

static int prepare(struct setup *s, const struct fz_git_call *c, struct fz_error *err)
{
	int rc = 0;

	set_words(s, c);
	set_environment(s, c);
	if (c->kind != FZ_GIT_ACTS)
		set_quiet(s);
	if (c->kind == FZ_GIT_ASKS_TREE)
		rc = disable_filters(s, c->folder, err);
	finish_environment(s);
	return rc;
}

static int start(const struct fz_git_call *c, pid_t *ret, struct fz_error *err)
{
	fz_auto(release) struct setup s = { 0 };
	int rc = prepare(&s, c, err);

	fz_assert(c->words[0]);
	return rc ? rc : spawn(&s, c, ret, err);
}

int fz_git_call_run(const struct fz_git_call *c, int *ret_status, struct fz_error *err)
{
	pid_t pid;
	int rc = start(c, &pid, err);

	if (!rc)
		*ret_status = wait_for(pid);
	return rc;
}

void fz_git_call_become(const struct fz_git_call *c)
{
	struct setup s = { 0 };
	int null = open("/dev/null", O_RDONLY);

	if (!prepare(&s, c, NULL) && null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
	    (c->out < 0 || dup2(c->out, STDOUT_FILENO) >= 0) &&
	    (c->errors < 0 || dup2(c->errors, STDERR_FILENO) >= 0) &&
	    (!c->folder || chdir(c->folder) == 0))
		execvpe(s.argv[0], s.argv, s.environ.list);
	_exit(127);
}

/* Reads the first line of a pipe and closes it. */
static char *read_line(int fd)
{
	fz_auto(fz_buf_release) struct fz_buf b = { .limit = ANSWER_MAX };

	read_text(fd, &b);
	close(fd);
	struct fz_str rest = fz_buf_view(&b), line = fz_str_take_line(&rest);
	return fz_strndup(line.p, line.n);
}

int fz_git_call_line(enum fz_git_call_kind kind, const char *folder, const char *const words[],
		     char **ret, char **ret_why, struct fz_error *err)
{
	int out[2], errors[2], status = 1;

	if (pipe2(out, O_CLOEXEC | O_NONBLOCK))
		return fz_fail_errno(err, "pipe");
	if (pipe2(errors, O_CLOEXEC | O_NONBLOCK)) {
		close(out[0]);
		close(out[1]);
		return fz_fail_errno(err, "pipe");
	}
	struct fz_git_call c = { kind, folder, words, out[1], errors[1] };
	int rc = fz_git_call_run(&c, &status, err);
	close(out[1]);
	close(errors[1]);
	fz_auto(fz_free_ptr) char *answer = read_line(out[0]);
	fz_auto(fz_free_ptr) char *why = read_line(errors[0]);
	if (rc)
		return rc;
	*ret = status ? NULL : fz_steal(answer);
	if (status && ret_why)
		*ret_why = fz_steal(why);
	return 0;
}
