/* SPDX-License-Identifier: MIT */
#include <spindle/sort.h>

const struct sp_word *sp_run_formation_words(void)
{
	static const struct sp_word words[] = { { "load", SP_FORM_LOAD },
						{ "replacement", SP_FORM_REPLACEMENT },
						{ "auto", SP_FORM_AUTO },
						{ NULL, 0 } };

	return words;
}

const struct sp_word *sp_merge_policy_words(void)
{
	static const struct sp_word words[] = { { "lazy", SP_MERGE_LAZY },
						{ "eager", SP_MERGE_EAGER },
						{ "polyphase", SP_MERGE_POLYPHASE },
						{ "auto", SP_MERGE_AUTO },
						{ NULL, 0 } };

	return words;
}

const struct sp_word *sp_readahead_words(void)
{
	static const struct sp_word words[] = {
		{ "none", SP_READ_NONE },	  { "double", SP_READ_DOUBLE },
		{ "equal", SP_READ_EQUAL },	  { "forecast", SP_READ_FORECAST },
		{ "extended", SP_READ_EXTENDED }, { "cluster", SP_READ_CLUSTER },
		{ "auto", SP_READ_AUTO },	  { NULL, 0 }
	};

	return words;
}

const struct sp_word *sp_recycle_words(void)
{
	static const struct sp_word words[] = { { "none", SP_RECYCLE_NONE },
						{ "all", SP_RECYCLE_ALL },
						{ "auto", SP_RECYCLE_AUTO },
						{ NULL, 0 } };

	return words;
}
