/* SPDX-License-Identifier: MIT */
/*
 * Recognises compressed files by magic numbers and suffixes.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/packed.h>
#include "base/enum.h"
#include "base/err.h"
#include "base/loaded.h"
#include "pack/unpack.h"

#ifdef SP_HAVE_ZLIB
#define NO_ZLIB NULL
#else
#define NO_ZLIB "it was built without zlib"
#endif
#ifdef SP_HAVE_LZMA
#define NO_LZMA NULL
#else
#define NO_LZMA "it was built without liblzma"
#endif

static const struct kind {
	enum sp_packed format;
	const char *magic;
	size_t magic_bytes;
	const char *suffixes[2];
	const char *missing;
	enum sp__library library;
} kinds[] = {
	{ SP_PACKED_GZIP, "\x1f\x8b", 2, { ".gz", NULL }, NO_ZLIB, SP__LIB_ZLIB },
	{ SP_PACKED_ZSTD, "\x28\xb5\x2f\xfd", 4, { ".zst", ".zstd" }, NULL, SP__LIB_ZSTD },
	{ SP_PACKED_LZ4, "\x04\x22\x4d\x18", 4, { ".lz4", NULL }, NULL, SP__LIB_LZ4 },
	{ SP_PACKED_XZ,
	  "\xfd\x37zXZ",
	  SP_PACKED_MAGIC_BYTES,
	  { ".xz", NULL },
	  NO_LZMA,
	  SP__LIB_LZMA },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

bool sp__packed_skippable(const void *data, size_t bytes)
{
	const unsigned char *p = data;

	return bytes >= 4 && (p[0] & 0xf0) == 0x50 && !memcmp(p + 1, "\x2a\x4d\x18", 3);
}

enum sp_packed sp_packed_by_magic(const void *data, size_t bytes)
{
	for (size_t i = 0; i < KINDS; i++)
		if (bytes >= kinds[i].magic_bytes &&
		    !memcmp(data, kinds[i].magic, kinds[i].magic_bytes))
			return kinds[i].format;
	return sp__packed_skippable(data, bytes) ? SP_PACKED_ZSTD : SP_PACKED_NONE;
}

/* The first byte of zstd is a parenthesis; others are no text. */
enum sp_packed sp__packed_cut(const void *data, size_t bytes)
{
	for (size_t i = 0; i < KINDS; i++)
		if (bytes > (kinds[i].format == SP_PACKED_ZSTD) && bytes < kinds[i].magic_bytes &&
		    !memcmp(data, kinds[i].magic, bytes))
			return kinds[i].format;
	return SP_PACKED_NONE;
}

/* True for "BZh", the size of its blocks, and the magic of the first block or of the end. */
static bool is_bzip2(const unsigned char *p)
{
	return !memcmp(p, "BZh", 3) && p[3] >= '1' && p[3] <= '9' &&
	       (!memcmp(p + 4, "1A", 2) || !memcmp(p + 4, "\x17\x72", 2));
}

/* True for the usual properties, a dictionary that is a power of two, and an unknown size. */
static bool is_lzma(const unsigned char *p)
{
	unsigned high = p[3] | (unsigned)p[4] << 8;

	return !memcmp(p, "\x5d\0\0", 3) && high && !(high & (high - 1)) && p[5] == 0xff;
}

const char *sp_packed_foreign(const void *data, size_t bytes)
{
	if (bytes < SP_PACKED_MAGIC_BYTES)
		return NULL;
	return is_bzip2(data) ? "bzip2" : is_lzma(data) ? "lzma" : NULL;
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t bytes = strlen(name), end = strlen(suffix);

	return bytes > end && !strcmp(name + bytes - end, suffix);
}

enum sp_packed sp_packed_by_suffix(const char *name)
{
	for (size_t i = 0; i < KINDS; i++)
		for (size_t j = 0; j < 2 && kinds[i].suffixes[j]; j++)
			if (ends_with(name, kinds[i].suffixes[j]))
				return kinds[i].format;
	return SP_PACKED_NONE;
}

const char *sp_packed_missing(enum sp_packed format)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].format == format)
			return kinds[i].missing;
	return NULL;
}

int sp__packed_load(enum sp_packed format, struct sp_errinfo *err)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].format == format)
			return sp__library_load(kinds[i].library, err);
	return 0;
}

SP__ENUM_TABLE(sp_packed, { "gzip", SP_PACKED_GZIP }, { "zstd", SP_PACKED_ZSTD },
	       { "lz4", SP_PACKED_LZ4 }, { "xz", SP_PACKED_XZ })

/* Returns the level; 0: the text is not one of the format. */
static unsigned level_of(const char *text, unsigned levels)
{
	char *end;
	unsigned long level = strtoul(text, &end, 10);

	return isdigit((unsigned char)*text) && !*end && level <= levels ? (unsigned)level : 0;
}

int sp_packed_parse_level(const char *text, enum sp_packed *format, unsigned *level,
			  struct sp_errinfo *err)
{
	const char *colon = strchrnul(text, ':');
	char name[16];
	int value, rc;

	if (colon - text >= (ptrdiff_t)sizeof(name))
		return -EINVAL;
	snprintf(name, sizeof(name), "%.*s", (int)(colon - text), text);
	rc = sp_packed_parse(name, &value);
	if (rc)
		return rc;
	*format = (enum sp_packed)value;
	*level = *colon ? level_of(colon + 1, sp_packed_levels(*format)) : 0;
	if (*colon && !*level)
		return sp__errf(err, SP_ESYNTAX, "plan", NULL, -1, "the levels of %s are 1 to %u",
				sp_packed_name(value), sp_packed_levels(*format));
	return 0;
}
