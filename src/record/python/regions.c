/* SPDX-License-Identifier: MIT */
/* Which parts of a thread's stack to copy; walk.h has the picture.
 *
 * Frames of 3.11 and later are in stack chunks, contiguous pieces of 16 KiB that a thread fills
 * from the bottom, except those of generators, which are inside the generator object. Before, every
 * frame was a separate object. Regions are the memory that recent walks went through: a part of a
 * chunk with some room above for further frames, or neighbouring heap frames. So normally all
 * frames of a sample are inside them. A frame outside is read directly and added, and the sample is
 * taken again.
 *
 * Invariant: regions are sorted and disjoint.
 */
#include "walk.h"

#include <errno.h>

#include "base/clock.h"

enum {
	SLACK = 1024,   /* room above the innermost frame of a chunk */
	GAP = 4096,     /* copying this many bytes is cheaper than another part of the plan */
	HOTTEST = 1024, /* bytes below the innermost frame whose second copy comes first */
	HOT = 32 << 10, /* bytes of the innermost frames that are copied twice */
	CHUNKS_MAX = 100000,
	CHUNK_SIZE_MAX = 64 << 20,
	REGIONS_MAX = 1 << 17,
	REGION_BYTES_MAX = 512 << 20,
	SWEEP_EVERY = 32, /* walks between searches for regions that are no longer needed */
	IDLE_OBJECT = 32, /* after this many walks, copying it in vain has cost more than a miss */
	IDLE_CHUNK = 512,
	HEAP_LEARN_MAX = 100000,
};

/* ---- plans ---- */

void fz_py_plan_release(struct fz_py_plan *p)
{
	free(p->parts);
	free(p->buffer);
	*p = (struct fz_py_plan){ 0 };
}

void fz_py_plan_reset(struct fz_py_plan *p)
{
	p->n = 0;
	p->bytes = 0;
}

size_t fz_py_plan_add(struct fz_py_plan *p, uint64_t address, size_t n)
{
	size_t at = p->bytes;

	fz_push(p->parts, p->n, p->cap, (struct iovec){ (void *)(uintptr_t)address, n });
	p->bytes += n;
	return at;
}

/* Cost of copying the plan, in units of about one part of a page. */
static int64_t work(const struct fz_py_plan *p)
{
	return 4 + (int64_t)p->n + (int64_t)(p->bytes / 2048);
}

/* Was a read that took `ns` interrupted? The machine's normal pace is estimated as the running
 * median of time per work, in steps of 1/64. */
static bool was_interrupted(struct fz_py_plan *p, int64_t ns)
{
	int64_t pace = (ns << 8) / work(p), step = p->pace / 64;

	if (p->pace == 0)
		p->pace = pace;
	else
		p->pace += pace > p->pace ? step : -step;
	return 2 * pace > 3 * p->pace;
}

int fz_py_plan_read(struct fz_py_plan *p, struct fz_process *process, size_t *ret_bytes)
{
	int64_t start = fz_clock_now();
	size_t done = 0;

	if (p->bytes > p->buffer_size) {
		p->buffer_size = p->bytes + p->bytes / 2;
		free(p->buffer);
		p->buffer = fz_malloc(p->buffer_size);
	}
	for (size_t i = 0; i < p->n; i += FZ_PROCESS_PARTS_MAX) {
		size_t n = FZ_MIN(p->n - i, (size_t)FZ_PROCESS_PARTS_MAX), want = 0;
		for (size_t k = 0; k < n; k++)
			want += p->parts[i + k].iov_len;
		ssize_t got =
			fz_process_read_parts(process, p->parts + i, n, p->buffer + done, want);
		*ret_bytes = done + (size_t)(got > 0 ? got : 0);
		if (got < (ssize_t)want) {
			if (got >= 0)
				errno = EFAULT;
			return -1;
		}
		done += want;
	}
	*ret_bytes = done;
	p->interrupted = was_interrupted(p, fz_clock_now() - start);
	return 0;
}

/* ---- regions ---- */

/* Index of the first region that ends above an address. */
static uint32_t region_after(const struct fz_py_walk *w, uint64_t at)
{
	uint32_t lo = 0, hi = w->region_n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (w->regions[mid].hi <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t fz_py_region_find(const struct fz_py_walk *w, uint64_t at, uint32_t size)
{
	uint32_t i = region_after(w, at);

	if (i == w->region_n || w->regions[i].lo > at)
		return FZ_NONE;
	return w->regions[i].hi - at >= size ? i : FZ_NONE;
}

static void remove_regions(struct fz_py_walk *w, uint32_t i, uint32_t n)
{
	memmove(&w->regions[i], &w->regions[i + n], (w->region_n - i - n) * sizeof(w->regions[0]));
	w->region_n -= n;
}

/* Are two regions to be joined? Overlapping ones must be; heap regions are if the gap costs less
 * than another part; stack chunks stay separate, since they are not ordered by address. */
static bool joins(const struct fz_py_walk *w, const struct fz_py_region *a,
		  const struct fz_py_region *b)
{
	uint64_t gap = w->careful || a->limit || b->limit ? 0 : GAP;

	return a->lo < b->hi + gap && b->lo < a->hi + gap;
}

/* Add a region, joining it with those that it touches. */
static void add_region(struct fz_py_walk *w, struct fz_py_region r)
{
	uint32_t i = region_after(w, r.lo > GAP ? r.lo - GAP : 0), n = 0;

	while (i < w->region_n && w->regions[i].lo < r.lo && !joins(w, &w->regions[i], &r))
		i++;
	while (i + n < w->region_n && joins(w, &w->regions[i + n], &r)) {
		const struct fz_py_region *old = &w->regions[i + n++];
		r.limit = FZ_MAX(r.limit, old->limit);
		r.lo = FZ_MIN(r.lo, old->lo);
		r.hi = FZ_MAX(r.hi, old->hi);
		r.top = FZ_MAX(r.top, old->top);
		r.order = FZ_MIN(r.order, old->order);
	}
	if (n)
		remove_regions(w, i, n);
	if (w->region_n >= REGIONS_MAX)
		return;
	r.a = r.b = FZ_PY_NO_COPY;
	r.split = UINT64_MAX;
	r.used = w->walks;
	fz_grow(w->regions, w->region_n, w->region_cap);
	memmove(&w->regions[i + 1], &w->regions[i], (w->region_n - i) * sizeof(r));
	w->regions[i] = r;
	w->region_n++;
}

bool fz_py_walk_is_due(const struct fz_py_walk *w)
{
	return w->walks - w->swept >= SWEEP_EVERY;
}

/* Drop regions that no recent walk used, and shrink chunks whose upper part is unused. Frames in
 * generators come and go; those in a chunk, or of versions with frame objects only, return to the
 * same place and are kept longer. */
static void sweep(struct fz_py_walk *w, const struct fz_py_layout *l)
{
	bool shrink = w->walks - w->shrunk >= IDLE_CHUNK;

	if (!fz_py_walk_is_due(w))
		return;
	for (uint32_t i = w->region_n; i-- > 0;) {
		struct fz_py_region *r = &w->regions[i];
		bool stays = r->limit || l->frames == FZ_PY_FRAMES_HEAP;
		if (w->walks - r->used > (stays ? IDLE_CHUNK : IDLE_OBJECT)) {
			remove_regions(w, i, 1);
			continue;
		}
		if (!shrink)
			continue;
		if (r->limit && r->top && r->top + l->frame.size + SLACK < r->hi)
			r->hi = r->top + l->frame.size + SLACK;
		r->top = 0;
	}
	w->swept = w->walks;
	if (shrink)
		w->shrunk = w->walks;
}

bool fz_py_walk_unmapped(struct fz_py_walk *w, size_t offset)
{
	for (uint32_t i = 0; i < w->region_n; i++) {
		const struct fz_py_region *r = &w->regions[i];
		size_t n = r->hi - r->lo;
		if ((offset >= r->a && offset - r->a < n) ||
		    (offset >= r->b && offset - r->b < n)) {
			if (!r->limit)
				w->careful = true;
			remove_regions(w, i, 1);
			return true;
		}
	}
	if (offset == w->at_cframe) {
		w->cframe = 0;
		return true;
	}
	return false;
}

/* ---- planning ---- */

static uint32_t state_size(const struct fz_py_walk *w, const struct fz_py_layout *l)
{
	const uint32_t ends[] = {
		l->thread.next,          l->thread.interp,           l->thread.frame,
		l->thread.base_frame,    l->thread.native_thread_id, l->thread.holds_gil,
		l->thread.gil_requested, l->thread.status,           l->thread.raised,
		l->thread.exc_info,      l->thread.running_loop,     l->thread.running_task,
		l->cframe.head
	};
	uint32_t end = 0;

	for (size_t i = 0; i < FZ_ARRAY_LEN(ends); i++)
		if (ends[i] != FZ_PY_ABSENT)
			end = FZ_MAX(end, ends[i] + 8);
	if (l->thread.exc_state != FZ_PY_ABSENT)
		end = FZ_MAX(end, l->thread.exc_state + l->exc_item.value + 8);
	if (w->identity && l->thread.id != FZ_PY_ABSENT)
		end = FZ_MAX(end, FZ_MAX(l->thread.id, l->thread.thread_id) + 8);
	return (end + 7) & ~7u;
}

/* Order of copying: first regions that the last walk did not use, farthest from the thread state;
 * then from the outermost frames to the innermost. */
static int by_order(const void *a, const void *b)
{
	const struct fz_py_region *x = *(struct fz_py_region *const *)a;
	const struct fz_py_region *y = *(struct fz_py_region *const *)b;

	return FZ_CMP(x->used, y->used) ?: FZ_CMP(y->order, x->order);
}

static size_t plan_region(struct fz_py_plan *plan, const struct fz_py_region *r)
{
	if (plan->bytes > REGION_BYTES_MAX)
		return FZ_PY_NO_COPY;
	return fz_py_plan_add(plan, r->lo, r->hi - r->lo);
}

/* Plan the second copy of a region. In the innermost region the part around the innermost frame
 * comes first: the sooner after the thread state, the less can happen in between. */
static void plan_second(struct fz_py_plan *plan, struct fz_py_region *r, uint32_t frame_size)
{
	r->split = UINT64_MAX;
	if (r->order == 0 && r->limit && r->top > r->lo + 2 * HOTTEST) {
		r->split = r->top - HOTTEST;
		r->b_hot = fz_py_plan_add(plan, r->split, r->hi - r->split);
		r->b = fz_py_plan_add(plan, r->lo, r->split + frame_size - r->lo);
		return;
	}
	r->b = plan_region(plan, r);
}

uint64_t fz_py_walk_state(const struct fz_py_walk *w, const struct fz_py_layout *l,
			  const struct fz_py_plan *plan)
{
	uint64_t hash = fz_hash_bytes(plan->buffer + w->at_tstate, state_size(w, l));

	if (w->at_cframe != FZ_PY_NO_COPY)
		hash ^= fz_hash64(fz_py_word(plan->buffer + w->at_cframe, 0));
	return hash;
}

void fz_py_walk_plan(struct fz_py_walk *w, const struct fz_py_layout *l, struct fz_py_plan *plan)
{
	sweep(w, l);
	fz_auto(fz_free_ptr) struct fz_py_region **order =
		fz_reallocarray(NULL, w->region_n + 1, sizeof(*order));
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->region_n; i++) {
		struct fz_py_region *r = &w->regions[i];
		r->a = r->b = FZ_PY_NO_COPY;
		if (!w->focused || r->used == w->walks)
			order[n++] = r;
	}
	qsort(order, n, sizeof(*order), by_order);
	for (uint32_t i = 0; i < n; i++)
		order[i]->a = plan_region(plan, order[i]);
	w->at_tstate = fz_py_plan_add(plan, w->tstate, state_size(w, l));
	w->at_cframe = FZ_PY_NO_COPY;
	if (w->cframe)
		w->at_cframe = fz_py_plan_add(plan, w->cframe + l->cframe.current, 8);
	/* Regions mix heap frames of all depths. */
	size_t hot = plan->bytes, most = l->frames == FZ_PY_FRAMES_HEAP ? SIZE_MAX : HOT;
	for (uint32_t i = n; i-- > 0;) {
		bool again = w->dual && order[i]->a != FZ_PY_NO_COPY && plan->bytes - hot < most;
		if (again)
			plan_second(plan, order[i], l->frame.size);
	}
}

void fz_py_walk_plan_state(struct fz_py_walk *w, const struct fz_py_layout *l,
			   struct fz_py_plan *plan, bool wanted)
{
	for (uint32_t i = 0; i < w->region_n; i++)
		w->regions[i].a = w->regions[i].b = FZ_PY_NO_COPY;
	w->at_cframe = FZ_PY_NO_COPY;
	w->at_tstate = FZ_PY_NO_COPY;
	if (wanted)
		w->at_tstate = fz_py_plan_add(plan, w->tstate, state_size(w, l));
}

/* ---- locating frames ---- */

/* Add regions for the used parts of the thread's stack chunks, newest first, down to a known one.
 * `at` is a frame in one of them. Returns true if any was new. */
static bool learn_chunks(struct fz_py_walk *w, const struct fz_py_walk_context *c, uint64_t at)
{
	const struct fz_py_layout *l = c->layout;
	uint64_t chunk, head[3], seen = 0;
	bool found = false;

	if (l->chunk.data == FZ_PY_ABSENT ||
	    !fz_process_read_u64(c->process, w->tstate + l->thread.stack_chunk, &chunk))
		return false;
	for (unsigned i = 0; chunk && chunk != seen && i < CHUNKS_MAX; i++) {
		if ((i & (i - 1)) == 0)
			seen = chunk; /* a loop comes back to one of these */
		if (chunk % 8 || !fz_process_read(c->process, chunk, head, sizeof(head)))
			break;
		uint64_t previous = head[0], size = head[1], top = head[2];
		if (size < l->chunk.data || size > CHUNK_SIZE_MAX || chunk + size < chunk)
			break;
		uint64_t lo = chunk + l->chunk.data, end = chunk + size, hi = lo;
		if (i > 0 && top <= (size - l->chunk.data) / 8)
			hi = lo + top * 8;
		if (at >= lo && at < end)
			hi = FZ_MAX(hi, FZ_MIN(at + l->frame.size + SLACK, end));
		if (fz_py_region_find(w, lo, l->frame.size) != FZ_NONE && !(at >= lo && at < end))
			break;
		if (hi - lo >= l->frame.size) {
			add_region(w, (struct fz_py_region){ .lo = lo,
							     .hi = hi & ~7ull,
							     .limit = end & ~7ull,
							     .order = i });
			found = true;
		}
		chunk = previous;
	}
	return found && fz_py_region_find(w, at, l->frame.size) != FZ_NONE;
}

/* Extend the known region whose chunk contains the frame `at`. False if there is none. */
static bool learn_above(struct fz_py_walk *w, const struct fz_py_layout *l, uint64_t at)
{
	for (uint32_t i = 0; i < w->region_n; i++) {
		struct fz_py_region *r = &w->regions[i];
		if (r->limit && at >= r->lo && at < r->limit && r->limit - at >= l->frame.size) {
			uint64_t hi = FZ_MIN(at + l->frame.size + SLACK, r->limit);
			if (i + 1 < w->region_n && hi > w->regions[i + 1].lo)
				return false;
			r->hi = FZ_MAX(r->hi, hi);
			return true;
		}
	}
	return false;
}

/* Follow frames outside the regions, reading and adding them one by one. */
static void learn_heap(struct fz_py_walk *w, const struct fz_py_walk_context *c,
		       const struct fz_py_plan *plan, uint64_t at)
{
	const struct fz_py_layout *l = c->layout;
	uint8_t frame[2048];
	uint32_t size = l->frame.size;
	uint64_t seen = 0;

	for (unsigned i = 0; at && at != seen && i < HEAP_LEARN_MAX; i++) {
		if ((i & (i - 1)) == 0)
			seen = at; /* a loop comes back to one of these */
		uint32_t r = fz_py_region_find(w, at, size);
		if (r != FZ_NONE && w->regions[r].a != FZ_PY_NO_COPY) {
			at = fz_py_word(plan->buffer + w->regions[r].a + (at - w->regions[r].lo),
					l->frame.previous);
			continue;
		}
		if (r != FZ_NONE)
			w->regions[r].used = w->walks;
		if (at % 8 || size > sizeof(frame) || !fz_process_read(c->process, at, frame, size))
			return;
		if (r == FZ_NONE) {
			/* Adding a region joins regions and drops their copies, so only single
			 * reads from here on. */
			add_region(w, (struct fz_py_region){ .lo = at,
							     .hi = at + ((size + 7) & ~7u),
							     .order = i });
		}
		at = fz_py_word(frame, l->frame.previous);
	}
}

void fz_py_region_learn(struct fz_py_walk *w, const struct fz_py_walk_context *c,
			const struct fz_py_plan *plan, uint64_t at)
{
	if (at % 8 || learn_above(w, c->layout, at) || learn_chunks(w, c, at))
		return;
	learn_heap(w, c, plan, at);
}
