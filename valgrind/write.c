/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file: FOLDER/PID.count, read by src/record/count/read.c.
 *
 *   records, each a byte and numbers (LEB128) and texts (length, bytes):
 *   'I'  start of a program (another one follows after an exec): "fzcount 6", process id, number of
 *        counts per node, whether it is a Go program, its path, number of arguments, the arguments
 *   'F'  function: id, kind, offset, line, name, object, file; before its first node
 *   'N'  node: levels to go up from the last one's child level, function id, counts
 *   'P'  end of a marked part: its name (may be ""), its total of instructions
 *   'R'  the same for a run of a benchmark: replaces the last one if that has the same name
 *   'E'  end of a piece, which belongs to the next 'P' or 'R'
 *   'D'  drop the pieces since the last 'P' or 'R'
 *   'W'  end of the tree of a program that marked no part: its total of instructions
 *   'X'  name of the part that ends next: it started other processes, which are not counted in it
 *   'U'  name of a part that was started and never stopped
 *   'M'  name of a part in which an allocator may have handed out memory that was not followed
 *   'S'  name of a benchmark that reported failure, and the reason
 *   'Z'  end: nothing is missing
 *
 * Nodes come callers first, so a node needs no number: a tree is the list of its nodes, each with
 * the levels to go up. Nodes at and below which nothing was counted are left out.
 */
#include "fzcount.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"

enum { BUFFER = 1 << 16, ARGUMENTS_MAX = 1 << 10 };

/* Moves a descriptor to where the program does not use it. Valgrind's library exports this, but
 * only private headers declare it. */
extern Int VG_(safe_fd)(Int fd);

static struct {
	Int fd;
	Bool open, failed, held, missed;
	UInt file; /* number of earlier files: each has its own function table */
	UInt n;
	UChar bytes[BUFFER];
} out;

/* ---- bytes ---- */

static void flush(void)
{
	UInt done = 0;

	while (done < out.n && !out.failed) {
		Int n = VG_(write)(out.fd, out.bytes + done, (Int)(out.n - done));
		if (n <= 0)
			out.failed = True;
		else
			done += (UInt)n;
	}
	out.n = 0;
}

static void put(UChar byte)
{
	if (out.n == BUFFER)
		flush();
	out.bytes[out.n++] = byte;
}

static void put_number(ULong n)
{
	for (; n >= 0x80; n >>= 7)
		put((UChar)(n | 0x80));
	put((UChar)n);
}

static void put_text(const HChar *text)
{
	SizeT n = VG_(strlen)(text);

	put_number(n);
	for (SizeT i = 0; i < n; i++)
		put((UChar)text[i]);
}

/* ---- the file ---- */

static struct {
	UWord n;
	const HChar **list;
} arguments;

void fzc_write_arguments(UWord n, HChar *const list[])
{
	arguments.n = n < ARGUMENTS_MAX ? n : ARGUMENTS_MAX;
	arguments.list = VG_(calloc)(FZC_TAG, arguments.n + 1, sizeof(*arguments.list));
	for (UWord i = 0; i < arguments.n; i++)
		arguments.list[i] = VG_(strdup)(FZC_TAG, list[i]);
}

static void put_head(void)
{
	UInt columns = 0;

	for (UInt i = 0; i < FZC_COUNTS; i++)
		columns += fzc_is_counted(i);
	put('I');
	put_text("fzcount 6");
	put_number((ULong)VG_(getpid)());
	put_number(columns);
	put_number(fzc_go_runs());
	put_text(VG_(args_the_exename) ? VG_(args_the_exename) : "");
	put_number(arguments.n);
	for (UWord i = 0; i < arguments.n; i++)
		put_text(arguments.list[i]);
}

static void open_file(void)
{
	HChar path[4096];

	VG_(snprintf)(path, sizeof(path), "%s/%d.count", fzc_options.folder, VG_(getpid)());
	/* After an exec the same process goes on in its file, as another program. */
	SysRes r = VG_(open)(path, VKI_O_CREAT | VKI_O_APPEND | VKI_O_WRONLY, 0600);
	if (sr_isError(r)) {
		VG_(umsg)("cannot write %s; the counts of this process are lost\n", path);
		out.failed = True;
	} else {
		out.fd = VG_(safe_fd)((Int)sr_Res(r));
	}
	out.open = True;
	put_head();
}

static void put_function(struct fzc_function *f)
{
	if (f->written_to == out.file + 1)
		return;
	f->written_to = out.file + 1;
	put('F');
	put_number(f->id);
	put_number(f->kind);
	put_number(f->offset);
	put_number(f->line);
	put_text(f->name);
	put_text(f->object);
	put_text(f->file);
}

/* ---- the tree ---- */

static Bool is_piece; /* not the last: memory counts are written with that one */

static ULong count_of(const struct fzc_node *n, UInt which)
{
	Bool of_memory = which == FZC_PEAK_BYTES || which == FZC_LIVE_BYTES;

	return of_memory && is_piece ? 0 : n->count[which];
}

static Bool is_empty(const struct fzc_node *n)
{
	for (UInt i = 0; i < fzc_counts(); i++)
		if (count_of(n, i))
			return False;
	return True;
}

static void put_node(const struct fzc_node *n, UInt up)
{
	put_function(n->function);
	put('N');
	put_number(up);
	put_number(n->function->id);
	for (UInt i = 0; i < fzc_counts(); i++)
		if (fzc_is_counted(i))
			put_number(count_of(n, i));
}

/* The path from the root to a node, of which the first `done` nodes are in the file. `last` is the
 * child level of the node written last. */
struct path {
	const struct fzc_node **nodes;
	UInt n, room, done, last;
};

static void path_add(struct path *p, const struct fzc_node *n)
{
	if (p->n == p->room) {
		p->room = 2 * p->room + 64;
		p->nodes = VG_(realloc)(FZC_TAG, p->nodes, p->room * sizeof(*p->nodes));
	}
	p->nodes[p->n++] = n;
}

/* Write the rest of the path. A child of the last node goes up no level, a sibling one. */
static void put_path(struct path *p)
{
	for (; p->done < p->n; p->done++) {
		put_node(p->nodes[p->done], p->last - p->done);
		p->last = p->done + 1;
	}
}

/* The next node, callers first; NULL after the last. Not recursive: trees are deep. */
static const struct fzc_node *next(struct path *p)
{
	const struct fzc_node *n = p->nodes[p->n - 1];

	if (n->child)
		return n->child;
	while (p->n && !p->nodes[p->n - 1]->sibling)
		p->n--;
	if (!p->n)
		return NULL;
	n = p->nodes[--p->n]->sibling;
	p->done = p->done < p->n ? p->done : p->n;
	return n;
}

static void put_tree(void)
{
	static struct path p;

	if (!out.open)
		open_file();
	p.n = p.done = p.last = 0;
	for (const struct fzc_node *n = &fzc_root; n; n = next(&p)) {
		path_add(&p, n);
		if (!is_empty(n))
			put_path(&p);
	}
}

static ULong held_total;

void fzc_write_hold(void)
{
	if (out.held)
		return;
	held_total = fzc_tree_total(FZC_INSTRUCTIONS);
	if (fzc_options.memory)
		fzc_memory_settle();
	out.missed = fzc_memory_missed();
	put_tree();
	fzc_tree_clear();
	out.held = True;
}

static void hold(const HChar *name)
{
	fzc_write_hold();
	if (out.missed)
		fzc_write_note('M', name);
}

/* Flushes, so that complete parts survive whatever happens to the program. */
static void put_part(UChar kind, const HChar *name)
{
	hold(name);
	put(kind);
	put_text(name);
	put_number(held_total);
	out.held = False;
	flush();
}

void fzc_write_part(const HChar *name)
{
	put_part('P', name);
}

void fzc_write_run(const HChar *name)
{
	put_part('R', name);
}

void fzc_write_piece(void)
{
	is_piece = True;
	put_tree();
	is_piece = False;
	put('E');
	fzc_tree_zero();
}

void fzc_write_drop(void)
{
	if (!out.open)
		return;
	put('D');
	out.held = False;
}

void fzc_write_whole(void)
{
	hold("");
	put('W');
	put_number(held_total);
	out.held = False;
}

void fzc_write_note(UChar kind, const HChar *name)
{
	if (!out.open)
		open_file();
	put(kind);
	put_text(name);
}

void fzc_write_failure(const HChar *name, const HChar *why)
{
	fzc_write_note('S', name);
	put_text(why);
}

void fzc_write_end(void)
{
	if (!out.open)
		return;
	if (out.held)
		fzc_write_part("");
	put('Z');
	flush();
	VG_(close)(out.fd);
	out.open = False;
	out.file++; /* after a failed exec the program continues and opens the file again */
}

void fzc_write_forked(void)
{
	if (out.open)
		VG_(close)(out.fd);
	out.open = out.held = False;
	out.file++;
	out.n = 0;
}
