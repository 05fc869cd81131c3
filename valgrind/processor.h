/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fixed processor, with --fixed-processor=yes; see processor.c. */
#pragma once

#include "pub_tool_tooliface.h"

/* The statement, or where it asks for the processor's features, one that answers in our way. */
IRStmt *fzc_processor_instead(IRStmt *s);
/* What the kernel would hand to each program (AT_HWCAP). */
UWord fzc_processor_features(void);
