/* SPDX-License-Identifier: MIT */
/* The layout of keys objects; dict.h has the picture. Up to 3.10 the header is {references, slots,
 * lookup, usable, entries} and each entry has its hash; from 3.11 on {references, logarithms and
 * kind, usable, entries}, and entries whose keys are all strings have no hash. */
#include "dict.h"

bool fz_py_dict_entries(const struct fz_py_layout *l, uint64_t keys,
			const uint64_t head[FZ_PY_KEYS_WORDS], struct fz_py_entries *ret)
{
	enum { SLOTS_MAX = 1 << 30, INDEX_BITS_MAX = 32, GENERAL = 0 };

	if (l->minor <= 10) {
		uint64_t slots = head[1];
		unsigned width = slots <= 0xff ? 1 : slots <= 0xffff ? 2 : 4;
		if (slots > SLOTS_MAX)
			return false;
		*ret = (struct fz_py_entries){ keys + 40 + slots * width, head[4], 3, slots,
					       head[3] };
		return true;
	}
	unsigned slot_bits = head[1] & 255, index_bits = head[1] >> 8 & 255;
	unsigned kind = head[1] >> 16 & 255;
	if (slot_bits > INDEX_BITS_MAX || index_bits > INDEX_BITS_MAX)
		return false;
	*ret = (struct fz_py_entries){ keys + 32 + (1ull << index_bits), head[3],
				       kind == GENERAL ? 3 : 2, 1ull << slot_bits, head[2] };
	return true;
}

uint64_t fz_py_dict_values(const struct fz_py_layout *l, uint64_t values)
{
	/* From 3.13 on a small header comes first. */
	return values && l->minor >= 13 ? values + 8 : values;
}
