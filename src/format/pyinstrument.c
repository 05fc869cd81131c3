/* SPDX-License-Identifier: MIT */
/* Reads pyinstrument's files.
 *
 *   session (-r session, .pyisession)   frame_records: [[frame, root first], seconds], a sample
 *                                       each
 *   report  (-r json)                   root_frame: {function, time, children}
 *   page    (-r html)                   sessionData = {session, frame_tree: {identifier, time,
 *                                       attributes, children}}
 *
 * A frame of a session is a text: function NUL file NUL first line, then \1 and a letter before
 * each of its attributes: c class, l line. In a page, identifiers are the first part of that text
 * and the attributes are keys. Report and page have a simplified tree: times include those of the
 * children, and sample counts are missing.
 */
#include "format.h"
#include "import.h"
#include "jsonread.h"

struct reader {
	struct fz_profile *p;
	uint32_t thread;
	int64_t now; /* ns, of a session */
};

/* ---- frames ---- */

/* Takes the text up to a separator, and the separator, from the front. */
static struct fz_str take_part(struct fz_str *s, char separator)
{
	const char *end = s->n ? memchr(s->p, separator, s->n) : NULL;
	struct fz_str part = { s->p, end ? (size_t)(end - s->p) : s->n };
	size_t taken = part.n + (end != NULL);

	s->p += taken;
	s->n -= taken;
	return part;
}

static int32_t line_of(struct fz_str digits)
{
	uint64_t line = 0;

	fz_parse_u64(digits, INT32_MAX, &line);
	return (int32_t)line;
}

/* Makes the frame "Class.function"; "[await]" and similar are markers. */
static uint32_t frame_of(struct reader *r, struct fz_import_frame f, struct fz_str class)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	bool marker = !f.file.n && fz_str_starts(f.name, "[");

	if (class.n) {
		fz_buf_add(&name, class.p, class.n);
		fz_buf_char(&name, '.');
	}
	fz_buf_add(&name, f.name.p, f.name.n);
	f.name = fz_buf_view(&name);
	f.kind = marker ? FZ_KIND_MARKER : FZ_KIND_PYTHON;
	if (fz_str_starts(f.file, "<built-in"))
		f.file = FZ_STR("");
	return fz_import_frame(r->p, &f);
}

static bool is_thread(struct fz_str file)
{
	return fz_str_eq(file, FZ_STR("<thread>"));
}

static uint32_t thread_of(struct reader *r, struct fz_str name, struct fz_str number)
{
	struct fz_thread t = { .name = fz_profile_string(r->p, name),
			       .is_main = fz_str_eq(name, FZ_STR("MainThread")) };

	fz_parse_u64(number, UINT64_MAX, &t.tid);
	return fz_profile_thread(r->p, &t);
}

/* ---- sessions ---- */

/* Pushes the frame of a text on a stack; a thread at the root is not a frame. */
static uint32_t push_text(struct reader *r, uint32_t stack, struct fz_str text, uint32_t *thread)
{
	struct fz_str identity = take_part(&text, '\1'), class = FZ_STR("");
	struct fz_import_frame f = { .name = take_part(&identity, '\0') };

	f.file = take_part(&identity, '\0');
	if (is_thread(f.file)) {
		*thread = thread_of(r, f.name, identity);
		return stack;
	}
	f.first_line = line_of(identity);
	while (text.n) {
		struct fz_str attribute = take_part(&text, '\1');
		struct fz_str value = { attribute.p + 1, attribute.n ? attribute.n - 1 : 0 };
		if (fz_str_starts(attribute, "c"))
			class = value;
		else if (fz_str_starts(attribute, "l"))
			f.line = line_of(value);
	}
	return fz_profile_stack(r->p, stack, frame_of(r, f, class));
}

static void read_record(struct reader *r, const json_t *record)
{
	double seconds = fz_jsonread_number(json_array_get(record, 1), 0);
	struct fz_sample s = {
		.stack = FZ_NONE, .thread = r->thread, .time = r->now, .status = FZ_STATUS_UNKNOWN
	};
	int64_t ns = fz_import_scaled(FZ_MAX(seconds, 0.0), 1e9);
	size_t i;
	json_t *v;

	json_array_foreach(json_array_get(record, 0), i, v) s.stack =
		push_text(r, s.stack, fz_jsonread_str(v), &s.thread);
	fz_profile_add_sample(r->p, &s, &ns);
	if (__builtin_add_overflow(r->now, ns, &r->now))
		r->now = INT64_MAX;
}

static int read_session(struct reader *r, const json_t *session, struct fz_error *err)
{
	double interval = fz_jsonread_number(json_object_get(session, "min_interval"), 0);
	size_t i;
	json_t *v;

	r->p->recording.interval_ns = fz_import_scaled(FZ_MAX(interval, 0.0), 1e9);
	r->p->samples.timed = r->p->samples.ordered = true;
	fz_profile_add_metric(r->p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	json_array_foreach(json_object_get(session, "frame_records"), i, v)
	{
		read_record(r, v);
		if (r->p->over_limit)
			return fz_profile_check(r->p, err);
	}
	return 0;
}

/* ---- reports ---- */

/* A frame of a tree. */
struct described {
	struct fz_import_frame f;
	struct fz_str class, number; /* number: of a thread */
};

static struct described describe_in_report(const json_t *v)
{
	int64_t line = fz_jsonread_int(json_object_get(v, "line_no"), 0);

	return (struct described){ .f = { .name = fz_jsonread_kstr(v, "function"),
					  .file = fz_jsonread_kstr(v, "file_path"),
					  .first_line = fz_import_line(line) },
				   .class = fz_jsonread_kstr(v, "class_name"),
				   .number = FZ_STR("0") };
}

static struct described describe_in_page(const json_t *node)
{
	struct fz_str identity = fz_jsonread_kstr(node, "identifier");
	struct described d = { .f.name = take_part(&identity, '\0') };
	const char *key;
	json_t *v;

	d.f.file = take_part(&identity, '\0');
	d.f.first_line = line_of(identity);
	d.number = identity;
	json_object_foreach(json_object_get(node, "attributes"), key, v) if (key[0] == 'c') d.class
		= fz_str_of(key + 1);
	return d;
}

static double seconds_of(const json_t *v)
{
	return FZ_MAX(fz_jsonread_number(json_object_get(v, "time"), 0), 0.0);
}

/* "[self]" is its parent's own time. jansson limits the depth. */
static void read_node(struct reader *r, const json_t *node, uint32_t stack, uint32_t thread)
{
	bool in_page = json_object_get(node, "identifier");
	struct described d = in_page ? describe_in_page(node) : describe_in_report(node);
	double own = seconds_of(node);
	size_t i;
	json_t *v;

	if (is_thread(d.f.file))
		thread = thread_of(r, d.f.name, d.number);
	else if (!fz_str_eq(d.f.name, FZ_STR("[self]")))
		stack = fz_profile_stack(r->p, stack, frame_of(r, d.f, d.class));
	json_array_foreach(json_object_get(node, "children"), i, v)
	{
		own -= seconds_of(v);
		read_node(r, v, stack, thread);
	}
	/* Times are stored in microseconds; a smaller remainder is a rounding error. */
	int64_t ns = fz_import_scaled(own, 1e9), digit = 1000;
	struct fz_sample s = { .stack = stack, .thread = thread, .status = FZ_STATUS_UNKNOWN };
	if (ns > digit / 2 * (int64_t)(1 + i))
		fz_profile_add_sample(r->p, &s, &ns);
}

/* ---- all ---- */

static void read_facts(struct reader *r, const json_t *root)
{
	struct fz_str target = fz_jsonread_kstr(root, "target_description");
	double duration = fz_jsonread_number(json_object_get(root, "duration"), 0);

	if (fz_str_starts(target, "Program: "))
		fz_profile_set_fact(r->p, "command", (struct fz_str){ target.p + 9, target.n - 9 });
	r->p->recording.mode = FZ_MODE_WALL;
	r->p->recording.duration_ns = fz_import_scaled(FZ_MAX(duration, 0.0), 1e9);
}

static int read_root(struct fz_profile *p, const char *name, const json_t *session,
		     const json_t *tree, struct fz_error *err)
{
	struct reader r = { .p = p };

	if (!json_is_object(tree) && !json_array_size(json_object_get(session, "frame_records")))
		return fz_fail(err, FZ_EINPUT, "%s: no frames", name);
	r.thread = fz_profile_thread(p, &(struct fz_thread){ .is_main = true });
	read_facts(&r, session);
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	if (!tree)
		return read_session(&r, session, err);
	p->samples.timed = p->samples.ordered = false;
	read_node(&r, tree, FZ_NONE, r.thread);
	return fz_profile_check(p, err);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_jsonread_release) json_t *root = NULL;
	int code = fz_jsonread_load(in, &root, err);

	return code ? code
		    : read_root(p, fz_input_name(in), root, json_object_get(root, "root_frame"),
				err);
}

static int read_page(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_jsonread_release) json_t *root = NULL;
	int code = fz_jsonread_load_after(in, "sessionData = ", &root, err);

	return code ? code
		    : read_root(p, fz_input_name(in), json_object_get(root, "session"),
				json_object_get(root, "frame_tree"), err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	(void)name;
	if (!fz_jsonread_has_key(head, n, 1, "target_description"))
		return 0;
	return fz_jsonread_has_key(head, n, 1, "root_frame") ||
			       fz_jsonread_has_key(head, n, 1, "start_call_stack")
		       ? 95
		       : 0;
}

const struct fz_format fz_format_pyinstrument = {
	.name = "pyinstrument",
	.title = "pyinstrument's session or JSON report",
	.suffixes = ".pyisession .json",
	.notes = "a session has all samples, a report only times",
	.sniff = sniff,
	.read = read,
};

static int sniff_page(const uint8_t *head, size_t n, const char *name)
{
	static const char script[] = "<script>var pyinstrumentHTMLRenderer=";

	(void)name;
	return memmem(head, n, script, strlen(script)) ? 95 : 0;
}

const struct fz_format fz_format_pyinstrument_page = {
	.name = "pyinstrument-page",
	.title = "pyinstrument's page",
	.suffixes = ".html",
	.notes = "times without samples",
	.sniff = sniff_page,
	.read = read_page,
};
