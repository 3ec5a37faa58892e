/* SPDX-License-Identifier: MIT */
/* Fills in the lengths and the order of the inputs, if the options of a join do not set them. */
#include <spindle/sort.h>
#include "join/plan/plan.h"
#include "join/merge/presorted.h"

void sp_join_expect(struct sp_join_opts *opts, const char *const inputs[2])
{
	for (int i = 0; i < 2; i++) {
		struct sp_sort_opts so = SP_SORT_OPTS_INIT;

		so.format = sp__join_format(opts, i);
		so.run.decompress = opts->run.decompress;
		sp_sort_expect(&so, &inputs[i], 1);
		if (!opts->input_bytes[i])
			opts->input_bytes[i] = so.input_bytes;
		if (!opts->record_bytes[i])
			opts->record_bytes[i] =
				opts->fixed_bytes[i] ? opts->fixed_bytes[i] : so.record_bytes;
	}
	if (opts->algorithm == SP_JOIN_AUTO && !opts->ordered && !opts->run.volume &&
	    !opts->run.decompress && opts->sorted == SP_JOIN_SORTED_UNKNOWN)
		opts->sorted = sp__join_detect(opts, inputs);
}
