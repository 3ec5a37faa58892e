/* SPDX-License-Identifier: MIT */
/* Makes keys that are equal exactly if their bytes are (keying.h). */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "join/keys/keying.h"

/* Maximum bytes of a binary number's value. */
#define VALUE_BYTES 9

/* Behind the key of a text without a value of the type of its key. */
#define TEXT_MARK '\0'

void sp__join_cut(struct sp__cut *cut, const struct sp_join_opts *opts)
{
	if (opts->fixed_bytes[0])
		*cut = (struct sp__cut){ .kind = SP__CUT_FIXED, .fixed = opts->fields };
	else if (opts->json)
		sp__cut_init(cut, "\n", 1, false); /* a record is one field */
	else
		sp__cut_init(cut, opts->separator, opts->separator_bytes, opts->csv);
}

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
		return bad(err, "a field has a length that its type does not have");
	if (f->length > o->fixed_bytes[side] || f->offset > o->fixed_bytes[side] - f->length)
		return sp__errf(err, -EINVAL, "key", NULL, -1,
				"a field lies outside the records of file %d", side + 1);
	return 0;
}

/* Checks that two fields can be equal. */
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
		return bad(err, "binary records need a size and a key for both files");
	if (o->algorithm == SP_JOIN_MERGE || o->csv || o->header || o->auto_columns ||
	    o->ignore_case || o->types || o->collated)
		return bad(err, "these options cannot be used with binary records");
	for (size_t i = 0; i < o->nkeys && !rc; i++) {
		rc = check_field(o, 0, o->keys[0][i], err);
		if (!rc)
			rc = check_field(o, 1, o->keys[1][i], err);
		if (!rc)
			rc = check_pair(&o->fields[o->keys[0][i]], &o->fields[o->keys[1][i]], err);
	}
	for (size_t i = 0; i < o->ncolumns && !rc; i++)
		if (o->columns[i].file > 2)
			rc = bad(err, "binary records need exactly two files");
		else if (o->columns[i].file)
			rc = check_field(o, (int)o->columns[i].file - 1, o->columns[i].field, err);
	return rc;
}

/* True if the key is one field whose values are equal exactly if its bytes are. */
static bool binary_plain(const struct sp_join_opts *o)
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

/* Widens a float of 4 bytes to 8 by its bits, since the processor would make a NaN quiet. */
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

/* Writes a number's value as bytes, equal if the values are; returns their count. */
static size_t binary_value(const struct sp_key *f, const char *number, char *to)
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

/* The key set that encodes a text consisting of one field. */
static int set_of_type(struct sp_keyset **set, const struct sp_key *type, struct sp_errinfo *err)
{
	struct sp_key key = SP_KEY_INIT;
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				    .keys = &key,
				    .nkeys = 1,
				    .separator = -1,
				    .stable = true };

	key.type = type->type;
	key.fold = type->fold;
	return sp_keyset_new(set, &o, err);
}

int sp__json_keyset(struct sp_keyset **set, const struct sp_join_opts *opts, int side,
		    const struct sp_recfmt *format, struct sp_errinfo *err)
{
	struct sp_keyset_opts o = {
		.format = *format, .nkeys = opts->nkeys, .separator = -1, .stable = true
	};
	struct sp_key *keys = malloc(opts->nkeys * sizeof(*keys));
	int rc;

	if (!keys)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < opts->nkeys; i++) {
		keys[i] = (struct sp_key)SP_KEY_INIT;
		keys[i].path = opts->paths[side][i];
	}
	o.keys = keys;
	rc = sp_keyset_new(set, &o, err);
	free(keys);
	return rc;
}

static int init_json(struct sp__keying *k, struct sp_errinfo *err)
{
	const struct sp_recfmt format = { .kind = SP_REC_LINE, .eol = '\n', .json = true };
	int rc = 0;

	for (int side = 0; side < 2 && !rc; side++)
		rc = sp__json_keyset(&k->json[side], k->opts, side, &format, err);
	return rc;
}

int sp__keying_init(struct sp__keying *k, const struct sp__cut *cut,
		    const struct sp_join_opts *opts, struct sp_errinfo *err)
{
	bool typed = false;
	int rc = 0;

	*k = (struct sp__keying){ .opts = opts,
				  .cut = cut,
				  .collated = sp__collate_hard() ? opts->collated : NULL };
	if (opts->json)
		return init_json(k, err);
	k->sets = calloc(k->opts->nkeys, sizeof(*k->sets));
	if (!k->sets)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < k->opts->nkeys; i++)
		typed |= k->collated && k->collated[i];
	for (size_t i = 0; i < k->opts->nkeys && k->opts->types && !rc; i++) {
		typed |= k->opts->types[i].type != SP_KEY_TEXT || k->opts->types[i].fold;
		if (k->opts->types[i].type != SP_KEY_TEXT)
			rc = set_of_type(&k->sets[i], &k->opts->types[i], err);
	}
	k->plain =
		k->opts->nkeys == 1 && !k->opts->ignore_case && !typed && cut->kind != SP__CUT_CSV;
	if (cut->kind == SP__CUT_FIXED)
		k->plain = binary_plain(opts);
	return rc;
}

void sp__keying_release(struct sp__keying *k)
{
	for (size_t i = 0; k->sets && i < k->opts->nkeys; i++)
		sp_keyset_free(k->sets[i]);
	free(k->sets);
	k->sets = NULL;
	for (int side = 0; side < 2; side++) {
		sp_keyset_free(k->json[side]);
		k->json[side] = NULL;
	}
}

void sp__keymem_release(struct sp__keymem *mem)
{
	sp__keybuf_release(&mem->value);
	free(mem->data);
	*mem = (struct sp__keymem){ 0 };
}

static int reserve(struct sp__keymem *mem, size_t more)
{
	return SP__ARRAY_GROW(mem->data, mem->capacity, mem->bytes + more) ? 0 : -ENOMEM;
}

/* Copies a field without the quotes of CSV; returns the end. */
static char *copy_field(const struct sp__keying *k, const struct sp__slice *f, bool fold, char *to)
{
	char *end = k->cut->kind != SP__CUT_CSV
			    ? mempcpy(to, f->p, f->n)
			    : (char *)sp__csv_unquote(f->p, f->p + f->n, (unsigned char *)to);

	for (char *p = to; fold && p < end; p++)
		*p = (char)k->cut->upper[(unsigned char)*p];
	return end;
}

/* Appends the key of a field of a binary record. */
static int append_binary(const struct sp_key *field, const struct sp__slice *f,
			 struct sp__keymem *mem)
{
	char *to;

	if (reserve(mem, f->n + VALUE_BYTES) < 0)
		return -ENOMEM;
	to = mem->data + mem->bytes;
	if (field->type == SP_KEY_BYTES)
		memcpy(to, f->p, f->n);
	mem->bytes += field->type == SP_KEY_BYTES ? f->n : binary_value(field, f->p, to);
	return 0;
}

/* Appends a key that is equal for texts that are equal under strcoll(). */
static int append_part(const char *part, struct sp__keymem *mem)
{
	size_t unused = mem->capacity - mem->bytes, n;

	n = strxfrm(unused ? mem->data + mem->bytes : NULL, part, unused);
	if (n >= unused) {
		if (reserve(mem, n + 1) < 0)
			return -ENOMEM;
		strxfrm(mem->data + mem->bytes, part, n + 1);
	}
	mem->bytes += n + 1;
	return 0;
}

/* Collates the text from `from` to the memory's end, part by part between NULs. */
static int collate_text(struct sp__keymem *mem, size_t from)
{
	struct sp__keybuf *text = &mem->value;
	size_t n = mem->bytes - from;
	int rc = 0;

	text->bytes = 0;
	if (sp__keybuf_reserve(text, n + 1) < 0)
		return -ENOMEM;
	memcpy(text->data, mem->data + from, n);
	text->data[n] = '\0';
	mem->bytes = from;
	for (size_t at = 0; at <= n && !rc; at += strlen((char *)text->data + at) + 1)
		rc = append_part((char *)text->data + at, mem);
	return rc;
}

/*
 * Replaces a text of n bytes at the memory's end by the key of its value.  If it has no value, the
 * key of such texts is followed by a mark and by the text, which no key of a value continues with.
 */
static int append_value(const struct sp_keyset *set, size_t n, struct sp__keymem *mem)
{
	char *text = mem->data + mem->bytes;
	bool valued = sp__key_has_value(set, text, n);
	size_t bytes;

	mem->value.uncut = true;
	if (sp__key_encode(set, text, n, &mem->value) < 0)
		return -ENOMEM;
	bytes = mem->value.bytes;
	if (reserve(mem, bytes + 1 + n) < 0)
		return -ENOMEM;
	text = mem->data + mem->bytes;
	if (!valued) {
		memmove(text + bytes + 1, text, n);
		text[bytes] = TEXT_MARK;
	}
	if (bytes)
		memcpy(text, mem->value.data, bytes);
	mem->bytes += valued ? bytes : bytes + 1 + n;
	return 0;
}

/* Appends the key of field i, whose text is f. */
static int append(const struct sp__keying *k, size_t i, const struct sp__slice *f,
		  struct sp__keymem *mem)
{
	bool fold = k->opts->ignore_case || (k->opts->types && k->opts->types[i].fold);
	char *to;

	/* Reserves at least a byte, so an empty text has an address. */
	if (reserve(mem, f->n + 1) < 0)
		return -ENOMEM;
	to = mem->data + mem->bytes;
	if (!k->sets[i]) {
		size_t from = mem->bytes;

		mem->bytes = (size_t)(copy_field(k, f, fold, to) - mem->data);
		return k->collated && k->collated[i] ? collate_text(mem, from) : 0;
	}
	return append_value(k->sets[i], (size_t)(copy_field(k, f, fold, to) - to), mem);
}

/* Appends the key of a record of JSON. */
static int append_json(const struct sp__keying *k, int side, const char *line, size_t bytes,
		       struct sp__keymem *mem)
{
	struct sp__keybuf *value = &mem->value;

	value->uncut = true;
	/* The scan has checked the record, so memory is all that can be missing. */
	if (sp__key_encode(k->json[side], line, bytes, value) < 0 ||
	    reserve(mem, value->bytes + 1) < 0)
		return -ENOMEM;
	if (value->null) {
		mem->data[mem->bytes++] = (char)side;
		return 0;
	}
	memcpy(mem->data + mem->bytes, value->data, value->bytes);
	mem->bytes += value->bytes;
	return 0;
}

int sp__key_make(const struct sp__keying *k, int side, const char *line, size_t bytes,
		 struct sp__keymem *mem, size_t *begin)
{
	*begin = mem->bytes;
	if (k->opts->json)
		return append_json(k, side, line, bytes, mem);
	for (size_t i = 0; i < k->opts->nkeys; i++) {
		struct sp__slice f;
		size_t at = mem->bytes;
		uint32_t n;
		int rc;

		sp__field_find(k->cut, line, bytes, k->opts->keys[side][i], &f);
		/* The length before it distinguishes ("ab", "c") from ("a", "bc"). */
		if (k->opts->nkeys > 1 && reserve(mem, sizeof(n)) < 0)
			return -ENOMEM;
		mem->bytes += k->opts->nkeys > 1 ? sizeof(n) : 0;
		rc = k->cut->kind == SP__CUT_FIXED
			     ? append_binary(&k->cut->fixed[k->opts->keys[side][i]], &f, mem)
			     : append(k, i, &f, mem);
		if (rc < 0)
			return rc;
		n = (uint32_t)(mem->bytes - at - sizeof(n));
		if (k->opts->nkeys > 1)
			memcpy(mem->data + at, &n, sizeof(n));
	}
	return 0;
}

int sp__key_find(const struct sp__keying *k, int side, const char *line, size_t bytes,
		 struct sp__keymem *mem, struct sp__slice *key)
{
	size_t begin;

	if (k->plain) {
		sp__field_find(k->cut, line, bytes, k->opts->keys[side][0], key);
		return 0;
	}
	mem->bytes = 0;
	if (sp__key_make(k, side, line, bytes, mem, &begin) < 0)
		return -ENOMEM;
	*key = (struct sp__slice){ mem->bytes ? mem->data : sp__no_field, mem->bytes };
	return 0;
}
