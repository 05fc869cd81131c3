/* SPDX-License-Identifier: MIT */
/* fizeau mark: add a timestamped marker to a running recording. The recorder listens on a socket
 * that is named after the recorded process (record/control.h), or on that of --control. */
#include "cli/cli.h"
#include "cli/pid.h"

#include "base/lineserver.h"
#include "base/str.h"
#include "record/control.h"
#include "profile/mark.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const struct fz_opt option_table[] = { { .kind = FZ_OPT_END } };

/* A recorder answers within milliseconds. */
enum { PATIENCE_MS = 10000 };

static const char scheme[] = "unix:";

static int uri_of(const char *text, char pid_uri[FZ_CONTROL_URI_SIZE], const char **ret,
		  struct fz_error *err)
{
	pid_t pid;

	*ret = text;
	if (fz_str_starts(fz_str_of(text), scheme))
		return 0;
	int rc = fz_cli_pid(text, &pid, NULL, err);
	if (rc)
		return rc;
	fz_control_uri(pid, pid_uri);
	*ret = pid_uri;
	return 0;
}

/* Any user can bind an abstract socket name, so only trust a recorder of the same user or of root.
 */
static bool is_trusted(int fd)
{
	uid_t who;

	return fz_lineserver_peer(fd, &who) && (who == geteuid() || who == 0 || geteuid() == 0);
}

static int connect_to(const char *uri, const char *what, int *ret, struct fz_error *err)
{
	struct sockaddr_un address;
	unsigned size = fz_lineserver_address(uri + strlen(scheme), &address);
	fz_auto(fz_close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fz_fail_errno(err, "%s", what);
	if (!size || connect(fd, (struct sockaddr *)&address, size) || !is_trusted(fd))
		return fz_fail(err, FZ_EINPUT,
			       "mark: you are not recording %s; start with 'fizeau attach'", what);
	*ret = fz_steal_fd(&fd);
	return 0;
}

static int send_mark(int fd, const char *text, char *answer, size_t size, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *line = fz_asprintf("mark %s\n", text);
	size_t n = 0;

	if (write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		return fz_fail_errno(err, "mark: the recorder");
	while (n + 1 < size && !memchr(answer, '\n', n)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t got = poll(&p, 1, PATIENCE_MS) > 0 ? read(fd, answer + n, size - 1 - n) : 0;
		if (got <= 0)
			return fz_fail(err, FZ_EINPUT, "mark: the recorder did not answer");
		n += (size_t)got;
	}
	answer[n] = 0;
	answer[strcspn(answer, "\n")] = 0;
	return 0;
}

static int run(struct fz_opt_state *state)
{
	char pid_uri[FZ_CONTROL_URI_SIZE], answer[FZ_LINESERVER_LINE] = "";
	fz_auto(fz_close_fd) int fd = -1;
	struct fz_error err;
	const char *uri;

	if (state->argument_count != 2)
		return fz_cli_errorf(
			"mark: specify a process and a text, for example: fizeau mark PID deploy");
	const char *what = state->arguments[0], *text = state->arguments[1];
	if (strlen(text) > FZ_PROFILE_MARK_TEXT || strchr(text, '\n') || !*text)
		return fz_cli_errorf("mark: the text must be one line of 1 to %d bytes",
				     FZ_PROFILE_MARK_TEXT);
	if (uri_of(what, pid_uri, &uri, &err) || connect_to(uri, what, &fd, &err) ||
	    send_mark(fd, text, answer, sizeof(answer), &err))
		return fz_cli_error(&err);
	if (strncmp(answer, "ok ", 3) != 0)
		return fz_cli_errorf("mark: the recorder answered: %s", answer);
	printf("%s at %s s\n", text, answer + 3);
	return FZ_EXIT_OK;
}

const struct fz_command fz_command_mark = {
	.name = "mark",
	.summary = "add a timestamped marker to a running recording",
	.usage = "PID | unix:PATH TEXT",
	.examples = "  $ fizeau mark 4711 deploy               # process 4711 is being recorded\n"
		    "  $ fizeau replay app.fz --from @deploy   # only what came after\n"
		    "  $ fizeau diff app.fz --base-range -@deploy --head-range @deploy-\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_PROCESS,
	.run = run,
};
