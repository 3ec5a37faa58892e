/* SPDX-License-Identifier: MIT */
/*
 * Chooses the records of rows, adds them to aggregates, and charges joins of columns.
 *
 * The results of aggregates are printed as the record of a table of texts.
 */
#include <stdlib.h>
#include "base/err.h"
#include "columns/aggregates.h"
#include "rec/json.h"
#include "run/charge.h"
#include "table/file/directory.h"
#include "table/file/file.h"
#include "table/read/choice.h"
#include "table/read/output.h"
#include "table/read/ring.h"

int sp__scan_sums_open(struct sp__scan_sums *s, const struct sp__aggregates *aggregates)
{
	*s = (struct sp__scan_sums){ .aggregates = aggregates };
	for (unsigned i = 0; i < SP__RING_SLOTS; i++) {
		s->slots[i] = sp__aggregates_state_new(aggregates);
		if (!s->slots[i])
			return -ENOMEM;
	}
	return 0;
}

void sp__scan_sums_close(struct sp__scan_sums *s)
{
	for (unsigned i = 0; i < SP__RING_SLOTS; i++)
		sp__aggregates_state_free(s->slots[i]);
	*s = (struct sp__scan_sums){ 0 };
}

int sp__scan_sums_add(struct sp__scan_sums *s, const struct sp__window_slot *slot,
		      const struct sp__rows *rows, const uint32_t *selected, uint32_t n)
{
	return sp__aggregates_add(s->slots[slot - slot->ring->slots], rows, selected, n,
				  &slot->window.file->env.budget);
}

/* The results as a record of texts. */
struct results {
	struct sp__schema schema;
	struct sp__table_output output;
	struct sp__vector *vectors;
	uint32_t *ends; /* ends of the texts of the results */
	struct sp__bytes texts, lines;
};

static int take_results(struct results *r, const struct sp__scan_sums *s)
{
	static const struct sp__value_type text = { .kind = 't', .bytes = 4 };
	static const char null = (char)SP__TEXT_NULL;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < r->schema.n; i++) {
		const char *name = sp__aggregates_name(s->aggregates, i);
		bool is_null, is_text;

		r->schema.columns[i] =
			(struct sp__column){ .name = (char *)(uintptr_t)name, .type = text };
		r->vectors[i].before = (uint32_t)r->texts.bytes;
		rc = sp__aggregates_result(s->slots[0], i, &r->texts, &is_null, &is_text);
		if (!rc && is_null)
			rc = sp__bytes_append(&r->texts, &null, 1, NULL);
		r->ends[i] = (uint32_t)r->texts.bytes;
		r->schema.columns[i].json =
			!rc && !is_null && !is_text &&
			sp__json_is_number(r->texts.data + r->vectors[i].before,
					   r->texts.bytes - r->vectors[i].before);
	}
	for (uint32_t i = 0; i < r->schema.n; i++) {
		r->vectors[i].data = (const uint8_t *)&r->ends[i];
		r->vectors[i].stride = sizeof(*r->ends);
		r->vectors[i].text = r->texts.data ? r->texts.data : "";
	}
	return rc;
}

static int print_results(struct results *r, enum sp_table_format format, struct sp_errinfo *err)
{
	struct sp__rows rows = { 0, 1, r->vectors };
	uint32_t *columns = malloc(r->schema.n * sizeof(*columns));
	int rc;

	for (uint32_t i = 0; columns && i < r->schema.n; i++)
		columns[i] = i;
	if (!columns)
		return -ENOMEM;
	rc = sp__output_open(&r->output, &r->schema, format, columns, r->schema.n, err);
	if (r->output.quoting == SP__QUOTES_TEXT) /* numbers have no quotes */
		r->output.quoting = SP__QUOTES_NEEDED;
	if (!rc)
		rc = sp__output_header(&r->output, &r->lines, NULL);
	return rc ? rc : sp__output_rows(&r->output, &rows, NULL, 1, &r->lines, NULL, err);
}

static int merge(struct sp__scan_sums *s, struct sp__budget *budget)
{
	int rc = 0;

	for (unsigned i = 1; !rc && i < SP__RING_SLOTS; i++)
		rc = sp__aggregates_merge(s->slots[0], s->slots[i], budget);
	return rc;
}

int sp__scan_sums_print(struct sp__scan_sums *s, struct sp__tablefile *f,
			enum sp_table_format format, const struct sp__reading *to)
{
	struct results r = { .schema = { .n = sp__aggregates_n(s->aggregates),
					 .style = f->schema.style } };
	int rc = merge(s, &f->env.budget);

	r.schema.columns = calloc(r.schema.n, sizeof(*r.schema.columns));
	r.vectors = calloc(r.schema.n, sizeof(*r.vectors));
	r.ends = calloc(r.schema.n, sizeof(*r.ends));
	if (!r.schema.columns || !r.vectors || !r.ends)
		rc = -ENOMEM;
	if (format == SP_TABLE_AS_LOADED && f->schema.style.format == SP_REC_FIXED)
		format = SP_TABLE_TEXT;
	rc = rc ? rc : take_results(&r, s);
	rc = rc ? rc : print_results(&r, format, to->err);
	if (rc) {
		rc = sp__err(to->err, rc, "scan", f->path, -1);
	} else {
		to->stats->output_bytes += r.lines.bytes;
		rc = to->sink(to->arg, r.lines.data, r.lines.bytes);
	}
	sp__output_close(&r.output);
	free(r.schema.columns);
	free(r.vectors);
	free(r.ends);
	sp__bytes_release(&r.texts, NULL);
	sp__bytes_release(&r.lines, NULL);
	return rc;
}

/*
 * Charges joins of columns.
 *
 * Algorithm: a join compares two record numbers, and takes the time of a record.  It is made for
 * each value of each further column, or for each vector of them.
 *
 * Not modelled: lookups of the pages of columns, and the memory of the joins.
 */

#define VECTOR_RECORDS 1024

int sp__columnjoin_set(struct sp__tablefile *f, enum sp_table_dsm_join join, struct sp_errinfo *err)
{
	f->dsm_join = join;
	if (!join)
		return 0;
	if (!f->env.device)
		return sp__errf(err, SP_EUNSUP, "open", f->path, -1,
				"joins of columns need a simulated volume: choose "
				"--volume=sim:MODEL, or --dsm-join=none");
	if (f->layout.strip_max || f->layout.lanes || f->layout.ngroups != f->layout.ncolumns)
		return sp__errf(err, SP_EUNSUP, "open", f->path, -1,
				"only the layout dsm, with no columns together, joins columns: "
				"choose --dsm-join=none, or convert with --layout=dsm");
	return 0;
}

void sp__columnjoin_charge(const struct sp__tablefile *f, uint64_t records, uint32_t joins)
{
	if (!f->dsm_join)
		return;
	if (f->dsm_join == SP_TABLE_JOIN_VECTOR)
		records = (records + VECTOR_RECORDS - 1) / VECTOR_RECORDS;
	sp__charge_work(&f->env, records * joins, 1, 0);
}

/* True if the predicate is true for no record of a directory row. */
static bool excluded(const void *choice, struct sp__tablefile *f, uint8_t *row)
{
	const struct sp__record_choice *c = choice;

	for (uint32_t i = 0; i < f->schema.n; i++)
		if (f->schema.columns[i].bounds)
			c->bounds[i] = sp__directory_entry(f, row, i);
	return sp__predicate_excludes(c->where, c->bounds);
}

/*
 * Counts the columns of the predicate, and makes the ranges skip directory rows if one of them has
 * bounds.  Returns 0 or -ENOMEM.
 */
static int take_columns(struct sp__record_choice *c, struct sp__scan_ranges *ranges)
{
	const struct sp__schema *s = &ranges->file->schema;
	bool *columns = calloc(s->n, sizeof(*columns));

	if (!columns)
		return -ENOMEM;
	sp__predicate_columns(c->where, columns);
	for (uint32_t i = 0; i < s->n; i++) {
		c->columns += columns[i];
		if (!columns[i] || !s->columns[i].bounds)
			continue;
		ranges->rows_needed = true;
		ranges->skip = excluded;
		ranges->skip_arg = c;
	}
	free(columns);
	return 0;
}

void sp__choice_charge(const struct sp__record_choice *c, const struct sp__tablefile *f,
		       uint64_t records)
{
	if (!c->where)
		return;
	sp__charge_values(&f->env, records * c->columns, records * sp__predicate_tests(c->where));
	if (c->columns)
		sp__columnjoin_charge(f, records, c->columns - 1);
}

struct counter {
	struct sp__tablefile *file;
	struct sp__record_choice choice;
	uint64_t rows, kept, runs;
	bool last; /* row was kept */
};

static int count_row(void *arg, uint8_t *row)
{
	struct counter *c = arg;
	const bool keep = !excluded(&c->choice, c->file, row);

	c->rows++;
	c->kept += keep;
	c->runs += keep && !c->last;
	c->last = keep;
	return 0;
}

int sp__choice_count_kept(struct sp__tablefile *f, const struct sp__predicate *where,
			  struct sp__rows_kept *kept, struct sp_errinfo *err)
{
	struct counter c = { .file = f, .choice = { .where = where } };
	struct sp__scan_ranges ranges = { .file = f };
	int rc = take_columns(&c.choice, &ranges);

	c.choice.bounds = calloc(f->schema.n, sizeof(*c.choice.bounds));
	if (!c.choice.bounds)
		rc = -ENOMEM;
	if (!rc && ranges.skip)
		rc = sp__directory_each(f, count_row, &c, err);
	*kept = (struct sp__rows_kept){ .share = 1 };
	if (c.rows && c.kept < c.rows)
		*kept = (struct sp__rows_kept){ (double)c.kept / (double)c.rows, c.runs };
	free(c.choice.bounds);
	return rc ? sp__err(err, rc, "scan", f->path, -1) : 0;
}

static int open_slots(struct sp__record_choice *c, struct sp__window_ring *ring)
{
	c->bounds = calloc(ring->file->schema.n, sizeof(*c->bounds));
	if (!c->bounds)
		return -ENOMEM;
	for (unsigned i = 0; i < ring->nslots; i++) {
		struct sp__choice_slot *d = &c->slots[i];

		d->selected = malloc(SP__ROWS_MAX * sizeof(*d->selected));
		if (c->where)
			d->scratch = sp__predicate_scratch_new(c->where);
		if (!d->selected || (c->where && !d->scratch))
			return -ENOMEM;
	}
	return c->where ? take_columns(c, &ring->ranges) : 0;
}

int sp__choice_open(struct sp__record_choice *c, struct sp__window_ring *ring)
{
	int rc = c->where || ring->file->superblock.deleted ? open_slots(c, ring) : 0;

	return rc ? rc : sp__ranges_open(&ring->ranges, SP__RANGES_BYTES);
}

void sp__choice_close(struct sp__record_choice *c)
{
	for (unsigned i = 0; i < SP__RING_SLOTS; i++) {
		free(c->slots[i].bits);
		free(c->slots[i].selected);
		sp__predicate_scratch_free(c->slots[i].scratch);
	}
	free(c->bounds);
}

/* Reads the tombstones of a window. */
static int read_bits(struct sp__choice_slot *d, const struct sp__window *w, struct sp_errinfo *err)
{
	const struct sp__window_range *last = &w->ranges[w->nranges - 1];
	uint64_t n;
	size_t bytes;

	if (!w->file->superblock.deleted)
		return 0;
	d->first = w->ranges[0].first / 8 * 8;
	n = last->first + last->n - d->first;
	bytes = (size_t)(n + 7) / 8;
	if (bytes > d->bytes) {
		free(d->bits);
		d->bits = malloc(bytes);
		d->bytes = d->bits ? bytes : 0;
	}
	if (!d->bits)
		return sp__err(err, -ENOMEM, "scan", w->file->path, -1);
	return sp__tombstones_read(w->file, d->first, n, d->bits, err);
}

int sp__choice_fill(void *unused, struct sp__window_slot *s)
{
	int rc = sp__ring_fill(unused, s), deleted;

	deleted = rc == SP_READY ? read_bits(s->own, &s->window, s->ring->err) : 0;
	return deleted ? deleted : rc;
}

static bool is_deleted(const void *slot, uint64_t record)
{
	const struct sp__choice_slot *d = slot;
	const uint64_t bit = record - d->first;

	return d->bits[bit / 8] >> bit % 8 & 1;
}

/* Keeps those of n selected records that are not deleted.  Returns their number. */
static uint32_t drop_deleted(struct sp__choice_slot *d, const struct sp__rows *rows, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!is_deleted(d, rows->first + d->selected[i]))
			d->selected[left++] = d->selected[i];
	return left;
}

int sp__choice_select(const struct sp__record_choice *c, struct sp__choice_slot *d,
		      const struct sp__rows *rows, uint32_t *n, struct sp_errinfo *err)
{
	struct sp__chosen_rows chosen = { .at = d->selected,
					  .n = rows->n,
					  .ignored = d->bits ? is_deleted : NULL,
					  .arg = d,
					  .err = err };
	int rc = 0;

	*n = rows->n;
	if (!d->selected)
		return 0;
	if (d->scratch)
		rc = sp__predicate_select(c->where, d->scratch, rows, &chosen);
	else
		for (uint32_t i = 0; i < rows->n; i++)
			d->selected[i] = i;
	*n = d->bits ? drop_deleted(d, rows, chosen.n) : chosen.n;
	return rc;
}
