/* SPDX-License-Identifier: MIT */
/* Labels of samples, as pprof.Do sets them: kept within limits, usable like labels of pushes, and
 * never lost without a number. */
#include "serve_requests.h"

#include <jansson.h>

#include "format/import.h"
#include "format/wire.h"

enum { TYPES = 1, SAMPLES = 2, LOCATIONS = 4, FUNCTIONS = 5, STRINGS = 6, TIME = 9, DURATION = 10 };

struct maker {
	struct fz_buf body;
	uint32_t strings;
};

static uint32_t string(struct maker *m, const char *text)
{
	fz_wire_put_bytes(&m->body, STRINGS, fz_str_of(text));
	return m->strings++;
}

static void put_pair(struct maker *m, uint32_t field, uint64_t first, uint64_t second)
{
	fz_auto(fz_buf_release) struct fz_buf pair = { 0 };

	fz_wire_put(&pair, 1, first);
	fz_wire_put(&pair, 2, second);
	fz_wire_put_message(&m->body, field, &pair);
}

/* A profile by CPU time with the functions 1 "parse" and 2 "render". */
static struct maker begin(void)
{
	static const char *const names[] = { "", "cpu", "nanoseconds", "parse", "render" };
	struct maker m = { 0 };

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		string(&m, names[i]);
	put_pair(&m, TYPES, 1, 2);
	for (uint64_t id = 1; id <= 2; id++) {
		fz_auto(fz_buf_release) struct fz_buf line = { 0 }, location = { 0 };

		put_pair(&m, FUNCTIONS, id, 2 + id);
		fz_wire_put(&line, 1, id);
		fz_wire_put(&location, 1, id);
		fz_wire_put_message(&location, 4, &line);
		fz_wire_put_message(&m.body, LOCATIONS, &location);
	}
	fz_wire_put(&m.body, TIME, (uint64_t)1790000000 * 1000000000);
	fz_wire_put(&m.body, DURATION, (uint64_t)10 * 1000000000);
	return m;
}

/* A sample of a function; labels: "key=value key=value". */
static void sample(struct maker *m, uint64_t function, uint64_t ns, const char *labels)
{
	fz_auto(fz_free_ptr) char *words = fz_strdup(labels);
	fz_auto(fz_buf_release) struct fz_buf s = { 0 };
	char *rest;

	fz_wire_put(&s, 1, function);
	fz_wire_put(&s, 2, ns);
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		fz_auto(fz_buf_release) struct fz_buf label = { 0 };
		char *value = strchr(word, '=');

		*value++ = 0;
		fz_wire_put(&label, 1, string(m, word));
		fz_wire_put(&label, 2, string(m, value));
		fz_wire_put_message(&s, 3, &label);
	}
	fz_wire_put_message(&m->body, SAMPLES, &s);
}

static void push(struct maker *m, const char *parameters, const char *wanted)
{
	expect_typed(200, wanted, fz_answer_push, "p", parameters, "", fz_buf_view(&m->body));
	fz_buf_release(&m->body);
}

/* Costs of a function in a release with some labels ("label=k=v", or ""), read as a comparison with
 * itself. */
static double cost(const char *release, const char *labels, const char *function)
{
	fz_auto(fz_free_ptr) char *query =
		fz_asprintf("base=%s head=%s %s", release, release, labels);
	fz_auto(fz_free_ptr) char *text = NULL;
	unsigned status = request_typed(fz_answer_json, "p", query, "", FZ_STR(""), &text);
	json_t *v = json_loads(text, 0, NULL), *entry;
	double ret = 0;
	size_t i;

	if (status != 200)
		fail_msg("%s: %u %s", query, status, text);
	json_array_foreach(json_object_get(v, "functions"), i, entry)
	{
		if (strcmp(json_string_value(json_object_get(entry, "name")), function) == 0)
			ret = json_number_value(json_object_get(entry, "base_self"));
	}
	json_decref(v);
	return ret;
}

static void test_kept(void **state)
{
	struct maker m = begin();

	(void)state;
	sample(&m, 1, 100, "endpoint=/a");
	sample(&m, 1, 30, "endpoint=/b tenant=x");
	sample(&m, 2, 7, "tenant=x endpoint=/b");
	sample(&m, 2, 1000, "");
	push(&m, "service=go version=1 host=h label=region=eu id=1", "\"samples\":4}");
	assert_int_equal(cost("go@1", "", "parse"), 130);
	assert_int_equal(cost("go@1", "", "render"), 1007);
	assert_int_equal(cost("go@1", "label=endpoint=/a", "parse"), 100);
	assert_int_equal(cost("go@1", "label=endpoint=/b", "parse"), 30);
	assert_int_equal(cost("go@1", "label=tenant=x", "render"), 7);
	assert_int_equal(cost("go@1", "label=tenant=x label=region=eu", "render"), 7);
	assert_int_equal(cost("go@1", "label=region=eu", "render"), 1007);
}

/* Sent again, all parts are known. */
static void test_again(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct maker m = begin();

		sample(&m, 1, 100, "endpoint=/a");
		sample(&m, 1, 10, "");
		push(&m, "service=again version=1 host=h",
		     i ? "\"status\":\"known\"" : "\"status\":\"stored\"");
	}
	assert_int_equal(cost("again@1", "", "parse"), 110);
	assert_int_equal(cost("again@1", "label=endpoint=/a", "parse"), 100);
}

/* A push whose id was used for another stores no part. */
static void test_refused(void **state)
{
	struct maker m = begin();

	(void)state;
	sample(&m, 1, 100, "endpoint=/c");
	sample(&m, 1, 50, "");
	expect_typed(422, "used for another push", fz_answer_push, "p",
		     "service=go version=1 host=h id=1", "", fz_buf_view(&m.body));
	fz_buf_release(&m.body);
	assert_int_equal(cost("go@1", "", "parse"), 130);
}

/* Names of threads and spans are not labels. */
static void test_ignored(void **state)
{
	struct maker m = begin();

	(void)state;
	sample(&m, 1, 100, "span_id=1 thread_id=7 __session_id__=9");
	push(&m, "service=ignored version=1 host=h", "\"samples\":1}");
	assert_int_equal(cost("ignored@1", "", "parse"), 100);
}

/* Labels that cannot be kept cost no sample, and their number is in the answer. */
static void test_lost(void **state)
{
	struct maker m = begin();
	fz_auto(fz_buf_release) struct fz_buf longer = { 0 };

	(void)state;
	fz_buf_str(&longer, "endpoint=");
	for (int i = 0; i < FZ_FLEET_NAME_MAX + 1; i++)
		fz_buf_char(&longer, 'x');
	fz_buf_char(&longer, 0);
	sample(&m, 1, 1, "a/b=c");
	sample(&m, 1, 2, longer.p);
	sample(&m, 1, 4, "region=us");
	sample(&m, 1, 8, "region=eu");
	push(&m, "service=lost version=1 host=h label=region=eu",
	     "\"samples\":4,\"unlabelled\":3}");
	assert_int_equal(cost("lost@1", "", "parse"), 15);
	assert_int_equal(cost("lost@1", "label=region=eu", "parse"), 15);
}

/* Of many sets those with most samples are kept; a service has a limit for all its pushes. */
static void test_many(void **state)
{
	fz_auto(fz_free_ptr) char *text = NULL;
	struct maker m = begin();

	(void)state;
	for (int i = 0; i < 20; i++) {
		fz_auto(fz_free_ptr) char *label = fz_asprintf("request=%d", i);

		for (int n = 0; n <= i; n++)
			sample(&m, 1, 10, label);
	}
	/* 1 + 2 + 3 + 4 samples of the four rarest. */
	push(&m, "service=many version=1 host=h", "\"samples\":210,\"unlabelled\":10}");
	assert_int_equal(cost("many@1", "label=request=4", "parse"), 50);
	assert_int_equal(request_typed(fz_answer_json, "p",
				       "base=many@1 head=many@1 label=request=3", "", FZ_STR(""),
				       &text),
			 422);
	for (int i = 1; 16 * i < FZ_FLEET_SAMPLE_SETS + 16; i++) {
		fz_auto(fz_free_ptr) char *to =
			fz_asprintf("service=many version=1 host=h id=many%d", i);

		m = begin();
		for (int n = 0; n < 16; n++) {
			fz_auto(fz_free_ptr) char *label = fz_asprintf("request=%d-%d", i, n);

			sample(&m, 2, 1, label);
		}
		push(&m, to,
		     16 * (i + 1) <= FZ_FLEET_SAMPLE_SETS ? "\"samples\":16}"
							  : "\"samples\":16,\"unlabelled\"");
	}
	assert_int_equal(cost("many@1", "", "parse"), 2100);
	assert_int_equal(cost("many@1", "", "render"), 16 * 32);
	/* Labels of pushes still have room. */
	m = begin();
	sample(&m, 1, 1, "");
	push(&m, "service=many version=1 host=h label=zone=1", "stored");
	assert_true(atomic_load(&server.figures.unlabelled) > 10);
}

/* ---- OTLP, as a current collector sends it: all texts in the dictionary ---- */

enum { OTLP_STRING = 5, OTLP_ATTRIBUTE = 6, OTLP_STACK = 7 };
enum { NAME = 6, ROUTE = 7, CART = 8, SEARCH = 9, THREAD = 10, COUNT = 11, ID = 12 };

static void put_in(struct fz_buf *to, uint32_t field, struct fz_buf *message)
{
	fz_wire_put_message(to, field, message);
	fz_buf_release(message);
}

/* A message of one number; empty for 0. */
static struct fz_buf one(uint32_t field, uint64_t number)
{
	struct fz_buf ret = { 0 };

	fz_wire_put(&ret, field, number);
	return ret;
}

/* {key_strindex, value {string_value_strindex or int_value}} */
static void put_attribute(struct fz_buf *dictionary, uint64_t key, uint32_t kind, uint64_t value)
{
	struct fz_buf attribute = one(1, key), any = one(kind, value);

	put_in(&attribute, 2, &any);
	put_in(dictionary, OTLP_ATTRIBUTE, &attribute);
}

/* Attributes 1 and 2 are routes, 3 a thread's name, 4 a number, 5 a container. */
static struct fz_buf dictionary(void)
{
	static const char *const texts[] = { "",
					     "cpu",
					     "nanoseconds",
					     "parse",
					     "service.name",
					     "otel",
					     "x",
					     "http.route",
					     "/cart",
					     "/search",
					     "thread.name",
					     "count",
					     "container.id" };
	struct fz_buf d = { 0 }, part = { 0 };

	for (uint64_t i = 0; i < 2; i++) {
		struct fz_buf line = one(1, i), location = { 0 }, stack = one(1, i);

		put_in(&location, 3, &line);
		put_in(&d, 2, &location);
		part = one(1, 3 * i);
		put_in(&d, 3, &part);
		put_in(&d, OTLP_STACK, &stack);
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++)
		fz_wire_put_bytes(&d, OTLP_STRING, fz_str_of(texts[i]));
	put_in(&d, OTLP_ATTRIBUTE, &part);
	put_attribute(&d, ROUTE, 8, CART);
	put_attribute(&d, ROUTE, 8, SEARCH);
	put_attribute(&d, THREAD, 8, NAME);
	put_attribute(&d, COUNT, 3, 7);
	put_attribute(&d, ID, 8, NAME);
	return d;
}

/* attributes: their numbers as bytes. */
static void otlp_sample(struct fz_buf *profile, uint8_t ns, const char *attributes)
{
	struct fz_buf s = one(1, 1);

	fz_wire_put_bytes(&s, 2, fz_str_of(attributes));
	fz_wire_put_bytes(&s, 4, (struct fz_str){ (const char *)&ns, 1 });
	put_in(profile, 2, &s);
}

static void test_otlp(void **state)
{
	struct fz_buf body = { 0 }, resource = { 0 }, attribute = one(3, 4), any = one(8, 5);
	struct fz_buf profile = { 0 }, type = one(1, 1), scope = { 0 }, part = { 0 };

	(void)state;
	put_in(&attribute, 2, &any);
	put_in(&resource, 1, &attribute);
	fz_wire_put(&type, 2, 2);
	put_in(&profile, 1, &type);
	otlp_sample(&profile, 1, "\x01");
	otlp_sample(&profile, 2, "\x02\x03\x04");
	otlp_sample(&profile, 4, "\x05\x01");
	otlp_sample(&profile, 8, "\x03\x05");
	otlp_sample(&profile, 16, "\x01\x02\x7f");
	otlp_sample(&profile, 32, "");
	fz_wire_put(&profile, 3, (uint64_t)1790000000 * 1000000000);
	put_in(&scope, 2, &profile);
	put_in(&part, 1, &resource);
	put_in(&part, 2, &scope);
	put_in(&body, 1, &part);
	part = dictionary();
	put_in(&body, 2, &part);
	expect_typed(200, "", fz_answer_otlp, "p", "", "application/x-protobuf",
		     fz_buf_view(&body));
	fz_buf_release(&body);
	assert_int_equal(cost("otel@unversioned", "", "parse"), 63);
	assert_int_equal(cost("otel@unversioned", "label=http.route=/cart", "parse"), 5);
	/* The later of two values counts, as in pprof. */
	assert_int_equal(cost("otel@unversioned", "label=http.route=/search", "parse"), 18);
}

/* However often a sample refers to a long text, little is kept. */
static void test_long_set(void **state)
{
	fz_auto(fz_free_ptr) char *value = fz_calloc(1, 40001);
	fz_auto(fz_buf_release) struct fz_buf set = { 0 };

	(void)state;
	memset(value, 'x', 40000);
	for (int i = 0; i < 1000; i++)
		fz_import_keep_label(&set, FZ_STR("k"), fz_str_of(value));
	assert_in_range(set.n, 40003, FZ_IMPORT_LABELS_MAX + 1000);
	assert_true(set.p[40002] == 0 && set.p[40003] == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),    cmocka_unit_test(test_again),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_ignored),
		cmocka_unit_test(test_lost),    cmocka_unit_test(test_many),
		cmocka_unit_test(test_otlp),    cmocka_unit_test(test_long_set),
	};

	return cmocka_run_group_tests(tests, open_server, close_server);
}
