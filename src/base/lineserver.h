/* SPDX-License-Identifier: MIT */
/* A Unix socket on which others write lines and read one line for each.
 *
 * Whoever made it alone can connect (mode 0600, and the kernel's word on who does), root besides.
 * Nothing blocks: whoever serves it waits for fz_lineserver_fd, with whatever else it waits for.
 */
#pragma once

#include "base.h"
#include "buf.h"
#include "error.h"

enum {
	FZ_LINESERVER_CLIENTS = 64, /* at once; further ones are told so and let go */
	FZ_LINESERVER_LINE = 1024,  /* bytes; longer ones are not read */
};

struct fz_lineserver;
struct sockaddr_un;

/* Answer one line, which has no end and no NUL; what it appends goes back as a line. */
typedef void fz_lineserver_answer(void *arg, struct fz_str line, struct fz_buf *ret);

/* The address of a path, or of a name in the kernel's own space, which begins with @; its size, or
 * 0: it is too long. */
unsigned fz_lineserver_address(const char *path, struct sockaddr_un *ret);
/* Whose process made the other end of a socket. False: it cannot be told. */
bool fz_lineserver_peer(int fd, uid_t *ret);

/* Bind `path` (at most 107 bytes; @NAME is no file). What lies there already is refused, but for a
 * socket of ours on which nobody listens; so is a folder in which everybody may replace what others
 * made. */
int fz_lineserver_new(const char *path, fz_lineserver_answer *answer, void *arg,
		      struct fz_lineserver **ret, struct fz_error *err);
/* Readable when fz_lineserver_serve has something to do. -1 for NULL. */
int fz_lineserver_fd(const struct fz_lineserver *s);
/* Whatever there is to do now, and no more than so much of it that it takes no time to speak of. */
void fz_lineserver_serve(struct fz_lineserver *s);
/* Closes connections and removes the socket, if it is still the one that was made. NULL is allowed.
 */
void fz_lineserver_free(struct fz_lineserver *s);
