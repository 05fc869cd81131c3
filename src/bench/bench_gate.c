/* SPDX-License-Identifier: MIT */
/* Benchmarks compared with the previous time and judged like `fizeau ci`; see benchmarks.h.
 *
 *   fizeau.ini            limits, what is ignored or accepted --.
 *   the last recording    instructions, peak, live              |--> a verdict by each metric
 *   this one              of the benchmarks that it has       --'
 *
 * One recording per side provides no floors, so limits are thresholds; and nothing is timed, so no
 * clock confirms a change.
 */
#include "bench/benchmarks.h"

#include "git/worktree.h"

const char *const fz_bench_metrics[] = { "instructions", "peak", "live", NULL };

static bool has(const struct fz_profile *p, const char *metric)
{
	return fz_profile_find_metric(p, fz_str_of(metric)) != FZ_NONE;
}

static void choose_metrics(struct fz_ci_metric_list *m, const struct fz_profile *base,
			   const struct fz_profile *head)
{
	for (size_t i = 0; fz_bench_metrics[i]; i++)
		if (has(base, fz_bench_metrics[i]) && has(head, fz_bench_metrics[i]))
			m->list[m->n++] = fz_ci_metric(fz_str_of(fz_bench_metrics[i]));
}

static int load_config(struct fz_ci_config *c, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *here = realpath(".", NULL);
	fz_auto(fz_free_ptr) char *top = here ? fz_checkout_top(here) : NULL;
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/fizeau.ini", top ? top : ".");

	fz_ci_config_init(c);
	return fz_ci_config_load(c, path, false, err);
}

/* Drop benchmarks that only the base has: they were filtered out or removed. */
static void forget_gone(struct fz_ci_result *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		if (r->benches[i].on_side[FZ_HEAD])
			r->benches[n++] = r->benches[i];
	r->n = n;
}

/* Changes accepted for a commit do not apply, since no commits are compared. */
static bool no_part(void *arg, const char *commit)
{
	(void)arg;
	(void)commit;
	return false;
}

int fz_bench_gate_judge(struct fz_bench_gate *g, const struct fz_profile *base,
			const struct fz_profile *head, struct fz_error *err)
{
	char today[FZ_CI_DAY_SIZE];
	struct fz_ci_rules rules = { .config = &g->config, .today = today, .is_part = no_part };

	*g = (struct fz_bench_gate){ .result = FZ_CI_RESULT_INIT };
	int rc = load_config(&g->config, err);
	fz_ci_today(today);
	choose_metrics(&g->result.metrics, base, head);
	if (!rc)
		rc = fz_ci_collect(&g->result, FZ_BASE, base, "", err);
	if (!rc)
		rc = fz_ci_collect(&g->result, FZ_HEAD, head, "", err);
	if (rc)
		return rc;
	forget_gone(&g->result);
	fz_ci_suspect(&g->result, &rules);
	fz_ci_judge(&g->result, &rules);
	return 0;
}

void fz_bench_gate_release(struct fz_bench_gate *g)
{
	fz_ci_release(&g->result);
	fz_ci_config_release(&g->config);
}
