/* SPDX-License-Identifier: MIT */
/* Sorts records by partition with one queue of cells per partition (sweep.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "join/hash/sweep.h"

#define NONE UINT32_MAX

struct cell {
	uint32_t next;
	uint16_t fill, records; /* used bytes; records that begin in the cell */
	char data[SP__SWEEP_CELL - 8];
};

struct sp__sweep_queue {
	uint32_t first, last;
};

static struct cell *cell_at(const struct sp__sweep *s, uint32_t at)
{
	return (struct cell *)(void *)(s->mem + (size_t)at * SP__SWEEP_CELL);
}

int sp__sweep_open(struct sp__sweep *s, unsigned npartitions, void *mem, size_t bytes,
		   sp__sweep_fn *out, void *ctx)
{
	size_t ncells = bytes / SP__SWEEP_CELL;

	*s = (struct sp__sweep){ .mem = mem,
				 .ncells = ncells < NONE ? (uint32_t)ncells : NONE - 1,
				 .free_list = NONE,
				 .npartitions = npartitions,
				 .out = out,
				 .ctx = ctx };
	s->queues = malloc(npartitions * sizeof(*s->queues));
	if (!s->queues)
		return -ENOMEM;
	for (unsigned i = 0; i < npartitions; i++)
		s->queues[i] = (struct sp__sweep_queue){ NONE, NONE };
	return 0;
}

void sp__sweep_close(struct sp__sweep *s)
{
	free(s->queues);
	*s = (struct sp__sweep){ 0 };
}

/* Outputs one cell of the current partition, which has one. */
static int drain(struct sp__sweep *s)
{
	struct sp__sweep_queue *q = &s->queues[s->now];
	struct cell *c;
	uint32_t at;

	while (q->first == NONE) {
		s->now = (s->now + 1) % s->npartitions;
		q = &s->queues[s->now];
	}
	at = q->first;
	c = cell_at(s, at);
	q->first = c->next;
	if (q->first == NONE)
		q->last = NONE;
	c->next = s->free_list;
	s->free_list = at;
	return s->out(s->ctx, s->now, c->data, c->fill, c->records);
}

/* Adds a cell to the queue; *c stays unchanged on error. */
static int add_cell(struct sp__sweep *s, struct sp__sweep_queue *q, struct cell **c)
{
	uint32_t at;
	int rc;

	if (s->free_list == NONE && s->used == s->ncells) {
		rc = drain(s);
		if (rc < 0)
			return rc;
	}
	if (s->free_list != NONE) {
		at = s->free_list;
		s->free_list = cell_at(s, at)->next;
	} else {
		at = s->used++;
	}
	*c = cell_at(s, at);
	(*c)->next = NONE;
	(*c)->fill = (*c)->records = 0;
	if (q->last == NONE)
		q->first = at;
	else
		cell_at(s, q->last)->next = at;
	q->last = at;
	return 0;
}

int sp__sweep_put(struct sp__sweep *s, unsigned partition, const char *rec, size_t bytes)
{
	struct sp__sweep_queue *q = &s->queues[partition];
	unsigned begins = 1;

	while (bytes) {
		struct cell *c = q->last == NONE ? NULL : cell_at(s, q->last);
		size_t n;

		if (!c || c->fill == sizeof(c->data)) {
			int rc = add_cell(s, q, &c);

			if (rc < 0)
				return rc;
		}
		n = sizeof(c->data) - c->fill;
		if (n > bytes)
			n = bytes;
		memcpy(c->data + c->fill, rec, n);
		c->fill = (uint16_t)(c->fill + n);
		c->records = (uint16_t)(c->records + begins);
		begins = 0;
		rec += n;
		bytes -= n;
	}
	return 0;
}

int sp__sweep_finish(struct sp__sweep *s)
{
	unsigned empty = 0;
	int rc = 0;

	while (!rc && empty < s->npartitions) {
		if (s->queues[s->now].first != NONE) {
			empty = 0;
			rc = drain(s);
		} else {
			empty++;
			s->now = (s->now + 1) % s->npartitions;
		}
	}
	s->now = 0;
	return rc;
}
