/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "longopt.h"
#include "msg.h"
#include "number.h"
#include "quote.h"
#include "xjoin.h"

static const char record_forms[] = "valid are SIZE and SIZE,SIZE, of at least a byte";

/* SIZE, or SIZE,SIZE. */
void record_size_set(void *settings, const char *name, const char *text)
{
	char *copy = must_copy(text), *rest = copy;
	size_t *to = ((struct settings *)settings)->opts.fixed_bytes;

	for (int i = 0; i < 2; i++) {
		const char *item = strsep(&rest, ",");
		uint64_t bytes = item ? size_option(name, item) : to[0];

		if (!bytes || bytes > SIZE_MAX / 2)
			number_die(NUMBER_INVALID, name, text, record_forms);
		to[i] = (size_t)bytes;
	}
	if (rest)
		number_die(NUMBER_INVALID, name, text, record_forms);
	free(copy);
}

static size_t part_keep(struct settings *set, const struct sp_key *part)
{
	set->parts = must_alloc(set->parts, set->nparts + 1, sizeof(*part));
	set->parts[set->nparts] = *part;
	return set->nparts++;
}

size_t part_add(struct settings *set, const char *text)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_key part = SP_KEY_INIT;

	if (sp_bkey_parse(text, &part, &err))
		die("%s: invalid field specifier: %s", err.text, quote(text));
	if (strchr(strchr(text, ':') + 1, ':'))
		die("invalid field specifier: %s", quote(text));
	return part_keep(set, &part);
}

/* SPEC, or SPEC,SPEC, each as for xsort. */
void bkey_add(void *settings, const char *name, const char *text)
{
	struct settings *set = settings;
	char *copy = must_copy(text), *rest = copy;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_key part = SP_KEY_INIT;

	for (int i = 0; i < 2; i++) {
		const char *item = strsep(&rest, ",");

		if (item && sp_bkey_parse(item, &part, &err))
			die("%s %s: %s; valid is OFFSET:LENGTH[:TYPE], TYPE one of " BKEY_TYPES,
			    name, quote(text), err.text);
		if (part.reverse)
			die("%s %s: a join key has no direction", name, quote(text));
		set->bkey[i] = must_alloc(set->bkey[i], set->nbkeys + 1, sizeof(*set->bkey[i]));
		set->bkey[i][set->nbkeys] = part_keep(set, &part);
	}
	if (rest)
		die("%s %s: a key has one part for each file, not more", name, quote(text));
	set->nbkeys++;
	free(copy);
}

static void exclude(bool given, const char *option)
{
	longopt_exclude(given, option, true, "--record-size");
}

/* -e: a byte by its number. */
static void set_fill(struct settings *set)
{
	const char *text = set->opts.filler;
	bool hex = text && text[0] == '0' && (text[1] | 32) == 'x';
	char *end;
	unsigned long byte;

	if (!text)
		return;
	byte = strtoul(text, &end, hex ? 16 : 10);
	if (!isdigit((unsigned char)*text) || *end || byte > UINT8_MAX)
		die("%s: binary records are filled with a byte from 0 to 255", quote(text));
	set->fill[0] = (char)byte;
	set->opts.filler = set->fill;
}

/* Without --bkey the whole record is the key. */
static void whole_record(struct settings *set)
{
	char text[32];

	if (set->opts.fixed_bytes[0] != set->opts.fixed_bytes[1])
		die("records of different sizes need --bkey");
	snprintf(text, sizeof(text), "0:%zu", set->opts.fixed_bytes[0]);
	bkey_add(set, "--bkey", text);
}

void binary_finish(struct settings *set)
{
	struct sp_join_opts *o = &set->opts;

	if (!o->fixed_bytes[0]) {
		if (set->nbkeys)
			die("--bkey needs --record-size");
		if (set->binary_column)
			die("invalid field number: %s", quote(set->binary_column + 2));
		return;
	}
	exclude(o->algorithm == SP_JOIN_MERGE, "--algorithm=merge");
	exclude(set->key_given, "-j");
	exclude(o->csv, "--csv");
	exclude(o->separator != NULL, "-t");
	exclude(!o->eol, "-z");
	exclude(o->ignore_case, "-i");
	exclude(o->header, "--header");
	exclude(o->auto_columns, "-o auto");
	if (set->line_column)
		die("columns of binary records are FILENUM.OFFSET:LENGTH, not %s",
		    quote(set->line_column));
	set_fill(set);
	if (!set->nbkeys)
		whole_record(set);
	o->fields = set->parts;
	o->nkeys = set->nbkeys;
	for (int i = 0; i < 2; i++)
		o->keys[i] = set->bkey[i];
}
