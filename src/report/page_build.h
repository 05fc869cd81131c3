/* SPDX-License-Identifier: MIT */
/* Converting a profile or a diff to the data of a page (page.h). */
#pragma once

#include "base/error.h"
#include "report/page.h"

enum fz_page_use { FZ_PAGE_VIEWER, FZ_PAGE_PICTURE };

/* metric: index in the profile, or FZ_NONE for its default. */
int fz_page_of_profile(struct fz_page *page, const struct fz_profile *p, uint32_t metric,
		       bool inverted, enum fz_page_use use, struct fz_error *err);
void fz_page_of_diff(struct fz_page *page, const struct fz_diff *d, enum fz_page_use use);
void fz_page_release(struct fz_page *page);
