/* SPDX-License-Identifier: MIT */
/* What changed, as every tool says it that made or found two recordings. */
#pragma once

#include "mcp/subject.h"

void fz_mcp_say_changes(struct fz_mcp_call *c, const struct fz_mcp_subject *s);
