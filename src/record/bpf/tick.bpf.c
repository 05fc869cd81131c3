/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The BPF program: a thread of a target is interrupted on its own CPU after a period of CPU time.
 * It does not run while its stack is read, so reads are consistent; if it was just changing a chain
 * of frames, the chain does not end where it should.
 *
 *   tid -> thread state (known, or found in the interpreters' lists) -> frames -> ring
 *
 * Nothing here waits. The recorder is only woken for a new code object, so that its names are read
 * while it lives, for a new thread, and when the ring is half full.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "wire.h"

/* Kernel structures with the fields that are used; their offsets are resolved at load time. */
#include <bpf/bpf_core_read.h>

#define KERNELS __attribute__((preserve_access_index))

struct pt_regs___x86 {
	unsigned long orig_ax, di, si, sp;
} KERNELS;

struct pt_regs___arm64 {
	__u64 regs[31], sp, orig_x0;
	__s32 syscallno;
} KERNELS;

enum {
	INTERPRETERS_MAX = 64,
	THREADS_MAX = FZ_BPF_WAITERS, /* of an interpreter; also the size of the cache */
	EXCEPTIONS_MAX = 1024,
	ODD_CFRAME = 4096, /* a CFrame this far from its thread state is on the C stack */
	RING = 8 << 20,
	CODES = 32768,
	KNOWN = 256,
	PAGE = 4096,    /* pages may be larger */
	STACKS = 65536, /* bytes for all stacks of a tick; a power of two */
};

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct state {
	__u64 tstate, interp, head;
	__u64 native_id; /* as in the state, which is wrong after a fork in C */
	__u64 several;   /* the thread has other states */
};

/* The most likely current one of a thread's states. */
struct best {
	struct state state;
	__u64 loop;
	__u32 claim, n;
	__u32 alike; /* another one is as good */
};

struct known {
	__u64 code, mark;
	__u64 turn; /* value of scratch.turn when it was read */
};

struct scratch {
	__u8 thread[FZ_BPF_THREAD + 8];
	__u8 frames[2 * PAGE + FZ_BPF_FRAME]; /* copy of memory with frames */
	__u8 code[FZ_BPF_CODE + 8];
	__u64 text[FZ_BPF_TEXT / 8];
	struct known known[KNOWN]; /* cache of `codes` */
	struct known filename;     /* the last filename and its hash */
	__u64 turn;
	struct best best;   /* of the search; in a map, because the verifier does not track map
			       contents */
	struct state state; /* cached from `states`, for thread state_of */
	__u32 state_of;
	__u64 owed; /* time of young threads on this CPU whose records did not fit into the ring */
	struct fz_bpf_tick tick;
	__u64 native[(STACKS - sizeof(((struct fz_bpf_tick *)0)->frames)) / 8 + FZ_BPF_NATIVE];
};

/* Python processes, by pid in their own namespace or, for the machine, by kernel pid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FZ_BPF_PYTHONS);
	__type(key, __u32);
	__type(value, struct fz_bpf_config);
} pythons SEC(".maps");

struct fz_bpf_scope fz_scope;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct fz_bpf_counts);
} counts SEC(".maps");

/* By CPU: ticks do not interrupt each other. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FZ_BPF_CPUS);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, struct state);
} states SEC(".maps");

/* Known code objects and their marks. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CODES);
	__type(key, __u64);
	__type(value, __u64);
} codes SEC(".maps");

/* Threads that had a tick of their own, by kernel tid: CPU ticks are not used for them. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FZ_BPF_WAITERS);
	__type(key, __u32);
	__type(value, __u64);
} grown_up SEC(".maps");

/* Period and start of CPU ticks for young threads, with which the recorder need not be woken for
 * new threads; 0: none. */
__u64 fz_nursery_period, fz_nursery_since;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING);
} ring SEC(".maps");

/* ---- reading ---- */

static __always_inline long get(void *out, __u32 n, __u64 at)
{
	return bpf_probe_read_user(out, n, (const void *)at);
}

/* A field of a copy. size: a power of two, with room for 8 more bytes behind it. The asm keeps the
 * compiler from removing the mask, which the verifier needs. */
#define MASKED(x, size)                                                  \
	({                                                               \
		__u64 masked = (x);                                      \
		asm volatile("%0 &= %1" : "+r"(masked) : "i"((size)-1)); \
		masked;                                                  \
	})
#define WORD(copy, at, size) (*(__u64 *)&(copy)[MASKED(at, size)])
#define HALF(copy, at, size) (*(__u32 *)&(copy)[MASKED(at, size)])
#define BYTE(copy, at, size) ((copy)[MASKED(at, size)])

/* ---- finding the thread state ---- */

struct search {
	const struct fz_bpf_config *c;
	__u64 interp, tstate; /* position in the lists */
	__u64 current, sp;
	struct best *best;
	__u32 tid;
	__u32 broken;
};

static __u64 gil_of(const struct fz_bpf_config *c, __u64 interp)
{
	__u64 gil = 0;

	if (c->interp.gil_pointer == FZ_BPF_ABSENT)
		return c->runtime + c->interp.gil;
	get(&gil, sizeof(gil), interp + c->interp.gil_pointer);
	return gil;
}

static int holds_gil(const struct fz_bpf_config *c, __u64 interp, __u64 tstate)
{
	struct {
		__u64 last_holder;
		__s32 locked;
	} state = { 0 };
	__u64 gil = gil_of(c, interp);

	if (!gil || get(&state, sizeof(state), gil + c->gil_holder))
		return 0;
	return state.last_holder == tstate && state.locked > 0;
}

/* Does the state belong to the thread according to the C library? Up to 3.10 there is no other way.
 * After a fork in C, the worker's main thread has a state with the parent's id. */
static int is_by_libc(const struct search *s)
{
	const struct fz_bpf_config *c = s->c;
	__u64 libc = 0;
	__u32 tid = 0;

	if ((c->thread.native_id != c->thread.libc && s->tid != c->pid) ||
	    get(&libc, sizeof(libc), s->tstate + c->thread.libc))
		return 0;
	return !get(&tid, sizeof(tid), libc + c->thread.libc_tid) && tid == s->tid;
}

/* The thread's user stack pointer. */
static __u64 stack_pointer(void)
{
	void *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct pt_regs___x86 *x86 = regs;
	struct pt_regs___arm64 *arm64 = regs;

	return bpf_core_field_exists(x86->sp) ? BPF_CORE_READ(x86, sp) : BPF_CORE_READ(arm64, sp);
}

/* Nonzero if a state has frames; up to 3.12 it is the position of the innermost call of Python's
 * loop in the C stack. Up to 3.11 a state has the ids of the thread that created it, and is valid
 * only if this position is on the current thread's stack: above the stack pointer, and below the C
 * library's thread structure, which is at the top of the stack, or for the main thread far below.
 */
static __u64 loop_of(const struct search *s, __u64 tstate)
{
	const struct fz_bpf_config *c = s->c;
	__u64 frame = 0, base = 0, libc = 0;

	if (c->cframe_head == FZ_BPF_ABSENT) {
		get(&frame, sizeof(frame), tstate + c->thread.frame);
		if (c->thread.base_frame != FZ_BPF_ABSENT)
			get(&base, sizeof(base), tstate + c->thread.base_frame);
		return frame == base ? 0 : frame;
	}
	get(&frame, sizeof(frame), tstate + c->cframe_head);
	if (frame - tstate < ODD_CFRAME)
		return 0;
	if (c->current == FZ_BPF_ABSENT)
		return frame;
	get(&libc, sizeof(libc), tstate + c->thread.libc);
	return frame < s->sp || (libc > s->sp && frame >= libc) ? 0 : frame;
}

/* Rank of a state by the evidence that the thread runs with it. */
static __u32 claim_of(const struct search *s, __u64 tstate, __u64 loop)
{
	const struct fz_bpf_config *c = s->c;
	__u32 status = 0;

	if (c->current != FZ_BPF_ABSENT)
		return loop ? 2 + (s->current == tstate) : 0;
	get(&status, sizeof(status), tstate + c->thread.status);
	return 2 * (loop != 0) + ((status & c->thread.bound) != 0);
}

/* Consider one of the thread's states. Of equal ones take the oldest: a younger one may not have
 * started. */
static void weigh(struct search *s, __u64 id)
{
	__u64 loop = loop_of(s, s->tstate);
	struct best *best = s->best;
	__u32 claim = claim_of(s, s->tstate, loop);
	int more = !best->n || claim > best->claim, alike = !more && claim == best->claim;

	best->n++;
	best->alike = more ? 0 : best->alike | alike;
	if (!more && !(alike && (claim < 2 || loop <= best->loop)))
		return;
	best->claim = claim;
	best->loop = loop;
	best->state.tstate = s->tstate;
	best->state.interp = s->interp;
	best->state.native_id = id;
}

static long search_thread(__u32 i, struct search *s)
{
	const struct fz_bpf_config *c = s->c;
	__u64 id = 0, next = 0;

	if (!s->tstate)
		return 1;
	if (get(&id, sizeof(id), s->tstate + c->thread.native_id) ||
	    get(&next, sizeof(next), s->tstate + c->thread.next)) {
		s->broken = 1;
		return 1;
	}
	if (id == s->tid || is_by_libc(s))
		weigh(s, id);
	s->tstate = next;
	return 0;
}

static long search_interpreter(__u32 i, struct search *s)
{
	const struct fz_bpf_config *c = s->c;
	__u64 next = 0;

	if (!s->interp)
		return 1;
	if (get(&s->tstate, sizeof(s->tstate), s->interp + c->interp.threads_head) ||
	    get(&next, sizeof(next), s->interp + c->interp.next)) {
		s->broken = 1;
		return 1;
	}
	bpf_loop(THREADS_MAX, search_thread, s, 0);
	s->interp = next;
	return 0;
}

static __u64 current_of(const struct fz_bpf_config *c)
{
	__u64 current = 0;

	get(&current, sizeof(current), c->runtime + c->current);
	return current;
}

/* Find the state with which the thread runs, among all that it has. */
static enum fz_bpf_trouble search(const struct fz_bpf_config *c, struct scratch *b, __u32 tid,
				  __u64 head)
{
	struct best *best = &b->best;
	struct search s = { .c = c, .best = best, .tid = tid, .interp = head };

	__builtin_memset(best, 0, sizeof(*best));
	if (c->current != FZ_BPF_ABSENT) {
		s.current = current_of(c);
		s.sp = stack_pointer();
	}
	bpf_loop(INTERPRETERS_MAX, search_interpreter, &s, 0);
	best->state.head = head;
	best->state.several = best->n > 1;
	if (s.broken || s.interp || s.tstate)
		return FZ_BPF_UNSURE;
	return best->claim == 2 && best->alike && c->cframe_head == FZ_BPF_ABSENT ? FZ_BPF_UNSURE
										  : FZ_BPF_WHOLE;
}

static long read_thread(const struct fz_bpf_config *c, struct scratch *b, __u64 tstate)
{
	__u64 size = MASKED(c->thread.size, FZ_BPF_THREAD);

	return get(b->thread, size, tstate);
}

/* ---- a frame ---- */

struct walk {
	const struct fz_bpf_config *c;
	struct scratch *b;
	__u64 at, base, gc_frame;
	__u64 from, to; /* range of the target's memory in b->frames */
	__u32 most;     /* maximum number of frames */
	__u32 fresh;    /* found an unknown code object */
};

/* Hash of a string's length and end. */
static __u64 hash_text(const struct fz_bpf_config *c, struct scratch *b, __u64 object)
{
	__u64 length = 0, n, hash;

	b->text[0] = b->text[1] = b->text[2] = b->text[3] = 0;
	get(&length, sizeof(length), object + c->text_length);
	n = length < FZ_BPF_TEXT - 1 ? length : FZ_BPF_TEXT - 1;
	n = MASKED(n, FZ_BPF_TEXT);
	get(b->text, n, object + c->text_data + length - n);
	hash = fz_bpf_mix(0, length);
	for (int i = 0; i < FZ_BPF_TEXT / 8; i++)
		hash = fz_bpf_mix(hash, b->text[i]);
	return hash;
}

/* Functions of one file, which mostly call each other, share its name. */
static __u64 hash_filename(const struct fz_bpf_config *c, struct scratch *b, __u64 object)
{
	struct known *k = &b->filename;

	if (k->code != object || k->turn != b->turn) {
		k->mark = hash_text(c, b, object);
		k->code = object;
		k->turn = b->turn;
	}
	return k->mark;
}

/* Compute a code object's mark; 0 if it cannot be read. The recorder does the same in code.c. */
static __u64 mark_of(const struct fz_bpf_config *c, struct scratch *b, __u64 code)
{
	__u64 size = MASKED(c->code.size, FZ_BPF_CODE), mark, name, filename;

	if (get(b->code, size, code + c->code.from))
		return 0;
	name = WORD(b->code, c->code.name, FZ_BPF_CODE);
	filename = WORD(b->code, c->code.filename, FZ_BPF_CODE);
	mark = fz_bpf_mix(HALF(b->code, c->code.first_line, FZ_BPF_CODE), filename);
	mark = fz_bpf_mix(mark, name);
	mark = fz_bpf_mix(mark, WORD(b->code, c->code.line_table, FZ_BPF_CODE));
	if (c->code.version != FZ_BPF_ABSENT)
		return fz_bpf_mix(mark, HALF(b->code, c->code.version, FZ_BPF_CODE));
	mark = fz_bpf_mix(mark, hash_text(c, b, name));
	return fz_bpf_mix(mark, hash_filename(c, b, filename));
}

/* While a stack is read nothing is freed, so each code object is read only once. */
static __u64 mark_of_frame(struct walk *w, __u64 code)
{
	struct scratch *b = w->b;
	struct known *k = &b->known[MASKED(fz_bpf_mix(0, code) >> 32, KNOWN)];
	__u64 mark, *met;

	if (k->code == code && k->turn == b->turn)
		return k->mark;
	mark = mark_of(w->c, b, code);
	if (k->code != code || k->mark != mark) {
		met = bpf_map_lookup_elem(&codes, &code);
		if (!met || *met != mark) {
			bpf_map_update_elem(&codes, &code, &mark, BPF_ANY);
			w->fresh = 1;
		}
		k->code = code;
		k->mark = mark;
	}
	k->turn = b->turn;
	return mark;
}

static void put(struct walk *w, __u64 code, __u64 position, __u64 mark)
{
	struct fz_bpf_tick *t = &w->b->tick;
	struct fz_bpf_frame *f = &t->frames[MASKED(t->frame_n, FZ_BPF_FRAMES)];

	f->code = code;
	f->position = position;
	f->mark = mark;
	t->frame_n++;
}

static long stop(struct walk *w, enum fz_bpf_trouble trouble)
{
	w->b->tick.trouble = trouble;
	return 1;
}

/* Callers are at lower addresses than callees, mostly in the same page: copy a frame together with
 * all below it in its page, since the number of reads matters, not their size. */
static __u8 *copy_of_frame(struct walk *w)
{
	__u64 end = w->at + MASKED(w->c->frame.size, FZ_BPF_FRAME), n;

	if (w->at < w->from || end > w->to) {
		w->from = w->at & ~(__u64)(PAGE - 1);
		w->to = end;
		n = MASKED(end - w->from, 2 * PAGE);
		if (get(w->b->frames, n, w->from)) {
			w->to = 0;
			return 0;
		}
	}
	return &w->b->frames[MASKED(w->at - w->from, PAGE)];
}

static long walk_frame(__u32 i, struct walk *w)
{
	const struct fz_bpf_config *c = w->c;
	struct fz_bpf_tick *t = &w->b->tick;
	__u64 code, mark, owner = 0;
	__u8 *frame;

	if (!w->at || w->at == w->base)
		return 1;
	if (w->at % 8)
		return stop(w, FZ_BPF_CORRUPT);
	if (t->frame_n >= w->most)
		return stop(w, FZ_BPF_CUT);
	frame = copy_of_frame(w);
	if (!frame)
		return stop(w, FZ_BPF_UNMAPPED);
	if (w->at == w->gc_frame)
		put(w, FZ_BPF_CODE_GC, 0, 0);
	t->last = w->at;
	owner = BYTE(frame, c->frame.owner, FZ_BPF_FRAME);
	t->flags &= ~(0xff << FZ_BPF_OWNER_SHIFT | FZ_BPF_ROOT_ENTRY | FZ_BPF_ROOT_OBJECT);
	t->flags |= owner << FZ_BPF_OWNER_SHIFT;
	if (c->frame.is_entry != FZ_BPF_ABSENT && BYTE(frame, c->frame.is_entry, FZ_BPF_FRAME))
		t->flags |= FZ_BPF_ROOT_ENTRY;
	if (c->frame.object != FZ_BPF_ABSENT && WORD(frame, c->frame.object, FZ_BPF_FRAME))
		t->flags |= FZ_BPF_ROOT_OBJECT;
	w->at = WORD(frame, c->frame.previous, FZ_BPF_FRAME);
	if (owner == c->owner_entry)
		return 0;
	code = WORD(frame, c->frame.code, FZ_BPF_FRAME) & ((1ull << 48) - 1) & ~3ull;
	mark = mark_of_frame(w, code);
	if (c->frame.tlbc != FZ_BPF_ABSENT)
		code |= (__u64)HALF(frame, c->frame.tlbc, FZ_BPF_FRAME) << 48;
	put(w, code, WORD(frame, c->frame.position, FZ_BPF_FRAME) & c->frame.position_mask, mark);
	return 0;
}

/* Address of the innermost frame, or 0. */
static __u64 innermost(const struct fz_bpf_config *c, struct scratch *b)
{
	__u64 at = WORD(b->thread, c->thread.frame, FZ_BPF_THREAD), cframe = at;

	if (c->cframe_current == FZ_BPF_ABSENT || !cframe)
		return at;
	if (cframe % 8 || get(&at, sizeof(at), cframe + c->cframe_current)) {
		b->tick.trouble = FZ_BPF_CORRUPT;
		return 0;
	}
	if (!at && cframe - b->tick.tstate >= ODD_CFRAME)
		b->tick.flags |= FZ_BPF_IN_CALL;
	return at;
}

/* ---- status of the thread ---- */

struct chain {
	const struct fz_bpf_config *c;
	__u64 item, end;
	__u32 found;
};

static long check_item(__u32 i, struct chain *s)
{
	__u64 value = 0, item = s->item;

	if (!item || item == s->end || get(&value, sizeof(value), item + s->c->exc_item.value) ||
	    get(&s->item, sizeof(s->item), item + s->c->exc_item.previous))
		return 1;
	if (value && value != s->c->none)
		s->found = 1;
	return s->found;
}

static int has_exception(const struct fz_bpf_config *c, struct scratch *b)
{
	struct chain s = { .c = c };
	__u64 handled;

	if (c->thread.raised == FZ_BPF_ABSENT)
		return 0;
	handled = WORD(b->thread, c->thread.exc_value, FZ_BPF_THREAD);
	if (WORD(b->thread, c->thread.raised, FZ_BPF_THREAD) || (handled && handled != c->none))
		return 1;
	s.item = WORD(b->thread, c->thread.exc_info, FZ_BPF_THREAD);
	s.end = b->tick.tstate + c->thread.exc_state;
	if (s.item != s.end)
		bpf_loop(EXCEPTIONS_MAX, check_item, &s, 0);
	return s.found;
}

static int is_attached(const struct fz_bpf_config *c, struct scratch *b)
{
	if (c->current != FZ_BPF_ABSENT)
		return current_of(c) == b->tick.tstate;
	if (c->thread.attached == FZ_BPF_ABSENT)
		return holds_gil(c, b->tick.interp, b->tick.tstate);
	return HALF(b->thread, c->thread.attached, FZ_BPF_THREAD) & c->thread.attached_mask;
}

static void read_status(const struct fz_bpf_config *c, struct scratch *b, struct walk *w)
{
	struct fz_bpf_tick *t = &b->tick;
	__u32 collecting = 0;

	if (is_attached(c, b))
		t->flags |= FZ_BPF_HAS_GIL;
	else if (c->thread.gil_requested != FZ_BPF_ABSENT &&
		 HALF(b->thread, c->thread.gil_requested, FZ_BPF_THREAD))
		t->flags |= FZ_BPF_GIL_REQUESTED;
	if (has_exception(c, b))
		t->flags |= FZ_BPF_EXCEPTION;
	get(&collecting, sizeof(collecting),
	    c->gc_collecting == FZ_BPF_ABSENT ? t->interp + c->interp.gc_collecting
					      : c->runtime + c->gc_collecting);
	if (!collecting)
		return;
	t->flags |= FZ_BPF_COLLECTING;
	if (c->interp.gc_frame != FZ_BPF_ABSENT)
		get(&w->gc_frame, sizeof(w->gc_frame), t->interp + c->interp.gc_frame);
}

/* ---- a tick ---- */

/* Is the cached state of the thread still valid? If so, it is copied to b->thread. */
static int is_known(const struct fz_bpf_config *c, struct scratch *b, const struct state *known,
		    __u64 head)
{
	return known && known->head == head && !read_thread(c, b, known->tstate) &&
	       WORD(b->thread, c->thread.native_id, FZ_BPF_THREAD) == known->native_id &&
	       WORD(b->thread, c->thread.interp, FZ_BPF_THREAD) == known->interp;
}

/* Does the thread still run with this state, which is in b->thread? */
static int is_bound(const struct fz_bpf_config *c, struct scratch *b, const struct state *known)
{
	__u64 current, id = 0;

	if (c->current == FZ_BPF_ABSENT)
		return HALF(b->thread, c->thread.status, FZ_BPF_THREAD) & c->thread.bound;
	current = current_of(c);
	if (current == known->tstate)
		return 1;
	return !known->several &&
	       (!current || get(&id, sizeof(id), current + c->thread.native_id) ||
		id != known->native_id);
}

/* Cache the state: a CPU mostly interrupts the same thread again. */
static __always_inline void keep_at_hand(struct scratch *b, __u32 tid, const struct state *s)
{
	if (s != &b->state)
		b->state = *s;
	b->state_of = tid;
}

/* Find the thread's state and copy it to b->thread. False if it is not a Python thread. */
static int find_state(const struct fz_bpf_config *c, struct scratch *b, __u32 tid)
{
	struct fz_bpf_tick *t = &b->tick;
	const struct state *s = &b->best.state, *known = &b->state;
	__u64 head = 0;

	if (b->state_of != tid)
		known = bpf_map_lookup_elem(&states, &tid);
	get(&head, sizeof(head), c->runtime + c->interpreters_head);
	if (is_known(c, b, known, head)) {
		t->tstate = known->tstate;
		t->interp = known->interp;
		keep_at_hand(b, tid, known);
		/* If it runs nothing, the thread may have switched to another state. */
		if (innermost(c, b) && is_bound(c, b, known))
			return 1;
		t->trouble = 0;
		t->flags &= ~FZ_BPF_IN_CALL;
	}
	t->trouble = search(c, b, tid, head);
	if (t->trouble)
		return 1;
	t->tstate = s->tstate;
	if (!s->tstate)
		return 0;
	t->interp = s->interp;
	if (read_thread(c, b, s->tstate))
		t->trouble = FZ_BPF_UNMAPPED;
	else
		bpf_map_update_elem(&states, &tid, s, BPF_ANY);
	keep_at_hand(b, tid, s);
	return 1;
}

static void take_stack(const struct fz_bpf_config *c, struct scratch *b, struct walk *w)
{
	struct fz_bpf_tick *t = &b->tick;

	b->turn++;
	w->at = innermost(c, b);
	if (c->thread.base_frame != FZ_BPF_ABSENT)
		w->base = t->base = WORD(b->thread, c->thread.base_frame, FZ_BPF_THREAD);
	read_status(c, b, w);
	bpf_loop(2 * FZ_BPF_FRAMES, walk_frame, w, 0);
	if (w->at && w->at == w->base)
		t->last = w->base;
	else if (w->at && !t->trouble)
		t->trouble = FZ_BPF_CUT;
}

/* stacks: size in bytes. */
static long send_stacks(struct scratch *b, const struct walk *w, __u64 stacks)
{
	int urgent = w->fresh || bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING / 2;

	return bpf_ringbuf_output(&ring, &b->tick, FZ_BPF_TICK_HEAD + MASKED(stacks, STACKS),
				  urgent ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static long send(struct scratch *b, const struct walk *w)
{
	return send_stacks(b, w, b->tick.frame_n * sizeof(struct fz_bpf_frame));
}

/* Config of the current process; NULL if it is not watched, and then `id` may be unset. */
static __always_inline const struct fz_bpf_config *config_of_current(struct bpf_pidns_info *id)
{
	__u64 both = bpf_get_current_pid_tgid();

	if (fz_scope.inode == FZ_BPF_FIRST_NAMESPACE)
		*id = (struct bpf_pidns_info){ .pid = (__u32)both, .tgid = both >> 32 };
	else if (bpf_get_ns_current_pid_tgid(fz_scope.device, fz_scope.inode, id, sizeof(*id)))
		return 0;
	return bpf_map_lookup_elem(&pythons, &id->tgid);
}

/* Start a record about the current thread. */
static void begin_record(struct fz_bpf_tick *t, enum fz_bpf_kind kind, __u32 process, __u32 tid,
			 __u32 cpu)
{
	__builtin_memset(t, 0, FZ_BPF_TICK_HEAD);
	t->kind = kind;
	t->time = bpf_ktime_get_ns();
	t->process = process;
	t->tid = tid;
	t->cpu = cpu;
	t->thread = bpf_get_current_pid_tgid();
	bpf_get_current_comm(t->comm, sizeof(t->comm));
}

/* Report that a target started a thread or process, so that it is watched early. child: its kernel
 * tid, or 0 if not needed. */
static int report_birth(__u32 child)
{
	__u8 head[FZ_BPF_TICK_HEAD] = { 0 };
	struct fz_bpf_tick *born = (void *)head;
	struct bpf_pidns_info id = { 0 };

	if (!config_of_current(&id))
		return 0;
	born->kind = FZ_BPF_BORN;
	born->time = bpf_ktime_get_ns();
	born->process = id.tgid;
	born->tid = id.pid;
	born->thread = child;
	bpf_ringbuf_output(&ring, head, sizeof(head),
			   fz_nursery_period ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP);
	return 0;
}

SEC("raw_tp/sched_process_fork")
int fz_birth(void *context)
{
	(void)context;
	return report_birth(0);
}

/* Complete and send a record. False if the ring had no room. */
static int take_tick(const struct fz_bpf_config *c, struct scratch *b, struct fz_bpf_counts *n)
{
	struct walk w = { .c = c, .b = b, .most = FZ_BPF_FRAMES - 2 };

	if (!find_state(c, b, b->tick.tid)) {
		__sync_fetch_and_add(&n->foreign, 1);
		return 1;
	}
	if (!b->tick.trouble)
		take_stack(c, b, &w);
	if (!send(b, &w))
		return 1;
	__sync_fetch_and_add(&n->lost, 1);
	return 0;
}

/* From its first tick on, a thread is charged by its own counter, and no longer by CPU ticks.
 * Returns a pointer to the counter's value at the thread's last tick without a thread state (0:
 * none), or NULL if the map is full. */
static __always_inline __u64 *grow_up(__u32 thread)
{
	__u64 none = 0;
	__u64 *foreign = bpf_map_lookup_elem(&grown_up, &thread);

	if (foreign)
		return foreign;
	bpf_map_update_elem(&grown_up, &thread, &none, BPF_ANY);
	return bpf_map_lookup_elem(&grown_up, &thread);
}

SEC("perf_event")
int fz_tick(struct bpf_perf_event_data *context)
{
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	struct fz_bpf_counts *n = bpf_map_lookup_elem(&counts, &zero);
	struct scratch *b = bpf_map_lookup_elem(&scratches, &cpu);
	__u64 cookie = bpf_get_attach_cookie(context);
	struct bpf_perf_event_value used = { 0 };
	struct bpf_pidns_info id = { 0 };
	const struct fz_bpf_config *c = config_of_current(&id);

	if (!c || !n || !b)
		return 0;
	bpf_perf_prog_read_value(context, &used, sizeof(used));
	begin_record(&b->tick, FZ_BPF_TICK, id.tgid, id.pid, cpu);
	b->tick.counter = used.counter;
	b->tick.watched = cookie;
	b->tick.flags = cookie & FZ_BPF_COOKIE_ADOPTED ? FZ_BPF_ADOPTED : 0;
	__u64 *foreign = grow_up(b->tick.thread);
	if (foreign)
		b->tick.foreign = *foreign;
	take_tick(c, b, n);
	if (foreign && !b->tick.tstate && !b->tick.trouble)
		*foreign = b->tick.counter;
	return 0;
}

/* Weight of a CPU's tick. A new period starts at once: its first tick also stands for the elapsed
 * part of the previous one, half of it on average. */
static __u64 tick_weight(__u64 now)
{
	__u64 period = fz_nursery_period, more = period + period / 2;

	return now - fz_nursery_since < more ? more : period;
}

/* A CPU ticks: take a sample if it runs a young thread of a target. Every moment of its life is
 * equally likely to be sampled, including the first. */
SEC("perf_event")
int fz_young(struct bpf_perf_event_data *context)
{
	__u32 zero = 0, cpu = bpf_get_smp_processor_id(), thread = bpf_get_current_pid_tgid();
	struct fz_bpf_counts *n = bpf_map_lookup_elem(&counts, &zero);
	struct scratch *b = bpf_map_lookup_elem(&scratches, &cpu);
	struct bpf_pidns_info id = { 0 };
	const struct fz_bpf_config *c = config_of_current(&id);

	if (!c || !n || !b || bpf_map_lookup_elem(&grown_up, &thread))
		return 0;
	begin_record(&b->tick, FZ_BPF_TICK, id.tgid, id.pid, cpu);
	b->tick.counter = tick_weight(b->tick.time) + b->owed;
	b->tick.watched = fz_scope.recorder == FZ_BPF_FIRST_NAMESPACE ? thread : 0;
	b->tick.flags = FZ_BPF_BY_CPU;
	b->owed = take_tick(c, b, n) ? 0 : b->tick.counter;
	return 0;
}

#include "wait.bpf.h"
#include "threads.bpf.h"
#include "grow.bpf.h"
#include "machine.bpf.h"
