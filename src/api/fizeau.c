/* SPDX-License-Identifier: MIT */
/* The public interface; include/fizeau.h is its documentation.
 *
 * An object of the interface owns an object of the library and data that only the interface needs:
 * zero-terminated names, sorted functions. Everything is computed when the object is created, so
 * reading never writes.
 */
#include "api/api.h"

#include "base/error.h"
#include "compare/comparison.h"
#include "format/format.h"
#include "profile/fold.h"
#include "profile/merge.h"
#include "profile/tree.h"
#include "report/report.h"

#include <unistd.h>

_Static_assert(sizeof(struct fizeau_error) == sizeof(struct fz_error), "the same struct");
_Static_assert(FIZEAU_EINPUT == (int)FZ_EINPUT && FIZEAU_ELIMIT == (int)FZ_ELIMIT &&
		       FIZEAU_ESYSTEM == (int)FZ_ESYSTEM && FIZEAU_EPERM == (int)FZ_EPERM &&
		       FIZEAU_EUNSUPPORTED == (int)FZ_EUNSUPPORTED &&
		       FIZEAU_EUSAGE == (int)FZ_EUSAGE,
	       "the same codes");
_Static_assert((int)FIZEAU_MATCH_EXACT == FZ_MATCH_EXACT &&
		       (int)FIZEAU_SCALE_AMOUNT == FZ_SCALE_AMOUNT &&
		       (int)FIZEAU_MOVED == FZ_MOVED && (int)FIZEAU_CHANGED == FZ_VERDICT_CHANGED &&
		       (int)FIZEAU_RUN_FASTER == FZ_RUN_FASTER,
	       "the same enumerations");

struct fizeau_profile {
	struct fz_profile *p;
	struct fizeau_function *functions;
	size_t function_count;
	int64_t total;
	uint64_t samples;
};

struct fizeau_diff {
	struct fz_comparison *comparison;
	const struct fz_diff *d;              /* of the comparison */
	const struct fz_judgement *judgement; /* likewise */
	bool scaled;                          /* a scale was chosen */
	const char **names, **files;          /* of the functions */
	const char **link_names, **link_files;
	struct fz_arena arena;
};

struct fz_error *fz_api_error(struct fizeau_error *err)
{
	return (struct fz_error *)err;
}

/* ---- arguments and growing structs ---- */

int fz_api_no_argument(struct fizeau_error *err)
{
	return fz_fail(fz_api_error(err), FZ_EUSAGE, "a required argument is NULL");
}

int fz_api_copy_options(void *ret, size_t size, const void *options, struct fizeau_error *err)
{
	const unsigned char *theirs = options;
	size_t given;

	if (!options)
		return 0;
	memcpy(&given, options, sizeof(given));
	if (given < sizeof(given))
		return fz_fail(fz_api_error(err), FZ_EUSAGE, "options: size is not set");
	for (size_t i = size; i < given; i++)
		if (theirs[i])
			return fz_fail(
				fz_api_error(err), FZ_EUNSUPPORTED,
				"options: set a member unknown to this version of the library");
	memcpy(ret, options, FZ_MIN(given, size));
	return 0;
}

/* Fill the caller's struct up to its size, which is kept. */
static int give(void *ret, const void *full, size_t size)
{
	size_t room;

	memcpy(&room, ret, sizeof(room));
	if (room < sizeof(room))
		return FIZEAU_EUSAGE;
	memset((char *)ret + sizeof(room), 0, room - sizeof(room));
	memcpy((char *)ret + sizeof(room), (const char *)full + sizeof(room),
	       FZ_MIN(room, size) - sizeof(room));
	return 0;
}

/* ---- numbers: only LC_NUMERIC changes, classes of characters stay ---- */

struct fz_numeric fz_numeric_enter(void)
{
	struct fz_numeric n = { .before = uselocale((locale_t)0) };
	locale_t copy = duplocale(n.before);

	/* newlocale takes over the copy. */
	n.ours = copy ? newlocale(LC_NUMERIC_MASK, "C", copy) : (locale_t)0;
	if (n.ours)
		uselocale(n.ours);
	else if (copy)
		freelocale(copy);
	return n;
}

void fz_numeric_leave(struct fz_numeric *n)
{
	if (!n->ours)
		return;
	uselocale(n->before);
	freelocale(n->ours);
}

const char *fizeau_version(void)
{
	return FZ_VERSION;
}

void fizeau_on_out_of_memory(void (*handler)(size_t bytes))
{
	fz_on_out_of_memory(handler);
}

void fizeau_free(void *data)
{
	free(data);
}

/* ---- profiles ---- */

static int compare_functions(const void *pa, const void *pb)
{
	const struct fizeau_function *a = pa, *b = pb;

	return FZ_CMP(b->total, a->total) ?: strcmp(a->name, b->name) ?: strcmp(a->file, b->file) ?:
	       FZ_CMP(a->line, b->line);
}

static void list_functions(struct fizeau_profile *ret)
{
	const struct fz_profile *p = ret->p;
	fz_auto(fz_tree_freep) struct fz_tree *t = fz_tree_new(p, &FZ_TREE_DEFAULTS);
	fz_auto(fz_free_ptr) int32_t *lines = fz_profile_function_lines(p, t->metric);
	fz_auto(fz_free_ptr) int64_t *self = NULL;
	fz_auto(fz_free_ptr) int64_t *total = NULL;

	fz_tree_function_costs(t, &self, &total);
	ret->total = t->sum;
	ret->samples = t->samples;
	ret->functions = fz_calloc(p->function_count, sizeof(*ret->functions));
	for (uint32_t f = 0; f < p->function_count; f++)
		if (self[f] || total[f])
			ret->functions[ret->function_count++] = (struct fizeau_function){
				.name = p->strings[p->functions[f].name].p,
				.file = p->strings[p->functions[f].file].p,
				.line = lines[f],
				.self = self[f],
				.total = total[f],
			};
	qsort(ret->functions, ret->function_count, sizeof(*ret->functions), compare_functions);
}

struct fizeau_profile *fz_api_profile(struct fz_profile *p)
{
	struct fizeau_profile *ret = fz_calloc(1, sizeof(*ret));

	ret->p = p;
	list_functions(ret);
	return ret;
}

int fizeau_profile_load(const char *path, struct fizeau_profile **ret, struct fizeau_error *err)
{
	fz_auto(fz_numeric_leave) struct fz_numeric numbers = fz_numeric_enter();
	struct fz_profile *p;

	if (!path || !ret)
		return fz_api_no_argument(err);
	int r = fz_format_load(path, &p, fz_api_error(err));
	if (!r)
		*ret = fz_api_profile(p);
	return r;
}

int fizeau_profile_load_memory(const void *data, size_t size, const char *name,
			       struct fizeau_profile **ret, struct fizeau_error *err)
{
	fz_auto(fz_numeric_leave) struct fz_numeric numbers = fz_numeric_enter();
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	struct fz_profile *p;

	if ((!data && size) || !ret)
		return fz_api_no_argument(err);
	int r = fz_input_open_memory(data, size, name ? name : "memory", &in, fz_api_error(err));
	if (!r)
		r = fz_format_load_input(in, &p, fz_api_error(err));
	if (!r)
		*ret = fz_api_profile(p);
	return r;
}

void fizeau_profile_free(struct fizeau_profile *p)
{
	if (!p)
		return;
	fz_profile_free(p->p);
	free(p->functions);
	free(p);
}

static const struct fz_metric *metric_of(const struct fizeau_profile *p)
{
	return &p->p->metrics[p->p->default_metric];
}

const char *fizeau_profile_metric(const struct fizeau_profile *p)
{
	return p ? metric_of(p)->name : "";
}

const char *fizeau_profile_unit(const struct fizeau_profile *p)
{
	return p ? metric_of(p)->unit : "";
}

uint64_t fizeau_profile_samples(const struct fizeau_profile *p)
{
	return p ? p->samples : 0;
}

int64_t fizeau_profile_total(const struct fizeau_profile *p)
{
	return p ? p->total : 0;
}

const char *fizeau_profile_fact(const struct fizeau_profile *p, const char *key)
{
	return p && key ? fz_profile_fact(p->p, key).p : "";
}

size_t fizeau_profile_function_count(const struct fizeau_profile *p)
{
	return p ? p->function_count : 0;
}

const struct fizeau_function *fizeau_profile_function(const struct fizeau_profile *p, size_t index)
{
	return p && index < p->function_count ? &p->functions[index] : NULL;
}

int fizeau_profile_merge(const struct fizeau_profile *const profiles[], size_t count,
			 struct fizeau_profile **ret, struct fizeau_error *err)
{
	fz_auto(fz_numeric_leave) struct fz_numeric numbers = fz_numeric_enter();
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	int r = count ? 0 : fz_fail(fz_api_error(err), FZ_EUSAGE, "there is nothing to merge");

	if (!r && (!profiles || !ret))
		r = fz_api_no_argument(err);
	for (size_t i = 0; i < count && !r; i++)
		r = !profiles[i] ? fz_api_no_argument(err)
				 : fz_diff_add_runs(p, profiles[i]->p, false, fz_api_error(err));
	if (!r)
		*ret = fz_api_profile(fz_steal(p));
	return r;
}

size_t fizeau_profile_run_count(const struct fizeau_profile *p)
{
	return p ? FZ_MAX(p->p->run_count, 1) : 0;
}

int fizeau_profile_fold_recursion(struct fizeau_profile *p, struct fizeau_error *err)
{
	return p ? fz_profile_fold_recursion(p->p, fz_api_error(err)) : fz_api_no_argument(err);
}

/* ---- diffs ---- */

/* Copy the names: canonical names may be parts of others, so they do not end in a zero. */
static void copy_names(struct fizeau_diff *ret)
{
	const struct fz_diff *d = ret->d;

	ret->names = fz_calloc(d->function_count, sizeof(*ret->names));
	ret->files = fz_calloc(d->function_count, sizeof(*ret->files));
	ret->link_names = fz_calloc(d->function_count, sizeof(*ret->link_names));
	ret->link_files = fz_calloc(d->function_count, sizeof(*ret->link_files));
	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		ret->names[i] = fz_arena_strndup(&ret->arena, f->name.p, f->name.n);
		ret->files[i] = fz_arena_strndup(&ret->arena, f->file.p, f->file.n);
		ret->link_names[i] = fz_arena_strndup(
			&ret->arena, f->link.name.n ? f->link.name.p : "", f->link.name.n);
		ret->link_files[i] = fz_arena_strndup(
			&ret->arena, f->link.file.n ? f->link.file.p : "", f->link.file.n);
	}
}

static int check_rules(const struct fizeau_diff_options *o, struct fz_error *err)
{
	int r = 0;

	for (const char *const *map = o->maps; !r && map && *map; map++)
		r = fz_diff_check_map(*map, err);
	for (const char *const *rename = o->renames; !r && rename && *rename; rename++)
		r = fz_diff_check_rename(*rename, err);
	return r;
}

static int check_options(const struct fizeau_diff_options *o, struct fz_error *err)
{
	if ((unsigned)o->match > FIZEAU_MATCH_EXACT || (unsigned)o->scale > FIZEAU_SCALE_AMOUNT)
		return fz_fail(err, FZ_EUSAGE,
			       "options: match or scale is not a value of its enum");
	if (!(o->delta >= 0 && o->delta < 1 && o->run_delta >= 0 && o->run_delta < 1))
		return fz_fail(err, FZ_EUSAGE, "options: delta and run_delta must be in [0, 1)");
	if (o->match == FIZEAU_MATCH_EXACT && o->renames && o->renames[0])
		return fz_fail(err, FZ_EUSAGE,
			       "options: renames cannot be combined with an exact match");
	return check_rules(o, err);
}

static struct fz_comparison_options comparison_options(const struct fizeau_diff_options *o)
{
	/* Cells and lines are for pages; any diff may be written as a page. */
	return (struct fz_comparison_options){
		.diff = { .match = (enum fz_match)o->match,
			  .scale = (enum fz_scale_mode)o->scale,
			  .metric = fz_str_of(o->metric ? o->metric : ""),
			  .cells = true,
			  .lines = true,
			  .force = o->force != 0,
			  .units = { o->base_units, o->head_units },
			  .as_measured = o->as_measured != 0,
			  .no_rename = o->no_rename != 0,
			  .maps = o->maps,
			  .renames = o->renames },
		.delta = o->delta,
		.run_delta = o->run_delta,
	};
}

int fizeau_diff_new(const struct fizeau_profile *base, const struct fizeau_profile *head,
		    const struct fizeau_diff_options *options, struct fizeau_diff **ret,
		    struct fizeau_error *err)
{
	fz_auto(fz_numeric_leave) struct fz_numeric numbers = fz_numeric_enter();
	struct fizeau_diff_options o = { .size = 0 };
	struct fz_comparison *c = NULL;
	bool all = base && head && ret;
	int r = all ? fz_api_copy_options(&o, sizeof(o), options, err) : fz_api_no_argument(err);

	if (!r)
		r = check_options(&o, fz_api_error(err));
	struct fz_comparison_options how = comparison_options(&o);
	if (!r)
		r = fz_comparison_new(base->p, head->p, &how, &c, fz_api_error(err));
	if (r)
		return r;
	*ret = fz_calloc(1, sizeof(**ret));
	(*ret)->comparison = c;
	(*ret)->scaled = o.scale != FIZEAU_SCALE_AUTO || o.base_units > 0;
	(*ret)->d = c->diff;
	(*ret)->judgement = c->judgement;
	copy_names(*ret);
	return 0;
}

void fizeau_diff_free(struct fizeau_diff *d)
{
	if (!d)
		return;
	free(d->names);
	free(d->files);
	free(d->link_names);
	free(d->link_files);
	fz_comparison_free(d->comparison);
	fz_arena_release(&d->arena);
	free(d);
}

const char *fizeau_diff_metric(const struct fizeau_diff *d)
{
	return d ? d->d->metric : "";
}

const char *fizeau_diff_unit(const struct fizeau_diff *d)
{
	return d ? d->d->unit : "";
}

enum fizeau_scale fizeau_diff_scale(const struct fizeau_diff *d)
{
	return d ? (enum fizeau_scale)d->d->scale : FIZEAU_SCALE_AUTO;
}

double fizeau_diff_factor(const struct fizeau_diff *d)
{
	return d ? d->d->factor : 0;
}

size_t fizeau_diff_elided_count(const struct fizeau_diff *d)
{
	return d ? d->d->elided_count : 0;
}

int64_t fizeau_diff_elided_time(const struct fizeau_diff *d)
{
	return d ? d->d->elided_time : 0;
}

const char *fizeau_diff_warning(const struct fizeau_diff *d, size_t index)
{
	return d && index < d->d->warning_count ? d->d->warnings[index] : NULL;
}

static struct fizeau_cost cost_of(const struct fz_diff *d, const struct fz_diff_cost *c)
{
	return (struct fizeau_cost){
		.base_self = c->self[FZ_BASE],
		.base_total = c->total[FZ_BASE],
		.head_self = c->self[FZ_HEAD],
		.head_total = c->total[FZ_HEAD],
		.diff_self = fz_diff_delta(d, c->self[FZ_BASE], c->self[FZ_HEAD]),
		.diff_total = fz_diff_delta(d, c->total[FZ_BASE], c->total[FZ_HEAD]),
	};
}

size_t fizeau_diff_function_count(const struct fizeau_diff *d)
{
	return d ? d->d->function_count : 0;
}

int fizeau_diff_function(const struct fizeau_diff *d, size_t index,
			 struct fizeau_diff_function *ret)
{
	if (!d || !ret || index >= d->d->function_count)
		return FIZEAU_EUSAGE;
	const struct fz_diff_function *f = &d->d->functions[index];
	struct fizeau_diff_function full = {
		.name = d->names[index],
		.file = d->files[index],
		.line = f->line,
		.state = (enum fizeau_state)f->state,
		.cost = cost_of(d->d, &f->cost),
	};
	return give(ret, &full, sizeof(full));
}

int fizeau_diff_run_verdict(const struct fizeau_diff *d, struct fizeau_run_verdict *ret)
{
	if (!d || !ret)
		return FIZEAU_EUSAGE;
	const struct fz_judged_run *run = &d->judgement->run;
	struct fizeau_run_verdict full = {
		.word = (enum fizeau_run_word)run->word,
		.change = run->change,
		.low = run->low,
		.high = run->high,
		.smallest_visible = run->smallest_visible,
	};
	return give(ret, &full, sizeof(full));
}

int fizeau_diff_function_verdict(const struct fizeau_diff *d, size_t index,
				 struct fizeau_function_verdict *ret)
{
	if (!d || !ret || index >= d->d->function_count)
		return FIZEAU_EUSAGE;
	const struct fz_judged *self = &d->judgement->self[index];
	const struct fz_judged *total = &d->judgement->total[index];
	struct fizeau_function_verdict full = {
		.self = (enum fizeau_verdict)self->verdict,
		.total = (enum fizeau_verdict)total->verdict,
		.self_low = self->low,
		.self_high = self->high,
		.total_low = total->low,
		.total_high = total->high,
	};
	return give(ret, &full, sizeof(full));
}

int fizeau_diff_link(const struct fizeau_diff *d, size_t index, struct fizeau_link *ret)
{
	if (!d || !ret || index >= d->d->function_count)
		return FIZEAU_EUSAGE;
	const struct fz_link *link = &d->d->functions[index].link;
	struct fizeau_link full = {
		.how = fz_link_names[link->how],
		.score = link->score,
		.name = d->link_names[index],
		.file = d->link_files[index],
	};
	return give(ret, &full, sizeof(full));
}

size_t fizeau_diff_node_count(const struct fizeau_diff *d)
{
	return d ? d->d->node_count : 0;
}

int fizeau_diff_node(const struct fizeau_diff *d, size_t index, struct fizeau_diff_node *ret)
{
	if (!d || !ret || index >= d->d->node_count)
		return FIZEAU_EUSAGE;
	const struct fz_diff_node *n = &d->d->nodes[index];
	struct fizeau_diff_node full = {
		.function = n->function,
		.parent = n->parent == FZ_NONE ? -1 : (int64_t)n->parent,
		.count = n->size,
		.state = (enum fizeau_state)n->state,
		.cost = cost_of(d->d, &n->cost),
	};
	return give(ret, &full, sizeof(full));
}

/* ---- reports ---- */

static int choose_report(const char *format, const char *path, bool diff,
			 const struct fz_report **ret, struct fz_error *err)
{
	const struct fz_report *r = format ? fz_report_by_name(format) : fz_report_by_suffix(path);

	if (!r || !fz_report_writes(r, diff)) {
		struct fz_buf names = { 0 };
		fz_report_names(diff, &names);
		int code = fz_fail(err, FZ_EUSAGE, "%s: not a format for a %s; use one of %s",
				   format ? format : path, diff ? "diff" : "profile", names.p);
		fz_buf_release(&names);
		return code;
	}
	*ret = r;
	return 0;
}

static struct fz_report_options options_for(const struct fz_output *out)
{
	int fd = fz_output_is_stdout(out) ? STDOUT_FILENO : -1;
	struct fz_report_options options = { .text = FZ_TEXT_DEFAULTS,
					     .html = FZ_HTML_DEFAULTS,
					     .to_file = fd < 0 };

	options.text.style = fz_style_of(fd, FZ_COLOR_AUTO);
	return options;
}

/* Reports change their profile, so they get a copy; recordings are written as they are. */
static int write_profile(const struct fz_report *report, struct fz_output *out,
			 const struct fizeau_profile *of, struct fz_error *err)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_report_options options = options_for(out);

	if (report->codec && !report->no_unreadable)
		return report->profile(report, &options, of->p, out, err);
	int r = fz_profile_merge(p, of->p, err);
	if (!r)
		r = fz_report_prepare(report, &options, p, err);
	return r ? r : report->profile(report, &options, p, out, err);
}

static int write_diff(const struct fz_report *report, struct fz_output *out,
		      const struct fizeau_diff *d, struct fz_error *err)
{
	struct fz_report_options options = options_for(out);

	options.scaled = d->scaled;
	return report->diff(&options, d->d, d->judgement, out, err);
}

/* A profile or diff to write. */
struct subject {
	const void *object;
	bool is_diff;
};

static int write_subject(const struct subject *s, const struct fz_report *report,
			 struct fz_output *out, struct fz_error *err)
{
	return s->is_diff ? write_diff(report, out, s->object, err)
			  : write_profile(report, out, s->object, err);
}

static int write_file(const struct subject *s, const char *format, const char *path,
		      struct fizeau_error *err)
{
	fz_auto(fz_numeric_leave) struct fz_numeric numbers = fz_numeric_enter();
	fz_auto(fz_output_abortp) struct fz_output *out = NULL;
	const struct fz_report *report = NULL;

	if (!s->object || !path)
		return fz_api_no_argument(err);
	int r = choose_report(format, path, s->is_diff, &report, fz_api_error(err));
	if (!r)
		r = fz_output_open(path, &out, fz_api_error(err));
	if (!r)
		r = write_subject(s, report, out, fz_api_error(err));
	return r ? r : fz_output_close(fz_steal(out), fz_api_error(err));
}

static int write_memory(const struct subject *s, const char *format, char **ret_data,
			size_t *ret_size, struct fizeau_error *err)
{
	fz_auto(fz_numeric_leave) struct fz_numeric numbers = fz_numeric_enter();
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	const struct fz_report *report = NULL;

	if (!s->object || !format || !ret_data || !ret_size)
		return fz_api_no_argument(err);
	int r = choose_report(format, "", s->is_diff, &report, fz_api_error(err));
	if (!r)
		r = write_subject(s, report, out, fz_api_error(err));
	if (r)
		return r;
	const struct fz_buf *text = fz_output_buffer(out);
	*ret_data = fz_malloc(text->n + 1);
	if (text->n)
		memcpy(*ret_data, text->p, text->n);
	(*ret_data)[text->n] = 0;
	*ret_size = text->n;
	return 0;
}

int fizeau_profile_write(const struct fizeau_profile *p, const char *format, const char *path,
			 struct fizeau_error *err)
{
	return write_file(&(struct subject){ p, false }, format, path, err);
}

int fizeau_diff_write(const struct fizeau_diff *d, const char *format, const char *path,
		      struct fizeau_error *err)
{
	return write_file(&(struct subject){ d, true }, format, path, err);
}

int fizeau_profile_write_memory(const struct fizeau_profile *p, const char *format, char **ret_data,
				size_t *ret_size, struct fizeau_error *err)
{
	return write_memory(&(struct subject){ p, false }, format, ret_data, ret_size, err);
}

int fizeau_diff_write_memory(const struct fizeau_diff *d, const char *format, char **ret_data,
			     size_t *ret_size, struct fizeau_error *err)
{
	return write_memory(&(struct subject){ d, true }, format, ret_data, ret_size, err);
}
