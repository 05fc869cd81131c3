/* SPDX-License-Identifier: MIT */
/* Imports that only moved.
 *
 * The module that imports another first bears its cost. If a different module imports it first, the
 * totals of both importers change, though no import costs more. Reports summarize such changes in
 * one line.
 */
#pragma once

#include "compare/judge.h"

struct fz_import_moves {
	bool *moved; /* by function: its total changed for this reason only; NULL: none */
	uint32_t n;
	double net; /* change of all imports together */
};

struct fz_import_moves fz_import_moves_find(const struct fz_diff *d, const struct fz_judgement *j);
