/* SPDX-License-Identifier: MIT */
/*
 * --format=table: the rows go to a temporary file as CSV with names, of which a table is loaded as
 * by "xtable load --csv --header".
 */
#include <string.h>
#include <spindle/table.h>
#include "unnamed.h"
#include "xgroup.h"

static char rows[UNNAMED_PATH]; /* path of the temporary file */

int totals_begin(const struct settings *set)
{
	static const char table[] = "--format=table";

	args_exclude(set->opts.largest, "--largest", true, table);
	args_exclude(set->opts.split, "--split", true, table);
	args_exclude(set->opts.run.volume, "--volume", true, table);
	args_exclude(set->opts.run.compress_output, "--compress-output", true, table);
	if (!set->output)
		die("%s needs -o: a table is a file", table);
	if (set->opts.format.kind == SP_REC_LINE && !set->opts.format.json)
		die("%s needs records whose rows can be CSV: --csv and --header, --json, "
		    "--record-size or a table",
		    table);
	if (!set->opts.header)
		die("%s needs names of columns: add --header", table);
	return unnamed_file(set->opts.run.tmpdirs[0], rows, table);
}

void totals_load(const struct settings *set)
{
	static const char *const inputs[] = { rows };
	struct sp_table_load_opts load = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc;

	load.run.memory_bytes = set->opts.run.memory_bytes;
	load.run.tmpdirs = set->opts.run.tmpdirs;
	load.run.ntmpdirs = set->opts.run.ntmpdirs;
	load.run.parallel = set->opts.run.parallel;
	load.run.overwrite = true;
	load.format = SP_TABLE_CSV;
	load.header = true;
	load.separator = set->opts.format.kind == SP_REC_CSV ? set->opts.format.separator : ',';
	load.null_text = set->opts.null_text;
	rc = sp_table_load(set->output, inputs, 1, &load, NULL, &err);
	if (!rc)
		return;
	if (!strcmp(err.path, rows))
		snprintf(err.path, sizeof(err.path), "%s", set->output);
	die_of(rc, &err);
}
