/* SPDX-License-Identifier: MIT */
/* From samples to costs and visits.
 *
 * The rows of a profile are sorted once by run, thread and time. A walk then goes through a run and
 * follows the stack: when it changes, only the frames below the common caller are left and entered,
 * which are found directly in the prefix tree of stacks.
 *
 *     main;a;b;c     leave c, leave b
 *     main;a;x       enter x              main and a continue
 *
 * Entities (functions, or paths) may occur several times on a stack and in both parts of a change;
 * struct fz_visits takes care of that.
 */
#include "compare/evidence.h"

#include "profile/runs.h"
#include "stats/visit.h"

/* ---- order ---- */

static uint32_t run_of(const struct fz_samples *s, size_t row)
{
	return s->run ? s->run[row] : 0;
}

/* Stable counting sort of rows by a key below n. */
static size_t *sort_rows(size_t *rows, size_t count, const struct fz_samples *s,
			 uint32_t (*key)(const struct fz_samples *s, size_t row), uint32_t n)
{
	fz_auto(fz_free_ptr) size_t *start = fz_calloc((size_t)n + 1, sizeof(*start));
	size_t *sorted = fz_reallocarray(NULL, FZ_MAX(count, 1), sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		start[key(s, rows[i]) + 1]++;
	for (uint32_t k = 0; k < n; k++)
		start[k + 1] += start[k];
	for (size_t i = 0; i < count; i++)
		sorted[start[key(s, rows[i])]++] = rows[i];
	free(rows);
	return sorted;
}

static uint32_t thread_of(const struct fz_samples *s, size_t row)
{
	return s->thread[row];
}

static bool same_thread(const struct fz_samples *s, size_t a, size_t b)
{
	return s->thread[a] == s->thread[b] && run_of(s, a) == run_of(s, b);
}

static int64_t own_cost(const struct fz_walk *w, size_t row)
{
	return w->even ? w->even[row] : fz_sample_weight(w->profile, w->metric, row);
}

static int64_t cost_of(const struct fz_walk *w, size_t row)
{
	return own_cost(w, row) + (w->joined ? w->joined[row] : 0) +
	       (w->repeated ? w->repeated[row] : 0);
}

/* Whether a row has no cost: the thread waited for a CPU, or its weight at one speed is 0. */
static bool is_pause(const struct fz_walk *w, size_t row)
{
	return cost_of(w, row) <= 0;
}

static bool *find_bursts(const struct fz_profile *p, const size_t *rows, size_t n)
{
	fz_auto(fz_free_ptr) int64_t *time = fz_reallocarray(NULL, FZ_MAX(n, 1), sizeof(*time));
	bool *burst = fz_reallocarray(NULL, FZ_MAX(n, 1), sizeof(*burst));

	for (size_t i = 0; i < n; i++)
		time[i] = p->samples.time[rows[i]];
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && same_thread(&p->samples, rows[i], rows[end]);)
			end++;
		fz_visit_find_bursts(time + i, end - i, p->recording.interval_ns, burst + i);
	}
	return burst;
}

static bool can_carry(const struct fz_walk *w, size_t row)
{
	return w->profile->samples.stack[row] != FZ_NONE && !is_pause(w, row);
}

/* Drop the repetitions of a late sampler from the ordered rows: they add no information, but the
 * sample that remains gets their weight. Returns the number of rows left. */
static size_t drop_bursts(struct fz_walk *w, size_t n)
{
	fz_auto(fz_free_ptr) bool *burst = find_bursts(w->profile, w->rows, n);
	size_t kept = 0;

	fz_assert(!n || !burst[0]);
	w->repeated = fz_calloc(FZ_MAX(w->profile->samples.n, 1), sizeof(*w->repeated));
	for (size_t i = 0; i < n; i++) {
		size_t row = w->rows[i];

		if (burst[i] && can_carry(w, w->rows[kept - 1]))
			w->repeated[w->rows[kept - 1]] += own_cost(w, row);
		else
			w->rows[kept++] = row;
	}
	return kept;
}

/* Whether rows are of one call, at any of its lines, of one thread. */
static bool same_call(const struct fz_walk *w, size_t a, size_t b)
{
	const struct fz_profile *p = w->profile;
	uint32_t x = p->samples.stack[a], y = p->samples.stack[b];

	if (!same_thread(&p->samples, a, b))
		return false;
	return x == y ||
	       (x != FZ_NONE && y != FZ_NONE && p->stacks[x].parent == p->stacks[y].parent &&
		fz_profile_stack_function(p, x) == fz_profile_stack_function(p, y));
}

static const int64_t longest_tick = 10000000; /* of a scheduler, ns */

/* Returns the number of rows of a call's first slice on a CPU, from *ret_first on, if the call
 * waited for a CPU before or after it and the slice is shorter than a tick; else 0. */
static size_t find_slice(const struct fz_walk *w, size_t from, size_t end, size_t *ret_first)
{
	const struct fz_samples *s = &w->profile->samples;
	size_t first = from, i;

	while (first < end && is_pause(w, w->rows[first]))
		first++;
	for (i = first; i < end && !is_pause(w, w->rows[i]); i++)
		if (!(s->status[w->rows[i]] & FZ_STATUS_ON_CPU))
			return 0;
	if (i == first || i - first == end - from)
		return 0;
	*ret_first = first;
	int64_t lasts, last = s->time[w->rows[i - 1]];
	if (__builtin_sub_overflow(last, s->time[w->rows[first]], &lasts))
		return 0;
	return lasts < longest_tick ? i - first : 0;
}

/* Counts a row's cost for another row, which remains. */
static void join_row(struct fz_walk *w, size_t to, size_t row)
{
	w->joined[to] += own_cost(w, row);
	if (w->repeated)
		w->repeated[to] += w->repeated[row];
}

/* CPU time is known only from tick to tick of the scheduler. What a thread used before it had to
 * wait counts for the first samples of the wait, which all show one call, although others may have
 * used it:
 *
 *     f waits 1, f on a CPU 4, f waits 58, f on a CPU 3, g on a CPU 7
 *
 * So the call's first slice is one observation: its first row remains and gets the weight of the
 * others. Returns the number of rows left. */
static size_t join_slices(struct fz_walk *w, size_t n)
{
	size_t kept = 0, first = 0;

	w->joined = fz_calloc(FZ_MAX(w->profile->samples.n, 1), sizeof(*w->joined));
	for (size_t from = 0, end; from < n; from = end) {
		for (end = from + 1; end < n && same_call(w, w->rows[from], w->rows[end]);)
			end++;
		size_t slice = find_slice(w, from, end, &first);
		for (size_t i = from; i < end; i++) {
			if (slice && i > first && i < first + slice)
				join_row(w, w->rows[first], w->rows[i]);
			else
				w->rows[kept++] = w->rows[i];
		}
	}
	return kept;
}

static void sum_runs(struct fz_walk *w, size_t n)
{
	const struct fz_samples *s = &w->profile->samples;

	w->run_start = fz_calloc((size_t)w->run_count + 1, sizeof(*w->run_start));
	w->run_samples = fz_calloc(w->run_count, sizeof(*w->run_samples));
	w->run_weight = fz_calloc(w->run_count, sizeof(*w->run_weight));
	for (size_t i = 0; i < n; i++) {
		uint32_t run = run_of(s, w->rows[i]);

		w->run_start[run + 1]++;
		if (s->stack[w->rows[i]] == FZ_NONE || is_pause(w, w->rows[i]))
			continue;
		w->run_samples[run] += fz_sample_count(w->profile, w->rows[i]);
		w->run_weight[run] += (double)cost_of(w, w->rows[i]);
	}
	for (uint32_t run = 0; run < w->run_count; run++) {
		w->run_start[run + 1] += w->run_start[run];
		w->samples += w->run_samples[run];
		w->weight += w->run_weight[run];
	}
	fz_assert(w->run_start[w->run_count] == n);
}

void fz_walk_init(struct fz_walk *w, const struct fz_profile *p, uint32_t metric,
		  const int64_t *even)
{
	const struct fz_samples *s = &p->samples;
	size_t n = 0, all;
	bool pauses = false;

	*w = (struct fz_walk){
		.profile = p,
		.metric = metric,
		.even = even,
		.run_count = FZ_MAX(p->run_count, 1),
		.clumping = 1,
	};
	w->rows = fz_reallocarray(NULL, FZ_MAX(s->n, 1), sizeof(*w->rows));
	for (size_t row = 0; row < s->n; row++) {
		bool pause = is_pause(w, row);

		if (!even && pause)
			continue;
		pauses |= pause;
		w->rows[n++] = row;
		w->run_count = FZ_MAX(w->run_count, run_of(s, row) + 1);
	}
	if (p->thread_count > 1)
		w->rows = sort_rows(w->rows, n, s, thread_of, p->thread_count);
	if (w->run_count > 1)
		w->rows = sort_rows(w->rows, n, s, run_of, w->run_count);
	all = n;
	if (s->ordered && s->timed && !s->count && p->recording.interval_ns > 0 &&
	    !(p->recording.features & FZ_FEATURE_WAITS))
		n = drop_bursts(w, n);
	w->bursts = all - n;
	if (pauses)
		n = join_slices(w, n);
	sum_runs(w, n);
}

void fz_walk_release(struct fz_walk *w)
{
	free(w->rows);
	free(w->joined);
	free(w->repeated);
	free(w->run_start);
	free(w->run_samples);
	free(w->run_weight);
	free(w->unseen_until);
	free(w->length);
	free(w->doubt);
	*w = (struct fz_walk){ 0 };
}

/* ---- beginnings ---- */

/* The row of a run with the earliest time, which is of its first thread. */
static size_t first_row(const struct fz_walk *w, uint32_t run)
{
	const struct fz_samples *s = &w->profile->samples;
	size_t first = w->run_start[run];

	for (size_t i = first; i < w->run_start[run + 1]; i++)
		if (s->time[w->rows[i]] < s->time[w->rows[first]])
			first = i;
	return first;
}

static bool knows_times(const struct fz_walk *w)
{
	const struct fz_samples *s = &w->profile->samples;

	return s->ordered && s->timed && !s->count;
}

/* Time of a run's first sample; INT64_MAX without samples. */
static int64_t beginning(const struct fz_walk *w, uint32_t run)
{
	if (w->run_start[run] == w->run_start[run + 1])
		return INT64_MAX;
	return w->profile->samples.time[w->rows[first_row(w, run)]];
}

/* Returns the time at which the first thread of a run, whose first row is i, had a cost of `left`
 * ns; INT64_MIN if nothing is left. */
static int64_t time_after(const struct fz_walk *w, uint32_t run, size_t i, int64_t left)
{
	const struct fz_samples *s = &w->profile->samples;
	uint32_t thread = s->thread[w->rows[i]];

	if (left <= 0)
		return INT64_MIN;
	for (; left > 0 && i < w->run_start[run + 1] && s->thread[w->rows[i]] == thread; i++)
		left -= cost_of(w, w->rows[i]);
	int64_t last = s->time[w->rows[i - 1]];
	return last < INT64_MAX ? last + 1 : last;
}

/* How much of a run's start may be missing in a run of the other side that begins at `other`. Times
 * in a file may be any numbers. */
static int64_t missed(int64_t unseen, int64_t begins, int64_t other)
{
	int64_t late;

	if (unseen >= 0)
		return unseen;
	return other == INT64_MAX || __builtin_sub_overflow(other, begins, &late) ? 0 : late;
}

static void align(struct fz_walk *w, const struct fz_walk *other)
{
	uint32_t n = other->run_count;
	fz_auto(fz_free_ptr) int64_t *unseen = fz_calloc(n, sizeof(*unseen));
	fz_auto(fz_free_ptr) int64_t *begins = fz_calloc(n, sizeof(*begins));

	fz_profile_unseen(other->profile, unseen, n);
	for (uint32_t k = 0; k < n; k++)
		begins[k] = beginning(other, k);
	w->unseen_until = fz_calloc((size_t)w->run_count * n, sizeof(*w->unseen_until));
	w->unseen_runs = n;
	for (uint32_t run = 0; run < w->run_count; run++) {
		int64_t begin = beginning(w, run), *until = w->unseen_until + (size_t)run * n;
		size_t first = first_row(w, run);

		for (uint32_t k = 0; k < n; k++)
			until[k] = begin == INT64_MAX
					   ? INT64_MIN
					   : time_after(w, run, first,
							missed(unseen[k], begin, begins[k]));
	}
}

void fz_walks_align(struct fz_walk walks[FZ_SIDES])
{
	if (!knows_times(&walks[FZ_BASE]) || !knows_times(&walks[FZ_HEAD]))
		return;
	align(&walks[FZ_BASE], &walks[FZ_HEAD]);
	align(&walks[FZ_HEAD], &walks[FZ_BASE]);
}

void fz_walk_divide(struct fz_walk *w)
{
	const struct fz_profile *p = w->profile;

	if (!knows_times(w))
		return;
	w->length = fz_calloc(w->run_count, sizeof(*w->length));
	for (uint32_t run = 0; run < w->run_count; run++) {
		w->length[run] = run < p->run_count ? p->runs[run].duration_ns : 0;
		for (size_t i = w->run_start[run]; i < w->run_start[run + 1]; i++)
			w->length[run] = FZ_MAX(w->length[run], p->samples.time[w->rows[i]]);
	}
}

/* ---- entities ---- */

static uint32_t function_of_stack(const struct fz_diff *d, enum fz_side side, uint32_t stack)
{
	const struct fz_profile *p = d->profile[side];

	return d->function_of[side][p->frames[p->stacks[stack].frame].function];
}

static uint32_t *new_stack_map(const struct fz_profile *p)
{
	uint32_t *map = fz_reallocarray(NULL, FZ_MAX(p->stack_count, 1), sizeof(*map));

	memset(map, 0xff, p->stack_count * sizeof(*map));
	return map;
}

void fz_entities_functions(const struct fz_diff *d, struct fz_entities *ret)
{
	ret->n = d->function_count;
	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		uint32_t *map = new_stack_map(d->profile[side]);

		for (uint32_t stack = 0; stack < d->profile[side]->stack_count; stack++)
			map[stack] = function_of_stack(d, side, stack);
		ret->of_stack[side] = map;
	}
}

void fz_entities_paths(const struct fz_diff *d, const uint32_t *slot, uint32_t n,
		       struct fz_entities *ret)
{
	ret->n = n;
	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		const struct fz_tree *t = d->tree[side];
		uint32_t *map = new_stack_map(d->profile[side]);

		for (uint32_t stack = 0; stack < d->profile[side]->stack_count; stack++)
			if (t->stack_node[stack] != FZ_NONE)
				map[stack] = slot[d->node_of[side][t->stack_node[stack]]];
		ret->of_stack[side] = map;
	}
}

void fz_entities_release(struct fz_entities *e)
{
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		free(e->of_stack[side]);
	*e = (struct fz_entities){ 0 };
}

/* ---- walks ---- */

/* Sum over samples. */
struct sum {
	double cost, squares; /* squares: of each sample's cost */
};

/* Parts of a run's samples that are summed. */
enum amount { ALL, UNSEEN, DOUBTED, ON_CPU, BLOCK, AMOUNTS };

/* What is gathered about an entity, its self or its total, in one run. */
struct gathered {
	struct fz_visits visits;
	struct sum sum[AMOUNTS];
	double blocks, squares; /* sums of the costs of blocks of time, and of their squares */
	double by_chance;       /* sum of squared lengths, in samples, of collections and slices */
	uint32_t collection, slice; /* the last ones that counted */
};

/* A reduced prefix tree of the stacks whose last frame counts, so that walks over few paths take
 * few steps. */
struct step {
	uint32_t up;     /* next caller's stack that counts, or FZ_NONE */
	uint32_t depth;  /* number of stacks that count, including this one */
	uint32_t entity; /* FZ_NONE: it does not count */
	bool collects;   /* garbage */
};

static struct step *steps_of(const struct fz_profile *p, const uint32_t *entity)
{
	struct step *steps = fz_reallocarray(NULL, p->stack_count + 1ul, sizeof(*steps));

	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t up = p->stacks[i].parent;
		if (up != FZ_NONE && steps[up].entity == FZ_NONE)
			up = steps[up].up;
		steps[i] = (struct step){ .up = up,
					  .depth = up == FZ_NONE ? 1 : steps[up].depth + 1,
					  .entity = entity[i],
					  .collects = fz_profile_stack_collects(p, i) };
	}
	return steps;
}

struct follower {
	const struct step *steps;
	struct gathered *total;
	uint32_t at;     /* current stack that counts, or FZ_NONE */
	uint32_t slices; /* number of the current slice on a CPU; a change of thread leaves a gap */
	uint64_t slice;  /* position at which the current one began */
};

static uint32_t depth_of(const struct step *steps, uint32_t stack)
{
	return stack == FZ_NONE ? 0 : steps[stack].depth;
}

/* Move to another stack. Frames are left from the leaf up and entered in any order, all at one
 * position. */
static void go_to(struct follower *f, uint32_t stack, uint64_t at)
{
	if (stack != FZ_NONE && f->steps[stack].entity == FZ_NONE)
		stack = f->steps[stack].up;
	uint32_t from = f->at, to = stack;

	while (from != to) {
		if (depth_of(f->steps, from) >= depth_of(f->steps, to)) {
			fz_visits_leave(&f->total[f->steps[from].entity].visits, at);
			from = f->steps[from].up;
		} else {
			fz_visits_enter(&f->total[f->steps[to].entity].visits, at);
			to = f->steps[to].up;
		}
	}
	f->at = stack;
}

/* Prefetch data of later samples: in a large profile they are spread over all stacks. */
static void fetch_ahead(const struct follower *f, const struct fz_walk *w, uint32_t run, size_t i)
{
	enum { STEPS = 16, VISITS = 8 };
	const uint32_t *stack = w->profile->samples.stack;

	if (i + STEPS >= w->run_start[run + 1])
		return;
	uint32_t far = stack[w->rows[i + STEPS]], near = stack[w->rows[i + VISITS]];
	if (far != FZ_NONE)
		__builtin_prefetch(&f->steps[far]);
	if (near != FZ_NONE && f->steps[near].entity != FZ_NONE)
		__builtin_prefetch(&f->total[f->steps[near].entity].visits, 1);
}

/* A collection happens in the function that allocates at that moment, by chance: a full one may
 * take longer than all that this function does. */
struct collections {
	uint32_t n, stack; /* number of collections; the current one's, or FZ_NONE */
	double length;     /* so far, in samples */
};

static void end_collection(const struct follower *f, struct collections *c)
{
	uint32_t stack = c->stack == FZ_NONE ? FZ_NONE : f->steps[c->stack].up;

	c->n++;
	for (; stack != FZ_NONE; stack = f->steps[stack].up) {
		struct gathered *g = &f->total[f->steps[stack].entity];
		if (g->collection == c->n)
			continue;
		g->collection = c->n;
		g->by_chance += c->length * c->length;
	}
	c->stack = FZ_NONE;
	c->length = 0;
}

static void follow_collection(const struct follower *f, struct collections *c, uint32_t stack,
			      uint32_t count)
{
	if (stack != c->stack && c->stack != FZ_NONE)
		end_collection(f, c);
	if (stack == FZ_NONE || !f->steps[stack].collects)
		return;
	c->stack = stack;
	c->length += count;
}

/* A thread has to wait for a CPU. Any part of a function's first slice (join_slices) may have been
 * used before it was entered, whatever callees the samples show: on average a third of the slice's
 * square. */
static void end_slice(struct follower *f, uint64_t longest, uint64_t at)
{
	f->slices++;
	for (uint32_t stack = f->at; stack != FZ_NONE; stack = f->steps[stack].up) {
		struct gathered *g = &f->total[f->steps[stack].entity];
		uint64_t length = at - FZ_MAX(f->slice, g->visits.start);

		if (g->slice != f->slices && g->slice != f->slices - 1 && length < longest)
			g->by_chance += (double)length * (double)length / 3;
		g->slice = f->slices;
	}
}

/* Collect visits for self and total costs, and what happens by chance, in one pass over a run. */
static void follow_run(const struct fz_walk *w, enum fz_side side, uint32_t run,
		       const struct fz_entities *e, struct gathered *of[FZ_FAMILIES])
{
	const struct fz_samples *s = &w->profile->samples;
	fz_auto(fz_free_ptr) struct step *steps = steps_of(w->profile, e->of_stack[side]);
	struct follower f = {
		.steps = steps, .total = of[FZ_FAMILY_TOTAL], .at = FZ_NONE, .slices = 1
	};
	struct collections c = { .stack = FZ_NONE };
	int64_t interval = w->profile->recording.interval_ns;
	uint64_t at = 0, longest = interval > 0 ? (uint64_t)(longest_tick / interval) : 0;

	for (size_t i = w->run_start[run]; i < w->run_start[run + 1]; i++) {
		size_t row = w->rows[i];
		uint32_t stack = s->stack[row], count = fz_sample_count(w->profile, row);
		uint32_t entity = stack == FZ_NONE ? FZ_NONE : steps[stack].entity;
		bool pauses = is_pause(w, row);
		bool other_thread = i > w->run_start[run] && !same_thread(s, w->rows[i - 1], row);

		fetch_ahead(&f, w, run, i);
		if (other_thread)
			end_collection(&f, &c);
		if (s->ordered)
			follow_collection(&f, &c, stack, pauses ? 0 : count);
		if (pauses && !other_thread && at > f.slice)
			end_slice(&f, longest, at);
		f.slices += other_thread;
		/* A visit ends with its thread, and at a pause. */
		if (pauses || other_thread) {
			go_to(&f, FZ_NONE, at);
			f.slice = ++at;
		}
		if (pauses)
			continue;
		go_to(&f, stack, at);
		if (entity != FZ_NONE)
			fz_visits_add(&of[FZ_FAMILY_SELF][entity].visits, at, count);
		at += count;
		if (!(s->status[row] & FZ_STATUS_ON_CPU))
			f.slice = at;
	}
	end_collection(&f, &c);
	go_to(&f, FZ_NONE, at);
}

/* ---- sums ---- */

/* Variance of a total, in samples, because another function might have collected instead. */
static double chance_variance(const struct fz_walk *w, uint32_t run, double samples, double squares)
{
	return squares * (1 - FZ_MIN(1, samples / FZ_MAX(1, w->run_samples[run])));
}

/* from <= time < until */
struct span {
	int64_t from, until;
};
static const struct span always = { INT64_MIN, INT64_MAX };

static bool is_in(const struct span *span, int64_t time)
{
	return time >= span->from && (time < span->until || span->until == INT64_MAX);
}

/* What to sum of a run's samples: those in a span of time, and of each sample all, or the fraction
 * of the other side's runs that may have missed it (unseen), the part that other load may have
 * caused (doubted), or the part known to be on a CPU (on). */
struct part {
	struct span span;
	const int64_t
		*unseen; /* for each run of the other side, the end of the missed part; or NULL */
	bool doubted, on;
};

bool fz_walk_by_wall(const struct fz_walk *w)
{
	return w->profile->recording.mode == FZ_MODE_WALL;
}

/* Share of a row known to be on a CPU, which excludes dropped repetitions of a late sampler. */
static double known_on_cpu(const struct fz_walk *w, size_t row)
{
	uint8_t status = w->profile->samples.status[row];

	if (is_pause(w, row) || (status & FZ_STATUS_UNKNOWN) || !(status & FZ_STATUS_ON_CPU))
		return 0;
	return w->repeated ? 1 - (double)w->repeated[row] / (double)cost_of(w, row) : 1;
}

static double unseen_of(const struct fz_walk *w, size_t row, const int64_t *until)
{
	uint32_t missed_by = 0;

	for (uint32_t k = 0; k < w->unseen_runs; k++)
		missed_by += w->profile->samples.time[row] < until[k];
	return (double)missed_by / w->unseen_runs;
}

static double part_of(const struct fz_walk *w, size_t row, const struct part *part)
{
	if (part->unseen)
		return unseen_of(w, row, part->unseen);
	if (part->doubted)
		return (double)w->doubt[row];
	if (part->on)
		return known_on_cpu(w, row);
	return is_in(&part->span, w->profile->samples.time[row]);
}

double fz_walk_doubted(const struct fz_walk *w, uint32_t run)
{
	double cost = 0;

	for (size_t i = w->run_start[run]; w->doubt && i < w->run_start[run + 1]; i++)
		cost += (double)w->doubt[w->rows[i]] * (double)cost_of(w, w->rows[i]);
	return cost;
}

double fz_walk_late(const struct fz_walk *w)
{
	enum { LATE = 10 }; /* intervals; shorter gaps are spread over functions as samples are */
	const struct fz_profile *p = w->profile;
	double interval = (double)p->recording.interval_ns, squares = 0;

	if (p->recording.mode != FZ_MODE_CPU || !p->samples.ordered || p->samples.count ||
	    w->metric == FZ_METRIC_SAMPLES || strcmp(p->metrics[w->metric].unit, "ns") != 0)
		return 0;
	for (size_t i = 0; interval > 0 && i < w->run_start[w->run_count]; i++) {
		double more = (double)cost_of(w, w->rows[i]) - interval;

		/* The cost of a row without a stack belongs to no function. */
		if (p->samples.stack[w->rows[i]] != FZ_NONE && more >= LATE * interval)
			squares += more * more;
	}
	return squares;
}

static void add_row(const struct fz_walk *w, size_t row, double part, struct sum *sum)
{
	double cost = part * (double)cost_of(w, row);

	sum->cost += cost;
	sum->squares += cost * cost / fz_sample_count(w->profile, row);
}

static void add_sum(struct sum *sum, const struct sum *more)
{
	sum->cost += more->cost;
	sum->squares += more->squares;
}

/* Sum self and total costs. A sample counts once for a total, however often the function recurs on
 * its stack. */
static void sum_run(const struct fz_walk *w, enum fz_side side, uint32_t run, struct part part,
		    const struct fz_entities *e, enum amount amount,
		    struct gathered *of[FZ_FAMILIES])
{
	const struct fz_profile *p = w->profile;
	fz_auto(fz_free_ptr) struct sum *of_stack =
		fz_calloc(FZ_MAX(p->stack_count, 1), sizeof(*of_stack));
	fz_auto(fz_free_ptr) uint32_t *seen = fz_calloc(FZ_MAX(e->n, 1), sizeof(*seen));

	for (size_t i = w->run_start[run]; i < w->run_start[run + 1]; i++) {
		uint32_t stack = p->samples.stack[w->rows[i]];

		if (stack != FZ_NONE)
			add_row(w, w->rows[i], part_of(w, w->rows[i], &part), &of_stack[stack]);
	}
	for (uint32_t leaf = 0; leaf < p->stack_count; leaf++) {
		if (of_stack[leaf].cost == 0)
			continue;
		for (uint32_t stack = leaf; stack != FZ_NONE; stack = p->stacks[stack].parent) {
			uint32_t entity = e->of_stack[side][stack];

			if (entity == FZ_NONE)
				continue;
			if (stack == leaf)
				add_sum(&of[FZ_FAMILY_SELF][entity].sum[amount], &of_stack[leaf]);
			if (seen[entity] != leaf + 1)
				add_sum(&of[FZ_FAMILY_TOTAL][entity].sum[amount], &of_stack[leaf]);
			seen[entity] = leaf + 1;
		}
	}
}

/* Number of blocks into which a run's time is divided. */
enum { BLOCKS = 10 };

static void end_block(struct gathered *g)
{
	double cost = g->sum[BLOCK].cost;

	g->blocks += cost;
	g->squares += cost * cost;
	g->sum[BLOCK] = (struct sum){ 0 };
}

static void sum_blocks(const struct fz_walk *w, enum fz_side side, uint32_t run,
		       const struct fz_entities *e, struct gathered *of[FZ_FAMILIES])
{
	double length = (double)w->length[run] / BLOCKS;

	for (int b = 0; b < BLOCKS; b++) {
		struct span span = { b ? (int64_t)(length * b) : INT64_MIN,
				     b + 1 < BLOCKS ? (int64_t)(length * (b + 1)) : INT64_MAX };

		sum_run(w, side, run, (struct part){ .span = span }, e, BLOCK, of);
		for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
			for (uint32_t i = 0; i < e->n; i++)
				end_block(&of[f][i]);
	}
}

/* The variance of a run's cost, from the differences between blocks of its time. Scaled to that of
 * Student's distribution, because there are few blocks. */
static double variance_of_blocks(const struct gathered *g)
{
	return FZ_MAX(0, g->squares - g->blocks * g->blocks / BLOCKS) * BLOCKS / (BLOCKS - 3);
}

/* Factor by which a cost varies more than with samples of equal weight (Kish's design effect,
 * 1965): n sum w^2/(sum w)^2. */
static double design_effect(double samples, const struct sum *w)
{
	return w->cost > 0 ? FZ_MAX(1, samples * w->squares / (w->cost * w->cost)) : 1;
}

static struct fz_visit_sum visits_of(const struct fz_walk *w, const struct fz_visits *visits)
{
	struct fz_visit_sum sum = fz_visits_sum(visits);

	/* Without order it is unknown which samples belong to one visit. */
	if (!w->profile->samples.ordered)
		sum.visits = sum.samples;
	return sum;
}

static struct fz_ratio_run evidence_of(const struct fz_walk *w, uint32_t run,
				       const struct gathered *g)
{
	struct fz_visit_sum visits = visits_of(w, &g->visits);
	double effect = w->clumping * design_effect(visits.samples, &g->sum[ALL]);

	return (struct fz_ratio_run){
		.cost = g->sum[ALL].cost,
		.samples = visits.samples / effect,
		.visits = visits.visits / effect,
		.square = visits.square / effect,
		.longest = visits.longest,
		.unseen = g->sum[UNSEEN].cost,
		.by_chance = chance_variance(w, run, visits.samples, g->by_chance) / effect,
		.doubt = g->sum[DOUBTED].cost,
		.on = g->sum[ON_CPU].cost,
		.variance = variance_of_blocks(g),
	};
}

void fz_walk_run(const struct fz_walk *w, enum fz_side side, uint32_t run,
		 const struct fz_entities *e, struct fz_ratio_run *ret[FZ_FAMILIES], size_t stride)
{
	fz_auto(fz_free_ptr) struct gathered *all =
		fz_calloc(FZ_MAX(e->n, 1) * (size_t)FZ_FAMILIES, sizeof(*all));
	struct gathered *of[FZ_FAMILIES] = { all, all + e->n };

	fz_assert(run < w->run_count);
	follow_run(w, side, run, e, of);
	sum_run(w, side, run, (struct part){ .span = always }, e, ALL, of);
	if (w->unseen_until)
		sum_run(w, side, run,
			(struct part){ .unseen = w->unseen_until + (size_t)run * w->unseen_runs },
			e, UNSEEN, of);
	if (w->doubt)
		sum_run(w, side, run, (struct part){ .doubted = true }, e, DOUBTED, of);
	if (fz_walk_by_wall(w))
		sum_run(w, side, run, (struct part){ .on = true }, e, ON_CPU, of);
	if (w->length)
		sum_blocks(w, side, run, e, of);
	for (enum fz_family f = 0; f < FZ_FAMILIES; f++)
		for (uint32_t i = 0; i < e->n; i++)
			ret[f][i * stride] = evidence_of(w, run, &of[f][i]);
}
