/* SPDX-License-Identifier: MIT */
/* Files of processes; see output.h.
 *
 *   profile of all --copy, threads of one process--> profile of one --> OUTPUT, OUTPUT_PID
 */
#include "cli/output.h"

#include "profile/merge.h"
#include "profile/processes.h"

static bool to_stdout(const struct fz_cli_output *o)
{
	return o->file && strcmp(o->file, "-") == 0;
}

bool fz_cli_per_process_wanted(const struct fz_cli_output *o, const struct fz_profile *p)
{
	/* CPython's format for files without a known suffix. */
	bool pstats = o->chosen && strcmp(o->chosen->name, "pstats") == 0;

	/* A switch of our own, for which CPython has no file names. */
	bool ours = !o->chosen || !o->chosen->profile_file;

	if (!(o->switched || pstats) || ours || o->baseline || to_stdout(o))
		return false;
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);
	return ps.n > 1;
}

/* The first process that is not a child of another one. */
static uint32_t find_first(const struct fz_processes *ps)
{
	for (uint32_t i = 0; i < ps->n; i++) {
		bool is_child = false;
		for (uint32_t k = 0; k < ps->n && !is_child; k++)
			is_child = ps->list[k].pid == ps->list[i].parent;
		if (!is_child)
			return i;
	}
	return 0;
}

/* CPython's name for the file of a child: "out_PID.txt" beside "out.txt". The caller frees. */
static char *child_path(const struct fz_cli_output *o, uint64_t pid)
{
	unsigned long long number = pid;

	if (!o->path) {
		bool pstats = !o->folder && o->chosen->text_on_stdout;
		fz_auto(fz_free_ptr) char *name = fz_asprintf(
			pstats ? "profile_%llu.pstats" : o->chosen->profile_file, number);
		return o->folder ? fz_asprintf("%s/%s", o->folder, name) : fz_steal(name);
	}
	struct fz_str base = fz_path_base(fz_str_of(o->path));
	const char *dot = base.n > 1 ? memrchr(base.p + 1, '.', base.n - 1) : NULL;
	int stem = dot ? (int)(dot - o->path) : (int)strlen(o->path);
	return fz_asprintf("%.*s_%llu%s", stem, o->path, number, o->path + stem);
}

static int write_one(const struct fz_cli_output *o, const struct fz_profile *all, uint64_t pid,
		     struct fz_error *err)
{
	fz_auto(fz_profile_freep) struct fz_profile *copy = fz_profile_new();
	fz_auto(fz_free_ptr) char *process = fz_asprintf("%llu", (unsigned long long)pid);
	struct fz_cli_output one = *o;
	int r = fz_profile_merge(copy, all, err);

	one.process = process;
	return r ? r : fz_cli_output_write(&one, copy, err);
}

static int write_child(const struct fz_cli_output *o, const struct fz_profile *all, uint64_t pid,
		       struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = child_path(o, pid);
	struct fz_cli_output child = *o;

	child.path = path;
	child.file = path;
	child.browser = false;
	return write_one(&child, all, pid, err);
}

int fz_cli_per_process_write(struct fz_cli_output *o, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);
	uint32_t first = find_first(&ps);
	int r = 0;

	for (uint32_t i = 0; i < ps.n && !r; i++)
		if (i != first && ps.list[i].samples)
			r = write_child(o, p, ps.list[i].pid, err);
	if (r)
		return r;
	o->pid = ps.list[first].pid;
	return o->chosen->page ? fz_cli_output_write(o, p, err)
			       : write_one(o, p, ps.list[first].pid, err);
}
