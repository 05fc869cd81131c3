/* SPDX-License-Identifier: MIT */
/* The code of both sides as their recordings hold it: which definition a function is, what its body
 * says, and whether the other side had it too, run or not.
 *
 * A recording holds the sources of files in which something was seen, so a file that is not there
 * says nothing by itself. What the others import says more.
 */
#pragma once

#include "compare/body.h"
#include "compare/diff.h"
#include "compare/imports.h"
#include "compare/names.h"

struct fz_code {
	const struct fz_profile *profile[FZ_SIDES];
	struct fz_name *const *names;
	struct fz_code_file {
		struct fz_str text;        /* what the file says */
		struct fz_outline outline; /* empty until asked for */
		struct fz_body *bodies;    /* of its definitions, as asked for */
		struct fz_str key;         /* canonical name; "" when nothing was seen in it */
		char *own;                 /* the text, of a file that was not recorded */
	} * files[FZ_SIDES];               /* by source: those of the profile, then others */
	uint32_t file_count[FZ_SIDES], file_cap[FZ_SIDES];
	struct fz_map by_file[FZ_SIDES];     /* string -> source */
	struct fz_map by_key[FZ_SIDES];      /* hash of a canonical name -> source */
	struct fz_imports imports[FZ_SIDES]; /* of all sources, once they are asked for */
	bool has_imports, has_folders;
	struct fz_map absent[FZ_SIDES];  /* hash of a canonical name that the side's tree lacks */
	struct fz_map folders[FZ_SIDES]; /* hashes of folders that Python files lie in */
	struct fz_map modules_of[FZ_SIDES]; /* of Python files, without ".py" */
	struct fz_map by_name[FZ_SIDES]; /* hash of a name -> the first function that has it... */
	uint32_t *namesake[FZ_SIDES];    /* ...and of a function the next; FZ_NONE */
	struct fz_map modules[FZ_SIDES]; /* strings of shared objects with build ids, by hash */
	struct fz_code_text *texts;      /* of definitions that both sides have, as asked for */
	uint32_t text_count, text_cap;
	struct fz_map by_text;
};

/* A definition of a source; FZ_NONE in both: not known. */
struct fz_code_place {
	uint32_t source, definition;
};

struct fz_code *fz_code_new(const struct fz_profile *const profile[FZ_SIDES],
			    struct fz_name *const names[FZ_SIDES]);
void fz_code_freep(struct fz_code **c);
/* The files of a side lie below trees[side], on both sides as they ran: read those that a recording
 * lacks and the other side has. */
void fz_code_read_trees(struct fz_code *c, const char *const trees[FZ_SIDES]);

const struct fz_outline *fz_code_outline(struct fz_code *c, enum fz_side side, uint32_t source);
const struct fz_body *fz_code_body(struct fz_code *c, enum fz_side side, struct fz_code_place at);
/* The source of a function's file; FZ_NONE. */
uint32_t fz_code_source(const struct fz_code *c, enum fz_side side, uint32_t function);
/* The other side's source of the file that a function of this side is in; FZ_NONE. */
uint32_t fz_code_counterpart(const struct fz_code *c, enum fz_side side, uint32_t function);
/* The source of a file by its canonical name; FZ_NONE. */
uint32_t fz_code_source_named(const struct fz_code *c, enum fz_side side, struct fz_str key);
/* The part of a file's name before ".py", or a folder around it, that is a package on one side and
 * a module on the other: "m" of m.py and m/core.py. "" where there is none. */
struct fz_str fz_code_other_layout(struct fz_code *c, enum fz_side side, struct fz_str key);
/* The definition that a function is. A lambda or a comprehension is none: then what it stands in,
 * and *ret_within is set. */
struct fz_code_place fz_code_find(struct fz_code *c, enum fz_side side, uint32_t function,
				  bool *ret_within);
/* Whether the other side imports a file, by what its recorded sources say: no source of the file
 * need be there. NO only where the import is known to be one that this side alone has. */
enum fz_presence fz_code_imported(struct fz_code *c, enum fz_side side, uint32_t source);
/* Whether the other side had this function, as far as that can be known: in its own file. */
enum fz_presence fz_code_presence(struct fz_code *c, enum fz_side side, uint32_t function);
/* The same, wherever it was: a function that moved to another file is not new. */
enum fz_presence fz_code_presence_anywhere(struct fz_code *c, enum fz_side side, uint32_t function);

/* ---- code_spot.c ---- */

/* Where in the text of both sides a function begins: two that are at different spots are not the
 * same. FZ_NONE where no text says it. */
uint32_t fz_code_spot(struct fz_code *c, enum fz_side side, uint32_t function);
/* Whether a function is a definition of which its file has others of the same name, run or not. */
bool fz_code_is_one_of_several(struct fz_code *c, enum fz_side side, uint32_t function);
/* Whether both sides have the function that begins there. */
bool fz_code_spot_is_common(uint32_t spot);
void fz_code_texts_release(struct fz_code *c);
