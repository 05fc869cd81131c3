/* SPDX-License-Identifier: MIT */
#include "shelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 500, SIZE = 40 };

static const char *const line =
	"name;cents;count;colour;weight;a longer field with words in it;last";
static char names[N][16];
static int numbers[N];
static double cells[SIZE * SIZE];
static struct shelf shelf;

static void fill(void)
{
	for (int i = 0; i < N; i++)
		shelf_put(&shelf, names[i], i);
}

static void find(void)
{
	for (int i = 0; i < N; i++)
		numbers[i] = shelf_get(&shelf, names[i * 7 % N]);
}

static void sort(void)
{
	for (int i = 0; i < N; i++)
		numbers[i] = i * 7919 % N;
	qsort(numbers, N, sizeof(*numbers), by_cents);
}

static void fields(void)
{
	for (int i = 0; i < N; i++)
		numbers[i] = (int)count_fields(line);
}

static void print(void)
{
	char out[64];

	for (int i = 0; i < N; i++)
		numbers[i] = (int)render(out, sizeof(out), names[i], i * 7);
}

static void smooth(void)
{
	for (int i = 0; i < SIZE * SIZE; i++)
		cells[i] = i % 17;
	cells[0] = blur(cells, SIZE);
}

int main(void)
{
	for (int i = 0; i < N; i++)
		snprintf(names[i], sizeof(names[i]), "item %d", i * 37 % 1009);
	access("/.fizeau/start/fill", F_OK), fill(), access("/.fizeau/stop/fill", F_OK);
	access("/.fizeau/start/find", F_OK), find(), access("/.fizeau/stop/find", F_OK);
	access("/.fizeau/start/sort", F_OK), sort(), access("/.fizeau/stop/sort", F_OK);
	access("/.fizeau/start/fields", F_OK), fields(), access("/.fizeau/stop/fields", F_OK);
	access("/.fizeau/start/print", F_OK), print(), access("/.fizeau/stop/print", F_OK);
	access("/.fizeau/start/smooth", F_OK), smooth(), access("/.fizeau/stop/smooth", F_OK);
	shelf_clear(&shelf);
	return numbers[0] < 0;
}
