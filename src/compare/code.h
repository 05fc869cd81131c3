/* SPDX-License-Identifier: MIT */
/* The code of both sides as stored in their recordings: the definition and body of a function, and
 * whether the other side has it, executed or not.
 *
 * A recording has the sources of files that were sampled, so a missing file proves nothing. The
 * imports in other files do.
 */
#pragma once

#include "compare/body.h"
#include "compare/diff.h"
#include "compare/imports.h"
#include "compare/names.h"

/* A definition in a source; FZ_NONE in both: unknown. */
struct fz_code_place {
	uint32_t source, definition;
};

/* The text of a definition that both sides have, line by line (code_spot.c). */
struct fz_code_text {
	struct fz_code_place place[FZ_SIDES];
	uint32_t *spots[FZ_SIDES];
	uint32_t n[FZ_SIDES]; /* lines */
	int32_t first[FZ_SIDES];
};

struct fz_code {
	const struct fz_profile *profile[FZ_SIDES];
	struct fz_name *const *names;
	struct fz_code_file {
		struct fz_str text;        /* contents of the file */
		struct fz_outline outline; /* empty until needed */
		struct fz_body *bodies;    /* of its definitions, on demand */
		struct fz_str key;         /* canonical name; "" if the file has no samples */
		char *own;                 /* the text, if the file was not recorded */
	} * files[FZ_SIDES];               /* by source: those of the profile, then others */
	uint32_t file_count[FZ_SIDES], file_cap[FZ_SIDES];
	struct fz_map by_file[FZ_SIDES];     /* string -> source */
	struct fz_map by_key[FZ_SIDES];      /* hash of a canonical name -> source */
	struct fz_imports imports[FZ_SIDES]; /* of all sources, read on demand */
	bool has_imports, has_folders;
	struct fz_map absent[FZ_SIDES];  /* hash of a canonical name that the side's tree lacks */
	struct fz_map folders[FZ_SIDES]; /* hashes of folders with Python files */
	struct fz_map modules_of[FZ_SIDES];  /* of Python files, without ".py" */
	struct fz_map own_modules[FZ_SIDES]; /* names of those that the other side lacks */
	struct fz_map by_name[FZ_SIDES]; /* hash of a name -> the first function that has it... */
	uint32_t *namesake[FZ_SIDES];    /* ...and of a function the next; FZ_NONE */
	struct fz_map modules[FZ_SIDES]; /* strings of shared objects with build ids, by hash */
	struct fz_code_text *texts;      /* of definitions that both sides have, on demand */
	uint32_t text_count, text_cap;
	struct fz_map by_text;
};

struct fz_code *fz_code_new(const struct fz_profile *const profile[FZ_SIDES],
			    struct fz_name *const names[FZ_SIDES]);
void fz_code_freep(struct fz_code **c);
const struct fz_outline *fz_code_outline(struct fz_code *c, enum fz_side side, uint32_t source);
const struct fz_body *fz_code_body(struct fz_code *c, enum fz_side side, struct fz_code_place at);
/* Returns the source of a function's file, or FZ_NONE. */
uint32_t fz_code_source(const struct fz_code *c, enum fz_side side, uint32_t function);
/* Returns the other side's source of the file of a function of this side, or FZ_NONE. */
uint32_t fz_code_counterpart(const struct fz_code *c, enum fz_side side, uint32_t function);
/* Returns the source of a file by its canonical name, or FZ_NONE. */
uint32_t fz_code_source_named(const struct fz_code *c, enum fz_side side, struct fz_str key);
/* Returns the prefix of a file's name that is a package on one side and a module on the other: "m"
 * for m.py and m/core.py; "" if there is none. */
struct fz_str fz_code_other_layout(struct fz_code *c, enum fz_side side, struct fz_str key);
/* Whether one file is in a package that both sides have, and the other in a copy of it within
 * another package (_vendor/m). Code does not move between them. */
bool fz_code_is_copy(struct fz_code *c, struct fz_str base, struct fz_str head);
/* Returns the definition of a function. For a lambda or a comprehension that is the enclosing
 * definition, and *ret_within is set. */
struct fz_code_place fz_code_find(struct fz_code *c, enum fz_side side, uint32_t function,
				  bool *ret_within);
/* Whether the other side imports a file, according to its recorded sources; the file itself need
 * not be recorded. NO only if the import is known to be on this side alone. */
enum fz_presence fz_code_imported(struct fz_code *c, enum fz_side side, uint32_t source);

/* ---- code_spot.c ---- */

/* Returns the position in the common text of both sides where a function starts, or FZ_NONE.
 * Functions at different spots are different. */
uint32_t fz_code_spot(struct fz_code *c, enum fz_side side, uint32_t function);
/* Whether a function's file has other definitions of the same name, executed or not. */
bool fz_code_is_one_of_several(struct fz_code *c, enum fz_side side, uint32_t function);
/* Whether both sides have the function that starts there. */
bool fz_code_spot_is_common(uint32_t spot);

/* ---- code_presence.c ---- */

/* Reads files that only the other recording has. trees[side]: folder of the program of that side,
 * as it ran. */
void fz_code_read_trees(struct fz_code *c, const char *const trees[FZ_SIDES]);
/* Whether the other side has this function in the same file. */
enum fz_presence fz_code_presence(struct fz_code *c, enum fz_side side, uint32_t function);
/* Whether the other side has this function in any file; a function that moved is not new. */
enum fz_presence fz_code_presence_anywhere(struct fz_code *c, enum fz_side side, uint32_t function);
