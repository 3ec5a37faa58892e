/* SPDX-License-Identifier: MIT */
/*
 * Processes options that decide order and format, one by one.  Messages and conditions of errors
 * are GNU sort's if it has the option.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/order.h>
#include "base/array.h"
#include "base/err.h"
#include "base/enum.h"

SP__ENUM_TABLE(sp_order_sort, { "general-numeric", 'g' }, { "human-numeric", 'h' },
	       { "month", 'M' }, { "numeric", 'n' }, { "random", 'R' }, { "version", 'V' })

void sp_order_release(struct sp_order *order)
{
	free(order->keys);
	free(order->bkeys);
	order->keys = NULL;
	order->bkeys = NULL;
	order->nkeys = order->nbkeys = 0;
}

static int add(struct sp_order *o, const struct sp_order_key *key, struct sp_errinfo *err)
{
	if (!SP__ARRAY_GROW_BY_ONE(o->keys, o->nkeys))
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	o->keys[o->nkeys++] = *key;
	return 0;
}

int sp_order_set_key(struct sp_order_key *key, const char *text, struct sp_errinfo *err)
{
	key->name = NULL;
	return sp_key_parse(text, &key->spec, err);
}

int sp_order_add_key(struct sp_order *order, const char *text, struct sp_errinfo *err)
{
	struct sp_order_key key = { .spec = SP_KEY_INIT };
	int rc = sp_order_set_key(&key, text, err);

	return rc ? rc : add(order, &key, err);
}

int sp_order_add_name(struct sp_order *order, const char *name, struct sp_errinfo *err)
{
	const struct sp_order_key key = { .spec = SP_KEY_INIT, .name = name };

	return add(order, &key, err);
}

int sp_order_add_obsolescent(struct sp_order *order, const char *plus, const char *minus,
			     struct sp_errinfo *err)
{
	struct sp_order_key key = { .obsolescent = true };
	int rc = sp_key_parse_obsolete(plus, minus, &key.spec, err);

	return rc ? rc : add(order, &key, err);
}

int sp_order_set_separator(struct sp_order *order, const char *text, struct sp_errinfo *err)
{
	int c = (unsigned char)text[0];

	if (!c)
		return sp__invalid(err, NULL, "empty tab");
	if (text[1] && strcmp(text, "\\0") != 0)
		return sp__invalid(err, text, "multi-character tab");
	if (text[1])
		c = '\0';
	if (order->separator != -1 && order->separator != c)
		return sp__invalid(err, NULL, "incompatible tabs");
	order->separator = c;
	return 0;
}

int sp_order_add_bkey(struct sp_order *order, const char *text, struct sp_errinfo *err)
{
	struct sp_key key = SP_KEY_INIT;
	int rc = sp_bkey_parse(text, &key, err);

	if (rc)
		return rc;
	if (!SP__ARRAY_GROW_BY_ONE(order->bkeys, order->nbkeys))
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	order->bkeys[order->nbkeys++] = key;
	return 0;
}

int sp_order_set_header(struct sp_order *order, const char *text)
{
	const char *p = text ? text : "1";
	uint64_t n = 0;

	while (isspace((unsigned char)*p))
		p++;
	p += *p == '+' && isdigit((unsigned char)p[1]);
	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return -EINVAL;
	if (*p && strcmp(p, ",first") != 0)
		return -EINVAL;
	order->header_records = n;
	order->header_first = *p;
	return 0;
}

bool sp_order_is_default(const struct sp_key *global)
{
	for (const char *c = "bdfghiMnRV"; *c; c++)
		if (sp_key_has_letter(global, *c))
			return false;
	return true;
}

bool sp_order_has_letter(const struct sp_order *order, char letter)
{
	bool has = false;

	for (size_t i = 0; i < order->nkeys; i++)
		has |= sp_key_has_letter(&order->keys[i].spec, letter);
	return has;
}

int sp_order_finish(struct sp_order *order, struct sp_errinfo *err)
{
	const struct sp_order_key whole = { .spec = order->global };
	int rc = 0;

	for (size_t i = 0; i < order->nkeys; i++)
		sp_key_inherit(&order->keys[i].spec, &order->global);
	if (!order->nkeys && !sp_order_is_default(&order->global)) {
		order->global_only = true;
		rc = add(order, &whole, err);
	}
	for (size_t i = 0; !rc && i < order->nkeys; i++)
		rc = sp_key_check(&order->keys[i].spec, err);
	return rc;
}

bool sp_order_conflict(const struct sp_order *o, const char **a, const char **b)
{
	static const char fixed[] = "--record-size";
	const struct {
		bool given;
		const char *a, *b;
	} pairs[] = {
		{ o->record_bytes && o->csv, "--csv", fixed },
		{ o->record_bytes && o->nkeys && !o->global_only, "-k", fixed },
		{ o->record_bytes && o->separator != -1, "-t", fixed },
		{ o->record_bytes && !o->eol, "-z", fixed },
		{ o->csv && !o->eol, "--csv", "-z" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (!pairs[i].given)
			continue;
		*a = pairs[i].a;
		*b = pairs[i].b;
		return true;
	}
	return false;
}

struct sp_recfmt sp_order_format(const struct sp_order *o)
{
	if (o->record_bytes)
		return (struct sp_recfmt){ .kind = SP_REC_FIXED, .fixed_bytes = o->record_bytes };
	if (o->csv)
		return (struct sp_recfmt){ .kind = SP_REC_CSV,
					   .eol = o->eol,
					   .separator = (char)(o->separator == -1 ? ','
										  : o->separator) };
	return (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = o->eol };
}

int sp_order_keyset(struct sp_keyset **keyset, const struct sp_order *o, const unsigned char *salt,
		    struct sp_errinfo *err)
{
	struct sp_key *keys = calloc(o->nkeys + 1, sizeof(*keys));
	struct sp_keyset_opts opts = {
		.format = sp_order_format(o),
		.keys = o->nbkeys ? o->bkeys : keys,
		.nkeys = o->nbkeys ? o->nbkeys : o->nkeys,
		.separator = o->csv && o->separator == -1 ? ',' : o->separator,
		.reverse = sp_key_has_letter(&o->global, 'r'),
		.stable = o->stable,
		.unique = o->unique,
		.random_salt = salt,
	};
	int rc;

	if (!keys)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < o->nkeys; i++)
		keys[i] = o->keys[i].spec;
	rc = sp_keyset_new(keyset, &opts, err);
	free(keys);
	return rc;
}
