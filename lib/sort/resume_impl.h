/* SPDX-License-Identifier: MIT */
/*
 * The records of the journal, shared by resume.c, which opens and identifies, and checkpoints.c.
 */
#ifndef SP__SORT_RESUME_IMPL_H
#define SP__SORT_RESUME_IMPL_H

#include "sort/resume.h"

enum sp__resume_record {
	SP__RECORD_IDENTITY = 1,
	SP__RECORD_RUN,
	SP__RECORD_RANGES,
	SP__RECORD_MARK,
	SP__RECORD_COMPLETE,
};

/* Takes up a record, whose data it may keep (NULL then).  output: the result's name. */
SP_MUST_CHECK int sp__checkpoints_take(struct sp__resume *r, const char *output,
				       struct sp__journal_record *rec);
void sp__checkpoints_free(struct sp__resume *r);
/* SP_EUNSUP: the directory cannot be used. */
int sp__resume_refuse(const struct sp__resume *r, const char *what);
/* SP_EUNSUP: the directory has the checkpoints of another sort; it is to be removed. */
int sp__resume_foreign(const struct sp__resume *r, const char *what);

#endif
