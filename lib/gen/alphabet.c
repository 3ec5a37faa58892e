/* SPDX-License-Identifier: MIT */
/*
 * Builds alphabets: divides the slots among symbols by their weights.
 */
#include <errno.h>
#include <stdlib.h>
#include "gen/alphabet.h"

/* Computes widths in slots; the rest of rounding goes to the widest symbol. */
static int share_out(uint32_t *width, uint32_t slots, const uint64_t *weights, uint32_t n)
{
	uint64_t sum = 0, used = 0;
	uint32_t widest = 0, kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += weights[i];
		kept += weights[i] != 0;
	}
	if (!sum || kept > slots)
		return -EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		width[i] = (uint32_t)((unsigned __int128)weights[i] * (slots - kept) / sum);
		width[i] += weights[i] != 0;
		used += width[i];
		if (width[i] > width[widest])
			widest = i;
	}
	width[widest] += slots - (uint32_t)used;
	return 0;
}

static void place(struct sp__alphabet *a, const uint32_t *width)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < a->symbols; i++) {
		struct sp__symbol *s = &a->symbol[i];

		if (!width[i])
			continue;
		s->start = (uint16_t)at;
		s->scale = ((uint64_t)1 << (a->bits + 16)) / width[i];
		s->fill = (uint8_t)(63 - __builtin_clzll(s->scale >> 16));
		for (uint32_t w = 0; w < width[i]; w++)
			a->slot[at++] = (uint16_t)i;
	}
}

int sp__alphabet_init(struct sp__alphabet *a, unsigned int bits, struct sp__symbol *symbol,
		      const uint64_t *weights, uint32_t n)
{
	uint32_t slots = (uint32_t)1 << bits;
	uint32_t *width = calloc(n, sizeof(*width));
	int rc = -ENOMEM;

	*a = (struct sp__alphabet){ .bits = bits, .symbols = n, .symbol = symbol };
	a->slot = calloc(slots, sizeof(*a->slot));
	if (width && a->slot && n <= UINT16_MAX) {
		rc = share_out(width, slots, weights, n);
		if (rc == 0)
			place(a, width);
	}
	free(width);
	return rc;
}

void sp__alphabet_release(struct sp__alphabet *a)
{
	free(a->symbol);
	free(a->slot);
	*a = (struct sp__alphabet){ 0 };
}
