/* SPDX-License-Identifier: MIT */
/* fizeau.h compiles on its own, and a program that uses it links. */
#include <fizeau.h>
#include <string.h>

int main(void)
{
	struct fizeau_error err;
	struct fizeau_profile *p = NULL;

	memset(&err, 0, sizeof(err));
	if (fizeau_profile_load("/does/not/exist", &p, &err) >= 0 || p || !err.message[0])
		return 1;
	fizeau_profile_free(p);
	fizeau_diff_free(NULL);
	return fizeau_version()[0] == '\0';
}
