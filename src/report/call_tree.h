/* SPDX-License-Identifier: MIT */
/* A call tree folded for reading: the program's own frames, with library frames hidden.
 *
 *   main                        main
 *     _find_and_load              import json
 *       _load_unlocked   ->         [7 frames hidden] json, re
 *         <module> json            dumps
 *     dumps                         [2 frames hidden] json
 *       encode                        default
 *         iterencode              walk ... up to 380 times
 *           default
 *     walk
 *       walk ...
 *
 * Folding loses no cost: a folded frame's cost goes to the row that replaces it, so that the total
 * of a row is always its self cost plus the totals of the rows below it.
 */
#pragma once

#include "base/base.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/str.h"
#include "report/source_link.h"

/* A function as shown in trees. */
struct fz_call_function {
	struct fz_str name;
	struct fz_source_place place;
	bool own;    /* the program's own code, or a task */
	bool keep;   /* never folded, even if foreign */
	bool recurs; /* recurs if it is on a stack several times: not a marker or interpreter
		      * code */
};

/* A tree in preorder, one profile's or the union of two. */
struct fz_call_source {
	uint32_t n;
	const uint32_t *function, *parent;
	const int64_t *self[FZ_SIDES]; /* NULL for the base of a single profile */
	const bool *marked;            /* NULL: none; a row is marked if one of its nodes is */
	bool inverted;
};

enum fz_call_kind {
	FZ_CALL_FUNCTION,
	FZ_CALL_IMPORT,    /* code of a module that is imported */
	FZ_CALL_MACHINERY, /* finding and compiling what is imported */
	FZ_CALL_STARTUP,   /* interpreter start-up, before the program */
	FZ_CALL_HIDDEN,    /* frames that are not the program's own */
	FZ_CALL_GROUP,     /* a process or thread */
	FZ_CALL_REST,      /* rows too small to show; added by the tree's printer */
};

struct fz_call {
	uint8_t kind;      /* enum fz_call_kind */
	bool marked;       /* one of its source nodes is marked */
	uint32_t parent;   /* FZ_NONE for a root; always smaller than the row's own number */
	uint32_t function; /* FZ_NONE: several or none */
	uint32_t source;   /* the first source node */
	uint32_t entries;  /* source nodes merged into it, without folded recursion */
	uint32_t deep;     /* how often a stack has the function; 1 unless recursion was folded */
	uint32_t frames;   /* HIDDEN: functions; REST: rows */
	uint32_t members;  /* HIDDEN: index of the last in the tree's list */
	int64_t self[FZ_SIDES], total[FZ_SIDES];
};

/* A function behind a HIDDEN row. */
struct fz_call_member {
	uint32_t function, next; /* next: FZ_NONE ends the list */
	int64_t self;            /* of both sides */
};

struct fz_call_tree {
	const struct fz_call_function *functions; /* borrowed */
	uint32_t function_count;
	struct fz_call *calls;
	uint32_t n, cap;
	struct fz_call_member *members;
	uint32_t member_count, member_cap;
	struct fz_map children; /* (parent, function) -> call */
	struct fz_map hidden;   /* (call, function) -> member */
};

/* Is most of a source's cost in or below the program's own code? If not, folding would hide nearly
 * everything. */
bool fz_call_source_is_own(const struct fz_call_tree *t, const struct fz_call_source *s);
/* Add a row without a function and return its index. parent: FZ_NONE for a root. */
uint32_t fz_call_tree_row(struct fz_call_tree *t, uint32_t parent, enum fz_call_kind kind);
/* What is folded in addition to recursion. */
enum fz_call_fold {
	FZ_CALL_FOLD_NOTHING,
	FZ_CALL_FOLD_IMPORTS, /* and start-up */
	FZ_CALL_FOLD_FOREIGN, /* and code that is not the program's own */
};

/* Add a source below a row. */
void fz_call_tree_add(struct fz_call_tree *t, uint32_t parent, const struct fz_call_source *s,
		      enum fz_call_fold fold);
/* Compute totals, after everything was added. */
void fz_call_tree_sum(struct fz_call_tree *t);
void fz_call_tree_release(struct fz_call_tree *t);

/* Append a file's module: "json.decoder" for lib/python3/json/decoder.py. */
void fz_call_module(struct fz_str file, struct fz_buf *out);
/* Append the packages of a HIDDEN row, the three costliest: "json, re". */
void fz_call_packages(const struct fz_call_tree *t, uint32_t call, struct fz_buf *out);
