/* SPDX-License-Identifier: MIT */
/* Names and versions of services, derived from processes with arbitrary names. */
#include "agent/version.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

#define NUMBER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char ini[] = "[ci]\nmetric = peak\n"
			  "[benchmark x]\nwhatever = 1\n"
			  "[service shop]\ncommand = *gunicorn*shop*\nversion = 1.4\n"
			  "[service both]\ncommand = *worker*\ncgroup = */jobs*.service\n"
			  "[service group]\ncgroup = */jobs*\nfolder = /srv/jobs\n";

static void text(char *out[static 9], struct fz_agent_program *p)
{
	/* What a test does not set is not known. */
	char **const texts[] = { &p->command, &p->name,   &p->cgroup, &p->executable, &p->folder,
				 &p->script,  &p->module, &p->called, &p->build };

	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++) {
		out[i] = *texts[i];
		if (!*texts[i])
			*texts[i] = (char *)"";
	}
}

static void expect(const struct fz_agent_rules *rules, const char *order, struct fz_agent_program p,
		   const struct fz_agent_container *c, const char *expected)
{
	char name[FZ_FLEET_NAME_MAX + 1], *unused[9];
	const struct fz_agent_rule *rule;
	struct fz_agent_order by;
	struct fz_error err;

	text(unused, &p);
	assert_int_equal(fz_agent_order_parse(order, &by, &err), 0);
	fz_agent_service_of(rules, &by, &p, c, name, &rule);
	assert_string_equal(name, expected);
	if (fz_fleet_check_service(name, &err))
		fail_msg("%s", err.message);
}

#define T(text) ((char *)(text))
#define PROGRAM(...) ((struct fz_agent_program){ .pid = 1, __VA_ARGS__ })

static void services(void **state)
{
	static const char all[] = "ini,cgroup,command";
	const struct fz_agent_container none = { 0 }, nameless = { .is_one = true };
	const struct fz_agent_container web = { .is_one = true, .name = T("web") };
	struct fz_agent_rules rules = { 0 }, no_rules = { 0 };
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_agent_rules_parse(&rules, ini, "f", &err), 0);
	assert_int_equal(rules.n, 3);
	expect(&rules, all, PROGRAM(.command = T("gunicorn -w 4 shop:app"), .name = T("gunicorn")),
	       &none, "shop");
	expect(&rules, all,
	       PROGRAM(.command = T("worker"), .cgroup = T("/system.slice/jobs-1.service")), &none,
	       "both");
	expect(&rules, all,
	       PROGRAM(.command = T("other"), .cgroup = T("/system.slice/jobs-1.service")), &none,
	       "group");
	expect(&rules, "cgroup,ini", PROGRAM(.cgroup = T("/system.slice/jobs-1.service")), &none,
	       "jobs-1");
	expect(&no_rules, all,
	       PROGRAM(.name = T("app.py"), .cgroup = T("/system.slice/a.service/x")), &none, "a");
	expect(&no_rules, all,
	       PROGRAM(.name = T("app.py"), .cgroup = T("/system.slice/a@7.service")), &none, "a");
	expect(&no_rules, all,
	       PROGRAM(.name = T("app.py"),
		       .cgroup = T("/user.slice/user@1000.service/session.slice")),
	       &none, "app.py");
	expect(&no_rules, all,
	       PROGRAM(.cgroup = T("/user.slice/user@1000.service/app.slice/b.service")), &none,
	       "b");
	expect(&no_rules, all,
	       PROGRAM(.name = T("app.py"), .cgroup = T("/user.slice/session-3.scope")), &none,
	       "app.py");
	expect(&no_rules, all, PROGRAM(.name = T("app.py"), .cgroup = T("/.service")), &none,
	       "app.py");
	/* The container's name, not that of its runtime. */
	expect(&no_rules, all, PROGRAM(.name = T("app.py"), .cgroup = T("/containerd.service/k")),
	       &nameless, "app.py");
	expect(&no_rules, all, PROGRAM(.name = T("app.py")), &web, "web");
	expect(&no_rules, "command", PROGRAM(.name = T("app.py")), &web, "app.py");
	expect(&no_rules, "ini", PROGRAM(.name = T("app.py")), &none, "other");
	expect(&rules, all, PROGRAM(.met = FZ_MET_KERNEL, .command = T("shop gunicorn shop")),
	       &none, "kernel");
	expect(&no_rules, all, PROGRAM(.met = FZ_MET_GONE, .name = T("x")), &none, "gone");
	fz_agent_rules_release(&rules);
}

static void hostile_names(void **state)
{
	const struct fz_agent_container none = { 0 };
	struct fz_agent_rules no_rules = { 0 };
	fz_auto(fz_free_ptr) char *length = fz_calloc(1, 5000);

	(void)state;
	memset(length, 'x', 4999);
	memcpy(length + 126, "\xc3\xa4\xc3\xa4", 4); /* cut in the middle of a letter */
	fz_auto(fz_free_ptr) char *cut = fz_strndup(length, 128);
	expect(&no_rules, "command", PROGRAM(.name = length), &none, cut);
	expect(&no_rules, "command", PROGRAM(.name = T("a@b@")), &none, "a_b_");
	expect(&no_rules, "command", PROGRAM(.name = T("a\n\x1b[31m\xff")), &none,
	       "a\\n\\x1b[31m\\xff");
	expect(&no_rules, "cgroup,command",
	       PROGRAM(.cgroup = T("/x\n@\x01.service"), .name = T("n")), &none, "x\\n");
}

static void refuse(const char *text, const char *why)
{
	struct fz_agent_rules rules = { 0 };
	struct fz_error err;

	assert_int_not_equal(fz_agent_rules_parse(&rules, text, "f.ini", &err), 0);
	if (!strstr(err.message, why) || strncmp(err.message, "f.ini:", 6) != 0)
		fail_msg("%s", err.message);
	fz_agent_rules_release(&rules);
}

static void wrong_rules(void **state)
{
	struct fz_agent_order by;
	struct fz_error err;

	(void)state;
	refuse("[service a@b]\ncommand = x\nversion = 1\n", "f.ini:2: ");
	refuse("[service a]\ncomand = x\n", "did you mean 'command'");
	refuse("[service a]\nversion = 1\n", "'command' or 'cgroup' is required");
	refuse("[service a@b]\ncommand = x\n", "must not contain @");
	refuse("[service]\ncommand = x\n", "missing name");
	refuse("[service a]\ncommand = x\nversion = 1\nfolder = /\n", "mutually exclusive");
	refuse("[service a]\ncommand =\n", "empty value");
	refuse("nonsense\n", "expected [section]");
	assert_int_not_equal(fz_agent_order_parse("ini,ini", &by, &err), 0);
	assert_int_not_equal(fz_agent_order_parse("", &by, &err), 0);
	assert_int_not_equal(fz_agent_order_parse("ini,", &by, &err), 0);
	assert_int_not_equal(fz_agent_order_parse("unit", &by, &err), 0);
	assert_int_equal(fz_agent_order_parse("command,ini", &by, &err), 0);
	assert_int_equal(by.n, 2);
	assert_int_equal(by.list[0], FZ_AGENT_BY_COMMAND);
}

/* ---- versions ---- */

static char *folder;

static void sh(const char *script)
{
	fz_auto(fz_free_ptr) char *command =
		fz_asprintf("cd %s && { %s; } >/dev/null", folder, script);

	assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
	char path[] = "/tmp/fizeau-agent-XXXXXX";

	(void)state;
	folder = fz_strdup(mkdtemp(path));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fz_auto(fz_free_ptr) char *command = fz_asprintf("rm -rf %s", folder);
	int r = system(command);

	free(folder);
	return r;
}

static const char *version_with(struct fz_agent_program p, const struct fz_agent_rule *rule,
				const char *label)
{
	static struct fz_agent_wanted wanted;
	struct fz_agent_versions *v = fz_agent_versions_new();
	char *unused[9];

	text(unused, &p);
	wanted = (struct fz_agent_wanted){ .program = &p, .rule = rule, .label = label };
	fz_agent_versions_find(v, &wanted, 1);
	fz_agent_versions_free(v);
	return wanted.version;
}

static void containers(void **state)
{
	struct fz_agent_container c;

	(void)state;
	sh("mkdir " NUMBER " && echo '{\"Name\":\"/web-1\",\"Config\":{\"Labels\":{"
	   "\"org.opencontainers.image.version\":\"2.1\"}}}' > " NUMBER "/config.v2.json");
	fz_agent_container_of(folder, "/system.slice/docker-" NUMBER ".scope", &c);
	assert_true(c.is_one);
	assert_string_equal(c.name, "web-1");
	assert_string_equal(c.version, "2.1");
	fz_agent_container_release(&c);
	sh("echo '{\"Config\":{\"Labels\":{\"com.docker.compose.service\":\"web\"}}}' > " NUMBER
	   "/config.v2.json");
	fz_agent_container_of(folder, "/docker/" NUMBER, &c);
	assert_string_equal(c.name, "web");
	assert_null(c.version);
	fz_agent_container_release(&c);
	sh("echo '[1' > " NUMBER "/config.v2.json");
	fz_agent_container_of(folder, "/docker/" NUMBER, &c);
	assert_true(c.is_one && !c.name && !c.version);
	fz_agent_container_of(folder, "/system.slice/a.service", &c);
	assert_false(c.is_one);
}

static void commits(void **state)
{
	fz_auto(fz_free_ptr) char *script = fz_asprintf("%s/app/src/app.py", folder);
	int64_t now = fz_clock_unix();
	struct fz_agent_program p =
		PROGRAM(.script = script, .interpreted = true, .executable = T("/usr/bin/python3"),
			.start_unix_ns = now + 3600 * (int64_t)1000000000);
	char first[64], old[64];

	(void)state;
	sh("git init -q app && cd app && mkdir src && echo a > src/app.py && git add . && "
	   "GIT_COMMITTER_DATE='2026-01-01 00:00:00 +0000' git -c user.name=n -c user.email=e "
	   "commit -qm 1 && git rev-parse --short=12 HEAD > ../first");
	snprintf(first, sizeof(first), "%s", version_with(p, NULL, "label"));
	assert_int_equal(strlen(first), 12);
	sh("echo b >> app/src/app.py");
	fz_auto(fz_free_ptr) char *dirty = fz_asprintf("%s-dirty", first);
	assert_string_equal(version_with(p, NULL, NULL), dirty);
	/* A process that began before the checkout moved on runs the commit of then. */
	sh("cd app && git -c user.name=n -c user.email=e commit -qam 2");
	assert_string_not_equal(version_with(p, NULL, NULL), first);
	p.start_unix_ns = 1780000000 * (int64_t)1000000000;
	snprintf(old, sizeof(old), "%s", version_with(p, NULL, NULL));
	assert_string_equal(old, first);
	/* A section names a checkout, or the version itself. */
	fz_auto(fz_free_ptr) char *top = fz_asprintf("%s/app", folder);
	const struct fz_agent_rule elsewhere = { "s", .folder = top };
	const struct fz_agent_rule fixed = { "s", .version = "7" };
	p = PROGRAM(.executable = T("/usr/bin/python3"), .elsewhere = true);
	assert_int_equal(strlen(version_with(p, &elsewhere, NULL)), 12);
	assert_string_equal(version_with(p, &fixed, "label"), "7");
	assert_string_equal(version_with(p, NULL, "label"), "label");
	assert_string_equal(version_with(p, NULL, "1@2"), "1_2");
}

static void packages(void **state)
{
	fz_auto(fz_free_ptr) char *script = fz_asprintf("%s/venv/bin/shop", folder);
	fz_auto(fz_free_ptr) char *python = fz_asprintf("%s/venv/bin/python3", folder);
	struct fz_agent_program p = PROGRAM(.script = script, .called = python, .interpreted = true,
					    .executable = T("/usr/bin/python3.11"));

	(void)state;
	sh("P=venv/lib/python3.11/site-packages/shop_web-3.2.dist-info; mkdir -p $P venv/bin && "
	   "touch venv/bin/shop && printf '[console_scripts]\\nshop = shop:main\\n' > "
	   "$P/entry_points.txt");
	assert_string_equal(version_with(p, NULL, NULL), "3.2");
	/* The file is younger than the process: the package may be, too. */
	p.start_unix_ns = fz_clock_unix() - 3600 * (int64_t)1000000000;
	assert_string_equal(version_with(p, NULL, NULL), "unversioned");
	p = PROGRAM(.module = T("shop_web.cli"), .called = python, .interpreted = true,
		    .executable = T("/usr/bin/python3.11"));
	assert_string_equal(version_with(p, NULL, NULL), "3.2");
	p.module = T("../x*");
	assert_string_equal(version_with(p, NULL, NULL), "unversioned");
}

static void others(void **state)
{
	(void)state;
	assert_string_equal(
		version_with(PROGRAM(.executable = T("/nowhere/x"), .build = T("abc")), NULL, NULL),
		"abc");
	assert_string_equal(version_with(PROGRAM(.met = FZ_MET_GONE), NULL, NULL), "unversioned");
	assert_string_not_equal(version_with(PROGRAM(.met = FZ_MET_KERNEL), NULL, NULL),
				"unversioned");
	/* What would be taken for a range of time. */
	assert_string_equal(version_with(PROGRAM(.build = T("2h..1h")), NULL, NULL), "unversioned");
	if (access("/usr/bin/dpkg-query", X_OK) || access("/usr/bin/dash", X_OK))
		return;
	assert_string_not_equal(version_with(PROGRAM(.executable = T("/usr/bin/dash")), NULL, NULL),
				"unversioned");
}

/* What is read of a process that runs: of this one. */
/* The name of a process that runs /bin/sleep under this name. */
static void expect_called(const char *word, const char *expected)
{
	struct fz_agent_program p = { 0 };
	int started[2];
	char byte;

	assert_int_equal(pipe2(started, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/sleep", word, "600", NULL);
		_exit(1);
	}
	close(started[1]);
	/* The other end closes when the program starts, just before it has a command line. */
	assert_int_equal(read(started[0], &byte, 1), 0);
	close(started[0]);
	do {
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		fz_agent_program_release(&p);
		fz_agent_program_read(pid, FZ_MET_PROGRAM, &p);
	} while (!*p.name);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_string_equal(p.name, expected);
	fz_agent_program_release(&p);
}

static void titles(void **state)
{
	char file[PATH_MAX];

	(void)state;
	assert_non_null(realpath("/bin/sleep", file));
	fz_auto(fz_free_ptr) char *renderer = fz_asprintf("%s --type=renderer --data=/a/b", file);
	expect_called("nginx: worker process", "nginx");
	expect_called("postgres: alice shop 10.0.0.1(5432) SELECT", "postgres");
	expect_called("sshd: root@pts/0", "sshd");
	expect_called("/opt/chrome --type=renderer --data=/a/b", "chrome");
	expect_called(renderer, "sleep");
	expect_called("/opt/my shop/sleep", "sleep");
	expect_called("shop", "shop");
	expect_called("/opt/My App/app", "app");
	expect_called("/opt/My App/app -k secret", "app");
	expect_called("[celeryd: w1@h:MainProcess] -active-", "celeryd");
	expect_called(" shop secret", "shop");
	expect_called("shop\tsecret", "shop");
	expect_called("[", "[");
}

static void this_process(void **state)
{
	struct fz_agent_program p, again;

	(void)state;
	fz_agent_program_read(getpid(), FZ_MET_PROGRAM, &p);
	assert_string_equal(p.name, "test_agent_names");
	assert_true(fz_str_ends(fz_str_of(p.executable), "test_agent_names"));
	assert_false(p.elsewhere || p.deleted);
	int64_t age = fz_clock_unix() - p.start_unix_ns;
	assert_true(age > -1000000000 && age < 600 * (int64_t)1000000000);
	fz_agent_program_read(getpid(), FZ_MET_PROGRAM, &again);
	assert_true(fz_agent_program_key(&p) == fz_agent_program_key(&again));
	fz_agent_program_release(&again);
	fz_agent_program_read(getppid(), FZ_MET_PROGRAM, &again);
	assert_true(fz_agent_program_key(&p) != fz_agent_program_key(&again));
	fz_agent_program_release(&p);
	fz_agent_program_release(&again);
	fz_agent_program_read(0x7ffffffe, FZ_MET_PROGRAM, &p);
	assert_string_equal(p.name, "");
	fz_agent_program_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(services),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(wrong_rules),
		cmocka_unit_test_setup_teardown(containers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(commits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(packages, set_up, tear_down),
		cmocka_unit_test(others),
		cmocka_unit_test(titles),
		cmocka_unit_test(this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
