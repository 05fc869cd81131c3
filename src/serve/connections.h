/* SPDX-License-Identifier: MIT */
/* Open connections: how many an address may have, and how long each may take.
 *
 *   accepted -> HEADERS -> BODY ------> ANSWER -> closed
 *                      \-> REFUSED ---------/ \-> IDLE -> BODY ...
 *
 * Each state has a deadline, so a connection that sends nothing costs a descriptor for seconds. The
 * caller provides the clock and the lock.
 */
#pragma once

#include <sys/socket.h>

#include "base/base.h"

enum fz_connection_state {
	FZ_CONNECTION_HEADERS, /* no complete request line and headers yet */
	FZ_CONNECTION_REFUSED, /* the request is refused, the rest of its body is read */
	FZ_CONNECTION_BODY,    /* accepted, the body is not complete */
	FZ_CONNECTION_ANSWER,  /* complete */
	FZ_CONNECTION_IDLE,    /* answered, no complete headers of another request yet */
	FZ_CONNECTION_ENDING,  /* shut down here, not closed yet */
	FZ_CONNECTION_STATES,
};

struct fz_connection {
	struct fz_connection *older, *newer; /* in the list of its state */
	struct fz_connection_address *address;
	enum fz_connection_state state;
	int fd;
	int64_t since; /* when it got into its state */
	bool surplus;  /* above the limit of its address */
};

enum { FZ_CONNECTION_BUCKETS = 1024 };

struct fz_connections {
	/* set by the caller */
	size_t crowded;     /* above this number, new ones end old ones without a request */
	size_t per_address; /* more are surplus; twice as many are not accepted */
	int64_t deadline[FZ_CONNECTION_STATES]; /* ns in a state; 0: none */
	void (*end)(int fd);                    /* NULL: shut the socket down */
	/* own */
	size_t n;
	struct {
		struct fz_connection *oldest, *newest;
	} lists[FZ_CONNECTION_STATES];
	struct fz_connection_address *addresses[FZ_CONNECTION_BUCKETS];
};

/* Connections with the same key count together: those of an IPv4 address, or of an IPv6 network of
 * 64 bits, the usual size for one customer. */
uint64_t fz_connections_key(const struct sockaddr *address);
/* May this address open another connection? */
bool fz_connections_admit(const struct fz_connections *c, uint64_t key);
struct fz_connection *fz_connections_add(struct fz_connections *c, uint64_t key, int fd,
					 int64_t now);
void fz_connections_move(struct fz_connections *c, struct fz_connection *one,
			 enum fz_connection_state state, int64_t now);
/* May it stay open after its answer? Idle connections take at most half of an address's number. */
bool fz_connections_may_stay(const struct fz_connections *c, const struct fz_connection *one);
void fz_connections_remove(struct fz_connections *c, struct fz_connection *one);
/* End those past their deadline. */
void fz_connections_tick(struct fz_connections *c, int64_t now);
