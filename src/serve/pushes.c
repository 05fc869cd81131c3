/* SPDX-License-Identifier: MIT */
/* Stores pushes: the path of all inputs.
 *
 *   bytes -> format readers, with their limits -> batch -> group_commit.h -> store
 *            two at once                                     one writer for all waiting pushes
 */
#include "serve/pushes.h"

#include <stdio.h>

#include "base/clock.h"
#include "fleet/batch.h"
#include "serve/sample_labels.h"
#include "serve/watcher.h"

static int read_profile(const struct fz_server_push *push, struct fz_profile **ret,
			struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	int r = fz_server_open_body(push->body, push->memory, &in, err);

	if (r)
		return r;
	return push->format ? fz_format_load_input_as(in, push->format, ret, err)
			    : fz_format_load_input(in, ret, err);
}

/* Add what the profile lacks but the request contains. */
static void complete(struct fz_profile *p, const struct fz_server_push *push, int64_t now)
{
	int64_t start = push->start_unix_ns ? push->start_unix_ns : now;

	if (p->recording.duration_ns == 0)
		p->recording.duration_ns = push->duration_ns;
	if (p->recording.interval_ns == 0 && push->hertz > 0)
		p->recording.interval_ns = (int64_t)(1e9 / push->hertz);
	if (p->run_count == 0)
		fz_profile_add_run(p, &(struct fz_run){ .duration_ns = p->recording.duration_ns });
	for (uint32_t i = 0; i < p->run_count; i++)
		if (p->runs[i].start_unix_ns == 0)
			p->runs[i].start_unix_ns = start;
	if (p->run_count == 1 && p->runs[0].duration_ns == 0)
		p->runs[0].duration_ns = p->recording.duration_ns;
}

static bool has_start(const struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->run_count; i++)
		if (p->runs[i].start_unix_ns == 0)
			return false;
	return p->run_count > 0;
}

static int check_age(struct fz_server *s, const struct fz_fleet_batch *b, struct fz_error *err)
{
	int64_t oldest = atomic_load(&s->oldest_minute);

	for (uint32_t i = 0; i < b->cell_n; i++)
		if (b->cells[i].minute < oldest)
			return fz_fail(err, FZ_EINPUT, "it is older than the retention of %d days",
				       s->options.retain_days);
	return 0;
}

/* While the server's clock is behind the data that it has, later data may be right: it should be
 * sent again. */
static int check_clock(struct fz_server *s, const struct fz_profile *p, int64_t now,
		       struct fz_error *err)
{
	bool later = false;

	for (uint32_t i = 0; i < p->run_count; i++)
		later |= p->runs[i].start_unix_ns / FZ_MINUTE >
			 now / FZ_MINUTE + FZ_FLEET_AHEAD_MINUTES;
	if (!later || now / FZ_MINUTE + FZ_FLEET_AHEAD_MINUTES >= atomic_load(&s->newest_minute))
		return 0;
	return fz_fail(err, FZ_EAGAIN,
		       "the server's clock is behind its newest data; try again when it is set");
}

/* A push on its way to the disk, in parts by the labels of its samples. */
struct ready {
	struct fz_profile *profile;
	struct fz_sample_labels labels;
	struct part {
		struct fz_fleet_push to;
		struct fz_fleet_batch batch;
		struct fz_fleet_item item;
		char *id;
	} * parts;
	uint64_t lost; /* samples whose labels are not kept */
	struct fz_budget_part *memory;
	uint64_t taken; /* of it */
};

static void release_ready(struct ready *w)
{
	for (uint32_t i = 0; w->parts && i < w->labels.part_n; i++) {
		fz_fleet_batch_release(&w->parts[i].batch);
		free(w->parts[i].id);
	}
	free(w->parts);
	fz_sample_labels_release(&w->labels);
	fz_profile_free(w->profile);
	fz_budget_give(w->memory, w->taken);
}

static int make_batches(struct fz_server *s, struct fz_server_push *push, struct ready *w,
			struct fz_error *err)
{
	int64_t now = fz_clock_unix();
	bool has_values = push->may_be_idle;
	int r = read_profile(push, &w->profile, err);

	if (r)
		return r;
	/* Without a time or id, identical pushes are different ones: the time of arrival becomes
	 * part of the id. */
	if (!*push->to.id && !push->start_unix_ns && !has_start(w->profile))
		push->start_unix_ns = now;
	complete(w->profile, push, now);
	r = check_clock(s, w->profile, now, err);
	if (r)
		return r;
	fz_sample_labels_of(w->profile, push->to.labels, &w->labels);
	w->lost = w->labels.lost;
	w->parts = fz_calloc(w->labels.part_n, sizeof(*w->parts));
	for (uint32_t i = 0; !r && i < w->labels.part_n; i++) {
		const struct fz_fleet_part part = { w->labels.part_of, i };
		struct fz_fleet_batch *b = &w->parts[i].batch;

		r = fz_fleet_batch_of(w->profile, &part, now, now, b, err);
		if (!r)
			r = check_age(s, b, err);
		has_values |= b->value_n > 0;
	}
	if (!r && !has_values)
		r = fz_fail(err, FZ_EINPUT, "it has no samples with a stack");
	return r;
}

/* An id of a part, derived from that of the push. */
static char *part_id(const char *id, const char *labels)
{
	return fz_asprintf("%016llx.%016llx", (unsigned long long)fz_hash_bytes(id, strlen(id)),
			   (unsigned long long)fz_hash_bytes(labels, strlen(labels)));
}

static void name_parts(struct fz_server_push *push, struct ready *w)
{
	if (!*push->to.id)
		push->to.id = w->parts[0].id =
			fz_fleet_id(&push->to, push->body, push->start_unix_ns);
	for (uint32_t i = 0; i < w->labels.part_n; i++) {
		struct part *part = &w->parts[i];

		part->to = push->to;
		if (i) {
			part->to.labels = w->labels.labels[i].p;
			part->to.id = part->id = part_id(push->to.id, part->to.labels);
			part->to.of_samples = true;
		}
		part->item = (struct fz_fleet_item){ .push = &part->to, .batch = &part->batch };
	}
}

static int make_ready(struct fz_server *s, struct fz_server_push *push, struct ready *ret,
		      struct fz_error *err)
{
	uint64_t before = push->memory->taken;

	fz_server_begin_work(s);
	int r = make_batches(s, push, ret, err);
	fz_server_end_work(s);
	ret->memory = push->memory;
	ret->taken = push->memory->taken - before;
	if (!r)
		name_parts(push, ret);
	return r;
}

/* If the store has no room for a part's labels, the part is stored without them. */
static void drop_labels(struct ready *w, struct fz_fleet_item **put, size_t *put_n)
{
	for (uint32_t i = 1; i < w->labels.part_n; i++) {
		struct part *part = &w->parts[i];

		if (part->item.result != FZ_ELIMIT)
			continue;
		w->lost += w->labels.samples[i];
		char *id = part_id(part->to.id, "");
		free(part->id);
		part->to.id = part->id = id;
		part->to.labels = w->parts[0].to.labels;
		part->to.of_samples = false;
		part->item = (struct fz_fleet_item){ .push = &part->to, .batch = &part->batch };
		put[(*put_n)++] = &part->item;
	}
}

static void describe(const struct ready *w, struct fz_server_pushed *ret)
{
	const struct fz_fleet_batch *whole = &w->parts[0].batch;

	*ret = (struct fz_server_pushed){
		.put = FZ_FLEET_KNOWN,
		.minutes = whole->cell_n / FZ_MAX(whole->kind_n, 1),
		.unlabelled = w->lost,
		.start_unix_ns = whole->cell_n ? whole->cells[0].minute * FZ_MINUTE : 0,
	};
	for (uint32_t part = 0; part < w->labels.part_n; part++) {
		const struct fz_fleet_batch *b = &w->parts[part].batch;

		for (uint32_t i = 0; i < b->cell_n; i++) {
			if (b->kinds[b->cells[i].kind].main)
				ret->samples += b->cells[i].exposure.samples;
			ret->start_unix_ns =
				FZ_MIN(ret->start_unix_ns, b->cells[i].minute * FZ_MINUTE);
		}
		if (w->parts[part].item.put == FZ_FLEET_STORED)
			ret->put = FZ_FLEET_STORED;
	}
}

static void note_newest(struct fz_server *s, const struct fz_fleet_batch *b)
{
	long long newest = atomic_load(&s->newest_minute);

	for (uint32_t i = 0; i < b->cell_n; i++)
		while (b->cells[i].minute > newest &&
		       !atomic_compare_exchange_weak(&s->newest_minute, &newest,
						     b->cells[i].minute))
			;
}

static int read_result(struct fz_server *s, const struct ready *w, struct fz_server_pushed *ret,
		       struct fz_error *err)
{
	int r = 0;

	for (uint32_t i = 0; i < w->labels.part_n; i++) {
		const struct fz_fleet_item *item = &w->parts[i].item;

		if (!r && item->result) {
			r = item->result;
			*err = item->err;
		}
		if (!item->result)
			note_newest(s, &w->parts[i].batch);
		if (!item->result && s->watcher && item->put == FZ_FLEET_STORED)
			fz_watcher_note(s->watcher, item->push, &w->parts[i].batch);
	}
	if (!r)
		describe(w, ret);
	if (r == FZ_ESYSTEM)
		s->say(err->message);
	return r;
}

static void count(struct fz_server *s, const struct fz_server_item *item)
{
	bool stored = !item->result && item->pushed.put == FZ_FLEET_STORED;
	bool failed = item->result == FZ_ESYSTEM || item->result == FZ_EAGAIN;

	atomic_fetch_add(stored         ? &s->figures.stored
			 : failed       ? &s->figures.failed
			 : item->result ? &s->figures.refused
					: &s->figures.known,
			 1);
	if (!stored)
		return;
	atomic_fetch_add(&s->figures.bytes, item->push.body.n);
	atomic_fetch_add(&s->figures.samples, (unsigned long long)item->pushed.samples);
	atomic_fetch_add(&s->figures.unlabelled, item->pushed.unlabelled);
}

static void put_together(struct fz_server *s, struct fz_fleet_item **put, size_t n)
{
	if (n)
		fz_commits_put(&s->commits, s->writer, &s->writing, put, n);
}

/* Store all parts of the pushes that could be read. Parts with labels of their own follow when the
 * first is stored: so a push whose id is refused stores nothing, and an interrupted one is
 * completed when it is repeated. */
static void put_parts(struct fz_server *s, struct fz_server_item *items, struct ready *ready,
		      size_t n)
{
	fz_auto(fz_free_ptr) struct fz_fleet_item **put =
		fz_calloc(FZ_MAX(n, 1) * FZ_SAMPLE_SETS, sizeof(*put));
	size_t put_n = 0;

	for (size_t i = 0; i < n; i++)
		if (!items[i].result)
			put[put_n++] = &ready[i].parts[0].item;
	put_together(s, put, put_n);
	put_n = 0;
	for (size_t i = 0; i < n; i++) {
		bool first = !items[i].result && !ready[i].parts[0].item.result;

		for (uint32_t part = 1; first && part < ready[i].labels.part_n; part++)
			put[put_n++] = &ready[i].parts[part].item;
	}
	put_together(s, put, put_n);
	put_n = 0;
	for (size_t i = 0; i < n; i++)
		if (!items[i].result)
			drop_labels(&ready[i], put, &put_n);
	put_together(s, put, put_n);
}

void fz_server_store_all(struct fz_server *s, struct fz_server_item *items, size_t n)
{
	fz_auto(fz_free_ptr) struct ready *ready = fz_calloc(FZ_MAX(n, 1), sizeof(*ready));

	for (size_t i = 0; i < n; i++) {
		items[i].result = make_ready(s, &items[i].push, &ready[i], &items[i].err);
		if (items[i].result)
			release_ready(&ready[i]);
	}
	put_parts(s, items, ready, n);
	for (size_t i = 0; i < n; i++) {
		struct fz_server_item *item = &items[i];
		bool was_put = !item->result;

		if (was_put)
			item->result = read_result(s, &ready[i], &item->pushed, &item->err);
		count(s, item);
		if (was_put)
			release_ready(&ready[i]);
	}
}

int fz_server_store(struct fz_server *s, const struct fz_server_push *push,
		    struct fz_server_pushed *ret, struct fz_error *err)
{
	struct fz_server_item item = { .push = *push };

	fz_server_store_all(s, &item, 1);
	if (item.result)
		*err = item.err;
	*ret = item.pushed;
	return item.result;
}

int fz_server_keep(struct fz_server *s, const struct fz_server_push *push,
		   const struct fz_server_pushed *pushed, bool *ret, struct fz_error *err)
{
	const struct fz_file file = { .project = push->to.project,
				      .kind = FZ_FILES_RECORDINGS,
				      .name = push->to.id,
				      .group = push->to.service,
				      .version = push->to.version,
				      .host = push->to.host,
				      .labels = push->to.labels,
				      .began_unix_ns = pushed->start_unix_ns,
				      .came_unix_ns = fz_clock_unix() };

	*ret = s->files != NULL;
	int r = *ret ? fz_files_put(s->files, &file, push->body, false, err) : 0;
	if (r == FZ_ESYSTEM || r == FZ_EAGAIN)
		s->say(err->message);
	return r;
}
