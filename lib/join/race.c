/* SPDX-License-Identifier: MIT */
/*
 * Reads whole records from both inputs as they arrive, and keeps them, until one ends
 * or the limit is reached; if neither has data, poll(2) waits for both.  So it does not
 * matter which of two pipes is filled first.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include "base/err.h"
#include "join/source.h"

#define CHUNK_BYTES (64u << 10)

struct sp__ahead {
	struct sp__ahead *next;
	size_t bytes, room;
	char data[];
};

static int keep(struct sp__source *s, const char *data, size_t bytes, struct sp_errinfo *err)
{
	struct sp__ahead *a = s->ahead_last;

	if (!a || a->room - a->bytes < bytes) {
		size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;

		a = malloc(sizeof(*a) + room);
		if (!a)
			return sp__err(err, -ENOMEM, "allocate", NULL, -1);
		*a = (struct sp__ahead){ .room = room };
		if (s->ahead)
			s->ahead_last->next = a;
		else
			s->ahead = a;
		s->ahead_last = a;
		s->ahead_bytes += sizeof(*a) + room;
	}
	memcpy(a->data + a->bytes, data, bytes);
	a->bytes += bytes;
	return 0;
}

/* Reads all available data of an input.  SP_END, SP_LATER, SP_READY (enough) or an error. */
static int take(struct sp__source *s, uint64_t room, struct sp_errinfo *err)
{
	int rc;

	while (s->ahead_bytes < room) {
		struct sp_batch batch;

		rc = sp__scan_next(s->scan, &batch);
		if (rc != SP_READY)
			return rc;
		s->bytes += batch.bytes;
		rc = keep(s, batch.data, batch.bytes, err);
		if (rc < 0)
			return rc;
	}
	return SP_READY;
}

static void wait_for(const struct sp__source s[2], const bool later[2])
{
	struct pollfd p[2];
	nfds_t n = 0;

	for (int i = 0; i < 2; i++)
		if (later[i])
			p[n++] = (struct pollfd){ .fd = sp__scan_fd(s[i].scan), .events = POLLIN };
	while (poll(p, n, -1) < 0 && errno == EINTR)
		;
}

int sp__source_race(struct sp__source s[2], const bool known[2], uint64_t limit_bytes,
		    struct sp_errinfo *err)
{
	bool later[2];
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		if (known[i] || s[i].at == s[i].end)
			continue;
		rc = keep(&s[i], s[i].at, (size_t)(s[i].end - s[i].at), err);
		s[i].at = s[i].end;
	}
	while (rc >= 0) {
		for (int i = 0; i < 2; i++) {
			uint64_t other = s[!i].ahead_bytes;

			later[i] = false;
			if (known[i])
				continue;
			rc = take(&s[i], limit_bytes > other ? limit_bytes - other : 0, err);
			if (rc == SP_END)
				return i;
			if (rc != SP_LATER)
				return rc < 0 ? rc : 2;
			later[i] = true;
			s[i].waits.block = NULL;
		}
		wait_for(s, later);
	}
	return rc;
}

bool sp__source_ahead(struct sp__source *s)
{
	struct sp__ahead *a = s->ahead;

	if (a && s->ahead_lent) {
		s->ahead = a->next;
		s->ahead_bytes -= sizeof(*a) + a->room;
		free(a);
		a = s->ahead;
	}
	s->ahead_lent = a != NULL;
	if (!a)
		return false;
	s->at = a->data;
	s->end = a->data + a->bytes;
	return true;
}
