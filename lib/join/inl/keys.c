/* SPDX-License-Identifier: MIT */
/*
 * Makes the keys of the join and of the index for index nested loops, checks that an index is on a
 * key of the join, and makes the command that creates an index that a join lacks.
 *
 * The command is a list of arguments, since only the program that prints it knows the shell; and it
 * is complete for names of any length.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "join/inl/inl.h"
#include "rec/keyset.h"

struct command {
	const char *args[16];
	unsigned n;
	char size[48], separator[3], key[64];
};

static void add(struct command *c, const char *arg)
{
	c->args[c->n++] = arg;
}

/* Returns the letter of -k for the type of a key field. */
static const char *letter(const struct sp_join_opts *o)
{
	static const char *const letters[] = {
		[SP_KEY_TEXT] = "",   [SP_KEY_NUMERIC] = "n", [SP_KEY_GENERAL] = "g",
		[SP_KEY_HUMAN] = "h", [SP_KEY_MONTH] = "M",   [SP_KEY_VERSION] = "V"
	};

	return o->types ? letters[o->types[0].type] : "";
}

static void add_separator(struct command *c, const struct sp_join_opts *o)
{
	if (!o->separator || (o->csv && *o->separator == ','))
		return;
	snprintf(c->separator, sizeof(c->separator), "%s",
		 *o->separator ? (char[]){ *o->separator, 0 } : "\\0");
	add(c, "-t");
	add(c, c->separator);
}

static void add_text(struct command *c, const struct sp_join_opts *o, int side)
{
	const size_t field = o->keys[side][0] + 1;

	if (o->csv)
		add(c, "--csv");
	add_separator(c, o);
	if (!o->eol)
		add(c, "-z");
	if (o->header)
		add(c, "--header");
	snprintf(c->key, sizeof(c->key), "%zu%s,%zu%s%s", field, o->separator ? "" : "b", field,
		 letter(o), o->ignore_case || (o->types && o->types[0].fold) ? "f" : "");
}

static void add_binary(struct command *c, const struct sp_join_opts *o, int side)
{
	const struct sp_key *k = &o->fields[o->keys[side][0]];

	snprintf(c->size, sizeof(c->size), "--record-size=%zu", o->fixed_bytes[side]);
	add(c, c->size);
	snprintf(c->key, sizeof(c->key), "%zu:%zu:%s", k->offset, k->length, sp__bkey_type(k));
}

/* Binary records: true if the first keys of both files have one type. */
static bool keys_alike(const struct sp_join_opts *o)
{
	const struct sp_key *a = &o->fields[o->keys[0][0]], *b = &o->fields[o->keys[1][0]];

	return a->type == b->type && a->length == b->length && a->big_endian == b->big_endian;
}

/* True if these fields of this input can have an index. */
static bool possible(const struct sp_join_opts *o, const char *input)
{
	if (!strcmp(input, "-"))
		return false;
	if (o->fixed_bytes[0])
		return keys_alike(o);
	return !o->separator || (o->separator_bytes == 1 && *o->separator != '\n');
}

void sp__want_index(const struct sp_join_io *io, const struct sp_join_opts *o, int side,
		    const char *input, const char *name)
{
	struct command c = { .n = 0 };
	char *index;

	if (!io->index_wanted || !possible(o, input) ||
	    asprintf(&index, "%s%s", name ? name : input, name ? "" : ".index") < 0)
		return;
	add(&c, "xindex");
	add(&c, "build");
	if (o->fixed_bytes[side])
		add_binary(&c, o, side);
	else
		add_text(&c, o, side);
	add(&c, "-k");
	add(&c, c.key);
	add(&c, "-o");
	add(&c, index);
	if (*input == '-')
		add(&c, "--");
	add(&c, input);
	io->index_wanted(io->index_wanted_arg, c.args);
	free(index);
}

static int refuse(struct sp_errinfo *err, const char *path, const char *reason)
{
	return sp__errf(err, SP_EUNSUP, "plan", path, -1, "%s", reason);
}

static int check_then(const struct sp_join_opts *o, size_t i, const struct sp_join_io *io,
		      struct sp_errinfo *err)
{
	const struct sp_join_then *t = &o->then[i];
	const struct sp_join_opts keys = { .eol = o->eol,
					   .separator = o->separator,
					   .separator_bytes = o->separator_bytes,
					   .csv = o->csv,
					   .header = o->header,
					   .ignore_case = o->ignore_case,
					   .keys = { NULL, &t->key } };

	if (!t->left || t->left > i + 2)
		return refuse(err, t->input, "is joined to a file that does not come before it");
	if (t->index)
		return 0;
	sp__want_index(io, &keys, 1, t->input, NULL);
	return refuse(err, t->input, "has no index");
}

int sp__inl_check(const struct sp_join_opts *o, const struct sp_join_io *io, struct sp_errinfo *err)
{
	int rc;

	if (!o->index[0] && !o->index[1]) {
		sp__want_index(io, o, 1, io->inputs[1], NULL);
		return refuse(err, NULL, "index nested loops need --index1 or --index2");
	}
	rc = sp__inl_possible(o, err);
	for (size_t i = 0; i < o->nthen && !rc; i++)
		rc = check_then(o, i, io, err);
	return rc;
}

/* True if fields and records are cut as in the join. */
static bool same_format(const struct sp__index *ix, const struct sp_join_opts *o, int side)
{
	const struct sp__index_header *h = &ix->header;
	const struct sp_recfmt f = sp__join_format(o, side);

	if (h->format.kind != f.kind || h->header_records != (o->header ? 1 : 0))
		return false;
	if (f.kind == SP_REC_FIXED)
		return h->format.fixed_bytes == f.fixed_bytes;
	if (f.kind == SP_REC_CSV)
		return h->format.separator == f.separator;
	if (!o->separator)
		return h->format.eol == f.eol && h->separator == -1;
	return h->format.eol == f.eol && o->separator_bytes == 1 && *o->separator != '\n' &&
	       h->separator == (unsigned char)*o->separator;
}

/* True if index keys are equal wherever join keys are; other records can share them. */
static bool same_key(const struct sp__index *ix, const struct sp_join_opts *o, int side)
{
	const struct sp_key *k = &ix->key.key, *f;
	const size_t field = o->keys[side][0];
	enum sp_key_type type = o->types ? o->types[0].type : SP_KEY_TEXT;

	if (o->fixed_bytes[side]) {
		f = &o->fields[field];
		return k->offset == f->offset && k->length == f->length && k->type == f->type &&
		       k->big_endian == f->big_endian && keys_alike(o);
	}
	if (k->sword != field || k->eword != field || k->schar || k->echar)
		return false;
	if (!o->separator && !k->skip_start_blanks)
		return false;
	if (type != SP_KEY_TEXT)
		return k->type == type;
	if (o->ignore_case || (o->types && o->types[0].fold))
		return k->type == type && k->fold;
	return true;
}

int sp__inlindex_check(const struct sp__index *ix, const struct sp_join_opts *o, int side,
		       const char *input, const struct sp_join_io *io, struct sp_errinfo *err)
{
	const bool unnamed = strcmp(input, "-") == 0; /* standard input */
	struct stat a, b;

	if (fstat(ix->records->fd, &a) || (!unnamed && stat(input, &b)))
		return sp__err(err, -errno, "open", input, -1);
	if (unnamed || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return sp__errf(err, SP_EUNSUP, "open", ix->path, -1,
				"is an index of %.100s, not of %.100s", ix->source,
				unnamed ? "standard input" : input);
	if (same_format(ix, o, side) && same_key(ix, o, side))
		return 0;
	sp__want_index(io, o, side, input, NULL);
	return refuse(err, ix->path, "is an index of other keys than those of the join");
}

int sp__inlkeys_open(struct sp__inlkeys *k, const struct sp__inl_opts *opts)
{
	k->opts = opts;
	return sp__keying_init(&k->keying, opts->cut, opts->keys, opts->env->err);
}

void sp__inlkeys_release(struct sp__inlkeys *k)
{
	sp__keying_release(&k->keying);
	sp__keymem_release(&k->keymem);
	sp__keybuf_release(&k->of_outer);
	sp__keybuf_release(&k->of_inner);
	sp__bytes_release(&k->text, NULL);
}

static int no_memory(const struct sp__inlkeys *k)
{
	return sp__join_no_memory(k->opts->env);
}

int sp__inlkeys_make(struct sp__inlkeys *k, int side, const struct sp__line *line,
		     struct sp__slice *key)
{
	size_t begin;

	k->keymem.bytes = 0;
	if (sp__key_make(&k->keying, side, line->data, line->bytes, &k->keymem, &begin) < 0)
		return no_memory(k);
	*key = (struct sp__slice){ k->keymem.data, k->keymem.bytes };
	return 0;
}

/* Converts the outer key to the form of the inner file's records. */
static int binary_for_index(struct sp__inlkeys *k, const struct sp__slice *field)
{
	const struct sp_key *key = &k->opts->index->key.key;
	const size_t bytes = k->opts->format.fixed_bytes;

	sp__bytes_empty(&k->text, NULL);
	for (size_t i = 0; i < bytes; i += key->length)
		if (sp__bytes_append(&k->text, field->p, key->length, NULL) < 0)
			return no_memory(k);
	memcpy(k->text.data + key->offset, field->p, key->length);
	return sp__indexkey_of_record(&k->opts->index->key, k->text.data, bytes, &k->of_outer);
}

int sp__inlkeys_for_index(struct sp__inlkeys *k, const struct sp__line *outer)
{
	const struct sp_join_opts *keys = k->opts->keys;
	struct sp__slice f;
	size_t n;

	sp__field_find(k->keying.cut, outer->data, outer->bytes, keys->keys[k->opts->outer_side][0],
		       &f);
	if (k->keying.cut->kind == SP__CUT_FIXED)
		return binary_for_index(k, &f);
	if (sp__bytes_set(&k->text, f.p, f.n, NULL) < 0)
		return no_memory(k);
	n = f.n;
	if (k->keying.cut->kind == SP__CUT_CSV && n)
		n = (size_t)((char *)sp__csv_unquote(f.p, f.p + f.n,
						     (unsigned char *)k->text.data) -
			     k->text.data);
	return sp__indexkey_of_text(&k->opts->index->key, n ? k->text.data : "", n, &k->of_outer,
				    k->opts->env->err);
}

int sp__inlkeys_same(struct sp__inlkeys *k, const struct sp__line *outer, const char *record,
		     size_t bytes)
{
	int rc = sp__inlkeys_for_index(k, outer);

	if (!rc && sp__indexkey_of_record(&k->opts->index->key, record, bytes, &k->of_inner) < 0)
		rc = no_memory(k);
	return rc ? rc
		  : !sp__order_bytes(k->of_outer.data, k->of_outer.bytes, k->of_inner.data,
				     k->of_inner.bytes);
}
