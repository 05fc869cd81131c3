/* SPDX-License-Identifier: MIT */
/* Activity over time; see activity.h. A sample stands for the time before it, so its weight is
 * spread over the slots that this time lies in: a stall fills its slots, and no slot has more CPUs
 * in use than threads were seen on one.
 *
 *   time       0        1        2        3
 *   slots      |   0    |   1    |   2    |
 *   sample         <------------- t         weight 1.5: 0.5 to slot 0, 1 to slot 1
 */
#include "report/activity.h"

#include "profile/states.h"

/* With fewer samples, slots would mostly show noise. */
enum { SAMPLES_A_SLOT = 4, SLOTS_MIN = 10, COLUMNS_MIN = 80 };

/* Metric to spread: CPU time, else wall time on a CPU. FZ_NONE if neither is known. */
static uint32_t find_weights(const struct fz_profile *p, bool *ret_on_cpu)
{
	uint32_t cpu = fz_profile_find_metric(p, FZ_STR("cpu"));
	uint32_t wall = fz_profile_find_metric(p, FZ_STR("wall"));
	fz_auto(fz_free_ptr) struct fz_states *states = fz_profile_states(p);
	const struct fz_states *all = &states[p->thread_count];
	uint32_t metric = cpu != FZ_NONE ? cpu : wall;
	/* Other recorders store nominal intervals, which may add up to more than the real time. */
	bool timed =
		fz_profile_is_ours(p) && p->samples.timed && p->run_count <= 1 && !p->per_round;

	*ret_on_cpu = cpu == FZ_NONE;
	if (!timed || metric == FZ_NONE || strcmp(p->metrics[metric].unit, "ns") != 0)
		return FZ_NONE;
	return cpu == FZ_NONE && (!all->cpu || all->cpu_unknown) ? FZ_NONE : metric;
}

static void spread(double from, double to, double slot, uint32_t n, double *cpus)
{
	uint32_t first = (uint32_t)FZ_MIN(from / slot, n - 1);

	for (uint32_t i = first; i < n && (double)i * slot < to; i++)
		cpus[i] += (FZ_MIN(to, (double)(i + 1) * slot) - FZ_MAX(from, (double)i * slot)) /
			   slot;
}

/* Time of the last sample, in ns since the run began. */
static int64_t find_end(const struct fz_profile *p)
{
	int64_t end = 0;

	for (size_t row = 0; row < p->samples.n; row++)
		end = FZ_MAX(end, p->samples.time[row]);
	return end;
}

bool fz_report_activity(const struct fz_profile *p, uint32_t n, double *ret_cpus,
			int64_t *ret_duration_ns)
{
	bool on_cpu;
	uint32_t metric = find_weights(p, &on_cpu);

	if (metric == FZ_NONE || fz_profile_sample_total(p) / SAMPLES_A_SLOT < n)
		return false;
	int64_t end = find_end(p);
	if (end <= 0)
		return false;
	memset(ret_cpus, 0, n * sizeof(*ret_cpus));
	for (size_t row = 0; row < p->samples.n; row++) {
		double to = (double)p->samples.time[row];
		double weight = (double)fz_sample_weight(p, metric, row);
		bool counts = !on_cpu || p->samples.status[row] & FZ_STATUS_ON_CPU;
		if (counts && weight > 0 && to > 0)
			spread(FZ_MAX(to - weight, 0), to, (double)end / n, n, ret_cpus);
	}
	*ret_duration_ns = end;
	return true;
}

static void add_bar(double part, bool ascii, struct fz_buf *out)
{
	static const char *const bars[2][9] = {
		{ " ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587",
		  "\u2588" },
		{ " ", ".", ":", "-", "=", "+", "*", "#", "@" },
	};
	/* a small part must still be visible */
	int height = part > 0 ? FZ_MAX(1, (int)(part * 8 + 0.5)) : 0;

	fz_buf_str(out, bars[ascii][FZ_MIN(height, 8)]);
}

void fz_report_activity_text(const struct fz_profile *p, const struct fz_style *style,
			     struct fz_buf *out)
{
	uint64_t room = fz_profile_sample_total(p) / SAMPLES_A_SLOT;
	uint32_t n = (uint32_t)FZ_MIN(FZ_MIN(room, FZ_ACTIVITY_SLOTS), style->columns / 2);
	double cpus[FZ_ACTIVITY_SLOTS], top = 1;
	char time[FZ_NUMBER_SIZE], count[FZ_NUMBER_SIZE];
	int64_t duration;

	if (!style->terminal || style->columns < COLUMNS_MIN || n < SLOTS_MIN ||
	    !fz_report_activity(p, n, cpus, &duration))
		return;
	for (uint32_t i = 0; i < n; i++)
		top = FZ_MAX(top, cpus[i]);
	fz_buf_str(out, "CPU use: ");
	for (uint32_t i = 0; i < n; i++)
		add_bar(cpus[i] / top, style->ascii, out);
	fz_buf_printf(out, " in %s", fz_format_ns((double)duration, time));
	if (top > 1.05)
		fz_buf_printf(out, ", up to %s CPUs", fz_format_decimal(top, 1, count));
	fz_buf_str(out, ".\n");
}
