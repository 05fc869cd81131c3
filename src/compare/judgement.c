/* SPDX-License-Identifier: MIT */
/* The words and the memory of a judgement. */
#include "compare/judgement.h"

const char *const fz_judge_method_names[FZ_JUDGE_METHODS] = {
	"none", "identical", "visits", "approximate", "runs", "counts"
};
const char *const fz_run_word_names[FZ_RUN_WORDS] = { "unknown", "same", "slower", "faster" };

void fz_judgement_free(struct fz_judgement *j)
{
	if (!j)
		return;
	free(j->self);
	free(j->total);
	free(j->path_self);
	free(j->path_total);
	free(j);
}

void fz_judgement_freep(struct fz_judgement **j)
{
	fz_judgement_free(*j);
}
