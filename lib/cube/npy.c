/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cube/npy.h"

#define MAGIC "\x93NUMPY"
#define UNIT 64 /* data begin at a multiple of it */

/* NumPy's word for a type, without the byte order; kind 'V' is raw bytes. */
static void type_word(const struct sp_cube_shape *s, char *kind, uint32_t *bytes)
{
	static const char kinds[] = { 'V', 'i', 'u', 'i', 'u', 'i', 'u', 'i', 'u', 'f', 'f' };

	*kind = kinds[s->type];
	*bytes = s->element_bytes;
}

/* Before the text: magic, version, and its length, of two or four bytes. */
static unsigned text_begin(const uint8_t *p)
{
	return p[6] == 1 ? 10 : 12;
}

uint64_t sp__npy_head_bytes(const uint8_t *p)
{
	uint64_t bytes;

	if (memcmp(p, MAGIC, 6) != 0 || !p[6] || p[6] > 3)
		return 0;
	bytes = p[8] + ((uint64_t)p[9] << 8);
	if (p[6] > 1)
		bytes += ((uint64_t)p[10] << 16) + ((uint64_t)p[11] << 24);
	bytes += text_begin(p);
	return bytes < SP__NPY_PREFIX || bytes > SP__NPY_HEAD_MAX ? 0 : bytes;
}

/* What follows 'key': in the dictionary; NULL: there is no such key. */
static const char *value_of(const char *text, const char *key)
{
	char quoted[32];
	const char *at;

	snprintf(quoted, sizeof(quoted), "'%s':", key);
	at = strstr(text, quoted);
	if (!at)
		return NULL;
	at += strlen(quoted);
	return at + strspn(at, " ");
}

static bool same_type(const char *descr, const struct sp_cube_shape *s, bool *big_endian)
{
	char kind, *end;
	uint32_t bytes;

	type_word(s, &kind, &bytes);
	if (descr[0] != '\'' || !descr[1] || !strchr("<>|=", descr[1]) || descr[2] != kind)
		return false;
	*big_endian = descr[1] == '>';
	return strtoul(descr + 3, &end, 10) == bytes && *end == '\'';
}

static bool same_shape(const char *text, struct sp_cube_shape *s)
{
	char *end;

	if (*text++ != '(')
		return false;
	for (unsigned i = 0; i < s->ndims; i++) {
		uint64_t n = strtoull(text, &end, 10);

		if (!n || (s->dims[i] && n != s->dims[i]) || end == text)
			return false;
		s->dims[i] = n;
		text = end + strspn(end, ", ");
	}
	return *text == ')';
}

const char *sp__npy_parse(const uint8_t *head, uint64_t bytes, struct sp_cube_shape *shape,
			  struct sp_cube_load_opts *opts)
{
	char text[SP__NPY_HEAD_MAX + 1];
	uint64_t prefix = text_begin(head);
	const char *descr, *fortran, *dims;

	memcpy(text, head + prefix, bytes - prefix);
	text[bytes - prefix] = '\0';
	descr = value_of(text, "descr");
	fortran = value_of(text, "fortran_order");
	dims = value_of(text, "shape");
	if (!descr || !fortran || !dims)
		return "is no .npy file";
	if (!same_type(descr, shape, &opts->big_endian))
		return "the elements of the .npy file have another type than those of the cube";
	if (!same_shape(dims, shape))
		return "the .npy file has another shape than the cube";
	opts->ordered = true;
	opts->offset = bytes;
	for (unsigned i = 0; i < shape->ndims; i++)
		opts->order[i] = !strncmp(fortran, "True", 4) ? i : shape->ndims - 1 - i;
	return NULL;
}

uint64_t sp__npy_write(uint8_t *head, const struct sp_cube_shape *shape,
		       const struct sp_cube_box *box)
{
	char *text = (char *)head + 10, kind;
	size_t room = SP__NPY_HEAD_MAX - 10, n;
	uint32_t bytes;

	type_word(shape, &kind, &bytes);
	n = (size_t)snprintf(text, room, "{'descr': '%c%c%u', 'fortran_order': True, 'shape': (",
			     bytes == 1 || kind == 'V' ? '|' : '<', kind, bytes);
	for (unsigned i = 0; i < shape->ndims; i++)
		n += (size_t)snprintf(text + n, room - n, "%llu,%s",
				      (unsigned long long)sp__box_count(box, i),
				      i + 1 < shape->ndims ? " " : "");
	n += (size_t)snprintf(text + n, room - n, "), }");
	while ((10 + n + 1) % UNIT)
		text[n++] = ' ';
	text[n++] = '\n';
	memcpy(head, MAGIC "\1\0", 8);
	head[8] = (uint8_t)n;
	head[9] = (uint8_t)(n >> 8);
	return 10 + n;
}
