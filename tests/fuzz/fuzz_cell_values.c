/* SPDX-License-Identifier: MIT */
/* The values of a cell, and the cells of an hour, which come from a store's file: whatever can be
 * read is within its limits, and values are written and read back as they were. */
#include "fuzz.h"

#include "fleet/cell_values.h"
#include "fleet/hour_cells.h"

enum { VALUES_MAX = 4096 };

static struct fz_cell_codec codec;

static size_t read_all(struct fz_str bytes, struct fz_cell_value ret[VALUES_MAX], bool *bad)
{
	struct fz_cell_reader r = fz_cell_reader_of(&codec, bytes);
	int64_t node = 0;
	size_t n = 0;

	for (struct fz_cell_value v; fz_cell_reader_next(&r, &v); node = v.node) {
		fz_assert(v.node > node && v.value >= 0 && v.n >= 0);
		if (n < VALUES_MAX)
			ret[n++] = v;
	}
	*bad = r.bad;
	return n;
}

static void read_hour(struct fz_str bytes)
{
	struct fz_hour_reader r = fz_hour_reader_of(3, bytes);
	int64_t minute = 3 * FZ_HOUR_MINUTES - 1;

	for (struct fz_hour_cell c; fz_hour_reader_next(&r, &c); minute = c.minute)
		fz_assert(c.minute > minute && c.minute < 4 * FZ_HOUR_MINUTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct fz_cell_value values[VALUES_MAX], again[VALUES_MAX];
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	bool bad;
	size_t read = read_all((struct fz_str){ (const char *)data, n }, values, &bad);

	read_hour((struct fz_str){ (const char *)data, n });
	if (read == 0)
		return 0;
	fz_cell_values_write(&codec, values, read, &bytes);
	fz_assert(read_all(fz_buf_view(&bytes), again, &bad) == read && !bad);
	fz_assert(memcmp(values, again, read * sizeof(*values)) == 0);
	return 0;
}
