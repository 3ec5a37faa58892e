/* SPDX-License-Identifier: MIT */
/* Checks arrays (arrays.h). */
#include "table/arrow/arrays.h"

#define VIEW_INLINE 12
#define VIEW_BUFFERS 3 /* validity, views, and lengths of the buffers between these */

/* Checks what all arrays have: length, offset, NULLs. */
static const char *members_wrong(const struct ArrowArray *a, int64_t max_bytes)
{
	if (a->length < 0 || a->offset < 0 || a->offset > INT64_MAX / max_bytes - 1 - a->length)
		return "its length or its offset is impossible";
	if (a->null_count < -1 || a->null_count > a->length)
		return "its number of NULLs is impossible";
	if (a->n_buffers < 0 || (a->n_buffers && !a->buffers))
		return "it has no buffers";
	return NULL;
}

static const char *nulls_wrong(const struct ArrowArray *a)
{
	if (a->null_count > 0 && a->n_buffers && !a->buffers[0])
		return "it has NULLs, but no bits that say which values are NULL";
	return NULL;
}

const char *sp__arrow_batch_wrong(const struct ArrowArray *batch, int64_t n)
{
	const char *wrong = members_wrong(batch, 32);

	wrong = wrong ? wrong : nulls_wrong(batch);
	if (wrong)
		return wrong;
	if (batch->n_buffers > 1 || batch->dictionary)
		return "it is not one of records";
	if (batch->n_children != n || !batch->children)
		return "its number of columns is not that of the schema";
	for (int64_t i = 0; i < batch->length; i++)
		if (!sp__arrow_valid(batch, batch->offset + i))
			return "a whole record is NULL, which tables do not have";
	return NULL;
}

/* Checks the buffers of texts that views find. */
static const char *views_wrong(const struct ArrowArray *a)
{
	const int64_t n = a->n_buffers - VIEW_BUFFERS;
	const char *sizes = n < 0 ? NULL : a->buffers[a->n_buffers - 1];

	if (n < 0 || (n && !sizes))
		return "it does not say how long its buffers are";
	for (int64_t i = 0; i < n; i++) {
		const int64_t bytes = sp__arrow_integer(sizes, i, 8, false);

		if (bytes < 0 || (bytes && !a->buffers[2 + i]))
			return "a buffer of its texts is missing";
	}
	return NULL;
}

const char *sp__arrow_array_wrong(const struct ArrowArray *a, const struct sp__arrow_format *f,
				  int64_t records)
{

	const char *wrong;
	int64_t n = f->form == SP__ARROW_TEXT ? 3 : 2;

	if (!a)
		return "it is missing";
	wrong = members_wrong(a, f->bytes > 32 ? f->bytes : 32);
	if (wrong)
		return wrong;
	if (a->length < records)
		return "it has fewer values than the record batch";
	if (a->n_children)
		return "it has children";
	if (f->form == SP__ARROW_NULLS)
		return NULL;
	wrong = nulls_wrong(a);
	if (wrong)
		return wrong;
	if (f->form == SP__ARROW_VIEW ? a->n_buffers < VIEW_BUFFERS : a->n_buffers != n)
		return "its number of buffers is wrong";
	if (a->length && !a->buffers[1] && (f->form != SP__ARROW_FIXED || f->bytes))
		return "it has no values";
	return f->form == SP__ARROW_VIEW ? views_wrong(a) : NULL;
}

/* Finds a text by a view: its length, and its bytes or where they are. */
static const char *view(const struct ArrowArray *a, int64_t i, struct sp__slice *text)
{
	const char *at = (const char *)a->buffers[1] + i * 16;
	int32_t v
		[4]; /* the length, 4 bytes of the text, the number of a buffer, the offset there */

	memcpy(v, at, sizeof(v));
	if (v[0] < 0)
		return "its length is negative";
	if (v[0] <= VIEW_INLINE) {
		*text = (struct sp__slice){ at + sizeof(v[0]), (size_t)v[0] };
		return NULL;
	}
	if (v[2] < 0 || v[2] >= a->n_buffers - VIEW_BUFFERS)
		return "it is in a buffer that the array does not have";
	if (v[3] < 0 ||
	    sp__arrow_integer(a->buffers[a->n_buffers - 1], v[2], 8, false) - v[3] < v[0])
		return "it is outside of its buffer";
	*text = (struct sp__slice){ (const char *)a->buffers[2 + v[2]] + v[3], (size_t)v[0] };
	return NULL;
}

const char *sp__arrow_text(const struct ArrowArray *a, const struct sp__arrow_format *f, int64_t i,
			   struct sp__slice *text)
{
	int64_t from, to;

	if (f->form == SP__ARROW_VIEW)
		return view(a, i, text);
	if (f->form == SP__ARROW_FIXED) {
		*text = (struct sp__slice){ f->bytes ? (const char *)a->buffers[1] + i * f->bytes
						     : "",
					    f->bytes };
		return NULL;
	}
	from = sp__arrow_integer(a->buffers[1], i, f->bytes, false);
	to = sp__arrow_integer(a->buffers[1], i + 1, f->bytes, false);
	/* All texts are in front of the last offset. */
	if (from < 0 || to < from ||
	    to > sp__arrow_integer(a->buffers[1], a->offset + a->length, f->bytes, false))
		return "its offsets are negative, or do not ascend";
	if (to > from && !a->buffers[2])
		return "its bytes are missing";
	*text = (struct sp__slice){ to > from ? (const char *)a->buffers[2] + from : "",
				    (size_t)(to - from) };
	return NULL;
}
