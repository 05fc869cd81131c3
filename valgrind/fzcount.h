/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fzcount: a Valgrind tool that counts instructions in their exact calling contexts.
 *
 *   instrument.c  what is added to each block of code: counting, and when to call the rest
 *   function.c    which function a block belongs to
 *   tree.c        the calling-context tree, and each thread's place in it
 *   python.c      Python frames, read where the interpreter keeps them
 *   go.c          goroutines, whose stacks Go changes itself
 *   cache.c       first-level and last-level caches (--cache=yes)
 *   memory.c      peak and live bytes (--memory=yes)
 *   processor.c   the processor that the program sees
 *   arena.c       where CPython's arenas lie
 *   control.c     what switches counting: magic paths, client requests, fork and exec
 *   harness.c     the benchmarks of Google Benchmark (--harnesses=yes)
 *   criterion.c   and those of criterion
 *   rustbench.c   those of divan and bencher
 *   gotest.c      and those of Go's package testing
 *   write.c       the file
 *
 *   root -- main -- parse -- malloc             one node a calling context; `now.node` is where the
 *             |       '---- [eval] -- f -- g     running thread is. A block adds its instructions
 *             '---- print                        there, without a call, before it can be left.
 *
 * The tool is built against the installed Valgrind's libraries, which are under the GPL; this
 * folder's files are too, and nothing of it is linked into fizeau.
 */
#pragma once

#include "pub_tool_basics.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#define FZC_TAG "fzcount"

enum fzc_kind {
	FZC_PLAIN,
	FZC_UNNAMED,  /* no symbol covers it: known by the address that was called */
	FZC_RESOLVER, /* the dynamic linker's: replaced by the function that it finds */
	FZC_EVAL,     /* CPython's evaluation loop */
	FZC_PYTHON,   /* a Python function */
	FZC_ALLOC,    /* of the malloc family */
	FZC_PROCESS,  /* above everything */
	FZC_MEMORY,   /* allocates or frees, and is no allocation that is counted */
	FZC_GO,       /* Go's, and changes the stack */
};

/* How an allocator's registers say what was asked for, and where it answers. */
enum fzc_alloc {
	FZC_ALLOC_FIRST,
	FZC_ALLOC_PRODUCT,
	FZC_ALLOC_SECOND,
	FZC_ALLOC_THIRD,
	FZC_REALLOC,
	FZC_NEW,
	FZC_FREE,
};

/* Identity is (name, object, file, offset, line of a Python function). */
struct fzc_function {
	struct fzc_function *next; /* of equal hash */
	const HChar *name;         /* as linked: mangled; "" when unnamed */
	const HChar *object;       /* path of the ELF object; "" for code made at run time */
	const HChar *file;         /* source; "" when unknown */
	Addr offset;               /* unnamed: in the object, or the address; else 0 */
	UInt line;
	UInt id; /* in the order of appearance */
	UChar kind, alloc;
	UChar hook;      /* of a harness; 0: none */
	UInt written_to; /* number of the file that it is in, from 1 */
};

/* What is counted, at each node for itself alone. */
enum fzc_count {
	FZC_INSTRUCTIONS,
	FZC_CALLS,
	FZC_SYSCALLS,
	FZC_ALLOCS,
	FZC_ALLOC_BYTES,
	FZC_PEAK_BYTES, /* these two with --memory=yes */
	FZC_LIVE_BYTES,
	FZC_READS, /* from here on with --cache=yes */
	FZC_WRITES,
	FZC_I1_MISSES,
	FZC_D1_MISSES,
	FZC_LL_MISSES,
	FZC_COUNTS
};

struct fzc_node {
	struct fzc_function *function; /* NULL: called, and not yet seen what */
	/* Words that a block can test. */
	ULong unnamed; /* code without a symbol goes on here: of an object, */
	ULong made;    /* and code that was made at run time */
	ULong in_eval; /* of the evaluation loop, or a Python function in it */
	struct fzc_node *parent, *child, *sibling;
	ULong kept;
	ULong changed;           /* when FZC_LIVE_BYTES did last */
	ULong count[FZC_COUNTS]; /* of a node in the tree only the first fzc_counts() exist */
};

/* A call that has not returned. */
struct fzc_frame {
	struct fzc_node *node;  /* to come back to */
	struct fzc_node *entry; /* of the frame to come back to */
	Addr sp;                /* where the return address is; below it the call still runs */
	Addr python;            /* Python frame to come back to; only with is_python */
	Bool is_python;
	Bool is_signal; /* of a handler on its own stack: addresses cannot be compared across */
};

enum { FZC_ARGUMENTS = 3 };

/* A call of a harness's function that matters once it has returned. */
struct fzc_hooked {
	UChar hook; /* 0: there is none */
	Addr sp;    /* where its return address is */
	UWord arguments[FZC_ARGUMENTS];
};

/* A call of an allocator that has not returned. */
struct fzc_allocating {
	const struct fzc_function *function; /* NULL: there is none */
	struct fzc_node *node;
	UWord part; /* when it began */
	Word depth; /* how many frames there were */
	Addr sp;    /* where its return address is, */
	Addr back;  /* and that */
	UWord arguments[FZC_ARGUMENTS];
};

/* Where a thread is. */
struct fzc_place {
	struct fzc_node *node;  /* counts go here */
	struct fzc_node *entry; /* of the physical frame: tail calls hang below it */
	struct fzc_frame *base, *top, *limit;
	/* The thread's current Python frame is at *python_at + fzc_python_offset, and was
	 * python_last when last seen. python_state is for python_at to point to. */
	Addr *python_at, python_state, python_last;
	Bool used;
	/* Of Go: the goroutine that runs, 0 on the thread's own stack; then the one that went
	 * there, 0 for none. While it waits, where its stack ended. */
	UWord goroutine, left, stack_end;
	struct fzc_hooked hooked;
	struct fzc_allocating allocating;
};

extern struct fzc_place fzc_now;
extern struct fzc_node fzc_root, fzc_called;

/* ---- options ---- */

struct fzc_options {
	const HChar *folder; /* --folder: files PID.count go here */
	Bool cache, memory, fixed_random, fixed_processor, python, harnesses;
};
extern struct fzc_options fzc_options;

/* ---- functions ---- */

/* The function that the code at an address belongs to. */
struct fzc_function *fzc_function_at(Addr pc);
/* Is it the first of a function with a name? */
Bool fzc_function_begins(Addr pc);
struct fzc_function *fzc_function_make(const HChar *name, const HChar *object, const HChar *file,
				       Addr offset, UInt line, enum fzc_kind kind);
/* Code of the procedure linkage table: billed to what it jumps to. */
Bool fzc_is_plt(Addr pc);

/* ---- the tree ---- */

void fzc_tree_init(void);
struct fzc_node *fzc_tree_child(struct fzc_node *parent, struct fzc_function *f);
/* Forget what was counted, and all nodes but those that threads are in. */
void fzc_tree_clear(void);
/* Forget what was counted, but not what is held in memory. */
void fzc_tree_zero(void);
/* What is counted from now on is of no use: the tree is cleared whenever it grew much. */
void fzc_tree_idle(Bool idle);
/* Once options are known: how many counts a node has, and which of them are of use. */
UInt fzc_counts(void);
Bool fzc_is_counted(enum fzc_count which);
/* The node after this one, callers first; NULL after the last. Begins with &fzc_root. */
struct fzc_node *fzc_tree_next(struct fzc_node *n);
ULong fzc_tree_total(enum fzc_count which);
void fzc_tree_switch(ThreadId tid);
/* A place where nothing was called yet: what will be hangs below a node. */
void fzc_tree_start_place(struct fzc_place *ret, struct fzc_node *below);
void fzc_tree_thread_ended(ThreadId tid);
/* The caller fills it in, at once and in place: this is what a call costs. */
struct fzc_frame *fzc_tree_push(void);
/* Go back to where a frame came from, and forget it and all above it. */
void fzc_tree_return_to(struct fzc_frame *frame);
/* Forget the frames that the stack pointer has left. Were there any? */
Bool fzc_tree_unwind(Addr sp);
void fzc_tree_signal(ThreadId tid, Bool own_stack);
void fzc_tree_signal_done(void);

/* Called by instrumented code. */
VG_REGPARM(1) void fzc_on_call(Addr sp);
VG_REGPARM(1) void fzc_on_return(Addr sp);
VG_REGPARM(2) void fzc_on_other(struct fzc_function *f, Addr sp);
VG_REGPARM(3) void fzc_on_eval(struct fzc_function *f, Addr sp, Addr thread_state);
/* The registers that hold a function's first arguments were put into fzc_arguments before. */
VG_REGPARM(2) void fzc_on_alloc(struct fzc_function *f, Addr sp);
VG_REGPARM(2) void fzc_on_hook(struct fzc_function *f, Addr sp);
extern UWord fzc_arguments[FZC_ARGUMENTS];

/* ---- Python ---- */

extern UWord fzc_python_offset;
void fzc_python_init(struct fzc_place *place);
/* The evaluation loop was called for a thread. */
void fzc_python_enter(const struct fzc_function *eval, Addr thread_state);
/* The thread's current frame is another one than before. */
VG_REGPARM(2) void fzc_on_python(Addr frame, Addr sp);
/* May code of this function change the current frame? */
Bool fzc_python_concerns(const struct fzc_function *f);

/* ---- Go ---- */

/* Is the program Go's? */
Bool fzc_go_runs(void);
/* Is a function of this name one that changes the stack? */
Bool fzc_go_switches(const HChar *name);
/* A block of such a function has run; g: the register for the goroutine. */
VG_REGPARM(3) void fzc_on_go(struct fzc_function *f, Addr sp, UWord g);
/* Random numbers are those of the program's first from here on. */
void fzc_go_begin_anew(void);
/* The program is about to sleep so long. */
struct vki_timespec;
void fzc_go_sleeps(struct vki_timespec *length);
/* The places of all goroutines that do not run. */
void fzc_go_each(void (*visit)(const struct fzc_place *));

/* ---- harnesses ---- */

/* What a function of this name is to a harness; 0: nothing. */
UChar fzc_harness_hook(const HChar *name);
/* Does Go pass the function's arguments? */
Bool fzc_harness_is_go(UChar hook);
/* The call that fzc_now.hooked tells of has returned. */
void fzc_harness_returned(void);
/* The program marks its benchmarks itself. Is it a harness's all the same? */
Bool fzc_harness_other(void);

/* ---- memory ---- */

void fzc_memory_init(void);
/* An allocator begins, or what frees; its arguments are in fzc_arguments. */
void fzc_memory_begin(const struct fzc_function *f);
/* Perhaps the call that fzc_now.allocating tells of has returned. */
void fzc_memory_returned(Addr sp);
/* Nodes are gone: what is there belongs to none from now on. */
void fzc_memory_clear(void);
/* What comes is not to be counted: only what is freed is. */
void fzc_memory_pause(Bool paused);
/* Bring FZC_PEAK_BYTES up to date. */
void fzc_memory_settle(void);
/* The program asks the kernel for memory. */
void fzc_memory_mapped(UWord size, UWord flags);
/* Is there an allocator that is not followed? */
Bool fzc_memory_missed(void);

/* ---- caches ---- */

void fzc_cache_reset(void);
VG_REGPARM(1) void fzc_cache_fetch(Addr line);
VG_REGPARM(2) void fzc_cache_access(Addr address, UWord size);
enum { FZC_LINE_BITS = 6 };

/* ---- control and output ---- */

void fzc_control_init(void);
void fzc_control_first_instruction(ThreadId tid);
/* Write what is left, once the program ended or is about to become another. */
void fzc_control_end(void);

/* Write what was counted since the last time as a part with a name, and start from zero. */
void fzc_write_part(const HChar *name);
/* The same for all that a program without parts counted. */
void fzc_write_whole(void);
/* The same with a run of a benchmark: it takes the place of the last one of that name, if no other
 * came in between. */
void fzc_write_run(const HChar *name);
/* A piece of what the next part or run is made of. */
void fzc_write_piece(void);
/* The pieces since the last part or run came to nothing. */
void fzc_write_drop(void);
/* Something to know about a part. */
void fzc_write_note(UChar kind, const HChar *name);
/* A benchmark said that it failed, and why. */
void fzc_write_failure(const HChar *name, const HChar *why);
/* As fzc_write_part, but the name comes with the next one. */
void fzc_write_hold(void);
/* All that was written is in the file. */
void fzc_write_end(void);
/* After a fork: the child has a file of its own. */
void fzc_write_forked(void);
/* What the program was started with. */
void fzc_write_arguments(UWord n, HChar *const list[]);
