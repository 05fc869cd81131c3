/* SPDX-License-Identifier: MIT */
/* Folding a picture's tree in the same way as web/folds.js folds the page's.
 *
 *   main                                main
 *     _find_and_load                      import json
 *       _load_unlocked                      ...
 *         <module> json/__init__.py       finding modules     all other time below such frames
 *     parse            judged             parse
 *     a, b, c          gone, not judged   not sampled again (3 paths)
 *     d, e             new, not judged    not sampled before (2 paths)
 *
 * Sums stay exact: costs of folded frames are added up.
 */
#pragma once

#include "report/page.h"

/* Fold import machinery and start-up. With noise_too, also fold paths of a judged diff that only
 * one side sampled and that are not certainly new or gone. Not for inverted trees. Cells keep the
 * old node numbers.
 */
void fz_page_fold(struct fz_page *page, bool noise_too);
