/* SPDX-License-Identifier: MIT */
/* Compact strings have their characters, of one, two or four bytes each, directly after the header:
 *
 *   PyASCIIObject          {.. length .. state ..} data (ascii)
 *   PyCompactUnicodeObject {PyASCIIObject, utf8 ..} data
 *
 * A str that is not compact (an instance of a subclass, or made by a removed API) is not read.
 */
#include "object.h"

#include "base/str.h"

enum { HEADER_MAX = 512, WORD_MAX = 64 };

void fz_py_encode_text(const void *data, size_t n, unsigned kind, struct fz_buf *out)
{
	const uint8_t *one = data;
	const uint16_t *two = data;
	const uint32_t *four = data;
	char utf8[4];

	for (size_t i = 0; i < n; i++) {
		uint32_t c = kind == 1 ? one[i] : kind == 2 ? two[i] : four[i];
		if (c >= 0xd800 && c < 0xe000)
			fz_buf_printf(out, "\\u%04x", c);
		else
			fz_buf_add(out, utf8, fz_utf8_encode(c, utf8));
	}
}

struct text {
	uint64_t data, length;
	unsigned kind; /* bytes per character */
};

static bool read_text_header(struct fz_process *p, const struct fz_py_layout *l, uint64_t object,
			     struct text *ret)
{
	uint8_t header[HEADER_MAX];
	uint32_t size = l->unicode.compact_data;
	uint32_t state;

	if (object == 0 || object % 8 || size > sizeof(header) ||
	    !fz_process_read(p, object, header, size))
		return false;
	memcpy(&state, header + l->unicode.state, sizeof(state));
	unsigned kind = state >> l->unicode_shift & 7;
	bool compact = state >> (l->unicode_shift + 3) & 1;
	bool ascii = state >> (l->unicode_shift + 4) & 1;
	*ret = (struct text){
		.data = object + (ascii ? l->unicode.ascii_data : l->unicode.compact_data),
		.length = fz_py_word(header, l->unicode.length),
		.kind = kind,
	};
	return compact && ret->length <= INT32_MAX && (kind == 1 || kind == 2 || kind == 4) &&
	       (!ascii || kind == 1);
}

bool fz_py_read_text(struct fz_process *p, const struct fz_py_layout *l, uint64_t object,
		     struct fz_buf *out)
{
	struct text text;

	if (!read_text_header(p, l, object, &text))
		return false;
	size_t n = (size_t)FZ_MIN(text.length, (uint64_t)FZ_PY_TEXT_MAX);
	fz_auto(fz_free_ptr) void *data = fz_malloc(n * text.kind + 1);
	if (n && !fz_process_read(p, text.data, data, n * text.kind))
		return false;
	fz_py_encode_text(data, n, text.kind, out);
	return true;
}

bool fz_py_text_is(struct fz_process *p, const struct fz_py_layout *l, uint64_t object,
		   const char *word)
{
	char data[WORD_MAX];
	size_t n = strlen(word);
	struct text text;

	fz_assert(n <= sizeof(data));
	return read_text_header(p, l, object, &text) && text.kind == 1 && text.length == n &&
	       fz_process_read(p, text.data, data, n) && memcmp(data, word, n) == 0;
}

bool fz_py_read_bytes(struct fz_process *p, const struct fz_py_layout *l, uint64_t object,
		      size_t max, struct fz_buf *out)
{
	uint64_t size;

	if (object == 0 || object % 8 || !fz_process_read_u64(p, object + l->bytes.size, &size) ||
	    size > max)
		return false;
	char *room = fz_buf_reserve(out, (size_t)size);
	if (!room || (size && !fz_process_read(p, object + l->bytes.data, room, (size_t)size)))
		return false;
	out->n += (size_t)size;
	return true;
}

/* ---- dicts ---- */

/* Up to 3.10 the header of keys is {references, slots, lookup, usable, entries} and each entry has
 * its hash; from 3.11 on {references, logarithms and kind, usable, entries}, and entries whose keys
 * are all strings have no hash. */
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
