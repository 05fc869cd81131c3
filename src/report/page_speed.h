/* SPDX-License-Identifier: MIT */
/* The machine's speed while a side of a page was recorded. */
#pragma once

#include "base/json.h"
#include "profile/profile.h"

/* Write member "speed" of the open object; nothing if the speed was not recorded. */
void fz_page_write_speed(const struct fz_profile *p, struct fz_json *j);
