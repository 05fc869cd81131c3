/* SPDX-License-Identifier: MIT */
/* From samples to sums.
 *
 *   stack      -> node      functions instead of frames, only for stacks with samples
 *   metric     -> kind      all metrics of a profile; "samples" only if it is the only one, because
 *                           every value has its number of samples
 *   time       -> minute    the run's start if samples have no times
 *   run        -> exposure  minute by minute, also of minutes without a sample
 *
 * Minutes are those of the clock, not of the recording, so that several pushes of a host add up in
 * one cell.
 */
#include "fleet/batch.h"

#include "base/clock.h"
#include "base/map.h"
#include "profile/per_run.h"

struct builder {
	const struct fz_profile *p;
	struct fz_fleet_part part;
	struct fz_fleet_batch *b;
	struct fz_map node_map, cell_map, value_map;
	uint32_t *node; /* of each stack */
	int64_t start, latest_minute;
	uint32_t metric[FZ_METRICS_MAX]; /* of each kind */
};

static void release(struct builder *k)
{
	fz_map_release(&k->node_map);
	fz_map_release(&k->cell_map);
	fz_map_release(&k->value_map);
	free(k->node);
}

/* ---- nodes ---- */

static uint32_t node_of(struct builder *k, uint32_t parent, uint32_t function)
{
	uint32_t *slot = fz_map_slot(&k->node_map, FZ_KEY(parent, function));

	if (*slot == FZ_NONE) {
		fz_grow(k->b->nodes, k->b->node_n, k->b->node_cap);
		k->b->nodes[k->b->node_n] = (struct fz_fleet_node){ parent, function };
		*slot = k->b->node_n++;
	}
	return *slot;
}

static bool has_row(const struct builder *k, size_t row)
{
	return !k->part.of_row || k->part.of_row[row] == k->part.part;
}

static void make_nodes(struct builder *k)
{
	const struct fz_profile *p = k->p;
	fz_auto(fz_free_ptr) bool *used = fz_calloc(FZ_MAX(p->stack_count, 1), sizeof(*used));

	k->node = fz_reallocarray(NULL, FZ_MAX(p->stack_count, 1), sizeof(*k->node));
	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] != FZ_NONE && has_row(k, row))
			used[p->samples.stack[row]] = true;
	for (uint32_t i = p->stack_count; i-- > 0;)
		if (used[i] && p->stacks[i].parent != FZ_NONE)
			used[p->stacks[i].parent] = true;
	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct fz_stack *s = &p->stacks[i];

		if (used[i])
			k->node[i] = node_of(k, s->parent == FZ_NONE ? FZ_NONE : k->node[s->parent],
					     p->frames[s->frame].function);
	}
}

/* ---- kinds ---- */

/* Round to three digits: some agents send the average interval, which differs each time, and each
 * would be a separate kind. */
static int64_t rough_interval(int64_t ns)
{
	int64_t unit = 1;

	while (ns / unit >= 1000)
		unit *= 10;
	return ns / unit * unit;
}

static void make_kinds(struct builder *k)
{
	const struct fz_profile *p = k->p;

	for (uint32_t m = 0; m < p->metric_count; m++) {
		if (p->metric_count > 1 && strcmp(p->metrics[m].name, "samples") == 0)
			continue;
		fz_grow(k->b->kinds, k->b->kind_n, k->b->kind_cap);
		k->metric[k->b->kind_n] = m;
		k->b->kinds[k->b->kind_n++] = (struct fz_fleet_kind){
			.metric = fz_str_of(p->metrics[m].name),
			.unit = fz_str_of(p->metrics[m].unit),
			.clock = fz_profile_fact(p, "clock"),
			.mode = (int32_t)p->recording.mode,
			.features =
				p->recording.features_known ? (int32_t)p->recording.features : -1,
			.interval_ns = rough_interval(p->recording.interval_ns),
			.main = m == p->default_metric,
		};
	}
	for (uint32_t i = 0, mains = 0; i < k->b->kind_n; i++) {
		mains += k->b->kinds[i].main;
		if (i + 1 == k->b->kind_n && !mains)
			k->b->kinds[0].main = true;
	}
}

/* ---- cells ---- */

static int minute_of(const struct builder *k, uint32_t run, int64_t time, int64_t *ret,
		     struct fz_error *err)
{
	int64_t start = run < k->p->run_count ? k->p->runs[run].start_unix_ns : 0, at;

	if (start == 0)
		start = k->start;
	if (__builtin_add_overflow(start, time, &at) || at < 0)
		return fz_fail(err, FZ_EINPUT, "it contains samples from before 1970");
	if (at / FZ_MINUTE > k->latest_minute)
		return fz_fail(err, FZ_EINPUT,
			       "it contains samples more than an hour in the future; check the "
			       "clock of the recording machine");
	*ret = at / FZ_MINUTE;
	return 0;
}

static int cell_of(struct builder *k, uint32_t kind, int64_t minute, uint32_t *ret,
		   struct fz_error *err)
{
	uint32_t *slot = fz_map_slot(&k->cell_map, (uint64_t)kind << 40 | (uint64_t)minute);

	if (*slot == FZ_NONE) {
		*slot = k->b->cell_n;
		if (k->b->cell_n >= FZ_FLEET_MINUTES * k->b->kind_n)
			return fz_fail(err, FZ_ELIMIT,
				       "it spans more than %d days; push it in parts (fizeau "
				       "replay --from ... --to ... -o PART.fz)",
				       FZ_FLEET_MINUTES / 1440);
		fz_push(k->b->cells, k->b->cell_n, k->b->cell_cap,
			(struct fz_fleet_cell){ .kind = kind, .minute = minute });
	}
	*ret = *slot;
	return 0;
}

/* Add a run's exposure to each minute, for each kind. */
static int expose_run(struct builder *k, uint32_t run, struct fz_error *err)
{
	const struct fz_run *r = &k->p->runs[run];
	int64_t start = r->start_unix_ns ? r->start_unix_ns : k->start;
	int64_t length = FZ_MAX(r->duration_ns, 0), done = 0, cpu = 0, minute, part;
	/* Without times, everything belongs to the minute in which the run began. */
	bool split = k->p->samples.timed;

	do {
		int code = minute_of(k, run, split ? done : 0, &minute, err);

		part = split ? FZ_MIN(length - done, (minute + 1) * FZ_MINUTE - (start + done))
			     : length;
		done += part;
		double so_far = (double)FZ_MAX(r->load.used_ns, 0) *
				(length > 0 ? (double)done / (double)length : 1);
		for (uint32_t kind = 0; !code && kind < k->b->kind_n; kind++) {
			uint32_t cell;

			code = cell_of(k, kind, minute, &cell, err);
			if (code)
				break;
			k->b->cells[cell].exposure.wall_ns += part;
			k->b->cells[cell].exposure.cpu_ns += (int64_t)so_far - cpu;
		}
		if (code)
			return code;
		cpu = (int64_t)so_far;
	} while (done < length);
	return 0;
}

/* Losses are only known for the whole recording: share them out evenly. */
static void share_losses(struct builder *k)
{
	const struct fz_quality *q = &k->p->quality;
	uint64_t lost = q->missed + fz_quality_rejected(q);
	struct fz_share_out share[FZ_METRICS_MAX] = { 0 };

	for (uint32_t i = 0; i < k->b->cell_n; i++)
		share[k->b->cells[i].kind].parts++;
	for (uint32_t i = 0; i < k->b->cell_n; i++)
		k->b->cells[i].exposure.lost = fz_share_out_next(&share[k->b->cells[i].kind],
								 (int64_t)FZ_MIN(lost, INT32_MAX));
}

/* ---- values ---- */

static struct fz_fleet_value *value_of(struct builder *k, uint32_t cell, uint32_t node)
{
	uint32_t *slot = fz_map_slot(&k->value_map, FZ_KEY(cell, node));

	if (*slot == FZ_NONE) {
		*slot = (uint32_t)k->b->value_n;
		fz_push(k->b->values, k->b->value_n, k->b->value_cap,
			(struct fz_fleet_value){ .cell = cell, .node = node });
	}
	return &k->b->values[*slot];
}

/* Number of samples in a row. Agents push sums of time sampled at intervals: without a count the
 * number is computed from the interval. */
static int64_t samples_in(const struct builder *k, uint32_t kind, size_t row, int64_t weight)
{
	const struct fz_profile *p = k->p;
	int64_t n = fz_sample_count_in(p, k->metric[kind], row);

	if (p->samples.timed || p->samples.count || p->recording.reconstructed ||
	    p->recording.interval_ns <= 0 || !k->b->kinds[kind].main ||
	    !fz_str_eq(k->b->kinds[kind].unit, FZ_STR("ns")) ||
	    fz_profile_find_metric(p, FZ_STR("samples")) != FZ_NONE)
		return n;
	return FZ_MAX(n, weight / p->recording.interval_ns);
}

static int add_row(struct builder *k, uint32_t kind, size_t row, struct fz_error *err)
{
	const struct fz_samples *s = &k->p->samples;
	int64_t weight = fz_sample_weight(k->p, k->metric[kind], row), minute;
	int64_t n = samples_in(k, kind, row, weight);
	uint32_t cell;

	if (weight < 0)
		return fz_fail(err, FZ_EINPUT,
			       "it has costs below 0: it is a difference, not a profile");
	if (weight == 0)
		return 0;
	int r = minute_of(k, s->run ? s->run[row] : 0, s->timed ? s->time[row] : 0, &minute, err);
	if (!r)
		r = cell_of(k, kind, minute, &cell, err);
	if (r)
		return r;
	/* As in reports, samples without a stack do not count. */
	if (s->stack[row] == FZ_NONE)
		return 0;
	k->b->cells[cell].exposure.samples += n;
	struct fz_fleet_value *v = value_of(k, cell, k->node[s->stack[row]]);
	v->value += weight;
	v->n += n;
	return 0;
}

/* In a profile by CPU time, a cell's CPU time is the sum of its values. */
static void find_cpu_time(struct fz_fleet_batch *b)
{
	for (uint32_t i = 0; i < b->cell_n; i++)
		if (fz_str_eq(b->kinds[b->cells[i].kind].metric, FZ_STR("cpu")))
			b->cells[i].exposure.cpu_ns = 0;
	for (size_t i = 0; i < b->value_n; i++) {
		struct fz_fleet_cell *cell = &b->cells[b->values[i].cell];

		if (fz_str_eq(b->kinds[cell->kind].metric, FZ_STR("cpu")))
			cell->exposure.cpu_ns += b->values[i].value;
	}
}

static int build(struct builder *k, struct fz_error *err)
{
	int r = 0;

	make_nodes(k);
	make_kinds(k);
	if (k->b->kind_n == 0)
		return fz_fail(err, FZ_EINPUT, "it has no costs");
	for (uint32_t run = 0; !r && !k->part.part && run < k->p->run_count; run++)
		r = expose_run(k, run, err);
	for (uint32_t kind = 0; !r && kind < k->b->kind_n; kind++)
		for (size_t row = 0; !r && row < k->p->samples.n; row++)
			r = has_row(k, row) ? add_row(k, kind, row, err) : 0;
	if (!k->part.part)
		share_losses(k);
	find_cpu_time(k->b);
	return r;
}

int fz_fleet_batch_of(const struct fz_profile *p, const struct fz_fleet_part *part,
		      int64_t start_unix_ns, int64_t now_unix_ns, struct fz_fleet_batch *ret,
		      struct fz_error *err)
{
	struct fz_fleet_batch b = { .profile = p };
	fz_auto(release) struct builder k = { .p = p,
					      .part = part ? *part : (struct fz_fleet_part){ 0 },
					      .b = &b,
					      .start = start_unix_ns,
					      .latest_minute = now_unix_ns / FZ_MINUTE +
							       FZ_FLEET_AHEAD_MINUTES };
	int r = build(&k, err);

	if (r)
		fz_fleet_batch_release(&b);
	else
		*ret = b;
	return r;
}

/* ---- digests ---- */

static uint64_t add_text(uint64_t hash, struct fz_str text)
{
	return fz_hash64(hash ^ fz_hash_bytes(text.p, text.n));
}

static uint64_t hash_of_function(const struct fz_profile *p, const struct fz_function *f)
{
	uint64_t hash = fz_hash64(FZ_KEY(f->first_line, f->kind));

	hash = add_text(hash, fz_profile_text(p, f->name));
	hash = add_text(hash, fz_profile_text(p, f->file));
	return add_text(hash, fz_profile_text(p, f->module));
}

static uint64_t *hash_nodes(const struct fz_fleet_batch *b)
{
	const struct fz_profile *p = b->profile;
	uint64_t *ret = fz_calloc(FZ_MAX(b->node_n, 1), sizeof(*ret));

	for (uint32_t i = 0; i < b->node_n; i++) {
		const struct fz_fleet_node *n = &b->nodes[i];
		uint64_t above = n->parent == FZ_NONE ? 0 : ret[n->parent];

		ret[i] = fz_hash64(above ^ hash_of_function(p, &p->functions[n->function]));
	}
	return ret;
}

static uint64_t hash_of_kind(const struct fz_fleet_kind *k)
{
	uint64_t hash = fz_hash64(FZ_KEY(k->mode, k->features)) ^ (uint64_t)k->interval_ns;

	hash = add_text(hash, k->metric);
	hash = add_text(hash, k->unit);
	return add_text(hash, k->clock);
}

/* The sum is linear in the values, so it does not depend on how they are split into minutes. */
uint64_t fz_fleet_digest(const struct fz_fleet_push *push, const struct fz_fleet_batch *b)
{
	const char *const texts[] = { push->service, push->version, push->host, push->labels };
	fz_auto(fz_free_ptr) uint64_t *node = hash_nodes(b);
	uint64_t sum = 0;

	for (size_t i = 0; i < b->value_n; i++) {
		const struct fz_fleet_value *v = &b->values[i];
		uint64_t kind = hash_of_kind(&b->kinds[b->cells[v->cell].kind]);
		uint64_t hash = fz_hash64(kind ^ node[v->node]);

		sum += hash * (uint64_t)v->value + fz_hash64(hash) * (uint64_t)v->n;
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++)
		sum = add_text(sum, fz_str_of(texts[i]));
	return sum ? sum : 1;
}

void fz_fleet_batch_release(struct fz_fleet_batch *b)
{
	free(b->kinds);
	free(b->nodes);
	free(b->cells);
	free(b->values);
	*b = (struct fz_fleet_batch){ 0 };
}
