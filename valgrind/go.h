/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Go's random numbers, in Valgrind's intermediate code; see go.c. */
#pragma once

#include "pub_tool_tooliface.h"

struct fzc_function;

/* Returns a replacement that draws the same numbers in every run if the statement draws a random
 * number, else the statement itself. f: its function, or NULL. */
IRStmt *fzc_go_instead(IRStmt *s, const struct fzc_function *f);
