/* SPDX-License-Identifier: MIT */
/*
 * The environment of an adapter: that of this process, with the variables DBM_...
 */
#pragma once

#include <stddef.h>

struct sp__adapter;

struct sp__environment {
	const char **variables; /* ends with NULL; the last `own` ones are its own */
	size_t n, own;
};

/* Returns 0 or -ENOMEM. */
int sp__environment_make(struct sp__environment *e, const struct sp__adapter *a);
void sp__environment_free(struct sp__environment *e);
