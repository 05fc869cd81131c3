/* SPDX-License-Identifier: MIT */
/* Resolves the names in a call to profiles, a diff and its judgement; see subject.h.
 *
 *   of = d1             the two files of a handle, if they have not changed
 *   base, head          two names
 *   nothing             the last two recordings of a program, or the latest
 */
#include "mcp/subject.h"

#include "format/format.h"
#include "mcp/access.h"
#include "mcp/answer.h"
#include "profile/per_run.h"
#include "profile/tree.h"
#include "report/table.h"
#include "store/store.h"

#include <stdio.h>

enum { NAME_COLUMNS = 60, FILE_COLUMNS = 60, NEAR_MAX = 5 };

/* ---- files ---- */

struct files {
	char *path[FZ_SIDES], *label[FZ_SIDES];
};

static void release_files(struct files *f)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		free(f->path[s]);
		free(f->label[s]);
	}
}

static int find_side(const char *name, enum fz_side side, struct files *f, struct fz_error *err)
{
	f->label[side] = fz_strdup(name);
	return fz_mcp_resolve(name, &f->path[side], err);
}

static int find_last_two(struct files *f, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *base = NULL;
	fz_auto(fz_free_ptr) char *head = NULL;
	bool namesakes;
	int r = fz_store_last_two(&base, &head, &namesakes, err);

	if (!r)
		r = find_side(base, FZ_BASE, f, err);
	return r ? r : find_side(head, FZ_HEAD, f, err);
}

static int find_files(const struct fz_mcp_call *c, enum fz_mcp_wanted wanted, struct files *f,
		      struct fz_error *err)
{
	const char *of = fz_mcp_text(c, "of");
	const char *base = fz_mcp_text(c, "base"), *head = fz_mcp_text(c, "head");

	if (!base != !head || (of && base))
		return fz_fail(err, FZ_EUSAGE, "specify base and head, or a handle in 'of'");
	if (base) {
		int r = find_side(base, FZ_BASE, f, err);
		return r ? r : find_side(head, FZ_HEAD, f, err);
	}
	if (of && wanted == FZ_MCP_TWO)
		return fz_fail(err, FZ_EUSAGE,
			       "%s: not a comparison; call changes(base, head) first", of);
	if (of || wanted != FZ_MCP_TWO)
		return find_side(of ? of : "@1", FZ_HEAD, f, err);
	return find_last_two(f, err);
}

/* ---- contents ---- */

static int compare(struct fz_mcp_subject *s, bool measured, struct fz_error *err)
{
	struct fz_comparison_options o = {
		.diff = { .scale = measured ? FZ_SCALE_TIME : FZ_SCALE_AUTO },
	};
	int r = fz_comparison_new(s->profile[FZ_BASE], s->profile[FZ_HEAD], &o, &s->comparison,
				  err);

	if (r)
		return r;
	s->diff = s->comparison->diff;
	s->judgement = s->comparison->judgement;
	return 0;
}

static int open_handle(const struct fz_mcp_handle *h, struct fz_mcp_subject *ret,
		       struct fz_error *err)
{
	int r = fz_mcp_handle_check(h, err);

	fz_mcp_handle_name(h, ret->name);
	for (enum fz_side s = 0; s < FZ_SIDES && !r; s++)
		if (h->side[s].path)
			r = fz_format_load(h->side[s].path, &ret->profile[s], err);
	if (!r && ret->profile[FZ_BASE])
		return compare(ret, h->measured, err);
	if (r)
		return r;
	fz_profile_per_run(ret->profile[FZ_HEAD]);
	ret->tree = fz_tree_new(ret->profile[FZ_HEAD], &FZ_TREE_DEFAULTS);
	ret->names = fz_names_of(ret->profile[FZ_HEAD], &ret->arena);
	ret->lines = fz_profile_function_lines(ret->profile[FZ_HEAD], ret->tree->metric);
	return 0;
}

int fz_mcp_subject_measured(struct fz_mcp_call *c, char *const path[FZ_SIDES],
			    char *const label[FZ_SIDES], struct fz_mcp_subject *ret,
			    struct fz_error *err)
{
	*ret = (struct fz_mcp_subject){ 0 };
	return open_handle(fz_mcp_handle_add(c->handles, path, label, true), ret, err);
}

int fz_mcp_subject_open(struct fz_mcp_call *c, enum fz_mcp_wanted wanted,
			struct fz_mcp_subject *ret, struct fz_error *err)
{
	const char *of = fz_mcp_text(c, "of");
	fz_auto(release_files) struct files f = { 0 };
	const struct fz_mcp_handle *h;
	bool gone = false;

	*ret = (struct fz_mcp_subject){ 0 };
	h = of ? fz_mcp_handle_find(c->handles, of, &gone) : NULL;
	if (h && wanted != FZ_MCP_ANY && !h->side[FZ_BASE].path != (wanted == FZ_MCP_ONE))
		return fz_fail(err, FZ_EUSAGE, "%s: %s", of,
			       wanted == FZ_MCP_ONE
				       ? "is a comparison; specify one recording"
				       : "is one recording; call changes to compare two");
	if (h)
		return open_handle(h, ret, err);
	int r = find_files(c, wanted, &f, err);
	if (r && gone)
		return fz_fail(err, FZ_EUSAGE,
			       "%s: unknown or expired handle; repeat the call that returned it",
			       of);
	return r ? r : open_handle(fz_mcp_handle_add(c->handles, f.path, f.label, false), ret, err);
}

void fz_mcp_subject_release(struct fz_mcp_subject *s)
{
	fz_comparison_free(s->comparison);
	fz_tree_free(s->tree);
	free(s->lines);
	fz_arena_release(&s->arena);
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_profile_free(s->profile[side]);
}

/* ---- its functions ---- */

static uint32_t function_count(const struct fz_mcp_subject *s)
{
	return s->diff ? s->diff->function_count : s->profile[FZ_HEAD]->function_count;
}

static struct fz_str name_of(const struct fz_mcp_subject *s, uint32_t f)
{
	return s->diff ? s->diff->functions[f].name : s->names[f].name;
}

/* Find a function by name: in a diff the one with the highest cost, in a profile the first. */
static int find_name(const struct fz_mcp_subject *s, struct fz_str name, uint32_t *ret,
		     struct fz_error *err)
{
	uint32_t n = function_count(s), found = 0;
	fz_auto(fz_buf_release) struct fz_buf near = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		if (!fz_str_eq(name_of(s, i), name))
			continue;
		if (!found++)
			*ret = i;
		if (found <= NEAR_MAX)
			fz_buf_printf(&near, "%sf%u", found > 1 ? ", " : "", i);
	}
	if (!found)
		return fz_fail(err, FZ_EUSAGE, "%.*s: no such function; answers contain ids",
			       (int)FZ_MIN(name.n, 100), name.p);
	if (found > 1)
		return fz_fail(err, FZ_EUSAGE, "%.*s: %u functions have this name: %s",
			       (int)FZ_MIN(name.n, 100), name.p, found, near.p);
	return 0;
}

int fz_mcp_subject_function(const struct fz_mcp_call *c, const struct fz_mcp_subject *s,
			    uint32_t *ret, struct fz_error *err)
{
	const char *text = fz_mcp_text(c, "function");
	uint64_t id;

	if (text[0] == 'f' && fz_parse_u64(fz_str_of(text + 1), UINT32_MAX, &id) &&
	    id < function_count(s)) {
		*ret = (uint32_t)id;
		return 0;
	}
	return find_name(s, fz_str_of(text), ret, err);
}

uint32_t fz_mcp_subject_on(const struct fz_mcp_subject *s, enum fz_side side, uint32_t function)
{
	if (s->diff)
		return s->diff->functions[function].on_side[side];
	return side == FZ_HEAD ? function : FZ_NONE;
}

uint32_t fz_mcp_subject_of(const struct fz_mcp_subject *s, enum fz_side side, uint32_t function)
{
	return s->diff ? s->diff->function_of[side][function] : function;
}

uint32_t fz_mcp_subject_metric(const struct fz_mcp_subject *s, enum fz_side side)
{
	return s->diff ? s->diff->tree[side]->metric : s->tree->metric;
}

const char *fz_mcp_subject_unit(const struct fz_mcp_subject *s)
{
	const struct fz_profile *p = s->profile[FZ_HEAD];

	return s->diff ? s->diff->unit : p->metrics[s->tree->metric].unit;
}

static struct fz_source_place place_of(const struct fz_mcp_subject *s, uint32_t function)
{
	if (s->diff)
		return fz_source_place_of(s->diff, &s->diff->functions[function]);
	return (struct fz_source_place){ s->names[function].file, s->lines[function],
					 s->profile[FZ_HEAD], function };
}

void fz_mcp_subject_id(json_t *row, uint32_t function)
{
	char id[16];

	snprintf(id, sizeof(id), "f%u", function);
	json_object_set_new(row, "id", json_string(id));
}

void fz_mcp_subject_names(const struct fz_mcp_subject *s, json_t *row, uint32_t function)
{
	struct fz_source_place place = place_of(s, function);
	static const struct fz_style style = { .columns = 200 };
	fz_auto(fz_buf_release) struct fz_buf at = { 0 };

	fz_table_place(&place, FILE_COLUMNS, &style, &at);
	json_object_set_new(row, "function", fz_mcp_printable(name_of(s, function), NAME_COLUMNS));
	json_object_set_new(row, "at", fz_mcp_printable(fz_buf_view(&at), FILE_COLUMNS + 16));
}
