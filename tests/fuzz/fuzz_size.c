/* SPDX-License-Identifier: MIT */
/*
 * The size parser: what it accepts has the value that long arithmetic gives,
 * and it accepts nothing that ends otherwise than in a digit or a suffix.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/size.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "18446744073709551615", "1024", "K", "M", "b", "%", NULL };

static void require(bool cond)
{
	if (!cond)
		abort();
}

/* The value as a long double: exact enough to tell a wrap-around. */
static long double about(const char *text, long double unit)
{
	static const char letters[] = "KMGTPEZYRQ", small[] = "kmgt";
	size_t digits = strspn(text, "0123456789");
	long double v = 0;
	const char *p;
	int power = 0;

	for (size_t i = 0; i < digits; i++)
		v = v * 10 + (text[i] - '0');
	if (!text[digits])
		return v * unit;
	if ((p = strchr(letters, text[digits])))
		power = (int)(p - letters) + 1;
	else if ((p = strchr(small, text[digits])))
		power = (int)(p - small) + 1;
	for (; power; power--)
		v *= 1024;
	return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);
	uint64_t value = 77;
	size_t digits;
	int rc;

	require(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	rc = sp_size_parse(text, 1024, &value);
	digits = strspn(text, "0123456789");
	require(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	require(rc == 0 || value == 77);
	if (rc != -EINVAL) {
		require(digits > 0 && strlen(text) - digits <= 1);
		if (text[digits] != '%') {
			long double want = about(text, 1024);

			require(rc == 0 ? want - (long double)value < want / 1e15L + 1 &&
						  (long double)value - want < want / 1e15L + 1
					: want > 1.8446744073709e19L);
		}
	}
	free(text);
	return 0;
}
