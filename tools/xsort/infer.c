/* SPDX-License-Identifier: MIT */
/*
 * Infers types of keys from the first records, for --infer-types.
 */
#include <string.h>
#include "columns.h"
#include "xsort.h"

static const char infer[] = "--infer-types";

void infer_check(const struct settings *set)
{
	if (!set->infer)
		return;
	args_exclude(set->order.record_bytes, "--record-size", true, infer);
	args_exclude(set->splitters, "--splitters", true, infer);
	if (!set->order.header_records)
		die("%s needs --header: types belong to the columns that a header names; add "
		    "--header",
		    infer);
	if (!set->order.nkeys || set->order.global_only)
		die("%s needs a key: add -k with the name of a column, such as -k price", infer);
}

/* Returns what the values of a key are, as messages say it. */
static const char *type_name(const struct sp_key *key)
{
	return key->type == SP_KEY_NUMERIC   ? "decimal numbers (letter n)"
	       : key->type == SP_KEY_GENERAL ? "floating-point numbers (letter g)"
	       : key->type == SP_KEY_TIME    ? "dates and times"
					     : "text";
}

bool infer_any(const struct settings *set)
{
	bool any = !set->infer || set->columns.empty;

	for (size_t i = 0; i < set->order.nkeys; i++)
		any |= set->order.keys[i].inferred;
	return any;
}

void infer_print(const struct settings *set)
{
	for (size_t i = 0; i < set->order.nkeys; i++)
		if (set->order.keys[i].inferred)
			msg("column %s: %s, from the first %llu records",
			    quote(set->columns.names[set->order.keys[i].spec.sword]),
			    type_name(&set->order.keys[i].spec), (unsigned long long)set->sampled);
}

/* True if no sample has a value of a column. */
static bool misses_value(const struct settings *set)
{
	for (size_t i = 0; i < set->order.nkeys; i++)
		if (set->order.keys[i].inferred && !set->order.keys[i].valued)
			return true;
	return false;
}

/* Infers from a sample, whose records it counts. */
static void add_sample(struct settings *set, const struct sp_columns *from, uint64_t *records)
{
	const size_t mark = from->csv && from->sample_bytes >= 3 && set->order.header_first &&
					    !memcmp(from->sample, "\xEF\xBB\xBF", 3)
				    ? 3
				    : 0;
	struct sp_columns c = set->columns;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	c.sample = from->sample + mark;
	c.sample_bytes = from->sample_bytes - mark;
	if (sp_order_infer(&set->order, &c, records, &err))
		die_of(err.code, &err);
}

/*
 * Infers from the beginning of a regular file, of so many bytes; false: it is another kind of file,
 * or these bytes have no more records than *records.
 */
static bool sample_file(struct settings *set, size_t input, size_t bytes, uint64_t *records)
{
	struct sp_columns c = { .input = set->files[input],
				.csv = set->columns.csv,
				.separator = set->columns.separator,
				.eol = set->columns.eol,
				.header_records = set->columns.header_records,
				.decompress = set->columns.decompress,
				.only_regular = true,
				.quote = quote,
				.sample_max = bytes };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint64_t before = *records;
	int rc;

	if (input && set->order.header_first)
		c.header_records = 0;
	rc = sp_columns_read(&c, &err);
	if (rc && rc != SP_EUNSUP)
		columns_failed(&err);
	if (!rc && c.sample_bytes)
		add_sample(set, &c, records);
	sp_columns_close(&c);
	return *records > before;
}

/* Says which keys are compared as text although a reader takes them for dates. */
static void warn_of_dates(const struct settings *set)
{
	for (size_t i = 0; i < set->order.nkeys; i++)
		if (set->order.keys[i].other_dates)
			msg("warning: column %s is compared as text: its dates are not all written "
			    "as 2026-11-26",
			    quote(set->columns.names[set->order.keys[i].spec.sword]));
}

void infer_types(struct settings *set)
{
	const size_t share = INFER_BYTES / set->nfiles;

	if (!set->infer)
		return;
	add_sample(set, &set->columns, &set->sampled);
	for (size_t i = 0; i < set->nfiles && !set->columns.empty; i++) {
		size_t bytes = share < INFER_MIN ? INFER_MIN : share;
		uint64_t records = i ? 0 : set->sampled, first = records;

		if (i)
			(void)sample_file(set, i, bytes, &records);
		else
			bytes = INFER_BYTES;
		while (misses_value(set) && bytes < INFER_MAX &&
		       sample_file(set, i, bytes *= 4, &records))
			;
		set->sampled += records - first;
	}
	warn_of_dates(set);
	if (set->debug)
		infer_print(set);
}
