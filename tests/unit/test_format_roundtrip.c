/* SPDX-License-Identifier: MIT */
/* read(write(p)) on random profiles, for every format that is both read and written: everything the
 * format can represent comes back, with arbitrary bytes in names. */
#include "format_help.h"

static uint64_t random_state;

static uint32_t pick(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(fz_hash64(random_state) % n);
}

/* Names that break things, and ordinary ones. */
static struct fz_str random_name(char *room)
{
	static const char special[] = ";: \n\t\\x3b#\r()/.<>~\xff\xc3\xa9\x01";
	size_t n = pick(8) == 0 ? pick(300) : pick(12);
	bool ordinary = pick(2);

	for (size_t i = 0; i < n; i++)
		room[i] = ordinary ? (char)('a' + pick(4)) : special[pick(sizeof(special) - 1)];
	return (struct fz_str){ room, n };
}

static uint32_t random_frame(struct fz_profile *p)
{
	char room[512];
	struct fz_function f = { .name = fz_profile_string(p, random_name(room)) };
	struct fz_frame frame;

	f.file = fz_profile_string(p, random_name(room));
	if (!f.file)
		f.file = fz_profile_string(p, FZ_STR("/app/x.py"));
	f.kind = FZ_KIND_PYTHON;
	frame.line = pick(5) ? (int32_t)pick(100000) : FZ_NO_LINE;
	frame.end_line = frame.line < 0 ? FZ_NO_LINE : frame.line + (int32_t)pick(3);
	frame.column = pick(3) ? (int32_t)pick(80) : FZ_NO_LINE;
	frame.end_column = frame.column < 0 ? FZ_NO_LINE : frame.column + (int32_t)pick(9);
	frame.opcode = pick(2) ? (uint8_t)pick(255) : FZ_NO_OPCODE;
	frame.function = fz_profile_function(p, &f);
	return fz_profile_frame(p, &frame);
}

enum { FRAMES = 40, STACKS = 60, THREADS = 5, ROWS = 3000, US = 1000 };

/* As a recorder makes it; `rich` is what only the native format can hold. */
static struct fz_profile *random_profile(uint64_t seed, bool rich)
{
	struct fz_profile *p = fz_profile_new();
	uint32_t frames[FRAMES], stacks[STACKS];
	int64_t now = 0, weights[2];

	random_state = seed;
	p->recording.interval_ns = 1000 * US;
	p->recording.mode = FZ_MODE_WALL;
	p->recording.features_known = true;
	p->recording.features = pick(32);
	p->recording.duration_ns = 5000000000;
	p->recording.python[0] = 3;
	p->recording.error_rate = 0.5;
	p->recording.achieved_hz = 999.25;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 1000 * US, rich);
	if (rich)
		fz_profile_add_metric(p, FZ_STR("instructions"), FZ_STR("count"), 0, true);
	for (uint64_t i = 0; i < THREADS; i++)
		fz_profile_thread(p, &(struct fz_thread){ .pid = rich ? 77 : 0,
							  .tid = 1000 + i,
							  .interp = (uint32_t)i / 2,
							  .is_main = i == 0 });
	for (int i = 0; i < FRAMES; i++)
		frames[i] = random_frame(p);
	for (int i = 0; i < STACKS; i++)
		stacks[i] = fz_profile_stack(p, i && pick(4) ? stacks[pick((uint32_t)i)] : FZ_NONE,
					     frames[pick(FRAMES)]);
	for (int i = 0; i < ROWS; i++) {
		now += pick(3) ? (int64_t)pick(1200) * US : 0;
		struct fz_sample s = {
			.thread = pick(THREADS),
			.stack = pick(50) ? stacks[pick(STACKS)] : FZ_NONE,
			.time = now + 1000 * US,
			.status = (uint8_t)pick(32),
			.run = rich && i > ROWS / 2,
			.count = rich && pick(9) == 0 ? 1 + pick(5) : 1,
		};
		if (s.thread == 0)
			s.status |= FZ_STATUS_MAIN_THREAD;
		weights[0] = (int64_t)pick(5000) * US;
		weights[1] = (int64_t)pick(1u << 31) * pick(1000) - 5;
		fz_profile_add_sample(p, &s, weights);
	}
	return p;
}

static struct fz_profile *again(const struct fz_profile *p, const struct fz_format *f)
{
	fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, f);
	fz_auto(fz_free_ptr) char *name =
		fz_asprintf("x%.*s", (int)strcspn(f->suffixes, " "), f->suffixes);
	struct fz_profile *q = NULL;
	struct fz_error err;

	if (load_bytes(b.p, b.n, name, &q, &err))
		fail_msg("%s", err.message);
	return q;
}

static void check_text(const struct fz_profile *p, uint32_t a, const struct fz_profile *q,
		       uint32_t b)
{
	assert_true(fz_str_eq(fz_profile_text(p, a), fz_profile_text(q, b)));
}

static void check_stacks(const struct fz_profile *p, uint32_t a, const struct fz_profile *q,
			 uint32_t b)
{
	while (a != FZ_NONE && b != FZ_NONE) {
		const struct fz_frame *f = &p->frames[p->stacks[a].frame];
		const struct fz_frame *g = &q->frames[q->stacks[b].frame];
		check_text(p, p->functions[f->function].name, q, q->functions[g->function].name);
		check_text(p, p->functions[f->function].file, q, q->functions[g->function].file);
		assert_int_equal(f->line, g->line);
		assert_int_equal(f->end_line, g->end_line);
		assert_int_equal(f->column, g->column);
		assert_int_equal(f->end_column, g->end_column);
		assert_int_equal(f->opcode, g->opcode);
		a = p->stacks[a].parent;
		b = q->stacks[b].parent;
	}
	assert_int_equal(a, b);
}

static void check_recording(const struct fz_profile *p, const struct fz_profile *q)
{
	assert_int_equal(p->recording.interval_ns, q->recording.interval_ns);
	assert_int_equal(p->recording.duration_ns, q->recording.duration_ns);
	assert_int_equal(p->recording.mode, q->recording.mode);
	assert_int_equal(p->recording.features, q->recording.features);
	assert_int_equal(p->recording.python[0], q->recording.python[0]);
	assert_true(q->recording.error_rate == 0.5 && q->recording.achieved_hz == 999.25);
	assert_true(q->recording.missed_rate != q->recording.missed_rate);
}

static void test_fz(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = random_profile(seed, true);
		fz_auto(fz_profile_freep) struct fz_profile *q = again(p, &fz_format_fz);
		const struct fz_samples *a = &p->samples, *b = &q->samples;
		check_recording(p, q);
		assert_int_equal(a->n, b->n);
		for (size_t row = 0; row < a->n; row++) {
			assert_int_equal(a->time[row], b->time[row]);
			assert_int_equal(a->status[row], b->status[row]);
			assert_int_equal(a->run[row], b->run[row]);
			assert_int_equal(fz_sample_count(p, row), fz_sample_count(q, row));
			assert_int_equal(fz_sample_weight(p, 0, row), fz_sample_weight(q, 0, row));
			assert_int_equal(fz_sample_weight(p, 1, row), fz_sample_weight(q, 1, row));
			const struct fz_thread *t = &p->threads[a->thread[row]];
			const struct fz_thread *u = &q->threads[b->thread[row]];
			assert_true(t->pid == u->pid && t->tid == u->tid &&
				    t->interp == u->interp && t->is_main == u->is_main);
			check_stacks(p, a->stack[row], q, b->stack[row]);
		}
	}
}

/* .bin keeps each thread's rows in order, not the order between threads. */
static void test_tachyon(void **state)
{
	(void)state;
	for (uint64_t seed = 11; seed <= 18; seed++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = random_profile(seed, false);
		fz_auto(fz_profile_freep) struct fz_profile *q = again(p, &fz_format_tachyon);
		const struct fz_samples *a = &p->samples, *b = &q->samples;
		check_recording(p, q);
		assert_int_equal(a->n, b->n);
		assert_int_equal(p->thread_count, q->thread_count);
		for (uint32_t thread = 0; thread < THREADS; thread++) {
			uint32_t other = fz_profile_thread(q, &p->threads[thread]);
			assert_true(other < THREADS);
			assert_int_equal(q->threads[other].is_main, thread == 0);
			size_t at = 0;
			for (size_t row = 0; row < a->n; row++) {
				if (a->thread[row] != thread)
					continue;
				while (at < b->n && b->thread[at] != other)
					at++;
				assert_true(at < b->n);
				assert_int_equal(a->time[row], b->time[at]);
				assert_int_equal(a->status[row], b->status[at]);
				check_stacks(p, a->stack[row], q, b->stack[at]);
				at++;
			}
		}
	}
}

/* Text keeps names, lines and counts: written again it is the same. */
static void test_text(void **state)
{
	const struct fz_format *formats[] = { &fz_format_collapsed, &fz_format_folded };

	(void)state;
	for (uint64_t seed = 21; seed <= 28; seed++)
		for (size_t i = 0; i < FZ_ARRAY_LEN(formats); i++) {
			fz_auto(fz_profile_freep) struct fz_profile *p =
				random_profile(seed, false);
			fz_auto(fz_profile_freep) struct fz_profile *q = again(p, formats[i]);
			fz_auto(fz_buf_release) struct fz_buf a = save_bytes(p, formats[i]);
			fz_auto(fz_buf_release) struct fz_buf b = save_bytes(q, formats[i]);
			uint64_t empty = 0;
			for (size_t row = 0; row < p->samples.n; row++)
				empty += p->samples.stack[row] == FZ_NONE;
			assert_int_equal(q->skipped_lines, 0);
			assert_int_equal(fz_profile_sample_total(q), ROWS - empty);
			if (i == 1)
				assert_string_equal(a.p, b.p);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fz),
		cmocka_unit_test(test_tachyon),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
