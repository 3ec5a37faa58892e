/* SPDX-License-Identifier: MIT */
/*
 * Reads the options of a join, except keys and columns, and refuses incompatible ones.  Texts and
 * conditions of errors are GNU join's if it has the option.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <spindle/size.h>
#include "base/array.h"
#include "base/err.h"
#include "call/form.h"

void sp_join_form_release(struct sp_join_form *form)
{
	for (int i = 0; i < 2; i++) {
		free(form->key[i].field);
		free(form->key[i].type);
		free(form->bkey[i]);
		free(form->list[i]);
		sp__form_free_paths(&form->key[i]);
	}
	free(form->nested_text);
	free(form->collated);
	free(form->columns);
	free(form->column_names);
	free(form->parts);
	free(form->item);
	*form = (struct sp_join_form){
		.opts = form->opts,
		.plain = form->plain,
		.only_regular = form->only_regular,
	};
}

/*
 * Returns the bytes of the separator: one character, or the notation for NUL or none; 0: invalid.
 */
static size_t separator_bytes(const char *text)
{
	mbstate_t state = { 0 };
	size_t n = strlen(text);

	if (n < 2 || !strcmp(text, "\\0"))
		return 1;
	if (mbrtowc(NULL, text, n, &state) != n ||
	    n > sizeof(((struct sp_join_form *)NULL)->separator))
		return 0;
	return n;
}

int sp_join_form_set_separator(struct sp_join_form *form, const char *text, struct sp_errinfo *err)
{
	struct sp_join_opts *o = form->opts;
	size_t n = separator_bytes(text);
	char separator[sizeof(form->separator)] = "\n"; /* "" means that the line is one field */

	if (!n)
		return sp__invalid(err, text, "multi-character tab");
	if (!strcmp(text, "\\0"))
		separator[0] = '\0';
	else if (*text)
		memcpy(separator, text, n);
	if (o->separator && (o->separator_bytes != n || memcmp(form->separator, separator, n) != 0))
		return sp__invalid(err, NULL, "incompatible tabs");
	memcpy(form->separator, separator, n);
	o->separator = form->separator;
	o->separator_bytes = n;
	return 0;
}

int sp_join_form_set_unpaired(struct sp_join_form *form, const char *text, bool pairs,
			      struct sp_errinfo *err)
{
	size_t side = 0;

	if (sp_join_form_field(text, &side, err))
		return -EINVAL;
	if (side > 1)
		return sp__invalid(err, text, "invalid field number:");
	form->opts->unpaired[side] = true;
	form->opts->pairs &= pairs;
	return 0;
}

int sp_join_form_set_filler(struct sp_join_form *form, const char *text, struct sp_errinfo *err)
{
	if (form->opts->filler && strcmp(form->opts->filler, text) != 0)
		return sp__invalid(err, NULL, "conflicting empty-field replacement strings");
	form->opts->filler = text;
	return 0;
}

void sp_join_form_set_type(struct sp_join_form *form, int type)
{
	struct sp_join_opts *o = form->opts;

	o->unpaired[0] |= type == SP_JOIN_LEFT || type == SP_JOIN_FULL || type == SP_JOIN_ANTI;
	o->unpaired[1] |= type == SP_JOIN_RIGHT || type == SP_JOIN_FULL;
	o->semi = type == SP_JOIN_SEMI;
	if (type == SP_JOIN_SEMI || type == SP_JOIN_ANTI)
		o->pairs = false;
	o->first_alone = !o->pairs && (o->semi || type == SP_JOIN_ANTI);
}

int sp_join_form_set_sizes(struct sp_join_form *form, const char *text, struct sp_errinfo *err)
{
	static const char reason[] = "invalid --record-size argument";
	const char *p = text;

	for (int i = 0; i < 2; i++) {
		size_t bytes = strcspn(p, ",");
		uint64_t n = 0;

		const char *item = sp__form_keep(form, p, bytes);

		if (!item)
			return sp__form_no_memory(err);
		if (sp_size_parse(item, 1, &n) || !n || n > SIZE_MAX / 2)
			return sp__invalid(err, item, reason);
		form->opts->fixed_bytes[i] = (size_t)n;
		if (p[bytes] && i == 1)
			return sp__invalid(err, text, reason);
		if (p[bytes])
			p += bytes + 1;
	}
	return 0;
}

static int add_part(struct sp_join_form *form, const char *item, size_t bytes, size_t *number,
		    struct sp_errinfo *err)
{
	struct sp_key part = SP_KEY_INIT;

	const char *spec = sp__form_keep(form, item, bytes);

	if (!spec || !SP__ARRAY_RESIZE(form->parts, form->nparts + 1))
		return sp__form_no_memory(err);
	if (sp_bkey_parse(spec, &part, err))
		return -EINVAL;
	*number = form->nparts;
	form->parts[form->nparts++] = part;
	return 0;
}

int sp_join_form_add_bkey(struct sp_join_form *form, const char *text, struct sp_errinfo *err)
{
	const char *p = text;

	for (int i = 0; i < 2; i++) {
		size_t bytes = strcspn(p, ",");
		int rc = SP__ARRAY_RESIZE(form->bkey[i], form->nbkeys + 1)
				 ? add_part(form, p, bytes, &form->bkey[i][form->nbkeys], err)
				 : sp__form_no_memory(err);

		if (rc)
			return rc;
		if (form->parts[form->nparts - 1].reverse)
			return sp__invalid(err, text, "a join key has no direction");
		if (p[bytes] && i == 1)
			return sp__invalid(err, text, "a key has one part per file");
		if (p[bytes])
			p += bytes + 1;
	}
	form->nbkeys++;
	return 0;
}

bool sp_join_form_conflict(const struct sp_join_form *form, const char **a, const char **b)
{
	const struct sp_join_opts *o = form->opts;
	const bool binary = o->fixed_bytes[0], json = o->json;
	const struct {
		bool is;
		const char *a, *b;
	} pairs[] = {
		{ o->semi && (o->unpaired[0] || o->unpaired[1]), "--type=semi", "-a" },
		{ o->csv && !o->eol, "--csv", "-z" },
		{ binary && form->key_given, "-j", "--record-size" },
		{ binary && o->csv, "--csv", "--record-size" },
		{ binary && o->separator, "-t", "--record-size" },
		{ binary && !o->eol, "-z", "--record-size" },
		{ binary && o->ignore_case, "-i", "--record-size" },
		{ binary && o->header, "--header", "--record-size" },
		{ binary && o->auto_columns, "-o auto", "--record-size" },
		{ json && o->csv, "--json", "--csv" },
		{ json && binary, "--json", "--record-size" },
		{ json && form->nbkeys, "--json", "--bkey" },
		{ json && o->separator, "--json", "-t" },
		{ json && !o->eol, "--json", "-z" },
		{ json && o->header, "--json", "--header" },
		{ json && o->ignore_case, "--json", "-i" },
		{ json && o->auto_columns, "--json", "-o auto" },
		{ json && o->nested && o->ncolumns, "--nested", "-o" },
		{ json && o->nested && o->rows == SP_JOIN_ROWS_CSV, "--nested", "--format=csv" },
		{ !json && o->rows == SP_JOIN_ROWS_JSON && !o->eol, "--format=json", "-z" },
		{ binary && o->rows, "--format", "--record-size" },
		{ json && o->filler, "--json", "-e" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		*a = pairs[i].a;
		*b = pairs[i].b;
		if (pairs[i].is)
			return true;
	}
	return false;
}

/* Sets -e of binary records: a byte as a number. */
static int set_fill(struct sp_join_form *form, struct sp_errinfo *err)
{
	const char *text = form->opts->filler;
	bool hex = text && text[0] == '0' && (text[1] | 32) == 'x';
	char *end;
	unsigned long byte;

	if (!text)
		return 0;
	byte = strtoul(text, &end, hex ? 16 : 10);
	if (!isdigit((unsigned char)*text) || *end || byte > UINT8_MAX)
		return sp__invalid(err, text,
				   "binary records are filled with a byte from 0 to 255");
	form->fill[0] = (char)byte;
	form->opts->filler = form->fill;
	return 0;
}

/* Makes the whole record the key if --bkey is missing. */
static int whole_record(struct sp_join_form *form, struct sp_errinfo *err)
{
	const size_t *bytes = form->opts->fixed_bytes;
	char text[32];

	if (bytes[0] != bytes[1])
		return sp__invalid(err, NULL, "records of different sizes need --bkey");
	snprintf(text, sizeof(text), "0:%zu", bytes[0]);
	return sp_join_form_add_bkey(form, text, err);
}

static int finish_binary(struct sp_join_form *form, struct sp_errinfo *err)
{
	struct sp_join_opts *o = form->opts;
	int rc;

	if (form->line_column)
		return sp__invalid(err, form->line_column,
				   "columns of binary records are FILENUM.OFFSET:LENGTH, not");
	rc = set_fill(form, err);
	if (!rc && !form->nbkeys)
		rc = whole_record(form, err);
	o->fields = form->parts;
	o->nkeys = form->nbkeys;
	for (int i = 0; i < 2; i++)
		o->keys[i] = form->bkey[i];
	return rc;
}

static int finish_text(struct sp_join_form *form, struct sp_errinfo *err)
{
	struct sp_join_opts *o = form->opts;
	int rc = o->csv && !o->separator ? sp_join_form_set_separator(form, ",", err) : 0;

	if (rc)
		return rc;
	if (o->csv && (o->separator_bytes != 1 || strchr("\"\n", form->separator[0])))
		return sp__invalid(err, NULL,
				   "the separator of --csv is one byte, and not a quote, "
				   "newline or zero byte");
	if (form->nbkeys)
		return sp__invalid(err, NULL, "--bkey needs --record-size");
	if (form->binary_column)
		return sp__invalid(err, form->binary_column + 2, "invalid field number:");
	return 0;
}

/* Checks file numbers after all options, when the number of further files is known. */
static int check_files(struct sp_join_form *form, struct sp_errinfo *err)
{
	const struct sp_join_opts *o = form->opts;
	char text[96];

	for (size_t i = 0; i < o->ncolumns; i++) {
		const struct sp_join_column *c = &form->columns[i];

		if (c->file <= 2 + o->nthen)
			continue;
		if (o->fixed_bytes[0])
			snprintf(text, sizeof(text), "%u.%zu:%zu", c->file,
				 form->parts[c->field].offset, form->parts[c->field].length);
		else if (o->json)
			snprintf(text, sizeof(text), "%u%s", c->file, c->path);
		else
			snprintf(text, sizeof(text), "%u.%zu", c->file, c->field + 1);
		return sp__form_keep(form, text, strlen(text))
			       ? sp__invalid(err, form->item, "invalid file number in field spec:")
			       : sp__form_no_memory(err);
	}
	return 0;
}

int sp_join_form_finish(struct sp_join_form *form, struct sp_errinfo *err)
{
	int rc = sp__form_check_json(form, err);

	if (!rc && form->opts->json)
		return check_files(form, err);
	if (!rc)
		rc = sp__form_match_types(form, err);
	if (!rc)
		rc = form->opts->fixed_bytes[0] ? finish_binary(form, err) : finish_text(form, err);
	return rc ? rc : check_files(form, err);
}
