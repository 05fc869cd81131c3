/* SPDX-License-Identifier: MIT */
/* Open a page in the user's browser. */
#pragma once

#include "base/error.h"

/* With $BROWSER as other programs read it (commands separated by ":", "%s" stands for the address,
 * a final "&" leaves it running), else xdg-open. */
int fz_cli_browser_open(const char *path, struct fz_error *err);
