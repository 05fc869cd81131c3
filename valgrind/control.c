/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches counting on and off, and makes runs repeatable.
 *
 * Parts: a program marks a benchmark by checking whether a file exists,
 *
 *   access("/.fizeau/start/NAME")  drops the counts so far
 *   access("/.fizeau/stop/NAME")   writes the counts since then as the part NAME
 *   access("/.fizeau/drop/NAME")   instead of stop, when the part failed: drops those counts
 *
 * which any language can do and which has no effect without the tool. Callgrind's client requests
 * do the same for programs that were marked for it. A program with parts loses all counts outside
 * of them; one without parts keeps everything.
 *
 * Random bytes: with --fixed-random=yes the program gets the same ones in every run. The other half
 * of the kernel's input at program start, the processor's features, is in processor.c.
 */
#include "control.h"

#include "arena.h"
#include "criterion.h"
#include "fzcount.h"
#include "gotest.h"
#include "rustbench.h"
#include "processor.h"

#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "callgrind.h"

#define MAGIC "/.fizeau/"
enum { RANDOM_FDS = 1024 };

static Bool marked;      /* a part was started: counts outside of parts are dropped */
static Bool inside;      /* a part */
static Bool forks;       /* the part started another process */
static HChar part[4096]; /* its name, if given at its start; else "" */

/* ---- parts ---- */

static void start(void)
{
	marked = inside = True;
	forks = False;
	part[0] = '\0';
	fzc_tree_clear();
	fzc_tree_idle(False);
	fzc_cache_reset();
	fzc_go_begin_anew();
}

void fzc_control_start(const HChar *name)
{
	start();
	VG_(strncpy)(part, name, sizeof(part) - 1);
}

/* End the part. Nothing needs counting until the next start, except in a program that never starts
 * parts but only dumps. */
static void leave(void)
{
	if (inside)
		fzc_tree_idle(True);
	inside = forks = False;
	part[0] = '\0';
}

static void stop(const HChar *name)
{
	marked = True;
	if (inside && forks)
		fzc_write_note('X', name);
	leave();
	if (fzc_harness_other())
		fzc_write_run(name);
	else
		fzc_write_part(name);
}

void fzc_control_drop(void)
{
	marked = True;
	leave();
	fzc_tree_clear();
	fzc_write_drop();
}

void fzc_control_pause(void)
{
	fzc_write_piece();
	fzc_memory_pause(True);
	/* Nodes must stay: live blocks refer to them. */
	fzc_tree_idle(!fzc_options.memory);
}

void fzc_control_resume(void)
{
	fzc_tree_zero();
	fzc_memory_pause(False);
	fzc_tree_idle(False);
}

void fzc_control_run(const HChar *name)
{
	if (forks)
		fzc_write_note('X', name);
	leave();
	fzc_write_run(name);
}

/* Stop a part whose name may come with a later dump. */
static void stop_unnamed(void)
{
	if (inside)
		fzc_write_hold();
	leave();
}

void fzc_control_end(void)
{
	fzc_criterion_end();
	fzc_rustbench_end();
	if (!marked)
		fzc_write_whole();
	else if (inside && part[0])
		fzc_write_note('U', part);
	fzc_write_end();
}

static void obey_path(const HChar *path)
{
	const SizeT magic = sizeof(MAGIC) - 1;

	if (!path || VG_(strncmp)(path, MAGIC, magic) != 0)
		return;
	fzc_harness_other();
	path += magic;
	if (VG_(strncmp)(path, "start/", 6) == 0)
		fzc_control_start(path + 6);
	else if (VG_(strncmp)(path, "stop/", 5) == 0)
		stop(path + 5);
	else if (VG_(strncmp)(path, "drop/", 5) == 0)
		fzc_control_drop();
}

/* ---- callgrind's requests ---- */

/* Programs start, stop and then dump under a name, or only dump, or toggle. */
static void toggle(void)
{
	static Bool collecting;

	collecting = !collecting;
	if (collecting)
		start();
	else
		stop_unnamed();
}

Bool fzc_control_request(ThreadId tid, UWord *arguments, UWord *ret)
{
	(void)tid;
	if (!VG_IS_TOOL_USERREQ('C', 'T', arguments[0]))
		return False;
	*ret = 0;
	if (fzc_rustbench_marks())
		return True;
	fzc_harness_other();
	switch (arguments[0]) {
	case VG_USERREQ__DUMP_STATS:
		stop("");
		return True;
	case VG_USERREQ__DUMP_STATS_AT:
		stop((const HChar *)arguments[1]);
		return True;
	case VG_USERREQ__ZERO_STATS:
	case VG_USERREQ__START_INSTRUMENTATION:
		start();
		return True;
	case VG_USERREQ__STOP_INSTRUMENTATION:
		stop_unnamed();
		return True;
	case VG_USERREQ__TOGGLE_COLLECT:
		toggle();
		return True;
	default:
		return False;
	}
}

/* ---- the same random bytes ---- */

static ULong random_state = 88172645463325252ULL;
static Bool is_random[RANDOM_FDS];

/* Marsaglia's xorshift64. */
static UChar random_byte(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (UChar)random_state;
}

static void fill(Addr at, UWord n)
{
	for (UWord i = 0; i < n; i++)
		((UChar *)at)[i] = random_byte();
}

/* Fix the auxiliary vector, which follows the environment: 16 random bytes (AT_RANDOM) and the
 * processor's features (AT_HWCAP). */
void fzc_control_first_instruction(ThreadId tid)
{
	enum { AT_HWCAP_TAG = 16, AT_RANDOM_TAG = 25 };
	UWord *p = (UWord *)VG_(get_SP)(tid);

	fzc_write_arguments(*p, (HChar *const *)(p + 1));
	p += 1 + *p + 1; /* the number of arguments, the arguments, and a zero */
	while (*p)
		p++;
	for (p++; *p; p += 2)
		if (*p == AT_RANDOM_TAG && fzc_options.fixed_random)
			fill(p[1], 16);
		else if (*p == AT_HWCAP_TAG && fzc_options.fixed_processor)
			p[1] = fzc_processor_features();
}

static Bool opens_random(const HChar *path)
{
	return path &&
	       (VG_(strcmp)(path, "/dev/urandom") == 0 || VG_(strcmp)(path, "/dev/random") == 0);
}

/* ---- system calls ---- */

static const HChar *path_of(UInt number, const UWord *arguments)
{
	switch (number) {
	case __NR_open:
	case __NR_access:
	case __NR_stat:
	case __NR_lstat:
		return (const HChar *)arguments[0];
	case __NR_openat:
	case __NR_newfstatat:
	case __NR_faccessat:
	case __NR_statx:
	case __NR_faccessat2:
		return (const HChar *)arguments[1];
	default:
		return NULL;
	}
}

void fzc_control_before(ThreadId tid, UInt number, UWord *arguments, UInt n)
{
	(void)tid, (void)n;
	fzc_now.node->count[FZC_SYSCALLS]++;
	obey_path(path_of(number, arguments));
	if (number == __NR_write && arguments[0] == 1 && fzc_options.harnesses) {
		fzc_criterion_output((const HChar *)arguments[1], arguments[2]);
		fzc_gotest_output((const HChar *)arguments[1], arguments[2]);
		fzc_rustbench_output((const HChar *)arguments[1], arguments[2]);
	}
	if (number == __NR_nanosleep)
		fzc_go_sleeps((struct vki_timespec *)arguments[0]);
	if (number == __NR_mmap)
		fzc_memory_mapped(arguments[1], arguments[3]);
	/* After a successful exec we are not called again. */
	if (number == __NR_execve || number == __NR_execveat)
		fzc_control_end();
}

/* Leave only the first processor in an affinity set; the program may pin itself to that. Many
 * libraries start a thread per processor, and here only one runs at a time. */
static void leave_one_processor(Addr set, UWord n)
{
	UChar *p = (UChar *)set;
	UWord first = 0;

	while (first < n && !p[first])
		first++;
	if (first == n)
		return;
	p[first] &= (UChar)-p[first];
	VG_(memset)(p + first + 1, 0, n - first - 1);
}

static void fix_random(UInt number, const UWord *arguments, UWord value)
{
	if (number == __NR_getrandom)
		fill(arguments[0], value);
	else if (number == __NR_read && arguments[0] < RANDOM_FDS && is_random[arguments[0]])
		fill(arguments[1], value);
	else if ((number == __NR_open || number == __NR_openat) && value < RANDOM_FDS)
		is_random[value] = opens_random(path_of(number, arguments));
	else if (number == __NR_close && arguments[0] < RANDOM_FDS)
		is_random[arguments[0]] = False;
}

/* Programs print their host's name, and a longer text takes more instructions. */
static void fix_name(Addr names)
{
	static const HChar name[] = "localhost";
	HChar *at = ((struct vki_new_utsname *)names)->nodename;

	VG_(memset)(at, 0, sizeof(((struct vki_new_utsname *)0)->nodename));
	VG_(memcpy)(at, name, sizeof(name));
}

void fzc_control_after(ThreadId tid, UInt number, UWord *arguments, UInt n, SysRes result)
{
	(void)tid, (void)n;
	if (number == __NR_mmap)
		fzc_arena_mapped();
	if (sr_isError(result))
		return;
	if (fzc_options.fixed_random)
		fix_random(number, arguments, sr_Res(result));
	if (fzc_options.fixed_processor && number == __NR_sched_getaffinity)
		leave_one_processor(arguments[2], sr_Res(result));
	if (fzc_options.fixed_processor && number == __NR_uname)
		fix_name(arguments[0]);
}

/* ---- other processes ---- */

static void forking(ThreadId tid)
{
	(void)tid;
	forks = True;
}

/* In the child: count from here on, into a file of its own, outside of the parent's parts. */
static void forked(ThreadId tid)
{
	(void)tid;
	inside = False;
	part[0] = '\0';
	fzc_write_forked();
	fzc_tree_clear();
}

void fzc_control_init(void)
{
	VG_(atfork)(forking, NULL, forked);
}
