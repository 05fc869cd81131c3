/* SPDX-License-Identifier: MIT */
/* The messages in a file of OTLP profiles: one, or those that OpenTelemetry's collector appended to
 * its file.
 */
#pragma once

#include "base/io.h"

struct fz_otlp_file {
	struct fz_buf *messages; /* protocol buffers */
	uint32_t n, cap;
	bool cut; /* the last message is incomplete, and not in the list */
};

/* Whether a file starts with a length and what may be a message. */
bool fz_otlp_file_has_lengths(struct fz_str head);
/* Fills an empty file, also on error; the caller releases it. */
int fz_otlp_file_read(struct fz_input *in, struct fz_otlp_file *ret, struct fz_error *err);
void fz_otlp_file_release(struct fz_otlp_file *file);
