/* SPDX-License-Identifier: MIT */
/* The count is a variable of each CPU: `__preempt_count`, or from Linux 6.2 to 6.14 a member of
 * `pcpu_hot`. BTF has the offsets of all per-CPU variables, but a BPF program may refer to one by
 * name only if kallsyms includes data (CONFIG_KALLSYMS_ALL). */
#include "record/bpf/bpf.h"

#include <bpf/btf.h>
#include <string.h>

enum { UNKNOWN = -1, DEPTH_MAX = 4 };

/* Offset of a member in bytes, also inside anonymous members; UNKNOWN if not found. */
static int64_t member_at(const struct btf *btf, uint32_t type, const char *name, int depth)
{
	const struct btf_type *t = btf__type_by_id(btf, type);

	if (!t || !btf_is_composite(t) || depth == DEPTH_MAX)
		return UNKNOWN;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *its = btf__name_by_offset(btf, m->name_off);
		int64_t at = UNKNOWN;

		if (its && strcmp(its, name) == 0)
			at = 0;
		else if (!its || !*its)
			at = member_at(btf, m->type, name, depth + 1);
		if (at != UNKNOWN)
			return at + btf_member_bit_offset(t, i) / 8;
	}
	return UNKNOWN;
}

/* Offset of a per-CPU variable in its section, or UNKNOWN. ret_type: its type, or NULL. */
static int64_t variable_at(const struct btf *btf, const char *name, uint32_t *ret_type)
{
	int32_t id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	for (uint32_t i = 0; section && i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *info = &btf_var_secinfos(section)[i];
		const struct btf_type *variable = btf__type_by_id(btf, info->type);
		const char *its = variable ? btf__name_by_offset(btf, variable->name_off) : NULL;
		if (!its || strcmp(its, name) != 0)
			continue;
		if (ret_type)
			*ret_type = variable->type;
		return info->offset;
	}
	return UNKNOWN;
}

static int64_t count_at(const struct btf *btf)
{
	uint32_t type;
	int64_t at = variable_at(btf, "__preempt_count", NULL);

	if (at != UNKNOWN)
		return at;
	at = variable_at(btf, "pcpu_hot", &type);
	int64_t inside = at == UNKNOWN ? UNKNOWN : member_at(btf, type, "preempt_count", 0);
	return inside == UNKNOWN ? UNKNOWN : at + inside;
}

int32_t fz_bpf_preempt_count_at(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int64_t count, queue;

	if (!btf)
		return 0;
	count = count_at(btf);
	queue = variable_at(btf, "runqueues", NULL);
	btf__free(btf);
	return count == UNKNOWN || queue == UNKNOWN ? 0 : (int32_t)(count - queue);
}
