/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

struct item {
	char *name;
	int cents;
	struct item *next;
};

struct shelf {
	struct item *buckets[64];
	size_t n;
};

unsigned shelf_hash(const char *name);
void shelf_put(struct shelf *shelf, const char *name, int cents);
int shelf_get(const struct shelf *shelf, const char *name);
void shelf_clear(struct shelf *shelf);

int by_cents(const void *a, const void *b);
size_t count_fields(const char *line);
size_t render(char *out, size_t size, const char *name, int cents);
double blur(double *cells, int size);
