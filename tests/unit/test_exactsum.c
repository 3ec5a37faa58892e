/* SPDX-License-Identifier: MIT */
/* Exact sums of f64: results of rational arithmetic, orders, divisions into several sums. */
#include <math.h>
#include "base/exactsum.h"
#include "base/rng.h"
#include "tap.h"

/* Numbers, their sum divided by n; computed by fractions.Fraction of Python. */
static const struct {
	double x[4];
	unsigned count;
	uint64_t n;
	double result;
} cases[] = {
	{ { 0x1.1ccf385ebc8a0p+1023, 0x1.1ccf385ebc8a0p+1023, -0x1.1ccf385ebc8a0p+1023 },
	  3,
	  1u,
	  0x1.1ccf385ebc8a0p+1023 },
	{ { 0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023 },
	  3,
	  1u,
	  (double)INFINITY },
	{ { 0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023 },
	  3,
	  3u,
	  0x1.fffffffffffffp+1023 },
	{ { 0x0.0000000000001p-1022 }, 1, 2u, 0x0.0p+0 },
	{ { 0x0.0000000000001p-1022, 0x0.0000000000001p-1022, 0x0.0000000000001p-1022 },
	  3,
	  2u,
	  0x0.0000000000002p-1022 },
	{ { 0x0.0000000000001p-1022 }, 1, 3u, 0x0.0p+0 },
	{ { 0x0.0000000000001p-1022, 0x0.0000000000001p-1022 }, 2, 3u, 0x0.0000000000001p-1022 },
	{ { -0x0.0000000000001p-1022, -0x0.0000000000001p-1022, -0x0.0000000000001p-1022 },
	  3,
	  2u,
	  -0x0.0000000000002p-1022 },
	{ { 0x1p+0, 0x1p-53 }, 2, 1u, 0x1p+0 },
	{ { 0x1p+0, 0x1p-53, 0x0.0000000000001p-1022 }, 3, 1u, 0x1.0000000000001p+0 },
	{ { 0x1p+0, 0x1p-53, 0x1p-54 }, 3, 1u, 0x1.0000000000001p+0 },
	{ { 0x1p+0, 0x1p-53, 0x1p-52 }, 3, 1u, 0x1.0000000000002p+0 },
	{ { -0x1p+0, -0x1p-53, -0x0.0000000000001p-1022 }, 3, 1u, -0x1.0000000000001p+0 },
	{ { 0x1.1c37937e08000p+53, 0x1p+0, -0x1.1c37937e08000p+53 }, 3, 1u, 0x1p+0 },
	{ { 0x1.249ad2594c37dp+332, 0x1p+0, -0x1.249ad2594c37dp+332, 0x1.bff2ee48e0530p-333 },
	  4,
	  1u,
	  0x1p+0 },
	{ { 0x1.999999999999ap-4, 0x1.999999999999ap-4, 0x1.999999999999ap-4 },
	  3,
	  3u,
	  0x1.999999999999ap-4 },
	{ { 0x1.999999999999ap-4, 0x1.999999999999ap-3, 0x1.3333333333333p-2 },
	  3,
	  3u,
	  0x1.999999999999ap-3 },
	{ { 0x1p-1022, -0x0.0000000000001p-1022 }, 2, 1u, 0x0.fffffffffffffp-1022 },
	{ { 0x1p+0 }, 1, 3u, 0x1.5555555555555p-2 },
	{ { 0x1p+0 }, 1, UINT64_C(18446744073709551615), 0x1p-64 },
	{ { 0x1p+1023, 0x1p+1023 }, 2, 2u, 0x1p+1023 },
	{ { -0x1.1ce375bc8fbbcp-1021, -0x1.d4330f1446beap-1021, 0x1.1ce375bc8fbbdp-1021 },
	  3,
	  2u,
	  -0x1.d4330f1446be9p-1022 },
	{ { 0x1.dd97f1cfb10f6p+499 }, 1, 1u, 0x1.dd97f1cfb10f6p+499 },
	{ { 0x1.b73993fd42359p-1021 }, 1, 7u, 0x0.7d7e2a485c0f5p-1022 },
	{ { -0x1.0691c238642eap-540, 0x1.0691c238642eap-540 }, 2, 1u, 0x0.0p+0 },
	{ { -0x1.ff337f5cae3bfp+952, 0x1.ff337f5cae3c1p+952 }, 2, 2u, 0x1p+900 },
	{ { -0x1.35634f0e3cd97p+896, 0x1.6aa3bb0cde917p-217 }, 2, 3u, -0x1.9c8469685121fp+894 },
	{ { 0x1.c18806a375391p+36 }, 1, 3u, 0x1.2bb0046cf8d0bp+35 },
	{ { -0x1.a43abad8d194ap-1022 }, 1, 3u, -0x0.8c13939d9b319p-1022 },
	{ { 0x1.d4c8650d7d13fp-1022, -0x0.5325278f845f5p-1022, 0x0.521fe0e979cf3p-1022,
	    -0x1.29101f3001ceep-1022 },
	  4,
	  7u,
	  0x0.1862b6bec6f54p-1022 },
	{ { -0x1.b1e249419cf4dp-23, 0x1.64ef773ec28d0p+22, 0x1.b1e249419cf4dp-23 },
	  3,
	  7u,
	  0x1.97ed1a90de580p+19 },
	{ { -0x1.8b6c85ad3ba32p-1021, -0x1.deb5d403a960ap-1022, -0x1.abb7b1ba95a54p-1021 },
	  3,
	  3u,
	  -0x1.622a60788ca84p-1021 },
	{ { -0x1.49692f21ff5ebp-18 }, 1, 3u, -0x1.b736e982a9d39p-20 },
	{ { -0x1.837044692ba03p+21, 0x1.21e6c8b8e8f4ep-4 }, 2, 1u, -0x1.837043d8383bdp+21 },
	{ { 0x1.e84fcb06dbee0p-1022, -0x1.e84fcb06dbee4p-1022 }, 2, 7u, -0x0.0000000000001p-1022 },
	{ { -0x1.dc6ffbd953dc2p-639 }, 1, UINT64_C(499290845198), -0x1.064bd8397775fp-677 },
	{ { -0x1.30fac0e42d43cp+939, -0x1.939efea83854ap-457, -0x1.9e15808606af8p+212,
	    0x1.d2adb7e5a3930p+345 },
	  4,
	  UINT64_C(1078597592995),
	  -0x1.36e49ffbfedbfp+899 },
	{ { -0x1.afe62e580c35ep-1022, 0x1.afe62e580c35ep-1022 }, 2, 3u, 0x0.0p+0 },
	{ { -0x1.21f09ec08693cp+16, 0x1.6955dda2d3b3dp+10 },
	  2,
	  UINT64_C(758010871031),
	  -0x1.9c5ff64f6b5c0p-24 },
	{ { 0x1.0754646273141p+7, -0x1.053f7675ebe3bp-14, 0x1.31ef21cd0c151p+29 },
	  3,
	  UINT64_C(197395906159),
	  0x1.aa050b21d77a9p-9 },
	{ { 0x1.1b5ac2e1c5d3ap+8, -0x1.2c32845b61df2p+27, -0x1.d0fc58c5050eap+9,
	    0x1.7e5d35c7fe058p+27 },
	  4,
	  4u,
	  0x1.48a9826379456p+23 },
	{ { -0x1.f39495d09dd29p+22 }, 1, 3u, -0x1.4d0db935be8c6p+21 },
	{ { 0x1.bf762a6523995p+14, 0x1.6f33dda1101aap+7, -0x1.bf762a6523997p+14 },
	  3,
	  3u,
	  0x1.e99a7cd6c00e3p+5 },
	{ { -0x1.15158461cb6e0p-1, -0x1.0feb0bce240c6p+30, 0x1.c8f1c68916d08p+36 },
	  3,
	  UINT64_C(952924012775),
	  0x1.052ab270585f6p-3 },
	{ { 0x1.741e7f4de438fp+10, -0x1.2d4d52450d1c3p-13, -0x1.cbf2532daef9fp+0,
	    -0x1.741e7f4de438fp+10 },
	  4,
	  UINT64_C(737530437500),
	  -0x1.56df3a9d13242p-39 },
	{ { -0x1.66f539de552ddp+125, -0x1.24700efac6de6p-692, -0x1.1e48884366826p-345,
	    0x1.66f539de552e0p+125 },
	  4,
	  UINT64_C(952515103940),
	  0x1.bb42ba063ca84p+34 },
	{ { 0x0.23c8dfefaf558p-1022, -0x1.1787d28f74587p-1022, -0x0.23c8dfefaf558p-1022 },
	  3,
	  UINT64_C(692265118604),
	  -0x0.0000000001bc0p-1022 },
	{ { 0x1.b08e4fad18c6ap-13 }, 1, 3u, 0x1.205edfc8bb2f1p-14 },
	{ { -0x1.ebf8731800c21p-21, 0x1.ebf8731800c25p-21 }, 2, 2u, 0x1p-72 },
	{ { 0x0.f2e16e736f4fcp-1022, 0x1.6b46259bbb436p-1022 },
	  2,
	  UINT64_C(128275216607),
	  0x0.00000000144bbp-1022 },
	{ { -0x1.289458cc8678bp-558, 0x1.63b8a4d27667dp-635, -0x1.3983c4b978eafp-838 },
	  3,
	  3u,
	  -0x1.8b70766608a0fp-560 },
	{ { 0x1.422a76b4a4399p+653, -0x1.d11ddd0201a41p-762, -0x1.422a76b4a4399p+653 },
	  3,
	  7u,
	  -0x1.09c7ec0125825p-764 },
	{ { 0x1.b2d2df7cea56ep-479, 0x1.0b6ae9bcddba3p-651, -0x1.c694059e2be57p+292,
	    -0x1.b2d2df7cea56ep-479 },
	  4,
	  4u,
	  -0x1.c694059e2be57p+290 },
	{ { -0x1.248b4a1240c23p+34, 0x1.7983b907599c8p+4 }, 2, 3u, -0x1.860f0d65ce446p+32 },
	{ { 0x0.6b75961394c10p-1022, -0x1.d23d2988700adp-1022, -0x1.18ac1bdb3e4fap-1022,
	    -0x0.6b75961394c10p-1022 },
	  4,
	  3u,
	  -0x0.f8f86c768f738p-1022 },
	{ { 0x1.3ebee06161d01p+19, -0x1.3ebee06161d01p+19 }, 2, 7u, 0x0.0p+0 },
	{ { -0x1.0d46588562827p-6 }, 1, 1u, -0x1.0d46588562827p-6 },
	{ { -0x1.abf0044873beap-14, 0x1.abf0044873bedp-14 }, 2, 2u, 0x1.8000000000000p-66 },
	{ { 0x1.3a7e2c2a97ce2p-507 }, 1, 3u, 0x1.a352e58e1fbd8p-509 },
	{ { 0x1.04b9087a565a4p-1022, 0x1.d13a1598a2ea5p-1021, -0x1.04b9087a565a4p-1022 },
	  3,
	  7u,
	  0x0.84ec062b9c42fp-1022 },
	{ { 0x0.1209f8babefb1p-1022 }, 1, 1u, 0x0.1209f8babefb1p-1022 },
};

static bool same(double a, double b)
{
	return !memcmp(&a, &b, sizeof(a));
}

static void rational(void)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sp__exactsum s = { 0 };
		double got;

		for (unsigned k = 0; k < cases[i].count; k++)
			sp__exactsum_add(&s, cases[i].x[k]);
		got = sp__exactsum_divide(&s, cases[i].n);
		if (same(got, cases[i].result))
			continue;
		diag("case %zu: %a instead of %a", i, got, cases[i].result);
		wrong++;
	}
	ok(!wrong, "sums and means are rounded once, as rational arithmetic says");
}

/* Any finite number. */
static double any(struct sp__rng *rng)
{
	uint64_t bits;
	double x;

	do {
		bits = sp__rng_next(rng);
		memcpy(&x, &bits, sizeof(x));
	} while (!isfinite(x));
	return x;
}

static void orders(void)
{
	static double x[5000];
	struct sp__rng rng = { 3 };
	struct sp__exactsum forward = { 0 }, parts[3] = { 0 }, both = { 0 };

	for (unsigned i = 0; i < 5000; i++) {
		x[i] = any(&rng) / 8192;
		sp__exactsum_add(&forward, x[i]);
	}
	for (unsigned i = 5000; i--;)
		sp__exactsum_add(&parts[sp__rng_below(&rng, 3)], x[i]);
	sp__exactsum_merge(&parts[2], &parts[0]);
	sp__exactsum_merge(&parts[2], &parts[1]);
	ok(same(sp__exactsum_divide(&forward, 1), sp__exactsum_divide(&parts[2], 1)) &&
		   same(sp__exactsum_divide(&forward, 77), sp__exactsum_divide(&parts[2], 77)),
	   "a sum does not depend on the order of the numbers or on parts");
	for (unsigned i = 0; i < 5000; i++) {
		sp__exactsum_add(&both, x[i]);
		sp__exactsum_add(&both, -x[4999 - i]);
	}
	sp__exactsum_add(&both, 0x1p-1074);
	ok(same(sp__exactsum_divide(&both, 1), 0x1p-1074), "numbers cancel each other exactly");
}

/* Halfway between two numbers, and a power of 2 above it, at each place of the sum. */
static void ties(void)
{
	unsigned wrong = 0;

	for (int top = 1022; top >= -1020; top--) {
		struct sp__exactsum s = { 0 };
		const double x = ldexp(1, top), next = ldexp(1 + 0x1p-52, top);

		sp__exactsum_add(&s, x);
		wrong += !same(sp__exactsum_divide(&s, 1), x);
		sp__exactsum_add(&s, ldexp(1, top - 53));
		wrong += !same(sp__exactsum_divide(&s, 1), x);
		for (int more = top - 54; more >= -1074; more -= 11) {
			struct sp__exactsum above = s;

			sp__exactsum_add(&above, ldexp(1, more));
			wrong += !same(sp__exactsum_divide(&above, 1), next);
		}
	}
	ok(!wrong, "a sum is rounded up from a tie if any smaller number is in it");
}

static void specials(void)
{
	struct sp__exactsum s = { 0 }, large = { 0 };

	ok(same(sp__exactsum_divide(&s, 1), 0.0), "the sum of no numbers is 0");
	sp__exactsum_add(&s, -0.0);
	ok(same(sp__exactsum_divide(&s, 1), 0.0), "0 has no sign");
	sp__exactsum_add(&s, (double)INFINITY);
	sp__exactsum_add(&s, -1e308);
	ok(same(sp__exactsum_divide(&s, 2), (double)INFINITY), "infinity stays");
	sp__exactsum_add(&s, -(double)INFINITY);
	ok(isnan(sp__exactsum_divide(&s, 1)), "infinities of both signs are NaN");
	for (unsigned i = 0; i < 100000; i++)
		sp__exactsum_add(&large, i % 3 ? 0x1.fffffffffffffp1023 : -0x1p1000);
	ok(same(sp__exactsum_divide(&large, 1), (double)INFINITY) &&
		   isfinite(sp__exactsum_divide(&large, 100000)),
	   "a sum beyond all numbers is infinite, its mean is not");
	sp__exactsum_add(&large, (double)NAN);
	ok(isnan(sp__exactsum_divide(&large, 1)), "NaN stays");
}

int main(void)
{
	rational();
	orders();
	ties();
	specials();
	return done();
}
