/* SPDX-License-Identifier: MIT */
/* Destroys capsules of Python that own a stream of Arrow, without the headers of Python. */
#include <spindle/tablearrow.h>
#include "table/arrow/abi.h"

static struct {
	void *(*get)(void *capsule, const char *name);
	void (*release)(void *memory);
} functions;

void sp_table_capsule_functions(void *(*get)(void *capsule, const char *name),
				void (*release)(void *memory))
{
	functions.get = get;
	functions.release = release;
}

void sp_table_capsule_free(void *capsule)
{
	struct ArrowArrayStream *stream = functions.get(capsule, "arrow_array_stream");

	if (stream->release)
		stream->release(stream);
	functions.release(stream);
}
