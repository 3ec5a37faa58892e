/* SPDX-License-Identifier: MIT */
/*
 * Estimates the records of a load, and the lengths of texts, from the sample.
 */
#include <string.h>
#include <sys/stat.h>
#include "table/load.h"

#define UNKNOWN_RECORDS 1000000 /* of an input of unknown length */

/* Returns the bytes of all inputs; 0: unknown. */
static double input_bytes(const struct sp__tableload *l)
{
	const struct sp__tablesource_opts *o = &l->source.opts;
	double bytes = 0;

	if (!l->source.again || l->run.decompress != SP_PACKED_NONE)
		return 0;
	for (size_t i = 0; i < o->n; i++) {
		struct stat st;

		if (strcmp(o->inputs[i], "-") ? stat(o->inputs[i], &st) : fstat(0, &st))
			return 0;
		bytes += (double)st.st_size;
	}
	return bytes;
}

/* Returns the mean bytes of a record in the input. */
static double record_bytes(const struct sp__tableload *l)
{
	if (l->opts->format == SP_TABLE_FIXED)
		return l->opts->record_bytes;
	return l->sample.records ? (double)l->sample.bytes / (double)l->sample.records : 1;
}

static uint64_t estimate_records(const struct sp__tableload *l)
{
	double bytes = input_bytes(l);

	if (l->opts->format != SP_TABLE_FIXED && l->source.ended)
		return l->sample.records;
	return bytes > 0 ? (uint64_t)(bytes / record_bytes(l)) : UNKNOWN_RECORDS;
}

/* Divides what other columns leave of a mean record among the columns of text. */
static void estimate_texts(const struct sp__tableload *l, double *means)
{
	const struct sp__table_schema *s = &l->resolved.schema;
	const struct sp__cost_table t = { .schema = s, .text_bytes = means };
	double left = record_bytes(l);
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		n += s->columns[i].type.kind == 't';
		left -= sp__cost_printed_bytes(&t, i);
	}
	for (uint32_t i = 0; i < s->n; i++)
		if (s->columns[i].type.kind == 't')
			means[i] = left > n ? left / n : 1;
}

struct sp__cost_asked sp__tableload_asked(const struct sp__tableload *l, double *means)
{
	if (means)
		estimate_texts(l, means);
	return (struct sp__cost_asked){ .name = l->path,
					.schema = &l->resolved.schema,
					.records = estimate_records(l),
					.text_bytes = means,
					.cell_bytes = l->opts->cell_bytes,
					.page_records = l->opts->page_records };
}
