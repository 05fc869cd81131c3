/* SPDX-License-Identifier: MIT */
/* Facts that are stored with a recording: what ran, where, on which machine. */
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
/* The name of a running process: for Python its script or module, otherwise its executable; "" if
 * it has no command line. */
void fz_facts_program(pid_t pid, char *out, size_t size);
/* Program, arguments, folder, Python version and build id of a process. Facts that are already set
 * (by an earlier process of the same command) stay. info: NULL if it is not Python. */
void fz_facts_process(struct fz_profile *p, pid_t pid, const struct fz_python_info *info);
/* The same for a program that has ended, from its command line alone. folder: where it ran; NULL:
 * here. */
void fz_facts_words(struct fz_profile *p, char *const argv[], const char *folder);
/* The command line of a process, quoted for a shell; "" if there is none. The caller frees. */
char *fz_facts_command_of(pid_t pid);
/* What a Python command line runs: a script, a module, a text, or only the interpreter. */
struct fz_facts_runnable {
	const char *script, *module, *text; /* one of them or none, pieces of argv */
};
struct fz_facts_runnable fz_facts_runnable_of(char *const argv[]);
/* The words of a process, ended by NULL; pieces of *ret_text. The caller frees both. */
char **fz_facts_words_of(pid_t pid, char **ret_text);
/* The GNU build id of an ELF file as hexadecimal digits; false if it has none. */
enum { FZ_BUILD_ID_SIZE = 2 * 64 + 1 };
bool fz_facts_build_id(int fd, char out[FZ_BUILD_ID_SIZE]);
/* One of several processes: its number, its parent's and its command. */
void fz_facts_member(struct fz_profile *p, pid_t pid, pid_t parent);
