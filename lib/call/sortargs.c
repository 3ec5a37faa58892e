/* SPDX-License-Identifier: MIT */
/*
 * The words of xsort(1), and columns by name in them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/columns.h>
#include "base/err.h"
#include "call/call.h"
#include "rec/orderwords.h"

static const struct sp__optname names[] = {
	SP__ORDER_NAMES,
	SP__CALL_NAMES,
	{ "count", SP__CALL_COUNT, SP__OPT_MAYBE },
	{ "spill-compression", SP__CALL_SPILL, SP__OPT_ARG },
	{ 0 },
};

static int set_compression(struct sp_call *call, const char *arg, const char **where,
			   struct sp_errinfo *err)
{
	int how;

	if (sp_spill_compression_parse(arg, &how))
		return sp__call_bad(err, where, arg, "invalid --spill-compression argument");
	call->sort.run.compression = (enum sp_spill_compression)how;
	return 0;
}

static int apply(struct sp_call *call, int code, const char *arg, const char **where,
		 struct sp_errinfo *err)
{
	int rc;

	if (code == SP__CALL_COUNT) {
		call->sort.count = true;
		call->count_name = arg;
		return 0;
	}
	if (code == SP__CALL_SPILL)
		return set_compression(call, arg, where, err);
	if (code == 'k' && sp_columns_is_name(arg)) {
		call->named = true;
		*where = NULL;
		return sp_order_add_name(&call->order, arg, err);
	}
	rc = sp__call_resource(call, &call->sort.run, code, arg, where, err);
	return rc == 1 ? sp__order_option(&call->order, code, arg, where, err) : rc;
}

/* Names need a header, and records that can have one. */
static int check_names(struct sp_call *call, const char **where, struct sp_errinfo *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < call->order.nkeys; i++)
		if (call->order.keys[i].name && !call->order.header_records)
			rc = sp_order_set_key(&call->order.keys[i], call->order.keys[i].name, where,
					      err);
	if (!rc && call->named && call->order.record_bytes)
		rc = sp__call_bad(err, where, NULL,
				  "records of a fixed length have no columns with names");
	return rc;
}

static int finish(struct sp_call *call, const char **where, struct sp_errinfo *err)
{
	int rc = check_names(call, where, err);

	if (!rc)
		rc = sp__order_complete(&call->order, where, err);
	if (!rc && call->sort.count && !call->order.unique)
		rc = sp__call_bad(err, where, NULL, "--count needs --unique");
	if (!rc && call->count_name && !(call->order.csv && call->order.header_records))
		rc = sp__call_bad(err, where, NULL, "--count=NAME needs --csv and --header");
	if (!rc && !call->named)
		rc = sp_order_keyset(&call->keys, &call->order, NULL, err);
	call->sort.format = sp_order_format(&call->order);
	call->sort.keys = call->keys;
	call->sort.unique = call->order.unique;
	return rc;
}

int sp__call_sort_values(struct sp_call *call, const char **where, struct sp_errinfo *err)
{
	struct sp__optwords o = { .table = names,
				  .words = (const char *const *)call->words,
				  .nwords = call->nwords };
	const char *arg;
	int rc, code;

	*where = NULL;
	while ((rc = sp__optwords_next(&o, &code, &arg, where, err)) == 1) {
		rc = apply(call, code, arg, where, err);
		if (rc < 0)
			return rc;
	}
	return rc < 0 ? rc : finish(call, where, err);
}

/* Adds an option to the words, a name as the number of its column. */
static int add_word(struct sp_call *words, const struct sp_columns *c, int code, const char *arg,
		    struct sp_errinfo *err)
{
	char *key = NULL;
	int rc = code == 'k' && sp_columns_is_name(arg) ? sp_columns_key(c, arg, &key, err) : 0;

	if (!rc)
		rc = sp__call_add_word(words, names, code, key ? key : arg, err);
	free(key);
	return rc;
}

/* The words of a call with numbers in the place of names. */
static int number_words(const struct sp_call *call, const struct sp_columns *c,
			struct sp_call *words, struct sp_errinfo *err)
{
	struct sp__optwords o = { .table = names,
				  .words = (const char *const *)call->words,
				  .nwords = call->nwords };
	const char *arg, *where;
	int rc, code;

	while ((rc = sp__optwords_next(&o, &code, &arg, &where, err)) == 1) {
		rc = add_word(words, c, code, arg, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; !rc && call->named && i < call->order.nkeys; i++)
		if (!call->order.keys[i].name)
			rc = sp_columns_check(c, call->order.keys[i].spec.sword + 1, err);
	return rc;
}

int sp_call_numbered(struct sp_call **made, const struct sp_call *call, const char *input,
		     struct sp_errinfo *err)
{
	struct sp_columns c = {
		.input = input,
		.csv = call->order.csv,
		.separator = call->order.csv && call->order.separator == -1 ? ','
									    : call->order.separator,
		.eol = call->order.eol,
		.header_records = call->order.header_records,
		.decompress = call->sort.run.decompress,
		.only_regular = true,
	};
	struct sp_call words = { 0 };
	int rc = 0;

	*made = NULL;
	if (call->named)
		rc = sp_columns_read(&c, err);
	if (!rc)
		rc = number_words(call, &c, &words, err);
	if (!rc)
		rc = sp_call_sort(made, (const char *const *)words.words, words.nwords, err);
	sp__call_release(&words);
	sp_columns_close(&c);
	return rc;
}
