/* SPDX-License-Identifier: MIT */
/* Keeping recordings in a cache, in git notes and on a branch: they are found again by commit and
 * environment, and concurrent writers lose nothing. Uses real repositories. */
#include "format_help.h"

#include "bench/baseline.h"
#include "profile/benchmarks.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 3, EACH = 2, COMMITS = 3 };

static char folder[64], root[96], cache[96];
static char *commits[COMMITS];
static struct fz_repository repository;
static struct fz_baselines baselines;

FZ_PRINTF(1, 2)
static void sh(const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (system(text))
		fail_msg("failed: %s", text);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/fz-baseline-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(root, sizeof(root), "%s/project", folder);
	snprintf(cache, sizeof(cache), "%s/cache", folder);
	sh("git init -q -b main %s", root);
	assert_int_equal(chdir(root), 0);
	for (int i = 0; i < COMMITS; i++)
		sh("git -c user.name=t -c user.email=t@example.org commit -q --allow-empty -m %d",
		   i);
	assert_int_equal(fz_repository_find(&repository, NULL), 0);
	baselines = (struct fz_baselines){ .repository = &repository, .cache = cache };
	for (int i = 0; i < COMMITS; i++) {
		char revision[16];
		snprintf(revision, sizeof(revision), "HEAD~%d", COMMITS - 1 - i);
		assert_int_equal(fz_repository_commit(&repository, revision, &commits[i], NULL), 0);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(chdir("/"), 0);
	fz_remove_folder(folder, NULL);
	fz_repository_release(&repository);
	for (int i = 0; i < COMMITS; i++)
		free(commits[i]);
	return 0;
}

static struct fz_profile *counted(const char *environment, int64_t instructions)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_sample s = { 0 };

	fz_profile_add_run(p, &(struct fz_run){ 0 });
	fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 1, .is_main = true });
	fz_profile_add_metric(p, FZ_STR("instructions"), FZ_STR("count"), 0, true);
	s.stack = fz_benchmark_root(p, FZ_STR("parse"));
	fz_profile_add_sample(p, &s, &instructions);
	fz_profile_set_fact(p, "environment", fz_str_of(environment));
	return p;
}

static void save(enum fz_baseline_place place, const char *commit, const char *environment,
		 int64_t instructions)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = counted(environment, instructions);
	struct fz_error err;

	if (fz_baseline_save(&baselines, place, commit, p, &err))
		fail_msg("%s", err.message);
}

/* What is kept of that commit and environment; 0: nothing. */
static int64_t found(const char *commit, const char *environment, enum fz_baseline_place place)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	fz_auto(fz_benchmarks_release) struct fz_benchmarks list = { 0 };
	struct fz_kept from;

	if (!fz_baseline_find(&baselines, commit, fz_str_of(environment), &p, &from))
		return 0;
	assert_int_equal(from.place, place);
	assert_string_equal(from.commit, commit);
	fz_benchmarks_read(p, &list);
	assert_int_equal(list.n, 1);
	assert_true(fz_str_eq(list.list[0].name, FZ_STR("parse")));
	return list.list[0].total[0];
}

static size_t listed(const char *commit)
{
	fz_auto(fz_kept_release) struct fz_kept_list l;

	fz_baseline_list(&baselines, commit, &l);
	return l.n;
}

static void check_place(enum fz_baseline_place place)
{
	assert_int_equal(found(commits[0], "here", place), 0);
	save(place, commits[0], "here", 100);
	save(place, commits[0], "there", 200);
	save(place, commits[1], "here", 300);
	assert_int_equal(found(commits[0], "here", place), 100);
	assert_int_equal(found(commits[0], "there", place), 200);
	assert_int_equal(found(commits[1], "here", place), 300);
	assert_int_equal(found(commits[2], "here", place), 0);
	assert_int_equal(found(commits[0], "elsewhere", place), 0);
	assert_int_equal(listed(NULL), 3);
	assert_int_equal(listed(commits[0]), 2);
	assert_int_equal(listed(commits[2]), 0);
	/* Once more: it takes the place of the other. */
	save(place, commits[0], "here", 101);
	assert_int_equal(found(commits[0], "here", place), 101);
	assert_int_equal(listed(NULL), 3);
	/* The user's tree and index are as they were. */
	sh("test -z \"$(git status --porcelain)\"");
	sh("test \"$(git for-each-ref | wc -l)\" -eq %d", place == FZ_BASELINE_CACHE ? 1 : 2);
}

static void test_cache(void **state)
{
	(void)state;
	check_place(FZ_BASELINE_CACHE);
}

static void test_notes(void **state)
{
	(void)state;
	check_place(FZ_BASELINE_NOTES);
	/* Notes of other users stay. */
	sh("git -c user.name=t -c user.email=t@example.org notes --ref fizeau append -m mine %s",
	   commits[1]);
	save(FZ_BASELINE_NOTES, commits[1], "there", 400);
	sh("git notes --ref fizeau show %s | grep -q '^mine$'", commits[1]);
	assert_int_equal(found(commits[1], "here", FZ_BASELINE_NOTES), 300);
	assert_int_equal(found(commits[1], "there", FZ_BASELINE_NOTES), 400);
}

static void test_branch(void **state)
{
	(void)state;
	check_place(FZ_BASELINE_BRANCH);
	/* A clone has the fetched branch; new counts are stored on top of it. */
	sh("git clone -q %s %s/clone", root, folder);
	free(repository.root);
	repository.root = fz_asprintf("%s/clone", folder);
	assert_int_equal(found(commits[0], "there", FZ_BASELINE_BRANCH), 200);
	save(FZ_BASELINE_BRANCH, commits[2], "here", 500);
	assert_int_equal(listed(NULL), 4);
	sh("git -C %s push -q origin fizeau-data", repository.root);
}

/* A server that stores one recording, may be down, and counts its requests. */
struct server {
	char name[128];
	struct fz_buf bytes;
	int asked;
	bool away;
};

static int answer(struct server *s, struct fz_error *err)
{
	s->asked++;
	return s->away ? fz_fail(err, FZ_ESYSTEM, "is away") : 0;
}

static int server_list(void *arg, const char *commit, struct fz_buf *ret, struct fz_error *err)
{
	struct server *s = arg;
	int rc = answer(s, err);

	/* Any other response is not a name. */
	if (!rc && s->bytes.n && (!commit || strncmp(s->name, commit, strlen(commit)) == 0))
		fz_buf_printf(ret, "../x.fz\n%s.fz\nabc/%s.fz\n", s->name, s->name);
	return rc;
}

static int server_read(void *arg, const char *commit, const char *key, struct fz_buf *ret,
		       struct fz_error *err)
{
	struct server *s = arg;
	int rc = answer(s, err);

	assert_memory_equal(s->name, commit, strlen(commit));
	assert_string_equal(s->name + strlen(commit) + 1, key);
	if (!rc)
		fz_buf_add(ret, s->bytes.p, s->bytes.n);
	return rc;
}

static int server_save(void *arg, const char *commit, const char *key, struct fz_str bytes,
		       struct fz_error *err)
{
	struct server *s = arg;
	int rc = answer(s, err);

	if (rc)
		return rc;
	snprintf(s->name, sizeof(s->name), "%s/%s", commit, key);
	fz_buf_reset(&s->bytes);
	fz_buf_add(&s->bytes, bytes.p, bytes.n);
	return 0;
}

static void test_server(void **state)
{
	struct server s = { 0 };
	struct fz_baseline_server server = { .url = "http://example.org",
					     .arg = &s,
					     .list = server_list,
					     .read = server_read,
					     .save = server_save };

	(void)state;
	assert_int_equal(fz_baseline_place_of("http://example.org"), FZ_BASELINE_SERVER);
	assert_int_equal(fz_baseline_place_of("https://example.org"), FZ_BASELINE_SERVER);
	assert_int_equal(fz_baseline_place_of("notes"), FZ_BASELINE_NOTES);
	assert_int_equal(fz_baseline_place_of("head.fz"), -1);
	baselines.server = &server;
	save(FZ_BASELINE_SERVER, commits[1], "here", 300);
	assert_int_equal(found(commits[1], "here", FZ_BASELINE_SERVER), 300);
	assert_int_equal(found(commits[1], "there", FZ_BASELINE_SERVER), 0);
	assert_int_equal(found(commits[0], "here", FZ_BASELINE_SERVER), 0);
	assert_int_equal(listed(NULL), 1);
	/* Nothing is requested if there is a nearer baseline. */
	save(FZ_BASELINE_CACHE, commits[1], "here", 301);
	s.asked = 0;
	assert_int_equal(found(commits[1], "here", FZ_BASELINE_CACHE), 301);
	assert_int_equal(s.asked, 0);
	/* A server that is down is queried once. */
	s.away = true;
	assert_int_equal(found(commits[1], "there", FZ_BASELINE_SERVER), 0);
	assert_int_equal(found(commits[0], "there", FZ_BASELINE_SERVER), 0);
	assert_int_equal(s.asked, 1);
	assert_string_equal(server.trouble.message, "is away");
	/* Also when it goes between its list and what is in it. */
	const struct fz_kept k = { .place = FZ_BASELINE_SERVER };
	struct fz_profile *p;
	struct fz_error err;
	assert_int_equal(fz_baseline_read(&baselines, &k, &p, &err), FZ_ESYSTEM);
	assert_int_equal(s.asked, 1);
	baselines.server = NULL;
	fz_buf_release(&s.bytes);
}

/* As `git notes merge` leaves them: more notes than git keeps in one folder. */
static void test_many_notes(void **state)
{
	(void)state;
	save(FZ_BASELINE_NOTES, commits[0], "here", 100);
	sh("who='committer t <t@example.org> 1 +0000'; for i in $(seq 400); do "
	   "printf 'commit refs/heads/many\\nmark :%%s\\n%%s\\ndata 1\\nm\\n' $i \"$who\"; done "
	   ">%s/stream; printf 'commit refs/notes/fizeau\\n%%s\\ndata 1\\nm\\n"
	   "from refs/notes/fizeau^0\\n' \"$who\" >>%s/stream; for i in $(seq 400); do "
	   "printf 'N inline :%%s\\ndata 2\\nx\\n' $i; done >>%s/stream; "
	   "git fast-import --quiet <%s/stream",
	   folder, folder, folder, folder);
	sh("git ls-tree refs/notes/fizeau | grep -q tree");
	assert_int_equal(found(commits[0], "here", FZ_BASELINE_NOTES), 100);
	save(FZ_BASELINE_NOTES, commits[1], "here", 200);
	assert_int_equal(found(commits[0], "here", FZ_BASELINE_NOTES), 100);
	assert_int_equal(found(commits[1], "here", FZ_BASELINE_NOTES), 200);
	assert_int_equal(listed(NULL), 2);
	sh("test \"$(git notes --ref fizeau list | wc -l)\" -eq 402");
}

static void write_some(enum fz_baseline_place place, int writer)
{
	for (int i = 0; i < EACH; i++) {
		char environment[32];
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		snprintf(environment, sizeof(environment), "writer %d", writer);
		p = counted(environment, 10 * writer + i + 1);
		if (fz_baseline_save(&baselines, place, commits[i], p, NULL))
			_exit(1);
	}
	_exit(0);
}

static void check_writers(enum fz_baseline_place place)
{
	int status;

	for (int w = 0; w < WRITERS; w++)
		if (fork() == 0)
			write_some(place, w);
	for (int w = 0; w < WRITERS; w++) {
		wait(&status);
		assert_int_equal(status, 0);
	}
	assert_int_equal(listed(NULL), WRITERS * EACH);
	for (int w = 0; w < WRITERS; w++) {
		char environment[32];
		snprintf(environment, sizeof(environment), "writer %d", w);
		for (int i = 0; i < EACH; i++)
			assert_int_equal(found(commits[i], environment, place), 10 * w + i + 1);
	}
}

static void test_writers(void **state)
{
	(void)state;
	check_writers(FZ_BASELINE_NOTES);
}

static void test_branch_writers(void **state)
{
	(void)state;
	check_writers(FZ_BASELINE_BRANCH);
}

/* Notes that two clones wrote become one set by git's own merge. */
static void test_merged(void **state)
{
	(void)state;
	save(FZ_BASELINE_NOTES, commits[0], "here", 100);
	sh("git clone -q %s %s/clone", root, folder);
	sh("git -C %s/clone fetch -q origin refs/notes/fizeau:refs/notes/fizeau", folder);
	save(FZ_BASELINE_NOTES, commits[0], "there", 200);
	char *first = repository.root;
	repository.root = fz_asprintf("%s/clone", folder);
	save(FZ_BASELINE_NOTES, commits[0], "elsewhere", 300);
	sh("cd %s/clone && git fetch -q origin refs/notes/fizeau:refs/notes/other && "
	   "git -c user.name=t -c user.email=t@example.org notes --ref fizeau merge -q "
	   "-s cat_sort_uniq refs/notes/other",
	   folder);
	assert_int_equal(found(commits[0], "here", FZ_BASELINE_NOTES), 100);
	assert_int_equal(found(commits[0], "there", FZ_BASELINE_NOTES), 200);
	assert_int_equal(found(commits[0], "elsewhere", FZ_BASELINE_NOTES), 300);
	free(first);
}

/* Data of others there is not a recording, and is ignored. */
static void test_damaged(void **state)
{
	char key[FZ_BASELINE_KEY_SIZE];

	(void)state;
	save(FZ_BASELINE_CACHE, commits[0], "here", 100);
	fz_baseline_key(FZ_STR("here"), key);
	sh("echo nonsense >%s/%s/%s.fz; touch %s/%s/x.fz %s/.fz; mkdir %s/y", cache, commits[0],
	   key, cache, commits[0], cache, cache);
	assert_int_equal(found(commits[0], "here", FZ_BASELINE_CACHE), 0);
	sh("git -c user.name=t -c user.email=t@example.org notes --ref fizeau add -m "
	   "'fizeau1 %s =!not=' %s",
	   key, commits[0]);
	assert_int_equal(found(commits[0], "here", FZ_BASELINE_NOTES), 0);
	save(FZ_BASELINE_NOTES, commits[0], "here", 200);
	assert_int_equal(found(commits[0], "here", FZ_BASELINE_NOTES), 200);
}

/* One line with the option and git's message. */
static void test_refused(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = counted("here", 100);
	struct fz_error err;

	(void)state;
	sh("echo x >%s", cache);
	assert_int_not_equal(fz_baseline_save(&baselines, FZ_BASELINE_CACHE, commits[0], p, &err),
			     0);
	assert_non_null(strstr(err.message, "--save cache"));
	/* A ref that cannot be: another one has its name as a folder. */
	sh("git update-ref refs/notes/fizeau/x HEAD");
	assert_int_not_equal(fz_baseline_save(&baselines, FZ_BASELINE_NOTES, commits[0], p, &err),
			     0);
	assert_non_null(strstr(err.message, "--save notes"));
	assert_null(strchr(err.message, '\n'));
	sh("test -z \"$(git for-each-ref refs/notes/fizeau-*)\"");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_cache),   TEST(test_notes),   TEST(test_branch),
		TEST(test_writers), TEST(test_merged),  TEST(test_many_notes),
		TEST(test_damaged), TEST(test_refused), TEST(test_branch_writers),
		TEST(test_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
