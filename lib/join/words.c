/* SPDX-License-Identifier: MIT */
#include <spindle/join.h>

const struct sp_word *sp_join_algorithm_words(void)
{
	static const struct sp_word words[] = { { "auto", SP_JOIN_AUTO },
						{ "hybrid", SP_JOIN_HYBRID },
						{ "grace", SP_JOIN_GRACE },
						{ "shj", SP_JOIN_SHJ },
						{ "merge", SP_JOIN_MERGE },
						{ "nested", SP_JOIN_NESTED },
						{ NULL, 0 } };

	return words;
}

const struct sp_word *sp_join_ordering_words(void)
{
	static const struct sp_word words[] = { { "probing", SP_JOIN_BY_PROBING },
						{ "sorting", SP_JOIN_BY_SORTING },
						{ "merging", SP_JOIN_BY_MERGING },
						{ NULL, 0 } };

	return words;
}
