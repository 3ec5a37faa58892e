/* SPDX-License-Identifier: MIT */
/*
 * Finds the requests of a run in the recorded sequence for OPT: a trace of an earlier run that made
 * the same requests in the same order.
 *
 * Algorithm.  The trace can have requests to volumes that are not on the simulated machine
 * (files=...).  So a request is searched among the next AHEAD ones, by direction and offset.  The
 * first match of a file and a volume links the two.  Skipped requests leave gaps in the positions.
 * OPT only compares positions, so gaps have no effect.
 */
#include <stdlib.h>
#include "base/err.h"
#include "sim/machine_impl.h"
#include "trace/sequence.h"

#define AHEAD 4096 /* requests examined */

struct sp__simtrace {
	struct sp_sequence *seq;
	struct sp__seqpages pages;
	uint64_t *position; /* of each request's first page */
	unsigned *file;	    /* of each volume, plus 1; 0: not known yet */
	size_t next;
};

static int count_positions(struct sp__simtrace *t, uint32_t page_bytes)
{
	uint64_t position = 0;

	t->position = calloc(t->seq->n + 1, sizeof(*t->position));
	t->file = calloc(t->seq->nvolumes + 1, sizeof(*t->file));
	if (!t->position || !t->file)
		return -ENOMEM;
	for (size_t i = 0; i < t->seq->n; i++) {
		const struct sp__seqreq *r = &t->seq->req[i];

		t->position[i] = position;
		position += sp__seqreq_pages(r, page_bytes);
	}
	return 0;
}

int sp__simtrace_open(struct sp__simtrace **out, const char *path, uint32_t page_bytes,
		      struct sp_errinfo *err)
{
	struct sp__simtrace *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return sp__err(err, -ENOMEM, "read", path, -1);
	rc = sp_sequence_load(&t->seq, path, SP_SEQUENCE_SUBMIT, err);
	if (rc == 0)
		rc = sp__sequence_pages(t->seq, page_bytes, &t->pages);
	if (rc == 0)
		rc = count_positions(t, page_bytes);
	if (rc < 0) {
		sp__simtrace_close(t);
		return sp__err(err, rc, "read", path, -1);
	}
	*out = t;
	return 0;
}

void sp__simtrace_close(struct sp__simtrace *t)
{
	if (!t)
		return;
	sp__sequence_pages_release(&t->pages);
	sp_sequence_free(t->seq);
	free(t->position);
	free(t->file);
	free(t);
}

const uint64_t *sp__simtrace_pages(const struct sp__simtrace *t, size_t *n)
{
	*n = t->pages.n;
	return t->pages.pages;
}

static bool is_taken(const struct sp__simtrace *t, unsigned file)
{
	for (size_t v = 0; v < t->seq->nvolumes; v++)
		if (t->file[v] == file)
			return true;
	return false;
}

void sp__simtrace_seek(struct sp__simtrace *t, struct sp__pcache *pc, const struct sp__simreq *req)
{
	unsigned file = req->file + 1;
	bool known = is_taken(t, file);

	for (size_t i = t->next; i < t->seq->n && i < t->next + AHEAD; i++) {
		const struct sp__seqreq *r = &t->seq->req[i];

		if (r->write != req->write || r->offset != req->offset ||
		    t->file[r->volume] != (known ? file : 0))
			continue;
		t->file[r->volume] = file;
		t->next = i + 1;
		sp__pcache_seek(pc, t->position[i]);
		return;
	}
	sp__pcache_seek(pc, t->pages.n);
}
