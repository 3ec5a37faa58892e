/* SPDX-License-Identifier: MIT */
/*
 * Error codes of the library, descriptions of errors, and names as printable text.  The library
 * never prints and never exits.
 *
 * A function that can fail returns 0 (or a count) on success and a negative code on failure.  The
 * code is -errno for an error of the system, or one of the SP_E codes below -4095 for an error that
 * the library detects.  The caller never needs to read errno.  The header includes <errno.h>.
 *
 * The function that detects an error describes it once, in a struct sp_errinfo that the caller
 * passes.  The argument may be NULL.  The first error is kept; its consequences do not overwrite
 * it.
 *
 * Every function that takes a struct sp_errinfo can return -ENOMEM, even if its comment does not
 * list it.
 *
 * Thread rule: an errinfo belongs to one operation.  Read it after the operation has returned.
 */
#ifndef SPINDLE_ERROR_H
#define SPINDLE_ERROR_H

#include <errno.h>
#include <spindle/api.h>

enum {
	SP_EFORMAT = -4096,  /* input is not in the stated format */
	SP_EBUDGET = -4097,  /* the memory limit is too small */
	SP_ECORRUPT = -4098, /* data read back differs from the data written */
	SP_ESTATE = -4099,   /* the state does not allow this call */
	SP_EUNSUP = -4100,   /* this build, device or combination of options is not supported */
	SP_ESYNTAX = -4101,  /* invalid specification string */
	SP_ECHILD = -4102,   /* a child program failed */
	SP_EBALANCE = -4103, /* records were lost or duplicated: a bug in the library */
	SP_ETHREAD = -4104,  /* the system does not allow io_uring a thread */
};

#define SP_ERRINFO_PATH_MAX 4096
#define SP_ERRINFO_TEXT_MAX 256

struct sp_errinfo {
	int code;			/* negative code; 0: no error */
	const char *op;			/* static: "open", "read", "write", "rename", ... */
	long long offset;		/* byte offset in path; -1: not applicable */
	char path[SP_ERRINFO_PATH_MAX]; /* file; "": none */
	char text[SP_ERRINFO_TEXT_MAX]; /* reason, in addition to the code; "": none */
	const char *where; /* part of an argument to quote after text, borrowed; NULL: none */
};

#define SP_ERRINFO_INIT                                                                            \
	{                                                                                          \
		.offset = -1                                                                       \
	}

/*
 * Returns the reason of an error as a text without a subject: strerror() for -errno, a text of the
 * library for SP_E codes, "unknown error" for other numbers.  The library owns the text, which is
 * valid until the next call in the same thread.
 *
 * Thread rule: any thread.
 */
SP_API const char *sp_strerror(int code);

#define SP_NO_EFFECTS_MAX 16

/* Options without effect: the caller requested them, but the run continued without them. */
struct sp_no_effects {
	size_t n;
	struct sp_no_effect {
		char option[32]; /* the tools' name of it: "--fixedbufs" */
		char reason[128];
	} list[SP_NO_EFFECTS_MAX];
};

/*
 * Adds an option and its reason to a list, unless the option is in the list or the list is full.
 * option: the tools' name of it, at most 31 bytes; longer names are cut.  Copied.
 * reason: a format of printf(3); the text is cut after 127 bytes.  Copied.
 *
 * Thread rule: one thread at a time for each list.
 */
SP_API void sp_no_effects_add(struct sp_no_effects *to, const char *option, const char *reason, ...)
	__attribute__((format(printf, 3, 4)));

enum {
	SP_PRINTABLE_UTF8 = 1,	  /* decode UTF-8, not the encoding of the locale: for JSON */
	SP_PRINTABLE_ESCAPED = 2, /* the text has escapes already: do not double a backslash */
};

/*
 * Writes a text so that a terminal can show it.  Each byte that belongs to no printable character
 * becomes an escape of C (\n, \033); a backslash becomes two.  Messages and text reports use this
 * function for every name that a user or a file has chosen.
 * to: buffer of the caller, `capacity` bytes.  The result ends with a zero byte and is cut if it is
 * too long.  NULL if capacity is 0.
 * flags: SP_PRINTABLE_...; 0: characters of the program's locale.
 * Returns the length in bytes of the whole result without the zero byte, at most 4 * strlen(text).
 *
 * Thread rule: any thread.
 */
SP_API size_t sp_printable(char *to, size_t capacity, const char *text, unsigned flags);

#endif
