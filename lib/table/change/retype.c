/* SPDX-License-Identifier: MIT */
/* Converts values to another type (retype.h). */
#include <string.h>
#include "base/readfloat.h"
#include "table/change/retype.h"

#define DATE_BYTES 10

static uint32_t code_at(const uint8_t *at, uint32_t bytes)
{
	return bytes == 1 ? at[0] : at[0] | (uint32_t)at[1] << 8;
}

/* Gets the text of value i.  False: it is NULL. */
static bool text_of(struct sp__retype *r, uint32_t i, struct sp__slice *text)
{
	const struct sp__value_type *t = &r->from->type;
	const uint8_t *at;
	uint32_t code;

	if (t->kind == 't') {
		*text = sp__vector_text(r->vector, r->offsets[i]);
		return !sp__text_null(text->p, text->n);
	}
	at = sp__vector_at(r->vector, r->offsets[i]);
	if (t->kind == 'w') {
		code = code_at(at, t->bytes);
		*text = code ? sp__dictionary_word(&r->from->words, code) : (struct sp__slice){ 0 };
		return code;
	}
	if (sp__value_null(t, at))
		return false;
	if (t->kind == 'c') {
		*text = (struct sp__slice){ (const char *)at, t->bytes };
		while (text->n && !text->p[text->n - 1])
			text->n--;
	} else {
		*text = (struct sp__slice){ r->space, sp__value_write(t, at, r->space) };
	}
	return true;
}

/* True if a float is the number of the text it was read from, and of the old value. */
static bool is_exact(const struct sp__retype *r, const struct sp__slice *text, const uint8_t *value)
{
	char again[SP__VALUE_SPACE];
	double wide, printed;
	float narrow;

	if (r->to->type.bytes == sizeof(double))
		return r->from->type.kind == 'f' || sp__value_f64_holds(text->p, text->n);
	memcpy(&narrow, value, sizeof(narrow));
	if (sp__read_f64(text->p, text->n, &wide) ||
	    sp__read_f64(again, sp__value_write(&r->to->type, value, again), &printed))
		return false;
	if (wide != wide)
		return narrow != narrow;
	return r->from->type.kind == 'f' ? (double)narrow == wide
					 : printed == wide && sp__value_f64_holds(text->p, text->n);
}

/* Returns the bytes of a text that the new type has to hold: of midnight as a date the date. */
static size_t needed(const struct sp__retype *r, const struct sp__slice *text)
{
	size_t n = text->n;

	if (r->from->type.kind != 'T' || r->to->type.kind != 'D')
		return n;
	while (n > DATE_BYTES && strchr(" 0:.", text->p[n - 1]))
		n--;
	return n == DATE_BYTES ? n : text->n;
}

static int put_number(struct sp__retype *r, const struct sp__slice *text, uint8_t *to)
{
	const struct sp__value_type *t = &r->to->type;

	if (sp__value_read(t, text->p, needed(r, text), to) != SP__VALUE_OK)
		return SP_EFORMAT;
	return t->kind != 'f' || is_exact(r, text, to) ? 0 : SP_EFORMAT;
}

static int put_text(struct sp__retype *r, uint32_t i, const struct sp__slice *text)
{
	r->refs[i] = (struct sp__text_ref){ (uint32_t)r->texts->bytes, (uint32_t)text->n };
	return sp__text_null(text->p, text->n) ? SP_EFORMAT
					       : sp__bytes_append(r->texts, text->p, text->n, NULL);
}

static int put_word(struct sp__retype *r, const struct sp__slice *text, uint8_t *to)
{
	const uint32_t bytes = r->to->type.bytes;
	const uint32_t max = bytes == 1 ? SP__DICT8_WORDS : SP__DICT16_WORDS;
	uint32_t code = sp__dictionary_find(&r->to->words, text->p, text->n);
	int rc = code ? 0 : sp__dictionary_add(&r->to->words, text->p, text->n, max, &code);

	to[0] = (uint8_t)code;
	if (bytes > 1)
		to[1] = (uint8_t)(code >> 8);
	return rc;
}

static int put_null(struct sp__retype *r, uint32_t i, uint8_t *to)
{
	if (r->to->not_null)
		return SP_EFORMAT;
	if (r->to->type.kind == 't')
		r->refs[i] = (struct sp__text_ref){ 0, SP__TEXT_REF_NULL };
	else
		sp__value_set_null(&r->to->type, to);
	return 0;
}

int sp__retype(struct sp__retype *r)
{
	const struct sp__value_type *t = &r->to->type;
	int rc = 0;

	r->texts->bytes = 0;
	for (uint32_t i = 0; !rc && i < r->n; i++) {
		uint8_t *to = r->values + (size_t)i * t->bytes;
		struct sp__slice text = { 0 };

		if (!text_of(r, i, &text))
			rc = put_null(r, i, to);
		else if (t->kind == 't')
			rc = put_text(r, i, &text);
		else if (t->kind == 'w')
			rc = put_word(r, &text, to);
		else
			rc = put_number(r, &text, to);
		r->bad = i;
		r->text = text;
	}
	return rc;
}
