/* SPDX-License-Identifier: MIT */
/* Any file: unwrapping of gzip and zstd, recognising, and every reader that claims it. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	const uint8_t *head;
	struct fz_error err;

	fz_assert(fz_input_open_memory(data, n, "fuzz", &in, &err) == 0);
	fz_input_set_limit(in, FUZZ_INPUT_LIMIT);
	int64_t have = fz_input_peek(in, &head, 4096, &err);
	for (size_t i = 0; have > 0 && fz_formats[i]; i++) {
		const struct fz_format *f = fz_formats[i];
		if (!f->sniff || f->sniff(head, (size_t)have, "fuzz") <= 0)
			continue;
		fz_auto(fz_profile_freep) struct fz_profile *p = fuzz_read(f, data, n);
		if (p)
			fuzz_use(p);
	}
	return 0;
}
