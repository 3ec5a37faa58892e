/* SPDX-License-Identifier: MIT */
/*
 * Finds names of months for -M: the abbreviations of the locale in upper case without blanks.  The
 * text need only begin with one.
 *
 * The table is in the order of its names.  A binary search decides, as it does in GNU sort, which
 * name matches in locales where one name begins with another.
 */
#include <ctype.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include "rec/keyset.h"

static int by_name(const void *a, const void *b)
{
	const struct sp__month *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int sp__month_init(struct sp_keyset *ks)
{
	char *out;

	for (int i = 0; i < 12; i++) {
		const char *s = nl_langinfo(ABMON_1 + i);

		out = malloc(strlen(s) + 1);
		if (!out)
			return -ENOMEM;
		ks->month[i].name = out;
		ks->month[i].number = (unsigned char)(i + 1);
		for (; *s; s++)
			if (!isblank((unsigned char)*s))
				*out++ = (char)ks->ctab.fold[(unsigned char)*s];
		*out = '\0';
	}
	qsort(ks->month, 12, sizeof(ks->month[0]), by_name);
	return 0;
}

void sp__month_fini(struct sp_keyset *ks)
{
	for (int i = 0; i < 12; i++)
		free(ks->month[i].name);
}

/*
 * Compares a text with a name.  Negative: s is before name; 0: s begins with it and *end is after
 * it.
 */
static int match(const struct sp_keyset *ks, const char *s, const char *lim, const char *name,
		 const char **end)
{
	for (; *name; s++, name++) {
		int have = s < lim ? ks->ctab.fold[(unsigned char)*s] : -1;

		if (have != (unsigned char)*name)
			return have < (unsigned char)*name ? -1 : 1;
	}
	*end = s;
	return 0;
}

int sp__month_of(const struct sp_keyset *ks, const char *s, const char *lim, const char **end)
{
	int lo = 0, hi = 12;

	s = sp__skip_blanks(ks, s, lim);
	while (lo < hi) {
		int mid = (lo + hi) / 2;
		int diff = match(ks, s, lim, ks->month[mid].name, end);

		if (!diff)
			return ks->month[mid].number;
		if (diff < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return 0;
}
