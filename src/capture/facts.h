/* SPDX-License-Identifier: MIT */
/* Facts that travel with a recording: what ran, where, on what. */
#pragma once

#include <sys/types.h>

#include "capture/python/python.h"
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
/* One of several processes: its number, its parent's and its command. */
void fz_facts_member(struct fz_profile *p, pid_t pid, pid_t parent);
