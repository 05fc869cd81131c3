/* SPDX-License-Identifier: MIT */
/* What the program in the kernel (tick.bpf.c) and the recorder tell each other; both include it.
 *
 * The kernel's side knows no version of Python: offsets come from the layouts of capture/python,
 * as data. What it says of a code object is a mark, a hash of what tells one object from another
 * at the same address: names and lines are read afterwards, and count only if the mark is the same
 * still.
 */
#pragma once

#include <linux/types.h>

enum {
	FZ_BPF_FRAMES = 2048, /* of a stack, the innermost; a power of two */
	FZ_BPF_THREAD = 1024, /* bytes of a thread state that are looked at; likewise */
	FZ_BPF_FRAME = 128,
	FZ_BPF_CODE = 256,
	FZ_BPF_TEXT = 32, /* last bytes of a name that are in a mark */
	FZ_BPF_CPUS = 1024,
	FZ_BPF_WAKER_FRAMES = 16, /* of a waker's stack, the innermost */
	FZ_BPF_WAITERS = 16384,   /* threads that may wait at a time */
	FZ_BPF_NATIVE = 127,      /* addresses of a native stack, the innermost */
	FZ_BPF_PYTHONS = 1024,    /* processes that run Python */
	FZ_BPF_ABSENT = 0xffffffff,
};

/* Who numbers the processes that are watched; not for the machine, which the kernel does. */
struct fz_bpf_scope {
	__u64 device, inode; /* pid namespace in which they see themselves, one for all */
	__u32 recorder;      /* inode of the recorder's */
	__u32 listed;        /* the process whose tasks are visited, as the recorder sees it */
};

/* Of a process. A field's place; FZ_BPF_ABSENT: this version has none. Spans are read in one go:
 * offsets of what is in them count from their start. */
struct fz_bpf_config {
	__u64 namespace_device, namespace_inode; /* its pid namespace */
	__u32 pid;                               /* as it sees itself */
	__u64 runtime;
	__u32 interpreters_head;
	__u32 current; /* the thread state that runs Python code, or see thread.status */
	struct {
		__u32 next, threads_head, gil_pointer, gil, gc_collecting, gc_frame;
	} interp;            /* gil: offset in the runtime, where gil_pointer is absent */
	__u32 gc_collecting; /* in the runtime (3.8); absent: in the interpreter */
	__u32 gil_holder;    /* the thread state that had it last; whether it has it still is behind
				that */
	struct {
		__u32 size; /* of the span, which begins with the thread state */
		__u32 next, interp, frame, base_frame;
		__u32 native_id; /* up to 3.10 there is none, and this is `libc` */
		__u32 libc;      /* address of the C library's thread structure ... */
		__u32 libc_tid;  /* ... in which the kernel's id is here */
		__u32 attached; /* not 0 under the mask: it runs Python code; absent: see the GIL */
		__u32 attached_mask;
		__u32 status, bound; /* it is the thread's own state, of several: bits; absent: see
					`current` */
		__u32 gil_requested, raised, exc_value, exc_info, exc_state;
	} thread;
	struct {
		__u32 value, previous;
	} exc_item;
	__u32 cframe_current; /* absent: a thread state points to the frame itself */
	__u32 cframe_head;    /* in a thread state: the address of the innermost CFrame; absent */
	struct {
		__u32 size, code, previous, position, owner, is_entry, tlbc;
		__u64 position_mask;
	} frame;
	__u32 owner_entry; /* this owner marks a frame that runs no code; FZ_BPF_ABSENT */
	struct {
		__u32 from, size; /* the span */
		__u32 filename, name, line_table, first_line;
		__u32 version; /* absent: texts are in the mark in its place */
	} code;
	__u32 text_length, text_data;
	__u64 none;        /* stands for no exception; 0: nothing does */
	__u32 all_threads; /* wait for them all, not for the main one */
};

/* What a record in the ring is. */
enum fz_bpf_kind {
	FZ_BPF_TICK,
	FZ_BPF_BORN,  /* the target's `tid` has started `thread` (of waits: else 0), of its process
			 or of another */
	FZ_BPF_OFF,   /* a thread leaves its CPU, and waits from then on */
	FZ_BPF_WAKER, /* of a thread that waits: who woke it; the stack is the waker's */
	FZ_BPF_ON,    /* it runs again */
	FZ_BPF_EXEC,  /* a process of the machine that had a tick runs another program */
	FZ_BPF_EXIT,  /* or has ended */
	FZ_BPF_GREW,  /* the resident set of the target grew, by `counter` pages */
};

/* Why a stack is not one; 0: it is. */
enum fz_bpf_trouble {
	FZ_BPF_WHOLE,
	FZ_BPF_CUT,      /* deeper than FZ_BPF_FRAMES */
	FZ_BPF_UNMAPPED, /* something was not there */
	FZ_BPF_CORRUPT,
	FZ_BPF_UNSURE, /* several thread states could be the one that runs */
};

enum fz_bpf_flag {
	FZ_BPF_HAS_GIL = 1,
	FZ_BPF_COLLECTING = 2,
	FZ_BPF_GIL_REQUESTED = 4,
	FZ_BPF_EXCEPTION = 8,
	FZ_BPF_ROOT_ENTRY = 16,     /* the outermost frame is_entry */
	FZ_BPF_IN_CALL = 32,        /* no frame, but not outside of Python either (3.11, 3.12) */
	FZ_BPF_FOREIGN = 64,        /* a waker that is no thread of a target's that runs Python */
	FZ_BPF_PYTHON = 128,        /* of the machine: the thread is one that runs Python */
	FZ_BPF_OWNER_SHIFT = 8,     /* eight bits: owner of the outermost frame, if there is one */
	FZ_BPF_ADOPTED = 1 << 16,   /* the thread was young: CPUs have ticked for it until now */
	FZ_BPF_BY_CPU = 1 << 17,    /* a CPU's tick: `counter` is the time that it stands for */
	FZ_BPF_ELSEWHERE = 1 << 30, /* a waker in another process than who is woken */
};

/* Inode of the first pid namespace, in which the kernel's numbers are those that are seen:
 * PROC_PID_INIT_INO of the kernel. */
#define FZ_BPF_FIRST_NAMESPACE 0xeffffffcu

/* In the cookie of a thread's event, above its number: what its ticks say in their flags. */
#define FZ_BPF_COOKIE_ADOPTED (1ull << 32)

#define FZ_BPF_OWNER(flags) ((flags) >> FZ_BPF_OWNER_SHIFT & 0xff)

/* In place of a code object: the collection that runs under the next frame. */
enum { FZ_BPF_CODE_GC = 1 };

struct fz_bpf_frame {
	__u64 code; /* the upper 16 bits: number of the thread's own bytecode */
	__u64 position, mark;
};

/* What a thread does in the kernel. */
struct fz_bpf_call {
	__s32 number;  /* of the system call; -1: none */
	__u32 state;   /* of the thread, as the scheduler has it; 0: it could go on */
	__u64 args[2]; /* the call's first two */
	__u32 fd_mode; /* st_mode of the file that the first is, or points to the number of; 0: none
			*/
	__u32 reserved;
};

/* A tick, or what else `kind` says: a record in the ring, innermost frame first. */
struct fz_bpf_tick {
	__u64 time;    /* CLOCK_MONOTONIC */
	__u64 counter; /* CPU time of the thread in ns, since it was watched; or see FZ_BPF_BY_CPU
			*/
	__u64 tstate, interp;
	__u64 last,
		base; /* outermost frame; where the thread's chain ends, if a version says that */
	__u32 tid;    /* as the target sees it */
	__u32 cpu, flags, trouble;
	__u32 frame_n;
	__u32 watched; /* the thread, as the recorder sees it; 0: it was not asked, or is not known
			*/
	char comm[16];
	__u32 kind;    /* enum fz_bpf_kind */
	__u32 thread;  /* that runs, or waits, as the kernel numbers it */
	__u64 woken;   /* of FZ_BPF_ON: since then it could run; 0: always */
	__u64 foreign; /* of a tick by the thread's own time: the counter at its last tick without a
			  thread state, which no sample weighs for; 0: there was none */
	struct fz_bpf_call call;
	__u32 process; /* as it sees itself, or of the machine as the kernel numbers it; 0: not told
			*/
	/* Of the machine: whose the process is, and the lengths of two native stacks behind the
	 * frames: of the kernel, and of the program. */
	__u32 uid, kernel_n, user_n;
	__u32 waker; /* of FZ_BPF_WAKER: that thread, as the kernel numbers it */
	struct fz_bpf_frame frames[FZ_BPF_FRAMES];
};
#define FZ_BPF_TICK_HEAD (sizeof(struct fz_bpf_tick) - FZ_BPF_FRAMES * sizeof(struct fz_bpf_frame))

/* A wait that goes on, by the kernel's number of its thread. */
struct fz_bpf_wait {
	__u64 since, woken;
	__u64 used; /* CPU time of the thread until then, ns */
	__u64 lost; /* the ring had no room for its beginning */
};

/* A thread of the target, as the kernel numbers it and as the recorder does. */
struct fz_bpf_thread {
	__u32 kernel, seen;
};

/* What the program counts. */
struct fz_bpf_counts {
	__u64 lost;    /* ticks for which the ring had no room */
	__u64 foreign; /* of threads that are not Python's */
	__u64 lost_waits, lost_wait_ns;
	/* Of growth: by threads that are not Python's, or by others than the target; and for which
	 * the ring has had no room, until the thread grows again. */
	__u64 foreign_pages, late_pages;
};

static inline __u64 fz_bpf_mix(__u64 mark, __u64 word)
{
	mark = (mark ^ word) * 0x9e3779b97f4a7c15ull;
	return mark ^ mark >> 32;
}
