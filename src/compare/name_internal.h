/* SPDX-License-Identifier: MIT */
/* Parts of canonical names; the interface is names.h.
 *
 *   name_files.c      files: classes, libraries, roots
 *   name_symbols.c    functions
 *   name_rust.c       Rust's functions by two manglings
 *   name_generated.c  numbers of code generated at run time
 *   names.c           the user's own rules; combines all parts
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "profile/profile.h"

struct fz_name;

enum fz_file_class {
	FZ_FILE_UNSEEN,
	FZ_FILE_PSEUDO,
	FZ_FILE_OBJECT, /* a shared object, in a format without a field for it */
	FZ_FILE_LIBRARY,
	FZ_FILE_PROJECT
};

/* The files of one side, by string index. */
struct fz_name_side {
	const struct fz_profile *p;
	uint8_t *class;
	struct fz_str *canonical; /* object and library: final; project: the rest of the path */
	uint32_t *project;        /* strings of class FZ_FILE_PROJECT */
	uint32_t project_count;
	bool *python; /* by string: a project file of Python functions */
	bool *apart;  /* by string: outside both checkouts, at the same place for both sides */
	bool any_python, any_file, any_folder, any_object;
};

void fz_name_side_init(struct fz_name_side *side, const struct fz_profile *p,
		       struct fz_arena *arena);
void fz_name_side_release(struct fz_name_side *side);
/* Strips the common folder from the project files of one side; for a pair, strips the two roots
 * that make most files equal. */
void fz_name_strip_own_folder(struct fz_name_side *side);
void fz_name_strip_roots(struct fz_name_side side[2]);
/* Name of the shared object, without build id, for native code without a file. */
struct fz_str fz_name_of_module(struct fz_arena *arena, struct fz_str module);
bool fz_name_is_by_object(const struct fz_name_side *side, const struct fz_function *f);

/* Rules in the order of application; the user's rules follow. */
enum fz_name_rule_id {
	FZ_NAME_LIBRARY,
	FZ_NAME_ROOT,
	FZ_NAME_MODULE,
	FZ_NAME_COMPREHENSION,
	FZ_NAME_TASK,
	FZ_NAME_THREAD,
	FZ_NAME_LAMBDA,
	FZ_NAME_RUST,
	FZ_NAME_RUST_TYPES,
	FZ_NAME_CLOSURE,
	FZ_NAME_CLONE,
	FZ_NAME_VERSION,
	FZ_NAME_NAMESPACE,
	FZ_NAME_ADDRESS,
	FZ_NAME_GENERATED,
	FZ_NAME_RULES
};

/* Number of names that each rule changed: FZ_NAME_RULES, then each own rule, by side. */
struct fz_name_counts {
	uint32_t (*of_rule)[2];
	int side;
	bool keep_addresses; /* of names that consist of an address only */
	bool join_comprehensions, join_rust;
};

/* Returns the result of a rule, and counts it if the name changed. */
static inline struct fz_str fz_name_after(struct fz_name_counts *n, uint32_t rule,
					  struct fz_str before, struct fz_str now)
{
	n->of_rule[rule][n->side] += !fz_str_eq(before, now);
	return now;
}

/* Whether names that are plain addresses have the same meaning on both sides: most of those on the
 * side with fewer also occur on the other. Usually they do not, because each run is loaded
 * elsewhere. */
bool fz_name_addresses_agree(const struct fz_profile *const p[2]);
struct fz_str fz_name_of_function(struct fz_name_counts *n, struct fz_arena *arena,
				  const struct fz_profile *p, const struct fz_function *f);

/* Whether one side's Rust code has a mangling, with or without types, that the other's has not. */
bool fz_name_joins_rust(const struct fz_profile *const p[2]);
/* The part of a name that both manglings have; the name itself if it is not Rust's. */
struct fz_str fz_name_without_rust_types(struct fz_arena *arena, const struct fz_profile *p,
					 const struct fz_function *f, struct fz_str name);
/* Then: a method of a trait for a type that the other side does not name is the trait's own, if
 * any side has that. */
void fz_name_join_rust_traits(struct fz_arena *arena, const struct fz_profile *const p[2],
			      struct fz_name *const names[2]);

/* Strips serial numbers from names of generated code (a file in <>). */
void fz_name_without_numbers(struct fz_name_counts *n, struct fz_arena *arena, struct fz_str file,
			     struct fz_name *name);
