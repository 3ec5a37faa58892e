/* SPDX-License-Identifier: MIT */
/* Opens the device of a probe, and finds the whole blocks that it may overwrite. */
#include <string.h>
#include "base/err.h"
#include "probe/target/target.h"

#define BLOCKS_MIN 64

/* Returns the whole blocks of the range that may be overwritten. */
static int set_range(struct sp__target *t, const struct sp_probe_opts *opts, struct sp_errinfo *err)
{
	uint64_t end = (opts->overwrite_offset + opts->overwrite_bytes) / t->block_bytes;

	if (t->simulated || !opts->overwrite_bytes)
		return 0;
	t->write_first = opts->overwrite_offset / t->block_bytes +
			 (opts->overwrite_offset % t->block_bytes != 0);
	if (opts->overwrite_offset + opts->overwrite_bytes < opts->overwrite_offset ||
	    end > t->blocks || end <= t->write_first)
		return sp__errf(err, -EINVAL, "open", opts->device, -1,
				"the range to overwrite is not inside the device");
	t->write_blocks = end - t->write_first;
	return 0;
}

int sp__target_open(struct sp__target **t, const struct sp_probe_opts *opts, struct sp_errinfo *err)
{
	int rc = strncmp(opts->device, "sim:", 4) == 0
			 ? sp__target_sim(t, opts->device + 4, err)
			 : sp__target_file(t, opts->device, opts->overwrite_bytes > 0, err);

	if (rc)
		return rc;
	if ((*t)->blocks < BLOCKS_MIN)
		rc = sp__errf(err, SP_EFORMAT, "open", opts->device, -1,
			      "too small to be probed: %llu blocks of %u bytes",
			      (unsigned long long)(*t)->blocks, (*t)->block_bytes);
	else
		rc = set_range(*t, opts, err);
	if (rc) {
		sp__target_close(*t);
		*t = NULL;
	}
	return rc;
}
