/* SPDX-License-Identifier: MIT */
/*
 * For random records and random key sets: the order of encoded keys is the
 * order of the direct comparison, and both are orders.
 */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "rec/key.h"
#include "tap.h"

#define RECORDS 40
#define ROUNDS 1000

static struct sp__rng rng = { 20 };

static unsigned below(unsigned n)
{
	return (unsigned)sp__rng_below(&rng, n);
}

static const char *const alphabets[] = {
	"0123456789", "019.-",	       "0159.,-KMGi ", "ab01.~-", "aAbB -\t_",
	"janJANfeb ", "infaNx-.e+125", "ab\x01\x02|",  "|| 12",
};

static size_t random_word(char *out)
{
	const char *letters = alphabets[below(sizeof(alphabets) / sizeof(alphabets[0]))];
	size_t n = below(below(8) ? 8 : 30), len = strlen(letters);

	for (size_t i = 0; i < n; i++)
		out[i] = below(60) ? letters[below((unsigned)len)] : (char)below(256);
	return n;
}

static size_t random_record(char *out)
{
	size_t n = 0, words = below(5);

	for (size_t i = 0; i < words; i++) {
		n += random_word(out + n);
		out[n++] = below(4) ? '|' : ' ';
	}
	return n;
}

static void random_key(struct sp_key *k)
{
	static const char types[] = "nghMVR";

	*k = (struct sp_key)SP_KEY_INIT;
	k->sword = below(4);
	k->schar = below(4) ? 0 : below(4);
	if (below(4)) {
		k->eword = k->sword + below(3) - (k->sword > 0);
		k->echar = below(4) ? 0 : below(5);
	}
	if (below(4))
		sp_key_letter(k, types[below(6)], SP_KEY_BOTH);
	for (const char *l = "bfr"; *l; l++)
		if (!below(3))
			sp_key_letter(k, *l, SP_KEY_BOTH);
	if (!below(5))
		sp_key_letter(k, below(2) ? 'd' : 'i', SP_KEY_BOTH);
}

static int sign(int d)
{
	return (d > 0) - (d < 0);
}

static int by_bytes(const struct sp_keyset *ks, const struct sp__keybuf *a,
		    const struct sp__keybuf *b)
{
	size_t n = a->bytes < b->bytes ? a->bytes : b->bytes;
	int d = n ? memcmp(a->data, b->data, n) : 0;

	if (!d)
		d = (a->bytes > b->bytes) - (a->bytes < b->bytes);
	return sign(sp__ks(ks)->descending ? -d : d);
}

struct record {
	char text[200];
	size_t bytes;
	struct sp__keybuf key;
};

static bool encode(const struct sp_keyset *ks, struct record *r)
{
	const char *s;
	size_t n;

	/* Bytes after a record, left by the previous one, must make no difference. */
	r->key.reach = below(2) ? sizeof(r->text) : 0;
	if (sp__ks(ks)->form != SP__KEY_INPLACE)
		return !sp__key_encode(ks, r->text, r->bytes, &r->key);
	sp__key_slice(ks, r->text, r->bytes, &s, &n);
	r->key.bytes = 0;
	if (sp__keybuf_reserve(&r->key, n + 1))
		return false;
	memcpy(r->key.data, s, n);
	r->key.bytes = n;
	return true;
}

typedef int compare_fn(const struct sp_keyset *ks, const char *a, size_t an, const char *b,
		       size_t bn);

/* Exact keys order records as a whole. */
static compare_fn *direct(const struct sp_keyset *ks)
{
	return sp__ks(ks)->exact ? sp_keyset_compare : sp__key_compare;
}

static bool round_of(struct record *r, const struct sp_keyset_opts *o)
{
	struct sp_keyset *ks;
	bool good = true;

	if (sp_keyset_new(&ks, o, NULL))
		return false;
	for (size_t i = 0; i < RECORDS; i++)
		good &= encode(ks, &r[i]);
	for (size_t i = 0; i < RECORDS && good; i++)
		for (size_t j = 0; j < RECORDS && good; j++)
			good = sign(direct(ks)(ks, r[i].text, r[i].bytes, r[j].text, r[j].bytes)) ==
			       by_bytes(ks, &r[i].key, &r[j].key);
	sp_keyset_free(ks);
	return good;
}

/* The lines of up to four of six letters. */
#define SOMES (1 + 6 + 6 * 6 + 6 * 6 * 6 + 6 * 6 * 6 * 6)

static void make_some(struct record *r, const char *letters)
{
	size_t n = 1, from = 0;

	for (size_t at = 0; n < SOMES; from = at)
		for (at = n; from < at; from++)
			for (size_t l = 0; l < 6; l++, n++) {
				r[n].bytes = r[from].bytes + 1;
				memcpy(r[n].text, r[from].text, r[from].bytes);
				r[n].text[r[from].bytes] = letters[l];
			}
}

/* Of these pairs, `want` are decided by the first eight bytes of their keys. */
static void telling(char letter, bool reverse, const char *letters, unsigned want)
{
	struct record *r = calloc(SOMES, sizeof(*r));
	struct sp_key k = SP_KEY_INIT;
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				    .keys = &k,
				    .nkeys = 1,
				    .separator = -1 };
	struct sp_keyset *ks;
	unsigned decided = 0, wrong = 0;

	k.reverse = reverse;
	sp_key_letter(&k, letter, SP_KEY_BOTH);
	if (!r || sp_keyset_new(&ks, &o, NULL))
		abort();
	make_some(r, letters);
	for (size_t i = 0; i < SOMES; i++) {
		/* Not into a buffer without any memory. */
		wrong += !encode(ks, &r[i]) || !encode(ks, &r[i]);
		decided += r[i].key.tells;
	}
	for (size_t i = 0; i < SOMES; i++)
		for (size_t j = 0; j < i; j++) {
			wrong += by_bytes(ks, &r[i].key, &r[j].key) !=
				 sign(direct(ks)(ks, r[i].text, r[i].bytes, r[j].text, r[j].bytes));
			wrong += r[i].key.tells && r[j].key.tells &&
				 sp__key_prefix(r[i].key.data, r[i].key.bytes) ==
					 sp__key_prefix(r[j].key.data, r[j].key.bytes);
		}
	ok(decided == want && !wrong,
	   "-%c%s: the order of all short lines; keys of %u tell them (%u, %u wrong)", letter,
	   reverse ? "r" : "", want, decided, wrong);
	for (size_t i = 0; i < SOMES; i++)
		sp__keybuf_release(&r[i].key);
	free(r);
	sp_keyset_free(ks);
}

static void lines(void)
{
	static struct record r[RECORDS];
	struct sp_key keys[3];
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n' }, .keys = keys };
	unsigned wrong = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < RECORDS; i++)
			r[i].bytes = random_record(r[i].text);
		o.nkeys = below(4);
		for (size_t i = 0; i < o.nkeys; i++)
			random_key(&keys[i]);
		if (!below(4)) {
			o.nkeys = 1;
			keys[0] = (struct sp_key)SP_KEY_INIT;
			sp_key_letter(&keys[0], 'f', SP_KEY_BOTH);
		}
		o.stable = below(2);
		o.separator = below(3) ? '|' : -1;
		o.reverse = below(2);
		wrong += !round_of(r, &o);
	}
	for (size_t i = 0; i < RECORDS; i++)
		sp__keybuf_release(&r[i].key);
	ok(!wrong, "encoded keys order lines as the direct comparison does (%u of %d wrong)", wrong,
	   ROUNDS);
}

static void random_bkey(struct sp_key *k, size_t record)
{
	*k = (struct sp_key)SP_KEY_INIT;
	k->type = SP_KEY_BYTES + below(4);
	k->length = k->type == SP_KEY_BYTES   ? 1 + below(6)
		    : k->type == SP_KEY_FLOAT ? 4u << below(2)
					      : 1u << below(4);
	k->offset = below((unsigned)(record - k->length + 1));
	k->big_endian = below(2);
	k->reverse = below(2);
}

static void binary(void)
{
	static const unsigned char bytes[] = { 0, 0, 1, 127, 128, 255, 255 };
	static struct record r[RECORDS];
	struct sp_key keys[3];
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_FIXED, .fixed_bytes = 12 },
				    .keys = keys };
	unsigned wrong = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < RECORDS; i++) {
			r[i].bytes = o.format.fixed_bytes;
			for (size_t j = 0; j < r[i].bytes; j++)
				r[i].text[j] = (char)bytes[below(sizeof(bytes))];
		}
		o.nkeys = below(4);
		for (size_t i = 0; i < o.nkeys; i++)
			random_bkey(&keys[i], o.format.fixed_bytes);
		o.reverse = below(2);
		wrong += !round_of(r, &o);
	}
	for (size_t i = 0; i < RECORDS; i++)
		sp__keybuf_release(&r[i].key);
	ok(!wrong,
	   "encoded keys order binary records as the direct comparison does (%u of %d wrong)",
	   wrong, ROUNDS);
}

int main(void)
{
	/* 1 or 7, and up to three digits of three. */
	telling('n', false, "017. -", 2 * (1 + 3 + 9 + 27));
	telling('n', true, "017. -", 2 * (1 + 3 + 9 + 27));
	telling('h', false, "017.K-", 0);
	telling('h', true, "017.K-", 0);
	/* All but four letters of which three or four are NULs, which take two bytes each. */
	telling('f', false, "aAbB-\0", SOMES - (4 * 5 + 1));
	/* Dropped pairs are not decided. */
	telling('d', false, "aAb -\0", 1 + 4 + 16 + 64 + 256);
	lines();
	binary();
	return done();
}
