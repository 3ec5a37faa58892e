/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include "base/err.h"
#include "join/binary.h"

static bool is_integer(const struct sp_key *f)
{
	return f->type == SP_KEY_UINT || f->type == SP_KEY_INT;
}

static bool has_width(const struct sp_key *f)
{
	size_t n = f->length;

	if (is_integer(f))
		return n == 1 || n == 2 || n == 4 || n == 8;
	return f->type == SP_KEY_FLOAT ? n == 4 || n == 8 : f->type == SP_KEY_BYTES && n;
}

static int bad(struct sp_errinfo *err, const char *what)
{
	return sp__errf(err, -EINVAL, "key", NULL, -1, "%s", what);
}

static int check_field(const struct sp_join_opts *o, int side, size_t field, struct sp_errinfo *err)
{
	const struct sp_key *f = &o->fields[field];

	if (!has_width(f))
		return bad(err, "a field has a length that its type has not");
	if (f->length > o->fixed_bytes[side] || f->offset > o->fixed_bytes[side] - f->length)
		return sp__errf(err, -EINVAL, "key", NULL, -1,
				"a field lies outside the records of file %d", side + 1);
	return 0;
}

/* Can two fields ever be equal? */
static int check_pair(const struct sp_key *a, const struct sp_key *b, struct sp_errinfo *err)
{
	if (is_integer(a) ? !is_integer(b) : a->type != b->type)
		return bad(err, "fields of the keys have different types");
	if (a->type == SP_KEY_BYTES && a->length != b->length)
		return sp__errf(err, -EINVAL, "key", NULL, -1,
				"fields of the keys have different lengths: %zu, %zu", a->length,
				b->length);
	return 0;
}

int sp__binary_check(const struct sp_join_opts *o, struct sp_errinfo *err)
{
	int rc = 0;

	if (!o->fixed_bytes[0] || !o->fixed_bytes[1] || !o->fields)
		return bad(err, "binary records of both files need a size, and a key");
	if (o->algorithm == SP_JOIN_MERGE || o->csv || o->header || o->auto_columns ||
	    o->ignore_case || o->types || o->collated)
		return bad(err, "what is asked for does not fit binary records");
	for (size_t i = 0; i < o->nkeys && !rc; i++) {
		rc = check_field(o, 0, o->keys[0][i], err);
		if (!rc)
			rc = check_field(o, 1, o->keys[1][i], err);
		if (!rc)
			rc = check_pair(&o->fields[o->keys[0][i]], &o->fields[o->keys[1][i]], err);
	}
	for (size_t i = 0; i < o->ncolumns && !rc; i++)
		if (o->columns[i].file)
			rc = check_field(o, (int)o->columns[i].file - 1, o->columns[i].field, err);
	return rc;
}

bool sp__binary_plain(const struct sp_join_opts *o)
{
	const struct sp_key *a = &o->fields[o->keys[0][0]], *b = &o->fields[o->keys[1][0]];

	return o->nkeys == 1 && a->type == b->type && a->length == b->length &&
	       (a->type == SP_KEY_BYTES ||
		(is_integer(a) && (a->length == 1 || a->big_endian == b->big_endian)));
}

static uint64_t load(const struct sp_key *f, const char *p)
{
	uint64_t v = 0;

	for (size_t i = 0; i < f->length; i++)
		v = v << 8 | (unsigned char)p[f->big_endian ? i : f->length - 1 - i];
	return v;
}

/* A float of 4 bytes as one of 8.  By its bits: the processor would make a NaN quiet. */
static uint64_t widened(uint32_t bits)
{
	uint64_t sign = (uint64_t)(bits >> 31) << 63, v;
	float narrow;
	double wide;

	if ((bits >> 23 & 0xff) == 0xff)
		return sign | UINT64_C(0x7ff) << 52 | (uint64_t)(bits & 0x7fffff) << 29;
	memcpy(&narrow, &bits, sizeof(narrow));
	wide = narrow;
	memcpy(&v, &wide, sizeof(v));
	return v;
}

size_t sp__binary_value(const struct sp_key *f, const char *number, char *to)
{
	uint64_t v = load(f, number), sign = UINT64_C(1) << (8 * f->length - 1);
	bool negative = f->type == SP_KEY_INT && (v & sign);

	if (f->type == SP_KEY_FLOAT) {
		v = f->length == 4 ? widened((uint32_t)v) : v;
		v = v << 1 ? v : 0;
	} else if (negative) {
		v |= ~(sign - 1);
	}
	memcpy(to, &v, sizeof(v));
	to[sizeof(v)] = negative;
	return sizeof(v) + 1;
}
