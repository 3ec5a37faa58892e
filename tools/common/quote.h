/* SPDX-License-Identifier: MIT */
/*
 * Names as messages show them, by the two rules that GNU's tools use.
 * A result lives until as many more have been made as one message could want.
 * Thread rule: one thread at a time.
 */
#ifndef QUOTE_H
#define QUOTE_H

/* Between the quotation marks of the locale: U+2018 and U+2019, or ''. */
const char *quote(const char *text);

/* The same without quotation marks: for text that stands alone. */
const char *quote_bare(const char *text);

/*
 * Without quotation marks, and each backslash as it is: for text that holds quoted names, and for
 * names that GNU's tools print as they are.
 */
const char *quote_plain(const char *text);

/* As a shell would have to read it; bare where that is the same. */
const char *quote_file(const char *name);

/* As a shell would have to read it, always quoted. */
const char *quote_file_always(const char *name);

#endif
