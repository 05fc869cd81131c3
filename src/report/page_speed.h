/* SPDX-License-Identifier: MIT */
/* The machine's speed while a side of a page was recorded. */
#pragma once

#include "base/json.h"
#include "profile/profile.h"

/* The key "speed" in the object that is open; nothing when the recording does not know. */
void fz_page_write_speed(const struct fz_profile *p, struct fz_json *j);
