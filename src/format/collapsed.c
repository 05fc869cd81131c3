/* SPDX-License-Identifier: MIT */
/* Folded text: two formats that differ in writing only. */
#include "collapsed.h"
#include "collapsed_text.h"
#include "format.h"

const struct fz_format fz_format_collapsed = {
	.name = "collapsed",
	.title = "folded stacks in Tachyon's format: thread, file:function:line",
	.suffixes = ".collapsed .col",
	.sniff = fz_collapsed_sniff,
	.read = fz_collapsed_read,
	.write = fz_collapsed_write,
};

const struct fz_format fz_format_folded = {
	.name = "folded",
	.title = "folded stacks, function names only",
	.suffixes = ".folded",
	.write = fz_folded_write,
};
