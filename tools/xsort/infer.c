/* SPDX-License-Identifier: MIT */
/*
 * Infers types of keys from the first records, for --infer-types.
 */
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
	if (!key->checked)
		return "text";
	return key->type == SP_KEY_NUMERIC   ? "decimal numbers (letter n)"
	       : key->type == SP_KEY_GENERAL ? "floating-point numbers (letter g)"
					     : "dates and times";
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

void infer_types(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (!set->infer)
		return;
	if (sp_order_infer(&set->order, &set->columns, &set->sampled, &err))
		die_of(err.code, &err);
	if (set->debug)
		infer_print(set);
}
