/* SPDX-License-Identifier: MIT */
/*
 * Lines of a trace: what is accepted, written again from its parts, is accepted
 * with the same parts; what is refused has a reason.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/error.h>
#include <stdio.h>
#include "trace/sequence.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "R ",	    "W ",
				       "v ",	    "%20",
				       " 0",	    " 4096",
				       " -5",	    "# spindle-trace/1",
				       "# spindle", " 9223372036854775807",
				       NULL };

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void again(const struct sp__seqline *l)
{
	size_t cap = l->name_len + 200;
	char *text = malloc(cap);
	struct sp__seqline copy;
	const char *reason;
	int n;

	require(text != NULL);
	n = snprintf(text, cap,
		     "%c %.*s %" PRIu64 " %" PRIu32 " %u %" PRId64 " %" PRId64 " %" PRId64,
		     l->write ? 'W' : 'R', (int)l->name_len, l->name, l->offset, l->bytes, l->prio,
		     l->submit_ns, l->done_ns, l->result);
	/* A NUL in the name ends it early. */
	if (memchr(l->name, '\0', l->name_len) == NULL) {
		require(sp__sequence_line(text, (size_t)n, &copy, &reason) == 1);
		require(copy.write == l->write && copy.name_len == l->name_len &&
			copy.offset == l->offset && copy.bytes == l->bytes &&
			copy.prio == l->prio && copy.submit_ns == l->submit_ns &&
			copy.done_ns == l->done_ns && copy.result == l->result);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *line = malloc(bytes ? bytes : 1), *name = malloc(bytes + 1);
	struct sp__seqline l;
	const char *reason = NULL;
	int rc;

	require(line && name);
	memcpy(line, data, bytes);
	rc = sp__sequence_line(line, bytes, &l, &reason);
	require(rc == 1 || rc == 0 || (rc == SP_EFORMAT && reason));
	if (rc == 1) {
		require(l.name_len > 0 && l.done_ns >= l.submit_ns && l.result <= l.bytes);
		require(sp__sequence_name(l.name, l.name_len, name) <= l.name_len);
		again(&l);
	}
	(void)sp__sequence_foreign(line, bytes);
	free(line);
	free(name);
	return 0;
}
