/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/gen.h>
#include "base/rng.h"
#include "base/put.h"
#include "gen/keys.h"
#include "gen/tpch.h"
#include "gencase.h"
#include "tap.h"

static uint64_t fnv(const struct data *d)
{
	uint64_t h = 0xCBF29CE484222325u;

	for (size_t i = 0; i < d->n; i++)
		h = (h ^ (unsigned char)d->bytes[i]) * 0x100000001B3u;
	return h;
}

/* Cuts at newlines; the lines end in NUL. */
static char **lines_of(struct data *d, size_t *n)
{
	char **lines = calloc(d->records + 1, sizeof(*lines)), *p = d->bytes;

	if (!lines)
		abort();
	for (*n = 0; p < d->bytes + d->n && *n <= d->records; p = strchr(p, '\0') + 1) {
		lines[(*n)++] = p;
		*(char *)memchr(p, '\n', (size_t)(d->bytes + d->n - p)) = '\0';
	}
	return lines;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *column(const char *line, int n)
{
	for (; n > 0; n--)
		line = strchr(line, '|') + 1;
	return line;
}

static uint64_t number(const char *line, int n)
{
	return strtoull(column(line, n), NULL, 10);
}

/* Prices with their two decimals as cents. */
static int64_t cents(const char *line, int n)
{
	return llround(strtod(column(line, n), NULL) * 100);
}

static void same_bytes_everywhere(void)
{
	static const struct {
		const char *name;
		enum sp_gen_kind kind;
		bool option;
		uint64_t hash;
	} want[] = {
#include "../golden/gen.inc"
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct sp_gen_opts o = of(want[i].kind);
		struct data d;

		o.shuffle = o.binary = o.sorted_runs = want[i].option;
		o.words = want[i].option;
		o.missing = want[i].option ? 5 : 0;
		o.bytes = 1 << 20;
		o.records = 0;
		d = generate(o);
		ok(fnv(&d) == want[i].hash, "%s: the bytes of seed 1 are those recorded",
		   want[i].name);
		if (fnv(&d) != want[i].hash)
			diag("0x%016llX", (unsigned long long)fnv(&d));
		free(d.bytes);
	}
}

static void orders_of_keys(void)
{
	static const char *const names[] = {
		"uniform", "zipf", "few", "sorted", "reverse", "nearly"
	};

	for (int kind = SP_GEN_LINES; kind <= SP_GEN_RECORDS; kind++)
		for (int order = SP_GEN_SORTED; order <= SP_GEN_NEARLY; order++) {
			struct sp_gen_opts o = of(kind);
			struct data d;
			size_t n, wrong = 0;
			char **l;

			o.order = order;
			o.nearly = 0.1;
			d = generate(o);
			l = lines_of(&d, &n);
			for (size_t i = 1; i < n; i++)
				wrong += order == SP_GEN_REVERSE ? strcmp(l[i - 1], l[i]) < 0
								 : strcmp(l[i - 1], l[i]) > 0;
			/* A record out of place is nearly always one disorder. */
			if (order == SP_GEN_NEARLY)
				ok(wrong > 900 && wrong < 1100, "%s has the share out of place",
				   kind ? "nearly sorted records" : "nearly sorted lines");
			else
				ok(n == 10000 && wrong == 0, "%s %s are in order", names[order],
				   kind ? "records" : "lines");
			free(l);
			free(d.bytes);
		}
}

static void lines_by_bytes(void)
{
	for (uint32_t words = 0; words < 4; words++) {
		struct sp_gen_opts o = of(SP_GEN_LINES);
		struct data d;
		size_t n, wrong = 0, blanks = 0;
		char **l;

		o.records = 0;
		o.bytes = 300000;
		o.words = words;
		o.order = SP_GEN_SORTED;
		d = generate(o);
		l = lines_of(&d, &n);
		for (size_t i = 0; i < n; i++) {
			wrong += i && strcmp(l[i - 1], l[i]) > 0;
			for (char *p = l[i]; *p; p++)
				blanks += *p == ' ';
		}
		ok(d.n >= o.bytes && d.n < o.bytes + 2000 && n == d.records && wrong == 0,
		   "sorted lines up to a size are sorted and stop there (--words=%u)", words);
		ok(words == 0 ? blanks > 2 * n : blanks == (words - 1) * n,
		   "lines have the words asked for (%u)", words);
		ok(*l[0] < 'c' && *l[n - 1] > 'v', "they span the alphabet");
		free(l);
		free(d.bytes);
	}
}

static void few_and_zipf(void)
{
	for (int kind = SP_GEN_LINES; kind <= SP_GEN_RECORDS; kind++)
		for (int order = SP_GEN_ZIPF; order <= SP_GEN_FEW; order++) {
			struct sp_gen_opts o = of(kind);
			struct data d;
			size_t n, different = 1, max = 0, run = 1;
			char **l;

			o.order = order;
			o.distinct = 20;
			d = generate(o);
			l = lines_of(&d, &n);
			for (size_t i = 0; kind && i < n; i++)
				l[i][10] = '\0'; /* the key alone */
			qsort(l, n, sizeof(*l), by_text);
			for (size_t i = 1; i < n; i++) {
				bool equal = strcmp(l[i - 1], l[i]) == 0;

				run = equal ? run + 1 : 1;
				different += !equal;
				max = run > max ? run : max;
			}
			ok(different == 20, "%s of 20 keys have 20", kind ? "records" : "lines");
			if (order == SP_GEN_FEW)
				ok(max < 650, "few keys have equal shares");
			else /* 1 / H(20) = 27.8 % */
				ok(max > 2600 && max < 2960, "the first of Zipf has its share");
			free(l);
			free(d.bytes);
		}
}

static void zipf_ranks(double theta, uint64_t distinct)
{
	struct sp__zipf *z = calloc(1, sizeof(*z));
	uint64_t count[8] = { 0 }, n = 200000, high = 0;
	struct sp__rng r = { 7 };
	double sum = 0, worst = 0;

	sp__zipf_init(z, theta, distinct);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t rank = sp__zipf_rank(z, &r);

		if (rank < 8)
			count[rank]++;
		high += rank == 0 || rank > distinct;
	}
	for (uint64_t k = 1; k <= distinct; k++)
		sum += pow((double)k, -theta);
	for (int k = 1; k < 8 && (uint64_t)k <= distinct; k++) {
		double p = pow(k, -theta) / sum, sd = sqrt((double)n * p * (1 - p)) + 0.1;

		worst = fmax(worst, fabs((double)count[k] - p * (double)n) / sd);
	}
	ok(high == 0 && worst < 4, "ranks of %llu keys with theta %g are Zipf's",
	   (unsigned long long)distinct, theta);
	free(z);
}

static void records(void)
{
	struct sp_gen_opts o = of(SP_GEN_RECORDS);
	struct data d = generate(o);
	size_t bad = 0;

	for (size_t i = 0; i < 10000; i++) {
		const char *r = d.bytes + i * 100;
		char row[40];

		snprintf(row, sizeof(row), "  %032zX  ", i);
		bad += memcmp(r + 10, row, 36) != 0 || memcmp(r + 98, "\r\n", 2) != 0;
		for (int k = 0; k < 98; k++)
			bad += r[k] < ' ' || r[k] > '~';
	}
	ok(d.n == 1000000 && bad == 0, "ASCII records have the layout of the sort benchmark");
	free(d.bytes);
	o.binary = true;
	o.order = SP_GEN_SORTED;
	o.records = 0;
	o.bytes = 999901;
	d = generate(o);
	bad = 0;
	for (size_t i = 0; i < 10000; i++) {
		const char *r = d.bytes + i * 100;

		bad += memcmp(r + 10, "\x00\x11", 2) != 0 ||
		       memcmp(r + 96, "\xCC\xDD\xEE\xFF", 4) != 0;
		bad += i && memcmp(r - 100, r, 10) > 0;
	}
	ok(d.n == 1000000 && bad == 0, "binary records have it too, and sorted keys");
	free(d.bytes);
}

static void runs(double alpha, bool sorted)
{
	struct sp_gen_opts o = of(SP_GEN_RUNS);
	struct data d;
	double length = 1e10 / (1 + 9 * (1 - alpha));
	size_t bad = 0, disorder = 0, wide = 0;

	o.runs = 10;
	o.alpha = alpha;
	o.sorted_runs = sorted;
	d = generate(o);
	for (size_t run = 0; run < 10; run++) {
		double low = (double)run * (1 - alpha) * length, min = 1e10, max = 0, last = 0;

		for (size_t i = run * 1000; i < (run + 1) * 1000; i++) {
			double key = strtod(d.bytes + i * 64, NULL);

			bad += key < low - 1 || key > low + length + 1;
			bad += d.bytes[i * 64 + 63] != '\n';
			min = fmin(min, key);
			max = fmax(max, key);
			disorder += key < last;
			last = key;
		}
		wide += max - min > 0.97 * length;
	}
	ok(d.n == 640000 && bad == 0 && wide == 10, "keys of runs fill their ranges (alpha %g)",
	   alpha);
	ok(sorted ? disorder == 0 : disorder > 4000, "runs are %s",
	   sorted ? "sorted" : "not sorted");
	free(d.bytes);
}

static void permutations(void)
{
	static const uint64_t sizes[] = { 1, 2, 3, 7, 64, 65, 1000, 30000 };

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct sp__perm p;
		uint64_t n = sizes[s], still = 0, twice = 0;
		char *seen = calloc(n, 1);

		sp__perm_init(&p, n, 42);
		for (uint64_t i = 0; i < n; i++) {
			uint64_t at = sp__perm_at(&p, i);

			twice += at >= n || seen[at]++;
			still += at == i;
		}
		ok(twice == 0 && (n < 64 || still < 12), "a permutation of %llu hits each once",
		   (unsigned long long)n);
		free(seen);
	}
}

static void numbers(void)
{
	char got[32], want[32];
	size_t bad = 0;

	for (uint64_t v = 0, i = 0; i < 300000; i++) {
		memset(got, 0, sizeof(got));
		*sp__put_u64(got, v) = '\0';
		snprintf(want, sizeof(want), "%llu", (unsigned long long)v);
		bad += strcmp(got, want) != 0;
		*sp__put_hex16(got, v) = '\0';
		snprintf(want, sizeof(want), "%016llX", (unsigned long long)v);
		bad += strcmp(got, want) != 0;
		v = i < 100000 ? i + 1 : sp__mix64(i) >> (i % 64);
	}
	ok(bad == 0, "numbers are printed as printf prints them");
}

static void row_counts(void)
{
	static const struct {
		enum sp_gen_kind kind;
		uint64_t want;
	} tables[] = {
		{ SP_GEN_ORDERS, 15000 },  { SP_GEN_PARTSUPP, 8000 }, { SP_GEN_SUPPLIER, 100 },
		{ SP_GEN_CUSTOMER, 1500 }, { SP_GEN_PART, 2000 },
	};
	struct sp_gen_opts o = of(SP_GEN_SUPPLIER);
	struct data d;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		d = generate(of(tables[i].kind));
		ok(d.records == tables[i].want, "table %d has %llu rows at scale 0.01",
		   tables[i].kind, (unsigned long long)tables[i].want);
		free(d.bytes);
	}
	o.scale = 0.17;
	d = generate(o);
	ok(d.records == 1700, "scale 0.17 has 17 %% of the rows");
	free(d.bytes);
}

/* The expected sums of the lines of one order. */
struct sums {
	int64_t total;
	unsigned int lines, open;
};

static void add_line(const char *l, struct sums *s, size_t *bad)
{
	uint64_t part = number(l, 1), supp = number(l, 2), quantity = number(l, 4);
	int64_t price = cents(l, 5), discount = cents(l, 6), tax = cents(l, 7);
	const char *ship = column(l, 10), *receipt = column(l, 12);
	bool related = false;

	for (uint64_t i = 0; i < 4; i++)
		related |= supp == (part + i * (100 / 4 + (part - 1) / 100)) % 100 + 1;
	*bad += !related || part < 1 || part > 2000 || quantity < 1 || quantity > 50;
	*bad += price != (int64_t)(quantity * (90000 + part / 10 % 20001 + 100 * (part % 1000)));
	*bad += discount > 10 || tax > 8 || number(l, 3) != s->lines + 1;
	*bad += strncmp(ship, receipt, 10) >= 0;
	*bad += (strncmp(receipt, "1995-06-17", 10) > 0) != (*column(l, 8) == 'N');
	*bad += (strncmp(ship, "1995-06-17", 10) > 0) != (*column(l, 9) == 'O');
	s->open += *column(l, 9) == 'O';
	s->total += price * (100 - discount) / 100 * (100 + tax) / 100;
	s->lines++;
}

static void orders_and_lines(void)
{
	struct data orders = generate(of(SP_GEN_ORDERS)), lines = generate(of(SP_GEN_LINEITEM));
	size_t n, m, bad = 0, at = 0, sparse = 0, buyers = 0, early = 0;
	char **o = lines_of(&orders, &n), **l = lines_of(&lines, &m);

	for (size_t i = 0; i < n; i++) {
		struct sums s = { 0 };
		uint64_t key = number(o[i], 0), buyer = number(o[i], 1);

		for (; at < m && number(l[at], 0) == key; at++) {
			add_line(l[at], &s, &bad);
			early += strncmp(column(l[at], 10), column(o[i], 4), 10) <= 0;
		}
		bad += s.lines < 1 || s.lines > 7 || s.total != cents(o[i], 3);
		bad += *column(o[i], 2) != (s.open == 0 ? 'F' : s.open == s.lines ? 'O' : 'P');
		sparse += key % 32 > 7 || (i && key <= number(o[i - 1], 0));
		buyers += buyer < 1 || buyer > 1500 || buyer % 3 == 0;
		early += strncmp(column(o[i], 4), "1992-01-01", 10) < 0 ||
			 strncmp(column(o[i], 4), "1998-08-02", 10) > 0;
	}
	ok(at == m && bad == 0, "each order's lines come with it and add up to it");
	ok(m > 59000 && m < 61000, "an order has four lines on average");
	ok(sparse == 0, "order keys use 8 of every 32, in order");
	ok(buyers == 0, "customers of orders exist and are not multiples of three");
	ok(early == 0, "orders lie in their dates, and ship later");
	free(o);
	free(l);
	free(orders.bytes);
	free(lines.bytes);
}

static void suppliers_of_parts(double scale)
{
	struct sp_gen_opts opts = of(SP_GEN_PARTSUPP);
	struct sp__tpch *t = calloc(1, sizeof(*t));
	struct data d;
	size_t n, bad = 0;
	char **l;

	opts.scale = scale;
	sp__tpch_sizes(t, scale);
	d = generate(opts);
	l = lines_of(&d, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t part = number(l[i], 0), supp = number(l[i], 1);

		bad += part != i / 4 + 1 || supp < 1 || supp > t->suppliers;
		for (size_t k = i / 4 * 4; k < i; k++)
			bad += supp == number(l[k], 1);
	}
	ok(n == 4 * t->parts && bad == 0, "parts have four different suppliers at scale %g", scale);
	free(l);
	free(d.bytes);
	free(t);
}

static void pure_formula(void)
{
	struct sp__tpch *t = calloc(1, sizeof(*t));
	size_t bad = 0;

	for (uint32_t hundredths = 1; hundredths <= 300; hundredths++) {
		sp__tpch_sizes(t, hundredths / 100.0);
		if (hundredths != 1 && hundredths < 3)
			continue;
		for (uint64_t turn = 0; turn <= 20; turn++)
			bad += t->step[turn] != t->suppliers / 4 + turn;
	}
	ok(bad == 0, "from scale 0.03 on, and at 0.01, the formula is the specification's");
	free(t);
}

static void shuffled(enum sp_gen_kind kind)
{
	struct sp_gen_opts o = of(kind);
	struct data a = generate(o), b;
	size_t n, m, bad = 0, same = 0;
	char **x, **y;

	o.shuffle = true;
	b = generate(o);
	x = lines_of(&a, &n);
	y = lines_of(&b, &m);
	for (size_t i = 0; i < n && i < m; i++)
		same += strcmp(x[i], y[i]) == 0;
	qsort(x, n, sizeof(*x), by_text);
	qsort(y, m, sizeof(*y), by_text);
	for (size_t i = 0; i < n && i < m; i++)
		bad += strcmp(x[i], y[i]) != 0;
	ok(n == m && bad == 0, "table %d shuffled has the same rows", kind);
	ok(same < 12, "and hardly one in its place");
	free(x);
	free(y);
	free(a.bytes);
	free(b.bytes);
}

/* The smallest accepted buffer is never overrun. */
static void min_buffer(enum sp_gen_kind kind, bool option)
{
	struct sp_gen_opts o = of(kind);
	size_t capacity = 1, overrun = 0;
	long n = -EINVAL;
	struct sp_gen *g = NULL;
	char *buf = NULL;

	o.binary = o.sorted_runs = o.shuffle = option;
	o.words = option ? 1 : 20;
	o.missing = option;
	if (sp_gen_new(&g, &o, NULL) < 0)
		abort();
	for (; n == -EINVAL; capacity++) {
		free(buf);
		buf = malloc(capacity + 1);
		if (!buf)
			abort();
		buf[capacity] = '#';
		n = sp_gen_fill(g, buf, capacity);
	}
	for (capacity--; n > 0; n = sp_gen_fill(g, buf, capacity))
		overrun += buf[capacity] != '#' || n > (long)capacity;
	ok(n == 0 && overrun == 0 && capacity < 4096, "kind %d keeps within a buffer of %zu bytes",
	   kind, capacity);
	free(buf);
	sp_gen_free(g);
}

static void refusals(void)
{
	struct sp_gen_opts o = of(SP_GEN_LINES);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_gen *g = NULL;
	char small[8];

	o.records = 0;
	ok(sp_gen_new(&g, &o, &err) == -EINVAL && err.text[0],
	   "lines without number or size are refused with a reason");
	o = of(SP_GEN_RUNS);
	o.alpha = NAN;
	ok(sp_gen_new(&g, &o, NULL) == -EINVAL, "an alpha that is not a number is refused");
	o = of(SP_GEN_PART);
	o.scale = 0;
	ok(sp_gen_new(&g, &o, NULL) == -EINVAL, "scale 0 is refused");
	o = of(SP_GEN_RECORDS);
	ok(sp_gen_new(&g, &o, NULL) == 0 && sp_gen_fill(g, small, sizeof(small)) == -EINVAL,
	   "a buffer below one record is refused");
	sp_gen_free(g);
	sp_gen_free(NULL);
}

int main(void)
{
	same_bytes_everywhere();
	orders_of_keys();
	lines_by_bytes();
	few_and_zipf();
	zipf_ranks(1, 100000);
	zipf_ranks(0, 10);
	zipf_ranks(0.5, 1000);
	zipf_ranks(1.2, 3);
	zipf_ranks(8, 100);
	records();
	for (int i = 0; i <= 2; i++) {
		runs(i / 2.0, false);
		runs(i / 2.0, true);
	}
	permutations();
	numbers();
	row_counts();
	orders_and_lines();
	suppliers_of_parts(0.0001);
	suppliers_of_parts(0.004);
	suppliers_of_parts(0.012);
	suppliers_of_parts(0.03);
	pure_formula();
	for (enum sp_gen_kind kind = SP_GEN_LINEITEM; kind <= SP_GEN_PART; kind++)
		shuffled(kind);
	shuffled(SP_GEN_T1);
	shuffled(SP_GEN_T2);
	for (enum sp_gen_kind kind = SP_GEN_LINES; kind <= SP_GEN_G1; kind++) {
		min_buffer(kind, false);
		min_buffer(kind, true);
	}
	refusals();
	return done();
}
