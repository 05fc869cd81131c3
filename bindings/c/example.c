/* SPDX-License-Identifier: MIT */
/* cc -O2 -g -o example example.c && fizeau bench -- ./example */
#include "fizeau_bench.h"

static unsigned hash(const char *text)
{
	unsigned h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

static int by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	static int numbers[1000];

	FIZEAU_BENCH("hash")
	{
		unsigned h = hash("the quick brown fox jumps over the lazy dog");
		fizeau_bench_use(h);
	}
	FIZEAU_BENCH("sort")
	{
		for (int i = 0; i < 1000; i++)
			numbers[i] = i * 7919 % 1000;
		qsort(numbers, 1000, sizeof(*numbers), by_value);
		fizeau_bench_use(numbers);
	}
	return 0;
}
