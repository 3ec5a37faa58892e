/* SPDX-License-Identifier: MIT */
/*
 * A node: one page of an index, either a leaf or an inner node.
 *
 * Its entries are in the order of their keys.  An entry has two numbers: in a leaf, the offset
 * and the length of a record; in an inner node, the page of a child and whether the child before
 * it ends with the same key.  The key of an inner entry separates its child from the one before
 * it: greater than the last key of that one unless it is repeated, and at most the first key of
 * its own.  Format: spindle-index(5).
 */
#pragma once

#include <spindle/api.h>

#define SP__NODE_MIN 512
#define SP__NODE_MAX 65536
#define SP__NODE_LEVELS 32

/* The longest key: four entries fit, whatever their numbers are. */
static inline size_t sp__node_key_max(uint32_t page_bytes)
{
	return page_bytes / 4 - 32;
}

/* An entry takes two bytes for its place, and a byte at least for each of its three numbers. */
static inline size_t sp__node_entries_max(uint32_t page_bytes)
{
	return page_bytes / 5;
}

/* A node in memory that is somebody else's. */
struct sp__node {
	const uint8_t *data;
	unsigned level; /* 0: leaf */
	unsigned count;
	const uint8_t *prefix; /* that all keys begin with */
	size_t prefix_bytes;
};

struct sp__nodeentry {
	const uint8_t *rest; /* of the key, behind the prefix */
	size_t rest_bytes;
	uint64_t a, b; /* leaf: offset, length; inner: child, repeated */
};

/* Checks all of a page.  NULL, or what is wrong with it. */
const char *sp__node_open(struct sp__node *n, const uint8_t *data, uint32_t page_bytes,
			  uint64_t number);
struct sp__nodeentry sp__node_entry(const struct sp__node *n, unsigned i);
/* The order of entry i's key and this one. */
int sp__node_compare(const struct sp__node *n, unsigned i, const uint8_t *key, size_t bytes);
/* Leaf: the number of entries whose keys are smaller; with equal, smaller or equal. */
unsigned sp__node_below(const struct sp__node *n, const uint8_t *key, size_t bytes, bool equal);
/* Inner node: the child in which the first entry with this key is, if there is one. */
uint64_t sp__node_child(const struct sp__node *n, const uint8_t *key, size_t bytes);

/* A node being filled. */
struct sp__nodefill {
	uint32_t page_bytes;
	unsigned level, count;
	uint8_t *memory;
	uint8_t *prefix, *entries, *spare; /* page_bytes each, of memory */
	uint16_t *slots;		   /* where entries begin */
	size_t prefix_bytes, entries_bytes;
};

SP_MUST_CHECK int sp__nodefill_init(struct sp__nodefill *f, uint32_t page_bytes, unsigned level);
void sp__nodefill_free(struct sp__nodefill *f); /* accepts one all zero */
/* Adds an entry, whose key is not smaller than the last one.  False: it does not fit. */
SP_MUST_CHECK bool sp__nodefill_add(struct sp__nodefill *f, const uint8_t *key, size_t bytes,
				    uint64_t a, uint64_t b);
/* The page with this number; what is filled next is empty. */
void sp__nodefill_take(struct sp__nodefill *f, uint64_t number, uint8_t *page);
