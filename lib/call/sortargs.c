/* SPDX-License-Identifier: MIT */
/*
 * Reads the arguments of xsort(1), and replaces names of columns in them by numbers.
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/columns.h>
#include <spindle/size.h>
#include "base/err.h"
#include "call/call.h"

const struct sp__option sp__call_sort_options[] = {
	{ "dictionary-order", 'd', SP__OPT_NONE },
	{ "field-separator", 't', SP__OPT_ARG },
	{ "general-numeric-sort", 'g', SP__OPT_NONE },
	{ "human-numeric-sort", 'h', SP__OPT_NONE },
	{ "ignore-case", 'f', SP__OPT_NONE },
	{ "ignore-leading-blanks", 'b', SP__OPT_NONE },
	{ "ignore-nonprinting", 'i', SP__OPT_NONE },
	{ "key", 'k', SP__OPT_ARG },
	{ "month-sort", 'M', SP__OPT_NONE },
	{ "numeric-sort", 'n', SP__OPT_NONE },
	{ "random-sort", 'R', SP__OPT_NONE },
	{ "reverse", 'r', SP__OPT_NONE },
	{ "sort", SP__OPT_SORT, SP__OPT_ARG },
	{ "stable", 's', SP__OPT_NONE },
	{ "unique", 'u', SP__OPT_NONE },
	{ "version-sort", 'V', SP__OPT_NONE },
	{ "header", SP__OPT_HEADER, SP__OPT_MAYBE },
	{ "count", SP__OPT_COUNT, SP__OPT_MAYBE },
	{ "keep-order", SP__OPT_KEEP_ORDER, SP__OPT_NONE },
	{ "spill-compression", SP__OPT_SPILL_COMPRESSION, SP__OPT_ARG },
	{ "where", SP__OPT_WHERE, SP__OPT_ARG },
	{ "limit", SP__OPT_LIMIT, SP__OPT_ARG },
	{ "resume", SP__OPT_RESUME, SP__OPT_ARG },
	{ "json", SP__OPT_JSON, SP__OPT_MAYBE },
	{ "strict", SP__OPT_STRICT, SP__OPT_NONE },
	{ "skip-invalid", SP__OPT_SKIP_INVALID, SP__OPT_NONE },
	{ "record-size", SP__OPT_RECORD_SIZE, SP__OPT_ARG },
	{ "bkey", SP__OPT_BKEY, SP__OPT_ARG },
	{ "seed", SP__OPT_SEED, SP__OPT_ARG },
	SP__OPTIONS_COMMON,
	{ 0 },
};

static int set_fixed(struct sp_order *o, const char *text, struct sp_errinfo *err)
{
	uint64_t bytes = 0;

	if (sp_size_parse(text, 1, &bytes) || !bytes || bytes > SIZE_MAX / 2)
		return sp__invalid(err, text, "invalid --record-size argument");
	o->record_bytes = bytes;
	return 0;
}

static int set_json(struct sp_order *o, const char *arg, struct sp_errinfo *err)
{
	static const struct sp_enum_value forms[] = { { "lines", 0 }, { "array", 1 }, { NULL, 0 } };
	int array = 0;
	int rc = arg ? sp__option_choice(forms, "json", arg, &array, err) : 0;

	o->json = true;
	o->array = array;
	return rc;
}

static int set_sort(struct sp_order *o, const char *text, struct sp_errinfo *err)
{
	int letter;
	int rc = sp__option_choice(sp_order_sort_values(), "sort", text, &letter, err);

	if (!rc)
		sp_key_letter(&o->global, (char)letter, SP_KEY_BOTH);
	return rc;
}

/* Applies an option with a letter. */
static int letter_option(struct sp_order *o, char letter, const char *arg, struct sp_errinfo *err)
{
	switch (letter) {
	case 'k':
		return sp_order_add_key(o, arg, err);
	case 't':
		return sp_order_set_separator(o, arg, err);
	case 's':
		o->stable = true;
		return 0;
	case 'u':
		o->unique = true;
		return 0;
	case 'z':
		o->eol = '\0';
		return 0;
	default:
		return sp_key_letter(&o->global, letter, SP_KEY_BOTH) ? 0 : 1;
	}
}

int sp__call_order_option(struct sp_order *o, int code, const char *arg, struct sp_errinfo *err)
{
	switch (code) {
	case SP__OPT_CSV:
		o->csv = true;
		return 0;
	case SP__OPT_JSON:
		return set_json(o, arg, err);
	case SP__OPT_STRICT:
		o->strict = true;
		return 0;
	case SP__OPT_RECORD_SIZE:
		return set_fixed(o, arg, err);
	case SP__OPT_SORT:
		return set_sort(o, arg, err);
	case SP__OPT_HEADER:
		if (sp_order_set_header(o, arg))
			return sp__invalid(err, arg, "invalid --header argument");
		return 0;
	case SP__OPT_BKEY:
		return sp_order_add_bkey(o, arg, err);
	default:
		return code < SP__OPT_CSV ? letter_option(o, (char)code, arg, err) : 1;
	}
}

static int set_compression(struct sp_call *call, const char *arg, struct sp_errinfo *err)
{
	int how;
	int rc = sp__option_choice(sp_spill_compression_values(), "spill-compression", arg, &how,
				   err);

	if (!rc)
		call->sort.run.compression = (enum sp_spill_compression)how;
	return rc;
}

static int apply(void *to, int code, const char *arg, struct sp_errinfo *err)
{
	struct sp_call *call = to;
	int rc;

	if (code == SP__OPT_COUNT) {
		call->sort.count = true;
		call->count_name = arg;
		return 0;
	}
	if (code == SP__OPT_KEEP_ORDER) {
		call->keep_order = true;
		return 0;
	}
	if (code == SP__OPT_WHERE) {
		call->where = arg;
		return 0;
	}
	if (code == SP__OPT_SKIP_INVALID) {
		call->skip_invalid = true;
		return 0;
	}
	if (code == SP__OPT_LIMIT) {
		call->limited = true;
		return sp__option_number(&call->sort.top, arg, 0, err);
	}
	if (code == SP__OPT_RESUME) {
		call->resume = arg;
		return 0;
	}
	if (code == SP__OPT_SPILL_COMPRESSION)
		return set_compression(call, arg, err);
	if (code == 'k' && sp_columns_is_name(arg)) {
		call->named = true;
		return sp_order_add_name(&call->order, arg, err);
	}
	rc = sp__option_resource(call, &call->sort.run, code, arg, err);
	return rc == 1 ? sp__call_order_option(&call->order, code, arg, err) : rc;
}

/* Checks that names have a header, and records that can have one. */
static int check_names(struct sp_call *call, struct sp_errinfo *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < call->order.nkeys; i++)
		if (call->order.keys[i].name && !call->order.header_records)
			rc = sp__invalid(err, call->order.keys[i].name,
					 "to name columns, add --header:");
	if (!rc && call->named && call->order.record_bytes)
		rc = sp__invalid(err, NULL, "records of a fixed length have no columns with names");
	return rc;
}

/* Refuses incompatible options, after all are read. */
static int complete(struct sp_order *o, struct sp_errinfo *err)
{
	const char *a, *b;
	int rc;

	rc = sp_order_finish(o, err);
	if (rc)
		return rc;
	if (sp_order_conflict(o, &a, &b))
		return sp__invalid(err, NULL, "options '%s' and '%s' are incompatible", a, b);
	if (o->nbkeys && !o->record_bytes)
		return sp__invalid(err, NULL, "--bkey needs --record-size");
	if (o->record_bytes && !sp_order_is_default(&o->global))
		return sp__invalid(
			err, NULL,
			"with --record-size the order is given by --bkey; of the ordering "
			"letters only -r is allowed");
	return 0;
}

static int finish(struct sp_call *call, struct sp_errinfo *err)
{
	int rc = check_names(call, err);

	if (!rc)
		rc = complete(&call->order, err);
	if (!rc && call->sort.count && !call->order.unique)
		rc = sp__invalid(err, NULL, "--count needs --unique");
	if (!rc && call->keep_order && !call->order.unique)
		rc = sp__invalid(err, NULL, "--keep-order needs --unique");
	if (!rc && call->where && call->order.record_bytes)
		rc = sp__invalid(err, NULL,
				 "options '--where' and '--record-size' are incompatible");
	if (!rc && call->skip_invalid && !call->order.json)
		rc = sp__invalid(err, NULL, "--skip-invalid needs --json");
	if (!rc && call->resume && sp_order_has_letter(&call->order, 'R'))
		rc = sp__invalid(err, NULL, "a random order cannot be resumed");
	if (!rc && call->keep_order && call->sort.count)
		rc = sp__invalid(err, NULL,
				 "options '--count' and '--keep-order' are incompatible");
	if (!rc && call->count_name && !(call->order.csv && call->order.header_records))
		rc = sp__invalid(err, NULL, "--count=NAME needs --csv and --header");
	if (!rc && !call->named)
		rc = sp_order_keyset(&call->keys, &call->order, NULL, err);
	call->sort.format = sp_order_format(&call->order);
	call->sort.keys = call->keys;
	call->sort.unique = call->order.unique;
	return rc;
}

int sp__call_sort_args(struct sp_call *call, struct sp_errinfo *err)
{
	int rc = sp__options_each(call, sp__call_sort_options, apply, call, err);

	return rc < 0 ? rc : finish(call, err);
}

/* The columns of a header, and the arguments whose names are to be replaced by numbers. */
struct numbering {
	const struct sp_columns *columns;
	struct sp_call *args;
};

static int add_numbered(void *to, int code, const char *arg, struct sp_errinfo *err)
{
	struct numbering *n = to;
	char *key = NULL;
	int rc = 0;

	if (code == 'k' && sp_columns_is_name(arg))
		rc = sp_columns_key(n->columns, arg, &key, err);
	if (!rc)
		rc = sp__call_add_arg(n->args, sp__call_sort_options, code, key ? key : arg, err);
	free(key);
	return rc;
}

static int number_args(const struct sp_call *call, struct numbering *n, struct sp_errinfo *err)
{
	int rc = sp__options_each(call, sp__call_sort_options, add_numbered, n, err);

	for (size_t i = 0; !rc && call->named && i < call->order.nkeys; i++)
		if (!call->order.keys[i].name)
			rc = sp_columns_check(n->columns, call->order.keys[i].spec.sword + 1, err);
	return rc;
}

struct sp_columns sp__call_columns(const struct sp_call *call, const char *input)
{
	return (struct sp_columns){
		.input = input,
		.csv = call->order.csv,
		.separator = call->order.csv && call->order.separator == -1 ? ','
									    : call->order.separator,
		.eol = call->order.eol,
		.header_records = call->order.header_records,
		.decompress = call->sort.run.decompress,
		.only_regular = true,
	};
}

int sp_call_numbered(struct sp_call **made, const struct sp_call *call, const char *input,
		     struct sp_errinfo *err)
{
	struct sp_columns c = sp__call_columns(call, input);
	struct sp_call args = { 0 };
	int rc = 0;

	*made = NULL;
	if (call->named)
		rc = sp_columns_read(&c, err);
	if (!rc)
		rc = number_args(call, &(struct numbering){ &c, &args }, err);
	if (!rc)
		rc = sp_call_sort(made, (const char *const *)args.args, args.nargs, err);
	sp__call_release(&args);
	sp_columns_close(&c);
	return rc;
}
