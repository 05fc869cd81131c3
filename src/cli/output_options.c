/* SPDX-License-Identifier: MIT */
/* Callbacks of output options: each checks and stores a value. */
#include "cli/output.h"

#include "base/str.h"
#include "format/format.h"
#include "report/text.h"

/* CPython's profiler has several names for the same order, after its columns. */
static const struct {
	const char *name;
	enum fz_text_sort sort;
} sort_keys[] = {
	{ "self", FZ_TEXT_SORT_SELF },
	{ "total", FZ_TEXT_SORT_TOTAL },
	{ "name", FZ_TEXT_SORT_NAME },
	{ "nsamples", FZ_TEXT_SORT_SELF_SAMPLES },
	{ "tottime", FZ_TEXT_SORT_SELF },
	{ "sample-pct", FZ_TEXT_SORT_SELF_SAMPLES },
	{ "cumtime", FZ_TEXT_SORT_TOTAL },
	{ "cumul-pct", FZ_TEXT_SORT_TOTAL_SAMPLES },
	{ "nsamples-cumul", FZ_TEXT_SORT_TOTAL_SAMPLES },
};

void fz_cli_output_list_scales(struct fz_buf *out)
{
	for (int i = 0; fz_scale_names[i]; i++)
		fz_buf_printf(out, "%s%s", i ? " " : "", fz_scale_word((enum fz_scale_mode)i));
}

/* Accepts the names in --help and the former one, "unit". */
int fz_cli_output_set_scale(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	struct fz_cli_output *o = opt->value;
	fz_auto(fz_buf_release) struct fz_buf all = { 0 };

	for (int i = 0; fz_scale_names[i]; i++)
		if (strcmp(fz_scale_word((enum fz_scale_mode)i), text) == 0 ||
		    strcmp(fz_scale_names[i], text) == 0) {
			o->scale = i;
			return 0;
		}
	for (int i = 0; fz_scale_names[i]; i++)
		fz_buf_printf(&all, "%s%s", i ? ", " : "", fz_scale_word((enum fz_scale_mode)i));
	return fz_fail(err, FZ_EUSAGE, "--scale: '%s' is not one of %s", text, all.p);
}

void fz_cli_output_list_sorts(struct fz_buf *out)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(sort_keys); i++)
		fz_buf_printf(out, "%s%s", i ? " " : "", sort_keys[i].name);
}

void fz_cli_output_list_formats(struct fz_buf *out)
{
	fz_report_names(false, out);
	for (size_t i = 0, w = 0; i <= out->n; i++)
		if (i == out->n)
			out->n = w;
		else if (out->p[i] != ',')
			out->p[w++] = out->p[i];
	out->p[out->n] = 0;
}

int fz_cli_output_set_sort(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(sort_keys); i++) {
		if (strcmp(sort_keys[i].name, text) != 0)
			continue;
		((struct fz_cli_output *)opt->value)->sort = sort_keys[i].sort;
		((struct fz_cli_output *)opt->value)->sorted = true;
		return 0;
	}
	return fz_fail(err, FZ_EUSAGE, "--sort: '%s' is not one of self, total, name", text);
}

/* Parse a percentage: "5%" or "5". */
static int parse_percent(const char *text, double max, const struct fz_opt *opt, double *ret,
			 struct fz_error *err)
{
	struct fz_str number = fz_str_of(text);
	double percent;

	if (number.n && number.p[number.n - 1] == '%')
		number.n--;
	if (!fz_parse_decimal(number, &percent))
		return fz_fail(err, FZ_EUSAGE, "--%s: '%s' is not a percentage, such as 5%%",
			       opt->long_name, text);
	if (percent > max)
		return fz_fail(err, FZ_EUSAGE, "--%s: %s is more than %.0f%%", opt->long_name, text,
			       max);
	*ret = percent / 100;
	return 0;
}

int fz_cli_output_set_threshold(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	struct fz_cli_output *o = opt->value;

	o->gated = true;
	return parse_percent(text, 1e6, opt, &o->threshold, err);
}

int fz_cli_output_set_delta(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	double *delta = &((struct fz_cli_output *)opt->value)->delta;
	int r = parse_percent(text, 99, opt, delta, err);

	return r || *delta > 0
		       ? r
		       : fz_fail(err, FZ_EUSAGE, "--%s must be more than 0%%", opt->long_name);
}

int fz_cli_output_set_min_share(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	struct fz_cli_output *o = opt->value;

	return parse_percent(text, 100, opt, &o->min_share, err);
}

int fz_cli_output_set_work(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	struct fz_cli_output *o = opt->value;
	struct fz_str base_text = fz_str_of(text), head_text = { 0 };
	const char *colon = strchr(text, ':');
	double base, head;

	if (colon) {
		base_text.n = (size_t)(colon - text);
		head_text = fz_str_of(colon + 1);
	}
	if (!fz_parse_decimal(base_text, &base) || !fz_parse_decimal(head_text, &head) ||
	    !(base > 0 && base < 1e18) || !(head > 0 && head < 1e18))
		return fz_fail(err, FZ_EUSAGE,
			       "--work: '%s' is not two positive numbers, such as 1000:1200", text);
	o->work[FZ_BASE] = base;
	o->work[FZ_HEAD] = head;
	return 0;
}

int fz_cli_output_set_baseline(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	(void)err;
	((struct fz_cli_output *)opt->value)->baseline = text;
	((struct fz_cli_output *)opt->value)->switched = true;
	return 0;
}

static int add_rule(struct fz_cli_rules *rules, const char *text, const struct fz_opt *opt,
		    struct fz_error *err)
{
	if (rules->n == FZ_CLI_RULES_MAX)
		return fz_fail(err, FZ_EUSAGE, "--%s can be given at most %d times", opt->long_name,
			       FZ_CLI_RULES_MAX);
	rules->list[rules->n++] = text;
	return 0;
}

int fz_cli_output_add_map(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	int r = fz_diff_check_map(text, err);

	return r ? r : add_rule(&((struct fz_cli_output *)opt->value)->maps, text, opt, err);
}

int fz_cli_output_add_rename(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	int r = fz_diff_check_rename(text, err);

	return r ? r : add_rule(&((struct fz_cli_output *)opt->value)->renames, text, opt, err);
}

int fz_cli_output_add_source_root(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	struct fz_cli_output *o = opt->value;
	const char *equals = strchr(text, '=');

	if (!equals || !equals[1])
		return fz_fail(err, FZ_EUSAGE,
			       "invalid --source-root '%s': use OLD=NEW, such as "
			       "/build=/home/me/app; an empty OLD stands for relative names",
			       text);
	if (o->source_root_n == FZ_CLI_RULES_MAX)
		return fz_fail(err, FZ_EUSAGE, "--source-root can be given at most %d times",
			       FZ_CLI_RULES_MAX);
	o->source_roots[o->source_root_n++] = (struct fz_source_root){
		.from = { text, (size_t)(equals - text) },
		.to = fz_str_of(equals + 1),
	};
	return 0;
}

int fz_cli_output_add_thread(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	return add_rule(&((struct fz_cli_output *)opt->value)->threads, text, opt, err);
}
