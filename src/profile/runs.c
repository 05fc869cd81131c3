/* SPDX-License-Identifier: MIT */
/* Properties of runs; see runs.h.
 *
 * Imbalance: all runs in order of their start have positions 0, 1, 2, ... A linear drift adds the
 * mean position to each side, so the difference of the means is added to the difference of the
 * sides. It is n / 2 if one side was recorded after the other (n is the number of all runs), and
 * about 0 for base, head, head, base.
 */
#include "profile/runs.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>

/* ---- outcomes ---- */

bool fz_run_failed(const struct fz_run *run)
{
	return run->outcome == FZ_OUTCOME_SIGNAL ||
	       (run->outcome == FZ_OUTCOME_EXIT && run->status != 0);
}

const char *fz_run_ending(const struct fz_run *run, char out[FZ_ENDING_SIZE])
{
	const char *name;

	out[0] = 0;
	switch (run->outcome) {
	case FZ_OUTCOME_EXIT:
		snprintf(out, FZ_ENDING_SIZE, "exit status %d", run->status);
		break;
	case FZ_OUTCOME_SIGNAL:
		name = sigabbrev_np(run->status);
		snprintf(out, FZ_ENDING_SIZE, "signal %d%s%s%s", run->status, name ? " (SIG" : "",
			 name ? name : "", name ? ")" : "");
		break;
	case FZ_OUTCOME_STOPPED:
		snprintf(out, FZ_ENDING_SIZE, "stopped by the recorder");
		break;
	case FZ_OUTCOME_UNKNOWN:
	case FZ_OUTCOMES:
		break;
	}
	return out;
}

bool fz_profile_unseen(const struct fz_profile *p, int64_t *unseen, uint32_t n)
{
	struct fz_str text = fz_profile_fact(p, FZ_UNSEEN_FACT);
	struct fz_str word = fz_str_take_word(&text);
	bool of_all = fz_str_eq(text, FZ_STR("us")), known = false;

	for (uint32_t run = 0; run < n; run++) {
		uint64_t us;

		unseen[run] = -1;
		if (fz_parse_u64(word, INT64_MAX / 1000, &us))
			unseen[run] = (int64_t)us * 1000;
		known |= unseen[run] >= 0;
		if (!of_all)
			word = fz_str_take_word(&text);
	}
	return known;
}

void fz_profile_set_unseen(struct fz_profile *p, int64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld us", (long long)(ns / 1000));
	fz_profile_set_fact(p, FZ_UNSEEN_FACT, fz_str_of(text));
}

/* Appends the numbers of all runs; returns whether any is known. */
static bool add_unseen(const struct fz_profile *p, struct fz_buf *out)
{
	uint32_t n = FZ_MAX(p->run_count, 1);
	fz_auto(fz_free_ptr) int64_t *unseen = fz_reallocarray(NULL, n, sizeof(*unseen));
	bool known = fz_profile_unseen(p, unseen, n);

	for (uint32_t run = 0; run < n; run++) {
		if (unseen[run] < 0)
			fz_buf_str(out, "? ");
		else
			fz_buf_printf(out, "%lld ", (long long)(unseen[run] / 1000));
	}
	return known;
}

void fz_profile_append_unseen(struct fz_profile *p, const struct fz_profile *more)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	bool known = add_unseen(p, &text);

	known |= add_unseen(more, &text);
	fz_buf_str(&text, "us");
	fz_profile_set_fact(p, FZ_UNSEEN_FACT, known ? fz_buf_view(&text) : FZ_STR(""));
}

uint32_t fz_profile_failed_runs(const struct fz_profile *p, const struct fz_run **ret_first)
{
	uint32_t failed = 0;

	*ret_first = NULL;
	for (uint32_t i = 0; i < p->run_count; i++) {
		if (!fz_run_failed(&p->runs[i]))
			continue;
		if (!failed++)
			*ret_first = &p->runs[i];
	}
	return failed;
}

void fz_profile_describe_failure(const struct fz_profile *p, const char *who, struct fz_buf *out)
{
	const struct fz_run *first;
	uint32_t failed = fz_profile_failed_runs(p, &first);
	char ending[FZ_ENDING_SIZE];

	if (!failed)
		return;
	if (p->run_count == 1)
		fz_buf_printf(out, "%s failed: %s", who, fz_run_ending(first, ending));
	else
		fz_buf_printf(out, "%u of %s's %u runs failed: %s", failed, who, p->run_count,
			      fz_run_ending(first, ending));
}

/* ---- load ---- */

static double share(double part, double all)
{
	return all > 0 ? part / all : NAN;
}

struct fz_busy fz_profile_busy(const struct fz_profile *p)
{
	const struct fz_quality *q = &p->quality;
	double ran = 0, waited = 0, worked = 0, stolen = 0, others = 0, machine = 0;

	for (uint32_t i = 0; i < p->run_count; i++) {
		const struct fz_load *l = &p->runs[i].load;
		ran += (double)l->ran_ns;
		waited += (double)l->waited_ns;
		worked += (double)l->used_ns + (double)l->others_ns;
		stolen += (double)l->stolen_ns;
		others += (double)l->others_ns;
		machine += (double)l->machine_ns;
	}
	return (struct fz_busy){
		.waited = share(waited, ran + waited),
		.stolen = share(stolen, worked + stolen),
		.others = share(others, machine),
		.missed = q->known ? share((double)q->missed, (double)q->missed + (double)q->taken)
				   : NAN,
	};
}

double fz_profile_on_disk(const struct fz_profile *p)
{
	uint32_t wall = fz_profile_find_metric(p, FZ_STR("wall"));
	uint32_t disk = fz_profile_find_metric(p, FZ_STR("disk"));
	double all = 0, waited = 0;

	if (wall == FZ_NONE || disk == FZ_NONE)
		return NAN;
	for (size_t row = 0; row < p->samples.n; row++) {
		all += (double)fz_sample_weight(p, wall, row);
		waited += (double)fz_sample_weight(p, disk, row);
	}
	return share(waited, all);
}

/* ---- order ---- */

struct begun {
	int64_t start;
	bool second;
};

static int by_start(const void *pa, const void *pb)
{
	const struct begun *a = pa, *b = pb;

	return FZ_CMP(a->start, b->start);
}

static bool add_runs(const struct fz_profile *p, bool second, struct begun *list, uint32_t *n)
{
	for (uint32_t i = 0; i < p->run_count; i++) {
		if (p->runs[i].start_unix_ns <= 0)
			return false;
		list[(*n)++] = (struct begun){ p->runs[i].start_unix_ns, second };
	}
	return p->run_count > 0;
}

double fz_runs_imbalance(const struct fz_profile *a, const struct fz_profile *b)
{
	size_t most = (size_t)a->run_count + b->run_count;
	fz_auto(fz_free_ptr) struct begun *list = fz_calloc(most, sizeof(*list));
	double sum[2] = { 0 };
	uint32_t n = 0;

	if (!add_runs(a, false, list, &n) || !add_runs(b, true, list, &n))
		return NAN;
	fz_assert(n == most);
	qsort(list, n, sizeof(*list), by_start);
	for (uint32_t i = 0; i < n; i++)
		sum[list[i].second] += i;
	return fabs(sum[1] / b->run_count - sum[0] / a->run_count) / (n / 2.0);
}

bool fz_runs_alternate(const struct fz_profile *a, const struct fz_profile *b)
{
	return !(fz_runs_imbalance(a, b) > 0.5);
}
