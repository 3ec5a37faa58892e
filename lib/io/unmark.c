/* SPDX-License-Identifier: MIT */
/*
 * Removes a byte order mark that can be split over several spans.
 */
#include "base/utf8mark.h"
#include "io/unmark.h"

bool sp__unmark(struct sp__unmark *u, struct sp_batch *span, bool end)
{
	static const char mark[] = SP__UTF8_MARK;
	const size_t before = u->matched;
	size_t n = 0;

	while (n < span->bytes && u->matched < SP__UTF8_MARK_BYTES &&
	       span->data[n] == mark[u->matched]) {
		u->matched++;
		n++;
	}
	u->marked = u->matched == SP__UTF8_MARK_BYTES;
	u->over = u->marked || end || n < span->bytes;
	if (u->marked || !u->over) {
		span->data += n;
		span->bytes -= n;
	} else if (before) {
		u->rest = *span;
		*span = (struct sp_batch){ mark, before };
	}
	return span->bytes;
}
