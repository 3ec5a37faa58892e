/* SPDX-License-Identifier: MIT */
/*
 * xsort's command line: parsed, checked and converted into one call of the library.
 *
 *	options.c   the command line: options, obsolescent keys, files
 *	settings.c  the table of options
 *	checks.c    options that do not go together, and those that others make void
 *	order.c     ordering letters, keys by number and by name, the global letters
 *	infer.c     --infer-types: types of these columns
 *	files.c     --files0-from; checks that inputs are readable and the output writable
 *	warn.c      --debug: warnings about the keys
 *	split.c     --split and --parts: several outputs; --splitters
 *	annotate.c  --debug: each line with its keys underlined
 *	explain.c   --explain: the plan in words; the temporary space that it needs
 *	run.c       sorting, merging, the report; -c, -C
 *	failure.c   library errors as GNU sort's messages
 */
#pragma once

#include <spindle/order.h>
#include <spindle/sort.h>
#include "args.h"
#include "common_options.h"
#include "msg.h"
#include "runplot.h"

enum { XSORT_DISORDER = 1, XSORT_FAILURE = 2 };

/*
 * Bytes of the samples for --infer-types: of the first input; the minimum of each further one; and
 * the maximum of an input, to which it is read until each column has a value.
 */
#define INFER_BYTES ((size_t)1 << 20)
#define INFER_MIN ((size_t)4096)
#define INFER_MAX ((size_t)16 << 20)
#define ORDER_LETTERS "bdfghiMnRrV" /* in the order of GNU sort's list */

struct settings {
	struct sp_order order; /* format, keys, -s and -u */
	const char *random_source;
	unsigned char salt[16];

	/* Mode. */
	bool merge, debug, infer;
	char check;		      /* 0, 'c' or 'C' */
	struct sp_batch header_taken; /* read from the first input for names of columns */
	struct sp_columns columns;    /* columns of the first input, if needed */
	uint64_t sampled;	      /* records of the sample for --infer-types */
	struct common_options common;

	/* Files. */
	const char **files;
	size_t nfiles;
	const char *files_from;
	const char *output;
	const char *resume; /* directory of checkpoints, or NULL */
	bool stdin_closed;
	bool require_space;
	bool top; /* --limit was given */
	bool keep_order;
	bool skip_invalid;
	const char *where;	/* condition of the records; or NULL */
	const char *count_name; /* text of --count; NULL: the default */
	uint64_t splitters;	/* number of parts; 0: no --splitters */
	uint64_t cut_into;	/* number of --parts; 0: none */
	const char *split; /* file of splitters; as with --parts output is a pattern of names: */
	struct sp_splitters *cuts;
	char **parts;
	size_t nparts;

	/* Passed to the library; keys, format and common options are set last. */
	struct sp_sort_opts opts;
};

void options_parse(struct settings *set, int argc, char **argv);

/* settings.c: the rows of struct settings. */
extern const struct setting xsort_settings[];
/* checks.c */
void options_check(const struct settings *set);
/* checks.c */
void unused_check(const struct settings *set);

/* Sets -t of order, a struct sp_order. */
void order_set_separator(void *order, const char *option, const char *text);
void order_add_key(void *settings, const char *option, const char *text);
/* Parses a key; named: text for errors instead of the position in the key. */
void order_set_key(struct sp_order_key *key, const char *text, const char *named);
/* order.c: resolves keys that name columns by the header of the first input. */
void names_resolve(struct settings *set);
/* infer.c: after order_finish(): with --infer-types sets the types of keys, and prints them. */
void infer_check(const struct settings *set);
void infer_types(struct settings *set);
void infer_print(const struct settings *set);
/* False: the option has no effect. */
bool infer_any(const struct settings *set);
/* Adds a +POS1 key; end: the -POS2 after it, or NULL.  False: not a +POS1. */
bool order_add_obsolescent(struct settings *set, const char *begin, const char *end);
/* Completes the order; errors end the program, here and in the functions below. */
void order_finish(struct settings *set);
void order_read_salt(struct settings *set);
struct sp_keyset *order_compile(const struct settings *set);

_Noreturn void incompatible(const char *letters);

void files_read_list(struct settings *set);
void files_check_inputs(const struct settings *set);
void files_check_output(const struct settings *set);
/* Applies --auto-compression, except under the name sort and where it is impossible. */
void files_choose_compression(struct settings *set);
/* Warns about inputs and an output that look compressed, except under the name sort. */
void files_warn_packed(const struct settings *set);

/* split.c */
void split_check(const struct settings *set);
void split_read(struct settings *set); /* with --split or --parts: sets cuts and parts */
int splitters_run(const struct settings *set);

void warn_about_keys(const struct settings *set);

/*
 * Starts annotating.  Lines written to the returned descriptor appear on standard output with their
 * keys underlined. annotate_end() closes it, waits, and returns 0 or the errno of a failed write.
 */
int annotate_begin(const struct settings *set, const struct sp_keyset *keys);
int annotate_end(void);

/* explain.c: returns the estimated bytes of temporary data; 0: unknown, or none. */
uint64_t space_need(const struct settings *set);
/* explain.c: warns about too little temporary space; with --require-space, ends the program. */
void space_check(const struct settings *set);
int explain(struct settings *set);

int check_run(const struct settings *set);
int sort_run(struct settings *set);

/* Prints the error and ends the program.  out_bytes: size of the result. */
_Noreturn void failure(const struct settings *set, const struct sp_errinfo *err,
		       uint64_t out_bytes);
