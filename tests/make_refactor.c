/* SPDX-License-Identifier: MIT */
/* Recordings of a synthetic program as files, to measure large comparisons with (refactor.h):
 *
 *   make_refactor repeated|refactored NODES FUNCTIONS BASE.fz HEAD.fz
 */
#include "format/format.h"
#include "refactor.h"

#include <stdio.h>

static const char *const kinds[] = { [FZ_REPEATED] = "repeated", [FZ_REFACTORED] = "refactored" };

static int find_kind(const char *name)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i], name) == 0)
			return (int)i;
	return -1;
}

int main(int argc, char **argv)
{
	struct fz_error err = { 0 };
	struct fz_refactor r;
	int kind = argc == 6 ? find_kind(argv[1]) : -1;

	if (kind < 0) {
		fprintf(stderr, "usage: make_refactor repeated|refactored NODES FUNCTIONS "
				"BASE.fz HEAD.fz\n");
		return 2;
	}
	fz_refactor_init(&r, (uint32_t)strtoul(argv[2], NULL, 10),
			 (uint32_t)strtoul(argv[3], NULL, 10), (enum fz_refactor_kind)kind, 42);
	int status = fz_format_save(r.base, &fz_format_fz, argv[4], &err);
	if (!status)
		status = fz_format_save(r.head, &fz_format_fz, argv[5], &err);
	if (status)
		fprintf(stderr, "make_refactor: %s\n", err.message);
	fz_refactor_release(&r);
	return status ? 2 : 0;
}
