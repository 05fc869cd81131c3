/* SPDX-License-Identifier: MIT */
/* Shortens names of functions by omitting what distinguishes them least. The same as in
 * web/labels.js.
 *
 *   std::map<std::string, int>::find              std::map<…>::find
 *   <alloc::vec::Vec<u8> as core::ops::Drop>::f   <Vec<…> as Drop>::f
 *   parse.<locals>.<listcomp>                     parse.<…>.<listcomp>
 */
#pragma once

#include "base/buf.h"

/* Appends the name with an ellipsis for template arguments that are more than a word. */
void fz_short_name(struct fz_str name, const char *ellipsis, struct fz_buf *out);
