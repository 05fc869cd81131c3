/* SPDX-License-Identifier: MIT */
/* Sessions without a command around them: their messages, and how programs of a series end. */
#include "record/notify.h"
#include "record/series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The notices that came, one a line: "w text". */
struct heard {
	char text[512];
};

static void hear(void *arg, enum fz_notice kind, const char *text)
{
	struct heard *h = arg;
	size_t n = strlen(h->text);

	snprintf(h->text + n, sizeof(h->text) - n, "%c %s\n", "nwp"[kind], text);
}

static void test_notices(void **state)
{
	static const struct fz_notify deaf = { 0 };
	struct heard heard = { "" };
	const struct fz_notify to = { hear, &heard };

	(void)state;
	fz_notify_warn(NULL, "%d", 1);
	fz_notify_note(&deaf, "%d", 1);
	fz_notify_progress_end(NULL);
	fz_notify_progress(&to, "run %d of %d", 1, 2);
	fz_notify_warn(&to, "%s is gone", "it");
	fz_notify_note(&to, "kept");
	fz_notify_progress_end(&to);
	assert_string_equal(heard.text, "p run 1 of 2\nw it is gone\nn kept\np \n");
}

static struct fz_child run(struct fz_series *s, const char *script)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	const struct fz_launch_place place = { .own_group = true, .output = -1, .errors = -1 };
	struct fz_child child;
	struct fz_error err = { 0 };

	if (fz_series_run(s, argv, &place, &child, &err))
		fail_msg("%s", err.message);
	return child;
}

static void test_series(void **state)
{
	const struct fz_record_options options = FZ_RECORD_DEFAULTS;
	struct heard heard = { "" };
	const struct fz_notify to = { hear, &heard };
	struct fz_series s;
	char how[32];

	(void)state;
	fz_series_begin(&s, "test", &options, &to);
	struct fz_child child = run(&s, "exit 3");
	fz_trial_describe(&child, how, sizeof(how));
	assert_string_equal(how, "3");
	assert_false(s.late);
	s.patience = 0.2;
	child = run(&s, "exec sleep 60");
	fz_trial_describe(&child, how, sizeof(how));
	assert_string_equal(how, "signal 15");
	assert_true(s.late);
	assert_string_equal(heard.text, "");
	/* A signal is held back: it ends the series, not us. */
	raise(SIGTERM);
	assert_true(fz_series_stopped(&s));
	assert_int_equal(s.stopped_by, SIGTERM);
	fz_series_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notices),
		cmocka_unit_test(test_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
