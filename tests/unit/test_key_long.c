/* SPDX-License-Identifier: MIT */
/*
 * Keys longer than SP__KEY_MAX: they are cut, order as whole ones do wherever they
 * differ, and where they do not, records with different keys are still distinguished.
 */
#define TAP_THREADS 0

#include <errno.h>
#include <string.h>
#include <spindle/sort.h>
#include "keysets.h"
#include "tap.h"

/* More than SP__KEY_MAX bytes of key: of numbers there are two digits in each. */
#define MAX_BYTES 1100000
#define TEXT_BYTES 600000

static const char *const alphabets[] = { "abcdeABCDE -_.", "0123456789", "a1B2.3", "\1\2ab", "0" };
#define ALPHABETS (sizeof(alphabets) / sizeof(alphabets[0]))

static const struct order long_orders[] = {
	{ "-f, last resort in the key", { "1f" }, "", NULL },
	{ "-f", { "1f" }, "s", NULL },
	{ "-fr", { "1fr" }, "", NULL },
	{ "-d, last resort descending", { "1d" }, "r", NULL },
	{ "-n", { "1n" }, "", NULL },
	{ "-nr, unique", { "1nr" }, "u", NULL },
	{ "-h", { "1h" }, "s", NULL },
	{ "-V", { "1V" }, "s", NULL },
	{ "-Vr", { "1Vr" }, "", NULL },
	{ "-fV", { "1Vf" }, "u", NULL },
	{ "-g", { "1g" }, "", NULL },
	{ "-f, then bytes", { "1,1f", "1" }, "s", NULL },
	{ "en_US", { NULL }, "", "en_US.UTF-8" },
	{ "en_US -f", { "1f" }, "u", "en_US.UTF-8" },
	{ "en_US -n", { "1n" }, "", "en_US.UTF-8" },
};
#define LONG_ORDERS (sizeof(long_orders) / sizeof(long_orders[0]))

/* Texts that differ in one byte. */
enum change { NOTHING, FIRST, BEHIND, LAST, SHORTER, CASE, SHORT, CHANGES };

struct record {
	char *data;
	size_t bytes; /* with its newline */
};

static void make(struct record *r, const char *alphabet, enum change change, size_t length)
{
	size_t letters = strlen(alphabet);

	r->bytes = change == SHORT ? 100 : change == SHORTER ? length - 1000 : length;
	r->data[0] = '1';
	for (size_t i = 1; i < r->bytes - 1; i++)
		r->data[i] = alphabet[i * 7 % letters];
	if (change == FIRST)
		r->data[1] = '7';
	if (change == BEHIND)
		r->data[length - 1000] = '6';
	if (change == LAST)
		r->data[length - 2] = '5';
	if (change == CASE)
		r->data[length - 1000] = 'E';
	r->data[r->bytes - 1] = '\n';
}

static int sign(int c)
{
	return (c > 0) - (c < 0);
}

/* The order of the encoded keys; 2: undecided. */
static int by_keys(const struct sp__keybuf *a, const struct sp__keybuf *b)
{
	size_t n = a->bytes < b->bytes ? a->bytes : b->bytes;
	int c = n ? memcmp(a->data, b->data, n) : 0;

	if (!c)
		c = (a->bytes > n) - (b->bytes > n);
	return !c && n == SP__KEY_MAX ? 2 : sign(c);
}

/* Each record compared with the first one. */
static bool keys_agree(const struct sp_keyset *ks, const struct record *r)
{
	struct sp__keybuf first = { 0 }, key = { 0 };
	bool known = sp__key_encode(ks, r->data, r->bytes - 1, &first) == 0, good = true;

	for (int i = 1; i < CHANGES && good && known; i++) {
		int c;

		if (sp__key_encode(ks, r[i].data, r[i].bytes - 1, &key))
			continue;
		c = by_keys(&first, &key);
		good = key.bytes <= SP__KEY_MAX &&
		       (c == 2 || c == sign(sp__key_compare(ks, r->data, r->bytes - 1, r[i].data,
							    r[i].bytes - 1)));
	}
	sp__keybuf_release(&first);
	sp__keybuf_release(&key);
	return good;
}

static int put(struct sp_sort *s, const struct record *r)
{
	struct sp_batch batch = { r->data, r->bytes };
	int rc;

	while ((rc = sp_sort_put(s, &batch)) == SP_LATER)
		if (sp_sort_wait(s) < 0)
			return -EIO;
	return rc;
}

/* Sorted in little memory: is each record (a batch may hold only one) after the one before? */
static bool sorts(const struct order *o, const struct sp_keyset *ks, const struct record *r,
		  enum sp_run_formation formation)
{
	const char *dir = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	struct sp_sort_opts opts = SP_SORT_OPTS_INIT;
	static char last[MAX_BYTES];
	size_t last_bytes = 0, bytes = 0, want = 0;
	struct sp_sort *s;
	struct sp_batch b;
	bool good = true;
	int rc;

	opts.keys = ks;
	opts.run.tmpdirs = &dir;
	opts.run.ntmpdirs = 1;
	opts.format = sp__ks(ks)->format;
	opts.run.memory_bytes = 1 << 20;
	opts.formation = formation;
	opts.unique = strchr(o->letters, 'u');
	if (sp_sort_new(&s, &opts, NULL))
		return false;
	/* The first one twice. */
	for (int i = 0; i <= CHANGES; i++) {
		const struct record *now = &r[i * 3 % CHANGES];

		if (put(s, now) < 0)
			return false;
		want += now->bytes;
	}
	rc = sp_sort_finish(s);
	while (rc >= 0 && (rc = sp_sort_get(s, &b)) != SP_END) {
		if (rc == SP_LATER)
			rc = sp_sort_wait(s);
		for (size_t at = 0, n; rc == SP_READY && at < b.bytes; at += n) {
			n = (size_t)((char *)memchr(b.data + at, '\n', b.bytes - at) + 1 -
				     (b.data + at));
			if (last_bytes) {
				int c = sp_keyset_compare(ks, last, last_bytes - 1, b.data + at,
							  n - 1);

				good &= c < 0 || (c == 0 && !opts.unique);
			}
			memcpy(last, b.data + at, n);
			last_bytes = n;
			bytes += n;
		}
	}
	sp_sort_free(s);
	return good && rc == SP_END && (opts.unique ? bytes <= want - r->bytes : bytes == want);
}

static void one_order(const struct order *o, struct record *r)
{
	size_t length = o->keys[0] && strpbrk(o->keys[0], "nh") ? MAX_BYTES : TEXT_BYTES;
	struct sp_keyset *ks = order_open(o);
	bool agree = true, load = true, replace = true;

	if (!ks) {
		skip(o->name, "no such locale");
		return;
	}
	sp__key_expect(ks, 1 << 20);
	for (size_t a = 0; a < ALPHABETS; a++) {
		for (int i = 0; i < CHANGES; i++)
			make(&r[i], alphabets[a], (enum change)i, length);
		agree &= keys_agree(ks, r);
		if (a == 1)
			load = sorts(o, ks, r, SP_FORM_LOAD);
		if (a == 0)
			replace = sorts(o, ks, r, SP_FORM_REPLACEMENT);
	}
	ok(agree, "%s: keys that are cut order as the records do, or are equal", o->name);
	ok(load, "%s: long records are sorted", o->name);
	ok(replace, "%s: long records are sorted by replacement selection", o->name);
	sp_keyset_free(ks);
}

int main(void)
{
	const char *variant = getenv("SP_TEST_VARIANT");
	/* A sanitizer takes twenty times as long: it gets a part of them. */
	const size_t step = variant && *variant ? 3 : 1;
	struct record r[CHANGES];

	if (!getenv("LOCPATH"))
		setenv("LOCPATH", "build/locale", 1);
	for (int i = 0; i < CHANGES; i++)
		r[i].data = malloc(MAX_BYTES);
	for (size_t i = 0; i < LONG_ORDERS; i += step)
		one_order(&long_orders[i], r);
	for (int i = 0; i < CHANGES; i++)
		free(r[i].data);
	return done();
}
