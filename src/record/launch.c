/* SPDX-License-Identifier: MIT */
/* Starting the program to record: deciding what to execute, then vfork and exec. */
#include "record/caretaker.h"
#include "record/launch.h"
#include "record/load.h"
#include "record/process.h"

#include "base/io.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether execvp would find a program of that name. */
static bool in_path(const char *name)
{
	struct stat st;

	if (strchr(name, '/'))
		return stat(name, &st) == 0 && S_ISREG(st.st_mode) && access(name, X_OK) == 0;
	fz_auto(fz_free_ptr) char *found = fz_find_on_path(name);
	return found;
}

static bool looks_like_script(const char *word)
{
	struct fz_str s = fz_str_of(word);

	return fz_str_ends(s, ".py") || fz_str_ends(s, ".pyw") || fz_str_ends(s, ".pyz");
}

/* Decide whether the word is a script for `python` or a program. After "--" an executable file is a
 * program, whatever its suffix; a bare name is searched in this folder first. */
static int classify(const char *word, bool plain, bool *ret_script, struct fz_error *err)
{
	struct stat st;
	bool exists = stat(word, &st) == 0, by_name = looks_like_script(word);
	bool plainly = plain && (strchr(word, '/') || !exists);
	bool program = (!by_name || plainly) && in_path(word);

	if (by_name && !exists && !program)
		return fz_fail(err, FZ_EINPUT, "script '%s' not found", word);
	*ret_script = exists && !program;
	return 0;
}

int fz_launch_command(const struct fz_launch_words *w, char ***ret_argv, struct fz_error *err)
{
	bool script = false;
	size_t k = 0, from = 1;

	if (w->n == 0 || !w->words[0][0])
		return fz_fail(err, FZ_EUSAGE,
			       "no command; specify a script, '-m MODULE' or a program");
	if (!w->module && classify(w->words[0], w->plain, &script, err))
		return err ? err->code : FZ_EINPUT;
	if (!script && !w->module && w->python)
		return fz_fail(err, FZ_EUSAGE,
			       "--python applies to scripts and modules, and '%s' is a program",
			       w->words[0]);
	char **argv = fz_calloc(w->n + 3, sizeof(*argv));
	if (script || w->module)
		argv[k++] = (char *)(w->python ? w->python : "python3");
	if (w->module)
		argv[k++] = (char *)"-m";
	argv[k++] = w->words[0];
	if ((script || w->module) && !w->plain && w->n > 1 && strcmp(w->words[1], "--") == 0)
		from++;
	memcpy(argv + k, w->words + from, (w->n - from) * sizeof(*argv));
	*ret_argv = argv;
	return 0;
}

static int spawn_failed(const char *program, const struct fz_launch_place *place, int code,
			struct fz_error *err)
{
	if (code == ENOENT && !strchr(program, '/'))
		return fz_fail(err, FZ_EINPUT, "'%s': command not found in PATH", program);
	if (code == ENOENT && place && place->folder && *program != '/' && !access(program, X_OK))
		return fz_fail(err, FZ_EINPUT,
			       "'%s' is found from this folder, but not from %s, where it "
			       "runs; use an absolute path, or create it with --setup",
			       program, place->folder);
	errno = code;
	return fz_fail_errno(err, "'%s' cannot be started", program);
}

/* In the child. Opening the null device reuses descriptor 0, so none is left to close. */
static bool move_in(const struct fz_launch_place *place)
{
	if (place->folder && chdir(place->folder))
		return false;
	if (place->own_group && setpgid(0, 0))
		return false;
	if (place->output >= 0 && dup2(place->output, STDOUT_FILENO) < 0)
		return false;
	if (place->errors >= 0 && dup2(place->errors, STDERR_FILENO) < 0)
		return false;
	if (!place->no_input)
		return true;
	close(STDIN_FILENO);
	return open("/dev/null", O_RDONLY) == STDIN_FILENO;
}

char *const *fz_launch_environ(const struct fz_launch_place *place)
{
	return place && place->environ ? place->environ : environ;
}

/* With vfork the child runs in our memory until exec, so nothing is copied and the error of exec
 * comes back in a variable. posix_spawn would leave two of glibc's own signals ignored. */
static pid_t spawn(char *const argv[], const sigset_t *mask, const struct fz_launch_place *place,
		   int *ret_errno)
{
	char *const *env = fz_launch_environ(place);
	volatile int code = 0;
	pid_t pid = vfork();

	if (pid == 0) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		/* Set in the child, since we may be killed before vfork returns in the parent. */
		if (place)
			fz_caretaker_mind(getpid());
		if (!place || move_in(place))
			execvpe(argv[0], argv, env);
		code = errno;
		_exit(127);
	}
	*ret_errno = pid < 0 ? errno : code;
	if (pid > 0 && code) {
		waitpid(pid, NULL, 0);
		fz_caretaker_mind(0);
	}
	return pid;
}

int fz_launch_start(char *const argv[], const sigset_t *mask, const struct fz_launch_place *place,
		    struct fz_child *ret, struct fz_error *err)
{
	struct fz_child child = { .pidfd = -1 };
	int code;

	fz_assert(argv[0]);
	child.pid = spawn(argv, mask, place, &code);
	if (code)
		return spawn_failed(argv[0], place, code, err);
	/* The pid is still valid: the kernel keeps at least a zombie until we wait for it. */
	child.pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0);
	if (child.pidfd < 0) {
		int rc = fz_process_no_pidfd(err);
		kill(child.pid, SIGKILL);
		fz_launch_wait(&child);
		return rc;
	}
	*ret = child;
	return 0;
}

/* /proc/PID disappears when the zombie is reaped, so read it before. */
static void read_waits(struct fz_child *child)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
		;
	fz_load_read_waits(child->pid, &child->ran_ns, &child->waited_ns);
}

void fz_launch_set_outcome(const struct fz_child *child, struct fz_run *run)
{
	if (!child->reaped)
		return;
	bool killed = WIFSIGNALED(child->status);
	run->outcome = killed ? FZ_OUTCOME_SIGNAL : FZ_OUTCOME_EXIT;
	run->status = killed ? WTERMSIG(child->status) : WEXITSTATUS(child->status);
}

void fz_launch_wait(struct fz_child *child)
{
	if (!child->reaped)
		read_waits(child);
	while (!child->reaped) {
		if (waitpid(child->pid, &child->status, 0) == child->pid) {
			child->reaped = true;
			fz_caretaker_mind(0);
		} else if (errno != EINTR)
			break;
	}
}

void fz_launch_release(struct fz_child *child)
{
	fz_close_fd(&child->pidfd);
}

int fz_launch_and_wait(char *const argv[], const sigset_t *mask,
		       const struct fz_launch_place *place, int *ret_status, struct fz_error *err)
{
	struct fz_child child;
	int rc = fz_launch_start(argv, mask, place, &child, err);

	if (rc)
		return rc;
	fz_launch_wait(&child);
	fz_launch_release(&child);
	*ret_status = child.status;
	return 0;
}
