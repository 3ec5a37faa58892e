/* SPDX-License-Identifier: MIT */
/* Shared members of two objects (jsonmerge.h). */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "join/result/jsonmerge.h"
#include "rec/jsonpath.h"

#define SLOTS_MIN 64
#define NAMES_MAX ((size_t)1 << 17) /* in the table, or one for so many bytes of the object: */
#define BYTES_PER_NAME 128
#define PART_MAX UINT32_MAX /* offsets of names in the table */

#define SUFFIX_BYTES (sizeof(SP__JSON_SUFFIX) - 1)
#define ESCAPE_MAX 12 /* bytes of two surrogates */

void sp__jsonmerge_release(struct sp__jsonmerge *m)
{
	sp__hashtable_close(&m->table);
	free(m->both);
	free(m->shared);
	free(m->taken);
	*m = (struct sp__jsonmerge){ 0 };
}

/* The characters of a name, in pieces without escapes. */

struct pieces {
	const char *p, *end; /* of the name, without quotes */
	bool escaped;
	char decoded[8]; /* the characters of two escapes at most */
};

static struct pieces pieces_of(const struct sp__json_value *name)
{
	return (struct pieces){ name->p + 1, name->p + name->n - 1, name->escaped, { 0 } };
}

static int unit_at(const char *p, const char *end)
{
	return end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? sp__json_hex4(p + 2, end) : -1;
}

/* Returns the bytes of the escape at p, with those of the other half of a surrogate. */
static size_t escape_bytes(const char *p, const char *end)
{
	const int unit = unit_at(p, end);
	const int other = unit < 0 ? -1 : unit_at(p + 6, end);

	if (unit >= 0xD800 && unit < 0xDC00 && other >= 0xDC00 && other < 0xE000)
		return ESCAPE_MAX;
	return unit < 0 ? 2 : 6;
}

/* Returns the next piece; false: there are no more. */
static bool next_piece(struct pieces *t, struct sp__slice *piece)
{
	const size_t rest = (size_t)(t->end - t->p);
	const char *escape = t->escaped && rest ? memchr(t->p, '\\', rest) : NULL;
	struct sp__json_value one = { .kind = SP__JSON_TEXT, .escaped = true };

	if (!rest)
		return false;
	if (escape != t->p) {
		*piece = (struct sp__slice){ t->p, escape ? (size_t)(escape - t->p) : rest };
		t->p += piece->n;
		return true;
	}
	one.p = t->p - 1;
	one.n = escape_bytes(t->p, t->end) + 2;
	*piece = (struct sp__slice){ t->decoded,
				     sp__json_text(&one, t->decoded, sizeof(t->decoded)) };
	t->p += one.n - 2;
	return true;
}

/* True if a name is the first n bytes of the characters of another one. */
static bool is_beginning(const struct sp__json_value *name, const struct sp__json_value *other,
			 size_t n)
{
	struct pieces a = pieces_of(name), b = pieces_of(other);
	struct sp__slice x = { 0 }, y = { 0 };

	for (;;) {
		size_t both;

		if (!x.n && !next_piece(&a, &x))
			return !n;
		if (!n || (!y.n && !next_piece(&b, &y)))
			return false;
		both = sp__min(sp__min(x.n, y.n), n);
		if (memcmp(x.p, y.p, both) != 0)
			return false;
		x = (struct sp__slice){ x.p + both, x.n - both };
		y = (struct sp__slice){ y.p + both, y.n - both };
		n -= both;
	}
}

/*
 * Hashes: the bytes are the coefficients of a polynomial, whose value is computed modulo a prime at
 * a point that the process draws at random.
 */

__extension__ typedef unsigned __int128 wide128;

#define PRIME ((UINT64_C(1) << 61) - 1)

static uint64_t hash_point(void)
{
	return sp__mix64(sp__key_secret()->seed) % (PRIME - 256) + 256;
}

static inline uint64_t hash_byte(uint64_t h, uint64_t point, char c)
{
	const wide128 product = (wide128)h * point + (unsigned char)c + 1;
	const uint64_t sum = (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);

	return sum >= PRIME ? sum - PRIME : sum;
}

/* Returns the hash of a name; *bytes: of its characters. */
static uint64_t hash_name(const struct sp__json_value *name, uint64_t point, size_t *bytes)
{
	struct pieces pieces = pieces_of(name);
	struct sp__slice piece;
	uint64_t h = 0;

	*bytes = 0;
	while (next_piece(&pieces, &piece)) {
		for (size_t i = 0; i < piece.n; i++)
			h = hash_byte(h, point, piece.p[i]);
		*bytes += piece.n;
	}
	return sp__mix64(h);
}

/* The table. */

/* Sets a bit of a set that grows; further words are zeroed.  Returns 0 or -ENOMEM. */
static int set_bit(uint64_t **words, size_t *nwords, size_t bit)
{
	const size_t before = *nwords;

	if (bit / 64 >= *nwords) {
		if (!SP__ARRAY_GROW(*words, *nwords, bit / 64 + 1))
			return -ENOMEM;
		memset(*words + before, 0, (*nwords - before) * sizeof(**words));
	}
	(*words)[bit / 64] |= (uint64_t)1 << bit % 64;
	return 0;
}

static void clear(uint64_t *words, size_t n)
{
	if (n)
		memset(words, 0, n * sizeof(*words));
}

static bool has_bit(const uint64_t *words, size_t nwords, size_t bit)
{
	return bit / 64 < nwords && words[bit / 64] >> bit % 64 & 1;
}

/* Returns the name of an entry. */
static struct sp__json_value name_of(const struct sp__jsonmerge *m, uint32_t number)
{
	const char *begin = m->base + number - 1, *p = begin + 1;
	struct sp__json_value v = { .p = begin, .kind = SP__JSON_TEXT };

	for (; *p != '"'; p++)
		if (*p == '\\') {
			v.escaped = true;
			p++;
		}
	v.n = (size_t)(p + 1 - begin);
	return v;
}

static bool is_entry(const struct sp__jsonmerge *m, uint32_t number,
		     const struct sp__json_value *name, size_t bytes)
{
	const struct sp__json_value own = name_of(m, number);

	return is_beginning(&own, name, bytes);
}

/* Returns the slot of the first bytes of a name: its own, or the free one where it would be. */
static uint64_t *slot_of(const struct sp__jsonmerge *m, uint64_t hash,
			 const struct sp__json_value *name, size_t bytes)
{
	return SP__HASHTABLE_FIND(&m->table, hash, number, is_entry(m, number, name, bytes));
}

/* Doubles the slots; the memory is kept for the next objects. */
static int grow(struct sp__jsonmerge *m)
{
	const size_t n = sp__max(2 * m->table.nslots, SLOTS_MIN);

	if (!SP__ARRAY_GROW(m->table.slots, m->slots_capacity, n))
		return -ENOMEM;
	memset(m->table.slots + m->table.nslots, 0,
	       (n - m->table.nslots) * sizeof(*m->table.slots));
	sp__hashtable_spread(&m->table, n);
	return 0;
}

/* Puts the next names of an object into the empty table. */
static int fill(struct sp__jsonmerge *m, struct sp__json_items *items, size_t max, uint64_t point)
{
	struct sp__json_value name, value;

	m->base = items->p;
	m->table.nslots = m->n = 0;
	if (grow(m))
		return -ENOMEM;
	while (m->n < max && (size_t)(items->p - m->base) < PART_MAX / 2 &&
	       sp__json_item(items, &name, &value)) {
		size_t bytes;
		const uint64_t hash = hash_name(&name, point, &bytes);
		uint64_t *slot;

		if (sp__hashtable_is_full(&m->table, m->n) && grow(m))
			return -ENOMEM;
		slot = slot_of(m, hash, &name, bytes);
		if (*slot)
			continue;
		if ((size_t)(name.p - m->base) >= PART_MAX)
			return -ENOMEM; /* 2 GiB of blanks before a name */
		sp__hashtable_fill(slot, hash, (uint32_t)(name.p - m->base) + 1);
		m->n++;
	}
	return 0;
}

bool sp__jsonmerge_is_key(const struct sp__json_value *name, const struct sp__slice *keys,
			  size_t nkeys)
{
	for (size_t i = 0; i < nkeys; i++)
		if (sp__json_is(name, keys[i].p, keys[i].n))
			return true;
	return false;
}

struct search {
	struct sp__jsonmerge *m;
	const struct sp__slice *keys;
	size_t nkeys;
	uint64_t point;
};

/* Marks the members of object 2 whose names are in the table.  *any: there are some. */
static int mark(const struct search *s, const struct sp__slice *object, bool *any)
{
	struct sp__jsonmerge *m = s->m;
	struct sp__json_items items = sp__object_items(object);
	struct sp__json_value name, value;
	int rc = 0;

	for (size_t i = 0; !rc && sp__json_item(&items, &name, &value); i++) {
		size_t bytes;
		const uint64_t hash = hash_name(&name, s->point, &bytes);
		const uint64_t *slot = slot_of(m, hash, &name, bytes);

		if (!*slot || sp__jsonmerge_is_key(&name, s->keys, s->nkeys))
			continue;
		*any = true;
		rc = set_bit(&m->shared, &m->shared_words, i);
		if (!rc)
			rc = set_bit(&m->both, &m->both_words, (size_t)(slot - m->table.slots));
	}
	return rc;
}

/* Suffixes. */

/* The end of a text that is read byte by byte: how many suffixes it has. */
struct ending {
	size_t suffixes, before[2]; /* at the end; a byte and two bytes before it */
	char last;
};

static void add_byte(struct ending *e, char c)
{
	const size_t now =
		e->last == SP__JSON_SUFFIX[0] && c == SP__JSON_SUFFIX[1] ? e->before[1] + 1 : 0;

	e->before[1] = e->before[0];
	e->before[0] = now;
	e->suffixes = now;
	e->last = c;
}

/* Returns the number of suffixes at the end of a name; *bytes: of its characters. */
static size_t count_suffixes(const struct sp__json_value *name, size_t *bytes)
{
	struct pieces pieces = pieces_of(name);
	struct sp__slice piece;
	struct ending ending = { 0 };

	*bytes = 0;
	if (!name->escaped &&
	    (name->n < 2 + SUFFIX_BYTES ||
	     memcmp(name->p + name->n - 1 - SUFFIX_BYTES, SP__JSON_SUFFIX, SUFFIX_BYTES) != 0))
		return 0;
	while (next_piece(&pieces, &piece)) {
		for (size_t i = 0; i < piece.n; i++)
			add_byte(&ending, piece.p[i]);
		*bytes += piece.n;
	}
	return ending.suffixes;
}

/* Notes the number of suffixes by which the first `at` bytes of a name, if shared, become it. */
static int try_beginning(const struct search *s, const struct sp__json_value *name, size_t at,
			 size_t times, uint64_t hash)
{
	struct sp__jsonmerge *m = s->m;
	const uint64_t *slot;

	if (has_bit(m->taken, m->taken_words, times))
		return 0;
	slot = slot_of(m, hash, name, at);
	if (!*slot || !has_bit(m->both, m->both_words, (size_t)(slot - m->table.slots)))
		return 0;
	return set_bit(&m->taken, &m->taken_words, times);
}

/* Notes the numbers of suffixes by which shared names become this one. */
static int take_name(const struct search *s, const struct sp__json_value *name)
{
	struct pieces pieces = pieces_of(name);
	struct sp__slice piece;
	size_t bytes, at = 0;
	const size_t suffixes = count_suffixes(name, &bytes);
	uint64_t h = 0;
	int rc = 0;

	while (!rc && suffixes && next_piece(&pieces, &piece))
		for (size_t i = 0; !rc && i < piece.n && at < bytes; i++, at++) {
			const size_t behind = bytes - at;

			if (behind % SUFFIX_BYTES == 0 && behind / SUFFIX_BYTES <= suffixes)
				rc = try_beginning(s, name, at, behind / SUFFIX_BYTES,
						   sp__mix64(h));
			h = hash_byte(h, s->point, piece.p[i]);
		}
	return rc;
}

/* Notes the numbers of suffixes by which shared names become names of an object. */
static int take_names(const struct search *s, const struct sp__slice *object)
{
	struct sp__json_items items = sp__object_items(object);
	struct sp__json_value name, value;
	int rc = 0;

	while (!rc && sp__json_item(&items, &name, &value))
		rc = take_name(s, &name);
	return rc;
}

/* Searches the names in the table. */
static int search(const struct search *s, const struct sp__slice object[2])
{
	bool any = false;
	int rc;

	clear(s->m->both, s->m->both_words);
	rc = mark(s, &object[1], &any);
	for (int i = 0; !rc && any && i < 2; i++)
		rc = take_names(s, &object[i]);
	return rc;
}

int sp__jsonmerge_find(struct sp__jsonmerge *m, const struct sp__slice object[2],
		       const struct sp__slice *keys, size_t nkeys, size_t *times)
{
	const struct search s = { m, keys, nkeys, hash_point() };
	const size_t max = sp__max(NAMES_MAX, object[0].n / BYTES_PER_NAME);
	struct sp__json_items items = sp__object_items(&object[0]);
	int rc = 0;

	clear(m->shared, m->shared_words);
	clear(m->taken, m->taken_words);
	do {
		rc = fill(m, &items, max, s.point);
		if (!rc && m->n)
			rc = search(&s, object);
	} while (!rc && m->n);
	*times = 1;
	while (has_bit(m->taken, m->taken_words, *times))
		++*times;
	return rc;
}
