/* SPDX-License-Identifier: MIT */
/* Names, frames and stacks of a Perfetto trace by number; see perfetto_interned.h. */
#include "perfetto_interned.h"

#include "import.h"
#include "wire.h"

/* Interned kinds, each with its own numbers. */
enum interned {
	INTERNED_EVENT,
	INTERNED_FUNCTION,
	INTERNED_PATH,
	INTERNED_SOURCE,
	INTERNED_MAPPING,
	INTERNED_FRAME,
	INTERNED_STACK,
	INTERNED_KINDS
};

/* Mixes both halves. Only crafted files collide, and then only names are wrong. */
static uint64_t key_of(uint64_t sequence, enum interned what, uint64_t number)
{
	return fz_hash64(sequence * INTERNED_KINDS + (uint64_t)what + 1) ^ fz_hash64(number);
}

static uint32_t get(const struct fz_perfetto_interned *r, enum interned what, uint64_t number)
{
	return fz_map_get(&r->map, key_of(r->sequence, what, number));
}

static struct fz_str interned_text(const struct fz_perfetto_interned *r, enum interned what,
				   uint64_t number)
{
	uint32_t string = number ? get(r, what, number) : FZ_NONE;

	return string == FZ_NONE ? FZ_STR("") : fz_profile_text(r->p, string);
}

static void intern(struct fz_perfetto_interned *r, enum interned what, uint64_t number,
		   uint32_t value)
{
	fz_profile_takes(r->p, sizeof(struct fz_map_slot));
	fz_map_put(&r->map, key_of(r->sequence, what, number), value);
}

static void intern_text(struct fz_perfetto_interned *r, enum interned what, struct fz_str message)
{
	struct fz_str text = FZ_STR("");
	uint64_t number = 0;

	fz_wire_read(message, FZ_WIRE_FIELDS({ 1, &number }, { 2, .bytes = &text }));
	intern(r, what, number, fz_profile_string(r->p, text));
}

static void add_path(void *arg, uint64_t number)
{
	struct fz_perfetto_interned *r = arg;

	r->last = number;
}

/* Interns a mapping; its path is in pieces, of which the last is the file. */
static void intern_mapping(struct fz_perfetto_interned *r, struct fz_str message)
{
	struct fz_wire w = fz_wire_of(message);
	uint64_t number = 0;

	r->last = 0;
	while (fz_wire_next(&w)) {
		if (w.field == 1)
			number = w.value;
		else if (w.field == 7)
			fz_wire_numbers(&w, add_path, r);
	}
	intern(r, INTERNED_MAPPING, number,
	       fz_profile_string(r->p, interned_text(r, INTERNED_PATH, r->last)));
}

static enum fz_kind kind_of(uint64_t kind)
{
	enum { NATIVE = 1, KERNEL, INTERPRETED };

	return kind == KERNEL        ? FZ_KIND_KERNEL
	       : kind == INTERPRETED ? FZ_KIND_PYTHON
	       : kind == NATIVE      ? FZ_KIND_NATIVE
				     : FZ_KIND_UNKNOWN;
}

static void intern_frame(struct fz_perfetto_interned *r, struct fz_str message)
{
	uint64_t number = 0, function = 0, mapping = 0, address = 0, source = 0, line = 0, kind = 0;
	struct fz_import_frame f = { 0 };

	fz_wire_read(message,
		     FZ_WIRE_FIELDS({ 1, &number }, { 2, &function }, { 3, &mapping },
				    { 4, &address }, { 5, &source }, { 6, &line }, { 7, &kind }));
	f.line = fz_import_line((int64_t)line);
	struct fz_str module = interned_text(r, INTERNED_MAPPING, mapping);
	f.name = interned_text(r, INTERNED_FUNCTION, function);
	f.file = interned_text(r, INTERNED_SOURCE, source);
	f.kind = fz_import_kind(f.file, module, module.n ? FZ_KIND_NATIVE : kind_of(kind));
	if (!f.file.n)
		f.module = module;
	intern(r, INTERNED_FRAME, number,
	       f.name.n ? fz_import_frame(r->p, &f) : fz_import_address(r->p, module, address));
}

static void push_frame(void *arg, uint64_t number)
{
	struct fz_perfetto_interned *r = arg;
	uint32_t frame = get(r, INTERNED_FRAME, number);

	if (frame != FZ_NONE)
		r->stack = fz_profile_stack(r->p, r->stack, frame);
}

static void intern_stack(struct fz_perfetto_interned *r, struct fz_str message)
{
	struct fz_wire w = fz_wire_of(message);
	uint64_t number = 0;

	r->stack = FZ_NONE;
	while (fz_wire_next(&w)) {
		if (w.field == 1)
			number = w.value;
		else if (w.field == 2)
			fz_wire_numbers(&w, push_frame, r);
	}
	if (r->stack != FZ_NONE)
		intern(r, INTERNED_STACK, number, r->stack);
}

/* Interns references after their targets, independent of the order in the message. */
void fz_perfetto_intern(struct fz_perfetto_interned *r, struct fz_str message)
{
	static const struct {
		uint32_t field;
		enum interned text;
		void (*read)(struct fz_perfetto_interned *r, struct fz_str message);
	} tables[] = {
		{ 2, INTERNED_EVENT, NULL }, { 5, INTERNED_FUNCTION, NULL },
		{ 17, INTERNED_PATH, NULL }, { 18, INTERNED_SOURCE, NULL },
		{ 19, 0, intern_mapping },   { 6, 0, intern_frame },
		{ 7, 0, intern_stack },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(tables); i++) {
		struct fz_wire w = fz_wire_of(message);
		while (fz_wire_next(&w) && !r->p->over_limit) {
			if (w.field != tables[i].field || w.type != FZ_WIRE_BYTES)
				continue;
			if (tables[i].read)
				tables[i].read(r, w.bytes);
			else
				intern_text(r, tables[i].text, w.bytes);
		}
	}
}

struct fz_str fz_perfetto_event_name(const struct fz_perfetto_interned *r, uint64_t number)
{
	return interned_text(r, INTERNED_EVENT, number);
}

uint32_t fz_perfetto_stack(const struct fz_perfetto_interned *r, uint64_t number)
{
	return get(r, INTERNED_STACK, number);
}
