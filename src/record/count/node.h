/* SPDX-License-Identifier: MIT */
/* Node as it can be counted: V8 without what time decides, and with names for code made at run
 * time.
 *
 * Most of its options cannot come from NODE_OPTIONS, so a script that adds them stands before node
 * in PATH, for npx and whatever else starts one.
 */
#pragma once

#include "record/count/count.h"

enum { FZ_NODE_FLAGS = 15 };
extern const char *const fz_counter_node_flags[FZ_NODE_FLAGS];

/* Is the program a Node? */
bool fz_counter_is_node(const char *program);
/* Put the script into the folder, and that in front of PATH, when there is a Node in PATH. */
int fz_counter_node_offer(struct fz_environ *e, const char *folder, struct fz_error *err);
