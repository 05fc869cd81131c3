/* SPDX-License-Identifier: MIT */
/* A client that says anything, to a server that has two recordings and lets nothing be run. Tools
 * are run here, in this process. Whatever comes back is JSON-RPC, within the budget, and nothing
 * stays unanswered. */
#include "fuzz.h"

#include "mcp/protocol.h"
#include "mcp/tools.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES_MAX = 64 };

static char folder[64];

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "we");

	fz_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void remove_files(void)
{
	unlink("base.folded");
	unlink("head.folded");
	fz_assert(chdir("/") == 0);
	rmdir(folder);
}

/* No git is found: to ask it for every mutated name would take all the time. */
static void set_up(void)
{
	snprintf(folder, sizeof(folder), "/tmp/fz-mcp-XXXXXX");
	fz_assert(mkdtemp(folder) && chdir(folder) == 0);
	setenv("PATH", "", 1);
	write_file("base.folded", "main;work;parse 500\nmain;work 300\nmain;<b>\\x1b[31m 20\n");
	write_file("head.folded", "main;work;parse 900\nmain;work 310\nmain;sort;key 50\n");
	atexit(remove_files);
}

struct server {
	struct fz_mcp_protocol protocol;
	struct fz_mcp_handles handles;
};

static void send(void *arg, struct fz_str line)
{
	json_t *v = json_loadb(line.p, line.n, 0, NULL);

	(void)arg;
	fz_assert(v && !memchr(line.p, '\n', line.n));
	fz_assert(json_is_array(v) || json_object_get(v, "jsonrpc"));
	json_decref(v);
}

static size_t budget_of(const json_t *arguments)
{
	json_int_t n = json_integer_value(json_object_get(arguments, "budget_tokens"));

	return n >= FZ_MCP_BUDGET_MIN && n <= FZ_MCP_BUDGET_MAX ? (size_t)n : FZ_MCP_BUDGET_DEFAULT;
}

static void check_size(const json_t *result, size_t budget)
{
	const json_t *content = json_array_get(json_object_get(result, "content"), 0);
	const json_t *structured = json_object_get(result, "structuredContent");
	size_t n = json_string_length(json_object_get(content, "text"));
	fz_auto(fz_free_ptr) char *text =
		structured ? json_dumps(structured, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;

	fz_assert(json_is_string(json_object_get(content, "text")));
	fz_assert(n + (text ? strlen(text) : 0) <= budget * FZ_MCP_BYTES_A_TOKEN);
}

static void begin(void *arg, struct fz_mcp_request *r)
{
	static const char *const none[] = { NULL };
	struct server *s = arg;
	struct fz_mcp_options options = { .root = ".", .commands = none, .timeout = 1 };
	struct fz_mcp_call call = { .options = &options, .handles = &s->handles };
	json_t *empty = json_object();

	s->handles.next++;
	s->handles.added = false;
	json_t *result =
		fz_mcp_tool_run(r->tool, &call, r->arguments ? r->arguments : empty, r->structures);
	check_size(result, budget_of(r->arguments));
	json_decref(empty);
	fz_mcp_finish(&s->protocol, r, result);
}

static void cancel(void *arg, struct fz_mcp_request *r)
{
	(void)arg;
	(void)r;
	fz_assert(!"answered before it can be cancelled");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct server s = { 0 };
	struct fz_mcp_host host = { send, begin, cancel, &s };
	struct fz_str rest = { (const char *)data, n };

	if (!folder[0])
		set_up();
	s.protocol.host = &host;
	for (int i = 0; i < LINES_MAX && rest.n; i++)
		fz_mcp_take(&s.protocol, fz_str_take_line(&rest));
	fz_assert(!s.protocol.requests && !s.protocol.request_n);
	fz_mcp_handles_release(&s.handles);
	return 0;
}
