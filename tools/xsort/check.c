/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include "msg.h"
#include "quote.h"
#include "xsort.h"

int check_run(const struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_disorder where = { 0 };
	int rc;

	if (set->nfiles > 1)
		die("extra operand %s not allowed with -%c", quote_file_always(set->files[1]),
		    set->check);
	if (set->output) {
		const char letters[] = { set->check, 'o', '\0' };

		incompatible(letters);
	}
	rc = sp_sort_check(&set->opts, set->files[0], set->header, &where, &err);
	if (rc < 0)
		failure(set, &err, 0);
	if (rc == 0)
		return 0;
	if (set->check == 'c') {
		fprintf(stderr, "%s: %s:%llu: disorder: ", msg_program(), set->files[0],
			(unsigned long long)where.line);
		fwrite(where.record, 1, where.bytes, stderr);
		putc(set->opts.format.kind == SP_REC_LINE ? set->eol : '\n', stderr);
	}
	free(where.record);
	return ferror(stderr) ? XSORT_FAILURE : XSORT_DISORDER;
}
