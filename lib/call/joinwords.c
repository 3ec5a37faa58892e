/* SPDX-License-Identifier: MIT */
/*
 * The words of xjoin(1) that decide formats, keys and the result.  Columns and keys go by number.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/size.h>
#include "base/array.h"
#include "base/err.h"
#include "base/optwords.h"
#include "call/joincall.h"

enum { CSV = 600, HEADER, TYPE, FIXED, BKEY, ORDER };

/* The letter of a key whose text is collated; sp_key_letter() has not got it. */
#define COLLATED (1u << 31)

struct reading {
	struct sp_call_join *join;
	const char **where;
	struct sp_errinfo *err;
};

static int wrong(const struct reading *r, const char *text, const char *why)
{
	*r->where = text;
	return sp__errf(r->err, -EINVAL, "parse", NULL, -1, "%s", why);
}

static int no_memory(const struct reading *r)
{
	return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
}

/* A field number at p, counted from 0; NULL: there is none. */
static const char *take_field(const char *p, size_t *field)
{
	char *end;
	unsigned long long n = strtoull(p, &end, 10);

	if (!isdigit((unsigned char)*p) || !n)
		return NULL;
	*field = n > SIZE_MAX ? SIZE_MAX - 1 : (size_t)n - 1;
	return end;
}

static const char *take_letters(const char *p, struct sp_key *type)
{
	for (; *p && *p != ','; p++) {
		if (*p == 'l')
			type->letters |= COLLATED;
		else if (!strchr("nghMVf", *p) || !sp_key_letter(type, *p, SP_KEY_BOTH))
			return NULL;
	}
	return p;
}

/* FIELD[LETTERS][,...] */
static int set_key(const struct reading *r, int side, const char *text)
{
	struct sp__call_key *k = &r->join->key[side];
	const char *p = text;

	if (k->n)
		return wrong(r, text, "the key of a file is given twice:");
	for (;; p++) {
		struct sp_key type = SP_KEY_INIT;
		size_t field;

		p = take_field(p, &field);
		p = p ? take_letters(p, &type) : NULL;
		if (!p)
			return wrong(r, text, "invalid field number:");
		if (sp_key_check(&type, r->err))
			return -EINVAL;
		if (!SP__ARRAY_RESIZE(k->field, k->n + 1) || !SP__ARRAY_RESIZE(k->type, k->n + 1))
			return no_memory(r);
		r->join->typed |= type.letters != 0;
		k->field[k->n] = field;
		k->type[k->n++] = type;
		if (!*p)
			return 0;
	}
}

static int add_part(const struct reading *r, const char *text, const char *whole, size_t *number)
{
	struct sp_call_join *j = r->join;
	struct sp_key part = SP_KEY_INIT;

	*r->where = whole;
	if (sp_bkey_parse(text, &part, r->err))
		return -EINVAL;
	if (!SP__ARRAY_RESIZE(j->parts, j->nparts + 1))
		return no_memory(r);
	*number = j->nparts;
	j->parts[j->nparts++] = part;
	return 0;
}

/* SPEC, or SPEC,SPEC. */
static int add_bkey(const struct reading *r, const char *text)
{
	struct sp_call_join *j = r->join;
	char first[64];
	size_t bytes = strcspn(text, ",");
	int rc = 0;

	snprintf(first, sizeof(first), "%.*s", (int)(bytes < 63 ? bytes : 63), text);
	for (int i = 0; !rc && i < 2; i++) {
		if (!SP__ARRAY_RESIZE(j->bkey[i], j->nbkeys + 1))
			return no_memory(r);
		rc = add_part(r, i && text[bytes] ? text + bytes + 1 : first, text,
			      &j->bkey[i][j->nbkeys]);
		if (!rc && j->parts[j->nparts - 1].reverse)
			return wrong(r, text, "a join key has no direction:");
	}
	j->nbkeys++;
	return rc;
}

/* SIZE, or SIZE,SIZE. */
static int set_fixed(const struct reading *r, const char *text)
{
	char first[32];
	size_t bytes = strcspn(text, ",");

	snprintf(first, sizeof(first), "%.*s", (int)(bytes < 31 ? bytes : 31), text);
	for (int i = 0; i < 2; i++) {
		uint64_t n = 0;

		if (sp_size_parse(i && text[bytes] ? text + bytes + 1 : first, 1, &n) || !n ||
		    n > SIZE_MAX / 2)
			return wrong(r, text, "invalid --record-size argument");
		r->join->opts.fixed_bytes[i] = (size_t)n;
	}
	return 0;
}

static int set_separator(const struct reading *r, const char *text)
{
	struct sp_call_join *j = r->join;
	bool nul = !strcmp(text, "\\0");

	if (text[0] && text[1] && !nul)
		return wrong(r, text, "multi-character tab");
	j->separator[0] = nul ? '\0' : text[0] ? text[0] : '\n';
	j->opts.separator = j->separator;
	j->opts.separator_bytes = 1;
	return 0;
}

static int set_side(const struct reading *r, const char *text, bool pairs)
{
	if ((text[0] != '1' && text[0] != '2') || text[1])
		return wrong(r, text, "invalid field number:");
	r->join->opts.unpaired[text[0] - '1'] = true;
	r->join->opts.pairs &= pairs;
	return 0;
}

static int set_type(const struct reading *r, const char *text)
{
	struct sp_join_opts *o = &r->join->opts;
	int type;

	if (sp_join_type_parse(text, &type))
		return wrong(r, text, "invalid --type argument");
	o->unpaired[0] |= type == SP_JOIN_LEFT || type == SP_JOIN_FULL || type == SP_JOIN_ANTI;
	o->unpaired[1] |= type == SP_JOIN_RIGHT || type == SP_JOIN_FULL;
	o->semi = type == SP_JOIN_SEMI;
	if (type == SP_JOIN_SEMI || type == SP_JOIN_ANTI)
		o->pairs = false;
	return 0;
}

/* 0, N.F, or, of binary records, N.OFFSET:LENGTH. */
static int add_column(const struct reading *r, const char *item)
{
	struct sp_call_join *j = r->join;
	struct sp_join_column c = { .file = item[0] >= '1' && item[0] <= '2'
						    ? (unsigned)(item[0] - '0')
						    : 0 };
	int rc = 0;

	if (!c.file ? strcmp(item, "0") != 0 : item[1] != '.')
		return wrong(r, item, "invalid field specifier:");
	if (c.file && strchr(item, ':'))
		rc = add_part(r, item + 2, item, &c.field);
	else if (c.file) {
		const char *end = take_field(item + 2, &c.field);

		if (!end || *end)
			return wrong(r, item, "invalid field number:");
	}
	if (rc)
		return rc;
	if (!SP__ARRAY_RESIZE(j->columns, j->opts.ncolumns + 1))
		return no_memory(r);
	j->columns[j->opts.ncolumns++] = c;
	j->opts.columns = j->columns;
	return 0;
}

/* text is one of the call's own words, and is cut up. */
static int add_columns(const struct reading *r, char *text)
{
	char *item;
	int rc = 0;

	if (!strcmp(text, "auto")) {
		r->join->opts.auto_columns = true;
		return 0;
	}
	while (!rc && (item = strsep(&text, ", \t")))
		rc = add_column(r, item);
	return rc;
}

static int apply(const struct reading *r, int code, const char *arg)
{
	struct sp_call_join *j = r->join;
	int rc;

	switch (code) {
	case '1':
	case '2':
		return set_key(r, code - '1', arg);
	case 'j':
		rc = set_key(r, 0, arg);
		return rc ? rc : set_key(r, 1, arg);
	case 't':
		return set_separator(r, arg);
	case 'a':
		return set_side(r, arg, true);
	case 'v':
		return set_side(r, arg, false);
	case 'e':
		j->opts.filler = arg;
		return 0;
	case 'i':
		j->opts.ignore_case = true;
		return 0;
	case 'z':
		j->opts.eol = '\0';
		return 0;
	case 'o':
		return add_columns(r, (char *)(uintptr_t)arg);
	case CSV:
		j->opts.csv = true;
		return 0;
	case HEADER:
		j->opts.header = true;
		return 0;
	case TYPE:
		return set_type(r, arg);
	case FIXED:
		return set_fixed(r, arg);
	case BKEY:
		return add_bkey(r, arg);
	default:
		return sp__call_resource(&j->base, &j->opts.run, code, arg, r->where, r->err);
	}
}

/* Letters on one side apply to both. */
static int match_types(const struct reading *r)
{
	struct sp_call_join *j = r->join;
	struct sp__call_key *a = &j->key[0], *b = &j->key[1];

	j->collated = calloc(a->n + 1, sizeof(*j->collated));
	if (!j->collated)
		return no_memory(r);
	for (size_t i = 0; i < a->n; i++) {
		if (!b->type[i].letters)
			b->type[i] = a->type[i];
		if (!a->type[i].letters)
			a->type[i] = b->type[i];
		if (a->type[i].letters != b->type[i].letters)
			return wrong(r, NULL, "fields of the keys have different types");
		j->collated[i] = a->type[i].letters & COLLATED;
		if (j->collated[i])
			j->opts.collated = j->collated;
	}
	j->opts.types = j->typed ? a->type : NULL;
	return 0;
}

static int finish_binary(const struct reading *r)
{
	struct sp_join_opts *o = &r->join->opts;
	char whole[32];
	char *end = NULL;
	unsigned long fill = o->filler ? strtoul(o->filler, &end, 0) : 0;
	int rc = 0;

	if (r->join->key[0].n || o->csv || o->separator || !o->eol || o->ignore_case || o->header ||
	    o->auto_columns)
		return wrong(r, NULL, "--record-size goes with keys by --bkey alone");
	if (o->filler && (*end || end == o->filler || fill > UINT8_MAX))
		return wrong(r, o->filler,
			     "binary records are filled with a byte from 0 to 255, not");
	r->join->fill[0] = (char)fill;
	o->filler = o->filler ? r->join->fill : NULL;
	if (!r->join->nbkeys) {
		snprintf(whole, sizeof(whole), "0:%zu", o->fixed_bytes[0]);
		rc = o->fixed_bytes[0] == o->fixed_bytes[1]
			     ? add_bkey(r, whole)
			     : wrong(r, NULL, "records of different sizes need --bkey");
	}
	o->fields = r->join->parts;
	o->nkeys = r->join->nbkeys;
	for (int i = 0; i < 2; i++)
		o->keys[i] = r->join->bkey[i];
	return rc;
}

static int finish_fields(const struct reading *r)
{
	struct sp_call_join *j = r->join;
	struct sp_join_opts *o = &j->opts;
	int rc = 0;

	if (j->nbkeys)
		return wrong(r, NULL, "--bkey needs --record-size");
	for (int i = 0; !rc && i < 2; i++)
		if (!j->key[i].n)
			rc = set_key(r, i, "1");
	if (rc)
		return rc;
	if (j->key[0].n != j->key[1].n)
		return wrong(r, NULL, "keys have different numbers of fields");
	if (o->csv && !o->separator)
		rc = set_separator(r, ",");
	if (o->csv && (!o->eol || strchr("\"\n", j->separator[0])))
		return wrong(r, NULL, "invalid separator, or -z, for --csv");
	for (int i = 0; i < 2; i++)
		o->keys[i] = j->key[i].field;
	o->nkeys = j->key[0].n;
	return rc ? rc : match_types(r);
}

int sp__call_join_words(struct sp_call_join *join, size_t nwords, const char **where,
			struct sp_errinfo *err)
{
	static const struct sp__optname names[] = {
		{ NULL, '1', SP__OPT_ARG },
		{ NULL, '2', SP__OPT_ARG },
		{ NULL, 'j', SP__OPT_ARG },
		{ NULL, 't', SP__OPT_ARG },
		{ NULL, 'a', SP__OPT_ARG },
		{ NULL, 'v', SP__OPT_ARG },
		{ NULL, 'e', SP__OPT_ARG },
		{ NULL, 'o', SP__OPT_ARG },
		{ "ignore-case", 'i', SP__OPT_NONE },
		{ "zero-terminated", 'z', SP__OPT_NONE },
		{ "csv", CSV, SP__OPT_NONE },
		{ "header", HEADER, SP__OPT_NONE },
		{ "type", TYPE, SP__OPT_ARG },
		{ "record-size", FIXED, SP__OPT_ARG },
		{ "bkey", BKEY, SP__OPT_ARG },
		SP__CALL_NAMES,
		{ 0 },
	};
	const struct reading r = { join, where, err };
	struct sp__optwords o = { .table = names,
				  .words = (const char *const *)join->base.words,
				  .nwords = nwords };
	const char *arg;
	int rc, code;

	while ((rc = sp__optwords_next(&o, &code, &arg, where, err)) == 1) {
		rc = apply(&r, code, arg);
		if (rc < 0)
			return rc;
	}
	*where = rc < 0 ? *where : NULL;
	if (rc < 0)
		return rc;
	if (join->opts.semi && (join->opts.unpaired[0] || join->opts.unpaired[1]))
		return wrong(&r, NULL, "options '--type=semi' and '-a' are incompatible");
	return join->opts.fixed_bytes[0] ? finish_binary(&r) : finish_fields(&r);
}
