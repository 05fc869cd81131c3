/* SPDX-License-Identifier: MIT */
/* A socket that answers lines: permissions and paths; lines in pieces, too long or unterminated;
 * and clients that vanish, do not read, or are too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/lineserver.h"

static char folder[64], path[128];
static int answered;

static void answer(void *arg, struct fz_str line, struct fz_buf *ret)
{
	(void)arg;
	answered++;
	fz_buf_printf(ret, "<%.*s>", (int)line.n, line.p);
}

static int set_up(void **state)
{
	(void)state;
	answered = 0;
	snprintf(folder, sizeof(folder), "/tmp/fz-unit-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/s", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static struct fz_lineserver *start(void)
{
	struct fz_lineserver *s;
	struct fz_error err;

	assert_int_equal(fz_lineserver_new(path, answer, NULL, &s, &err), 0);
	return s;
}

static int dial(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(address.sun_path, path, strlen(path));
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void serve_all(struct fz_lineserver *s)
{
	struct pollfd p = { .fd = fz_lineserver_fd(s), .events = POLLIN };

	while (poll(&p, 1, 0) > 0)
		fz_lineserver_serve(s);
}

/* What the client gets, up to the end of the connection or of what is there. */
static const char *heard(int fd)
{
	static char text[65536];
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = 0;
	return text;
}

static void test_lines(void **state)
{
	struct fz_lineserver *s = start();
	int a = dial(), b = dial();

	(void)state;
	say(a, "one\ntwo\r\nthr");
	say(b, "\n");
	serve_all(s);
	assert_string_equal(heard(a), "<one>\n<two>\n");
	assert_string_equal(heard(b), "<>\n");
	say(a, "ee\n");
	serve_all(s);
	assert_string_equal(heard(a), "<three>\n");
	close(a);
	close(b);
	fz_lineserver_free(s);
}

static void test_torn(void **state)
{
	struct fz_lineserver *s = start();
	int a = dial(), gone = dial();

	(void)state;
	say(a, "qui");
	shutdown(a, SHUT_WR);
	say(gone, "half");
	close(gone);
	serve_all(s);
	assert_int_equal(answered, 0);
	assert_string_equal(heard(a), "err incomplete line\n");
	close(a);
	fz_lineserver_free(s);
}

static void test_garbage(void **state)
{
	struct fz_lineserver *s = start();
	int a = dial();
	char line[3 * FZ_LINESERVER_LINE];

	(void)state;
	memset(line, 'x', sizeof(line));
	assert_int_equal(write(a, line, sizeof(line)), sizeof(line));
	say(a, "\nping\n");
	assert_int_equal(write(a, "a\0b\n", 4), 4);
	serve_all(s);
	assert_string_equal(heard(a), "err line longer than 1024 bytes\n<ping>\n"
				      "err zero byte in line\n");
	close(a);
	fz_lineserver_free(s);
}

/* A client that writes and never reads is disconnected; others are still served. */
static void test_deaf(void **state)
{
	struct fz_lineserver *s = start();
	int deaf = dial(), other = dial();
	char lines[FZ_LINESERVER_LINE];
	ssize_t n = 0;

	(void)state;
	memset(lines, '\n', sizeof(lines));
	while (n >= 0) {
		n = send(deaf, lines, sizeof(lines), MSG_DONTWAIT | MSG_NOSIGNAL);
		serve_all(s);
	}
	say(other, "ping\n");
	serve_all(s);
	assert_string_equal(heard(other), "<ping>\n");
	close(deaf);
	close(other);
	fz_lineserver_free(s);
}

/* Whoever connects is served: when all slots are taken, the longest silent client loses its own. */
static void test_many(void **state)
{
	struct fz_lineserver *s = start();
	int fds[FZ_LINESERVER_CLIENTS + 1];

	(void)state;
	for (int i = 0; i <= FZ_LINESERVER_CLIENTS; i++) {
		if (i == FZ_LINESERVER_CLIENTS)
			say(fds[0], "ping\n");
		serve_all(s);
		fds[i] = dial();
		serve_all(s);
	}
	assert_string_equal(heard(fds[1]), "err too many clients\n");
	assert_string_equal(heard(fds[2]), "");
	say(fds[FZ_LINESERVER_CLIENTS], "ping\n");
	serve_all(s);
	assert_string_equal(heard(fds[FZ_LINESERVER_CLIENTS]), "<ping>\n");
	say(fds[0], "pong\n");
	serve_all(s);
	assert_string_equal(heard(fds[0]), "<ping>\n<pong>\n");
	close(fds[3]);
	serve_all(s);
	int again = dial();
	say(again, "ping\n");
	serve_all(s);
	assert_string_equal(heard(again), "<ping>\n");
	assert_string_equal(heard(fds[2]), "");
	for (int i = 0; i <= FZ_LINESERVER_CLIENTS; i++)
		if (i != 3)
			close(fds[i]);
	close(again);
	fz_lineserver_free(s);
}

static void refused(const char *where, const char *why)
{
	struct fz_lineserver *s;
	struct fz_error err;

	assert_int_not_equal(fz_lineserver_new(where, answer, NULL, &s, &err), 0);
	if (!strstr(err.message, why))
		fail_msg("'%s' does not say '%s'", err.message, why);
}

static void test_places(void **state)
{
	struct stat st;
	char long_path[256];

	(void)state;
	struct fz_lineserver *s = start();
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	refused(path, "in use by another program");
	fz_lineserver_free(s);
	assert_int_not_equal(lstat(path, &st), 0);

	assert_int_equal(symlink("/tmp/fz-unit-elsewhere", path), 0);
	refused(path, "exists and is not a socket of yours");
	unlink(path);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	refused(path, "exists and is not a socket of yours");
	assert_int_equal(lstat(path, &st), 0);
	unlink(path);

	assert_int_equal(chmod(folder, 0777), 0);
	refused(path, "in a folder of your own");
	assert_int_equal(chmod(folder, 0700), 0);
	snprintf(long_path, sizeof(long_path), "%s/%0150d", folder, 1);
	refused(long_path, "(at most 107 bytes)");
	refused("/tmp/fz-unit-no-such-folder/s", "No such file");
}

/* The socket of a killed server is replaced; a file that another user put there stays. */
static void test_leftover(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;

	(void)state;
	memcpy(address.sun_path, path, strlen(path));
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	struct fz_lineserver *s = start();
	unlink(path);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	fz_lineserver_free(s);
	assert_int_equal(lstat(path, &st), 0);
}

/* Whoever starts a recorder removes the socket as soon as it is connected. Each has a name of its
 * own, or the one before's would be removed late. */
static atomic_int current;
enum { LAST = 3000 };

static void name_of(int i, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%d", folder, i);
}

static void *connect_and_remove(void *unused)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int i;

	(void)unused;
	while ((i = atomic_load(&current)) < LAST) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		name_of(i, address.sun_path, sizeof(address.sun_path));
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
			unlink(address.sun_path);
		close(fd);
	}
	return NULL;
}

static void test_removed(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, connect_and_remove, NULL), 0);
	for (int i = 0; i < LAST; i++) {
		name_of(i, path, sizeof(path));
		fz_lineserver_free(start());
		atomic_store(&current, i + 1);
	}
	pthread_join(thread, NULL);
}

/* Odd while it starts. */
static atomic_int phase;
static atomic_int turned_away, connected;

static void *knock(void *arg)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)arg;
	memcpy(address.sun_path, path, strlen(path));
	for (int before; (before = atomic_load(&phase)) >= 0;) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		int rc = connect(fd, (struct sockaddr *)&address, sizeof(address));
		connected += rc == 0;
		turned_away +=
			rc && errno == ECONNREFUSED && before % 2 && atomic_load(&phase) == before;
		close(fd);
	}
	return NULL;
}

/* Whoever sees the socket's file can connect. */
static void test_begin(void **state)
{
	enum { TIMES = 2000 };
	pthread_t thread;

	(void)state;
	atomic_store(&phase, 0);
	pthread_create(&thread, NULL, knock, NULL);
	for (int i = 0; i < TIMES || !atomic_load(&connected); i++) {
		atomic_store(&phase, 2 * i + 1);
		struct fz_lineserver *s = start();
		atomic_store(&phase, 2 * i + 2);
		fz_lineserver_free(s);
	}
	atomic_store(&phase, -1);
	pthread_join(thread, NULL);
	assert_int_equal(turned_away, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_torn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_garbage, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deaf, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_leftover, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_removed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_begin, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
