/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which function a block of code belongs to.
 *
 * Named ones are identified by symbol, object and source file, never by their address, which
 * changes with every build. fizeau runs us with --demangle=no and --show-below-main=yes, so names
 * are the linker's. A cold part that the compiler split off belongs to its function. Code without a
 * symbol is identified by where it was first entered: an offset in the object, or an address if it
 * was generated at run time (a map in /tmp may name it later).
 */
#include "fzcount.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcprint.h"

enum { BUCKETS = 1 << 14, NAME_MAX = 4096 };

static struct fzc_function *buckets[BUCKETS];
static UInt count;

/* ---- the table ---- */

static UInt hash_text(UInt h, const HChar *s)
{
	for (; *s; s++)
		h = (h ^ (UChar)*s) * 16777619u;
	return h;
}

static Bool is_it(const struct fzc_function *f, const HChar *name, const HChar *object,
		  const HChar *file, Addr offset, UInt line)
{
	/* Only Python functions come with their line; that of others is set later. */
	return f->offset == offset && (f->kind != FZC_PYTHON || f->line == line) &&
	       VG_(strcmp)(f->name, name) == 0 && VG_(strcmp)(f->object, object) == 0 &&
	       VG_(strcmp)(f->file, file) == 0;
}

struct fzc_function *fzc_function_make(const HChar *name, const HChar *object, const HChar *file,
				       Addr offset, UInt line, enum fzc_kind kind)
{
	UInt h = hash_text(hash_text(hash_text(2166136261u, name), object), file);
	struct fzc_function **slot = &buckets[(h ^ (UInt)(offset * 2654435761u)) % BUCKETS];

	for (struct fzc_function *f = *slot; f; f = f->next)
		if (is_it(f, name, object, file, offset, line))
			return f;
	struct fzc_function *f = VG_(calloc)(FZC_TAG, 1, sizeof(*f));
	*f = (struct fzc_function){ .next = *slot,
				    .name = VG_(strdup)(FZC_TAG, name),
				    .object = VG_(strdup)(FZC_TAG, object),
				    .file = VG_(strdup)(FZC_TAG, file),
				    .offset = offset,
				    .line = line,
				    .id = count++,
				    .kind = kind };
	*slot = f;
	return f;
}

/* ---- special functions ---- */

static const struct {
	const HChar *name;
	UChar kind, alloc;
} specials[] = {
	{ "_PyEval_EvalFrameDefault", FZC_EVAL, 0 },
	{ "malloc", FZC_ALLOC, FZC_ALLOC_FIRST },
	{ "valloc", FZC_ALLOC, FZC_ALLOC_FIRST },
	{ "calloc", FZC_ALLOC, FZC_ALLOC_PRODUCT },
	{ "realloc", FZC_ALLOC, FZC_REALLOC },
	{ "aligned_alloc", FZC_ALLOC, FZC_ALLOC_SECOND },
	{ "memalign", FZC_ALLOC, FZC_ALLOC_SECOND },
	{ "posix_memalign", FZC_ALLOC, FZC_ALLOC_THIRD },
	{ "_Znwm*", FZC_MEMORY, FZC_NEW },
	{ "_Znam*", FZC_MEMORY, FZC_NEW },
	{ "_ZdlPv*", FZC_MEMORY, FZC_FREE },
	{ "_ZdaPv*", FZC_MEMORY, FZC_FREE },
	{ "free", FZC_MEMORY, FZC_FREE },
	{ "cfree", FZC_MEMORY, FZC_FREE },
	{ "__libc_free", FZC_MEMORY, FZC_FREE },
};

/* A trailing '*' in `name` matches any rest. */
static Bool is_called(const struct fzc_function *f, const HChar *name)
{
	SizeT n = VG_(strlen)(name) - 1;

	return name[n] == '*' ? VG_(strncmp)(f->name, name, n) == 0
			      : VG_(strcmp)(f->name, name) == 0;
}

static Bool is_wanted(UChar kind)
{
	return kind == FZC_EVAL ? fzc_options.python : kind != FZC_MEMORY || fzc_options.memory;
}

static void set_special(struct fzc_function *f)
{
	f->hook = fzc_harness_hook(f->name);
	if (VG_(strncmp)(f->name, "_dl_runtime_resolve", 19) == 0)
		f->kind = FZC_RESOLVER;
	else if (fzc_go_switches(f->name))
		f->kind = FZC_GO;
	for (UInt i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		if (!is_called(f, specials[i].name) || !is_wanted(specials[i].kind))
			continue;
		f->kind = specials[i].kind;
		f->alloc = specials[i].alloc;
	}
}

/* ---- looking up ---- */

/* "jmp *SLOT(%rip)", perhaps behind endbr64 and with a prefix. */
static Bool is_stub(Addr pc)
{
	static const UChar endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const UChar *code = (const UChar *)pc;

	if (VG_(memcmp)(code, endbr, sizeof(endbr)) == 0)
		code += sizeof(endbr);
	if (*code == 0xf2)
		code++;
	return code[0] == 0xff && code[1] == 0x25;
}

/* Valgrind knows the section .plt only; .plt.got and .plt.sec are recognized by their code. */
Bool fzc_is_plt(Addr pc)
{
	DiEpoch epoch = VG_(current_DiEpoch)();
	VgSectKind kind = VG_(DebugInfo_sect_kind)(NULL, pc);
	const HChar *name;

	if (kind == Vg_SectPLT || kind == Vg_SectGOTPLT)
		return True;
	return is_stub(pc) && VG_(get_objname)(epoch, pc, &name) &&
	       !VG_(get_fnname)(epoch, pc, &name);
}

/* "name.cold", "name.cold.3": the unlikely part of a function. */
static void cut_cold(HChar *name)
{
	HChar *cold = VG_(strstr)(name, ".cold");

	if (cold && cold != name && (cold[5] == '\0' || cold[5] == '.'))
		*cold = '\0';
}

static struct fzc_function *unnamed_at(DiEpoch epoch, Addr pc, const HChar *object)
{
	DebugInfo *info = VG_(find_DebugInfo)(epoch, pc);
	const NSegment *s = VG_(am_find_nsegment)(pc);
	Addr offset = pc;

	/* Outside of .text the bias is unknown: take the file offset. */
	if (info)
		offset = pc - (Addr)VG_(DebugInfo_get_text_bias)(info);
	else if (object[0] && s && s->kind == SkFileC)
		offset = pc - s->start + (Addr)s->offset;
	return fzc_function_make("", object, "", offset, 0, FZC_UNNAMED);
}

/* Start of the function at pc: in its middle the name comes as "name+12". */
static Addr start_of(DiEpoch epoch, Addr pc)
{
	const HChar *name;

	if (!VG_(get_fnname_w_offset)(epoch, pc, &name))
		return pc;
	HChar *plus = VG_(strrchr)(name, '+');
	return plus ? pc - (Addr)VG_(strtoll10)(plus + 1, NULL) : pc;
}

Bool fzc_function_begins(Addr pc)
{
	const HChar *name;

	return VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), pc, &name);
}

/* Source file and line of the function's first instruction, which may be in another block. The
 * path is put into `out` or is Valgrind's; "" if unknown. */
static const HChar *source_of(DiEpoch epoch, Addr pc, HChar *out, UInt *ret_line)
{
	const HChar *file, *folder;

	*ret_line = 0;
	if (!VG_(get_filename_linenum)(epoch, start_of(epoch, pc), &file, &folder, ret_line))
		return "";
	if (file[0] == '/' || !folder[0])
		return file;
	if (VG_(strlen)(file) + VG_(strlen)(folder) + 2 > NAME_MAX)
		return file;
	VG_(sprintf)(out, "%s/%s", folder, file);
	return out;
}

struct fzc_function *fzc_function_at(Addr pc)
{
	DiEpoch epoch = VG_(current_DiEpoch)();
	const HChar *symbol, *path;
	HChar name[NAME_MAX], object[NAME_MAX], file[NAME_MAX];
	UInt line;

	/* Each of these returns a buffer that the next call overwrites. */
	object[0] = '\0';
	if (VG_(get_objname)(epoch, pc, &path))
		VG_(strncpy)(object, path, NAME_MAX - 1);
	object[NAME_MAX - 1] = '\0';
	if (!VG_(get_fnname)(epoch, pc, &symbol))
		return unnamed_at(epoch, pc, object);
	VG_(strncpy)(name, symbol, NAME_MAX - 1);
	name[NAME_MAX - 1] = '\0';
	/* In Go ".cold" is part of an ordinary name. */
	Bool cold = !fzc_go_runs() && VG_(strstr)(name, ".cold");
	if (cold)
		cut_cold(name);
	/* The line is that of the hot part, set when that runs. */
	const HChar *source = source_of(epoch, pc, file, &line);
	struct fzc_function *f = fzc_function_make(name, object, source, 0, 0, FZC_PLAIN);
	if (!cold && f->line == 0)
		f->line = line;
	if (f->kind == FZC_PLAIN)
		set_special(f);
	return f;
}
