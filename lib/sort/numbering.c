/* SPDX-License-Identifier: MIT */
/* Puts numbers before records (numbering.h). */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/mem.h"
#include "rec/recfmt.h"
#include "run/env.h"
#include "run/memory.h"
#include "sort/numbering.h"
#include "sort/sort.h"

#define DIGIT_BITS 6u
#define TOGETHER ((size_t)64 << 10) /* bytes of records put at once */

/* What one thread of a sort numbers, in cache lines of its own. */
struct worker {
	_Alignas(64) struct sp__bytes records;
	bool begun;
	uint64_t part; /* its number */
	uint64_t next; /* number of the next record */
	uint64_t taken;
};

struct job {
	const struct sp__numbering *n;
	struct worker *workers;
	struct sp__parts *parts;
	void (*tell)(void *arg, uint64_t bytes);
	void *arg;
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

static void begin_part(const struct job *j, struct worker *w, const struct sp__part *part)
{
	if (w->begun && w->part == part->number)
		return;
	w->begun = true;
	w->part = part->number;
	w->next = part->before;
	if (w == j->workers)
		j->tell(j->arg, sp__parts_bytes(j->parts));
}

/* Numbers the first records of a batch of a part. */
static int number(void *job, unsigned worker, struct sp__part *part, struct sp_batch *from,
		  struct sp_batch *records)
{
	const struct job *j = job;
	const struct sp__numbering *n = j->n;
	struct worker *w = &j->workers[worker];
	const char *at = from->data, *end = at + from->bytes, *next;

	begin_part(j, w, part);
	for (w->records.bytes = 0; at < end && w->records.bytes < TOGETHER; at = next) {
		size_t bytes;
		char *to;

		next = sp__rec_end(&n->format, at, (size_t)(end - at));
		bytes = (size_t)(next - at);
		if (sp__bytes_reserve(&w->records, w->records.bytes + n->head + bytes, NULL))
			return sp__err(&part->err, -ENOMEM, "allocate", NULL, -1);
		to = w->records.data + w->records.bytes;
		sp__number(n, to, w->next);
		memcpy(to + n->head, at, bytes);
		w->records.bytes += n->head + bytes;
		w->next += bytes;
		w->taken += bytes;
	}
	*from = (struct sp_batch){ at, (size_t)(end - at) };
	*records = (struct sp_batch){ w->records.data, w->records.bytes };
	return 0;
}

int sp__number_parts(const struct sp__numbering *n, struct sp_sort *sort, struct sp__parts *parts,
		     uint64_t input_bytes, void (*tell)(void *arg, uint64_t bytes), void *arg,
		     uint64_t *taken, struct sp_errinfo *err)
{
	const unsigned threads = sp__threads(sp__sort_env(sort)->opts->parallel);
	struct job j = { .n = n, .parts = parts, .tell = tell, .arg = arg };
	int rc;

	j.workers = aligned_alloc(_Alignof(struct worker), threads * sizeof(*j.workers));
	if (!j.workers)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	memset(j.workers, 0, threads * sizeof(*j.workers));
	rc = sp__sort_put_parts(sort, parts, input_bytes, number, &j);
	*taken = 0;
	for (unsigned i = 0; i < threads; i++) {
		*taken += j.workers[i].taken;
		sp__bytes_release(&j.workers[i].records, NULL);
	}
	free(j.workers);
	return rc;
}
