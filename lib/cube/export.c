/* SPDX-License-Identifier: MIT */
/*
 * Elements as text, and results as files.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/error.h>
#include "base/err.h"
#include "base/enum.h"
#include "cube/cube_impl.h"
#include "cube/input/npy.h"

SP__ENUM_TABLE(sp_cube_format, { "raw", SP_CUBE_RAW }, { "npy", SP_CUBE_NPY },
	       { "csv", SP_CUBE_CSV })

static bool is_signed(enum sp_cube_type t)
{
	return t == SP_CUBE_I8 || t == SP_CUBE_I16 || t == SP_CUBE_I32 || t == SP_CUBE_I64;
}

static int parse_bytes(const char *text, uint8_t *to, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++, text += 2) {
		char pair[3] = { text[0], text[0] ? text[1] : 0, 0 }, *end;

		to[i] = (uint8_t)strtoul(pair, &end, 16);
		if (end != pair + 2 || !isxdigit((unsigned char)pair[0]))
			return SP_ESYNTAX;
	}
	return *text ? SP_ESYNTAX : 0;
}

/* Numbers have a point, whatever the program's locale, which is to be used again afterwards. */
static locale_t use_c_locale(void)
{
	return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static int parse_float(enum sp_cube_type type, const char *text, void *to)
{
	locale_t locale = use_c_locale();
	char *end;
	double wide;
	float narrow;

	errno = 0;
	wide = strtod(text, &end);
	uselocale(locale);
	narrow = (float)wide;
	if (end == text || *end || (isinf(wide) && errno == ERANGE) ||
	    (type == SP_CUBE_F32 && isinf(narrow) && !isinf(wide)))
		return SP_ESYNTAX;
	if (type == SP_CUBE_F32)
		memcpy(to, &narrow, sizeof(narrow));
	else
		memcpy(to, &wide, sizeof(wide));
	return 0;
}

int sp_cube_value_parse(const struct sp_cube_shape *s, const char *text, void *element)
{
	unsigned bits = sp_cube_type_bytes(s->type) * 8;
	char *end;

	if (s->type == SP_CUBE_BYTES)
		return parse_bytes(text, element, s->element_bytes);
	if (s->type == SP_CUBE_F32 || s->type == SP_CUBE_F64)
		return parse_float(s->type, text, element);
	errno = 0;
	if (is_signed(s->type)) {
		int64_t v = strtoll(text, &end, 10), most = INT64_MAX >> (64 - bits);

		if (errno || end == text || *end || v > most || v < -most - 1)
			return SP_ESYNTAX;
		memcpy(element, &v, bits / 8);
	} else {
		uint64_t v = strtoull(text, &end, 10);

		if (errno || end == text || *end || strchr(text, '-') ||
		    v > UINT64_MAX >> (64 - bits))
			return SP_ESYNTAX;
		memcpy(element, &v, bits / 8);
	}
	return 0;
}

static void print_float(enum sp_cube_type type, const void *element, char *text)
{
	locale_t locale = use_c_locale();
	float narrow;
	double wide;

	if (type == SP_CUBE_F32) {
		memcpy(&narrow, element, sizeof(narrow));
		snprintf(text, SP_CUBE_VALUE_MAX, "%.9g", (double)narrow);
	} else {
		memcpy(&wide, element, sizeof(wide));
		snprintf(text, SP_CUBE_VALUE_MAX, "%.17g", wide);
	}
	uselocale(locale);
}

void sp_cube_value_print(const struct sp_cube_shape *s, const void *element, char *text)
{
	unsigned bits = sp_cube_type_bytes(s->type) * 8;
	const uint8_t *bytes = element;
	uint64_t v = 0;

	if (s->type == SP_CUBE_BYTES) {
		for (uint32_t i = 0; i < s->element_bytes; i++)
			text += sprintf(text, "%02x", bytes[i]);
		return;
	}
	if (s->type == SP_CUBE_F32 || s->type == SP_CUBE_F64) {
		print_float(s->type, element, text);
		return;
	}
	memcpy(&v, element, bits / 8);
	if (is_signed(s->type))
		snprintf(text, SP_CUBE_VALUE_MAX, "%" PRId64,
			 (int64_t)(v << (64 - bits)) >> (64 - bits));
	else
		snprintf(text, SP_CUBE_VALUE_MAX, "%" PRIu64, v);
}

struct csv {
	const struct sp_cube_shape *shape;
	const struct sp_cube_box *box;
	uint64_t x[SP_CUBE_DIMS_MAX];
	FILE *out;
	char *text;
};

static int put_bytes(void *out, const void *data, size_t bytes)
{
	return fwrite(data, 1, bytes, out) == bytes ? 0 : -(errno ? errno : EIO);
}

static int put_lines(void *arg, const void *data, size_t bytes)
{
	struct csv *c = arg;
	const uint8_t *at = data, *end = at + bytes;

	for (; at < end; at += c->shape->element_bytes) {
		for (unsigned i = 0; i < c->shape->ndims; i++)
			fprintf(c->out, "%" PRIu64 ",", c->x[i]);
		sp_cube_value_print(c->shape, at, c->text);
		if (fprintf(c->out, "%s\n", c->text) < 0)
			return -(errno ? errno : EIO);
		sp__box_next(c->box, 0, c->shape->ndims, c->x);
	}
	return 0;
}

/* Points with their coordinates. */
static int put_points(void *arg, const void *data, size_t bytes)
{
	struct csv *c = arg;
	size_t head = c->shape->ndims * sizeof(uint64_t), each = head + c->shape->element_bytes;

	for (const uint8_t *at = data, *end = at + bytes; at < end; at += each) {
		memcpy(c->x, at, head);
		for (unsigned i = 0; i < c->shape->ndims; i++)
			fprintf(c->out, "%" PRIu64 ",", c->x[i]);
		sp_cube_value_print(c->shape, at + head, c->text);
		if (fprintf(c->out, "%s\n", c->text) < 0)
			return -(errno ? errno : EIO);
	}
	return 0;
}

static int export_box(struct sp_cube *cube, const struct sp_cube_box *box,
		      enum sp_cube_format format, FILE *out, struct sp_cube_stats *stats,
		      struct sp_errinfo *err)
{
	const struct sp_cube_shape *shape = &cube->superblock.shape;
	struct csv csv = { .shape = shape, .box = box, .out = out };
	uint8_t head[SP__NPY_HEAD_MAX];
	int rc = sp__cube_check_box(cube, box, err);

	if (!rc) /* before the head of a .npy file */
		rc = sp__cube_check_elements(cube, "read", err);
	if (rc)
		return rc;
	if (format == SP_CUBE_NPY && cube->superblock.points)
		return sp__errf(err, SP_EUNSUP, "read", cube->path, -1,
				"points are CSV or raw data: a .npy file has a grid");
	if (format == SP_CUBE_NPY)
		rc = put_bytes(out, head, sp__npy_write(head, shape, box));
	if (format == SP_CUBE_CSV) {
		csv.text = malloc(SP_CUBE_VALUE_MAX + 2 * (size_t)shape->element_bytes);
		memcpy(csv.x, box->lo, sizeof(csv.x));
		rc = csv.text ? sp__cube_read(cube, box,
					      cube->superblock.points ? put_points : put_lines,
					      &csv, stats, err)
			      : -ENOMEM;
		free(csv.text);
	} else if (!rc) {
		rc = sp__cube_read(cube, box, put_bytes, out, stats, err);
	}
	return rc < 0 ? sp__err(err, rc, "write", NULL, -1) : rc;
}

int sp_cube_export(struct sp_cube *cube, const struct sp_cube_box *box, enum sp_cube_format format,
		   FILE *out, struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	int rc = sp__cube_begin_reading(cube, err);

	if (rc)
		return rc;
	rc = export_box(cube, box, format, out, stats, err);
	sp__cube_end_reading(cube);
	return rc;
}
