/* SPDX-License-Identifier: MIT */
/* Canonical names: files (name_files.c), then functions (name_symbols.c), then the user's own rules
 * on both. Each rule counts the functions it changed.
 */
#include "compare/names.h"

#include <ctype.h>
#include <regex.h>

#include "base/buf.h"
#include "compare/diff.h"
#include "compare/name_internal.h"

static const char *const rule_texts[FZ_NAME_RULES] = {
	[FZ_NAME_LIBRARY] = "prefixes and versions of libraries",
	[FZ_NAME_ROOT] = "root folders",
	[FZ_NAME_MODULE] = "build ids, folders and Python versions of shared objects",
	[FZ_NAME_COMPREHENSION] = "comprehensions around functions",
	[FZ_NAME_TASK] = "numbers of asyncio tasks",
	[FZ_NAME_THREAD] = "numbers of processes and threads",
	[FZ_NAME_LAMBDA] = "numbers of Java lambdas",
	[FZ_NAME_RUST] = "hashes of Rust symbols",
	[FZ_NAME_RUST_TYPES] = "types in Rust's names, which one side lacks",
	[FZ_NAME_CLOSURE] = "numbers of Rust closures",
	[FZ_NAME_CLONE] = "suffixes of compiler clones",
	[FZ_NAME_VERSION] = "versions of symbols",
	[FZ_NAME_NAMESPACE] = "inline namespaces of C++ libraries",
	[FZ_NAME_ADDRESS] = "addresses",
	[FZ_NAME_GENERATED] = "numbers of generated code",
};

struct own_rule {
	const char *text; /* as the user wrote it */
	struct fz_str replacement;
	regex_t regex;
};

struct naming {
	struct fz_arena *arena;
	struct own_rule *own;
	uint32_t own_count;
	bool is_pair; /* numbers identify functions within one profile, not across two */
	struct fz_name_counts counts;
};

/* ---- own rules ---- */

static void add_replacement(struct fz_buf *out, struct fz_str text, struct fz_str s,
			    const regmatch_t m[10])
{
	for (size_t i = 0; i < text.n; i++) {
		bool group = text.p[i] == '\\' && i + 1 < text.n &&
			     (isdigit((unsigned char)text.p[i + 1]) || text.p[i + 1] == '\\');
		if (!group) {
			fz_buf_char(out, text.p[i]);
			continue;
		}
		i++;
		if (text.p[i] == '\\')
			fz_buf_char(out, '\\');
		else if (m[text.p[i] - '0'].rm_so >= 0)
			fz_buf_add(out, s.p + m[text.p[i] - '0'].rm_so,
				   (size_t)(m[text.p[i] - '0'].rm_eo - m[text.p[i] - '0'].rm_so));
	}
}

/* Replaces every match of an own rule. */
static struct fz_str apply_own(const struct own_rule *rule, struct fz_arena *arena, struct fz_str s)
{
	struct fz_buf out = { 0 };
	size_t at = 0;
	bool any = false;
	regmatch_t m[10];

	while (at <= s.n) {
		m[0] = (regmatch_t){ .rm_so = (regoff_t)at, .rm_eo = (regoff_t)s.n };
		if (regexec(&rule->regex, s.p, 10, m, REG_STARTEND | (at ? REG_NOTBOL : 0)))
			break;
		size_t end = (size_t)m[0].rm_eo;
		any = true;
		fz_buf_add(&out, s.p + at, (size_t)m[0].rm_so - at);
		add_replacement(&out, rule->replacement, s, m);
		if (m[0].rm_so == m[0].rm_eo) { /* empty match: continue after the next byte */
			if (end < s.n)
				fz_buf_char(&out, s.p[end]);
			end++;
		}
		at = end;
	}
	if (any) {
		if (at < s.n)
			fz_buf_add(&out, s.p + at, s.n - at);
		s = (struct fz_str){ fz_arena_strndup(arena, out.n ? out.p : "", out.n), out.n };
	}
	fz_buf_release(&out);
	return s;
}

/* The first '=' without a backslash before it separates the expression from the text. */
static const char *find_separator(const char *text)
{
	for (const char *c = text; *c; c++) {
		if (*c == '\\' && c[1])
			c++;
		else if (*c == '=')
			return c;
	}
	return NULL;
}

static int own_rule_init(struct own_rule *rule, const char *text, struct fz_error *err)
{
	const char *separator = find_separator(text);
	char why[128];

	if (!separator || separator == text)
		return fz_fail(err, FZ_EUSAGE, "--rename: invalid value '%s' (expected REGEX=TEXT)",
			       text);
	fz_auto(fz_free_ptr) char *pattern = fz_strndup(text, (size_t)(separator - text));
	int r = regcomp(&rule->regex, pattern, REG_EXTENDED);
	if (r) {
		regerror(r, &rule->regex, why, sizeof(why));
		return fz_fail(err, FZ_EUSAGE,
			       "--rename: invalid regular expression '%s' (%s); see regex(7)",
			       pattern, why);
	}
	rule->text = text;
	rule->replacement = fz_str_of(separator + 1);
	return 0;
}

int fz_diff_check_rename(const char *text, struct fz_error *err)
{
	struct own_rule rule;
	int r = own_rule_init(&rule, text, err);

	if (!r)
		regfree(&rule.regex);
	return r;
}

static int naming_init(struct naming *n, const char *const *own, struct fz_arena *arena,
		       struct fz_error *err)
{
	size_t count = 0;

	while (own && own[count])
		count++;
	*n = (struct naming){ .arena = arena,
			      .counts.of_rule =
				      fz_calloc(FZ_NAME_RULES + count, sizeof(*n->counts.of_rule)),
			      .own = fz_calloc(FZ_MAX(count, 1), sizeof(*n->own)) };
	for (size_t i = 0; i < count; i++) {
		int r = own_rule_init(&n->own[i], own[i], err);
		if (r)
			return r;
		n->own_count++;
	}
	return 0;
}

static void naming_release(struct naming *n)
{
	for (uint32_t i = 0; i < n->own_count; i++)
		regfree(&n->own[i].regex);
	free(n->own);
	free(n->counts.of_rule);
}

static void apply_own_rules(struct naming *n, struct fz_name *name)
{
	for (uint32_t i = 0; i < n->own_count; i++) {
		struct fz_str new_name = apply_own(&n->own[i], n->arena, name->name);
		struct fz_str new_file = apply_own(&n->own[i], n->arena, name->file);
		n->counts.of_rule[FZ_NAME_RULES + i][n->counts.side] +=
			!fz_str_eq(new_name, name->name) || !fz_str_eq(new_file, name->file);
		name->name = new_name;
		name->file = new_file;
	}
}

static struct fz_str name_file(struct naming *n, const struct fz_name_side *side,
			       const struct fz_function *f)
{
	static const enum fz_name_rule_id rules[] = {
		[FZ_FILE_PSEUDO] = FZ_NAME_ROOT,
		[FZ_FILE_OBJECT] = FZ_NAME_MODULE,
		[FZ_FILE_LIBRARY] = FZ_NAME_LIBRARY,
		[FZ_FILE_PROJECT] = FZ_NAME_ROOT,
	};
	struct fz_str file = side->p->strings[f->file], module = side->p->strings[f->module];

	if (side->canonical[f->file].n)
		return fz_name_after(&n->counts, rules[side->class[f->file]], file,
				     side->canonical[f->file]);
	return fz_name_after(&n->counts, FZ_NAME_MODULE, module,
			     fz_name_of_module(n->arena, module));
}

static struct fz_name *name_functions(struct naming *n, const struct fz_name_side *side)
{
	const struct fz_profile *p = side->p;
	struct fz_name *names =
		fz_arena_alloc(n->arena, ((size_t)p->function_count + 1) * sizeof(*names));

	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct fz_function *f = &p->functions[i];
		names[i].name = fz_name_of_function(&n->counts, n->arena, p, f);
		names[i].file = name_file(n, side, f);
		if (n->is_pair)
			fz_name_without_numbers(&n->counts, n->arena, p->strings[f->file],
						&names[i]);
		apply_own_rules(n, &names[i]);
		/* CPython's placeholder for no file. */
		names[i].key = fz_str_eq(names[i].file, FZ_STR("~")) ? FZ_STR("") : names[i].file;
	}
	return names;
}

static void report_rules(const struct naming *n, struct fz_name_rules *ret)
{
	ret->list = fz_arena_alloc(n->arena, (FZ_NAME_RULES + n->own_count) * sizeof(*ret->list));
	for (uint32_t i = 0; i < FZ_NAME_RULES + n->own_count; i++) {
		if (!n->counts.of_rule[i][0] && !n->counts.of_rule[i][1] && i < FZ_NAME_RULES)
			continue; /* the user's own rules are always reported */
		const char *text =
			i < FZ_NAME_RULES ? rule_texts[i] : n->own[i - FZ_NAME_RULES].text;
		ret->list[ret->n++] = (struct fz_name_rule){
			.text = fz_arena_strndup(n->arena, text, strlen(text)),
			.functions = { n->counts.of_rule[i][0], n->counts.of_rule[i][1] },
		};
	}
}

struct fz_name *fz_names_of(const struct fz_profile *p, struct fz_arena *arena)
{
	struct fz_name_side side;
	struct naming naming;

	fz_assert(naming_init(&naming, NULL, arena, NULL) == 0);
	naming.counts.keep_addresses = true;
	fz_name_side_init(&side, p, arena);
	fz_name_strip_own_folder(&side);
	struct fz_name *names = name_functions(&naming, &side);
	fz_name_side_release(&side);
	naming_release(&naming);
	return names;
}

/* Whether one side has no folders because it stores only base names: one of its files is in a
 * folder on the other side. Otherwise the names of both sides are complete. */
static bool has_base_names(const struct fz_name_side side[2], struct fz_name *const names[2])
{
	int poor = side[0].any_folder ? 1 : 0;
	struct fz_map full = { 0 }, base = { 0 };
	bool found = false;

	if (side[0].any_folder == side[1].any_folder)
		return false;
	for (uint32_t i = 0; i < side[!poor].p->function_count; i++) {
		struct fz_str key = names[!poor][i].key, name = fz_path_base(key);
		fz_map_put(&full, fz_hash_bytes(key.p, key.n), i);
		fz_map_put(&base, fz_hash_bytes(name.p, name.n), i);
	}
	for (uint32_t i = 0; i < side[poor].p->function_count && !found; i++) {
		uint64_t hash = fz_hash_bytes(names[poor][i].key.p, names[poor][i].key.n);
		found = fz_map_get(&full, hash) == FZ_NONE && fz_map_get(&base, hash) != FZ_NONE;
	}
	fz_map_release(&full);
	fz_map_release(&base);
	return found;
}

/* Some formats store only base names, or neither files nor shared objects. For matching, the other
 * side's names are reduced to the same parts. */
static struct fz_str weak_key(const struct fz_name_side side[2], int s, uint32_t function,
			      bool base_names, struct fz_str key)
{
	bool no_files = !side[0].any_file || !side[1].any_file;
	bool no_objects = !side[0].any_object || !side[1].any_object;

	if (no_files ||
	    (no_objects && fz_name_is_by_object(&side[s], &side[s].p->functions[function])))
		return FZ_STR("");
	return base_names ? fz_path_base(key) : key;
}

static void weaken_keys(const struct fz_name_side side[2], struct fz_name *names[2])
{
	bool base_names = has_base_names(side, names);

	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < side[s].p->function_count; i++)
			names[s][i].key = weak_key(side, s, i, base_names, names[s][i].key);
}

/* Two builds of a program are one object, whatever their names. */
static void pair_programs(const struct fz_name_side side[2], struct fz_name *names[2])
{
	struct fz_str program[2];

	for (int s = 0; s < 2; s++)
		program[s] = fz_profile_fact(side[s].p, "program");
	if (!program[0].n || !program[1].n)
		return;
	for (uint32_t i = 0; i < side[0].p->function_count; i++)
		if (fz_name_is_by_object(&side[0], &side[0].p->functions[i]) &&
		    fz_str_eq(names[0][i].key, program[0]))
			names[0][i].key = program[1];
}

int fz_names_of_pair(const struct fz_profile *const p[2], struct fz_name_rules *rules,
		     struct fz_arena *arena, struct fz_name *ret[2], struct fz_error *err)
{
	struct fz_name_side side[2];
	struct naming naming;
	int r = naming_init(&naming, rules ? rules->own : NULL, arena, err);

	naming.is_pair = true;
	naming.counts.keep_addresses = fz_name_addresses_agree(p);
	naming.counts.join_comprehensions = rules && rules->join_comprehensions;
	naming.counts.join_rust = fz_name_joins_rust(p);
	for (int s = 0; !r && s < 2; s++)
		fz_name_side_init(&side[s], p[s], arena);
	if (!r) {
		fz_name_strip_roots(side);
		for (naming.counts.side = 0; naming.counts.side < 2; naming.counts.side++)
			ret[naming.counts.side] =
				name_functions(&naming, &side[naming.counts.side]);
		if (naming.counts.join_rust)
			fz_name_join_rust_traits(arena, p, ret);
		pair_programs(side, ret);
		weaken_keys(side, ret);
		if (rules)
			report_rules(&naming, rules);
	}
	for (int s = 0; !r && s < 2; s++)
		fz_name_side_release(&side[s]);
	naming_release(&naming);
	return r;
}
