/* SPDX-License-Identifier: MIT */
/* Tables of words; see import.h. */
#include "import.h"

#include "base/buf.h"
#include "symbol/demangle.h"

#include <math.h>

/* Larger values could overflow when added; fz_profile_add_sample reports this. */
#define LARGEST ((int64_t)1 << 62)

/* Bytes before the symbol: a module of dtrace, "a.out`", and the underscore of macOS. */
static size_t symbol_start(struct fz_str name)
{
	const char *tick = name.n ? memrchr(name.p, '`', name.n) : NULL;
	size_t at = tick ? (size_t)(tick + 1 - name.p) : 0;
	struct fz_str rest = { name.p + at, name.n - at };

	return at + (fz_str_starts(rest, "__Z") || fz_str_starts(rest, "__R"));
}

/* Tools that demangle only C++ leave Rust's escapes and hash, "_$LT$T$GT$::f::h0123456789abcdef".
 * The symbol that libiberty can demangle; NULL for other names. */
static char *remangled(struct fz_str name)
{
	fz_auto(fz_buf_release) struct fz_buf symbol = { 0 };
	size_t hash = name.n < 20 ? 0 : name.n - 16;

	if (!hash || memcmp(name.p + hash - 3, "::h", 3) != 0)
		return NULL;
	fz_buf_str(&symbol, "_ZN");
	while (name.n) {
		const char *colons = memmem(name.p, name.n, "::", 2);
		size_t n = colons ? (size_t)(colons - name.p) : name.n;
		fz_buf_printf(&symbol, "%zu%.*s", n, (int)n, name.p);
		n += colons ? 2 : 0;
		name = (struct fz_str){ name.p + n, name.n - n };
	}
	fz_buf_char(&symbol, 'E');
	return fz_strndup(symbol.p, symbol.n);
}

uint32_t fz_import_name(struct fz_profile *p, struct fz_str name)
{
	size_t start = symbol_start(name);
	struct fz_str rest = { name.p + start, name.n - start };
	bool mangled = rest.n > 3 && rest.p[0] == '_' && (rest.p[1] == 'Z' || rest.p[1] == 'R');
	fz_auto(fz_free_ptr) char *symbol = mangled ? fz_strndup(rest.p, rest.n) : remangled(rest);
	fz_auto(fz_free_ptr) char *readable = symbol ? fz_demangle(symbol) : NULL;

	if (!readable || strncmp(readable, symbol, strlen(readable)) == 0)
		return fz_profile_string(p, name);
	fz_auto(fz_buf_release) struct fz_buf all = { 0 };
	fz_buf_add(&all, name.p, start - (start && name.p[start - 1] == '_'));
	fz_buf_str(&all, readable);
	return fz_profile_string(p, fz_buf_view(&all));
}

struct fz_str fz_import_module(struct fz_str path)
{
	static const char gone[] = " (deleted)";

	path.n -= fz_str_ends(path, gone) ? strlen(gone) : 0;
	return path;
}

uint32_t fz_import_frame(struct fz_profile *p, const struct fz_import_frame *f)
{
	struct fz_function function = {
		.name = fz_import_name(p, f->name.n ? f->name : FZ_STR("[unknown]")),
		.file = fz_profile_string(p, f->file),
		.module = fz_profile_string(p, fz_import_module(f->module)),
		.first_line = FZ_MAX(f->first_line, 0),
		.kind = (uint8_t)f->kind,
	};
	struct fz_frame frame =
		fz_frame_at(fz_profile_function(p, &function), f->line > 0 ? f->line : FZ_NO_LINE);

	if (f->line > 0 && f->column > 0)
		frame.column = f->column - 1;

	return fz_profile_frame(p, &frame);
}

uint32_t fz_import_frame_in(struct fz_profile *p, const struct fz_import_frame *f,
			    struct fz_str module)
{
	struct fz_import_frame in = *f;

	in.kind = fz_import_kind(f->file, module, FZ_KIND_NATIVE);
	if (!f->file.n)
		in.module = module;
	return fz_import_frame(p, &in);
}

uint32_t fz_import_address(struct fz_profile *p, struct fz_str module, uint64_t address)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	struct fz_str base = fz_path_base(fz_import_module(module));

	fz_buf_add(&name, base.p, base.n);
	fz_buf_printf(&name, "%s0x%llx", base.n ? "+" : "", (unsigned long long)address);
	return fz_import_frame_in(p, &(struct fz_import_frame){ .name = fz_buf_view(&name) },
				  module);
}

/* Strips ":12" from the end; false if there is none. */
static bool take_line(struct fz_str *s, int32_t *ret)
{
	const char *colon = s->n ? memrchr(s->p, ':', s->n) : NULL;
	uint64_t line;

	if (!colon || colon == s->p)
		return false;
	struct fz_str digits = { colon + 1, s->n - (size_t)(colon + 1 - s->p) };
	if (!fz_parse_u64(digits, INT32_MAX, &line))
		return false;
	s->n = (size_t)(colon - s->p);
	*ret = (int32_t)line;
	return true;
}

void fz_import_location(struct fz_str text, struct fz_import_frame *f)
{
	const char *open = text.n ? memrchr(text.p, '(', text.n) : NULL;
	int32_t line, first;

	f->name = text;
	if (!open || open == text.p || text.p[text.n - 1] != ')')
		return;
	struct fz_str name = { text.p, (size_t)(open - text.p) };
	struct fz_str place = { open + 1, text.n - name.n - 2 };
	while (name.n && name.p[name.n - 1] == ' ')
		name.n--;
	if (fz_str_starts(place, "in ")) {
		f->module = (struct fz_str){ place.p + 3, place.n - 3 };
		f->name = name;
	} else if (take_line(&place, &line)) {
		/* With a column, the line is the number before it. */
		f->first_line = take_line(&place, &first) ? first : line;
		f->file = place;
		f->name = name;
	}
}

static bool contains(struct fz_str s, const char *what)
{
	return s.n && memmem(s.p, s.n, what, strlen(what));
}

enum fz_kind fz_import_special(struct fz_str name)
{
	return fz_str_starts(name, "<task ") ? FZ_KIND_TASK : FZ_KIND_MARKER;
}

enum fz_kind fz_import_kind(struct fz_str file, struct fz_str module, enum fz_kind other)
{
	if (fz_str_ends(file, ".py") || fz_str_starts(file, "<frozen ") ||
	    fz_str_eq(file, FZ_STR("<string>")))
		return FZ_KIND_PYTHON;
	if (fz_str_starts(module, "[kernel") || fz_str_starts(module, "[guest.kernel") ||
	    fz_str_ends(module, ".ko") || contains(module, "vmlinux"))
		return FZ_KIND_KERNEL;
	return other;
}

/* ---- metrics ---- */

/* In the singular; a thousand bytes are 1,024, as in pprof. */
static const struct unit {
	const char *theirs, *ours;
	double scale;
} units[] = {
	{ "ns", "ns", 1 },
	{ "nanosecond", "ns", 1 },
	{ "10ns", "ns", 10 },
	{ "us", "ns", 1e3 },
	{ "\xc2\xb5s", "ns", 1e3 },
	{ "\xce\xbcs", "ns", 1e3 },
	{ "microsecond", "ns", 1e3 },
	{ "ms", "ns", 1e6 },
	{ "millisecond", "ns", 1e6 },
	{ "s", "ns", 1e9 },
	{ "sec", "ns", 1e9 },
	{ "second", "ns", 1e9 },
	{ "min", "ns", 60e9 },
	{ "minute", "ns", 60e9 },
	{ "hour", "ns", 3600e9 },
	{ "b", "bytes", 1 },
	{ "by", "bytes", 1 },
	{ "byte", "bytes", 1 },
	{ "kb", "bytes", 1024 },
	{ "kib", "bytes", 1024 },
	{ "kilobyte", "bytes", 1024 },
	{ "mb", "bytes", 1 << 20 },
	{ "mib", "bytes", 1 << 20 },
	{ "megabyte", "bytes", 1 << 20 },
	{ "gb", "bytes", 1 << 30 },
	{ "gib", "bytes", 1 << 30 },
	{ "gigabyte", "bytes", 1 << 30 },
};

static bool is_unit(struct fz_str unit, const char *name)
{
	size_t n = strlen(name);
	bool plural = n > 2 && unit.n == n + 1 && (unit.p[n] | 32) == 's';

	return (unit.n == n || plural) && strncasecmp(unit.p, name, n) == 0;
}

static struct fz_import_metric with_unit(struct fz_str name, struct fz_str unit)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(units); i++)
		if (is_unit(unit, units[i].theirs))
			return (struct fz_import_metric){ name, fz_str_of(units[i].ours),
							  units[i].scale };
	return (struct fz_import_metric){ name, FZ_STR("count"), 1 };
}

/* Names of events; those of perf may end in modifiers, like "cycles:u". */
static const struct {
	const char *theirs, *ours, *unit;
} names[] = {
	{ "Ir", "instructions", "" },
	{ "Instructions", "instructions", "" },
	{ "instructions", "instructions", "" },
	{ "inst_retired.any", "instructions", "" },
	{ "Cycle", "cycles", "" },
	{ "cycles", "cycles", "" },
	{ "cpu-cycles", "cycles", "" },
	{ "cpu-clock", "cpu", "ns" },
	{ "task-clock", "cpu", "ns" },
	{ "sample", "samples", "" },
	{ "samples", "samples", "" },
	{ "time", "wall", "" },
	{ "Time_", "wall", "" },
	{ "Memory_", "memory", "" },
	{ "Wall time", "wall", "" },
	{ "CPU time", "cpu", "" },
	{ "wall", "wall", "" },
	{ "cpu", "cpu", "" },
};

/* "cpu(ms)" in callgrind files of other tools. */
static void take_unit(struct fz_str *type, struct fz_str *unit)
{
	const char *open = type->n ? memchr(type->p, '(', type->n) : NULL;

	if (!open || type->p[type->n - 1] != ')' || open == type->p)
		return;
	size_t at = (size_t)(open - type->p);
	*unit = (struct fz_str){ open + 1, type->n - at - 2 };
	type->n = at;
}

struct fz_import_metric fz_import_metric(struct fz_str type, struct fz_str unit)
{
	const char *colon = type.n ? memchr(type.p, ':', type.n) : NULL;
	struct fz_str plain = type;

	if (colon && colon > type.p)
		plain.n = (size_t)(colon - type.p);
	if (!unit.n)
		take_unit(&plain, &unit);
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		struct fz_str own = fz_str_of(names[i].unit);
		if (!fz_str_eq(plain, fz_str_of(names[i].theirs)))
			continue;
		struct fz_import_metric m =
			with_unit(fz_str_of(names[i].ours), own.n && !unit.n ? own : unit);
		bool is_time = fz_str_eq(m.unit, FZ_STR("ns"));
		bool names_time =
			fz_str_eq(m.name, FZ_STR("wall")) || fz_str_eq(m.name, FZ_STR("cpu"));
		if (is_time == names_time)
			return m;
	}
	return with_unit(plain.n ? plain : FZ_STR("value"), unit);
}

struct fz_import_metric fz_import_unit(struct fz_str unit)
{
	struct fz_import_metric m = with_unit(FZ_STR("samples"), unit);

	if (fz_str_eq(m.unit, FZ_STR("ns")))
		m.name = FZ_STR("wall");
	else if (fz_str_eq(m.unit, FZ_STR("bytes")))
		m.name = FZ_STR("bytes");
	return m;
}

uint32_t fz_import_add_metric(struct fz_profile *p, const struct fz_import_metric *m, int64_t each,
			      bool has_column)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };

	if (p->metric_count >= FZ_METRICS_MAX)
		return FZ_NONE;
	fz_buf_add(&name, m->name.p, m->name.n);
	for (int i = 2; fz_profile_find_metric(p, fz_buf_view(&name)) != FZ_NONE; i++) {
		fz_buf_reset(&name);
		fz_buf_printf(&name, "%.*s %d", (int)FZ_MIN(m->name.n, 100), m->name.p, i);
	}
	return fz_profile_add_metric(p, fz_buf_view(&name), m->unit, each, has_column);
}

/* ---- numbers ---- */

int64_t fz_import_scaled(double v, double scale)
{
	v *= scale;
	if (isnan(v))
		return 0;
	if (v >= (double)LARGEST)
		return LARGEST;
	return v <= -(double)LARGEST ? -LARGEST : llround(v);
}

int64_t fz_import_scaled_int(int64_t v, double scale)
{
	int64_t whole = (int64_t)scale, r;

	if ((double)whole == scale && !__builtin_mul_overflow(v, whole, &r) && r <= LARGEST &&
	    r >= -LARGEST)
		return r;
	return fz_import_scaled((double)v, scale);
}

uint32_t fz_import_count(int64_t n)
{
	uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;

	return (uint32_t)FZ_MAX(FZ_MIN(size, (uint64_t)UINT32_MAX), (uint64_t)1);
}

uint32_t fz_import_periods(int64_t cost, int64_t period)
{
	return period <= 0 || cost % period ? 1 : fz_import_count(cost / period);
}

int fz_import_lines(struct fz_input *in, struct fz_profile *p, size_t longest,
		    int (*take)(void *arg, struct fz_str line, struct fz_error *err), void *arg,
		    struct fz_error *err)
{
	struct fz_str line;
	int code;

	while ((code = fz_input_line(in, longest, &line, err)) > 0) {
		code = take(arg, line, err);
		if (!code && p->over_limit)
			code = fz_profile_check(p, err);
		if (code)
			break;
	}
	return code;
}

void fz_import_keep_label(struct fz_buf *set, struct fz_str key, struct fz_str value)
{
	bool is_pair = !memchr(key.p, '=', key.n) && !memchr(key.p, 0, key.n) &&
		       !memchr(value.p, 0, value.n);

	if (is_pair && set->n + key.n + value.n <= FZ_IMPORT_LABELS_MAX) {
		fz_buf_add(set, key.p, key.n);
		fz_buf_char(set, '=');
		fz_buf_add(set, value.p, value.n);
	}
	fz_buf_char(set, 0);
}

void fz_import_note_cut(struct fz_profile *p)
{
	fz_profile_note(p, "the file is truncated");
}

int32_t fz_import_line(int64_t v)
{
	return v > 0 && v <= INT32_MAX ? (int32_t)v : 0;
}
