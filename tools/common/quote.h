/* SPDX-License-Identifier: MIT */
/*
 * Quotes names for messages, by the two rules of GNU's tools.  A result is valid until several
 * more, enough for one message, have been made.  Thread rule: one thread at a time.
 */
#pragma once

/* Quotes between the quotation marks of the locale: U+2018 and U+2019, or ''. */
const char *quote(const char *text);

/* Escapes as quote() does, without quotation marks, for text that is printed alone. */
const char *quote_bare(const char *text);

/*
 * Escapes without quotation marks, and keeps backslashes: for text with quoted names, and for names
 * that GNU's tools print unquoted.
 */
const char *quote_plain(const char *text);

/* Quotes for a shell, only if needed. */
const char *quote_file(const char *name);

/* Quotes for a shell, always. */
const char *quote_file_always(const char *name);
