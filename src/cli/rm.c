/* SPDX-License-Identifier: MIT */
/* fizeau rm: remove recordings from the local store; files elsewhere are refused. */
#include "cli/cli.h"

#include "store/store.h"

#include <unistd.h>

static bool all;

static const struct fz_opt option_table[] = {
	FZ_OPT(FLAG, "all", NULL, &all, "remove all stored recordings"),
	{ .kind = FZ_OPT_END },
};

static const char open_remedy[] = "is still being recorded; stop the recorder or delete the file";

static bool is_listed(const struct fz_store_list *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->paths[i], path) == 0)
			return true;
	return false;
}

static int remove_all(const struct fz_store_list *l, struct fz_error *err)
{
	for (size_t i = 0; i < l->n; i++)
		if (fz_store_remove(l->paths[i], err))
			return err->code;
	return 0;
}

/* Resolve all names before removing the first, so that "@1 @2" are those that `list` printed. */
static int remove_named(const struct fz_store_list *l, const struct fz_store_list *open,
			char **names, int n, struct fz_error *err)
{
	struct fz_store_list chosen = { 0 };
	int rc = 0;

	for (int i = 0; i < n && !rc; i++) {
		char *path = NULL;
		rc = fz_store_resolve(names[i], &path, err);
		if (!rc && is_listed(open, path))
			rc = fz_fail(err, FZ_EUSAGE, "rm: %s %s", names[i], open_remedy);
		else if (!rc && !is_listed(l, path))
			rc = fz_fail(err, FZ_EUSAGE,
				     "rm: %s is not in the store; delete the file instead",
				     names[i]);
		if (rc) {
			free(path);
			break;
		}
		fz_push(chosen.paths, chosen.n, chosen.cap, path);
	}
	if (!rc)
		rc = remove_all(&chosen, err);
	fz_store_list_release(&chosen);
	return rc;
}

static int rm(struct fz_opt_state *state)
{
	fz_auto(fz_store_list_release) struct fz_store_list l = { 0 };
	fz_auto(fz_store_list_release) struct fz_store_list open = { 0 };
	struct fz_error err;
	char cwd[4096];

	if (all == (state->argument_count > 0))
		return fz_cli_errorf("rm: specify recordings, such as @1, or --all");
	if (!getcwd(cwd, sizeof(cwd)))
		return fz_cli_errorf("rm: the current folder no longer exists");
	fz_auto(fz_free_ptr) char *folder = fz_store_folder(cwd);
	if (fz_store_list(folder, &l, &open, &err))
		return fz_cli_error(&err);
	int rc = all ? remove_all(&l, &err)
		     : remove_named(&l, &open, state->arguments, state->argument_count, &err);
	for (size_t i = 0; all && !rc && i < open.n; i++)
		fz_cli_warn("rm: %s %s", open.paths[i], open_remedy);
	return rc ? fz_cli_error(&err) : FZ_EXIT_OK;
}

const struct fz_command fz_command_rm = {
	.name = "rm",
	.summary = "remove stored recordings",
	.usage = "RECORDING... | --all",
	.examples = "  $ fizeau rm @1 @2\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_RECORDING,
	.run = rm,
};
