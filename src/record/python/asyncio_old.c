/* SPDX-License-Identifier: MIT */
/* Tasks of 3.11 to 3.13, whose module has no table of offsets.
 *
 *   sys.modules["_asyncio"] -> Task, Future           types
 *                              _current_tasks         {loop: task}
 *                              _all_tasks             WeakSet of tasks; 3.12 on: _scheduled_tasks,
 *                                                     and the set _eager_tasks
 *   thread's dict["__asyncio_running_event_loop__"] -> loop; 3.11: -> holder -> loop;
 *   3.13: thread state -> loop
 *
 * A task is a future, and a future's callbacks show which tasks wait for it:
 *
 *   task_wakeup of a task               that task
 *   TaskGroup._on_task_done             the task in which the group is
 *   a function or partial that holds a  those that wait for that one: gather(), shield(), wait(),
 *   future                              wait_for() (3.11)
 *
 * The offsets in the C structures are those of each version's releases, and are used only if the
 * types have the same sizes.
 */
#include "asyncio_tasks.h"

#include "names.h"

enum {
	INTERPRETERS_MAX = 256,
	SLOTS_MAX = 1 << 17,     /* of a set of tasks */
	ENTRIES_MAX = 1 << 12,   /* of a dict of loops, or of a thread */
	CALLBACKS_MAX = 1 << 12, /* read for one task */
	KEPT_MAX = 32,           /* cells of a function, arguments of a partial */
	BASES_MAX = 8,
	HEAP_TYPE = 1 << 9, /* in a type's flags */
	PENDING = 0,
};

/* The same in all of these versions. */
enum {
	FUTURE_LOOP = 16,
	FUTURE_CALLBACK = 24, /* the first; the others are in a list of (callback, context) */
	FUTURE_CALLBACKS = 40,
	HOLDER_LOOP = 16, /* 3.11 */
	WEAKREF_OBJECT = 16,
	BUILTIN_SELF = 24,
	METHOD_SELF = 24,
	FUNCTION_CLOSURE = 72,
	PARTIAL_ARGUMENTS = 24,
	CELL_OBJECT = 16,
	TUPLE_SIZE = 16,
	TUPLE_ITEMS = 24,
	LIST_SIZE = 16,
	LIST_ITEMS = 24,
	TYPE_SIZE = 32,
};

static const struct {
	uint8_t minor;
	uint16_t task_size, future_size, state, coro, name;
} versions[] = {
	{ 11, 176, 128, 88, 136, 144 },
	{ 12, 176, 128, 88, 136, 144 },
	{ 13, 144, 104, 96, 120, 128 },
};

/* ---- finding it ---- */

static bool has_size(const struct fz_py_tasks *t, uint64_t type, uint64_t size)
{
	uint64_t found;

	return type && fz_process_read_u64(t->process, type + TYPE_SIZE, &found) && found == size;
}

/* Find asyncio's types and sets in the module's dict. */
static bool find_in(struct fz_py_tasks *t, const struct fz_py_names *reader, uint64_t dict)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	struct fz_py_old_tasks *old = &t->old;
	uint64_t all =
		fz_py_names_item(reader, dict, l->minor == 11 ? "_all_tasks" : "_scheduled_tasks");
	size_t v = 0;

	while (versions[v].minor != l->minor)
		v++;
	old->task_type = fz_py_names_item(reader, dict, "Task");
	old->future_type = fz_py_names_item(reader, dict, "Future");
	old->current = fz_py_names_item(reader, dict, "_current_tasks");
	old->all = all ? fz_py_names_attribute(reader, all, "data") : 0;
	old->eager = fz_py_names_item(reader, dict, "_eager_tasks");
	old->state = versions[v].state;
	t->layout = (struct fz_py_tasks_layout){ .size = versions[v].task_size,
						 .name = versions[v].name,
						 .coro = versions[v].coro };
	return old->current && old->all && has_size(t, old->task_type, versions[v].task_size) &&
	       has_size(t, old->future_type, versions[v].future_size);
}

bool fz_py_old_tasks_find(struct fz_py_tasks *t)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	const struct fz_py_names reader = { .process = t->process, .layout = l };
	uint64_t interp;

	if (!fz_process_read_u64(t->process, t->runtime->address + l->runtime.interpreters_head,
				 &interp))
		return false;
	for (unsigned i = 0; interp && interp % 8 == 0 && i < INTERPRETERS_MAX; i++) {
		uint64_t dict = fz_py_names_module(&reader, interp + l->interp.modules, "_asyncio");
		if (dict && find_in(t, &reader, dict))
			return true;
		if (!fz_process_read_u64(t->process, interp + l->interp.next, &interp))
			return false;
	}
	return false;
}

/* ---- types ---- */

enum kind { OTHER, TASK, FUTURE, BUILTIN, METHOD, FUNCTION, PARTIAL, GROUP, WEAKREF };

static enum kind kind_by_name(struct fz_py_tasks *t, uint64_t type)
{
	static const struct {
		const char *name;
		enum kind kind;
	} names[] = {
		{ "builtin_function_or_method", BUILTIN },
		{ "method", METHOD },
		{ "function", FUNCTION },
		{ "functools.partial", PARTIAL },
		{ "TaskGroup", GROUP },
		{ "weakref", WEAKREF },
		{ "weakref.ReferenceType", WEAKREF },
	};
	char name[sizeof("builtin_function_or_method")] = "";
	uint64_t at;

	if (!fz_py_tasks_word(t, type + t->runtime->layout.object.type_name, &at))
		return OTHER;
	for (uint32_t n = 0; n < sizeof(name) - 1; n++) {
		if (!fz_py_pages_read(t->from, at + n, name + n, 1))
			return OTHER;
		if (!name[n])
			break;
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		if (strcmp(name, names[i].name) == 0)
			return names[i].kind;
	return OTHER;
}

/* The kind of an object, cached by type: forever if the type is implemented in C, for this sample
 * if it is a class of the program, which may be freed. Such a class has the kind of its base. */
static enum kind kind_of(struct fz_py_tasks *t, uint64_t object)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	uint64_t type, base, flags = HEAP_TYPE;

	if (!object || object % 8 || !fz_py_tasks_word(t, object + l->object.type, &type) || !type)
		return OTHER;
	if (type == t->old.task_type)
		return TASK;
	uint32_t known = fz_map_get(&t->old.kinds, type);
	if (known == FZ_NONE)
		known = fz_map_get(&t->old.classes, type);
	if (known != FZ_NONE)
		return (enum kind)known;
	enum kind kind = kind_by_name(t, type);
	base = type;
	for (unsigned i = 0; kind == OTHER && base && i < BASES_MAX; i++) {
		kind = base == t->old.task_type     ? TASK
		       : base == t->old.future_type ? FUTURE
						    : OTHER;
		if (!fz_py_tasks_word(t, base + l->type.base, &base))
			break;
	}
	fz_py_tasks_word(t, type + l->type.flags, &flags);
	fz_map_put(flags & HEAP_TYPE ? &t->old.classes : &t->old.kinds, type, kind);
	return kind;
}

/* ---- what runs ---- */

struct old_dict {
	uint64_t entries;
	uint32_t n, size; /* bytes of an entry: [hash,] key, value */
};

static bool open_dict(struct fz_py_tasks *t, uint64_t dict, struct old_dict *ret)
{
	uint64_t keys, head[4];

	if (!fz_py_tasks_word(t, dict + t->runtime->layout.dict.keys, &keys) || keys % 8 ||
	    !fz_py_pages_read(t->from, keys + 8, &head[1], 24))
		return false;
	unsigned index_bits = head[1] >> 8 & 255;
	if (index_bits > 20 || head[3] > ENTRIES_MAX)
		return false;
	*ret = (struct old_dict){ .entries = keys + 32 + (1ull << index_bits),
				  .n = (uint32_t)head[3],
				  .size = head[1] >> 16 & 255 ? 16 : 24 };
	return true;
}

static bool dict_entry(struct fz_py_tasks *t, const struct old_dict *d, uint32_t i, uint64_t *key,
		       uint64_t *value)
{
	uint64_t at = d->entries + (uint64_t)i * d->size + d->size - 16;

	return fz_py_tasks_word(t, at, key) && fz_py_tasks_word(t, at + 8, value);
}

/* Value for a key, compared by identity; 0: none. */
static bool dict_value(struct fz_py_tasks *t, uint64_t dict, uint64_t wanted, uint64_t *ret)
{
	struct old_dict d;
	uint64_t key, value;

	*ret = 0;
	if (!open_dict(t, dict, &d))
		return false;
	for (uint32_t i = 0; i < d.n; i++) {
		if (!dict_entry(t, &d, i, &key, &value))
			return false;
		if (key == wanted && value)
			*ret = value;
	}
	return true;
}

/* The key of the loop in a thread's dict: one string object for all threads. */
static uint64_t find_loop_key(struct fz_py_tasks *t, uint64_t dict)
{
	static const char name[] = "__asyncio_running_event_loop__";
	const struct fz_py_layout *l = &t->runtime->layout;
	struct old_dict d;
	uint64_t key, value, length;
	char text[sizeof(name)] = "";

	if (!open_dict(t, dict, &d))
		return 0;
	for (uint32_t i = 0; i < d.n; i++)
		if (dict_entry(t, &d, i, &key, &value) && value &&
		    fz_py_tasks_word(t, key + l->unicode.length, &length) &&
		    length == sizeof(name) - 1 &&
		    fz_py_pages_read(t->from, key + l->unicode.ascii_data, text, sizeof(name)) &&
		    memcmp(text, name, sizeof(name)) == 0)
			return key;
	return 0;
}

static bool running_loop(struct fz_py_tasks *t, uint64_t tstate, uint64_t *ret_loop)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	uint64_t dict, loop;

	*ret_loop = 0;
	if (l->coro.running_loop != FZ_PY_ABSENT)
		return fz_py_tasks_word(t, tstate + l->coro.running_loop, ret_loop);
	if (!fz_py_tasks_word(t, tstate + l->thread.exc_info + 8, &dict))
		return false;
	if (dict && !t->old.loop_key)
		t->old.loop_key = find_loop_key(t, dict);
	if (!dict || !t->old.loop_key)
		return true;
	if (!dict_value(t, dict, t->old.loop_key, &loop) ||
	    (l->minor == 11 && loop && !fz_py_tasks_word(t, loop + HOLDER_LOOP, &loop)))
		return false;
	*ret_loop = loop;
	return true;
}

bool fz_py_old_tasks_current(struct fz_py_tasks *t, uint64_t tstate, uint64_t *ret_loop,
			     uint64_t *ret_task)
{
	*ret_task = 0;
	if (!running_loop(t, tstate, ret_loop))
		return false;
	if (*ret_loop == t->runtime->none)
		*ret_loop = 0;
	return !*ret_loop || dict_value(t, t->old.current, *ret_loop, ret_task);
}

/* ---- all of them ---- */

bool fz_py_old_tasks_is_live(struct fz_py_tasks *t, uint64_t task)
{
	uint64_t coro;
	uint32_t state;

	return kind_of(t, task) == TASK && fz_py_tasks_word(t, task + t->layout.coro, &coro) &&
	       coro && fz_py_pages_read(t->from, task + t->old.state, &state, sizeof(state)) &&
	       state == PENDING;
}

/* Is this a task of the loop that is not done? */
static bool belongs(struct fz_py_tasks *t, uint64_t task, uint64_t loop)
{
	uint64_t its;

	return fz_py_old_tasks_is_live(t, task) && fz_py_tasks_word(t, task + FUTURE_LOOP, &its) &&
	       its == loop;
}

/* List the tasks in a set. The set may change meanwhile, so each task is checked by itself. */
static bool list_set(struct fz_py_tasks *t, uint64_t set, uint64_t loop)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	uint64_t mask, table, key;

	if (!fz_py_pages_glance(t->from, set + l->set.mask, &mask, 8) ||
	    !fz_py_pages_glance(t->from, set + l->set.table, &table, 8) || table % 8 ||
	    mask >= SLOTS_MAX)
		return false;
	for (uint64_t i = 0; i <= mask; i++) {
		if (!fz_py_pages_glance(t->from, table + 16 * i, &key, 8))
			return false;
		enum kind kind = kind_of(t, key);
		if (kind == WEAKREF && fz_py_pages_glance(t->from, key + WEAKREF_OBJECT, &key, 8))
			kind = kind_of(t, key);
		if (kind != TASK || !belongs(t, key, loop))
			continue;
		uint32_t task = fz_py_task_add(t, key);
		t->list[task].listed = true;
	}
	return true;
}

bool fz_py_old_tasks_list(struct fz_py_tasks *t, uint64_t loop)
{
	return list_set(t, t->old.all, loop) && (!t->old.eager || list_set(t, t->old.eager, loop));
}

/* ---- who waits ---- */

struct waiters {
	uint64_t first; /* by address */
	uint32_t n, steps;
};

/* Objects that another one keeps. */
struct kept {
	uint64_t objects[KEPT_MAX];
	uint32_t n;
};

static bool read_tuple(struct fz_py_tasks *t, uint64_t tuple, struct kept *ret)
{
	uint64_t n;

	ret->n = 0;
	if (!tuple)
		return true;
	if (!fz_py_tasks_word(t, tuple + TUPLE_SIZE, &n))
		return false;
	for (; ret->n < FZ_MIN(n, (uint64_t)KEPT_MAX); ret->n++)
		if (!fz_py_tasks_word(t, tuple + TUPLE_ITEMS + 8 * ret->n, &ret->objects[ret->n]))
			return false;
	return true;
}

/* The objects in a function's closure. */
static bool read_cells(struct fz_py_tasks *t, uint64_t function, struct kept *ret)
{
	uint64_t closure;

	if (!fz_py_tasks_word(t, function + FUNCTION_CLOSURE, &closure) ||
	    !read_tuple(t, closure, ret))
		return false;
	for (uint32_t i = 0; i < ret->n; i++)
		if (!fz_py_tasks_word(t, ret->objects[i] + CELL_OBJECT, &ret->objects[i]))
			return false;
	return true;
}

/* The task that a task group belongs to, from its attribute; 0: unknown. */
static bool read_parent(struct fz_py_tasks *t, uint64_t group, uint64_t *ret)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	const struct fz_py_names reader = { .process = t->process, .layout = l };
	uint64_t type, values;

	*ret = 0;
	if (!fz_py_tasks_word(t, group + l->object.type, &type))
		return false;
	if (type != t->old.group_type) {
		t->old.group_slot = fz_py_names_slot(&reader, type, "_parent_task");
		t->old.group_type = type;
	}
	if (t->old.group_slot == FZ_NONE)
		return true;
	/* The inline values of an instance, used until something requests its __dict__. */
	if (!fz_py_tasks_word(t, group - (l->minor == 11 ? 32 : 24), &values))
		return false;
	if (l->minor == 12)
		values = values & 1 ? values + 1 : 0;
	else if (l->minor == 13)
		values = values ? 0 : group + l->object.var_size + 8;
	return !values || fz_py_tasks_word(t, values + 8ull * t->old.group_slot, ret);
}

static void add_waiter(struct waiters *w, uint64_t task)
{
	if (w->n && w->first == task)
		return;
	w->first = w->n && w->first < task ? w->first : task;
	w->n++;
}

static bool read_callbacks(struct fz_py_tasks *t, uint64_t future, unsigned depth,
			   struct waiters *w);

/* Find the waiters that a callback notifies, following futures that it holds. */
static bool read_callback(struct fz_py_tasks *t, uint64_t callback, unsigned depth,
			  struct waiters *w)
{
	struct kept kept = { .n = 1 };
	uint64_t *self = &kept.objects[0];

	switch (kind_of(t, callback)) {
	case BUILTIN:
		if (!fz_py_tasks_word(t, callback + BUILTIN_SELF, self))
			return false;
		if (kind_of(t, *self) == TASK)
			add_waiter(w, *self);
		return true;
	case METHOD:
		if (!fz_py_tasks_word(t, callback + METHOD_SELF, self))
			return false;
		if (kind_of(t, *self) != GROUP)
			return true;
		if (!read_parent(t, *self, self))
			return false;
		if (kind_of(t, *self) == TASK)
			add_waiter(w, *self);
		return true;
	case FUNCTION:
		if (!read_cells(t, callback, &kept))
			return false;
		break;
	case PARTIAL:
		if (!fz_py_tasks_word(t, callback + PARTIAL_ARGUMENTS, self) ||
		    !read_tuple(t, *self, &kept))
			return false;
		break;
	default:
		return true;
	}
	for (uint32_t i = 0; i < kept.n; i++)
		if (kind_of(t, kept.objects[i]) == FUTURE &&
		    !read_callbacks(t, kept.objects[i], depth + 1, w))
			return false;
	return true;
}

/* `depth` bounds the chain: futures that refer to each other (shield) form cycles. */
static bool read_callbacks(struct fz_py_tasks *t, uint64_t future, unsigned depth,
			   struct waiters *w)
{
	enum { DEPTH_MAX = 8 };
	uint64_t callback, list, n = 0, items = 0;

	if (depth > DEPTH_MAX || w->steps++ > CALLBACKS_MAX)
		return true;
	if (!fz_py_tasks_word(t, future + FUTURE_CALLBACK, &callback) ||
	    !fz_py_tasks_word(t, future + FUTURE_CALLBACKS, &list))
		return false;
	if (callback && !read_callback(t, callback, depth, w))
		return false;
	if (list && list != t->runtime->none &&
	    (!fz_py_tasks_word(t, list + LIST_SIZE, &n) ||
	     !fz_py_tasks_word(t, list + LIST_ITEMS, &items)))
		return false;
	for (uint64_t i = 0; i < n && w->steps++ < CALLBACKS_MAX; i++) {
		uint64_t pair;
		if (!fz_py_tasks_word(t, items + 8 * i, &pair) ||
		    !fz_py_tasks_word(t, pair + TUPLE_ITEMS, &callback) ||
		    !read_callback(t, callback, depth, w))
			return false;
	}
	return true;
}

bool fz_py_old_tasks_awaiter(struct fz_py_tasks *t, uint64_t task, uint64_t *ret, uint32_t *ret_n)
{
	struct waiters w = { 0 };

	if (!read_callbacks(t, task, 0, &w))
		return false;
	*ret = w.first;
	*ret_n = w.n;
	return true;
}
