/* SPDX-License-Identifier: MIT */
/*
 * A sequence as page accesses.
 */
#include <errno.h>
#include <stdlib.h>
#include "trace/sequence.h"

int sp__sequence_pages(const struct sp_sequence *seq, uint32_t page_bytes, struct sp__seqpages *out)
{
	uint64_t base = 0;
	size_t n = 0;

	for (size_t i = 0; i < seq->n; i++)
		n += sp__seqreq_pages(&seq->req[i], page_bytes);
	out->n = 0;
	out->pages = calloc(n ? n : 1, sizeof(*out->pages));
	out->base = calloc(seq->nvolumes ? seq->nvolumes : 1, sizeof(*out->base));
	if (!out->pages || !out->base) {
		sp__sequence_pages_release(out);
		return -ENOMEM;
	}
	for (size_t i = 0; i < seq->nvolumes; i++) {
		out->base[i] = base;
		base += (seq->volume[i].end + page_bytes - 1) / page_bytes + 1;
	}
	for (size_t i = 0; i < seq->n; i++) {
		const struct sp__seqreq *r = &seq->req[i];
		uint64_t first = out->base[r->volume] + sp__seqreq_page(r, page_bytes);

		n = sp__seqreq_pages(r, page_bytes);
		for (size_t k = 0; k < n; k++)
			out->pages[out->n++] = first + k;
	}
	return 0;
}

void sp__sequence_pages_release(struct sp__seqpages *pages)
{
	free(pages->pages);
	free(pages->base);
	pages->pages = pages->base = NULL;
	pages->n = 0;
}
