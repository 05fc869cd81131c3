/* SPDX-License-Identifier: MIT */
/* Three bytes are four letters of six bits each; see base64.h. */
#include "base/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void fz_base64_encode(struct fz_buf *out, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i += 3) {
		size_t left = FZ_MIN(n - i, (size_t)3);
		uint32_t bits = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
				(left > 2 ? p[i + 2] : 0);
		char four[4] = { letters[bits >> 18], letters[bits >> 12 & 63],
				 left > 1 ? letters[bits >> 6 & 63] : '=',
				 left > 2 ? letters[bits & 63] : '=' };
		fz_buf_add(out, four, sizeof(four));
	}
}

/* Value of a letter; FZ_NONE for other characters. */
static uint32_t value_of(char c)
{
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? (uint32_t)(at - letters) : FZ_NONE;
}

bool fz_base64_decode(struct fz_buf *out, struct fz_str text)
{
	if (text.n % 4)
		return false;
	for (size_t i = 0; i < text.n; i += 4) {
		const char *four = text.p + i;
		size_t n = 3;
		uint32_t bits = 0;
		if (i + 4 == text.n && four[3] == '=')
			n = four[2] == '=' ? 1 : 2;
		for (size_t k = 0; k < 4; k++) {
			uint32_t v = k <= n ? value_of(four[k]) : 0;
			if (v == FZ_NONE)
				return false;
			bits = bits << 6 | v;
		}
		char three[3] = { (char)(bits >> 16), (char)(bits >> 8), (char)bits };
		fz_buf_add(out, three, n);
	}
	return true;
}
