/* SPDX-License-Identifier: MIT */
/* Writing to and reading from a store of releases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "fleet/batch.h"
#include "fleet/fold.h"
#include "fleet/sqlite_calls.h"
#include "format/format.h"
#include "fleet_layout.h"

enum { NOBODY = 65534 };
#define SECOND ((int64_t)1000000000)
#define MINUTE (60 * SECOND)
#define START (29000000 * MINUTE)
#define NOW (START + 60 * MINUTE)

/* main > work and main > idle, ten samples a second in turn, for so long. */
static struct fz_profile *recording(int seconds, const char *work)
{
	struct fz_profile *p = fz_profile_new();
	uint32_t cpu = fz_profile_add_metric(p, FZ_STR("cpu"), FZ_STR("ns"), 0, true);
	uint32_t frames[3], stacks[3];
	const char *const names[] = { "main", work, "idle" };

	p->default_metric = cpu;
	p->samples.ordered = p->samples.timed = true;
	p->recording.interval_ns = SECOND / 10;
	fz_profile_add_run(p, &(struct fz_run){ .start_unix_ns = START + 30 * SECOND,
						.duration_ns = seconds * SECOND });
	for (int i = 0; i < 3; i++) {
		frames[i] = fz_profile_frame_named(p, fz_str_of(names[i]), FZ_STR("a.py"), i + 1,
						   FZ_KIND_PYTHON);
		stacks[i] = fz_profile_stack(p, i ? stacks[0] : FZ_NONE, frames[i]);
	}
	uint32_t thread = fz_profile_thread(p, &(struct fz_thread){ .tid = 7 });
	for (int i = 0; i < seconds * 10; i++) {
		struct fz_sample s = { .thread = thread,
				       .stack = stacks[1 + i % 2],
				       .time = i * (SECOND / 10) };
		fz_profile_add_sample(p, &s, &(int64_t){ SECOND / 10 });
	}
	p->quality = (struct fz_quality){ .known = true, .taken = 10, .missed = 3 };
	return p;
}

static char *make_file(void)
{
	char *path = fz_asprintf("%s/test_fleet_XXXXXX", fz_temporary_folder());
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	return path;
}

static void remove_file(const char *path)
{
	static const char *const ends[] = { "", "-wal", "-shm" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(ends); i++) {
		fz_auto(fz_free_ptr) char *name = fz_asprintf("%s%s", path, ends[i]);

		unlink(name);
	}
}

static struct fz_fleet *open_store(const char *path)
{
	struct fz_fleet *f;
	struct fz_error err;

	if (fz_fleet_open(path, FZ_FLEET_WRITE, &f, &err))
		fail_msg("%s", err.message);
	return f;
}

static int put_as(struct fz_fleet *f, const struct fz_profile *p, const struct fz_fleet_push *push,
		  enum fz_fleet_put *ret, struct fz_error *err)
{
	fz_auto(fz_fleet_batch_release) struct fz_fleet_batch b = { 0 };
	int r = fz_fleet_batch_of(p, NULL, NOW, NOW, &b, err);

	return r ? r : fz_fleet_put(f, push, &b, ret, err);
}

static enum fz_fleet_put put(struct fz_fleet *f, const struct fz_profile *p, const char *version,
			     const char *labels, const char *id)
{
	enum fz_fleet_put ret;
	struct fz_error err;

	if (put_as(f, p, &(struct fz_fleet_push){ "p", "s", version, "h", labels, id }, &ret, &err))
		fail_msg("%s", err.message);
	return ret;
}

static struct fz_fleet_query query_of(const char *version)
{
	return (struct fz_fleet_query){
		.project = "p", .service = "s", .version = version, .labels = "", .until = INT64_MAX
	};
}

static struct fz_profile *get(struct fz_fleet *f, const char *version)
{
	fz_auto(fz_free_ptr) char *name = fz_asprintf("s@%s", version);
	struct fz_fleet_query q = query_of(version);
	struct fz_profile *p[2] = { NULL, NULL };
	struct fz_error err;

	if (fz_fleet_pair(f, &q, (const char *const[]){ name, name }, p, &err))
		fail_msg("%s", err.message);
	fz_profile_free(p[0]);
	return p[1];
}

static int64_t cost_of(const struct fz_profile *p, const char *function)
{
	int64_t sum = 0;

	for (size_t row = 0; row < p->samples.n; row++)
		if (fz_str_eq(fz_profile_text(
				      p, fz_profile_stack_function(p, p->samples.stack[row])->name),
			      fz_str_of(function)))
			sum += fz_sample_weight(p, 0, row);
	return sum;
}

static void test_minutes(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(80, "work");
	fz_auto(fz_fleet_batch_release) struct fz_fleet_batch b = { 0 };
	struct fz_error err;

	(void)state;
	/* From half past a minute: 30 s, 50 s. */
	assert_int_equal(fz_fleet_batch_of(p, NULL, NOW, NOW, &b, &err), 0);
	assert_int_equal(b.cell_n, 2);
	assert_int_equal(b.cells[0].minute, START / MINUTE);
	assert_int_equal(b.cells[0].exposure.wall_ns, 30 * SECOND);
	assert_int_equal(b.cells[1].exposure.wall_ns, 50 * SECOND);
	assert_int_equal(b.cells[0].exposure.samples, 300);
	assert_int_equal(b.cells[1].exposure.cpu_ns, 50 * SECOND);
	assert_int_equal(b.cells[0].exposure.lost + b.cells[1].exposure.lost, 3);
	assert_int_equal(b.node_n, 3);
	assert_int_equal(b.value_n, 4);
}

/* A push counts the samples that reports count: those with a stack. */
static void test_no_stack(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(20, "work");
	fz_auto(fz_fleet_batch_release) struct fz_fleet_batch b = { 0 };
	struct fz_error err;
	int64_t n = 0;

	(void)state;
	for (int i = 0; i < 200; i += 4)
		p->samples.stack[i] = FZ_NONE;
	assert_int_equal(fz_fleet_batch_of(p, NULL, NOW, NOW, &b, &err), 0);
	for (size_t i = 0; i < b.value_n; i++)
		n += b.values[i].n;
	assert_int_equal(n, 150);
	assert_int_equal(b.cell_n, 1);
	assert_int_equal(b.cells[0].exposure.samples, n);
}

static void test_refused_times(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(10, "work");
	struct fz_fleet_batch b;
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_fleet_batch_of(p, NULL, NOW, START - 61 * MINUTE, &b, &err), FZ_EINPUT);
	p->samples.time[3] = INT64_MIN;
	assert_int_equal(fz_fleet_batch_of(p, NULL, NOW, NOW, &b, &err), FZ_EINPUT);
	p->samples.time[3] = INT64_MAX;
	assert_int_equal(fz_fleet_batch_of(p, NULL, NOW, NOW, &b, &err), FZ_EINPUT);
	p->samples.time[3] = 0;
	p->runs[0].duration_ns = INT64_MAX;
	assert_int_not_equal(fz_fleet_batch_of(p, NULL, NOW, INT64_MAX, &b, &err), 0);
	p->runs[0].duration_ns = 0;
	p->metrics[0].column[3] = -1;
	assert_int_equal(fz_fleet_batch_of(p, NULL, NOW, NOW, &b, &err), FZ_EINPUT);
	assert_non_null(strstr(err.message, "difference"));
}

static void test_once(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store(":memory:");
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(80, "work");
	fz_auto(fz_profile_freep) struct fz_profile *got = NULL;

	(void)state;
	assert_int_equal(put(f, p, "1", "", "a"), FZ_FLEET_STORED);
	assert_int_equal(put(f, p, "1", "", "a"), FZ_FLEET_KNOWN);
	assert_int_equal(put(f, p, "1", "", "b"), FZ_FLEET_STORED);
	got = get(f, "1");
	/* From two pushes, not three. */
	assert_int_equal(cost_of(got, "work"), 80 * SECOND);
	assert_int_equal(cost_of(got, "idle"), 80 * SECOND);
	assert_int_equal(got->quality.missed, 6);
	assert_int_equal(got->recording.interval_ns, SECOND / 10);
	assert_int_equal(got->stacks[got->samples.stack[0]].depth, 2);
}

/* One of three that go to the disk together cannot be added: nothing of it is there, its names
 * included, and the others are. */
static void test_together(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store(":memory:");
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(80, "work");
	fz_auto(fz_profile_freep) struct fz_profile *large = recording(80, "other");
	fz_auto(fz_profile_freep) struct fz_profile *got = NULL;
	fz_auto(fz_fleet_batch_release) struct fz_fleet_batch good = { 0 };
	fz_auto(fz_fleet_batch_release) struct fz_fleet_batch bad = { 0 };
	const struct fz_fleet_push pushes[] = { { "p", "s", "1", "h", "", "a" },
						{ "p", "s", "1", "h", "", "b" },
						{ "p", "s", "1", "h", "", "c" } };
	struct fz_fleet_item items[] = { { .push = &pushes[0], .batch = &good },
					 { .push = &pushes[1], .batch = &bad },
					 { .push = &pushes[2], .batch = &good } };
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_fleet_batch_of(p, NULL, NOW, NOW, &good, &err), 0);
	assert_int_equal(fz_fleet_batch_of(large, NULL, NOW, NOW, &bad, &err), 0);
	/* Added to what is there of "idle", that is too much. */
	for (size_t i = 0; i < bad.value_n; i++)
		bad.values[i].value = INT64_MAX - 5;
	fz_fleet_put_all(f, (struct fz_fleet_item *[]){ &items[0], &items[1], &items[2] }, 3);
	assert_int_equal(items[0].result, 0);
	assert_int_equal(items[1].result, FZ_EINPUT);
	assert_non_null(strstr(items[1].err.message, "63 bits"));
	assert_int_equal(items[2].result, 0);
	/* Its id is none that is known. */
	assert_int_equal(put(f, large, "2", "", "b"), FZ_FLEET_STORED);
	got = get(f, "1");
	assert_int_equal(cost_of(got, "work"), 80 * SECOND);
	assert_int_equal(cost_of(got, "idle"), 80 * SECOND);
	assert_int_equal(cost_of(got, "other"), 0);
}

static void count(void *arg, const struct fz_fleet_entry *e)
{
	struct fz_fleet_entry *sum = arg;

	sum->cells += e->cells;
	sum->pushes += e->pushes;
	sum->samples += e->samples;
}

/* What a transaction began is not there when the process ends within it; what was acknowledged is.
 */
static void test_file(void **state)
{
	fz_auto(fz_free_ptr) char *path = make_file();
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(10, "work");
	struct fz_fleet_entry sum = { 0 };
	struct fz_error err;

	(void)state;
	struct fz_fleet *writer = open_store(path);
	put(writer, p, "1", "", "a");
	/* A reader concurrent with the writer, and a snapshot that stays the same. */
	fz_auto(fz_fleet_closep) struct fz_fleet *reader = NULL;
	assert_int_equal(fz_fleet_open(path, FZ_FLEET_READ, &reader, &err), 0);
	struct fz_fleet_query q = query_of("1");
	struct fz_fleet_found found;
	assert_int_equal(fz_fleet_find(reader, &q, &found, &err), 0);
	fz_fleet_found_release(&found);
	put(writer, p, "2", "", "b");
	assert_int_equal(fz_fleet_list(reader, "p", count, &sum, &err), 0);
	assert_int_equal(sum.pushes, 1);
	fz_fleet_close(writer);
	writer = open_store(path);
	assert_int_equal(put(writer, p, "2", "", "b"), FZ_FLEET_KNOWN);
	assert_int_equal(fz_fleet_list(writer, "p", count, &sum, &err), 0);
	assert_int_equal(sum.pushes, 3);
	fz_fleet_close(writer);
	remove_file(path);
}

static void test_labels(void **state)
{
	static const char *const nasty[] = { "q='); DROP TABLE cell; --", "a.b-c_D=<b>&\"%" };
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store(":memory:");
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(10, "work");
	fz_auto(fz_buf_release) struct fz_buf labels = { 0 };
	fz_auto(fz_buf_release) struct fz_buf one = { 0 };
	struct fz_fleet_query q = query_of("1' OR '1'='1");
	struct fz_fleet_found found;
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_fleet_labels(nasty, 2, &labels, &err), 0);
	assert_string_equal(labels.p, "\na.b-c_D=<b>&\"%\nq='); DROP TABLE cell; --\n");
	put(f, p, "1", labels.p, "a");
	put(f, p, "1", "", "b");
	assert_int_equal(fz_fleet_find(f, &q, &found, &err), FZ_EINPUT);
	assert_non_null(strstr(err.message, "the latest versions of s are: 1"));
	assert_null(strstr(err.message, "range of time"));
	q = query_of("2026-13-01..2026-13-02");
	assert_int_equal(fz_fleet_find(f, &q, &found, &err), FZ_EINPUT);
	assert_non_null(strstr(err.message, "neither a version nor a time range such as 2h"));
	q = query_of("1");
	fz_fleet_labels(nasty, 1, &one, &err);
	q.labels = one.p;
	assert_int_equal(fz_fleet_find(f, &q, &found, &err), 0);
	assert_int_equal(found.cell_n, 1);
	fz_fleet_found_release(&found);
	q.labels = "\nq=\n";
	assert_int_equal(fz_fleet_find(f, &q, &found, &err), FZ_EINPUT);
	static const char *const wrong[] = { "q", "=x", "a b=c", "k=\n", "k=" };
	for (size_t i = 0; i < FZ_ARRAY_LEN(wrong); i++)
		assert_int_equal(fz_fleet_labels(&wrong[i], 1, &labels, &err), FZ_EUSAGE);
}

static void test_limits(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store(":memory:");
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(1, "work");
	enum fz_fleet_put ret;
	struct fz_error err = { 0 };
	int r = 0, n = 0;

	(void)state;
	/* A request's id as a label: the service gets no further series; existing ones continue. */
	for (; !r && n <= FZ_FLEET_LABEL_SETS; n++) {
		char labels[32], id[16];

		snprintf(labels, sizeof(labels), "\nrequest=%d\n", n);
		snprintf(id, sizeof(id), "%d", n);
		r = put_as(f, p, &(struct fz_fleet_push){ "p", "s", "1", "h", labels, id }, &ret,
			   &err);
	}
	assert_int_equal(r, FZ_ELIMIT);
	assert_int_equal(n, FZ_FLEET_LABEL_SETS + 1);
	assert_non_null(strstr(err.message, "s already has 1000 sets of labels"));
	assert_int_equal(put(f, p, "2", "\nrequest=5\n", "again"), FZ_FLEET_STORED);
	/* A sum beyond the range of a number changes nothing. */
	p->metrics[0].column[0] = INT64_MAX - 5 * SECOND;
	assert_int_equal(put(f, p, "3", "\nrequest=5\n", "large"), FZ_FLEET_STORED);
	r = put_as(f, p, &(struct fz_fleet_push){ "p", "s", "3", "h", "\nrequest=5\n", "more" },
		   &ret, &err);
	assert_int_equal(r, FZ_EINPUT);
	assert_non_null(strstr(err.message, "63 bits"));
}

/* Agents push what a program holds as well as what it does, over more minutes if it is idle. */
static void test_work_first(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store(":memory:");
	fz_auto(fz_profile_freep) struct fz_profile *cpu = recording(10, "work");
	fz_auto(fz_profile_freep) struct fz_profile *memory = recording(200, "held");
	fz_auto(fz_profile_freep) struct fz_profile *both = NULL, *held = NULL;

	(void)state;
	memory->metrics[0].name = "inuse_space";
	memory->metrics[0].unit = "bytes";
	put(f, memory, "1", "", "memory");
	put(f, cpu, "1", "", "cpu");
	put(f, memory, "2", "", "memory only");
	/* By the wall clock, too, for more minutes than by CPU time. */
	memory->metrics[0].name = "wall";
	memory->metrics[0].unit = "ns";
	put(f, memory, "1", "", "wall");
	both = get(f, "1");
	assert_string_equal(both->metrics[0].name, "cpu");
	assert_true(cost_of(both, "work") > 0 && cost_of(both, "held") == 0);
	held = get(f, "2");
	assert_string_equal(held->metrics[0].name, "inuse_space");
}

/* Agents that send the mean of their intervals send another one each time. */
static void test_intervals(void **state)
{
	static const struct {
		int64_t interval, kept;
	} cases[] = {
		{ 0, 0 },
		{ 999, 999 },
		{ 10101010, 10100000 },
		{ 11919000, 11900000 },
		{ 11940123, 11900000 },
		{ INT64_MAX, INT64_MAX / 10000000000000000 * 10000000000000000 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = recording(1, "work");
		fz_auto(fz_fleet_batch_release) struct fz_fleet_batch b = { 0 };
		struct fz_error err;

		p->recording.interval_ns = cases[i].interval;
		assert_int_equal(fz_fleet_batch_of(p, NULL, NOW, NOW, &b, &err), 0);
		assert_int_equal(b.kinds[0].interval_ns, cases[i].kept);
	}
}

static struct fz_profile *get_from(const char *path, const char *version)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = NULL;
	struct fz_error err;

	if (fz_fleet_open(path, FZ_FLEET_READ, &f, &err))
		fail_msg("%s", err.message);
	return get(f, version);
}

static void test_forget(void **state)
{
	fz_auto(fz_free_ptr) char *path = make_file();
	fz_auto(fz_profile_freep) struct fz_profile *old = recording(80, "work");
	fz_auto(fz_profile_freep) struct fz_profile *new = recording(10, "other");
	struct fz_fleet_query q = query_of("1");
	struct fz_fleet_found found;
	struct fz_error err;

	(void)state;
	struct fz_fleet *f = open_store(path);
	new->runs[0].start_unix_ns += 10 * MINUTE;
	put(f, old, "1", "", "a");
	put(f, new, "2", "", "b");
	assert_int_equal(fz_fleet_forget(f, START / MINUTE, &err), 0);
	assert_int_equal(fz_fleet_forget(f, START / MINUTE + 5, &err), 2);
	struct fz_profile *got = get_from(path, "2");
	assert_int_equal(cost_of(got, "other"), 5 * SECOND);
	fz_profile_free(got);
	/* What is forgotten may come again. */
	assert_int_equal(put(f, old, "2", "", "a"), FZ_FLEET_STORED);
	got = get_from(path, "2");
	assert_int_equal(cost_of(got, "work"), 40 * SECOND);
	fz_profile_free(got);
	assert_int_equal(fz_fleet_find(f, &q, &found, &err), FZ_EINPUT);
	fz_fleet_close(f);
	remove_file(path);
}

/* What one process forgets, another one that has the same store open does not refer to: SQLite
 * gives the ids of deleted rows to other names, also of other projects. */
static void test_two_writers(void **state)
{
	fz_auto(fz_free_ptr) char *path = make_file();
	fz_auto(fz_profile_freep) struct fz_profile *old = recording(10, "work");
	fz_auto(fz_profile_freep) struct fz_profile *new = recording(10, "work");
	fz_auto(fz_profile_freep) struct fz_profile *secret = recording(10, "secret");
	fz_auto(fz_profile_freep) struct fz_profile *got = NULL;
	enum fz_fleet_put ret;
	struct fz_error err;

	(void)state;
	new->runs[0].start_unix_ns += 10 * MINUTE;
	secret->runs[0].start_unix_ns += 10 * MINUTE;
	struct fz_fleet *one = open_store(path), *two = open_store(path);
	put(one, old, "1", "", "a");
	assert_true(fz_fleet_forget(two, START / MINUTE + 5, &err) > 0);
	assert_int_equal(put_as(two, secret,
				&(struct fz_fleet_push){ "other", "s", "1", "h", "", "b" }, &ret,
				&err),
			 0);
	put(one, new, "2", "", "c");
	got = get_from(path, "2");
	assert_int_equal(cost_of(got, "work"), 5 * SECOND);
	assert_int_equal(cost_of(got, "secret"), 0);
	fz_fleet_close(one);
	fz_fleet_close(two);
	remove_file(path);
}

/* A process opens a store twice, and another one reads it meanwhile: when closing, that one must
 * see that the store is in use, or it removes the log that the first still writes. */
static void test_reader_of_a_store_open_twice(void **state)
{
	fz_auto(fz_free_ptr) char *path = make_file();
	fz_auto(fz_profile_freep) struct fz_profile *old = recording(10, "work");
	fz_auto(fz_profile_freep) struct fz_profile *new = recording(10, "work");
	fz_auto(fz_profile_freep) struct fz_profile *got = NULL;
	struct fz_fleet *other;
	struct fz_error err;
	int status, ready[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork(); /* before SQLite opens the file */
	assert_true(pid >= 0);
	if (pid == 0) {
		bool told = read(ready[0], &byte, 1) == 1;
		int rc = fz_fleet_open(path, FZ_FLEET_READ, &other, &err);
		if (!rc)
			fz_fleet_close(other);
		_exit(rc || !told);
	}
	struct fz_fleet *one = open_store(path), *two = open_store(path);
	put(one, old, "1", "", "a");
	assert_int_equal(write(ready[1], "", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(ready[0]);
	close(ready[1]);
	put(one, new, "2", "", "b");
	got = get_from(path, "2");
	assert_int_equal(cost_of(got, "work"), 5 * SECOND);
	fz_fleet_close(one);
	fz_fleet_close(two);
	remove_file(path);
}

/* Releases at other hours of the day are marked so; at the same hours, a day later, they are not.
 */
static void test_hours(void **state)
{
	static const struct {
		int minutes_later;
		const char *percent;
	} cases[] = {
		{ 60, "" }, { 1440 + 30, "" }, { 12 * 60, "100" }, { 1440 + 12 * 60, "100" }
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store(":memory:");
		fz_auto(fz_profile_freep) struct fz_profile *one = recording(80, "work");
		fz_auto(fz_profile_freep) struct fz_profile *other = recording(80, "work");
		fz_auto(fz_profile_freep) struct fz_profile *head = NULL;
		fz_auto(fz_profile_freep) struct fz_profile *base = NULL;
		struct fz_fleet_query q = query_of("1");
		struct fz_profile *p[2] = { NULL, NULL };
		struct fz_error err;

		one->runs[0].start_unix_ns -= cases[i].minutes_later * MINUTE;
		put(f, one, "1", "", "a");
		put(f, other, "2", "", "b");
		assert_int_equal(
			fz_fleet_pair(f, &q, (const char *const[]){ "s@1", "s@2" }, p, &err), 0);
		base = p[0];
		head = p[1];
		assert_string_equal(fz_profile_fact(head, "fleet hours").p, cases[i].percent);
		assert_int_equal(fz_profile_fact(base, "fleet hours").n, 0);
	}
}

/* Projects do not see each other. */
static void test_projects(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store(":memory:");
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(10, "work");
	struct fz_fleet_entry sum = { 0 };
	struct fz_fleet_query q = query_of("1");
	struct fz_fleet_found found;
	struct fz_error err;

	(void)state;
	put(f, p, "1", "", "a");
	q.project = "other";
	assert_int_equal(fz_fleet_find(f, &q, &found, &err), FZ_EINPUT);
	assert_string_equal(err.message, "s: no such service; there is none");
	assert_int_equal(fz_fleet_list(f, "other", count, &sum, &err), 0);
	assert_int_equal(sum.cells, 0);
}

/* What a release is written as, pushed in one order or the other. */
static void write_release(bool turned, struct fz_buf *ret)
{
	static const char *const works[] = { "work", "other" };
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store(":memory:");
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_error err;

	for (int i = 0; i < 2; i++) {
		const char *work = works[i ^ turned];
		fz_auto(fz_profile_freep) struct fz_profile *p = recording(10, work);

		put(f, p, "1", "", work);
	}
	fz_auto(fz_profile_freep) struct fz_profile *got = get(f, "1");
	assert_int_equal(fz_format_fz.write(got, out, &err), 0);
	struct fz_str bytes = fz_buf_view(fz_output_buffer(out));
	fz_buf_add(ret, bytes.p, bytes.n);
}

static void test_order(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf one = { 0 };
	fz_auto(fz_buf_release) struct fz_buf other = { 0 };

	(void)state;
	write_release(false, &one);
	write_release(true, &other);
	assert_int_equal(one.n, other.n);
	assert_memory_equal(one.p, other.p, one.n);
}

/* Pushes that would be lost if their id were taken as known. */
static void test_reused_id(void **state)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *f = open_store(":memory:");
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(10, "work");
	fz_auto(fz_profile_freep) struct fz_profile *other = recording(10, "work");
	fz_auto(fz_profile_freep) struct fz_profile *renamed = recording(10, "rest");
	const struct fz_fleet_push same = { "p", "s", "1", "h", "", "a" };
	const struct fz_fleet_push others[] = {
		{ "p", "s", "2", "h", "", "a" },
		{ "p", "t", "1", "h", "", "a" },
		{ "p", "s", "1", "i", "", "a" },
		{ "p", "s", "1", "h", "\nk=v\n", "a" },
	};
	enum fz_fleet_put how;
	struct fz_error err;

	(void)state;
	put(f, p, "1", "", "a");
	for (size_t i = 0; i < FZ_ARRAY_LEN(others); i++) {
		assert_int_equal(put_as(f, p, &others[i], &how, &err), FZ_EINPUT);
		assert_string_equal(err.message, "id 'a' was used for another push; use a new id");
	}
	other->metrics[0].column[3]++;
	assert_int_equal(put_as(f, other, &same, &how, &err), FZ_EINPUT);
	assert_int_equal(put_as(f, renamed, &same, &how, &err), FZ_EINPUT);
	assert_int_equal(put(f, p, "1", "", "a"), FZ_FLEET_KNOWN);
	/* Without a time of its own it has that of its arrival, and is the same push. */
	p->runs[0].start_unix_ns += 90 * SECOND;
	assert_int_equal(put(f, p, "1", "", "a"), FZ_FLEET_KNOWN);
}

/* A store of the first layout, whose pushes have no digest, still works. */
static void test_first_layout(void **state)
{
	fz_auto(fz_free_ptr) char *path = make_file();
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(10, "work");
	fz_auto(fz_profile_freep) struct fz_profile *other = recording(10, "other");
	fz_auto(fz_profile_freep) struct fz_profile *got = NULL;
	const struct fz_fleet_push next = { "p", "s", "1", "h", "", "b" };
	enum fz_fleet_put how;
	struct fz_error err;

	(void)state;
	struct fz_fleet *f = open_store(path);
	put(f, p, "1", "", "a");
	fz_fleet_close(f);
	take_back_layouts(path);
	f = open_store(path);
	assert_int_equal(put(f, p, "1", "", "a"), FZ_FLEET_KNOWN);
	assert_int_equal(put(f, other, "1", "", "a"), FZ_FLEET_KNOWN);
	assert_int_equal(put(f, p, "1", "", "b"), FZ_FLEET_STORED);
	assert_int_equal(put_as(f, other, &next, &how, &err), FZ_EINPUT);
	fz_fleet_close(f);
	f = open_store(path);
	assert_int_equal(put(f, p, "1", "", "b"), FZ_FLEET_KNOWN);
	fz_fleet_close(f);
	got = get_from(path, "1");
	assert_int_equal(cost_of(got, "work"), 10 * SECOND);
	assert_int_equal(cost_of(got, "other"), 0);
	remove_file(path);
}

static void write_entry(void *arg, const struct fz_fleet_entry *e)
{
	fz_buf_printf(arg, "%s %s %s %s %lld-%lld: %lld %lld %lld %lld %lld %.17g %.17g\n",
		      e->service, e->version, e->metric, e->unit, (long long)e->first,
		      (long long)e->last, (long long)e->hosts, (long long)e->cells,
		      (long long)e->pushes, (long long)e->samples, (long long)e->lost, e->cpu_ns,
		      e->wall_ns);
}

/* The same as the list, from cells and pushes. */
static void recount(const char *path, struct fz_buf *ret)
{
	struct fz_sql sql;
	struct fz_error err;

	assert_int_equal(fz_sql_open(&sql, path, false, &err), 0);
	fz_auto(fz_sql_drop) sqlite3_stmt *s = fz_sql_once(
		&sql, "SELECT service, version, metric, unit, min(minute), max(minute),"
		      " count(DISTINCT host), count(*), (SELECT count(*) FROM push WHERE"
		      " push.project = series.project AND push.service = series.service AND"
		      " push.version = series.version), sum(samples), sum(lost), total(cpu),"
		      " total(wall) FROM series JOIN cell ON cell.series = series.id"
		      " GROUP BY service, version, metric, unit"
		      " ORDER BY service, max(minute) DESC, version DESC, max(main) DESC, metric");
	while (fz_sql_step(&sql, s, &err) == 1) {
		for (int i = 0; i < 4; i++)
			fz_buf_printf(ret, "%s%s", i ? " " : "", fz_sql_column(s, i).p);
		for (int i = 4; i < 11; i++)
			fz_buf_printf(ret, "%s%lld",
				      i == 5   ? "-"
				      : i == 6 ? ": "
					       : " ",
				      (long long)fz_sqlite.column_int(s, i));
		fz_buf_printf(ret, " %.17g %.17g\n", fz_sqlite.column_double(s, 11),
			      fz_sqlite.column_double(s, 12));
	}
	fz_sql_drop(&s);
	s = NULL;
	fz_sql_close(&sql);
}

static void check_list(struct fz_fleet *f, const char *path, int entries)
{
	fz_auto(fz_buf_release) struct fz_buf listed = { 0 };
	fz_auto(fz_buf_release) struct fz_buf counted = { 0 };
	struct fz_error err;
	int lines = 0;

	assert_int_equal(fz_fleet_list(f, "p", write_entry, &listed, &err), 0);
	recount(path, &counted);
	fz_buf_str(&listed, "");
	fz_buf_str(&counted, "");
	for (size_t i = 0; i < listed.n; i++)
		lines += listed.p[i] == '\n';
	assert_string_equal(listed.p, counted.p);
	assert_int_equal(lines, entries);
}

/* The sums that a list is made of are those of the cells and pushes: after pushes of several hosts,
 * of the same minutes again, after one that is refused, after forgetting some and all, and in a
 * store that had none. */
static void test_sums(void **state)
{
	fz_auto(fz_free_ptr) char *path = make_file();
	fz_auto(fz_profile_freep) struct fz_profile *old = recording(200, "work");
	fz_auto(fz_profile_freep) struct fz_profile *new = recording(80, "other");
	struct fz_fleet *f = open_store(path);
	enum fz_fleet_put how;
	struct fz_error err;

	(void)state;
	new->runs[0].start_unix_ns += 10 * MINUTE;
	put(f, old, "1", "", "a");
	put(f, old, "1", "\nk=v\n", "b");
	put(f, old, "1", "", "c");
	put(f, new, "1", "", "d");
	put(f, new, "2", "", "e");
	assert_int_equal(
		put_as(f, new, &(struct fz_fleet_push){ "p", "s", "1", "g", "", "f" }, &how, &err),
		0);
	assert_int_equal(
		put_as(f, old, &(struct fz_fleet_push){ "p", "s", "1", "g", "", "f" }, &how, &err),
		FZ_EINPUT);
	check_list(f, path, 2);
	assert_true(fz_fleet_forget(f, START / MINUTE + 2, &err) > 0);
	check_list(f, path, 2);
	fz_fleet_close(f);
	take_back_layouts(path);
	f = open_store(path);
	check_list(f, path, 2);
	put(f, new, "3", "", "g");
	check_list(f, path, 3);
	assert_true(fz_fleet_forget(f, START / MINUTE + 100, &err) > 0);
	check_list(f, path, 0);
	fz_fleet_close(f);
	remove_file(path);
}

/* ---- deleting while others write ---- */

enum { WIDE = 3000 };

/* One sample in each of many functions. */
static struct fz_profile *wide_recording(void)
{
	struct fz_profile *p = fz_profile_new();
	uint32_t cpu = fz_profile_add_metric(p, FZ_STR("cpu"), FZ_STR("ns"), 0, true);

	p->default_metric = cpu;
	p->samples.ordered = p->samples.timed = true;
	fz_profile_add_run(p, &(struct fz_run){ .start_unix_ns = START, .duration_ns = SECOND });
	uint32_t thread = fz_profile_thread(p, &(struct fz_thread){ .tid = 7 });
	for (int i = 0; i < WIDE; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		uint32_t frame = fz_profile_frame_named(p, fz_str_of(name), FZ_STR("a.py"), i + 1,
							FZ_KIND_PYTHON);
		struct fz_sample s = { .thread = thread,
				       .stack = fz_profile_stack(p, FZ_NONE, frame) };
		fz_profile_add_sample(p, &s, &(int64_t){ SECOND / 1000 });
	}
	return p;
}

/* Its sample at that minute. */
static void put_at(struct fz_fleet *f, struct fz_profile *p, int minute, const char *version)
{
	fz_auto(fz_free_ptr) char *id = fz_asprintf("%d", minute);

	p->runs[0].start_unix_ns = START + minute * MINUTE;
	put(f, p, version, "", id);
}

struct beside {
	struct fz_fleet *f;
	struct fz_profile *p;
	int transactions; /* that deleted something */
	int64_t most;     /* rows of one */
	int sweeping;     /* calls since unused nodes are looked for */
	bool pushed;
};

/* A push arrives after all values were read: of functions that none of them was of. */
static bool push_beside(void *arg, int64_t rows)
{
	struct beside *k = arg;

	k->transactions += rows > 0;
	k->most = FZ_MAX(k->most, rows);
	struct fz_sql *sql = &fz_sqlite_store(k->f)->sql;
	int64_t sweeping;
	struct fz_error err;
	assert_int_equal(fz_sql_read_id(sql, fz_sql(sql, FZ_SQL_SWEEPING), &sweeping, &err), 0);
	k->sweeping += sweeping != 0;
	/* once that is announced, and once the values are read */
	if (k->sweeping == 2 && !k->pushed) {
		put_at(k->f, k->p, 30, "2");
		k->pushed = true;
	}
	return true;
}

static void test_forget_beside_pushes(void **state)
{
	fz_auto(fz_free_ptr) char *path = make_file();
	fz_auto(fz_profile_freep) struct fz_profile *p = wide_recording();
	struct beside beside = { .p = p };
	struct fz_error err;

	(void)state;
	beside.f = open_store(path);
	struct fz_fleet *forgetter = open_store(path);
	for (int minute = 0; minute < 6; minute++)
		put_at(beside.f, p, minute, "1");
	assert_int_equal(
		fz_fleet_forget_between(forgetter, START / MINUTE + 20, push_beside, &beside, &err),
		6);
	assert_true(beside.pushed);
	assert_true(beside.transactions > 2);
	assert_true(beside.most <= FZ_FLEET_SLICE + 1);
	check_list(beside.f, path, 1);
	struct fz_profile *got = get_from(path, "2");
	assert_int_equal(cost_of(got, "f0"), SECOND / 1000);
	assert_int_equal(cost_of(got, "f2999"), SECOND / 1000);
	fz_profile_free(got);
	/* Without a push in between nothing of it is left. */
	assert_int_equal(fz_fleet_forget(forgetter, START / MINUTE + 60, &err), 1);
	sqlite3_stmt *s =
		fz_sql_once(&fz_sqlite_store(forgetter)->sql,
			    "SELECT (SELECT count(*) FROM node) + (SELECT count(*) FROM"
			    " function) + (SELECT count(*) FROM in_use) + (SELECT count(*)"
			    " FROM push) + (SELECT count(*) FROM host)");
	int64_t left;
	assert_int_equal(fz_sql_read_id(&fz_sqlite_store(forgetter)->sql, s, &left, &err), 0);
	assert_int_equal(left, 0);
	fz_sql_drop(&s);
	fz_fleet_close(forgetter);
	fz_fleet_close(beside.f);
	remove_file(path);
}

static bool stop_there(void *arg, int64_t rows)
{
	*(int64_t *)arg += rows;
	return false;
}

/* What one process leaves undone, the next one does. */
static void test_forget_ended(void **state)
{
	fz_auto(fz_free_ptr) char *path = make_file();
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(1, "work");
	int64_t rows = 0;
	struct fz_error err;
	(void)state;
	struct fz_fleet *f = open_store(path);
	/* most of them without a sample */
	for (int part = 0; part < 2; part++) {
		p->runs[0].duration_ns = (FZ_FLEET_SLICE - 1000) * MINUTE;
		put_at(f, p, part ? -FZ_FLEET_SLICE : -2 * FZ_FLEET_SLICE, "1");
	}
	assert_int_equal(fz_fleet_forget_between(f, START / MINUTE + 20, stop_there, &rows, &err),
			 FZ_FLEET_SLICE - 2);
	assert_int_equal(rows, FZ_FLEET_SLICE);
	check_list(f, path, 1);
	p->runs[0].duration_ns = SECOND;
	put_at(f, p, 30, "1");
	assert_int_equal(fz_fleet_forget(f, START / MINUTE + 20, &err), FZ_FLEET_SLICE - 1998);
	check_list(f, path, 1);
	fz_fleet_close(f);
	remove_file(path);
}

/* A query that needs damaged values fails with a message. */
static void test_damaged_values(void **state)
{
	fz_auto(fz_free_ptr) char *path = make_file();
	fz_auto(fz_profile_freep) struct fz_profile *p = recording(10, "work");
	const struct fz_fleet_push next = { "p", "s", "1", "h", "", "c" };
	const char *const sides[] = { "s@0", "s@1" };
	struct fz_fleet_query q = query_of(NULL);
	struct fz_profile *pair[2];
	enum fz_fleet_put how;
	struct fz_error err;

	(void)state;
	struct fz_fleet *f = open_store(path);
	put_at(f, p, 0, "0");
	put_at(f, p, 30, "1");
	run_sql(path, "UPDATE cell_values SET bytes = x'020101' WHERE cell = 2");
	assert_int_equal(fz_fleet_pair(f, &q, sides, pair, &err), FZ_EINPUT);
	assert_non_null(strstr(err.message, "damaged: the values of a cell"));
	fz_fleet_close(f);
	f = open_store(path);
	assert_int_equal(put_as(f, p, &next, &how, &err), FZ_EINPUT);
	assert_non_null(strstr(err.message, "damaged: the values of a cell"));
	assert_int_equal(fz_fleet_forget(f, START / MINUTE + 20, &err), FZ_EINPUT);
	fz_fleet_close(f);
	remove_file(path);
}

static void test_names(void **state)
{
	struct fz_error err;
	(void)state;
	assert_int_equal(fz_fleet_check_service("a@b", &err), FZ_EUSAGE);
	assert_int_equal(fz_fleet_check_name("version", "a\nb", &err), FZ_EUSAGE);
	assert_int_equal(fz_fleet_check_name("version", "\xff", &err), FZ_EUSAGE);
	assert_int_equal(fz_fleet_check_name("version", "<b>ü</b>", &err), 0);
}

/* A store in a folder that only others may write to. */
static void test_read_only(void **state)
{
	char folder[] = "/tmp/fz-fleet-XXXXXX";
	uid_t us = geteuid();
	struct fz_fleet *f;
	struct fz_error err;

	(void)state;
	assert_non_null(mkdtemp(folder));
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/store", folder);
	fz_fleet_close(open_store(path));
	chmod(path, 0444);
	chmod(folder, 0555);
	/* Root may write to all. */
	bool may = us || !seteuid(NOBODY);
	if (may)
		assert_int_equal(fz_fleet_open(path, FZ_FLEET_READ, &f, &err), FZ_EPERM);
	assert_int_equal(us ? 0 : seteuid(us), 0);
	if (may)
		assert_non_null(strstr(err.message, "to it or its folder"));
	chmod(folder, 0755);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minutes),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_no_stack),
		cmocka_unit_test(test_refused_times),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_projects),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_work_first),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_two_writers),
		cmocka_unit_test(test_reader_of_a_store_open_twice),
		cmocka_unit_test(test_hours),
		cmocka_unit_test(test_reused_id),
		cmocka_unit_test(test_first_layout),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_forget_beside_pushes),
		cmocka_unit_test(test_forget_ended),
		cmocka_unit_test(test_damaged_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
