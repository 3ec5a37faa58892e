/* SPDX-License-Identifier: MIT */
/*
 * Aggregates of a scan.  The results are printed as the record of a table of texts.
 */
#include <stdlib.h>
#include "base/err.h"
#include "table/read/output.h"
#include "table/read/sums.h"

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
	struct sp__table_schema schema;
	struct sp__table_output output;
	struct sp__vector *vectors;
	uint32_t *ends; /* of the text of each result */
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
			(struct sp__table_column){ .name = (char *)(uintptr_t)name, .type = text };
		r->vectors[i].before = (uint32_t)r->texts.bytes;
		rc = sp__aggregates_result(s->slots[0], i, &r->texts, &is_null, &is_text);
		if (!rc && is_null)
			rc = sp__bytes_append(&r->texts, &null, 1, NULL);
		r->ends[i] = (uint32_t)r->texts.bytes;
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
	if (format == SP_TABLE_AS_LOADED && f->schema.style.format == SP_TABLE_FIXED)
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
