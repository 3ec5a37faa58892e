/* SPDX-License-Identifier: MIT */
/*
 * Loads a table.
 *
 * Steps: read a sample (sampling.c), decide on names, types and style, create the table, load the
 * records (records.c), commit, and give the table its name.  If a value does not fit the type that
 * was inferred for its column, or the sample has no value of its column, and all inputs are regular
 * files, all records are read for their types, and the load starts once more.
 *
 * Memory: a quarter of it for the text of the sample; a 32nd for the words of dictionaries while
 * types are inferred.  Then a quarter for chunks of records, and a third for cells.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/minmax.h"
#include "columns/schema_text.h"
#include "run/memory.h"
#include "table/arrange.h"
#include "table/load.h"
#include "table/read/output.h"

#define UNKNOWN_RECORDS 1000000 /* records of an input of unknown length */

/* Returns the bytes of all inputs; 0: unknown. */
static double input_bytes(const struct sp__tableload *l)
{
	const struct sp__columnsource_opts *o = &l->source.opts;
	double bytes = 0;

	if (!l->source.again || l->run.decompress != SP_PACKED_NONE)
		return 0;
	for (size_t i = 0; i < o->n; i++) {
		struct stat st;

		if (strcmp(o->inputs[i], "-") ? stat(o->inputs[i], &st) : fstat(0, &st))
			return 0;
		bytes += (double)st.st_size;
	}
	return bytes;
}

/* Returns the mean bytes of a record in the input. */
static double record_bytes(const struct sp__tableload *l)
{
	if (l->opts->format == SP_TABLE_FIXED)
		return l->opts->record_bytes;
	return l->sample.records ? (double)l->sample.bytes / (double)l->sample.records : 1;
}

static uint64_t estimate_records(const struct sp__tableload *l)
{
	double bytes = input_bytes(l);

	if (l->opts->format != SP_TABLE_FIXED && l->source.ended)
		return l->sample.records;
	return bytes > 0 ? (uint64_t)(bytes / record_bytes(l)) : UNKNOWN_RECORDS;
}

/* Divides what other columns leave of a mean record among the columns of text. */
static void estimate_texts(const struct sp__tableload *l, double *means)
{
	const struct sp__schema *s = &l->resolved.schema;
	const struct sp__cost_table t = { .schema = s, .text_bytes = means };
	double left = record_bytes(l);
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		n += s->columns[i].type.kind == 't';
		left -= sp__cost_printed_bytes(&t, i);
	}
	for (uint32_t i = 0; i < s->n; i++)
		if (s->columns[i].type.kind == 't')
			means[i] = left > n ? left / n : 1;
}

/*
 * Describes the table for a choice of its layout, from the sample.  means: of all columns, 0: set
 * to the mean bytes of texts; NULL is accepted.
 */
static struct sp__cost_asked describe_asked(const struct sp__tableload *l, double *means)
{
	if (means)
		estimate_texts(l, means);
	return (struct sp__cost_asked){ .name = l->path,
					.schema = &l->resolved.schema,
					.records = estimate_records(l),
					.text_bytes = means,
					.cell_bytes = l->opts->cell_bytes,
					.page_records = l->opts->page_records };
}

static char separator_of(const struct sp_table_load_opts *o)
{
	if (o->separator)
		return o->separator;
	return o->format == SP_TABLE_CSV ? ',' : '\t';
}

static int check_options(const struct sp__tableload *l, size_t ninputs)
{
	const struct sp_table_load_opts *o = l->opts;
	char separator = separator_of(o);

	if (!ninputs)
		return sp__errf(l->err, SP_ESYNTAX, "load", l->path, -1, "there is no input");
	if (o->layout > SP_TABLE_AUTO || (o->format > SP_TABLE_FIXED && o->format != SP_TABLE_JSON))
		return sp__errf(l->err, SP_ESYNTAX, "load", l->path, -1,
				"a table cannot be loaded with this layout or format");
	if (o->types && o->schema)
		return sp__errf(l->err, SP_ESYNTAX, "load", l->path, -1,
				"types and a schema cannot be given together");
	if (o->format != SP_TABLE_FIXED &&
	    (separator == '\n' || separator == '\r' || separator == '"'))
		return sp__errf(l->err, SP_ESYNTAX, "load", l->path, -1,
				"a quote, a newline or a carriage return cannot separate fields");
	if (o->null_text &&
	    ((strpbrk(o->null_text, "\"\r\n") && strcmp(o->null_text, SP__NULL_QUOTED) != 0) ||
	     strchr(o->null_text, separator) || o->format == SP_TABLE_FIXED))
		return sp__errf(l->err, SP_ESYNTAX, "load", l->path, -1,
				"a spelling of NULL is a whole field of text, without quotes");
	if (o->format == SP_TABLE_JSON && (o->header || o->separator || o->null_text))
		return sp__errf(l->err, SP_ESYNTAX, "load", l->path, -1,
				"lines of JSON have no header, no separator and one spelling of "
				"NULL");
	if (o->format == SP_TABLE_FIXED && (o->header || !o->record_bytes))
		return sp__errf(l->err, SP_ESYNTAX, "load", l->path, -1,
				"records of fixed length need their length, and have no header");
	return 0;
}

/* Reads what the user says about columns. */
static int read_described(struct sp__tableload *l)
{
	const struct sp_table_load_opts *o = l->opts;
	int rc = 0;

	l->all = o->schema || o->format == SP_TABLE_FIXED;
	if (o->schema)
		rc = sp__schema_file_read(&l->described, o->schema, l->err);
	else if (o->types)
		rc = sp__schema_list_parse(&l->described, o->types, l->err);
	if (!rc && o->format != SP_TABLE_JSON)
		rc = sp__schema_refuse_json(&l->described, o->schema, l->err);
	return rc;
}

/* Checks that the columns are the whole record of fixed length. */
static int check_fixed(const struct sp__tableload *l)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->described.n; i++) {
		const struct sp__column *c = &l->described.columns[i];

		if (c->type.kind == 't' || c->type.kind == 'w')
			return sp__errf(
				l->err, SP_ESYNTAX, "load", l->path, -1,
				"column '%.64s': a text has no fixed length: choose char(N)",
				c->name);
		sum += c->type.bytes;
	}
	if (sum == l->opts->record_bytes)
		return 0;
	return sp__errf(l->err, SP_ESYNTAX, "load", l->path, -1,
			"the types have %llu bytes, a record has %u", (unsigned long long)sum,
			l->opts->record_bytes);
}

static int open_source(struct sp__tableload *l, const char *const *inputs, size_t n)
{
	const struct sp_table_load_opts *o = l->opts;
	struct sp__columnsource_opts so = { .inputs = inputs, .n = n, .header = o->header };

	l->format = (struct sp_recfmt){ .kind = o->format == SP_TABLE_FIXED ? SP_REC_FIXED
						: o->format == SP_TABLE_CSV ? SP_REC_CSV
									    : SP_REC_LINE,
					.json = o->format == SP_TABLE_JSON,
					.eol = '\n',
					.separator = separator_of(o),
					.fixed_bytes = o->record_bytes };
	so.format = l->format;
	return sp__columnsource_open(&l->source, &so, &l->env, l->err);
}

/* Creates the table with the schema that was decided on. */
static int create(struct sp__tableload *l)
{
	const struct sp_table_load_opts *o = l->opts;
	struct sp_run_opts run = o->run;
	double *means = calloc(l->resolved.schema.n, sizeof(*means));
	struct sp__cost_asked asked = describe_asked(l, means);
	int rc;

	run.decompress = SP_PACKED_NONE; /* reading packed inputs takes no time of the volume */
	rc = means ? sp__table_arrange(l->file, &asked, &l->resolved.schema, &run, o, l->err)
		   : sp__err(l->err, -ENOMEM, "allocate", NULL, -1);
	free(means);
	l->file->depth = o->depth;
	for (uint32_t i = 0; i < l->file->schema.n; i++)
		l->file->schema.columns[i].words.budget = &l->env.budget;
	return rc ? rc : sp__tablewriter_open(l->writer, l->file, l->memory / 3, l->err);
}

/* True if a scan gives the bytes of the inputs. */
static bool is_exact(const struct sp__tableload *l)
{
	const struct sp__columnsource *s = &l->source;

	return sp__tableload_records_exact(l) &&
	       !(s->header.bytes && (!l->opts->header || s->opts.n > 1));
}

void sp__tableload_note_io(const struct sp__tableload *l)
{
	struct sp_table_stats *st = l->stats;

	st->input_bytes = l->source.bytes;
	st->blank_lines = l->source.blank_lines + l->blank_lines;
	st->empty_inputs = l->source.empty_inputs;
	st->repeated_members = l->repeated;
	st->made_texts = l->made_texts;
	sp__env_note_io(&st->run, &l->source.io);
	sp__env_note_io(&st->run, &l->file->io);
	sp__tablewriter_note(l->writer, &st->run);
}

static void note(struct sp__tableload *l)
{
	struct sp_table_stats *st = l->stats;

	st->records_written = l->file->superblock.records;
	st->cells_written = l->file->cells_written;
	st->output_bytes = l->file->map.end * l->file->layout.cell_bytes;
	st->exact = is_exact(l);
	snprintf(st->run.input_engine, sizeof(st->run.input_engine), "%s", l->source.engine);
	sp__tableload_note_io(l);
	sp__env_note(l->file->env.device ? &l->file->env : &l->env, &st->run, true);
}

int sp__tableload_print_header(const struct sp__tableload *l, struct sp__bytes *to)
{
	const struct sp__schema *s = &l->file->schema;
	struct sp__table_output out;
	uint32_t *columns, n;
	int rc = sp__names_find(s, NULL, &columns, &n, l->err);

	if (rc)
		return rc;
	rc = sp__output_open(&out, s, SP_TABLE_AS_LOADED, columns, n, l->err);
	if (!rc && sp__output_header(&out, to, NULL))
		rc = sp__err(l->err, -ENOMEM, "allocate", NULL, -1);
	sp__output_close(&out);
	return rc;
}

/* Compares the header of the inputs with the one that a scan prints. */
static int compare_header(struct sp__tableload *l)
{
	const struct sp__bytes *header = &l->source.header;
	struct sp__bytes own = { 0 };
	int rc;

	if (!l->opts->header || !header->bytes)
		return 0;
	rc = sp__tableload_print_header(l, &own);
	l->inexact |=
		rc || own.bytes != header->bytes || memcmp(own.data, header->data, own.bytes) != 0;
	sp__bytes_release(&own, NULL);
	return rc;
}

/* Loads the records into a table that was created, and gives it its name. */
static int load_and_publish(struct sp__tableload *l)
{
	int rc = sp__tableload_records(l);

	if (!rc)
		rc = compare_header(l);
	if (!rc)
		rc = sp__tablewriter_finish(l->writer);
	l->file->schema.style.no_final_newline = l->source.no_newline && !l->format.json;
	if (!rc)
		rc = sp__tablefile_commit(l->file, l->err);
	if (!rc) {
		note(l);
		rc = sp__tablefile_publish(l->file, l->err);
	}
	if (!rc)
		sp__tableload_tell_types(l);
	if (!rc)
		sp__tableload_tell_members(l);
	return rc;
}

/* Discards the table unless it has its name.  Returns the error of the trace. */
static int close_table(struct sp__tableload *l)
{
	int rc = 0;

	sp__tablewriter_close(l->writer);
	if (l->file->creating)
		rc = sp__tablefile_close(l->file);
	*l->file = (struct sp__tablefile){ 0 };
	return rc;
}

/* Discards the table, and loads once more with a schema that decide() finds. */
static int load_again(struct sp__tableload *l, int (*decide)(struct sp__tableload *l), bool reads)
{
	int rc;

	*l->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	(void)close_table(l);
	l->in_order |= l->miscut;
	sp__tableload_drop_kept(l);
	rc = sp__columnsource_rewind(&l->source);
	if (!rc)
		rc = decide(l);
	if (!rc && reads)
		rc = sp__columnsource_rewind(&l->source);
	if (!rc)
		rc = create(l);
	return rc ? rc : load_and_publish(l);
}

static int load(struct sp__tableload *l)
{
	int rc = sp__tableload_sample(l), closed;

	if (!rc)
		rc = create(l);
	if (!rc)
		rc = load_and_publish(l);
	if (rc && l->miscut)
		rc = load_again(l, sp__tableload_sample, false);
	if (rc && l->misfit && l->source.again)
		rc = load_again(l, sp__tableload_types, true);
	if (rc && l->miscut)
		rc = load_again(l, sp__tableload_types, true);
	closed = close_table(l);
	return rc ? rc : closed;
}

int sp__tableload_open_inputs(struct sp__tableload *l, const char *const *inputs, size_t n)
{
	const struct sp_run_opts *run = &l->opts->run;
	int rc;

	/* The simulated volume and the trace are the table's. */
	l->run = *run;
	l->run.volume = NULL;
	l->run.trace_path = l->run.trace_tasks_path = NULL;
	l->memory = sp__working_memory(run, run->memory_bytes);
	l->threads = run->volume ? 1 : sp__threads(run->parallel);
	rc = sp__env_open(&l->env, &l->run, l->err);
	return rc ? rc : open_source(l, inputs, n);
}

/*
 * Checks the options of a load whose path, options, statistics and error struct are set, and opens
 * its inputs.  After an error, too, it must be closed.
 */
static int open_load(struct sp__tableload *l, const char *const *inputs, size_t ninputs)
{
	int rc = check_options(l, ninputs);

	if (!rc)
		rc = read_described(l);
	if (!rc && l->opts->format == SP_TABLE_FIXED)
		rc = check_fixed(l);
	return rc ? rc : sp__tableload_open_inputs(l, inputs, ninputs);
}

int sp__tableload_close(struct sp__tableload *l)
{
	sp__schema_free(&l->described);
	if (!l->env.opts)
		return 0;
	sp__columnsource_close(&l->source);
	sp__sample_free(&l->sample);
	sp__bytes_release(&l->kept, &l->env.budget);
	free(l->kept_ends);
	free(l->mixed);
	sp__resolved_free(&l->resolved);
	return sp__env_close(&l->env);
}

int sp_table_load(const char *table, const char *const *inputs, size_t ninputs,
		  const struct sp_table_load_opts *opts, struct sp_table_stats *stats,
		  struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused;
	struct sp__tablefile file = { 0 };
	struct sp__tablewriter writer = { 0 };
	struct sp__tableload l = { .path = table,
				   .opts = opts,
				   .stats = stats ? stats : &unused,
				   .err = err ? err : &own,
				   .file = &file,
				   .writer = &writer };
	int rc, closed;

	*l.stats = (struct sp_table_stats){ 0 };
	rc = open_load(&l, inputs, ninputs);
	if (!rc)
		rc = load(&l);
	closed = sp__tableload_close(&l);
	return rc ? rc : closed;
}

int sp_table_compare_input(const char *const *inputs, size_t ninputs,
			   const struct sp_table_load_opts *load,
			   const struct sp_table_compare_opts *opts, struct sp_table_comparison *c,
			   struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused = { 0 };
	struct sp_table_load_opts o = *load;
	double *means = NULL;
	struct sp__tableload l = { .path = ninputs ? inputs[0] : "",
				   .opts = &o,
				   .stats = &unused,
				   .err = err ? err : &own };
	int rc, closed;

	o.layout = SP_TABLE_CSM;
	rc = open_load(&l, inputs, ninputs);
	if (!rc)
		rc = sp__tableload_sample(&l);
	if (!rc) {
		struct sp__cost_asked asked;

		means = calloc(l.resolved.schema.n, sizeof(*means));
		asked = describe_asked(&l, means);
		rc = means ? sp__cost_ask(&asked, opts, &opts->run, c, l.err)
			   : sp__err(l.err, -ENOMEM, "allocate", NULL, -1);
	}
	free(means);
	closed = sp__tableload_close(&l);
	return rc ? rc : closed;
}

int sp_table_schema_text(const char *const *inputs, size_t ninputs,
			 const struct sp_table_load_opts *opts, sp_table_sink sink, void *arg,
			 struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused = { 0 };
	struct sp__bytes text = { 0 };
	struct sp__tableload l = { .path = ninputs ? inputs[0] : "",
				   .opts = opts,
				   .stats = &unused,
				   .err = err ? err : &own };
	int rc, closed;

	if (opts->format == SP_TABLE_FIXED)
		return sp__errf(l.err, SP_ESYNTAX, "schema", l.path, -1,
				"types of records of fixed length cannot be inferred");
	rc = open_load(&l, inputs, ninputs);
	if (!rc)
		rc = sp__tableload_types(&l);
	if (!rc && sp__schema_lines_print(&l.resolved.schema, &text))
		rc = sp__err(l.err, -ENOMEM, "allocate", NULL, -1);
	if (!rc)
		rc = sink(arg, text.data, text.bytes);
	if (!rc)
		sp__tableload_tell_types(&l);
	sp__bytes_release(&text, NULL);
	closed = sp__tableload_close(&l);
	return rc ? rc : closed;
}
