/* SPDX-License-Identifier: MIT */
/* JSON-RPC of the Model Context Protocol: lines in, lines out.
 *
 *   fz_mcp_take(line) -> answered at once, or host->begin(request) ... fz_mcp_finish(request)
 *
 * Two generations of the protocol are supported at the same time: up to 2025-11-25 a client sends
 * "initialize" once to negotiate a version; from 2026-07-28 each request has its version and is
 * independent. Input is untrusted: the response is always a result, an error or, where the protocol
 * requires it, nothing.
 */
#pragma once

#include "base/str.h"

#include <jansson.h>

/* Bytes of a line. JSON takes some ten times its text while it is read. */
enum { FZ_MCP_LINE_MAX = 1 << 20, FZ_MCP_REQUESTS_MAX = 16 };

struct fz_mcp_tool;
struct fz_mcp_batch;

/* A call of a tool that is not answered yet. */
struct fz_mcp_request {
	const struct fz_mcp_tool *tool;
	const json_t *arguments; /* an object, not checked; NULL: none */
	bool structures;         /* the client's version knows structured content */
	/* private */
	struct fz_mcp_request *next;
	struct fz_mcp_batch *batch;
	json_t *id, *message;
	const json_t *progress; /* token; NULL: nobody asked */
	bool modern;
	json_int_t steps;
};

struct fz_mcp_host {
	/* A message without the end of its line. */
	void (*send)(void *arg, struct fz_str line);
	/* Ends in fz_mcp_finish, also before it returns. */
	void (*begin)(void *arg, struct fz_mcp_request *r);
	/* It is not to be finished any more: r is gone when this returns. */
	void (*cancel)(void *arg, struct fz_mcp_request *r);
	void *arg;
};

struct fz_mcp_protocol {
	const struct fz_mcp_host *host;
	const struct fz_mcp_version *version; /* agreed upon; NULL: not yet */
	struct fz_mcp_request *requests;
	unsigned request_n;
};

void fz_mcp_take(struct fz_mcp_protocol *p, struct fz_str line);
/* A line that was longer than FZ_MCP_LINE_MAX. */
void fz_mcp_too_long(struct fz_mcp_protocol *p);
/* Takes over the result. */
void fz_mcp_finish(struct fz_mcp_protocol *p, struct fz_mcp_request *r, json_t *result);
/* Say how far it is, if the client wants to know. */
void fz_mcp_progress(struct fz_mcp_protocol *p, struct fz_mcp_request *r, struct fz_str text);
/* Forget all requests; none is answered. */
void fz_mcp_protocol_release(struct fz_mcp_protocol *p);
