/* SPDX-License-Identifier: MIT */
/* Converts OTLP profiles from JSON to protocol buffers. */
#pragma once

#include "base/io.h"

bool fz_otlp_is_json(const uint8_t *head, size_t n);
/* The caller releases the buffer. */
int fz_otlp_from_json(struct fz_input *in, struct fz_buf *ret, struct fz_error *err);
