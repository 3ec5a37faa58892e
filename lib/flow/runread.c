/* SPDX-License-Identifier: MIT */
/* Splits the chunks of a run into records. */
#include "base/err.h"
#include "flow/runread.h"

void sp__runread_open(struct sp__runread *r, struct sp__spill *spill, struct sp__run *run,
		      const struct sp_recfmt *format, bool last_time, void *mem, size_t mem_bytes)
{
	sp__chunkread_open(&r->chunks, spill, run, last_time, mem, mem_bytes);
	sp__splitter_init(&r->splitter, format);
}

void sp__runread_close(struct sp__runread *r)
{
	sp__chunkread_close(&r->chunks);
	sp__splitter_release(&r->splitter);
}

int sp__runread_next(void *runread, struct sp_batch *batch)
{
	struct sp__runread *r = runread;
	const char *data;
	size_t bytes;
	int rc;

	while ((rc = sp__splitter_next(&r->splitter, batch)) == SP_END) {
		rc = sp__chunkread_next(&r->chunks, &data, &bytes);
		if (rc != SP_READY)
			return rc;
		(void)sp__splitter_feed(&r->splitter, data, bytes);
	}
	return rc < 0 ? sp__err(r->chunks.spill->opts.err, rc, "allocate", NULL, -1) : rc;
}
