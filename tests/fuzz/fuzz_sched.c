/* SPDX-License-Identifier: MIT */
/*
 * The parser of scheduler specifications: it refuses with a reason, or what it
 * accepts is in bounds and can be opened.
 */
#include <stdlib.h>
#include <string.h>
#include "sim/sched.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = {
	"deadline:", "deadline-prio:", "promote:", "strict:", "read=",
	"write=",    "levels=",	       "group=",   "queues=", "open",
	"aging=",    "0.25",	       "500ms",	   "/",	      ",",
	NULL
};

static void require(bool cond)
{
	if (!cond)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const uint64_t day = 86400ull * 1000000000;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__sched s;
	char *text = malloc(bytes + 1);
	unsigned i;
	int rc;

	require(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	rc = sp__sched_open(&s, text, &err);
	require(rc ? rc == SP_ESYNTAX && err.code == rc && err.text[0] : s.ops != NULL);
	if (!rc) {
		require(s.params.levels <= SP__SCHED_LEVELS_MAX);
		for (i = 0; s.ops->expire && i < s.params.levels; i++)
			require(s.params.level_expire_ns[i] > 0 &&
				s.params.level_expire_ns[i] <= day);
		require(s.ops != &sp__sched_promote || s.params.levels < SP__SCHED_FIFOS_MAX);
		require(s.params.read_expire_ns <= day && s.params.aging_ns <= day);
		require(!s.ops->limit || (s.params.group > 0 && s.params.levels > 0));
		require(s.params.npool <= SP__SCHED_LEVELS_MAX);
		for (i = 0; i < s.params.npool; i++)
			require(s.ops->limit(&s, i) == s.params.pool[i] && s.params.pool[i] > 0);
	}
	free(text);
	return 0;
}
