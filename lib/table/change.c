/* SPDX-License-Identifier: MIT */
/*
 * Updates and deletes records that the caller chooses, and appends records.
 *
 * Appended records are text of the form in which the table was loaded.  Inputs are parsed as those
 * of a load (records.c), by the columns and the style of the table.
 *
 * All chosen records are chosen before any changes, since changes go to the journal first.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "columns/schema_text.h"
#include "predict/platform.h"
#include "table/change/choose.h"
#include "table/arrange.h"
#include "table/change/newvalues.h"
#include "table/change/update.h"
#include "table/file/directory.h"
#include "table/load.h"
#include "table/state.h"

/* Describes the form of the table's text as the options of a load. */
static struct sp_table_load_opts form_of(const struct sp__tablefile *f)
{
	const struct sp__columns_style *style = &f->schema.style;
	struct sp_table_load_opts o = { .run = f->run,
					.progress = f->progress,
					.progress_arg = f->progress_arg,
					.format = style->json ? SP_TABLE_JSON
							      : (enum sp_table_format)style->format,
					.separator = style->separator,
					.header = style->header };

	for (uint32_t i = 0; style->format == SP_REC_FIXED && i < f->schema.n; i++)
		o.record_bytes += f->schema.columns[i].type.bytes;
	return o;
}

/* Refuses the table itself as an input. */
static int check_inputs(const struct sp__tablefile *f, const char *const *inputs, size_t n,
			struct sp_errinfo *err)
{
	struct stat st;

	for (size_t i = 0; i < n; i++)
		if (!(strcmp(inputs[i], "-") ? stat(inputs[i], &st) : fstat(STDIN_FILENO, &st)) &&
		    sp__cellfile_has(&f->cells, &st))
			return sp__errf(err, SP_EUNSUP, "append", inputs[i], -1,
					"is the table itself");
	return 0;
}

/* Returns the length of a line without its end. */
static size_t line_bytes(const struct sp__bytes *line)
{
	size_t n = line->bytes;

	n -= n && line->data[n - 1] == '\n';
	return n - (n && line->data[n - 1] == '\r');
}

/* Refuses a header with other names than those of the table. */
static int check_header(const struct sp__tableload *l)
{
	const struct sp__bytes *header = &l->source.header;
	struct sp__bytes own = { 0 };
	int rc;

	if (!l->opts->header || !header->bytes)
		return 0;
	rc = sp__tableload_print_header(l, &own);
	if (!rc && (line_bytes(&own) != line_bytes(header) ||
		    memcmp(own.data, header->data, line_bytes(&own)) != 0))
		rc = sp__errf(l->err, SP_EFORMAT, "append", l->source.opts.inputs[0], -1,
			      "its header is not that of the table, '%.*s'", (int)line_bytes(&own),
			      own.data);
	sp__bytes_release(&own, NULL);
	return rc;
}

/* Returns the number of words of all dictionaries. */
static uint64_t count_words(const struct sp__schema *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += s->columns[i].words.n;
	return n;
}

static int append(struct sp__tableload *l, struct sp__tableappend *a)
{
	struct sp__schema *s = &l->file->schema;
	const uint64_t records = l->file->superblock.records, words = count_words(s);
	int rc = sp__tableappend_open(a, l->file, l->memory / 3, l->err);

	if (!rc)
		rc = sp__tableload_records(l);
	if (!rc)
		rc = check_header(l);
	if (rc)
		return rc;
	l->stats->records_written = a->writer.records - records;
	if (l->stats->records_written && !s->style.json &&
	    s->style.no_final_newline != l->source.no_newline) {
		s->style.no_final_newline = l->source.no_newline;
		l->file->schema_changed = true;
	}
	l->file->schema_changed |= count_words(s) != words;
	return sp__tableappend_finish(a);
}

static void note_append(struct sp__tableload *l)
{
	const struct sp__tablefile *f = l->file;
	struct sp_table_stats *st = l->stats;

	sp__table_note_change(f, st);
	st->exact = !st->records_written || sp__tableload_records_exact(l);
	sp__tableload_note_io(l);
	sp__env_note(&f->env, &st->run, true);
}

int sp_table_append(struct sp_table *t, const char *const *inputs, size_t ninputs,
		    struct sp_table_stats *stats, struct sp_errinfo *err)
{
	const struct sp_table_load_opts form = form_of(&t->file);
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused;
	struct sp__tableappend a = { 0 };
	struct sp__tableload l = { .path = t->file.path,
				   .opts = &form,
				   .stats = stats ? stats : &unused,
				   .err = err ? err : &own,
				   .file = &t->file,
				   .writer = &a.writer };
	int rc = sp__table_begin_change(t, true, l.stats, l.err), closed;

	if (!rc)
		rc = check_inputs(&t->file, inputs, ninputs, l.err);
	if (rc)
		return rc;
	/* A part of CSV can be wrong, and what was appended cannot be taken back. */
	l.in_order = form.format == SP_TABLE_CSV;
	l.resolved.fields = t->file.schema.n + t->file.schema.style.trailing_separator;
	rc = sp__tableload_open_inputs(&l, inputs, ninputs);
	if (!rc)
		rc = append(&l, &a);
	note_append(&l);
	sp__tableappend_close(&a);
	closed = sp__tableload_close(&l);
	return sp__table_end_change(t, rc ? rc : closed);
}

#define LOOKUP_READS 2 /* a leaf, and the cell with the key */

/* A change of chosen records. */
struct change {
	struct sp_table *table;
	const struct sp_table_choice *choice;
	struct sp_table_stats *stats;
	struct sp_errinfo *err;
	int (*put)(void *change, uint64_t record, uint32_t key); /* records ascend */
	struct sp__new_values values;
	/* Records are chosen by one of these. */
	struct sp__predicate *predicate;
	struct sp__key_set keys; /* if choice->by is set */
	uint32_t column;	 /* column of the keys */
	struct sp__chosen_records chosen;
	struct sp__tableupdate update;
	struct sp__tabledelete delete;
};

static int put_update(void *change, uint64_t record, uint32_t key)
{
	struct change *c = change;

	(void)key;
	return sp__tableupdate_put(&c->update, record, c->values.row);
}

static int put_delete(void *change, uint64_t record, uint32_t key)
{
	struct change *c = change;

	(void)key;
	return sp__tabledelete_put(&c->delete, record);
}

/* Reports a number that no record has. */
static int report_absent(const struct change *c, uint64_t record)
{
	char text[24];

	if (!c->choice->absent)
		return 0;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)record);
	return c->choice->absent(c->choice->absent_arg, text, strlen(text));
}

/* Takes all keys.  Returns 0, an error, or the code of a callback. */
static int take_numbers(const struct change *c, struct sp__chosen_records *chosen)
{
	static const struct sp__value_type number = { .kind = 'u', .bytes = sizeof(uint64_t) };
	uint64_t record, out_of_range = 0;
	const char *key;
	size_t bytes;
	int rc;

	while ((rc = c->choice->keys(c->choice->keys_arg, &key, &bytes)) > 0) {
		enum sp__value_fit fit = sp__value_read(&number, key, bytes, &record);

		if (fit == SP__VALUE_MALFORMED)
			return sp__errf(c->err, SP_ESYNTAX, "choose", NULL, -1,
					"'%.*s' is not a record number",
					bytes < 40 ? (int)bytes : 40, key);
		out_of_range += fit != SP__VALUE_OK;
		if (fit == SP__VALUE_OK)
			rc = sp__chosen_add(chosen, record, c->err);
		else
			rc = c->choice->absent
				     ? c->choice->absent(c->choice->absent_arg, key, bytes)
				     : 0;
		if (rc)
			return rc;
	}
	c->stats->keys = chosen->n + out_of_range;
	return rc;
}

/* Changes the records with these numbers, each once. */
static int put_numbers(struct change *c, const struct sp__chosen_records *chosen)
{
	int rc = 0, there = 0;

	for (size_t i = 0; !rc && i < chosen->n; i++) {
		const uint64_t record = chosen->list[i].record;
		bool again = i && record == chosen->list[i - 1].record;

		if (!again)
			there = sp__tombstones_exists(&c->table->file, record, c->err);
		if (there < 0)
			return there;
		c->stats->keys_found += (uint64_t)there;
		if (there && !again) {
			c->stats->records_matched++;
			rc = c->put(c, record, SP__NO_KEY);
		} else if (!there) {
			rc = report_absent(c, record);
		}
	}
	return rc;
}

static void note(struct change *c)
{
	const struct sp__tablefile *f = &c->table->file;

	c->stats->records_written = c->stats->records_matched;
	c->stats->cells_read += f->cells_read;
	sp__table_note_change(f, c->stats);
	sp__tablefile_note(f, &c->stats->run);
}

/* Takes all keys of a column. */
static int take_keys(struct change *c)
{
	const struct sp__schema *s = &c->table->file.schema;
	int column = sp__names_column(s, c->choice->by, strlen(c->choice->by), c->err), rc;
	const char *key;
	uint32_t number;
	size_t bytes;

	if (column < 0)
		return column;
	c->column = (uint32_t)column;
	sp__key_set_open(&c->keys, &s->columns[column], &c->table->file.env.budget);
	while ((rc = c->choice->keys(c->choice->keys_arg, &key, &bytes)) > 0) {
		rc = sp__key_set_add(&c->keys, key, bytes, &number, c->err);
		if (rc < 0)
			return rc;
		c->stats->keys += !rc; /* an equal one counts once */
	}
	return rc;
}

/* Finds out how the records are chosen: by a predicate, keys, or numbers, which are sorted. */
static int open_choice(struct change *c)
{
	int rc;

	if (!c->choice->where == !c->choice->keys)
		return sp__errf(c->err, SP_ESYNTAX, "choose", c->table->file.path, -1,
				"give either a predicate or keys");
	c->chosen.budget = &c->table->file.env.budget;
	if (c->choice->where)
		return sp__predicate_parse(&c->predicate, c->choice->where, &c->table->file.schema,
					   c->err);
	if (c->choice->by)
		return take_keys(c);
	rc = take_numbers(c, &c->chosen);
	sp__chosen_sort(&c->chosen);
	return rc;
}

int sp__table_max_lookups(const struct sp__tablefile *f, uint32_t column, uint64_t *keys,
			  struct sp_errinfo *err)
{
	const struct sp__table_layout *l = &f->layout;
	const uint64_t cells =
		f->superblock.records / l->groups[l->places[column].group].cell_records + 1;
	struct sp__platform p;
	int rc = sp__platform_open(&p, &f->run, err);

	if (!rc)
		*keys = (uint64_t)(sp__platform_rho(&p, l->cell_bytes) * (double)cells /
				   LOOKUP_READS);
	sp__platform_close(&p);
	return rc;
}

static int put_all(struct change *c)
{
	struct sp__chosen_by choice = { .predicate = c->predicate,
					.keys = c->choice->by ? &c->keys : NULL,
					.column = c->column,
					.index = c->choice->index,
					.put = c->put,
					.arg = c };
	int rc = 0;

	if (!c->predicate && !c->choice->by)
		return put_numbers(c, &c->chosen);
	if (c->choice->by)
		rc = sp__table_max_lookups(&c->table->file, c->column, &choice.max_lookups, c->err);
	if (rc)
		return rc;
	rc = sp__choose_records(&c->table->file, &choice, c->stats, c->err);
	if (rc || !c->choice->by)
		return rc;
	return sp__key_set_report(&c->keys, &c->stats->keys_found, c->choice->absent,
				  c->choice->absent_arg);
}

static void close_choice(struct change *c)
{
	sp__predicate_free(c->predicate);
	sp__key_set_close(&c->keys);
	sp__chosen_free(&c->chosen);
}

static int update(struct change *c, const char *const *set, size_t nset)
{
	struct sp__tablefile *f = &c->table->file;
	struct sp__new_values *values = &c->values;
	uint64_t max;
	int rc = sp__new_values_parse(values, f, set, nset, c->err);

	if (!rc)
		rc = open_choice(c);
	max = c->predicate || c->choice->by ? f->superblock.records : c->chosen.n;
	if (!rc)
		rc = sp__tableupdate_open(&c->update, f, values->columns, values->n, max,
					  values->max_text, c->err);
	if (!rc)
		rc = put_all(c);
	if (!rc)
		rc = sp__tableupdate_finish(&c->update);
	note(c);
	sp__tableupdate_note(&c->update, c->stats);
	sp__tableupdate_close(&c->update);
	sp__new_values_free(values);
	return rc;
}

int sp_table_update(struct sp_table *t, const struct sp_table_choice *choice,
		    const char *const *set, size_t nset, struct sp_table_stats *stats,
		    struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused;
	struct change c = { .table = t,
			    .choice = choice,
			    .stats = stats ? stats : &unused,
			    .err = err ? err : &own,
			    .put = put_update };
	const bool values = !choice->discard || choice->where || choice->by;
	int rc = sp__table_begin_change(t, values, c.stats, c.err);

	if (!rc && choice->discard && !t->file.superblock.no_data)
		rc = sp__errf(c.err, SP_EUNSUP, "update", t->file.path, -1,
			      "the table has data, and a change of it is not discarded");
	if (rc)
		return rc;
	rc = update(&c, set, nset);
	close_choice(&c);
	return sp__table_end_change(t, rc);
}

int sp_table_delete(struct sp_table *t, const struct sp_table_choice *choice,
		    struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused;
	struct change c = { .table = t,
			    .choice = choice,
			    .stats = stats ? stats : &unused,
			    .err = err ? err : &own,
			    .put = put_delete };
	int rc = sp__table_begin_change(t, true, c.stats, c.err);

	if (rc)
		return rc;
	rc = open_choice(&c);
	if (!rc)
		rc = sp__tabledelete_open(&c.delete, &t->file, c.err);
	if (!rc)
		rc = put_all(&c);
	if (!rc)
		rc = sp__tabledelete_finish(&c.delete);
	note(&c);
	sp__tabledelete_close(&c.delete);
	close_choice(&c);
	return sp__table_end_change(t, rc);
}

int sp_table_alter(struct sp_table *t, const struct sp_table_alter *alter,
		   struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused;
	int rc;

	err = err ? err : &own;
	stats = stats ? stats : &unused;
	rc = sp__table_begin_change(t, true, stats, err);
	if (rc)
		return rc;
	sp__table_forget(t); /* it describes the columns before */
	rc = sp__table_alter(&t->file, alter, stats, err);
	stats->records_written = t->file.superblock.records;
	sp__table_note_change(&t->file, stats);
	sp__tablefile_note(&t->file, &stats->run);
	return sp__table_end_change(t, rc);
}
