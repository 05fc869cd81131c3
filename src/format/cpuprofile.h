/* SPDX-License-Identifier: MIT */
/* V8's .cpuprofile and .heapprofile. */
#pragma once

#include "base/io.h"
#include "jsonread.h"
#include "profile/profile.h"

int fz_cpuprofile_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
int fz_cpuprofile_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
/* Whether it stands for a thread that had nothing to do: its samples are no time of the program. */
bool fz_cpuprofile_is_idle(const json_t *call);
/* Say in the profile how long that was. */
void fz_cpuprofile_note_idle(struct fz_profile *p, int64_t ns);
/* A frame of V8; *ret_root: it stands for all code and is on no stack. */
uint32_t fz_cpuprofile_frame(struct fz_profile *p, const json_t *call, int64_t line,
			     bool *ret_root);
