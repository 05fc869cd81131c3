/* SPDX-License-Identifier: MIT */
/* Tables of line numbers, which come from the target's memory: kind, first line and offset are
 * the first bytes, the table is the rest. */
#include "fuzz.h"

#include "base/buf.h"
#include "record/python/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fz_cursor c = fz_cursor_of(data, n);
	uint8_t kind = fz_cursor_u8(&c);
	uint32_t first_line = fz_cursor_u32(&c), offset = fz_cursor_u32(&c);
	struct fz_py_position position;

	if (!c.bad && kind <= FZ_PY_LINES_LOCATION)
		fz_py_line_lookup((enum fz_py_lines)kind, c.p, fz_cursor_left(&c),
				  (int32_t)first_line, offset, &position);
	return 0;
}
