/* SPDX-License-Identifier: MIT */
/* The native recording. Checksums would keep a fuzzer out, so besides whole files this takes
 * a list of blocks, [type u8, length u16, payload], and makes a file of them; such an input
 * starts with 'B'. */
#include "fuzz.h"

#include "format/fz_layout.h"

#include <xxhash.h>

static void add_block(struct fz_buf *b, uint8_t type, const void *payload, uint32_t n)
{
	size_t start = b->n;

	fz_buf_add(b, FZ_FZ_MARK, FZ_FZ_MARK_SIZE);
	fz_buf_u32(b, type);
	fz_buf_u32(b, n);
	fz_buf_u32(b, n);
	fz_buf_u64(b, fz_hash_bytes(payload, n));
	fz_buf_u32(b, (uint32_t)fz_hash_bytes(b->p + start, b->n - start));
	fz_buf_add(b, payload, n);
}

static void make_file(struct fz_buf *b, struct fz_cursor c)
{
	fz_buf_add(b, FZ_FZ_MAGIC, 8);
	fz_buf_u32(b, FZ_FZ_VERSION);
	fz_buf_u32(b, 0);
	while (fz_cursor_left(&c) >= 3) {
		uint8_t type = fz_cursor_u8(&c);
		size_t n = fz_cursor_u8(&c);
		n |= (size_t)fz_cursor_u8(&c) << 8;
		n = FZ_MIN(n, fz_cursor_left(&c));
		add_block(b, type, fz_cursor_bytes(&c, n), (uint32_t)n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fz_auto(fz_buf_release) struct fz_buf file = { 0 };

	if (n && data[0] == 'B') {
		make_file(&file, fz_cursor_of(data + 1, n - 1));
		data = (const uint8_t *)file.p;
		n = file.n;
	}
	fz_auto(fz_profile_freep) struct fz_profile *p = fuzz_read(&fz_format_fz, data, n);
	if (p)
		fuzz_use(p);
	return 0;
}
