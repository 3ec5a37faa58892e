/* SPDX-License-Identifier: MIT */
/*
 * Shows the command that builds an index again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "xindex.h"

static void put_format(FILE *f, const struct sp_index_info *i)
{
	const struct sp_recfmt *r = &i->format;
	const char separator[] = { (char)i->separator, 0 };

	if (r->kind == SP_REC_FIXED)
		fprintf(f, " --record-size=%zu", r->fixed_bytes);
	else if (i->separator >= 0 && (r->kind != SP_REC_CSV || i->separator != ','))
		fprintf(f, " -t %s", quote_file(*separator ? separator : "\\0"));
	if (r->kind == SP_REC_CSV)
		fprintf(f, " --csv");
	if (r->json)
		fprintf(f, " --json%s", r->strict ? " --strict" : "");
	if (r->kind == SP_REC_LINE && !r->eol)
		fprintf(f, " -z");
	if (i->header_records)
		fprintf(f, " --header=%" PRIu64, i->header_records);
}

static void put_command(FILE *f, const char *index, const struct sp_index_info *i)
{
	fprintf(f, "xindex build");
	put_format(f, i);
	if (*i->key)
		fprintf(f, " -k %s", quote_file(i->key));
	if (i->page_bytes != SP_INDEX_PAGE_BYTES)
		fprintf(f, " --page-size=%" PRIu32, i->page_bytes);
	fprintf(f, " -o %s%s", quote_file(index), *i->source == '-' ? " --" : "");
	fprintf(f, " %s", quote_file(i->source));
}

/* Returns the command, to be freed. */
static char *command_of(const char *index, const struct sp_index_info *i)
{
	size_t bytes;
	char *text;
	FILE *f = open_memstream(&text, &bytes);

	if (f)
		put_command(f, index, i);
	if (!f || fclose(f))
		die("memory exhausted");
	return text;
}

void die_query(const struct config *c, int rc, const struct sp_errinfo *err)
{
	const char *path = c->operands.text[0];
	const struct sp_index_opts o = { .run = c->run, .any_source = true };
	struct sp_index_info info;
	struct sp_index *index;
	char *command;

	if (rc != -ESTALE || sp_index_open(&index, path, &o, NULL))
		die_of(rc, err);
	sp_index_info(index, &info);
	command = command_of(path, &info);
	(void)sp_index_close(index);
	die("%s: %s; %s", quote_file(err->path), err->text, command);
}
