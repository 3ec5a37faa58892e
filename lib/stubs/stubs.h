/* SPDX-License-Identifier: MIT */
/*
 * Defines stubs: functions that call the function of the same name in a loaded library.
 *
 * The build defines SP__SONAME_library (scripts/sonames).
 *
 * A library has a list of its functions, each with type, name, parameters and arguments.  A call
 * before sp__library_load() ends the program, except of functions that are listed as S_FREE, which
 * free an object, and do nothing for NULL, and as S_OPTIONAL, which then return 0.
 */
#pragma once

#include "base/loaded.h"

#define SP__STUB_INDEX(type, name, ...) index_##name,
#define SP__STUB_NAME(type, name, ...) #name "\0"
#define SP__STUB_REAL(name) ((__typeof__(name) *)functions[index_##name])
#define SP__STUB(type, name, parameters, arguments)                                                \
	type name parameters                                                                       \
	{                                                                                          \
		return SP__STUB_REAL(name) arguments;                                              \
	}
#define SP__STUB_FREE(type, name, parameters, object)                                              \
	type name parameters                                                                       \
	{                                                                                          \
		return object ? SP__STUB_REAL(name) object : 0;                                    \
	}
#define SP__STUB_OPTIONAL(type, name, parameters, arguments)                                       \
	type name parameters                                                                       \
	{                                                                                          \
		return functions[index_##name] ? SP__STUB_REAL(name) arguments : 0;                \
	}

/* Defines the stubs of a LIST(S, S_FREE, S_OPTIONAL), and the table of them. */
#define SP__STUBS(library, packages_, LIST)                                                        \
	enum { LIST(SP__STUB_INDEX, SP__STUB_INDEX, SP__STUB_INDEX) count };                       \
	static void *functions[count];                                                             \
	LIST(SP__STUB, SP__STUB_FREE, SP__STUB_OPTIONAL)                                           \
	const struct sp__stubs sp__##library##_stubs = {                                           \
		.soname = SP__SONAME_##library,                                                    \
		.packages = packages_,                                                             \
		.names = LIST(SP__STUB_NAME, SP__STUB_NAME, SP__STUB_NAME),                        \
		.functions = functions,                                                            \
		.n = count,                                                                        \
	}

extern const struct sp__stubs sp__uring_stubs, sp__aio_stubs, sp__jansson_stubs, sp__xxhash_stubs,
	sp__lz4_stubs, sp__zstd_stubs, sp__z_stubs, sp__lzma_stubs, sp__md_stubs, sp__m_stubs;
