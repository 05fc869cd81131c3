/* SPDX-License-Identifier: MIT */
/* Merging by address.
 *
 *   C stack, innermost first           Python, innermost first
 *
 *   deflate_slow      [1000, 1080)
 *   zlib_compress     [1080, 1120)
 *   eval loop         [1120, 1300)  <-- entry frame at 1200: h, g     (one call runs both)
 *   method_vectorcall [1300, 1360)
 *   slot_tp_call      [1360, 1400)
 *   eval loop         [1400, 1600)  <-- entry frame at 1500: f, <module>
 *   main              [1600, 1700)
 *
 * The entry frame (from 3.12 on) or CFrame (3.10, 3.11) of a call of the loop is a local variable
 * of that call, so its address lies in exactly one C frame, which the Python frames replace. No
 * symbol is needed, and a C frame that the unwinder missed affects nothing else. 3.8 and 3.9 have
 * nothing on the C stack: each Python frame is a call of the loop, and they are paired from the
 * root up.
 *
 * A greenlet runs on the C stack above the one that started it, and its chain of Python frames ends
 * at its own first frame. So there are more calls of the loop than Python frames: the outer calls
 * belong to other greenlets, whose frames are unknown. In 3.11 each CFrame points to its frame. In
 * older versions, one extra call has just started and has no frame yet, so pairing starts at the
 * root; two or more, or greenlet's code on the stack, mean a greenlet, so pairing starts innermost.
 *
 * Python frames whose call was not found keep their position among the other Python frames.
 */
#include "record/native/merge.h"

enum { CALLS_MAX = 1 << 17 };

struct fz_merge_call {
	uint64_t address;
	const uint32_t *frames; /* innermost first */
	uint32_t n;
	uint32_t owner; /* index of the C frame; FZ_NONE: not found */
};

void fz_merge_release(struct fz_merge *m)
{
	free(m->calls);
	free(m->frames);
	*m = (struct fz_merge){ 0 };
}

void fz_merge_begin(struct fz_merge *m)
{
	m->call_n = m->n = 0;
}

static bool on_stack(const struct fz_unwind_stack *s, uint64_t at)
{
	return at >= s->lo && at - s->lo < s->n;
}

/* Number of CFrames on the stack. The last one of the list is in the thread state. */
static uint32_t count_cframes(const struct fz_python_calls *c, const struct fz_unwind_stack *s)
{
	uint64_t at = c->cframe;
	uint32_t n = 0;

	while (n < CALLS_MAX && on_stack(s, at)) {
		n++;
		if (!fz_unwind_load(s, at + c->cframe_previous, &at))
			break;
	}
	return n;
}

/* True if greenlet's code is on the C stack. */
static bool passes_greenlet(const struct fz_unwind *u)
{
	for (uint32_t i = 0; i < u->n; i++) {
		const struct fz_space_range *r = fz_space_find(u->space, u->frames[i].pc);
		struct fz_str name = r ? fz_path_base(fz_str_of(r->path)) : FZ_STR("");
		if (fz_str_starts(name, "_greenlet.") || fz_str_starts(name, "greenlet."))
			return true;
	}
	return false;
}

/* How many of the innermost calls have no Python frame yet: 0 or 1. The other calls in excess of n
 * Python frames are the outermost ones. */
static uint32_t calls_without_frame(uint32_t calls, uint32_t n, const struct fz_unwind *u)
{
	uint32_t more = calls > n ? calls - n : 0;

	return more > 1 || (more == 1 && passes_greenlet(u)) ? 0 : more;
}

/* 3.11: each CFrame points to the innermost frame that its call runs. */
static void address_by_frames(struct fz_merge_call *calls, uint32_t n,
			      const struct fz_python_calls *c, const struct fz_unwind_stack *s)
{
	uint64_t at = c->cframe, current;
	uint32_t have = count_cframes(c, s), next = 0;

	for (uint32_t i = 0; i < have; i++) {
		uint32_t k = next;
		if (!fz_unwind_load(s, at + c->cframe_current, &current))
			return;
		while (k < n && c->segments[k].frame != current)
			k++;
		if (k < n) {
			calls[k].address = at;
			next = k + 1;
		}
		if (!fz_unwind_load(s, at + c->cframe_previous, &at))
			return;
	}
}

/* 3.10: one CFrame per frame. */
static void address_by_order(struct fz_merge_call *calls, uint32_t n,
			     const struct fz_python_calls *c, const struct fz_unwind_stack *s,
			     const struct fz_unwind *u)
{
	uint32_t have = count_cframes(c, s), from = calls_without_frame(have, n, u);
	uint64_t at = c->cframe;

	for (uint32_t i = 0; i < have; i++) {
		int64_t k = have > n ? (int64_t)i - from : (int64_t)n - have + i;
		if (k >= 0 && k < n)
			calls[k].address = at;
		if (!fz_unwind_load(s, at + c->cframe_previous, &at))
			return;
	}
}

void fz_merge_add(struct fz_merge *m, const struct fz_python_calls *c,
		  const struct fz_unwind_stack *stack, const struct fz_unwind *u)
{
	uint32_t first = m->call_n, from = 0;

	for (uint32_t i = 0; i <= c->segment_n; i++) {
		uint32_t end = i < c->segment_n ? c->segments[i].end : c->frame_n;
		if (i == c->segment_n && end == from)
			break;
		fz_push(m->calls, m->call_n, m->call_cap,
			(struct fz_merge_call){
				.address = i < c->segment_n ? c->segments[i].address : 0,
				.frames = c->frames + from,
				.n = end - from,
				.owner = FZ_NONE,
			});
		from = end;
	}
	if (c->cframe && c->cframe_current != UINT32_MAX)
		address_by_frames(m->calls + first, c->segment_n, c, stack);
	else if (c->cframe)
		address_by_order(m->calls + first, m->call_n - first, c, stack, u);
}

/* ---- C frames of calls ---- */

static int by_address(const void *a, const void *b)
{
	const struct fz_merge_call *x = a, *y = b;

	return FZ_CMP(x->address, y->address);
}

/* Calls of several interpreters alternate on one C stack, so sort them by address. */
static void sort_calls(struct fz_merge *m)
{
	for (uint32_t i = 1; i < m->call_n; i++) {
		if (m->calls[i].address == 0 || m->calls[i - 1].address == 0)
			return; /* an address is missing: keep the given order */
		if (m->calls[i].address < m->calls[i - 1].address) {
			qsort(m->calls, m->call_n, sizeof(*m->calls), by_address);
			return;
		}
	}
}

static void own_by_address(struct fz_merge *m, const struct fz_unwind *u)
{
	uint32_t from = 0; /* calls and frames normally have the same order */

	for (uint32_t k = 0; k < m->call_n; k++) {
		struct fz_merge_call *c = &m->calls[k];
		for (uint32_t i = from; c->address && i < u->n; i++) {
			if (c->address >= u->frames[i].sp && c->address < u->frames[i].hi) {
				c->owner = from = i;
				break;
			}
		}
	}
}

static bool in_loop(const struct fz_merge_loop *loop, uint64_t pc)
{
	for (unsigned i = 0; i < loop->n; i++)
		if (pc >= loop->lo[i] && pc < loop->hi[i])
			return true;
	return false;
}

static void own_by_order(struct fz_merge *m, const struct fz_unwind *u,
			 const struct fz_merge_loop *loop)
{
	uint32_t have = 0;

	for (uint32_t i = 0; i < u->n; i++)
		have += in_loop(loop, u->frames[i].pc);
	uint32_t from = calls_without_frame(have, m->call_n, u), k = m->call_n, left = have;
	for (uint32_t i = u->n; i-- > 0 && k > 0;)
		if (in_loop(loop, u->frames[i].pc) && left-- <= k + from)
			m->calls[--k].owner = i;
}

/* ---- one stack ---- */

static void put(struct fz_merge *m, uint32_t frame)
{
	fz_push(m->frames, m->n, m->cap, frame);
}

static void put_call(struct fz_merge *m, const struct fz_merge_call *c)
{
	for (uint32_t i = c->n; i-- > 0;)
		put(m, c->frames[i]);
}

/* One past the index of the outermost of the first k calls whose C frame was found; 0 if none was.
 */
static uint32_t next_owned(const struct fz_merge *m, uint32_t k)
{
	while (k > 0 && m->calls[k - 1].owner == FZ_NONE)
		k--;
	return k;
}

void fz_merge_run(struct fz_merge *m, const struct fz_unwind *u, const struct fz_merge_loop *loop)
{
	bool addressed = false;

	sort_calls(m);
	for (uint32_t k = 0; k < m->call_n; k++)
		addressed |= m->calls[k].address != 0;
	if (addressed)
		own_by_address(m, u);
	else
		own_by_order(m, u, loop);
	uint32_t k = m->call_n; /* calls from here on are already in the result */
	for (; k > 0 && m->calls[k - 1].owner == FZ_NONE; k--)
		put_call(m, &m->calls[k - 1]);
	for (uint32_t i = u->n; i-- > 0;) {
		uint32_t owned = next_owned(m, k);
		if (!owned || m->calls[owned - 1].owner != i) {
			put(m, u->frames[i].frame);
			continue;
		}
		for (; owned && m->calls[owned - 1].owner == i; owned = next_owned(m, k))
			while (k >= owned)
				put_call(m, &m->calls[--k]);
	}
	while (k > 0)
		put_call(m, &m->calls[--k]);
}
