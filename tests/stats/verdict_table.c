/* SPDX-License-Identifier: MIT */
/* Print the table of made-up verdicts of docs/statistics.md:
 *
 *     build/tests/verdict_table [COMPARISONS]      for each figure; 100 in the docs, by time
 */
#include <stdio.h>
#include <stdlib.h>

#include "verdict_rates.h"

static const unsigned sizes[] = { 1, 2, 3, 5 };
static const struct {
	const char *name;
	enum fz_scale_mode scale;
} scales[] = {
	{ "time", FZ_SCALE_TIME },
	{ "share", FZ_SCALE_SHARE },
	{ "reference", FZ_SCALE_REFERENCE },
};

int main(int argc, char **argv)
{
	int comparisons = argc > 1 ? atoi(argv[1]) : 300;

	if (comparisons <= 0) {
		fprintf(stderr, "usage: verdict_table [COMPARISONS]\n");
		return 2;
	}
	printf("| machine | scale | runs a side | false function | false run | interval holds | ± "
	       "| +40 %% found |\n");
	printf("|---|---|---|---|---|---|---|---|\n");
	for (size_t m = 0; m < MACHINES; m++) {
		for (size_t s = 0; s < FZ_ARRAY_LEN(scales); s++) {
			for (size_t n = 0; n < FZ_ARRAY_LEN(sizes); n++) {
				struct made_question q = { &machines[m], sizes[n], scales[s].scale,
							   1 };
				struct verdict_rates null =
					verdict_rates(&q, (unsigned)comparisons);
				q.planted = 1.4;
				struct verdict_rates found =
					verdict_rates(&q, (unsigned)comparisons);
				printf("| %s | %s | %u | %.1f %% | ", machines[m].name,
				       scales[s].name, sizes[n], 100 * null.false_function);
				if (scales[s].scale == FZ_SCALE_TIME)
					printf("%.1f %% | %.0f, %.0f %% | %.1f %% | ",
					       100 * null.false_run, 100 * null.holds,
					       100 * found.holds, 100 * null.half_width);
				else
					printf("– | – | – | ");
				printf("%.0f %% (false %.1f %%) |\n", 100 * found.found,
				       100 * found.false_function);
				fflush(stdout);
			}
		}
	}
	return 0;
}
