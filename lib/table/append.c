/* SPDX-License-Identifier: MIT */
/*
 * Appends records that are text of the form in which the table was loaded.
 *
 * Inputs are parsed as those of a load (records.c), by the columns and the style of the table.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "datafile/lock.h"
#include "table/change/append.h"
#include "table/load.h"
#include "table/state.h"

/* Describes the form of the table's text as the options of a load. */
static struct sp_table_load_opts form_of(const struct sp__tablefile *f)
{
	const struct sp__table_style *style = &f->schema.style;
	struct sp_table_load_opts o = { .run = f->run,
					.progress = f->progress,
					.progress_arg = f->progress_arg,
					.format = style->format,
					.separator = style->separator,
					.header = style->header };

	for (uint32_t i = 0; style->format == SP_TABLE_FIXED && i < f->schema.n; i++)
		o.record_bytes += f->schema.columns[i].type.bytes;
	return o;
}

/* Refuses the table itself as an input. */
static int check_inputs(const struct sp__tablefile *f, const char *const *inputs, size_t n,
			struct sp_errinfo *err)
{
	struct stat own, st;

	for (unsigned k = 0; k <= f->nfurther; k++) {
		if (fstat(k ? f->further[k - 1].fd : f->fd, &own))
			return sp__err(err, -errno, "append", f->path, -1);
		for (size_t i = 0; i < n; i++)
			if (!(strcmp(inputs[i], "-") ? stat(inputs[i], &st)
						     : fstat(STDIN_FILENO, &st)) &&
			    sp__file_same(&own, &st))
				return sp__errf(err, SP_EUNSUP, "append", inputs[i], -1,
						"is the table itself");
	}
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
static uint64_t count_words(const struct sp__table_schema *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += s->columns[i].words.n;
	return n;
}

static int append(struct sp__tableload *l, struct sp__tableappend *a)
{
	struct sp__table_schema *s = &l->file->schema;
	const uint64_t records = l->file->superblock.records, words = count_words(s);
	int rc = sp__tableappend_open(a, l->file, l->memory / 3, l->err);

	if (!rc)
		rc = sp__tableload_records(l);
	if (!rc)
		rc = check_header(l);
	if (rc)
		return rc;
	l->stats->records_written = a->writer.records - records;
	if (l->stats->records_written && s->style.no_final_newline != l->source.no_newline) {
		s->style.no_final_newline = l->source.no_newline;
		l->file->schema_changed = true;
	}
	l->file->schema_changed |= count_words(s) != words;
	return sp__tableappend_finish(a);
}

static void note(struct sp__tableload *l)
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
	note(&l);
	sp__tableappend_close(&a);
	closed = sp__tableload_close(&l);
	return sp__table_end_change(t, rc ? rc : closed);
}
