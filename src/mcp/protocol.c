/* SPDX-License-Identifier: MIT */
/* Messages of the protocol; see protocol.h.
 *
 *   line -> JSON -> one message, or (in one version) a batch of several
 *        -> notification:  done, or ignored
 *           response:      ignored, the server sends no requests
 *           request:       answered by a row of methods[]; tools/call is answered later
 *
 * A batch gets one array as response, when its last request is answered.
 */
#include "mcp/protocol.h"

#include "format/jsonread.h"
#include "mcp/tools.h"

#include <stdio.h>

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_SERVER "io.modelcontextprotocol/serverInfo"

enum { TTL_MS = 3600000, BATCH_MAX = 64 };

/* Error codes of JSON-RPC, and one of the protocol. */
enum {
	PARSE_ERROR = -32700,
	INVALID_REQUEST = -32600,
	NO_METHOD = -32601,
	INVALID_PARAMS = -32602,
	NO_VERSION = -32022,
};

struct fz_mcp_version {
	const char *name;
	bool modern;     /* each request is independent */
	bool batches;    /* several messages in an array */
	bool structures; /* results have structured content */
};

/* Newest first. */
static const struct fz_mcp_version versions[] = {
	{ "2026-07-28", .modern = true, .structures = true },
	{ "2025-11-25", .structures = true },
	{ "2025-06-18", .structures = true },
	{ "2025-03-26", .batches = true },
	{ "2024-11-05" },
};
/* The version for clients that request an unknown one with "initialize". */
static const struct fz_mcp_version *const newest_agreed = &versions[1];

static const char instructions[] =
	"Fizeau profiles programs and detects what changed. Start with changes(base, head), or "
	"with compare(revision, command) to measure; follow the 'next' line of each answer. + "
	"means more cost. Quote only verify as proof: it answers 'cannot tell' if noise could "
	"explain a difference.";

struct fz_mcp_batch {
	json_t *responses;
	unsigned pending;
	bool reading; /* more requests may follow */
};

/* A message that is being handled. */
struct message {
	struct fz_mcp_protocol *p;
	struct fz_mcp_batch *batch;
	json_t *whole;
	json_t *id;     /* NULL: a notification */
	json_t *params; /* NULL: none */
	const struct fz_mcp_version *version;
};

/* ---- out ---- */

static void send(struct fz_mcp_protocol *p, const json_t *message)
{
	fz_auto(fz_free_ptr) char *text =
		json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(6));

	fz_assert(text);
	p->host->send(p->host->arg, fz_str_of(text));
}

static void settle_batch(struct fz_mcp_protocol *p, struct fz_mcp_batch *b)
{
	if (b->pending || b->reading)
		return;
	if (json_array_size(b->responses))
		send(p, b->responses);
	json_decref(b->responses);
	free(b);
}

/* Takes over the response. */
static void respond(struct fz_mcp_protocol *p, struct fz_mcp_batch *batch, json_t *response)
{
	if (batch) {
		json_array_append_new(batch->responses, response);
		return;
	}
	send(p, response);
	json_decref(response);
}

/* id: NULL if it could not be read. */
static void respond_error(struct fz_mcp_protocol *p, struct fz_mcp_batch *batch, json_t *id,
			  int code, const char *text, json_t *data)
{
	json_t *error = json_pack("{s:i, s:s}", "code", code, "message", text);

	if (data)
		json_object_set_new(error, "data", data);
	respond(p, batch,
		json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id",
			  id ? json_incref(id) : json_null(), "error", error));
}

static json_t *server_info(void)
{
	return json_pack("{s:s, s:s, s:s}", "name", "fizeau", "title", "Fizeau profiler", "version",
			 FZ_VERSION);
}

/* Takes over the result. */
static void respond_result(struct fz_mcp_protocol *p, struct fz_mcp_batch *batch, json_t *id,
			   bool modern, json_t *result)
{
	if (modern) {
		json_object_set_new(result, "resultType", json_string("complete"));
		json_object_set_new(result, "_meta",
				    json_pack("{s:o}", META_SERVER, server_info()));
	}
	respond(p, batch,
		json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

static void answer(struct message *m, json_t *result)
{
	respond_result(m->p, m->batch, m->id, m->version && m->version->modern, result);
}

static void refuse(struct message *m, int code, const char *text)
{
	respond_error(m->p, m->batch, m->id, code, text, NULL);
}

/* ---- calls ---- */

/* Remove a request from the list and free it; this may complete its batch. */
static void forget(struct fz_mcp_protocol *p, struct fz_mcp_request *r)
{
	struct fz_mcp_request **at = &p->requests;
	struct fz_mcp_batch *batch = r->batch;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	p->request_n--;
	json_decref(r->id);
	json_decref(r->message);
	free(r);
	if (batch) {
		batch->pending--;
		settle_batch(p, batch);
	}
}

void fz_mcp_finish(struct fz_mcp_protocol *p, struct fz_mcp_request *r, json_t *result)
{
	respond_result(p, r->batch, r->id, r->modern, result);
	forget(p, r);
}

void fz_mcp_progress(struct fz_mcp_protocol *p, struct fz_mcp_request *r, struct fz_str text)
{
	if (!r->progress || !fz_utf8_valid(text))
		return;
	json_t *params = json_pack("{s:O, s:I, s:s%}", "progressToken", r->progress, "progress",
				   ++r->steps, "message", text.p, text.n);
	json_t *message = json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
				    "notifications/progress", "params", params);
	send(p, message);
	json_decref(message);
}

static struct fz_mcp_request *find_request(const struct fz_mcp_protocol *p, const json_t *id)
{
	struct fz_mcp_request *r = p->requests;

	while (r && !json_equal(r->id, id))
		r = r->next;
	return r;
}

static void cancel(struct fz_mcp_protocol *p, const json_t *params)
{
	struct fz_mcp_request *r = find_request(p, json_object_get(params, "requestId"));

	if (!r)
		return;
	p->host->cancel(p->host->arg, r);
	forget(p, r);
}

static const json_t *progress_token(const struct message *m)
{
	const json_t *token = json_object_get(json_object_get(m->params, "_meta"), "progressToken");

	return json_is_string(token) || json_is_integer(token) ? token : NULL;
}

static void call_tool(struct message *m)
{
	const char *name = json_string_value(json_object_get(m->params, "name"));
	const json_t *arguments = json_object_get(m->params, "arguments");
	const struct fz_mcp_tool *tool = name ? fz_mcp_tool_find(name) : NULL;
	char text[256];

	if (!name || (arguments && !json_is_object(arguments))) {
		refuse(m, INVALID_PARAMS, "tools/call needs a name and arguments as an object");
		return;
	}
	if (!tool) {
		snprintf(text, sizeof(text), "Unknown tool: %.100s", name);
		refuse(m, INVALID_PARAMS, fz_utf8_valid(fz_str_of(text)) ? text : "Unknown tool");
		return;
	}
	if (m->p->request_n >= FZ_MCP_REQUESTS_MAX || find_request(m->p, m->id)) {
		refuse(m, INVALID_REQUEST,
		       m->p->request_n >= FZ_MCP_REQUESTS_MAX
			       ? "too many calls in progress; wait for one to finish"
			       : "a call with this id is in progress");
		return;
	}
	struct fz_mcp_request *r = fz_calloc(1, sizeof(*r));
	*r = (struct fz_mcp_request){ .tool = tool,
				      .arguments = arguments,
				      .structures = m->version->structures,
				      .next = m->p->requests,
				      .batch = m->batch,
				      .id = json_incref(m->id),
				      .message = json_incref(m->whole),
				      .progress = progress_token(m),
				      .modern = m->version->modern };
	m->p->requests = r;
	m->p->request_n++;
	if (m->batch)
		m->batch->pending++;
	m->p->host->begin(m->p->host->arg, r);
}

/* ---- other methods ---- */

static json_t *capabilities(void)
{
	return json_pack("{s:{}}", "tools");
}

static json_t *version_names(void)
{
	json_t *names = json_array();

	for (size_t i = 0; i < FZ_ARRAY_LEN(versions); i++)
		json_array_append_new(names, json_string(versions[i].name));
	return names;
}

static const struct fz_mcp_version *find_version(const char *name)
{
	for (size_t i = 0; name && i < FZ_ARRAY_LEN(versions); i++)
		if (strcmp(versions[i].name, name) == 0)
			return &versions[i];
	return NULL;
}

static void initialize(struct message *m)
{
	const char *name = json_string_value(json_object_get(m->params, "protocolVersion"));
	const struct fz_mcp_version *version = find_version(name);

	if (!name || m->batch) {
		refuse(m, m->batch ? INVALID_REQUEST : INVALID_PARAMS,
		       m->batch ? "initialize must be the only message"
				: "initialize needs a protocolVersion");
		return;
	}
	m->p->version = version && !version->modern ? version : newest_agreed;
	answer(m, json_pack("{s:s, s:o, s:o, s:s}", "protocolVersion", m->p->version->name,
			    "capabilities", capabilities(), "serverInfo", server_info(),
			    "instructions", instructions));
}

/* Lists never change while we run. */
static void set_cacheable(const struct message *m, json_t *result)
{
	if (!m->version->modern)
		return;
	json_object_set_new(result, "ttlMs", json_integer(TTL_MS));
	json_object_set_new(result, "cacheScope", json_string("private"));
}

static void discover(struct message *m)
{
	json_t *result = json_pack("{s:o, s:o, s:s}", "supportedVersions", version_names(),
				   "capabilities", capabilities(), "instructions", instructions);

	set_cacheable(m, result);
	answer(m, result);
}

static void list_tools(struct message *m)
{
	if (json_object_get(m->params, "cursor")) {
		refuse(m, INVALID_PARAMS, "all tools are on one page; cursor is not supported");
		return;
	}
	json_t *result = json_pack("{s:o}", "tools", fz_mcp_tools_describe());
	set_cacheable(m, result);
	answer(m, result);
}

static void ping(struct message *m)
{
	answer(m, json_object());
}

static const struct {
	const char *name;
	bool legacy, modern; /* exists in these generations of the protocol */
	bool early;          /* allowed before a version is negotiated */
	void (*answer)(struct message *m);
} methods[] = {
	{ "initialize", .legacy = true, .early = true, .answer = initialize },
	{ "ping", .legacy = true, .early = true, .answer = ping },
	{ "server/discover", .modern = true, .answer = discover },
	{ "tools/list", .legacy = true, .modern = true, .answer = list_tools },
	{ "tools/call", .legacy = true, .modern = true, .answer = call_tool },
};

/* ---- in ---- */

static void refuse_version(struct message *m, const char *name)
{
	respond_error(m->p, m->batch, m->id, NO_VERSION, "Unsupported protocol version",
		      json_pack("{s:o, s:s}", "supported", version_names(), "requested", name));
}

/* Find the version of a request: the one that it names, else the negotiated one. False if it was
 * refused. */
static bool find_era(struct message *m)
{
	const json_t *meta = json_object_get(m->params, "_meta");
	const json_t *named = json_object_get(meta, META_VERSION);

	m->version = m->p->version;
	if (!named)
		return true;
	m->version = find_version(json_string_value(named));
	if (!json_is_string(named) || !json_is_object(json_object_get(meta, META_CAPABILITIES)))
		refuse(m, INVALID_PARAMS, "_meta needs " META_VERSION " and " META_CAPABILITIES);
	else if (!m->version || !m->version->modern)
		refuse_version(m, json_string_value(named));
	else
		return true;
	return false;
}

static void handle_request(struct message *m, const char *method)
{
	if (!find_era(m))
		return;
	for (size_t i = 0; i < FZ_ARRAY_LEN(methods); i++) {
		bool modern = m->version && m->version->modern;
		if (strcmp(methods[i].name, method) != 0 ||
		    (modern ? !methods[i].modern : !methods[i].legacy))
			continue;
		if (!m->version && !methods[i].early)
			refuse(m, INVALID_REQUEST,
			       "not initialized: send initialize first, or name the version of "
			       "each request in its _meta");
		else
			methods[i].answer(m);
		return;
	}
	refuse(m, NO_METHOD, "Method not found");
}

/* NULL if it cannot be the id of a request. */
static json_t *valid_id(json_t *id)
{
	return json_is_string(id) || json_is_integer(id) ? id : NULL;
}

static void handle_message(struct fz_mcp_protocol *p, struct fz_mcp_batch *batch, json_t *whole)
{
	struct message m = { .p = p, .batch = batch, .whole = whole };
	const char *method = json_string_value(json_object_get(whole, "method"));
	const char *jsonrpc = json_string_value(json_object_get(whole, "jsonrpc"));
	json_t *id = json_object_get(whole, "id");
	bool response =
		!method && (json_object_get(whole, "result") || json_object_get(whole, "error"));

	m.params = json_object_get(whole, "params");
	m.id = valid_id(id);
	if (response)
		return;
	if (!jsonrpc || strcmp(jsonrpc, "2.0") != 0 || !method || (id && !m.id) ||
	    (m.params && !json_is_object(m.params)))
		refuse(&m, INVALID_REQUEST,
		       "invalid request: expected an object with jsonrpc \"2.0\", a method, an id "
		       "(string or integer) and params (object)");
	else if (m.id)
		handle_request(&m, method);
	else if (strcmp(method, "notifications/cancelled") == 0)
		cancel(p, m.params);
}

static void handle_batch(struct fz_mcp_protocol *p, json_t *list)
{
	struct fz_mcp_batch *b = fz_calloc(1, sizeof(*b));

	*b = (struct fz_mcp_batch){ .responses = json_array(), .reading = true };
	for (size_t i = 0; i < json_array_size(list); i++)
		handle_message(p, b, json_array_get(list, i));
	b->reading = false;
	settle_batch(p, b);
}

/* Respond with an error, with the id of the request if it can be found. */
static void refuse_line(struct fz_mcp_protocol *p, struct fz_str line)
{
	fz_auto(fz_jsonread_release) json_t *v = json_loadb(line.p, line.n, JSON_ALLOW_NUL, NULL);

	if (json_is_object(v))
		respond_error(p, NULL, valid_id(json_object_get(v, "id")), INVALID_REQUEST,
			      "strings must not contain \\u0000", NULL);
	else
		respond_error(p, NULL, NULL, PARSE_ERROR, "Parse error: the line is not valid JSON",
			      NULL);
}

void fz_mcp_take(struct fz_mcp_protocol *p, struct fz_str line)
{
	json_error_t why;
	bool batches = p->version && p->version->batches;

	if (!fz_str_trimmed(line).n)
		return;
	fz_auto(fz_jsonread_release) json_t *v = json_loadb(line.p, line.n, JSON_DECODE_ANY, &why);
	if (!v)
		refuse_line(p, line);
	else if (!json_is_array(v))
		handle_message(p, NULL, v);
	else if (batches && json_array_size(v) && json_array_size(v) <= BATCH_MAX)
		handle_batch(p, v);
	else
		respond_error(p, NULL, NULL, INVALID_REQUEST,
			      batches ? "a batch must have 1 to 64 messages"
				      : "this protocol version does not support batches",
			      NULL);
}

void fz_mcp_take_part(struct fz_mcp_protocol *p, struct fz_str part)
{
	fz_mcp_long_line_add(&p->long_line, part);
}

void fz_mcp_end_parts(struct fz_mcp_protocol *p)
{
	respond_error(p, NULL, valid_id(p->long_line.id), INVALID_REQUEST,
		      "the line is longer than 1 MiB", NULL);
	fz_mcp_long_line_release(&p->long_line);
}

void fz_mcp_protocol_release(struct fz_mcp_protocol *p)
{
	while (p->requests) {
		p->host->cancel(p->host->arg, p->requests);
		forget(p, p->requests);
	}
	fz_mcp_long_line_release(&p->long_line);
}
