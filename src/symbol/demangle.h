/* SPDX-License-Identifier: MIT */
/* Names as a programmer writes them, of what compilers put into symbol tables. */
#pragma once

/* C++, Rust and Cython names without parameters and hashes; the marks of compilers' copies of
 * functions
 * (".cold", ".constprop.0", ...) and symbol versions are cut off. The caller frees. */
char *fz_demangle(const char *symbol);
/* The Python name of a function that Cython made ("cmod.Thing.method"), which the caller frees;
 * NULL: it is none. */
char *fz_demangle_cython(const char *symbol);
