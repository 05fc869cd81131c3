/* SPDX-License-Identifier: MIT */
/* From the cells of two sides to two profiles with runs.
 *
 *   cells by host and minute -> units -> (unit, node) sums -> rows of a profile, a run per unit
 *
 * Costs of a unit are sums over its cells, so that units are weighted by their work.
 */
#include "fleet/fold.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/text.h"
#include "fleet/order.h"
#include "fleet/sides.h"
#include "profile/fleet_fact.h"

/* ---- sums ---- */

struct folder {
	struct fz_fleet *f;
	const struct fz_fleet_found *found;
	struct fz_profile *p;
	uint32_t *unit, unit_n;  /* unit of each cell, borrowed; number of units */
	uint32_t *host;          /* host of each block */
	struct fz_map stack_map; /* node -> index in nodes */
	struct sum {
		int64_t node, value, n;
		uint32_t unit;
	} * sums;
	uint32_t sum_n, sum_cap;
	int64_t *nodes;
	uint32_t node_n, node_cap;
	struct places {
		uint32_t *sum, cap; /* index in sums for each node; FZ_NONE: none */
	} * places;                 /* of each unit, while values are read */
	bool overflow;
};

static void release(struct folder *k)
{
	free(k->host);
	free(k->sums);
	free(k->nodes);
	fz_map_release(&k->stack_map);
	fz_profile_free(k->p);
}

static uint32_t place_of(struct folder *k, int64_t node)
{
	uint32_t *slot = fz_map_slot(&k->stack_map, (uint64_t)node);

	if (*slot == FZ_NONE) {
		fz_grow(k->nodes, k->node_n, k->node_cap);
		k->nodes[k->node_n] = node;
		*slot = k->node_n++;
	}
	return *slot;
}

static void make_room(struct places *p, uint32_t place)
{
	uint32_t cap = FZ_MAX(place + 1, FZ_MIN(p->cap, UINT32_MAX / 2) * 2);

	p->sum = fz_reallocarray(p->sum, cap, sizeof(*p->sum));
	memset(p->sum + p->cap, 0xff, (cap - p->cap) * sizeof(*p->sum));
	p->cap = cap;
}

static struct sum *sum_of(struct folder *k, uint32_t unit, int64_t node)
{
	uint32_t place = place_of(k, node);
	struct places *p = &k->places[unit];

	if (place >= p->cap)
		make_room(p, place);
	if (p->sum[place] == FZ_NONE) {
		fz_grow(k->sums, k->sum_n, k->sum_cap);
		k->sums[k->sum_n] = (struct sum){ .node = node, .unit = unit };
		p->sum[place] = k->sum_n++;
	}
	return &k->sums[p->sum[place]];
}

static void take(void *arg, uint32_t unit, int64_t node, int64_t value, int64_t n)
{
	struct folder *k = arg;
	struct sum *s = sum_of(k, unit, node);

	k->overflow |= __builtin_add_overflow(s->value, value, &s->value);
	k->overflow |= __builtin_add_overflow(s->n, n, &s->n);
}

static int compare_sums(const void *a, const void *b, void *arg)
{
	const struct sum *x = a, *y = b;
	const struct fz_map *places = arg;
	uint32_t place_x = fz_map_get(places, (uint64_t)x->node);
	uint32_t place_y = fz_map_get(places, (uint64_t)y->node);

	return FZ_CMP(place_x, place_y) ?: FZ_CMP(x->unit, y->unit);
}

/* The profile does not depend on the order of pushes or on the engine. */
static int sort_sums(struct folder *k, struct fz_error *err)
{
	int r = fz_fleet_sort_nodes(k->f, k->nodes, k->node_n, err);

	for (uint32_t i = 0; !r && i < k->node_n; i++)
		fz_map_put(&k->stack_map, (uint64_t)k->nodes[i], i);
	if (!r && k->sum_n)
		qsort_r(k->sums, k->sum_n, sizeof(*k->sums), compare_sums, &k->stack_map);
	return r;
}

/* ---- similar blocks ---- */

enum { LIKENESS_NODES = 16, FEWEST_BLOCKS = 4 };
/* Mean correlation above which blocks are considered dependent. */
static const double alike = 0.1;

/* Indices of the nodes with the highest costs; returns their number. */
static uint32_t largest_nodes(const struct folder *k, uint32_t *ret)
{
	fz_auto(fz_free_ptr) double *cost = fz_calloc(FZ_MAX(k->node_n, 1), sizeof(*cost));
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->sum_n; i++)
		cost[fz_map_get(&k->stack_map, (uint64_t)k->sums[i].node)] +=
			(double)k->sums[i].value;
	for (; n < FZ_MIN(LIKENESS_NODES, k->node_n); n++) {
		uint32_t most = 0;

		for (uint32_t i = 1; i < k->node_n; i++)
			if (cost[i] > cost[most])
				most = i;
		cost[most] = -1;
		ret[n] = most;
	}
	return n;
}

/* Correlation of a node's shares between consecutive blocks of a host, above the -1/n expected for
 * n independent blocks. */
static double likeness_of(const struct folder *k, const double *share)
{
	double products = 0, squares = 0, expected = 0;

	for (uint32_t from = 0, until; from < k->unit_n; from = until) {
		double mean = 0;

		for (until = from; until < k->unit_n && k->host[until] == k->host[from]; until++)
			mean += share[until];
		mean /= until - from;
		for (uint32_t u = from; u < until; u++) {
			double x = share[u] - mean;

			squares += x * x;
			expected -= x * x / (until - from);
			products += u > from ? x * (share[u - 1] - mean) : 0;
		}
	}
	return squares > 0 ? (products - expected) / squares : 0;
}

static double mean_likeness(const struct folder *k)
{
	uint32_t nodes[LIKENESS_NODES], n = largest_nodes(k, nodes);
	fz_auto(fz_free_ptr) double *all = fz_calloc(k->unit_n, sizeof(*all));
	fz_auto(fz_free_ptr) double *share = fz_calloc(k->unit_n, sizeof(*share));
	double sum = 0;

	for (uint32_t i = 0; i < k->sum_n; i++)
		all[k->sums[i].unit] += (double)k->sums[i].value;
	for (uint32_t node = 0; node < n; node++) {
		memset(share, 0, k->unit_n * sizeof(*share));
		for (uint32_t i = 0; i < k->sum_n; i++)
			if (k->sums[i].node == k->nodes[nodes[node]])
				share[k->sums[i].unit] +=
					(double)k->sums[i].value / all[k->sums[i].unit];
		sum += likeness_of(k, share) / n;
	}
	return sum;
}

/* Join the blocks of a host in pairs; the last of an odd number joins the pair before it. */
static void join_blocks(struct folder *k)
{
	fz_auto(fz_free_ptr) uint32_t *joined = fz_calloc(k->unit_n, sizeof(*joined));
	uint32_t n = 0;

	for (uint32_t from = 0, until; from < k->unit_n; from = until) {
		for (until = from; until < k->unit_n && k->host[until] == k->host[from]; until++)
			;
		for (uint32_t u = from; u < until; u++) {
			uint32_t pair = FZ_MIN((u - from) / 2, FZ_MAX((until - from) / 2, 1) - 1);

			joined[u] = n + pair;
		}
		n = joined[until - 1] + 1;
	}
	for (uint32_t u = 0; u < k->unit_n; u++)
		k->host[joined[u]] = k->host[u];
	for (uint32_t i = 0; i < k->sum_n; i++)
		k->sums[i].unit = joined[k->sums[i].unit];
	for (uint32_t i = 0; i < k->found->cell_n; i++)
		if (k->unit[i] != FZ_NONE)
			k->unit[i] = joined[k->unit[i]];
	k->unit_n = n;
}

static void find_hosts(struct folder *k)
{
	k->host = fz_calloc(k->unit_n, sizeof(*k->host));
	for (uint32_t i = 0; i < k->found->cell_n; i++)
		if (k->unit[i] != FZ_NONE)
			k->host[k->unit[i]] = k->found->cells[i].host;
}

/* Consecutive minutes are correlated, and blocks of them may be, too: join blocks until they are
 * not. If even long blocks are correlated, each host is one unit. Both sides keep the same number
 * of blocks for each host. */
static void lengthen_blocks(struct folder k[2], uint32_t hosts)
{
	find_hosts(&k[0]);
	find_hosts(&k[1]);
	while (k[0].unit_n > hosts && (FZ_MAX(mean_likeness(&k[0]), mean_likeness(&k[1])) > alike ||
				       k[0].unit_n < FEWEST_BLOCKS)) {
		join_blocks(&k[0]);
		join_blocks(&k[1]);
	}
}

/* ---- the profile ---- */

enum { DEPTH_MAX = 1 << 16 };

static int stack_of(struct folder *k, struct fz_map *made, int64_t node, uint32_t *ret,
		    struct fz_error *err)
{
	fz_auto(fz_free_ptr) uint32_t *frames = NULL;
	uint32_t n = 0, cap = 0, stack = FZ_NONE;
	fz_auto(fz_free_ptr) int64_t *path = NULL;
	uint32_t path_n = 0, path_cap = 0;

	while (node != 0 && (stack = fz_map_get(made, (uint64_t)node)) == FZ_NONE) {
		int64_t parent;
		uint32_t function;
		int r = fz_fleet_node(k->f, node, k->p, &parent, &function, err);

		if (!r && n == DEPTH_MAX)
			r = fz_fail(err, FZ_EINPUT, "the store is damaged: dangling nodes");
		if (r)
			return r;
		fz_push(frames, n, cap,
			fz_profile_frame(k->p, &(struct fz_frame){ function, FZ_NO_LINE, FZ_NO_LINE,
								   FZ_NO_LINE, FZ_NO_LINE,
								   FZ_NO_OPCODE }));
		fz_push(path, path_n, path_cap, node);
		node = parent;
	}
	while (n-- > 0) {
		stack = fz_profile_stack(k->p, stack, frames[n]);
		fz_map_put(made, (uint64_t)path[n], stack);
	}
	*ret = stack;
	return 0;
}

static int add_samples(struct folder *k, struct fz_error *err)
{
	fz_auto(fz_map_release) struct fz_map made = { 0 };
	uint32_t thread = fz_profile_thread(k->p, &(struct fz_thread){ .tid = 0 });

	for (uint32_t i = 0; i < k->sum_n; i++) {
		const struct sum *s = &k->sums[i];
		struct fz_sample sample = { .run = (uint16_t)s->unit,
					    .thread = thread,
					    .count = (uint32_t)FZ_MIN(s->n, UINT32_MAX) };
		int r = stack_of(k, &made, s->node, &sample.stack, err);

		if (r)
			return r;
		fz_profile_add_sample(k->p, &sample, &s->value);
	}
	return fz_profile_check(k->p, err);
}

/* Set the properties that all kinds of the cells share. */
static void set_recording(struct folder *k)
{
	const struct fz_fleet_kind *kinds = k->found->kinds;
	struct fz_recording *r = &k->p->recording;
	struct fz_str clock = kinds[0].clock;

	r->mode = (enum fz_mode)kinds[0].mode;
	r->features_known = kinds[0].features >= 0;
	r->features = r->features_known ? (unsigned)kinds[0].features : 0;
	r->interval_ns = kinds[0].interval_ns;
	for (uint32_t i = 1; i < k->found->kind_n; i++) {
		if (kinds[i].mode != kinds[0].mode)
			r->mode = FZ_MODE_UNKNOWN;
		r->features_known &= kinds[i].features == kinds[0].features;
		if (kinds[i].interval_ns != kinds[0].interval_ns)
			r->interval_ns = 0;
		if (!fz_str_eq(kinds[i].clock, clock))
			clock = FZ_STR("");
	}
	fz_profile_set_fact(k->p, "clock", clock);
}

static void add_runs(struct folder *k)
{
	struct fz_run *runs = fz_calloc(k->unit_n, sizeof(*runs));

	for (uint32_t i = 0; i < k->found->cell_n; i++) {
		const struct fz_fleet_cell *cell = &k->found->cells[i];
		if (k->unit[i] == FZ_NONE)
			continue;
		struct fz_run *run = &runs[k->unit[i]];
		int64_t start = cell->minute * FZ_MINUTE;

		if (run->start_unix_ns == 0 || start < run->start_unix_ns)
			run->start_unix_ns = start;
		run->duration_ns += cell->exposure.wall_ns;
		k->p->recording.duration_ns += cell->exposure.wall_ns;
		k->p->quality.taken += (uint64_t)cell->exposure.samples;
		k->p->quality.missed += (uint64_t)cell->exposure.lost;
	}
	k->p->quality.known = true;
	for (uint32_t i = 0; i < k->unit_n; i++)
		fz_profile_add_run(k->p, &runs[i]);
	free(runs);
}

/* Hash of the hosts and their units, to recognise profiles with the same pairs. */
static uint64_t pairs_hash(const struct folder *k)
{
	uint64_t hash = k->unit_n;

	for (uint32_t i = 0; i < k->found->cell_n; i++) {
		const char *host = k->found->hosts[k->found->cells[i].host];

		if (k->unit[i] != FZ_NONE &&
		    (i == 0 || k->unit[i] != k->unit[i - 1] ||
		     k->found->cells[i].host != k->found->cells[i - 1].host))
			hash = fz_hash64(hash ^ fz_hash_bytes(host, strlen(host)) ^ k->unit[i]);
	}
	return hash;
}

static uint64_t minutes_of(const struct fz_fleet_found *found, bool only_by_hour)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < found->cell_n; i++)
		if (!only_by_hour || found->cells[i].by_hour)
			n += found->cells[i].minutes;
	return n;
}

/* Minutes that were replaced by sums of hours. */
static void add_precision(const struct fz_fleet_found *found, struct fz_buf *text)
{
	uint64_t all = minutes_of(found, false), n = minutes_of(found, true);
	char cells[FZ_NUMBER_SIZE];

	if (n)
		fz_buf_printf(text, "; %s known only by the hour",
			      n == all ? "all" : fz_format_plural(n, "minute", cells));
}

static void describe(struct folder *k, const struct fz_fleet_units *u, int side, const char *name)
{
	static const char *const kinds[] = { "hosts", "hosts, in pairs", "time, in pairs" };
	const struct fz_fleet_found *found = k->found;
	char hosts[FZ_NUMBER_SIZE], cells[FZ_NUMBER_SIZE], units[FZ_NUMBER_SIZE];
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	fz_buf_printf(&text, "%s of %s, in %s of %s",
		      fz_format_plural(minutes_of(found, false), "minute", cells),
		      fz_format_plural(found->host_n, "host", hosts),
		      fz_format_plural(k->unit_n, "unit", units), kinds[u->kind]);
	add_precision(found, &text);
	if (u->left_out[side])
		fz_buf_printf(&text, "; excluding %s that the other side did not run on",
			      fz_format_plural(u->left_out[side], "host", hosts));
	fz_profile_set_fact(k->p, FZ_FLEET_FACT, fz_buf_view(&text));
	fz_profile_set_fact(k->p, "release", fz_str_of(name));
	if (fz_fleet_missing(k->f))
		fz_profile_set_fact(k->p, FZ_FLEET_MISSING_FACT, fz_str_of(fz_fleet_missing(k->f)));
	if (u->kind == FZ_FLEET_BY_HOSTS)
		return;
	fz_buf_reset(&text);
	fz_buf_printf(&text, FZ_FLEET_PAIRS_FORMAT, u->kind == FZ_FLEET_BY_BLOCKS ? u->hosts : 0,
		      (unsigned long long)pairs_hash(k));
	fz_profile_set_fact(k->p, FZ_FLEET_PAIRS_FACT, fz_buf_view(&text));
}

/* Note the number of hosts of a unit, on the side with fewer hosts, as if there were the maximum of
 * units. With enough hosts, an event on one of them, such as a clock that stalls, averages out. */
static void note_hosts(const struct fz_fleet_found *const found[2], const struct fz_fleet_units *u,
		       struct fz_profile *const ret[2])
{
	enum { AVERAGED_HOSTS = 4 };
	uint32_t hosts = u->kind == FZ_FLEET_BY_PAIRS ? u->hosts
						      : FZ_MIN(found[0]->host_n, found[1]->host_n);
	char text[32];

	if (u->kind == FZ_FLEET_BY_BLOCKS || hosts < AVERAGED_HOSTS * FZ_FLEET_UNITS)
		return;
	snprintf(text, sizeof(text), "%.2f", (double)hosts / FZ_FLEET_UNITS);
	for (int side = 0; side < 2; side++)
		fz_profile_set_fact(ret[side], FZ_FLEET_UNIT_FACT, fz_str_of(text));
}

enum { HOUR_MINUTES = 60, DAY_HOURS = 24, NEAR_HOURS = 2 };

/* Percentage of the head's minutes with no minute of the base at a similar hour of the day. */
static unsigned other_hours(const struct fz_fleet_found *const found[2])
{
	bool near[DAY_HOURS] = { false };
	uint64_t far = 0, all = 0;

	for (uint32_t i = 0; i < found[0]->cell_n; i++) {
		int64_t hour = found[0]->cells[i].minute / HOUR_MINUTES;

		for (int64_t d = -NEAR_HOURS; d <= NEAR_HOURS; d++)
			near[(hour + d + DAY_HOURS) % DAY_HOURS] = true;
	}
	for (uint32_t i = 0; i < found[1]->cell_n; i++) {
		const struct fz_fleet_cell *c = &found[1]->cells[i];

		all += c->minutes;
		far += near[c->minute / HOUR_MINUTES % DAY_HOURS] ? 0 : c->minutes;
	}
	return (unsigned)(100 * far / FZ_MAX(all, 1));
}

static int sum_up(struct folder *k, const char *name, struct fz_error *err)
{
	const struct fz_fleet_kind *kind = &k->found->kinds[0];
	int r;

	k->p = fz_profile_new();
	k->p->default_metric = fz_profile_add_metric(k->p, kind->metric, kind->unit, 0, true);
	k->p->samples.ordered = k->p->samples.timed = false;
	k->places = fz_calloc(FZ_MAX(k->unit_n, 1), sizeof(*k->places));
	r = fz_fleet_each(k->f, k->found, k->unit, take, k, err);
	for (uint32_t i = 0; i < k->unit_n; i++)
		free(k->places[i].sum);
	free(k->places);
	k->places = NULL;
	if (!r && k->overflow)
		r = fz_fail(err, FZ_ELIMIT,
			    "%s: sums are larger than 63 bits; query a shorter time (--since)",
			    name);
	return r ? r : sort_sums(k, err);
}

static void note_hours(const struct fz_fleet_found *const found[2], struct fz_profile *head)
{
	unsigned percent = other_hours(found);
	char text[16];

	if (percent < 50)
		return;
	snprintf(text, sizeof(text), "%u", percent);
	fz_profile_set_fact(head, FZ_FLEET_HOURS_FACT, fz_str_of(text));
}

/* names: stored as facts of the profiles, "api@v2". */
static int fold(struct fz_fleet *f, const struct fz_fleet_found *const found[2],
		const struct fz_fleet_units *units, const char *const names[2],
		struct fz_profile *ret[2], struct fz_error *err)
{
	const struct fz_fleet_units u = *units;
	struct folder k[2];
	int r = 0;

	for (int side = 0; side < 2; side++)
		k[side] = (struct folder){
			.f = f, .found = found[side], .unit = u.of[side], .unit_n = u.n[side]
		};
	for (int side = 0; !r && side < 2; side++)
		r = sum_up(&k[side], names[side], err);
	if (!r && u.kind == FZ_FLEET_BY_BLOCKS)
		lengthen_blocks(k, u.hosts);
	for (int side = 0; !r && side < 2; side++)
		r = add_samples(&k[side], err);
	for (int side = 0; side < 2; side++) {
		if (!r) {
			set_recording(&k[side]);
			add_runs(&k[side]);
			describe(&k[side], &u, side, names[side]);
			ret[side] = fz_steal(k[side].p);
		}
		release(&k[side]);
	}
	if (!r) {
		note_hours(found, ret[1]);
		note_hosts(found, &u, ret);
	}
	return r;
}

/* ---- two sides ---- */

/* The query for a side. The caller frees *ret_labels. */
static struct fz_fleet_query query_of(const struct fz_fleet_query *q,
				      const struct fz_fleet_side *side, const char *metric,
				      char **ret_labels)
{
	struct fz_fleet_query of = *q;

	/* Each set begins and ends with a line's end. */
	*ret_labels =
		fz_asprintf("%s%s", q->labels, side->labels.p + (*q->labels && side->labels.n));
	of.labels = *ret_labels;
	of.service = side->service;
	of.version = side->version;
	of.metric = metric;
	of.from = FZ_MAX(q->from, side->from);
	of.until = FZ_MIN(q->until, side->until);
	return of;
}

static int find_side(struct fz_fleet *f, const struct fz_fleet_query *q,
		     const struct fz_fleet_side *side, const char *metric,
		     struct fz_fleet_found *ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *labels = NULL;
	struct fz_fleet_query of = query_of(q, side, metric, &labels);
	int r = fz_fleet_find(f, &of, ret, err);
	bool is_range = side->from > 0 || side->until < INT64_MAX;
	/* Name the side, because both may be the same service. */
	return r && is_range ? fz_error_prefix(err, "%s", side->name) : r;
}

struct finding {
	struct fz_fleet *f;
	const struct fz_fleet_query *q;
	const struct fz_fleet_side *side; /* two */
	struct fz_fleet_found found[2];
	struct fz_fleet_units units;
};

static void release_finding(struct finding *k)
{
	fz_fleet_found_release(&k->found[0]);
	fz_fleet_found_release(&k->found[1]);
	fz_fleet_units_release(&k->units);
}

/* The first minute of a host; INT64_MAX: none. */
static int64_t first_minute(const struct fz_fleet_starts *starts, const char *host)
{
	uint32_t place = fz_texts_find(&starts->hosts, fz_str_of(host));

	return place == FZ_NONE ? INT64_MAX : starts->minutes[place];
}

/* Drop hosts without cells. */
static void drop_idle_hosts(struct fz_fleet_found *found)
{
	char **hosts = fz_calloc(FZ_MAX(found->host_n, 1), sizeof(*hosts));
	uint32_t n = 0;

	for (uint32_t i = 0, until; i < found->cell_n; i = until) {
		uint32_t host = found->cells[i].host;

		for (until = i; until < found->cell_n && found->cells[until].host == host; until++)
			found->cells[until].host = n;
		hosts[n++] = found->hosts[host];
	}
	free(found->hosts);
	found->hosts = hosts;
	found->host_n = n;
}

/* Drop the minutes in which hosts start; of those known only by the hour, the whole hour. True if a
 * sum has to be divided for that. */
static bool drop_starts(struct fz_fleet_found *found, const struct fz_fleet_starts *before,
			int64_t from)
{
	uint32_t n = 0, host = FZ_NONE;
	int64_t settled = from;
	bool divide = false;

	for (uint32_t i = 0; i < found->cell_n; i++) {
		const struct fz_fleet_cell c = found->cells[i];
		int64_t begin = c.by_hour ? c.minute - c.minute % HOUR_MINUTES : c.minute;

		if (c.host != host) {
			int64_t first = first_minute(before, found->hosts[c.host]);

			settled = FZ_MAX(from, FZ_MIN(first, c.minute) + FZ_FLEET_START);
		}
		host = c.host;
		if (begin >= settled)
			found->cells[n++] = c;
		else
			divide |= !c.by_hour && c.minutes > 1;
	}
	found->cell_n = n;
	drop_idle_hosts(found);
	return divide;
}

/* The head without the starts of its hosts. */
static int find_settled(struct finding *k, struct fz_fleet_query *of_head, struct fz_error *err)
{
	fz_auto(fz_fleet_starts_release) struct fz_fleet_starts before = { 0 };
	fz_auto(fz_free_ptr) char *labels = NULL;
	struct fz_fleet_query of_before = query_of(of_head, &k->side[1], k->q->metric, &labels);
	int r = 0;

	of_before.from = FZ_MAX(k->q->starts_from, k->side[1].from);
	of_before.until = of_head->from;
	if (of_before.from < of_before.until)
		r = fz_fleet_find_starts(k->f, &of_before, &before, err);
	if (!r || r == FZ_EINPUT || r == FZ_EUSAGE)
		r = find_side(k->f, of_head, &k->side[1], k->q->metric, &k->found[1], err);
	if (!r && drop_starts(&k->found[1], &before, of_head->from)) {
		fz_fleet_found_release(&k->found[1]);
		of_head->whole_hours = false;
		r = find_side(k->f, of_head, &k->side[1], k->q->metric, &k->found[1], err);
		if (!r)
			drop_starts(&k->found[1], &before, of_head->from);
	}
	if (!r && !k->found[1].cell_n)
		r = fz_fail(err, FZ_EINPUT, "%s: all hosts are starting", k->side[1].name);
	return r;
}

static int find_units(struct finding *k, bool whole_hours, struct fz_error *err)
{
	struct fz_fleet_query of_head = *k->q, of_base = *k->q;

	release_finding(k);
	of_head.whole_hours = of_base.whole_hours = whole_hours;
	of_head.from = FZ_MAX(k->q->from, k->q->head_from);
	if (k->q->base_until)
		of_base.until = FZ_MIN(k->q->until, k->q->base_until);
	int r = k->q->starts_from
			? find_settled(k, &of_head, err)
			: find_side(k->f, &of_head, &k->side[1], k->q->metric, &k->found[1], err);
	if (!r)
		r = find_side(k->f, &of_base, &k->side[0], k->found[1].kinds[0].metric.p,
			      &k->found[0], err);
	if (!r)
		fz_fleet_units_of(&k->found[0], &k->found[1], &k->units);
	return r;
}

static int find_pair(struct fz_fleet *f, const struct fz_fleet_query *q,
		     const struct fz_fleet_side side[2], struct fz_profile *ret[2],
		     struct fz_error *err)
{
	fz_auto(release_finding) struct finding k = { .f = f, .q = q, .side = side };
	int r = find_units(&k, true, err);

	/* Units of hosts need only hours; blocks of time, used with few hosts, need minutes. */
	if (!r && k.units.kind == FZ_FLEET_BY_BLOCKS)
		r = find_units(&k, false, err);
	return r ? r
		 : fold(f, (const struct fz_fleet_found *const[]){ &k.found[0], &k.found[1] },
			&k.units, (const char *const[]){ side[0].name, side[1].name }, ret, err);
}

int fz_fleet_pair(struct fz_fleet *f, const struct fz_fleet_query *q, const char *const texts[2],
		  struct fz_profile *ret[2], struct fz_error *err)
{
	int64_t now = fz_clock_unix() / FZ_MINUTE;
	struct fz_fleet_side side[2] = { 0 };
	int r = 0;

	for (int i = 0; !r && i < 2; i++)
		r = fz_fleet_side_of(texts[i], now, &side[i], err);
	if (!r)
		r = find_pair(f, q, side, ret, err);
	for (int i = 0; i < 2; i++)
		fz_fleet_side_release(&side[i]);
	return r;
}
