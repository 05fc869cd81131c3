/* SPDX-License-Identifier: MIT */
/* The list of changes, shared by all tools that compare two recordings. */
#pragma once

#include "mcp/subject.h"

void fz_mcp_add_changes(struct fz_mcp_call *c, const struct fz_mcp_subject *s);
