/* SPDX-License-Identifier: MIT */
/* The table of known programs; see known.h. */
#include "agent/known.h"

#include "record/procstat.h"

struct fz_agent_known *fz_agent_memory_find_or_add(struct fz_agent_memory *m, pid_t pid,
						   enum fz_met met, uint64_t window)
{
	struct fz_agent_program p;

	fz_agent_program_read(pid, met, &p);
	uint64_t key = fz_agent_program_key(&p);
	uint32_t *slot = fz_map_slot(&m->by_key, key);
	if (*slot != FZ_NONE) {
		fz_agent_program_release(&p);
		m->list[*slot]->seen = window;
		return m->list[*slot];
	}
	struct fz_agent_known *known = fz_calloc(1, sizeof(*known));
	known->key = key;
	known->program = p;
	known->seen = window;
	fz_grow(m->list, m->n, m->cap);
	*slot = (uint32_t)m->n;
	return m->list[m->n++] = known;
}

static bool has_ended(const struct fz_agent_program *p)
{
	struct fz_procstat stat;

	return p->met == FZ_MET_PROGRAM &&
	       (!fz_procstat_read(p->pid, 0, &stat) || stat.start_time != p->start_ticks);
}

static void free_known(struct fz_agent_known *k)
{
	fz_agent_program_release(&k->program);
	free(k);
}

void fz_agent_forget(struct fz_agent_memory *m, uint64_t window)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->n; i++) {
		if (m->list[i]->seen < window && has_ended(&m->list[i]->program))
			free_known(m->list[i]);
		else
			m->list[kept++] = m->list[i];
	}
	m->n = kept;
	fz_map_clear(&m->by_key);
	for (size_t i = 0; i < m->n; i++)
		fz_map_put(&m->by_key, m->list[i]->key, (uint32_t)i);
}

void fz_agent_memory_release(struct fz_agent_memory *m)
{
	while (m->n)
		free_known(m->list[--m->n]);
	free(m->list);
	fz_map_release(&m->by_key);
	*m = (struct fz_agent_memory){ 0 };
}

void fz_agent_name_all(const struct fz_agent_naming *naming, struct fz_agent_known *const *list,
		       size_t n)
{
	struct fz_agent_wanted *wanted = fz_calloc(FZ_MAX(n, 1), sizeof(*wanted));
	struct fz_agent_container *in = fz_calloc(FZ_MAX(n, 1), sizeof(*in));
	struct fz_agent_known **of = fz_calloc(FZ_MAX(n, 1), sizeof(*of));
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		struct fz_agent_known *k = list[i];
		if (k->named)
			continue;
		fz_agent_container_of(naming->containers, k->program.cgroup, &in[count]);
		wanted[count] = (struct fz_agent_wanted){ .program = &k->program,
							  .label = in[count].version };
		fz_agent_service_of(&naming->rules, &naming->order, &k->program, &in[count],
				    k->service, &wanted[count].rule);
		of[count++] = k;
	}
	fz_agent_versions_find(naming->versions, wanted, count);
	for (size_t i = 0; i < count; i++) {
		memcpy(of[i]->version, wanted[i].version, sizeof(of[i]->version));
		of[i]->named = true;
		fz_agent_container_release(&in[i]);
	}
	free(wanted);
	free(in);
	free(of);
}
