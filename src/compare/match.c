/* SPDX-License-Identifier: MIT */
/* Matches functions of the base with functions of the head.
 *
 * Functions with an equal key form a group; a key is (name, file), canonical or as recorded. A
 * group is one function of the diff, unless a file has several functions of one name (lambdas,
 * overloads in nested scopes): these are matched by the texts of both sides (code_spot.c). Without
 * texts, or if the code at a spot was edited, they are matched in order of their first lines if
 * both sides have equally many. Otherwise any of them may be missing, so the group is compared as a
 * whole. Exact matching never splits a group, because Tachyon does not record first lines. A user's
 * mapping puts a base function into the group of a head function before anything else.
 *
 *   base  <lambda>:10  <lambda>:20       head  <lambda>:12  <lambda>:25
 *              0            1       ->              0            1
 *
 * With full matching, link.c then handles functions without a partner.
 */
#include "compare/code.h"
#include "compare/stages.h"
#include "compare/link_internal.h"
#include "compare/name_qualified.h"
#include "profile/heap_fact.h"

/* A profile function on its way to a diff function. */
struct entry {
	uint32_t group, function;
	int32_t first_line;
	uint32_t number; /* of generated code: its serial number */
	uint32_t spot;   /* position in its text among functions of its name, or FZ_NONE */
	uint8_t side;
	bool mapped;
};

struct matcher {
	struct fz_diff *d;
	const struct fz_diff_options *o;
	struct fz_name *names[FZ_SIDES];
	int32_t *lines[FZ_SIDES];
	struct fz_map groups; /* hash of key -> first entry with it */
	struct entry *entries;
	uint32_t n;
	uint32_t function_cap;
};

static struct fz_name *recorded_names(const struct fz_profile *p, struct fz_arena *arena)
{
	struct fz_name *names =
		fz_arena_alloc(arena, ((size_t)p->function_count + 1) * sizeof(*names));

	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct fz_function *f = &p->functions[i];
		names[i].name = p->strings[f->name];
		names[i].file = names[i].key = p->strings[f->file];
	}
	return names;
}

static int name_functions(struct matcher *m, struct fz_error *err)
{
	struct fz_diff *d = m->d;
	struct fz_name_rules rules = { .own = m->o->renames,
				       .join_comprehensions = m->o->join_comprehensions };

	if (d->match == FZ_MATCH_EXACT) {
		for (int s = 0; s < FZ_SIDES; s++)
			m->names[s] = recorded_names(d->profile[s], &d->arena);
		return 0;
	}
	int r = fz_names_of_pair(d->profile, &rules, &d->arena, m->names, err);
	if (r)
		return r;
	d->rules = fz_arena_alloc(&d->arena, sizeof(*d->rules) * (rules.n + 1ul));
	for (uint32_t i = 0; i < rules.n; i++)
		d->rules[d->rule_count++] = (struct fz_diff_rule){
			.text = rules.list[i].text,
			.functions = { rules.list[i].functions[0], rules.list[i].functions[1] },
		};
	return 0;
}

/* name_functions reserved room for one more rule. */
static void qualify_names(struct matcher *m, struct fz_code *code)
{
	struct fz_diff *d = m->d;
	uint32_t renamed[FZ_SIDES];

	if (d->match == FZ_MATCH_EXACT)
		return;
	fz_names_qualify(code, m->names, &d->arena, renamed);
	if (renamed[FZ_BASE] || renamed[FZ_HEAD])
		d->rules[d->rule_count++] = (struct fz_diff_rule){
			.text = "names without classes",
			.functions = { renamed[FZ_BASE], renamed[FZ_HEAD] },
		};
}

static const struct fz_name *name_of(const struct matcher *m, const struct entry *e)
{
	return &m->names[e->side][e->function];
}

static uint32_t group_of(struct matcher *m, const struct entry *e)
{
	const struct fz_name *name = name_of(m, e);
	uint64_t key = fz_map_hash(name->name.p, name->name.n) +
		       fz_hash64(fz_map_hash(name->key.p, name->key.n));

	for (;;) {
		uint32_t *slot = fz_map_slot(&m->groups, key);
		if (*slot == FZ_NONE)
			*slot = m->n;
		if (*slot == m->n)
			return m->n;
		const struct fz_name *other = name_of(m, &m->entries[*slot]);
		if (fz_str_eq(other->name, name->name) && fz_str_eq(other->key, name->key))
			return *slot;
		key = fz_hash64(key + 1);
	}
}

static void collect_entries(struct matcher *m)
{
	size_t all = 0;

	for (int s = 0; s < FZ_SIDES; s++)
		all += m->d->profile[s]->function_count;
	m->entries = fz_calloc(all, sizeof(*m->entries));
	for (uint8_t s = 0; s < FZ_SIDES; s++) {
		const struct fz_profile *p = m->d->profile[s];
		const struct fz_tree *t = m->d->tree[s];
		fz_auto(fz_free_ptr) bool *used = fz_calloc(p->function_count, sizeof(*used));

		for (uint32_t i = 0; i < t->n; i++)
			used[t->function[i]] = true;
		for (uint32_t f = 0; f < p->function_count; f++) {
			if (!used[f])
				continue;
			struct entry *e = &m->entries[m->n];
			*e = (struct entry){ .function = f,
					     .side = s,
					     .first_line = p->functions[f].first_line,
					     .spot = FZ_NONE };
			fz_name_number(p->strings[p->functions[f].file], &e->number);
			e->group = group_of(m, e);
			m->n++;
		}
	}
}

/* ---- mappings ---- */

/* The parts of a mapping "old=new", in which \= is an equals sign and \\ a backslash. */
struct map_rule {
	struct fz_str old, new;
};

static bool is_escape(const char *c)
{
	return c[0] == '\\' && (c[1] == '=' || c[1] == '\\');
}

/* The first unescaped '='; NULL if there is none or nothing precedes it. */
static const char *find_equals(const char *text)
{
	const char *c = text;

	while (*c && *c != '=')
		c += is_escape(c) ? 2 : 1;
	return *c && c > text ? c : NULL;
}

static struct fz_str unescape(const char *text, const char *end, struct fz_arena *arena)
{
	char *out = fz_arena_strndup(arena, text, (size_t)(end - text));
	size_t n = 0;

	for (const char *c = text; c < end; c++) {
		c += is_escape(c);
		out[n++] = *c;
	}
	return (struct fz_str){ out, n };
}

static bool parse_rule(const char *text, struct fz_arena *arena, struct map_rule *ret)
{
	const char *equals = find_equals(text);

	if (!equals)
		return false;
	ret->old = unescape(text, equals, arena);
	ret->new = unescape(equals + 1, equals + strlen(equals), arena);
	return true;
}

static bool is_file_and_name(struct fz_str text, struct fz_str file, struct fz_str name)
{
	return text.n == file.n + 1 + name.n && text.p[file.n] == ':' &&
	       memcmp(text.p, file.p, file.n) == 0 &&
	       memcmp(text.p + file.n + 1, name.p, name.n) == 0;
}

/* Whether a mapping's side names this function, as "function" or "file:function". */
static bool is_named(const struct matcher *m, struct fz_str side, const struct entry *e)
{
	const struct fz_profile *p = m->d->profile[e->side];
	const struct fz_function *f = &p->functions[e->function];
	struct fz_str name = p->strings[f->name], file = p->strings[f->file];
	const struct fz_name *canonical = name_of(m, e);

	return fz_str_eq(side, canonical->name) || fz_str_eq(side, name) ||
	       is_file_and_name(side, canonical->file, canonical->name) ||
	       is_file_and_name(side, file, name);
}

/* The group of the head function that a mapping names, or FZ_NONE. */
static uint32_t mapped_group(const struct matcher *m, struct fz_str name)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->entries[i].side == FZ_HEAD && is_named(m, name, &m->entries[i]))
			return m->entries[i].group;
	return FZ_NONE;
}

static void apply_map(struct matcher *m, const char *text)
{
	struct map_rule rule;
	uint32_t group = FZ_NONE, found = 0;

	fz_assert(parse_rule(text, &m->d->arena, &rule));
	if (rule.new.n) {
		group = mapped_group(m, rule.new);
		if (group == FZ_NONE) {
			fz_diff_warn(m->d, "the head has no function '%.*s' (--map %s)",
				     (int)rule.new.n, rule.new.p, text);
			return;
		}
	}
	for (uint32_t i = 0; i < m->n; i++) {
		struct entry *e = &m->entries[i];
		if (e->side != FZ_BASE || !is_named(m, rule.old, e))
			continue;
		/* Without a new name it gets a group of its own. */
		e->group = rule.new.n ? group : m->n + i;
		e->mapped = true;
		found++;
	}
	if (!found)
		fz_diff_warn(m->d, "the base has no function '%.*s' (--map %s)", (int)rule.old.n,
			     rule.old.p, text);
}

int fz_diff_check_map(const char *text, struct fz_error *err)
{
	if (find_equals(text))
		return 0;
	return fz_fail(err, FZ_EUSAGE,
		       "--map: invalid value '%s' (expected OLD=NEW, each FUNCTION or "
		       "FILE:FUNCTION; OLD= for a removed function)",
		       text);
}

/* ---- groups ---- */

static bool is_same_place(const struct entry *a, const struct entry *b)
{
	return a->first_line == b->first_line && a->number == b->number;
}

static int compare_entries(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	return FZ_CMP(a->group, b->group) ?: FZ_CMP(a->spot, b->spot) ?: FZ_CMP(a->side, b->side) ?:
	       FZ_CMP(a->number, b->number) ?: FZ_CMP(a->first_line, b->first_line) ?:
	       FZ_CMP(a->function, b->function);
}

static void add_function(struct matcher *m)
{
	struct fz_diff *d = m->d;

	fz_push(d->functions, d->function_count, m->function_cap,
		(struct fz_diff_function){ .on_side = { FZ_NONE, FZ_NONE } });
}

/* Lists the entries in [0, n) of one side at different places; returns their number. */
static uint32_t list_places(const struct entry *e, uint32_t n, uint8_t side,
			    const struct entry **ret)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++)
		if (e[i].side == side && (!count || !is_same_place(ret[count - 1], &e[i])))
			ret[count++] = &e[i];
	return count;
}

/* Whether the entries of a group can be matched one by one: only one side has them, or both have
 * equally many. Generated code also needs equal serial numbers, because one additional function
 * shifts all numbers after it. */
static bool can_split(const struct entry *e, uint32_t n, uint32_t *ret_count)
{
	fz_auto(fz_free_ptr) const struct entry **base = fz_calloc(n, sizeof(*base));
	fz_auto(fz_free_ptr) const struct entry **head = fz_calloc(n, sizeof(*head));
	uint32_t a = list_places(e, n, FZ_BASE, base), b = list_places(e, n, FZ_HEAD, head);

	*ret_count = FZ_MAX(a, b);
	for (uint32_t i = 0; a == b && a > 1 && i < a; i++)
		if (base[i]->number != head[i]->number)
			return false;
	return a == b || !a || !b;
}

/* Turns the entries of one group, sorted by side and place, into one or more functions. */
static void place_group(struct matcher *m, const struct entry *e, uint32_t n)
{
	struct fz_diff *d = m->d;
	uint32_t first = d->function_count, count, at = 0;
	bool split = can_split(e, n, &count) && d->match != FZ_MATCH_EXACT;

	for (uint32_t i = 0; i < (split ? count : 1); i++)
		add_function(m);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0 && e[i].side != e[i - 1].side)
			at = 0;
		else if (i > 0 && !is_same_place(&e[i], &e[i - 1]))
			at++;
		uint32_t target = first + (split ? at : 0);
		fz_assert(target < d->function_count);
		struct fz_diff_function *f = &d->functions[target];
		if (f->on_side[e[i].side] == FZ_NONE)
			f->on_side[e[i].side] = e[i].function;
		if (e[i].mapped)
			f->link.how = FZ_LINK_MAPPED;
		d->function_of[e[i].side][e[i].function] = target;
	}
}

/* Sets name, file and line from the head, or from the base if the head lacks the function. */
static void describe(const struct matcher *m, struct fz_diff_function *f)
{
	enum fz_side side = f->on_side[FZ_HEAD] != FZ_NONE ? FZ_HEAD : FZ_BASE;
	uint32_t function = f->on_side[side], old = f->on_side[FZ_BASE];

	fz_assert(function != FZ_NONE);
	f->name = m->names[side][function].name;
	f->file = m->names[side][function].file;
	f->line = m->lines[side][function];
	f->kind = m->d->profile[side]->functions[function].kind;
	f->state = f->on_side[FZ_BASE] == FZ_NONE   ? FZ_NEW
		   : f->on_side[FZ_HEAD] == FZ_NONE ? FZ_REMOVED
						    : FZ_COMMON;
	if (f->state != FZ_COMMON) {
		f->link = (struct fz_link){ .how = FZ_LINK_NONE };
		return;
	}
	if (f->link.how == FZ_LINK_NONE || f->link.how == FZ_LINK_MAPPED)
		f->link.score = 1;
	if (f->link.how == FZ_LINK_NONE)
		f->link.how = FZ_LINK_EXACT;
	f->link.name = m->names[FZ_BASE][old].name;
	f->link.file = m->names[FZ_BASE][old].file;
}

/* Sets whether the code of the side that did not run a function has it. A copy of the heap is
 * complete: a type or holder that it lacks is not there. */
static void set_presence(struct fz_code *code, bool heap, struct fz_diff_function *f)
{
	enum fz_side side = f->state == FZ_NEW ? FZ_HEAD : FZ_BASE;

	if (f->state != FZ_COMMON)
		f->presence =
			heap ? FZ_PRESENCE_NO
			     : (uint8_t)fz_code_presence_anywhere(code, side, f->on_side[side]);
}

static void sort_entries(struct matcher *m)
{
	if (m->n)
		qsort(m->entries, m->n, sizeof(*m->entries), compare_entries);
}

/* End of the entries in the same group and at the same spot as entry `i`. */
static uint32_t group_end(const struct matcher *m, uint32_t i)
{
	uint32_t end = i;

	while (end < m->n && m->entries[end].group == m->entries[i].group &&
	       m->entries[end].spot == m->entries[i].spot)
		end++;
	return end;
}

/* Whether the functions of a group may differ between the sides: of several definitions of one name
 * each side may have run a different one. */
static bool is_ambiguous(const struct matcher *m, struct fz_code *code, const struct entry *e,
			 uint32_t n)
{
	bool several = fz_link_is_anonymous(name_of(m, e)->name), mapped = false;

	for (uint32_t i = 0; i < n; i++) {
		several |= i > 0 && e[i].side == e[i - 1].side && !is_same_place(&e[i], &e[i - 1]);
		mapped |= e[i].mapped;
	}
	if (mapped || e[0].side == e[n - 1].side)
		return false;
	return several || fz_code_is_one_of_several(code, (enum fz_side)e[0].side, e[0].function);
}

/* Sets spots if the texts identify all functions of a group. */
static void find_spots(struct fz_code *code, struct entry *e, uint32_t n)
{
	fz_auto(fz_free_ptr) uint32_t *spots = fz_calloc(n, sizeof(*spots));

	for (uint32_t i = 0; i < n; i++) {
		spots[i] = fz_code_spot(code, e[i].side, e[i].function);
		if (spots[i] == FZ_NONE)
			return;
	}
	for (uint32_t i = 0; i < n; i++)
		e[i].spot = spots[i];
}

static void place_groups(struct matcher *m, struct fz_code *code)
{
	sort_entries(m);
	if (m->d->match != FZ_MATCH_EXACT) {
		for (uint32_t i = 0, end; i < m->n; i = end) {
			end = group_end(m, i);
			if (is_ambiguous(m, code, &m->entries[i], end - i))
				find_spots(code, &m->entries[i], end - i);
		}
		sort_entries(m);
	}
	for (uint32_t i = 0, end; i < m->n; i = end) {
		end = group_end(m, i);
		place_group(m, &m->entries[i], end - i);
	}
}

static void link_functions(struct matcher *m, struct fz_code *code)
{
	struct fz_diff *d = m->d;
	fz_auto(fz_free_ptr) bool *fixed = fz_calloc(d->function_count, sizeof(*fixed));

	for (uint32_t i = 0; i < d->function_count; i++)
		fixed[i] = d->functions[i].link.how == FZ_LINK_MAPPED;
	fz_diff_link(d, code, m->names, m->lines, fixed, m->o->no_rename);
}

static void prepare(struct matcher *m)
{
	struct fz_diff *d = m->d;

	for (int s = 0; s < FZ_SIDES; s++) {
		uint32_t n = d->profile[s]->function_count;
		m->lines[s] = fz_profile_function_lines(d->profile[s], d->tree[s]->metric);
		d->function_of[s] = fz_calloc(n, sizeof(uint32_t));
		for (uint32_t f = 0; f < n; f++)
			d->function_of[s][f] = FZ_NONE;
	}
	collect_entries(m);
	for (const char *const *map = m->o->maps; map && *map; map++)
		apply_map(m, *map);
}

int fz_diff_match(struct fz_diff *d, const struct fz_diff_options *o, struct fz_error *err)
{
	struct matcher m = { .d = d, .o = o };
	int r = name_functions(&m, err);

	if (r)
		return r;
	fz_auto(fz_code_freep) struct fz_code *code = fz_code_new(d->profile, m.names);
	fz_code_read_trees(code, o->trees);
	qualify_names(&m, code);
	prepare(&m);
	place_groups(&m, code);
	if (d->match == FZ_MATCH_FULL)
		link_functions(&m, code);
	bool heap = fz_profile_is_heap(d->profile[FZ_HEAD]);
	for (uint32_t i = 0; i < d->function_count; i++) {
		describe(&m, &d->functions[i]);
		set_presence(code, heap, &d->functions[i]);
	}
	if (d->match == FZ_MATCH_FULL && !o->no_rename)
		fz_diff_find_splits(d, code);
	for (int s = 0; s < FZ_SIDES; s++)
		free(m.lines[s]);
	free(m.entries);
	fz_map_release(&m.groups);
	return 0;
}
