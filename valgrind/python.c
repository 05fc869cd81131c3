/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Python frames, 3.11 and later.
 *
 * When Python calls Python the evaluation loop makes no C call: only the thread's current frame
 * changes. So blocks of the loop compare that field with its last value, and a change pushes or
 * pops:
 *
 *   [eval] -- f -- g        push: the new frame's caller is the last one seen
 *     .-------'             pop: the new frame is a caller pushed by the same loop
 *
 * Pushed frames share the stack pointer of the loop that runs them and go when it returns. The
 * field's offset comes from the sampler's tables: before 3.13 by the version in the object's name,
 * from then on from the interpreter's own table of offsets.
 */
#include "fzcount.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_vki.h"

#include "record/python/layouts.h"

enum { OBJECTS_MAX = 16, CODES = 1 << 16, TEXT_MAX = 2048, SEGMENTS_MAX = 4096 };

/* An object in which the loop was found. */
static struct object {
	const HChar *path;
	Bool known;
	struct fz_py_layout layout;
} objects[OBJECTS_MAX];
static UInt object_count;

static const struct fz_py_layout *layout; /* of the running interpreter */
UWord fzc_python_offset;

/* Stands for the thread state of a thread without Python: its current frame is always NULL. */
static UWord nowhere[512];

void fzc_python_init(struct fzc_place *place)
{
	place->python_state = (Addr)nowhere;
	place->python_at = &fzc_now.python_state;
	place->python_last = 0;
}

static Bool readable(Addr at, SizeT n)
{
	return at >= 4096 && VG_(am_is_valid_for_client)(at, n, VKI_PROT_READ);
}

static UWord word_at(Addr at)
{
	return *(const UWord *)at;
}

/* ---- layouts ---- */

/* "libpython3.12.so.1.0", "python3.11": the minor version, or 0. */
static UInt minor_in_name(const HChar *path)
{
	const HChar *slash = VG_(strrchr)(path, '/');
	HChar *at = VG_(strstr)(slash ? slash : path, "python3.");

	return at ? (UInt)VG_(strtoll10)(at + 8, NULL) : 0;
}

static Bool search_segment(const NSegment *s, struct fz_py_layout *ret)
{
	SizeT size = (SizeT)(s->end - s->start + 1);

	for (Addr at = s->start;
	     size >= FZ_PY_DEBUG_OFFSETS_MAX && at <= s->end + 1 - FZ_PY_DEBUG_OFFSETS_MAX; at += 8)
		if (VG_(memcmp)((const void *)at, FZ_PY_COOKIE, 8) == 0 &&
		    fz_py_layout_parse((const void *)at, FZ_PY_DEBUG_OFFSETS_MAX, true, ret,
				       NULL) == 0)
			return True;
	return False;
}

/* From 3.13 on: find the interpreter's table in the object's data. */
static Bool search_object(const HChar *path, struct fz_py_layout *ret)
{
	static Addr starts[SEGMENTS_MAX];
	Int n = VG_(am_get_segment_starts)(SkFileC, starts, SEGMENTS_MAX);

	for (Int i = 0; i < n; i++) {
		const NSegment *s = VG_(am_find_nsegment)(starts[i]);
		const HChar *name = s ? VG_(am_get_filename)(s) : NULL;
		if (name && s->hasR && s->hasW && VG_(strcmp)(name, path) == 0 &&
		    search_segment(s, ret))
			return True;
	}
	return False;
}

static void learn(struct object *o)
{
	const struct fz_py_layout *fixed = fz_py_layout_static(minor_in_name(o->path));

	o->known = search_object(o->path, &o->layout);
	if (!o->known && fixed && fixed->frames == FZ_PY_FRAMES_CFRAME) {
		o->layout = *fixed;
		o->known = True;
	}
}

static struct object *find_object(const HChar *path, Bool make)
{
	for (UInt i = 0; i < object_count; i++)
		if (VG_(strcmp)(objects[i].path, path) == 0)
			return &objects[i];
	if (!make || object_count == OBJECTS_MAX)
		return NULL;
	struct object *o = &objects[object_count++];
	o->path = VG_(strdup)(FZC_TAG, path);
	learn(o);
	return o;
}

Bool fzc_python_concerns(const struct fzc_function *f)
{
	if (f->kind == FZC_EVAL)
		return True;
	return f->kind == FZC_UNNAMED && object_count && find_object(f->object, False);
}

void fzc_python_enter(const struct fzc_function *eval, Addr thread_state)
{
	struct object *o = find_object(eval->object, True);

	if (!o || !o->known)
		return;
	layout = &o->layout;
	if (layout->frames == FZ_PY_FRAMES_CFRAME) {
		fzc_now.python_at = (Addr *)(thread_state + layout->thread.frame);
		fzc_python_offset = layout->cframe.current;
	} else {
		fzc_now.python_state = thread_state;
		fzc_now.python_at = &fzc_now.python_state;
		fzc_python_offset = layout->thread.frame;
	}
}

/* ---- functions ---- */

static UInt put_utf8(UInt c, HChar *out)
{
	if (c < 0x80) {
		out[0] = (HChar)c;
		return 1;
	}
	UInt n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (UInt i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (HChar)(0x80 | (c & 0x3f));
	out[0] = (HChar)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
	return n;
}

/* Read a compact str as UTF-8, cut off at TEXT_MAX bytes. */
static void read_text(Addr object, HChar *out)
{
	UInt kind, state, n = 0;

	out[0] = '\0';
	if (!readable(object, layout->unicode.compact_data))
		return;
	UWord length = word_at(object + layout->unicode.length);
	state = *(const UInt *)(object + layout->unicode.state);
	kind = state >> layout->unicode_shift & 7;
	Bool compact = state >> (layout->unicode_shift + 3) & 1;
	Bool ascii = state >> (layout->unicode_shift + 4) & 1;
	Addr at = object + (ascii ? layout->unicode.ascii_data : layout->unicode.compact_data);
	if (!compact || (kind != 1 && kind != 2 && kind != 4) || length > TEXT_MAX ||
	    !readable(at, length * kind + 1))
		return;
	for (UWord i = 0; i < length && n < TEXT_MAX - 8; i++) {
		UInt c = kind == 1   ? ((const UChar *)at)[i]
			 : kind == 2 ? ((const UShort *)at)[i]
				     : ((const UInt *)at)[i];
		n += put_utf8(c >= 0xd800 && c < 0xe000 ? '?' : c, out + n);
	}
	out[n] = '\0';
}

/* A cache of code objects. Name, file and line detect another object at a freed one's address. */
static struct code {
	Addr at, name, file;
	Int line;
	struct fzc_function *function;
} codes[CODES];

static struct fzc_function *function_of(Addr code)
{
	HChar name[TEXT_MAX], file[TEXT_MAX];

	if (!readable(code, layout->code.size))
		return NULL;
	struct code now = { .at = code,
			    .name = word_at(code + layout->code.qualname),
			    .file = word_at(code + layout->code.filename),
			    .line = *(const Int *)(code + layout->code.first_line) };
	struct code *known = &codes[(code >> 4) % CODES];
	if (known->at == now.at && known->name == now.name && known->file == now.file &&
	    known->line == now.line)
		return known->function;
	read_text(now.name, name);
	read_text(now.file, file);
	now.function = fzc_function_make(name, "", file, 0, (UInt)now.line, FZC_PYTHON);
	*known = now;
	return now.function;
}

/* ---- the current frame changed ---- */

/* The entry, among those that this call of the loop pushed, that returns to `frame`; or NULL. */
static struct fzc_frame *pushed_over(Addr frame, Addr sp)
{
	struct fzc_frame *f = fzc_now.top;

	for (; f->is_python && f->sp == sp; f--)
		if (f->python == frame)
			return f;
	return NULL;
}

static void push(Addr frame, Addr sp)
{
	UChar owner = *(const UChar *)(frame + layout->frame.owner);

	*fzc_tree_push() = (struct fzc_frame){ .node = fzc_now.node,
					       .entry = fzc_now.entry,
					       .sp = sp,
					       .python = fzc_now.python_last,
					       .is_python = True };
	fzc_now.python_last = frame;
	/* Entry frames, between C and Python, run no code of their own. */
	if (owner >= layout->owner_entry)
		return;
	Addr code = word_at(frame + layout->frame.code) & ~(Addr)7;
	struct fzc_function *f = function_of(code);
	if (!f)
		return;
	fzc_now.node = fzc_now.entry = fzc_tree_child(fzc_now.node, f);
	fzc_now.node->count[FZC_CALLS]++;
}

VG_REGPARM(2) void fzc_on_python(Addr frame, Addr sp)
{
	struct fzc_frame *f = pushed_over(frame, sp);

	if (f) {
		fzc_tree_return_to(f);
		fzc_now.python_last = frame;
		return;
	}
	if (!readable(frame, layout->frame.size))
		return;
	/* If one function replaced another the caller is further down. */
	Addr caller = word_at(frame + layout->frame.previous);
	if (caller != fzc_now.python_last && (f = pushed_over(caller, sp)))
		fzc_tree_return_to(f);
	push(frame, sp);
}
