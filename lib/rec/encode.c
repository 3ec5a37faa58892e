/* SPDX-License-Identifier: MIT */
/*
 * Finds the text of a key in its record, and encodes keys as bytes: the components of a key set one
 * after the other.
 *
 * Invariants: each component is self-delimiting (keyset.h), so that the first difference between
 * two encodings lies in the first component that differs.  The last component can be a prefix of
 * another one, since the shorter of two byte strings comes first.  A reversed component is
 * complemented, terminator included, which reverses its order exactly.
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/minmax.h"
#include "rec/integer.h"
#include "rec/keyset.h"

/*
 * Fields of a line.  With a separator, field n lies between the separators n and n + 1.  Without,
 * each field is a run of blanks and the following run of other bytes: the leading blanks belong to
 * the field.  A position past the end of the line is the end of the line; a key that would end
 * before it begins is empty.
 *
 * If the key ends in the same or a later field, as nearly all keys do, one walk finds both ends.
 */

/* Skips n fields; with a separator, the separators too. */
static inline const char *skip_fields(const struct sp_keyset *ks, const char *p, const char *lim,
				      size_t n)
{
	if (!n)
		return p;
	if (ks->separator >= 0) {
		p = sp__find_nth(p, lim, (char)ks->separator, n);
		return p < lim ? p + 1 : lim;
	}
	while (p < lim && n--) {
		p = sp__skip_blanks(ks, p, lim);
		while (p < lim && !ks->ctab.blank[(unsigned char)*p])
			p++;
	}
	return p;
}

static inline const char *advance(const char *p, const char *lim, size_t n)
{
	return (size_t)(lim - p) < n ? lim : p + n;
}

/* Moves from the start of the key's field to the start of the key. */
static inline const char *begin_in(const struct sp_keyset *ks, const struct sp_key *k,
				   const char *field, const char *lim)
{
	if (k->skip_start_blanks)
		field = sp__skip_blanks(ks, field, lim);
	return advance(field, lim, k->schar);
}

/* Moves from the start of a field, `fields` before the last, to the end of the key. */
static inline const char *end_after(const struct sp_keyset *ks, const struct sp_key *k,
				    const char *field, const char *lim, size_t fields)
{
	if (!k->echar) {
		/* The whole last field, without the separator after it. */
		if (ks->separator >= 0)
			return sp__find_nth(field, lim, (char)ks->separator, fields + 1);
		return skip_fields(ks, field, lim, fields + 1);
	}
	field = skip_fields(ks, field, lim, fields);
	if (k->skip_end_blanks)
		field = sp__skip_blanks(ks, field, lim);
	return advance(field, lim, k->echar);
}

/* Returns the beginning of key k in a line. */
static const char *field_begin(const struct sp_keyset *ks, const struct sp_key *k, const char *rec,
			       size_t bytes)
{
	const char *lim = rec + bytes;

	return begin_in(ks, k, skip_fields(ks, rec, lim, k->sword), lim);
}

bool sp__field_crosses(const struct sp_keyset *ks, const struct sp_key *k, const char *rec,
		       size_t bytes)
{
	const char *lim = rec + bytes;

	return k->eword != SP_KEY_NOEND &&
	       end_after(ks, k, rec, lim, k->eword) < field_begin(ks, k, rec, bytes);
}

void sp__field_extent(const struct sp_keyset *ks, const struct sp_key *k, const char *rec,
		      size_t bytes, const char **begin, const char **end)
{
	const char *lim = rec + bytes, *field = skip_fields(ks, rec, lim, k->sword);

	*begin = begin_in(ks, k, field, lim);
	if (k->eword == SP_KEY_NOEND)
		*end = lim;
	else if (k->eword >= k->sword)
		*end = end_after(ks, k, field, lim, k->eword - k->sword);
	else if (k->echar) /* its characters can reach into later fields */
		*end = end_after(ks, k, rec, lim, k->eword);
	else
		*end = *begin;
	if (*end < *begin)
		*end = *begin;
}

#define PART_BYTES ((size_t)64 << 10)

static struct sp__keybuf *scratch_of(struct sp__keybuf *buf)
{
	if (!buf->scratch)
		buf->scratch = calloc(1, sizeof(*buf->scratch));
	if (buf->scratch)
		buf->scratch->bytes = 0;
	return buf->scratch;
}

static int encode_random(const struct sp_keyset *ks, const char *s, size_t n,
			 struct sp__keybuf *buf)
{
	/* s can itself be in the first scratch buffer. */
	struct sp__keybuf *scratch = ks->hard ? scratch_of(buf) : NULL;

	if (ks->hard && (!scratch || !(scratch = scratch_of(scratch))))
		return -ENOMEM;
	if (sp__keybuf_reserve(buf, 16) ||
	    sp__random_digest(ks, s, n, scratch, buf->data + buf->bytes))
		return -ENOMEM;
	buf->bytes += 16;
	return 0;
}

/* Returns the maximum number of bytes that the type needs for n bytes of text. */
static size_t room_for(enum sp_key_type type, size_t n)
{
	switch (type) {
	case SP_KEY_NUMERIC:
	case SP_KEY_HUMAN:
		return SP__NUMBER_MAX(n) + 1;
	case SP_KEY_VERSION:
		return SP__VERSION_MAX(n);
	default:
		return SP__TEXT_MAX(n) + SP__GENERAL_MAX;
	}
}

static unsigned char *encode_typed(const struct sp_keyset *ks, const struct sp__comp *c,
				   const char *s, size_t n, unsigned char *out, size_t room)
{
	const char *end;

	switch (c->key.type) {
	case SP_KEY_NUMERIC:
		return sp__number_encode(ks, s, s + n, s + n, c->last && !c->key.reverse, false,
					 out, room);
	case SP_KEY_HUMAN:
		return sp__human_encode(ks, s, s + n, s + n, c->last && !c->key.reverse, false, out,
					room);
	case SP_KEY_GENERAL:
		return sp__general_encode(ks, s, n, out);
	case SP_KEY_MONTH:
		*out = (unsigned char)sp__month_of(ks, s, s + n, &end);
		return out + 1;
	case SP_KEY_VERSION:
		return sp__version_encode(s, n, out, room);
	case SP_KEY_TIME:
		return sp__moment_encode(s, n, out);
	default:
		if (c->last && !c->key.reverse && !c->cased)
			return sp__text_filter(c, s, n, out);
		return sp__text_delimit(c, s, n, out);
	}
}

/* Encodes part by part a plain text whose beginning is enough. */
static int encode_first(const struct sp_keyset *ks, const struct sp__comp *c, const char *s,
			size_t n, struct sp__keybuf *buf)
{
	const bool delimited = !c->last || c->key.reverse || c->cased;

	while (n && buf->bytes < SP__KEY_MAX) {
		size_t part = n < PART_BYTES ? n : PART_BYTES;

		if (sp__keybuf_reserve(buf, SP__TEXT_MAX(part)))
			return -ENOMEM;
		buf->bytes = (size_t)(encode_typed(ks, c, s, part, buf->data + buf->bytes, 0) -
				      buf->data);
		s += part;
		n -= part;
		/* Only the last part ends the text. */
		buf->bytes -= n && delimited;
	}
	return 0;
}

/* Appends the text of one key, without reversal. */
static int encode_text(const struct sp_keyset *ks, const struct sp__comp *c, const char *s,
		       size_t n, struct sp__keybuf *buf)
{
	size_t room, need;

	if (c->collated)
		return sp__collate_encode(ks->collate, s, n, buf);
	if (c->key.type == SP_KEY_RANDOM)
		return encode_random(ks, s, n, buf);
	need = room = room_for(c->key.type, n);
	if (__builtin_expect(n > SP__KEY_MAX, 0) && !buf->uncut) {
		if (c->key.type == SP_KEY_TEXT)
			return encode_first(ks, c, s, n, buf);
		room = SP__KEY_MAX;
		need = 2 * room + SP__FREE_BEYOND;
	}
	if (sp__keybuf_reserve(buf, need))
		return -ENOMEM;
	buf->bytes = (size_t)(encode_typed(ks, c, s, n, buf->data + buf->bytes, room) - buf->data);
	return 0;
}

/* Rewrites the text by -f, -d and -i, before any type except plain text reads it. */
static int rewrite(const struct sp__comp *c, struct sp__keybuf *own, const char **s, size_t *n)
{
	bool inside = own && *s == (const char *)own->data;

	if (!own || (!inside && sp__keybuf_reserve(own, *n + 1)))
		return -ENOMEM;
	/* The result is never longer, so it can be in place. */
	*n = (size_t)(sp__text_filter(c, *s, *n, own->data) - own->data);
	*s = (const char *)own->data;
	return 0;
}

/* Finds the text of a value of JSON: without escapes, or in own. */
static int text_of(const struct sp__comp *c, const struct sp__json_value *v, struct sp__keybuf *own,
		   const char **s, size_t *n)
{
	bool decode;

	*s = sp__json_slice(v, n, &decode);
	if (decode) {
		if (!own || sp__keybuf_reserve(own, *n + 1))
			return -ENOMEM;
		*n = sp__json_text(v, (char *)own->data, *n);
		*s = (char *)own->data;
	}
	return c->rewritten ? rewrite(c, own, s, n) : 0;
}

static int json_text(const struct sp_keyset *ks, const struct sp__comp *c, const char *rec,
		     size_t bytes, struct sp__keybuf *own, const char **s, size_t *n)
{
	struct sp__json_value values[SP__JSON_KEYS];
	struct sp__json_error unused;

	*s = rec;
	*n = 0;
	if (sp__json_find(ks->json, rec, bytes, SP__JSON_CHECK_FOUND, values, &unused))
		return SP_EFORMAT;
	if (own)
		own->bytes = 0;
	return text_of(c, &values[c->path], own, s, n);
}

int sp__key_text(const struct sp_keyset *ks, const struct sp__comp *c, const char *rec,
		 size_t bytes, struct sp__keybuf *own, const char **s, size_t *n)
{
	const char *end;

	if (ks->json)
		return json_text(ks, c, rec, bytes, own, s, n);
	if (ks->pub.format.kind != SP_REC_CSV || c->whole) {
		sp__field_extent(ks, &c->key, rec, bytes, s, &end);
		*n = (size_t)(end - *s);
	} else if (!sp__csv_slice(&c->key, (char)ks->separator, rec, bytes, s, n)) {
		*s = rec;
		*n = bytes;
		if (!own || sp__keybuf_reserve(own, 1) ||
		    sp__csv_key(&c->key, (char)ks->separator, rec, bytes, own))
			return -ENOMEM;
		*s = (const char *)own->data;
		*n = own->bytes;
	}
	return c->rewritten ? rewrite(c, own, s, n) : 0;
}

/* Appends a byte that orders empty texts before or after others, and is not reversed. */
static int encode_empty(const struct sp_key *k, bool empty, struct sp__keybuf *buf)
{
	if (sp__keybuf_reserve(buf, 1))
		return -ENOMEM;
	buf->data[buf->bytes++] = empty == (k->empty == SP_EMPTY_LAST);
	return 0;
}

static void reverse(struct sp__keybuf *buf, size_t start)
{
	for (size_t i = start; i < buf->bytes; i++)
		buf->data[i] ^= 0xFF;
}

static int encode_one(const struct sp_keyset *ks, const struct sp__comp *c, const char *rec,
		      size_t bytes, struct sp__keybuf *buf)
{
	bool owns = c->rewritten || ks->pub.format.kind == SP_REC_CSV;
	size_t start, n;
	const char *s;
	int rc = sp__key_text(ks, c, rec, bytes, owns ? scratch_of(buf) : NULL, &s, &n);

	if (!rc && c->key.empty)
		rc = encode_empty(&c->key, !n, buf);
	start = buf->bytes;
	if (!rc)
		rc = encode_text(ks, c, s, n, buf);
	if (!rc && c->key.reverse)
		reverse(buf, start);
	return rc;
}

static int encode_value(const struct sp_keyset *ks, const struct sp__comp *c,
			const struct sp__json_value *v, struct sp__keybuf *buf)
{
	const bool typed = c->typed;
	const char *s = NULL;
	size_t start, n = 0;
	int rc = typed ? 0 : text_of(c, v, scratch_of(buf), &s, &n);

	if (!rc && c->key.empty)
		rc = encode_empty(&c->key, typed ? v->kind <= SP__JSON_NULL : !n, buf);
	start = buf->bytes;
	if (rc)
		return rc;
	if (typed)
		rc = sp__json_encode(v, buf);
	else if (c->key.type == SP_KEY_NUMERIC)
		rc = sp__json_encode_numeric(s, n, buf);
	else
		rc = encode_text(ks, c, s, n, buf);
	if (!rc && c->key.reverse)
		reverse(buf, start);
	return rc;
}

/* Encodes keys of JSON; all are found by one pass over the record. */
static int encode_json(const struct sp_keyset *ks, const char *rec, size_t bytes,
		       struct sp__keybuf *buf)
{
	struct sp__json_value values[SP__JSON_KEYS];
	struct sp__json_error unused;
	int rc = sp__json_values(ks, rec, bytes, buf, values, &unused);

	buf->null = false;
	for (size_t i = 0; i < ks->nkeys && !rc && (buf->bytes < SP__KEY_MAX || buf->uncut); i++) {
		const struct sp__json_value *v = &values[ks->comp[i].path];

		buf->null |= v->kind <= SP__JSON_NULL;
		rc = encode_value(ks, &ks->comp[i], v, buf);
	}
	return rc;
}

static int encode_all(const struct sp_keyset *ks, const char *rec, size_t bytes,
		      struct sp__keybuf *buf)
{
	int rc = 0;

	for (size_t i = 0; i < ks->nkeys && !rc && (buf->bytes < SP__KEY_MAX || buf->uncut); i++)
		rc = encode_one(ks, &ks->comp[i], rec, bytes, buf);
	return rc;
}

static int encode_fixed(const struct sp_keyset *ks, const char *rec, size_t bytes,
			struct sp__keybuf *buf)
{
	int rc = 0;

	(void)bytes;
	for (size_t i = 0; i < ks->nkeys && !rc; i++)
		rc = sp__bkey_encode(&ks->comp[i].key, rec, buf);
	return rc;
}

/* Encodes a set of one key in lines, a number that ends itself, so its end need not be found. */
static int encode_number(const struct sp_keyset *ks, const char *rec, size_t bytes,
			 struct sp__keybuf *buf)
{
	const struct sp_key *k = &ks->comp[0].key;
	const char *s = field_begin(ks, k, rec, bytes);
	const char *reach = rec + sp__max(bytes, buf->reach);
	size_t room = SP__NUMBER_MAX(bytes);

	if (__builtin_expect(bytes > SP__KEY_MAX, 0) && !buf->uncut)
		room = SP__KEY_MAX;
	if (sp__keybuf_reserve(buf, room + SP__FREE_BEYOND))
		return -ENOMEM;
	buf->bytes = (size_t)((k->type == SP_KEY_HUMAN ? sp__human_encode : sp__number_encode)(
				      ks, s, rec + bytes, reach, !k->reverse, k->reverse, buf->data,
				      room) -
			      buf->data);
	return 0;
}

/* Encodes a short number at the beginning of a line; false: not encoded. */
static inline bool encode_plain(const struct sp_keyset *ks, const char *rec, size_t bytes,
				struct sp__keybuf *buf)
{
	const struct sp_key *k = &ks->comp[0].key;
	const char *lim = rec + bytes, *reach = rec + sp__max(bytes, buf->reach);
	const unsigned char flip = k->reverse ? 0xFF : 0;
	unsigned char *end = NULL;
	unsigned digits = 0;

	if (buf->capacity < SP__INTEGER_SIZE)
		return false;
	if (k->type == SP_KEY_HUMAN)
		end = sp__human_short(&ks->numfmt, rec, lim, reach, flip, buf->data);
	else
		end = sp__integer_encode(&ks->numfmt, rec, lim, reach, k->reverse, flip, buf->data,
					 &digits);
	if (!end)
		return false;
	buf->bytes = (size_t)(end - buf->data);
	buf->tells = digits == bytes && buf->bytes <= 8;
	return true;
}

/* Encodes a set of one key that is the unchanged line, so no field must be found. */
static int encode_line(const struct sp_keyset *ks, const char *rec, size_t bytes,
		       struct sp__keybuf *buf)
{
	const struct sp__comp *c = &ks->comp[0];
	int rc = encode_text(ks, c, rec, bytes, buf);

	/*
	 * True if no byte is dropped; then there is no NUL either, which would look like padding.
	 */
	buf->tells = c->drop && !c->fold && bytes <= 8 && buf->bytes == bytes;
	return rc;
}

/* Encodes a folded line, and the bits that the last resort would compare. */
static int encode_cased(const struct sp_keyset *ks, const char *rec, size_t bytes,
			struct sp__keybuf *buf)
{
	const struct sp__comp *c = &ks->comp[0];

	if (__builtin_expect(bytes > SP__KEY_MAX, 0) && !buf->uncut)
		return encode_text(ks, c, rec, bytes, buf);
	if (sp__keybuf_reserve(buf, SP__CASED_MAX(bytes)))
		return -ENOMEM;
	buf->bytes = (size_t)(sp__text_cased(c, c->ascii, rec, bytes, sp__max(bytes, buf->reach),
					     buf->data) -
			      buf->data);
	buf->tells = buf->bytes <= 8;
	return 0;
}

int sp__key_encode(const struct sp_keyset *ks, const char *rec, size_t bytes,
		   struct sp__keybuf *buf)
{
	const size_t skip = ks->pub.skip;
	int rc = 0;

	rec += skip;
	bytes -= skip;
	buf->reach -= sp__min(buf->reach, skip);
	if (!ks->plain || !encode_plain(ks, rec, bytes, buf)) {
		buf->bytes = 0;
		buf->tells = false;
		rc = ks->encode(ks, rec, bytes, buf);
	}
	buf->tells &= !skip;
	if (__builtin_expect(bytes > SP__KEY_MAX, 0))
		sp__keybuf_release_scratch(buf);
	if (__builtin_expect(buf->bytes > SP__KEY_MAX, 0) && !buf->uncut)
		buf->bytes = SP__KEY_MAX;
	return rc;
}

void sp__encode_choose(struct sp_keyset *ks)
{
	if (ks->pub.format.kind == SP_REC_FIXED)
		ks->encode = encode_fixed;
	else if (ks->pub.format.json && ks->comp[0].key.path)
		ks->encode = encode_json;
	else if (ks->nkeys == 1 && ks->comp[0].self_ending)
		ks->encode = encode_number;
	else if (ks->comp[0].cased)
		ks->encode = encode_cased;
	else if (ks->nkeys == 1 && ks->comp[0].line)
		ks->encode = encode_line;
	else
		ks->encode = encode_all;
	ks->pub.encode_checks = ks->encode == encode_json && !ks->pub.format.objects;
	ks->plain = ks->encode == encode_number && !ks->comp[0].key.sword && !ks->comp[0].key.schar;
}
