/* SPDX-License-Identifier: MIT */
/* The table of formats, and format detection. */
#include "format.h"

#include "base/clock.h"
#include "foreign.h"

const struct fz_format *const fz_formats[] = {
	&fz_format_asprof_page,
	&fz_format_bcc,
	&fz_format_bpftrace,
	&fz_format_callgrind,
	&fz_format_collapsed,
	&fz_format_cpuprofile,
	&fz_format_dhat,
	&fz_format_flamebearer,
	&fz_format_flamegraph,
	&fz_format_folded,
	&fz_format_fz,
	&fz_format_gecko,
	&fz_format_gprof,
	&fz_format_importtime,
	&fz_format_instruments,
	&fz_format_jfr,
	&fz_format_kineto,
	&fz_format_macsample,
	&fz_format_massif,
	&fz_format_mojo,
	&fz_format_otlp,
	&fz_format_perf_data,
	&fz_format_perf_script,
	&fz_format_perfetto,
	&fz_format_pprof,
	&fz_format_pprof_text,
	&fz_format_pstats,
	&fz_format_pyinstrument,
	&fz_format_pyinstrument_page,
	&fz_format_pyroscope,
	&fz_format_rprof,
	&fz_format_sentry,
	&fz_format_speedscope,
	&fz_format_stackprof,
	&fz_format_tachyon,
	&fz_format_tachyon_page,
	&fz_format_trace,
	NULL,
};

/* Large, because the keys that distinguish JSON formats may come late. */
enum { SNIFF_BYTES = 1 << 16 };

const struct fz_format *fz_format_by_name(const char *name)
{
	for (size_t i = 0; fz_formats[i]; i++)
		if (strcmp(fz_formats[i]->name, name) == 0)
			return fz_formats[i];
	return NULL;
}

static int fail_unknown(const char *name, const uint8_t *head, size_t n, struct fz_error *err)
{
	const struct fz_foreign *foreign = fz_foreign_recognise(head, n);

	if (foreign)
		return fz_fail(err, FZ_EINPUT, "%s: %s is not supported: %s", name, foreign->what,
			       foreign->remedy);
	return fz_fail(err, FZ_EINPUT,
		       "%s: not a profile in a supported format; 'fizeau replay --list-formats' "
		       "lists them",
		       name);
}

/* Some profilers write only this about a program without samples. */
static bool is_blank(struct fz_str text)
{
	while (text.n) {
		struct fz_str line = fz_str_trimmed(fz_str_take_line(&text));
		if (line.n && line.p[0] != '#')
			return false;
	}
	return true;
}

int fz_format_recognise(struct fz_input *in, const struct fz_format **ret, struct fz_error *err)
{
	const uint8_t *head;
	int64_t n = fz_input_peek(in, &head, SNIFF_BYTES, err);
	int best = 0;

	if (n < 0)
		return (int)n;
	if (n == 0)
		return fz_fail(err, FZ_EINPUT, "%s: the file is empty", fz_input_name(in));
	if (n < SNIFF_BYTES && is_blank((struct fz_str){ (const char *)head, (size_t)n }))
		return fz_fail(err, FZ_EINPUT, "%s: no samples, only comments or blank lines",
			       fz_input_name(in));
	*ret = NULL;
	for (size_t i = 0; fz_formats[i]; i++) {
		const struct fz_format *f = fz_formats[i];
		int score = f->sniff ? f->sniff(head, (size_t)n, fz_input_name(in)) : 0;
		if (score > best) {
			best = score;
			*ret = f;
		}
	}
	return *ret ? 0 : fail_unknown(fz_input_name(in), head, (size_t)n, err);
}

static struct fz_stored stored_of(const struct fz_input *in, const struct fz_format *f)
{
	struct stat st;

	if (!fz_input_stat(in, &st))
		return (struct fz_stored){ 0 };
	return (struct fz_stored){
		.known = true,
		.has_sources = f == &fz_format_fz,
		.written_unix_ns = fz_clock_ns(st.st_mtim),
		.owner = st.st_uid,
		.group = st.st_gid,
	};
}

/* Loads a profile; f == NULL: detect the format. */
static int load(struct fz_input *in, const struct fz_format *f, bool facts_only, unsigned unit,
		struct fz_profile **ret, struct fz_error *err)
{
	int r = f ? 0 : fz_format_recognise(in, &f, err);

	if (r)
		return r;
	fz_assert(f->read);
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	p->numbers.unit = (uint8_t)unit;
	p->input = in;
	r = facts_only && f->read_facts ? f->read_facts(in, p, err) : f->read(in, p, err);
	p->input = NULL;
	p->stored = stored_of(in, f);
	/* Stopping at the limit may have looked like damage. */
	int over = fz_input_check(in, err);
	if (!over && p->over_limit) {
		over = fz_profile_check(p, err);
		fz_error_prefix(err, "%s", fz_input_name(in));
	}
	if (over || r)
		return over ? over : r;
	fz_assert(p->default_metric < p->metric_count || (facts_only && f->read_facts));
	*ret = fz_steal(p);
	return 0;
}

int fz_format_load_input(struct fz_input *in, struct fz_profile **ret, struct fz_error *err)
{
	return load(in, NULL, false, 0, ret, err);
}

int fz_format_load_input_as(struct fz_input *in, const struct fz_format *f, struct fz_profile **ret,
			    struct fz_error *err)
{
	return load(in, f, false, 0, ret, err);
}

int fz_format_load_facts(const char *path, struct fz_profile **ret, struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	int r = fz_input_open(path, &in, err);

	return r ? r : load(in, NULL, true, 0, ret, err);
}

int fz_format_load_numbers(const char *path, unsigned unit, struct fz_profile **ret,
			   struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	int r = fz_input_open(path, &in, err);

	return r ? r : load(in, NULL, false, unit, ret, err);
}

int fz_format_load(const char *path, struct fz_profile **ret, struct fz_error *err)
{
	return fz_format_load_numbers(path, 0, ret, err);
}

int fz_format_save(const struct fz_profile *p, const struct fz_format *f, const char *path,
		   struct fz_error *err)
{
	fz_auto(fz_output_abortp) struct fz_output *out = NULL;
	int r = fz_output_open(path, &out, err);

	fz_assert(f->write);
	if (!r)
		r = f->write(p, out, err);
	return r ? r : fz_output_close(fz_steal(out), err);
}
