/* SPDX-License-Identifier: MIT */
/*
 * The tables of DBmbench: distributions of their columns by chi-square, what queries of given
 * selectivities meet against expectations, and the relation of T1 and T2.
 *
 * Values lie within 4 standard deviations.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "gencase.h"
#include "tap.h"

#define OWNERS 150000
#define A2 20000
#define A3 50
#define MAX_ROWS 7
#define PAGE 81 /* records */

struct row {
	uint32_t a1, a2, a3;
};

struct rows {
	struct row *row;
	size_t n, bad; /* bad: lines of another form */
	uint32_t owners;
};

static bool padding_only(const char *p, size_t bytes)
{
	return strspn(p, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") ==
		       bytes &&
	       p[bytes] == '\n';
}

static struct rows rows_of(const struct sp_gen_opts *o)
{
	struct data d = generate(*o);
	struct rows r = { .row = calloc(d.records, sizeof(struct row)) };
	size_t padding = (o->record_bytes ? o->record_bytes : 100) - 12;
	char *p = d.bytes;

	if (!r.row)
		abort();
	for (r.n = 0; r.n < d.records && p < d.bytes + d.n; r.n++) {
		struct row *w = &r.row[r.n];

		w->a1 = (uint32_t)strtoul(p, &p, 10);
		w->a2 = (uint32_t)strtoul(p + 1, &p, 10);
		w->a3 = (uint32_t)strtoul(p + 1, &p, 10);
		r.bad += *p != '|' || !padding_only(p + 1, padding);
		r.bad += w->a1 < 1 || w->a2 < 1 || w->a2 > A2 || w->a3 < 1 || w->a3 > A3;
		r.owners = w->a1 > r.owners ? w->a1 : r.owners;
		p += padding + 2;
	}
	r.bad += p != d.bytes + d.n || r.n != d.records;
	free(d.bytes);
	return r;
}

static struct rows table(enum sp_gen_kind kind, double scale, bool shuffle)
{
	struct sp_gen_opts o = of(kind);

	o.scale = scale;
	o.shuffle = shuffle;
	return rows_of(&o);
}

/* True if a value is within 4 standard deviations of its mean. */
static bool near(double value, double mean, double variance, const char *what)
{
	diag("%s: %g, expected %g, deviation %g", what, value, mean, sqrt(variance));
	return fabs(value - mean) <= 4 * sqrt(variance) + 1e-6;
}

/* Chi-square of equal shares. */
static bool even(const uint32_t *count, size_t classes, const char *what)
{
	double total = 0, chi = 0, expected;

	for (size_t i = 0; i < classes; i++)
		total += count[i];
	expected = total / (double)classes;
	for (size_t i = 0; i < classes; i++)
		chi += (count[i] - expected) * (count[i] - expected) / expected;
	return near(chi, (double)classes - 1, 2 * ((double)classes - 1), what);
}

static uint32_t *rows_per_owner(const struct rows *r)
{
	uint32_t *count = calloc(r->owners + 1, sizeof(*count));

	if (!count)
		abort();
	for (size_t i = 0; i < r->n; i++)
		count[r->row[i].a1]++;
	return count;
}

static void columns(const struct rows *r, const char *name)
{
	uint32_t *a2 = calloc(A2, sizeof(*a2)), a3[A3] = { 0 }, both[20 * A3] = { 0 };

	if (!a2)
		abort();
	for (size_t i = 0; i < r->n; i++) {
		const struct row *w = &r->row[i];

		a2[w->a2 - 1]++;
		a3[w->a3 - 1]++;
		both[(w->a2 - 1) / (A2 / 20) * A3 + w->a3 - 1]++;
	}
	ok(even(a2, A2, "a2"), "%s: a2 is uniform from 1 to 20000", name);
	ok(even(a3, A3, "a3"), "%s: a3 is uniform from 1 to 50", name);
	ok(even(both, 20 * A3, "a2, a3"), "%s: a2 and a3 are independent", name);
	free(a2);
}

static void multiplicity(const struct rows *r)
{
	uint32_t *count = rows_per_owner(r), share[MAX_ROWS] = { 0 };
	size_t bad = 0, disorder = 0;

	for (uint32_t i = 1; i <= r->owners; i++)
		if (count[i] < 1 || count[i] > MAX_ROWS)
			bad++;
		else
			share[count[i] - 1]++;
	for (size_t i = 1; i < r->n; i++)
		disorder += r->row[i - 1].a1 > r->row[i].a1;
	ok(r->owners == OWNERS && !bad, "each of the 150000 rows of T2 has 1 to 7 rows in T1");
	ok(even(share, MAX_ROWS, "rows of an a1"), "their number is uniform");
	ok(!disorder, "T1 is in the order of a1");
	free(count);
}

static void all_of_t2(const struct rows *r)
{
	size_t bad = 0;

	for (size_t i = 0; i < r->n; i++)
		bad += r->row[i].a1 != i + 1;
	ok(r->n == OWNERS && !bad, "T2 has a1 from 1 to 150000 in order");
}

struct met {
	size_t rows, values, owners, pages;
};

/* Counts what low < a2 < high meets; T1 is in the order of a1. */
static struct met query(const struct rows *r, uint32_t low, uint32_t high)
{
	struct met m = { 0 };
	bool seen[A3 + 1] = { false };
	size_t owner = 0, page = SIZE_MAX;

	for (size_t i = 0; i < r->n; i++) {
		const struct row *w = &r->row[i];

		if (w->a2 <= low || w->a2 >= high)
			continue;
		m.rows++;
		m.values += !seen[w->a3];
		seen[w->a3] = true;
		m.owners += w->a1 != owner;
		owner = w->a1;
		m.pages += i / PAGE != page;
		page = i / PAGE;
	}
	return m;
}

static double owner_share(double s)
{
	double none = 0;

	for (int rows = 1; rows <= MAX_ROWS; rows++)
		none += pow(1 - s, rows) / MAX_ROWS;
	return 1 - none;
}

static double page_share(double s, size_t records)
{
	return 1 - pow(1 - s, (double)records);
}

static void selectivity(const struct rows *r, double s, uint32_t low)
{
	struct met m = query(r, low, low + 1 + (uint32_t)lround(s * A2));
	size_t full = r->n / PAGE, last = r->n % PAGE;
	double n = (double)m.rows, p, without = A3 * pow(1 - 1.0 / A3, n);

	/* The number of rows of T1 varies, too: by 4 for each a1. */
	ok(near(n, 4.0 * OWNERS * s, 4.0 * OWNERS * (s * (1 - s) + s * s), "rows"),
	   "selectivity %g from %u: rows", s, low);
	ok(near((double)m.values, A3 - without,
		without + A3 * (A3 - 1) * pow(1 - 2.0 / A3, n) - without * without, "values"),
	   "different a3");
	p = owner_share(s);
	ok(near((double)m.owners, OWNERS * p, OWNERS * p * (1 - p), "owners"), "rows of T2");
	p = page_share(s, PAGE);
	ok(near((double)m.pages, (double)full * p + page_share(s, last),
		(double)full * p * (1 - p) + (last ? 0.25 : 0), "pages"),
	   "pages of 81 records");
}

/*
 * Each tenth of the table has an equal share of each tenth of the values of a1.  A row follows one
 * of the same or the previous a1 8 times in T1 and once in T2 on average.
 */
static void in_random_order(const struct rows *r, const char *name)
{
	uint32_t tenths[100] = { 0 };
	size_t neighbours = 0;

	for (size_t i = 0; i < r->n; i++) {
		tenths[i * 10 / r->n * 10 + (r->row[i].a1 - 1) * 10ull / r->owners]++;
		neighbours += i && r->row[i].a1 - r->row[i - 1].a1 <= 1;
	}
	ok(even(tenths, 100, "tenths"), "%s shuffled: a1 does not depend on the position", name);
	ok(neighbours < 20, "%s shuffled: rows of one a1 are apart", name);
}

static bool same_rows(enum sp_gen_kind kind, const struct rows *all, double scale)
{
	struct rows r = table(kind, scale, false);
	bool same = r.n < all->n && !memcmp(r.row, all->row, r.n * sizeof(*r.row));

	free(r.row);
	return same;
}

/* Two generators that run alternately give what one gives, with buffers of another size. */
static void alternately(enum sp_gen_kind kind)
{
	struct sp_gen_opts o = of(kind);
	struct data d;
	struct sp_gen *g[2] = { NULL };
	size_t done[2] = { 0 }, bad = 0;
	char *buf = malloc(65536);
	long n;

	o.shuffle = true;
	d = generate(o);
	if (!buf || sp_gen_new(&g[0], &o, NULL) < 0 || sp_gen_new(&g[1], &o, NULL) < 0)
		abort();
	for (int i = 0; done[i] < d.n; i ^= 1) {
		n = sp_gen_fill(g[i], buf, i ? 1000 : 50000);
		if (n <= 0 || done[i] + (size_t)n > d.n) {
			bad++;
			break;
		}
		bad += memcmp(buf, d.bytes + done[i], (size_t)n) != 0;
		done[i] += (size_t)n;
	}
	ok(!bad, "equal options give equal bytes (kind %d)", kind);
	sp_gen_free(g[0]);
	sp_gen_free(g[1]);
	free(buf);
	free(d.bytes);
}

static void sizes(enum sp_gen_kind kind)
{
	static const size_t bytes[] = { 13, 21, 22, 23, 100, 32768 };
	struct sp_gen_opts o = of(kind);
	struct sp_gen *g = NULL;
	size_t bad = 0;
	struct rows r;

	o.scale = 1e-6;
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		o.record_bytes = bytes[i];
		r = rows_of(&o);
		bad += r.bad || r.owners != 1;
		free(r.row);
	}
	ok(!bad, "records of 13 to 32768 bytes of one a1 (kind %d)", kind);
	o.record_bytes = 12;
	bad = sp_gen_new(&g, &o, NULL) != -EINVAL;
	o.record_bytes = 32769;
	bad += sp_gen_new(&g, &o, NULL) != -EINVAL;
	o.record_bytes = 0;
	o.scale = 14317;
	bad += sp_gen_new(&g, &o, NULL) != -EINVAL;
	ok(!bad, "other sizes, and an a1 of more than 4 bytes, are refused (kind %d)", kind);
}

int main(void)
{
	static const char *const names[] = { "T1", "T2" };

	for (int i = 0; i < 2; i++) {
		enum sp_gen_kind kind = i ? SP_GEN_T2 : SP_GEN_T1;
		struct rows r = table(kind, 1, false), shuffled = table(kind, 1, true);

		ok(!r.bad && !shuffled.bad, "%s: a1|a2|a3|padding", names[i]);
		columns(&r, names[i]);
		if (i) {
			all_of_t2(&r);
		} else {
			multiplicity(&r);
			for (uint32_t low = 0; low < 16000; low += 5333) {
				selectivity(&r, 0.0001, low);
				selectivity(&r, 0.01, low);
				selectivity(&r, 0.2, low);
			}
		}
		in_random_order(&shuffled, names[i]);
		ok(same_rows(kind, &r, 0.1), "%s of a lower scale is its beginning", names[i]);
		free(r.row);
		free(shuffled.row);
		alternately(kind);
		sizes(kind);
	}
	return done();
}
