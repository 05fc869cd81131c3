/* SPDX-License-Identifier: MIT */
/* The functions of a profile or a diff as rows of fields: `functions` of the JSON, and the CSV
 * report. */
#pragma once

#include "base/fields.h"
#include "compare/judge.h"
#include "profile/tree.h"

/* Names of the fields of a verdict. */
struct fz_judged_keys {
	const char *verdict, *p, *low, *high, *confidence;
};
extern const struct fz_judged_keys fz_judged_self_keys, fz_judged_total_keys;

/* Fields that nodes of trees have, too. */
void fz_fields_name(struct fz_fields *f, struct fz_str name, struct fz_str file, int32_t line);
void fz_fields_cost(struct fz_fields *f, const struct fz_diff *d, const struct fz_diff_cost *c);
void fz_fields_judged(struct fz_fields *f, const struct fz_judged_keys *keys,
		      const struct fz_judged *v);

/* Rows of the first `most` functions, by descending total (of a diff: of the larger side). */
void fz_function_rows_diff(struct fz_fields *f, const struct fz_diff *d,
			   const struct fz_judgement *verdicts, uint32_t most);
void fz_function_rows_profile(struct fz_fields *f, const struct fz_tree *t, const int32_t *lines,
			      uint32_t most);

/* The same as CSV, with a line of titles. */
void fz_report_csv_diff(const struct fz_diff *d, const struct fz_judgement *verdicts, uint32_t most,
			struct fz_output *out);
void fz_report_csv_profile(const struct fz_profile *p, uint32_t most, struct fz_output *out);
