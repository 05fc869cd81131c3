/* SPDX-License-Identifier: MIT */
/* Formats names of Java methods for display. */
#pragma once

#include "base/buf.h"

/* "java/util/Map$Entry", "[I" -> "java.util.Map$Entry", "int[]". For generated code, addresses and
 * numbers that differ between processes are stripped: "Work$$Lambda$14+0x00000008000a/123" ->
 * "Work$$Lambda". */
void fz_jfr_add_class(struct fz_buf *to, struct fz_str name);
/* "(I[Ljava/lang/String;)V" -> "(int, String[])"; nothing if it is not a descriptor. */
void fz_jfr_add_parameters(struct fz_buf *to, struct fz_str descriptor);
/* Whether a descriptor is async-profiler's for code other than Java: "()L;". */
bool fz_jfr_is_native(struct fz_str descriptor);
