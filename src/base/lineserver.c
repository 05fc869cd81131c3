/* SPDX-License-Identifier: MIT */
/* Lines in, lines out; see lineserver.h.
 *
 *   listening socket --+
 *   client: line so far -+--> epoll (fz_lineserver_fd) --> serve: read once --> answer each line
 *
 * Each client has a slot, and its events carry the index of that slot. A client is disconnected
 * when it hangs up, if it does not read its answers, if it belongs to a different user, or if all
 * slots are taken and it has been silent longest: idle clients must not keep others out. An
 * unterminated line is ignored, because a partial command must not act like a complete one.
 */
#include "base/lineserver.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTENING UINT32_MAX

/* Limits of one call to serve. */
enum { EVENTS_AT_ONCE = 8, ROUNDS = 3 };

struct client {
	int fd;         /* -1: free slot */
	uint64_t heard; /* turn of its last bytes, or of its connection */
	size_t n;
	bool skipping; /* ignoring the rest of a line that is too long */
	char line[FZ_LINESERVER_LINE];
};

struct fz_lineserver {
	char *path;
	struct stat made; /* status of the path after bind */
	int listening, epoll;
	uint64_t turn; /* clients accepted and reads of them, so far */
	fz_lineserver_answer *answer;
	void *arg;
	struct client clients[FZ_LINESERVER_CLIENTS];
};

/* ---- the path ---- */

static bool has_no_listener(const struct sockaddr_un *address)
{
	fz_auto(fz_close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
	       errno == ECONNREFUSED;
}

/* Checks that other users cannot replace our socket in its folder. */
static int check_folder(const char *path, struct fz_error *err)
{
	struct fz_str above = fz_path_folder(fz_str_of(path));
	fz_auto(fz_free_ptr) char *folder = fz_strndup(above.p, above.n);
	struct stat st;

	if (stat(folder, &st))
		return fz_fail_errno(err, "%s", folder);
	if ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
		return fz_fail(err, FZ_EPERM,
			       "%s: the folder is writable by others; use a socket in a folder of "
			       "your own",
			       path);
	return 0;
}

/* Checks the path; removes a socket left by a killed server. */
static int check_place(const struct sockaddr_un *address, struct fz_error *err)
{
	const char *path = address->sun_path;
	struct stat st;
	int rc = check_folder(path, err);

	if (rc || lstat(path, &st))
		return rc;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return fz_fail(err, FZ_EINPUT,
			       "%s: exists and is not a socket of yours; use another path", path);
	if (!has_no_listener(address))
		return fz_fail(err, FZ_EINPUT, "%s: in use by another program; use another path",
			       path);
	unlink(path);
	return 0;
}

/* Names with @ are in the abstract namespace, not in a folder: they disappear with their socket and
 * cannot be replaced. */
static bool is_abstract(const char *path)
{
	return path[0] == '@';
}

unsigned fz_lineserver_address(const char *path, struct sockaddr_un *ret)
{
	size_t n = strlen(path);

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (n >= sizeof(ret->sun_path))
		return 0;
	memcpy(ret->sun_path, path, n);
	if (!is_abstract(path))
		return sizeof(*ret);
	ret->sun_path[0] = 0;
	return (unsigned)(offsetof(struct sockaddr_un, sun_path) + n);
}

static int listen_at(struct fz_lineserver *s, const struct sockaddr_un *address, unsigned size)
{
	/* bind creates the file with the mode of the socket, so it never has a different one. */
	return fchmod(s->listening, 0600) ||
	       bind(s->listening, (const struct sockaddr *)address, size) ||
	       listen(s->listening, FZ_LINESERVER_CLIENTS);
}

/* Gives the socket its final name unless that exists; not all file systems have links. */
static bool give_name(const struct fz_lineserver *s, int folder, const char *name)
{
	if (linkat(folder, name, AT_FDCWD, s->path, 0) == 0)
		return true;
	return (errno == EPERM || errno == EOPNOTSUPP) &&
	       renameat(folder, name, AT_FDCWD, s->path) == 0;
}

/* Binds to a temporary name until we listen, so that clients that see the final name can connect.
 * Binds via /proc, because the path alone may fill an address. */
static bool listen_in_folder(struct fz_lineserver *s)
{
	struct fz_str above = fz_path_folder(fz_str_of(s->path));
	fz_auto(fz_free_ptr) char *path = fz_strndup(above.p, above.n);
	fz_auto(fz_close_fd) int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[32];

	if (folder < 0)
		return false;
	snprintf(name, sizeof(name), ".fizeau-%d", (int)getpid());
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder, name);
	unlinkat(folder, name, 0);
	bool done = !listen_at(s, &address, sizeof(address)) &&
		    !fstatat(folder, name, &s->made, AT_SYMLINK_NOFOLLOW) &&
		    give_name(s, folder, name);
	int code = errno;
	unlinkat(folder, name, 0);
	errno = code;
	return done;
}

static int bind_to(struct fz_lineserver *s, struct fz_error *err)
{
	struct sockaddr_un address;
	unsigned size = fz_lineserver_address(s->path, &address);
	int rc = 0;

	if (!size)
		return fz_fail(err, FZ_EUSAGE, "%s: path too long for a socket (at most %zu bytes)",
			       s->path, sizeof(address.sun_path) - 1);
	if (is_abstract(s->path))
		return listen_at(s, &address, size) ? fz_fail_errno(err, "%s", s->path) : 0;
	rc = check_place(&address, err);
	if (!rc && !listen_in_folder(s))
		rc = fz_fail_errno(err, "%s", s->path);
	return rc;
}

static bool watch(struct fz_lineserver *s, int fd, uint32_t slot)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = slot };

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

int fz_lineserver_new(const char *path, fz_lineserver_answer *answer, void *arg,
		      struct fz_lineserver **ret, struct fz_error *err)
{
	struct fz_lineserver *s = fz_calloc(1, sizeof(*s));

	s->path = fz_strdup(path);
	s->answer = answer;
	s->arg = arg;
	for (size_t i = 0; i < FZ_ARRAY_LEN(s->clients); i++)
		s->clients[i].fd = -1;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc = 0;
	if (s->epoll < 0 || s->listening < 0)
		rc = fz_fail_errno(err, "%s", path);
	if (!rc)
		rc = bind_to(s, err);
	if (!rc && !watch(s, s->listening, LISTENING))
		rc = fz_fail_errno(err, "%s", path);
	if (rc)
		fz_lineserver_free(s);
	else
		*ret = s;
	return rc;
}

int fz_lineserver_fd(const struct fz_lineserver *s)
{
	return s ? s->epoll : -1;
}

void fz_lineserver_free(struct fz_lineserver *s)
{
	struct stat st;

	if (!s)
		return;
	for (size_t i = 0; i < FZ_ARRAY_LEN(s->clients); i++)
		fz_close_fd(&s->clients[i].fd);
	if (s->made.st_ino && lstat(s->path, &st) == 0 && st.st_ino == s->made.st_ino &&
	    st.st_dev == s->made.st_dev)
		unlink(s->path);
	fz_close_fd(&s->listening);
	fz_close_fd(&s->epoll);
	free(s->path);
	free(s);
}

/* ---- clients ---- */

/* Sends text; false if the client does not read, or is gone. */
static bool send_text(int fd, struct fz_str text)
{
	return !text.n || send(fd, text.p, text.n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)text.n;
}

bool fz_lineserver_peer(int fd, uid_t *ret)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n))
		return false;
	*ret = who.uid;
	return true;
}

static bool is_ours(int fd)
{
	uid_t who;

	return fz_lineserver_peer(fd, &who) && (who == geteuid() || who == 0);
}

static void disconnect(struct client *c)
{
	fz_close_fd(&c->fd); /* also removes it from the epoll set */
}

/* The slot for a new client: a free one, or else that of the client that has been silent longest.
 */
static uint32_t slot_for_new(const struct fz_lineserver *s)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < FZ_ARRAY_LEN(s->clients); i++) {
		if (s->clients[i].fd < 0)
			return i;
		if (s->clients[i].heard < s->clients[best].heard)
			best = i;
	}
	return best;
}

/* Answers a complete line. */
static void answer_line(struct fz_lineserver *s, struct client *c, struct fz_buf *answers)
{
	struct fz_str line = fz_str_trimmed((struct fz_str){ c->line, c->n });

	if (c->skipping)
		fz_buf_printf(answers, "err line longer than %d bytes", FZ_LINESERVER_LINE);
	else if (memchr(line.p, 0, line.n))
		fz_buf_str(answers, "err zero byte in line");
	else
		s->answer(s->arg, line, answers);
	fz_buf_char(answers, '\n');
	c->n = 0;
	c->skipping = false;
}

static void take_bytes(struct fz_lineserver *s, struct client *c, struct fz_str bytes,
		       struct fz_buf *answers)
{
	for (size_t i = 0; i < bytes.n; i++) {
		if (bytes.p[i] == '\n')
			answer_line(s, c, answers);
		else if (c->n < sizeof(c->line))
			c->line[c->n++] = bytes.p[i];
		else
			c->skipping = true;
	}
}

static void serve_client(struct fz_lineserver *s, struct client *c)
{
	fz_auto(fz_buf_release) struct fz_buf answers = { 0 };
	char bytes[FZ_LINESERVER_LINE];
	ssize_t n = read(c->fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	c->heard = ++s->turn;
	if (n > 0)
		take_bytes(s, c, (struct fz_str){ bytes, (size_t)n }, &answers);
	else if (n == 0 && c->n)
		fz_buf_str(&answers, "err incomplete line\n");
	if (!send_text(c->fd, fz_buf_view(&answers)) || n <= 0)
		disconnect(c);
}

static void accept_client(struct fz_lineserver *s)
{
	fz_auto(fz_close_fd) int fd =
		accept4(s->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 || !is_ours(fd))
		return;
	uint32_t slot = slot_for_new(s);
	struct client *c = &s->clients[slot];
	/* It may have sent a line that waits to be read. */
	if (c->fd >= 0)
		serve_client(s, c);
	if (c->fd >= 0) {
		send_text(c->fd, FZ_STR("err too many clients\n"));
		disconnect(c);
	}
	if (watch(s, fd, slot))
		*c = (struct client){ .fd = fz_steal_fd(&fd), .heard = ++s->turn };
}

void fz_lineserver_serve(struct fz_lineserver *s)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = 1;

	for (int round = 0; round < ROUNDS && n > 0; round++) {
		n = epoll_wait(s->epoll, events, EVENTS_AT_ONCE, 0);
		for (int i = 0; i < n; i++) {
			uint32_t slot = events[i].data.u32;
			if (slot == LISTENING)
				accept_client(s);
			else if (s->clients[slot].fd >= 0)
				serve_client(s, &s->clients[slot]);
		}
	}
}
