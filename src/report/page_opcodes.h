/* SPDX-License-Identifier: MIT */
/* Bytecode instructions in a page. */
#pragma once

#include "report/page.h"
#include "report/page_columns.h"

/* Names are numbered across both sides, since an instruction's number differs between versions. */
struct fz_page_opcodes {
	struct fz_page_opcode {
		char name[64]; /* "<200>" if unknown */
		char base[64]; /* the instruction that it specializes, or itself */
	} * names;
	uint32_t name_count;
	/* sorted by (node, line, name) */
	struct fz_page_op {
		uint32_t node;
		int32_t line; /* 0: unknown */
		uint32_t name;
		int64_t self[FZ_SIDES], total[FZ_SIDES];
	} * list;
	size_t n, cap;
};

/* Collect instructions from the page's trees; nothing if no opcodes were recorded. */
void fz_page_opcodes_add(struct fz_page_opcodes *o, const struct fz_tree *const trees[FZ_SIDES],
			 uint32_t *const node_of[FZ_SIDES]);
void fz_page_opcodes_release(struct fz_page_opcodes *o);
/* Add columns "op.*" and the header's member "opcodes". */
void fz_page_opcodes_fill(const struct fz_page_opcodes *o, bool is_diff,
			  struct fz_columns *columns);
void fz_page_opcodes_header(const struct fz_page_opcodes *o, struct fz_json *j);
