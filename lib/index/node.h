/* SPDX-License-Identifier: MIT */
/*
 * Reads and fills nodes: pages of an index that are leaves or inner nodes.
 *
 * The entries of a node are in the order of their keys.  An entry has two numbers.  In a leaf they
 * are the offset and the length of a record.  In an inner node they are the page of a child, and
 * whether the previous child ends with the same key.  The key of an inner entry separates its child
 * from the previous one.  It is greater than the last key of the previous child, unless it is
 * repeated, and at most the first key of its own child.  Format: spindle-index(5).
 */
#pragma once

#include <spindle/api.h>

#define SP__NODE_MIN 512
#define SP__NODE_MAX 65536
#define SP__NODE_LEVELS 32

/* Returns the length of the longest key: four entries fit, whatever their numbers are. */
static inline size_t sp__node_key_max(uint32_t page_bytes)
{
	return page_bytes / 4 - 32;
}

/* Returns the maximum number of entries: each takes two bytes for its offset and three more. */
static inline size_t sp__node_entries_max(uint32_t page_bytes)
{
	return page_bytes / 5;
}

/* A node in borrowed memory. */
struct sp__node {
	const uint8_t *data;
	unsigned level; /* 0: leaf */
	unsigned count;
	const uint8_t *prefix; /* common prefix of all keys */
	size_t prefix_bytes;
};

struct sp__nodeentry {
	const uint8_t *rest; /* rest of the key, behind the prefix */
	size_t rest_bytes;
	uint64_t a, b; /* leaf: offset, length; inner: child, repeated */
};

/* Checks a whole page.  Returns NULL, or the reason why it is not this node. */
const char *sp__node_open(struct sp__node *n, const uint8_t *data, uint32_t page_bytes,
			  uint64_t number);
struct sp__nodeentry sp__node_entry(const struct sp__node *n, unsigned i);
/* Compares the key of entry i with this key, like memcmp(). */
int sp__node_compare(const struct sp__node *n, unsigned i, const uint8_t *key, size_t bytes);
/* Returns the number of entries of a leaf whose keys are smaller or, with equal, not greater. */
unsigned sp__node_below(const struct sp__node *n, const uint8_t *key, size_t bytes, bool equal);
/* Returns the child of an inner node in which the first entry with this key would be. */
uint64_t sp__node_child(const struct sp__node *n, const uint8_t *key, size_t bytes);

/* A node that is being filled. */
struct sp__nodefill {
	uint32_t page_bytes;
	unsigned level, count;
	uint8_t *memory;
	uint8_t *prefix, *entries, *spare; /* page_bytes each, of memory */
	uint16_t *slots;		   /* offsets of entries */
	size_t prefix_bytes, entries_bytes;
};

SP_MUST_CHECK int sp__nodefill_init(struct sp__nodefill *f, uint32_t page_bytes, unsigned level);
void sp__nodefill_free(struct sp__nodefill *f); /* accepts a struct that is all zero */
/* Adds an entry whose key is not smaller than the last one.  Returns false if it does not fit. */
SP_MUST_CHECK bool sp__nodefill_add(struct sp__nodefill *f, const uint8_t *key, size_t bytes,
				    uint64_t a, uint64_t b);
/* Writes the node as a page without number and checksum, and empties it. */
void sp__nodefill_take(struct sp__nodefill *f, uint8_t *page);
/* Gives a page its number and checksum. */
void sp__node_seal(uint8_t *page, uint32_t page_bytes, uint64_t number);
