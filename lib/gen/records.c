/* SPDX-License-Identifier: MIT */
/*
 * Generates records of binary or text fields: RECORDS and RUNS, the table R, and T1 and T2.
 *
 * RECORDS have 100 bytes, in the layout of the sort benchmark:
 *
 *	ASCII   key 10 (' ' .. '~'), 2 blanks, row number 32 hexadecimal digits,
 *	        2 blanks, 13 groups of 4 equal hexadecimal digits, CR LF
 *	binary  key 10, 00 11, row number 32, 88 99 AA BB, 12 groups, CC DD EE FF
 *
 * RUNS follow the model of temporal skew of Zhang and Larson (section 5, after Zheng and Larson):
 * all runs have key ranges of one length, and Low(i+1) = (1 - alpha) High(i) + alpha Low(i).  The
 * ranges together cover the 10-digit numbers.  A record is key, blank, row number, blank, filler.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/rng.h"
#include "base/put.h"
#include "base/floats.h"
#include "gen/gen.h"
#include "gen/keys.h"

/*
 * Generates the table R: records of 15 f64, uniform in [0, 1), all 53 bits random.
 *
 * No compression makes them smaller, and a range of one column selects any share of the records.
 * Text has the fewest digits that give each number back, each followed by '|'.  A binary record is
 * 120 bytes, little-endian.
 */
#define COLUMNS 15
#define RECORDS 8000000

struct reals {
	uint64_t seed;
};

static struct sp__rng reals_stream(const struct sp_gen *g)
{
	return sp__gen_stream(((const struct reals *)g->state)->seed, g->row);
}

static char *emit_reals_text(struct sp_gen *g, char *p)
{
	struct sp__rng r = reals_stream(g);

	for (int i = 0; i < COLUMNS; i++) {
		p = sp__shortest_f64(p, sp__rng_real(&r));
		*p++ = '|';
	}
	*p++ = '\n';
	return p;
}

static char *emit_reals_binary(struct sp_gen *g, char *p)
{
	struct sp__rng r = reals_stream(g);

	for (int i = 0; i < COLUMNS; i++) {
		double v = sp__rng_real(&r);
		uint64_t bits;

		memcpy(&bits, &v, sizeof(bits));
		p = sp__put_word(p, bits);
	}
	return p;
}

int sp__gen_reals(struct sp_gen *g, struct sp_errinfo *err)
{
	struct reals *s = calloc(1, sizeof(*s));

	if (!s)
		return sp__err(err, -ENOMEM, "generate", "", -1);
	g->state = s;
	s->seed = sp__gen_seed(g->opts.seed, SP_GEN_R);
	if (!g->opts.records && !g->opts.bytes)
		g->rows = RECORDS;
	g->max_bytes = COLUMNS * SP__SHORTEST_SPACE;
	g->emit = g->opts.binary ? emit_reals_binary : emit_reals_text;
	return 0;
}

/*
 * Generates the tables T1 and T2 of DBmbench: a1|a2|a3|padding.
 *
 * T2 has one row for each a1 from 1, T1 has 1 to 7.  A row is a function of (seed, table, slot);
 * each a1 has as many slots as it can have rows, and slots without a row are skipped.  The streams
 * of slots count from 0; those that draw the number of rows of an a1 count from 2^64 - 1 down.  So
 * the scale changes no row.  A shuffled table is a permutation of the slots.
 *
 * Source: Shao 2008, tables 3.1 and 3.2.
 */
#define OWNERS 150000 /* values of a1 at scale 1 */
#define A2 20000
#define A3 50
#define INTEGERS 12	 /* bytes of a1, a2 and a3 in a table of numbers */
#define RECORD_BYTES 100 /* by default */
#define CHARS 10	 /* characters of padding from one random number */

struct dbm {
	uint64_t seed, slot, slots;
	uint32_t max_rows; /* maximum rows with one a1 */
	struct sp__perm perm;
};

static char *put_padding(char *p, size_t bytes, struct sp__rng *r)
{
	static const char set[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

	for (size_t i = 0; i < bytes; i += CHARS) {
		uint64_t u = sp__rng_next(r);

		for (uint32_t k = 0; k < CHARS; k++, u >>= 6)
			p[i + k] = set[u & 63];
	}
	p[bytes] = '\n';
	return p + bytes + 1;
}

static char *put_field(char *p, uint64_t v)
{
	p = sp__put_u64(p, v);
	*p = '|';
	return p + 1;
}

static bool has_row(const struct dbm *s, uint64_t slot)
{
	struct sp__rng r = sp__gen_stream(s->seed, ~(slot / s->max_rows));

	return slot % s->max_rows <= sp__rng_below(&r, s->max_rows);
}

static char *emit(struct sp_gen *g, char *p)
{
	struct dbm *s = g->state;
	uint64_t slot, u;
	struct sp__rng r;

	do {
		if (s->slot == s->slots)
			return NULL;
		slot = s->slot++;
		if (g->opts.shuffle)
			slot = sp__perm_at(&s->perm, slot);
	} while (!has_row(s, slot));
	r = sp__gen_stream(s->seed, slot);
	u = sp__rng_next(&r);
	p = put_field(p, slot / s->max_rows + 1);
	p = put_field(p, 1 + sp__take(&u, A2));
	p = put_field(p, 1 + sp__take(&u, A3));
	return put_padding(p, g->opts.record_bytes - INTEGERS, &r);
}

int sp__gen_dbm(struct sp_gen *g, struct sp_errinfo *err)
{
	struct dbm *s = calloc(1, sizeof(*s));

	if (!s)
		return sp__err(err, -ENOMEM, "generate", "", -1);
	g->state = s;
	g->emit = emit;
	if (!g->opts.record_bytes)
		g->opts.record_bytes = RECORD_BYTES;
	g->max_bytes = g->opts.record_bytes + 64;
	s->seed = sp__gen_seed(g->opts.seed, g->opts.kind);
	s->max_rows = g->opts.kind == SP_GEN_T1 ? 7 : 1;
	s->slots = sp__gen_scaled(OWNERS, g->opts.scale, 1) * s->max_rows;
	sp__perm_init(&s->perm, s->slots, s->seed ^ SP__GOLDEN);
	return 0;
}

#define RECORD 100
#define RUN_RECORD 64	       /* by default */
#define KEY_SPACE 10000000000u /* 10 decimal digits */

struct runs {
	uint64_t seed;
	uint64_t run, at, in_run; /* number of this run, next record in it, records in it */
	uint64_t total, step, length;
	uint64_t skew; /* 1 - alpha, in 2^-32 */
	char filler[26 * 2];
};

static uint64_t how_many(const struct sp_gen *g, uint64_t record_bytes)
{
	uint64_t by_bytes = g->opts.bytes / record_bytes + (g->opts.bytes % record_bytes != 0);

	if (!g->opts.bytes)
		return g->opts.records;
	return g->opts.records && g->opts.records < by_bytes ? g->opts.records : by_bytes;
}

/*
 * Writes ten digits of base 95, most significant first. 64 bits are too few: after five digits the
 * rest of x has gaps of 95^5, which the further bits fill.  Different points stay different, and in
 * order.
 */
static inline char *ascii_key(char *p, struct sp__key key)
{
	const uint64_t gap = 7737809375; /* 95^5 */
	uint64_t x = key.x;

	for (int i = 0; i < 5; i++)
		p[i] = (char)(' ' + sp__take(&x, 95));
	x += (uint64_t)(((unsigned __int128)key.more * gap) >> 64);
	for (int i = 5; i < 10; i++)
		p[i] = (char)(' ' + sp__take(&x, 95));
	return p + 10;
}

/* Writes groups of four equal hexadecimal digits, from the nibbles of v. */
static inline char *put_groups(char *p, uint64_t v, int groups)
{
	static const char digits[] = "0123456789ABCDEF";

	for (int i = 0; i < groups; i++, v >>= 4, p += 4)
		memset(p, digits[v & 15], 4);
	return p;
}

static inline char *put_row(char *p, uint64_t row)
{
	memset(p, '0', 16);
	return sp__put_hex16(p + 16, row);
}

static char *emit_ascii(struct sp_gen *g, char *p)
{
	const struct sp__keys *keys = g->state;
	struct sp__key key = sp__key_at(keys, g->row, g->row);

	p = ascii_key(p, key);
	memcpy(p, "  ", 2);
	p = put_row(p + 2, g->row);
	memcpy(p, "  ", 2);
	p = put_groups(p + 2, sp__mix64(g->row ^ keys->seed), 13);
	memcpy(p, "\r\n", 2);
	return p + 2;
}

static char *emit_binary(struct sp_gen *g, char *p)
{
	const struct sp__keys *keys = g->state;
	struct sp__key key = sp__key_at(keys, g->row, g->row);
	uint64_t x = htobe64(key.x);

	memcpy(p, &x, 8);
	p[8] = (char)(key.more >> 56);
	p[9] = (char)(key.more >> 48);
	memcpy(p + 10, "\x00\x11", 2);
	p = put_row(p + 12, g->row);
	memcpy(p, "\x88\x99\xAA\xBB", 4);
	p = put_groups(p + 4, sp__mix64(g->row ^ keys->seed), 12);
	memcpy(p, "\xCC\xDD\xEE\xFF", 4);
	return p + 4;
}

int sp__gen_records(struct sp_gen *g, struct sp_errinfo *err)
{
	struct sp__keys *keys = calloc(1, sizeof(*keys));

	if (!keys)
		return sp__err(err, -ENOMEM, "generate", "", -1);
	g->state = keys;
	g->rows = how_many(g, RECORD);
	g->max_bytes = RECORD;
	g->emit = g->opts.binary ? emit_binary : emit_ascii;
	sp__keys_init(keys, &g->opts, sp__gen_seed(g->opts.seed, SP_GEN_RECORDS), g->rows);
	return 0;
}

/* Returns a key in the range of the present run. */
static uint64_t skewed_key(const struct sp_gen *g, const struct runs *s)
{
	uint64_t low = (uint64_t)((unsigned __int128)s->length * s->run * s->skew >> 32);
	struct sp__key key = sp__key_named(s->seed, g->row);

	if (g->opts.sorted_runs)
		key.x = s->at * s->step + (uint64_t)((unsigned __int128)key.x * s->step >> 64);
	return low + (uint64_t)((unsigned __int128)key.x * s->length >> 64);
}

/* The lengths of runs differ by at most one record. */
static void begin_run(const struct sp_gen *g, struct runs *s)
{
	s->at = 0;
	s->in_run = s->total / g->opts.runs + (s->run < s->total % g->opts.runs);
	s->step = s->in_run > 1 ? UINT64_MAX / s->in_run : UINT64_MAX;
}

static char *emit_run(struct sp_gen *g, char *p)
{
	struct runs *s = g->state;
	char text[64], *q;
	size_t bytes = g->opts.record_bytes, head;
	uint64_t key;

	while (s->at == s->in_run) {
		s->run++;
		begin_run(g, s);
	}
	key = skewed_key(g, s);
	s->at++;
	q = sp__put_digits(text, (uint32_t)(key / 100000000), 2);
	q = sp__put_fixed8(q, (uint32_t)(key % 100000000));
	*q++ = ' ';
	q = sp__put_hex16(q, g->row);
	*q++ = ' ';
	head = (size_t)(q - text);
	if (head > bytes - 1)
		head = bytes - 1;
	memcpy(p, text, head);
	for (size_t done = head; done < bytes - 1; done += 26)
		memcpy(p + done, s->filler + g->row % 26, 26);
	p[bytes - 1] = '\n';
	return p + bytes;
}

int sp__gen_runs(struct sp_gen *g, struct sp_errinfo *err)
{
	const uint64_t one = (uint64_t)1 << 32;
	struct runs *s = calloc(1, sizeof(*s));

	if (!s)
		return sp__err(err, -ENOMEM, "generate", "", -1);
	g->state = s;
	if (!g->opts.record_bytes)
		g->opts.record_bytes = RUN_RECORD;
	g->rows = s->total = how_many(g, g->opts.record_bytes);
	g->max_bytes = g->opts.record_bytes + 32;
	g->emit = emit_run;
	s->seed = sp__gen_seed(g->opts.seed, SP_GEN_RUNS);
	s->skew = one - (uint64_t)(g->opts.alpha * 4294967296.0);
	s->length = (uint64_t)(((unsigned __int128)KEY_SPACE << 32) /
			       (one + (unsigned __int128)(g->opts.runs - 1) * s->skew));
	for (size_t i = 0; i < sizeof(s->filler); i++)
		s->filler[i] = (char)('a' + i % 26);
	begin_run(g, s);
	return 0;
}
