/* SPDX-License-Identifier: MIT */
/*
 * Finds the bytes of a line that are a key.
 *
 * With a separator, field n lies between the separators n and n + 1.  Without, each field is a run
 * of blanks and the following run of other bytes: the leading blanks belong to the field.  A
 * position past the end of the line is the end of the line; a key that would end before it begins
 * is empty.
 *
 * If the key ends in the same or a later field, as nearly all keys do, one walk finds both ends.
 */
#include "rec/keyset.h"

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

const char *sp__field_begin(const struct sp_keyset *ks, const struct sp_key *k, const char *rec,
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
	       end_after(ks, k, rec, lim, k->eword) < sp__field_begin(ks, k, rec, bytes);
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
