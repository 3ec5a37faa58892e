/* SPDX-License-Identifier: MIT */
/*
 * Key sets of every form, for tests of what sorts and merges by them.
 */
#ifndef KEYSETS_H
#define KEYSETS_H

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "rec/key.h"
#include "rec/recfmt.h"

struct order {
	const char *name;
	const char *keys[3];
	const char *letters; /* global: r, s (stable), u (unique) */
	const char *locale;  /* NULL: C */
};

static const struct order orders[] = {
	{ "whole lines", { NULL }, "", NULL },
	{ "whole lines, descending", { NULL }, "r", NULL },
	{ "field 2", { "2,2" }, "", NULL },
	{ "field 2, stable", { "2,2" }, "s", NULL },
	{ "field 2 descending", { "2,2r" }, "", NULL },
	{ "field 2, last resort descending", { "2,2" }, "r", NULL },
	{ "numbers", { "1n" }, "", NULL },
	{ "numbers, stable", { "1n" }, "s", NULL },
	{ "numbers descending", { "1nr" }, "r", NULL },
	{ "field 2 without case, then numbers", { "2,2f", "1nr" }, "", NULL },
	{ "field 2 descending, empty last, then numbers", { "2,2rE", "1n" }, "", NULL },
	{ "field 3 as numbers, empty first, then numbers", { "3,3ne", "1n" }, "s", NULL },
	{ "lines without case", { "1f" }, "", NULL },
	{ "versions", { "1V" }, "", NULL },
	{ "en_US lines", { NULL }, "", "en_US.UTF-8" },
	{ "en_US numbers", { "1n" }, "", "en_US.UTF-8" },
	{ "en_US field 2, stable", { "2,2" }, "s", "en_US.UTF-8" },
	{ "en_US field 2, empty last", { "2,2E" }, "", "en_US.UTF-8" },
	{ "en_US field 2 descending", { "2,2r" }, "", "en_US.UTF-8" },
};
#define ORDERS (sizeof(orders) / sizeof(orders[0]))

/* NULL: this machine does not have the locale. */
__attribute__((unused)) static struct sp_keyset *order_open(const struct order *o)
{
	struct sp_keyset_opts opts = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				       .separator = -1 };
	struct sp_key keys[3];
	struct sp_keyset *ks;

	if (!setlocale(LC_ALL, o->locale ? o->locale : "C"))
		return NULL;
	for (; opts.nkeys < 3 && o->keys[opts.nkeys]; opts.nkeys++)
		if (sp_key_parse(o->keys[opts.nkeys], &keys[opts.nkeys], NULL))
			abort();
	opts.keys = keys;
	opts.reverse = strchr(o->letters, 'r');
	opts.stable = strchr(o->letters, 's');
	opts.unique = strchr(o->letters, 'u');
	if (sp_keyset_new(&ks, &opts, NULL))
		abort();
	return ks;
}

__attribute__((unused)) static void locales_here(void)
{
	char path[4096];

	if (realpath("build/locale", path))
		setenv("LOCPATH", path, 0);
}

enum line_shape {
	LINE_FEW,
	LINE_RANDOM,
	LINE_NULS,
	LINE_PREFIX,
	LINE_DIGITS,
	LINE_PATHS,
	LINE_ASCENDING,
	LINE_SHAPES
};
static const char *const line_shapes[] = {
	"few distinct",	 "random", "NUL bytes", "long prefixes",
	"short numbers", "paths",  "ascending",
};

/* A line with its terminator; room for 1400 bytes. */
__attribute__((unused)) static size_t line_make(char *to, enum line_shape shape,
						struct sp__rng *rng, unsigned number)
{
	char *p = to;

	switch (shape) {
	case LINE_FEW:
		p += sprintf(p, "%u %c%c", (unsigned)sp__rng_below(rng, 5),
			     "abAB"[sp__rng_below(rng, 4)], "xX-"[sp__rng_below(rng, 3)]);
		break;
	case LINE_RANDOM:
		for (uint64_t n = sp__rng_below(rng, 30); n; n--)
			*p++ = " 0123456789.-abcABC_\xc3"[sp__rng_below(rng, 20)];
		break;
	case LINE_NULS:
		for (uint64_t n = sp__rng_below(rng, 20); n; n--)
			*p++ = "\0\0\0a 1\1"[sp__rng_below(rng, 7)];
		break;
	case LINE_PREFIX: {
		size_t n = sp__rng_below(rng, 4) * 300 + sp__rng_below(rng, 3);

		memset(p, 'a', n);
		p += n;
		p += sprintf(p, "%u", (unsigned)sp__rng_below(rng, 20));
		break;
	}
	case LINE_DIGITS:
		for (uint64_t n = 1 + sp__rng_below(rng, 3); n; n--)
			*p++ = (char)('0' + sp__rng_below(rng, 10));
		break;
	case LINE_PATHS:
		for (uint64_t n = sp__rng_below(rng, 12); n; n--)
			p += sprintf(p, "/%.*s%u", (int)sp__rng_below(rng, 2) * 9, "directory",
				     (unsigned)sp__rng_below(rng, 2));
		break;
	default:
		p += sprintf(p, "%08u %08u", number / 3, number / 5);
	}
	*p++ = '\n';
	return (size_t)(p - to);
}

#endif
