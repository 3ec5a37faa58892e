/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <spindle/size.h>
#include "base/err.h"
#include "rec/orderwords.h"

static int invalid(struct sp_errinfo *err, const char **where, const char *text, const char *why)
{
	*where = text;
	return sp__errf(err, -EINVAL, "parse", NULL, -1, "%s", why);
}

static int set_fixed(struct sp_order *o, const char *text, const char **where,
		     struct sp_errinfo *err)
{
	uint64_t bytes = 0;

	if (sp_size_parse(text, 1, &bytes) || !bytes || bytes > SIZE_MAX / 2)
		return invalid(err, where, text, "invalid --record-size argument");
	o->record_bytes = bytes;
	return 0;
}

static int set_sort(struct sp_order *o, const char *text, const char **where,
		    struct sp_errinfo *err)
{
	int letter;

	if (sp_order_sort_parse(text, &letter))
		return invalid(err, where, text, "invalid --sort argument");
	sp_key_letter(&o->global, (char)letter, SP_KEY_BOTH);
	return 0;
}

/* Options with a letter. */
static int letter_option(struct sp_order *o, char letter, const char *arg, const char **where,
			 struct sp_errinfo *err)
{
	switch (letter) {
	case 'k':
		return sp_order_add_key(o, arg, where, err);
	case 't':
		return sp_order_set_separator(o, arg, where, err);
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

int sp__order_option(struct sp_order *o, int code, const char *arg, const char **where,
		     struct sp_errinfo *err)
{
	int rc;

	switch (code) {
	case SP__ORDER_CSV:
		o->csv = true;
		return 0;
	case SP__ORDER_FIXED:
		return set_fixed(o, arg, where, err);
	case SP__ORDER_SORT:
		return set_sort(o, arg, where, err);
	case SP__ORDER_HEADER:
		if (sp_order_set_header(o, arg))
			return invalid(err, where, arg, "invalid --header argument");
		return 0;
	case SP__ORDER_BKEY:
		rc = sp_order_add_bkey(o, arg, err);
		*where = arg;
		return rc;
	default:
		return code < SP__ORDER_CSV ? letter_option(o, (char)code, arg, where, err) : 1;
	}
}

int sp__order_complete(struct sp_order *o, const char **where, struct sp_errinfo *err)
{
	const char *a, *b;
	int rc;

	*where = NULL;
	rc = sp_order_finish(o, err);
	if (rc)
		return rc;
	if (sp_order_conflict(o, &a, &b))
		return sp__errf(err, -EINVAL, "parse", NULL, -1,
				"options '%s' and '%s' are incompatible", a, b);
	if (o->nbkeys && !o->record_bytes)
		return sp__errf(err, -EINVAL, "parse", NULL, -1, "--bkey needs --record-size");
	if (o->record_bytes && !sp_order_is_default(&o->global))
		return sp__errf(err, -EINVAL, "parse", NULL, -1,
				"with --record-size the order is given by --bkey; of the ordering "
				"letters only -r is allowed");
	return 0;
}

int sp_order_parse(struct sp_order *order, const char *const *words, size_t nwords,
		   const char **where, struct sp_errinfo *err)
{
	static const struct sp__optname names[] = { SP__ORDER_NAMES, { 0 } };
	struct sp__optwords o = { .table = names, .words = words, .nwords = nwords };
	const char *arg;
	int rc, code;

	*where = NULL;
	while ((rc = sp__optwords_next(&o, &code, &arg, where, err)) == 1) {
		rc = sp__order_option(order, code, arg, where, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}
