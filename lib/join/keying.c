/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "base/array.h"
#include "base/err.h"
#include "join/binary.h"
#include "join/keying.h"
#include "rec/collate.h"

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

int sp__keying_init(struct sp__keying *k, const struct sp__cut *cut,
		    const struct sp_join_opts *opts, struct sp_errinfo *err)
{
	bool typed = false;
	int rc = 0;

	*k = (struct sp__keying){ .cut = cut,
				  .fields = { opts->keys[0], opts->keys[1] },
				  .nfields = opts->nkeys,
				  .types = opts->types,
				  .collated = sp__collate_hard() ? opts->collated : NULL,
				  .fold = opts->ignore_case };
	for (int c = 0; c < 256; c++)
		k->upper[c] = (unsigned char)toupper(c);
	k->sets = calloc(k->nfields, sizeof(*k->sets));
	if (!k->sets)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < k->nfields; i++)
		typed |= k->collated && k->collated[i];
	for (size_t i = 0; i < k->nfields && k->types && !rc; i++) {
		typed |= k->types[i].type != SP_KEY_TEXT || k->types[i].fold;
		if (k->types[i].type != SP_KEY_TEXT)
			rc = set_of_type(&k->sets[i], &k->types[i], err);
	}
	k->plain = k->nfields == 1 && !k->fold && !typed && cut->kind != SP__CUT_CSV;
	if (cut->kind == SP__CUT_FIXED)
		k->plain = sp__binary_plain(opts);
	return rc;
}

void sp__keying_release(struct sp__keying *k)
{
	for (size_t i = 0; k->sets && i < k->nfields; i++)
		sp_keyset_free(k->sets[i]);
	free(k->sets);
	k->sets = NULL;
}

void sp__keymem_release(struct sp__keymem *mem)
{
	sp__keybuf_release(&mem->value);
	free(mem->data);
	*mem = (struct sp__keymem){ 0 };
}

uint64_t sp__key_hash(const char *key, size_t bytes, uint64_t seed)
{
	return XXH3_64bits_withSeed(key, bytes, seed);
}

static int reserve(struct sp__keymem *mem, size_t more)
{
	return SP__ARRAY_ROOM(mem->data, mem->capacity, mem->bytes + more) ? 0 : -ENOMEM;
}

/* Copies a field without the quotes of CSV; returns the end. */
static char *copy_field(const struct sp__keying *k, const struct sp__slice *f, bool fold, char *to)
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
		*to++ = fold ? (char)k->upper[(unsigned char)*p] : *p;
	}
	return to;
}

/* Appends the key of a field of a binary record. */
static int append_binary(const struct sp_key *field, const struct sp__slice *f,
			 struct sp__keymem *mem)
{
	char *to;

	if (reserve(mem, f->n + SP__BINARY_VALUE) < 0)
		return -ENOMEM;
	to = mem->data + mem->bytes;
	if (field->type == SP_KEY_BYTES)
		memcpy(to, f->p, f->n);
	mem->bytes += field->type == SP_KEY_BYTES ? f->n : sp__binary_value(field, f->p, to);
	return 0;
}

/* Appends a key that is equal for texts that are equal under strcoll(). */
static int append_part(const char *part, struct sp__keymem *mem)
{
	size_t room = mem->capacity - mem->bytes, n;

	n = strxfrm(room ? mem->data + mem->bytes : NULL, part, room);
	if (n >= room) {
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

/* Appends the key of field i, whose text is f. */
static int append(const struct sp__keying *k, size_t i, const struct sp__slice *f,
		  struct sp__keymem *mem)
{
	bool fold = k->fold || (k->types && k->types[i].fold);
	char *to;
	int rc;

	if (reserve(mem, f->n) < 0)
		return -ENOMEM;
	to = mem->data + mem->bytes;
	if (!k->sets[i]) {
		size_t from = mem->bytes;

		mem->bytes = (size_t)(copy_field(k, f, fold, to) - mem->data);
		return k->collated && k->collated[i] ? collate_text(mem, from) : 0;
	}
	mem->value.uncut = true;
	rc = sp__key_encode(k->sets[i], to, (size_t)(copy_field(k, f, false, to) - to),
			    &mem->value);
	if (rc < 0 || reserve(mem, mem->value.bytes) < 0)
		return -ENOMEM;
	if (mem->value.bytes)
		memcpy(mem->data + mem->bytes, mem->value.data, mem->value.bytes);
	mem->bytes += mem->value.bytes;
	return 0;
}

int sp__key_make(const struct sp__keying *k, int side, const char *line, size_t bytes,
		 struct sp__keymem *mem, size_t *begin)
{
	*begin = mem->bytes;
	for (size_t i = 0; i < k->nfields; i++) {
		struct sp__slice f;
		size_t at = mem->bytes;
		uint32_t n;
		int rc;

		sp__field_find(k->cut, line, bytes, k->fields[side][i], &f);
		/* The length before it distinguishes ("ab", "c") from ("a", "bc"). */
		if (k->nfields > 1 && reserve(mem, sizeof(n)) < 0)
			return -ENOMEM;
		mem->bytes += k->nfields > 1 ? sizeof(n) : 0;
		rc = k->cut->kind == SP__CUT_FIXED
			     ? append_binary(&k->cut->fixed[k->fields[side][i]], &f, mem)
			     : append(k, i, &f, mem);
		if (rc < 0)
			return rc;
		n = (uint32_t)(mem->bytes - at - sizeof(n));
		if (k->nfields > 1)
			memcpy(mem->data + at, &n, sizeof(n));
	}
	return 0;
}
