/* SPDX-License-Identifier: MIT */
/*
 * Reads headers of .npy files like a load.  A header that suits the shape gives an offset behind
 * itself, an order that names each dimension once, and the size that the shape leaves open.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "cube/input/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
extern const char *const sp_fuzz_tokens[];
const char *const sp_fuzz_tokens[] = { "'descr': ", "'<f4'",	 "'>f4'",     "'fortran_order': ",
				       "True",	    "False",	 "'shape': ", "(3, 2)",
				       "\x93NUMPY", "\"descr\"", "(3L, 2L)",  "u'f'",
				       "#\n",	    "\\\n",	 "\\x66",     "'''",
				       "0x3",	    "+(3)",	 "'float32'", NULL };

static void require(bool cond)
{
	if (!cond)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp_cube_shape shape = {
		.ndims = 2, .dims = { 3, 0 }, .type = SP_CUBE_F32, .element_bytes = 4
	};
	struct sp_cube_load_opts opts = { 0 };
	uint64_t header;
	uint8_t *copy;

	if (bytes < SP__NPY_PREFIX)
		return 0;
	header = sp__npy_header_bytes(data);
	if (!header || header > bytes)
		return 0;
	require(header >= SP__NPY_PREFIX && header <= SP__NPY_HEADER_MAX);
	copy = calloc(1, header); /* exactly what a load has read */
	require(copy);
	memcpy(copy, data, header);
	if (!sp__npy_parse(copy, header, &shape, &opts)) {
		require(opts.ordered && opts.offset == header);
		require(opts.order[0] + opts.order[1] == 1);
		require(shape.dims[0] == 3 && shape.dims[1]);
	}
	free(copy);
	return 0;
}
