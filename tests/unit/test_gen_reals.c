/* SPDX-License-Identifier: MIT */
/*
 * The table R: its first record, its size and its distribution.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "gencase.h"
#include "tap.h"

/* Mean and chi-square of 100 classes lie within 4 standard deviations; so do all bits. */
static void reals(void)
{
	struct sp_gen_opts o = of(SP_GEN_R);
	unsigned int count[100] = { 0 }, ones[53] = { 0 };
	double sum = 0, chi = 0, expected = 1500, worst = 0, v;
	struct data d;

	o.binary = true;
	d = generate(o);
	ok(d.n == 1200000 && d.records == 10000, "a binary record of R has 120 bytes");
	for (size_t i = 0; i < d.n / 8; i++) {
		memcpy(&v, d.bytes + 8 * i, 8);
		sum += v;
		count[(unsigned int)(v * 100)]++;
		for (int bit = 0; bit < 53; bit++)
			ones[bit] += (uint64_t)(v * 0x1p53) >> bit & 1;
	}
	for (int i = 0; i < 100; i++)
		chi += (count[i] - expected) * (count[i] - expected) / expected;
	for (int bit = 0; bit < 53; bit++)
		worst = fmax(worst, fabs(ones[bit] - 75000.0) / sqrt(150000 / 4.0));
	ok(fabs(sum / 150000 - 0.5) < 4 * sqrt(1 / 12.0 / 150000), "numbers of R have mean 1/2");
	ok(fabs(chi - 99) < 4 * sqrt(2 * 99.0), "numbers of R are uniform");
	ok(worst < 4, "the 53 bits of numbers of R are random");
	free(d.bytes);
}

/* R has 8 million records, unless a number of records or bytes is given. */
static void first_reals(void)
{
	static const char want[] =
		"0.9414919715049116|0.6019400937191685|0.7065746855233951|0.695402244587174|"
		"0.017777172032151456|0.5760008797676671|0.5429146248374732|0.6094548011966086|"
		"0.3481520602671363|0.04644381278471765|0.3282439121551912|0.6675844424688814|"
		"0.3373661568716164|0.14147918890578803|0.5067613564956864|\n";
	struct sp_gen_opts o = of(SP_GEN_R);
	struct sp_gen *g = NULL;
	char *buf = malloc(65536);
	long n;

	if (!buf || sp_gen_new(&g, &o, NULL) < 0)
		abort();
	n = sp_gen_fill(g, buf, 65536);
	ok(n > 0 && !strncmp(buf, want, sizeof(want) - 1), "the first record of R is exact");
	sp_gen_free(g);
	o.binary = true;
	o.records = 0;
	if (sp_gen_new(&g, &o, NULL) < 0)
		abort();
	while (sp_gen_fill(g, buf, 65536) > 0)
		;
	ok(sp_gen_count(g) == 8000000, "R has 8 million records");
	sp_gen_free(g);
	free(buf);
}
int main(void)
{
	reals();
	first_reals();
	return done();
}
