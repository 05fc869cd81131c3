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

#include "mcp/long_line.h"

/* Limits: bytes of a line (parsing JSON takes about ten times its size), and concurrent requests.
 */
enum { FZ_MCP_LINE_MAX = 1 << 20, FZ_MCP_REQUESTS_MAX = 16 };

struct fz_mcp_tool;
struct fz_mcp_batch;

/* A pending call of a tool. */
struct fz_mcp_request {
	const struct fz_mcp_tool *tool;
	const json_t *arguments; /* an object, not checked; NULL: none */
	bool structures;         /* the client's version supports structured content */
	/* private */
	struct fz_mcp_request *next;
	struct fz_mcp_batch *batch;
	json_t *id, *message;
	const json_t *progress; /* token; NULL: not requested */
	bool modern;
	json_int_t steps;
};

struct fz_mcp_host {
	/* Send a message, without newline. */
	void (*send)(void *arg, struct fz_str line);
	/* Start a request; fz_mcp_finish may be called later or from within. */
	void (*begin)(void *arg, struct fz_mcp_request *r);
	/* Do not finish r any more: it is freed when this returns. */
	void (*cancel)(void *arg, struct fz_mcp_request *r);
	void *arg;
};

struct fz_mcp_protocol {
	const struct fz_mcp_host *host;
	const struct fz_mcp_version *version; /* negotiated; NULL: not yet */
	struct fz_mcp_request *requests;
	unsigned request_n;
	struct fz_mcp_long_line long_line;
};

void fz_mcp_take(struct fz_mcp_protocol *p, struct fz_str line);
/* Take part of a line longer than FZ_MCP_LINE_MAX; respond at its end. */
void fz_mcp_take_part(struct fz_mcp_protocol *p, struct fz_str part);
void fz_mcp_end_parts(struct fz_mcp_protocol *p);
/* Takes over the result. */
void fz_mcp_finish(struct fz_mcp_protocol *p, struct fz_mcp_request *r, json_t *result);
/* Report progress, if the client requested it. */
void fz_mcp_progress(struct fz_mcp_protocol *p, struct fz_mcp_request *r, struct fz_str text);
/* Free all requests without answering them. */
void fz_mcp_protocol_release(struct fz_mcp_protocol *p);
