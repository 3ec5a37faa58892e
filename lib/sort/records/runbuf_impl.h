/* SPDX-License-Identifier: MIT */
/*
 * What runbuf.c and distinct.c share: one record on its way into a run buffer.
 */
#pragma once

#include "sort/records/runbuf.h"

struct sp__arrival {
	const char *rec;
	size_t bytes;		  /* terminator included */
	const unsigned char *key; /* in the record or in rb->keybuf; NULL: it has no byte key */
	size_t key_bytes;
	size_t reach, key_reach; /* bytes that may be read from either on */
	bool suffices;		 /* as SP__REF_SUFFICES */
};

static inline bool sp__runbuf_fits(const struct sp__runbuf *rb, size_t bytes)
{
	return bytes + (rb->n + 1) * SP__ENTRY_COST <= rb->capacity - rb->used;
}

/* Finds the record at p and its key.  0 or -ENOMEM. */
int sp__runbuf_look(struct sp__runbuf *rb, const char *p, const char *end, struct sp__arrival *a);
/* Stores it; false: the buffer is full. */
bool sp__runbuf_append(struct sp__runbuf *rb, const struct sp__arrival *a);
