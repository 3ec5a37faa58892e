/* SPDX-License-Identifier: MIT */
/* Puts numbers before records (numbering.h). */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/mem.h"
#include "rec/recfmt.h"
#include "sort/numbering.h"

#define DIGIT_BITS 6u
#define TOGETHER ((size_t)64 << 10) /* bytes of records put at once */

/* What one thread of a sort has numbered, in a cache line of its own. */
struct sp__numberer {
	_Alignas(64) struct sp__bytes records;
};

void sp__numbering_init(struct sp__numbering *n, const struct sp_recfmt *format)
{
	const bool csv = format->kind == SP_REC_CSV;
	const unsigned char separator = csv ? (unsigned char)format->separator : 0;

	/* No digit is the separator, which would end the number. */
	*n = (struct sp__numbering){
		.format = *format,
		.head = SP__NUMBER_BYTES + csv,
		.digit = (char)(separator < 0x80 || separator >= 0xC0 ? 0x80 : 0xC0)
	};
}

void sp__number(const struct sp__numbering *n, char *to, uint64_t number)
{
	for (unsigned i = SP__NUMBER_BYTES; i-- > 0; number >>= DIGIT_BITS)
		to[i] = (char)((unsigned char)n->digit | (number & ((1u << DIGIT_BITS) - 1)));
	if (n->head > SP__NUMBER_BYTES)
		to[SP__NUMBER_BYTES] = n->format.separator;
}

int sp__number_batch(void *numberers, unsigned worker, struct sp__part *part, struct sp_batch *from,
		     struct sp_batch *records)
{
	const struct sp__numberers *all = numberers;
	const struct sp__numbering *n = all->numbering;
	struct sp__numberer *w = &all->numberers[worker];
	const char *at = from->data, *end = at + from->bytes, *next;
	uint64_t place = part->before + sp__part_at(part, from);

	if (!worker && place == part->before)
		all->tell(all->arg, sp__parts_bytes(all->parts));
	for (w->records.bytes = 0; at < end && w->records.bytes < TOGETHER; at = next) {
		size_t bytes;
		char *to;

		next = sp__rec_end(&n->format, at, (size_t)(end - at));
		bytes = (size_t)(next - at);
		if (sp__bytes_reserve(&w->records, w->records.bytes + n->head + bytes, NULL))
			return sp__err(&part->err, -ENOMEM, "allocate", NULL, -1);
		to = w->records.data + w->records.bytes;
		sp__number(n, to, place);
		memcpy(to + n->head, at, bytes);
		w->records.bytes += n->head + bytes;
		place += bytes;
	}
	*from = (struct sp_batch){ at, (size_t)(end - at) };
	*records = (struct sp_batch){ w->records.data, w->records.bytes };
	return 0;
}

int sp__numberers_open(struct sp__numberers *all, unsigned threads)
{
	const size_t bytes = threads * sizeof(*all->numberers);

	all->n = threads;
	all->numberers = aligned_alloc(_Alignof(struct sp__numberer), bytes);
	if (all->numberers)
		memset(all->numberers, 0, bytes);
	return all->numberers ? 0 : -ENOMEM;
}

void sp__numberers_close(struct sp__numberers *all)
{
	for (unsigned i = 0; all->numberers && i < all->n; i++)
		sp__bytes_release(&all->numberers[i].records, NULL);
	free(all->numberers);
}
