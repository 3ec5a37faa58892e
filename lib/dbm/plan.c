/* SPDX-License-Identifier: MIT */
/*
 * Looks for words in plans.
 *
 * Every system has words of its own, so several are right: a scan of T1 can be called "SCAN t1",
 * "Seq Scan on t1" or "SEQ_SCAN"; a nested loop can search T2 without the word join.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "dbm/plan.h"

struct needed {
	const char *words[4]; /* one of them */
	const char *name;
};

static const struct needed needed[SP_DBM_QUERIES][3] = {
	[SP_DBM_USS] = { { { "scan" }, "a scan" } },
	[SP_DBM_UNJ] = { { { "t1" }, "T1" },
			 { { "t2" }, "T2" },
			 { { "join", "loop", "search" }, "a join" } },
	[SP_DBM_UIDX] = { { { "index" }, "an index" } },
};

/* True if the text has the word, whatever its case, and no letter or digit is around a table's. */
static bool has(const char *text, const char *word)
{
	const size_t n = strlen(word);
	const bool whole = isdigit((unsigned char)word[n - 1]);

	for (const char *at = text; *at; at++)
		if (!strncasecmp(at, word, n) &&
		    (!whole || ((at == text || !isalnum((unsigned char)at[-1])) &&
				!isalnum((unsigned char)at[n]))))
			return true;
	return false;
}

const char *sp__plan_lacks(enum sp_dbm_query query, const char *text)
{
	for (size_t i = 0; i < 3 && needed[query][i].name; i++) {
		const struct needed *of = &needed[query][i];
		bool found = false;

		for (size_t k = 0; k < 4 && of->words[k]; k++)
			found |= has(text, of->words[k]);
		if (!found)
			return of->name;
	}
	return NULL;
}
