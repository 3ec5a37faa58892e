/* SPDX-License-Identifier: MIT */
/*
 * Names the values of run formation, merge policy, read-ahead and recycling.
 */
#include <spindle/sort.h>
#include "base/enum.h"

SP__ENUM_TABLE(sp_run_formation, { "load", SP_FORM_LOAD }, { "replacement", SP_FORM_REPLACEMENT },
	       { "auto", SP_FORM_AUTO })
SP__ENUM_TABLE(sp_merge_policy, { "lazy", SP_MERGE_LAZY }, { "eager", SP_MERGE_EAGER },
	       { "polyphase", SP_MERGE_POLYPHASE }, { "mms", SP_MERGE_MMS },
	       { "ppms", SP_MERGE_PPMS }, { "auto", SP_MERGE_AUTO })
SP__ENUM_TABLE(sp_readahead, { "none", SP_READ_NONE }, { "double", SP_READ_DOUBLE },
	       { "equal", SP_READ_EQUAL }, { "forecast", SP_READ_FORECAST },
	       { "extended", SP_READ_EXTENDED }, { "cluster", SP_READ_CLUSTER },
	       { "auto", SP_READ_AUTO })
SP__ENUM_TABLE(sp_recycle, { "none", SP_RECYCLE_NONE }, { "all", SP_RECYCLE_ALL },
	       { "auto", SP_RECYCLE_AUTO })
