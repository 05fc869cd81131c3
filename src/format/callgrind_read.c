/* SPDX-License-Identifier: MIT */
/* Reads callgrind.out.
 *
 *   positions: instr line        numbers before the costs
 *   events: Ir Dr                names of the costs
 *   ob= fl= fn=                  current place; "(3) name" gives a name a number, "(3)" uses it
 *   fi= fe=                      another file inside the same function: inlined code
 *   16 400 2                     a position and costs; "+3", "-3" and "*" are relative to the last
 *   cob= cfi= cfn= calls=N pos   a call; the next line has its position and inclusive cost
 *
 * It is a call graph, not stacks: graph.h makes a tree of it. Names may have suffixes: "f'2" is a
 * recursion, and with --separate-callers a name contains callers, "f'caller'main". Each such name
 * is then a stack; direct recursion is still folded. The list gives only the callers' names; their
 * file and line are those of the function with that name.
 *
 * "totals:" at the end of each part is the sum of its self costs; "summary:" before them is nearly
 * the same, and the only sum in a truncated part.
 */
#include "callgrind.h"

#include "base/text.h"

#include "format.h"
#include "graph.h"
#include "import.h"

#include <ctype.h>

enum { POSITIONS_MAX = 8 };

enum space { SPACE_OBJECT, SPACE_FILE, SPACE_FUNCTION, SPACES };

struct place {
	uint32_t object, file, function; /* strings */
};

/* A function whose name is a stack. */
struct row {
	uint32_t name, frame;
	int64_t weights[FZ_METRICS_MAX];
};

/* Stated sums of all costs, by metric. */
struct sums {
	double value[FZ_METRICS_MAX];
	uint32_t lines; /* one per part */
};

struct reader {
	struct fz_input *in;
	struct fz_profile *p;
	struct fz_callgraph *graph; /* NULL: names are stacks, or nothing read yet */
	bool is_valgrind; /* written by Valgrind or us: names contain callers, sums are exact */
	bool is_xdebug2;  /* calls do not state the callee's file */
	struct sums summary, totals;        /* of all parts */
	struct fz_callgrind_source *source; /* NULL: any file, alone in its profile */
	struct row *rows;
	size_t row_n, row_cap;
	struct fz_map named;   /* function without callers -> frame without a line */
	struct fz_map callers; /* name -> stack of its callers */
	uint64_t line_number;
	bool torn;                         /* the last line is malformed and has no newline */
	struct fz_map name_of[SPACES];     /* number -> string */
	struct fz_map file_of;             /* of is_xdebug2: name of a function -> file */
	uint32_t positions, line_position; /* line_position: index of the line, FZ_NONE if none */
	uint64_t last[POSITIONS_MAX];
	uint64_t last_cost[FZ_METRICS_MAX];
	uint32_t events;
	uint32_t metric[FZ_METRICS_MAX]; /* of each event; FZ_NONE if not read */
	double scale[FZ_METRICS_MAX];
	struct place at;    /* file: of the function */
	uint32_t cost_file; /* file of the current lines: differs from the function's in inlined
			       code */
	struct place callee;
	bool callee_has_file, callee_has_object;
	double calls; /* of the call whose cost follows; negative: none */
	bool jump;    /* the next line is the target of a jump */
};

static int fail_line(const struct reader *r, const char *what, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: line %llu: %s", fz_input_name(r->in),
		       (unsigned long long)r->line_number, what);
}

/* ---- header ---- */

static void read_positions(struct reader *r, struct fz_str s)
{
	struct fz_str word;

	r->positions = 0;
	r->line_position = FZ_NONE;
	for (word = fz_str_take_word(&s); word.n && r->positions < POSITIONS_MAX;
	     word = fz_str_take_word(&s)) {
		if (fz_str_eq(word, FZ_STR("line")))
			r->line_position = r->positions;
		r->positions++;
	}
}

/* Reads events; parts of one file repeat the header. */
static void read_events(struct reader *r, struct fz_str s)
{
	struct fz_str word;

	if (r->events)
		return;
	for (word = fz_str_take_word(&s); word.n && r->events < FZ_METRICS_MAX;
	     word = fz_str_take_word(&s)) {
		struct fz_import_metric m = fz_import_metric(word, FZ_STR(""));
		r->scale[r->events] = m.scale;
		r->metric[r->events++] = r->source ? r->source->metric(r->p, word)
						   : fz_import_add_metric(r->p, &m, 0, true);
	}
	if (!r->source || !r->source->callers)
		r->graph = fz_callgraph_new(r->p->metric_count);
}

/* "desc: Trigger: Client Request: NAME" has the reason for this part. */
static void read_for_source(struct reader *r, struct fz_str key, struct fz_str value)
{
	static const char trigger[] = "Trigger: ";

	if (fz_str_eq(key, FZ_STR("cmd")))
		r->source->command = fz_profile_string(r->p, value);
	else if (fz_str_eq(key, FZ_STR("desc")) && fz_str_starts(value, trigger))
		r->source->trigger =
			fz_profile_string(r->p, (struct fz_str){ value.p + sizeof(trigger) - 1,
								 value.n - (sizeof(trigger) - 1) });
}

/* Adds the sums of one part of the file. */
static void read_sums(const struct reader *r, struct fz_str s, struct sums *sums)
{
	double d;

	sums->lines++;
	for (uint32_t i = 0; i < r->events; i++) {
		struct fz_str word = fz_str_take_word(&s);
		if (!word.n || !fz_parse_decimal(word, &d))
			break;
		if (r->metric[i] != FZ_NONE)
			sums->value[r->metric[i]] += d * r->scale[i];
	}
}

static int check_version(struct reader *r, struct fz_str value, struct fz_error *err)
{
	r->is_xdebug2 = fz_str_starts(value, "0.9.");
	if (!value.n || fz_str_eq(value, FZ_STR("1")) || r->is_xdebug2)
		return 0;
	return fz_fail(err, FZ_EUNSUPPORTED,
		       "%s: callgrind format version %.*s; only version 1 is supported",
		       fz_input_name(r->in), (int)FZ_MIN(value.n, (size_t)20), value.p);
}

static bool is_valgrind(struct fz_str creator)
{
	return fz_str_starts(creator, "callgrind") || fz_str_starts(creator, "fizeau");
}

/* Returns 1 for a header line, 0 for other lines, negative on error. */
static int read_header(struct reader *r, struct fz_str line, struct fz_error *err)
{
	static const struct {
		const char *key, *fact;
	} facts[] = { { "cmd", "command" }, { "creator", "creator" } };
	const char *colon = memchr(line.p, ':', line.n);

	if (!colon || memchr(line.p, '=', (size_t)(colon - line.p)))
		return 0;
	struct fz_str key = { line.p, (size_t)(colon - line.p) };
	struct fz_str value = fz_str_trimmed((struct fz_str){ colon + 1, line.n - key.n - 1 });
	int code = fz_str_eq(key, FZ_STR("version")) ? check_version(r, value, err) : 0;

	if (code)
		return code;
	if (fz_str_eq(key, FZ_STR("positions")))
		read_positions(r, value);
	else if (fz_str_eq(key, FZ_STR("events")))
		read_events(r, value);
	else if (fz_str_eq(key, FZ_STR("summary")))
		read_sums(r, value, &r->summary);
	else if (fz_str_eq(key, FZ_STR("totals")))
		read_sums(r, value, &r->totals);
	else if (fz_str_eq(key, FZ_STR("creator")))
		r->is_valgrind = is_valgrind(value);
	if (r->source)
		read_for_source(r, key, value);
	for (size_t i = 0; !r->source && i < FZ_ARRAY_LEN(facts); i++)
		if (fz_str_eq(key, fz_str_of(facts[i].key)))
			fz_profile_set_fact(r->p, facts[i].fact, value);
	return 1;
}

/* ---- names ---- */

/* "(3) name", "(3)" or "name". */
static uint32_t read_name(struct reader *r, enum space space, struct fz_str s)
{
	const char *close = s.n && s.p[0] == '(' ? memchr(s.p, ')', s.n) : NULL;
	uint64_t id;

	if (!close || !fz_parse_u64((struct fz_str){ s.p + 1, (size_t)(close - s.p) - 1 },
				    UINT64_MAX - 1, &id))
		return fz_profile_string(r->p, s);
	struct fz_str name =
		fz_str_trimmed((struct fz_str){ close + 1, s.n - (size_t)(close + 1 - s.p) });
	if (name.n)
		fz_map_put(&r->name_of[space], id, fz_profile_string(r->p, name));
	uint32_t string = fz_map_get(&r->name_of[space], id);
	return string == FZ_NONE ? fz_profile_string(r->p, s) : string;
}

/* Maps Callgrind's "???", for unknown, to "". */
static struct fz_str known(const struct reader *r, uint32_t string)
{
	struct fz_str s = fz_profile_text(r->p, string);

	return fz_str_eq(s, FZ_STR("???")) ? FZ_STR("") : s;
}

/* The function of "f'caller'main". */
static struct fz_str without_callers(struct fz_str name)
{
	const char *mark = name.n ? memchr(name.p, '\'', name.n) : NULL;

	if (mark && mark > name.p)
		name.n = (size_t)(mark - name.p);
	return name;
}

static bool is_level(struct fz_str s)
{
	while (s.n && isdigit((uint8_t)*s.p))
		s.p++, s.n--;
	return s.n == 0;
}

/* A function's name and its suffix, "'2" or "'caller'main". */
struct split {
	struct fz_str name, variant;
	bool inner; /* it is a recursion, or among its callers */
};

/* Whether a name contains quotes itself: "&'a str", "::'lambda'(int)". */
static bool has_quotes(struct fz_str s)
{
	for (size_t at = 0; at < s.n; at++)
		if (s.p[at] == '\'' && (!at || at + 1 == s.n || strchr("<&(,: ", s.p[at - 1])))
			return true;
	return false;
}

static size_t next_mark(struct fz_str s, size_t at)
{
	while (at < s.n && s.p[at] != '\'')
		at++;
	return at;
}

/* Splits a name: --separate-recs makes a separate function for each level of recursion,
 * --separate-callers for each list of callers. */
static struct split split_name(const struct reader *r, struct fz_str name)
{
	struct split s = { .name = name, .variant = FZ_STR("") };
	size_t mark = has_quotes(name) ? name.n : next_mark(name, 0), end;

	s.name.n = mark;
	for (size_t at = mark; at < name.n; at = end) {
		end = next_mark(name, at + 1);
		struct fz_str part = { name.p + at + 1, end - at - 1 };
		if (!is_level(part) && !r->is_valgrind)
			return (struct split){ .name = name, .variant = FZ_STR("") };
		s.inner |= (at == mark && is_level(part)) || fz_str_eq(part, s.name);
	}
	s.variant = (struct fz_str){ name.p + mark, name.n - mark };
	return s;
}

static struct fz_str function_name(const struct reader *r, uint32_t function)
{
	struct fz_str name = fz_profile_text(r->p, function);

	return r->graph ? split_name(r, name).name : without_callers(name);
}

static uint32_t frame_of(struct reader *r, const struct place *at, int32_t line)
{
	struct fz_str file = known(r, at->file);
	struct fz_import_frame f = {
		.name = function_name(r, at->function),
		.file = file,
		.module = file.n ? FZ_STR("") : known(r, at->object),
		.line = line,
	};

	f.kind = fz_import_kind(f.file, known(r, at->object), FZ_KIND_NATIVE);
	if (r->source)
		r->source->name(r->source->arg, &f);
	return fz_import_frame(r->p, &f);
}

static uint32_t function_of(struct reader *r, const struct place *at)
{
	struct split split = split_name(r, fz_profile_text(r->p, at->function));
	uint32_t variant = fz_profile_string(r->p, split.variant);

	return fz_callgraph_function(r->graph, r->p, frame_of(r, at, 0), variant, split.inner);
}

/* ---- numbers ---- */

static bool parse_number(struct fz_str s, uint64_t *ret)
{
	if (s.n < 3 || s.p[0] != '0' || (s.p[1] | 32) != 'x')
		return fz_parse_u64(s, UINT64_MAX, ret);
	return s.n <= 18 && fz_parse_hex((struct fz_str){ s.p + 2, s.n - 2 }, ret) == s.n - 2;
}

/* Parses a number, absolute or relative to the last one. */
static bool read_relative(struct fz_str word, uint64_t *last)
{
	uint64_t v = 0;
	bool relative = word.n && (word.p[0] == '+' || word.p[0] == '-');

	if (fz_str_eq(word, FZ_STR("*")))
		return true;
	struct fz_str digits = { word.p + relative, word.n - relative };
	if (!word.n || !parse_number(digits, &v))
		return false;
	*last = !relative ? v : word.p[0] == '+' ? *last + v : *last - v;
	return true;
}

/* Reads costs; omitted ones at the end are 0. Other tools write fractions. Memory that Xdebug 2
 * reports as freed counts as 0, as in its later versions. */
static bool read_cost(struct reader *r, struct fz_str s, int64_t *weights)
{
	memset(weights, 0, FZ_METRICS_MAX * sizeof(*weights));
	for (uint32_t i = 0; i < r->events; i++) {
		struct fz_str word = fz_str_take_word(&s);
		uint64_t *v = &r->last_cost[i];
		int64_t weight;
		double d;
		if (!word.n)
			break;
		if (r->is_xdebug2 && word.p[0] == '-')
			continue;
		if (read_relative(word, v))
			weight = fz_import_scaled_int((int64_t)FZ_MIN(*v, (uint64_t)INT64_MAX),
						      r->scale[i]);
		else if (fz_parse_decimal(word, &d))
			weight = fz_import_scaled(d, r->scale[i]);
		else
			return false;
		uint32_t m = r->metric[i];
		if (m != FZ_NONE && __builtin_add_overflow(weights[m], weight, &weights[m]))
			weights[m] = INT64_MAX;
	}
	return true;
}

/* Adds costs of a stack; calls are ignored, because the callee's name contains its callers. */
static void add_row(struct reader *r, uint32_t frame, const int64_t *weights)
{
	struct row row = { .name = r->at.function, .frame = frame };
	uint32_t name = fz_profile_string(r->p, function_name(r, r->at.function));

	if (fz_map_get(&r->named, name) == FZ_NONE)
		fz_map_put(&r->named, name, frame_of(r, &r->at, 0));
	memcpy(row.weights, weights, sizeof(row.weights));
	fz_profile_push(r->p, r->rows, r->row_n, r->row_cap, row);
}

static int read_cost_line(struct reader *r, struct fz_str line, struct fz_error *err)
{
	int64_t weights[FZ_METRICS_MAX];

	for (uint32_t i = 0; i < r->positions; i++)
		if (!read_relative(fz_str_take_word(&line), &r->last[i]))
			return fail_line(r, "has no position", err);
	if (r->jump) {
		r->jump = false;
		return 0;
	}
	if (!r->events)
		return fail_line(r, "has costs before the 'events:' line", err);
	if (!read_cost(r, line, weights))
		return fail_line(r, "has an invalid number", err);
	uint64_t at = r->line_position == FZ_NONE ? 0 : r->last[r->line_position];
	bool inlined = r->cost_file != r->at.file;
	uint32_t frame = frame_of(r, &r->at, inlined ? 0 : fz_import_line((int64_t)at));
	if (!r->graph) {
		if (r->calls < 0)
			add_row(r, frame, weights);
		r->calls = -1;
		r->callee_has_file = r->callee_has_object = false;
		return 0;
	}
	uint32_t function = function_of(r, &r->at);
	if (r->calls < 0) {
		fz_callgraph_self(r->graph, r->p, function, frame, weights);
		return 0;
	}
	struct fz_callgraph_call call = {
		.caller = function,
		.frame = frame,
		.callee = function_of(r, &r->callee),
		.calls = (uint64_t)r->calls,
	};
	if (call.caller != call.callee && !r->graph->functions[call.callee].inner)
		call.primitive = call.calls;
	fz_callgraph_call(r->graph, r->p, &call, NULL, weights);
	r->calls = -1;
	r->callee_has_file = r->callee_has_object = false;
	return 0;
}

/* ---- lines ---- */

/* The file of a callee without cfi=: the current one, except for Xdebug 2, which writes a function
 * before its callers. */
static uint32_t file_of_callee(const struct reader *r)
{
	uint32_t file = r->is_xdebug2 ? fz_map_get(&r->file_of, r->callee.function) : FZ_NONE;

	return file == FZ_NONE ? r->cost_file : file;
}

/* Reads the counts of a call, whose target is the current place except for what cob=, cfi= and cfn=
 * specify. */
static void read_calls(struct reader *r, struct fz_str value)
{
	struct fz_str count = fz_str_take_word(&value);
	uint64_t n = 0;

	fz_parse_u64(count, UINT64_MAX, &n);
	r->calls = (double)n;
	if (!r->callee_has_file)
		r->callee.file = file_of_callee(r);
	if (!r->callee_has_object)
		r->callee.object = r->at.object;
}

static bool read_assignment(struct reader *r, struct fz_str key, struct fz_str value)
{
	if (fz_str_eq(key, FZ_STR("fn"))) {
		r->at.function = read_name(r, SPACE_FUNCTION, value);
		r->at.file = r->cost_file;
		if (r->is_xdebug2)
			fz_map_put(&r->file_of, r->at.function, r->at.file);
		r->callee_has_file = r->callee_has_object = false;
	} else if (fz_str_eq(key, FZ_STR("fl"))) {
		r->cost_file = r->at.file = read_name(r, SPACE_FILE, value);
	} else if (fz_str_eq(key, FZ_STR("fi")) || fz_str_eq(key, FZ_STR("fe"))) {
		r->cost_file = read_name(r, SPACE_FILE, value);
	} else if (fz_str_eq(key, FZ_STR("ob"))) {
		r->at.object = read_name(r, SPACE_OBJECT, value);
	} else if (fz_str_eq(key, FZ_STR("cfn"))) {
		r->callee.function = read_name(r, SPACE_FUNCTION, value);
	} else if (fz_str_eq(key, FZ_STR("cfi")) || fz_str_eq(key, FZ_STR("cfl"))) {
		r->callee.file = read_name(r, SPACE_FILE, value);
		r->callee_has_file = value.n > 0;
	} else if (fz_str_eq(key, FZ_STR("cob"))) {
		r->callee.object = read_name(r, SPACE_OBJECT, value);
		r->callee_has_object = value.n > 0;
	} else if (fz_str_eq(key, FZ_STR("calls"))) {
		read_calls(r, value);
	} else if (fz_str_eq(key, FZ_STR("jfi"))) {
		read_name(r, SPACE_FILE, value);
	} else if (fz_str_eq(key, FZ_STR("jfn"))) {
		read_name(r, SPACE_FUNCTION, value);
	} else if (fz_str_eq(key, FZ_STR("jump")) || fz_str_eq(key, FZ_STR("jcnd"))) {
		r->jump = true;
	} else {
		return false;
	}
	return true;
}

static int read_whole_line(struct reader *r, struct fz_str line, struct fz_error *err)
{
	line = fz_str_trimmed(line);
	if (!line.n || line.p[0] == '#')
		return 0;
	if (isdigit((uint8_t)line.p[0]) || strchr("+-*", line.p[0]))
		return read_cost_line(r, line, err);
	const char *equals = memchr(line.p, '=', line.n);
	if (equals) {
		struct fz_str key = { line.p, (size_t)(equals - line.p) };
		struct fz_str value =
			fz_str_trimmed((struct fz_str){ equals + 1, line.n - key.n - 1 });
		if (read_assignment(r, key, value))
			return 0;
	}
	int header = read_header(r, line, err);
	r->p->skipped_lines += header == 0;
	return FZ_MIN(header, 0);
}

/* Reads a line. A malformed one may be the truncated last line. */
static int read_line(void *arg, struct fz_str line, struct fz_error *err)
{
	struct reader *r = arg;
	struct fz_error why;

	r->line_number++;
	int code = read_whole_line(r, line, &why);
	r->torn = code && r->events && fz_input_ended_in_line(r->in);
	if (code && !r->torn && err)
		*err = why;
	return r->torn ? 0 : code;
}

/* ---- stacks from names ---- */

static uint32_t caller_frame(struct reader *r, struct fz_str name)
{
	uint32_t string = fz_profile_string(r->p, name);
	uint32_t *slot = fz_map_slot(&r->named, string);
	const struct place nowhere = { .function = string };

	if (*slot == FZ_NONE)
		*slot = frame_of(r, &nowhere, 0);
	return *slot;
}

/* The stack of the callers in a function's name; the outermost is last. A number is a level of
 * recursion. */
static uint32_t callers_of(struct reader *r, uint32_t name)
{
	struct fz_str all = fz_profile_text(r->p, name);
	size_t own = without_callers(all).n, end = all.n;
	uint32_t known = fz_map_get(&r->callers, name), stack = FZ_NONE;

	if (known != FZ_NONE)
		return known - 1;
	for (size_t at = all.n; at-- > own;) {
		struct fz_str caller = { all.p + at + 1, end - at - 1 };
		if (all.p[at] != '\'')
			continue;
		if (!is_level(caller))
			stack = fz_profile_stack(r->p, stack, caller_frame(r, caller));
		end = at;
	}
	fz_map_put(&r->callers, name, stack + 1);
	return stack;
}

static void add_rows(struct reader *r)
{
	for (size_t i = 0; i < r->row_n; i++) {
		const struct row *row = &r->rows[i];
		uint32_t stack = fz_profile_stack(r->p, callers_of(r, row->name), row->frame);
		r->source->add(r->source->arg, stack, row->weights);
	}
}

/* ---- totals ---- */

static void add_to(int64_t *sum, const int64_t *values, uint32_t metrics)
{
	for (uint32_t m = 0; values && m < metrics; m++)
		if (__builtin_add_overflow(sum[m], values[m], &sum[m]))
			sum[m] = INT64_MAX;
}

/* Detects truncated or wrongly joined files by their sums. Files of other tools are not checked,
 * because those round sums or define them differently. */
static void check_sums(struct reader *r)
{
	bool cut = r->totals.lines < r->summary.lines;
	const struct sums *stated = cut ? &r->summary : &r->totals;
	int64_t sum[FZ_METRICS_MAX] = { 0 };
	char is[FZ_NUMBER_SIZE], should[FZ_NUMBER_SIZE];

	for (uint32_t i = 0; i < r->graph->self_n; i++)
		add_to(sum, fz_callgraph_row(r->graph, r->graph->selves[i].cost),
		       r->graph->metrics);
	for (uint32_t m = 0; stated->lines && r->is_valgrind && m < r->graph->metrics; m++) {
		const struct fz_metric *metric = &r->p->metrics[m];
		if ((double)sum[m] == stated->value[m])
			continue;
		fz_auto(fz_free_ptr) char *text =
			fz_asprintf("%s: %s adds up to %s of the stated %s%s",
				    cut ? "cut short" : "costs are missing", metric->name,
				    fz_format_value((double)sum[m], metric->unit, is),
				    fz_format_value(stated->value[m], metric->unit, should),
				    cut ? "; let the program end before copying the file" : "");
		fz_profile_set_fact(r->p, "damage", fz_str_of(text));
		return;
	}
	if (r->torn)
		fz_profile_set_fact(r->p, "damage", FZ_STR("truncated in its last line"));
}

/* Sets totals of functions: the sum over incoming calls, like callgrind_annotate, or without these,
 * self cost plus outgoing calls. Recursion without levels counts more than once, so totals are
 * limited to that of the program. If calls to a function cost less than its self cost, it was also
 * entered without a call, and its total is unknown. */
static void add_totals(struct reader *r)
{
	int64_t whole[FZ_METRICS_MAX] = { 0 };
	struct fz_callgraph *g = r->graph;
	size_t n = ((size_t)g->n + 1) * g->metrics;
	fz_auto(fz_free_ptr) int64_t *in = fz_calloc(n, sizeof(*in));
	fz_auto(fz_free_ptr) int64_t *out = fz_calloc(n, sizeof(*out));
	fz_auto(fz_free_ptr) int64_t *self = fz_calloc(n, sizeof(*self));
	fz_auto(fz_free_ptr) bool *called = fz_calloc(g->n + 1ul, sizeof(*called));

	for (uint32_t i = 0; i < g->self_n; i++) {
		const int64_t *cost = fz_callgraph_row(g, g->selves[i].cost);
		add_to(self + (size_t)g->selves[i].function * g->metrics, cost, g->metrics);
		add_to(whole, cost, g->metrics);
	}
	memcpy(out, self, n * sizeof(*out));
	for (uint32_t i = 0; i < g->call_n; i++) {
		const struct fz_callgraph_call *c = &g->calls[i];
		const int64_t *cost = fz_callgraph_row(g, c->total);
		fz_callgraph_count(g, c->callee, c->calls, c->primitive);
		if (c->caller == c->callee)
			continue;
		called[c->callee] = true;
		add_to(in + (size_t)c->callee * g->metrics, cost, g->metrics);
		add_to(out + (size_t)c->caller * g->metrics, cost, g->metrics);
	}
	for (uint32_t f = 0; f < g->n; f++) {
		size_t at = (size_t)f * g->metrics, chosen = at + r->p->default_metric;
		int64_t *total = (called[f] ? in : out) + at;
		for (uint32_t m = 0; m < g->metrics; m++)
			total[m] = FZ_MIN(total[m], whole[m]);
		if (!called[f] || in[chosen] >= self[chosen])
			fz_callgraph_total(g, r->p, f, total);
	}
	g->stated = g->metrics < 32 ? (1u << g->metrics) - 1 : UINT32_MAX;
}

static void release(struct reader *r)
{
	for (int i = 0; i < SPACES; i++)
		fz_map_release(&r->name_of[i]);
	fz_map_release(&r->file_of);
	fz_map_release(&r->named);
	fz_map_release(&r->callers);
	free(r->rows);
	fz_callgraph_free(r->graph);
}

static int read_lines(struct reader *r, struct fz_error *err)
{
	int code = fz_import_lines(r->in, r->p, FZ_IMPORT_LINE_MAX, read_line, r, err);

	if (!code && !r->events)
		return fz_fail(err, FZ_EINPUT, "%s: has no line 'events:'", fz_input_name(r->in));
	return code;
}

int fz_callgrind_read_source(struct fz_input *in, struct fz_profile *p,
			     struct fz_callgrind_source *source, struct fz_error *err)
{
	fz_auto(release) struct reader r = {
		.in = in, .p = p, .source = source, .positions = 1, .calls = -1
	};

	int code = read_lines(&r, err);
	if (code)
		return code;
	if (r.graph && !source)
		check_sums(&r);
	if (!r.graph) {
		add_rows(&r);
		return 0;
	}
	add_totals(&r);
	bool first = !p->samples.n;
	fz_graph_make_stacks(p, r.graph);
	fz_profile_take_callgraph(p, fz_steal(r.graph), first);
	return 0;
}

int fz_callgrind_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	return fz_callgrind_read_source(in, p, NULL, err);
}
