/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "base/err.h"
#include "join/inlindex.h"
#include "join/plan.h"
#include "run/costs.h"

static bool is_inner(const struct sp_join_opts *o, int side)
{
	return o->index[side] && !o->unpaired[side] && !(o->semi && !side);
}

int sp__inl_outer(const struct sp_join_opts *o)
{
	if (!is_inner(o, 1) || !is_inner(o, 0))
		return is_inner(o, 1) ? 0 : 1;
	return o->input_bytes[1] && o->input_bytes[1] < o->input_bytes[0] ? 1 : 0;
}

static int refuse(struct sp_errinfo *err, const char *path, const char *reason)
{
	return sp__errf(err, SP_EUNSUP, "plan", path, -1, "%s", reason);
}

/* What joins the records of one file, but not those of another, and how keys compare. */
static int check_type(const struct sp_join_opts *o, struct sp_errinfo *err)
{
	if (o->collated)
		return refuse(err, NULL, "an index does not compare as the locale does");
	if (o->index[0] && !o->index[1] && (o->unpaired[0] || o->semi))
		return refuse(err, NULL,
			      "index nested loops with an index of file 1 find no records of it "
			      "that lack a partner, nor each once");
	if (o->index[1] && !o->index[0] && o->unpaired[1])
		return refuse(err, NULL,
			      "index nested loops with an index of file 2 find no records of it "
			      "that lack a partner");
	if (!is_inner(o, 0) && !is_inner(o, 1))
		return refuse(err, NULL, "index nested loops cannot do this type of join");
	if (o->nthen && (!o->pairs || o->unpaired[0] || o->unpaired[1]))
		return refuse(err, NULL, "further files can only be joined to pairs");
	if (o->nthen && o->fixed_bytes[0])
		return refuse(err, NULL, "further files have lines or CSV records");
	if (o->nthen > SP_JOIN_FILES_MAX - 2)
		return refuse(err, NULL, "too many files");
	if (o->ordered && (int)o->ordered - 1 != sp__inl_outer(o))
		return refuse(err, NULL,
			      "index nested loops keep the order of the file without the index");
	return 0;
}

/*
 * Each probe reads a page of the index and one of the inner file.  Depth is not counted in: it
 * makes up for the pages of inner nodes, and for more than one match.
 */
bool sp__inl_pays(const struct sp_join_opts *o, double *index_s, double *hash_s)
{
	const struct sp__device_costs d = sp__device_costs(o->run.geometry, false);
	const double mb = 1 << 20;
	int outer = sp__inl_outer(o), build = (int)sp__join_build(o) - 1;
	double all = (double)o->input_bytes[0] + (double)o->input_bytes[1];
	double share = 1, probes = (double)sp__join_records(o, outer);
	struct sp__join_layout l;

	*index_s = *hash_s = 0;
	if (o->algorithm != SP_JOIN_AUTO || check_type(o, NULL) < 0)
		return false;
	if (!o->input_bytes[0] || !o->input_bytes[1] || sp__join_layout(o, &l, NULL) < 0)
		return false;
	if (o->limited && (double)o->limit < probes)
		share = (double)o->limit / probes;
	*index_s = share * (2 * probes * d.seek_s +
			    (double)o->input_bytes[outer] / mb * d.transfer_s_per_mib);
	*hash_s = all / mb * d.transfer_s_per_mib;
	if (sp__join_need(o->input_bytes[build], sp__join_records(o, build)) > l.table_bytes)
		*hash_s *= 3;
	return *index_s < *hash_s;
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
	rc = check_type(o, err);
	for (size_t i = 0; i < o->nthen && !rc; i++)
		rc = check_then(o, i, io, err);
	return rc;
}

/* Are fields and records cut as in the join? */
static bool same_format(const struct sp__index *ix, const struct sp_join_opts *o, int side)
{
	const struct sp__index_head *h = &ix->head;
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

/* Are index keys equal where those of the join are?  They may be equal elsewhere, too. */
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
