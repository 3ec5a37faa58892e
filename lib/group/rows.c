/* SPDX-License-Identifier: MIT */
/*
 * Writes rows and records, in the order of the keys or through a sort of rows (result.h).
 */
#include "base/err.h"
#include "group/running.h"
#include "group/split.h"

#define OUT_BYTES ((size_t)64 << 10)

static int no_memory(struct sp__group_results *r)
{
	return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
}

static int write_batch(struct sp__group_results *r, const struct sp_batch *batch)
{
	r->bytes += batch->bytes;
	return r->split ? sp__group_split_put(r->split, batch) : sp__result_put(r->write, batch);
}

int sp__group_results_flush(struct sp__group_results *r)
{
	const struct sp_batch batch = { r->out.data, r->out.bytes };

	r->out.bytes = 0;
	return batch.bytes ? write_batch(r, &batch) : 0;
}

/* Writes a line, or a record of a fixed length; a limit does not count it. */
static int put_line(struct sp__group_results *r, const char *p, size_t n)
{
	const char eol = r->in->format.kind == SP_REC_LINE ? r->in->format.eol : '\n';
	const struct sp_batch line = { p, n };
	int rc = 0;

	if (n >= OUT_BYTES) {
		rc = sp__group_results_flush(r);
		if (!rc)
			rc = write_batch(r, &line);
	} else if (sp__bytes_append(&r->out, p, n, NULL)) {
		rc = no_memory(r);
	}
	if (!rc && !(r->spec->record_bytes && r->spec->largest) &&
	    sp__bytes_append(&r->out, &eol, 1, NULL))
		rc = no_memory(r);
	if (rc)
		return rc;
	return r->out.bytes >= OUT_BYTES ? sp__group_results_flush(r) : 0;
}

int sp__group_row_put(struct sp__group_results *r, const char *row, size_t bytes)
{
	if (r->limited && r->rows == r->top)
		return SP_END;
	r->rows++;
	return put_line(r, row, bytes);
}

int sp__group_row_finish(struct sp__group_results *r)
{
	int rc = r->runs ? sp__group_runs_put(r) : 0;

	if (!rc && r->json && sp__bytes_append(&r->row, "}", 1, NULL))
		rc = no_memory(r);
	return rc ? rc : sp__group_row_put(r, r->row.data, r->row.bytes);
}

int sp__group_results_header(struct sp__group_results *r)
{
	int rc = 0;

	if (r->spec->largest)
		return r->header.bytes ? put_line(r, r->header.data, r->header.bytes) : 0;
	/* A pivot of no records and no other keys has no columns. */
	if (!r->ncolumns)
		return 0;
	r->row.bytes = 0;
	for (uint32_t i = 0; !rc && i < r->ncolumns; i++) {
		const char *name = sp__group_result_name(r, i);

		rc = sp__group_field_put(r, i, name, strlen(name), false);
	}
	return rc ? rc : put_line(r, r->row.data, r->row.bytes);
}

/* Rows in another order. */

/* What a value of the result is, in its order. */
enum { ORDER_NONE = SP__TAG_GROUP, ORDER_NUMBER, ORDER_TEXT };

/* Appends the value by which the row is ordered. */
static int put_value_code(struct sp__bytes *code, const char *p, size_t n)
{
	unsigned char number[SP__AMOUNT_CODE];
	struct sp__amount x;
	char kind = ORDER_TEXT;

	if (!n) {
		kind = ORDER_NONE;
	} else if (sp__amount_parse(p, n, &x)) {
		kind = ORDER_NUMBER;
		n = sp__amount_encode(&x, number);
		p = (const char *)number;
	}
	return sp__bytes_append(code, &kind, 1, NULL) ? -ENOMEM : sp__code_put_part(code, p, n);
}

static int put_position(struct sp__bytes *code, uint64_t position)
{
	char bytes[SP__CODE_POSITION];

	sp__code_position(bytes, position);
	return sp__code_put_part(code, bytes, sizeof(bytes));
}

int sp__group_row_sort(struct sp__group_results *r, uint64_t position, const struct sp__bytes *body)
{
	struct sp__bytes *code = &r->code;
	char *to;
	int rc = 0;

	code->bytes = 0;
	if (sp__group_is_ordered(r))
		rc = r->order.first ? put_position(code, position)
				    : put_value_code(code, r->ordered.data, r->ordered.bytes);
	if (!rc && r->order.reverse) {
		rc = sp__bytes_set(&r->text, code->data, code->bytes, NULL);
		code->bytes = 0;
		rc = rc ? rc : sp__code_put_descending(code, &r->text);
	}
	/* Equal values stay in the order of the keys. */
	rc = rc ? rc : put_position(code, r->groups);
	if (rc)
		return no_memory(r);
	to = sp__sorter_space(r->sorter, code->bytes + body->bytes + 1);
	if (!to)
		return -ENOMEM;
	memcpy(to, code->data, code->bytes);
	memcpy(to + code->bytes, body->data, body->bytes);
	to[code->bytes + body->bytes] = SP__CODE_NUL;
	return sp__sorter_add(r->sorter, code->bytes + body->bytes + 1);
}
