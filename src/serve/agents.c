/* SPDX-License-Identifier: MIT */
/* An agent that is restarted has another id, and the earlier one does not return, except with
 * pushes that waited in its spool:
 *
 *   A(10) A(11) B(11) B(12) A(9)   restarted at 11; a late push
 *   A(10) B(10) A(11) B(11)        two agents: A was alive after B began
 */
#include "serve/agents.h"

#include <string.h>

void fz_agents_init(struct fz_agents *a)
{
	*a = (struct fz_agents){ 0 };
	pthread_mutex_init(&a->lock, NULL);
}

void fz_agents_release(struct fz_agents *a)
{
	pthread_mutex_destroy(&a->lock);
	fz_map_release(&a->host_map);
	free(a->hosts);
}

static struct fz_agents_host *host_of(struct fz_agents *a, uint64_t key)
{
	if (a->n == FZ_AGENTS_HOSTS) {
		fz_map_clear(&a->host_map);
		a->n = 0;
	}
	uint32_t *slot = fz_map_slot(&a->host_map, key);
	if (*slot == FZ_NONE) {
		*slot = a->n;
		fz_push(a->hosts, a->n, a->cap, (struct fz_agents_host){ 0 });
	}
	return &a->hosts[*slot];
}

bool fz_agents_note(struct fz_agents *a, const char *project, const char *host, const char *agent,
		    int64_t minute)
{
	uint64_t id = fz_hash_bytes(agent, strlen(agent));
	uint64_t key = fz_hash64(fz_hash_bytes(project, strlen(project))) ^
		       fz_hash_bytes(host, strlen(host));
	bool two = false;

	pthread_mutex_lock(&a->lock);
	struct fz_agents_host *h = host_of(a, key);
	if (id == h->previous && id != h->current) {
		two = minute > h->first && !h->reported;
		h->reported |= two;
	} else if (id != h->current) {
		h->previous = h->current;
		h->current = id;
		h->first = minute;
	}
	pthread_mutex_unlock(&a->lock);
	return two;
}
