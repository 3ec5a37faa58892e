/* SPDX-License-Identifier: MIT */
/*
 * Writes the tree of an index from ranges of leaves.
 */
#pragma once

#include "base/mem.h"
#include "index/indexheader.h"
#include "index/leafrange.h"
#include "index/node.h"
#include "io/wstream.h"

/* The node of a level that is being filled; of level 0: the last leaf, which is not written yet. */
struct sp__treelevel {
	struct sp__nodefill fill;
	struct sp__bytes separator; /* between this node and the previous one */
	bool repeated;
	uint64_t written; /* nodes */
};

struct sp__tree {
	struct sp__wstream *out;
	struct sp__index_header *header; /* its end_page is the next page; root is set by finish */
	struct sp__treelevel level[SP__NODE_LEVELS];
	struct sp__bytes last; /* the last key */
	uint8_t *page, *leaf;  /* leaf: the last one */
};

/*
 * out: borrowed; its offset is that of the first page, after the header.
 * header: borrowed; its lengths are set.  The tree sets the members that describe it.
 */
SP_MUST_CHECK int sp__tree_init(struct sp__tree *t, struct sp__wstream *out,
				struct sp__index_header *header);
void sp__tree_free(struct sp__tree *t); /* accepts a struct that is all zero */
/* Adds the leaves of the next range.  Their keys have at most sp__node_key_max() bytes. */
SP_MUST_CHECK int sp__tree_put(struct sp__tree *t, const struct sp__leafrange *r);
SP_MUST_CHECK int sp__tree_finish(struct sp__tree *t);
