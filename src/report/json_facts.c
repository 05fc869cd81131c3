/* SPDX-License-Identifier: MIT */
/* Recording facts in JSON reports; docs/diff-json.md describes them. */
#include "report/json_facts.h"

#include "profile/callgraph.h"
#include "profile/processes.h"
#include "profile/runs.h"

#include <math.h>
#include <stdio.h>

static void write_features(struct fz_json *j, unsigned features)
{
	static const char *const names[] = { "all_threads",   "native",       "gc",
					     "opcodes",       "blocking",     "tasks",
					     "waiting_tasks", "waits",        "all_processes",
					     "growth",        "sampled_waits" };

	fz_json_kopen(j, "features", '[');
	for (unsigned i = 0; i < FZ_ARRAY_LEN(names); i++)
		if (features >> i & 1)
			fz_json_str(j, fz_str_of(names[i]));
	fz_json_close(j, ']');
}

static void write_quality(struct fz_json *j, const struct fz_quality *q)
{
	fz_json_kopen(j, "quality", '{');
	fz_json_kint(j, "taken", (int64_t)q->taken);
	fz_json_kint(j, "retried", (int64_t)q->retried);
	fz_json_kopen(j, "rejected", '{');
	for (size_t i = 0; i < FZ_REJECTS; i++)
		fz_json_kint(j, fz_reject_names[i], (int64_t)q->rejected[i]);
	fz_json_close(j, '}');
	fz_json_kint(j, "missed", (int64_t)q->missed);
	fz_json_kint(j, "longest_gap_ns", q->longest_gap_ns);
	fz_json_close(j, '}');
}

static void write_rate(struct fz_json *j, const char *key, double rate)
{
	if (isfinite(rate))
		fz_json_kdouble(j, key, rate);
}

static int compare_facts(const void *pa, const void *pb, void *arg)
{
	const struct fz_profile *p = arg;
	const struct fz_fact *a = pa, *b = pb;

	return fz_str_cmp(p->strings[a->key], p->strings[b->key]);
}

/* Is the fact also a field? It would then be written twice. */
static bool is_field(struct fz_str key)
{
	static const char *const fields[] = {
		"mode",           "features",    "interval_ns",     "duration_ns",
		"python_version", "complete",    "reconstructed",   "error_rate",
		"missed_rate",    "achieved_hz", "quality",         "dropped_bytes",
		"skipped_lines",  "runs",        "failed_runs",     "waited_pct",
		"others_pct",     "stolen_pct",  "totals_recorded",
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(fields); i++)
		if (fz_str_eq(key, fz_str_of(fields[i])))
			return true;
	return false;
}

void fz_report_json_counts(struct fz_json *j, const struct fz_profile *p, uint64_t samples)
{
	bool has_samples = strcmp(fz_profile_counted(p), "sample") == 0;

	if (!p->recording.reconstructed) {
		fz_json_kint(j, "samples", (int64_t)samples);
		return;
	}
	fz_json_kint(j, "samples", has_samples ? (int64_t)fz_profile_count(p) : 0);
	if (!has_samples)
		fz_json_kint(j, "calls", (int64_t)fz_profile_count(p));
}

/* Write the recorder's named facts, in order of their keys. */
static void write_named_facts(struct fz_json *j, const struct fz_profile *p)
{
	fz_auto(fz_free_ptr) struct fz_fact *facts = fz_calloc(p->fact_count, sizeof(*facts));

	if (p->fact_count) {
		memcpy(facts, p->facts, p->fact_count * sizeof(*facts));
		qsort_r(facts, p->fact_count, sizeof(*facts), compare_facts, (void *)p);
	}
	for (uint32_t i = 0; i < p->fact_count; i++) {
		struct fz_str key = p->strings[facts[i].key];
		if (!is_field(key) && !fz_is_process_fact(key))
			fz_json_kstr(j, key.p, p->strings[facts[i].value]);
	}
}

static void write_runs(struct fz_json *j, const struct fz_profile *p)
{
	const struct fz_busy busy = fz_profile_busy(p);
	const struct fz_run *first;
	uint32_t failed = fz_profile_failed_runs(p, &first);

	fz_json_kint(j, "runs", FZ_MAX(p->run_count, 1));
	if (failed)
		fz_json_kint(j, "failed_runs", failed);
	write_rate(j, "waited_pct", 100 * busy.waited);
	write_rate(j, "others_pct", 100 * busy.others);
	write_rate(j, "stolen_pct", 100 * busy.stolen);
}

void fz_report_json_facts(struct fz_json *j, const struct fz_profile *p)
{
	const struct fz_recording *r = &p->recording;
	char version[32];

	fz_json_kopen(j, "facts", '{');
	write_named_facts(j, p);
	if (r->mode)
		fz_json_kstr(j, "mode", fz_str_of(fz_mode_names[r->mode]));
	if (r->features_known)
		write_features(j, r->features);
	if (r->interval_ns > 0)
		fz_json_kint(j, "interval_ns", r->interval_ns);
	if (r->duration_ns > 0)
		fz_json_kint(j, "duration_ns", r->duration_ns);
	if (r->python[0]) {
		snprintf(version, sizeof(version), "%d.%d.%d", r->python[0], r->python[1],
			 r->python[2]);
		fz_json_kstr(j, "python_version", fz_str_of(version));
	}
	fz_json_kbool(j, "complete", r->complete);
	fz_json_kbool(j, "reconstructed", r->reconstructed);
	if (r->reconstructed)
		fz_json_kbool(j, "totals_recorded", fz_callgraph_states(p, p->default_metric));
	write_rate(j, "error_rate", r->error_rate);
	write_rate(j, "missed_rate", r->missed_rate);
	write_rate(j, "achieved_hz", r->achieved_hz);
	if (p->quality.known)
		write_quality(j, &p->quality);
	if (p->quality.dropped_bytes)
		fz_json_kint(j, "dropped_bytes", (int64_t)p->quality.dropped_bytes);
	if (p->skipped_lines)
		fz_json_kint(j, "skipped_lines", p->skipped_lines);
	write_runs(j, p);
	fz_json_close(j, '}');
}
