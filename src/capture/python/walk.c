/* SPDX-License-Identifier: MIT */
/* Regions and walking; walk.h has the picture.
 *
 * Frames of 3.11 and later lie in stack chunks, contiguous pieces of 16 KiB that a thread fills
 * from the bottom, except for those of generators, which lie inside the generator object. Before,
 * every frame was an object of its own. Regions are what recent walks went through: a part of a
 * chunk with some room above for frames to come, or neighbouring heap frames. So a sample normally
 * finds all frames inside them; one that does not is read directly, remembered, and the sample is
 * taken again.
 *
 * Invariants: regions are sorted and disjoint; a walk has at most as many frames as fit in them;
 * nothing read from the target is used as an index without a check.
 */
#include <errno.h>

#include "capture/rate.h"
#include "walk.h"

enum {
	SLACK = 1024,   /* room above the innermost frame of a chunk */
	GAP = 4096,     /* cheaper to copy than another part of the plan */
	HOTTEST = 1024, /* bytes below the innermost frame whose second copy comes first */
	HOT = 32 << 10, /* bytes of the innermost frames that are copied twice */
	CHUNKS_MAX = 100000,
	CHUNK_SIZE_MAX = 64 << 20,
	REGIONS_MAX = 1 << 17,
	REGION_BYTES_MAX = 512 << 20,
	DEPTH_MAX = 100000,
	SWEEP_EVERY = 512, /* walks between looks for regions that are no longer needed */
	HEAP_LEARN_MAX = 100000,
};

enum { CODE_BITS = 48 };
#define MIXED UINT64_MAX
#define CODE_MASK ((1ull << CODE_BITS) - 1)

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

	fz_grow(p->parts, p->n, p->cap);
	p->parts[p->n++] = (struct iovec){ (void *)(uintptr_t)address, n };
	p->bytes += n;
	return at;
}

/* Some times what copying the plan normally takes. */
static int64_t patience_ns(const struct fz_py_plan *p)
{
	return 3000 + (int64_t)p->n * 250 + (int64_t)p->bytes / 12;
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
	p->interrupted = fz_clock_now() - start > patience_ns(p);
	return 0;
}

/* ---- regions ---- */

void fz_py_walk_release(struct fz_py_walk *w)
{
	free(w->regions);
	free(w->now.frames);
	free(w->last.frames);
	free(w->certain.frames);
	free(w->last_stacks);
	free(w->scratch);
	*w = (struct fz_py_walk){ 0 };
}

/* Index of the region that holds [at, at + size), or FZ_NONE. */
static uint32_t find_region(const struct fz_py_walk *w, uint64_t at, uint32_t size)
{
	uint32_t lo = 0, hi = w->region_n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (w->regions[mid].lo <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return FZ_NONE;
	const struct fz_py_region *r = &w->regions[lo - 1];
	return at < r->hi && r->hi - at >= size ? lo - 1 : FZ_NONE;
}

static void remove_regions(struct fz_py_walk *w, uint32_t i, uint32_t n)
{
	memmove(&w->regions[i], &w->regions[i + n], (w->region_n - i - n) * sizeof(w->regions[0]));
	w->region_n -= n;
}

/* Are two regions worth joining? Overlapping ones must be; pieces of the heap may be when the gap
 * costs less than another part; stack chunks stay apart, since their order is not that of their
 * addresses. */
static bool joins(const struct fz_py_walk *w, const struct fz_py_region *a,
		  const struct fz_py_region *b)
{
	uint64_t gap = w->careful || a->limit || b->limit ? 0 : GAP;

	return a->lo < b->hi + gap && b->lo < a->hi + gap;
}

/* Add a region, joined with those that it touches. */
static void add_region(struct fz_py_walk *w, struct fz_py_region r)
{
	uint32_t i = 0, n = 0;

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

/* Forget regions that no walk went through lately and shrink those whose upper part is unused. */
static void sweep(struct fz_py_walk *w, uint32_t frame_size)
{
	if (!fz_py_walk_is_due(w))
		return;
	for (uint32_t i = w->region_n; i-- > 0;) {
		struct fz_py_region *r = &w->regions[i];
		if (w->walks - r->used > SWEEP_EVERY) {
			remove_regions(w, i, 1);
			continue;
		}
		if (r->limit && r->top && r->top + frame_size + SLACK < r->hi)
			r->hi = r->top + frame_size + SLACK;
		r->top = 0;
	}
	w->swept = w->walks;
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

static uint32_t tstate_end(const struct fz_py_layout *l)
{
	const uint32_t ends[] = {
		l->thread.next,         l->thread.interp,           l->thread.frame,
		l->thread.base_frame,   l->thread.native_thread_id, l->thread.holds_gil,
		l->thread.gil_requested
	};
	uint32_t end = 0;

	for (size_t i = 0; i < FZ_ARRAY_LEN(ends); i++)
		if (ends[i] != FZ_PY_ABSENT)
			end = FZ_MAX(end, ends[i] + 8);
	return (end + 7) & ~7u;
}

static int by_order(const void *a, const void *b)
{
	const struct fz_py_region *x = *(struct fz_py_region *const *)a;
	const struct fz_py_region *y = *(struct fz_py_region *const *)b;

	return x->order < y->order ? 1 : x->order > y->order ? -1 : 0;
}

static size_t plan_region(struct fz_py_plan *plan, const struct fz_py_region *r)
{
	if (plan->bytes > REGION_BYTES_MAX)
		return FZ_PY_NO_COPY;
	return fz_py_plan_add(plan, r->lo, r->hi - r->lo);
}

/* Second copy of a region. Of the innermost one the part around the innermost frame comes first:
 * the sooner after the thread state, the less can have happened in between. */
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

void fz_py_walk_plan(struct fz_py_walk *w, const struct fz_py_layout *l, struct fz_py_plan *plan)
{
	sweep(w, l->frame.size);
	fz_auto(fz_free_ptr) struct fz_py_region **order =
		fz_reallocarray(NULL, w->region_n + 1, sizeof(*order));

	for (uint32_t i = 0; i < w->region_n; i++)
		order[i] = &w->regions[i];
	qsort(order, w->region_n, sizeof(*order), by_order);
	for (uint32_t i = 0; i < w->region_n; i++)
		order[i]->a = plan_region(plan, order[i]);
	w->at_tstate = fz_py_plan_add(plan, w->tstate, tstate_end(l));
	w->at_cframe = FZ_PY_NO_COPY;
	if (w->cframe)
		w->at_cframe = fz_py_plan_add(plan, w->cframe + l->cframe.current, 8);
	/* Heap frames of all depths lie mixed in the regions. */
	size_t hot = plan->bytes, most = l->frames == FZ_PY_FRAMES_HEAP ? SIZE_MAX : HOT;
	for (uint32_t i = w->region_n; i-- > 0;) {
		bool again = w->dual && order[i]->a != FZ_PY_NO_COPY && plan->bytes - hot < most;
		order[i]->b = FZ_PY_NO_COPY;
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
	w->at_tstate = wanted ? fz_py_plan_add(plan, w->tstate, tstate_end(l)) : FZ_PY_NO_COPY;
}

/* ---- learning where frames are ---- */

static uint64_t u64_at(const uint8_t *p, uint32_t offset)
{
	uint64_t v;

	memcpy(&v, p + offset, sizeof(v));
	return v;
}

/* Make regions of the used parts of the thread's stack chunks, newest first, down to one that is
 * known. `at` is a frame in one of them. Returns whether any was new. */
static bool learn_chunks(struct fz_py_walk *w, const struct fz_py_walk_context *c, uint64_t at)
{
	const struct fz_py_layout *l = c->layout;
	uint64_t chunk, head[3];
	bool found = false;

	if (l->chunk.data == FZ_PY_ABSENT ||
	    !fz_process_read_u64(c->process, w->tstate + l->thread.stack_chunk, &chunk))
		return false;
	for (unsigned i = 0; chunk && i < CHUNKS_MAX; i++) {
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
		if (find_region(w, lo, l->frame.size) != FZ_NONE && !(at >= lo && at < end))
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
	return found && find_region(w, at, l->frame.size) != FZ_NONE;
}

/* A frame in the chunk of a known region, above what is copied of it. */
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

/* Follow frames that are outside the regions by reading them one by one, adding each. */
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
		uint32_t r = find_region(w, at, size);
		if (r != FZ_NONE && w->regions[r].a != FZ_PY_NO_COPY) {
			at = u64_at(plan->buffer + w->regions[r].a + (at - w->regions[r].lo),
				    l->frame.previous);
			continue;
		}
		if (at % 8 || size > sizeof(frame) || !fz_process_read(c->process, at, frame, size))
			return;
		if (r == FZ_NONE) {
			/* Adding joins regions and so drops their copies: only single reads from
			 * here. */
			add_region(w, (struct fz_py_region){ .lo = at,
							     .hi = at + ((size + 7) & ~7u),
							     .order = i });
		}
		at = u64_at(frame, l->frame.previous);
	}
}

static void learn(struct fz_py_walk *w, const struct fz_py_walk_context *c,
		  const struct fz_py_plan *plan, uint64_t at)
{
	if (at % 8 || learn_above(w, c->layout, at) || learn_chunks(w, c, at))
		return;
	learn_heap(w, c, plan, at);
}

/* ---- walking ---- */

static inline void chain_add(struct fz_py_chain *chain, uint64_t code, uint64_t position)
{
	if (chain->n >= chain->cap) {
		chain->cap = chain->cap ? chain->cap * 2 : 64;
		chain->frames = fz_reallocarray(chain->frames, chain->cap, sizeof(*chain->frames));
	}
	chain->frames[chain->n++] = (struct fz_py_raw_frame){ code, position };
}

/* State of one walk. */
struct step {
	uint64_t at;
	const struct fz_py_region *region;
	const uint8_t *a, *b; /* the copies of region->lo */
	const uint8_t *b_hot; /* the second copy of region->split */
	uint32_t regions_seen;
	bool changed;     /* something was not equal in both copies */
	uint32_t differs; /* frames of the chain up to the last such place */
	uint8_t owner;    /* of the last frame */
	bool is_entry;
	uint64_t last; /* its address */
};

static bool enter_region(struct fz_py_walk *w, const struct fz_py_plan *plan, struct step *s,
			 uint32_t frame_size)
{
	uint32_t i = find_region(w, s->at, frame_size);

	if (i == FZ_NONE || w->regions[i].a == FZ_PY_NO_COPY)
		return false;
	struct fz_py_region *r = &w->regions[i];
	if (r->used != w->walks) {
		r->used = w->walks;
		r->order = s->regions_seen++;
	}
	r->top = FZ_MAX(r->top, s->at);
	s->region = r;
	s->a = plan->buffer + r->a;
	s->b = r->b == FZ_PY_NO_COPY ? NULL : plan->buffer + r->b;
	s->b_hot = plan->buffer + r->b_hot;
	return true;
}

/* Where the thread's innermost frame is, or FZ_PY_WALK_MISSING when that is not known yet. */
static enum fz_py_outcome innermost(struct fz_py_walk *w, const struct fz_py_layout *l,
				    const struct fz_py_plan *plan, uint64_t *ret)
{
	const uint8_t *ts = plan->buffer + w->at_tstate;
	uint64_t at = u64_at(ts, l->thread.frame);

	if (u64_at(ts, l->thread.interp) != w->interp)
		return FZ_PY_WALK_GONE;
	if (l->frames == FZ_PY_FRAMES_CFRAME) {
		if (at % 8)
			return FZ_PY_WALK_CORRUPT;
		if (at != w->cframe) {
			w->cframe = at;
			return FZ_PY_WALK_MISSING;
		}
		at = at ? u64_at(plan->buffer + w->at_cframe, 0) : 0;
	}
	*ret = at;
	return FZ_PY_WALK_OK;
}

static bool is_known_root(const struct fz_py_walk *w, uint64_t root)
{
	for (uint32_t i = 0; i < w->odd_n; i++)
		if (w->odd_roots[i] == root)
			return true;
	return false;
}

/* Does the chain end where chains of this version end? A generator's frame is linked to its
 * caller a moment after it was made current, so an end there is not an end. */
static bool root_is_right(const struct fz_py_walk *w, const struct fz_py_layout *l,
			  const struct fz_py_plan *plan, const struct step *s)
{
	if (l->thread.base_frame != FZ_PY_ABSENT) {
		if (s->last == u64_at(plan->buffer + w->at_tstate, l->thread.base_frame))
			return true;
		return is_known_root(w, s->last);
	}
	if (l->owner_entry != 255)
		return s->owner == l->owner_entry;
	if (l->frames == FZ_PY_FRAMES_CFRAME)
		return s->is_entry && s->owner == 0;
	return true; /* heap frames: judged when their code is known */
}

/* References carry tags in their low bits. Above the address goes the number of the thread's own
 * copy of the bytecode, in builds that have such copies. */
static inline uint64_t frame_code(const struct fz_py_layout *l, const uint8_t *frame, uint64_t code)
{
	uint32_t tlbc;

	code &= CODE_MASK & ~3ull;
	if (l->frame.tlbc_index == FZ_PY_ABSENT)
		return code;
	memcpy(&tlbc, frame + l->frame.tlbc_index, sizeof(tlbc));
	return code | (uint64_t)(tlbc & 0xffff) << CODE_BITS;
}

/* One frame: take it from copy A, compare with copy B, go on to its caller. */
static inline void walk_frame(struct fz_py_walk *w, const struct fz_py_layout *l, struct step *s,
			      bool heap)
{
	size_t offset = s->at - s->region->lo;
	const uint8_t *a = s->a + offset;
	uint64_t code = u64_at(a, l->frame.code), previous = u64_at(a, l->frame.previous);
	uint64_t position = u64_at(a, l->frame.position);
	uint8_t owner = heap ? 0 : a[l->frame.owner];
	bool entry = owner == l->owner_entry;
	bool top = w->now.n == 0;

	if (heap)
		position &= UINT32_MAX;
	s->owner = owner;
	s->last = s->at;
	s->is_entry = l->frame.is_entry != FZ_PY_ABSENT && a[l->frame.is_entry];
	s->at = previous;
	if (!entry)
		chain_add(&w->now, frame_code(l, a, code), position);
	if (s->b) {
		const uint8_t *b = s->b + offset;
		if (s->last >= s->region->split)
			b = s->b_hot + (s->last - s->region->split);
		uint64_t moved = 0;
		if (!top && !entry) {
			moved = u64_at(b, l->frame.position) ^ position;
			if (heap)
				moved &= UINT32_MAX;
		}
		if ((code ^ u64_at(b, l->frame.code)) | (previous ^ u64_at(b, l->frame.previous)) |
		    moved) {
			s->changed = true;
			s->differs = w->now.n;
		}
	}
}

/* After a failed comparison: what all tries of this sample have in common from the root up. */
static void keep_certain(struct fz_py_walk *w, uint32_t differs)
{
	uint32_t n = w->now.n - differs, same = 0;

	if (!w->have_certain) {
		w->certain.n = 0;
		for (uint32_t i = 0; i < n; i++) {
			const struct fz_py_raw_frame *f = &w->now.frames[w->now.n - 1 - i];
			chain_add(&w->certain, f->code, f->position);
		}
		w->have_certain = true;
		return;
	}
	for (; same < n && same < w->certain.n; same++) {
		const struct fz_py_raw_frame *f = &w->now.frames[w->now.n - 1 - same];
		if (f->code != w->certain.frames[same].code ||
		    f->position != w->certain.frames[same].position)
			break;
	}
	w->certain.n = same;
}

static void add_odd_root(struct fz_py_walk *w, uint64_t root)
{
	w->odd_roots[w->odd_next++ % FZ_PY_ODD_ROOTS] = root;
	w->odd_n = FZ_MIN(w->odd_next, (uint32_t)FZ_PY_ODD_ROOTS);
}

/* All tries of a sample ended at the same entry frame that is not the thread's base: a greenlet,
 * most likely. It counts as a root from now on. */
static void remember_odd_root(struct fz_py_walk *w)
{
	if (w->odd_root == 0 || w->odd_root == MIXED)
		return;
	add_odd_root(w, w->odd_root);
}

static void note_bad_root(struct fz_py_walk *w, const struct fz_py_layout *l, const struct step *s)
{
	uint64_t root = s->owner == l->owner_entry ? s->last : MIXED;

	w->odd_root = w->odd_root == 0 || w->odd_root == root ? root : MIXED;
}

/* Frames that fit into the regions: a walk that meets more goes round in circles. */
static uint32_t most_frames(const struct fz_py_walk *w, uint32_t frame_size)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < w->region_n; i++)
		bytes += w->regions[i].hi - w->regions[i].lo;
	return (uint32_t)FZ_MIN(bytes / frame_size, (uint64_t)2 * DEPTH_MAX);
}

enum fz_py_outcome fz_py_walk_run(struct fz_py_walk *w, const struct fz_py_walk_context *c,
				  const struct fz_py_plan *plan, uint64_t gc_frame)
{
	const struct fz_py_layout *l = c->layout;
	struct step s = { 0 };
	bool heap = l->frames == FZ_PY_FRAMES_HEAP;
	uint32_t size = l->frame.size, count = 0, most = most_frames(w, size);
	uint64_t base = 0;
	enum fz_py_outcome rc = innermost(w, l, plan, &s.at);

	if (rc != FZ_PY_WALK_OK)
		return rc;
	if (l->thread.base_frame != FZ_PY_ABSENT)
		base = u64_at(plan->buffer + w->at_tstate, l->thread.base_frame);
	w->walks++;
	w->now.n = 0;
	/* The base frame is known to run no code and to have no caller: it need not be copied. */
	while (s.at && s.at != base) {
		if (!s.region || s.at < s.region->lo || s.at > s.region->hi - size) {
			if (s.at % 8)
				return FZ_PY_WALK_CORRUPT;
			if (!enter_region(w, plan, &s, size)) {
				learn(w, c, plan, s.at);
				return FZ_PY_WALK_MISSING;
			}
		}
		if (++count > most)
			return FZ_PY_WALK_CORRUPT;
		if (s.at == gc_frame)
			chain_add(&w->now, FZ_PY_CODE_GC, 0);
		walk_frame(w, l, &s, heap);
	}
	if (s.at)
		s.last = base;
	if (count && !root_is_right(w, l, plan, &s)) {
		note_bad_root(w, l, &s);
		return FZ_PY_WALK_ROOT;
	}
	w->odd_root = MIXED;
	if (s.changed) {
		if (!heap || is_known_root(w, w->now.frames[w->now.n - 1].code))
			keep_certain(w, s.differs);
		return FZ_PY_WALK_CHANGED;
	}
	return FZ_PY_WALK_OK;
}

/* ---- from raw frames to stacks ---- */

static uint32_t intern(const struct fz_py_walk_context *c, const struct fz_py_raw_frame *f)
{
	if (f->code == FZ_PY_CODE_GC)
		return c->gc_frame;
	return fz_py_codes_frame(c->codes, f->code & CODE_MASK, f->position,
				 (uint32_t)(f->code >> CODE_BITS));
}

/* Heap frames have no mark of a root. A chain that ends at a code object where none of this thread
 * has ended before counts when several tries agree, and never at a generator, whose frame is
 * linked to its caller only after it was made current. */
static bool heap_root_is_right(struct fz_py_walk *w, const struct fz_py_walk_context *c)
{
	enum { CO_GENERATORS = 0x20 | 0x80 | 0x200, AGREEING_TRIES = 3 };

	if (c->layout->frames != FZ_PY_FRAMES_HEAP || w->now.n == 0)
		return true;
	uint64_t code = w->now.frames[w->now.n - 1].code;
	if (is_known_root(w, code))
		return true;
	if (fz_py_codes_flags(c->codes, code) & CO_GENERATORS)
		return false;
	w->new_root_tries = w->new_root == code ? w->new_root_tries + 1 : 1;
	w->new_root = code;
	if (w->new_root_tries < AGREEING_TRIES)
		return false;
	add_odd_root(w, code);
	return true;
}

/* How much of the last accepted stack holds again, counted from the root. */
static uint32_t common_prefix(const struct fz_py_walk *w)
{
	uint32_t n = FZ_MIN(w->now.n, w->last.n), i;

	for (i = 0; i < n; i++) {
		const struct fz_py_raw_frame *now = &w->now.frames[w->now.n - 1 - i];
		const struct fz_py_raw_frame *last = &w->last.frames[i];
		if (now->code != last->code || now->position != last->position)
			break;
	}
	return i;
}

/* Make sure that the code cache is right about the frames from `same` (counted from the root) on,
 * and about all of them now and then. False: what is known of the last stack is void. */
static bool refresh_codes(struct fz_py_walk *w, const struct fz_py_walk_context *c, uint32_t same)
{
	struct fz_py_codes *codes = c->codes;
	bool all = codes->epoch - w->last_epoch > codes->lag;
	uint32_t n = all ? w->now.n : w->now.n - same;

	if (w->scratch_cap < n) {
		w->scratch_cap = n * 2;
		w->scratch = fz_reallocarray(w->scratch, w->scratch_cap, sizeof(*w->scratch));
	}
	for (uint32_t i = 0; i < n; i++)
		w->scratch[i] = w->now.frames[i].code & CODE_MASK;
	if (all)
		w->last_epoch = codes->epoch;
	return fz_py_codes_refresh(codes, w->scratch, n) && w->last_changes == codes->changes;
}

enum fz_py_outcome fz_py_walk_accept(struct fz_py_walk *w, const struct fz_py_walk_context *c,
				     bool gc, uint32_t *ret)
{
	uint32_t same = w->last_changes == c->codes->changes ? common_prefix(w) : 0;

	if (w->seen_epoch != c->codes->epoch && !refresh_codes(w, c, same))
		same = 0;
	w->seen_epoch = c->codes->epoch;
	uint32_t stack = same ? w->last_stacks[same - 1] : FZ_NONE;

	w->last.n = same;
	w->last_changes = c->codes->changes;
	if (w->now.n > w->last_stacks_cap) {
		w->last_stacks_cap = w->now.n * 2;
		w->last_stacks = fz_reallocarray(w->last_stacks, w->last_stacks_cap,
						 sizeof(*w->last_stacks));
	}
	for (uint32_t i = same; i < w->now.n; i++) {
		const struct fz_py_raw_frame *f = &w->now.frames[w->now.n - 1 - i];
		uint32_t frame = intern(c, f);
		if (frame == FZ_NONE)
			return FZ_PY_WALK_CORRUPT;
		if (frame != FZ_PY_FRAME_HIDDEN)
			stack = fz_profile_stack(c->codes->into, stack, frame);
		chain_add(&w->last, f->code, f->position);
		w->last_stacks[i] = stack;
	}
	if (!heap_root_is_right(w, c))
		return FZ_PY_WALK_ROOT;
	if (gc)
		stack = fz_profile_stack(c->codes->into, stack, c->gc_frame);
	*ret = stack;
	return FZ_PY_WALK_OK;
}

void fz_py_walk_begin(struct fz_py_walk *w)
{
	w->have_certain = false;
	w->certain.n = 0;
	w->odd_root = 0;
	w->new_root = 0;
}

uint32_t fz_py_walk_salvage(struct fz_py_walk *w, const struct fz_py_walk_context *c)
{
	uint32_t stack = FZ_NONE;

	for (uint32_t i = 0; w->have_certain && i < w->certain.n; i++) {
		uint32_t frame = intern(c, &w->certain.frames[i]);
		if (frame == FZ_NONE)
			break;
		if (frame != FZ_PY_FRAME_HIDDEN)
			stack = fz_profile_stack(c->codes->into, stack, frame);
	}
	remember_odd_root(w);
	return fz_profile_stack(c->codes->into, stack, c->unreadable_frame);
}
