/* SPDX-License-Identifier: MIT */
/*
 * Declares the records of the journal, shared by resume.c, which opens and identifies, and
 * checkpoints.c.
 */
#pragma once

#include "sort/resume/resume.h"

enum sp__resume_record {
	SP__RECORD_IDENTITY = 1,
	SP__RECORD_RUN,
	SP__RECORD_RANGES,
	SP__RECORD_MARK,
	SP__RECORD_COMPLETE,
};

/* Accepts a record; can take ownership of its data, which is then NULL. */
SP_MUST_CHECK int sp__checkpoints_take(struct sp__resume *r, struct sp__journal_record *rec);
void sp__checkpoints_free(struct sp__resume *r);
/* Called after all records: sets r->committed if result and inputs are as recorded. */
SP_MUST_CHECK int sp__resume_find_result(struct sp__resume *r, const struct sp_sort_io *io);
/* Returns SP_EUNSUP: the directory cannot be used. */
int sp__resume_refuse(const struct sp__resume *r, const char *what);
/* Returns SP_EUNSUP: the directory has the checkpoints of another sort, and should be removed. */
int sp__resume_foreign(const struct sp__resume *r, const char *what);
/* Returns SP_EUNSUP: an input has changed. */
int sp__resume_changed(const struct sp__resume *r, const char *input);
