/* SPDX-License-Identifier: MIT */
/*
 * Groups records in one thread (worker.h).
 *
 * Records with the number of fields that the first one of a piece has are found 64 bytes at a time
 * (columns/fieldends.h); others one by one.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "group/ahead.h"
#include "group/binary.h"
#include "group/key.h"
#include "group/values.h"

#define TEXT_BYTES ((size_t)128 << 10) /* records whose fields are found at once */
#define ENDS ((uint32_t)16 << 10)
#define OUT_BYTES ((size_t)256 << 10)
/* Of the memory of a table: lengths in it have 32 bits. */
#define RECORD_MAX ((size_t)2 << 30)

static int open_scratch(struct sp__group_worker *w)
{
	const struct sp__group_spec *s = w->in->spec;

	for (uint32_t i = 0; i < s->nderived; i++)
		if (!(w->scratch[i] = sp__expr_scratch_new(s->derived[i].expr)))
			return -ENOMEM;
	if (s->where && !(w->scratch[s->nderived] = sp__expr_scratch_new(s->where)))
		return -ENOMEM;
	return 0;
}

int sp__group_worker_open(struct sp__group_worker *w, const struct sp__group_input *in,
			  size_t table_bytes)
{
	const struct sp__group_spec *s = in->spec;

	*w = (struct sp__group_worker){ .in = in, .ends.max_ends = ENDS };
	w->ends.ends = malloc((ENDS + 1 + SP__FIELDENDS_SLACK) * sizeof(*w->ends.ends));
	w->columns = calloc(s->ncolumns + s->nderived + s->nmembers + 1, sizeof(*w->columns));
	w->scratch = calloc(s->nderived + 1, sizeof(struct sp__expr_scratch *));
	w->values = calloc(s->narguments + 1, sizeof(*w->values));
	w->second = calloc(s->narguments + 1, sizeof(*w->second));
	w->found = calloc(s->paths ? sp__json_paths_count(s->paths) + 1 : 1, sizeof(*w->found));
	/* A key of no parts has an address, too. */
	if (!w->ends.ends || !w->columns || !w->values || !w->second || !w->scratch || !w->found ||
	    sp__bytes_reserve(&w->key, 1, NULL) || open_scratch(w) || sp__values_open(w))
		return -ENOMEM;
	return sp__group_table_open(&w->table, s, table_bytes);
}

void sp__group_worker_release(struct sp__group_worker *w)
{
	sp__group_table_close(&w->table);
	sp__bytes_release(&w->unquoted, NULL);
	sp__bytes_release(&w->key, NULL);
	sp__bytes_release(&w->next_key, NULL);
	sp__bytes_release(&w->by, NULL);
	sp__bytes_release(&w->out, NULL);
	sp__bytes_release(&w->direct, NULL);
	sp__keybuf_release(&w->encoded);
}

void sp__group_worker_close(struct sp__group_worker *w)
{
	sp__group_worker_release(w);
	for (uint32_t i = 0; w->scratch && i <= w->in->spec->nderived; i++)
		sp__expr_scratch_free(w->scratch[i]);
	free(w->scratch);
	free(w->ends.ends);
	free(w->columns);
	free(w->lists);
	free(w->values);
	free(w->second);
	free(w->found);
	sp__json_reader_release(&w->json);
	free(w->fields.at);
}

/* Values. */

/* Reads the value of a column.  False: it is not a number, which it must be. */
static bool read_value(const struct sp__group_worker *w, uint32_t column, bool needs_number,
		       struct sp__group_value *v)
{
	const struct sp__slice *text = &w->columns[column];

	v->text = *text;
	if (sp__group_is_null(w->in, column, text))
		v->text.p = NULL;
	return !v->text.p || !needs_number || sp__amount_parse(text->p, text->n, &v->number);
}

/* Reads the value of an argument.  SP_EFORMAT: w->bad is not a number. */
static int read_argument(struct sp__group_worker *w, const struct sp__group_argument *a,
			 uint32_t column, struct sp__group_value *v)
{
	if (read_value(w, column, a->keep & SP__KEEP_OF_NUMBERS, v))
		return 0;
	w->bad = (struct sp__expr_bad){ w->columns[column], "a number" };
	w->bad_of = w->in->spec->aggregates[a->by].name;
	return SP_EFORMAT;
}

/* Reads the values of a record. */
static int read_values(struct sp__group_worker *w)
{
	const struct sp__group_spec *s = w->in->spec;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < s->narguments; i++) {
		const struct sp__group_argument *a = &s->arguments[i];

		rc = read_argument(w, a, a->column, &w->values[i]);
		if (rc || a->second == UINT32_MAX)
			continue;
		rc = read_argument(w, a, a->second, &w->second[i]);
		if (!rc && !w->second[i].text.p)
			w->values[i].text.p = NULL;
	}
	return rc;
}

/* Calculates the derived columns, unless the condition is not true: *chosen. */
static int derive(struct sp__group_worker *w, bool *chosen)
{
	const struct sp__group_spec *s = w->in->spec;
	const struct sp__expr_record record = { w->columns, w->in->null_text, w->in->null_bytes };
	int rc = 0;

	*chosen = true;
	if (s->where) {
		w->bad_of = "--where";
		rc = sp__expr_choose(s->where, w->scratch[s->nderived], &record, chosen, &w->bad);
	}
	for (uint32_t i = 0; !rc && *chosen && i < s->nderived; i++) {
		struct sp__slice *text = &w->columns[s->ncolumns + i];

		w->bad_of = s->derived[i].text;
		rc = sp__expr_text(s->derived[i].expr, w->scratch[i], &record, text, &w->bad);
		if (!text->p)
			*text = (struct sp__slice){ sp__no_field, 0 };
	}
	return rc;
}

/* Returns the most bytes of the arena that the record can take. */
static size_t space_for(const struct sp__group_worker *w, size_t record_bytes)
{
	const struct sp__group_spec *s = w->in->spec;
	size_t n = s->state_bytes + w->key.bytes + sp__group_reals_bytes(s) + 2 * SP__ARENA_UNIT;

	if (s->largest)
		n += sizeof(struct sp__grouped) + w->key.bytes + 2 * (w->by.bytes + record_bytes) +
		     64;
	for (uint32_t i = 0; s->key_texts && i < s->nkeys; i++)
		n += 2 * w->columns[s->keys[i].column].n + SP__ARENA_UNIT;
	for (uint32_t i = 0; i < s->narguments; i++) {
		const unsigned keep = s->arguments[i].keep;
		const size_t text = w->values[i].text.n;

		if (keep & (SP__KEEP_MIN | SP__KEEP_MAX | SP__KEEP_FIRST | SP__KEEP_LAST))
			n += 4 * (2 * text + 2 * SP__AMOUNT_CODE + SP__ARENA_UNIT);
		if (keep & SP__KEEP_LISTS)
			n += 3 * (sizeof(struct sp__grouped) + w->key.bytes + 2 * text + 64);
	}
	return n;
}

/* True if the table, which does not pay, has as many groups as it should have. */
static bool is_full(const struct sp__group_worker *w)
{
	return w->small && w->table.groups >= SP__GROUP_SMALL;
}

/* True if there are as many partial records of values as are given at once. */
static bool is_direct_full(const struct sp__group_worker *w)
{
	return w->direct.bytes >= OUT_BYTES;
}

/*
 * Adds a record whose fields are in columns.  Returns 0; 1: partial records must be taken first; or
 * an error.
 */
static int add_record(struct sp__group_worker *w, const struct sp__slice *record, uint64_t position)
{
	const struct sp__group_spec *s = w->in->spec;
	size_t key_bytes, space;
	uint32_t at;
	bool chosen;
	int rc = is_direct_full(w) ? 1 : derive(w, &chosen);

	if (rc == 1)
		return 1;
	if (!rc && !chosen) {
		w->filtered++;
		return 0;
	}
	if (!rc)
		rc = read_values(w);
	if (rc == SP_EFORMAT && w->in->skip_invalid) {
		w->skipped++;
		return 0;
	}
	rc = rc ? rc : sp__group_make_key(w, &w->key, s->keys, s->nkeys);
	if (!rc && s->largest)
		rc = sp__group_make_key(w, &w->by, s->by, s->nby);
	if (rc)
		return rc;
	space = space_for(w, record->n);
	if (space > RECORD_MAX)
		return -EMSGSIZE;
	if (is_full(w) || !sp__group_table_fits(&w->table, 1 + s->nlists, space))
		return w->table.groups ? 1 : -ENOMEM;
	key_bytes = w->key.bytes;
	w->made -= w->table.groups;
	at = sp__group_table_find(&w->table, w->key.data, key_bytes, 0);
	w->made += w->table.groups;
	if (s->grows && !sp__group_table_grows(&w->table, at, space))
		return sp__group_table_is_new(&w->table, at) ? -ENOMEM : 1;
	sp__group_add(s, &w->table.arena, at, w->values, w->second, position);
	if (s->key_texts)
		sp__group_add_keys(s, &w->table.arena, at, w->columns, position);
	if (s->largest)
		rc = sp__values_add_record(w, at, key_bytes, record, position);
	for (uint32_t i = 0; !rc && s->nlists && i < s->narguments; i++)
		if (w->values[i].text.p)
			rc = sp__values_add(w, &s->arguments[i], &w->values[i], key_bytes,
					    position);
	if (++w->added == SP__GROUP_TRIED)
		w->small |= !sp__group_worker_pays(w, w->added, w->made);
	return rc;
}

/* Fields. */

/* Sets column i to a field; a field in quotes is copied without them. */
static void set_column(struct sp__group_worker *w, uint32_t i, const char *p, size_t n)
{
	const char *end;

	w->columns[i] = (struct sp__slice){ p, n };
	if (w->in->cut.kind != SP__CUT_CSV || !n || *p != '"')
		return;
	/* Columns point into the buffer, which therefore has space for the whole record. */
	end = (const char *)sp__csv_unquote(p, p + n,
					    (unsigned char *)w->unquoted.data + w->unquoted.bytes);
	w->columns[i].p = w->unquoted.data + w->unquoted.bytes;
	w->columns[i].n = (size_t)(end - w->columns[i].p);
	w->unquoted.bytes += w->columns[i].n;
}

static int begin_columns(struct sp__group_worker *w, size_t record_bytes)
{
	w->unquoted.bytes = 0;
	return w->in->cut.kind == SP__CUT_CSV && record_bytes > w->unquoted.capacity
		       ? sp__bytes_reserve(&w->unquoted, 2 * record_bytes + 64, NULL)
		       : 0;
}

/* Adds a record whose fields are found one by one. */
static int add_line(struct sp__group_worker *w, const char *rec, size_t bytes, uint64_t position)
{
	const struct sp__group_spec *s = w->in->spec;
	const struct sp__slice record = { rec, bytes };
	int rc = sp__fields_split(&w->in->cut, rec, bytes, &w->fields);

	if (!rc)
		rc = begin_columns(w, bytes);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < s->ncolumns; i++) {
		const size_t k = s->columns[i];

		if (k < w->fields.n)
			set_column(w, i, w->fields.at[k].p, w->fields.at[k].n);
		else
			w->columns[i] = (struct sp__slice){ sp__no_field, 0 };
	}
	return add_record(w, &record, position);
}

/* Sets keys to values as they are written; a member that is not there is null. */
static void set_keys(struct sp__group_worker *w)
{
	static const struct sp__slice null = { "null", 4 };
	const struct sp__group_spec *s = w->in->spec;

	for (uint32_t i = 0; i < s->nmembers; i++) {
		const struct sp__json_value *v = &w->found[s->members[i]];

		w->columns[s->ncolumns + s->nderived + i] =
			v->kind ? (struct sp__slice){ v->p, v->n } : null;
	}
}

/* Sets the columns of a record of JSON. */
static int set_members(struct sp__group_worker *w, const char *rec, size_t bytes)
{
	const struct sp__group_spec *s = w->in->spec;
	int rc;

	w->json.paths = s->paths;
	w->json.check = w->in->format.strict ? SP__JSON_CHECK_ALL : SP__JSON_CHECK_FOUND;
	rc = sp__json_find_next(&w->json, rec, bytes, 0, w->found, &w->not_json);
	if (!rc)
		rc = sp__json_fields(w->found, s->columns, s->ncolumns, bytes, &w->unquoted,
				     w->columns);
	if (!rc)
		set_keys(w);
	return rc;
}

/* Adds a record of JSON. */
static int add_json(struct sp__group_worker *w, const char *rec, size_t bytes, uint64_t position)
{
	const struct sp__slice record = { rec, bytes };
	int rc;

	w->not_json.wanted = NULL;
	rc = set_members(w, rec, bytes);
	if (rc == SP_EFORMAT && w->in->skip_invalid) {
		w->skipped++;
		return 0;
	}
	return rc ? rc : add_record(w, &record, position);
}

/* Adds a record of a fixed length. */
static int add_binary(struct sp__group_worker *w, const char *rec, size_t bytes, uint64_t position)
{
	w->record = (struct sp__slice){ rec, bytes };
	return sp__group_binary_columns(w->in->spec, rec, &w->unquoted, w->columns)
		       ? -ENOMEM
		       : add_record(w, &w->record, position);
}

/* Adds record i of those whose ends are known. */
static int add_found(struct sp__group_worker *w, uint32_t nfields, uint32_t i, uint64_t position)
{
	const struct sp__group_spec *s = w->in->spec;
	const uint32_t *ends = w->ends.ends + (size_t)i * nfields;
	const struct sp__slice record = { w->text + (uint32_t)(ends[0] + 1),
					  ends[nfields] - (uint32_t)(ends[0] + 1) };
	int rc = begin_columns(w, ends[nfields] - ends[0]);

	if (rc)
		return rc;
	for (uint32_t c = 0; c < s->ncolumns; c++) {
		const size_t k = s->columns[c];
		const char *p;
		size_t n;

		if (k >= nfields) {
			w->columns[c] = (struct sp__slice){ sp__no_field, 0 };
			continue;
		}
		p = w->text + (uint32_t)(ends[k] + 1);
		n = ends[k + 1] - ends[k] - 1;
		if (k + 1 == nfields)
			n = sp__line_trim(&w->in->cut, p, n);
		set_column(w, c, p, n);
	}
	return add_record(w, &record, position + (uint32_t)(ends[0] + 1));
}

/* True if fields can be found many records at a time. */
static bool finds_ends(const struct sp__group_input *in)
{
	return !in->format.json && in->format.kind != SP_REC_FIXED &&
	       (in->cut.kind == SP__CUT_CSV || in->cut.kind == SP__CUT_BYTE) &&
	       (in->format.kind == SP_REC_CSV || in->format.eol == '\n');
}

/* Takes a record alone.  Returns as add_record(). */
static int take_line(struct sp__group_worker *w, struct sp_batch *from, uint64_t position)
{
	const struct sp_recfmt *f = &w->in->format;
	size_t bytes;
	const char *after = sp__record_next(f, from->data, from->data + from->bytes, &bytes);
	int rc = f->json		     ? add_json(w, from->data, bytes, position)
		 : w->in->spec->record_bytes ? add_binary(w, from->data, bytes, position)
					     : add_line(w, from->data, bytes, position);

	if (rc)
		return rc;
	w->records++;
	*from = (struct sp_batch){ after, from->bytes - (size_t)(after - from->data) };
	return 0;
}

/* Takes records with as many fields as the first one. */
static int take_piece(struct sp__group_worker *w, struct sp_batch *from, uint64_t position)
{
	const struct sp__group_input *in = w->in;
	const char *end = from->data + from->bytes;
	size_t bytes = sp__rec_fitting(&in->format, from->data, from->bytes, TEXT_BYTES), first;
	struct sp__fieldends_opts o = { .separator = in->cut.sep[0],
					.csv = in->cut.kind == SP__CUT_CSV };
	bool ahead;
	int rc;

	if (!bytes)
		return take_line(w, from, position);
	(void)sp__record_next(&in->format, from->data, end, &first);
	rc = sp__fields_split(&in->cut, from->data, first, &w->fields);
	if (rc || !w->fields.n || w->fields.n > ENDS)
		return rc ? rc : take_line(w, from, position);
	o.fields = (uint32_t)w->fields.n;
	w->text = from->data;
	sp__fieldends_find(&w->ends, &o, w->text, 0, (uint32_t)bytes);
	if (!w->ends.records)
		return take_line(w, from, position);
	ahead = sp__ahead_begin(w, o.fields);
	for (uint32_t i = 0; i < w->ends.records; i++) {
		if (ahead)
			sp__ahead(w, o.fields, i);
		rc = add_found(w, o.fields, i, position);
		if (rc) {
			w->records += i;
			from->data += (uint32_t)(w->ends.ends[(size_t)i * o.fields] + 1);
			from->bytes = (size_t)(end - from->data);
			return rc;
		}
	}
	w->records += w->ends.records;
	from->data += w->ends.ends[(size_t)w->ends.records * o.fields] + 1;
	from->bytes = (size_t)(end - from->data);
	return 0;
}

/* Partial records. */

static int put_partial(struct sp__group_worker *w, uint32_t at)
{
	const struct sp__group_spec *s = w->in->spec;
	const struct sp__group_arena *a = &w->table.arena;
	const struct sp__grouped *g = sp__arena_at(a, at);
	const size_t state = g->tag ? SP__CODE_VARINT : sp__group_written(s, a, at);
	char *to, *end;
	const char *written;
	int rc = sp__bytes_reserve(&w->out, w->out.bytes + g->key_bytes + 3 * state + 2, NULL);

	if (rc)
		return rc;
	to = w->out.data + w->out.bytes;
	memcpy(to, sp__group_key(s, g), g->key_bytes);
	to += g->key_bytes;
	if (!g->tag)
		*to++ = SP__TAG_GROUP;
	/* Written behind its place, then escaped into it. */
	end = sp__group_write(s, a, at, to + 2 * state);
	written = to + 2 * state;
	to = sp__code_escape(to, written, (size_t)(end - written));
	*to++ = SP__CODE_NUL;
	w->out.bytes = (size_t)(to - w->out.data);
	w->partials++;
	return 0;
}

/* Makes partial records of the next groups of the table, and empties it after the last one. */
static int emit(struct sp__group_worker *w, struct sp_batch *partial)
{
	int rc = sp__bytes_reserve(&w->out, OUT_BYTES, NULL);

	w->out.bytes = 0;
	while (!rc && w->emitting && w->out.bytes < OUT_BYTES) {
		rc = put_partial(w, w->emitting);
		w->emitting = sp__group_table_next(&w->table, w->emitting);
	}
	*partial = (struct sp_batch){ w->out.data, w->out.bytes };
	if (rc || w->emitting)
		return rc;
	w->small = w->table.groups * SP__GROUP_PAYS > w->added;
	w->added = w->made = 0;
	w->fills++;
	w->full = false;
	sp__group_table_empty(&w->table);
	return 0;
}

static void begin_emitting(struct sp__group_worker *w)
{
	w->full = true;
	w->emitting = sp__group_table_next(&w->table, 0);
}

/* Gives the partial records of values that did not go through the table. */
static void give_direct(struct sp__group_worker *w, struct sp_batch *partial)
{
	*partial = (struct sp_batch){ w->direct.data, w->direct.bytes };
	w->given = true;
}

/* Removes partial records that were given; memory of huge ones is freed. */
static void end_given(struct sp__group_worker *w)
{
	if (w->given)
		sp__bytes_empty(&w->direct, NULL);
	w->given = false;
	sp__bytes_empty(&w->out, NULL);
}

int sp__group_worker_take(struct sp__group_worker *w, struct sp_batch *from, uint64_t position,
			  struct sp_batch *partial)
{
	const char *begin = from->data;
	int rc = 0;

	*partial = (struct sp_batch){ NULL, 0 };
	end_given(w);
	while (!rc && from->bytes && !w->full && !is_direct_full(w)) {
		const uint64_t at = position + (uint64_t)(from->data - begin);

		rc = finds_ends(w->in) ? take_piece(w, from, at) : take_line(w, from, at);
		if (rc == 1) {
			if (!is_direct_full(w))
				begin_emitting(w);
			rc = 0;
		}
	}
	if (!rc && is_direct_full(w))
		give_direct(w, partial);
	else if (!rc && w->full)
		rc = emit(w, partial);
	return rc;
}

int sp__group_worker_rest(struct sp__group_worker *w, struct sp_batch *partial)
{
	int rc;

	end_given(w);
	if (w->direct.bytes) {
		give_direct(w, partial);
		return SP_READY;
	}
	if (!w->full && !w->table.groups)
		return SP_END;
	if (!w->full)
		begin_emitting(w);
	rc = emit(w, partial);
	return rc ? rc : SP_READY;
}
