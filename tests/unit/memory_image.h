/* SPDX-License-Identifier: MIT */
/* The memory that one walk over a Python stack read, as a file: tests walk over it again without
 * the interpreter, as often as they like and with any word of it changed.
 *
 *   version 3.12.1          of the interpreter
 *   runtime 0x...           addresses of _PyRuntime, the interpreter and the thread
 *   interp 0x...
 *   thread 0x...
 *   frame <module> shop.py 40   the stack according to the program itself, outermost first
 *   object 0x... 56 dict    an object according to the program: its size and type,
 *   holds 0x...             what it holds,
 *   variable 0x...          and what a variable of its innermost function is (heap_image.h)
 *   7f00... 0a1b...         bytes at an address, in rows of up to 64
 *
 * tests/make-images writes such files by tests/record_image.c and tests/record_heap.c.
 */
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/io.h"
#include "record/python/walk.h"

enum { IMAGE_ROW = 64, IMAGE_LINE_MAX = 4096, IMAGE_FRAMES_MAX = 64, IMAGE_TRIES_MAX = 64 };

struct image_row {
	uint64_t at;
	uint32_t n;
	uint8_t bytes[IMAGE_ROW];
};

struct image {
	unsigned version[3];
	uint64_t runtime, interp, thread;
	struct fz_py_layout layout;
	char *frames[IMAGE_FRAMES_MAX]; /* "name file line", outermost first */
	uint32_t frame_n;
	char **objects; /* lines about objects */
	size_t object_n, object_cap;
	struct image_row *rows; /* by address, not overlapping */
	size_t n, cap;
	/* Called between two parts of a copy with the address of the one that was just copied. */
	void (*between)(void *arg, uint64_t copied);
	void *between_arg;
};

/* ---- its bytes ---- */

/* Index of the row that holds an address, or that comes after it. */
static inline size_t image_row(const struct image *m, uint64_t at)
{
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (m->rows[mid].at + m->rows[mid].n <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Where a byte is kept, with how many follow it; NULL: it is not in the image. */
static inline uint8_t *image_find(const struct image *m, uint64_t at, size_t *ret_n)
{
	size_t i = image_row(m, at);

	if (i == m->n || m->rows[i].at > at)
		return NULL;
	*ret_n = (size_t)(m->rows[i].at + m->rows[i].n - at);
	return m->rows[i].bytes + (at - m->rows[i].at);
}

static inline bool image_copy(const struct image *m, uint64_t at, uint8_t *out, size_t n)
{
	size_t here = 0;

	for (; n; n -= here, at += here, out += here) {
		const uint8_t *from = image_find(m, at, &here);
		if (!from)
			return false;
		here = FZ_MIN(here, n);
		memcpy(out, from, here);
	}
	return true;
}

static inline void image_put(struct image *m, uint64_t at, const void *p, size_t n)
{
	const uint8_t *from = p;
	size_t here;

	for (size_t i = 0; i < n; i++) {
		uint8_t *to = image_find(m, at + i, &here);
		fz_assert(to);
		*to = from[i];
	}
}

static inline uint64_t image_u64(const struct image *m, uint64_t at)
{
	uint64_t v;

	fz_assert(image_copy(m, at, (uint8_t *)&v, sizeof(v)));
	return v;
}

static inline void image_put_u64(struct image *m, uint64_t at, uint64_t value)
{
	image_put(m, at, &value, sizeof(value));
}

/* What fz_process_read_parts promises, over an image. */
static inline ssize_t image_read_parts(void *arg, const struct iovec *parts, size_t n, void *out,
				       size_t total)
{
	const struct image *m = arg;
	size_t done = 0;

	(void)total;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = (uint64_t)(uintptr_t)parts[i].iov_base;
		if (!image_copy(m, at, (uint8_t *)out + done, parts[i].iov_len)) {
			errno = EFAULT;
			return done ? (ssize_t)done : -1;
		}
		done += parts[i].iov_len;
		if (m->between)
			m->between(m->between_arg, at);
	}
	return (ssize_t)done;
}

/* ---- its file ---- */

static inline bool image_row_of(const char *line, struct image_row *ret)
{
	unsigned byte;
	int used = 0;

	ret->n = 0;
	if (sscanf(line, "%" SCNx64 " %n", &ret->at, &used) < 1 || used == 0)
		return false;
	for (line += used; ret->n < IMAGE_ROW && sscanf(line, "%2x", &byte) == 1; line += 2)
		ret->bytes[ret->n++] = (uint8_t)byte;
	return ret->n > 0;
}

static inline void image_take_line(struct image *m, const char *line)
{
	if (sscanf(line, "version %u.%u.%u", &m->version[0], &m->version[1], &m->version[2]) == 3 ||
	    sscanf(line, "runtime %" SCNx64, &m->runtime) == 1 ||
	    sscanf(line, "interp %" SCNx64, &m->interp) == 1 ||
	    sscanf(line, "thread %" SCNx64, &m->thread) == 1)
		return;
	if (strncmp(line, "frame ", 6) == 0) {
		fz_assert(m->frame_n < IMAGE_FRAMES_MAX);
		m->frames[m->frame_n++] = fz_strdup(line + 6);
		return;
	}
	if (strncmp(line, "object ", 7) == 0 || strncmp(line, "holds ", 6) == 0 ||
	    strncmp(line, "variable ", 9) == 0) {
		fz_grow(m->objects, m->object_n, m->object_cap);
		m->objects[m->object_n++] = fz_strdup(line);
		return;
	}
	fz_grow(m->rows, m->n, m->cap);
	fz_assert(image_row_of(line, &m->rows[m->n]));
	fz_assert(m->n == 0 || m->rows[m->n - 1].at + m->rows[m->n - 1].n <= m->rows[m->n].at);
	m->n++;
}

/* The layout of the image's version, from 3.13 on by its own table. */
static inline int image_layout(struct image *m, struct fz_error *err)
{
	uint8_t table[FZ_PY_DEBUG_OFFSETS_MAX];
	const struct fz_py_layout *l = fz_py_layout_static(m->version[1]);

	if (l) {
		m->layout = *l;
		return 0;
	}
	if (!image_copy(m, m->runtime, table, sizeof(table)))
		return fz_fail(err, FZ_EINPUT, "the image has no table of offsets");
	return fz_py_layout_parse(table, sizeof(table), false, &m->layout, err);
}

static inline int image_load(const char *path, struct image *m, struct fz_error *err)
{
	struct fz_input *in;
	struct fz_str line;
	int rc = fz_input_open(path, &in, err);

	*m = (struct image){ 0 };
	while (rc >= 0 && (rc = fz_input_line(in, IMAGE_LINE_MAX, &line, err)) == 1) {
		char *text = fz_strndup(line.p, line.n);
		image_take_line(m, text);
		free(text);
	}
	fz_input_close(in);
	return rc < 0 ? rc : image_layout(m, err);
}

static inline void image_release(struct image *m)
{
	for (uint32_t i = 0; i < m->frame_n; i++)
		free(m->frames[i]);
	for (size_t i = 0; i < m->object_n; i++)
		free(m->objects[i]);
	free(m->objects);
	free(m->rows);
	*m = (struct image){ 0 };
}

/* ---- walking over it ---- */

struct image_walk {
	struct fz_process process;
	struct fz_profile *profile;
	struct fz_py_codes codes;
	struct fz_py_walk walk;
	struct fz_py_walk_context context;
	struct fz_py_plan plan;
	const struct fz_py_layout *layout;
	uint64_t gc_frame; /* of a collection; 0: none */
	uint32_t stack;
};

static inline uint32_t image_marker(struct fz_profile *p, const char *name)
{
	return fz_profile_frame_named(p, fz_str_of(name), fz_str_of("~"), FZ_NO_LINE,
				      FZ_KIND_MARKER);
}

/* `process` is copied: it says where memory comes from. */
static inline void image_walk_init(struct image_walk *w, const struct fz_process *process,
				   const struct fz_py_layout *layout, uint64_t interp,
				   uint64_t thread)
{
	*w = (struct image_walk){ .process = *process, .layout = layout };
	w->profile = fz_profile_new();
	fz_py_codes_init(&w->codes, &w->process, layout, w->profile);
	w->walk.tstate = thread;
	w->walk.interp = interp;
	w->walk.dual = true;
	w->context = (struct fz_py_walk_context){
		.process = &w->process,
		.layout = layout,
		.codes = &w->codes,
		.gc_frame = image_marker(w->profile, "<GC>"),
		.native_frame = image_marker(w->profile, "<native>"),
		.unreadable_frame = image_marker(w->profile, "[unreadable]"),
	};
}

static inline void image_walk_release(struct image_walk *w)
{
	fz_py_walk_release(&w->walk);
	fz_py_codes_release(&w->codes);
	fz_py_plan_release(&w->plan);
	fz_profile_free(w->profile);
}

/* Copy and walk once. */
static inline enum fz_py_outcome image_walk_once(struct image_walk *w)
{
	size_t got;

	fz_py_plan_reset(&w->plan);
	fz_py_walk_plan(&w->walk, w->layout, &w->plan);
	if (fz_py_plan_read(&w->plan, &w->process, &got) < 0)
		return fz_py_walk_unmapped(&w->walk, got) ? FZ_PY_WALK_UNMAPPED : FZ_PY_WALK_GONE;
	enum fz_py_outcome rc = fz_py_walk_run(&w->walk, &w->context, &w->plan, w->gc_frame);
	return rc == FZ_PY_WALK_OK ? fz_py_walk_accept(&w->walk, &w->context, false, &w->stack)
				   : rc;
}

/* The same until it is known where all frames are, and what was seen was seen again. */
static inline enum fz_py_outcome image_walk_found(struct image_walk *w)
{
	enum fz_py_outcome rc = FZ_PY_WALK_MISSING;

	for (unsigned i = 0; i < IMAGE_TRIES_MAX; i++) {
		rc = image_walk_once(w);
		if (rc != FZ_PY_WALK_MISSING && rc != FZ_PY_WALK_UNSURE)
			break;
	}
	return rc;
}

/* A sample: the same until it is accepted. */
static inline enum fz_py_outcome image_walk_sample(struct image_walk *w)
{
	enum fz_py_outcome rc = FZ_PY_WALK_MISSING;

	fz_py_walk_begin(&w->walk);
	for (unsigned i = 0; i < IMAGE_TRIES_MAX && rc != FZ_PY_WALK_OK; i++)
		rc = image_walk_once(w);
	return rc;
}
