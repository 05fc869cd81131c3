/* SPDX-License-Identifier: MIT */
/* Counting Node: V8 without timing-dependent work, and with names for code made at run time.
 *
 * Most of the options are not allowed in NODE_OPTIONS, so a script that adds them precedes node in
 * PATH, for npx and other programs that start node.
 */
#pragma once

#include "base/environ.h"
#include "base/error.h"

enum { FZ_NODE_FLAGS = 15 };
extern const char *const fz_counter_node_flags[FZ_NODE_FLAGS];

/* True if the program is Node. */
bool fz_counter_is_node(const char *program);
/* If Node is in PATH, write the script into the folder and prepend the folder to PATH. */
int fz_counter_node_offer(struct fz_environ *e, const char *folder, struct fz_error *err);
