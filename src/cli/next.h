/* SPDX-License-Identifier: MIT */
/* What can be done with the recordings of the current folder. */
#pragma once

#include "base/base.h"
#include "base/buf.h"

/* Append the text. False: there are no recordings. */
bool fz_cli_next_steps(struct fz_buf *out);
