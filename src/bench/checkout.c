/* SPDX-License-Identifier: MIT */
/* Workspaces and the checkouts in them; see checkout.h.
 *
 *   $TMPDIR/kw/PROJECT      worktree: a path as long and as deep as the user's, with the same last
 *                           folder (fz_scratch_place)
 *   CACHE/XXXXXX/pycache    bytecode of runs, so that no tree is written to
 */
#include "bench/checkout.h"

#include "git/command.h"
#include "base/io.h"
#include "bench/inplace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Check a folder such as /tmp/fizeau-0: another user may have created it, and could read and
 * replace its files. */
static int check_ours(const char *folder, struct fz_error *err)
{
	static const char remedy[] = "set XDG_CACHE_HOME to a folder of yours";
	struct stat st;
	int rc = fz_make_folder(folder, err);

	if (rc)
		return rc;
	if (lstat(folder, &st))
		return fz_fail_errno(err, "%s", folder);
	if (st.st_uid != geteuid())
		return fz_fail(err, FZ_EPERM, "%s: belongs to another user (%u); %s", folder,
			       (unsigned)st.st_uid, remedy);
	if (!S_ISDIR(st.st_mode))
		return fz_fail(err, FZ_EPERM, "%s: not a folder; %s", folder, remedy);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return fz_fail(err, FZ_EPERM, "%s: writable by others; %s", folder, remedy);
	return 0;
}

int fz_workspace_cache_folder(const char *what, char **ret, struct fz_error *err)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	fz_auto(fz_free_ptr) char *top = NULL;
	int rc = 0;

	if (cache && cache[0] == '/') {
		top = fz_asprintf("%s/fizeau", cache);
	} else if (home && home[0] == '/') {
		top = fz_asprintf("%s/.cache/fizeau", home);
	} else {
		top = fz_asprintf("%s/fizeau-%d", fz_temporary_folder(), (int)geteuid());
		rc = check_ours(top, err);
	}
	if (!rc)
		*ret = fz_asprintf("%s/%s", top, what);
	return rc;
}

int fz_workspace_find(struct fz_workspace *w, const char *remedy, struct fz_error *err)
{
	struct fz_error why;
	int rc = fz_repository_find(&w->repository, &why);

	return rc == FZ_EUSAGE ? fz_fail(err, rc, "%s; %s", why.message, remedy)
	       : rc            ? fz_fail(err, rc, "%s", why.message)
			       : 0;
}

int fz_workspace_open(struct fz_workspace *w, const char *command, const struct fz_notify *notify,
		      bool show_output, struct fz_error *err)
{
	fz_assert(!w->open);
	fz_series_begin(&w->series, command, &w->record, notify);
	w->open = true;
	fz_environ_init(&w->environ, NULL);
	fz_git_call_leave_hook(&w->environ);
	/* With one target folder for all trees, cargo would use what it built for another tree. */
	fz_environ_unset(&w->environ, "CARGO_TARGET_DIR");
	fz_environ_unset(&w->environ, "CARGO_BUILD_TARGET_DIR");
	int rc = fz_workspace_cache_folder(command, &w->cache, err);
	if (rc)
		return rc;
	if (fz_scratch_make(w->cache, &w->scratch, err))
		return fz_error_prefix(err, "no cache folder; set XDG_CACHE_HOME");
	const char *root = w->repository.root;
	if (root && !fz_scratch_place(&w->scratch, root))
		fz_notify_note(notify,
			       "%s: cannot create a checkout with a path as short as %s; results "
			       "that depend on path length may differ",
			       command, root);
	rc = fz_caretaker_start(&w->caretaker, &w->scratch, err);
	if (rc)
		return rc;
	w->own_bytecode = !getenv("PYTHONPYCACHEPREFIX");
	fz_workspace_keep_bytecode(w, "all");
	w->output = show_output ? STDERR_FILENO : open("/dev/null", O_WRONLY | O_CLOEXEC);
	return w->output < 0 ? fz_fail_errno(err, "/dev/null") : 0;
}

/* Bytecode is written, but not into the trees, even if the user disabled it: otherwise every run
 * would compile every module again. */
void fz_workspace_keep_bytecode(struct fz_workspace *w, const char *name)
{
	if (!w->own_bytecode)
		return;
	fz_auto(fz_free_ptr) char *folder = fz_asprintf("%s/pycache/%s", w->scratch.path, name);
	fz_environ_set(&w->environ, "PYTHONPYCACHEPREFIX", folder);
	fz_environ_unset(&w->environ, "PYTHONDONTWRITEBYTECODE");
}

void fz_workspace_close(struct fz_workspace *w)
{
	struct fz_error err;

	free(w->whole);
	free(w->imports);
	w->whole = w->imports = NULL;
	fz_repository_release(&w->repository);
	fz_environ_release(&w->environ);
	if (!w->open)
		return;
	if (fz_scratch_remove(&w->scratch, &err))
		fz_notify_warn(w->series.notify, "%s: %s", w->series.command, err.message);
	fz_caretaker_stop(&w->caretaker);
	if (w->output != STDERR_FILENO)
		fz_close_fd(&w->output);
	free(w->cache);
	w->cache = NULL;
	w->open = false;
	fz_series_end(&w->series);
}

/* ---- checkouts ---- */

void fz_checkout_release(struct fz_checkout *checkout)
{
	free(checkout->commit);
	free(checkout->tree);
	free(checkout->folder);
	*checkout = (struct fz_checkout){ 0 };
}

int fz_checkout_here(struct fz_workspace *w, struct fz_checkout *ret, struct fz_error *err)
{
	const struct fz_repository *r = &w->repository;
	char *commit;
	int rc = fz_repository_commit(r, "HEAD", &commit, err);

	if (rc)
		return rc;
	*ret = (struct fz_checkout){ .name = "head",
				     .commit = commit,
				     .tree = fz_strdup(r->root),
				     .folder = fz_asprintf("%s/%s", r->root, r->prefix) };
	return 0;
}

/* In a new worktree the folders of submodules are empty; fetching them may need the network. git
 * marks such submodules by a minus sign. */
static bool lacks_submodules(const struct fz_workspace *w, const struct fz_checkout *checkout)
{
	static const char *const words[] = { "submodule", "status", "--recursive", NULL };
	fz_auto(fz_free_ptr) char *list = fz_asprintf("%s/.gitmodules", checkout->tree);
	fz_auto(fz_buf_release) struct fz_buf out = { 0 }, why = { 0 };
	struct fz_error err;
	int status;

	return checkout->worktree && !access(list, F_OK) &&
	       !fz_repository_git(&w->repository, checkout->tree, words, &out, &why, &status,
				  &err) &&
	       out.n && (*out.p == '-' || memmem(out.p, out.n, "\n-", 2));
}

int fz_checkout_set_up(struct fz_workspace *w, const struct fz_checkout *checkout,
		       struct fz_error *err)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)w->setup, NULL };
	struct fz_launch_place place = { .folder = checkout->folder,
					 .environ = w->environ.list,
					 .no_input = true,
					 .own_group = true,
					 .output = STDERR_FILENO,
					 .errors = -1 };
	struct fz_child child;

	if (!w->setup || fz_series_stopped(&w->series))
		return 0;
	int rc = fz_series_run(&w->series, argv, &place, &child, err);
	if (rc)
		return fz_error_prefix(err, "cannot build %s: --setup '%s'", checkout->name,
				       w->setup);
	if (child.status && !fz_series_stopped(&w->series))
		return fz_fail(err, FZ_EINPUT, "cannot build %s: --setup '%s' failed%s%.10s%s",
			       checkout->name, w->setup, checkout->commit ? " at " : "",
			       checkout->commit ? checkout->commit : "",
			       lacks_submodules(w, checkout)
				       ? "; its submodules are not checked out: begin --setup with "
					 "'git submodule update --init --recursive &&'"
				       : "");
	return 0;
}

/* ---- packages in editable mode ---- */

void fz_workspace_find_imports(struct fz_workspace *w, char *const argv[])
{
	const struct fz_repository *r = &w->repository;
	fz_auto(fz_free_ptr) char *folder = fz_asprintf("%s/%s", r->root, r->prefix);
	struct fz_buf found = { 0 };

	fz_inplace_find((const char *const *)argv, folder, r->root, &found);
	if (!found.n)
		return;
	w->imports = fz_buf_take(&found);
	fz_notify_note(w->series.notify,
		       "%s: this project is installed in editable mode (pip install -e); each side "
		       "imports it from its own tree by PYTHONPATH",
		       w->series.command);
}

void fz_checkout_environ(const struct fz_workspace *w, const struct fz_checkout *checkout,
			 struct fz_environ *ret)
{
	fz_environ_init(ret, w->environ.list);
	fz_inplace_prefer(w->imports, checkout->tree, ret);
	/* cargo-runner counts only programs in this tree (bindings/rust/cargo-runner). */
	fz_environ_set(ret, "FIZEAU_TREE", checkout->tree);
}

static void warn_about_submodules(const struct fz_workspace *w, const struct fz_checkout *checkout)
{
	if (!w->setup && lacks_submodules(w, checkout))
		fz_notify_warn(w->series.notify,
			       "%s: %s is checked out without submodules; use --setup 'git "
			       "submodule update --init --recursive' to fetch them",
			       w->series.command, checkout->name);
}

int fz_checkout_add(struct fz_workspace *w, const char *commit, const char *name,
		    struct fz_checkout *ret, struct fz_error *err)
{
	const struct fz_repository *r = &w->repository;

	fz_assert(w->open && r->root);
	*ret = (struct fz_checkout){ .name = name, .commit = fz_strdup(commit), .worktree = true };
	ret->tree = fz_asprintf("%s/%s", w->scratch.base, fz_path_base(fz_str_of(r->root)).p);
	ret->folder = fz_asprintf("%s/%s", ret->tree, r->prefix);
	int rc = fz_worktree_add(r, commit, ret->tree, err);
	if (!rc)
		warn_about_submodules(w, ret);
	if (!rc && access(ret->folder, F_OK))
		rc = fz_fail(err, FZ_EUSAGE, "%s (%.10s) has no folder %s", name, commit,
			     r->prefix);
	if (!rc)
		rc = fz_checkout_set_up(w, ret, err);
	if (rc)
		fz_checkout_remove(w, ret);
	return rc;
}

void fz_checkout_remove(struct fz_workspace *w, struct fz_checkout *checkout)
{
	struct fz_error err;

	if (checkout->worktree && fz_worktree_remove(&w->repository, checkout->tree, &err))
		fz_notify_warn(w->series.notify, "%s: %s", w->series.command, err.message);
	fz_checkout_release(checkout);
}
