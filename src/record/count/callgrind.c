/* SPDX-License-Identifier: MIT */
/* Counting with callgrind; see callgrind.h. */
#include "record/count/callgrind.h"

#include "record/count/part.h"
#include "format/callgrind.h"
#include "symbol/demangle.h"
#include "symbol/jitmap.h"

#include <unistd.h>
#include <stdlib.h>

void fz_counter_callgrind_options(const struct fz_counter *c, const char *ret[FZ_CALLGRIND_OPTIONS])
{
	bool parts = c->options.benchmarks && !c->options.symbol;

	*ret++ = "--tool=callgrind";
	*ret++ = c->graph ? "--separate-callers=0" : "--separate-callers=200";
	/* Counting outside of parts would take most of the time. */
	*ret++ = parts ? "--instr-atstart=no" : "--instr-atstart=yes";
	/* The geometry of our tool's caches. */
	*ret++ = "--I1=32768,8,64";
	*ret++ = "--D1=32768,8,64";
	*ret++ = "--LL=8388608,16,64";
	*ret++ = c->cache ? "--cache-sim=yes" : "--cache-sim=no";
	*ret = NULL;
}

/* ---- metrics ---- */

static const struct {
	const char *event, *metric;
} events[] = {
	{ "Ir", "instructions" }, { "Dr", "reads" },       { "Dw", "writes" },
	{ "I1mr", "I1 misses" },  { "D1mr", "D1 misses" }, { "D1mw", "D1 misses" },
	{ "ILmr", "LL misses" },  { "DLmr", "LL misses" }, { "DLmw", "LL misses" },
};

void fz_counter_callgrind_add_metrics(const struct fz_counter *c, struct fz_profile *p)
{
	for (size_t i = 0; i < (c->cache ? FZ_ARRAY_LEN(events) : 1); i++)
		if (fz_profile_find_metric(p, fz_str_of(events[i].metric)) == FZ_NONE)
			fz_profile_add_metric(p, fz_str_of(events[i].metric), FZ_STR("count"), 0,
					      true);
}

static uint32_t metric_of(const struct fz_profile *p, struct fz_str event)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(events); i++)
		if (fz_str_eq(event, fz_str_of(events[i].event)))
			return fz_profile_find_metric(p, fz_str_of(events[i].metric));
	return FZ_NONE;
}

/* ---- a file ---- */

struct result {
	struct fz_profile *p;
	struct fz_jitmap *map;
	struct fz_count_row *rows;
	size_t n, cap;
};

static void name_made(struct fz_import_frame *f, struct fz_str text)
{
	struct fz_made_code made = fz_jitmap_split(text);

	f->name = made.name;
	f->file = made.file;
	f->module = FZ_STR("");
	f->first_line = made.line;
	if (made.python)
		f->kind = FZ_KIND_PYTHON;
}

/* Demangle a name. Code that the program made at run time, "0x4a010" to callgrind, gets the name
 * from the program's map. */
static void name_frame(void *arg, struct fz_import_frame *f)
{
	struct result *r = arg;
	fz_auto(fz_free_ptr) char *symbol = fz_strndup(f->name.p, f->name.n);
	struct fz_str made;

	if (fz_str_starts(f->name, "0x")) {
		if (fz_jitmap_find(r->map, strtoull(symbol, NULL, 16), &made))
			name_made(f, made);
		return;
	}
	fz_auto(fz_free_ptr) char *name = fz_demangle(symbol);
	if (name)
		f->name = fz_profile_text(r->p, fz_profile_string(r->p, fz_str_of(name)));
}

static void add_row(void *arg, uint32_t stack, const int64_t *weights)
{
	struct result *r = arg;
	struct fz_count_row row = { .stack = stack };

	for (uint32_t i = 0; i < r->p->metric_count; i++)
		row.counts[i] = weights[i];
	fz_push(r->rows, r->n, r->cap, row);
}

static void release(struct result *r)
{
	fz_jitmap_free(r->map);
	free(r->rows);
}

static struct fz_jitmap *open_map(long pid)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("/tmp/perf-%ld.map", pid);

	return fz_jitmap_open(path, geteuid());
}

/* The file name of the program in a command: "parse" for "./parse --all". */
static struct fz_str program_of(const struct fz_profile *p, uint32_t command)
{
	struct fz_str s = fz_profile_text(p, command);
	const char *space = s.n ? memchr(s.p, ' ', s.n) : NULL;

	if (space)
		s.n = (size_t)(space - s.p);
	return fz_path_base(s);
}

/* Add a part: one that ended by a client request, "Client Request: NAME" or without a name. */
static void add_part(struct result *r, const struct fz_counter *c,
		     const struct fz_callgrind_source *source, uint32_t process)
{
	static const char request[] = "Client Request";
	struct fz_str trigger = fz_profile_text(r->p, source->trigger), name = { "", 0 };
	bool parts = c->options.benchmarks && !c->options.symbol;
	struct fz_count_part part = { .program = program_of(r->p, source->command),
				      .marked = parts,
				      .rows = r->rows,
				      .n = r->n };

	if (parts && !fz_str_starts(trigger, request))
		return;
	if (trigger.n > sizeof(request) + 1)
		name = (struct fz_str){ trigger.p + sizeof(request) + 1,
					trigger.n - sizeof(request) - 1 };
	part.name = parts ? name : FZ_STR("");
	part.thread = fz_profile_thread(
		r->p, &(struct fz_thread){ .pid = process,
					   .tid = process,
					   .name = fz_profile_string(r->p, part.program),
					   .is_main = true });
	fz_count_part_add(r->p, &part, &c->options);
}

int fz_counter_callgrind_read(const struct fz_counter *c, const char *path, long pid,
			      uint32_t process, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct result r = { .p = p };
	struct fz_callgrind_source source = { .callers = !c->graph,
					      .metric = metric_of,
					      .name = name_frame,
					      .add = add_row,
					      .arg = &r };
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	int rc = fz_input_open(path, &in, err);

	if (rc)
		return rc;
	r.map = open_map(pid);
	rc = fz_callgrind_read_source(in, p, &source, err);
	p->recording.reconstructed = true;
	if (!rc && !c->graph)
		add_part(&r, c, &source, process);
	return rc ? rc : fz_profile_check(p, err);
}
