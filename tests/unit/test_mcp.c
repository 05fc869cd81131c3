/* SPDX-License-Identifier: MIT */
/* The Model Context Protocol without a process: messages of both generations, what a client may
 * read and run, and answers within their budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "make_folder.h"
#include "mcp/access.h"
#include "mcp/answer.h"
#include "mcp/protocol.h"

/* ---- a client that writes lines and stores what it receives ---- */

struct client {
	struct fz_mcp_host host;
	struct fz_mcp_protocol p;
	struct fz_mcp_request *begun[FZ_MCP_REQUESTS_MAX];
	unsigned begun_n, cancelled;
	struct fz_buf received; /* lines */
};

static void keep_line(void *arg, struct fz_str line)
{
	struct client *c = arg;

	assert_null(memchr(line.p, '\n', line.n));
	fz_buf_add(&c->received, line.p, line.n);
	fz_buf_char(&c->received, '\n');
}

static void keep_request(void *arg, struct fz_mcp_request *r)
{
	struct client *c = arg;

	assert_true(c->begun_n < FZ_MCP_REQUESTS_MAX);
	c->begun[c->begun_n++] = r;
}

static void count_cancelled(void *arg, struct fz_mcp_request *r)
{
	(void)r;
	((struct client *)arg)->cancelled++;
}

static struct client *connect_client(void)
{
	struct client *c = fz_calloc(1, sizeof(*c));

	c->host = (struct fz_mcp_host){ keep_line, keep_request, count_cancelled, c };
	c->p.host = &c->host;
	return c;
}

static void disconnect(struct client *c)
{
	fz_mcp_protocol_release(&c->p);
	fz_buf_release(&c->received);
	free(c);
}

/* Send a line; returns the JSON of the only line received for it, NULL if there was none. */
static json_t *ask(struct client *c, const char *line)
{
	json_error_t why;

	fz_buf_reset(&c->received);
	fz_mcp_take(&c->p, fz_str_of(line));
	if (!c->received.n)
		return NULL;
	json_t *v = json_loadb(c->received.p, c->received.n, JSON_ALLOW_NUL, &why);
	assert_non_null(v);
	return v;
}

static json_int_t error_of(struct client *c, const char *line)
{
	json_t *v = ask(c, line);
	json_int_t code = json_integer_value(json_object_get(json_object_get(v, "error"), "code"));

	json_decref(v);
	return code;
}

#define CALL(id)                                                                             \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":" \
	"\"list_recordings\",\"arguments\":{}}}"
#define INITIALIZE(version)                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{" \
	"\"protocolVersion\":\"" version "\"}}"
#define MODERN(id, method)                                                                     \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{\"_meta\":{" \
	"\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                          \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}}}"

static void test_versions(void **state)
{
	static const struct {
		const char *line, *agreed;
	} cases[] = {
		{ INITIALIZE("2024-11-05"), "2024-11-05" },
		{ INITIALIZE("2025-11-25"), "2025-11-25" },
		{ INITIALIZE("2026-07-28"), "2025-11-25" }, /* has no initialize */
		{ INITIALIZE("unknown"), "2025-11-25" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct client *c = connect_client();
		json_t *v = ask(c, cases[i].line);
		const json_t *result = json_object_get(v, "result");

		assert_string_equal(json_string_value(json_object_get(result, "protocolVersion")),
				    cases[i].agreed);
		json_decref(v);
		disconnect(c);
	}
}

static void test_requests_before_a_version(void **state)
{
	struct client *c = connect_client();

	(void)state;
	assert_int_equal(error_of(c, CALL("1")), -32600);
	assert_int_equal(error_of(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"), 0);
	/* The new generation needs no initialize, but has no ping. */
	json_t *v = ask(c, MODERN("2", "tools/list"));
	const json_t *result = json_object_get(v, "result");
	assert_true(json_array_size(json_object_get(result, "tools")) > 5);
	assert_string_equal(json_string_value(json_object_get(result, "resultType")), "complete");
	json_decref(v);
	assert_int_equal(error_of(c, MODERN("3", "ping")), -32601);
	disconnect(c);
}

static void test_refused_messages(void **state)
{
	static const struct {
		const char *line;
		int code;
	} cases[] = {
		{ "{", -32700 },
		{ "[]", -32600 },
		{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32600 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0000\",\"method\":\"ping\"}", -32600 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/cal\"}", -32601 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}}",
		  -32602 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
		  "\"none\"}}",
		  -32602 },
	};
	struct client *c = connect_client();

	(void)state;
	json_decref(ask(c, INITIALIZE("2025-06-18")));
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++)
		assert_int_equal(error_of(c, cases[i].line), cases[i].code);
	/* Nobody waits for a response to these. */
	assert_null(ask(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
	assert_null(ask(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
	assert_null(ask(c, "  "));
	disconnect(c);
}

static void test_calls(void **state)
{
	struct client *c = connect_client();

	(void)state;
	json_decref(ask(c, INITIALIZE("2025-06-18")));
	assert_null(ask(c, CALL("1")));
	assert_int_equal(error_of(c, CALL("1")), -32600); /* this id is in progress */
	for (int i = 1; i < FZ_MCP_REQUESTS_MAX; i++) {
		char line[256];

		snprintf(line, sizeof(line), CALL("%d"), 100 + i);
		assert_null(ask(c, line));
	}
	assert_int_equal(error_of(c, CALL("9")), -32600); /* too many */
	fz_buf_reset(&c->received);
	fz_mcp_finish(&c->p, c->begun[0], json_pack("{s:i}", "x", 7));
	assert_string_equal(c->received.p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":7}}\n");
	assert_null(ask(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			   "\"params\":{\"requestId\":101}}"));
	assert_int_equal(c->cancelled, 1);
	assert_int_equal(c->p.request_n, FZ_MCP_REQUESTS_MAX - 2);
	fz_mcp_protocol_release(&c->p);
	assert_int_equal(c->cancelled, FZ_MCP_REQUESTS_MAX - 1);
	disconnect(c);
}

/* The version that has batches gets one array when the last call of it is finished. */
static void test_batches(void **state)
{
	struct client *c = connect_client();

	(void)state;
	json_decref(ask(c, INITIALIZE("2025-03-26")));
	assert_null(
		ask(c, "[" CALL("1") ",{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}," CALL(
			       "3") "]"));
	fz_mcp_finish(&c->p, c->begun[1], json_object());
	assert_int_equal(c->received.n, 0);
	fz_mcp_finish(&c->p, c->begun[0], json_object());
	json_t *v = json_loads(c->received.p, 0, NULL);
	assert_int_equal(json_array_size(v), 3);
	json_decref(v);
	disconnect(c);
}

/* ---- what a client may read and run ---- */

static bool resolves(const char *name)
{
	struct fz_error err;
	char *path = NULL;
	int r = fz_mcp_resolve(name, &path, &err);

	free(path);
	return r == 0;
}

static void test_files(void **state)
{
	char root[] = "/tmp/fz-mcp-XXXXXX", old[4096];

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_non_null(getcwd(old, sizeof(old)));
	make_folder(root, "in/below");
	make_folder(root, "out");
	assert_int_equal(chdir(root), 0);
	for (const char *const *name =
		     (const char *const[]){ "in/a.fz", "in/below/b.fz", "out/c.fz", NULL };
	     *name; name++) {
		FILE *f = fopen(*name, "w");

		assert_non_null(f);
		fclose(f);
	}
	assert_int_equal(symlink("../out/c.fz", "in/link.fz"), 0);
	assert_int_equal(symlink("below/b.fz", "in/inside.fz"), 0);
	assert_int_equal(symlink("../out", "in/folder"), 0);
	assert_int_equal(chdir("in"), 0);
	assert_true(resolves("a.fz"));
	assert_true(resolves("below/b.fz"));
	assert_true(resolves("./inside.fz"));
	assert_false(resolves("link.fz"));
	assert_false(resolves("./link.fz"));
	assert_false(resolves("folder/c.fz"));
	assert_false(resolves("../out/c.fz"));
	assert_false(resolves("/etc/passwd"));
	assert_false(resolves("below")); /* a folder */
	assert_false(resolves("-"));
	assert_false(resolves(""));
	assert_false(fz_mcp_may_read("../out/c.fz"));
	assert_int_equal(chdir(old), 0);
	fz_auto(fz_free_ptr) char *remove = fz_asprintf("rm -r %s", root);
	assert_int_equal(system(remove), 0);
}

static bool may_run(const char *command, const char *words)
{
	const char *const commands[] = { command, NULL };
	struct fz_mcp_options o = { .commands = commands };
	json_t *list = json_loads(words, 0, NULL);
	struct fz_error err;
	bool may = fz_mcp_may_run(&o, list, &err) == 0;

	json_decref(list);
	return may;
}

static void test_commands(void **state)
{
	(void)state;
	assert_true(may_run("python3 bench.py", "[\"python3\", \"bench.py\"]"));
	assert_false(may_run("python3 bench.py", "[\"python3\", \"bench.py\", \"-x\"]"));
	assert_false(may_run("python3 bench.py", "[\"python3\"]"));
	assert_false(may_run("python3 bench.py", "[\"python3 bench.py\"]"));
	assert_true(may_run("python3 bench.py *", "[\"python3\", \"bench.py\"]"));
	assert_true(may_run("python3 bench.py *", "[\"python3\", \"bench.py\", \"-x\", \"a b\"]"));
	assert_false(may_run("python3 bench.py *", "[\"python3\", \"other.py\"]"));
	assert_false(may_run("*", "[\"sh\"]")); /* no program is named */
	assert_false(may_run("", "[]"));
}

/* ---- answers ---- */

static struct fz_mcp_call call_with_rows(int rows, bool structured)
{
	struct fz_mcp_call c = { .structured = structured, .answer = json_object() };
	json_t *list = json_array();

	json_object_set_new(c.answer, "says", json_string("5 functions changed"));
	for (int i = 0; i < rows; i++)
		json_array_append_new(list, json_pack("{s:s, s:i, s:i}", "function", "parse_record",
						      "line", i, "rank", i % 10));
	json_object_set_new(c.answer, "functions", list);
	return c;
}

static const char *text_of(const json_t *result)
{
	const json_t *content = json_array_get(json_object_get(result, "content"), 0);

	return json_string_value(json_object_get(content, "text"));
}

static void test_budget(void **state)
{
	(void)state;
	for (int structured = 0; structured < 2; structured++) {
		for (unsigned budget = FZ_MCP_BUDGET_MIN; budget <= 1600; budget *= 2) {
			struct fz_mcp_call c = call_with_rows(100, structured);
			json_t *result = fz_mcp_answer_result(&c, budget, false);
			const char *text = text_of(result);

			assert_true(strlen(text) <= (size_t)budget * FZ_MCP_BYTES_A_TOKEN);
			assert_non_null(strstr(text, "5 functions changed"));
			assert_null(strstr(text, "rank"));
			/* Rows of the highest rank go first, and the answer has their number. */
			size_t shown = json_array_size(json_object_get(c.answer, "functions"));
			json_int_t gone = json_integer_value(json_object_get(c.answer, "left_out"));
			assert_int_equal(shown + (size_t)gone, 100);
			assert_true(gone == 0 || strstr(text, "left_out"));
			assert_true(gone < 10 || !strstr(text, "parse_record | 9\n"));
			json_decref(result);
			json_decref(c.answer);
		}
	}
}

/* A line in parts, cut anywhere, is answered with its id. */
static void test_long_lines(void **state)
{
	static const struct {
		const char *line, *id;
	} cases[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}", "7" },
		{ "{\"method\":\"x\",\"params\":{\"id\":1,\"a\":[{\"id\":2}]},\"id\":\"a,b\"}",
		  "\"a,b\"" },
		{ "{ \"x\" : \"\\\", {\\\\\" , \"id\" : -3 ", "null" },
		{ "{ \"x\" : \"\\\", {\\\\\" , \"id\" : -3 }", "-3" },
		{ "{\"id\":\"\\\\\"}", "\"\\\\\"" },
		{ "{\"x\":\"id\",\"y\":4}", "null" },
		{ "{\"id\":{\"id\":4}}", "null" },
		{ "{\"id\":1.5}", "null" },
		{ "{\"id\":\"a\\u0000\"}", "null" },
		{ "[{\"id\":4}]", "null" },
		{ "}}]\"id\":4}", "null" },
		{ "id:4", "null" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		size_t n = strlen(cases[i].line);

		for (size_t cut = 0; cut <= n; cut++) {
			struct client *c = connect_client();
			fz_auto(fz_free_ptr) char *expected =
				fz_asprintf("\"id\":%s,", cases[i].id);

			fz_mcp_take_part(&c->p, (struct fz_str){ cases[i].line, cut });
			fz_mcp_take_part(&c->p, (struct fz_str){ cases[i].line + cut, n - cut });
			fz_mcp_end_parts(&c->p);
			fz_buf_char(&c->received, 0);
			if (!strstr(c->received.p, expected))
				fail_msg("%s: %s", cases[i].line, c->received.p);
			disconnect(c);
		}
	}
}

/* An id that is too long is not kept. */
static void test_long_id(void **state)
{
	struct client *c = connect_client();

	(void)state;
	fz_mcp_take_part(&c->p, FZ_STR("{\"id\":\""));
	for (int i = 0; i < FZ_MCP_TOKEN_MAX; i++)
		fz_mcp_take_part(&c->p, FZ_STR("x"));
	fz_mcp_take_part(&c->p, FZ_STR("\"}"));
	fz_mcp_end_parts(&c->p);
	fz_buf_char(&c->received, 0);
	assert_non_null(strstr(c->received.p, "\"id\":null"));
	disconnect(c);
}

/* Text that cannot fit is cut where a character ends. */
static void test_cut(void **state)
{
	char message[1001];
	json_t *result;

	(void)state;
	for (int i = 0; i + 1 < 1000; i += 2)
		memcpy(message + i, "\xc3\xa9", 2);
	message[1000] = 0;
	result = fz_mcp_answer_error(message, FZ_MCP_BUDGET_MIN);
	assert_true(strlen(text_of(result)) <= FZ_MCP_BUDGET_MIN * FZ_MCP_BYTES_A_TOKEN);
	assert_non_null(strstr(text_of(result), "\xc3\xa9..."));
	assert_true(json_is_true(json_object_get(result, "isError")));
	json_decref(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_requests_before_a_version),
		cmocka_unit_test(test_refused_messages),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_long_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
