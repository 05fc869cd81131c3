/* SPDX-License-Identifier: MIT */
/* Facts that travel with a recording: what ran, where, on what. */
#pragma once

#include <sys/types.h>

#include "record/python/python.h"
#include "profile/profile.h"

/* Host, kernel, processor, version of fizeau. */
void fz_facts_machine(struct fz_profile *p);
/* How busy the machine was: call at the start and at the end. */
void fz_facts_load(struct fz_profile *p, const char *key);
/* The command as typed. */
void fz_facts_command(struct fz_profile *p, char *const argv[]);
/* What a running process is called: of a Python its script or module, else its executable; "" when
 * it has none. */
void fz_facts_program(pid_t pid, char *out, size_t size);
/* info: NULL for a process that is not Python. Program, arguments, folder, Python version, build id
 * of a process. Facts that are there already (of an earlier process of the same command) stay. */
void fz_facts_process(struct fz_profile *p, pid_t pid, const struct fz_python_info *info);
/* The same of a program that has ended, as far as its words tell. folder: where it ran; NULL: here.
 */
void fz_facts_words(struct fz_profile *p, char *const argv[], const char *folder);
/* The command line of a process, quoted as a shell wants it, "" when there is none; the caller
 * frees. */
char *fz_facts_command_of(pid_t pid);
/* What a Python command line runs: a script, a module, a text, or nothing but the interpreter. */
struct fz_facts_runnable {
	const char *script, *module, *text; /* one of them or none, pieces of argv */
};
struct fz_facts_runnable fz_facts_runnable_of(char *const argv[]);
/* The words of a process, ended by NULL; pieces of *ret_text. The caller frees both. */
char **fz_facts_words_of(pid_t pid, char **ret_text);
/* The GNU build id of an ELF file as hexadecimal digits; false: it has none. */
enum { FZ_BUILD_ID_SIZE = 2 * 64 + 1 };
bool fz_facts_build_id(int fd, char out[FZ_BUILD_ID_SIZE]);
/* One of several processes: its number, its parent's and its command. */
void fz_facts_member(struct fz_profile *p, pid_t pid, pid_t parent);
