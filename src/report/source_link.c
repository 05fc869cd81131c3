/* SPDX-License-Identifier: MIT */
/* Links to source files; see source_link.h. The recorded path can be any bytes: everything but
 * letters, digits and "-._~/" is percent-encoded, so that it cannot end the escape sequence. The
 * URL has the host name, which terminals need for output of remote programs. */
#include "report/source_link.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Terminals ignore much longer URLs. */
enum { ADDRESS_MAX = 2000 };

/* Find the recorded path, below the program's folder unless it is absolute. False if it is not a
 * file here. */
static bool find_file(const struct fz_source_place *place, char path[ADDRESS_MAX])
{
	const struct fz_profile *p = place->profile;
	struct fz_str file = p->strings[p->functions[place->function].file];
	struct fz_str folder = fz_profile_fact(p, "cwd");
	struct stat st;

	if (!file.n || memchr(file.p, '\0', file.n))
		return false;
	if (file.p[0] == '/')
		folder.n = 0;
	else if (!folder.n || folder.p[0] != '/')
		return false;
	int n = snprintf(path, ADDRESS_MAX, "%.*s%s%.*s", (int)FZ_MIN(folder.n, ADDRESS_MAX),
			 folder.p, folder.n ? "/" : "", (int)FZ_MIN(file.n, ADDRESS_MAX), file.p);
	return n < ADDRESS_MAX && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

struct fz_source_place fz_source_place_of(const struct fz_diff *d, const struct fz_diff_function *f)
{
	enum fz_side side = f->on_side[FZ_HEAD] != FZ_NONE ? FZ_HEAD : FZ_BASE;

	return (struct fz_source_place){ f->file, f->line, d->profile[side], f->on_side[side] };
}

bool fz_source_link_begin(const struct fz_source_place *place, const struct fz_style *style,
			  struct fz_buf *out)
{
	char path[ADDRESS_MAX], host[65] = "";

	if (style->links == FZ_LINKS_NONE || !place->profile || !find_file(place, path))
		return false;
	fz_auto(fz_buf_release) struct fz_buf address = { 0 };
	gethostname(host, sizeof(host) - 1);
	fz_buf_uri_part(&address, fz_str_of(host));
	fz_buf_uri_part(&address, fz_str_of(path));
	if (style->links == FZ_LINKS_TO_LINES && place->line > 0)
		fz_buf_printf(&address, "#%d", (int)place->line);
	if (address.n > ADDRESS_MAX)
		return false;
	fz_buf_printf(out, "\033]8;;file://%s\033\\", address.p);
	return true;
}

void fz_source_link_end(struct fz_buf *out)
{
	fz_buf_str(out, "\033]8;;\033\\");
}
