/* SPDX-License-Identifier: MIT */
/*
 * Assembles records of the result by one of three methods; records of JSON: jsonrow.c.
 *
 * Algorithm: with the default columns, no filling and a separator of one byte, the key is followed
 * by the line without the key, so whole stretches are copied and no line is cut into fields.
 * Otherwise fields are cut and written one by one.  Binary records are written whole, or by fields;
 * if missing fields or records are filled, all records of the result have one length.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/utf8mark.h"
#include "join/keys/keying.h"
#include "join/result/emit.h"

/* The replacement of empty fields; in CSV it is quoted like a field. */
static int set_filler(struct sp__emit *e, const char *text)
{
	e->filler = text ? text : "";
	e->filler_bytes = strlen(e->filler);
	if (e->cut.kind != SP__CUT_CSV)
		return 0;
	e->own_filler = malloc(2 * e->filler_bytes + 2);
	if (!e->own_filler)
		return -ENOMEM;
	e->filler_bytes = sp__csv_quote(e->filler, e->filler_bytes, e->cut.sep[0], e->own_filler);
	e->filler = e->own_filler;
	return 0;
}

/* Sets which files' records can be in the result. */
static void set_fixed(struct sp__emit *e)
{
	const struct sp_join_opts *o = e->opts;

	e->fill = o->filler ? (unsigned char)*o->filler : 0;
	if (o->pairs || o->unpaired[0] || o->semi)
		e->fixed_bytes[0] = o->fixed_bytes[0];
	if (o->pairs || o->unpaired[1])
		e->fixed_bytes[1] = o->fixed_bytes[1];
}

/* Makes what records of JSON need. */
static int init_json(struct sp__emit *e)
{
	int rc;

	e->paths = e->own_paths = calloc(1, sizeof(*e->own_paths));
	if (!e->paths)
		return sp__err(e->err, -ENOMEM, "allocate", NULL, -1);
	if (e->opts->ncolumns)
		return sp__rowform_members(e->own_rows, e);
	rc = sp__jsonform_new(&e->own_json, e->opts, e->err);
	e->json = e->own_json;
	return rc;
}

/* Makes the form of columns with names. */
static int init_rows(struct sp__emit *e)
{
	const struct sp_join_opts *o = e->opts;

	if (!(o->json && o->ncolumns) && (o->json || o->rows != SP_JOIN_ROWS_JSON))
		return 0;
	e->rows = e->own_rows = calloc(1, sizeof(*e->own_rows));
	if (!e->rows)
		return sp__err(e->err, -ENOMEM, "allocate", NULL, -1);
	e->own_rows->csv = o->rows == SP_JOIN_ROWS_CSV;
	return 0;
}

int sp__emit_init(struct sp__emit *e, const struct sp_join_opts *opts, struct sp_errinfo *err)
{
	int rc;

	*e = (struct sp__emit){
		.opts = opts, .err = err, .limit = UINT64_MAX, .put = sp__emit_raw
	};
	e->nfiles = 2 + (unsigned)opts->nthen;
	sp__join_cut(&e->cut, opts);
	if (opts->fixed_bytes[0])
		set_fixed(e);
	rc = init_rows(e);
	if (!rc && opts->json)
		rc = init_json(e);
	if (rc)
		return rc;
	if (e->cut.kind != SP__CUT_FIXED && set_filler(e, opts->filler) < 0)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	e->padded = !opts->ncolumns &&
		    (opts->auto_columns || (opts->csv && opts->header) || (e->rows && !opts->json));
	e->first_alone =
		opts->first_alone && !opts->unpaired[1] && e->padded && !opts->auto_columns;
	e->simple = !opts->ncolumns && !e->padded && !e->filler_bytes && opts->nkeys == 1 &&
		    !opts->nthen && !opts->json && !e->rows && e->cut.kind != SP__CUT_BLANKS &&
		    e->cut.kind != SP__CUT_FIXED;
	e->buf = e->at = e->whole = malloc(SP__EMIT_BYTES);
	if (!e->buf)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	e->end = e->buf + SP__EMIT_BYTES;
	return 0;
}

void sp__emit_release(struct sp__emit *e)
{
	free(e->buf);
	free(e->own_filler);
	for (unsigned i = 0; i < SP_JOIN_FILES_MAX; i++)
		free(e->fields[i].at);
	sp__joinfiltering_release(&e->filtering);
	sp__jsonmerge_release(&e->json_mem);
	sp__joinmembers_release(&e->members);
	if (e->own_paths)
		sp__joinpaths_release(e->own_paths);
	free(e->own_paths);
	if (e->own_rows)
		sp__rowform_release(e->own_rows);
	free(e->own_rows);
	sp__bytes_release(&e->row_text, NULL);
	sp__jsonform_free(e->own_json);
	*e = (struct sp__emit){ 0 };
}

void sp__emit_share(struct sp__emit *share, const struct sp__emit *e, char *buf, size_t bytes)
{
	*share = *e;
	share->own_filler = NULL;
	share->own_json = NULL;
	share->json_mem = (struct sp__jsonmerge){ 0 };
	share->members = (struct sp__joinmembers){ 0 };
	share->own_paths = NULL;
	share->own_rows = NULL;
	share->row_text = (struct sp__bytes){ 0 };
	memset(share->fields, 0, sizeof(share->fields));
	share->filtering = (struct sp__joinfiltering){ 0 };
	share->ws = NULL;
	share->timeline = NULL;
	share->each = share->begun = share->mark_due = false;
	share->bytes = share->records = 0;
	share->buf = share->at = share->whole = buf;
	share->end = buf + bytes;
}

int sp__emit_auto(struct sp__emit *e, unsigned file, const struct sp__line *first)
{
	if (!e->padded)
		return 0;
	if (sp__fields_split(&e->cut, first->data, first->bytes, &e->fields[file]) < 0)
		return sp__err(e->err, -ENOMEM, "allocate", NULL, -1);
	e->auto_fields[file] = e->fields[file].n;
	return 0;
}

int sp__emit_begin(struct sp__emit *e)
{
	int rc = 0;

	if (!e->mark_due)
		return 0;
	e->mark_due = false;
	if (e->marked(e->marked_arg)) {
		rc = sp__wstream_put(e->ws, SP__UTF8_MARK, SP__UTF8_MARK_BYTES);
		e->bytes += SP__UTF8_MARK_BYTES;
	}
	return rc;
}

static void to_stream(struct sp__emit *e, const char *data, size_t bytes)
{
	int rc;

	if (e->error || !bytes)
		return;
	rc = sp__emit_begin(e);
	if (!rc)
		rc = sp__wstream_put(e->ws, data, bytes);
	if (rc < 0)
		e->error = rc;
	e->bytes += bytes;
}

static void to_sink(struct sp__emit *e, const char *data, size_t bytes, bool whole)
{
	int rc = e->error ? 0 : e->sink(e->sink_arg, data, bytes, whole);

	if (rc < 0)
		e->error = rc;
	e->begun = !whole;
}

int sp__emit_flush(struct sp__emit *e)
{
	if (e->error == SP__LIMIT_REACHED)
		return e->error;
	if (!e->sink)
		to_stream(e, e->buf, (size_t)(e->at - e->buf));
	if (e->sink && e->whole > e->buf)
		to_sink(e, e->buf, (size_t)(e->whole - e->buf), true);
	if (e->sink && e->at > e->whole)
		to_sink(e, e->whole, (size_t)(e->at - e->whole), false);
	e->at = e->whole = e->buf;
	return e->error;
}

/* Ends a record; passes it to a sink that gets every record by itself. */
static void ended(struct sp__emit *e)
{
	if (e->begun || e->each) {
		to_sink(e, e->buf, (size_t)(e->at - e->buf), true);
		e->at = e->buf;
	}
	e->whole = e->at;
}

static void put_slow(struct sp__emit *e, const char *p, size_t n)
{
	(void)!sp__emit_flush(e);
	if (n > (size_t)(e->end - e->buf) / 2) {
		if (e->sink)
			to_sink(e, p, n, false);
		else
			to_stream(e, p, n);
		return;
	}
	memcpy(e->at, p, n);
	e->at += n;
}

void sp__emit_append(struct sp__emit *e, const char *data, size_t bytes, bool whole,
		     uint64_t records)
{
	if (sp__emit_flush(e))
		return;
	if (!e->sink)
		to_stream(e, data, bytes);
	else if (bytes)
		to_sink(e, data, bytes, whole);
	e->records += records;
}

static inline void put(struct sp__emit *e, const char *p, size_t n)
{
	if (__builtin_expect(n > (size_t)(e->end - e->at), 0)) {
		put_slow(e, p, n);
		return;
	}
	memcpy(e->at, p, n);
	e->at += n;
}

static inline void put_separator(struct sp__emit *e)
{
	put(e, e->cut.sep, e->cut.sep_bytes);
}

/* The fields of a line other than its key, each with a separator before it. */
static inline __attribute__((always_inline)) void put_rest(struct sp__emit *e,
							   const struct sp__line *l)
{
	const size_t bytes = sp__line_trim(&e->cut, l->data, l->bytes);
	size_t before;

	if (l->key.p == sp__no_field) {
		if (bytes)
			put_separator(e);
		put(e, l->data, bytes);
		return;
	}
	before = (size_t)(l->key.p - l->data);
	if (before) {
		put_separator(e);
		put(e, l->data, before - e->cut.sep_bytes);
	}
	put(e, l->key.p + l->key.n, (size_t)(l->data + bytes - (l->key.p + l->key.n)));
}

/* By fields. */

/* True if this field is replaced by the filler. */
static bool is_empty(const struct sp__emit *e, const struct sp__slice *f)
{
	return !f->n || (e->cut.kind == SP__CUT_CSV && f->n == 2 && !memcmp(f->p, "\"\"", 2));
}

static void put_field(struct sp__emit *e, const struct sp__fields *f, size_t k)
{
	if (e->filler_bytes && (k >= f->n || is_empty(e, &f->at[k])))
		put(e, e->filler, e->filler_bytes);
	else if (k < f->n)
		put(e, f->at[k].p, f->at[k].n);
}

bool sp__emit_is_key(const struct sp__emit *e, unsigned file, size_t k)
{
	if (file >= 2)
		return e->opts->then[file - 2].key == k;
	for (size_t i = 0; i < e->opts->nkeys; i++)
		if (e->opts->keys[file][i] == k)
			return true;
	return false;
}

static void put_others(struct sp__emit *e, unsigned file)
{
	const struct sp__fields *f = &e->fields[file];
	size_t n = e->padded ? e->auto_fields[file] : f->n;

	for (size_t k = 0; k < n; k++) {
		if (sp__emit_is_key(e, file, k))
			continue;
		put_separator(e);
		put_field(e, f, k);
	}
}

static void put_key(struct sp__emit *e, int side)
{
	for (size_t i = 0; i < e->opts->nkeys; i++) {
		if (i)
			put_separator(e);
		put_field(e, &e->fields[side], e->opts->keys[side][i]);
	}
}

/* Cuts a record into fields; NULL has none.  Only -o auto drops fields beyond the header's. */
static int split(struct sp__emit *e, unsigned file, const struct sp__line *l)
{
	struct sp__fields *f = &e->fields[file];

	f->n = 0;
	if (l && sp__fields_split(&e->cut, l->data, l->bytes, f) < 0)
		return sp__err(e->err, -ENOMEM, "allocate", NULL, -1);
	if (!e->padded || e->opts->auto_columns || f->n <= e->auto_fields[file])
		return 0;
	return sp__errf(e->err, SP_EFORMAT, "read",
			file < 2 ? e->inputs[file] : e->opts->then[file - 2].input, -1,
			"a record has %zu fields, the header %zu", f->n, e->auto_fields[file]);
}

/* Cuts the records of all files into fields. */
static int split_all(struct sp__emit *e, const struct sp__line *const *of)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < e->nfiles; i++)
		rc = split(e, i, of[i]);
	return rc;
}

/* Assembles a record from columns with names; a condition has found the members already. */
static void by_names(struct sp__emit *e, const struct sp__line *const *of)
{
	int rc = 0;

	if (!e->opts->json)
		rc = split_all(e, of);
	else if (!e->where)
		rc = sp__joinmembers_find(e, of);
	if (!rc)
		rc = sp__rowform_put(e, of);
	if (rc < 0)
		e->error = rc;
}

static void by_fields(struct sp__emit *e, const struct sp__line *const *of)
{
	int key_side = of[0] ? 0 : 1;
	int rc = split_all(e, of);

	if (rc < 0) {
		e->error = rc;
		return;
	}
	if (!e->opts->ncolumns) {
		put_key(e, key_side);
		for (unsigned i = 0; i < e->nfiles; i++)
			put_others(e, i);
		return;
	}
	for (size_t i = 0; i < e->opts->ncolumns; i++) {
		const struct sp_join_column *c = &e->opts->columns[i];

		if (i)
			put_separator(e);
		if (c->file)
			put_field(e, &e->fields[c->file - 1], c->field);
		else
			put_key(e, key_side);
	}
}

/* Binary records. */

static void put_fill(struct sp__emit *e, size_t n)
{
	while (n) {
		size_t part = (size_t)(e->end - e->at);

		part = part < n ? part : n;
		memset(e->at, e->fill, part);
		e->at += part;
		n -= part;
		if (n)
			(void)!sp__emit_flush(e);
	}
}

static void put_fixed_field(struct sp__emit *e, const struct sp__line *l, size_t field)
{
	const struct sp_key *f = &e->opts->fields[field];

	if (l)
		put(e, l->data + f->offset, f->length);
	else
		put_fill(e, f->length);
}

static void put_fixed_key(struct sp__emit *e, const struct sp__line *l, int side)
{
	for (size_t i = 0; i < e->opts->nkeys; i++)
		put_fixed_field(e, l, e->opts->keys[side][i]);
}

static void fixed(struct sp__emit *e, const struct sp__line *a, const struct sp__line *b)
{
	const struct sp__line *record[2] = { a, b };

	for (int side = 0; side < 2 && !e->opts->ncolumns; side++) {
		if (record[side])
			put(e, record[side]->data, record[side]->bytes);
		else
			put_fill(e, e->fixed_bytes[side]);
	}
	for (size_t i = 0; i < e->opts->ncolumns; i++) {
		const struct sp_join_column *c = &e->opts->columns[i];

		if (c->file)
			put_fixed_field(e, record[c->file - 1], c->field);
		else
			put_fixed_key(e, a ? a : b, a ? 0 : 1);
	}
}

void sp__emit_raw(struct sp__emit *e, const char *data, size_t bytes)
{
	put(e, data, bytes);
}

/* Records without a record of the ordered file come after all others. */
static void put_tags(struct sp__emit *e, const struct sp__line *a, const struct sp__line *b)
{
	static const char first[] = "\x80\x80\x80\x80\x80\x80\x80";
	static const char last[] = "\xff\xff\xff\xff\xff\xff\xff";
	const struct sp__line *major = e->tags_of == 1 ? a : b, *minor = e->tags_of == 1 ? b : a;

	put(e, major ? major->data + major->bytes : last, SP__TAG_BYTES);
	put(e, minor ? minor->data + minor->bytes : first, SP__TAG_BYTES);
}

/* JSON lines. */

static void put_text(void *emit, const char *p, size_t n)
{
	put(emit, p, n);
}

static void put_json(struct sp__emit *e, const struct sp__line *a, const struct sp__line *b)
{
	const struct sp__jsonrow row = { e->json, &e->json_mem, put_text, e };
	const struct sp__slice line[2] = { { a ? a->data : NULL, a ? a->bytes : 0 },
					   { b ? b->data : NULL, b ? b->bytes : 0 } };

	if (sp__jsonrow_put(&row, line))
		e->error = sp__err(e->err, -ENOMEM, "allocate", NULL, -1);
}

static void put_record(struct sp__emit *e, const struct sp__line *const *of)
{
	const struct sp__line *a = of[0], *b = of[1], *keyed = a ? a : b;

	if (e->simple) {
		put(e, keyed->key.p, keyed->key.n);
		if (a)
			put_rest(e, a);
		if (b)
			put_rest(e, b);
	} else if (e->cut.kind == SP__CUT_FIXED) {
		fixed(e, a, b);
		return;
	} else if (e->rows) {
		by_names(e, of);
	} else if (e->json) {
		put_json(e, a, b);
	} else {
		by_fields(e, of);
	}
	put(e, &e->opts->eol, 1);
}

void sp__emit_count(struct sp__emit *e)
{
	e->records++;
	e->whole = e->at;
	if (e->timeline)
		sp__timeline_row(e->timeline);
	if (e->records == e->limit && !e->error)
		e->error = SP__LIMIT_REACHED;
}

void sp__emit_pair(struct sp__emit *e, const struct sp__line *a, const struct sp__line *b)
{
	const struct sp__line *of[SP_JOIN_FILES_MAX] = { a, b };

	sp__emit_files(e, of);
}

/* True if the record is left out, or has an error. */
static bool is_filtered(struct sp__emit *e, const struct sp__line *const *of)
{
	bool chosen = false;
	int rc = e->error ? e->error : sp__joincondition_choose(e, of, &chosen);

	if (rc < 0)
		e->error = rc;
	else if (!chosen)
		e->filtering.records++;
	return !chosen;
}

void sp__emit_files(struct sp__emit *e, const struct sp__line *const *of)
{
	if (e->error == SP__LIMIT_REACHED || (e->where && is_filtered(e, of)))
		return;
	if (e->tags_of)
		put_tags(e, of[0], of[1]);
	put_record(e, of);
	if (!e->sink) {
		sp__emit_count(e);
		return;
	}
	e->records++;
	ended(e);
}
