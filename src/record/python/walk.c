/* SPDX-License-Identifier: MIT */
/* Walking over the copy, and making stacks of raw frames; walk.h has the picture, regions.c plans
 * the copy.
 *
 * A walk goes from the innermost frame to the root in copy A and compares each frame with copy B.
 * Its result is valid only if it ends at a valid root for that version.
 *
 * Invariants: a walk has at most as many frames as fit in the regions; nothing read from the target
 * is used as an index without a check.
 */
#include "opcodes.h"
#include "walk.h"

enum { DEPTH_MAX = 100000 };

#define CODE_MASK ((1ull << FZ_PY_CODE_BITS) - 1)

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
	bool changed;     /* the copies differ somewhere */
	uint32_t differs; /* frames of the chain up to the last difference */
	uint8_t owner;    /* of the last frame */
	bool is_entry;
	uint64_t last; /* its address */
	bool native;   /* mark C code between frames, and below the first frame */
	bool traced;   /* frames may be waiting for a trace function before and after they run */
	bool edge;     /* the innermost frame's call begins or ends */
	bool over;     /* a frame that called another does not run */
};

static bool enter_region(struct fz_py_walk *w, const struct fz_py_plan *plan, struct step *s,
			 uint32_t frame_size)
{
	uint32_t i = fz_py_region_find(w, s->at, frame_size);

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

bool fz_py_walk_is_same(const struct fz_py_walk *w, const struct fz_py_layout *l,
			const struct fz_py_plan *plan)
{
	const uint8_t *state = plan->buffer + w->at_tstate;

	return fz_py_word(state, l->thread.interp) == w->interp &&
	       (!w->identity || fz_py_walk_identity(l, state) == w->identity);
}

/* Get the address of the thread's innermost frame; FZ_PY_WALK_MISSING if it is not known yet. */
static enum fz_py_outcome innermost(struct fz_py_walk *w, const struct fz_py_layout *l,
				    const struct fz_py_plan *plan, uint64_t *ret)
{
	const uint8_t *ts = plan->buffer + w->at_tstate;
	uint64_t at = fz_py_word(ts, l->thread.frame);

	if (!fz_py_walk_is_same(w, l, plan))
		return FZ_PY_WALK_GONE;
	if (l->frames == FZ_PY_FRAMES_CFRAME) {
		if (at % 8)
			return FZ_PY_WALK_CORRUPT;
		if (at != w->cframe) {
			w->cframe = at;
			return FZ_PY_WALK_MISSING;
		}
		/* Only the CFrame in the thread state itself may have no frame. A call from C makes
		 * its CFrame current before setting the frame. */
		uint64_t cframe = at;
		at = cframe ? fz_py_word(plan->buffer + w->at_cframe, 0) : 0;
		if (!at && cframe - w->tstate >= FZ_PY_STATE_MAX)
			return FZ_PY_WALK_ROOT;
	}
	*ret = at;
	return FZ_PY_WALK_OK;
}

static bool is_known_root(const struct fz_py_walk *w, uint64_t root)
{
	for (uint32_t i = 0; i < w->root_n; i++)
		if (w->roots[i] == root)
			return true;
	return false;
}

/* Is the chain's last frame the outermost one of a greenlet that is being switched? The package
 * then takes entry frames out of the chain, because they are on the C stack that is about to be
 * replaced, and gives each frame an object. Any other frame without a caller is not linked yet, and
 * a function's has no object then; a generator's may have one. */
static bool is_switched(const struct fz_py_layout *l, const struct step *s)
{
	if (l->frame.object == FZ_PY_ABSENT || s->at || s->owner != FZ_PY_OWNER_THREAD)
		return false;
	return fz_py_word(s->a + (s->last - s->region->lo), l->frame.object) != 0;
}

/* Does the chain end at a valid root for this version? A generator's frame becomes current a moment
 * before it is linked to its caller, so an end there is not a root. */
static bool root_is_right(const struct fz_py_walk *w, const struct fz_py_layout *l,
			  const struct fz_py_plan *plan, const struct step *s)
{
	if (is_switched(l, s))
		return true;
	if (l->thread.base_frame != FZ_PY_ABSENT &&
	    s->last == fz_py_word(plan->buffer + w->at_tstate, l->thread.base_frame))
		return true;
	if (l->owner_entry != 255)
		return s->owner == l->owner_entry;
	if (l->frames == FZ_PY_FRAMES_CFRAME)
		return s->is_entry && s->owner == FZ_PY_OWNER_THREAD;
	return true; /* heap frames are checked once their code is known */
}

/* The address of a frame's code, without the tags in its low bits, and above it the number of the
 * thread's own copy of the bytecode, in builds that have such copies. */
static inline uint64_t frame_code(const struct fz_py_layout *l, const uint8_t *frame, uint64_t code)
{
	uint32_t tlbc;

	code &= CODE_MASK & ~3ull;
	if (l->frame.tlbc_index == FZ_PY_ABSENT)
		return code;
	memcpy(&tlbc, frame + l->frame.tlbc_index, sizeof(tlbc));
	return code | (uint64_t)(tlbc & 0xffff) << FZ_PY_CODE_BITS;
}

/* Does a heap frame run? After a call its frame object keeps all other fields, even its caller. */
static inline bool runs(const struct fz_py_layout *l, const uint8_t *frame)
{
	enum { UNWINDS = 2 }; /* 3.10: left by an exception, but still running destructors */
	return (frame[l->frame.state] & ~UNWINDS) == l->frame.running;
}

/* Read one frame from copy A, compare it with copy B, and go on to its caller. */
static inline void walk_frame(struct fz_py_walk *w, const struct fz_py_layout *l, struct step *s,
			      bool heap)
{
	size_t offset = s->at - s->region->lo;
	const uint8_t *a = s->a + offset;
	uint64_t code = fz_py_word(a, l->frame.code), previous = fz_py_word(a, l->frame.previous);
	uint64_t position = fz_py_word(a, l->frame.position);
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
	if (s->native && (entry || s->is_entry) && w->now.n)
		chain_add(&w->now, FZ_PY_CODE_NATIVE, 0);
	if (s->b) {
		const uint8_t *b = s->b + offset;
		if (s->last >= s->region->split)
			b = s->b_hot + (s->last - s->region->split);
		bool over = heap && !s->traced && !(runs(l, a) && runs(l, b));
		uint64_t moved = 0;
		if (!top && !entry) {
			moved = fz_py_word(b, l->frame.position) ^ position;
			if (heap)
				moved &= UINT32_MAX;
		}
		bool changed = (code ^ fz_py_word(b, l->frame.code)) |
			       (previous ^ fz_py_word(b, l->frame.previous)) | moved;
		s->edge |= over && top;
		s->over |= over && !top;
		s->changed |= changed;
		if (changed || (over && !top))
			s->differs = w->now.n;
	}
}

/* If a call of the loop begins at this frame, add a segment. An entry frame is inside that call's C
 * frame. */
static void note_segment(struct fz_py_walk *w, const struct fz_py_layout *l, const struct step *s,
			 bool heap)
{
	bool entry = s->owner == l->owner_entry;

	if (!w->segment_frame)
		w->segment_frame = s->last;
	if (!heap && !entry && !s->is_entry)
		return;
	fz_push(w->segments, w->segment_n, w->segment_cap,
		(struct fz_python_segment){ .address = entry ? s->last : 0,
					    .frame = w->segment_frame,
					    .end = w->now.n });
	w->segment_frame = 0;
}

/* Store the address of frame i of `now`. */
static void note_address(struct fz_py_walk *w, uint32_t i, uint64_t at)
{
	if (w->address_cap < w->now.cap) {
		w->address_cap = w->now.cap;
		w->addresses = fz_reallocarray(w->addresses, w->address_cap, sizeof(at));
	}
	w->addresses[i] = at;
}

/* After a failed comparison keep the frames, from the root up, that all tries of this sample share.
 */
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

static void add_root(struct fz_py_walk *w, uint64_t root)
{
	w->roots[w->root_next++ % FZ_PY_ROOTS] = root;
	w->root_n = FZ_MIN(w->root_next, (uint32_t)FZ_PY_ROOTS);
}

/* Number of frames that fit into the regions: a walk that meets more is in a cycle. */
static uint32_t most_frames(const struct fz_py_walk *w, uint32_t frame_size)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < w->region_n; i++)
		bytes += w->regions[i].hi - w->regions[i].lo;
	return (uint32_t)FZ_MIN(bytes / frame_size, (uint64_t)2 * DEPTH_MAX);
}

/* Does a trace function run? */
static bool is_traced(const struct fz_py_walk *w, const struct fz_py_layout *l,
		      const struct fz_py_plan *plan)
{
	return l->frames == FZ_PY_FRAMES_HEAP &&
	       (uint32_t)fz_py_word(plan->buffer + w->at_tstate, l->thread.tracing) != 0;
}

/* Heap frames are reused as soon as their call is over, so two copies of a loop may agree although
 * they were taken at different places in it. Accept frames only if the next read yields the
 * same. A thread can be off the CPU where the innermost frame is current but not marked as running
 * yet, or no longer. So is the frame of a call that is over, so more reads must agree. */
static bool is_confirmed(struct fz_py_walk *w, bool edge)
{
	enum { READS = 2, EDGE_READS = 8 };
	const struct fz_py_raw_frame *f = w->now.frames;

	if (w->now.n == 0)
		return true;
	uint64_t claim = fz_map_hash(f + 1, (w->now.n - 1) * sizeof(*f)) ^ f->code;
	claim = fz_hash64(claim) ^ edge;
	w->claims = claim == w->claim ? w->claims + 1 : 1;
	w->claim = claim;
	return w->claims >= (edge ? EDGE_READS : READS);
}

enum fz_py_outcome fz_py_walk_run(struct fz_py_walk *w, const struct fz_py_walk_context *c,
				  const struct fz_py_plan *plan, uint64_t gc_frame)
{
	const struct fz_py_layout *l = c->layout;
	struct step s = { .native = c->native, .traced = is_traced(w, l, plan) };
	bool heap = l->frames == FZ_PY_FRAMES_HEAP;
	uint32_t size = l->frame.size, count = 0, most = most_frames(w, size);
	uint64_t base = 0;
	enum fz_py_outcome rc = innermost(w, l, plan, &s.at);

	if (rc != FZ_PY_WALK_OK)
		return rc;
	if (l->thread.base_frame != FZ_PY_ABSENT)
		base = fz_py_word(plan->buffer + w->at_tstate, l->thread.base_frame);
	w->walks++;
	w->now.n = w->segment_n = 0;
	w->segment_frame = 0;
	w->mark_at = FZ_NONE;
	/* The base frame runs no code and has no caller: it need not be copied. */
	while (s.at && s.at != base) {
		if (!s.region || s.at < s.region->lo || s.at > s.region->hi - size) {
			if (s.at % 8)
				return FZ_PY_WALK_CORRUPT;
			if (!enter_region(w, plan, &s, size)) {
				fz_py_region_learn(w, c, plan, s.at);
				return FZ_PY_WALK_MISSING;
			}
		}
		if (++count > most)
			return FZ_PY_WALK_CORRUPT;
		if (s.at == gc_frame)
			chain_add(&w->now, FZ_PY_CODE_GC, 0);
		if (s.at == w->mark)
			w->mark_at = w->now.n;
		uint32_t at = w->now.n;
		walk_frame(w, l, &s, heap);
		if (c->addresses && s.owner != l->owner_entry)
			note_address(w, at, s.last);
		if (c->segments)
			note_segment(w, l, &s, heap);
	}
	if (s.at)
		s.last = base;
	if (count && !root_is_right(w, l, plan, &s))
		return FZ_PY_WALK_ROOT;
	if (s.changed || s.over) {
		if (!heap || is_known_root(w, w->now.frames[w->now.n - 1].code))
			keep_certain(w, s.differs);
		w->claim = 0;
		return s.changed ? FZ_PY_WALK_CHANGED : FZ_PY_WALK_CORRUPT;
	}
	return !heap || !w->dual || is_confirmed(w, s.edge) ? FZ_PY_WALK_OK : FZ_PY_WALK_UNSURE;
}

/* ---- from raw frames to stacks ---- */

static uint32_t intern(const struct fz_py_walk_context *c, const struct fz_py_raw_frame *f,
		       uint8_t opcode)
{
	if (f->code == FZ_PY_CODE_GC)
		return c->gc_frame;
	if (f->code == FZ_PY_CODE_NATIVE)
		return c->native_frame;
	return fz_py_codes_frame(c->codes, f->code & CODE_MASK, f->position,
				 (uint32_t)(f->code >> FZ_PY_CODE_BITS), opcode);
}

/* Heap frames have no mark of a root. If no chain of this thread has ended at that code object
 * before, several tries must agree; a generator is never a root, since its frame becomes current
 * before it is linked to its caller. */
static bool heap_root_is_right(struct fz_py_walk *w, const struct fz_py_walk_context *c)
{
	enum { AGREEING_TRIES = 3 };

	if (c->layout->frames != FZ_PY_FRAMES_HEAP || w->now.n == 0)
		return true;
	uint64_t code = w->now.frames[w->now.n - 1].code;
	/* Must come first: the address may now belong to other code than before. */
	if (fz_py_codes_is_generator(c->codes, code))
		return false;
	if (is_known_root(w, code))
		return true;
	w->new_root_tries = w->new_root == code ? w->new_root_tries + 1 : 1;
	w->new_root = code;
	if (w->new_root_tries < AGREEING_TRIES)
		return false;
	add_root(w, code);
	return true;
}

/* Number of frames, from the root, that are the same as in the last accepted stack. */
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

/* Validate cached code for the frames from `same` (counted from the root) on, and from time to time
 * for all of them. False if the last stack has become invalid. */
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

/* Read the opcodes of the frames from `same` (counted from the root) on. */
static void read_opcodes(struct fz_py_walk *w, const struct fz_py_walk_context *c, uint32_t same)
{
	uint32_t n = w->now.n - same;

	if (w->opcodes_cap < n) {
		w->opcodes_cap = n * 2;
		w->opcodes = fz_reallocarray(w->opcodes, w->opcodes_cap, 1);
	}
	fz_py_opcodes_read(c->codes, w->now.frames, n, w->opcodes);
}

/* Opcode of frame i, counted from the root. */
static uint8_t opcode_of(const struct fz_py_walk *w, const struct fz_py_walk_context *c, uint32_t i)
{
	return c->opcodes ? w->opcodes[w->now.n - 1 - i] : FZ_NO_OPCODE;
}

enum fz_py_outcome fz_py_walk_accept(struct fz_py_walk *w, const struct fz_py_walk_context *c,
				     bool gc, uint32_t *ret)
{
	uint32_t same = w->last_changes == c->codes->changes ? common_prefix(w) : 0;

	if (w->seen_epoch != c->codes->epoch && !refresh_codes(w, c, same))
		same = 0;
	w->seen_epoch = c->codes->epoch;
	if (c->opcodes) {
		/* The innermost instruction may have been specialised since. */
		if (same && same == w->now.n)
			same--;
		read_opcodes(w, c, same);
	}
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
		uint32_t frame = intern(c, f, opcode_of(w, c, i));
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

/* Is frame i of the accepted walk, counted from the root, hidden? */
static bool is_hidden(const struct fz_py_walk *w, uint32_t i)
{
	return w->last_stacks[i] == (i ? w->last_stacks[i - 1] : FZ_NONE);
}

void fz_py_walk_calls(struct fz_py_walk *w, const struct fz_py_walk_context *c,
		      const struct fz_py_plan *plan, bool gc, struct fz_python_calls *ret)
{
	const struct fz_py_layout *l = c->layout;
	const struct fz_stack *stacks = c->codes->into->stacks;
	uint32_t n = 0, segment = 0;

	if (w->shown_cap < w->now.n + 1) {
		w->shown_cap = w->now.n * 2 + 16;
		w->shown = fz_reallocarray(w->shown, w->shown_cap, sizeof(*w->shown));
	}
	if (gc)
		w->shown[n++] = c->gc_frame;
	for (uint32_t i = 0; i <= w->now.n; i++) {
		for (; segment < w->segment_n && w->segments[segment].end == i; segment++)
			w->segments[segment].end = n;
		if (i < w->now.n && !is_hidden(w, w->now.n - 1 - i))
			w->shown[n++] = stacks[w->last_stacks[w->now.n - 1 - i]].frame;
	}
	*ret = (struct fz_python_calls){
		.frames = w->shown, .frame_n = n, .segments = w->segments, .segment_n = w->segment_n
	};
	if (l->cframe.previous == FZ_PY_ABSENT)
		return;
	ret->cframe_previous = l->cframe.previous;
	ret->cframe_current = l->cframe.current;
	ret->cframe = l->cframe.head == FZ_PY_ABSENT
			      ? w->cframe
			      : fz_py_word(plan->buffer + w->at_tstate, l->cframe.head);
}

uint32_t fz_py_walk_marked(const struct fz_py_walk *w)
{
	fz_assert(w->mark_at < w->now.n);
	uint32_t callers = w->now.n - 1 - w->mark_at;
	return callers ? w->last_stacks[callers - 1] : FZ_NONE;
}

void fz_py_walk_begin(struct fz_py_walk *w)
{
	w->have_certain = false;
	w->certain.n = 0;
	w->claim = 0;
	w->new_root = 0;
}

uint32_t fz_py_walk_salvage(struct fz_py_walk *w, const struct fz_py_walk_context *c)
{
	uint32_t stack = FZ_NONE;

	for (uint32_t i = 0; w->have_certain && i < w->certain.n; i++) {
		uint32_t frame = intern(c, &w->certain.frames[i], FZ_NO_OPCODE);
		if (frame == FZ_NONE)
			break;
		if (frame != FZ_PY_FRAME_HIDDEN)
			stack = fz_profile_stack(c->codes->into, stack, frame);
	}
	return fz_profile_stack(c->codes->into, stack, c->unreadable_frame);
}

void fz_py_walk_release(struct fz_py_walk *w)
{
	free(w->regions);
	free(w->now.frames);
	free(w->last.frames);
	free(w->certain.frames);
	free(w->addresses);
	free(w->last_stacks);
	free(w->scratch);
	free(w->opcodes);
	free(w->segments);
	free(w->shown);
	*w = (struct fz_py_walk){ 0 };
}
