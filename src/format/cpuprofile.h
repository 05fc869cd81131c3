/* SPDX-License-Identifier: MIT */
/* V8's .cpuprofile and .heapprofile. */
#pragma once

#include "base/io.h"
#include "jsonread.h"
#include "profile/profile.h"

int fz_cpuprofile_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
/* Whether a call frame marks an idle thread, whose samples are not time of the program. */
bool fz_cpuprofile_is_idle(const json_t *call);
/* Notes the idle time in the profile. */
void fz_cpuprofile_note_idle(struct fz_profile *p, int64_t ns);
/* Makes a frame of V8; sets *ret_root for the root, which is on no stack. */
uint32_t fz_cpuprofile_frame(struct fz_profile *p, const json_t *call, int64_t line,
			     bool *ret_root);
