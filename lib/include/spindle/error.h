/* SPDX-License-Identifier: MIT */
/*
 * Errors of all functions of the library.
 *
 * A function returns 0 (or a count) on success and a negative number on
 * failure: -errno for an error of the system, or one of the SP_E codes below
 * -4095 for an error that the library detects.  The library never prints, never
 * exits and never makes its caller read errno.
 *
 * The function that detects a failure records its place once, in a struct
 * sp_errinfo that the caller passes in (or NULL).  The first failure is kept:
 * consequent ones do not overwrite it.
 *
 * Thread rule: an errinfo belongs to one operation; read it after the operation
 * has returned.
 */
#ifndef SPINDLE_ERROR_H
#define SPINDLE_ERROR_H

#include <stddef.h>
#include <spindle/api.h>

enum {
	SP_EFORMAT = -4096,  /* input does not have the stated record format */
	SP_EBUDGET = -4097,  /* the memory given is not enough */
	SP_ECORRUPT = -4098, /* spilled data read back differs from what was written */
	SP_ESTATE = -4099,   /* calls in an order the contract forbids */
	SP_EUNSUP = -4100,   /* a combination that this build or device does not support */
	SP_ESYNTAX = -4101,  /* invalid specification string */
	SP_ECHILD = -4102,   /* a helper program failed */
	SP_EBALANCE = -4103, /* records were lost or duplicated: a bug in the library */
	SP_ETHREAD = -4104,  /* the system does not allow io_uring a thread */
};

#define SP_ERRINFO_PATH_MAX 4096
#define SP_ERRINFO_TEXT_MAX 256

struct sp_errinfo {
	int code;			/* the negative code; 0: no error */
	const char *op;			/* static: "open", "read", "write", "rename", ... */
	long long offset;		/* byte offset in path; -1: not applicable */
	char path[SP_ERRINFO_PATH_MAX]; /* the file; "": none */
	char text[SP_ERRINFO_TEXT_MAX]; /* further reason; "": none */
};

#define SP_ERRINFO_INIT                                                                            \
	{                                                                                          \
		.offset = -1                                                                       \
	}

/*
 * The reason in words, without subject: strerror() for -errno, the library's
 * own text for SP_E codes.  The string is valid until the next call in the same
 * thread.
 */
SP_API const char *sp_strerror(int code);

#define SP_NO_EFFECTS_MAX 16

/* What a caller requested and could not take effect: the run went on without it. */
struct sp_no_effects {
	size_t n;
	struct sp_no_effect {
		char option[32]; /* as the tools name it: "--fixedbufs" */
		char reason[128];
	} list[SP_NO_EFFECTS_MAX];
};

/*
 * Adds an option, unless it is in the list or the list is full, and its reason, a format of
 * printf().
 * Thread rule: one thread at a time for one list.
 */
SP_API void sp_no_effects_add(struct sp_no_effects *to, const char *option, const char *reason, ...)
	__attribute__((format(printf, 3, 4)));

enum {
	SP_PRINTABLE_UTF8 = 1,	  /* characters are those of UTF-8, not of the locale: for JSON */
	SP_PRINTABLE_ESCAPED = 2, /* text holds escapes already: a backslash stays one */
};

/*
 * Writes to `to` the text as a terminal can show it: each byte that belongs to no printable
 * character becomes an escape of C (\n, \033), and a backslash becomes two.  Messages and texts
 * of reports show in this way every name that a user or a file has chosen.
 * to: `room` bytes; the result ends with a zero byte, shortened if it is too long.  NULL if room
 * is 0.
 * flags: SP_PRINTABLE_...; 0: the characters of the locale that the program has set.
 * Returns the length of the whole result without the zero byte, at most 4 * strlen(text).
 * Thread rule: any thread.
 */
SP_API size_t sp_printable(char *to, size_t room, const char *text, unsigned flags);

#endif
