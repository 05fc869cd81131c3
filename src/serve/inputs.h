/* SPDX-License-Identifier: MIT */
/* Shared by the inputs over HTTP. */
#pragma once

#include "serve/server.h"

/* A parameter; "" where it is not there. */
const char *fz_inputs_text(const struct fz_http_request *q, const char *name);
/* Seconds since 1970, or, as others write them, thousandths, millionths or billionths of them, as
 * nanoseconds; "" leaves *ret as it is. */
int fz_inputs_time(const char *name, const char *text, int64_t *ret, struct fz_error *err);
/* Service, version, host, and the id if there is one. */
int fz_inputs_check(const struct fz_fleet_push *to, struct fz_error *err);
/* What came of it, as JSON; more: further members, each after a comma. */
void fz_inputs_tell(struct fz_http_answer *a, const struct fz_server_pushed *pushed,
		    const char *more);
