/* SPDX-License-Identifier: MIT */
/* Parses places in the form of Valgrind's tools; see valgrind.h. */
#include "valgrind.h"

#include "base/buf.h"
#include "import.h"

/* Takes "0x109180: " before a place; other tools may omit it. */
static struct fz_str take_address(struct fz_str *place)
{
	const char *colon = fz_str_starts(*place, "0x") ? memchr(place->p, ':', place->n) : NULL;
	struct fz_str address = *place;

	if (!colon)
		return FZ_STR("");
	address.n = (size_t)(colon - place->p);
	*place = fz_str_trimmed((struct fz_str){ colon + 1, place->n - address.n - 1 });
	return address;
}

/* Without a symbol, the object's name, "[libc.so.6]", since addresses of libraries vary. */
static uint32_t unknown_frame(struct fz_profile *p, struct fz_str module, struct fz_str address)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	struct fz_str base = fz_path_base(module);
	struct fz_import_frame f = { .name = address };

	if (base.n) {
		fz_buf_printf(&name, "[%.*s]", (int)FZ_MIN(base.n, (size_t)INT32_MAX), base.p);
		f.name = fz_buf_view(&name);
	}
	return fz_import_frame_in(p, &f, module);
}

uint32_t fz_valgrind_frame(struct fz_profile *p, struct fz_str place)
{
	struct fz_str address = take_address(&place);
	struct fz_import_frame f = { 0 };

	fz_import_location(place, &f);
	f.line = f.first_line; /* this is the line of the call, not the function's first */
	f.first_line = 0;
	if (fz_str_eq(f.name, FZ_STR("???")))
		return unknown_frame(p, f.module, address);
	struct fz_str module = f.module;
	f.module = FZ_STR("");
	return fz_import_frame_in(p, &f, module);
}

bool fz_valgrind_is_own(struct fz_str place)
{
	static const char library[] = "/vgpreload_", source[] = "(vg_replace_malloc.c:";

	return memmem(place.p, place.n, library, sizeof(library) - 1) ||
	       memmem(place.p, place.n, source, sizeof(source) - 1);
}
