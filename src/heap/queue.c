/* SPDX-License-Identifier: MIT */
/* What is found: the stack of each holder, the cost of each stack, and the queue of objects. */
#include "walk.h"

#include "record/python/object.h"

enum { DEPTH_MAX = 48 }; /* frames of a stack; longer chains of holders are truncated */

/* ---- stacks ---- */

static bool is_attribute(const struct fz_profile *p, uint32_t frame)
{
	return p->functions[p->frames[frame].function].kind == FZ_KIND_UNKNOWN;
}

/* Extends a stack; repeated frames (nested lists, linked objects) stay on the stack of the
 * first. */
uint32_t fz_heap_stack(struct fz_heap_walk *w, uint32_t parent, uint32_t frame)
{
	struct fz_profile *p = w->profile;

	if (parent != FZ_NONE) {
		const struct fz_stack *s = &p->stacks[parent];
		if (s->frame == frame)
			return parent;
		if (s->parent != FZ_NONE && p->stacks[s->parent].frame == frame &&
		    is_attribute(p, s->frame))
			return s->parent;
		while (p->stacks[parent].depth >= DEPTH_MAX)
			parent = p->stacks[parent].parent;
	}
	return fz_profile_stack(p, parent, frame);
}

uint32_t fz_heap_attribute(struct fz_heap_walk *w, uint32_t owner, uint64_t name, uint32_t stack)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_profile *p = w->profile;
	uint64_t key = (uint64_t)owner << 44 | (name >> 3 & ((1ull << 44) - 1));
	uint32_t frame = fz_map_get(&w->attributes, key);

	if (frame == FZ_NONE) {
		struct fz_str of = fz_profile_text(p, w->types[owner].name);
		fz_buf_add(&text, of.p, of.n);
		fz_buf_char(&text, '.');
		if (!fz_py_read_text(&w->view, w->layout, name, &text))
			fz_buf_char(&text, '?');
		frame = fz_profile_frame_named(p, fz_buf_view(&text), FZ_STR(""), FZ_NO_LINE,
					       FZ_KIND_UNKNOWN);
		fz_map_put(&w->attributes, key, frame);
	}
	return fz_heap_stack(w, stack, frame);
}

void fz_heap_count(struct fz_heap_walk *w, uint32_t type, uint32_t stack, uint64_t bytes)
{
	fz_assert(type < w->type_n && stack < w->profile->stack_count);
	while (stack >= w->stack_cap) {
		uint32_t cap = w->stack_cap ? w->stack_cap * 2 : 1024;
		w->bytes = fz_reallocarray(w->bytes, cap, 8);
		w->objects = fz_reallocarray(w->objects, cap, 8);
		memset(w->bytes + w->stack_cap, 0, (cap - w->stack_cap) * 8ul);
		memset(w->objects + w->stack_cap, 0, (cap - w->stack_cap) * 8ul);
		w->stack_cap = cap;
	}
	w->bytes[stack] += bytes;
	w->objects[stack]++;
	w->types[type].bytes += bytes;
	w->types[type].objects++;
}

/* ---- the queue ---- */

bool fz_heap_queue(struct fz_heap_walk *w, uint64_t object, uint32_t stack, uint32_t owner)
{
	if (fz_heap_type_of(w, object) == FZ_NONE)
		return false;
	if (!fz_heap_memory_mark(&w->memory, object))
		return true;
	if (w->tail == w->queue_cap && w->head > w->queue_cap / 2) {
		memmove(w->queue, w->queue + w->head, (w->tail - w->head) * sizeof(*w->queue));
		w->tail -= w->head;
		w->head = 0;
	}
	fz_push(w->queue, w->tail, w->queue_cap, (struct fz_heap_item){ object, stack, owner });
	return true;
}

void fz_heap_refer(struct fz_heap_walk *w, uint64_t object, uint32_t stack)
{
	if (object && !fz_heap_queue(w, object, stack, FZ_NONE))
		w->changed++;
}
