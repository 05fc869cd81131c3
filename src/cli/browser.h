/* SPDX-License-Identifier: MIT */
/* Open a page in the user's browser. */
#pragma once

#include "base/error.h"

/* Uses $BROWSER with the usual syntax (commands separated by ":", "%s" for the address, a final "&"
 * to run in the background), else xdg-open. */
int fz_cli_browser_open(const char *path, struct fz_error *err);
