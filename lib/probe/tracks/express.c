/* SPDX-License-Identifier: MIT */
/*
 * Finds the pattern of several lengths of a zone in which most tracks are "odd".  It shows only
 * after enough tracks are known; the shortest pattern that leaves fewer odd tracks is taken.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "probe/tracks/zone.h"

#define PATTERN_MAX 64
#define LIST_MAX 2048

/*
 * Counts tracks of n that differ from a pattern of q lengths (the longest per position);
 * UINT64_MAX: there is no pattern.
 */
static uint64_t leaves(const uint32_t *len, uint64_t n, uint32_t q, uint32_t *pattern)
{
	uint64_t odd = 0;

	memset(pattern, 0, q * sizeof(*pattern));
	for (uint64_t i = 0; i < n; i++)
		if (len[i] > pattern[i % q])
			pattern[i % q] = len[i];
	for (uint64_t i = 0; i < n; i++)
		odd += len[i] != pattern[i % q];
	return odd;
}

int sp__pzone_express(struct sp__pzone *z)
{
	uint32_t pattern[PATTERN_MAX], *len, q, had = z->lens[0];
	size_t k = 0, n = 0;
	int rc = 0;

	if (z->nlens != 1 || z->nodd < 3 || 3 * z->nodd < z->tracks || z->tracks > LIST_MAX)
		return 0;
	len = malloc(z->tracks * sizeof(*len));
	if (!len)
		return -ENOMEM;
	for (uint64_t i = 0; i < z->tracks; i++) {
		len[i] = had;
		if (k < z->nodd && z->odd[k].track == i)
			len[i] -= z->odd[k++].missing;
	}
	for (q = 2; q <= PATTERN_MAX && 2 * q <= z->tracks; q++)
		if (3 * leaves(len, z->tracks, q, pattern) <= z->nodd)
			break;
	if (q <= PATTERN_MAX && 2 * q <= z->tracks) {
		uint32_t *lens = malloc(q * sizeof(*lens));

		rc = lens ? 0 : -ENOMEM;
		for (uint64_t i = 0; i < z->tracks && !rc; i++)
			if (len[i] != pattern[i % q])
				z->odd[n++] = (struct sp__oddtrack){ i, pattern[i % q] - len[i] };
		if (!rc) {
			memcpy(lens, pattern, q * sizeof(*lens));
			free(z->lens);
			z->lens = lens;
			z->nlens = q;
			z->nodd = n;
		}
	}
	free(len);
	return rc;
}
