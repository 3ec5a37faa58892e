/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "join/keying.h"

void sp__keying_init(struct sp__keying *k, const struct sp__cut *cut,
		     const struct sp_join_opts *opts)
{
	*k = (struct sp__keying){ .cut = cut,
				  .fields = { opts->keys[0], opts->keys[1] },
				  .nfields = opts->nkeys,
				  .fold = opts->ignore_case };
	k->plain = k->nfields == 1 && !k->fold && cut->kind != SP__CUT_CSV;
	for (int c = 0; c < 256; c++)
		k->upper[c] = (unsigned char)toupper(c);
}

uint64_t sp__key_hash(const char *key, size_t bytes, uint64_t seed)
{
	return XXH3_64bits_withSeed(key, bytes, seed);
}

static int reserve(struct sp__keymem *mem, size_t more)
{
	size_t want = mem->capacity ? mem->capacity : 4096;
	char *p;

	if (mem->capacity - mem->bytes >= more)
		return 0;
	while (want - mem->bytes < more)
		want *= 2;
	p = realloc(mem->data, want);
	if (!p)
		return -ENOMEM;
	mem->data = p;
	mem->capacity = want;
	return 0;
}

/* Copies a field without the quotes of CSV; returns the end. */
static char *copy_field(const struct sp__keying *k, const struct sp__slice *f, char *to)
{
	const char *p = f->p, *end = f->p + f->n;
	bool quoted = k->cut->kind == SP__CUT_CSV && f->n && *p == '"';

	for (p += quoted; p < end; p++) {
		if (quoted && *p == '"') {
			if (p + 1 == end || p[1] != '"') {
				quoted = false;
				continue;
			}
			p++;
		}
		*to++ = k->fold ? (char)k->upper[(unsigned char)*p] : *p;
	}
	return to;
}

int sp__key_make(const struct sp__keying *k, int side, const char *line, size_t bytes,
		 struct sp__keymem *mem, size_t *begin)
{
	*begin = mem->bytes;
	for (size_t i = 0; i < k->nfields; i++) {
		struct sp__slice f;
		uint32_t n;
		char *to;

		sp__field_find(k->cut, line, bytes, k->fields[side][i], &f);
		if (reserve(mem, f.n + sizeof(n)) < 0)
			return -ENOMEM;
		to = mem->data + mem->bytes;
		if (k->nfields == 1) {
			mem->bytes = (size_t)(copy_field(k, &f, to) - mem->data);
			continue;
		}
		/* Its length in front keeps ("ab", "c") and ("a", "bc") apart. */
		n = (uint32_t)(copy_field(k, &f, to + sizeof(n)) - to - sizeof(n));
		memcpy(to, &n, sizeof(n));
		mem->bytes += sizeof(n) + n;
	}
	return 0;
}
