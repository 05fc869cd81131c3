/* SPDX-License-Identifier: MIT */
/* Counts for the live view; see model.h. */
#include "live/model.h"

#include <math.h>

#define BIN_NS ((int64_t)500000000)

const char *const fz_live_sort_names[] = { "self", "total", "trend", "change", "name" };

enum {
	LATELY = 4, /* bins that count as lately */
};

/* ---- scopes ---- */

static uint32_t add_scope(struct fz_live_model *m, enum fz_live_scope_kind kind, uint64_t pid,
			  uint32_t thread)
{
	fz_grow(m->scopes, m->scope_n, m->scope_cap);
	m->scopes[m->scope_n] =
		(struct fz_live_scope){ .kind = kind, .pid = pid, .thread = thread, .bin = m->bin };
	return m->scope_n++;
}

static uint32_t process_scope(struct fz_live_model *m, uint64_t pid)
{
	for (uint32_t i = 0; i < m->scope_n; i++)
		if (m->scopes[i].kind == FZ_LIVE_SCOPE_PROCESS && m->scopes[i].pid == pid)
			return i;
	return add_scope(m, FZ_LIVE_SCOPE_PROCESS, pid, FZ_NONE);
}

/* Create the thread's scopes if they do not exist. */
static void know_thread(struct fz_live_model *m, uint32_t thread)
{
	if (thread >= m->thread_cap) {
		uint32_t cap = FZ_MAX(m->thread_cap * 2, thread + 16);
		m->thread_scope = fz_reallocarray(m->thread_scope, cap, sizeof(uint32_t));
		m->process_scope = fz_reallocarray(m->process_scope, cap, sizeof(uint32_t));
		for (uint32_t i = m->thread_cap; i < cap; i++)
			m->thread_scope[i] = m->process_scope[i] = FZ_NONE;
		m->thread_cap = cap;
	}
	if (m->thread_scope[thread] != FZ_NONE)
		return;
	uint64_t pid = m->mirror->threads[thread].pid;
	m->process_scope[thread] = process_scope(m, pid);
	m->thread_scope[thread] = add_scope(m, FZ_LIVE_SCOPE_THREAD, pid, thread);
	m->scopes[FZ_LIVE_ALL].threads++;
	m->scopes[m->process_scope[thread]].threads++;
	m->scopes[m->thread_scope[thread]].threads = 1;
}

/* ---- bins ---- */

/* Clear the bins between the newest one and now. */
static void advance(float *a, float *b, uint32_t *newest, uint32_t now)
{
	uint32_t steps = FZ_MIN(now - *newest, (uint32_t)FZ_LIVE_BINS);

	for (uint32_t i = 0; i < steps; i++) {
		a[(now - i) % FZ_LIVE_BINS] = 0;
		if (b)
			b[(now - i) % FZ_LIVE_BINS] = 0;
	}
	*newest = now;
}

/* ---- counting ---- */

static struct fz_live_row *row_of(struct fz_live_model *m, uint32_t scope, uint32_t function)
{
	uint32_t *slot = fz_map_slot(&m->row_map, FZ_KEY(scope, function));

	if (*slot == FZ_NONE) {
		struct fz_live_scope *s = &m->scopes[scope];
		*slot = m->row_n;
		fz_push(s->rows, s->row_n, s->row_cap, m->row_n);
		fz_push(m->rows, m->row_n, m->row_cap,
			(struct fz_live_row){
				.scope = scope, .function = function, .bin = m->bin });
	}
	struct fz_live_row *r = &m->rows[*slot];
	if (r->bin != m->bin)
		advance(r->self_bins, r->total_bins, &r->bin, m->bin);
	return r;
}

static void add_stack(struct fz_live_model *m, uint32_t scope, uint32_t stack, int64_t weight)
{
	const struct fz_profile *p = m->mirror;
	uint32_t bin = m->bin % FZ_LIVE_BINS;
	bool leaf = true;

	m->stack_number++;
	for (; stack != FZ_NONE; stack = p->stacks[stack].parent) {
		struct fz_live_row *r =
			row_of(m, scope, p->frames[p->stacks[stack].frame].function);
		if (leaf) {
			r->now.self += weight;
			r->self_bins[bin] += (float)weight;
			leaf = false;
		}
		if (r->seen == m->stack_number)
			continue;
		r->seen = m->stack_number;
		r->now.total += weight;
		r->total_bins[bin] += (float)weight;
	}
}

static void add_to_scope(struct fz_live_model *m, uint32_t scope, const struct fz_live_cell *c)
{
	struct fz_live_scope *s = &m->scopes[scope];

	if (s->bin != m->bin)
		advance(s->bins, NULL, &s->bin, m->bin);
	s->sum += c->weight;
	s->samples += c->count;
	s->bins[m->bin % FZ_LIVE_BINS] += (float)c->weight;
	add_stack(m, scope, c->stack, c->weight);
}

static void keep_cell(struct fz_live_model *m, const struct fz_live_cell *c)
{
	uint32_t *slot = fz_map_slot(&m->cell_map, FZ_KEY(c->thread, c->stack));

	if (*slot == FZ_NONE) {
		*slot = m->cell_n;
		fz_push(m->cells, m->cell_n, m->cell_cap, *c);
		return;
	}
	m->cells[*slot].weight += c->weight;
	m->cells[*slot].count += c->count;
}

static void add_states(struct fz_live_states *to, const struct fz_live_states *from)
{
	to->samples += from->samples;
	to->has_gil += from->has_gil;
	to->on_cpu += from->on_cpu;
	to->cpu_known += from->cpu_known;
	to->waits_gil += from->waits_gil;
	to->exception += from->exception;
	to->collecting += from->collecting;
}

static void add_thread_states(struct fz_live_model *m, uint32_t thread,
			      const struct fz_live_states *states)
{
	const uint32_t scopes[] = { FZ_LIVE_ALL, m->process_scope[thread],
				    m->thread_scope[thread] };

	for (size_t i = 0; i < FZ_ARRAY_LEN(scopes); i++)
		add_states(&m->scopes[scopes[i]].states, states);
}

/* Complete the bins of the last half second. */
static void close_bins(struct fz_live_model *m, uint32_t bin)
{
	for (uint32_t i = 0; i < m->scope_n; i++) {
		struct fz_live_scope *s = &m->scopes[i];
		uint64_t n = s->states.samples - s->before.samples;
		uint64_t held = s->states.has_gil - s->before.has_gil;
		for (uint32_t k = m->bin; k != bin && k - m->bin < FZ_LIVE_BINS; k++)
			s->gil_bins[k % FZ_LIVE_BINS] = n ? (float)held / (float)n : 0;
		s->before = s->states;
	}
	m->bin = bin;
}

void fz_live_model_add(struct fz_live_model *m, const struct fz_live_batch *b)
{
	fz_live_batch_mirror(b, m->mirror);
	if (!m->first)
		m->first = b->now;
	m->last = b->now;
	uint32_t bin = (uint32_t)((b->now - m->first) / BIN_NS);
	if (bin != m->bin)
		close_bins(m, bin);
	m->quality = b->quality;
	if (b->python[0]) {
		memcpy(m->python, b->python, sizeof(m->python));
		m->pid = b->pid;
	}
	for (uint32_t i = 0; i < b->cell_n; i++) {
		const struct fz_live_cell *c = &b->cells[i];
		know_thread(m, c->thread);
		keep_cell(m, c);
		add_to_scope(m, FZ_LIVE_ALL, c);
		add_to_scope(m, m->process_scope[c->thread], c);
		add_to_scope(m, m->thread_scope[c->thread], c);
	}
	for (uint32_t i = 0; i < b->state_n; i++)
		if (b->states[i].samples) {
			know_thread(m, i);
			add_thread_states(m, i, &b->states[i]);
		}
}

/* ---- life ---- */

void fz_live_model_init(struct fz_live_model *m)
{
	*m = (struct fz_live_model){ .mirror = fz_profile_new() };
	add_scope(m, FZ_LIVE_SCOPE_ALL, 0, FZ_NONE);
}

static void free_scopes(struct fz_live_model *m)
{
	for (uint32_t i = 0; i < m->scope_n; i++)
		free(m->scopes[i].rows);
	m->scope_n = 0;
}

void fz_live_model_release(struct fz_live_model *m)
{
	free_scopes(m);
	free(m->scopes);
	free(m->rows);
	free(m->cells);
	free(m->thread_scope);
	free(m->process_scope);
	fz_map_release(&m->row_map);
	fz_map_release(&m->cell_map);
	fz_profile_free(m->mirror);
}

void fz_live_model_reset(struct fz_live_model *m)
{
	free_scopes(m);
	fz_map_clear(&m->row_map);
	fz_map_clear(&m->cell_map);
	m->row_n = m->cell_n = 0;
	m->first = m->last = m->marked = 0;
	m->bin = 0;
	for (uint32_t i = 0; i < m->thread_cap; i++)
		m->thread_scope[i] = m->process_scope[i] = FZ_NONE;
	add_scope(m, FZ_LIVE_SCOPE_ALL, 0, FZ_NONE);
}

void fz_live_model_mark(struct fz_live_model *m)
{
	m->marked = m->last;
	for (uint32_t i = 0; i < m->row_n; i++)
		m->rows[i].mark = m->rows[i].now;
	for (uint32_t i = 0; i < m->scope_n; i++)
		m->scopes[i].mark_sum = m->scopes[i].sum;
}

void fz_live_model_unmark(struct fz_live_model *m)
{
	m->marked = 0;
	for (uint32_t i = 0; i < m->row_n; i++)
		m->rows[i].mark = (struct fz_live_cost){ 0 };
	for (uint32_t i = 0; i < m->scope_n; i++)
		m->scopes[i].mark_sum = 0;
}

/* ---- queries ---- */

double fz_live_share(int64_t part, int64_t whole)
{
	return whole > 0 ? FZ_MIN((double)part / (double)whole, 1.0) : 0;
}

struct fz_live_shares fz_live_since(const struct fz_live_model *m, const struct fz_live_row *r)
{
	const struct fz_live_scope *s = &m->scopes[r->scope];
	int64_t sum = s->sum - s->mark_sum;

	return (struct fz_live_shares){ fz_live_share(r->now.self - r->mark.self, sum),
					fz_live_share(r->now.total - r->mark.total, sum) };
}

struct fz_live_shares fz_live_before(const struct fz_live_model *m, const struct fz_live_row *r)
{
	const struct fz_live_scope *s = &m->scopes[r->scope];

	return (struct fz_live_shares){ fz_live_share(r->mark.self, s->mark_sum),
					fz_live_share(r->mark.total, s->mark_sum) };
}

/* The value of the bin that is `age` bins old; 0 if nothing was added since. */
static double bin_value(const float *bins, uint32_t newest, uint32_t now, uint32_t age)
{
	if (age > now || now - age > newest || newest - (now - age) >= FZ_LIVE_BINS)
		return 0;
	return (double)bins[(now - age) % FZ_LIVE_BINS];
}

void fz_live_history(const struct fz_live_model *m, const struct fz_live_row *r, bool total,
		     double out[FZ_LIVE_BINS])
{
	const struct fz_live_scope *s = &m->scopes[r->scope];
	const float *bins = total ? r->total_bins : r->self_bins;

	for (uint32_t i = 0; i < FZ_LIVE_BINS; i++) {
		uint32_t age = FZ_LIVE_BINS - 1 - i;
		double whole = bin_value(s->bins, s->bin, m->bin, age);
		double part = bin_value(bins, r->bin, m->bin, age);
		out[i] = whole > 0 ? FZ_MIN(part / whole, 1.0) : NAN;
	}
}

double fz_live_trend(const struct fz_live_model *m, const struct fz_live_row *r, bool total)
{
	const struct fz_live_scope *s = &m->scopes[r->scope];
	const float *bins = total ? r->total_bins : r->self_bins;
	double part[2] = { 0 }, whole[2] = { 0 };

	for (uint32_t age = 0; age < FZ_LIVE_BINS; age++) {
		part[age >= LATELY] += bin_value(bins, r->bin, m->bin, age);
		whole[age >= LATELY] += bin_value(s->bins, s->bin, m->bin, age);
	}
	if (whole[0] <= 0 || whole[1] <= 0)
		return 0;
	return part[0] / whole[0] - part[1] / whole[1];
}

/* ---- rows in order ---- */

static bool matches(const struct fz_live_model *m, uint32_t function, const char *wanted)
{
	const struct fz_function *fn = &m->mirror->functions[function];
	struct fz_str name = fz_profile_text(m->mirror, fn->name);
	struct fz_str file = fz_profile_text(m->mirror, fn->file);
	fz_auto(fz_free_ptr) char *text =
		fz_asprintf("%.*s %.*s", (int)name.n, name.p, (int)file.n, file.p);

	return strcasestr(text, wanted) != NULL;
}

struct order {
	const struct fz_live_model *m;
	const struct fz_live_query *q;
};

static double sort_value(const struct order *o, const struct fz_live_row *r)
{
	bool total = o->q->by_total;
	struct fz_live_shares since = fz_live_since(o->m, r), before;

	switch (o->q->sort) {
	case FZ_LIVE_SORT_TOTAL:
		return since.total;
	case FZ_LIVE_SORT_TREND:
		return fabs(fz_live_trend(o->m, r, total));
	case FZ_LIVE_SORT_CHANGE:
		before = fz_live_before(o->m, r);
		return fabs(total ? since.total - before.total : since.self - before.self);
	case FZ_LIVE_SORT_SELF:
	case FZ_LIVE_SORT_NAME:
	case FZ_LIVE_SORTS:
		break;
	}
	return since.self;
}

static int by_order(const void *a, const void *b, void *arg)
{
	const struct fz_live_row *x = *(const struct fz_live_row *const *)a;
	const struct fz_live_row *y = *(const struct fz_live_row *const *)b;
	const struct order *o = arg;
	const struct fz_profile *p = o->m->mirror;

	if (o->q->sort != FZ_LIVE_SORT_NAME) {
		double vx = sort_value(o, x), vy = sort_value(o, y);
		int c = FZ_CMP(vy, vx) ?: FZ_CMP(y->now.self, x->now.self) ?:
			FZ_CMP(y->now.total, x->now.total);
		if (c)
			return c;
	}
	return fz_str_cmp(fz_profile_text(p, p->functions[x->function].name),
			  fz_profile_text(p, p->functions[y->function].name))
		       ?: FZ_CMP(x->function, y->function);
}

uint32_t fz_live_rows(const struct fz_live_model *m, const struct fz_live_query *q,
		      const struct fz_live_row ***ret)
{
	const struct fz_live_scope *s = &m->scopes[q->scope];
	fz_auto(fz_free_ptr) char *wanted = fz_strndup(q->filter.p, q->filter.n);
	const struct fz_live_row **rows = fz_calloc(s->row_n + 1, sizeof(*rows));
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->row_n; i++) {
		const struct fz_live_row *r = &m->rows[s->rows[i]];
		if (r->now.total > 0 && (!*wanted || matches(m, r->function, wanted)))
			rows[n++] = r;
	}
	struct order order = { m, q };
	qsort_r(rows, n, sizeof(*rows), by_order, &order);
	*ret = rows;
	return n;
}
