/* SPDX-License-Identifier: MIT */
/*
 * Reads the records of the inputs: in parts by several threads, or in order by one (job.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "flow/source.h"
#include "group/job.h"
#include "group/partial.h"

#define SAMPLE_SCAN 32 /* of inputs without parts, as much as of so many parts */
#define SHOWN 40       /* bytes of a value in a message */

/* Inputs. */

static char line_end(const struct sp__group_job *j)
{
	return j->opts->format.kind == SP_REC_LINE ? j->opts->format.eol : '\n';
}

static struct sp__scan_opts scan_options(struct sp__group_job *j)
{
	struct sp__scan_opts o = { .format = j->opts->format,
				   .inputs = j->io->inputs,
				   .ninputs = j->io->ninputs,
				   .header_records = sp__group_job_has_header(j),
				   .separator = j->opts->separator,
				   .remove_blank = j->opts->format.kind == SP_REC_CSV ||
						   j->opts->separator >= 0,
				   .count_lines = true,
				   .stream = sp__env_reading(sp__group_job_env(j)),
				   .waits = &j->waits,
				   .err = j->err };

	o.stream.sim_file = j->sim_file;
	o.stream.whole = true;
	return o;
}

/* Opens the inputs in parts, if that is possible. */
static int open_parts(struct sp__group_job *j)
{
	struct sp__scan_opts o = scan_options(j);
	int rc;

	if (j->io->source)
		return 0;
	if (j->in_order || !j->total_bytes || !sp__sort_reads_parts(j->partials.sort, &o.stream))
		return 0;
	o.turns = j->nworkers;
	rc = sp__parts_open(&j->parts, &o, sp__sort_part_bytes(j->partials.sort, j->total_bytes));
	return rc == SP_EUNSUP ? 0 : rc;
}

/* Resolves keys, aggregates and order by the header.  input_empty: there is none. */
static int resolve(struct sp__group_job *j, const struct sp_batch *header, bool input_empty)
{
	struct sp__column_names names = { .unknown = input_empty && !j->opts->format.json &&
						     j->opts->format.kind != SP_REC_FIXED };
	struct sp_batch first = *header;
	char **list = NULL;
	const char *order = j->opts->order;
	const struct sp__group_words words = {
		.keys = j->opts->keys,
		.nkeys = j->opts->nkeys,
		.aggregates = j->opts->aggregates ? j->opts->aggregates : "count()",
		.where = j->opts->where,
		.largest = j->opts->largest,
		.by = j->opts->by,
		.nby = j->opts->nby,
		.pivot = j->opts->pivot,
		.percent = j->opts->percent,
		.npercent = j->opts->npercent,
		.cumulative = j->opts->cumulative,
		.ncumulative = j->opts->ncumulative,
		.split = j->opts->split,
		.record_bytes = j->opts->format.fixed_bytes,
		.first_positions = order && !strcmp(order, "first"),
	};
	int rc = 0;

	if (j->opts->header && first.bytes) {
		(void)sp__record_next(&j->opts->format, first.data, first.data + first.bytes,
				      &first.bytes);
		rc = sp__header_names(&j->opts->format, j->opts->separator, &first, &list,
				      &names.n);
		names.names = list;
		if (!rc && first.bytes)
			rc = sp__bytes_set(&j->results.header, first.data, first.bytes, NULL);
	}
	if (rc)
		return sp__group_job_no_memory(j);
	if (j->opts->format.json && sp__json_paths_new(&names.paths))
		rc = sp__group_job_no_memory(j);
	else
		rc = sp__group_spec_parse(&j->spec, &words, &names, j->err);
	free(list);
	if (!rc)
		rc = sp__group_order_parse(&j->results.order, order, &j->spec, j->err);
	if (!rc && j->opts->having)
		rc = sp__group_having_parse(&j->results.having, j->opts->having, &j->spec, j->err);
	return rc;
}

static int open_workers(struct sp__group_job *j)
{
	/* The rows of records without separators are CSV. */
	const bool json = j->opts->format.json, fixed = j->opts->format.kind == SP_REC_FIXED;
	const bool csv = json || fixed || j->opts->format.kind == SP_REC_CSV;
	const char byte = json || fixed ? ','
			  : csv		? j->opts->format.separator
					: (char)j->opts->separator;
	int rc;

	j->input = (struct sp__group_input){ .spec = &j->spec,
					     .format = j->opts->format,
					     .null_text = j->opts->null_text,
					     .null_bytes = j->opts->null_text
								   ? strlen(j->opts->null_text)
								   : 0,
					     .skip_invalid = j->opts->skip_invalid };
	sp__cut_init(&j->input.cut, csv || j->opts->separator >= 0 ? &byte : NULL, 1, csv);
	if (j->opts->header || j->opts->json || j->opts->pivot) {
		rc = sp__group_names_check(&j->spec, &j->input.cut, line_end(j), j->opts->json,
					   j->err);
		if (rc)
			return rc;
	}
	j->workers =
		aligned_alloc(_Alignof(struct sp__group_worker), j->nworkers * sizeof(*j->workers));
	if (!j->workers)
		return sp__group_job_no_memory(j);
	memset(j->workers, 0, j->nworkers * sizeof(*j->workers));
	return 0;
}

void sp__group_job_close_workers(struct sp__group_job *j)
{
	for (unsigned i = 0; j->workers && i < j->nworkers; i++)
		if (j->workers[i].in)
			sp__group_worker_close(&j->workers[i]);
	free(j->workers);
	j->workers = NULL;
}

/* Leaves a source only the columns that are needed; of whole records that is all of them. */
static int choose_columns(struct sp__group_job *j)
{
	struct sp_source *source = j->io->source;
	struct sp__group_spec *s = &j->spec;
	uint32_t n = 0;
	int rc;

	if (s->largest)
		return 0;
	while (n < s->ncolumns && s->columns[n] != SIZE_MAX)
		n++;
	rc = source->ops->choose(source, s->columns, n, j->err);
	for (uint32_t i = 0; i < n; i++)
		s->columns[i] = i;
	return rc;
}

/* Opens the parts of a source; part_bytes: 0: as many as a run of the sort has. */
static int open_source(struct sp__group_job *j, uint64_t part_bytes)
{
	struct sp_source *source = j->io->source;
	int rc = resolve(j, &source->header, false);

	if (!rc)
		rc = choose_columns(j);
	if (rc)
		return rc;
	j->total_bytes = (uint64_t)(source->record_bytes * (double)source->records) + 1;
	if (!part_bytes)
		part_bytes = sp__sort_part_bytes(j->partials.sort, j->total_bytes);
	return sp__parts_open_source(&j->parts, source, sp__group_job_env(j), part_bytes,
				     j->nworkers, j->err);
}

/* Reads records. */

/*
 * Records the error of a value that is not what is needed.  line: of a record of a fixed length its
 * number; 0: records have none.
 */
static int bad_value(const struct sp__group_worker *w, const char *input, uint64_t line,
		     struct sp_errinfo *err)
{
	const struct sp__badtext bad = { .wanted = w->not_json.wanted, .at = w->not_json.at };
	char where[32] = "";

	if (bad.wanted)
		return sp__badtext_error(&bad, input, line, err);
	if (line)
		snprintf(where, sizeof(where),
			 "%s %llu: ", w->in->spec->record_bytes ? "record" : "line",
			 (unsigned long long)line);
	return sp__errf(err, SP_EFORMAT, "group", input, -1,
			"%s%s: '%.*s' is not %s; --null=TEXT names a text that stands "
			"for no value, --skip-invalid leaves such records out",
			where, w->bad_of, (int)sp__min(w->bad.text.n, SHOWN), w->bad.text.p,
			w->bad.wanted);
}

/* Records the error of a worker, which no value has caused. */
static int failed(int rc, const char *input, struct sp_errinfo *err)
{
	if (rc == -EMSGSIZE)
		return sp__errf(err, rc, "group", input, -1,
				"a record needs more than 2 GiB of a table of groups");
	return sp__err(err, rc, "allocate", NULL, -1);
}

static int take(struct sp__group_job *j, unsigned worker, struct sp_batch *from, uint64_t position,
		struct sp_batch *records)
{
	struct sp__group_worker *w = &j->workers[worker];
	const size_t bytes = from->bytes;
	int rc = w->in ? 0 : sp__group_worker_open(w, &j->input, j->worker_bytes);

	if (!rc)
		rc = sp__group_worker_take(w, from, j->io->position + position, records);
	w->bytes += bytes - from->bytes;
	return rc;
}

/* Is a function sp__sort_encode_fn. */
static int take_part(void *arg, unsigned worker, struct sp__part *part, struct sp_batch *from,
		     struct sp_batch *records)
{
	struct sp__group_job *j = arg;
	uint64_t lines = 0;
	int rc;

	if (!worker)
		sp__progress_report(&j->progress, SP_GROUP_READ,
				    sp__min(sp__parts_bytes(j->parts), j->total_bytes),
				    j->total_bytes);
	rc = take(j, worker, from, part->before + sp__part_at(part, from), records);
	if (rc == SP_EFORMAT && j->io->source)
		return bad_value(&j->workers[worker], j->io->source->name, 0, &part->err);
	if (rc == SP_EFORMAT && j->spec.record_bytes)
		return bad_value(&j->workers[worker], j->io->inputs[part->input],
				 (part->from + sp__part_at(part, from)) / j->spec.record_bytes + 1,
				 &part->err);
	if (rc == SP_EFORMAT) {
		/* A line that cannot be read again is not counted. */
		(void)!sp__lines_before(part->where.fd,
					part->from + sp__part_at(part, from) +
						sp__scan_blank_bytes(part->scan),
					line_end(j), &lines);
		return bad_value(&j->workers[worker], j->io->inputs[part->input], lines + 1,
				 &part->err);
	}
	return rc ? failed(rc, j->io->inputs[part->input], &part->err) : 0;
}

/* Takes the records of a part in this thread. */
static int read_part(struct sp__group_job *j, struct sp__part *part)
{
	struct sp_batch batch, records;
	int rc;

	while ((rc = sp__part_read(part, &batch)) == SP_READY)
		while (batch.bytes) {
			rc = take_part(j, 0, part, &batch, &records);
			if (!rc && records.bytes)
				rc = sp__sort_put_all(j->partials.sort, &records);
			if (rc < 0)
				return rc;
		}
	return rc;
}

static int read_parts_alone(struct sp__group_job *j)
{
	struct sp__part part = { 0 };
	int rc;

	while ((rc = sp__parts_next(j->parts, &part)) == SP_READY) {
		rc = read_part(j, &part);
		if (rc < 0)
			break;
	}
	if (rc < 0 && part.err.code)
		*j->err = part.err;
	sp__part_close(j->parts, &part);
	return rc < 0 ? rc : 0;
}

static int read_parts(struct sp__group_job *j)
{
	struct sp__rstream_opts unused = { 0 };
	int rc = !j->io->source || sp__sort_reads_parts(j->partials.sort, &unused)
			 ? sp__sort_put_parts(j->partials.sort, j->parts, j->total_bytes, take_part,
					      j)
			 : read_parts_alone(j);

	if (!rc)
		rc = sp__parts_end(j->parts);
	j->blank_lines = sp__parts_blank_lines(j->parts);
	return rc;
}

/* Takes a batch in order. */
static int take_batch(struct sp__group_job *j, struct sp_batch batch, uint64_t position)
{
	const char *begin = batch.data, *input;
	struct sp_batch records;
	uint64_t lines;
	size_t number;
	int rc = 0;

	sp__scan_place(j->scan, &number, &lines);
	input = j->io->inputs[number];
	if (number != j->reading) {
		j->reading = number;
		j->records_before = j->workers[0].records;
	}
	while (rc >= 0 && batch.bytes) {
		rc = take(j, 0, &batch, position + (uint64_t)(batch.data - begin), &records);
		lines += rc ? sp__count_bytes(begin, (size_t)(batch.data - begin), line_end(j)) : 0;
		if (rc == SP_EFORMAT)
			return bad_value(&j->workers[0], input,
					 1 + (j->spec.record_bytes
						      ? j->workers[0].records - j->records_before
						      : lines),
					 j->err);
		if (rc)
			return failed(rc, input, j->err);
		if (records.bytes)
			rc = sp__sort_put_all(j->partials.sort, &records);
	}
	return rc < 0 ? rc : 0;
}

/* Reads the inputs in order, by this thread; begins with a batch, unless rc is SP_END. */
static int read_scan(struct sp__group_job *j, int rc, struct sp_batch *batch)
{
	struct sp__iter it = { j->scan, sp__scan_next };
	uint64_t position = 0;

	while (rc == SP_READY) {
		rc = take_batch(j, *batch, position);
		if (rc)
			return rc;
		position += batch->bytes;
		sp__progress_report(&j->progress, SP_GROUP_READ, sp__scan_bytes(j->scan),
				    j->total_bytes);
		rc = sp__iter_next(&it, &j->waits, batch);
	}
	j->blank_lines = sp__scan_blank_lines(j->scan);
	return rc == SP_END ? 0 : rc;
}

/* Compares what the workers took with what was read. */
static int check_read(struct sp__group_job *j)
{
	const uint64_t owed = j->parts ? sp__parts_owed(j->parts) : sp__scan_owed(j->scan);
	uint64_t bytes = 0, records = 0;

	for (unsigned i = 0; i < j->nworkers; i++) {
		bytes += j->workers[i].bytes;
		records += j->workers[i].records;
	}
	if (bytes != owed || (j->io->source && records != j->io->source->records))
		return sp__err(j->err, SP_EBALANCE, "group", NULL, -1);
	return 0;
}

/* Reads partial totals of the first step. */
static int read_partials(struct sp__group_job *j)
{
	const struct sp__scan_opts options = scan_options(j);
	int rc = resolve(j, &j->io->header, !j->io->header.bytes);

	if (!rc)
		rc = open_workers(j);
	if (!rc)
		rc = sp__group_partials_open(&j->scan, &options);
	return rc ? rc : sp__group_partials_read(j->scan, &j->waits, j->partials.sort);
}

/* True if records are the bytes of a table, which comes through a pipe. */
static bool is_table(const struct sp_batch *first)
{
	const size_t n = strlen(SP__SOURCE_MAGIC);

	return first->bytes >= n && !memcmp(first->data, SP__SOURCE_MAGIC, n);
}

/* What a job begins with if it reads in order. */
struct beginning {
	int rc; /* of the first batch: SP_READY, or SP_END */
	struct sp_batch batch;
};

/* Opens a scan of the inputs, and reads the first batch. */
static int begin_scan(struct sp__group_job *j, const struct sp__scan_opts *o, struct beginning *b)
{
	int rc = sp__scan_open(&j->scan, o);

	if (rc)
		return rc;
	b->rc = sp__iter_next(&(struct sp__iter){ j->scan, sp__scan_next }, &j->waits, &b->batch);
	return b->rc < 0 ? b->rc : 0;
}

/* Resolves the options by the header of the inputs, which are open. */
static int resolve_inputs(struct sp__group_job *j, const struct beginning *b)
{
	struct sp_batch header;

	if (j->io->source)
		return 0;
	if (j->parts)
		sp__parts_header(j->parts, &header);
	else
		sp__scan_header(j->scan, &header);
	if (!j->parts && is_table(header.bytes ? &header : &b->batch))
		return sp__errf(j->err, SP_EUNSUP, "read", j->io->inputs[0], -1,
				"is a table, which is read by its name, not through a pipe");
	return resolve(j, &header, !j->parts && b->rc == SP_END && !header.bytes);
}

int sp__group_job_read(struct sp__group_job *j)
{
	const struct sp__scan_opts o = scan_options(j);
	struct beginning b = { SP_END, { 0 } };
	int rc;

	if (j->io->step == SP_GROUP_SECOND_STEP)
		return read_partials(j);
	rc = j->io->source ? open_source(j, 0) : open_parts(j);
	if (!rc && !j->parts)
		rc = begin_scan(j, &o, &b);
	if (!rc)
		rc = resolve_inputs(j, &b);
	if (!rc)
		rc = open_workers(j);
	if (!rc)
		rc = j->parts ? read_parts(j) : read_scan(j, b.rc, &b.batch);
	return rc ? rc : check_read(j);
}

/* A sample of the inputs. */

/* Opens a worker whose table keeps all groups and values. */
static int open_sampler(struct sp__group_job *j)
{
	struct sp__group_worker *w;
	int rc = open_workers(j);

	if (rc)
		return rc;
	w = &j->workers[0];
	j->input.skip_invalid = true;
	if (sp__group_worker_open(w, &j->input, j->worker_bytes))
		return sp__group_job_no_memory(j);
	w->added = SP__GROUP_TRIED;
	for (uint32_t i = 0; i < j->spec.nlists; i++)
		w->lists[i].left = UINT64_MAX;
	return 0;
}

/* Adds the records of a batch, up to the first one that the table cannot hold: 1. */
static int sample_batch(struct sp__group_job *j, struct sp_batch batch, uint64_t max_bytes,
			struct sp__group_sample *sample)
{
	struct sp__group_worker *w = &j->workers[0];
	const struct sp_recfmt *f = &j->opts->format;
	const size_t bytes = sp__min(batch.bytes, max_bytes);
	struct sp_batch records;
	int rc = 0;

	if (bytes < batch.bytes) {
		batch.bytes = sp__rec_fitting(f, batch.data, batch.bytes, bytes);
		sample->all = false;
	}
	while (!rc && batch.bytes && !w->full) {
		const size_t before = batch.bytes;

		rc = sp__group_worker_take(w, &batch, 0, &records);
		sample->bytes += before - batch.bytes;
		if (!rc && w->given)
			sample->direct_bytes += records.bytes;
	}
	sample->all &= !w->full;
	return rc ? failed(rc, NULL, j->err) : w->full;
}

/* Reads the beginning of each part.  What is wrong with a part shows when all is read. */
static int sample_parts(struct sp__group_job *j, uint64_t max_bytes,
			struct sp__group_sample *sample)
{
	struct sp__part part = { 0 };
	int rc, next;

	while ((rc = next = sp__parts_next(j->parts, &part)) == SP_READY) {
		const uint64_t end = sample->bytes + max_bytes;
		struct sp_batch batch;

		rc = 0;
		while (!rc && sample->bytes < end &&
		       (next = sp__part_read(&part, &batch)) == SP_READY)
			rc = sample_batch(j, batch, end - sample->bytes, sample);
		sample->all &= next == SP_END;
		if (rc)
			break;
	}
	sp__part_close(j->parts, &part);
	return rc < 0 && next >= 0 ? rc : 0;
}

/* Reads the beginning of the inputs; begins with a batch, if rc is SP_READY. */
static int sample_scan(struct sp__group_job *j, int rc, struct sp_batch *batch, uint64_t max_bytes,
		       struct sp__group_sample *sample)
{
	struct sp__iter it = { j->scan, sp__scan_next };

	while (rc == SP_READY) {
		rc = sample->bytes < max_bytes
			     ? sample_batch(j, *batch, max_bytes - sample->bytes, sample)
			     : 1;
		if (rc)
			break;
		rc = sp__iter_next(&it, &j->waits, batch);
	}
	sample->all &= rc == SP_END;
	return rc < 0 ? rc : 0;
}

int sp__group_job_sample(struct sp__group_job *j, uint64_t part_bytes, uint64_t max_bytes,
			 struct sp__group_sample *sample)
{
	struct sp__scan_opts o = scan_options(j);
	struct beginning b = { SP_END, { 0 } };
	int rc;

	*sample = (struct sp__group_sample){ .all = true };
	o.stream.device = NULL;
	o.turns = 1;
	rc = j->io->source ? open_source(j, part_bytes) : sp__parts_open(&j->parts, &o, part_bytes);
	if (rc == SP_EUNSUP && !j->io->source)
		rc = begin_scan(j, &o, &b);
	if (!rc)
		rc = resolve_inputs(j, &b);
	if (!rc)
		rc = open_sampler(j);
	if (!rc)
		rc = j->parts ? sample_parts(j, max_bytes, sample)
			      : sample_scan(j, b.rc, &b.batch, SAMPLE_SCAN * max_bytes, sample);
	sample->direct = j->workers ? j->workers[0].partials : 0;
	if (!rc)
		sample->direct_bytes += j->workers[0].given ? 0 : j->workers[0].direct.bytes;
	return rc;
}
