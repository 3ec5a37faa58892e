/* SPDX-License-Identifier: MIT */
/*
 * Parses and writes headers of .npy files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/input/literal.h"
#include "cube/input/npy.h"
#include "rec/value.h"

#define UNIT 64 /* data begins at a multiple of this */

/* Before the text: magic, version, and its length, of two or four bytes. */
static unsigned text_begin(const uint8_t *p)
{
	return p[6] == 1 ? 10 : 12;
}

uint64_t sp__npy_header_bytes(const uint8_t *p)
{
	uint64_t bytes;

	if (memcmp(p, SP__NPY_MAGIC, SP__NPY_MAGIC_BYTES) != 0 || !p[6] || p[6] > 3 || p[7])
		return 0;
	bytes = p[8] + ((uint64_t)p[9] << 8);
	if (p[6] > 1)
		bytes += ((uint64_t)p[10] << 16) + ((uint64_t)p[11] << 24);
	if (bytes > SP__NPY_TEXT_MAX)
		return 0;
	bytes += text_begin(p);
	return bytes < SP__NPY_PREFIX ? 0 : bytes;
}

/* Names of types in NumPy other than a letter and a size. */
static const struct {
	const char *name, *plain;
} names[] = {
	{ "byte", "i1" },      { "ubyte", "u1" },  { "short", "i2" },	{ "ushort", "u2" },
	{ "intc", "i4" },      { "uintc", "u4" },  { "int", "i8" },	{ "uint", "u8" },
	{ "int_", "i8" },      { "long", "i8" },   { "ulong", "u8" },	{ "longlong", "i8" },
	{ "ulonglong", "u8" }, { "intp", "i8" },   { "uintp", "u8" },	{ "single", "f4" },
	{ "double", "f8" },    { "float", "f8" },  { "int8", "i1" },	{ "uint8", "u1" },
	{ "int16", "i2" },     { "uint16", "u2" }, { "int32", "i4" },	{ "uint32", "u4" },
	{ "int64", "i8" },     { "uint64", "u8" }, { "float32", "f4" }, { "float64", "f8" },
};

/* Types of one letter, which can follow a byte order, too. */
static const char letters[][4] = { "bi1", "Bu1", "hi2", "Hu2", "ii4", "Iu4", "li8", "Lu8",
				   "qi8", "Qu8", "ni8", "Nu8", "pi8", "Pu8", "ff4", "df8" };

/* Translates all names of a type in NumPy to a letter and a size. */
static const char *plain_type(const char *word, bool ordered)
{
	for (size_t i = 0; !word[1] && i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i][0] == word[0])
			return letters[i] + 1;
	for (size_t i = 0; !ordered && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, word))
			return names[i].plain;
	return word;
}

/* A type of elements, as .npy files name it. */
struct npy_type {
	char kind; /* a kind of struct sp__value_type, or another letter of NumPy */
	uint64_t bytes;
	bool big_endian;
};

/* False: the text is not a letter and a size. */
static bool read_type(const struct sp__literal *descr, struct npy_type *t)
{
	char *end, word[SP__LITERAL_TEXT_MAX + 1] = { 0 };
	const char *type;
	bool ordered;

	if (descr->bytes > SP__LITERAL_TEXT_MAX || strlen(descr->text) < descr->bytes)
		return false;
	memcpy(word, descr->text, descr->bytes);
	ordered = word[0] && strchr("<>|=", word[0]);
	type = plain_type(word + ordered, ordered);
	t->big_endian = word[0] == '>';
	t->kind = type[0];
	t->bytes = type[0] >= 'A' ? strtoul(type + 1, &end, 10) : 0;
	return type[0] >= 'A' && end != type + 1 && !*end;
}

static bool same_type(const struct sp__literal *descr, const struct sp_cube_shape *s,
		      bool *big_endian)
{
	struct npy_type t = { 0 };
	bool same = read_type(descr, &t) && t.kind == sp__value_types[s->type].kind &&
		    t.bytes == s->element_bytes;

	*big_endian = t.big_endian;
	return same;
}

/* Sets the type of a shape.  False: cubes have no such type. */
static bool take_type(const struct sp__literal *descr, struct sp_cube_shape *s)
{
	struct npy_type t;
	bool found = false;

	if (!read_type(descr, &t) || !t.bytes || t.bytes > SP_CUBE_ELEMENT_MAX)
		return false;
	for (unsigned i = SP_CUBE_BYTES; !found && i <= SP_CUBE_F64; i++) {
		found = sp__value_types[i].kind == t.kind &&
			(i == SP_CUBE_BYTES || sp__value_types[i].bytes == t.bytes);
		s->type = (enum sp_cube_type)i;
	}
	s->element_bytes = (uint32_t)t.bytes;
	return found;
}

static bool same_shape(const struct sp__literal *dims, struct sp_cube_shape *s)
{
	if (dims->nitems != s->ndims)
		return false;
	for (unsigned i = 0; i < s->ndims; i++) {
		uint64_t n = dims->items[i];

		if (!n || n == UINT64_MAX || (s->dims[i] && n != s->dims[i]))
			return false;
		s->dims[i] = n;
	}
	return true;
}

struct entries {
	bool has[3];
	struct sp__literal descr, order, dims;
};

static bool is_key(const struct sp__literal *key, const char *name)
{
	return key->kind == SP__LITERAL_STRING && key->bytes == strlen(name) &&
	       !memcmp(key->text, name, key->bytes);
}

/* Takes an entry; of several with one key the last one is valid. */
static bool take_entry(void *arg, const struct sp__literal *key, const struct sp__literal *value)
{
	static const char *const keys[] = { "descr", "fortran_order", "shape" };
	struct entries *e = arg;
	struct sp__literal *to[] = { &e->descr, &e->order, &e->dims };

	for (unsigned i = 0; i < 3; i++)
		if (is_key(key, keys[i])) {
			e->has[i] = true;
			*to[i] = *value;
			return true;
		}
	return false;
}

/* Version 3 is UTF-8; the others are Latin-1, where each byte is a character. */
static bool is_utf8(const uint8_t *text, uint64_t bytes)
{
	unsigned more = 0;

	for (uint64_t i = 0; i < bytes; i++) {
		uint8_t c = text[i];

		if (more ? c >> 6 != 2 : c >= 0x80 && (c < 0xc2 || c > 0xf4))
			return false;
		more = more ? more - 1 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc2;
	}
	return !more;
}

/* Reads the dictionary of a header.  Returns NULL, or the reason why it is wrong. */
static const char *read_entries(const uint8_t *header, uint64_t bytes, struct entries *e)
{
	uint64_t prefix = text_begin(header), n = bytes - prefix;
	const char *text = (const char *)header + prefix;

	*e = (struct entries){ .has = { false } };
	if ((header[6] == 3 && !is_utf8(header + prefix, n)) ||
	    !sp__literal_dict(text, n, header[6] < 3, take_entry, e) || !e->has[0] || !e->has[1] ||
	    !e->has[2])
		return "the header is not a dictionary of descr, fortran_order and shape";
	if (e->order.kind != SP__LITERAL_BOOL)
		return "fortran_order is neither True nor False";
	if (e->dims.kind != SP__LITERAL_TUPLE)
		return "shape is not a tuple of integers";
	return NULL;
}

const char *sp__npy_parse(const uint8_t *header, uint64_t bytes, struct sp_cube_shape *shape,
			  struct sp_cube_load_opts *opts)
{
	struct entries e;
	const char *reason = read_entries(header, bytes, &e);

	if (reason)
		return reason;
	if (e.descr.kind != SP__LITERAL_STRING || !same_type(&e.descr, shape, &opts->big_endian))
		return "the elements of the .npy file have another type than those of the cube";
	if (!same_shape(&e.dims, shape))
		return "the .npy file has another shape than the cube";
	opts->ordered = true;
	opts->offset = bytes;
	for (unsigned i = 0; i < shape->ndims; i++)
		opts->order[i] = e.order.number ? i : shape->ndims - 1 - i;
	return NULL;
}

/* descr: NULL: a list of fields. */
static int unsupported_type(const struct sp__literal *descr, const char *name,
			    struct sp_errinfo *err)
{
	char quoted[SP__LITERAL_TEXT_MAX + 3] = "of several fields";

	if (descr)
		snprintf(quoted, sizeof(quoted), "'%.*s'",
			 (int)sp__min(descr->bytes, (size_t)SP__LITERAL_TEXT_MAX), descr->text);
	return sp__errf(err, SP_EUNSUP, "read", name, -1,
			"the dtype %s is not supported: supported are i1, i2, i4, i8, u1, u2, u4, "
			"u8, f4, f8 and V of at most %u bytes; convert the array by astype()",
			quoted, SP_CUBE_ELEMENT_MAX);
}

int sp__npy_shape(const uint8_t *header, uint64_t bytes, const char *name,
		  struct sp_cube_shape *shape, struct sp_errinfo *err)
{
	struct entries e;
	const char *reason = read_entries(header, bytes, &e);

	if (reason && memmem(header, bytes, "'descr': [", 10))
		return unsupported_type(NULL, name, err);
	if (reason || e.descr.kind != SP__LITERAL_STRING)
		return sp__errf(err, SP_EFORMAT, "read", name, -1, "%s",
				reason ? reason : "descr is not a text");
	if (!take_type(&e.descr, shape))
		return unsupported_type(&e.descr, name, err);
	if (!e.dims.nitems || e.dims.nitems > SP_CUBE_DIMS_MAX)
		return sp__errf(err, SP_EUNSUP, "read", name, -1,
				"the array has %zu dimensions: a cube has 1 to %u", e.dims.nitems,
				SP_CUBE_DIMS_MAX);
	shape->ndims = (unsigned)e.dims.nitems;
	for (unsigned i = 0; i < shape->ndims; i++)
		shape->dims[i] = 0;
	if (!same_shape(&e.dims, shape))
		return sp__errf(err, SP_EUNSUP, "read", name, -1,
				"the array has no elements: a cube has at least one");
	return 0;
}

uint64_t sp__npy_write(uint8_t *header, const struct sp_cube_shape *shape,
		       const struct sp_cube_box *box)
{
	char *text = (char *)header + 10, kind = sp__value_types[shape->type].kind;
	size_t capacity = SP__NPY_HEADER_MAX - 10, n;
	uint32_t bytes = shape->element_bytes;

	n = (size_t)snprintf(text, capacity,
			     "{'descr': '%c%c%u', 'fortran_order': True, 'shape': (",
			     bytes == 1 || kind == 'V' ? '|' : '<', kind, bytes);
	for (unsigned i = 0; i < shape->ndims; i++)
		if (!(box->indexed >> i & 1) || sp__box_count(box, i) != 1)
			n += (size_t)snprintf(text + n, capacity - n, "%s%llu,",
					      text[n - 1] == '(' ? "" : " ",
					      (unsigned long long)sp__box_count(box, i));
	n += (size_t)snprintf(text + n, capacity - n, "), }");
	while ((10 + n + 1) % UNIT)
		text[n++] = ' ';
	text[n++] = '\n';
	memcpy(header, SP__NPY_MAGIC "\1\0", 8);
	header[8] = (uint8_t)n;
	header[9] = (uint8_t)(n >> 8);
	return 10 + n;
}
