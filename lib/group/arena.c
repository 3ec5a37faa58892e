/* SPDX-License-Identifier: MIT */
/* Memory of groups (arena.h). */
#include <string.h>
#include "base/minmax.h"
#include "group/arena.h"

#define HUGE_BYTES ((size_t)8 << 20) /* arenas from here on have huge pages */

int sp__arena_open(struct sp__group_arena *a, size_t bytes)
{
	*a = (struct sp__group_arena){ .capacity = bytes, .first = bytes };
	a->data = sp__pages_alloc(bytes, bytes >= HUGE_BYTES);
	sp__arena_empty(a);
	return a->data ? 0 : -ENOMEM;
}

void sp__arena_close(struct sp__group_arena *a)
{
	sp__pages_free(a->data, a->capacity);
	*a = (struct sp__group_arena){ 0 };
}

void sp__arena_empty(struct sp__group_arena *a)
{
	a->used = SP__ARENA_UNIT; /* no group is at 0 */
}

int sp__arena_extend(struct sp__group_arena *a, size_t bytes)
{
	struct sp__group_arena more;

	if (sp__arena_open(&more, sp__max(2 * a->capacity, bytes)))
		return -ENOMEM;
	memcpy(more.data, a->data, a->used);
	more.used = a->used;
	more.first = a->first;
	sp__pages_free(a->data, a->capacity);
	*a = more;
	return 0;
}

void sp__arena_shrink(struct sp__group_arena *a)
{
	struct sp__group_arena less;

	if (a->capacity == a->first || sp__arena_open(&less, a->first))
		return;
	sp__arena_close(a);
	*a = less;
}
