/* SPDX-License-Identifier: MIT */
/*
 * Loads libraries that few runs need, when they are needed.
 *
 * The shared library, xsort and xjoin have stubs (lib/stubs): functions with the names of these
 * libraries' functions, which call them once the library is loaded.  Other programs with the static
 * library are linked with the libraries; then loading does nothing.
 */
#pragma once

#include <stddef.h>
#include <spindle/error.h>

enum sp__library {
	SP__LIB_URING,
	SP__LIB_AIO,
	SP__LIB_JANSSON,
	SP__LIB_XXHASH,
	SP__LIB_LZ4,
	SP__LIB_ZSTD,
	SP__LIB_ZLIB,
	SP__LIB_LZMA,
	SP__LIB_MD,
	SP__LIB_M,
	SP__LIBRARIES
};

/* The stubs of a library: the functions that they call. */
struct sp__stubs {
	const char *soname;
	const char *packages; /* packages that have the library */
	const char *names;    /* names of n functions, each ended by a NUL */
	void **functions;     /* n; NULL until the library is loaded */
	size_t n;
};

/* SP__LIBRARIES pointers; NULL: the program was built without the library. */
extern const struct sp__stubs *const sp__stub_table[] __attribute__((weak));

/*
 * Loads a library, unless it has been loaded.  Call it before the first function of the library.
 * Returns 0, or SP_EUNSUP with the name of the library and its package in err.  Any thread may call
 * it.
 */
SP_MUST_CHECK int sp__library_load(enum sp__library library, struct sp_errinfo *err);
