/* SPDX-License-Identifier: MIT */
/*
 * Replacement selection with runs gathered in memory.  Lines end in their
 * number, so that any change of order among equal keys is seen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "sort/select/replace.h"
#include "tap.h"

#define MEMORY (1u << 20)
#define MAX_RUNS 20000

/* Runs, concatenated. */
static struct {
	char *data;
	size_t bytes, capacity;
	size_t run[MAX_RUNS + 1], nruns; /* where each begins */
	bool open, prev_right;
	size_t last;		 /* where the record put last begins */
	uint64_t live, max_live; /* bytes that are in memory */
	const struct sp_keyset *keys;
} out;

static int begin(void *ctx)
{
	(void)ctx;
	if (out.open || out.nruns == MAX_RUNS)
		return -1;
	out.open = true;
	out.run[out.nruns++] = out.bytes;
	return 0;
}

static int put(void *ctx, const char *rec, size_t bytes, const char *prev, size_t prev_bytes)
{
	bool first = out.run[out.nruns - 1] == out.bytes;

	(void)ctx;
	if (first ? prev != NULL
		  : prev_bytes != out.bytes - out.last ||
			    memcmp(prev, out.data + out.last, prev_bytes))
		out.prev_right = false;
	if (out.bytes + bytes > out.capacity)
		return -1;
	memcpy(out.data + out.bytes, rec, bytes);
	out.last = out.bytes;
	out.bytes += bytes;
	out.live -= bytes;
	return out.open ? 0 : -1;
}

static int end(void *ctx, const char *prev, size_t prev_bytes)
{
	(void)ctx;
	if (prev_bytes != out.bytes - out.last || memcmp(prev, out.data + out.last, prev_bytes))
		out.prev_right = false;
	out.open = false;
	out.run[out.nruns] = out.bytes;
	return 0;
}

static struct sp_keyset *keyset_of(const char *letters, bool stable, bool unique)
{
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				    .nkeys = 1,
				    .separator = -1,
				    .stable = stable,
				    .unique = unique };
	struct sp_key k = SP_KEY_INIT;
	struct sp_keyset *ks;

	for (; *letters; letters++)
		sp_key_letter(&k, *letters, SP_KEY_BOTH);
	k.eword = 0;
	o.keys = &k;
	return sp_keyset_new(&ks, &o, NULL) ? NULL : ks;
}

/* Sorts data into runs; 0 or an error. */
static int form(const struct sp_keyset *ks, const char *data, size_t bytes, size_t memory,
		bool drop_equal)
{
	struct sp__replace_sink sink = { NULL, begin, put, end };
	size_t each = sp__replace_batch_bytes(memory), giant = bytes + 4096;
	char *mem = aligned_alloc(16, (memory + each + 15) & ~(size_t)15), *own = malloc(giant);
	struct sp__budget budget;
	struct sp__runbuf rb;
	struct sp__replace r;
	int rc;

	sp__budget_init(&budget, UINT64_MAX);
	free(out.data);
	memset(&out, 0, sizeof(out));
	out.data = malloc(bytes + 1);
	out.capacity = bytes;
	out.prev_right = true;
	out.keys = ks;
	sp__runbuf_init(&rb, ks);
	rc = sp__replace_open(&r, ks, mem, memory, &budget, &sink, drop_equal);
	for (size_t at = 0, took; !rc && at < bytes; at += took) {
		sp__runbuf_use(&rb, mem + memory, each);
		rc = sp__runbuf_add(&rb, data + at, bytes - at, &took);
		if (!rc && !took) {
			size_t len =
				(size_t)((char *)memchr(data + at, '\n', bytes - at) + 1 - data) -
				at;

			sp__runbuf_use(&rb, own, sp__runbuf_need(&rb, len) & ~(size_t)15);
			rc = sp__runbuf_add(&rb, data + at, len, &took);
		}
		sp__runbuf_sort(&rb);
		out.live += took;
		if (!rc)
			rc = sp__replace_add(&r, &rb);
		if (out.live > out.max_live)
			out.max_live = out.live;
	}
	if (!rc)
		rc = sp__replace_drain(&r);
	sp__replace_close(&r);
	sp__runbuf_release(&rb);
	free(mem);
	free(own);
	if (budget.used_bytes)
		return -1;
	return rc;
}

static size_t line_at(const char *data, size_t at, size_t end_at)
{
	return (size_t)((const char *)memchr(data + at, '\n', end_at - at) + 1 - data);
}

/* The number that a line ends in. */
static unsigned long number(const char *data, size_t from, size_t to)
{
	size_t i = to - 1;

	while (i > from && data[i - 1] != ' ')
		i--;
	return strtoul(data + i, NULL, 10);
}

/* Each run in order, and equal keys by number, within runs and across them. */
static bool runs_are_right(void)
{
	for (size_t r = 0; r < out.nruns; r++) {
		size_t before = 0, n = 0, next;

		for (size_t at = out.run[r]; at < out.run[r + 1]; before = at, at = next, n++) {
			int c;

			next = line_at(out.data, at, out.run[r + 1]);
			if (!n)
				continue;
			c = sp_keyset_compare(out.keys, out.data + before, at - before - 1,
					      out.data + at, next - at - 1);
			if (c > 0 ||
			    (!c && number(out.data, before, at) >= number(out.data, at, next)))
				return false;
		}
	}
	return true;
}

/* Across runs: for few keys, the highest number seen of each. */
static bool runs_are_stable(void)
{
	unsigned long seen[256] = { 0 };

	for (size_t at = 0, next; at < out.bytes; at = next) {
		unsigned long n;

		next = line_at(out.data, at, out.bytes);
		n = number(out.data, at, next);
		if (n <= seen[(unsigned char)out.data[at]])
			return false;
		seen[(unsigned char)out.data[at]] = n;
	}
	return true;
}

enum order { RANDOM, NEARLY, REVERSE, SORTED, FEW };

/* Lines "KEY PADDING NUMBER". */
static char *lines(enum order order, size_t n, size_t max_padding, size_t displaced, size_t *bytes)
{
	char *data = malloc(n * (max_padding + 40) + 1), *p = data;
	struct sp__rng rng = { order + 1 };

	for (size_t i = 0; i < n; i++) {
		uint64_t key = order == RANDOM	  ? sp__rng_next(&rng) >> 24
			       : order == REVERSE ? n - i
			       : order == NEARLY  ? i + sp__rng_below(&rng, displaced)
						  : i;
		size_t pad = max_padding ? sp__rng_below(&rng, max_padding) : 0;

		if (order == FEW)
			*p++ = (char)('a' + sp__rng_below(&rng, 5));
		else
			p += sprintf(p, "%012llu", (unsigned long long)key);
		*p++ = ' ';
		memset(p, 'x', pad);
		p += pad;
		p += sprintf(p, " %zu\n", i + 1);
	}
	*bytes = (size_t)(p - data);
	return data;
}

/*
 * In memory of 1 MB a batch is a twentieth of it, and what waits in a batch does
 * not take part in the selection: hence 1.7, and not 2.
 */
static void random_input(const char *letters, size_t max_padding, size_t memory, double times)
{
	struct sp_keyset *ks = keyset_of(letters, true, false);
	size_t bytes, n = 12 * memory / (24 + max_padding / 2);
	char *data = lines(RANDOM, n, max_padding, 0, &bytes);
	double mean, use;

	ok(!form(ks, data, bytes, memory, false) && out.bytes == bytes && runs_are_right(),
	   "random lines with up to %zu bytes make runs in order (keys: -%s)", max_padding + 24,
	   *letters ? letters : "k1,1");
	ok(out.prev_right, "the record before is known at each");
	/* The first run and the last ones are shorter. */
	mean = (double)(out.run[out.nruns - 2] - out.run[1]) / (double)(out.nruns - 3);
	use = (double)out.max_live / (double)memory;
	diag("%zu runs, mean %.2f memories; %.1f %% of the memory hold records", out.nruns,
	     mean / (double)memory, 100 * use);
	ok(mean > times * (double)memory && mean < 2.2 * (double)memory,
	   "their runs are twice the memory");
	ok(use > 0.85 && use <= 1.1, "the memory is well used");
	free(data);
	sp_keyset_free(ks);
}

static void ordered_input(void)
{
	struct sp_keyset *ks = keyset_of("", true, false);
	size_t bytes, n = 100000;
	char *data = lines(NEARLY, n, 60, 8000, &bytes);

	ok(!form(ks, data, bytes, MEMORY, false) && out.nruns == 1 && runs_are_right(),
	   "records displaced by less than the memory make one run");
	free(data);
	data = lines(SORTED, n, 60, 0, &bytes);
	ok(!form(ks, data, bytes, MEMORY, false) && out.nruns == 1 && runs_are_right(),
	   "sorted input makes one run");
	free(data);
	data = lines(REVERSE, n, 60, 0, &bytes);
	ok(!form(ks, data, bytes, MEMORY, false) && runs_are_right(),
	   "input in reverse order makes runs in order");
	diag("%zu bytes in %zu runs", bytes, out.nruns);
	ok(out.nruns >= bytes / MEMORY && out.nruns <= bytes / MEMORY * 5 / 4 + 1,
	   "of about the memory's size");
	free(data);
	sp_keyset_free(ks);
}

static void equal_keys(void)
{
	struct sp_keyset *ks = keyset_of("", true, false);
	size_t bytes, lines_out = 0;
	char *data = lines(FEW, 100000, 80, 0, &bytes);

	ok(!form(ks, data, bytes, MEMORY / 4, false) && out.nruns > 1 && runs_are_right() &&
		   runs_are_stable(),
	   "equal keys keep their order, within a run and across runs");
	sp_keyset_free(ks);
	ks = keyset_of("", false, true);
	ok(!form(ks, data, bytes, MEMORY / 4, true), "equal records may be dropped");
	for (size_t at = 0; at < out.bytes; at = line_at(out.data, at, out.bytes))
		lines_out++;
	diag("%zu lines left in %zu runs", lines_out, out.nruns);
	ok(lines_out < 50000 && runs_are_stable(), "the first of them remain");
	free(data);
	sp_keyset_free(ks);
}

static void giants(void)
{
	struct sp_keyset *ks = keyset_of("", true, false);
	struct sp__rng rng = { 99 };
	char *data = malloc(40u << 20), *p = data;
	size_t memory = 64u << 10;

	for (int i = 0; i < 3000; i++) {
		uint64_t dice = sp__rng_below(&rng, 1000);
		size_t pad = sp__rng_below(&rng, dice < 960 ? 100 : dice < 998 ? 20000 : 400000);

		p += sprintf(p, "%08llu ", (unsigned long long)sp__rng_below(&rng, 100000000));
		memset(p, 'y', pad);
		p += pad;
		p += sprintf(p, " %d\n", i + 1);
	}
	ok(!form(ks, data, (size_t)(p - data), memory, false) && out.bytes == (size_t)(p - data) &&
		   runs_are_right() && out.prev_right,
	   "records up to six times the memory pass through");
	diag("%zu bytes in %zu runs", out.bytes, out.nruns);
	ok(out.max_live < 600000, "without a second one staying in memory");
	free(data);
	sp_keyset_free(ks);
}

int main(void)
{
	random_input("", 0, MEMORY, 1.65);
	random_input("", 200, 4 * MEMORY, 1.8);
	random_input("", 3000, MEMORY, 1.6);
	random_input("n", 100, MEMORY / 2, 1.6);
	random_input("r", 100, MEMORY / 2, 1.6);
	ordered_input();
	equal_keys();
	giants();
	free(out.data);
	return done();
}
