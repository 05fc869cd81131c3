/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/* Show a file in the user's browser: $BROWSER as other programs read it (commands separated by
 * ":", "%s" stands for the address, a final "&" leaves it running), else xdg-open. */
int fz_cli_browser_open(const char *path, struct fz_error *err);
