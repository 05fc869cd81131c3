/* SPDX-License-Identifier: MIT */
/* Print the table of formats: 'fizeau replay --list-formats' and 'fizeau help formats'. */
#pragma once

/* Print to standard output. Returns an exit status. */
int fz_cli_formats_print(void);
