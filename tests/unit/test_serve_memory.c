/* SPDX-License-Identifier: MIT */
/* Small bodies that take much memory: every input refuses them within its budget. */
#include "serve_requests.h"

#include <zlib.h>

#include "format/wire.h"

enum { MUCH = 12 << 20 }; /* above what one request may take */

static struct fz_buf zipped(const struct fz_buf *plain)
{
	z_stream z = { .next_in = (Bytef *)plain->p, .avail_in = (uInt)plain->n };
	struct fz_buf ret = { 0 };

	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	size_t most = deflateBound(&z, plain->n);
	z.next_out = (Bytef *)fz_buf_reserve(&ret, most);
	z.avail_out = (uInt)most;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	ret.n = z.total_out;
	deflateEnd(&z);
	return ret;
}

static void repeat(struct fz_buf *b, const char *bytes, size_t n, size_t total)
{
	for (size_t i = 0; i < total; i += n)
		fz_buf_add(b, bytes, n);
}

/* ---- bodies; each is compressed ---- */

static struct fz_buf folded(void)
{
	struct fz_buf b = { 0 };

	for (int i = 0; b.n < MUCH; i++)
		fz_buf_printf(&b, "main;f%d 1\n", i);
	return b;
}

enum { PPROF_TYPES = 1, PPROF_SAMPLES = 2, PPROF_FUNCTIONS = 5, PPROF_STRINGS = 6 };

static void put_head(struct fz_buf *b)
{
	static const char *const strings[] = { "", "cpu", "nanoseconds" };
	fz_auto(fz_buf_release) struct fz_buf type = { 0 };

	fz_wire_put(&type, 1, 1);
	fz_wire_put(&type, 2, 2);
	fz_wire_put_message(b, PPROF_TYPES, &type);
	for (size_t i = 0; i < FZ_ARRAY_LEN(strings); i++)
		fz_wire_put_bytes(b, PPROF_STRINGS, fz_str_of(strings[i]));
}

static struct fz_buf pprof(void)
{
	struct fz_buf b = { 0 };

	put_head(&b);
	repeat(&b, "\x2a\0", 2, MUCH);
	return b;
}

/* A message that fits, with a table that does not. */
static struct fz_buf pprof_table(void)
{
	struct fz_buf b = { 0 };

	put_head(&b);
	repeat(&b, "\x2a\0", 2, MUCH / 6);
	return b;
}

static struct fz_buf push_v1(void)
{
	struct fz_buf b = { 0 };

	repeat(&b, "\x0a\0", 2, MUCH);
	return b;
}

/* The message is small, the profile in it is not. */
static struct fz_buf push_v1_inner(void)
{
	fz_auto(fz_buf_release) struct fz_buf plain = pprof(), profile = zipped(&plain);
	fz_auto(fz_buf_release) struct fz_buf label = { 0 }, sample = { 0 }, series = { 0 };
	struct fz_buf b = { 0 };

	fz_wire_put_bytes(&label, 1, FZ_STR("service_name"));
	fz_wire_put_bytes(&label, 2, FZ_STR("s"));
	fz_wire_put_message(&series, 1, &label);
	fz_wire_put_bytes(&sample, 1, fz_buf_view(&profile));
	fz_wire_put_message(&series, 2, &sample);
	fz_wire_put_message(&b, 1, &series);
	return b;
}

enum { OTLP_RESOURCES = 1, OTLP_DICTIONARY = 2, DICTIONARY_STRINGS = 5 };

static struct fz_buf otlp(void)
{
	struct fz_buf b = { 0 };

	repeat(&b, "\x0a\0", 2, MUCH);
	return b;
}

static struct fz_buf otlp_json(void)
{
	struct fz_buf b = { 0 };

	fz_buf_str(&b, "{\"resourceProfiles\":[");
	repeat(&b, "{},", 3, MUCH);
	fz_buf_str(&b, "{}]}");
	return b;
}

static const struct {
	const char *name;
	server_route *route;
	const char *parameters, *type;
	struct fz_buf (*make)(void);
} bombs[] = {
#define OURS "service=s version=1 host=h"
	{ "folded", fz_answer_push, OURS, "", folded },
	{ "pprof", fz_answer_push, OURS, "", pprof },
	{ "pprof, a table", fz_answer_push, OURS, "", pprof_table },
	{ "ingest, folded", fz_answer_ingest, "name=s", "", folded },
	{ "ingest, pprof", fz_answer_ingest, "name=s", "", pprof },
	{ "push.v1", fz_answer_push_v1, "", "application/proto", push_v1 },
	{ "push.v1, a profile", fz_answer_push_v1, "", "application/proto", push_v1_inner },
	{ "OTLP", fz_answer_otlp, "", "application/x-protobuf", otlp },
	{ "OTLP, JSON", fz_answer_otlp, "", "application/json", otlp_json },
	{ "a report", fz_answer_run,
	  "repository=r id=i head=0123456789abcdef0123456789abcdef01234567", "", otlp_json },
};

static void test_bombs(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(bombs); i++) {
		fz_auto(fz_buf_release) struct fz_buf plain = bombs[i].make();
		fz_auto(fz_buf_release) struct fz_buf body = zipped(&plain);
		fz_auto(fz_free_ptr) char *text = NULL;

		atomic_store(&server.memory.peak, 0);
		unsigned status = request_typed(bombs[i].route, "p", bombs[i].parameters,
						bombs[i].type, fz_buf_view(&body), &text);
		if (status != 413 || !strstr(text, "8 MiB"))
			fail_msg("%s: %u %s", bombs[i].name, status, text);
		uint64_t peak = atomic_load(&server.memory.peak);
		if (!peak || peak > SERVER_MEMORY / 2)
			fail_msg("%s: %llu bytes", bombs[i].name, (unsigned long long)peak);
		assert_int_equal(atomic_load(&server.memory.taken), 0);
	}
}

/* If others have taken the memory, the request is to be repeated, not given up. */
static void test_others(void **state)
{
	struct fz_budget_part others = { .budget = &server.memory, .limit = SERVER_MEMORY };
	const struct fz_str body = FZ_STR("main;work 30\n");

	(void)state;
	assert_true(fz_budget_take(&others, SERVER_MEMORY));
	expect_typed(503, "try again", fz_answer_push, "p", OURS, "", body);
	fz_budget_release(&others);
	expect_typed(200, "stored", fz_answer_push, "p", OURS, "", body);
	assert_int_equal(atomic_load(&server.memory.taken), 0);
}

/* A dictionary is copied for each service of a request, but not for all at once. */
static void test_dictionary(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf dictionary = { 0 }, body = { 0 };

	(void)state;
	repeat(&dictionary, "\x2a\4abcd", 6, 256 << 10);
	for (int i = 0; i < 64; i++) {
		fz_auto(fz_buf_release) struct fz_buf value = { 0 }, pair = { 0 }, names = { 0 };
		fz_auto(fz_buf_release) struct fz_buf scope = { 0 }, resource = { 0 };
		fz_auto(fz_free_ptr) char *name = fz_asprintf("s%d", i);

		fz_wire_put_bytes(&value, 1, fz_str_of(name));
		fz_wire_put_bytes(&pair, 1, FZ_STR("service.name"));
		fz_wire_put_message(&pair, 2, &value);
		fz_wire_put_message(&names, 1, &pair);
		fz_wire_put_message(&resource, 1, &names);
		fz_wire_put_bytes(&scope, 2, FZ_STR("")); /* a profile */
		fz_wire_put_message(&resource, 2, &scope);
		fz_wire_put_message(&body, OTLP_RESOURCES, &resource);
	}
	fz_wire_put_message(&body, OTLP_DICTIONARY, &dictionary);
	fz_auto(fz_buf_release) struct fz_buf small = zipped(&body);
	atomic_store(&server.memory.peak, 0);
	expect_typed(200, "", fz_answer_otlp, "p", "", "application/x-protobuf",
		     fz_buf_view(&small));
	assert_in_range(atomic_load(&server.memory.peak), 256 << 10, SERVER_MEMORY / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_dictionary),
	};

	return cmocka_run_group_tests(tests, open_server, close_server);
}
