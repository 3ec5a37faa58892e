/* SPDX-License-Identifier: MIT */
/*
 * Parses sizes, and shares of the memory.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <spindle/size.h>

static int percent_of_memory(uint64_t percent, uint64_t *bytes)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	unsigned __int128 v;

	if (pages <= 0 || page <= 0)
		return -EINVAL;
	v = (unsigned __int128)pages * (uint64_t)page * percent / 100;
	if (v > UINT64_MAX)
		return -ERANGE;
	*bytes = (uint64_t)v;
	return 0;
}

static int power_of(char suffix)
{
	static const char letters[] = "KMGTPEZYRQ", small[] = "kmgt";
	const char *p;

	p = suffix ? strchr(small, suffix) : NULL;
	if (p)
		return (int)(p - small) + 1;
	p = suffix ? strchr(letters, suffix) : NULL;
	return p ? (int)(p - letters) + 1 : -1;
}

int sp_size_parse(const char *text, uint64_t default_unit, uint64_t *bytes)
{
	uint64_t v = 0;
	bool over = false;
	const char *p = text;
	int power;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++)
		over |= __builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*p - '0'), &v);
	if (p[0] && p[1])
		return -EINVAL;
	if (*p == '%')
		return over ? -ERANGE : percent_of_memory(v, bytes);
	if (!*p) {
		over |= __builtin_mul_overflow(v, default_unit, &v);
	} else if (*p != 'b') {
		power = power_of(*p);
		if (power < 0)
			return -EINVAL;
		for (; power > 0; power--)
			over |= __builtin_mul_overflow(v, 1024, &v);
	}
	if (over)
		return -ERANGE;
	*bytes = v;
	return 0;
}
