/* SPDX-License-Identifier: MIT */
/*
 * Reads whole records from both inputs as they arrive, and keeps them, until one input ends or the
 * limit is reached.  If neither has data, it waits for both, so it does not matter which of two
 * pipes is filled first.
 */
#include <stdlib.h>
#include "base/err.h"
#include "join/input/source.h"

struct sp__ahead {
	struct sp__ahead *next;
	size_t bytes, capacity;
	char data[];
};

static int keep(struct sp__source *s, const char *data, size_t bytes, struct sp_errinfo *err)
{
	struct sp__ahead *a = s->ahead ? s->ahead_last : NULL;

	/* A pinned chunk does not grow. */
	if (!a || (s->ahead_pinned && a == s->ahead) || a->capacity - a->bytes < bytes) {
		size_t capacity = bytes > SP__AHEAD_BYTES ? bytes : SP__AHEAD_BYTES;

		a = malloc(sizeof(*a) + capacity);
		if (!a)
			return sp__err(err, -ENOMEM, "allocate", NULL, -1);
		if (s->budget)
			sp__budget_charge(s->budget, sizeof(*a) + capacity);
		*a = (struct sp__ahead){ .capacity = capacity };
		if (s->ahead)
			s->ahead_last->next = a;
		else
			s->ahead = a;
		s->ahead_last = a;
		s->ahead_bytes += sizeof(*a) + capacity;
	}
	memcpy(a->data + a->bytes, data, bytes);
	a->bytes += bytes;
	return 0;
}

int sp__source_take(struct sp__source *s, uint64_t capacity, struct sp_errinfo *err)
{
	int rc;

	while (s->ahead_bytes < capacity) {
		struct sp_batch batch;

		rc = s->scan ? sp__scan_next(s->scan, &batch)
			     : sp__operator_next(s->operator, & batch);
		if (rc != SP_READY)
			return rc;
		s->bytes += batch.bytes;
		rc = keep(s, batch.data, batch.bytes, err);
		if (rc < 0)
			return rc;
	}
	return SP_READY;
}

int sp__source_aside(struct sp__source *s, struct sp_errinfo *err)
{
	int rc = 0;

	if (s->ahead_pinned || s->at == s->end)
		return 0;
	rc = keep(s, s->at, (size_t)(s->end - s->at), err);
	s->at = s->end;
	return rc;
}

int sp__source_race(struct sp__source s[2], const bool known[2], uint64_t limit_bytes,
		    struct sp_errinfo *err)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		if (known[i] || s[i].at == s[i].end)
			continue;
		rc = sp__source_aside(&s[i], err);
	}
	while (rc >= 0) {
		for (int i = 0; i < 2; i++) {
			uint64_t other = s[!i].ahead_bytes;

			if (known[i])
				continue;
			rc = sp__source_take(&s[i], limit_bytes > other ? limit_bytes - other : 0,
					     err);
			if (rc == SP_END)
				return i;
			if (rc != SP_LATER)
				return rc < 0 ? rc : 2;
		}
		rc = sp__waits_block(s->waits);
	}
	return rc;
}

bool sp__source_ahead(struct sp__source *s)
{
	struct sp__ahead *a = s->ahead;

	if (a && s->ahead_pinned) {
		s->ahead = a->next;
		s->ahead_bytes -= sizeof(*a) + a->capacity;
		if (s->budget)
			sp__budget_credit(s->budget, sizeof(*a) + a->capacity);
		free(a);
		a = s->ahead;
	}
	s->ahead_pinned = a != NULL;
	if (!a)
		return false;
	s->at = a->data;
	s->end = a->data + a->bytes;
	return true;
}
