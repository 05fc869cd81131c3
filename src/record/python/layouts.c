/* SPDX-License-Identifier: MIT */
/* The layout tables, and parsing of _Py_DebugOffsets.
 *
 * The static tables hold for every patch release of a minor version, release and debug builds,
 * x86-64 and aarch64: they were generated from the headers of the first and last releases, between
 * which the fields used here never moved.
 *
 * _Py_DebugOffsets is a list of 64-bit numbers in sections (runtime, interpreter, thread, ...).
 * Each section has a size, and each of its fields must lie inside it and be aligned. Offsets that
 * pass can index a copy of the structure without further checks.
 */
#include <stddef.h>

#include "layouts.h"

#define NONE FZ_PY_ABSENT

/* clang-format off */
#define HEAP_THREAD { .next = 8, .interp = 16, .frame = 24, .thread_id = 176, \
		.base_frame = NONE, .status = NONE, .native_thread_id = NONE, .stack_chunk = NONE, \
		.id = 256, \
		.holds_gil = NONE, .gil_requested = NONE, \
		.raised = 88, .exc_state = 112, .exc_info = 144, .tracing = 44, \
		.running_loop = NONE, .running_task = NONE, .tasks = NONE }
#define HEAP_EXC { .value = 8, .previous = 24, .none = true }
#define OLD_EXC { .value = 0, .previous = 8, .none = true }
#define OLD_GIL { .last_holder = 8, .locked = 16, .switches = 24 }
#define OLD_OBJECT { .type = 8, .var_size = 16, .type_name = 24 }
#define OLD_UNICODE { .length = 16, .state = 32, .ascii_data = 48, .compact_data = 72 }
#define OLD_BYTES { .size = 16, .data = 32 }
#define STACK_CHUNK { .previous = 0, .size = 8, .top = 16, .data = 24 }
#define NO_CHUNK { NONE, NONE, NONE, NONE }
#define NO_CORO { NONE, NONE, NONE, NONE }
#define OLD_TYPE(at_qualname) { .flags = 168, .base = 256, .dict = 264, .qualname = at_qualname }
#define OLD_VALUES .dict = { .keys = 32, .values = 40 }, \
		.set = { .used = 24, .table = 40, .mask = 32 }, .integer = { .tag = 16, .digits = 24 }, \
		.tuple = { 24 }, .list = { 24 }, .real = { 16 }
#define HEAP_CODE { .size = 128, .filename = 104, .name = 112, .qualname = NONE, \
		.line_table = 120, .first_line = 40, .flags = 36, .bytecode = 48, .tlbc = NONE, \
		.version = NONE, .names = 72, .kinds = NONE, .cells = 88, .frees = 80 }

static const struct fz_py_layout layouts[] = {
	{
		.minor = 8, .frames = FZ_PY_FRAMES_HEAP, .lines = FZ_PY_LINES_LNOTAB,
		.unicode_shift = 2, .position_scale = 1, .owner_entry = 255,
		.runtime = { .interpreters_head = 32, .gc_collecting = 544, .gil = 1152, .current = 1368 },
		.interp = { .next = 0, .id = 16, .threads_head = 8, .threads_main = NONE,
			.modules = 56, .gil_pointer = NONE, .gc_collecting = NONE, .gc_frame = NONE,
			.code_generation = NONE, .tlbc_generation = NONE },
		.gil = OLD_GIL, .thread = HEAP_THREAD, .exc_item = HEAP_EXC, .cframe = { NONE, NONE, NONE },
		.frame = { .size = 120, .previous = 24, .code = 32, .position = 104,
			.owner = NONE, .is_entry = NONE, .object = NONE, .tlbc_index = NONE, .locals = 360, .state = 116, .running = 1 },
		.code = HEAP_CODE, .object = OLD_OBJECT, .type = OLD_TYPE(864), .unicode = OLD_UNICODE, .bytes = OLD_BYTES,
		.chunk = NO_CHUNK, OLD_VALUES, .coro = NO_CORO,
	},
	{
		.minor = 9, .frames = FZ_PY_FRAMES_HEAP, .lines = FZ_PY_LINES_LNOTAB,
		.unicode_shift = 2, .position_scale = 1, .owner_entry = 255,
		.runtime = { .interpreters_head = 32, .gc_collecting = NONE, .gil = 352, .current = 568 },
		.interp = { .next = 0, .id = 24, .threads_head = 8, .threads_main = NONE,
			.modules = 856, .gil_pointer = NONE, .gc_collecting = 816, .gc_frame = NONE,
			.code_generation = NONE, .tlbc_generation = NONE },
		.gil = OLD_GIL, .thread = HEAP_THREAD, .exc_item = HEAP_EXC, .cframe = { NONE, NONE, NONE },
		.frame = { .size = 120, .previous = 24, .code = 32, .position = 104,
			.owner = NONE, .is_entry = NONE, .object = NONE, .tlbc_index = NONE, .locals = 360, .state = 116, .running = 1 },
		.code = HEAP_CODE, .object = OLD_OBJECT, .type = OLD_TYPE(856), .unicode = OLD_UNICODE, .bytes = OLD_BYTES,
		.chunk = NO_CHUNK, OLD_VALUES, .coro = NO_CORO,
	},
	{
		.minor = 10, .frames = FZ_PY_FRAMES_HEAP, .lines = FZ_PY_LINES_310,
		.unicode_shift = 2, .position_scale = 2, .owner_entry = 255,
		.runtime = { .interpreters_head = 32, .gc_collecting = NONE, .gil = 352, .current = 568 },
		.interp = { .next = 0, .id = 24, .threads_head = 8, .threads_main = NONE,
			.modules = 856, .gil_pointer = NONE, .gc_collecting = 816, .gc_frame = NONE,
			.code_generation = NONE, .tlbc_generation = NONE },
		.gil = OLD_GIL, .thread = HEAP_THREAD, .exc_item = HEAP_EXC, .cframe = { .current = NONE, .previous = 8, .head = 48 },
		.frame = { .size = 112, .previous = 24, .code = 32, .position = 96,
			.owner = NONE, .is_entry = NONE, .object = NONE, .tlbc_index = NONE, .locals = 352, .state = 108, .running = 0 },
		.code = HEAP_CODE, .object = OLD_OBJECT, .type = OLD_TYPE(864), .unicode = OLD_UNICODE, .bytes = OLD_BYTES,
		.chunk = NO_CHUNK, OLD_VALUES, .coro = NO_CORO,
	},
	{
		.minor = 11, .frames = FZ_PY_FRAMES_CFRAME, .lines = FZ_PY_LINES_LOCATION,
		.unicode_shift = 2, .owner_entry = 255,
		.runtime = { .interpreters_head = 40, .gc_collecting = NONE, .gil = 360, .current = 576 },
		.interp = { .next = 0, .id = 48, .threads_head = 16, .threads_main = NONE,
			.modules = 888, .gil_pointer = NONE, .gc_collecting = 848, .gc_frame = NONE,
			.code_generation = NONE, .tlbc_generation = NONE },
		.gil = OLD_GIL,
		.thread = { .next = 8, .interp = 16, .frame = 56, .base_frame = NONE, .status = NONE, .id = NONE,
			.thread_id = 152, .native_thread_id = 160, .stack_chunk = 296,
			.holds_gil = NONE, .gil_requested = NONE,
			.raised = 96, .exc_state = 320, .exc_info = 120,
			.running_loop = NONE, .running_task = NONE, .tasks = NONE },
		.exc_item = OLD_EXC,
		.cframe = { .current = 8, .previous = 16, .head = NONE },
		.frame = { .size = 72, .previous = 48, .code = 32, .position = 56, .owner = 69,
			.is_entry = 68, .object = NONE, .tlbc_index = NONE, .locals = 72 },
		.code = { .size = 144, .filename = 112, .name = 120, .qualname = 128,
			.line_table = 136, .first_line = 72, .flags = 48, .bytecode = 184, .tlbc = NONE,
			.version = NONE, .names = 96, .kinds = 104, .cells = NONE, .frees = NONE },
		.object = OLD_OBJECT, .type = OLD_TYPE(864), .unicode = OLD_UNICODE, .bytes = OLD_BYTES, .chunk = STACK_CHUNK,
		OLD_VALUES,
		.coro = { .frame = 80, .state = 75, .stack = 64, .running_loop = NONE },
	},
	{
		.minor = 12, .frames = FZ_PY_FRAMES_CFRAME, .lines = FZ_PY_LINES_LOCATION,
		.unicode_shift = 2, .owner_entry = 3,
		.runtime = { .interpreters_head = 40, .gc_collecting = NONE, .gil = NONE, .current = NONE },
		.interp = { .next = 0, .id = 8, .threads_head = 72, .threads_main = NONE,
			.modules = 944, .gil_pointer = 384, .gc_collecting = 312, .gc_frame = NONE,
			.code_generation = NONE, .tlbc_generation = NONE },
		.gil = OLD_GIL,
		.thread = { .next = 8, .interp = 16, .frame = 56, .base_frame = NONE, .status = 24, .id = NONE,
			.thread_id = 136, .native_thread_id = 144, .stack_chunk = 232,
			.holds_gil = NONE, .gil_requested = NONE,
			.raised = 96, .exc_state = 256, .exc_info = 104,
			.running_loop = NONE, .running_task = NONE, .tasks = NONE },
		.exc_item = OLD_EXC,
		.cframe = { .current = 0, .previous = NONE, .head = NONE },
		.frame = { .size = 72, .previous = 8, .code = 0, .position = 56, .owner = 70,
			.is_entry = NONE, .object = 48, .tlbc_index = NONE, .locals = 72 },
		.code = { .size = 144, .filename = 112, .name = 120, .qualname = 128,
			.line_table = 136, .first_line = 68, .flags = 48, .bytecode = 192, .tlbc = NONE,
			.version = 92, .names = 96, .kinds = 104, .cells = NONE, .frees = NONE },
		.object = OLD_OBJECT, .type = OLD_TYPE(872),
		.unicode = { .length = 16, .state = 32, .ascii_data = 40, .compact_data = 56 },
		.bytes = OLD_BYTES, .chunk = STACK_CHUNK, OLD_VALUES,
		.coro = { .frame = 72, .state = 67, .stack = 64, .running_loop = NONE },
	},
};

const struct fz_py_layout *fz_py_layout_static(unsigned minor)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(layouts); i++)
		if (layouts[i].minor == minor)
			return &layouts[i];
	return NULL;
}

/* Sections of _Py_DebugOffsets: the position of each one's size, by version, and its plausible
 * maximum. Fields of a section are offsets into a structure of that size. */
enum section {
	RUNTIME, INTERP, THREAD, FRAME, CODE, OBJECT, TYPE, BYTES, UNICODE, DICT, GC, SET, INT, CORO,
	TUPLE, LIST, FLOAT,
	SECTIONS
};

struct field {
	uint16_t member;  /* offset in struct fz_py_layout */
	uint8_t section;
	uint8_t width;    /* bytes that the field has in the target; 0: it ends the structure */
	uint16_t at[3];   /* position in the table of 3.13, 3.14, 3.15; 0: not there */
};

static const struct {
	uint16_t at[3];
	uint32_t max;
} section_sizes[SECTIONS] = {
	[RUNTIME] = { { 24, 24, 24 }, 16u << 20 },
	[INTERP] = { { 48, 48, 48 }, 16u << 20 },
	[THREAD] = { { 152, 176, 176 }, 64u << 10 },
	[FRAME] = { { 224, 248, 312 }, 1024 },
	[CODE] = { { 272, 312, 376 }, 4096 },
	[OBJECT] = { { 352, 400, 464 }, 256 },
	[TYPE] = { { 368, 416, 480 }, 4096 },
	[BYTES] = { { 512, 592, 688 }, 256 },
	[UNICODE] = { { 536, 616, 712 }, 256 },
	[DICT] = { { 448, 528, 624 }, 1024 },
	[GC] = { { 568, 648, 752 }, 64u << 10 },
	[SET] = { { 0, 496, 592 }, 4096 },
	[INT] = { { 488, 568, 664 }, 256 },
	[CORO] = { { 0, 664, 792 }, 4096 },
	[TUPLE] = { { 400, 448, 544 }, 256 },
	[LIST] = { { 424, 472, 568 }, 256 },
	[FLOAT] = { { 472, 552, 648 }, 256 },
};

#define M(field) offsetof(struct fz_py_layout, field)
static const struct field fields[] = {
	{ M(runtime.interpreters_head), RUNTIME, 8, { 40, 40, 40 } },
	{ M(interp.id), INTERP, 8, { 56, 56, 56 } },
	{ M(interp.next), INTERP, 8, { 64, 64, 64 } },
	{ M(interp.threads_head), INTERP, 8, { 72, 72, 72 } },
	{ M(interp.threads_main), INTERP, 8, { 0, 80, 80 } },
	{ M(interp.modules), INTERP, 8, { 88, 96, 96 } },
	{ M(interp.gil_pointer), INTERP, 8, { 112, 120, 120 } },
	{ M(interp.code_generation), INTERP, 8, { 0, 160, 160 } },
	{ M(thread.next), THREAD, 8, { 168, 192, 192 } },
	{ M(thread.interp), THREAD, 8, { 176, 200, 200 } },
	{ M(thread.frame), THREAD, 8, { 184, 208, 208 } },
	{ M(thread.base_frame), THREAD, 8, { 0, 0, 216 } },
	{ M(thread.thread_id), THREAD, 8, { 192, 216, 240 } },
	{ M(thread.native_thread_id), THREAD, 8, { 200, 224, 248 } },
	{ M(thread.stack_chunk), THREAD, 8, { 208, 232, 256 } },
	{ M(thread.status), THREAD, 4, { 216, 240, 264 } },
	{ M(thread.holds_gil), THREAD, 4, { 0, 0, 272 } },
	{ M(thread.gil_requested), THREAD, 4, { 0, 0, 280 } },
	{ M(thread.raised), THREAD, 8, { 0, 0, 288 } },
	{ M(thread.exc_state), THREAD, 8, { 0, 0, 296 } },
	{ M(frame.previous), FRAME, 8, { 232, 256, 320 } },
	{ M(frame.code), FRAME, 8, { 240, 264, 328 } },
	{ M(frame.position), FRAME, 8, { 248, 272, 336 } },
	{ M(frame.owner), FRAME, 1, { 264, 288, 352 } },
	{ M(code.filename), CODE, 8, { 280, 320, 384 } },
	{ M(code.name), CODE, 8, { 288, 328, 392 } },
	{ M(code.qualname), CODE, 8, { 296, 336, 400 } },
	{ M(code.line_table), CODE, 8, { 304, 344, 408 } },
	{ M(code.first_line), CODE, 4, { 312, 352, 416 } },
	{ M(code.bytecode), CODE, 0, { 344, 384, 448 } },
	{ M(object.type), OBJECT, 8, { 360, 408, 472 } },
	{ M(object.type_name), TYPE, 8, { 376, 424, 488 } },
	{ M(bytes.size), BYTES, 8, { 520, 600, 696 } },
	{ M(bytes.data), BYTES, 0, { 528, 608, 704 } },
	{ M(unicode.state), UNICODE, 4, { 544, 624, 720 } },
	{ M(unicode.length), UNICODE, 8, { 552, 632, 728 } },
	{ M(unicode.ascii_data), UNICODE, 0, { 560, 640, 736 } },
	{ M(unicode.compact_data), UNICODE, 0, { 0, 0, 744 } },
	{ M(dict.keys), DICT, 8, { 456, 536, 632 } },
	{ M(dict.values), DICT, 8, { 464, 544, 640 } },
	{ M(interp.gc_collecting), GC, 4, { 576, 656, 760 } },
	{ M(interp.gc_frame), GC, 8, { 0, 0, 768 } },
	{ M(coro.frame), CORO, 8, { 0, 680, 808 } },
	{ M(coro.state), CORO, 1, { 0, 688, 816 } },
	{ M(coro.stack), FRAME, 8, { 0, 296, 360 } },
	{ M(set.used), SET, 8, { 0, 504, 600 } },
	{ M(set.table), SET, 8, { 0, 512, 608 } },
	{ M(set.mask), SET, 8, { 0, 520, 616 } },
	{ M(integer.tag), INT, 8, { 496, 576, 672 } },
	{ M(integer.digits), INT, 4, { 504, 584, 680 } },
	{ M(type.flags), TYPE, 8, { 392, 440, 504 } },
	{ M(code.names), CODE, 8, { 328, 368, 432 } },
	{ M(code.kinds), CODE, 8, { 336, 376, 440 } },
	{ M(frame.locals), FRAME, 8, { 256, 280, 344 } },
	{ M(tuple.items), TUPLE, 0, { 408, 456, 552 } },
	{ M(list.items), LIST, 8, { 432, 480, 576 } },
	{ M(real.value), FLOAT, 8, { 480, 560, 656 } },
};

/* Fields that only free-threaded builds have; elsewhere the table holds 0 for them. */
static const struct field tlbc_fields[] = {
	{ M(interp.tlbc_generation), INTERP, 4, { 0, 168, 168 } },
	{ M(frame.tlbc_index), FRAME, 4, { 0, 304, 368 } },
	{ M(code.tlbc), CODE, 8, { 0, 392, 456 } },
};
/* clang-format on */

static const uint16_t table_sizes[3] = { 584, 760, 888 };

/* The table being read. */
struct table {
	const uint8_t *p;
	unsigned column; /* 0: 3.13, 1: 3.14, 2: 3.15 */
	uint64_t sizes[SECTIONS];
};

static uint64_t table_number(const struct table *t, unsigned at)
{
	uint64_t v;

	memcpy(&v, t->p + at, sizeof(v));
	return v;
}

static int read_sizes(struct table *t, struct fz_error *err)
{
	for (unsigned i = 0; i < SECTIONS; i++) {
		if (!section_sizes[i].at[t->column])
			continue;
		t->sizes[i] = table_number(t, section_sizes[i].at[t->column]);
		if (t->sizes[i] == 0 || t->sizes[i] > section_sizes[i].max)
			return fz_fail(err, FZ_EINPUT,
				       "corrupt offset table: section %u has %llu bytes", i,
				       (unsigned long long)t->sizes[i]);
	}
	return 0;
}

static int read_field(const struct table *t, const struct field *f, struct fz_py_layout *out,
		      struct fz_error *err)
{
	uint32_t *member = (void *)((char *)out + f->member);
	uint16_t at = f->at[t->column];

	if (at == 0) {
		*member = FZ_PY_ABSENT;
		return 0;
	}
	uint64_t v = table_number(t, at), size = t->sizes[f->section];
	unsigned align = f->width ? f->width : 1;
	if (v > size || size - v < f->width || v % align)
		return fz_fail(err, FZ_EINPUT,
			       "corrupt offset table: %llu at %u does not fit %llu bytes",
			       (unsigned long long)v, at, (unsigned long long)size);
	*member = (uint32_t)v;
	return 0;
}

static int read_fields(const struct table *t, const struct field *list, size_t n,
		       struct fz_py_layout *out, struct fz_error *err)
{
	for (size_t i = 0; i < n; i++) {
		int rc = read_field(t, &list[i], out, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A GC field is relative to interp.gc; make it relative to the interpreter. */
static int add_gc_base(const struct table *t, struct fz_py_layout *out, struct fz_error *err)
{
	static const uint16_t gc_at[3] = { 80, 88, 88 };
	uint64_t base = table_number(t, gc_at[t->column]);

	if (base % 8 || base > t->sizes[INTERP] || t->sizes[INTERP] - base < t->sizes[GC])
		return fz_fail(err, FZ_EINPUT, "corrupt offset table: gc at %llu does not fit",
			       (unsigned long long)base);
	out->interp.gc_collecting += (uint32_t)base;
	if (out->interp.gc_frame != FZ_PY_ABSENT)
		out->interp.gc_frame += (uint32_t)base;
	return 0;
}

/* The table has a thread's exception fields from 3.15 on only, but their neighbours have been the
 * same since 3.13. If they don't fit they stay absent. */
static void fill_exceptions(const struct table *t, struct fz_py_layout *out)
{
	uint64_t size = t->sizes[THREAD];

	out->exc_item.value = 0;
	out->exc_item.previous = 8;
	out->exc_item.none = false;
	out->thread.exc_info = FZ_PY_ABSENT;
	if (out->thread.thread_id >= 40)
		out->thread.exc_info = out->thread.thread_id - 32;
	if (out->thread.raised == FZ_PY_ABSENT && out->thread.exc_info != FZ_PY_ABSENT)
		out->thread.raised = out->thread.exc_info - 8;
	if (out->thread.exc_state == FZ_PY_ABSENT && out->thread.stack_chunk + 40ull <= size)
		out->thread.exc_state = out->thread.stack_chunk + 24;
}

/* The table has few fields of types; the others have fixed distances from those in all versions. */
static void fill_values(struct fz_py_layout *out)
{
	static const uint32_t qualname[] = { 848, 848, 856 }; /* behind the name */
	uint32_t header = out->object.var_size;

	out->type.base = out->object.type_name + 232;
	out->type.dict = out->object.type_name + 240;
	out->type.qualname = out->object.type_name +
			     qualname[FZ_MIN(out->minor - 13u, FZ_ARRAY_LEN(qualname) - 1)];
	out->code.cells = out->code.frees = FZ_PY_ABSENT;
	if (out->set.used == FZ_PY_ABSENT) {
		out->set.used = header + 8;
		out->set.mask = header + 16;
		out->set.table = header + 24;
	}
}

/* 3.13's table lacks coroutines and asyncio: coroutines are as in 3.12, and the running loop
 * directly follows the public part of a thread state. */
static void fill_coroutines(const struct table *t, struct fz_py_layout *out)
{
	const struct fz_py_layout *before = fz_py_layout_static(12);

	out->coro = before->coro;
	if (t->sizes[THREAD] % 8 == 0)
		out->coro.running_loop = (uint32_t)t->sizes[THREAD];
}

/* Fields that are the same in all versions with the table, or follow from others. */
static void fill_rest(const struct table *t, struct fz_py_layout *out)
{
	bool ft = out->free_threaded;
	uint32_t gil_shift = ft ? 8 : 0; /* `enabled` comes first there */

	out->frames = FZ_PY_FRAMES_DIRECT;
	out->lines = FZ_PY_LINES_LOCATION;
	out->owner_entry = 3;
	out->unicode_shift = ft && out->minor >= 14 ? 8 : 2;
	out->runtime.gc_collecting = out->runtime.gil = out->runtime.current = FZ_PY_ABSENT;
	out->gil.last_holder = 8 + gil_shift;
	out->gil.locked = 16 + gil_shift;
	out->gil.switches = 24 + gil_shift;
	out->cframe.current = out->cframe.previous = out->cframe.head = FZ_PY_ABSENT;
	out->thread.running_loop = out->thread.running_task = out->thread.tasks = FZ_PY_ABSENT;
	out->thread.id = FZ_PY_ABSENT;
	out->frame.is_entry = out->frame.object = FZ_PY_ABSENT;
	if (out->frame.position >= 8)
		out->frame.object = out->frame.position - 8; /* its neighbour, as in 3.12 */
	out->frame.size = FZ_MAX(out->frame.position, out->frame.code);
	out->frame.size = FZ_MAX(out->frame.size, out->frame.previous) + 8;
	out->frame.size = FZ_MAX(out->frame.size, out->frame.owner + 1);
	if (out->frame.tlbc_index != FZ_PY_ABSENT)
		out->frame.size = FZ_MAX(out->frame.size, out->frame.tlbc_index + 4);
	out->frame.size = (out->frame.size + 7) & ~7u;
	fill_exceptions(t, out);
	if (out->minor == 13 && !ft)
		fill_coroutines(t, out);
	out->code.flags = FZ_PY_ABSENT;
	out->code.size = (uint32_t)t->sizes[CODE];
	/* Not in the table, but needed: the counter of freed code (3.14 on) does not show which
	 * code was freed. */
	out->code.version = FZ_PY_ABSENT;
	if (out->code.first_line + 28 <= out->code.size)
		out->code.version = out->code.first_line + 24;
	out->object.var_size = (uint32_t)t->sizes[OBJECT];
	fill_values(out);
	out->chunk.previous = 0;
	out->chunk.size = 8;
	out->chunk.top = 16;
	out->chunk.data = 24;
	if (out->unicode.compact_data == FZ_PY_ABSENT)
		out->unicode.compact_data = out->unicode.ascii_data + 16;
}

/* Check what readers rely on: they copy a code object, and a string up to its data, in one piece.
 */
static int check_pieces(const struct fz_py_layout *l, struct fz_error *err)
{
	if (l->unicode.state + 4 > l->unicode.ascii_data ||
	    l->unicode.length + 8 > l->unicode.ascii_data ||
	    l->unicode.ascii_data > l->unicode.compact_data ||
	    l->object.var_size + 8 > l->code.size)
		return fz_fail(err, FZ_EINPUT,
			       "corrupt offset table: strings or code objects overlap");
	return 0;
}

int fz_py_layout_parse(const void *table, size_t n, bool best_effort, struct fz_py_layout *ret,
		       struct fz_error *err)
{
	struct table t = { .p = table };
	struct fz_py_layout out = { 0 };
	int rc;

	if (n < 24 || memcmp(table, FZ_PY_COOKIE, 8) != 0)
		return fz_fail(err, FZ_EINPUT, "no offset table");
	uint64_t version = table_number(&t, 8);
	unsigned major = version >> 24 & 255, minor = version >> 16 & 255;
	if (version > UINT32_MAX || major != 3 || minor < 13)
		return fz_fail(err, FZ_EINPUT, "corrupt offset table: version %#llx",
			       (unsigned long long)version);
	if (minor > FZ_PY_MINOR_MAX && !best_effort)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "Python 3.%u is newer than this version of Fizeau supports (3.%d); "
			       "update Fizeau",
			       minor, FZ_PY_MINOR_MAX);
	t.column = FZ_MIN(minor, (unsigned)FZ_PY_MINOR_MAX) - 13;
	if (n < table_sizes[t.column])
		return fz_fail(err, FZ_EINPUT, "truncated offset table");
	out.minor = (uint8_t)minor;
	out.free_threaded = table_number(&t, 16) != 0;
	rc = read_sizes(&t, err);
	if (rc == 0)
		rc = read_fields(&t, fields, FZ_ARRAY_LEN(fields), &out, err);
	if (rc == 0)
		rc = add_gc_base(&t, &out, err);
	if (rc < 0)
		return rc;
	out.interp.tlbc_generation = out.frame.tlbc_index = out.code.tlbc = FZ_PY_ABSENT;
	if (out.free_threaded) {
		rc = read_fields(&t, tlbc_fields, FZ_ARRAY_LEN(tlbc_fields), &out, err);
		if (rc < 0)
			return rc;
	}
	fill_rest(&t, &out);
	rc = check_pieces(&out, err);
	if (rc == 0)
		*ret = out;
	return rc;
}
