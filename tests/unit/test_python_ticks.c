/* SPDX-License-Identifier: MIT */
/* What becomes of ticks of the engine in the kernel, over the memory images of
 * test_python_images.c: a tick has the frames of the image, as the kernel would read them, and the
 * name of each is read from the image afterwards. A stack without its callers must be rejected,
 * never shown as whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "memory_image.h"
#include "record/python/python_state.h"
#include "record/python/ticks.h"

enum { FIRST = FZ_PY_MINOR_MIN, LAST = FZ_PY_MINOR_MAX, ORDERS = 2 };

struct world {
	struct image image;
	struct fz_python python;
	const struct fz_py_layout *l;
	struct fz_bpf_tick tick;
	uint64_t frames[IMAGE_FRAMES_MAX]; /* addresses of the tick's */
};

static uint8_t byte_at(const struct world *w, uint64_t at)
{
	uint8_t v = 0;

	assert_true(image_copy(&w->image, at, &v, 1));
	return v;
}

static uint64_t mix_text(const struct world *w, uint64_t mark, uint64_t text)
{
	uint64_t words[FZ_BPF_TEXT / 8] = { 0 };
	uint64_t length = image_u64(&w->image, text + w->l->unicode.length);
	uint64_t n = FZ_MIN(length, (uint64_t)FZ_BPF_TEXT - 1);
	uint64_t end = text + w->l->unicode.ascii_data + length, hash = fz_bpf_mix(0, length);

	assert_true(image_copy(&w->image, end - n, (uint8_t *)words, n));
	for (size_t i = 0; i < FZ_ARRAY_LEN(words); i++)
		hash = fz_bpf_mix(hash, words[i]);
	return fz_bpf_mix(mark, hash);
}

/* The mark that the kernel computes for a code object. */
static uint64_t mark_of(const struct world *w, uint64_t code)
{
	const struct image *m = &w->image;
	bool qualified = w->l->code.qualname != FZ_PY_ABSENT;
	uint64_t name = image_u64(m, code + (qualified ? w->l->code.qualname : w->l->code.name));
	uint64_t file = image_u64(m, code + w->l->code.filename);
	uint64_t line = image_u64(m, code + w->l->code.first_line) & UINT32_MAX;
	uint64_t mark = fz_bpf_mix(fz_bpf_mix(line, file), name);

	mark = fz_bpf_mix(mark, image_u64(m, code + w->l->code.line_table));
	if (w->l->code.version != FZ_PY_ABSENT)
		return fz_bpf_mix(mark, image_u64(m, code + w->l->code.version) & UINT32_MAX);
	return mix_text(w, mix_text(w, mark, name), file);
}

/* Follow the frames from one on outwards, as the kernel does. */
static void take_frames(struct world *w, uint64_t at)
{
	const struct fz_py_layout *l = w->l;
	bool heap = l->frames == FZ_PY_FRAMES_HEAP;
	uint32_t owner = 0;

	w->tick.frame_n = w->tick.flags = 0;
	while (at && at != w->tick.base) {
		uint64_t code = image_u64(&w->image, at + l->frame.code) & ~3ull;
		uint64_t position = image_u64(&w->image, at + l->frame.position);
		struct fz_bpf_frame *f = &w->tick.frames[w->tick.frame_n];
		owner = heap ? 0 : byte_at(w, at + l->frame.owner);
		w->tick.last = at;
		w->tick.flags = owner << FZ_BPF_OWNER_SHIFT;
		if (l->frame.is_entry != FZ_PY_ABSENT && byte_at(w, at + l->frame.is_entry))
			w->tick.flags |= FZ_BPF_ROOT_ENTRY;
		if (l->frame.object != FZ_PY_ABSENT && image_u64(&w->image, at + l->frame.object))
			w->tick.flags |= FZ_BPF_ROOT_OBJECT;
		if (owner != l->owner_entry) {
			w->frames[w->tick.frame_n++] = at;
			*f = (struct fz_bpf_frame){ code, heap ? position & UINT32_MAX : position,
						    mark_of(w, code) };
		}
		at = image_u64(&w->image, at + l->frame.previous);
	}
}

static void begin(struct world *w, unsigned minor)
{
	struct fz_error err = { 0 };
	struct fz_python *py = &w->python;
	char path[512];

	*w = (struct world){ 0 };
	snprintf(path, sizeof(path), "%s/data/images/3.%u.gz", getenv("FZ_TESTS"), minor);
	if (image_load(path, &w->image, &err) < 0)
		fail_msg("%s", err.message);
	w->l = py->layout = &w->image.layout;
	py->process = (struct fz_process){ .pid = 7,
					   .inner_pid = 7,
					   .pidfd = -1,
					   .stat_fd = -1,
					   .mem_fd = -1,
					   .copy = image_read_parts,
					   .copy_arg = &w->image };
	py->into = fz_profile_new();
	py->ticks.listed = true; /* the image has no list of threads */
	py->ticks.root = FZ_NONE;
	py->context.unreadable_frame = image_marker(py->into, "[unreadable]");
	fz_py_codes_init(&py->codes, &py->process, w->l, py->into);
	w->tick.tid = w->tick.watched = 7;
	w->tick.tstate = w->image.thread;
	if (w->l->thread.base_frame != FZ_PY_ABSENT)
		w->tick.base = image_u64(&w->image, w->image.thread + w->l->thread.base_frame);
	uint64_t top = image_u64(&w->image, w->image.thread + w->l->thread.frame);
	take_frames(w, w->l->frames == FZ_PY_FRAMES_CFRAME
			       ? image_u64(&w->image, top + w->l->cframe.current)
			       : top);
}

static void end(struct world *w)
{
	fz_py_codes_release(&w->python.codes);
	free(w->python.ticks.frames);
	free(w->python.ticks.stacks);
	fz_profile_free(w->python.into);
	image_release(&w->image);
}

/* The innermost frame of what a tick becomes is at this place of the program; NULL: it is
 * rejected for its root. */
static void assert_taken(struct world *w, const char *place)
{
	const struct fz_profile *p = w->python.into;
	struct fz_python_stack s;
	char text[256];

	fz_python_ticks_read(&w->python, &w->tick, &s);
	assert_int_equal(s.rejected, !place);
	if (!place) {
		assert_int_equal(s.reject, FZ_REJECT_ROOT);
		return;
	}
	const struct fz_frame *frame = &p->frames[p->stacks[s.stack].frame];
	const struct fz_function *f = &p->functions[frame->function];
	snprintf(text, sizeof(text), "%s %s %d", p->strings[f->name].p, p->strings[f->file].p,
		 frame->line);
	assert_string_equal(text, place);
}

static void test_whole(void **state)
{
	(void)state;

	for (unsigned minor = FIRST; minor <= LAST; minor++) {
		struct world w;
		begin(&w, minor);
		assert_taken(&w, w.image.frames[w.image.frame_n - 1]);
		end(&w);
	}
}

/* A generator's frame can be the innermost one without a link to its caller. */
static void test_generator_is_no_root(void **state)
{
	(void)state;

	for (unsigned minor = FIRST; minor <= LAST; minor++) {
		struct world w;
		begin(&w, minor);
		image_put_u64(&w.image, w.frames[ORDERS] + w.l->frame.previous, 0);
		for (int i = ORDERS; i >= 0; i--) {
			take_frames(&w, w.frames[i]);
			assert_taken(&w, NULL);
		}
		end(&w);
	}
}

/* While a greenlet is switched, its frames are linked without entry frames, and have objects. */
static void test_greenlet_is_switched(void **state)
{
	(void)state;

	for (unsigned minor = 12; minor <= LAST; minor++) {
		struct world w;
		begin(&w, minor);
		uint64_t top = w.frames[0], last = w.frames[w.tick.frame_n - 1];
		image_put_u64(&w.image, last + w.l->frame.previous, 0);
		image_put_u64(&w.image, last + w.l->frame.object, 0);
		take_frames(&w, top);
		assert_taken(&w, NULL);
		image_put_u64(&w.image, last + w.l->frame.object, 8);
		take_frames(&w, top);
		assert_taken(&w, w.image.frames[w.image.frame_n - 1]);
		end(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_generator_is_no_root),
		cmocka_unit_test(test_greenlet_is_switched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
