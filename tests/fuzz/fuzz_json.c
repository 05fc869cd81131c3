/* SPDX-License-Identifier: MIT */
/* For any name, the JSON writer's text is valid, reads back as the same (except for invalid UTF-8),
 * and cannot end a script element. */
#include "fuzz.h"

#include "base/json.h"

#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_str s = { (const char *)data, n };
	struct fz_json j;

	fz_json_init(&j, out, 0);
	fz_json_open(&j, '[');
	fz_json_str(&j, s);
	fz_json_close(&j, ']');
	struct fz_buf *b = fz_output_buffer(out);
	fz_assert(!memchr(b->p, '<', b->n));
	json_t *root = json_loadb(b->p, b->n, JSON_ALLOW_NUL, NULL);
	fz_assert(root);
	json_t *text = json_array_get(root, 0);
	if (fz_utf8_valid(s))
		fz_assert(json_string_length(text) == n &&
			  memcmp(json_string_value(text), data, n) == 0);
	json_decref(root);
	char safe[256];
	fz_str_printable(s.p, s.n, safe, sizeof(safe));
	fz_assert(fz_utf8_valid(fz_str_of(safe)));
	return 0;
}
