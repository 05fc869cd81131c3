/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fzcount: a Valgrind tool that counts instructions in their exact calling contexts.
 *
 *   instrument.c  the code added to each block: it counts, and calls the rest where needed
 *   function.c    which function a block belongs to
 *   tree.c        the calling-context tree, and each thread's place in it
 *   python.c      Python frames, read from the interpreter's memory
 *   go.c          goroutines, whose stacks Go switches itself
 *   cache.c       first-level and last-level caches (--cache=yes)
 *   memory.c      peak and live bytes (--memory=yes)
 *   processor.c   the processor that the program sees
 *   arena.c       addresses of CPython's arenas
 *   control.c     switching counting: magic paths, client requests, fork and exec
 *   harness.c     the benchmarks of Google Benchmark (--harnesses=yes)
 *   criterion.c   and those of criterion
 *   rustbench.c   those of divan and bencher
 *   gotest.c      and those of Go's package testing
 *   write.c       the file
 *
 *   root -- main -- parse -- malloc             one node per calling context; `now.node` is the
 *             |       '---- [eval] -- f -- g     running thread's. A block adds its instructions
 *             '---- print                        there, without a call, before it can be left.
 *
 * The tool is built against the installed Valgrind's libraries, which are under the GPL. So are the
 * files of this folder, and none of them is linked into fizeau.
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
	FZC_PROCESS,  /* the root */
	FZC_MEMORY,   /* operator new, or frees: watched, but not counted in FZC_ALLOCS */
	FZC_GO,       /* Go's, and switches stacks */
};

/* Which arguments of an allocator hold the size, and how it returns the block. */
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

/* Counts of a node, without its callees'. */
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
	struct fzc_function *function; /* NULL: a call whose target is not known yet */
	/* Words, so that a block can test them. */
	ULong unnamed; /* an object's code without a symbol stays in this node */
	ULong made;    /* code generated at run time does */
	ULong in_eval; /* of the evaluation loop, or a Python function in it */
	struct fzc_node *parent, *child, *sibling;
	ULong kept;
	ULong changed;           /* when FZC_LIVE_BYTES last changed; see memory.c */
	ULong count[FZC_COUNTS]; /* nodes of the tree have only the first fzc_counts() */
};

/* A call that has not returned. */
struct fzc_frame {
	struct fzc_node *node;  /* to return to */
	struct fzc_node *entry; /* of the frame to return to */
	Addr sp;                /* where the return address is; below it the call still runs */
	Addr python;            /* Python frame to return to, if is_python */
	Bool is_python;
	Bool is_signal; /* a handler on its own stack: not comparable with sp of earlier frames */
};

enum { FZC_ARGUMENTS = 3 };

/* A call of a harness's function, to be acted on once it has returned. */
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
	Addr sp;    /* where its return address is */
	Addr back;  /* the return address */
	UWord arguments[FZC_ARGUMENTS];
};

/* A thread's position in the tree, and its frames. */
struct fzc_place {
	struct fzc_node *node;  /* counts go here */
	struct fzc_node *entry; /* the function called last: tail calls hang below it */
	struct fzc_frame *base, *top, *limit;
	/* The pointer to the thread's current Python frame is at *python_at + fzc_python_offset,
	 * and was python_last when last read. python_at may point to python_state. */
	Addr *python_at, python_state, python_last;
	Bool used;
	/* Go only. goroutine: the one that runs, 0 on the thread's own stack; left: then the one
	 * that switched there, or 0; stack_end: where a waiting one's stack ended. */
	UWord goroutine, left, stack_end;
	struct fzc_hooked hooked;
	struct fzc_allocating allocating;
};

extern struct fzc_place fzc_now;
extern struct fzc_node fzc_root, fzc_called;

/* ---- options ---- */

struct fzc_options {
	const HChar *folder; /* --folder: for the files PID.count */
	Bool cache, memory, fixed_random, fixed_processor, python, harnesses;
};
extern struct fzc_options fzc_options;

/* ---- functions ---- */

/* The function that contains an address. */
struct fzc_function *fzc_function_at(Addr pc);
/* Does a named function begin at this address? */
Bool fzc_function_begins(Addr pc);
struct fzc_function *fzc_function_make(const HChar *name, const HChar *object, const HChar *file,
				       Addr offset, UInt line, enum fzc_kind kind);
/* Is this code of the procedure linkage table? Its costs are those of its target. */
Bool fzc_is_plt(Addr pc);

/* ---- the tree ---- */

void fzc_tree_init(void);
struct fzc_node *fzc_tree_child(struct fzc_node *parent, struct fzc_function *f);
/* Drop all counts, and all nodes but those on the threads' stacks. */
void fzc_tree_clear(void);
/* Zero all counts except those of held memory. */
void fzc_tree_zero(void);
/* While idle, counts are of no use: the tree is cleared whenever it has grown much. */
void fzc_tree_idle(Bool idle);
/* Number of counts per node, and whether one of them is in use. Valid once options are set. */
UInt fzc_counts(void);
Bool fzc_is_counted(enum fzc_count which);
/* The node after this one, callers first; NULL after the last. Begins with &fzc_root. */
struct fzc_node *fzc_tree_next(struct fzc_node *n);
ULong fzc_tree_total(enum fzc_count which);
void fzc_tree_switch(ThreadId tid);
/* Start a place without frames; whatever is called hangs below a node. */
void fzc_tree_start_place(struct fzc_place *ret, struct fzc_node *below);
void fzc_tree_thread_ended(ThreadId tid);
/* Returns a new frame, which the caller fills in place: this runs on each call. */
struct fzc_frame *fzc_tree_push(void);
/* Go back to a frame's caller, popping it and all frames above it. */
void fzc_tree_return_to(struct fzc_frame *frame);
/* Pop the frames that the stack pointer has left. True if there were any. */
Bool fzc_tree_unwind(Addr sp);
void fzc_tree_signal(ThreadId tid, Bool own_stack);
void fzc_tree_signal_done(void);

/* Called by instrumented code. */
VG_REGPARM(1) void fzc_on_call(Addr sp);
VG_REGPARM(1) void fzc_on_return(Addr sp);
VG_REGPARM(2) void fzc_on_other(struct fzc_function *f, Addr sp);
VG_REGPARM(3) void fzc_on_eval(struct fzc_function *f, Addr sp, Addr thread_state);
/* The function's first arguments must be in fzc_arguments. */
VG_REGPARM(2) void fzc_on_alloc(struct fzc_function *f, Addr sp);
VG_REGPARM(2) void fzc_on_hook(struct fzc_function *f, Addr sp);
extern UWord fzc_arguments[FZC_ARGUMENTS];

/* ---- Python ---- */

extern UWord fzc_python_offset;
void fzc_python_init(struct fzc_place *place);
/* The evaluation loop was called with a thread state. */
void fzc_python_enter(const struct fzc_function *eval, Addr thread_state);
/* The thread's current Python frame changed. */
VG_REGPARM(2) void fzc_on_python(Addr frame, Addr sp);
/* May code of this function change the current frame? */
Bool fzc_python_concerns(const struct fzc_function *f);

/* ---- Go ---- */

/* Is it a Go program? */
Bool fzc_go_runs(void);
/* Does the function of this name switch stacks? */
Bool fzc_go_switches(const HChar *name);
/* A block of such a function has run; g: the register with the goroutine's descriptor. */
VG_REGPARM(3) void fzc_on_go(struct fzc_function *f, Addr sp, UWord g);
/* Restart the fixed sequence of random numbers. */
void fzc_go_begin_anew(void);
/* The program is about to sleep: stretch the watchdog's sleep. */
struct vki_timespec;
void fzc_go_sleeps(struct vki_timespec *length);
/* Visit the places of all goroutines that do not run. */
void fzc_go_each(void (*visit)(const struct fzc_place *));

/* ---- harnesses ---- */

/* The hook for a harness's function of this name; 0 if it is none. */
UChar fzc_harness_hook(const HChar *name);
/* Does the hook's function use Go's calling convention? */
Bool fzc_harness_is_go(UChar hook);
/* The call in fzc_now.hooked has returned. */
void fzc_harness_returned(void);
/* Call when the program marks its benchmarks itself. True if its harness is known nevertheless. */
Bool fzc_harness_other(void);

/* ---- memory ---- */

void fzc_memory_init(void);
/* A function that allocates or frees begins; its arguments are in fzc_arguments. */
void fzc_memory_begin(const struct fzc_function *f);
/* Check whether the call in fzc_now.allocating has returned. */
void fzc_memory_returned(Addr sp);
/* Nodes are about to be freed: existing blocks belong to none from now on. */
void fzc_memory_clear(void);
/* While paused only frees are counted. */
void fzc_memory_pause(Bool paused);
/* Bring FZC_PEAK_BYTES up to date. */
void fzc_memory_settle(void);
/* The program calls mmap. */
void fzc_memory_mapped(UWord size, UWord flags);
/* Was an allocator seen that is not followed? */
Bool fzc_memory_missed(void);

/* ---- caches ---- */

void fzc_cache_reset(void);
VG_REGPARM(1) void fzc_cache_fetch(Addr line);
VG_REGPARM(2) void fzc_cache_access(Addr address, UWord size);
enum { FZC_LINE_BITS = 6 };

/* ---- control and output ---- */

void fzc_control_init(void);
void fzc_control_first_instruction(ThreadId tid);
/* Write what is left, when the program ends or is about to exec. */
void fzc_control_end(void);

/* Write the counts since the last write as a part, and start from zero. */
void fzc_write_part(const HChar *name);
/* The same for all counts of a program without parts. */
void fzc_write_whole(void);
/* The same for a run of a benchmark: it replaces the run written last if that has the same name. */
void fzc_write_run(const HChar *name);
/* The same for a piece of the next part or run. */
void fzc_write_piece(void);
/* Drop the pieces since the last part or run. */
void fzc_write_drop(void);
/* Write a note about a part; kind: 'X', 'U' or 'M', see write.c. */
void fzc_write_note(UChar kind, const HChar *name);
/* Write that a benchmark reported failure, and its reason. */
void fzc_write_failure(const HChar *name, const HChar *why);
/* End a part whose name comes with the next fzc_write_part(). */
void fzc_write_hold(void);
/* Complete and close the file. */
void fzc_write_end(void);
/* After a fork: the child has a file of its own. */
void fzc_write_forked(void);
/* Remember the program's arguments for the file. */
void fzc_write_arguments(UWord n, HChar *const list[]);
