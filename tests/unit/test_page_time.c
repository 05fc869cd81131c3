/* SPDX-License-Identifier: MIT */
/* Time on a page: slices add up to the tree, buckets are ranges, and their number is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "../stats/chance.h"
#include "profile/range.h"
#include "report/page_build.h"
#include "report/page_slices.h"
#include "report/page_time.h"

#define MS 1000000LL

static struct fz_profile *recording(uint64_t seed, int threads, int functions, int64_t end)
{
	struct chance c = { seed };
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_run(p, &(struct fz_run){ .duration_ns = end });
	p->recording.interval_ns = MS;
	for (int64_t time = 0; time <= end; time += 1 + (int64_t)(chance_exponential(&c) * MS)) {
		char name[24];
		int tid = (int)(chance_uniform(&c) * threads);
		int64_t weight = (int64_t)(chance_exponential(&c) * MS);

		snprintf(name, sizeof(name), "worker-%d", tid);
		struct fz_thread thread = { .pid = 1,
					    .tid = (uint64_t)tid + 1,
					    .name = fz_profile_string(p, fz_str_of(name)) };
		snprintf(name, sizeof(name), "f%d", (int)(chance_uniform(&c) * functions));
		uint32_t frame = fz_profile_frame_named(p, fz_str_of(name), FZ_STR("app.py"), 1,
							FZ_KIND_PYTHON);
		struct fz_sample s = { .thread = fz_profile_thread(p, &thread),
				       .stack = fz_profile_stack(p, FZ_NONE, frame),
				       .time = time,
				       .status = FZ_STATUS_ON_CPU };
		fz_profile_add_sample(p, &s, &weight);
	}
	return p;
}

static struct fz_tree *tree_of(const struct fz_profile *p)
{
	struct fz_tree_options o = FZ_TREE_DEFAULTS;

	o.cells = true;
	return fz_tree_new(p, &o);
}

static int64_t sum_between(const struct fz_slices *s, uint32_t from, uint32_t to)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].bucket >= from && s->list[i].bucket < to)
			sum += s->list[i].self;
	return sum;
}

static void slices_add_up_to_the_tree(void **state)
{
	struct fz_profile *p = recording(1, 3, 20, 3000 * MS + 7);
	struct fz_tree *t = tree_of(p);
	struct fz_slices s;
	size_t at = 0;

	(void)state;
	fz_slices_build(&s, t, fz_profile_end(p), 256, 1000000);
	assert_int_equal(s.buckets, 256);
	for (size_t i = 0; i < t->cell_count; i++) {
		int64_t sum = 0;

		for (; at < s.n && s.list[at].node == t->cells[i].node &&
		       s.list[at].thread == t->cells[i].thread;
		     at++)
			sum += s.list[at].self;
		assert_int_equal(sum, t->cells[i].self);
	}
	assert_int_equal(at, s.n);
	fz_slices_release(&s);
	fz_tree_free(t);
	fz_profile_free(p);
}

static void buckets_are_ranges(void **state)
{
	struct chance c = { 2 };

	(void)state;
	for (int round = 0; round < 40; round++) {
		/* Ends at which edges are not whole ns. */
		int64_t end = 400 * MS + round * 12345677LL;
		struct fz_profile *p = recording(round, 2, 9, end);
		struct fz_tree *t = tree_of(p);
		struct fz_slices s;
		uint32_t from = (uint32_t)(chance_uniform(&c) * 200);
		uint32_t to = from + 1 + (uint32_t)(chance_uniform(&c) * (255 - from));

		end = fz_profile_end(p);
		fz_slices_build(&s, t, end, 256, 1000000);
		struct fz_range range = { (int64_t)((__int128)end * from / 256),
					  (int64_t)((__int128)end * to / 256) };
		int64_t want = 0, got = sum_between(&s, from, to);
		fz_profile_keep_range(p, &range);
		for (size_t row = 0; row < p->samples.n; row++)
			want += fz_sample_weight(p, 0, row);
		assert_int_equal(got, want);
		fz_slices_release(&s);
		fz_tree_free(t);
		fz_profile_free(p);
	}
}

static void too_many_slices_take_longer_buckets(void **state)
{
	struct fz_profile *p = recording(3, 4, 300, 5000 * MS);
	struct fz_tree *t = tree_of(p);
	int64_t sum = t->sum;
	struct fz_slices s;

	(void)state;
	for (size_t most = 1000; most; most /= 4) {
		fz_slices_build(&s, t, fz_profile_end(p), 256, most);
		assert_true(s.n <= most + t->cell_count);
		assert_true(s.buckets < 256 && s.buckets >= 1 && 256 % s.buckets == 0);
		assert_int_equal(sum_between(&s, 0, s.buckets), sum);
		fz_slices_release(&s);
	}
	fz_tree_free(t);
	fz_profile_free(p);
}

static size_t header_tracks(const struct fz_page *page, struct fz_str *ret_header)
{
	struct fz_output *out = fz_output_memory();
	struct fz_json j;
	size_t n = 0;

	fz_json_init(&j, out, 1);
	fz_json_open(&j, '{');
	fz_page_time_header(page->time, &j);
	fz_json_close(&j, '}');
	struct fz_str text = fz_buf_view(fz_output_buffer(out));
	for (size_t i = 0; i + 7 < text.n; i++)
		n += memcmp(text.p + i, "\"label\"", 7) == 0;
	*ret_header = (struct fz_str){ fz_strndup(text.p, text.n), text.n };
	fz_output_abort(out);
	return n;
}

static void many_threads_are_tracks_by_kind(void **state)
{
	static const int counts[] = { 1, 24, 25, 300 };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(counts); i++) {
		struct fz_profile *p = recording(4, counts[i], 3, 20000 * MS);
		struct fz_page page;
		struct fz_error err;
		struct fz_str header;

		assert_int_equal(fz_page_of_profile(&page, p, FZ_NONE, false, FZ_PAGE_VIEWER, &err),
				 0);
		size_t tracks = header_tracks(&page, &header);
		assert_int_equal(tracks, counts[i] > FZ_PAGE_TRACKS ? 1 : counts[i]);
		if (counts[i] == 300)
			assert_non_null(strstr(header.p, "worker-*"));
		free((char *)header.p);
		fz_page_release(&page);
		fz_profile_free(p);
	}
}

static void without_times_there_is_none(void **state)
{
	struct fz_profile *p = recording(5, 1, 3, 100 * MS);
	struct fz_page page;
	struct fz_error err;

	(void)state;
	p->samples.timed = false;
	assert_int_equal(fz_page_of_profile(&page, p, FZ_NONE, false, FZ_PAGE_VIEWER, &err), 0);
	assert_null(page.time);
	fz_page_release(&page);
	p->samples.timed = true;
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	assert_int_equal(fz_page_of_profile(&page, p, FZ_NONE, false, FZ_PAGE_VIEWER, &err), 0);
	assert_null(page.time);
	fz_page_release(&page);
	fz_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_add_up_to_the_tree),
		cmocka_unit_test(buckets_are_ranges),
		cmocka_unit_test(too_many_slices_take_longer_buckets),
		cmocka_unit_test(many_threads_are_tracks_by_kind),
		cmocka_unit_test(without_times_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
