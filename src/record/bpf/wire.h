/* SPDX-License-Identifier: MIT */
/* Data shared by the BPF program (tick.bpf.c) and the recorder; both include this.
 *
 * The BPF program knows no versions of Python: it gets offsets from the layouts in record/python.
 * It identifies a code object by its address and a mark, which is a hash of fields that distinguish
 * it from other objects at the same address. Names and lines are read later and are valid only if
 * the mark is still the same.
 */
#pragma once

#include <linux/types.h>

enum {
	FZ_BPF_FRAMES = 2048, /* innermost frames of a stack; a power of two */
	FZ_BPF_THREAD = 1024, /* bytes of a thread state; likewise */
	FZ_BPF_FRAME = 128,
	FZ_BPF_CODE = 256,
	FZ_BPF_TEXT = 32, /* last bytes of a name, for its mark */
	FZ_BPF_CPUS = 1024,
	FZ_BPF_WAKER_FRAMES = 16, /* innermost frames of a waker's stack */
	FZ_BPF_WAITERS = 16384,   /* threads that can wait at a time */
	FZ_BPF_NATIVE = 127,      /* innermost addresses of a native stack */
	FZ_BPF_PYTHONS = 1024,    /* processes that run Python */
	FZ_BPF_ABSENT = 0xffffffff,
};

/* Namespaces of the pids of watched processes; unused for the machine, with the kernel's pids. */
struct fz_bpf_scope {
	__u64 device, inode; /* the processes' pid namespace, the same for all */
	__u32 recorder;      /* inode of the recorder's namespace */
	__u32 listed;        /* process to list, as the recorder sees it */
};

/* Of a process: offsets of fields; FZ_BPF_ABSENT if this version has none. Spans are read at once:
 * offsets in them are relative to their start. */
struct fz_bpf_config {
	__u64 namespace_device, namespace_inode; /* its pid namespace */
	__u32 pid;                               /* in its own namespace */
	__u64 runtime;
	__u32 interpreters_head;
	__u32 current; /* current thread state; absent: see thread.status */
	struct {
		__u32 next, threads_head, gil_pointer, gil, gc_collecting, gc_frame;
	} interp;            /* gil: offset in the runtime, if gil_pointer is absent */
	__u32 gc_collecting; /* in the runtime (3.8); absent: in the interpreter */
	__u32 gil_holder;    /* the last holder's thread state, followed by the locked flag */
	struct {
		__u32 size; /* of the span, which starts at the thread state */
		__u32 next, interp, frame, base_frame;
		__u32 native_id; /* up to 3.10 absent: equals `libc` */
		__u32 libc;      /* address of the C library's thread structure ... */
		__u32 libc_tid;  /* ... in which the kernel's id is here */
		__u32 attached;  /* nonzero under the mask: runs Python code; absent: see the GIL */
		__u32 attached_mask;
		__u32 status, bound; /* flags; `bound`: the thread's own state, of several; absent:
					see `current` */
		__u32 gil_requested, raised, exc_value, exc_info, exc_state;
	} thread;
	struct {
		__u32 value, previous;
	} exc_item;
	__u32 cframe_current; /* absent: a thread state points to the frame itself */
	__u32 cframe_head;    /* in a thread state: address of the innermost CFrame, or absent */
	struct {
		__u32 size, code, previous, position, owner, is_entry, object, tlbc;
		__u64 position_mask;
	} frame;
	__u32 owner_entry; /* owner of frames without code, or FZ_BPF_ABSENT */
	struct {
		__u32 from, size; /* the span */
		__u32 filename, name, line_table, first_line;
		__u32 version; /* absent: marks contain texts instead */
	} code;
	__u32 text_length, text_data;
	__u64 none;        /* address of None; 0: unknown */
	__u32 all_threads; /* record waits of all threads, not only of the main one */
};

/* Kinds of records in the ring. */
enum fz_bpf_kind {
	FZ_BPF_TICK,
	FZ_BPF_BORN,  /* the target's `tid` started `thread` (0 unless recording waits) */
	FZ_BPF_OFF,   /* a thread left its CPU and waits */
	FZ_BPF_WAKER, /* `waker` woke the waiting `thread`; the stack is the waker's */
	FZ_BPF_ON,    /* the thread runs again */
	FZ_BPF_EXEC,  /* machine: a process that had a tick called exec */
	FZ_BPF_EXIT,  /* machine: or exited */
	FZ_BPF_GREW,  /* the resident set of the target grew, by `counter` pages */
};

/* Why a stack is unusable; 0: it is complete. */
enum fz_bpf_trouble {
	FZ_BPF_WHOLE,
	FZ_BPF_CUT,      /* deeper than FZ_BPF_FRAMES */
	FZ_BPF_UNMAPPED, /* memory could not be read */
	FZ_BPF_CORRUPT,
	FZ_BPF_UNSURE, /* several thread states could be the current one */
};

enum fz_bpf_flag {
	FZ_BPF_HAS_GIL = 1,
	FZ_BPF_COLLECTING = 2,
	FZ_BPF_GIL_REQUESTED = 4,
	FZ_BPF_EXCEPTION = 8,
	FZ_BPF_ROOT_ENTRY = 16,       /* is_entry of the outermost frame */
	FZ_BPF_IN_CALL = 32,          /* no frame, but inside Python (3.11, 3.12) */
	FZ_BPF_FOREIGN = 64,          /* the waker is not a Python thread of a target */
	FZ_BPF_PYTHON = 128,          /* machine: a Python thread */
	FZ_BPF_OWNER_SHIFT = 8,       /* 8 bits: owner of the outermost frame */
	FZ_BPF_ADOPTED = 1 << 16,     /* the thread was young, and sampled by CPU ticks so far */
	FZ_BPF_BY_CPU = 1 << 17,      /* a CPU's tick: `counter` is its weight in ns */
	FZ_BPF_ROOT_OBJECT = 1 << 18, /* the outermost frame has a frame object */
	FZ_BPF_ELSEWHERE = 1 << 30,   /* waker and woken thread are in different processes */
};

/* Inode of the first pid namespace, where visible pids are the kernel's: PROC_PID_INIT_INO. */
#define FZ_BPF_FIRST_NAMESPACE 0xeffffffcu

/* Bit above the tid in the cookie of a thread's event: set FZ_BPF_ADOPTED in its ticks. */
#define FZ_BPF_COOKIE_ADOPTED (1ull << 32)

#define FZ_BPF_OWNER(flags) ((flags) >> FZ_BPF_OWNER_SHIFT & 0xff)

/* Instead of a code object: a garbage collection triggered by the next frame. */
enum { FZ_BPF_CODE_GC = 1 };

struct fz_bpf_frame {
	__u64 code; /* upper 16 bits: index of the thread-local bytecode */
	__u64 position, mark;
};

/* A thread's system call. */
struct fz_bpf_call {
	__s32 number;  /* system call; -1: none */
	__u32 state;   /* of the thread, from the scheduler; 0: runnable */
	__u64 args[2]; /* first two arguments */
	__u32 fd_mode; /* st_mode of the file whose descriptor the first argument is or points to;
			  0: none */
	__u32 reserved;
};

/* A record in the ring: a tick or another `kind`. Innermost frame first. */
struct fz_bpf_tick {
	__u64 time;    /* CLOCK_MONOTONIC */
	__u64 counter; /* the thread's CPU time in ns since it was watched, or see FZ_BPF_BY_CPU */
	__u64 tstate, interp;
	__u64 last, base; /* outermost frame; end of the thread's chain, if known */
	__u32 tid;        /* in the target's namespace */
	__u32 cpu, flags, trouble;
	__u32 frame_n;
	__u32 watched; /* tid as the recorder sees it; 0: unknown */
	char comm[16];
	__u32 kind;    /* enum fz_bpf_kind */
	__u32 thread;  /* kernel tid of the running or waiting thread */
	__u64 woken;   /* FZ_BPF_ON: when it became runnable; 0: it always was */
	__u64 foreign; /* ticks by the thread's CPU time: counter at its last tick without a thread
			  state, up to which no sample is charged; 0: none */
	struct fz_bpf_call call;
	__u32 process; /* pid in its own namespace; machine: kernel pid; 0: unknown */
	/* Machine: owner of the process, and lengths of the native stacks that follow the frames:
	 * the kernel's and the user's. */
	__u32 uid, kernel_n, user_n;
	__u32 waker; /* FZ_BPF_WAKER: kernel tid of the waker */
	struct fz_bpf_frame frames[FZ_BPF_FRAMES];
};
#define FZ_BPF_TICK_HEAD (sizeof(struct fz_bpf_tick) - FZ_BPF_FRAMES * sizeof(struct fz_bpf_frame))

/* An open wait, by kernel tid. */
struct fz_bpf_wait {
	__u64 since, woken;
	__u64 used; /* the thread's CPU time at its start, ns */
	__u64 lost; /* the ring had no room for its start */
};

/* Tids of a thread: the kernel's, and as the recorder sees it. */
struct fz_bpf_thread {
	__u32 kernel, seen;
};

/* Counters of the BPF program. */
struct fz_bpf_counts {
	__u64 lost;    /* ticks for which the ring had no room */
	__u64 foreign; /* ticks of non-Python threads */
	__u64 lost_waits, lost_wait_ns;
	/* Growth by non-Python threads or by other processes; and growth for which the ring had no
	 * room, until the thread grows again. */
	__u64 foreign_pages, late_pages;
};

static inline __u64 fz_bpf_mix(__u64 mark, __u64 word)
{
	mark = (mark ^ word) * 0x9e3779b97f4a7c15ull;
	return mark ^ mark >> 32;
}
