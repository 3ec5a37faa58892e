/* SPDX-License-Identifier: MIT */
#include "join/state.h"

int sp__source_open(struct sp__source *s, const char *input, const struct sp_recfmt *format,
		    const struct sp__rstream_opts *stream, struct sp_errinfo *err)
{
	struct sp__scan_opts o = { .format = *format,
				   .inputs = &s->input,
				   .ninputs = 1,
				   .stream = *stream,
				   .waits = &s->waits,
				   .err = err };

	*s = (struct sp__source){ .input = input, .format = *format };
	return sp__scan_open(&s->scan, &o);
}

void sp__source_close(struct sp__source *s)
{
	sp__scan_close(s->scan);
	s->scan = NULL;
}

int sp__source_fill(struct sp__source *s)
{
	struct sp__iter it = { s->scan, sp__scan_next };
	struct sp_batch batch;
	int rc;

	sp__join_filling(s);
	rc = sp__iter_next(&it, &s->waits, &batch);
	if (rc == SP_READY) {
		s->at = batch.data;
		s->end = batch.data + batch.bytes;
		s->bytes += batch.bytes;
		s->batch_bytes = batch.bytes;
	}
	return rc;
}
