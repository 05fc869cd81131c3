/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block transformer, called by Valgrind. */
#pragma once

#include "pub_tool_basics.h"

#include "pub_tool_tooliface.h"

IRSB *fzc_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		     const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		     IRType host_word);
