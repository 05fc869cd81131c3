/* SPDX-License-Identifier: MIT */
/* pprof's profile.proto, packed by gzip when written. */
#pragma once

#include "base/io.h"
#include "import.h"

int fz_pprof_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
/* Parses the message Line, which OTLP also has: line and column; returns the id of its function. */
uint64_t fz_pprof_line(struct fz_str message, struct fz_import_frame *ret);
