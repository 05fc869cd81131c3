/* SPDX-License-Identifier: MIT */
/* Limits the number of names in a shard. They are queried at the first push of a project and
 * counted here from then on. Limits per shard also stop names that differ from push to push. */
#include "fleet/clickhouse_put.h"

enum kind { SERVICE, VERSION, LABELS, HOST, KINDS };

static const struct {
	uint32_t most;
	const char *what;
	bool of_service; /* else of a project */
	const char *sql; /* service and name */
} kinds[KINDS] = {
	[SERVICE] = { FZ_FLEET_SERVICES, "services", false,
		      "SELECT DISTINCT '', service FROM fizeau_cell" },
	[VERSION] = { FZ_FLEET_VERSIONS, "versions", true,
		      "SELECT DISTINCT service, version FROM fizeau_cell" },
	[LABELS] = { FZ_FLEET_LABEL_SETS, "sets of labels", true,
		     "SELECT DISTINCT service, labels FROM fizeau_cell" },
	[HOST] = { FZ_FLEET_HOSTS, "hosts", false, "SELECT DISTINCT '', host FROM fizeau_cell" },
};

/* Key of a name in the maps; name "": of the number of names. */
static uint64_t key_of(enum kind kind, const char *project, struct fz_str service,
		       struct fz_str name)
{
	const uint64_t parts[] = { kind, fz_map_hash(project, strlen(project)),
				   fz_map_hash(service.p, service.n), fz_map_hash(name.p, name.n) };

	return fz_map_hash(parts, sizeof(parts));
}

static void add(struct fz_shard *s, enum kind kind, const char *project, struct fz_str service,
		struct fz_str name)
{
	uint32_t *name_slot = fz_map_slot(&s->names, key_of(kind, project, service, name));

	if (*name_slot != FZ_NONE)
		return;
	*name_slot = 0;
	uint32_t *n = fz_map_slot(&s->counts, key_of(kind, project, service, FZ_STR("")));
	*n = *n == FZ_NONE ? 1 : *n + 1;
}

static int load(struct fz_clickhouse *c, struct fz_shard *s, enum kind kind, const char *project,
		struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf sql = { 0 };
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };

	fz_buf_str(&sql, kinds[kind].sql);
	fz_sql_format(&sql, " WHERE project = {} FORMAT RowBinary", project);
	int r = fz_shard_query(c, s, fz_buf_view(&sql), &answer, err);
	if (r)
		return r;
	struct fz_cursor row = fz_rows_of(&answer);
	while (fz_row_next(&row)) {
		struct fz_str service = fz_row_read_text(&row), name = fz_row_read_text(&row);

		if (!row.bad)
			add(s, kind, project, service, name);
	}
	return fz_clickhouse_check(c, s->place, &row, err);
}

static int load_project(struct fz_clickhouse *c, struct fz_shard *s, const char *project,
			struct fz_error *err)
{
	uint64_t key = key_of(KINDS, project, FZ_STR(""), FZ_STR(""));
	int r = 0;

	if (fz_map_get(&s->names, key) != FZ_NONE)
		return 0;
	for (enum kind kind = 0; !r && kind < KINDS; kind++)
		r = load(c, s, kind, project, err);
	if (!r)
		fz_map_put(&s->names, key, 0);
	return r;
}

static uint32_t most(const struct fz_fleet_push *push, enum kind kind)
{
	return kind == LABELS && push->of_samples ? FZ_FLEET_SAMPLE_SETS : kinds[kind].most;
}

int fz_shard_check_names(struct fz_clickhouse *c, struct fz_shard *s,
			 const struct fz_fleet_push *push, struct fz_error *err)
{
	const char *const names[KINDS] = { push->service, push->version, push->labels, push->host };
	int r = load_project(c, s, push->project, err);

	if (r)
		return r;
	for (int adding = 0; adding < 2; adding++)
		for (enum kind kind = 0; kind < KINDS; kind++) {
			struct fz_str service =
				fz_str_of(kinds[kind].of_service ? push->service : "");
			uint64_t key = key_of(kind, push->project, service, fz_str_of(names[kind]));
			uint32_t n = fz_map_get(&s->counts,
						key_of(kind, push->project, service, FZ_STR("")));

			if (adding)
				add(s, kind, push->project, service, fz_str_of(names[kind]));
			else if (fz_map_get(&s->names, key) == FZ_NONE && n != FZ_NONE &&
				 n >= most(push, kind))
				return fz_fail(err, FZ_ELIMIT,
					       "%s already has %u %s; a value that changes with "
					       "each push must not be a name",
					       kinds[kind].of_service ? push->service
								      : "the project",
					       n, kinds[kind].what);
		}
	return 0;
}
