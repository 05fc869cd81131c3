/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processor that a program sees: the same one on every machine.
 *
 * Libraries choose their code by the processor's features: the C library its string functions, with
 * cache sizes as thresholds, OpenBLAS and numpy their kernels. Valgrind answers the instruction
 * CPUID as one of a few processors, depending on the machine. We always answer as one of 2010: the
 * oldest x86-64-v2 (SSE4.2, no AVX). Programs of every distribution run on it, and every machine
 * that Valgrind supports can emulate it.
 */
#include "processor.h"

#include "fzcount.h"

#include "pub_tool_machine.h"

#include "libvex_guest_amd64.h"

enum { FEATURES = 0xbfebfbff, ANY = -1, BASIC_MAX = 0xb, EXTENDED_MAX = 0x80000008 };

/* Valgrind's answers for an Intel Core i5-670 ("Westmere"), without RDTSCP. */
static const struct {
	UInt leaf;
	Int subleaf;
	UInt eax, ebx, ecx, edx;
} answers[] = {
	{ 0x00000000, ANY, BASIC_MAX, 0x756e6547, 0x6c65746e, 0x49656e69 }, /* GenuineIntel */
	{ 0x00000001, ANY, 0x00020652, 0x00100800, 0x0298e3ff, FEATURES },
	/* Caches: 32 KiB for instructions and for data, 256 KiB, 4 MiB. */
	{ 0x00000002, ANY, 0x55035a01, 0x00f0b2e3, 0x00000000, 0x09ca212c },
	{ 0x00000004, 0, 0x1c004121, 0x01c0003f, 0x0000003f, 0x00000000 },
	{ 0x00000004, 1, 0x1c004122, 0x00c0003f, 0x0000007f, 0x00000000 },
	{ 0x00000004, 2, 0x1c004143, 0x01c0003f, 0x000001ff, 0x00000000 },
	{ 0x00000004, 3, 0x1c03c163, 0x03c0003f, 0x00000fff, 0x00000002 },
	{ 0x00000005, ANY, 0x00000040, 0x00000040, 0x00000003, 0x00001120 },
	{ 0x00000006, ANY, 0x00000007, 0x00000002, 0x00000001, 0x00000000 },
	{ 0x0000000a, ANY, 0x07300403, 0x00000004, 0x00000000, 0x00000603 },
	{ 0x0000000b, 0, 0x00000001, 0x00000002, 0x00000100, 0x00000000 },
	{ 0x0000000b, 1, 0x00000004, 0x00000004, 0x00000201, 0x00000000 },
	{ 0x80000000, ANY, EXTENDED_MAX, 0x00000000, 0x00000000, 0x00000000 },
	{ 0x80000001, ANY, 0x00000000, 0x00000000, 0x00000001, 0x20100800 },
	{ 0x80000002, ANY, 0x65746e49, 0x2952286c, 0x726f4320, 0x4d542865 }, /* its name */
	{ 0x80000003, ANY, 0x35692029, 0x55504320, 0x20202020, 0x20202020 },
	{ 0x80000004, ANY, 0x30373620, 0x20402020, 0x37342e33, 0x007a4847 },
	{ 0x80000006, ANY, 0x00000000, 0x00000000, 0x01006040, 0x00000000 },
	{ 0x80000007, ANY, 0x00000000, 0x00000000, 0x00000000, 0x00000100 },
	{ 0x80000008, ANY, 0x00003024, 0x00000000, 0x00000000, 0x00000000 },
};

UWord fzc_processor_features(void)
{
	return FEATURES;
}

/* Unknown leaves are all zero. */
static void on_cpuid(VexGuestAMD64State *state)
{
	UInt leaf = (UInt)state->guest_RAX;
	Int subleaf = (Int)state->guest_RCX;

	state->guest_RAX = state->guest_RBX = state->guest_RCX = state->guest_RDX = 0;
	for (UInt i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (answers[i].leaf != leaf ||
		    (answers[i].subleaf != ANY && answers[i].subleaf != subleaf))
			continue;
		state->guest_RAX = answers[i].eax;
		state->guest_RBX = answers[i].ebx;
		state->guest_RCX = answers[i].ecx;
		state->guest_RDX = answers[i].edx;
	}
}

/* Go seeds map order and scheduling from the tick counter: advance it by a constant per read. */
static ULong on_ticks(void)
{
	static ULong ticks;

	return ticks += 1000;
}

static Bool calls(const IRStmt *s, const HChar *name)
{
	return s->tag == Ist_Dirty &&
	       VG_(strncmp)(s->Ist.Dirty.details->cee->name, name, VG_(strlen)(name)) == 0;
}

static IRStmt *ticks_instead(const IRStmt *s)
{
	IRDirty *d = emptyIRDirty();

	*d = *s->Ist.Dirty.details;
	d->cee = mkIRCallee(0, "on_ticks", VG_(fnptr_to_fnentry)((void *)&on_ticks));
	return IRStmt_Dirty(d);
}

IRStmt *fzc_processor_instead(IRStmt *s, const struct fzc_function *f)
{
	if (fzc_options.fixed_random && f && calls(s, "amd64g_dirtyhelper_RDTSC") &&
	    VG_(strncmp)(f->name, "runtime.cputicks", 16) == 0)
		return ticks_instead(s);
	if (!fzc_options.fixed_processor || !calls(s, "amd64g_dirtyhelper_CPUID_"))
		return s;
	IRDirty *d = emptyIRDirty();
	*d = *s->Ist.Dirty.details;
	d->cee = mkIRCallee(0, "on_cpuid", VG_(fnptr_to_fnentry)((void *)&on_cpuid));
	d->args = mkIRExprVec_1(IRExpr_GSPTR());
	return IRStmt_Dirty(d);
}
