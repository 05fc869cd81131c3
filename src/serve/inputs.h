/* SPDX-License-Identifier: MIT */
/* Shared by the inputs over HTTP. */
#pragma once

#include "serve/pushes.h"

/* Get a parameter; "" if missing. */
const char *fz_inputs_text(const struct fz_http_request *q, const char *name);
/* Parse a time since 1970 in s, ms, us or ns, detected from its size, to nanoseconds. "" leaves
 * *ret unchanged. */
int fz_inputs_time(const char *name, const char *text, int64_t *ret, struct fz_error *err);
/* Check service, version, host, and the id if there is one. */
int fz_inputs_check(const struct fz_fleet_push *to, struct fz_error *err);
/* A member of a short answer. */
struct fz_inputs_member {
	const char *key;
	int64_t value;
	bool is_bool;
};
/* Answer {"status":STATUS} with these members. */
void fz_inputs_answer(struct fz_http_answer *a, const char *status,
		      const struct fz_inputs_member *members, size_t n);
/* Answer a push. kept: whether the whole profile is stored; NULL if not requested. */
void fz_inputs_report(struct fz_http_answer *a, const struct fz_server_pushed *pushed,
		      const bool *kept);
