/* SPDX-License-Identifier: MIT */
/* One line on a terminal during long work that prints nothing itself. */
#pragma once

#include "base/base.h"

/* Show this line if the work has not ended after a moment. It replaces the previous line. */
FZ_PRINTF(1, 2)
void fz_cli_busy(const char *fmt, ...);
/* The work is done: remove the line. Every message does this first. */
void fz_cli_busy_end(void);
