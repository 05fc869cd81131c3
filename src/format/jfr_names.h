/* SPDX-License-Identifier: MIT */
/* Names of Java's methods as people write them. */
#pragma once

#include "base/buf.h"

/* "java/util/Map$Entry", "[I" -> "java.util.Map$Entry", "int[]". Code that the JVM makes while it
 * runs has the address or number left out that is another one in every process:
 * "Work$$Lambda$14+0x00000008000a/123" -> "Work$$Lambda". */
void fz_jfr_add_class(struct fz_buf *to, struct fz_str name);
/* "(I[Ljava/lang/String;)V" -> "(int, String[])"; nothing where it is no descriptor. */
void fz_jfr_add_parameters(struct fz_buf *to, struct fz_str descriptor);
/* Of code that is not Java's, as async-profiler says it: "()L;". */
bool fz_jfr_is_native(struct fz_str descriptor);
