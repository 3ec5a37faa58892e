/* SPDX-License-Identifier: MIT */
/* Sorts points by the sort of this library. */
#include "cube/points/sort.h"

int sp__pointsort_open(struct sp__sorter *s, const struct sp__cubefile *c, uint32_t record_bytes,
		       struct sp_errinfo *err)
{
	struct sp_keyset_opts ko = {
		.format = { .kind = SP_REC_FIXED, .fixed_bytes = record_bytes }, .bytes = true
	};
	struct sp_sort_opts opts = SP_SORT_OPTS_INIT;

	opts.run.memory_bytes = sp__cube_slab_bytes(c);
	opts.run.parallel = c->opts.run.parallel;
	opts.run.tmpdirs = c->opts.run.tmpdirs;
	opts.run.ntmpdirs = c->opts.run.ntmpdirs;
	return sp__sorter_open(s, &ko, &opts, NULL, err);
}

int sp__pointsort_drain(struct sp__sorter *s, sp_cube_sink sink, void *arg)
{
	struct sp_batch batch;
	int rc = sp__sorter_finish(s);

	while (!rc && (rc = sp__sort_get_next(s->sort, &batch)) == SP_READY)
		rc = sink(arg, batch.data, batch.bytes);
	return rc;
}
