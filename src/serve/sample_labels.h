/* SPDX-License-Identifier: MIT */
/* Labels of samples: a profile is stored in parts, one for each set of labels, as if each were a
 * push with these labels. */
#pragma once

#include "fleet/fleet.h"

enum { FZ_SAMPLE_SETS = 16 }; /* of a push; the rest is stored without labels */

struct fz_sample_labels {
	uint32_t *part_of; /* of each row; NULL: all are of part 0 */
	/* Part 0 has only the labels of the push, and the recording's time. The others have those
	 * of the push and of their samples, as made by fz_fleet_labels. */
	struct fz_buf labels[1 + FZ_SAMPLE_SETS];
	uint32_t part_n;
	uint64_t samples[1 + FZ_SAMPLE_SETS];
	uint64_t lost; /* samples of part 0 with labels that are not stored */
};

void fz_sample_labels_of(const struct fz_profile *p, const char *push_labels,
			 struct fz_sample_labels *ret);
void fz_sample_labels_release(struct fz_sample_labels *l);
