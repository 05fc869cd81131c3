/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Go does on its own, as Valgrind sees code; see go.c. */
#pragma once

#include "pub_tool_tooliface.h"

struct fzc_function;

/* The statement of a function (NULL: of none), or where Go draws a random number, one that draws
 * the same in every run. */
IRStmt *fzc_go_instead(IRStmt *s, const struct fzc_function *f);
