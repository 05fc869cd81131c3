/* SPDX-License-Identifier: MIT */
/* The parts that canonical names are made of; names.h is what others see.
 *
 *   name_files.c      where files are: classes, libraries, roots
 *   name_symbols.c    what functions are called
 *   name_generated.c  numbers of code that was made at run time
 *   names.c           the user's own rules, and all of it together
 */
#pragma once

#include "compare/names.h"

enum fz_file_class {
	FZ_FILE_UNSEEN,
	FZ_FILE_PSEUDO,
	FZ_FILE_OBJECT, /* a shared object, in a format that knows no others */
	FZ_FILE_LIBRARY,
	FZ_FILE_PROJECT
};

/* What is known about the files of one side, by string index. */
struct fz_name_side {
	const struct fz_profile *p;
	uint8_t *class;
	struct fz_str *canonical; /* object and library: final; project: what is left of the path */
	uint32_t *project;        /* strings of class FZ_FILE_PROJECT */
	uint32_t project_count;
	bool *python; /* by string: a project file of Python functions */
	bool any_python, any_file, any_folder, any_object;
};

void fz_name_side_init(struct fz_name_side *side, const struct fz_profile *p,
		       struct fz_arena *arena);
void fz_name_side_release(struct fz_name_side *side);
/* Project files of one side lose the folder that all share; those of a pair the two roots that make
 * most of them equal. */
void fz_name_strip_own_folder(struct fz_name_side *side);
void fz_name_strip_roots(struct fz_name_side side[2]);
/* Native code without a file is known by its shared object; the build id is left out. */
struct fz_str fz_name_of_module(struct fz_arena *arena, struct fz_str module);
bool fz_name_is_by_object(const struct fz_name_side *side, const struct fz_function *f);

/* What changed a name, in the order in which it is tried; the user's rules follow. */
enum fz_name_rule_id {
	FZ_NAME_LIBRARY,
	FZ_NAME_ROOT,
	FZ_NAME_MODULE,
	FZ_NAME_TASK,
	FZ_NAME_THREAD,
	FZ_NAME_LAMBDA,
	FZ_NAME_RUST,
	FZ_NAME_CLOSURE,
	FZ_NAME_CLONE,
	FZ_NAME_VERSION,
	FZ_NAME_NAMESPACE,
	FZ_NAME_ADDRESS,
	FZ_NAME_GENERATED,
	FZ_NAME_RULES
};

/* How often each rule changed a name: of FZ_NAME_RULES and then of each own rule, by side. */
struct fz_name_counts {
	uint32_t (*of_rule)[2];
	int side;
	bool keep_addresses; /* of names that are nothing else */
};

/* The result of a rule, counted when it is another name. */
static inline struct fz_str fz_name_after(struct fz_name_counts *n, uint32_t rule,
					  struct fz_str before, struct fz_str now)
{
	n->of_rule[rule][n->side] += !fz_str_eq(before, now);
	return now;
}

/* Names that are addresses and nothing else mean the same on both sides: most of those of the side
 * with fewer are on the other too. Programs are loaded elsewhere in each run. */
bool fz_name_addresses_agree(const struct fz_profile *const p[2]);
struct fz_str fz_name_of_function(struct fz_name_counts *n, struct fz_arena *arena,
				  const struct fz_profile *p, const struct fz_function *f);

/* Names of generated code (a file in <>) without the numbers in which it was made. */
void fz_name_without_numbers(struct fz_name_counts *n, struct fz_arena *arena, struct fz_str file,
			     struct fz_name *name);
