/* SPDX-License-Identifier: MIT */
/*
 * What the files that read JSON share: a set of paths as a tree, and names in a record.
 */
#pragma once

#include "rec/jsonread.h"

#define SP__JSON_NO_NODE ((unsigned)-1)

/* A member or an element on the way to a path; node 0 is the whole value. */
struct sp__json_node {
	char *name; /* decoded, owned; NULL: an element */
	size_t bytes;
	uint64_t index;
	unsigned child, next; /* first child; next child of the same parent */
	unsigned path;	      /* the number of the path that ends here */
};

struct sp__json_paths {
	struct sp__json_node *nodes;
	size_t nnodes;
	size_t npaths;
	uint64_t id; /* that no other set of the process has */
};

/* Returns the value of four hexadecimal digits, or -1. */
int sp__json_hex4(const char *p, const char *end);
