/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fixed processor, with --fixed-processor=yes; see processor.c. */
#pragma once

#include "pub_tool_tooliface.h"

struct fzc_function;

/* The statement, or where it asks for the processor's features, one that answers in our way; and
 * for its clock in a function (NULL: none) that takes it for random bytes. */
IRStmt *fzc_processor_instead(IRStmt *s, const struct fzc_function *f);
/* What the kernel would hand to each program (AT_HWCAP). */
UWord fzc_processor_features(void);
