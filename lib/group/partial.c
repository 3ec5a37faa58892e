/* SPDX-License-Identifier: MIT */
/*
 * Writes and reads partial records of a grouping in two steps.
 */
#include "group/partial.h"

int sp__group_partials_open(struct sp__scan **scan, const struct sp__scan_opts *options)
{
	struct sp__scan_opts o = *options;

	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = SP__CODE_NUL };
	o.header_records = 0;
	o.remove_blank = o.count_lines = false;
	return sp__scan_open(scan, &o);
}

int sp__group_partials_read(struct sp__scan *scan, struct sp__waits *waits, struct sp_sort *sort)
{
	struct sp__iter it = { scan, sp__scan_next };
	struct sp_batch batch;
	int rc;

	while ((rc = sp__iter_next(&it, waits, &batch)) == SP_READY) {
		rc = sp__sort_put_all(sort, &batch);
		if (rc < 0)
			return rc;
	}
	return rc == SP_END ? 0 : rc;
}

int sp__group_partials_write(struct sp_sort *sort, int rc, struct sp_batch *batch,
			     struct sp__sort_result *write, const struct sp__wstream_opts *writing)
{
	const struct sp_batch none = { NULL, 0 };
	int put = sp__result_begin(write, writing);

	if (!put)
		put = sp__result_put_header(write, &none);
	while (put >= 0 && rc == SP_READY) {
		put = sp__result_put(write, batch);
		if (put >= 0)
			rc = sp__sort_get_next(sort, batch);
	}
	if (put < 0 || rc < 0)
		return put < 0 ? put : rc;
	rc = sp__result_finish(write);
	if (rc < 0)
		return rc;
	sp__sort_sync(sort);
	return sp__result_commit(write);
}
