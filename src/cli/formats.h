/* SPDX-License-Identifier: MIT */
/* The table of formats for people: 'fizeau replay --list-formats' and 'fizeau help formats'. */
#pragma once

/* To standard output. Returns an exit status. */
int fz_cli_formats_print(void);
