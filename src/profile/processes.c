/* SPDX-License-Identifier: MIT */
/* Finds the processes of a recording from its threads and facts. */
#include "profile/processes.h"

#include <stdio.h>

static const char prefix[] = "process.", owner_prefix[] = "owner.";

static char *fact_key(const char *before, uint64_t pid, char *out, size_t size)
{
	snprintf(out, size, "%s%llu", before, (unsigned long long)pid);
	return out;
}

void fz_profile_set_process(struct fz_profile *p, uint64_t pid, uint64_t parent,
			    struct fz_str command)
{
	char key[40];
	fz_auto(fz_free_ptr) char *value = fz_asprintf("%llu %.*s", (unsigned long long)parent,
						       (int)FZ_MIN(command.n, 65536), command.p);

	fz_profile_set_fact(p, fact_key(prefix, pid, key, sizeof(key)), fz_str_of(value));
}

void fz_profile_set_owner(struct fz_profile *p, uint64_t pid, struct fz_str user,
			  struct fz_str cgroup)
{
	char key[40];
	fz_auto(fz_free_ptr) char *value =
		fz_asprintf("%.*s %.*s", (int)user.n, user.p, (int)cgroup.n, cgroup.p);

	fz_profile_set_fact(p, fact_key(owner_prefix, pid, key, sizeof(key)), fz_str_of(value));
}

static bool has_prefix(struct fz_str s, const char *with)
{
	return fz_str_starts(s, with) && s.n > strlen(with);
}

bool fz_is_process_fact(struct fz_str key)
{
	return has_prefix(key, prefix) || has_prefix(key, owner_prefix);
}

static struct fz_str word_at(struct fz_str s, size_t at)
{
	const char *blank = memchr(s.p + at, ' ', s.n - at);

	return (struct fz_str){ s.p + at, blank ? (size_t)(blank - s.p) - at : s.n - at };
}

/* app.py for "python3 -X dev dir/app.py x", pip for "python3 -m pip". */
struct fz_str fz_process_name(struct fz_str command)
{
	struct fz_str program = fz_path_base(word_at(command, 0));
	struct fz_str word = word_at(command, 0);

	if (program.n < 6 || memcmp(program.p, "python", 6) != 0)
		return program;
	for (size_t at = word.n + 1; at < command.n; at += word.n + 1) {
		struct fz_str before = word;
		word = word_at(command, at);
		if (fz_str_eq(before, FZ_STR("-m")))
			return word;
		if (fz_str_eq(word, FZ_STR("-c")))
			break;
		bool is_value = fz_str_eq(before, FZ_STR("-X")) || fz_str_eq(before, FZ_STR("-W"));
		if (word.n && word.p[0] != '-' && !is_value)
			return fz_path_base(word);
	}
	return program;
}

static void describe(const struct fz_profile *p, struct fz_profile_process *process)
{
	char key[40];
	struct fz_str value = fz_profile_fact(p, fact_key(prefix, process->pid, key, sizeof(key)));
	struct fz_str parent = word_at(value, 0);

	fz_parse_u64(parent, UINT64_MAX, &process->parent);
	if (parent.n < value.n)
		process->command =
			(struct fz_str){ value.p + parent.n + 1, value.n - parent.n - 1 };
	process->name = fz_process_name(process->command);
	struct fz_str owner =
		fz_profile_fact(p, fact_key(owner_prefix, process->pid, key, sizeof(key)));
	process->user = word_at(owner, 0);
	process->cgroup = FZ_STR("");
	if (process->user.n < owner.n)
		process->cgroup = (struct fz_str){ owner.p + process->user.n + 1,
						   owner.n - process->user.n - 1 };
}

static void add_samples(const struct fz_profile *p, struct fz_processes *ps)
{
	for (size_t row = 0; row < p->samples.n; row++) {
		struct fz_profile_process *process =
			&ps->list[ps->of_thread[p->samples.thread[row]]];

		/* Like totals, this leaves out samples without a stack. */
		if (p->samples.stack[row] == FZ_NONE)
			continue;
		process->samples += fz_sample_count_in(p, p->default_metric, row);
		if (p->metric_count)
			process->cost += fz_sample_weight(p, p->default_metric, row);
	}
}

struct fz_processes fz_profile_processes(const struct fz_profile *p)
{
	fz_auto(fz_map_release) struct fz_map by_pid = { 0 };
	struct fz_processes ps = { 0 };
	size_t cap = 0, n = 0;

	ps.of_thread = fz_calloc(FZ_MAX(p->thread_count, 1), sizeof(*ps.of_thread));
	for (uint32_t i = 0; i < p->thread_count; i++) {
		uint32_t *slot = fz_map_slot(&by_pid, p->threads[i].pid);
		if (*slot == FZ_NONE) {
			*slot = (uint32_t)n;
			fz_grow(ps.list, n, cap);
			ps.list[n] = (struct fz_profile_process){ .pid = p->threads[i].pid,
								  .command = FZ_STR("") };
			describe(p, &ps.list[n++]);
		}
		ps.list[*slot].threads++;
		ps.of_thread[i] = *slot;
	}
	ps.n = (uint32_t)n;
	add_samples(p, &ps);
	return ps;
}

uint32_t fz_processes_sampled(const struct fz_processes *ps)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ps->n; i++)
		n += ps->list[i].samples > 0;
	return n;
}

void fz_processes_release(struct fz_processes *ps)
{
	free(ps->list);
	free(ps->of_thread);
	*ps = (struct fz_processes){ 0 };
}

bool fz_process_is_named(const struct fz_profile_process *p, struct fz_str word)
{
	uint64_t pid;

	if (fz_parse_u64(word, UINT64_MAX, &pid))
		return pid == p->pid;
	if (word.n && (fz_str_eq(word, p->user) || fz_str_eq(word, p->cgroup)))
		return true;
	return word.n && memmem(p->command.p, p->command.n, word.p, word.n) != NULL;
}

char *fz_process_label(const struct fz_profile_process *p)
{
	struct fz_str name = p->name.n ? p->name : FZ_STR("process");

	return fz_asprintf("%.*s %llu", (int)FZ_MIN(name.n, 4096), name.p,
			   (unsigned long long)p->pid);
}
