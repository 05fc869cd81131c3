/* SPDX-License-Identifier: MIT */
/* Walks over memory images of real interpreters, 3.8 to 3.15, taken while a program stood still in
 * a known place (tests/data/images, memory_image.h): the walk must find the stack that the program
 * printed, and must detect changes of that memory before or during the copy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/time.h>
#include <cmocka.h>

#include "memory_image.h"

enum { FIRST = FZ_PY_MINOR_MIN, LAST = FZ_PY_MINOR_MAX, REST = 0, ORDERS = 2 };

/* An image, a walk over it, and where its frames are: innermost first, those that are shown. */
struct world {
	struct image image;
	struct image_walk walk;
	const struct fz_py_layout *l;
	uint64_t frames[IMAGE_FRAMES_MAX];
	uint32_t n;
};

static uint64_t innermost(const struct world *w)
{
	uint64_t at = image_u64(&w->image, w->image.thread + w->l->thread.frame);

	return w->l->frames == FZ_PY_FRAMES_CFRAME ? image_u64(&w->image, at + w->l->cframe.current)
						   : at;
}

/* A frame of the interpreter's own: it is no call, or (from 3.13 on) the call of a class. */
static bool is_hidden(const struct world *w, uint64_t frame)
{
	uint64_t code = image_u64(&w->image, frame + w->l->frame.code) & ~3ull;
	uint8_t owner = 0;

	if (w->l->frame.owner != FZ_PY_ABSENT)
		assert_true(image_copy(&w->image, frame + w->l->frame.owner, &owner, 1));
	return owner == w->l->owner_entry || image_u64(&w->image, code + w->l->code.filename) ==
						     image_u64(&w->image, code + w->l->code.name);
}

static void find_frames(struct world *w)
{
	uint64_t base = 0;

	if (w->l->thread.base_frame != FZ_PY_ABSENT)
		base = image_u64(&w->image, w->image.thread + w->l->thread.base_frame);
	for (uint64_t at = innermost(w); at && at != base;
	     at = image_u64(&w->image, at + w->l->frame.previous)) {
		if (is_hidden(w, at))
			continue;
		assert_true(w->n < IMAGE_FRAMES_MAX);
		w->frames[w->n++] = at;
	}
}

static void begin(struct world *w, unsigned minor)
{
	struct fz_error err = { 0 };
	struct fz_process process = { .pidfd = -1, .stat_fd = -1, .mem_fd = -1 };
	char path[512];

	*w = (struct world){ 0 };
	snprintf(path, sizeof(path), "%s/data/images/3.%u.gz", getenv("FZ_TESTS"), minor);
	if (image_load(path, &w->image, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(w->image.version[1], minor);
	w->l = &w->image.layout;
	process.copy = image_read_parts;
	process.copy_arg = &w->image;
	image_walk_init(&w->walk, &process, w->l, w->image.interp, w->image.thread);
	find_frames(w);
}

static void end(struct world *w)
{
	image_walk_release(&w->walk);
	image_release(&w->image);
}

/* A case that runs on the image of each version. */
struct versions {
	void (*run)(struct world *w);
};

static void each_version(void **state)
{
	const struct versions *v = *state;

	for (unsigned minor = FIRST; minor <= LAST; minor++) {
		struct world w;
		begin(&w, minor);
		v->run(&w);
		end(&w);
	}
}

#define EACH_VERSION(function) \
	((struct CMUnitTest){ #function, each_version, NULL, NULL, &(struct versions){ function } })

/* Frame i of a stack, innermost first. */
static const struct fz_frame *frame_at(const struct world *w, uint32_t stack, uint32_t i)
{
	const struct fz_profile *p = w->walk.profile;

	while (i-- > 0)
		stack = p->stacks[stack].parent;
	return &p->frames[p->stacks[stack].frame];
}

static const char *name_at(const struct world *w, uint32_t stack, uint32_t i)
{
	const struct fz_profile *p = w->walk.profile;

	return p->strings[p->functions[frame_at(w, stack, i)->function].name].p;
}

/* Are the outermost n frames of a stack, from its frame i on outwards, the program's own? */
static void assert_frames(const struct world *w, uint32_t stack, uint32_t i, uint32_t n)
{
	const struct fz_profile *p = w->walk.profile;

	assert_int_equal(p->stacks[stack].depth, i + n);
	for (uint32_t k = 0; k < n; k++) {
		const struct fz_frame *frame = frame_at(w, stack, i + k);
		const struct fz_function *f = &p->functions[frame->function];
		char text[256];
		snprintf(text, sizeof(text), "%s %s %d", p->strings[f->name].p,
			 p->strings[f->file].p, frame->line);
		assert_string_equal(text, w->image.frames[n - 1 - k]);
	}
}

/* ---- memory that does not change ---- */

static void test_stacks(struct world *w)
{
	assert_int_equal(w->n, w->image.frame_n);
	for (int i = 0; i < 3; i++) {
		w->walk.walk.dual = i != 1;
		assert_int_equal(image_walk_sample(&w->walk), FZ_PY_WALK_OK);
		assert_frames(w, w->walk.stack, 0, w->n);
	}
}

/* Where every frame is an object, three copies have to agree about where the stack ends. */
static void test_first_root(struct world *w)
{
	bool heap = w->l->frames == FZ_PY_FRAMES_HEAP;
	for (int i = 0; heap && i < 2; i++)
		assert_int_equal(image_walk_found(&w->walk), FZ_PY_WALK_ROOT);
	for (int i = 0; i < 2; i++)
		assert_int_equal(image_walk_found(&w->walk), FZ_PY_WALK_OK);
}

/* A generator's frame that is not linked to its caller yet does not end a stack. */
static void test_generator_is_no_root(struct world *w)
{
	image_put_u64(&w->image, w->frames[ORDERS] + w->l->frame.previous, 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(image_walk_found(&w->walk), FZ_PY_WALK_ROOT);
}

/* While a greenlet is switched, its frames are linked without the entry frames between and below
 * them, and have frame objects. A frame without one is not linked to its caller yet, and a
 * generator's may not be either. */
static void test_greenlet_is_switched(void **state)
{
	(void)state;
	const uint64_t object = 8;

	for (unsigned minor = 12; minor <= LAST; minor++) {
		struct world w;
		begin(&w, minor);
		for (uint32_t i = 0; i < w.n; i++)
			image_put_u64(&w.image, w.frames[i] + w.l->frame.previous,
				      i + 1 < w.n ? w.frames[i + 1] : 0);
		uint64_t last = w.frames[w.n - 1] + w.l->frame.object;
		image_put_u64(&w.image, last, 0);
		assert_int_equal(image_walk_found(&w.walk), FZ_PY_WALK_ROOT);
		image_put_u64(&w.image, last, object);
		assert_int_equal(image_walk_found(&w.walk), FZ_PY_WALK_OK);
		assert_frames(&w, w.walk.stack, 0, w.n);

		uint64_t generator = w.frames[ORDERS];
		image_put_u64(&w.image, generator + w.l->frame.previous, 0);
		image_put_u64(&w.image, generator + w.l->frame.object, object);
		assert_int_equal(image_walk_found(&w.walk), FZ_PY_WALK_ROOT);
		end(&w);
	}
}

/* A greenlet's stack ends at the entry frame that began it, and not at the thread's base frame. */
static void test_greenlet_has_own_root(void **state)
{
	(void)state;
	uint8_t owner;

	for (unsigned minor = 12; minor <= LAST; minor++) {
		struct world w;
		begin(&w, minor);
		uint64_t entry = image_u64(&w.image, w.frames[w.n - 1] + w.l->frame.previous);
		assert_true(image_copy(&w.image, entry + w.l->frame.owner, &owner, 1));
		assert_int_equal(owner, w.l->owner_entry);
		image_put_u64(&w.image, entry + w.l->frame.previous, 0);
		assert_int_equal(image_walk_found(&w.walk), FZ_PY_WALK_OK);
		assert_frames(&w, w.walk.stack, 0, w.n);
		end(&w);
	}
}

/* A walk through a cycle of frames ends. (Otherwise the test takes a second.) */
static void test_circle(struct world *w)
{
	const struct itimerval second = { .it_value.tv_sec = 1 }, never = { 0 };

	assert_int_equal(image_walk_sample(&w->walk), FZ_PY_WALK_OK);
	image_put_u64(&w->image, w->frames[w->n - 1] + w->l->frame.previous, w->frames[REST]);
	setitimer(ITIMER_VIRTUAL, &second, NULL);
	assert_int_equal(image_walk_found(&w->walk), FZ_PY_WALK_CORRUPT);
	setitimer(ITIMER_VIRTUAL, &never, NULL);
}

static void test_thread_of_another(struct world *w)
{
	image_put_u64(&w->image, w->image.thread + w->l->thread.interp, w->image.interp + 8);
	assert_int_equal(image_walk_found(&w->walk), FZ_PY_WALK_GONE);
}

/* ---- what changes while it is copied ---- */

/* Between the copies of the frames that are before the thread's state and those behind it. */
struct change {
	struct image *image;
	uint64_t at, value;
};

static void change_behind_thread(void *arg, uint64_t copied)
{
	const struct change *c = arg;

	if (copied == c->image->thread)
		image_put_u64(c->image, c->at, c->value);
}

/* How the next walk ends when a field of a frame becomes another meanwhile; then all is as before.
 */
static enum fz_py_outcome walk_while_changing(struct world *w, uint64_t frame, uint32_t field,
					      uint64_t by)
{
	uint64_t was = image_u64(&w->image, frame + field);
	struct change change = { &w->image, frame + field, was + by };

	w->image.between = change_behind_thread;
	w->image.between_arg = &change;
	fz_py_walk_begin(&w->walk.walk);
	enum fz_py_outcome rc = image_walk_once(&w->walk);
	w->image.between = NULL;
	image_put_u64(&w->image, frame + field, was);
	return rc;
}

/* What is certain then: the callers of that frame. */
static void assert_salvaged(struct world *w, uint32_t callers)
{
	uint32_t stack = fz_py_walk_salvage(&w->walk.walk, &w->walk.context);

	assert_string_equal(name_at(w, stack, 0), "[unreadable]");
	assert_frames(w, stack, 1, callers);
}

static void test_changed_frames(struct world *w)
{
	for (int i = 0; i < 2; i++) /* the second plan knows how far the frames go */
		assert_int_equal(image_walk_sample(&w->walk), FZ_PY_WALK_OK);
	for (uint32_t i = 0; i < w->n; i++) {
		const uint32_t fields[] = { w->l->frame.position, w->l->frame.code,
					    w->l->frame.previous };
		for (size_t k = i == REST; k < FZ_ARRAY_LEN(fields); k++) {
			enum fz_py_outcome rc = walk_while_changing(w, w->frames[i], fields[k], 8);
			assert_int_equal(rc, FZ_PY_WALK_CHANGED);
			assert_salvaged(w, w->n - 1 - i);
		}
	}
}

/* The innermost frame keeps moving: its position is that of the first copy. */
static void test_innermost_moves(struct world *w)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(image_walk_sample(&w->walk), FZ_PY_WALK_OK);
	enum fz_py_outcome rc = walk_while_changing(w, w->frames[REST], w->l->frame.position, 8);
	if (w->l->frames == FZ_PY_FRAMES_HEAP) {
		assert_int_equal(rc, FZ_PY_WALK_UNSURE);
		rc = image_walk_once(&w->walk);
	}
	assert_int_equal(rc, FZ_PY_WALK_OK);
	assert_frames(w, w->walk.stack, 0, w->n);
}

static const uint8_t ended[] = { [8] = 0, [9] = 0, [10] = 1 }; /* states of frames */

/* A frame object whose call has ended by its state called nobody, although a trace function may run
 * before and after a call. */
static void test_finished_frames(void **state)
{
	(void)state;

	for (unsigned minor = FIRST; minor <= 10; minor++) {
		struct world w;
		begin(&w, minor);
		assert_int_equal(image_walk_sample(&w.walk), FZ_PY_WALK_OK);
		for (uint32_t i = REST + 1; i < w.n; i++) {
			uint64_t at = w.frames[i] + w.l->frame.state;
			fz_py_walk_begin(&w.walk.walk);
			image_put(&w.image, at, &ended[minor], 1);
			assert_int_equal(image_walk_found(&w.walk), FZ_PY_WALK_CORRUPT);
			assert_salvaged(&w, w.n - 1 - i);
			image_put(&w.image, w.image.thread + w.l->thread.tracing, (uint32_t[]){ 1 },
				  4);
			assert_int_equal(image_walk_found(&w.walk), FZ_PY_WALK_OK);
			image_put(&w.image, w.image.thread + w.l->thread.tracing, (uint32_t[]){ 0 },
				  4);
			image_put(&w.image, at, &w.l->frame.running, 1);
		}
		end(&w);
	}
}

/* A call is about to begin or to end while the thread is off the CPU: eight reads must agree. */
static void test_off_the_cpu_at_an_edge(void **state)
{
	(void)state;

	for (unsigned minor = FIRST; minor <= 10; minor++) {
		struct world w;
		begin(&w, minor);
		uint64_t at = w.frames[REST] + w.l->frame.state;
		assert_int_equal(image_walk_sample(&w.walk), FZ_PY_WALK_OK);
		fz_py_walk_begin(&w.walk.walk);
		for (int i = 0; i < 20; i++) { /* it runs */
			image_put(&w.image, at, i & 1 ? &w.l->frame.running : &ended[minor], 1);
			assert_int_equal(image_walk_once(&w.walk), FZ_PY_WALK_UNSURE);
		}
		image_put(&w.image, at, &ended[minor], 1);
		for (int i = 0; i < 7; i++)
			assert_int_equal(image_walk_once(&w.walk), FZ_PY_WALK_UNSURE);
		assert_int_equal(image_walk_once(&w.walk), FZ_PY_WALK_OK);
		assert_frames(&w, w.walk.stack, 0, w.n);
		end(&w);
	}
}

/* Two equal copies of heap frames count if the next two are equal to them. */
static void test_seen_twice(void **state)
{
	(void)state;

	for (unsigned minor = FIRST; minor <= 10; minor++) {
		struct world w;
		begin(&w, minor);
		uint64_t at = w.frames[ORDERS] + w.l->frame.position, was = image_u64(&w.image, at);
		assert_int_equal(image_walk_sample(&w.walk), FZ_PY_WALK_OK);
		fz_py_walk_begin(&w.walk.walk);
		for (uint64_t i = 0; i < 4; i++) {
			image_put_u64(&w.image, at, was + 2 * (i & 1));
			assert_int_equal(image_walk_once(&w.walk), FZ_PY_WALK_UNSURE);
		}
		assert_int_equal(image_walk_once(&w.walk), FZ_PY_WALK_OK);
		end(&w);
	}
}

/* ---- positions ---- */

static uint64_t code_of(const struct world *w, uint32_t i)
{
	return image_u64(&w->image, w->frames[i] + w->l->frame.code) & ~3ull;
}

/* A walk of its own with the innermost frame at a position. */
static void assert_position(unsigned minor, int64_t offset, bool from_end,
			    enum fz_py_outcome wanted, int line)
{
	struct world w;

	begin(&w, minor);
	uint64_t code = code_of(&w, REST), start = code + w.l->code.bytecode;
	uint64_t size = 2 * image_u64(&w.image, code + w.l->object.var_size);
	image_put_u64(&w.image, w.frames[REST] + w.l->frame.position,
		      start + (from_end ? size : 0) + (uint64_t)offset);
	assert_int_equal(image_walk_found(&w.walk), wanted);
	if (line)
		assert_int_equal(frame_at(&w, w.walk.stack, 0)->line, line);
	end(&w);
}

static void test_positions(void **state)
{
	(void)state;
	enum { DEF_LINE = 16, BODY_LINE = 17 }; /* of `rest` in shop.py */

	for (unsigned minor = 11; minor <= LAST; minor++) {
		assert_position(minor, -4, false, FZ_PY_WALK_CORRUPT, 0);
		assert_position(minor, -2, false, FZ_PY_WALK_OK, DEF_LINE); /* not begun */
		assert_position(minor, 0, false, FZ_PY_WALK_OK, DEF_LINE);
		assert_position(minor, -2, true, FZ_PY_WALK_OK, BODY_LINE);
		assert_position(minor, 0, true, FZ_PY_WALK_CORRUPT, 0);
		assert_position(minor, 8, true, FZ_PY_WALK_CORRUPT, 0);
	}
}

/* ---- what is remembered ---- */

/* What an instruction was replaced by is seen though the frame did not move. */
static void test_respecialised(void **state)
{
	(void)state;

	for (unsigned minor = 11; minor <= LAST; minor++) {
		struct world w;
		begin(&w, minor);
		w.walk.context.opcodes = true;
		assert_int_equal(image_walk_sample(&w.walk), FZ_PY_WALK_OK);
		uint64_t at = image_u64(&w.image, w.frames[REST] + w.l->frame.position);
		if (w.l->frames != FZ_PY_FRAMES_DIRECT)
			at = fz_py_codes_instruction(&w.walk.codes, code_of(&w, REST), at);
		uint8_t opcode;
		assert_true(image_copy(&w.image, at, &opcode, 1));
		assert_int_equal(frame_at(&w, w.walk.stack, 0)->opcode, opcode);
		opcode++;
		image_put(&w.image, at, &opcode, 1);
		assert_int_equal(image_walk_sample(&w.walk), FZ_PY_WALK_OK);
		assert_int_equal(frame_at(&w, w.walk.stack, 0)->opcode, opcode);
		end(&w);
	}
}

static uint32_t name_field(const struct world *w)
{
	return w->l->code.qualname != FZ_PY_ABSENT ? w->l->code.qualname : w->l->code.name;
}

/* The code that the innermost frame runs is freed and another is made in its place: by its serial
 * number where it has one, by the text of its name before. */
static void replace_text(struct world *w)
{
	uint64_t code = code_of(w, REST), name = image_u64(&w->image, code + name_field(w));
	uint64_t length = image_u64(&w->image, name + w->l->unicode.length);

	image_put(&w->image, name + w->l->unicode.ascii_data + length - 1, "!", 1);
	if (w->l->code.version != FZ_PY_ABSENT) {
		uint64_t at = code + w->l->code.version;
		uint32_t version;
		assert_true(image_copy(&w->image, at, (uint8_t *)&version, sizeof(version)));
		version++;
		image_put(&w->image, at, &version, sizeof(version));
	}
}

static void replace_name(struct world *w)
{
	uint64_t code = code_of(w, REST);

	image_put_u64(&w->image, code + name_field(w),
		      image_u64(&w->image, code + w->l->code.filename));
}

static void replace_file(struct world *w)
{
	uint64_t code = code_of(w, REST);

	image_put_u64(&w->image, code + w->l->code.filename,
		      image_u64(&w->image, code + name_field(w)));
}

static void replace_first_line(struct world *w)
{
	uint32_t line = 116;

	image_put(&w->image, code_of(w, REST) + w->l->code.first_line, &line, sizeof(line));
}

/* What is shown of the innermost frame. */
static void show(const struct world *w, char *out, size_t n)
{
	const struct fz_profile *p = w->walk.profile;
	const struct fz_frame *frame = frame_at(w, w->walk.stack, 0);
	const struct fz_function *f = &p->functions[frame->function];

	snprintf(out, n, "%s %s %d", p->strings[f->name].p, p->strings[f->file].p, frame->line);
}

static void test_replaced_code(void **state)
{
	(void)state;
	static const struct {
		void (*replace)(struct world *w);
		const char *shown[2]; /* to 3.10, from 3.11 on */
	} cases[] = {
		{ replace_text, { "res! shop.py 17", "Shop.res! shop.py 17" } },
		{ replace_name, { "shop.py shop.py 17", "shop.py shop.py 17" } },
		{ replace_file, { "rest rest 17", "Shop.rest Shop.rest 17" } },
		{ replace_first_line, { "rest shop.py 117", "Shop.rest shop.py 117" } },
	};

	for (unsigned minor = FIRST; minor <= LAST; minor++)
		for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
			struct world w;
			char text[256];
			begin(&w, minor);
			assert_int_equal(image_walk_sample(&w.walk), FZ_PY_WALK_OK);
			cases[i].replace(&w);
			fz_py_codes_expire(&w.walk.codes);
			assert_int_equal(image_walk_sample(&w.walk), FZ_PY_WALK_OK);
			show(&w, text, sizeof(text));
			assert_string_equal(text, cases[i].shown[minor >= 11]);
			end(&w);
		}
}

/* Nor is one whose code has taken the memory of code with which stacks have ended. */
static void test_generator_in_place_of_root(struct world *w)
{
	uint64_t code = code_of(w, w->n - 1);
	bool heap = w->l->frames == FZ_PY_FRAMES_HEAP;
	assert_int_equal(image_walk_sample(&w->walk), FZ_PY_WALK_OK);
	uint32_t flags = 0x20, line = 117;
	for (int i = 0; heap && i < 5; i++) {
		image_put(&w->image, code + w->l->code.flags, &flags, sizeof(flags));
		image_put(&w->image, code + w->l->code.first_line, &line, sizeof(line));
		fz_py_codes_expire(&w->walk.codes);
		assert_int_equal(image_walk_found(&w->walk), FZ_PY_WALK_ROOT);
	}
}

/* ---- marks between frames ---- */

static void test_collection(struct world *w)
{
	w->walk.gc_frame = w->frames[ORDERS];
	assert_int_equal(image_walk_sample(&w->walk), FZ_PY_WALK_OK);
	assert_string_equal(name_at(w, w->walk.stack, ORDERS), "<GC>");
	assert_int_equal(w->walk.profile->stacks[w->walk.stack].depth, w->n + 1);
}

/* sorted() calls `rest`, sum() calls `orders`; `price` and `deep` are called by Python code. */
static void test_native_marks(void **state)
{
	(void)state;
	static const char *const wanted[] = { "Shop.rest",   "<native>", "Shop.price",
					      "Shop.orders", "<native>", "Shop.__init__" };

	for (unsigned minor = 11; minor <= LAST; minor++) {
		struct world w;
		begin(&w, minor);
		w.walk.context.native = true;
		assert_int_equal(image_walk_sample(&w.walk), FZ_PY_WALK_OK);
		for (uint32_t i = 0; i < FZ_ARRAY_LEN(wanted); i++)
			assert_string_equal(name_at(&w, w.walk.stack, i), wanted[i]);
		/* Between the two modules is exec(); C code called the outer one. */
		static const char *const outer[] = { "<native>", "<module>", "<native>", "<module>",
						     "deep" };
		uint32_t depth = w.walk.profile->stacks[w.walk.stack].depth;
		for (uint32_t i = 0; i < FZ_ARRAY_LEN(outer); i++)
			assert_string_equal(name_at(&w, w.walk.stack, depth - 1 - i), outer[i]);
		end(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH_VERSION(test_stacks),
		EACH_VERSION(test_first_root),
		EACH_VERSION(test_generator_is_no_root),
		cmocka_unit_test(test_greenlet_is_switched),
		cmocka_unit_test(test_greenlet_has_own_root),
		EACH_VERSION(test_circle),
		EACH_VERSION(test_thread_of_another),
		EACH_VERSION(test_changed_frames),
		EACH_VERSION(test_innermost_moves),
		cmocka_unit_test(test_finished_frames),
		cmocka_unit_test(test_off_the_cpu_at_an_edge),
		cmocka_unit_test(test_seen_twice),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_respecialised),
		cmocka_unit_test(test_replaced_code),
		EACH_VERSION(test_generator_in_place_of_root),
		EACH_VERSION(test_collection),
		cmocka_unit_test(test_native_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
