/* SPDX-License-Identifier: MIT */
#include "shelf.h"

#include <stdio.h>
#include <string.h>

int by_cents(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

size_t count_fields(const char *line)
{
	size_t n = 1;

	while ((line = strchr(line, ';'))) {
		n++;
		line++;
	}
	return n;
}

size_t render(char *out, size_t size, const char *name, int cents)
{
	return (size_t)snprintf(out, size, "%-20s %6d.%02d\n", name, cents / 100, cents % 100);
}

double blur(double *cells, int size)
{
	double sum = 0;

	for (int y = 1; y < size - 1; y++)
		for (int x = 1; x < size - 1; x++) {
			double *c = &cells[y * size + x];
			*c = (c[-1] + c[1] + c[-size] + c[size] + *c) / 5;
			sum += *c;
		}
	return sum;
}
