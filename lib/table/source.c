/* SPDX-License-Identifier: MIT */
/*
 * Gives the records of a table to other capabilities, as a source (flow/source.h).
 *
 * Each reader has its own open table, whose file must be the one that the source has locked.
 * Records are printed as CSV by the thread of the reader.
 *
 * Memory: of each reader its dictionaries, and windows in the rest.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/table.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/source.h"
#include "run/memory.h"
#include "table/layout/layout.h"
#include "table/read/scan.h"
#include "table/state.h"

#define WINDOW_CELLS 4 /* cells of each column group, and of texts, for which a reader has memory */

struct table_source {
	struct sp_source source;
	struct sp__tablefile file;
	struct sp_run_opts run;
	struct sp__bytes header;
	uint32_t *columns, n; /* that are printed */
	double *text_bytes;   /* of each column: the mean of a value; 0: no texts */
};

struct reader {
	const struct table_source *of;
	struct sp_run_opts run;
	struct sp__tablefile file;
	struct sp__table_output output;
	bool *read; /* columns, by number */
	struct sp_table_stats stats;
	struct sp__tablescan_opts opts;
	struct sp__rowscan scan; /* its ring has no file: no range was begun */
	char engine[SP__ENGINE_NAME];
	struct sp_errinfo err; /* of the scan */
};

bool sp__table_is(const char *path)
{
	char first[sizeof(SP__TABLE_MAGIC) - 1];
	struct stat st;
	bool is;
	int fd;

	/* Opening another type of file can wait for its other end. */
	if (!strcmp(path, "-") || stat(path, &st) || (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode)))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	is = pread(fd, first, sizeof(first), 0) == (ssize_t)sizeof(first) &&
	     !memcmp(first, SP__TABLE_MAGIC, sizeof(first));
	close(fd);
	return is;
}

/* Opens the output of columns: CSV whose empty fields are NULL. */
static int open_output(struct sp__table_output *o, const struct sp__schema *schema,
		       const uint32_t *columns, uint32_t n, struct sp_errinfo *err)
{
	uint32_t *own = malloc(sp__max(n, 1) * sizeof(*own));
	int rc;

	if (!own)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	memcpy(own, columns, n * sizeof(*own));
	rc = sp__output_open(o, schema, SP_TABLE_CSV, own, n, err);
	o->separator = ',';
	o->null_text = "";
	o->null_bytes = 0;
	o->quoting = SP__QUOTES_NEEDED;
	o->trailing_separator = o->cr = false;
	o->header = true;
	return rc;
}

/* Readers. */

static void end_range(struct reader *r)
{
	if (r->scan.ring.file)
		sp__rowscan_close(&r->scan);
	r->scan.ring.file = NULL;
}

static void close_reader(void *reader, struct sp__io_counters *done, char engine[SP__ENGINE_NAME])
{
	struct reader *r = reader;

	end_range(r);
	done->read_requests += r->stats.run.read_requests;
	done->read_bytes += r->stats.run.read_bytes;
	sp__io_add(done, &r->file.io);
	memcpy(engine, r->engine, SP__ENGINE_NAME);
	(void)sp__tablefile_close(&r->file);
	sp__output_close(&r->output);
	free(r->read);
	free(r);
}

/* Opens the table once more: the file that the source has locked. */
static int open_again(struct reader *r, const struct sp__env *plan, struct sp_errinfo *err)
{
	const struct table_source *s = r->of;
	struct stat a, b;
	int rc = sp__tablefile_open_in(&r->file, s->source.name, &r->run, plan, false, err);

	if (rc)
		return rc;
	if (fstat(s->file.cells.first.fd, &a) || fstat(r->file.cells.first.fd, &b))
		return sp__err(err, -errno, "read", s->source.name, -1);
	if (a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return sp__cellfile_replaced(&s->file.cells.first, err);
	return 0;
}

static int open_reader(struct sp_source *source, const struct sp__env *plan, uint64_t memory_bytes,
		       void **reader, struct sp_errinfo *err)
{
	const struct table_source *s = (const struct table_source *)source;
	struct sp__io_counters unused = { 0 };
	char engine[SP__ENGINE_NAME];
	struct reader *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	r->of = s;
	r->run = s->run;
	r->run.memory_bytes = memory_bytes;
	rc = open_again(r, plan, err);
	r->file.env.err = &r->err;
	if (!rc)
		rc = open_output(&r->output, &r->file.schema, s->columns, s->n, err);
	if (!rc) {
		r->read = calloc(r->file.schema.n, sizeof(*r->read));
		rc = r->read ? 0 : sp__err(err, -ENOMEM, "allocate", NULL, -1);
	}
	for (uint32_t i = 0; !rc && i < s->n; i++)
		r->read[s->columns[i]] = true;
	if (rc)
		close_reader(r, &unused, engine);
	else
		*reader = r;
	return rc;
}

static int begin_range(void *reader, uint64_t from, uint64_t to, struct sp_errinfo *err)
{
	struct reader *r = reader;
	int rc;

	end_range(r);
	r->opts = (struct sp__tablescan_opts){ .lo = from,
					       .hi = to - 1,
					       .limit = UINT64_MAX,
					       .continued = true,
					       .columns = r->read,
					       .output = &r->output };
	rc = sp__rowscan_open(&r->scan, &r->file, &r->opts, &r->stats, &r->err);
	if (rc)
		*err = r->err;
	else
		snprintf(r->engine, sizeof(r->engine), "%s",
			 sp__queue_engine(r->scan.ring.requests.queue));
	return rc;
}

static int next_batch(void *reader, struct sp_batch *batch, struct sp_errinfo *err)
{
	struct reader *r = reader;
	struct sp__window_slot *s;
	int rc;

	do {
		rc = sp__rowscan_next(&r->scan, &s);
	} while (rc == SP_READY && !s->out.bytes);
	if (rc == SP_READY)
		*batch = (struct sp_batch){ s->out.data, s->out.bytes };
	else if (rc < 0)
		*err = r->err;
	return rc;
}

/* The source. */

/* Counts records by the narrowest column. */
static uint32_t narrowest(const struct sp__schema *schema)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < schema->n; i++)
		if (schema->columns[i].type.bytes < schema->columns[best].type.bytes)
			best = i;
	return best;
}

/* Sets what a record of the chosen columns needs. */
static int measure(struct table_source *s, struct sp_errinfo *err)
{
	const struct sp__tablefile *f = &s->file;
	bool *columns = calloc(f->schema.n, sizeof(*columns));
	bool *groups = calloc(f->layout.ngroups, sizeof(*groups));
	uint64_t cells = 0;

	if (!columns || !groups) {
		free(columns);
		free(groups);
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	}
	s->source.record_bytes = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct sp__column *c = &f->schema.columns[s->columns[i]];

		columns[s->columns[i]] = true;
		s->source.record_bytes +=
			sp__column_printed_bytes(c) + s->text_bytes[s->columns[i]];
		cells += 2 * (s->text_bytes[s->columns[i]] > 0);
	}
	(void)sp__layout_groups(&f->layout, columns, groups);
	for (uint32_t g = 0; g < f->layout.ngroups; g++)
		cells += groups[g];
	s->source.min_bytes =
		f->env.budget.used_bytes + WINDOW_CELLS * cells * f->layout.cell_bytes;
	s->source.min_bytes = sp__max(s->source.min_bytes, sp__working_memory(&s->run, 1));
	free(columns);
	free(groups);
	return 0;
}

static int choose(struct sp_source *source, const size_t *columns, size_t n, struct sp_errinfo *err)
{
	struct table_source *s = (struct table_source *)source;

	for (size_t i = 0; i < n; i++)
		s->columns[i] = (uint32_t)columns[i];
	if (!n)
		s->columns[0] = narrowest(&s->file.schema);
	s->n = (uint32_t)sp__max(n, 1);
	return measure(s, err);
}

static void free_source(struct sp_source *source)
{
	struct table_source *s = (struct table_source *)source;

	(void)sp__tablefile_close(&s->file);
	sp__bytes_release(&s->header, NULL);
	free(s->columns);
	free(s->text_bytes);
	free(s);
}

static int make_header(struct table_source *s, struct sp_errinfo *err)
{
	struct sp__table_output o;
	int rc = open_output(&o, &s->file.schema, s->columns, s->n, err);

	if (!rc && sp__output_header(&o, &s->header, NULL))
		rc = sp__err(err, -ENOMEM, "allocate", NULL, -1);
	sp__output_close(&o);
	s->source.header = (struct sp_batch){ s->header.data, s->header.bytes };
	return rc;
}

/* Prepares the choice of all columns. */
static int describe(struct table_source *s, struct sp_errinfo *err)
{
	const struct sp__schema *schema = &s->file.schema;
	const struct sp__table_superblock *sb = &s->file.superblock;
	int rc;

	s->source.numbers = sb->records;
	s->source.records = sb->records - sb->deleted;
	s->columns = malloc(schema->n * sizeof(*s->columns));
	s->text_bytes = calloc(schema->n, sizeof(*s->text_bytes));
	if (!s->columns || !s->text_bytes)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	for (s->n = 0; s->n < schema->n; s->n++)
		s->columns[s->n] = s->n;
	rc = sp__table_mean_texts(&s->file, s->text_bytes, err);
	if (!rc)
		rc = make_header(s, err);
	return rc ? rc : measure(s, err);
}

static int open_locked(struct table_source *s, const char *table, struct sp_errinfo *err)
{
	struct sp__tablefile *f = &s->file;
	int rc = sp__tablefile_open(f, table, &s->run, false, err);

	s->source.name = f->path;
	f->env.err = err;
	if (rc)
		return rc;
	if (f->run.volume)
		return sp__errf(err, SP_EUNSUP, "open", table, -1,
				"is on a simulated volume: group what 'xtable scan' prints");
	return sp__tablefile_blank(f, err);
}

int sp__table_source(struct sp_source **source, const char *table, const struct sp_run_opts *run,
		     struct sp_errinfo *err)
{
	static const struct sp__source_ops ops = { choose,     open_reader,  begin_range,
						   next_batch, close_reader, free_source };
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct table_source *s = calloc(1, sizeof(*s));
	int rc;

	err = err ? err : &own;
	*source = NULL;
	if (!s)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	s->source.ops = &ops;
	s->source.memory_bytes = sp__working_memory(run, run->memory_bytes) / SP__SOURCE_SHARE;
	s->run = (struct sp_run_opts)SP_RUN_OPTS_INIT;
	s->run.memory_bytes = s->source.memory_bytes;
	s->run.parallel = 1;
	s->run.direct = run->direct;
	s->run.engine = run->engine;
	s->run.wait_ns = run->wait_ns;
	s->run.keep_lock = true;
	rc = open_locked(s, table, err);
	if (!rc)
		rc = describe(s, err);
	if (rc)
		free_source(&s->source);
	else
		*source = &s->source;
	return rc;
}
