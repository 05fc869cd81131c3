/* SPDX-License-Identifier: MIT */
#include "shelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned shelf_hash(const char *name)
{
	unsigned h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h;
}

void shelf_put(struct shelf *shelf, const char *name, int cents)
{
	struct item **bucket = &shelf->buckets[shelf_hash(name) % 64];
	struct item *item = malloc(sizeof(*item));

	if (!item) {
		fprintf(stderr, "%s:%d: no memory\n", __FILE__, __LINE__);
		abort();
	}
	item->name = strdup(name);
	item->cents = cents;
	item->next = *bucket;
	*bucket = item;
	shelf->n++;
}

int shelf_get(const struct shelf *shelf, const char *name)
{
	for (struct item *i = shelf->buckets[shelf_hash(name) % 64]; i; i = i->next)
		if (strcmp(i->name, name) == 0)
			return i->cents;
	return -1;
}

void shelf_clear(struct shelf *shelf)
{
	for (int i = 0; i < 64; i++)
		while (shelf->buckets[i]) {
			struct item *first = shelf->buckets[i];
			shelf->buckets[i] = first->next;
			free(first->name);
			free(first);
		}
	shelf->n = 0;
}
