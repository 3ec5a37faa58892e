/* SPDX-License-Identifier: MIT */
/*
 * Declares what runbuf.c and distinct.c share: a record that is being added to a run buffer.
 */
#pragma once

#include "sort/records/runbuf.h"

struct sp__arrival {
	const char *rec;
	size_t bytes;		  /* including the terminator */
	const unsigned char *key; /* in the record or in rb->keybuf; NULL: no byte key */
	size_t key_bytes;
	size_t reach, key_reach; /* bytes that may be read from rec, from key */
	bool suffices;		 /* see SP__REF_SUFFICES */
};

static inline bool sp__runbuf_fits(const struct sp__runbuf *rb, size_t bytes)
{
	return bytes + (rb->n + 1) * SP__ENTRY_COST <= rb->capacity - rb->used;
}

/* Finds the record at p and its key.  Returns 0 or -ENOMEM. */
int sp__runbuf_look(struct sp__runbuf *rb, const char *p, const char *end, struct sp__arrival *a);
/* Stores a record.  False if the buffer is full. */
bool sp__runbuf_append(struct sp__runbuf *rb, const struct sp__arrival *a);
