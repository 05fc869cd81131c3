/* SPDX-License-Identifier: MIT */
/* The viewers as HTML documents, made from web/ by tools/embed at build time. */
#pragma once

#include "base/io.h"

extern const char fz_viewer_html[];  /* flame graphs, tables: web/index.html */
extern const char fz_history_page[]; /* charts across commits: web/history.html */
extern const char fz_fleet_page[];   /* a server's services: web/fleet.html */
extern const char fz_service_page[]; /* one service over time: web/service.html */
extern const char fz_gate_html[];    /* benchmarks of a gate: web/gate.html */

/* Write a document, calling `fill` at each mark <!--fz:NAME-->. */
void fz_viewer_fill(const char *html, void (*fill)(void *arg, struct fz_str name), void *arg,
		    struct fz_output *out);
