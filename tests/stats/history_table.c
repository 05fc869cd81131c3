/* SPDX-License-Identifier: MIT */
/* Print the table of histories of docs/statistics.md:
 *
 *     build/tests/history_table [SERIES]       made-up series for each figure; 300 in the docs
 */
#include <stdio.h>
#include <stdlib.h>

#include "history_rates.h"

static const struct {
	const char *title;
	size_t n, at;
	double step;
} columns[] = {
	{ "false, of 30", 30, 0, 0 },      { "false, of 50", 50, 0, 0 },
	{ "false, of 100", 100, 0, 0 },    { "+5 % in the last 5 of 50", 50, 45, 0.05 },
	{ "in the last 3", 50, 47, 0.05 }, { "+4 % in the middle of 100", 100, 60, 0.04 },
	{ "+6 %", 100, 60, 0.06 },
};

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 300;

	if (rounds <= 0) {
		fprintf(stderr, "usage: history_table [SERIES]\n");
		return 2;
	}
	printf("| noise |");
	for (size_t i = 0; i < FZ_ARRAY_LEN(columns); i++)
		printf(" %s |", columns[i].title);
	printf("\n|---|");
	for (size_t i = 0; i < FZ_ARRAY_LEN(columns); i++)
		printf("---|");
	for (size_t k = 0; k < NOISES; k++) {
		printf("\n| %s |", noises[k].name);
		for (size_t i = 0; i < FZ_ARRAY_LEN(columns); i++) {
			struct rate r = history_rate(&noises[k], columns[i].n, columns[i].at,
						     columns[i].step, rounds);
			printf(" %.*f %%", columns[i].at ? 0 : 1, 100 * r.found);
			if (columns[i].n == 100 && columns[i].at)
				printf(", %.1f off", r.off);
			printf(" |");
			fflush(stdout);
		}
	}
	printf("\n");
	return 0;
}
