/* SPDX-License-Identifier: MIT */
/*
 * Logs parts of the work of a thread as tasks, since another thread could have taken each of them.
 *
 * Thread rule: a list belongs to the thread that runs the parts, and after its end to the caller of
 * sp__log_parts_join().
 */
#pragma once

#include <stdlib.h>
#include "base/array.h"
#include "base/tasklog.h"

/* The parts that a thread has begun; zero to begin. */
struct sp__log_parts {
	struct sp__logged *list;
	size_t n, capacity;
};

/* The thread begins a part.  Returns what sp__log_leave() needs at its end. */
static inline struct sp__logging sp__log_part(struct sp__log_parts *l, const char *kind)
{
	struct sp__logged part;

	sp__log_start(&part, kind, false);
	if (part.log && SP__ARRAY_GROW(l->list, l->capacity, l->n + 1))
		l->list[l->n++] = part;
	return sp__log_enter(&part);
}

/* The running task cannot continue before these parts have ended.  Frees the list. */
static inline void sp__log_parts_join(struct sp__log_parts *l)
{
	for (size_t i = 0; i < l->n; i++)
		sp__log_join(&l->list[i], false);
	free(l->list);
	*l = (struct sp__log_parts){ 0 };
}
