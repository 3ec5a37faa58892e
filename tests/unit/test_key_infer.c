/* SPDX-License-Identifier: MIT */
/*
 * Types that are inferred from samples, and texts that do not have them.
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/order.h>
#include "rec/key.h"
#include "tap.h"

static char a[] = "a", b[] = "b";
static char *names[] = { a, b };

/* Infers the type of key -k KEY from a sample of CSV. */
static struct sp_order_key infer(const char *key, const char *sample, uint64_t *records)
{
	struct sp_order o = SP_ORDER_INIT;
	struct sp_columns c = { .names = names, .n = 2, .sample_bytes = strlen(sample) };
	struct sp_order_key first;

	o.csv = true;
	c.sample = strdup(sample);
	if (sp_order_add_key(&o, key, NULL) || sp_order_finish(&o, NULL) ||
	    sp_order_infer(&o, &c, records, NULL))
		abort();
	first = o.keys[0];
	free(c.sample);
	sp_order_release(&o);
	return first;
}

static void is_type(enum sp_key_type type, const char *sample, const char *literal)
{
	uint64_t n;
	struct sp_order_key k = infer("1,1", sample, &n);
	bool checked = k.spec.checked && !strcmp(k.spec.checked, "a");

	ok(k.inferred && k.spec.type == type && checked == (type != SP_KEY_TEXT || !k.valued),
	   "%s has the type %d", literal, (int)type);
}
#define IS_TYPE(type, sample) is_type(type, sample, #sample)

static void types(void)
{
	IS_TYPE(SP_KEY_NUMERIC, "1\n-2\n3.\n.5\n");
	IS_TYPE(SP_KEY_NUMERIC, "\" 1 \"\n\n\t\n");
	IS_TYPE(SP_KEY_NUMERIC, "1\r\n\r\n2,x\r\n");
	IS_TYPE(SP_KEY_GENERAL, "+1\n2\n");
	IS_TYPE(SP_KEY_GENERAL, "1e3\n-2E-7\n0e9\n");
	IS_TYPE(SP_KEY_TIME, "2024-02-29\n,x\n2024-02-29T10:00:00Z\n");
	IS_TYPE(SP_KEY_TEXT, "");
	IS_TYPE(SP_KEY_TEXT, "\n \n");
	IS_TYPE(SP_KEY_TEXT, ".\n");
	IS_TYPE(SP_KEY_TEXT, "-\n");
	IS_TYPE(SP_KEY_TEXT, "--1\n");
	IS_TYPE(SP_KEY_TEXT, "1 2\n");
	IS_TYPE(SP_KEY_TEXT, "1.2.3\n");
	IS_TYPE(SP_KEY_TEXT, "1e\n");
	IS_TYPE(SP_KEY_TEXT, "1e+\n");
	IS_TYPE(SP_KEY_TEXT, "inf\n");
	IS_TYPE(SP_KEY_TEXT, "1e99999\n");
	IS_TYPE(SP_KEY_TEXT, "1e-99999\n");
	IS_TYPE(SP_KEY_TEXT, "1e3\n2024-01-01\n");
	IS_TYPE(SP_KEY_TEXT, "1\n\"2\n\"\n");
	IS_TYPE(SP_KEY_TEXT, "2024-02-30\n");
}

static void keys(void)
{
	static const char *const not [] = { "1", "1,2", "1.2,1", "1,1.1", "1,1n", "1,1f", "3,3" };
	struct sp_order_key k;
	uint64_t n;

	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++) {
		k = infer(not [i], "1\n2\n", &n);
		ok(!k.inferred && !k.spec.checked, "-k%s keeps its type", not [i]);
	}
	k = infer("2,2brE", ",1\n,2\n3\n", &n);
	ok(k.inferred && k.spec.type == SP_KEY_NUMERIC && k.spec.reverse &&
		   k.spec.empty == SP_EMPTY_LAST && !strcmp(k.spec.checked, "b") && n == 3,
	   "-k2,2brE keeps its letters and gets a type from 3 records");
}

/* Returns the offset of the first record of a batch of CSV that does not fit field 2. */
static size_t fitting(enum sp_key_type type, const char *batch, struct sp__badtext *bad)
{
	struct sp_key k = { .sword = 1, .eword = 1, .type = type, .checked = "b" };
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_CSV, .separator = ',' },
				    .keys = &k,
				    .nkeys = 1 };
	struct sp__keybuf buf = { 0 };
	struct sp_keyset *ks;
	size_t n;

	if (sp_keyset_new(&ks, &o, NULL) || !sp__ks(ks)->checks ||
	    sp__key_fitting(ks, batch, strlen(batch), &buf, &n, bad))
		abort();
	sp__keybuf_release(&buf);
	sp_keyset_free(ks);
	return n;
}

static void texts(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__badtext bad;

	ok(fitting(SP_KEY_NUMERIC, "x,1\ny\nz,\nx, 2 \n", &bad) == 15, "all records fit");
	ok(fitting(SP_KEY_TIME, "x,2024-01-01\ny,1\n", &bad) == 13, "a number is not a time");
	ok(fitting(SP_KEY_GENERAL, "x,1e5\ny,1e5x\n", &bad) == 6, "a rest is not ignored");
	ok(fitting(SP_KEY_NUMERIC, "x,1\n\"y\n\",+1\nz,a\n", &bad) == 4,
	   "-n would read +1 as 0, so it does not fit");
	ok(sp__badtext_error(&bad, "f", 2, &err) == SP_EFORMAT && !strcmp(err.path, "f") &&
		   !strcmp(err.text, "line 2: column b: '+1' is not a decimal number"),
	   "the error names line, column and value");
}

int main(void)
{
	types();
	keys();
	texts();
	return done();
}
