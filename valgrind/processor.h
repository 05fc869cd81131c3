/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fixed processor, with --fixed-processor=yes; see processor.c. */
#pragma once

#include "pub_tool_tooliface.h"

struct fzc_function;

/* Returns a replacement if the statement is CPUID, or reads the tick counter in a function f (or
 * NULL) that uses it as randomness; else the statement itself. */
IRStmt *fzc_processor_instead(IRStmt *s, const struct fzc_function *f);
/* The features that the kernel would pass to programs (AT_HWCAP). */
UWord fzc_processor_features(void);
