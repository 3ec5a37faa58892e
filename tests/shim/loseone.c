/* SPDX-License-Identifier: MIT */
/*
 * An LD_PRELOAD library with which the library loses a record: the first one that
 * sp_sort_get() gives out.  To show what a tool says then.
 */
#include <dlfcn.h>
#include <spindle/sort.h>
#include <stdbool.h>
#include <string.h>

int sp_sort_get(struct sp_sort *sort, struct sp_batch *batch)
{
	static int (*real)(struct sp_sort * sort, struct sp_batch * batch);
	static bool lost;
	const char *end;
	int rc;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sp_sort_get");
	rc = real(sort, batch);
	if (rc != SP_READY || lost)
		return rc;
	lost = true;
	end = memchr(batch->data, '\n', batch->bytes);
	batch->bytes -= (size_t)(end + 1 - batch->data);
	batch->data = end + 1;
	return rc;
}
