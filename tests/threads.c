/* SPDX-License-Identifier: MIT */
/* What include/fizeau.h says of threads, under ThreadSanitizer: different objects are used at the
 * same time, and one diff is read by all threads. Also the thread that writes a recording.
 *
 *   threads BASE HEAD
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/writebehind.h"
#include "fizeau.h"

enum { THREADS = 4, ROUNDS = 2, ADDITIONS = 100000 };

struct shared {
	const char *base, *head;
	struct fizeau_diff *diff;
	char *text;
	size_t size;
};

static void must(int code, const struct fizeau_error *err)
{
	if (code == 0)
		return;
	fprintf(stderr, "threads: %s\n", err->message);
	exit(1);
}

/* Objects of its own, from loading to writing. */
static void use_own(const struct shared *s)
{
	struct fizeau_profile *base, *head, *both;
	struct fizeau_diff *diff;
	struct fizeau_error err;
	char *text;
	size_t size;

	must(fizeau_profile_load(s->base, &base, &err), &err);
	must(fizeau_profile_load(s->head, &head, &err), &err);
	must(fizeau_profile_merge((const struct fizeau_profile *const[]){ base, base }, 2, &both,
				  &err),
	     &err);
	must(fizeau_diff_new(base, head, NULL, &diff, &err), &err);
	static const char *const formats[] = { "text", "json", "html", "svg" };
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		must(fizeau_diff_write_memory(diff, formats[i], &text, &size, &err), &err);
		fizeau_free(text);
	}
	must(fizeau_profile_write_memory(both, "pprof", &text, &size, &err), &err);
	must(fizeau_profile_load_memory("no profile", 10, "bad", &both, &err) == FIZEAU_EINPUT ? 0
											       : 1,
	     &err);
	fizeau_free(text);
	fizeau_diff_free(diff);
	fizeau_profile_free(both);
	fizeau_profile_free(base);
	fizeau_profile_free(head);
}

static void build_own(void)
{
	static const struct fizeau_frame frames[] = { { "main", "app.c", 1 },
						      { "work", "app.c", 9 } };
	struct fizeau_builder *b;
	struct fizeau_profile *p;
	struct fizeau_error err;

	must(fizeau_builder_new(NULL, &b, &err), &err);
	for (int i = 0; i < 1000; i++)
		must(fizeau_builder_add(b, frames, 2, 1), &err);
	must(fizeau_builder_build(b, &p, &err), &err);
	fizeau_profile_free(p);
}

/* The diff that all read. */
static void read_shared(const struct shared *s)
{
	struct fizeau_diff_function f = { .size = sizeof(f) };
	struct fizeau_function_verdict v = { .size = sizeof(v) };
	struct fizeau_diff_node node = { .size = sizeof(node) };
	struct fizeau_error err;
	char *text;
	size_t size;

	for (size_t i = 0; i < fizeau_diff_function_count(s->diff); i++) {
		must(fizeau_diff_function(s->diff, i, &f), &err);
		must(fizeau_diff_function_verdict(s->diff, i, &v), &err);
	}
	for (size_t i = 0; i < fizeau_diff_node_count(s->diff); i++)
		must(fizeau_diff_node(s->diff, i, &node), &err);
	must(fizeau_diff_write_memory(s->diff, "json", &text, &size, &err), &err);
	if (size != s->size || memcmp(text, s->text, size) != 0) {
		fprintf(stderr, "threads: another report than before\n");
		exit(1);
	}
	fizeau_free(text);
}

/* While one thread writes, another adds more. */
static void write_behind(void)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct fz_write_behind *w = fz_write_behind_new(fd);

	for (int i = 0; i < ADDITIONS; i++)
		fz_write_behind_add(w, "sample", 6);
	if (fz_write_behind_error(w) || fz_write_behind_finish(w) ||
	    lseek(fd, 0, SEEK_END) != ADDITIONS * 6)
		exit(1);
	fz_write_behind_free(w);
	close(fd);
}

static void *work(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		use_own(arg);
		build_own();
		read_shared(arg);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct fizeau_profile *base, *head;
	struct fizeau_error err;
	pthread_t threads[THREADS];

	if (argc != 3)
		return 2;
	struct shared s = { .base = argv[1], .head = argv[2] };
	must(fizeau_profile_load(s.base, &base, &err), &err);
	must(fizeau_profile_load(s.head, &head, &err), &err);
	must(fizeau_diff_new(base, head, NULL, &s.diff, &err), &err);
	must(fizeau_diff_write_memory(s.diff, "json", &s.text, &s.size, &err), &err);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &s))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	fizeau_free(s.text);
	fizeau_diff_free(s.diff);
	fizeau_profile_free(base);
	fizeau_profile_free(head);
	write_behind();
	printf("done\n");
	return 0;
}
