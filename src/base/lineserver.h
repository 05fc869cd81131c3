/* SPDX-License-Identifier: MIT */
/* A Unix socket server that answers each line with a line.
 *
 * Only its owner and root can connect (mode 0600, and peer credentials). Nothing blocks: the caller
 * polls fz_lineserver_fd together with its other descriptors.
 */
#pragma once

#include "base.h"
#include "buf.h"
#include "error.h"

enum {
	FZ_LINESERVER_CLIENTS = 64, /* at once; another one disconnects the one silent longest */
	FZ_LINESERVER_LINE = 1024,  /* bytes; longer lines are ignored */
};

struct fz_lineserver;
struct sockaddr_un;

/* Answers one line, which has no line end and no NUL; the appended text is sent back as a line. */
typedef void fz_lineserver_answer(void *arg, struct fz_str line, struct fz_buf *ret);

/* Sets the address of a path, or of an abstract name with @; returns its size, 0 if too long. */
unsigned fz_lineserver_address(const char *path, struct sockaddr_un *ret);
/* The user of the other end of a socket; false if unknown. */
bool fz_lineserver_peer(int fd, uid_t *ret);

/* Binds `path` (at most 107 bytes; @NAME is abstract). Fails if the path exists, except for our own
 * socket without a listener, and if other users can replace files in its folder. */
int fz_lineserver_new(const char *path, fz_lineserver_answer *answer, void *arg,
		      struct fz_lineserver **ret, struct fz_error *err);
/* Readable when fz_lineserver_serve has work; -1 for NULL. */
int fz_lineserver_fd(const struct fz_lineserver *s);
/* Handles pending events, limited so that it takes little time. */
void fz_lineserver_serve(struct fz_lineserver *s);
/* Closes connections and removes the socket if it is still ours. NULL is allowed. */
void fz_lineserver_free(struct fz_lineserver *s);
