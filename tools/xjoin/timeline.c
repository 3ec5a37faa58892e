/* SPDX-License-Identifier: MIT */
/*
 * Writes the file of --timeline.
 */
#include "outputs.h"
#include "timeline.h"

void timeline_open(struct timeline *t, const char *name)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	*t = (struct timeline){ 0 };
	if (!name)
		return;
	if (sp_outfile_open(&t->out, name, 0, &err) < 0 ||
	    sp_outfile_stream(t->out, &t->file, &err) < 0)
		output_die(&err);
	fputs("row,elapsed_s\n", t->file);
}

void timeline_row(void *timeline, uint64_t row, double elapsed_s)
{
	struct timeline *t = timeline;

	fprintf(t->file, "%llu,%.9f\n", (unsigned long long)row, elapsed_s);
}

void timeline_close(struct timeline *t)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	(void)!sp_outfile_commit(t->out, &err);
	sp_outfile_close(t->out, &err);
	if (err.code < 0)
		output_die(&err);
}
