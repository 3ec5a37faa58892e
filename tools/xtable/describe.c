/* SPDX-License-Identifier: MIT */
/*
 * Commands that describe a table: info and check.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "xtable.h"

static void print_form(const struct sp_table_info *i)
{
	printf("loaded as: %s", sp_table_format_name((int)i->format));
	if (i->format != SP_TABLE_FIXED && i->format != SP_TABLE_JSON)
		printf(", fields separated by '%s'%s", quote_plain((char[]){ i->separator, 0 }),
		       i->header ? ", with a header" : "");
	if (*i->null_text)
		printf(", null spelled '%s'", quote_plain(i->null_text));
	putchar('\n');
}

static void print_volumes(const struct sp_table_info *i)
{
	printf("volumes: the table");
	for (size_t k = 0; k < i->nvolume_names; k++)
		printf(", %s", quote_plain(i->volume_names[k]));
	putchar('\n');
}

static void print_layout(const struct sp_table_info *i)
{
	printf("layout: %s\n", sp_table_layout_name((int)i->layout));
	printf("cells: %" PRIu64 " of %" PRIu32 " bytes, %" PRIu64 " of them free", i->cells,
	       i->cell_bytes, i->free_cells);
	if (i->records && !i->no_data)
		printf(", those in use filled to %.1f %%", i->fill * 100);
	putchar('\n');
	printf("A-pages: %" PRIu64 " of %" PRIu32 " records\n", i->pages, i->page_records);
	if (i->placement == SP_PLACE_SEMISEQ)
		printf("placement: semiseq on %u drive%s, %" PRIu32 " cells on consecutive tracks, "
		       "hops of %" PRIu32 " of %" PRIu32 " blocks, %.1f %% of the space unused\n",
		       i->volumes, i->volumes == 1 ? "" : "s", i->depth_rows, i->hop_blocks,
		       i->track_blocks, i->waste * 100);
	if (i->nvolume_names)
		print_volumes(i);
	if (i->placement == SP_PLACE_MEMS)
		printf("placement: mems, %" PRIu32 " A-pages at each location of the sled, %.1f %% "
		       "of the space unused\n",
		       i->location_pages, i->waste * 100);
	if (i->no_data)
		printf("data: none\n");
	if (i->text_bytes)
		printf("text: %" PRIu64 " bytes, %" PRIu64 " of them dead\n", i->text_bytes,
		       i->dead_text_bytes);
}

static void print_columns(const struct sp_table_info *i)
{
	printf("columns: %zu in %zu column groups\n", i->ncolumns, i->ngroups);
	for (size_t k = 0; k < i->ncolumns; k++) {
		const struct sp_table_column *c = &i->columns[k];

		printf("  %s %s%s", quote_plain(c->name), c->type, c->not_null ? " not null" : "");
		if (c->words)
			printf(", %" PRIu32 " words", c->words);
		if (i->groups[c->group].ncolumns > 1 && i->ngroups > 1)
			printf(", column group %" PRIu32, c->group + 1);
		if (!isnan(c->bounds_width))
			printf(", bounds of %.1f %% of its range", c->bounds_width * 100);
		putchar('\n');
	}
}

static int print_json(const struct sp_table_info *info)
{
	struct sp_report *report = sp_report_table_info(info);
	int rc = report ? sp_report_json(report, stdout) : -ENOMEM;

	sp_report_free(report);
	return rc;
}

int command_info(struct config *c)
{
	const struct sp_table_info *i = &c->info;

	if (c->json)
		report_need();
	open_table(c, false, true);
	if (c->json) {
		check_printed(print_json(i), NULL);
	} else {
		printf("records: %" PRIu64, i->records);
		if (i->deleted)
			printf(", %" PRIu64 " of them deleted", i->deleted);
		putchar('\n');
		printf("bytes: %" PRIu64 "\n", i->bytes);
		print_layout(i);
		print_form(i);
		if (i->volume)
			printf("volume: %s\n", i->volume);
		print_columns(i);
	}
	close_table(c);
	return 0;
}

static int print_damage(void *arg, const struct sp_table_damage *d)
{
	(void)arg;
	printf("%s", quote_plain(d->text));
	/* The text names records and the first column. */
	if (d->columns && strchr(d->columns, ','))
		printf("; columns %s", quote_plain(d->columns));
	putchar('\n');
	return 0;
}

static void print_result(const struct sp_table_info *i, const struct sp_table_check_result *r)
{
	printf("%" PRIu64 " cells, %" PRIu64 " records: ", r->cells, i->records);
	if (!r->damaged)
		printf("no fault\n");
	else
		printf("%" PRIu64 " fault%s\n", r->damaged, r->damaged == 1 ? "" : "s");
	for (size_t k = 0; k < r->ncolumns; k++)
		if (r->lost[k])
			printf("column %s: %" PRIu64 " values cannot be read\n",
			       quote_plain(i->columns[k].name), r->lost[k]);
}

int command_check(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_check_result result;
	struct sp_table_stats st = { 0 };
	bool fault;

	open_table(c, false, false);
	check_printed(sp_table_check(c->table, print_damage, NULL, &result, &err), &err);
	fault = result.damaged || c->info.alone;
	print_result(&c->info, &result);
	st.run = result.run;
	st.cells_read = result.cells;
	report(c, "check", &st);
	close_table(c);
	return fault ? NEGATIVE : 0;
}
