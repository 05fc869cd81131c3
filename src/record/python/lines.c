/* SPDX-License-Identifier: MIT */
/* The line tables of code objects. All consist of runs of instructions, in order:
 *
 *   lnotab (3.8, 3.9)   (bytes, signed lines) pairs: `lines` is added once `bytes` are passed
 *   3.10                (bytes, signed lines) pairs: `lines` is added first, -128 is "no line"
 *   location (3.11 on)  1 kkkk lll, then operands of kind k; covers lll + 1 code units
 *
 * Tables are hostile: every read is bounded and line numbers are summed in unsigned arithmetic.
 */
#include "lines.h"

static int32_t add_line(int32_t line, int32_t delta)
{
	return (int32_t)((uint32_t)line + (uint32_t)delta);
}

static const struct fz_py_position no_position = { -1, -1, -1, -1 };

static bool lookup_lnotab(const uint8_t *p, size_t n, int32_t line, uint32_t offset,
			  struct fz_py_position *ret)
{
	uint32_t address = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		address += p[i];
		if (address > offset)
			break;
		line = add_line(line, (int8_t)p[i + 1]);
	}
	*ret = no_position;
	ret->line = line;
	return true;
}

static bool lookup_310(const uint8_t *p, size_t n, int32_t line, uint32_t offset,
		       struct fz_py_position *ret)
{
	uint32_t end = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		int8_t delta = (int8_t)p[i + 1];

		end += p[i];
		if (delta != -128)
			line = add_line(line, delta);
		if (offset < end) {
			*ret = no_position;
			if (delta != -128)
				ret->line = line;
			return true;
		}
	}
	return false;
}

/* Six bits a byte, low first; bit 6: more follow. */
static bool location_varint(const uint8_t **p, const uint8_t *end, uint32_t *ret)
{
	uint32_t v = 0;

	for (unsigned shift = 0; *p < end; shift += 6) {
		uint8_t byte = *(*p)++;
		if (shift < 32)
			v |= (uint32_t)(byte & 63) << shift;
		if (!(byte & 64)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static bool location_delta(const uint8_t **p, const uint8_t *end, int32_t *ret)
{
	uint32_t v;

	if (!location_varint(p, end, &v))
		return false;
	*ret = v & 1 ? -(int32_t)(v >> 1) : (int32_t)(v >> 1);
	return true;
}

/* Read the operands of one entry; *line is the running line number. */
static bool location_entry(unsigned kind, const uint8_t **p, const uint8_t *end, int32_t *line,
			   struct fz_py_position *ret)
{
	uint32_t lines, column, end_column;
	int32_t delta;

	*ret = no_position;
	switch (kind) {
	case 15: /* no position */
		return true;
	case 14: /* everything; columns are stored plus one, 0 is none */
		if (!location_delta(p, end, &delta) || !location_varint(p, end, &lines) ||
		    !location_varint(p, end, &column) || !location_varint(p, end, &end_column))
			return false;
		*line = add_line(*line, delta);
		ret->line = *line;
		ret->end_line = add_line(*line, (int32_t)lines);
		ret->column = (int32_t)column - 1;
		ret->end_column = (int32_t)end_column - 1;
		return true;
	case 13: /* a line, no columns */
		if (!location_delta(p, end, &delta))
			return false;
		*line = add_line(*line, delta);
		ret->line = ret->end_line = *line;
		return true;
	case 10 ... 12: /* this line or one of the next two */
		if (end - *p < 2)
			return false;
		*line = add_line(*line, (int32_t)kind - 10);
		ret->line = ret->end_line = *line;
		ret->column = (*p)[0];
		ret->end_column = (*p)[1];
		*p += 2;
		return true;
	default: /* this line, columns below 80, at most 15 wide */
		if (*p >= end)
			return false;
		ret->line = ret->end_line = *line;
		ret->column = (int32_t)(kind << 3 | **p >> 4);
		ret->end_column = ret->column + (**p & 15);
		(*p)++;
		return true;
	}
}

static bool lookup_location(const uint8_t *p, size_t n, int32_t line, uint32_t offset,
			    struct fz_py_position *ret)
{
	const uint8_t *end = p + n;
	uint32_t address = 0;

	while (p < end) {
		uint8_t head = *p++;
		struct fz_py_position position;

		if (!location_entry(head >> 3 & 15, &p, end, &line, &position))
			return false;
		address += ((head & 7) + 1) * 2u;
		if (offset < address) {
			*ret = position;
			return true;
		}
	}
	return false;
}

bool fz_py_line_lookup(enum fz_py_lines kind, const uint8_t *table, size_t n, int32_t first_line,
		       uint32_t offset, struct fz_py_position *ret)
{
	switch (kind) {
	case FZ_PY_LINES_LNOTAB:
		return lookup_lnotab(table, n, first_line, offset, ret);
	case FZ_PY_LINES_310:
		return lookup_310(table, n, first_line, offset, ret);
	case FZ_PY_LINES_LOCATION:
		return lookup_location(table, n, first_line, offset, ret);
	}
	fz_assert(!"unknown line table kind");
}
