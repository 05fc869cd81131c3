/* SPDX-License-Identifier: MIT */
/* Stacks and threads of a flight recording; see jfr_stacks.h.
 *
 *   stack {truncated, frames {method, line, type}}   the innermost frame first
 *   method {class {name}, name, descriptor}
 *
 * A function is "java.util.TreeMap.put(Object, Object)", as 'jfr print' writes it, so that
 * overloads stay distinct. Whether a frame was interpreted, compiled or inlined does not
 * distinguish functions. Non-Java code comes from async-profiler: its class is the library, or
 * empty.
 */
#include "jfr_stacks.h"

#include "import.h"
#include "jfr_names.h"

void fz_jfr_stacks_release(struct fz_jfr_stacks *s)
{
	fz_map_release(&s->stack_of);
	fz_map_release(&s->function_of);
	fz_map_release(&s->thread_of);
	fz_map_release(&s->state_of);
}

void fz_jfr_stacks_begin(struct fz_jfr_stacks *s, struct fz_profile *p)
{
	s->p = p;
	fz_map_clear(&s->stack_of);
	fz_map_clear(&s->function_of);
	fz_map_clear(&s->thread_of);
	fz_map_clear(&s->state_of);
}

static bool constant_of(struct fz_jfr *j, const struct fz_jfr_record *r, enum fz_jfr_key key,
			struct fz_jfr_record *ret)
{
	const struct fz_jfr_field *f = r->of[key].field;

	return f && f->constant && fz_jfr_read_constant(j, f, r->of[key].number, ret);
}

/* ---- frames ---- */

static bool is_kernel(struct fz_jfr *j, const struct fz_jfr_record *frame)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_jfr_record type;

	if (constant_of(j, frame, FZ_JFR_TYPE, &type))
		fz_jfr_text(j, &type, FZ_JFR_DESCRIPTION, &text);
	return fz_str_eq(fz_buf_view(&text), FZ_STR("Kernel"));
}

static uint32_t make_function(struct fz_jfr_stacks *s, struct fz_jfr *j,
			      const struct fz_jfr_record *frame)
{
	fz_auto(fz_buf_release) struct fz_buf class = { 0 }, name = { 0 }, text = { 0 };
	struct fz_jfr_record method, type;
	struct fz_import_frame f = { .kind = FZ_KIND_UNKNOWN };

	if (!constant_of(j, frame, FZ_JFR_METHOD, &method)) {
		f.name = FZ_STR("[unknown method]");
		return fz_import_frame(s->p, &f);
	}
	if (constant_of(j, &method, FZ_JFR_TYPE, &type))
		fz_jfr_text(j, &type, FZ_JFR_NAME, &class);
	fz_jfr_text(j, &method, FZ_JFR_DESCRIPTOR, &text);
	struct fz_str descriptor = fz_buf_view(&text);
	bool native = fz_jfr_is_native(descriptor) || is_kernel(j, frame);
	if (!native && class.n) {
		fz_jfr_add_class(&name, fz_buf_view(&class));
		fz_buf_char(&name, '.');
	}
	fz_jfr_text(j, &method, FZ_JFR_NAME, &name);
	if (!native)
		fz_jfr_add_parameters(&name, descriptor);
	f.name = fz_buf_view(&name);
	if (native) {
		f.kind = is_kernel(j, frame) ? FZ_KIND_KERNEL : FZ_KIND_NATIVE;
		f.module = fz_buf_view(&class);
	}
	return fz_import_frame(s->p, &f);
}

/* The frame without a line represents the function. */
static uint32_t frame_of(struct fz_jfr_stacks *s, struct fz_jfr *j,
			 const struct fz_jfr_record *record)
{
	int32_t line = fz_import_line(record->of[FZ_JFR_LINE_NUMBER].number);
	uint32_t *known = fz_map_slot(&s->function_of, (uint64_t)record->of[FZ_JFR_METHOD].number);

	if (*known == FZ_NONE) {
		/* The slot stays valid: nothing else is inserted meanwhile. */
		*known = make_function(s, j, record);
		fz_profile_takes(s->p, sizeof(struct fz_map_slot) * 2);
	}
	struct fz_frame f = s->p->frames[*known];
	if (line)
		f.line = line;
	return fz_profile_frame(s->p, &f);
}

static uint32_t push_marker(struct fz_profile *p, uint32_t stack, struct fz_str name)
{
	uint32_t frame = fz_profile_frame_named(p, name, FZ_STR("~"), FZ_NO_LINE, FZ_KIND_MARKER);

	return fz_profile_stack(p, stack, frame);
}

static uint32_t make_stack(struct fz_jfr_stacks *s, struct fz_jfr *j,
			   const struct fz_jfr_record *trace)
{
	const struct fz_jfr_field *field = trace->of[FZ_JFR_FRAMES].field;
	fz_auto(fz_free_ptr) uint32_t *frames = NULL;
	size_t at = trace->of[FZ_JFR_FRAMES].at;
	uint32_t stack = FZ_NONE, n = 0, cap = 0;
	struct fz_jfr_record record;
	uint64_t count;

	if (!field || !field->array || !fz_jfr_array(j, &at, &count))
		return push_marker(s->p, stack, FZ_STR("[lost stack]"));
	while (n < count && !s->p->over_limit && fz_jfr_read_item(j, field, &at, &record)) {
		fz_profile_push(s->p, frames, n, cap, frame_of(s, j, &record));
	}
	if (trace->of[FZ_JFR_TRUNCATED].number)
		stack = push_marker(s->p, stack, FZ_STR("[truncated]"));
	while (n > 0)
		stack = fz_profile_stack(s->p, stack, frames[--n]);
	return stack;
}

uint32_t fz_jfr_stacks_stack(struct fz_jfr_stacks *s, struct fz_jfr *j,
			     const struct fz_jfr_record *event)
{
	const struct fz_jfr_field *f = event->of[FZ_JFR_STACK_TRACE].field;
	int64_t key = event->of[FZ_JFR_STACK_TRACE].number;
	struct fz_jfr_record trace;

	/* Values are increased by one, so that FZ_NONE, no stack, can be stored. */
	if (!f || !f->constant || !key)
		return FZ_NONE;
	uint32_t known = fz_map_get(&s->stack_of, (uint64_t)key);
	if (known != FZ_NONE)
		return known - 1;
	bool there = fz_jfr_read_constant(j, f, key, &trace);
	uint32_t stack = there ? make_stack(s, j, &trace)
			       : push_marker(s->p, FZ_NONE, FZ_STR("[lost stack]"));
	fz_map_put(&s->stack_of, (uint64_t)key, stack + 1);
	return stack;
}

/* ---- threads ---- */

static uint32_t make_thread(struct fz_jfr_stacks *s, struct fz_jfr *j,
			    const struct fz_jfr_record *record)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	int64_t id = record->of[FZ_JFR_OS_THREAD_ID].number;
	struct fz_thread t = { .pid = s->pid, .tid = (uint64_t)FZ_MAX(id, 0) };

	fz_jfr_text(j, record, FZ_JFR_JAVA_NAME, &name);
	if (!name.n)
		fz_jfr_text(j, record, FZ_JFR_OS_NAME, &name);
	/* There may be millions of virtual threads, which do not match those of other runs. */
	if (!t.tid && record->of[FZ_JFR_JAVA_THREAD_ID].number > 0) {
		name.n = 0;
		fz_buf_str(&name, "virtual threads");
	}
	t.name = fz_profile_string(s->p, fz_buf_view(&name));
	t.is_main = record->of[FZ_JFR_JAVA_THREAD_ID].number == 1;
	return fz_profile_thread(s->p, &t);
}

uint32_t fz_jfr_stacks_thread(struct fz_jfr_stacks *s, struct fz_jfr *j,
			      const struct fz_jfr_record *event)
{
	bool sampled = event->of[FZ_JFR_SAMPLED_THREAD].field;
	enum fz_jfr_key key = sampled ? FZ_JFR_SAMPLED_THREAD : FZ_JFR_EVENT_THREAD;
	uint64_t id = (uint64_t)event->of[key].number;
	struct fz_jfr_record record;
	uint32_t known = fz_map_get(&s->thread_of, id);

	if (known == FZ_NONE) {
		if (!constant_of(j, event, key, &record))
			record = (struct fz_jfr_record){ 0 };
		known = make_thread(s, j, &record);
		fz_map_put(&s->thread_of, id, known);
	}
	return known;
}

enum fz_jfr_state fz_jfr_stacks_state(struct fz_jfr_stacks *s, struct fz_jfr *j,
				      const struct fz_jfr_record *event)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	uint64_t key = (uint64_t)event->of[FZ_JFR_STATE].number;
	struct fz_jfr_record record;

	if (!event->of[FZ_JFR_STATE].field)
		return FZ_JFR_STATE_UNKNOWN;
	uint32_t known = fz_map_get(&s->state_of, key);
	if (known == FZ_NONE) {
		if (constant_of(j, event, FZ_JFR_STATE, &record))
			fz_jfr_text(j, &record, FZ_JFR_NAME, &name);
		struct fz_str state = fz_buf_view(&name);
		known = !state.n                                     ? FZ_JFR_STATE_UNKNOWN
			: fz_str_eq(state, FZ_STR("STATE_DEFAULT"))  ? FZ_JFR_STATE_DEFAULT
			: fz_str_eq(state, FZ_STR("STATE_RUNNABLE")) ? FZ_JFR_STATE_RUNNABLE
								     : FZ_JFR_STATE_WAITING;
		fz_map_put(&s->state_of, key, known);
	}
	return known;
}
