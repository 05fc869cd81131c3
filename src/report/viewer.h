/* SPDX-License-Identifier: MIT */
/* The viewer as one HTML document, made from web/ by tools/embed at build time. */
#pragma once

extern const char fz_viewer_html[];
