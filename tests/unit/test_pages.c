/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "tap.h"

#define MB ((size_t)1 << 20)

/* Is all of it there, and zero at first? */
static bool usable(char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (p[i])
			return false;
	memset(p, 1, bytes);
	return true;
}

static void check_alloc(size_t bytes, bool huge)
{
	char *p = sp__pages_alloc(bytes, huge);

	ok(p && (uintptr_t)p % 4096 == 0 && usable(p, bytes), "%zu bytes, huge %d: zeroed pages",
	   bytes, (int)huge);
	if (huge && bytes >= 2 * MB)
		ok(((uintptr_t)p + bytes + 4095) / 4096 * 4096 % (2 * MB) == 0,
		   "the last huge page ends with them");
	sp__pages_free(p, bytes);
}

/* A block keeps its contents as it grows from malloc() to pages, and in them. */
static void check_resize(void)
{
	static const size_t sizes[] = { 0, 100, MB - 1, MB, 3 * MB, 7 * MB + 12345, 0 };
	const size_t n = sizeof(sizes) / sizeof(sizes[0]);
	char *p = NULL;
	bool same = true;

	for (size_t i = 1; i < n; i++) {
		p = sp__block_resize(p, sizes[i - 1], sizes[i]);
		for (size_t k = 0; sizes[i] && k < sizes[i - 1]; k++)
			same &= p[k] == (char)(k % 251);
		for (size_t k = 0; k < sizes[i]; k++)
			p[k] = (char)(k % 251);
	}
	ok(same && !p, "a block keeps its contents until it is freed");
}

int main(void)
{
	for (int huge = 0; huge < 2; huge++) {
		check_alloc(1, huge);
		check_alloc(4096, huge);
		check_alloc(2 * MB, huge);
		check_alloc(3 * MB, huge);
		check_alloc(5 * MB + 4096, huge);
		check_alloc(5 * MB + 1, huge);
	}
	ok(sp__pages_whole(0) == 0 && sp__pages_whole(MB - 1) == MB - 1 &&
		   sp__pages_whole(MB) == 2 * MB && sp__pages_whole(2 * MB) == 2 * MB &&
		   sp__pages_whole(2 * MB + 1) == 4 * MB,
	   "buffers of a megabyte and more are whole huge pages");
	check_resize();
	return done();
}
