/* SPDX-License-Identifier: MIT */
/* Select one process, or the processes of one program, from a recording. */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

/* word: a number, or a part of the command. FZ_EUSAGE: there is no such process, with those that
 * there are; `name` is what to call the recording. */
int fz_cli_process_keep(struct fz_profile *p, const char *word, const char *name,
			struct fz_error *err);
