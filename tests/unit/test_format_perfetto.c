/* SPDX-License-Identifier: MIT */
/* Perfetto's trace protobuf, built packet by packet: names and stacks interned per sequence,
 * incremental clocks, tracks. tests/live/test_formats_perfetto.py uses a browser's trace. */
#include "read_format.h"

#include "format/format.h"
#include "format/wire.h"

static void put_str(struct fz_buf *b, uint32_t field, const char *s)
{
	fz_wire_put_bytes(b, field, fz_str_of(s));
}

static void put_in(struct fz_buf *to, uint32_t field, struct fz_buf *message)
{
	fz_wire_put_message(to, field, message);
	message->n = 0;
}

struct trace {
	struct fz_buf bytes, packet, a, b, c;
};

static void trace_release(struct trace *t)
{
	fz_buf_release(&t->bytes);
	fz_buf_release(&t->packet);
	fz_buf_release(&t->a);
	fz_buf_release(&t->b);
	fz_buf_release(&t->c);
}

static void end_packet(struct trace *t, uint64_t sequence, uint64_t time)
{
	fz_wire_put(&t->packet, 8, time);
	fz_wire_put(&t->packet, 10, sequence);
	put_in(&t->bytes, 1, &t->packet);
}

/* Names are added to the current packet. */
static void intern(struct trace *t, uint32_t table, uint64_t number, const char *text)
{
	fz_wire_put(&t->b, 1, number);
	put_str(&t->b, 2, text);
	put_in(&t->a, table, &t->b);
}

static void end_interned(struct trace *t)
{
	put_in(&t->packet, 12, &t->a);
}

static void thread_track(struct trace *t, uint64_t uuid, uint64_t pid, uint64_t tid,
			 const char *name)
{
	fz_wire_put(&t->b, 1, pid);
	fz_wire_put(&t->b, 2, tid);
	put_str(&t->b, 5, name);
	fz_wire_put(&t->a, 1, uuid);
	put_in(&t->a, 4, &t->b);
	put_in(&t->packet, 60, &t->a);
	end_packet(t, 1, 0);
}

/* type 1: begin, 2: end. */
static void slice(struct trace *t, uint64_t sequence, uint64_t time, uint64_t type, uint64_t track,
		  uint64_t name)
{
	fz_wire_put(&t->a, 9, type);
	fz_wire_put(&t->a, 10, name);
	fz_wire_put(&t->a, 11, track);
	put_in(&t->packet, 11, &t->a);
	end_packet(t, sequence, time);
}

static struct fz_profile *load_trace(struct trace *t)
{
	struct fz_profile *p = NULL;
	struct fz_error err;

	if (load_bytes(t->bytes.p, t->bytes.n, "file", &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static void expect_trace_error(const struct trace *t, const char *what)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	assert_true(load_bytes(t->bytes.p, t->bytes.n, "file", &p, &err) < 0);
	if (!strstr(err.message, what))
		fail_msg("'%s' does not say '%s'", err.message, what);
}

/* Two writers number their names by themselves; what is on no thread overlaps. */
static void test_slices(void **state)
{
	fz_auto(trace_release) struct trace t = { 0 };

	(void)state;
	thread_track(&t, 50, 7, 8, "worker");
	intern(&t, 2, 1, "outer");
	intern(&t, 2, 2, "inner");
	end_interned(&t);
	slice(&t, 1, 1712195495502000100, 1, 50, 1);
	intern(&t, 2, 2, "other");
	end_interned(&t);
	slice(&t, 2, 1712195495502000100, 1, 99, 2);
	slice(&t, 1, 1712195495502000130, 1, 50, 2);
	slice(&t, 1, 1712195495502000137, 2, 50, 0);
	slice(&t, 1, 1712195495502000200, 2, 50, 0);
	slice(&t, 2, 1712195495502000900, 2, 99, 0);
	fz_auto(fz_profile_freep) struct fz_profile *p = load_trace(&t);
	assert_string_equal(p->metrics[0].name, "wall");
	assert_int_equal(cost(p, NULL, "outer", true), 100);
	assert_int_equal(cost(p, NULL, "outer", false), 93);
	assert_int_equal(cost(p, NULL, "inner", false), 7);
	assert_int_equal(sum_of(p, 0), 100);
	assert_true(p->samples.timed);
	assert_int_equal(p->samples.time[0], 0);
	assert_int_equal(fz_sample_end(p, p->samples.n - 1), 100);
	assert_int_equal(p->threads[0].pid, 7);
	assert_int_equal(p->threads[0].tid, 8);
	assert_true(fz_str_eq(fz_profile_text(p, p->threads[0].name), FZ_STR("worker")));
}

/* A track of the program's own counts if no thread has a slice; names may be inline. */
static void test_own_track(void **state)
{
	fz_auto(trace_release) struct trace t = { 0 };

	(void)state;
	put_str(&t.a, 23, "phase");
	slice(&t, 1, 10, 1, 99, 0);
	slice(&t, 1, 60, 2, 99, 0);
	fz_auto(fz_profile_freep) struct fz_profile *p = load_trace(&t);
	assert_int_equal(cost(p, NULL, "phase", false), 50);
}

/* As Chromium: microseconds since the last packet, the track by default, old macros' phases. */
static void test_incremental(void **state)
{
	fz_auto(trace_release) struct trace t = { 0 };

	(void)state;
	thread_track(&t, 50, 7, 8, "main");
	fz_wire_put(&t.b, 1, 64);
	fz_wire_put(&t.b, 2, 1000);
	fz_wire_put(&t.b, 3, 1);
	fz_wire_put(&t.b, 4, 1000);
	put_in(&t.a, 1, &t.b);
	put_in(&t.packet, 6, &t.a);
	fz_wire_put(&t.c, 11, 50);
	put_in(&t.b, 11, &t.c);
	fz_wire_put(&t.b, 58, 64);
	put_in(&t.packet, 59, &t.b);
	intern(&t, 2, 1, "outer");
	intern(&t, 2, 2, "whole");
	end_interned(&t);
	end_packet(&t, 1, 0);
	slice(&t, 1, 5, 1, 0, 1);
	slice(&t, 1, 3, 3, 0, 1);
	fz_wire_put(&t.b, 1, 2);
	fz_wire_put(&t.b, 2, 'X');
	fz_wire_put(&t.b, 3, 4);
	put_in(&t.a, 6, &t.b);
	slice(&t, 1, 2, 0, 0, 0);
	slice(&t, 1, 10, 2, 0, 0);
	fz_auto(fz_profile_freep) struct fz_profile *p = load_trace(&t);
	assert_int_equal(cost(p, NULL, "outer", true), 15000);
	assert_int_equal(cost(p, NULL, "whole", false), 4000);
}

/* Frames may precede the names that they use. */
static void test_samples(void **state)
{
	fz_auto(trace_release) struct trace t = { 0 };

	(void)state;
	fz_wire_put(&t.b, 1, 1);
	fz_wire_put(&t.b, 2, 1);
	fz_wire_put(&t.b, 2, 2);
	put_in(&t.a, 7, &t.b);
	for (uint64_t i = 1; i <= 2; i++) {
		fz_wire_put(&t.b, 1, i);
		fz_wire_put(&t.b, 2, i == 1 ? 1 : 0);
		fz_wire_put(&t.b, 3, 4);
		fz_wire_put(&t.b, 4, 0x123);
		put_in(&t.a, 6, &t.b);
	}
	fz_wire_put(&t.b, 1, 4);
	fz_wire_put(&t.b, 7, 5);
	put_in(&t.a, 19, &t.b);
	intern(&t, 5, 1, "main");
	intern(&t, 17, 5, "libx.so");
	end_interned(&t);
	for (int i = 0; i < 3; i++) {
		fz_wire_put(&t.a, 2, 7);
		fz_wire_put(&t.a, 3, 8);
		fz_wire_put(&t.a, 4, 1);
		put_in(&t.packet, 66, &t.a);
		end_packet(&t, 1, 100);
	}
	fz_auto(fz_profile_freep) struct fz_profile *p = load_trace(&t);
	assert_string_equal(p->metrics[0].name, "samples");
	assert_int_equal(sum_of(p, 0), 3);
	assert_int_equal(cost(p, NULL, "main", true), 3);
	assert_int_equal(cost(p, NULL, "libx.so+0x123", false), 3);
	assert_int_equal(p->threads[0].tid, 8);
}

static void test_errors(void **state)
{
	fz_auto(trace_release) struct trace t = { 0 };

	(void)state;
	thread_track(&t, 50, 7, 8, "main");
	expect_trace_error(&t, "without track slices");
	put_str(&t.packet, 50, "x");
	end_packet(&t, 1, 1);
	expect_trace_error(&t, "traceconv decompress_packets");
}

/* What was written before the end of a file that was cut short is good. */
static void test_cut(void **state)
{
	fz_auto(trace_release) struct trace t = { 0 };

	(void)state;
	put_str(&t.a, 23, "phase");
	slice(&t, 1, 10, 1, 99, 0);
	slice(&t, 1, 60, 2, 99, 0);
	size_t good = t.bytes.n;
	slice(&t, 1, 70, 1, 99, 0);
	t.bytes.n = good + 5;
	fz_auto(fz_profile_freep) struct fz_profile *p = load_trace(&t);
	assert_int_equal(cost(p, NULL, "phase", false), 50);
	assert_int_equal(p->quality.dropped_bytes, 5);
}

static void test_written(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{"
		"\"frames\":[{\"name\":\"main\",\"file\":\"a.py\",\"line\":3},{\"name\":\"parse\"},"
		"{\"name\":\"draw\"}]},\"profiles\":[{\"type\":\"sampled\",\"unit\":"
		"\"nanoseconds\","
		"\"name\":\"t\",\"samples\":[[0,1],[0,1],[],[0,2],[0,2,0]],"
		"\"weights\":[3,2,5,4,1]}]}");
	fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, &fz_format_perfetto);
	fz_auto(fz_profile_freep) struct fz_profile *q = NULL;
	struct fz_error err;
	static const char *const names[] = { "main", "parse", "draw" };

	(void)state;
	assert_int_equal(load_bytes(b.p, b.n, "x.pftrace", &q, &err), 0);
	assert_int_equal(sum_of(q, 0), 10);
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		assert_int_equal(cost(q, NULL, names[i], false), cost(p, NULL, names[i], false));
		assert_int_equal(cost(q, NULL, names[i], true), cost(p, NULL, names[i], true));
	}
	/* main;parse is one slice of two samples. */
	assert_int_equal(q->samples.n, 3);
}

/* Bytes are not a time. */
static void test_refused(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_error err;

	(void)state;
	fz_profile_add_metric(p, FZ_STR("bytes"), FZ_STR("bytes"), 1, false);
	assert_int_equal(fz_perfetto_write(p, out, &err), FZ_EUNSUPPORTED);
	assert_non_null(
		strstr(err.message, "a Perfetto trace stores times, and 'bytes' is not a time"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices),      cmocka_unit_test(test_own_track),
		cmocka_unit_test(test_incremental), cmocka_unit_test(test_samples),
		cmocka_unit_test(test_errors),      cmocka_unit_test(test_cut),
		cmocka_unit_test(test_written),     cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
