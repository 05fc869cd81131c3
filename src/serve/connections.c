/* SPDX-License-Identifier: MIT */
/* Each state has a list in order of arrival, so the first connection to be late, or to make room,
 * is the oldest of its list.
 *
 *   addresses   hash -> {key, n} -> ...    as long as a connection of it is open
 *   lists       HEADERS: c7 c8 c9    BODY: c3    ANSWER: c1 c2
 */
#include "serve/connections.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/map.h"

struct fz_connection_address {
	struct fz_connection_address *next; /* in its bucket */
	uint64_t key;
	size_t n;
};

uint64_t fz_connections_key(const struct sockaddr *address)
{
	static const uint8_t mapped[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	uint64_t key = 0;

	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const void *)address;

		return ntohl(v4->sin_addr.s_addr);
	}
	if (address->sa_family == AF_INET6) {
		const uint8_t *v6 =
			((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr;
		bool is_v4 = memcmp(v6, mapped, sizeof(mapped)) == 0;

		for (int i = is_v4 ? 12 : 0; i < (is_v4 ? 16 : 8); i++)
			key = key << 8 | v6[i];
	}
	return key;
}

/* ---- addresses ---- */

static struct fz_connection_address **find(const struct fz_connections *c, uint64_t key)
{
	struct fz_connection_address **link =
		(struct fz_connection_address **)&c
			->addresses[fz_hash64(key) % FZ_CONNECTION_BUCKETS];

	while (*link && (*link)->key != key)
		link = &(*link)->next;
	return link;
}

bool fz_connections_admit(const struct fz_connections *c, uint64_t key)
{
	const struct fz_connection_address *address = *find(c, key);

	return !address || address->n < 2 * c->per_address;
}

/* ---- lists ---- */

static void append(struct fz_connections *c, struct fz_connection *one,
		   enum fz_connection_state state, int64_t now)
{
	one->state = state;
	one->since = now;
	one->newer = NULL;
	one->older = c->lists[state].newest;
	*(one->older ? &one->older->newer : &c->lists[state].oldest) = one;
	c->lists[state].newest = one;
}

static void remove_connection(struct fz_connections *c, struct fz_connection *one)
{
	*(one->older ? &one->older->newer : &c->lists[one->state].oldest) = one->newer;
	*(one->newer ? &one->newer->older : &c->lists[one->state].newest) = one->older;
}

void fz_connections_move(struct fz_connections *c, struct fz_connection *one,
			 enum fz_connection_state state, int64_t now)
{
	remove_connection(c, one);
	append(c, one, state, now);
}

static void end(struct fz_connections *c, struct fz_connection *one, int64_t now)
{
	fz_connections_move(c, one, FZ_CONNECTION_ENDING, now);
	if (c->end)
		c->end(one->fd);
	else
		shutdown(one->fd, SHUT_RDWR);
}

/* ---- connections ---- */

/* End the oldest idle connection, else the oldest without a request, else the oldest whose request
 * is refused. */
static void make_room(struct fz_connections *c, const struct fz_connection *newest, int64_t now)
{
	static const enum fz_connection_state order[] = { FZ_CONNECTION_IDLE, FZ_CONNECTION_HEADERS,
							  FZ_CONNECTION_REFUSED };

	for (size_t i = 0; c->n > c->crowded && i < FZ_ARRAY_LEN(order); i++) {
		struct fz_connection *oldest = c->lists[order[i]].oldest;

		if (oldest && oldest != newest) {
			end(c, oldest, now);
			return;
		}
	}
}

struct fz_connection *fz_connections_add(struct fz_connections *c, uint64_t key, int fd,
					 int64_t now)
{
	struct fz_connection *one = fz_calloc(1, sizeof(*one));
	struct fz_connection_address **address = find(c, key);

	if (!*address) {
		*address = fz_calloc(1, sizeof(**address));
		(*address)->key = key;
	}
	one->fd = fd;
	one->address = *address;
	one->surplus = ++one->address->n > c->per_address;
	append(c, one, FZ_CONNECTION_HEADERS, now);
	c->n++;
	make_room(c, one, now);
	return one;
}

bool fz_connections_may_stay(const struct fz_connections *c, const struct fz_connection *one)
{
	return 2 * one->address->n <= c->per_address;
}

void fz_connections_remove(struct fz_connections *c, struct fz_connection *one)
{
	fz_assert(one->address->n > 0 && c->n > 0);
	if (--one->address->n == 0) {
		struct fz_connection_address **link = find(c, one->address->key);

		*link = one->address->next;
		free(one->address);
	}
	remove_connection(c, one);
	c->n--;
	free(one);
}

void fz_connections_tick(struct fz_connections *c, int64_t now)
{
	for (size_t state = 0; state < FZ_CONNECTION_STATES; state++)
		while (c->deadline[state] && c->lists[state].oldest &&
		       c->lists[state].oldest->since + c->deadline[state] < now)
			end(c, c->lists[state].oldest, now);
}
