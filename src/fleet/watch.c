/* SPDX-License-Identifier: MIT */
/* Checks a release against the one before it; see watch.h. */
#include "fleet/watch.h"

#include <math.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/map.h"
#include "compare/comparison.h"
#include "fleet/fold.h"
#include "profile/fleet_fact.h"

/* A comparison, with pointers into it. */
struct check {
	struct fz_profile *profile[FZ_SIDES];
	struct fz_comparison *comparison;
	const struct fz_diff *d;      /* in the comparison */
	const struct fz_judgement *j; /* likewise */
};

static void release(struct check *c)
{
	fz_comparison_free(c->comparison);
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_profile_free(c->profile[side]);
	*c = (struct check){ 0 };
}

/* End of the next check, exclusive. */
static int64_t next_end(const struct fz_fleet_watch *w)
{
	return w->first + (w->checked ? 2 * (w->checked - w->first) : FZ_FLEET_CHECK_FIRST);
}

bool fz_fleet_check_due(const struct fz_fleet_watch *w)
{
	/* The last minute may be incomplete. */
	return w->last >= next_end(w);
}

/* Minutes of both sides: base_from <= minute of the base < base_until, likewise of the head, which
 * is not before the base. */
struct minutes {
	int64_t base_from, base_until, head_from, head_until;
	bool settled;
};

/* Compare two versions, or "1970-01-01..": all of them. */
static int compare(struct fz_fleet *f, const struct fz_fleet_watch *w, const char *base,
		   const char *head, const struct minutes *m, struct check *ret,
		   struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *before = fz_asprintf("%s@%s", w->service, base);
	fz_auto(fz_free_ptr) char *after = fz_asprintf("%s@%s", w->service, head);
	const char *const names[] = { before, after };
	struct fz_fleet_query q = { .project = w->project,
				    .labels = "",
				    .metric = w->metric,
				    .from = m->base_from,
				    .until = m->head_until,
				    .head_from = m->head_from,
				    .base_until = m->base_until,
				    .starts_from = m->settled ? w->first : 0 };

	release(ret);
	int r = fz_fleet_pair(f, &q, names, ret->profile, err);

	if (!r)
		r = fz_comparison_new(ret->profile[FZ_BASE], ret->profile[FZ_HEAD], NULL,
				      &ret->comparison, err);
	if (r)
		return r;
	ret->d = ret->comparison->diff;
	ret->j = ret->comparison->judgement;
	return 0;
}

static uint64_t key_of(const struct fz_diff_function *f)
{
	return fz_hash64(fz_map_hash(f->name.p, f->name.n)) ^ fz_map_hash(f->file.p, f->file.n);
}

/* Later minutes of the same few hosts show nothing new about how these differ from the other
 * side's. So one comparison must be as certain as two of many hosts are together. */
enum { FEW_UNITS = FZ_FLEET_HOST_PAIRS };
static const double few_units_p = 0.001;

static bool is_chance_of_hosts(const struct check *c, uint32_t function)
{
	const struct fz_profile *base = c->profile[FZ_BASE], *head = c->profile[FZ_HEAD];

	return !fz_profile_fact(head, FZ_FLEET_PAIRS_FACT).n &&
	       FZ_MIN(base->run_count, head->run_count) < FEW_UNITS &&
	       !(c->j->self[function].p < few_units_p);
}

static bool is_dearer(const struct check *c, uint32_t function)
{
	return c->j->self[function].verdict == FZ_VERDICT_CHANGED && c->j->self[function].low > 0 &&
	       !is_chance_of_hosts(c, function);
}

static void add_key(struct fz_fleet_functions *keys, const struct check *c, uint32_t function)
{
	fz_push(keys->v, keys->n, keys->cap, key_of(&c->d->functions[function]));
}

static void add_keys(struct fz_fleet_functions *keys, const struct fz_fleet_functions *more)
{
	for (uint32_t i = 0; i < more->n; i++)
		fz_push(keys->v, keys->n, keys->cap, more->v[i]);
}

static bool is_in(const struct fz_fleet_functions *keys, uint64_t key)
{
	for (uint32_t i = 0; i < keys->n; i++)
		if (keys->v[i] == key)
			return true;
	return false;
}

static double relative(const struct check *c, uint32_t function, double change)
{
	double base = c->d->factor * (double)c->d->functions[function].cost.self[FZ_BASE];

	return base > 0 ? change / base : NAN;
}

static double delta(const struct check *c, uint32_t function)
{
	const int64_t *self = c->d->functions[function].cost.self;

	return fz_diff_delta(c->d, self[FZ_BASE], self[FZ_HEAD]);
}

/* Find a function in a comparison of other minutes; NULL if neither side has it. */
static const struct fz_judged *find_key(const struct check *c, uint64_t key, uint32_t *ret)
{
	for (uint32_t i = 0; i < c->d->function_count; i++) {
		if (key_of(&c->d->functions[i]) != key)
			continue;
		*ret = i;
		return &c->j->self[i];
	}
	return NULL;
}

static bool is_confirmed(const struct check *c, uint64_t key)
{
	uint32_t function;
	const struct fz_judged *judged = find_key(c, key, &function);

	return judged && judged->low > 0;
}

/* ---- controls: comparisons that show effects of the time of day or week ---- */

/* The base in the release's own minutes, and in the same minutes a day and a week earlier; or in
 * the day before the release; then what all versions did a week earlier, and the first comparison
 * without the starts of hosts. */
enum { BESIDE, DAY, WEEK, BEFORE, PATTERN, SETTLED, CONTROLS };
enum { WEEK_MINUTES = 7 * FZ_FLEET_DAY };

/* Of the release, the minutes from head_from on. */
static struct minutes minutes_of(const struct fz_fleet_watch *w, int control, int64_t head_from)
{
	static const int64_t minutes[] = { [DAY] = FZ_FLEET_DAY, [WEEK] = WEEK_MINUTES };
	int64_t end = next_end(w);

	if (control == BEFORE)
		return (struct minutes){ w->first - FZ_FLEET_DAY, end, head_from, end };
	return (struct minutes){ head_from - minutes[control], end - minutes[control], head_from,
				 end };
}

/* ret->j stays NULL if the base did not run then, or did less than half as much. settled: without
 * the starts of the release's hosts, which may get it one after the other. */
static int compare_control(struct fz_fleet *f, const struct fz_fleet_watch *w, const char *base,
			   int control, int64_t head_from, bool settled, struct check *ret,
			   struct fz_error *err)
{
	struct minutes m = minutes_of(w, control, head_from);
	m.settled = settled;
	int r = compare(f, w, base, w->version, &m, ret, err);

	if (control == BEFORE)
		return r;
	if (r == FZ_EINPUT || r == FZ_EUSAGE)
		return 0;
	if (!r && 2 * ret->profile[FZ_BASE]->quality.taken < ret->profile[FZ_HEAD]->quality.taken)
		ret->j = NULL;
	return r;
}

/* Compares with the same minutes a week or a day earlier, which have the same pattern, else with
 * the day before. */
static int compare_all(struct fz_fleet *f, const struct fz_fleet_watch *w, const char *base,
		       struct check *ret, int *ret_used, struct fz_error *err)
{
	static const int order[] = { WEEK, DAY, BEFORE };
	int r = 0;

	for (size_t i = 0; !r && !ret->j && i < FZ_ARRAY_LEN(order); i++) {
		*ret_used = order[i];
		r = compare_control(f, w, base, order[i], w->first, false, ret, err);
	}
	return r;
}

/* First compared minute of a side. */
static int64_t first_minute(const struct check *c, enum fz_side side)
{
	const struct fz_profile *p = c->profile[side];
	int64_t first = p->runs[0].start_unix_ns;

	for (uint32_t i = 1; i < p->run_count; i++)
		first = FZ_MIN(first, p->runs[i].start_unix_ns);
	return first / FZ_MINUTE;
}

/* Compares all versions between the same two times of a week earlier, if the base is too young to
 * be compared with itself then. */
static int compare_pattern(struct fz_fleet *f, const struct fz_fleet_watch *w,
			   const struct check *all, int used, struct check *ret,
			   struct fz_error *err)
{
	static const char every[] = "1970-01-01..";
	struct minutes m = minutes_of(w, used, w->first);

	if (used == WEEK)
		return 0;
	m.base_from = first_minute(all, FZ_BASE) - WEEK_MINUTES;
	m.base_until = FZ_MIN(m.base_until, w->first) - WEEK_MINUTES;
	m.head_from -= WEEK_MINUTES;
	m.head_until -= WEEK_MINUTES;
	/* The base ran only beside the release. */
	if (m.base_from >= m.base_until)
		return 0;
	int r = compare(f, w, every, every, &m, ret, err);
	return r == FZ_EINPUT || r == FZ_EUSAGE ? 0 : r;
}

/* Compare with those controls that are not the comparison itself. */
static int compare_controls(struct fz_fleet *f, const struct fz_fleet_watch *w, const char *base,
			    const struct check *all, int used, struct check *ret,
			    struct fz_error *err)
{
	int r = compare_pattern(f, w, all, used, &ret[PATTERN], err);

	if (!r)
		r = compare_control(f, w, base, used, w->first, true, &ret[SETTLED], err);
	for (int control = BESIDE; !r && control <= WEEK; control++)
		if (control != used)
			r = compare_control(f, w, base, control, w->first, false, &ret[control],
					    err);
	return r;
}

/* Does a control show that a function costs no more than in the base? Earlier minutes come from the
 * same hosts, so each of these controls must show an increase, too. Hosts that still run the base
 * are different hosts and vary more, so they only refute an increase that exceeds their interval; a
 * few hosts cannot hide a change. The pattern of a week earlier refutes what is not twice as much,
 * because weeks differ. There must be an increase without the starts of hosts, too. */
static bool is_refuted(const struct check *controls, const struct check *c, uint32_t function)
{
	uint64_t key = key_of(&c->d->functions[function]);
	const struct check *beside = &controls[BESIDE], *pattern = &controls[PATTERN];
	double low = relative(c, function, c->j->self[function].low);
	uint32_t same;

	const struct fz_judged *judged =
		controls[SETTLED].j ? find_key(&controls[SETTLED], key, &same) : NULL;
	if (!judged || !(judged->low > 0) || is_chance_of_hosts(&controls[SETTLED], same))
		return true;
	for (int control = DAY; control <= WEEK; control++)
		if (controls[control].j && !is_confirmed(&controls[control], key))
			return true;
	judged = pattern->j ? find_key(pattern, key, &same) : NULL;
	/* Also if the function is new, now or then. */
	if (judged && judged->low > 0 && !(2 * relative(pattern, same, judged->high) < low))
		return true;
	judged = beside->j ? find_key(beside, key, &same) : NULL;
	return judged && judged->low <= 0 && relative(beside, same, judged->high) < low;
}

/* ---- alarms ---- */

static void add_function(const struct check *c, uint32_t function, struct fz_json *j)
{
	const struct fz_diff_function *f = &c->d->functions[function];
	const struct fz_judged *judged = &c->j->self[function];

	fz_json_kstr(j, "function", f->name);
	fz_json_kstr(j, "file", f->file);
	fz_json_kdouble(j, "change", relative(c, function, delta(c, function)));
	fz_json_kdouble(j, "low", relative(c, function, judged->low));
	fz_json_kdouble(j, "high", relative(c, function, judged->high));
	fz_json_kdouble(j, "share_before",
			(double)f->cost.self[FZ_BASE] / (double)c->d->total[FZ_BASE]);
	fz_json_kdouble(j, "share_after",
			(double)f->cost.self[FZ_HEAD] / (double)c->d->total[FZ_HEAD]);
}

static void add_page(const struct fz_fleet_watch *w, const char *base, struct fz_json *j)
{
	fz_auto(fz_buf_release) struct fz_buf url = { 0 };
	const char *const sides[] = { "base", base, "head", w->version };

	fz_buf_str(&url, "/diff");
	for (int i = 0; i < 4; i += 2) {
		fz_buf_printf(&url, "%c%s=", i ? '&' : '?', sides[i]);
		fz_buf_uri_part(&url, fz_str_of(w->service));
		fz_buf_char(&url, '@');
		fz_buf_uri_part(&url, fz_str_of(sides[i + 1]));
	}
	if (w->metric) {
		fz_buf_str(&url, "&metric=");
		fz_buf_uri_part(&url, fz_str_of(w->metric));
	}
	fz_json_kstr(j, "page", fz_buf_view(&url));
}

static char *describe(const struct fz_fleet_watch *w, const char *base, const struct check *c,
		      const uint32_t *found, uint32_t n, struct fz_arena *arena)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_json j;

	fz_json_init(&j, out, 0);
	fz_json_open(&j, '{');
	fz_json_kstr(&j, "project", fz_str_of(w->project));
	fz_json_kstr(&j, "service", fz_str_of(w->service));
	fz_json_kstr(&j, "base", fz_str_of(base));
	fz_json_kstr(&j, "head", fz_str_of(w->version));
	const struct fz_profile *p = c->profile[FZ_HEAD];
	fz_json_kstr(&j, "metric", fz_str_of(p->metrics[p->default_metric].name));
	add_function(c, found[0], &j);
	fz_json_kint(&j, "first_seen", first_minute(c, FZ_HEAD) * 60);
	fz_json_kint(&j, "raised", next_end(w) * 60);
	fz_json_kstr(&j, "seen", fz_profile_fact(c->profile[FZ_HEAD], FZ_FLEET_FACT));
	add_page(w, base, &j);
	fz_json_kopen(&j, "others", '[');
	for (uint32_t i = 1; i < n; i++) {
		fz_json_open(&j, '{');
		add_function(c, found[i], &j);
		fz_json_close(&j, '}');
	}
	fz_json_close(&j, ']');
	fz_json_close(&j, '}');
	struct fz_str text = fz_str_trimmed(fz_buf_view(fz_output_buffer(out)));
	return fz_arena_strndup(arena, text.p, text.n);
}

static void raise_alarm(struct fz_fleet_watch *w, const char *base, const struct check *c,
			const uint32_t *found, uint32_t n, struct fz_fleet_alarm *ret,
			struct fz_arena *arena)
{
	const struct fz_str name = c->d->functions[found[0]].name;

	*ret = (struct fz_fleet_alarm){
		.service = w->service,
		.base = fz_arena_strndup(arena, base, strlen(base)),
		.head = w->version,
		.function = fz_arena_strndup(arena, name.p, name.n),
		.text = describe(w, base, c, found, n, arena),
		.change = relative(c, found[0], delta(c, found[0])),
		.low = relative(c, found[0], c->j->self[found[0]].low),
		.high = relative(c, found[0], c->j->self[found[0]].high),
		.first_seen = first_minute(c, FZ_HEAD),
		.raised = next_end(w),
	};
	for (uint32_t i = 0; i < n; i++)
		add_key(&w->next_told, c, found[i]);
}

/* Suspects that are confirmed. later: comparison of data since the last check. */
static uint32_t confirm(const struct fz_fleet_watch *w, const struct check *c,
			const struct check *later, uint32_t *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->d->function_count; i++) {
		uint64_t key = key_of(&c->d->functions[i]);

		if (is_dearer(c, i) && is_in(&w->suspects, key) && !is_in(&w->told, key) &&
		    is_confirmed(later, key))
			ret[n++] = i;
	}
	return n;
}

/* Keeps the functions that no control refutes, the one with the largest increase first. */
static uint32_t drop_refuted(const struct check *c, const struct check *controls, uint32_t *found,
			     uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (is_refuted(controls, c, found[i]))
			continue;
		found[kept++] = found[i];
		if (delta(c, found[kept - 1]) > delta(c, found[0])) {
			uint32_t largest = found[kept - 1];

			found[kept - 1] = found[0];
			found[0] = largest;
		}
	}
	return kept;
}

static void suspect(struct fz_fleet_watch *w, const struct check *c)
{
	for (uint32_t i = 0; i < c->d->function_count; i++)
		if (is_dearer(c, i))
			add_key(&w->next_suspects, c, i);
}

/* If some hosts are missing, the wrong version may seem to be the previous one. */
static int check_missing(struct fz_fleet *f, const struct fz_fleet_watch *w, struct fz_error *err)
{
	const char *missing = fz_fleet_missing(f);

	return missing ? fz_fail(err, FZ_EAGAIN, "%s does not respond: %s@%s was not checked",
				 missing, w->service, w->version)
		       : 0;
}

int fz_fleet_check(struct fz_fleet *f, struct fz_fleet_watch *w, struct fz_fleet_alarm *ret,
		   struct fz_arena *ret_text, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf base = { 0 };
	fz_auto(release) struct check all = { 0 };
	fz_auto(release) struct check later = { 0 };
	struct check controls[CONTROLS] = { 0 };
	fz_auto(fz_free_ptr) uint32_t *found = NULL;
	uint32_t n = 0;
	int used = BEFORE;
	int r = fz_fleet_previous(f, w->project, w->service, w->version, &base, err);

	w->next_suspects.n = w->next_told.n = 0;
	/* Before the comparisons, because repeated checks should be cheap. */
	if (!r)
		r = check_missing(f, w, err);
	if (r)
		return r;
	if (base.n)
		r = compare_all(f, w, base.p, &all, &used, err);
	if (!r && base.n && w->suspects.n)
		r = compare_control(f, w, base.p, used, w->checked, true, &later, err);
	if (!r && later.j) {
		found = fz_calloc(FZ_MAX(all.d->function_count, 1), sizeof(*found));
		n = confirm(w, &all, &later, found);
	}
	/* A release without an increase needs no controls. */
	if (!r && n)
		r = compare_controls(f, w, base.p, &all, used, controls, err);
	if (!r)
		r = check_missing(f, w, err);
	n = r ? 0 : drop_refuted(&all, controls, found, n);
	for (int control = 0; control < CONTROLS; control++)
		release(&controls[control]);
	if (n)
		raise_alarm(w, base.p, &all, found, n, ret, ret_text);
	if (!r && all.j)
		suspect(w, &all);
	else
		add_keys(&w->next_suspects, &w->suspects);
	/* No data for one of the two in that time is not an error. */
	return r == FZ_EINPUT || r == FZ_EUSAGE ? 0 : r ? r : n > 0;
}

void fz_fleet_checked(struct fz_fleet_watch *w)
{
	struct fz_fleet_functions earlier = w->suspects;

	w->suspects = w->next_suspects;
	w->next_suspects = earlier;
	add_keys(&w->told, &w->next_told);
	w->checked = next_end(w);
}

void fz_fleet_watch_release(struct fz_fleet_watch *w)
{
	free(w->suspects.v);
	free(w->told.v);
	free(w->next_suspects.v);
	free(w->next_told.v);
}
