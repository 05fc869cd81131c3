/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fuzz_read(&fz_format_rprof, data, n);

	if (p)
		fuzz_use(p);
	return 0;
}
