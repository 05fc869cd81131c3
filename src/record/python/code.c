/* SPDX-License-Identifier: MIT */
/* Two tables: code objects by address, and (code object, position) -> frame in one flat hash
 * table, since nearly every frame of a sample has been seen at the same instruction before.
 *
 *   places: (code, position) -> {code entry, frame}     one probe in the common case
 *   list:   {address, signature, function, line table}
 *
 * A code object may be freed and another may take its address. So each entry has the epoch in which
 * it was last known to be valid. When the caller starts a new epoch (code was freed in the target,
 * or a millisecond passed), an entry's signature is compared with the target before the entry is
 * used again: the addresses of its name, file and line table, its first line, and its serial number
 * or the text of its strings.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "record/bpf/wire.h"
#include "record/procstat.h"
#include "symbol/opcode.h"
#include "code.h"
#include "lines.h"
#include "object.h"

enum {
	LINE_TABLE_MAX = 16 << 20,
	CODE_HEADER_MAX = 4096,
	CODES_MAX = 1 << 20, /* forget everything beyond this many */
	PLACES_MAX = 1 << 22,
	TABLE_BYTES_MAX = 256 << 20,
	TLBC_MAX = 1 << 16,
	REFRESH_BATCH = 256,
	TEXT_START = 16, /* in a string object: after its reference count and type */
};

/* Distinguishes a code object from others at the same address. */
struct signature {
	uint64_t filename, name, line_table;
	int32_t first_line;
	uint32_t size;    /* of the bytecode, if it is inside the object */
	uint32_t version; /* unique among code objects, from 3.12 on */
};

/* Before 3.12 a code object can have the same signature as the one that it replaces, if its strings
 * are at the same addresses, too. So their text is also compared. */
struct text_check {
	uint64_t hash;
	uint32_t size; /* compared bytes of the string object; 0: not compared */
};

struct fz_py_code {
	uint64_t address;
	struct signature signature;
	struct text_check name_text, file_text;
	uint64_t read_at; /* on the clock of processes' start times */
	uint64_t mark;    /* the mark by which ticks in the kernel identify it; 0: not needed yet */
	uint32_t epoch;
	uint32_t asked; /* epoch in which it was last put into a batch */
	uint32_t function;
	uint32_t flags;
	uint32_t table_n;
	uint8_t *table;
	uint8_t *units; /* of the bytecode (symbol/opcode.h); NULL until needed */
};

struct fz_py_place {
	uint64_t code;     /* 0: empty */
	uint64_t position; /* with the opcode in the top byte */
	uint32_t entry, frame;
};

void fz_py_codes_init(struct fz_py_codes *c, struct fz_process *process,
		      const struct fz_py_layout *layout, struct fz_profile *into)
{
	*c = (struct fz_py_codes){ .process = process, .layout = layout, .into = into };
}

static void forget_places(struct fz_py_codes *c)
{
	free(c->places);
	c->places = NULL;
	c->place_mask = c->place_n = 0;
	c->changes++;
}

static void free_tables(struct fz_py_codes *c, struct fz_py_code *code)
{
	c->table_bytes -= code->table_n + (code->units ? code->signature.size / 2 : 0);
	free(code->table);
	free(code->units);
}

static void forget_all(struct fz_py_codes *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		free_tables(c, &c->list[i]);
	c->n = 0;
	fz_map_clear(&c->by_address);
	forget_places(c);
}

void fz_py_codes_release(struct fz_py_codes *c)
{
	forget_all(c);
	free(c->list);
	fz_map_release(&c->by_address);
	*c = (struct fz_py_codes){ 0 };
}

/* ---- places ---- */

static size_t place_slot(const struct fz_py_codes *c, uint64_t code, uint64_t position)
{
	size_t i = fz_hash64(code * 31 + position) & c->place_mask;

	while (c->places[i].code &&
	       (c->places[i].code != code || c->places[i].position != position))
		i = (i + 1) & c->place_mask;
	return i;
}

static void grow_places(struct fz_py_codes *c)
{
	struct fz_py_place *old = c->places;
	size_t old_n = old ? c->place_mask + 1 : 0;
	size_t n = old_n ? old_n * 2 : 1024;

	c->places = fz_calloc(n, sizeof(*c->places));
	c->place_mask = n - 1;
	for (size_t i = 0; i < old_n; i++)
		if (old[i].code)
			c->places[place_slot(c, old[i].code, old[i].position)] = old[i];
	free(old);
}

/* ---- code objects ---- */

static uint32_t u32_at(const uint8_t *p, uint32_t offset)
{
	uint32_t v;

	memcpy(&v, p + offset, sizeof(v));
	return v;
}

/* Extract the signature from a copy of the object's header. */
static bool parse_signature(const struct fz_py_layout *l, const uint8_t *p, struct signature *ret,
			    uint32_t *ret_flags)
{
	uint32_t name = l->code.qualname != FZ_PY_ABSENT ? l->code.qualname : l->code.name;

	*ret = (struct signature){
		.filename = fz_py_word(p, l->code.filename),
		.name = fz_py_word(p, name),
		.line_table = fz_py_word(p, l->code.line_table),
		.first_line = (int32_t)u32_at(p, l->code.first_line),
		.version = l->code.version != FZ_PY_ABSENT ? u32_at(p, l->code.version) : 0,
	};
	if (l->frames != FZ_PY_FRAMES_HEAP) {
		uint64_t units = fz_py_word(p, l->object.var_size);
		if (units == 0 || units > INT32_MAX / 2)
			return false;
		ret->size = (uint32_t)units * 2;
	}
	*ret_flags = l->code.flags != FZ_PY_ABSENT ? u32_at(p, l->code.flags) : 0;
	return true;
}

static bool read_signature(struct fz_py_codes *c, uint64_t address, struct signature *ret,
			   uint32_t *ret_flags)
{
	uint8_t p[CODE_HEADER_MAX];

	return address && address % 8 == 0 &&
	       fz_process_read(c->process, address, p, c->layout->code.size) &&
	       parse_signature(c->layout, p, ret, ret_flags);
}

/* A script that was started by a relative path has a relative co_filename: complete it by the
 * working directory, if the file is there. Names such as "<string>" stay as they are. */
static void resolve_file(struct fz_py_codes *c, struct fz_buf *file)
{
	char cwd[4096], seen[8300];
	struct stat st;

	if (file->n == 0 || file->p[0] == '/' || file->p[0] == '<' || file->n > 4000 ||
	    !fz_process_link(c->process, "cwd", cwd, sizeof(cwd)))
		return;
	const char *relative = file->p;
	while (relative[0] == '.' && relative[1] == '/')
		relative += 2;
	snprintf(seen, sizeof(seen), "/proc/%d/cwd/%s", (int)fz_process_live(c->process->pid),
		 relative);
	if (stat(seen, &st) < 0)
		return;
	char *full = fz_asprintf("%s%s%s", cwd, strcmp(cwd, "/") == 0 ? "" : "/", relative);
	fz_buf_reset(file);
	fz_buf_str(file, full);
	free(full);
}

/* Hash the beginning of a string object for later comparison. */
static struct text_check check_text(struct fz_py_codes *c, uint64_t object)
{
	enum { COMPARED = 128 };
	const struct fz_py_layout *l = c->layout;
	uint8_t text[COMPARED];
	uint64_t length;
	uint32_t state;

	if (l->code.version != FZ_PY_ABSENT || l->interp.code_generation != FZ_PY_ABSENT ||
	    !fz_process_read_u64(c->process, object + l->unicode.length, &length) ||
	    !fz_process_read(c->process, object + l->unicode.state, &state, sizeof(state)))
		return (struct text_check){ 0 };
	bool ascii = state >> (l->unicode_shift + 4) & 1;
	uint64_t data = ascii ? l->unicode.ascii_data : l->unicode.compact_data;
	uint64_t end = data + FZ_MIN(length, (uint64_t)COMPARED) * (state >> l->unicode_shift & 7);
	uint32_t size = (uint32_t)FZ_MIN(end - TEXT_START, (uint64_t)COMPARED);
	if (!fz_process_read(c->process, object + TEXT_START, text, size))
		return (struct text_check){ 0 };
	return (struct text_check){ fz_hash_bytes(text, size), size };
}

/* Read names and line table of a code object whose signature is known. */
static bool read_code(struct fz_py_codes *c, struct fz_py_code *code)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 }, file = { 0 };
	struct fz_buf table = { .limit = LINE_TABLE_MAX + 1 };

	if (!fz_py_read_text(c->process, c->layout, code->signature.name, &name) ||
	    !fz_py_read_text(c->process, c->layout, code->signature.filename, &file) ||
	    !fz_py_read_bytes(c->process, c->layout, code->signature.line_table, LINE_TABLE_MAX,
			      &table)) {
		fz_buf_release(&table);
		return false;
	}
	code->name_text = check_text(c, code->signature.name);
	code->file_text = check_text(c, code->signature.filename);
	c->asyncio_n += file.n && memmem(file.p, file.n, "/asyncio/", 9);
	resolve_file(c, &file);
	struct fz_function function = {
		.name = fz_profile_string(c->into, fz_buf_view(&name)),
		.file = fz_profile_string(c->into, fz_buf_view(&file)),
		.first_line = code->signature.first_line,
		.kind = FZ_KIND_PYTHON,
	};
	code->function = fz_profile_function(c->into, &function);
	code->table_n = (uint32_t)table.n;
	code->table = (uint8_t *)fz_buf_take(&table);
	code->read_at = fz_procstat_now();
	return true;
}

static bool same_signature(const struct signature *a, const struct signature *b)
{
	return a->filename == b->filename && a->name == b->name && a->line_table == b->line_table &&
	       a->first_line == b->first_line && a->size == b->size && a->version == b->version;
}

/* Bring an entry up to this epoch, given the signature at its address now. If that changed all
 * places are dropped: they may hold frames of the old object. */
static bool renew(struct fz_py_codes *c, struct fz_py_code *code, const struct signature *now,
		  uint32_t flags)
{
	struct fz_py_code fresh = {
		.address = code->address, .signature = *now, .flags = flags, .epoch = c->epoch
	};

	if (same_signature(&code->signature, now)) {
		code->epoch = c->epoch;
		return true;
	}
	if (!read_code(c, &fresh))
		return false;
	c->table_bytes += fresh.table_n;
	free_tables(c, code);
	*code = fresh;
	forget_places(c);
	return true;
}

/* A batch of entries that are due, and the parts of memory to compare them with. */
struct batch {
	struct fz_py_codes *c;
	uint32_t entries[REFRESH_BATCH];
	struct iovec parts[3 * REFRESH_BATCH];
	size_t n, part_n, bytes;
	bool ok;
};

static void batch_part(struct batch *b, uint64_t address, uint32_t size)
{
	b->parts[b->part_n++] = (struct iovec){ (void *)(uintptr_t)address, size };
	b->bytes += size;
}

static bool same_text(const struct text_check *t, const uint8_t **p)
{
	if (t->size == 0)
		return true;
	*p += t->size;
	return fz_hash_bytes(*p - t->size, t->size) == t->hash;
}

/* Compare one entry with its part of the copy. */
static bool batch_entry(struct batch *b, struct fz_py_code *code, const uint8_t **p)
{
	const struct fz_py_layout *l = b->c->layout;
	struct signature now;
	uint32_t flags;
	bool ok = parse_signature(l, *p, &now, &flags);

	*p += l->code.size;
	/* Always both: each moves p past its bytes. */
	bool same_name = same_text(&code->name_text, p), same_file = same_text(&code->file_text, p);
	if (!same_name || !same_file)
		code->signature.line_table = 0; /* equals no signature */
	return ok && renew(b->c, code, &now, flags);
}

static void batch_run(struct batch *b)
{
	fz_auto(fz_free_ptr) uint8_t *copy = fz_malloc(b->bytes + 1);
	const uint8_t *p = copy;
	ssize_t got = fz_process_read_parts(b->c->process, b->parts, b->part_n, copy, b->bytes);

	if (got < (ssize_t)b->bytes)
		b->ok = false;
	else
		for (size_t i = 0; i < b->n; i++)
			b->ok &= batch_entry(b, &b->c->list[b->entries[i]], &p);
	b->n = b->part_n = b->bytes = 0;
}

static void batch_add(struct batch *b, uint32_t entry)
{
	const struct fz_py_code *code = &b->c->list[entry];

	if (b->n == REFRESH_BATCH)
		batch_run(b);
	b->entries[b->n++] = entry;
	batch_part(b, code->address, b->c->layout->code.size);
	if (code->name_text.size)
		batch_part(b, code->signature.name + TEXT_START, code->name_text.size);
	if (code->file_text.size)
		batch_part(b, code->signature.filename + TEXT_START, code->file_text.size);
}

bool fz_py_codes_refresh(struct fz_py_codes *c, const uint64_t *codes, size_t n)
{
	struct batch b;

	b.c = c;
	b.n = b.part_n = b.bytes = 0;
	b.ok = true;
	for (size_t i = 0; i < n; i++) {
		uint32_t entry = fz_map_get(&c->by_address, codes[i]);
		if (entry == FZ_NONE || c->list[entry].epoch == c->epoch)
			continue;
		if (n > 1 && c->list[entry].asked == c->epoch)
			continue;
		c->list[entry].asked = c->epoch;
		batch_add(&b, entry);
	}
	if (b.n)
		batch_run(&b);
	return b.ok;
}

/* 3.12 and later insert a frame between a class and its __init__; its code has a single string for
 * name and file, and no line. Tracebacks don't show it. */
static bool is_trampoline(const struct fz_py_code *code)
{
	return code->signature.filename == code->signature.name && code->signature.first_line <= 0;
}

/* Compare one entry with the target. */
static bool revalidate(struct fz_py_codes *c, uint32_t entry)
{
	fz_py_codes_refresh(c, &c->list[entry].address, 1);
	return c->list[entry].epoch == c->epoch;
}

/* Entry of a code object, which is read if it is new; FZ_NONE if it is invalid. */
static uint32_t find_code(struct fz_py_codes *c, uint64_t address)
{
	uint32_t i = fz_map_get(&c->by_address, address);
	struct fz_py_code code = { .address = address, .epoch = c->epoch };

	if (i != FZ_NONE)
		return c->list[i].epoch == c->epoch || revalidate(c, i) ? i : FZ_NONE;
	if (!read_signature(c, address, &code.signature, &code.flags) || !read_code(c, &code))
		return FZ_NONE;
	if (c->n >= CODES_MAX || c->table_bytes > TABLE_BYTES_MAX)
		forget_all(c);
	fz_grow(c->list, c->n, c->cap);
	c->list[c->n] = code;
	c->table_bytes += code.table_n;
	fz_map_put(&c->by_address, address, c->n);
	return c->n++;
}

bool fz_py_codes_is_generator(const struct fz_py_codes *c, uint64_t code)
{
	enum { CO_GENERATORS = 0x20 | 0x80 | 0x200 };
	uint32_t i = fz_map_get(&c->by_address, code);

	if (i == FZ_NONE)
		return c->kin && fz_py_codes_is_generator(c->kin, code);
	return c->list[i].flags & CO_GENERATORS;
}

/* ---- positions ---- */

/* Address of the bytecode that a frame runs, in the object or in a thread's own copy. */
static bool bytecode_start(struct fz_py_codes *c, uint64_t code, uint32_t tlbc_index, uint64_t *ret)
{
	const struct fz_py_layout *l = c->layout;
	uint64_t array, size;

	*ret = code + l->code.bytecode;
	if (tlbc_index == 0 || l->code.tlbc == FZ_PY_ABSENT)
		return true;
	return fz_process_read_u64(c->process, code + l->code.tlbc, &array) && array &&
	       fz_process_read_u64(c->process, array, &size) && size <= TLBC_MAX &&
	       tlbc_index < size &&
	       fz_process_read_u64(c->process, array + 8 + 8ull * tlbc_index, ret) && *ret;
}

/* Byte offset of the instruction in the bytecode; -1: the function has not begun. */
static bool position_offset(struct fz_py_codes *c, const struct fz_py_code *code, uint64_t position,
			    uint32_t tlbc_index, int64_t *ret)
{
	uint64_t start;

	if (c->layout->frames == FZ_PY_FRAMES_HEAP) {
		*ret = (int64_t)(int32_t)position * c->layout->position_scale;
		return *ret < LINE_TABLE_MAX;
	}
	if (!bytecode_start(c, code->address, tlbc_index, &start))
		return false;
	*ret = (int64_t)(position - start);
	return *ret >= -2 && *ret < (int64_t)code->signature.size;
}

static uint32_t make_frame(struct fz_py_codes *c, const struct fz_py_code *code, int64_t offset,
			   uint8_t opcode)
{
	struct fz_py_position at;

	if (is_trampoline(code))
		return FZ_PY_FRAME_HIDDEN;
	if (offset < 0 || !fz_py_line_lookup(c->layout->lines, code->table, code->table_n,
					     code->signature.first_line, (uint32_t)offset, &at))
		at = (struct fz_py_position){ -1, -1, -1, -1 };
	if (at.line < 0)
		at = (struct fz_py_position){ code->signature.first_line, -1, -1, -1 };
	struct fz_frame frame = {
		.function = code->function,
		.line = at.line,
		.end_line = at.end_line,
		.column = at.column,
		.end_column = at.end_column,
		.opcode = offset < 0 ? FZ_NO_OPCODE : opcode,
	};
	return fz_profile_frame(c->into, &frame);
}

uint32_t fz_py_codes_frame(struct fz_py_codes *c, uint64_t code, uint64_t position,
			   uint32_t tlbc_index, uint8_t opcode)
{
	/* Addresses leave the top byte free; it is 0 for an unknown opcode. */
	uint64_t key = position | (uint64_t)(uint8_t)(opcode + 1) << 56;
	int64_t offset;

	if (c->places) {
		const struct fz_py_place *p = &c->places[place_slot(c, code, key)];
		if (p->code && c->list[p->entry].epoch == c->epoch)
			return p->frame;
	}
	uint32_t entry = find_code(c, code);
	if (entry == FZ_NONE || !position_offset(c, &c->list[entry], position, tlbc_index, &offset))
		return FZ_NONE;
	if (c->place_n >= PLACES_MAX)
		forget_places(c);
	if (c->place_n * 4 >= (c->places ? c->place_mask + 1 : 0) * 3)
		grow_places(c);
	struct fz_py_place *p = &c->places[place_slot(c, code, key)];
	if (!p->code) {
		*p = (struct fz_py_place){ code, key, entry,
					   make_frame(c, &c->list[entry], offset, opcode) };
		c->place_n++;
	}
	return p->frame;
}

/* ---- marks ---- */

/* The same hash as in tick.bpf.c. */
static uint64_t mark_header(const struct signature *s)
{
	uint64_t mark = fz_bpf_mix((uint32_t)s->first_line, s->filename);

	return fz_bpf_mix(fz_bpf_mix(mark, s->name), s->line_table);
}

static bool mark_text(struct fz_py_codes *c, uint64_t object, uint64_t *mark)
{
	uint64_t text[FZ_BPF_TEXT / 8] = { 0 }, length;

	if (!fz_process_read_u64(c->process, object + c->layout->unicode.length, &length))
		return false;
	uint64_t n = FZ_MIN(length, (uint64_t)FZ_BPF_TEXT - 1);
	if (!fz_process_read(c->process, object + c->layout->unicode.ascii_data + length - n, text,
			     n))
		return false;
	uint64_t hash = fz_bpf_mix(0, length);
	for (size_t i = 0; i < FZ_ARRAY_LEN(text); i++)
		hash = fz_bpf_mix(hash, text[i]);
	*mark = fz_bpf_mix(*mark, hash);
	return true;
}

/* Compute the mark of an entry, if the target still has that object and everything read of it is
 * valid. */
static bool mark_entry(struct fz_py_codes *c, struct fz_py_code *code)
{
	struct signature now;
	uint32_t flags;

	code->mark = 0;
	if (!read_signature(c, code->address, &now, &flags) ||
	    !same_signature(&code->signature, &now))
		return false;
	uint64_t mark = mark_header(&now);
	if (c->layout->code.version != FZ_PY_ABSENT)
		mark = fz_bpf_mix(mark, now.version);
	else if (!mark_text(c, now.name, &mark) || !mark_text(c, now.filename, &mark))
		return false;
	code->mark = mark;
	return true;
}

static uint32_t marked_frame(struct fz_py_codes *c, uint64_t code, uint64_t position,
			     uint32_t tlbc_index, uint64_t mark)
{
	uint32_t entry = fz_map_get(&c->by_address, code);

	if (entry == FZ_NONE || c->list[entry].mark != mark) {
		/* Another object was at this address, or this one is new. */
		fz_py_codes_expire(c);
		entry = find_code(c, code);
		if (entry == FZ_NONE || !mark_entry(c, &c->list[entry]) ||
		    c->list[entry].mark != mark)
			return FZ_NONE;
	}
	c->list[entry].epoch = c->epoch;
	size_t places = c->place_n;
	uint32_t frame = fz_py_codes_frame(c, code, position, tlbc_index, FZ_NO_OPCODE);
	/* The start of a thread's own bytecode was read just now: confirm it. */
	if (tlbc_index && c->place_n != places && !mark_entry(c, &c->list[entry])) {
		forget_places(c);
		return FZ_NONE;
	}
	return frame;
}

/* Versions number code objects as they are created, after a fork in each process by itself, so the
 * same number may mean different objects. Up to the newest version read before the fork they are
 * common to both processes; return that. */
static uint32_t newest_before(const struct fz_py_codes *c, uint64_t start)
{
	uint32_t newest = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->list[i].read_at < start)
			newest = FZ_MAX(newest, c->list[i].signature.version);
	return newest;
}

void fz_py_codes_set_kin(struct fz_py_codes *c, struct fz_py_codes *kin)
{
	c->kin = kin;
	if (kin && !c->newest)
		c->newest = newest_before(kin, c->process->image.start_time);
}

/* Did a code object that was found by its mark exist at the fork? If marks include text (no
 * versions) a match is enough. */
static bool is_inherited(const struct fz_py_codes *c, uint64_t code)
{
	uint32_t entry = fz_map_get(&c->kin->by_address, code);

	if (c->layout->code.version == FZ_PY_ABSENT)
		return true;
	uint32_t version = entry == FZ_NONE ? 0 : c->kin->list[entry].signature.version;
	return version && version <= c->newest;
}

/* The kin is not used for a thread's own bytecode, whose address may differ there. */
uint32_t fz_py_codes_marked(struct fz_py_codes *c, uint64_t code, uint64_t position,
			    uint32_t tlbc_index, uint64_t mark)
{
	uint32_t frame = marked_frame(c, code, position, tlbc_index, mark);

	if (frame != FZ_NONE || !c->kin || tlbc_index)
		return frame;
	frame = marked_frame(c->kin, code, position, 0, mark);
	return frame != FZ_NONE && is_inherited(c, code) ? frame : FZ_NONE;
}

/* Compute the units of a code object's bytecode (symbol/opcode.h). */
static bool read_units(struct fz_py_codes *c, struct fz_py_code *code)
{
	uint32_t n = code->signature.size;

	if (n > LINE_TABLE_MAX || c->table_bytes > TABLE_BYTES_MAX)
		return false;
	fz_auto(fz_free_ptr) uint8_t *bytecode = fz_malloc(n);
	if (!fz_process_read(c->process, code->address + c->layout->code.bytecode, bytecode, n))
		return false;
	code->units = fz_malloc(n / 2);
	c->table_bytes += n / 2;
	fz_opcode_units((uint8_t[3]){ 3, (uint8_t)c->layout->minor }, bytecode, n, code->units);
	return true;
}

uint64_t fz_py_codes_instruction(struct fz_py_codes *c, uint64_t code, uint64_t position)
{
	uint32_t entry = find_code(c, code);
	int64_t offset;

	if (entry == FZ_NONE)
		return 0;
	struct fz_py_code *known = &c->list[entry];
	if (!position_offset(c, known, position, 0, &offset) || offset < 0)
		return 0;
	if (!known->units && !read_units(c, known))
		return 0;
	uint8_t back = known->units[offset / 2];
	return back == FZ_OPCODE_UNIT_UNKNOWN ? 0 : position - 2u * back;
}
