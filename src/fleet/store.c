/* SPDX-License-Identifier: MIT */
/* Opens a store; its address decides which engine it uses. */
#include "fleet/batch.h"
#include "fleet/engine.h"

static const struct fz_fleet_engine *engine_of(const char *path)
{
	bool is_url = strncmp(path, "http://", 7) == 0 || strncmp(path, "https://", 8) == 0;

	return is_url ? &fz_fleet_clickhouse : &fz_fleet_sqlite;
}

int fz_fleet_open(const char *path, enum fz_fleet_access access, struct fz_fleet **ret,
		  struct fz_error *err)
{
	const struct fz_fleet_engine *engine = engine_of(path);
	int r = engine->open(path, access, ret, err);

	if (!r)
		(*ret)->engine = engine;
	return r;
}

int fz_fleet_convert(const char *path, void (*progress)(void *arg, int percent), void *arg,
		     struct fz_error *err)
{
	const struct fz_fleet_engine *engine = engine_of(path);

	return engine->convert ? engine->convert(path, progress, arg, err) : 0;
}

void fz_fleet_close(struct fz_fleet *f)
{
	if (f)
		f->engine->close(f);
}

const char *fz_fleet_missing(struct fz_fleet *f)
{
	return f->engine->missing ? f->engine->missing(f) : NULL;
}

void fz_fleet_closep(struct fz_fleet **f)
{
	fz_fleet_close(*f);
}

void fz_fleet_put_all(struct fz_fleet *f, struct fz_fleet_item *const *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		items[i]->digest = fz_fleet_digest(items[i]->push, items[i]->batch);
	f->engine->put_all(f, items, n);
}

int fz_fleet_put(struct fz_fleet *f, const struct fz_fleet_push *push,
		 const struct fz_fleet_batch *b, enum fz_fleet_put *ret, struct fz_error *err)
{
	struct fz_fleet_item item = { .push = push, .batch = b };

	fz_fleet_put_all(f, (struct fz_fleet_item *[]){ &item }, 1);
	if (item.result)
		*err = item.err;
	else
		*ret = item.put;
	return item.result;
}

int64_t fz_fleet_forget(struct fz_fleet *f, int64_t before, struct fz_error *err)
{
	return fz_fleet_forget_between(f, before, NULL, NULL, err);
}

int64_t fz_fleet_forget_between(struct fz_fleet *f, int64_t before,
				bool (*between)(void *arg, int64_t rows), void *arg,
				struct fz_error *err)
{
	return f->engine->forget(f, before, between, arg, err);
}

bool fz_fleet_forgets_beside(const struct fz_fleet *f)
{
	return f->engine->forgets_beside;
}

int fz_fleet_raise(struct fz_fleet *f, const char *project, const struct fz_fleet_alarm *a,
		   bool *ret, struct fz_error *err)
{
	return f->engine->raise(f, project, a, ret, err);
}

int fz_fleet_alarms(struct fz_fleet *f, const char *project, const char *service, unsigned most,
		    void (*take)(void *arg, const struct fz_fleet_alarm *a), void *arg,
		    struct fz_error *err)
{
	return f->engine->alarms(f, project, service, most, take, arg, err);
}

int fz_fleet_previous(struct fz_fleet *f, const char *project, const char *service,
		      const char *version, struct fz_buf *ret, struct fz_error *err)
{
	return f->engine->previous(f, project, service, version, ret, err);
}

int fz_fleet_list(struct fz_fleet *f, const char *project,
		  void (*take)(void *arg, const struct fz_fleet_entry *e), void *arg,
		  struct fz_error *err)
{
	return f->engine->list(f, project, take, arg, err);
}

int fz_fleet_each(struct fz_fleet *f, const struct fz_fleet_found *found, const uint32_t *unit,
		  void (*take)(void *arg, uint32_t unit, int64_t node, int64_t value, int64_t n),
		  void *arg, struct fz_error *err)
{
	return f->engine->each(f, found, unit, take, arg, err);
}

int64_t fz_fleet_sum_hours(struct fz_fleet *f, int64_t before, struct fz_error *err)
{
	return f->engine->sum_hours ? f->engine->sum_hours(f, before, err) : 0;
}

int64_t fz_fleet_age_between(struct fz_fleet *f, int64_t before,
			     bool (*between)(void *arg, int64_t rows), void *arg,
			     struct fz_error *err)
{
	return f->engine->age(f, before, between, arg, err);
}

int fz_fleet_state(struct fz_fleet *f, const char *project, const char *service,
		   const char *version, struct fz_buf *ret, struct fz_error *err)
{
	int r = f->engine->state(f, project, service, version, ret, err);

	return r ? r : !fz_fleet_missing(f);
}

/* ---- nodes ---- */

struct interning {
	struct fz_profile *p;
	int64_t parent;
	uint32_t function;
};

static void intern(void *arg, const struct fz_fleet_node_row *row)
{
	struct interning *k = arg;

	k->parent = row->parent;
	k->function = fz_profile_function(
		k->p, &(struct fz_function){ .name = fz_profile_string(k->p, row->name),
					     .file = fz_profile_string(k->p, row->file),
					     .module = fz_profile_string(k->p, row->module),
					     .first_line = (int32_t)row->first_line,
					     .kind = (uint8_t)FZ_MIN(row->kind, FZ_KIND_UNKNOWN) });
}

int fz_fleet_node(struct fz_fleet *f, int64_t node, struct fz_profile *p, int64_t *ret_parent,
		  uint32_t *ret_function, struct fz_error *err)
{
	struct interning k = { .p = p };
	int r = f->engine->node(f, node, intern, &k, err);

	if (!r) {
		*ret_parent = k.parent;
		*ret_function = k.function;
	}
	return r;
}
