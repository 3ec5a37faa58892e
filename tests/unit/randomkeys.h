/* SPDX-License-Identifier: MIT */
/*
 * Random record numbers as the keys of a command.
 */
#ifndef RANDOMKEYS_H
#define RANDOMKEYS_H

#include <stdio.h>
#include "base/rng.h"

struct random_keys {
	struct sp__rng rng;
	uint64_t records, left;
	char text[24];
};

static int random_key(void *keys, const char **key, size_t *bytes)
{
	struct random_keys *k = keys;

	if (!k->left)
		return 0;
	k->left--;
	*bytes = (size_t)snprintf(k->text, sizeof(k->text), "%llu",
				  (unsigned long long)sp__rng_below(&k->rng, k->records));
	*key = k->text;
	return 1;
}

#endif
