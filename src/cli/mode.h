/* SPDX-License-Identifier: MIT */
/* Modes by name; select the samples of one mode from a recording. */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

enum { FZ_CLI_MODE_NONE = -1 };
extern const char *const fz_cli_mode_names[]; /* NULL-terminated */

/* The mode of an index in fz_cli_mode_names. */
enum fz_mode fz_cli_mode(int index);
/* Keep the samples of a mode, by their status. FZ_EUSAGE if the recording does not have the status,
 * or no such samples; name: the recording, for messages. */
int fz_cli_mode_keep(struct fz_profile *p, enum fz_mode mode, const char *name,
		     struct fz_error *err);
