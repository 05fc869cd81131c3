/* SPDX-License-Identifier: MIT */
/* Costs of files, lines and functions, of one side or two; see line_costs.h.
 *
 *   profile -> places by file, by line, by function -> lists
 *   diff    -> both sides' places by file and by line, with the costs of its trees; its functions
 *
 * A file of the base is matched to the file of the head that has most of the cost of its matched
 * functions, each head file once; a file without a match was removed.
 */
#include "report/line_costs.h"

#include "compare/names.h"
#include "profile/places.h"
#include "report/file_pairs.h"

/* State of one side while the lists are built. Numbers are indices into the lists, FZ_NONE:
 * none. */
struct side {
	const struct fz_profile *p;
	uint32_t metric;
	const struct fz_name *names;
	uint32_t *file_of;          /* of the profile's strings */
	struct fz_places functions; /* places by function */
	uint32_t *function_of;      /* of the profile's functions */
};

struct builder {
	struct fz_line_costs *h;
	struct side side[FZ_SIDES];
	uint32_t file_cap, function_cap;
};

/* ---- files ---- */

static bool has_file(const struct fz_profile *p, uint32_t frame)
{
	const struct fz_function *f = &p->functions[p->frames[frame].function];

	return f->file && f->kind != FZ_KIND_MARKER && f->kind != FZ_KIND_TASK &&
	       !fz_str_eq(p->strings[f->file], FZ_STR("~"));
}

static uint32_t add_file(struct builder *b, int side, uint32_t string, uint32_t function)
{
	struct fz_line_costs *h = b->h;
	const struct side *s = &b->side[side];

	fz_grow(h->files, h->file_count, b->file_cap);
	h->files[h->file_count] = (struct fz_line_costs_file){
		.on_side = { FZ_NONE, FZ_NONE },
		.name = s->names ? s->names[function].file : s->p->strings[string],
	};
	return h->file_count++;
}

/* Match files of the base to files of the head, whose file_of is set. */
static void match_files(struct builder *b, const struct fz_diff *d)
{
	fz_auto(fz_file_pairs_release) struct fz_file_pairs pairs = { 0 };
	struct side *base = &b->side[FZ_BASE], *head = &b->side[FZ_HEAD];

	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		if (f->on_side[FZ_BASE] == FZ_NONE || f->on_side[FZ_HEAD] == FZ_NONE)
			continue;
		uint32_t file = head->file_of[head->p->functions[f->on_side[FZ_HEAD]].file];
		if (file != FZ_NONE)
			fz_file_pairs_add(
				&pairs, base->p->functions[f->on_side[FZ_BASE]].file, file,
				(double)f->cost.total[FZ_BASE] + (double)f->cost.total[FZ_HEAD]);
	}
	fz_file_pairs_choose(&pairs);
	for (uint32_t i = 0; i < pairs.n; i++) {
		base->file_of[pairs.list[i].base] = pairs.list[i].head;
		b->h->files[pairs.list[i].head].on_side[FZ_BASE] = pairs.list[i].base;
	}
}

/* Add the costs of the side's files, adding files that are not listed yet. */
static void add_files(struct builder *b, int side)
{
	struct side *s = &b->side[side];
	struct fz_places files;

	fz_places_init(&files, s->p, FZ_PLACE_FILE, s->metric);
	for (uint32_t i = 0; i < files.n; i++) {
		const struct fz_place *place = &files.list[i];
		uint32_t function = s->p->frames[place->frame].function;
		uint32_t string = s->p->functions[function].file;
		if (!has_file(s->p, place->frame) || !place->total_samples)
			continue;
		if (s->file_of[string] == FZ_NONE) {
			s->file_of[string] = add_file(b, side, string, function);
			b->h->files[s->file_of[string]].on_side[side] = string;
		}
		struct fz_line_costs_file *file = &b->h->files[s->file_of[string]];
		if (!b->h->diff)
			file->cost.self[side] += place->self;
		file->cost.total[side] += place->total;
	}
	b->h->sum[side] = files.sum;
	b->h->samples[side] = files.samples;
	fz_places_release(&files);
}

/* Add the costs of files in a diff from its nodes, which add up to the whole. In a diff per run,
 * samples add up to it only approximately. */
static void add_file_selves(struct builder *b, const struct fz_diff *d)
{
	for (uint32_t i = 0; i < d->node_count; i++) {
		const struct fz_diff_node *node = &d->nodes[i];
		for (int side = 0; side < FZ_SIDES; side++) {
			const struct side *s = &b->side[side];
			uint32_t function = d->functions[node->function].on_side[side];
			uint32_t file = function == FZ_NONE
						? FZ_NONE
						: s->file_of[s->p->functions[function].file];
			if (file != FZ_NONE)
				b->h->files[file].cost.self[side] += node->cost.self[side];
		}
	}
}

/* ---- functions ---- */

static struct fz_line_costs_function *add_function(struct builder *b)
{
	struct fz_line_costs *h = b->h;

	fz_grow(h->functions, h->function_count, b->function_cap);
	return &h->functions[h->function_count++];
}

static void add_profile_functions(struct builder *b)
{
	struct side *s = &b->side[FZ_HEAD];
	fz_auto(fz_free_ptr) uint32_t *of_place =
		fz_malloc((s->functions.n + 1ul) * sizeof(*of_place));

	for (uint32_t i = 0; i < s->functions.n; i++) {
		const struct fz_place *place = &s->functions.list[i];
		const struct fz_function *f = fz_place_function(s->p, place);
		of_place[i] = FZ_NONE;
		if (!has_file(s->p, place->frame) || !place->total_samples)
			continue;
		of_place[i] = b->h->function_count;
		*add_function(b) = (struct fz_line_costs_function){
			.file = s->file_of[f->file],
			.line = place->line,
			.name = s->names ? s->names[f - s->p->functions].name
					 : s->p->strings[f->name],
			.self = { 0, place->self },
		};
	}
	for (uint32_t i = 0; i < s->p->frame_count; i++)
		s->function_of[s->p->frames[i].function] = of_place[s->functions.of_frame[i]];
}

/* Add the diff's functions, with its costs and verdicts. */
static void add_diff_functions(struct builder *b, const struct fz_diff *d)
{
	const struct fz_judgement *j = b->h->judgement;
	fz_auto(fz_free_ptr) uint32_t *number =
		fz_malloc((d->function_count + 1ul) * sizeof(*number));

	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		int side = f->on_side[FZ_HEAD] != FZ_NONE ? FZ_HEAD : FZ_BASE;
		const struct side *s = &b->side[side];
		uint32_t file = s->file_of[s->p->functions[f->on_side[side]].file];
		number[i] = file == FZ_NONE ? FZ_NONE : b->h->function_count;
		if (file == FZ_NONE)
			continue;
		*add_function(b) = (struct fz_line_costs_function){
			.file = file,
			.line = f->line,
			.name = f->name,
			.state = f->state,
			.self_verdict = j ? (uint8_t)j->self[i].verdict : FZ_VERDICT_UNKNOWN,
			.self = { f->cost.self[FZ_BASE], f->cost.self[FZ_HEAD] },
		};
	}
	for (int side = 0; side < FZ_SIDES; side++)
		for (uint32_t i = 0; i < b->side[side].p->function_count; i++)
			if (d->function_of[side][i] != FZ_NONE)
				b->side[side].function_of[i] = number[d->function_of[side][i]];
}

/* ---- lines ---- */

static int compare_lines(const void *pa, const void *pb)
{
	const struct fz_line_costs_line *a = pa, *b = pb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static void add_lines(struct builder *b, int side)
{
	struct side *s = &b->side[side];
	struct fz_line_costs *h = b->h;
	struct fz_places lines;
	uint32_t cap = 0, n = 0;

	fz_places_init(&lines, s->p, FZ_PLACE_LINE, s->metric);
	for (uint32_t i = 0; i < lines.n; i++) {
		const struct fz_place *place = &lines.list[i];
		if (!has_file(s->p, place->frame) || !place->total_samples || place->line <= 0)
			continue;
		fz_push(h->lines[side], n, cap,
			(struct fz_line_costs_line){
				.file = s->file_of[fz_place_function(s->p, place)->file],
				.function = s->function_of[s->p->frames[place->frame].function],
				.line = place->line,
				.self = place->self,
				.total = place->total,
			});
	}
	h->line_count[side] = n;
	fz_places_release(&lines);
}

/* In a diff, take the costs of lines from its trees, like the page and the costs of functions;
 * divided by runs, samples add up to slightly different sums. If several functions share a line,
 * its total comes from samples, because each counts once for all of them. */
static void use_tree_lines(struct builder *b, int side, const struct fz_tree *t)
{
	struct fz_line_costs *h = b->h;
	struct fz_map map = { 0 }; /* (file, line) -> index */
	fz_auto(fz_free_ptr) bool *shared = fz_calloc(h->line_count[side] + 1ul, sizeof(*shared));
	fz_auto(fz_free_ptr) uint32_t *index = fz_calloc(t->line_count + 1, sizeof(*index));

	for (uint32_t i = 0; t->line_count && i < h->line_count[side]; i++) {
		struct fz_line_costs_line *l = &h->lines[side][i];
		*fz_map_slot(&map, FZ_KEY(l->file, (uint32_t)l->line)) = i;
		l->self = 0;
	}
	for (size_t i = 0; i < t->line_count; i++) {
		uint32_t f = t->function[t->lines[i].node];
		uint32_t file = b->side[side].file_of[t->profile->functions[f].file];
		index[i] = *fz_map_slot(&map, FZ_KEY(file, (uint32_t)t->lines[i].line));
		if (index[i] == FZ_NONE)
			continue;
		struct fz_line_costs_line *l = &h->lines[side][index[i]];
		shared[index[i]] |= l->function != b->side[side].function_of[f];
		l->self += t->lines[i].self;
	}
	for (uint32_t i = 0; t->line_count && i < h->line_count[side]; i++)
		h->lines[side][i].total *= shared[i];
	for (size_t i = 0; i < t->line_count; i++)
		if (index[i] != FZ_NONE && !shared[index[i]])
			h->lines[side][index[i]].total += t->lines[i].once;
	fz_map_release(&map);
}

/* ---- order ---- */

static double file_rank(const struct fz_line_costs *h, const struct fz_line_costs_file *f)
{
	double self = FZ_MAX((double)f->cost.self[FZ_HEAD], h->factor * (double)f->cost.self[0]);
	double total = FZ_MAX((double)f->cost.total[FZ_HEAD], h->factor * (double)f->cost.total[0]);

	return self + total * 1e-6;
}

static int compare_files(const void *pa, const void *pb, void *arg)
{
	const struct fz_line_costs *h = arg;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct fz_line_costs_file *a = &h->files[ia], *b = &h->files[ib];
	double ra = file_rank(h, a), rb = file_rank(h, b);

	if (ra != rb)
		return ra > rb ? -1 : 1;
	int c = fz_str_cmp(a->name, b->name);
	return c ? c : (ia > ib) - (ia < ib);
}

/* Sort files by cost, and renumber and sort everything that refers to them. */
static void sort_all(struct fz_line_costs *h)
{
	size_t n = h->file_count + 1ul;
	fz_auto(fz_free_ptr) uint32_t *order = fz_calloc(n, sizeof(*order));
	fz_auto(fz_free_ptr) uint32_t *rank = fz_calloc(n, sizeof(*rank));
	struct fz_line_costs_file *sorted = fz_calloc(n, sizeof(*sorted));

	for (uint32_t i = 0; i < h->file_count; i++)
		order[i] = i;
	if (h->file_count)
		qsort_r(order, h->file_count, sizeof(*order), compare_files, h);
	for (uint32_t i = 0; i < h->file_count; i++) {
		rank[order[i]] = i;
		sorted[i] = h->files[order[i]];
	}
	free(h->files);
	h->files = sorted;
	for (uint32_t i = 0; i < h->function_count; i++)
		h->functions[i].file = rank[h->functions[i].file];
	for (int side = 0; side < FZ_SIDES; side++) {
		uint32_t count = h->line_count[side];
		for (uint32_t i = 0; i < count; i++)
			h->lines[side][i].file = rank[h->lines[side][i].file];
		if (count)
			qsort(h->lines[side], count, sizeof(*h->lines[side]), compare_lines);
		for (uint32_t i = count; i-- > 0;) {
			struct fz_line_costs_file *file = &h->files[h->lines[side][i].file];
			file->first_line[side] = i;
			file->line_count[side]++;
		}
	}
}

/* ---- the whole ---- */

static void side_init(struct builder *b, int side, const struct fz_profile *p, uint32_t metric)
{
	struct side *s = &b->side[side];

	s->p = p;
	s->metric = metric;
	if (!b->h->diff || b->h->diff->match != FZ_MATCH_EXACT)
		s->names = fz_names_of(p, &b->h->arena);
	s->file_of = fz_malloc((p->string_count + 1ul) * sizeof(*s->file_of));
	memset(s->file_of, 0xff, (p->string_count + 1ul) * sizeof(*s->file_of));
	s->function_of = fz_malloc((p->function_count + 1ul) * sizeof(*s->function_of));
	memset(s->function_of, 0xff, (p->function_count + 1ul) * sizeof(*s->function_of));
	fz_places_init(&s->functions, p, FZ_PLACE_FUNCTION, metric);
	b->h->profile[side] = p;
}

static void finish(struct builder *b)
{
	struct fz_line_costs *h = b->h;

	sort_all(h);
	for (int side = 0; side < FZ_SIDES; side++) {
		free(b->side[side].file_of);
		free(b->side[side].function_of);
		fz_places_release(&b->side[side].functions);
	}
}

int fz_line_costs_of_profile(struct fz_line_costs *h, const struct fz_profile *p, uint32_t metric,
			     struct fz_error *err)
{
	struct builder b = { .h = h };

	if (metric == FZ_NONE)
		metric = p->default_metric;
	if (metric >= p->metric_count)
		return fz_fail(err, FZ_EINPUT, "the profile has no metric to draw");
	*h = (struct fz_line_costs){
		.metric = p->metrics[metric].name,
		.unit = p->metrics[metric].unit,
		.factor = 1,
	};
	side_init(&b, FZ_HEAD, p, metric);
	add_files(&b, FZ_HEAD);
	add_profile_functions(&b);
	add_lines(&b, FZ_HEAD);
	finish(&b);
	return 0;
}

static uint32_t metric_of(const struct fz_profile *p, const char *name)
{
	uint32_t metric = fz_profile_find_metric(p, fz_str_of(name));

	return metric == FZ_NONE ? FZ_METRIC_SAMPLES : metric;
}

void fz_line_costs_of_diff(struct fz_line_costs *h, const struct fz_diff *d,
			   const struct fz_judgement *j)
{
	struct builder b = { .h = h };

	*h = (struct fz_line_costs){
		.diff = d,
		.judgement = j,
		.metric = d->metric,
		.unit = d->unit,
		.factor = d->factor,
	};
	for (int side = FZ_SIDES; side-- > 0;) {
		side_init(&b, side, d->profile[side], metric_of(d->profile[side], d->metric));
		if (side == FZ_BASE)
			match_files(&b, d);
		add_files(&b, side);
		h->sum[side] = d->total[side];
		h->samples[side] = fz_diff_recorded_samples(d, side);
	}
	add_file_selves(&b, d);
	add_diff_functions(&b, d);
	for (int side = 0; side < FZ_SIDES; side++) {
		add_lines(&b, side);
		use_tree_lines(&b, side, d->tree[side]);
	}
	finish(&b);
}

void fz_line_costs_release(struct fz_line_costs *h)
{
	free(h->files);
	free(h->functions);
	for (int side = 0; side < FZ_SIDES; side++)
		free(h->lines[side]);
	fz_arena_release(&h->arena);
	*h = (struct fz_line_costs){ 0 };
}
