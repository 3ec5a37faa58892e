/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "rec/keyset.h"
#include "tap.h"

static struct sp__keybuf x, y;

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static int by_encoding(const struct sp_key *k, const char *a, const char *b)
{
	x.bytes = y.bytes = 0;
	if (sp__bkey_encode(k, a, &x) || sp__bkey_encode(k, b, &y) || x.bytes != k->length ||
	    y.bytes != k->length)
		return 99;
	return sign(memcmp(x.data, y.data, x.bytes));
}

/* Bytes that make neighbours, extremes and special floats likely. */
static void random_record(struct sp__rng *rng, char *rec, const char *other)
{
	static const unsigned char special[] = { 0, 0, 1, 0x7f, 0x80, 0xff, 0xf0, 0xf8 };

	for (int i = 0; i < 16; i++)
		rec[i] = sp__rng_below(rng, 2) ? (char)special[sp__rng_below(rng, 8)]
					       : (char)sp__rng_next(rng);
	if (sp__rng_below(rng, 2)) {
		memcpy(rec, other, 16);
		if (sp__rng_below(rng, 4))
			rec[sp__rng_below(rng, 16)] ^= (char)(1 << sp__rng_below(rng, 8));
	}
}

static void both_ways_agree(const char *spec)
{
	struct sp__rng rng = { 5 };
	char a[16], b[16] = { 0 };
	struct sp_key k;
	int bad = 0, equal = 0;

	if (!ok(sp_bkey_parse(spec, &k, NULL) == 0, "%s is understood", spec))
		return;
	for (int i = 0; i < 40000; i++) {
		random_record(&rng, a, b);
		bad += by_encoding(&k, a, b) != sign(sp__bkey_compare(&k, a, b));
		equal += !sp__bkey_compare(&k, a, b);
		memcpy(b, a, sizeof(b));
	}
	ok(!bad && equal, "%s: the bytes order as the values do", spec);
}

static void ascending(const char *spec, const void *values, size_t count)
{
	const char *v = values;
	struct sp_key k;
	bool good = sp_bkey_parse(spec, &k, NULL) == 0;

	for (size_t i = 0; good && i + 1 < count; i++)
		good = sp__bkey_compare(&k, v + i * k.length, v + (i + 1) * k.length) < 0 &&
		       by_encoding(&k, v + i * k.length, v + (i + 1) * k.length) < 0;
	ok(good, "%s: known values ascend", spec);
}

static void zeros_equal(const char *spec)
{
	static const char zeros[2][8] = { { 0 }, { [7] = (char)0x80 } };
	struct sp_key k;

	ok(!sp_bkey_parse(spec, &k, NULL) && !sp__bkey_compare(&k, zeros[0], zeros[1]) &&
		   !by_encoding(&k, zeros[0], zeros[1]),
	   "%s: -0 equals 0", spec);
}

static void known_orders(void)
{
	static const uint64_t f64[] = { 0xffffffffffffffff,
					0xfff8000000000000,
					0xfff0000000000001,
					0xfff0000000000000,
					0xbff0000000000000,
					0x8000000000000001,
					0,
					1,
					0x3ff0000000000000,
					0x7ff0000000000000,
					0x7ff0000000000001,
					0x7ff8000000000000,
					0x7fffffffffffffff };
	static const uint32_t f32[] = {
		0xffffffff, 0xff800001, 0xff800000, 0xbf800000, 0x80000001,
		0x80000000, 1,		0x3f800000, 0x7f800000, 0x7f800001
	};
	static const int32_t i32[] = { INT32_MIN, -256, -1, 0, 1, 255, 256, INT32_MAX };
	static const uint8_t u16be[] = { 0, 0, 0, 255, 1, 0, 255, 0, 255, 255 };
	static const uint8_t i8r[] = { 127, 1, 0, 255, 128 };

	ascending("0:8:f64le", f64, sizeof(f64) / 8);
	ascending("0:4:f32", f32, sizeof(f32) / 4);
	ascending("0:4:i32", i32, sizeof(i32) / 4);
	ascending("0:2:u16be", u16be, sizeof(u16be) / 2);
	ascending("0:1:i8:r", i8r, sizeof(i8r));
	zeros_equal("0:8:f64le");
	zeros_equal("0:8:f64:r");
	zeros_equal("4:4:f32le");
}

static void refused(const char *spec, const char *reason)
{
	struct sp_key k = { .offset = 77 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp_bkey_parse(spec, &k, &err);

	ok(rc == -EINVAL && err.code == -EINVAL && strstr(err.text, reason) && k.offset == 77,
	   "'%s' is refused: %s", spec, err.text);
}

static void parsing(void)
{
	struct sp_key k;

	ok(!sp_bkey_parse("10:4", &k, NULL) && k.offset == 10 && k.length == 4 &&
		   k.type == SP_KEY_BYTES && !k.reverse,
	   "offset and length alone are bytes");
	ok(!sp_bkey_parse("0:3:r", &k, NULL) && k.type == SP_KEY_BYTES && k.reverse,
	   "bytes may be reversed without saying bytes");
	ok(!sp_bkey_parse("7:2:u16", &k, NULL) && !k.big_endian, "u16 is little endian");
	ok(!sp_bkey_parse("7:8:f64be:r", &k, NULL) && k.big_endian && k.reverse &&
		   k.type == SP_KEY_FLOAT,
	   "every part is understood together");
	refused("", "offset");
	refused("-1:2", "offset");
	refused("99999999999999999999:1", "offset");
	refused("18446744073709551615:1", "too large");
	refused("1", "OFFSET:LENGTH");
	refused("1:", "length");
	refused("1:0", "zero");
	refused("1:2:u32", "length of 4");
	refused("1:2:u24", "u24");
	refused("1:1:u8le", "u8le");
	refused("1:2:", "unknown type");
	refused("1:2:bytes:x", "stray");
	refused("1:2r", "stray");
	refused("1:2:r:r", "unknown type 'r'");
}

int main(void)
{
	static const char *const specs[] = {
		"0:7:bytes", "3:1:u8",	  "1:2:u16",	 "2:2:u16be",	"0:4:u32le",  "5:4:u32be",
		"0:8:u64le", "8:8:u64be", "15:1:i8",	 "2:2:i16le",	"2:2:i16be",  "0:4:i32le",
		"0:4:i32be", "0:8:i64le", "1:8:i64be",	 "0:4:f32le",	"4:4:f32be",  "0:8:f64le",
		"8:8:f64be", "0:16:r",	  "0:8:f64be:r", "0:2:i16be:r", "3:4:u32le:r"
	};

	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++)
		both_ways_agree(specs[i]);
	known_orders();
	parsing();
	free(x.data);
	free(y.data);
	return done();
}
