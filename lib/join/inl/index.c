/* SPDX-License-Identifier: MIT */
/* Checks that index nested loops can do a join, and that an index is on one of its keys. */
#include <string.h>
#include <sys/stat.h>
#include "base/err.h"
#include "join/inl/index.h"
#include "join/plan/plan.h"

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

bool sp__keys_alike(const struct sp_join_opts *o)
{
	const struct sp_key *a = &o->fields[o->keys[0][0]], *b = &o->fields[o->keys[1][0]];

	return a->type == b->type && a->length == b->length && a->big_endian == b->big_endian;
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
		       k->big_endian == f->big_endian && sp__keys_alike(o);
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
