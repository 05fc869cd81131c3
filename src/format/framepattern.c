/* SPDX-License-Identifier: MIT */
/* Regular expressions as programs, simulated for all states at once (Thompson, 1968).
 *
 *   a|b*    SPLIT +1 +3   CHAR a   JUMP +4   SPLIT +1 +3   CHAR b   JUMP -2   MATCH
 *
 * Targets are relative, so that parts can be moved and copied.
 */
#include "framepattern.h"

#include "base/base.h"

/* Limit of visited states over all names, far above real profiles; beyond it nothing matches. */
#define WORK_MAX ((uint64_t)1 << 31)

enum { PROGRAM_MAX = 4096, DEPTH_MAX = 500, REPEAT_MAX = 1000 };

enum op { CHAR, ANY, CLASS, BEGIN, END, SPLIT, JUMP, MATCH };

struct step {
	enum op op;
	uint32_t code;    /* CHAR */
	int x, y;         /* SPLIT, JUMP (x): targets */
	struct fz_str of; /* CLASS: its text, "[...]" or "\d" */
};

struct fz_framepattern {
	struct fz_str rest; /* rest of the text during compilation */
	struct step steps[PROGRAM_MAX];
	int count;
	int depth; /* of groups and choices; later of the stack */
	bool bad;
	/* during matching: states, each once per position */
	int list[2][PROGRAM_MAX], n[2];
	uint32_t mark[PROGRAM_MAX], round;
	int stack[PROGRAM_MAX];
	uint64_t work;
};

/* ---- characters ---- */

static uint32_t take_code(struct fz_str *s)
{
	uint32_t code;
	size_t n = fz_utf8_decode(s->p, s->n, &code);

	if (!n) {
		code = (uint8_t)s->p[0];
		n = 1;
	}
	s->p += n;
	s->n -= n;
	return code;
}

static bool is_word(uint32_t c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* Whether a character is in \d, \s or \w; capitals are the complements. */
static bool in_set(char letter, uint32_t c)
{
	switch (letter) {
	case 'd':
		return c >= '0' && c <= '9';
	case 'w':
		return is_word(c);
	case 's':
		return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
	default:
		return !in_set((char)(letter | 32), c);
	}
}

static bool is_set(char letter)
{
	return letter && strchr("dswDSW", letter);
}

/* Whether a character is in a class, "[^a-z\d]", which compilation has checked. */
static bool in_class(struct fz_str class, uint32_t c)
{
	struct fz_str s = { class.p + 1, class.n - 2 };
	bool negated = fz_str_starts(s, "^"), found = false;

	if (negated)
		s = (struct fz_str){ s.p + 1, s.n - 1 };
	while (s.n) {
		uint32_t low = take_code(&s), high;
		if (low == '\\' && is_set(s.p[0])) {
			found |= in_set((char)take_code(&s), c);
			continue;
		}
		if (low == '\\')
			low = take_code(&s);
		high = low;
		if (s.n > 1 && s.p[0] == '-') {
			take_code(&s);
			high = take_code(&s);
			if (high == '\\')
				high = take_code(&s);
		}
		found |= c >= low && c <= high;
	}
	return found != negated;
}

/* ---- compiling ---- */

static void fail(struct fz_framepattern *p)
{
	p->bad = true;
	p->rest.n = 0;
}

static void add(struct fz_framepattern *p, struct step step)
{
	if (p->count == PROGRAM_MAX)
		fail(p);
	else
		p->steps[p->count++] = step;
}

/* Inserts a step before the code compiled since `at`. */
static void insert(struct fz_framepattern *p, int at, struct step step)
{
	add(p, step);
	if (p->bad)
		return;
	memmove(&p->steps[at + 1], &p->steps[at], (size_t)(p->count - 1 - at) * sizeof(step));
	p->steps[at] = step;
}

static bool at(const struct fz_framepattern *p, const char *what)
{
	return fz_str_starts(p->rest, what);
}

static bool accept(struct fz_framepattern *p, const char *what)
{
	if (!at(p, what))
		return false;
	p->rest.p += strlen(what);
	p->rest.n -= strlen(what);
	return true;
}

/* The length of "[...]" including brackets; 0 if not supported. */
static size_t class_length(struct fz_str s)
{
	size_t i = 1;

	i += i < s.n && s.p[i] == '^';
	for (size_t first = i; i < s.n; i++) {
		if (s.p[i] == ']')
			return i > first ? i + 1 : 0;
		if (s.p[i] == '[' && i + 1 < s.n && s.p[i + 1] == ':')
			return 0;
		if (s.p[i] != '\\')
			continue;
		i++;
		if (i == s.n || (is_word((uint8_t)s.p[i]) && !is_set(s.p[i])))
			return 0;
	}
	return 0;
}

static void compile_class(struct fz_framepattern *p)
{
	size_t n = class_length(p->rest);

	add(p, (struct step){ .op = CLASS, .of = { p->rest.p, n } });
	p->rest.p += n;
	p->rest.n -= n;
	if (!n)
		fail(p);
}

static void compile_escape(struct fz_framepattern *p)
{
	struct fz_str escape = { p->rest.p - 1, 2 };

	if (!p->rest.n || (is_word((uint8_t)p->rest.p[0]) && !is_set(p->rest.p[0]))) {
		fail(p);
		return;
	}
	bool set = is_set(p->rest.p[0]);
	uint32_t code = take_code(&p->rest);
	add(p, (struct step){ .op = set ? CLASS : CHAR, .code = code, .of = escape });
}

static void compile_choice(struct fz_framepattern *p);

static void compile_group(struct fz_framepattern *p)
{
	if (at(p, "?") && !accept(p, "?:"))
		fail(p);
	compile_choice(p);
	if (!accept(p, ")"))
		fail(p);
}

static void compile_atom(struct fz_framepattern *p)
{
	if (accept(p, "("))
		compile_group(p);
	else if (at(p, "["))
		compile_class(p);
	else if (accept(p, "."))
		add(p, (struct step){ .op = ANY });
	else if (accept(p, "^"))
		add(p, (struct step){ .op = BEGIN });
	else if (accept(p, "$"))
		add(p, (struct step){ .op = END });
	else if (accept(p, "\\"))
		compile_escape(p);
	else if (at(p, "*") || at(p, "+") || at(p, "?"))
		fail(p);
	else
		add(p, (struct step){ .op = CHAR, .code = take_code(&p->rest) });
}

/* ---- repetitions of the code compiled since `start` ---- */

static void optional(struct fz_framepattern *p, int start)
{
	insert(p, start, (struct step){ .op = SPLIT, .x = 1, .y = p->count - start + 1 });
}

static void any_number(struct fz_framepattern *p, int start)
{
	int n = p->count - start;

	insert(p, start, (struct step){ .op = SPLIT, .x = 1, .y = n + 2 });
	add(p, (struct step){ .op = JUMP, .x = -(n + 1) });
}

static int copy(struct fz_framepattern *p, int start, int n)
{
	int to = p->count;

	for (int i = 0; i < n; i++)
		add(p, p->steps[start + i]);
	return to;
}

static bool take_number(struct fz_str *s, int *ret)
{
	size_t n = 0;
	uint64_t v;

	while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
		n++;
	if (!fz_parse_u64((struct fz_str){ s->p, n }, REPEAT_MAX, &v))
		return false;
	*s = (struct fz_str){ s->p + n, s->n - n };
	*ret = (int)v;
	return true;
}

/* Parses "{2}", "{2,}" and "{2,5}"; anything else after "{" is text. */
static bool take_counts(struct fz_framepattern *p, int *ret_least, int *ret_most)
{
	struct fz_str saved = p->rest;

	if (accept(p, "{") && take_number(&p->rest, ret_least)) {
		*ret_most = *ret_least;
		if (accept(p, ",") && !take_number(&p->rest, ret_most))
			*ret_most = -1;
		if (accept(p, "}"))
			return true;
	}
	p->rest = saved;
	return false;
}

static void repeat(struct fz_framepattern *p, int start, int least, int most)
{
	int n = p->count - start;

	if (most >= 0 && most < least)
		fail(p);
	for (int i = 1; i < least && !p->bad; i++)
		copy(p, start, n);
	if (most < 0)
		any_number(p, least ? copy(p, start, n) : start);
	for (int i = FZ_MAX(least, 1); i < most && !p->bad; i++)
		optional(p, copy(p, start, n));
	if (!least && most > 0)
		optional(p, start);
	if (!least && !most)
		p->count = start;
}

static void compile_repeated(struct fz_framepattern *p)
{
	int start = p->count, least, most;

	compile_atom(p);
	if (accept(p, "*"))
		any_number(p, start);
	else if (accept(p, "+"))
		add(p, (struct step){ .op = SPLIT, .x = start - p->count, .y = 1 });
	else if (accept(p, "?"))
		optional(p, start);
	else if (take_counts(p, &least, &most))
		repeat(p, start, least, most);
	else
		return;
	/* Greediness makes no difference to a match of the whole name. */
	accept(p, "?");
	if (at(p, "*") || at(p, "+") || at(p, "?"))
		fail(p);
}

static void compile_choice(struct fz_framepattern *p)
{
	int start = p->count;

	if (++p->depth > DEPTH_MAX) {
		fail(p);
		return;
	}
	while (p->rest.n && !at(p, "|") && !at(p, ")"))
		compile_repeated(p);
	if (accept(p, "|")) {
		optional(p, start);
		add(p, (struct step){ .op = JUMP });
		if (p->bad)
			return;
		int jump = p->count - 1;
		p->steps[start].y++;
		compile_choice(p);
		p->steps[jump].x = p->count - jump;
	}
	p->depth--;
}

struct fz_framepattern *fz_framepattern_new(struct fz_str text)
{
	struct fz_framepattern *p = fz_calloc(1, sizeof(*p));

	p->rest = text;
	compile_choice(p);
	if (p->rest.n)
		fail(p);
	add(p, (struct step){ .op = MATCH });
	p->depth = 0;
	if (!p->bad)
		return p;
	free(p);
	return NULL;
}

void fz_framepattern_free(struct fz_framepattern *p)
{
	free(p);
}

/* ---- matching ---- */

struct place {
	bool begin, end;
};

static void push(struct fz_framepattern *p, int state)
{
	if (p->mark[state] == p->round)
		return;
	p->mark[state] = p->round;
	p->stack[p->depth++] = state;
}

/* Enters a state and all states reachable without a character; true if MATCH is among them. */
static bool enter(struct fz_framepattern *p, int which, int first, struct place place)
{
	bool found = false;

	push(p, first);
	while (p->depth) {
		int i = p->stack[--p->depth];
		const struct step *s = &p->steps[i];
		found |= s->op == MATCH && place.end;
		if (s->op == SPLIT || s->op == JUMP)
			push(p, i + s->x);
		if (s->op == SPLIT)
			push(p, i + s->y);
		else if ((s->op == BEGIN && place.begin) || (s->op == END && place.end))
			push(p, i + 1);
		else if (s->op == CHAR || s->op == ANY || s->op == CLASS)
			p->list[which][p->n[which]++] = i;
	}
	return found;
}

static bool takes(const struct step *s, uint32_t code)
{
	switch (s->op) {
	case CHAR:
		return s->code == code;
	case ANY:
		return code != '\n';
	case CLASS:
		return s->of.p[0] == '\\' ? in_set(s->of.p[1], code) : in_class(s->of, code);
	default:
		return false;
	}
}

bool fz_framepattern_matches(struct fz_framepattern *p, struct fz_str name)
{
	int now = 0;

	p->round++;
	p->n[0] = 0;
	if (enter(p, 0, 0, (struct place){ true, !name.n }))
		return true;
	while (name.n && p->n[now] && p->work < WORK_MAX) {
		uint32_t code = take_code(&name);
		struct place place = { false, !name.n };
		p->round++;
		p->work += (uint64_t)p->n[now];
		p->n[!now] = 0;
		for (int i = 0; i < p->n[now]; i++) {
			int state = p->list[now][i];
			if (takes(&p->steps[state], code) && enter(p, !now, state + 1, place))
				return true;
		}
		now = !now;
	}
	return false;
}
