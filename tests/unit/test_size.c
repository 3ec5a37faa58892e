/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <spindle/size.h>
#include "tap.h"

static void good(const char *text, uint64_t want)
{
	uint64_t got = 0;
	int rc = sp_size_parse(text, 1024, &got);

	ok(rc == 0 && got == want, "'%s' is %llu bytes", text, (unsigned long long)want);
}

static void bad(const char *text, int want)
{
	uint64_t got = 7;
	int rc = sp_size_parse(text, 1024, &got);

	ok(rc == want && got == 7, "'%s' is refused with %d", text, want);
}

int main(void)
{
	uint64_t half, whole;

	good("0", 0);
	good("1", 1024);
	good("10b", 10);
	good("3k", 3 << 10);
	good("3K", 3 << 10);
	good("3m", 3 << 20);
	good("3t", 3ull << 40);
	good("64M", 64 << 20);
	good("2G", 2ull << 30);
	good("7E", 7ull << 60);
	bad("", -EINVAL);
	bad("x", -EINVAL);
	bad("-1", -EINVAL);
	bad("1 ", -EINVAL);
	bad("1kb", -EINVAL);
	bad("1p", -EINVAL);
	bad("1Z", -ERANGE);
	bad("18446744073709551616b", -ERANGE);
	bad("99999999999999999999%", -ERANGE);
	ok(sp_size_parse("50%", 1024, &half) == 0 && sp_size_parse("100%", 1024, &whole) == 0 &&
		   half == whole / 2 && whole > 0,
	   "percentages are of the machine's memory");
	return done();
}
